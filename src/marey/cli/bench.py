"""`marey bench`: measure speed on this machine, compared with other packages and with lower bounds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from marey.cli.files import print_json

if TYPE_CHECKING:
    from marey.bench import BenchResult


class BenchCommand(click.Command):
    """A command whose help ends with the names of the benchmarks."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the names of the benchmarks. They are imported only when this help is shown."""
        from marey.bench import BENCHES

        super().format_options(ctx, formatter)
        with formatter.section("Names"):
            formatter.write_text(", ".join(BENCHES))


@click.command("bench", cls=BenchCommand)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--file", "file", help="Measure on this BVH file instead of a generated clip.")
@click.option(
    "--full", is_flag=True, help="Measure `pmg` with 200 points of each kind instead of 10, which takes about an hour."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(names: tuple[str, ...], file: str | None, full: bool, as_json: bool) -> int:
    """Measure speed relative to other packages and to lower bounds measured in the same run.

    NAMEs are listed below; the default is all of them. `stream` cleans 110,000 frames one by one, which takes a few
    seconds; `studio` streams for one minute, and `pmg` takes minutes. If the environment variable MAREY_DATA names
    a folder with recorded clips in cmu, `library` also scans them, and `pmg` also measures walkers built from a random
    half of the walks in cmu/016.

    Other packages are measured if they are installed: pip install '.[bench]'. The exit code is 1 if a goal is
    missed.

    \b
    Example:
      marey bench
      marey bench load fk --json
      marey bench pmg --full
    """
    from marey.bench import run_benches

    results = []
    for result in run_benches(names, file, full=full):
        results.append(result)
        if not as_json:
            click.echo(f"{result.what}: {result.value:.3g} {result.unit}".rstrip(), err=True)
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        _print_table(results)
    return 1 if any(result.ok is False for result in results) else 0


def _print_table(results: list[BenchResult]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for title in ("benchmark", "marey", "compared with", "ratio", "goal", ""):
        table.add_column(title, justify="right" if title in ("marey", "ratio") else "left")
    for result in results:
        floor = "" if result.floor is None else f" {result.floor:.3g} {result.unit}"
        ratio = "" if result.ratio is None else f"{result.ratio:.2f}"
        outcome = {True: "met", False: "MISSED", None: "not judged"}[result.ok]
        table.add_row(
            result.what,
            f"{result.value:.3g} {result.unit}",
            f"{result.against}{floor}",
            ratio,
            result.goal,
            outcome,
        )
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 150).print(table)
