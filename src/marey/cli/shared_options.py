"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from marey.cli.derived_options import add_settings, read_settings
from marey.cli.values import MarkerNames, RefuseOrMeters, to_frame
from marey.errors import InvalidValue, format_list, plural

__all__ = [
    "add_reading_options",
    "build_options",
    "clip_set_options",
    "contacts_option",
    "feet_option",
    "frames_between",
    "joint_limits_option",
    "markers_option",
    "note_rest_pose",
    "open_clip_set",
    "output_argument",
    "output_option",
    "read_clip_set",
    "read_joint_limits",
    "read_motion",
    "read_recording",
    "renamed_option",
    "take_output",
    "take_reading_options",
]

if TYPE_CHECKING:
    from marey.core import JointLimits, Markers, Motion
    from marey.io import LoadSettings
    from marey.store import MotionSet

Command = Callable[..., Any]
# Where the value of -o is kept while a command is parsed.
_OUTPUT = f"{__name__}.output"


def frames_between(
    motion: Motion, begin: float | int | None, end: float | int | None, which: str = ""
) -> tuple[int, int]:
    """Convert --from and --to, or --WHICH-from and --WHICH-to, to half-open frames.

    Raise an error if they are beyond the end or out of order.
    """
    start = 0 if begin is None else to_frame(begin, motion.fps)
    stop = len(motion) if end is None else to_frame(end, motion.fps)
    last = f"{motion.name!r}, which lasts {motion.duration:.2f} s or {plural(len(motion), 'frame')}"
    first_option, last_option = (f"--{which}{'-' if which else ''}{side}" for side in ("from", "to"))
    if start >= len(motion):
        raise InvalidValue(f"{first_option} is beyond the end of {last}")
    if stop > len(motion):
        raise InvalidValue(f"{last_option} is beyond the end of {last}")
    if start >= stop:
        raise InvalidValue(f"{first_option} must be before {last_option}, not frames {start} to {stop} of {last}")
    return start, stop


def find_frame(motion: Motion, moment: float | int, option: str) -> int:
    """Convert a time to a frame of the motion. Raise an error if it is beyond the end, or negative."""
    frame = to_frame(moment, motion.fps)
    if not 0 <= frame < len(motion):
        given = f"{moment}f" if isinstance(moment, int) else f"{moment:g} s"
        raise InvalidValue(
            f"{option} must be from 0 to {motion.duration:.2f} s (frame {len(motion) - 1}) of {motion.name!r}, not "
            f"{given}"
        )
    return frame


def markers_option(kinds: str = "roles or joints") -> Callable[[Command], Command]:
    """Add the option --markers. `kinds` are the kinds of names that it takes besides sets."""
    text = f"Points to compare: {', '.join(MarkerNames.SETS)}, or {kinds}, separated by commas."
    return click.option("--markers", type=MarkerNames(), default="body", show_default=True, help=text)


def contacts_option(function: Command) -> Command:
    """Add the option --contacts of comparisons."""
    text = "For frames with different contacts: 'refuse' excludes them, a number is added to their distance in meters."
    return click.option("--contacts", type=RefuseOrMeters(), help=text)(function)


def joint_limits_option(function: Command) -> Command:
    """Add the option --joint-limits. `read_joint_limits` reads its file."""
    text = "Limits of the joints: a file of `marey limits`, or an ASF file."
    return click.option("--joint-limits", metavar="JSON|ASF", help=text)(function)


def read_joint_limits(path: str | None) -> JointLimits | None:
    """Read the file of --joint-limits, if given."""
    if path is None:
        return None
    from marey.io import load_joint_limits

    return load_joint_limits(path)


class _Output(click.Argument):
    """The argument OUT, which may also be given as the option -o."""

    def consume_value(self, ctx: click.Context, opts: Any) -> Any:
        """Return the value and where it comes from."""
        given = ctx.meta.get(_OUTPUT)
        if given is None:
            return super().consume_value(ctx, opts)
        if opts.get(self.name) is not None and isinstance(opts[self.name], str):
            raise click.UsageError(f"OUT was given twice: {opts[self.name]} and -o {given}", ctx)
        return given, ParameterSource.COMMANDLINE


