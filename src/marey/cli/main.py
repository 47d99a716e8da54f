"""The `marey` command: look up the subcommand, run it, and turn errors into a one-line message and an exit code.

Exit codes: 0 success; 1 problems found in the input, or no result; 2 usage error or unreadable input.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from marey import __version__
from marey.cli.derived_options import word_options
from marey.cli.files import add_overwrite
from marey.cli.usage import find_command, word_error, word_usage
from marey.errors import MareyError, MareyWarning, NoResult, similar

# The commands by purpose, in the order in which a new user needs them, each with its line in `marey --help`. The module
# of a command is imported only when the command runs.
SECTIONS = {
    "Files": {
        "info": "Show joints, rate, size and roles of files.",
        "convert": "Convert between file formats.",
        "library": "Index and search a folder of any size.",
        "samples": "Write generated clips to try things on.",
    },
    "Check and clean": {
        "check": "Find what is wrong or suspicious in captures.",
        "contacts": "Detect when feet touch the ground.",
        "clean": "Keep planted feet from sliding.",
        "measure": "Measure the quality of motion.",
        "limits": "Learn or read joint limits.",
        "solve": "Fit a skeleton to joint or marker positions.",
        "edit": "Crop, loop, mirror, retarget, repair and more.",
    },
    "Combine clips": {
        "blend": "Blend clips in time and space.",
        "transition": "Join two clips by a transition.",
        "splice": "Combine an upper body with other legs.",
        "transplant": "Copy joints of one clip onto another.",
        "gaze": "Make a character look at targets.",
        "grid": "Compare all frames of two clips.",
    },
    "Generate motion": {
        "graph": "Join clips in a motion graph, and walk through it.",
        "find": "Find all motions similar to an example.",
        "parametric": "Aim an action, such as a kick, at a target.",
        "pmg": "Build and steer characters.",
        "steer": "Steer a character made directly of clips.",
    },
    "See it": {
        "studio": "View and edit motion in the browser.",
        "view": "Write a web page that plays motions.",
        "render": "Draw motions as animations or pictures.",
        "plot": "Plot feet, joints, paths and frames of a motion.",
        "demo": "Tour marey on generated clips.",
        "bench": "Measure the speed of marey.",
    },
}
COMMANDS = tuple(name for commands in SECTIONS.values() for name in commands)
# Commands that compare all poses with each other, which is the only use of more than one thread in NumPy's matrix
# products. The others request one thread, because starting a thread pool takes longer than all other work of `marey
# info`.
THREADED = ("grid", "graph", "find", "parametric", "pmg", "steer", "studio", "demo", "bench")


@contextmanager
def _accept_closed_pipe() -> Iterator[None]:
    """End with exit code 0 if the reader of the output is gone, as after `| head`.

    click and rich would exit with 1, as if problems were found.
    """
    try:
        yield
    except (BrokenPipeError, SystemExit) as stop:
        if isinstance(stop, SystemExit) and not isinstance(stop.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None


class _Commands(click.Group):
    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _accept_closed_pipe():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _accept_closed_pipe():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in THREADED:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command: click.Command = importlib.import_module(f"marey.cli.{cmd_name}").command
        add_overwrite(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise click.UsageError(
                f"unknown command {args[0]!r}; available commands: {known}{similar(args[0], COMMANDS, n=1)}"
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="marey")
@click.option("--debug", is_flag=True, help="Show the full traceback when an error occurs.")
def cli(debug: bool) -> None:
    """Turn motion capture into new, controllable human motion.

    \b
    marey info walk.bvh               show what is in a file
    marey convert walk.bvh walk.glb   convert between file formats
    marey demo                        see what marey does, on generated motion
    """


def run() -> None:
    """Entry point of the `marey` command. Ending it by a signal removes temporary files, as Ctrl-C does."""
    import gc
    import signal

    # Nearly all objects of a short command are modules, classes and functions, which live until it ends. Looking for
    # garbage among them took a sixth of the processor time of `marey info`: while they are loaded, and again at exit.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") == "strict":  # file names may hold bytes that are not text
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_DFL:
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    code = main(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


def main(arguments: list[str]) -> int:
    """Run one command line and return the exit code."""
    debug = "--debug" in arguments
    warnings.showwarning = _show_warning
    if sys.stderr.isatty():
        _show_log()
    try:
        result = cli.main(arguments, prog_name="marey", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        click.echo(f"marey: {word_usage(error)}", err=True)
        return 2
    except click.Abort:
        click.echo("marey: interrupted", err=True)
        return 130
    except MareyError as error:
        code = 1 if isinstance(error, NoResult) else 2
        if debug:
            traceback.print_exc()
            return code
        click.echo(f"marey: {word_error(error, find_command(cli, arguments))}", err=True)
        return code
    except MemoryError:
        if debug:
            traceback.print_exc()
        click.echo("marey: not enough memory; use fewer or shorter clips, or a lower frame rate", err=True)
        return 2
    except Exception as error:
        if debug:
            traceback.print_exc()
            return 2
        if isinstance(error, OSError) and error.errno is not None:  # full disk, closed terminal, no permission
            where = "the output cannot be written" if error.filename is None else f"{error.filename}: cannot be used"
            click.echo(f"marey: {where} ({str(error.strerror).lower()})", err=True)
            return 2
        click.echo(
            f"marey: unexpected {type(error).__name__}: {error} (this is a bug; marey --debug ... shows the traceback)",
            err=True,
        )
        return 2


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print each of marey's own warnings on one line; ignore warnings of other packages."""
    if issubclass(category, MareyWarning):
        click.echo(f"marey: warning: {word_options(str(message))}", err=True)


def _show_log() -> None:
    """Log slow steps to the terminal, such as compiling kernels at first use."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("marey: %(message)s"))
    log = logging.getLogger("marey")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
