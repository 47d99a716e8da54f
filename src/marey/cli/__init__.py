"""The command line: one module per command. Each parses its arguments, calls the library, and prints the result."""
