"""`marey edit`: edit a motion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marey.cli.files import check_output, plural
from marey.cli.options import feet_option, frames_between, read_motion, reading, reading_options, renamed_option
from marey.cli.values import Moment, to_frame, to_seconds
from marey.errors import InvalidValue, ParseError

if TYPE_CHECKING:
    from marey.core import Motion, Skeleton
    from marey.core.feet import Feet

Command = Callable[..., Any]
# Meters by which a hand or foot may miss its target before the exit code is 1.
_MISSED = 1e-3


@click.group("edit")
def command() -> None:
    """Edit a motion: its frame rate, handedness, length, timing, path, posture or skeleton.

    Contacts and labels are kept, and the edit is recorded in OUT's sidecar. Times are in seconds (1.2) or frames (36f).

    \b
    Example:
      marey edit resample walk.bvh walk30.bvh --fps 30
      marey edit mirror walk.bvh mirrored.bvh
      marey edit warp walk.bvh duck.bvh --move hips@1.5=0,-0.3,0 --hold 0.3
      marey edit path walk.bvh curved.bvh --along curve.csv
    """


def _editing(function: Command) -> Command:
    """Add the arguments IN and OUT, and the options for reading IN."""
    for add in (
        reading,
        click.argument("output", metavar="OUT"),
        click.argument("source", metavar="IN"),
    ):
        function = add(function)
    return function


def _span(function: Command) -> Command:
    """Add --from and --to."""
    function = click.option("--to", "end", type=Moment(), help="End (exclusive): seconds or a frame.")(function)
    return click.option("--from", "begin", type=Moment(), help="Start: seconds or a frame.")(function)


def _load(options: dict[str, Any], *paths: str, output: str) -> list[Motion]:

    check_output(output, paths)
    how = reading_options(options)
    return [read_motion(path, how) for path in paths]


def _write(motion: Motion, output: str) -> int:
    """Save the motion, print the edit, and return the exit code: 1 if a target was out of reach, else 0."""
    from marey.io import save

    save(motion, output)
    step = motion.source.provenance[-1]
    click.echo(f"{output}: {step['op']}, {plural(len(motion), 'frame')} at {motion.fps:.6g} Hz")
    for line in _DESCRIPTIONS.get(step["op"], _describe_nothing)(dict(step), motion.fps):
        click.echo(f"  {line}")
    missed = max(dict(step.get("residue") or {}).values(), default=0.0)  # the library has already warned
    return 1 if missed > _MISSED else 0


def _describe_nothing(step: dict[str, Any], fps: float) -> list[str]:
    return []


def _describe_cycle(step: dict[str, Any], fps: float) -> list[str]:
    seam, n = step["seam"], step["stop"] - step["start"]
    return [
        f"frames {step['start']} to {step['stop']} ({n / fps:.2f} s), {plural(step['repeats'], 'cycle')}",
        f"jump at the seam: {1e3 * seam['position_before']:.1f} mm and {seam['velocity_before']:.2f} m/s before, "
        f"{1e3 * seam['position']:.1f} mm and {seam['velocity']:.2f} m/s after; largest change between frames within "
        f"the loop: {1e3 * seam['usual_position']:.1f} mm and {seam['usual_velocity']:.2f} m/s",
    ]


def _describe_deseam(step: dict[str, Any], fps: float) -> list[str]:
    if not (step["jump"] or step["jump_turn"]):
        return [f"no jump at frame {step['at']}; nothing was changed"]
    return [
        f"removed a jump of {1e3 * step['jump']:.0f} mm at the hips and up to {_degrees(step['jump_turn']):.1f} "
        "degrees at the joints"
    ]


def _degrees(radians: float) -> float:
    from math import degrees

    return degrees(radians)


# For each operation, a function that formats what it reports in addition to the number of frames.
_DESCRIPTIONS: dict[str, Callable[[dict[str, Any], float], list[str]]] = {
    "cycle": _describe_cycle,
    "deseam": _describe_deseam,
}


@command.command("resample")
@_editing
@click.option("--fps", type=float, required=True, help="The new frames per second.")
@renamed_option("--rate", "--fps", type=float)
@click.option(
    "--no-filter", is_flag=True, help="Do not low-pass filter when lowering the rate; fast movement may alias."
)
def _resample(source: str, output: str, fps: float, no_filter: bool, **options: Any) -> int:
    """Change the frame rate by interpolation, with a low-pass filter when lowering it.

    \b
    Example:
      marey edit resample walk.bvh walk30.bvh --fps 30
    """
    from marey.edit import resample

    (motion,) = _load(options, source, output=output)
    return _write(resample(motion, fps, band_limited=not no_filter), output)


@command.command("mirror")
@_editing
def _mirror(source: str, output: str, **options: Any) -> int:
    """Swap left and right by reflecting the motion in the plane x = 0.

    \b
    Example:
      marey edit mirror walk.bvh mirrored.bvh
    """
    from marey.edit import mirror

    (motion,) = _load(options, source, output=output)
    return _write(mirror(motion), output)


@command.command("crop")
@_editing
@_span
def _crop(source: str, output: str, begin: Any, end: Any, **options: Any) -> int:
    """Keep only the frames from --from to --to.

    \b
    Example:
      marey edit crop walk.bvh step.bvh --from 1.2 --to 2.3
      marey edit crop walk.bvh step.bvh --from 36f --to 69f
    """
    from marey.edit import crop

    (motion,) = _load(options, source, output=output)
    return _write(crop(motion, *frames_between(motion, begin, end)), output)


@command.command("cycle")
@_editing
@_span
@click.option("--repeats", type=int, default=1, show_default=True, help="Number of cycles to write.")
@feet_option(no_replant="none")
def _cycle(source: str, output: str, begin: Any, end: Any, repeats: int, feet: Feet, **options: Any) -> int:
    """Make a loop: join the frame at --to to the frame at --from, and spread the seam over the cycle.

    If --from or --to is omitted, the frame that closes the loop best is chosen. Foot cleanup also covers the seam.

    \b
    Example:
      marey edit cycle walk.bvh loop.bvh --repeats 4
      marey edit cycle walk.bvh loop.bvh --from 0.8 --to 1.9
    """
    from marey.edit import cycle

    (motion,) = _load(options, source, output=output)
    frames_between(motion, begin, end)  # raises an error if they are beyond the end
    start, stop = (None if moment is None else to_frame(moment, motion.fps) for moment in (begin, end))
    if stop is not None and stop >= len(motion):
        raise InvalidValue(
            f"--to must be a frame of the motion, at most {len(motion) - 1}f, not {stop}f; it is joined to the "
            "frame at --from"
        )
    return _write(cycle(motion, start, stop, repeats=repeats, feet=feet), output)


@command.command("timewarp")
@_editing
@click.option(
    "--key", "keys", multiple=True, required=True, metavar="NOW=THEN", help="Move the event at time NOW to time THEN."
)
def _timewarp(source: str, output: str, keys: tuple[str, ...], **options: Any) -> int:
    """Change the timing with keys. Between the keys, time runs smoothly and never backward.

    \b
    Example:
      marey edit timewarp kick.bvh later.bvh --key 1.0=1.4 --key 1.6=2.0
    """
    from marey.edit import timewarp

    (motion,) = _load(options, source, output=output)
    pairs = []
    for key in keys:
        now, equals, then = key.partition("=")
        if not equals:
            raise click.BadParameter(f"expected NOW=THEN such as 1.0=1.4, got {key!r}", param_hint="--key")
        pairs.append(tuple(to_seconds(Moment().convert(part.strip(), None, None), motion.fps) for part in (now, then)))
    return _write(timewarp(motion, [(a, b) for a, b in pairs]), output)


def _key_parts(text: str, option: str) -> tuple[str, float | int, list[float]]:
    """Parse ``right_foot@1.2=0,0.2,0`` into a name, a moment and three numbers."""
    name, at, rest = text.partition("@")
    moment, equals, numbers = rest.partition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not (name and at and equals and len(values) == 3):
        raise click.BadParameter(
            f"expected NAME@TIME=X,Y,Z such as left_hand@1.2=0,0.2,0, got {text!r}", param_hint=option
        )
    return name.strip(), Moment().convert(moment.strip(), None, None), values


@command.command("warp")
@_editing
@click.option(
    "--move", multiple=True, metavar="NAME@TIME=X,Y,Z", help="Move a hand, a foot or the hips by this offset in meters."
)
@click.option(
    "--reach",
    multiple=True,
    metavar="NAME@TIME=X,Y,Z",
    help="Move a hand, a foot or the hips to this world position in meters.",
)
@click.option(
    "--turn", multiple=True, metavar="JOINT@TIME=X,Y,Z", help="Rotate a joint by a rotation vector in degrees."
)
@click.option(
    "--axes",
    type=click.Choice(["figure", "world", "joint"]),
    default="figure",
    show_default=True,
    help="Axes of --move and --turn: the body's (left, up, forward), the world's, or the joint's own (--turn only).",
)
@click.option("--hold", type=float, default=0.0, show_default=True, help="Seconds to hold each key.")
@click.option("--ease", type=float, default=0.5, show_default=True, help="Seconds to ease into and out of each key.")
@click.option(
    "--smooth", type=click.Choice(["1", "2"]), default="1", show_default=True, help="Number of continuous derivatives."
)
@click.option(
    "--orientation",
    type=click.Choice(["world", "limb"]),
    help="Keep the orientation of hands and feet relative to the world or to the limb.  [default: feet world, hands "
    "limb]",
)
@feet_option(free_feet="none")
@click.option(
    "--max-stretch", type=float, default=0.0, show_default=True, help="Maximum stretch of a limb, as a fraction."
)
def _warp(
    source: str,
    output: str,
    move: tuple[str, ...],
    reach: tuple[str, ...],
    turn: tuple[str, ...],
    axes: str,
    hold: float,
    ease: float,
    smooth: str,
    orientation: str | None,
    feet: Feet,
    max_stretch: float,
    **options: Any,
) -> int:
    """Displace joints, hands, feet or hips at keys. Away from the keys, the motion does not change.

    The exit code is 1 if a target is out of reach.

    \b
    Example:
      marey edit warp walk.bvh duck.bvh --move hips@1.5=0,-0.3,0 --turn spine@1.5=40,0,0 --hold 0.3
      marey edit warp kick.bvh high.bvh --turn right_upper_leg@1.28=-15,0,0 --ease 0.35
      marey edit warp reach.bvh lower.bvh --reach right_hand@1.0=-0.25,1.3,0.45
    """
    from math import radians

    from marey.edit import MoveKey, TurnKey, warp

    if not (move or reach or turn):
        raise InvalidValue("nothing to do; give --move, --reach or --turn, as in --move left_hand@1.2=0,0.2,0")
    if axes == "joint" and move:
        raise InvalidValue("--axes joint does not apply to --move; choose figure or world")
    (motion,) = _load(options, source, output=output)
    keys: list[TurnKey | MoveKey] = []
    for text in move:
        name, moment, values = _key_parts(text, "--move")
        keys.append(MoveKey(name, to_seconds(moment, motion.fps), offset=values, axes=axes, hold=hold))
    for text in reach:
        name, moment, values = _key_parts(text, "--reach")
        keys.append(MoveKey(name, to_seconds(moment, motion.fps), target=values, hold=hold))
    for text in turn:
        name, moment, values = _key_parts(text, "--turn")
        keys.append(TurnKey(name, to_seconds(moment, motion.fps), [radians(v) for v in values], axes=axes, hold=hold))
    result = warp(
        motion,
        keys,
        ease=ease,
        continuity=int(smooth),
        orientation=orientation,
        feet=feet,
        max_stretch=max_stretch,
    )
    return _write(result, output)


@command.command("path")
@_editing
@click.option("--along", required=True, metavar="CSV", help="The new path: lines of x,z in meters.")
@click.option("--stretch", is_flag=True, help="Scale the steps to cover the whole path.")
@feet_option(no_replant="none")
def _path(source: str, output: str, along: str, stretch: bool, feet: Feet, **options: Any) -> int:
    """Bend the path of the motion to another curve. Posture and steps follow.

    \b
    Example:
      marey edit path walk.bvh curved.bvh --along curve.csv
    """
    from marey.edit import edit_path

    (motion,) = _load(options, source, output=output)
    return _write(edit_path(motion, _read_path(along), stretch=stretch, feet=feet), output)


def _read_path(path: str) -> list[list[float]]:
    """Read points x,z (meters) from a CSV file. The first line may be a header; lines that start with # are skipped."""
    from marey.io.files import read_bytes

    rows = []
    text = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            x, z = (float(part) for part in line.replace(";", ",").split(","))
        except ValueError:
            if number == 1:
                continue
            raise ParseError(f"expected x,z in meters, got {line.strip()!r}", path=path, line=number) from None
        rows.append([x, z])
    if len(rows) < 2:
        raise ParseError(f"a path needs at least 2 lines of x,z, got {len(rows)}", path=path)
    return rows


