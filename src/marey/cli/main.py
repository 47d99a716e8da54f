"""`marey`: finds the command, runs it, and turns errors into one sentence and an exit code.

Exit codes: 0 done; 1 the input has findings, or no result exists; 2 wrong use or unreadable input.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from typing import Any

import click

from marey import __version__
from marey.errors import MareyError, MareyWarning, NoResult

# In the order in which a newcomer needs them. A command's module is imported only when it is run or listed.
COMMANDS = (
    *("info", "convert", "contacts", "clean", "measure", "plot", "edit", "grid", "blend", "transition"),
    *("graph", "find", "parametric", "splice", "transplant", "gaze", "pmg", "samples", "studio", "view"),
    *("demo", "bench"),
)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"marey.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from marey.errors import similar

        if args and args[0] not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise click.UsageError(f"no command {args[0]!r}; there are {known}{similar(args[0], COMMANDS, n=1)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="marey")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Motion capture in, new controllable human motion out.

    \b
    marey info walk.bvh               what is in a file
    marey convert walk.bvh walk.glb   from one format to another
    marey demo                        see what it does, on generated motion
    """


def run() -> None:
    """Entry point of the `marey` command."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command line; returns the exit code."""
    debug = "--debug" in arguments
    warnings.showwarning = _show_warning
    if sys.stderr.isatty():
        _show_log()
    try:
        result = cli.main(arguments, prog_name="marey", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        click.echo("marey: interrupted", err=True)
        return 130
    except MareyError as error:
        code = 1 if isinstance(error, NoResult) else 2
        if debug:
            traceback.print_exc()
            return code
        click.echo(f"marey: {error}", err=True)
        return code
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # of standard output: a full disk, a closed terminal
        click.echo(f"marey: output cannot be written ({str(error.strerror).lower()})", err=True)
        return 2
    except Exception as error:
        if debug:
            traceback.print_exc()
            return 2
        click.echo(
            f"marey: unexpected {type(error).__name__}: {error} (this is a bug; marey --debug ... shows where)",
            err=True,
        )
        return 2


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Warnings of the library as one line each; those of other packages do not concern the user."""
    if issubclass(category, MareyWarning):
        click.echo(f"marey: warning: {message}", err=True)


def _show_log() -> None:
    """Show on the terminal what takes long: kernels that are compiled at first use."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("marey: %(message)s"))
    log = logging.getLogger("marey")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
