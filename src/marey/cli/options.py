"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, counted, result_kind
from marey.cli.params import Moment, NameOrIndex

__all__ = [
    "Moment",
    "frames_between",
    "of_folder",
    "opened_folder",
    "reading",
    "reading_options",
    "running",
    "running_options",
]

if TYPE_CHECKING:
    from marey.core import Motion
    from marey.store import MotionSet

Command = Callable[..., Any]


def frames_between(motion: Motion, begin: float | int | None, end: float | int | None) -> tuple[int, int]:
    """Convert --from and --to to half-open frames; an end in seconds includes the frame nearest to it."""
    from marey.errors import InvalidValue

    start = 0 if begin is None else begin if isinstance(begin, int) else round(begin * motion.fps)
    stop = len(motion) if end is None else end if isinstance(end, int) else round(end * motion.fps) + 1
    last = f"{motion.name!r}, which lasts {motion.duration:.2f} s or {counted(len(motion), 'frame')}"
    if start >= len(motion):
        raise InvalidValue(f"--from is beyond the end of {last}")
    if stop > len(motion):
        raise InvalidValue(f"--to is beyond the end of {last}")
    if start >= stop:
        raise InvalidValue(f"--from must be before --to, got frames {start} to {stop} of {last}")
    return start, stop


def reading(function: Command) -> Command:
    """Add the options for reading an input file; `reading_options` turns them into keywords for `load`."""
    options = [
        click.option("--unit", help="Unit of the file: m, cm, mm, in, cmu, or meters per unit.  [default: detected]"),
        click.option("--up", help="Up axis of the file: y, z, x, -y, -z, -x.  [default: detected]"),
        click.option(
            "--fps",
            type=float,
            help="Frames per second. For BVH and AMC, the recorded frame rate, if the file gives none or a wrong one. "
            "For GLB, the rate at which to sample its curves.",
        ),
        click.option("--root", type=NameOrIndex(), help="The ROOT to read from a BVH file with several."),
        click.option("--clip", type=NameOrIndex(), help="The animation to read from a GLB file with several."),
        click.option("--skeleton", help="The ASF file that belongs to an AMC file.  [default: found next to it]"),
        click.option("--roles", help='A JSON file that maps roles to joints: {"left_hand": "Hand_L"}.'),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `reading` from a command's arguments and return those that were given."""
    names = ("unit", "up", "fps", "root", "clip", "skeleton", "roles")
    taken = {name: values.pop(name) for name in names}
    return {name: value for name, value in taken.items() if value is not None}


def of_folder(function: Command) -> Command:
    """Add the options for reading a folder of clips; see `opened_folder`."""
    options = [
        click.option("--fps", type=float, default=30.0, show_default=True, help="Frames per second to work at."),
        click.option("--mirrored", is_flag=True, help="Also use the mirror image of each clip."),
        click.option(
            "--labels", default="sidecar", show_default=True,
            help="Source of the labels: sidecar, folders, or a CSV file.",
        ),
        click.option(
            "--cache", metavar="DIR", help="Folder for cached results.  [default: .marey-cache in FOLDER]"
        ),
        click.option(
            "--group", type=NameOrIndex(),
            help="The skeleton to use, if there are several: its number, or a clip that has it.",
        ),
        click.option("--file-fps", type=float, help="Recorded frame rate of the files, if they give a wrong one."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def opened_folder(folder: str, values: dict[str, Any], output: str) -> MotionSet:
    """Open a folder as a motion set; the options of `of_folder` are removed from the command's arguments.

    Raises an error if the output would overwrite one of the clips, and reports result files that are skipped.
    """
    from marey.store import MotionSet

    names = ("fps", "mirrored", "labels", "cache", "group", "file_fps")
    clips = MotionSet.open(folder, **{name: values.pop(name) for name in names})
    archives = [clips.folder / file for file in clips.files if file.lower().endswith(".npz")]
    results = {path: kind for path in archives if (kind := result_kind(path)) is not None}
    check_output(output, [str(clips.folder / file) for file in clips.files if clips.folder / file not in results])
    for path, kind in results.items():
        if not (Path(output).exists() and path.samefile(output)):
            click.echo(f"marey: skipping {path}, which is a {kind}, not a clip", err=True)
    return clips


def running(function: Command) -> Command:
    """Add the options for parallel execution; see `running_options`."""
    options = [
        click.option("--jobs", type=int, default=1, show_default=True, help="Number of processes."),
        click.option(
            "--cluster", metavar="ADDRESS",
            help="Compare clips on a Dask cluster: the address of its scheduler, such as tcp://10.0.0.5:8786.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def running_options(values: dict[str, Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Remove the options of `running` from a command's arguments; return the runners for reading and for comparing.

    Files are read on this machine, because others may not have access to them.
    """
    from marey.store import cluster, run_on

    jobs, address = values.pop("jobs"), values.pop("cluster")
    here = run_on(jobs)
    return here, here if address is None else cluster(address)
