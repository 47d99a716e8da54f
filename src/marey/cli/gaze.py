"""`marey gaze`: look where it matters, and maps of how a person looks somewhere."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from marey.cli.blend import Clock, make_folder, save_as, write_report, written
from marey.cli.files import check_folder, check_output, counted
from marey.cli.gaze_params import Look, Point, Take, read_takes
from marey.cli.layers import warn_of_clip
from marey.cli.options import reading, reading_options
from marey.cli.params import Moment

if TYPE_CHECKING:
    from pathlib import Path

    from marey.layer.gaze_model import GazeShift
    from marey.layer.gaze_track import GazeTrack


class _Gaze(click.Group):
    """`marey gaze IN OUT ...` is `marey gaze apply IN OUT ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["apply", *args]
        return super().parse_args(ctx, args)


@click.group("gaze", cls=_Gaze)
def command() -> None:
    """Let a motion look at things: marey gaze IN OUT --look T:YAW:PITCH, which is short for marey gaze apply.

    \b
    Example:
      marey gaze walk.bvh out.bvh --look 1:60:10 --look 3:-45:0 --back 5
      marey gaze walk.bvh out.bvh --at 1:2:1.5:4
      marey gaze map left.c3d:60:0 right.c3d:-60:0 up.c3d:0:30 --triads triads.json -o person.json
    """


@command.command("apply")
@click.argument("file", metavar="IN")
@click.argument("output", metavar="OUT")
@click.option(
    "--look",
    "looks",
    type=Look(),
    multiple=True,
    metavar="T:YAW:PITCH",
    help="From T (seconds, or 36f) look there: degrees to the left and up from the body's heading.",
)
@click.option(
    "--at",
    "points",
    type=Point(),
    multiple=True,
    metavar="T:X:Y:Z",
    help="From T look at a point in the world, metres, and keep to it while the body moves.",
)
@click.option("--back", "backs", type=Moment(), multiple=True, metavar="T", help="From T look as IN does by itself.")
@click.option("--map", "map_file", metavar="FILE", help="How the person looks somewhere.  [default: marey's own]")
@click.option("--bob", is_flag=True, help="Let the gaze bob with the body instead of letting the eyes take it up.")
@click.option(
    "--forward",
    type=click.Choice(["clip", "rest"]),
    default="clip",
    show_default=True,
    help="Straight ahead is where the head points on the whole, or where it does in the rest pose.",
)
@click.option("--eyes", metavar="NAMES", help="Joints that are the eyes, separated by commas; or add, for a new one.")
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
@click.option("--report", "folder", metavar="DIR", help="Write pictures of the looks, and report.json, to there.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def apply(file: str, output: str, folder: str | None, as_json: bool, **options: Any) -> None:
    """Turn spine, neck, head and eyes of IN so that it looks at goals, and write it to OUT.

    Hips and legs stay as they are. Eyes go first, then neck, upper spine, lower spine and pelvis; all overshoot a
    little and settle. Goals are met one after another.

    \b
    Example:
      marey gaze walk.bvh out.bvh --look 1:60:10 --look 3:-45:0 --back 5
      marey gaze walk.bvh out.bvh --at 1:2:1.5:4 --eyes add --report looks/
    """  # fmt: skip
    from marey.io import load_motion
    from marey.layer.gaze_map import GazeMap

    if not (options["looks"] or options["points"] or options["backs"]):
        raise click.UsageError(
            "say where to look: --look T:YAW:PITCH, --at T:X:Y:Z or --back T, each as often as needed"
        )
    check_output(output, [file, *([options["map_file"]] if options["map_file"] else [])])
    into = None if folder is None else make_folder(folder)
    how = reading_options(options)
    clock = Clock()
    with clock("load"):
        motion = load_motion(file, trim_rest=options["trim_rest"], **how)
        gaze = GazeMap.default() if options["map_file"] is None else GazeMap.load(options["map_file"])
    warn_of_clip(file, motion)
    with clock("gaze"):
        names = options["eyes"]
        track = gaze.trace(
            motion,
            _goals(options, motion.fps),
            steady=not options["bob"],
            forward=options["forward"],
            eyes=names if names in (None, "add") else [name.strip() for name in names.split(",")],
        )
    with clock("save"):
        saved = save_as(track.motion, output, options["rigid"])
    report: dict[str, Any] = {
        "op": "gaze",
        "written": output,
        "frames": len(saved),
        "fps": saved.fps,
        "seconds": saved.duration,
        "input": {"file": file, "name": motion.name},
        "map": options["map_file"] or "default",
        "looks": _looks(track),
        "eyes_max_deg": math.degrees(float(track.eye_angles.max())),
        "notes": list(track.notes),
        "timings_s": clock.times,
    }
    if folder is not None and into is not None:
        report["pictures"] = _pictures(track, into)
        write_report(report, folder)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))


@command.command("map")
@click.argument("examples", type=Take(), nargs=-1, required=True, metavar="EXAMPLE...")
@click.option("-o", "--output", required=True, metavar="OUT", help="The map to write, .json.")
@click.option("--triads", metavar="FILE", help="A JSON file that says which markers sit on what; for C3D files.")
@click.option("--facing", type=float, help="Degrees by which people face to the left of +Z.  [default: as files tell]")
@reading
@click.option("--report", "folder", metavar="DIR", help="Write a picture of each example, and report.json, to there.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def map_command(
    examples: tuple[Any, ...], output: str, triads: str | None, facing: float | None, folder: str | None,
    as_json: bool, **options: Any,
) -> int:  # fmt: skip
    """Make a map of how a person looks somewhere from captured looks, and write it to OUT.

    Each EXAMPLE is FILE:YAW:PITCH, a recording of one look (rest, look, rest) and where it went, in degrees; or a .csv
    file of lines FILE,YAW,PITCH, with START,STOP in frames behind where rest is not found. Files are C3D, with
    --triads, or any motion. A look that cannot be used is told, and left out.

    \b
    Example:
      marey gaze map left.c3d:60:0 right.c3d:-60:0 up.c3d:0:30 --triads triads.json -o person.json
      marey gaze map looks.csv -o person.json
    """
    from marey.errors import UnknownFormat
    from marey.layer.gaze_map import GazeMap
    from marey.layer.gaze_markers import load_triads

    takes = read_takes(examples)
    if not output.lower().endswith(".json"):
        raise UnknownFormat("a gaze map is written as .json", path=output)
    check_output(output, [take.file for take in takes])
    check_folder(output)
    into = None if folder is None else make_folder(folder)
    marked = None if triads is None else load_triads(triads)
    how = reading_options(options)
    made, left_out = _examples(takes, marked, facing, how)
    gaze = GazeMap.build(shift for _, shift in made)
    gaze.save(output)
    low, high = gaze.region.min(axis=0), gaze.region.max(axis=0)
    report: dict[str, Any] = {
        "op": "gaze map",
        "written": output,
        "yaw_deg": [math.degrees(low[0]), math.degrees(high[0])],
        "pitch_deg": [math.degrees(low[1]), math.degrees(high[1])],
        "examples": [{"file": name, **_numbers(shift)} for name, shift in made],
        "left_out": left_out,
    }
    if folder is not None and into is not None:
        from marey.plot.gaze import gaze_shift

        report["pictures"] = [f"example_{k}.png" for k in range(len(made))]
        for name, (_, shift) in zip(report["pictures"], made, strict=True):
            gaze_shift(shift, into / name)
        write_report(report, folder)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _map_text(report))
    return 1 if left_out else 0


def _goals(options: dict[str, Any], fps: float) -> list[tuple[Any, ...]]:
    """All goals in the order of their times, radians and metres."""
    goals: list[tuple[Any, ...]] = [
        (_seconds(time, fps), math.radians(yaw), math.radians(pitch)) for time, yaw, pitch in options["looks"]
    ]
    goals += [(_seconds(time, fps), point) for time, *point in options["points"]]
    goals += [(_seconds(time, fps), None) for time in options["backs"]]
    return sorted(goals, key=lambda goal: float(goal[0]))


def _seconds(moment: float | int, fps: float) -> float:
    return moment / fps if isinstance(moment, int) else moment


def _examples(
    takes: list[Any], triads: Any, facing: float | None, how: dict[str, Any]
) -> tuple[list[tuple[str, GazeShift]], list[dict[str, str]]]:
    """The looks that can be used, and the others with the reason."""
    from marey.errors import FileError, InvalidValue, MareyError, NoResult
    from marey.layer.gaze_capture import gaze_example

    made, left_out = [], []
    for take in takes:
        try:
            shift = gaze_example(
                _recording(take.file, triads, how),
                (math.radians(take.yaw), math.radians(take.pitch)),
                triads if take.file.lower().endswith(".c3d") else None,
                start=take.start,
                stop=take.stop,
                facing=None if facing is None else math.radians(facing),
            )
        except NoResult as error:
            left_out.append({"file": take.file, "why": str(error)})
            click.echo(f"marey: warning: {take.file}: left out, as {error}", err=True)
            continue
        except FileError:
            raise
        except MareyError as error:
            raise InvalidValue(f"{take.file}: {error}") from None
        made.append((take.file, shift))
    if not made:
        raise NoResult(f"none of {counted(len(takes), 'look')} can be used; the first: {left_out[0]['why']}")
    return made, left_out


def _recording(path: str, triads: Any, how: dict[str, Any]) -> Any:
    """The markers or the motion of a look."""
    import warnings

    from marey.errors import InvalidValue
    from marey.io import load_markers, load_motion

    if not path.lower().endswith(".c3d"):
        motion = load_motion(path, **how)
        warn_of_clip(path, motion)
        return motion
    if triads is None:
        raise InvalidValue("markers need --triads FILE, which says which of them sit on what")
    with warnings.catch_warnings():
        # The triads tell which axis is up, whatever a reader makes of so few markers.
        warnings.filterwarnings("ignore", message=".*which is not certain; up= or --up overrides")
        return load_markers(path, **{key: how[key] for key in ("unit", "up") if key in how})


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


def _pictures(track: GazeTrack, into: Path) -> list[str]:
    from marey.errors import InvalidValue
    from marey.plot.gaze import gaze_shift, gaze_track

    names = []
    for k, look in enumerate(track.looks):
        gaze_shift(look.shift, into / f"shift_{k}.png")
        names.append(f"shift_{k}.png")
        try:
            gaze_track(track, into / f"look_{k}.png", look=k)
        except InvalidValue:  # it begins in the last frame
            continue
        names.append(f"look_{k}.png")
    return names


def _text(report: dict[str, Any]) -> str:
    lines = [written(report)]
    for look in report["looks"]:
        goal = look["goal"]
        if goal is None:
            what = "back to its own gaze"
        elif len(goal) == 2:
            what = f"yaw {goal[0]:.0f}, pitch {goal[1]:.0f} degrees"
        else:
            what = f"the point {', '.join(f'{x:g}' for x in goal)}"
        end = "not settled before it is over" if look["settled_s"] is None else f"settled at {look['settled_s']:.2f} s"
        missed = "" if look["missed_deg"] is None else f", {look['missed_deg']:.2f} degrees off"
        if missed and look["outside_deg"] > 0.1:
            missed += " as the map ends there"
        lines.append(f"  {look['time_s']:.2f} s: {what}; {end}{missed}, overshoot {100 * look['overshoot']:.0f} %")
    lines.append(f"  eyes turn in the head by up to {report['eyes_max_deg']:.0f} degrees")
    if "pictures" in report:
        lines.append(f"pictures: {', '.join(report['pictures'])}")
    return "\n".join(lines)


def _map_text(report: dict[str, Any]) -> str:
    (left, right), (down, up) = report["yaw_deg"], report["pitch_deg"]
    lines = [
        f"{report['written']}: {counted(len(report['examples']), 'look')}, yaw {left:.0f} to {right:.0f}, pitch "
        f"{down:.0f} to {up:.0f} degrees"
    ]
    for example in report["examples"]:
        yaw, pitch = example["goal_deg"]
        starts = ", ".join(f"{1e3 * start:.0f}" for start in reversed(example["starts_s"]))
        lines.append(
            f"  {example['file']}: {yaw:.0f}, {pitch:.0f} degrees in {example['length_s']:.2f} s; neck to pelvis start "
            f"at {starts} ms, overshoot {100 * example['overshoot']:.0f} %, eyes {example['eyes_deg']:.0f} degrees"
        )
    if report["left_out"]:
        lines.append(f"  {counted(len(report['left_out']), 'look')} left out")
    if "pictures" in report:
        lines.append(f"pictures: {', '.join(report['pictures'])}")
    return "\n".join(lines)