def output_option(function: Command) -> Command:
    """Add the option -o to a command with an argument OUT. `take_output` returns its value."""

    def remember(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta[_OUTPUT] = value

    return click.option(
        "-o", "--output", "output_option", metavar="OUT", is_eager=True, expose_value=False, callback=remember,
        help="Another way to give OUT.",
    )(function)  # fmt: skip


def take_output() -> str | None:
    """Return the value of the option -o of the running command."""
    given: str | None = click.get_current_context().meta.get(_OUTPUT)
    return given


def output_argument(function: Command) -> Command:
    """Add a final argument OUT, the motion file to write, to a command; -o OUT also works."""
    return click.argument("output", cls=_Output, metavar="OUT")(output_option(function))


def add_reading_options(function: Command) -> Command:
    """Add the options for reading an input file. `take_reading_options` turns them into the settings for `read_motion`.

    A command that has its own --fps, for its result, does not get the --fps for reading.
    """
    options = [
        add_settings("marey.io.settings:LoadSettings"),
        click.option("--skeleton", help="The ASF file that belongs to an AMC file.  [default: found next to it]"),
        click.option("--body-model", help="Body model of a SMPL or AMASS file, as NPZ.  [default: an average body]"),
        click.option("--roles", help='A JSON file that maps roles to joints: {"left_hand": "Hand_L"}.'),
        click.option(
            "--keep-rest-pose", "trim_rest", flag_value=False, default=None,
            help="Do not skip frame 0 if it is a rest pose.",
        ),
        click.option("--trim-rest", is_flag=True, hidden=True, expose_value=False, callback=_note_trim_rest),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _note_trim_rest(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        click.echo("marey: --trim-rest is deprecated: a leading rest pose is skipped by default", err=True)


def renamed_option(
    old: str, new: str, *, sets: dict[str, Any] | None = None, **settings: Any
) -> Callable[[Command], Command]:
    """Declare the old name of a renamed option, such as ``renamed_option("--rate", "--fps", type=float)``.

    It is hidden from the help and prints a note when used.

    sets : for a flag, the parameters that it sets, such as ``{"feet": "none"}``.
    """

    def pass_on(context: click.Context, option: click.Parameter, value: Any) -> None:
        if value is not None and value is not False and value != ():
            click.echo(f"marey: {old} is deprecated, use {new}", err=True)
            given = sets or {new.removeprefix("--").replace("-", "_"): value}
            context.default_map = {**(context.default_map or {}), **given}

    if sets is not None:
        settings["is_flag"] = True
    return click.option(old, hidden=True, is_eager=True, expose_value=False, callback=pass_on, **settings)


def removed_option(name: str, **settings: Any) -> Callable[[Command], Command]:
    """Declare an option that no longer has an effect. It is hidden from the help and prints a note when used."""

    def note(context: click.Context, option: click.Parameter, value: Any) -> None:
        if value is not None:
            click.echo(f"marey: {name} no longer has an effect; leave it out", err=True)

    return click.option(name, hidden=True, expose_value=False, callback=note, **settings)


def take_reading_options(values: dict[str, Any]) -> LoadSettings:
    """Take the options for reading files out of a command's arguments, and return them as settings."""
    from marey.io.settings import LoadSettings

    return read_settings(LoadSettings, values)


def read_motion(path: str, settings: LoadSettings | None = None) -> Motion:
    """Load a motion with the settings from `take_reading_options`, and note whether a rest pose was skipped."""
    from marey.io import load_motion

    motion = load_motion(path, settings=settings)
    note_rest_pose(path, motion)
    return motion


def read_recording(path: str, settings: LoadSettings) -> Motion | Markers:
    """Load a motion or markers as `read_motion` does."""
    from marey.io import load

    recording: Motion | Markers = load(path, settings=settings)
    note_rest_pose(path, recording)
    return recording


def note_rest_pose(path: str, value: Motion | Markers) -> None:
    """Remember that a rest pose of a file was skipped; when the command ends, it prints one note for all its files."""
    from marey.io.rest import REST_NOTE

    if REST_NOTE not in value.source.evidence:
        return
    context = click.get_current_context()
    paths: list[str] = context.meta.setdefault("marey.rest_poses", [])
    if not paths:
        context.call_on_close(lambda: _print_rest_note(context.command, paths))
    if path not in paths:
        paths.append(path)


def _print_rest_note(command: click.Command, paths: Sequence[str]) -> None:
    from marey.io.rest import REST_NOTE

    files = paths[0] if len(paths) == 1 else f"{len(paths)} files ({format_list(paths, 3)})"
    keeps = "; --keep-rest-pose keeps it" if any(option.name == "trim_rest" for option in command.params) else ""
    click.echo(f"marey: {files}: {REST_NOTE}{keeps}", err=True)


def feet_option(function: Command) -> Command:
    """Add --feet, and the earlier flag --no-cleanup. The command gets `feet`: "clean" or None."""

    def note_old_flag(context: click.Context, option: click.Parameter, given: bool) -> None:
        if given:
            click.echo("marey: --no-cleanup is deprecated, use --feet none", err=True)
            context.meta["marey.feet"] = "none"

    def read_feet(context: click.Context, option: click.Parameter, value: str) -> str | None:
        chosen = context.meta.get("marey.feet", value)
        return None if chosen == "none" else str(chosen)

    add_old = click.option(
        "--no-cleanup", is_flag=True, hidden=True, is_eager=True, expose_value=False, callback=note_old_flag
    )
    add_new = click.option(
        "--feet",
        type=click.Choice(["clean", "none"]),
        default="clean",
        show_default=True,
        callback=read_feet,
        help="Foot handling: 'clean' keeps planted feet in place, 'none' leaves them as they are.",
    )
    return add_new(add_old(function))


def clip_set_options(function: Command) -> Command:
    """Add the arguments FILE|FOLDER... and the options for reading them. `open_clip_set` uses them."""
    options: list[Callable[[Command], Command]] = [
        click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER..."),
        add_settings("marey.store.settings:OpenSettings"),
        click.option(
            "--labels", multiple=True,
            help="Source of the labels: sidecar, folders, or a CSV file. May be repeated.  [default: sidecar]",
        ),
        click.option(
            "--cache", metavar="DIR", help="Folder for cached results.  [default: .marey-cache in the first FOLDER]"
        ),
        click.option("--roles", help='A JSON file that maps roles to joints: {"left_hand": "Hand_L"}.'),
        click.option(
            "--keep-rest-pose", "trim_rest", flag_value=False, default=None,
            help="Do not skip frame 0 of a file if it is a rest pose.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def open_clip_set(files: tuple[str, ...], values: dict[str, Any], output: str) -> MotionSet:
    """Open files and folders as a motion set; remove the options of `clip_set_options` from a command's `values`.

    Print a note on built results, which are not clips and are skipped.
    """
    from marey.io.folder import describe_other
    from marey.store import MotionSet, OpenSettings

    labels = values.pop("labels") or None
    opened = MotionSet.open(files, settings=read_settings(OpenSettings, values, labels=labels))
    archives = [opened.folder / file for file in opened.files if file.lower().endswith((".npy", ".npz"))]
    results = {path: kind for path in archives if (kind := describe_other(path)) is not None}
    for path, kind in results.items():
        if not (Path(output).exists() and path.samefile(output)):
            click.echo(f"marey: skipping {path}, which is a {kind}, not a clip", err=True)
    return opened


def build_options(function: Command) -> Command:
    """Add `clip_set_options` and the options for parallel execution. `read_clip_set` uses them."""
    options = [
        click.option("--jobs", type=int, default=1, show_default=True, help="Number of processes."),
        click.option(
            "--cluster", metavar="ADDRESS",
            help="Compare clips on a Dask cluster: the address of its scheduler, such as tcp://10.0.0.5:8786.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return clip_set_options(function)


def read_clip_set(files: tuple[str, ...], values: dict[str, Any], output: str) -> tuple[MotionSet, Callable[..., Any]]:
    """Open and read files and folders; remove the options of `build_options` from a command's `values`.

    Return the motion set, and the runner for comparisons. Files are always read on this machine, because other machines
    may not have access to them.
    """
    from marey.cli.progress import bar
    from marey.store import cluster, run_on

    clips = open_clip_set(files, values, output)
    jobs, address = values.pop("jobs"), values.pop("cluster")
    here = run_on(jobs)
    run = here if address is None else cluster(address)
    with bar("reading") as progress:
        clips.prepare(run=here, progress=progress)
    return clips, run
