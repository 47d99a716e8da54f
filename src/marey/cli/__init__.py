"""The command line: one module per command, each parses, makes one library call, and prints."""
