"""Helpers for commands that read and write files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from marey.core.motion import Motion


def check_output(
    output: str,
    inputs: Iterable[str] = (),
    *,
    what: str = "",
    suffixes: tuple[str, ...] = (),
    remedy: str = "choose another name",
) -> None:
    """Raise an error if the output cannot be written, before any work is done.

    Parameters
    ----------
    output : the file to write.
    inputs : files that it must not overwrite.
    what, suffixes : what is written, such as "a graph", and the suffixes that it may have; any by default.
    remedy : what to do if it would overwrite an input.
    """
    from marey.errors import UnwritableFile

    target = Path(output)
    if target.exists() and any(Path(path).exists() and Path(path).samefile(target) for path in inputs):
        raise UnwritableFile(f"this is an input file; {remedy}", path=output)
    if suffixes:
        from marey.io.archive import check_suffix

        check_suffix(output, suffixes, what)
    if not target.parent.is_dir():
        raise UnwritableFile(f"the folder {str(target.parent)!r} does not exist; create it first", path=output)


def check_plot(output: str | None, inputs: Iterable[str] = ()) -> None:
    """Raise an error if a plot cannot be drawn or written, before any work is done. None means no plot."""
    if output is not None:
        import marey.plot  # noqa: F401  # raises an error if matplotlib is missing

        check_output(output, inputs, what="a plot", suffixes=(".png", ".svg"))


def make_plot_folder(folder: str | None) -> Path | None:
    """Create the folder for plots if it does not exist. None means no plots."""
    if folder is None:
        return None
    import marey.plot  # noqa: F401  # raises an error if matplotlib is missing
    from marey.errors import UnwritableFile

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror or error).lower()
        raise UnwritableFile(f"cannot create the folder ({reason})", path=folder) from None
    return Path(folder)


def write_report(report: Mapping[str, Any], folder: Path) -> None:
    """Write `report.json` to the folder."""
    import json

    from marey.io.files import write_bytes

    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_bytes(folder / "report.json", [text.encode("utf-8")])


def report_each(
    files: tuple[str, ...],
    report: Callable[[str], dict[str, Any]],
    as_json: bool,
    show: Callable[[dict[str, Any]], str],
) -> tuple[list[dict[str, Any]], int]:
    """Print a report on each file, formatted by `show`, or all reports as JSON. Returns them and the exit code.

    With several files, an error in one file is printed, the other files are processed, and the exit code is 2. With one
    file, the error is raised.
    """
    import json

    from marey.cli.settings import name_option
    from marey.errors import MareyError

    results: list[dict[str, Any]] = []
    exit_code = 0
    for path in files:
        try:
            results.append(report(path))
            if not as_json:
                click.echo(show(results[-1]))
        except MareyError as error:
            if len(files) == 1:
                raise
            click.echo(f"marey: {error.word(name_option)}", err=True)
            exit_code = 2
    if as_json:
        click.echo(json.dumps(results, indent=1, ensure_ascii=False))
    return results, exit_code


def read_rows(path: str, n: int | None, what: str, *, least: int = 1) -> list[list[float]]:
    """Read rows of n numbers from a CSV file. The first line may be a header; lines that start with # are skipped.

    n : None for as many as the first row has. what : what a row has, for messages. least : minimum number of rows.
    """
    from marey.errors import ParseError
    from marey.io.files import read_bytes

    rows: list[list[float]] = []
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig", errors="replace").splitlines(), start=1):
        words = line.replace(";", ",").split(",")
        if not any(map(str.strip, words)) or line.lstrip().startswith("#"):
            continue
        try:
            values = [float(word) for word in words]
        except ValueError:
            if number == 1:
                continue
            raise ParseError(f"expected {what}, got {line.strip()!r}", path=path, line=number) from None
        n = len(values) if n is None else n
        if len(values) != n:
            raise ParseError(f"expected {what}, got {plural(len(values), 'number')}", path=path, line=number)
        rows.append(values)
    if len(rows) < least:
        raise ParseError(f"expected at least {plural(least, 'line')} of {what}, got {len(rows)}", path=path)
    return rows


def plural(n: int, what: str) -> str:
    """Format a count with its noun: ``"1 frame"``, ``"2 frames"``."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def warn_of_rate(path: str, motion: Motion) -> None:
    """Warn if the strides are too fast for a person: the frame rate, and all times and speeds, are then wrong."""
    from marey.cli.settings import word_options
    from marey.measure.gait import rate_finding

    finding = rate_finding(motion)
    if finding is not None:
        click.echo(f"marey: warning: {path}: {word_options(finding)}", err=True)
