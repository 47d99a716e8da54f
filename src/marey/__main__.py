"""`python -m marey` is the same as `marey`."""

from marey.cli.main import run

run()
