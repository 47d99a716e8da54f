"""Helpers of commands that read and write files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from marey.core.motion import Motion

T = TypeVar("T")


def check_output(output: str, inputs: Iterable[str], remedy: str = "choose another name") -> None:
    """Raise an error if the output would overwrite an input."""
    target = Path(output)
    if not target.exists():
        return
    for path in inputs:
        if Path(path).exists() and Path(path).samefile(target):
            from marey.errors import UnwritableFile

            raise UnwritableFile(f"is an input; {remedy}", path=output)


def result_kind(path: str | Path) -> str | None:
    """Return what kind of built result an .npz file holds, such as ``"graph"``; None for motions and other files."""
    import zipfile

    import numpy as np

    try:
        with zipfile.ZipFile(path) as archive, archive.open("format.npy") as stream:
            form = str(np.lib.format.read_array(stream, allow_pickle=False))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None
    kind = form.removeprefix("marey.")
    return None if kind in (form, "motion") else kind


def check_folder(output: str) -> None:
    """Raise an error if the output's folder does not exist, before anything else is written."""
    if not Path(output).parent.is_dir():
        from marey.errors import UnwritableFile

        raise UnwritableFile(f"the folder {str(Path(output).parent)!r} does not exist; create it first", path=output)


def for_each(files: tuple[str, ...], work: Callable[[str], T]) -> tuple[list[T], int]:
    """Apply `work` to each file; return the results and the exit code, 2 if one of several files failed.

    With several files, an error in one is printed and the others continue; with one file, it is raised.
    """
    from marey.errors import MareyError

    results: list[T] = []
    exit_code = 0
    for path in files:
        try:
            results.append(work(path))
        except MareyError as error:
            if len(files) == 1:
                raise
            click.echo(f"marey: {error}", err=True)
            exit_code = 2
    return results, exit_code


def counted(n: int, what: str) -> str:
    """``"1 frame"``, ``"2 frames"``."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def warn_of_rate(path: str, motion: Motion) -> None:
    """Warn if the strides are too fast for a person, so that times and speeds must be wrong."""
    from marey.measure.gait import rate_finding

    finding = rate_finding(motion)
    if finding is not None:
        click.echo(f"marey: warning: {path}: {finding}", err=True)
