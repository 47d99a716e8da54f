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
    """The half-open frames from --from to --to; a time in seconds includes the frame that is nearest to it."""
    from marey.errors import InvalidValue

    start = 0 if begin is None else begin if isinstance(begin, int) else round(begin * motion.fps)
    stop = len(motion) if end is None else end if isinstance(end, int) else round(end * motion.fps) + 1
    last = f"{motion.name!r}, which lasts {motion.duration:.2f} s or {counted(len(motion), 'frame')}"
    if start >= len(motion):
        raise InvalidValue(f"--from is beyond the end of {last}")
    if stop > len(motion):
        raise InvalidValue(f"--to is beyond the end of {last}")
    if start >= stop:
        raise InvalidValue(f"--from has to come before --to, got frames {start} to {stop} of {last}")
    return start, stop


def reading(function: Command) -> Command:
    """How to understand an input file; the command gets them as `reading`, keywords for `load`."""
    options = [
        click.option("--unit", help="The file's unit: m, cm, mm, in, cmu, or metres per unit.  [default: recognised]"),
        click.option("--up", help="The file's upward axis: y, z, x, -y, -z, -x.  [default: recognised]"),
        click.option(
            "--fps",
            type=float,
            help="Frames per second. BVH, AMC: the rate at which the frames were taken, where the file has none or a "
            "wrong one. GLB: the rate at which to sample its curves.",
        ),
        click.option("--root", type=NameOrIndex(), help="Which ROOT of a BVH file with several."),
        click.option("--clip", type=NameOrIndex(), help="Which animation of a GLB file with several."),
        click.option("--skeleton", help="The ASF file of an AMC file.  [default: looked for beside it]"),
        click.option("--roles", help='A JSON file that says which joint is what: {"left_hand": "Hand_L"}.'),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `reading` out of a command's arguments, dropping those not given."""
    names = ("unit", "up", "fps", "root", "clip", "skeleton", "roles")
    taken = {name: values.pop(name) for name in names}
    return {name: value for name, value in taken.items() if value is not None}


def of_folder(function: Command) -> Command:
    """How to take the clips of a folder; see `opened_folder`."""
    options = [
        click.option("--fps", type=float, default=30.0, show_default=True, help="Frames per second to work at."),
        click.option("--mirrored", is_flag=True, help="Take each clip's mirror image too."),
        click.option(
            "--labels", default="sidecar", show_default=True,
            help="Where labels come from: sidecar, folders, or a CSV file.",
        ),
        click.option(
            "--cache", metavar="DIR", help="Where what was computed is kept.  [default: .marey-cache in FOLDER]"
        ),
        click.option(
            "--group", type=NameOrIndex(), help="Which skeleton of several: its number, or a clip that has it."
        ),
        click.option("--file-fps", type=float, help="Frames per second of the files, where they say a wrong one."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def opened_folder(folder: str, values: dict[str, Any], output: str) -> MotionSet:
    """The set of a folder, by the options of `of_folder`, which are taken out of a command's arguments.

    An output that would replace one of its clips is refused, and results that lie among them are named.
    """
    from marey.store import MotionSet

    names = ("fps", "mirrored", "labels", "cache", "group", "file_fps")
    clips = MotionSet.open(folder, **{name: values.pop(name) for name in names})
    archives = [clips.folder / file for file in clips.files if file.lower().endswith(".npz")]
    results = {path: kind for path in archives if (kind := result_kind(path)) is not None}
    check_output(output, [str(clips.folder / file) for file in clips.files if clips.folder / file not in results])
    for path, kind in results.items():
        if not (Path(output).exists() and path.samefile(output)):
            click.echo(f"marey: {path} is a {kind}, not a clip, and is passed over", err=True)
    return clips


def running(function: Command) -> Command:
    """Where heavy work runs; see `running_options`."""
    options = [
        click.option("--jobs", type=int, default=1, show_default=True, help="Processes that read and compare clips."),
        click.option(
            "--cluster", metavar="ADDRESS",
            help="Compare clips on a Dask cluster: the address of its scheduler, such as tcp://10.0.0.5:8786.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def running_options(values: dict[str, Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Take the options of `running` out of a command's arguments: how to read clips, and how to compare them.

    Files are read here, as other machines may not see them.
    """
    from marey.store import cluster, run_on

    jobs, address = values.pop("jobs"), values.pop("cluster")
    here = run_on(jobs)
    return here, here if address is None else cluster(address)
