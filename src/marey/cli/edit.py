"""`marey edit`: edit a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, read_rows
from marey.cli.shared_options import (
    add_reading_options,
    frames_between,
    output_argument,
    read_motion,
    renamed_option,
    take_reading_options,
)
from marey.cli.values import KeyParam, Moment, MomentPair, to_frame, to_seconds
from marey.errors import InvalidValue, plural

if TYPE_CHECKING:
    from marey.core import Motion, Skeleton

Options = dict[str, Any]
# Meters by which a hand or foot may miss its target before the exit code is 1.
_MISSED = 1e-3


@click.group("edit")
def command() -> None:
    """Edit a motion: its frame rate, handedness, length, timing, path, posture or skeleton; repair and smooth it.

    Contacts and labels are kept, and the edit is recorded in OUT's sidecar. Times are in seconds (1.2) or frames (36f).

    \b
    Example:
      marey edit resample walk.bvh walk30.bvh --fps 30
      marey edit mirror walk.bvh mirrored.bvh
      marey edit warp walk.bvh duck.bvh --move hips@1.5=0,-0.3,0 --hold 0.3
      marey edit path walk.bvh curved.bvh --along curve.csv
    """


def _edit(
    name: str, settings: str = "", *, inputs: tuple[str, ...] = ("IN",)
) -> Callable[[Callable[..., Motion]], Any]:
    """Declare a command that edits a motion: the function takes the motions and the options, and returns the result.

    settings : module and class of the edit's settings, from which options are derived.
    """

    def decorate(function: Callable[..., Motion]) -> Any:
        params: list[click.Parameter] = getattr(function, "__click_params__", [])
        own = [param.name for param in params]

        def run(output: str, **options: Any) -> int:
            files = [options.pop(f"input{k}") for k in range(len(inputs))]
            check_output(output)
            kept = {name: options.pop(name) for name in own if name in options}
            how = take_reading_options(options)
            character = _find_character(kept, output)
            result = function(*(read_motion(file, how) for file in files), {**options, **kept})
            return _write(result, output, character)

        run.__doc__ = function.__doc__
        decorated: Any = add_settings(settings)(add_reading_options(run)) if settings else add_reading_options(run)
        decorated.__click_params__ += params
        decorated = output_argument(decorated)
        for k, metavar in reversed(list(enumerate(inputs))):
            decorated = click.argument(f"input{k}", metavar=metavar)(decorated)
        return command.command(name, cls=SettingsCommand)(decorated)

    return decorate


def _find_character(options: Options, output: str) -> str | None:
    """Return the file whose mesh OUT gets: --character, else --onto if both it and OUT are GLB or VRM files."""
    from marey.io.files import GLTF_SUFFIXES

    character: str | None = options.pop("character", None)
    onto = str(options.get("onto") or "")
    if character is None and onto.lower().endswith(GLTF_SUFFIXES) and output.lower().endswith(GLTF_SUFFIXES):
        return onto
    return character


def _write(motion: Motion, output: str, character: str | None = None) -> int:
    """Save the motion, describe the edit, and return the exit code: 1 if a target was out of reach, else 0."""
    from marey.edit.describe import describe_edit
    from marey.io import save

    save(motion, output, character=character)
    step = dict(motion.source.provenance[-1])
    click.echo(f"wrote {output}: {step['op']}, {plural(len(motion), 'frame')} at {motion.fps:.6g} Hz")
    for line in describe_edit(motion):
        click.echo(f"  {word_options(line)}")
    missed = max(dict(step.get("residue") or {}).values(), default=0.0)  # the library has already warned
    return 1 if missed > _MISSED else 0


_START = click.option("--from", "start", type=Moment(), help="Start: seconds or a frame.")
_STOP = click.option("--to", "stop", type=Moment(), help="End (exclusive): seconds or a frame.")


@_edit("resample", "marey.core.resample:ResampleSettings")
@click.option("--fps", type=float, required=True, help="The new frames per second.")
@renamed_option("--rate", "--fps", type=float)
@renamed_option("--no-filter", "--no-band-limited", sets={"band_limited": False})
def _resample(motion: Motion, options: Options) -> Motion:
    """Change the frame rate. Frames are interpolated, with a low-pass filter when the rate is lowered.

    \b
    Example:
      marey edit resample walk.bvh walk30.bvh --fps 30
    """
    from marey.core.resample import ResampleSettings, resample

    return resample(motion, options["fps"], settings=read_settings(ResampleSettings, options))


@_edit("mirror")
def _mirror(motion: Motion, options: Options) -> Motion:
    """Swap left and right by reflecting the motion in the plane x = 0.

    \b
    Example:
      marey edit mirror walk.bvh mirrored.bvh
    """
    from marey.edit import mirror

    return mirror(motion)


@_edit("crop")
@_START
@_STOP
def _crop(motion: Motion, options: Options) -> Motion:
    """Keep only the frames from --from to --to.

    \b
    Example:
      marey edit crop walk.bvh step.bvh --from 1.2 --to 2.3
      marey edit crop walk.bvh step.bvh --from 36f --to 69f
    """
    from marey.edit import crop

    return crop(motion, *frames_between(motion, options["start"], options["stop"]))


@_edit("cycle", "marey.edit.settings:CycleSettings")
@_START
@_STOP
@renamed_option("--no-replant", "--feet none", sets={"feet": "none"})
def _cycle(motion: Motion, options: Options) -> Motion:
    """Make a loop. The frame at --to is joined to the frame at --from, and the seam is spread over the cycle.

    If --from or --to is omitted, the frame that closes the loop best is chosen. Foot cleanup also covers the seam.

    \b
    Example:
      marey edit cycle walk.bvh loop.bvh --repeats 4
      marey edit cycle walk.bvh loop.bvh --from 0.8 --to 1.9
    """
    from marey.edit import CycleSettings, cycle

    frames_between(motion, options["start"], options["stop"])  # raises an error if they are beyond the end
    return cycle(motion, settings=read_settings(CycleSettings, _to_frames(options, motion, "start", "stop")))


def _to_frames(options: Options, motion: Motion, *names: str) -> Options:
    """Convert times among the options to frames of a motion."""
    moments = {name: options[name] for name in names if options[name] is not None}
    return {**options, **{name: to_frame(moment, motion.fps) for name, moment in moments.items()}}


@_edit("timewarp")
@click.option(
    "--key", "keys", type=MomentPair(), multiple=True, required=True, metavar="NOW=THEN",
    help="Move the event at time NOW to time THEN.",
)  # fmt: skip
def _timewarp(motion: Motion, options: Options) -> Motion:
    """Change the timing with keys. Between the keys, time runs smoothly and never backward.

    \b
    Example:
      marey edit timewarp kick.bvh later.bvh --key 1.0=1.4 --key 1.6=2.0
    """
    from marey.edit import timewarp

    return timewarp(motion, [(to_seconds(a, motion.fps), to_seconds(b, motion.fps)) for a, b in options["keys"]])


@_edit("warp", "marey.edit.settings:WarpSettings")
@click.option(
    "--move", type=KeyParam(), multiple=True, metavar="NAME@TIME=X,Y,Z",
    help="Move a hand, a foot or the hips by this offset in meters.",
)  # fmt: skip
@click.option(
    "--reach", type=KeyParam(), multiple=True, metavar="NAME@TIME=X,Y,Z",
    help="Move a hand, a foot or the hips to this world position in meters.",
)  # fmt: skip
@click.option(
    "--turn", type=KeyParam(), multiple=True, metavar="JOINT@TIME=X,Y,Z",
    help="Rotate a joint by a rotation vector in degrees.",
)  # fmt: skip
@click.option(
    "--axes", type=click.Choice(["body", "world", "joint"]), default="body", show_default=True,
    help="Axes of --move and --turn: the body's (left, up, forward), the world's, or the joint's own (--turn only).",
)  # fmt: skip
@click.option("--hold", type=float, default=0.0, show_default=True, help="Seconds to hold each key.")
@renamed_option("--smooth", "--continuity", type=int)
@renamed_option("--free-feet", "--feet none", sets={"feet": "none"})
def _warp(motion: Motion, options: Options) -> Motion:
    """Displace joints, hands, feet or hips at keys. Away from the keys, the motion does not change.

    The exit code is 1 if a target is out of reach.

    \b
    Example:
      marey edit warp walk.bvh duck.bvh --move hips@1.5=0,-0.3,0 --turn spine@1.5=40,0,0 --hold 0.3
      marey edit warp kick.bvh high.bvh --turn right_upper_leg@1.28=-15,0,0 --ease 0.35
      marey edit warp reach.bvh lower.bvh --reach right_hand@1.0=-0.25,1.3,0.45
    """
    from math import radians

    from marey.edit import MoveKey, TurnKey, WarpSettings, warp

    move, reach, turn = (
        [(name, to_seconds(moment, motion.fps), values) for name, moment, values in options[kind]]
        for kind in ("move", "reach", "turn")
    )
    axes, hold = options["axes"], options["hold"]
    if not (move or reach or turn):
        raise InvalidValue("nothing to do; give --move, --reach or --turn, as in --move left_hand@1.2=0,0.2,0")
    if axes == "joint" and move:
        raise InvalidValue("--axes joint does not apply to --move; choose body or world")
    keys: list[TurnKey | MoveKey] = [
        *(MoveKey(name, at, offset=values, axes=axes, hold=hold) for name, at, values in move),
        *(MoveKey(name, at, target=values, hold=hold) for name, at, values in reach),
        *(TurnKey(name, at, [radians(v) for v in values], axes=axes, hold=hold) for name, at, values in turn),
    ]
    return warp(motion, keys, settings=read_settings(WarpSettings, options))


@_edit("path", "marey.edit.settings:EditPathSettings")
@click.option("--along", required=True, metavar="CSV", help="The new path: lines of x,z in meters.")
@renamed_option("--no-replant", "--feet none", sets={"feet": "none"})
def _path(motion: Motion, options: Options) -> Motion:
    """Bend the path of the motion to another curve. Posture and steps follow.

    \b
    Example:
      marey edit path walk.bvh curved.bvh --along curve.csv
    """
    from marey.edit import EditPathSettings, edit_path

    return edit_path(
        motion,
        read_rows(options["along"], 2, "x,z in meters", least=2),
        settings=read_settings(EditPathSettings, options),
    )


@_edit("in-place", "marey.edit.settings:InPlaceSettings")
def _in_place(motion: Motion, options: Options) -> Motion:
    """Remove the travel over the floor. Game engines need such clips. Or remove only where the motion starts.

    The hips stay over the origin, and the body begins facing +Z. `marey convert IN OUT --remove travel` does the same
    for several files or a folder.

    \b
    Example:
      marey edit in-place loop.bvh loop_in_place.fbx
      marey edit in-place walk.bvh from_origin.glb --remove start
    """
    from marey.edit import InPlaceSettings, make_in_place

    return make_in_place(motion, settings=read_settings(InPlaceSettings, options))


@_edit("retarget", "marey.edit.settings:RetargetSettings")
@click.option(
    "--onto",
    metavar="FILE",
    help="A file with the target skeleton, or the word sample for the skeleton of `marey samples`.",
)
@click.option(
    "--character",
    metavar="FILE",
    help="The GLB or VRM file whose mesh and materials OUT gets.  [default: the file of --onto]",
)
@click.option("--map", "map_file", metavar="JSON", help="A saved retarget map, instead of --onto.")
@click.option("--save-map", metavar="JSON", help="Save the retarget map for reuse.")
@click.option(
    "--pose",
    type=Moment(),
    help="Time of IN's reference pose, standing on flat feet.  [default: rest pose, or where it stands straightest]",
)
@click.option("--onto-pose", "target_pose", type=Moment(), help="Time of the reference pose in the file of --onto.")
@renamed_option("--no-replant", "--feet none", sets={"feet": "none"})
def _retarget(motion: Motion, options: Options) -> Motion:
    """Retarget the motion to another skeleton with the same roles.

    If FILE of --onto and OUT are GLB or VRM files, OUT is a copy of FILE: your character with its mesh and materials,
    and with the motion as its first animation.

    \b
    Example:
      marey edit retarget walk.bvh out.bvh --onto sample
      marey edit retarget walk.bvh hero_walk.glb --onto hero.glb --save-map hero.json
      marey edit retarget run.bvh hero_run.glb --map hero.json --character hero.glb
    """
    from marey.edit import RetargetMap, RetargetSettings, retarget

    if (options["onto"] is None) == (options["map_file"] is None):
        raise InvalidValue("give the target skeleton with either --onto FILE or --map JSON")
    options = _to_frames(options, motion, "pose")
    if options["map_file"] is not None:
        known, settings = RetargetMap.load(options["map_file"]), read_settings(RetargetSettings, options)
    else:
        body = _read_body(options["onto"], options)
        settings = read_settings(RetargetSettings, options)
        known = RetargetMap.build(motion, body, pose=settings.pose, target_pose=settings.target_pose)
        settings = RetargetSettings(settings=settings, pose=None, target_pose=None)
    result = retarget(motion, known, settings=settings)
    if options["save_map"] is not None:
        known.save(options["save_map"])
    return result


def _read_body(onto: str, options: Options) -> Skeleton | Motion:
    """Return the target of `--onto`; `--onto-pose` becomes one of its frames."""
    if onto not in ("sample", "figure"):  # "figure" is the old word
        body = read_motion(onto)
        options |= _to_frames(options, body, "target_pose")
        return body
    from marey.samples import body_skeleton

    if options["target_pose"] is not None:
        raise InvalidValue("--onto sample always uses its rest pose; omit --onto-pose")
    return body_skeleton()


@_edit("repair", "marey.edit.settings:RepairSettings")
def _repair(motion: Motion, options: Options) -> Motion:
    """Repair broken frames. They are trimmed or interpolated, and flipped joints are rotated back. Other frames do not
    change.

    \b
    Example:
      marey edit repair capture.bvh repaired.bvh --level
    """
    from marey.edit import RepairSettings, repair

    return repair(motion, settings=read_settings(RepairSettings, options))


@_edit("smooth", "marey.edit.settings:SmoothSettings")
def _smooth(motion: Motion, options: Options) -> Motion:
    """Remove noise, without softening contacts and fast actions.

    \b
    Example:
      marey edit smooth capture.bvh smooth.bvh
    """
    from marey.edit import SmoothSettings, smooth

    return smooth(motion, settings=read_settings(SmoothSettings, options))


@_edit("level")
def _level(motion: Motion, options: Options) -> Motion:
    """Level a tilted or drifting floor. The capture is rotated, and a slow drift of the floor is removed.

    \b
    Example:
      marey edit level capture.bvh level.bvh
    """
    from marey.edit import level

    return level(motion)


@_edit("connect", "marey.edit.settings:ConnectSettings", inputs=("IN1", "IN2"))
@renamed_option("--no-replant", "--feet none", sets={"feet": "none"})
def _connect(first: Motion, second: Motion, options: Options) -> Motion:
    """Append IN2 to IN1 and fill the gap by interpolation.

    \b
    Example:
      marey edit connect walk.bvh run.bvh both.bvh --gap 0.4
    """
    from marey.edit import ConnectSettings, connect

    return connect(first, second, settings=read_settings(ConnectSettings, options))


@_edit("deseam", "marey.edit.settings:DeseamSettings")
@click.option("--at", "frame", type=Moment(), required=True, help="First frame after the jump: seconds or a frame.")
@click.option("--frames", type=int, hidden=True)
def _deseam(motion: Motion, options: Options) -> Motion:
    """Remove a jump. The offset between the motion before and after it is faded out.

    \b
    Example:
      marey edit deseam cut.bvh smooth.bvh --at 2.1 --half-life 0.1
    """
    from marey.edit import DeseamSettings, deseam

    if options["frames"] is not None:
        click.echo("marey: --frames is deprecated, use --seconds", err=True)
        options["seconds"] = options["frames"] / motion.fps
    return deseam(motion, to_frame(options["frame"], motion.fps), settings=read_settings(DeseamSettings, options))
