"""The studio: a local web server and a browser page to view, edit and generate motion. See `marey studio`."""