@command.command("retarget")
@_editing
@click.option(
    "--onto",
    metavar="FILE",
    help="A file with the target skeleton, or the word figure for the skeleton of the samples.",
)
@click.option("--map", "map_file", metavar="JSON", help="A saved retarget map, instead of --onto.")
@click.option("--save-map", metavar="JSON", help="Save the retarget map for reuse.")
@click.option("--pose", type=Moment(), help="Time of IN's reference pose, standing on flat feet.  [default: rest pose]")
@click.option("--onto-pose", type=Moment(), help="Time of the reference pose in the file of --onto.")
@click.option(
    "--hands",
    type=click.Choice(["together", "targets"]),
    help="Keep the distance between the hands, or their positions.",
)
@feet_option(no_replant="none")
def _retarget(
    source: str,
    output: str,
    onto: str | None,
    map_file: str | None,
    save_map: str | None,
    pose: Any,
    onto_pose: Any,
    hands: str | None,
    feet: Feet,
    **options: Any,
) -> int:
    """Retarget the motion to another skeleton with the same roles.

    \b
    Example:
      marey edit retarget walk.bvh figure.bvh --onto figure
      marey edit retarget walk.bvh hero.glb --onto hero_rest.glb --save-map hero.json
      marey edit retarget run.bvh hero_run.glb --map hero.json
    """
    from marey.edit import RetargetMap, retarget

    if (onto is None) == (map_file is None):
        raise InvalidValue("give the target skeleton with either --onto FILE or --map JSON")
    if map_file is not None and (pose is not None or onto_pose is not None):
        raise InvalidValue("a map already contains its reference poses; omit --pose and --onto-pose")
    (motion,) = _load(options, source, output=output)
    if map_file is not None:
        known = RetargetMap.load(map_file)
    else:
        body = _body(str(onto))
        known = RetargetMap.build(
            motion,
            body,
            pose=None if pose is None else to_frame(pose, motion.fps),
            target_pose=None if onto_pose is None else _find_frame(body, onto_pose),
        )
    result = retarget(motion, known, hands=hands, feet=feet)
    if save_map is not None:
        known.save(save_map)
    return _write(result, output)


