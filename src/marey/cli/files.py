"""What commands share that read several files, or write one beside those they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from marey.core.motion import Motion

T = TypeVar("T")


def check_output(output: str, inputs: Iterable[str], remedy: str = "write to another name") -> None:
    """Refuse to write over a file that is read."""
    target = Path(output)
    if not target.exists():
        return
    for path in inputs:
        if Path(path).exists() and Path(path).samefile(target):
            from marey.errors import UnwritableFile

            raise UnwritableFile(f"is an input; {remedy}", path=output)


def result_kind(path: str | Path) -> str | None:
    """What an .npz file holds if marey made it of clips, such as ``"graph"``; None for motions and whatever else."""
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
    """Refuse a name in a folder that does not exist, before anything else is written."""
    if not Path(output).parent.is_dir():
        from marey.errors import UnwritableFile

        raise UnwritableFile(f"the folder {str(Path(output).parent)!r} does not exist; make it first", path=output)


def for_each(files: tuple[str, ...], work: Callable[[str], T]) -> tuple[list[T], int]:
    """What `work` makes of each file, and the exit code so far: 2 where one of several files failed.

    An error of one file is told and the others go on; with one file it is raised.
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
    """Tell where the strides are too quick for a person, so that times and speeds cannot be right."""
    from marey.measure.gait import rate_finding

    finding = rate_finding(motion)
    if finding is not None:
        click.echo(f"marey: warning: {path}: {finding}", err=True)
