"""`marey gaze`: add gaze to a motion, and build gaze maps from recordings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.blend import Clock, describe_saved, describe_written, save_as
from marey.cli.derived_options import SettingsCommand, add_settings, name_option, read_settings
from marey.cli.files import check_output, make_plot_folder, print_report, warn_of_rate, write_report
from marey.cli.gaze_params import Forward, LookValue, Point, Take, read_takes
from marey.cli.shared_options import add_reading_options, output_argument, read_motion, take_reading_options
from marey.cli.values import Moment, to_seconds
from marey.errors import FileError, InvalidValue, MareyError, NoResult, plural

if TYPE_CHECKING:
    from pathlib import Path

    from marey.io import LoadSettings
    from marey.layer.gaze_model import GazeShift
    from marey.layer.gaze_track import GazeTrack
    from marey.layer.settings import GazeExampleSettings


class _Gaze(click.Group):
    """Group that runs `marey gaze IN OUT ...` as `marey gaze apply IN OUT ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["apply", *args]
        return super().parse_args(ctx, args)


@click.group("gaze", cls=_Gaze)
def command() -> None:
    """Add gaze to a motion. `marey gaze IN OUT ...` is short for `marey gaze apply IN OUT ...`.

    \b
    Example:
      marey gaze walk.bvh out.bvh --look 1:60:10 --look 3:-45:0 --back 5
      marey gaze walk.bvh out.bvh --at 1:2:1.5:4
      marey gaze map left.c3d:60:0 right.c3d:-60:0 up.c3d:0:30 --triads triads.json -o person.json
    """


def _goal_option(flag: str, name: str, kind: LookValue | Point, text: str) -> Callable[[Any], Any]:
    """Add an option for a goal, which may be repeated."""
    return click.option(flag, name, type=kind, multiple=True, metavar=kind.example.partition(" ")[0], help=text)


@command.command("apply", cls=SettingsCommand, short_help="Make a character look at targets.")
@click.argument("file", metavar="IN")
@output_argument
@_goal_option(
    "--look",
    "looks",
    LookValue(),
    "From time T (seconds, or a frame as 36f), look this many degrees left and up from the body's heading.",
)
@_goal_option(
    "--at",
    "points",
    Point(),
    "From time T, look at a point in the world (meters) and track it while the body moves.",
)
@click.option(
    "--back", "backs", type=Moment(), multiple=True, metavar="T", help="From time T, return to the gaze of IN."
)
@click.option("--map", "map_file", metavar="FILE", help="A gaze map of a person.  [default: the built-in map]")
@add_settings("marey.layer.settings:GazeSettings")
@click.option("--bob", "steady", flag_value=False, default=None, hidden=True)
@click.option(
    "--forward",
    type=Forward(),
    metavar="clip|rest|X,Y,Z",
    help="Define straight ahead as the head's mean direction in the clip, its direction in the rest pose, or a "
    "direction in the head's axes.  [default: clip]",
)
@click.option("--eyes", metavar="NAMES", help="Eye joints, separated by commas; or the word add, to add one.")
@add_reading_options
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
@click.option("--report", "folder", metavar="DIR", help="Write plots of the looks, and report.json, to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def apply(file: str, output: str, folder: str | None, as_json: bool, **options: Any) -> None:
    """Rotate spine, neck, head and eyes of IN to look at one or more targets, and write the result to OUT.

    The eyes move first, then neck, upper spine, lower spine and pelvis; all overshoot a little and settle. The rotation
    of the pelvis is applied to the spine instead: hips and legs do not change. Targets are looked at one after another.

    \b
    Example:
      marey gaze walk.bvh out.bvh --look 1:60:10 --look 3:-45:0 --back 5
      marey gaze walk.bvh out.bvh --at 1:2:1.5:4 --eyes add --report looks/
    """  # fmt: skip
    from marey.layer import GazeMap, GazeSettings

    if not (options["looks"] or options["points"] or options["backs"]):
        raise click.UsageError(
            "no gaze target given; use --look T:YAW:PITCH, --at T:X:Y:Z or --back T, each as often as needed"
        )
    check_output(output)
    into = make_plot_folder(folder)
    how = take_reading_options(options)
    clock = Clock()
    with clock("load"):
        motion = read_motion(file, how)
        gaze = GazeMap.default() if options["map_file"] is None else GazeMap.load(options["map_file"])
    warn_of_rate(file, motion)
    with clock("gaze"):
        names = options["eyes"]
        eyes = names if names in (None, "add") else [name.strip() for name in names.split(",")]
        track = gaze.trace(
            motion, _collect_goals(options, motion.fps), settings=read_settings(GazeSettings, options, eyes=eyes)
        )
    with clock("save"):
        saved = save_as(track.motion, output, options["rigid"])
    report: dict[str, Any] = {
        "op": "gaze",
        **describe_saved(saved, output),
        "input": {"file": file, "name": motion.name},
        "map": options["map_file"] or "default",
        "looks": _looks(track),
        "eyes_max_deg": math.degrees(float(track.eye_angles.max())),
        "notes": list(track.notes),
        "timings_s": clock.times,
    }
    if into is not None:
        report["pictures"] = _draw_plots(track, into)
        write_report(report, into)
    print_report(report, as_json, _format_report)


@command.command("map", cls=SettingsCommand, short_help="Build a gaze map from recorded looks.")
@click.argument("files", type=Take(), nargs=-1, required=True, metavar="EXAMPLE...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The map to write, .json.")
@click.option("--triads", metavar="FILE", help="For C3D files: a JSON file that maps body parts to markers.")
@add_settings("marey.layer.settings:GazeExampleSettings", skip=("start", "stop"))
@add_settings("marey.layer.settings:GazeMapSettings")
@add_reading_options
@click.option(
    "--report", "folder", metavar="DIR", help="Write a plot of each example, and report.json, to this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def map_command(
    files: tuple[Any, ...], output: str, triads: str | None, folder: str | None, as_json: bool, **options: Any
) -> int:
    """Build a gaze map of a person from recorded looks, and write it to OUT.

    Each EXAMPLE is FILE:YAW:PITCH, a recording of one look (rest, look, rest there) and its direction in degrees; or a
    .csv file with lines FILE,YAW,PITCH[,START,STOP]. START and STOP are frames around the look, for recordings in which
    the rest is not detected. Files are C3D (with --triads) or any motion format. Recordings that cannot be used are
    reported and skipped; the exit code is then 1.

    \b
    Example:
      marey gaze map left.c3d:60:0 right.c3d:-60:0 up.c3d:0:30 --triads triads.json -o person.json
      marey gaze map looks.csv -o person.json
    """
    from marey.layer.gaze_map import GazeMap
    from marey.layer.gaze_markers import load_triads
    from marey.layer.settings import GazeExampleSettings, GazeMapSettings

    check_output(output, form="marey.gaze_map", suffixes=(".json",))
    takes = read_takes(files)
    into = make_plot_folder(folder)
    marked = None if triads is None else load_triads(triads)
    how = take_reading_options(options)
    settings = read_settings(GazeMapSettings, options)
    examples, left_out = _examples(takes, read_settings(GazeExampleSettings, options, triads=marked), how)
    gaze = GazeMap.build((shift for _, shift in examples), settings=settings)
    gaze.save(output)
    low, high = gaze.region.min(axis=0), gaze.region.max(axis=0)
    report: dict[str, Any] = {
        "op": "gaze map",
        "written": output,
        "yaw_deg": [math.degrees(low[0]), math.degrees(high[0])],
        "pitch_deg": [math.degrees(low[1]), math.degrees(high[1])],
        "examples": [{"file": name, **_numbers(shift)} for name, shift in examples],
        "left_out": left_out,
    }
    if into is not None:
        from marey.plot.gaze import gaze_shift

        report["pictures"] = [f"example_{k}.png" for k in range(len(examples))]
        for name, (_, shift) in zip(report["pictures"], examples, strict=True):
            gaze_shift(shift, into / name)
        write_report(report, into)
    print_report(report, as_json, _map_text)
    return 1 if left_out else 0


def _collect_goals(options: dict[str, Any], fps: float) -> list[tuple[Any, ...]]:
    """Return all goals sorted by time, converted to seconds, radians and meters."""
    goals: list[tuple[Any, ...]] = [
        (to_seconds(time, fps), math.radians(yaw), math.radians(pitch)) for time, yaw, pitch in options["looks"]
    ]
    goals += [(to_seconds(time, fps), point) for time, *point in options["points"]]
    goals += [(to_seconds(time, fps), None) for time in options["backs"]]
    return sorted(goals, key=lambda goal: float(goal[0]))


def _examples(
    takes: list[Any], settings: GazeExampleSettings, how: LoadSettings
) -> tuple[list[tuple[str, GazeShift]], list[dict[str, str]]]:
    """Return the usable looks with their files, and the skipped files with the reason."""
    from marey.layer.gaze_capture import gaze_example

    examples, left_out = [], []
    for take in takes:
        try:
            shift = gaze_example(
                _load_recording(take.file, settings.triads, how),
                (math.radians(take.yaw), math.radians(take.pitch)),
                settings.triads if take.file.lower().endswith(".c3d") else None,
                start=take.start,
                stop=take.stop,
                settings=settings,
            )
        except NoResult as error:
            left_out.append({"file": take.file, "why": str(error)})
            click.echo(f"marey: warning: {take.file}: skipped: {error.word(name_option)}", err=True)
            continue
        except FileError:
            raise
        except MareyError as error:
            raise InvalidValue(f"{take.file}: {error}") from None
        examples.append((take.file, shift))
    if not examples:
        raise NoResult(f"none of {plural(len(takes), 'look')} can be used; the first failed: {left_out[0]['why']}")
    return examples, left_out


def _load_recording(path: str, triads: Any, how: LoadSettings) -> Any:
    """Load the markers or the motion of a look."""
    import warnings

    from marey.io import load_markers

    if not path.lower().endswith(".c3d"):
        motion = read_motion(path, how)
        warn_of_rate(path, motion, is_only=False)
        return motion
    if triads is None:
        raise InvalidValue("recorded markers require --triads FILE, which maps body parts to markers")
    with warnings.catch_warnings():
        # The triads determine the up axis, so the reader's uncertainty with few markers does not matter.
        warnings.filterwarnings("ignore", message=".*which is not certain; pass `up=` if it is wrong")
        return load_markers(path, unit=how.unit, up=how.up)


def _numbers(shift: GazeShift) -> dict[str, Any]:
    from marey.maths import quat

    return {
        "goal_deg": [math.degrees(angle) for angle in shift.goal],
        "length_s": shift.length,
        "starts_s": [float(start) * shift.length for start in shift.starts],
        "peak_s": shift.peak * shift.length,
        "overshoot": shift.overshoot,
        "eyes_deg": math.degrees(float(quat.angle(shift.pose[4]))),
    }


def _looks(track: GazeTrack) -> list[dict[str, Any]]:
    misses = track.misses()
    out = []
    for look in track.looks:
        goal: Any = None
        if look.goal is not None:
            angles = len(look.goal) == 2
            goal = [math.degrees(x) if angles else float(x) for x in look.goal]
        frame = min(math.ceil(look.end * track.motion.fps - 1e-6), len(track.motion) - 1)
        missed = None if goal is None or not look.settled else math.degrees(float(misses[frame]))
        out.append(
            {
                "time_s": look.time,
                "goal": goal,
                "settled_s": look.end if look.settled else None,
                "outside_deg": math.degrees(look.outside),
                "missed_deg": missed,
                **{key: value for key, value in _numbers(look.shift).items() if key != "goal_deg"},
            }
        )
    return out


def _draw_plots(track: GazeTrack, folder: Path) -> list[str]:
    from marey.plot.gaze import gaze_shift, gaze_track

    names = []
    for k, look in enumerate(track.looks):
        gaze_shift(look.shift, folder / f"shift_{k}.png")
        names.append(f"shift_{k}.png")
        try:
            gaze_track(track, folder / f"look_{k}.png", look=k)
        except InvalidValue:  # the look begins in the last frame
            continue
        names.append(f"look_{k}.png")
    return names


def _format_report(report: dict[str, Any]) -> str:
    lines = [describe_written(report)]
    for look in report["looks"]:
        goal = look["goal"]
        if goal is None:
            what = "back to the original gaze"
        elif len(goal) == 2:
            what = f"yaw {goal[0]:.0f}, pitch {goal[1]:.0f} degrees"
        else:
            what = f"the point {', '.join(f'{x:g}' for x in goal)}"
        end = "not settled before the end" if look["settled_s"] is None else f"settled at {look['settled_s']:.2f} s"
        missed = "" if look["missed_deg"] is None else f", {look['missed_deg']:.2f} degrees off"
        if missed and look["missed_deg"] > 1.0:
            missed += " because it is out of reach"
        lines.append(f"  {look['time_s']:.2f} s: {what}; {end}{missed}, overshoot {100 * look['overshoot']:.0f} %")
    lines.append(f"  the eyes rotate in the head by up to {report['eyes_max_deg']:.0f} degrees")
    return "\n".join(lines)


def _map_text(report: dict[str, Any]) -> str:
    (left, right), (down, up) = report["yaw_deg"], report["pitch_deg"]
    lines = [
        f"{report['written']}: {plural(len(report['examples']), 'look')}, yaw {left:.0f} to {right:.0f}, pitch "
        f"{down:.0f} to {up:.0f} degrees"
    ]
    for example in report["examples"]:
        yaw, pitch = example["goal_deg"]
        starts = ", ".join(f"{1e3 * start:.0f}" for start in reversed(example["starts_s"]))
        lines.append(
            f"  {example['file']}: {yaw:.0f}, {pitch:.0f} degrees in {example['length_s']:.2f} s; neck to pelvis begin "
            f"at {starts} ms, overshoot {100 * example['overshoot']:.0f} %, eyes {example['eyes_deg']:.0f} degrees"
        )
    if report["left_out"]:
        lines.append(f"  {plural(len(report['left_out']), 'look')} skipped")
    return "\n".join(lines)