def _body(onto: str) -> Skeleton | Motion:
    if onto == "figure":
        from marey.samples import body_skeleton

        return body_skeleton()

    return read_motion(onto)


def _find_frame(body: Skeleton | Motion, moment: float | int) -> int:
    from marey.core import Motion

    if not isinstance(body, Motion):
        raise InvalidValue("--onto figure always uses its rest pose; omit --onto-pose")
    return to_frame(moment, body.fps)


@command.command("connect")
@click.argument("first", metavar="IN1")
@click.argument("second", metavar="IN2")
@click.argument("output", metavar="OUT")
@reading
@click.option("--gap", type=float, default=0.5, show_default=True, help="Length of the gap to fill, in seconds.")
@click.option("--no-align", is_flag=True, help="Do not move IN2 to the end of IN1.")
@feet_option(no_replant="none")
def _connect(first: str, second: str, output: str, gap: float, no_align: bool, feet: Feet, **options: Any) -> int:
    """Append IN2 to IN1 and fill the gap by interpolation.

    \b
    Example:
      marey edit connect walk.bvh run.bvh both.bvh --gap 0.4
    """
    from marey.edit import connect

    one, two = _load(options, first, second, output=output)
    return _write(connect(one, two, gap=gap, align=not no_align, feet=feet), output)


@command.command("deseam")
@_editing
@click.option("--at", type=Moment(), required=True, help="First frame after the jump: seconds or a frame.")
@click.option("--seconds", type=float, help="Fade out the jump over this many seconds.")
@click.option("--frames", type=int, hidden=True)
@click.option(
    "--half-life",
    type=float,
    help="Fade out the jump by inertialization with this half-life in seconds.  [default: 0.1]",
)
def _deseam(
    source: str,
    output: str,
    at: Any,
    seconds: float | None,
    frames: int | None,
    half_life: float | None,
    **options: Any,
) -> int:
    """Remove a jump: fade out the offset between the motion before and after it.

    \b
    Example:
      marey edit deseam cut.bvh smooth.bvh --at 2.1 --half-life 0.1
    """
    from marey.edit import deseam

    (motion,) = _load(options, source, output=output)
    if frames is not None:
        click.echo("marey: --frames is deprecated, use --seconds", err=True)
        seconds = frames / motion.fps
    return _write(deseam(motion, to_frame(at, motion.fps), seconds=seconds, half_life=half_life), output)
