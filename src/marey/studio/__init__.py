"""The studio: a server on this machine, and a page that shows motion and asks for more. See `marey studio`."""
