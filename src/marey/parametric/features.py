"""Features that describe a motion: the function f of Kovar 6.3, from a motion to a few numbers.

A feature refers either to one pose, such as the position of the hand at the apex of a reach, or to the entire motion,
such as the change of heading. Positions are in the character's coordinates at the start of the motion: the origin is on
the floor below the hips; x is to the left, y up, z ahead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, parse_number
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_fields, renamed_methods, renamed_parameters, warn_renamed
from marey.errors import InvalidValue, MareyError, UnknownName, plural, similar
from marey.maths import quat, rigid2d
from marey.parametric.motion_features import MOTION_FEATURES
from marey.parametric.points import CENTER_OF_MASS, find_joint, find_path

__all__ = [
    "MOMENTS",
    "Feature",
    "angular_speed",
    "as_features",
    "curvature",
    "duration",
    "feature_from_dict",
    "function",
    "orientation",
    "parse_features",
    "position",
    "speed",
    "step_height",
    "traveled",
    "turn",
]

MOMENTS = ("farthest", "highest", "lowest", "fastest", "slowest", "start", "end")
"""Moments that can be found in a motion: when a point is farthest from its start, highest, lowest, fastest or slowest
(not in the first or last frame), and the first and last frame."""
# If the largest value lies at an end of the motion, an extreme inside is preferred if it is lower by at most this
# fraction of the range of values.
_NEARLY = 0.2
# Fraction of a motion's length, at both ends, that counts as its end.
_EDGE = 0.08
_POSES = ("position", "orientation")
_AXES = "xyz"
# Earlier spellings, still accepted in files and texts.
_OLD_CENTER = "centre_of_mass"
_OLD_KINDS = {"travelled": "traveled"}


@renamed_methods(
    is_found="is_detectable", told="label", described="to_dict", frame="find_frame",
    between="measure_between", of_poses="measure_poses", of_whole="measure_whole",
)  # fmt: skip
@renamed_fields(at="moment", of="moment_joint")
@dataclass(frozen=True, slots=True)
class Feature:
    """One or several numbers that describe what a motion does.

    kind : "position" or "orientation" of a joint at a moment; "function"; "given" for values given by hand; or one of
        the features of entire motions.
    joint : role or joint name, or "center_of_mass"; "" if the feature needs none.
    moment : for a pose, one of `MOMENTS`, or a time in seconds in the reference motion, which the timewarp maps to the
        other motions.
    moment_joint : joint whose extreme defines the moment; "" for the same joint.
    which : "mean", "min" or "max" for speeds; "path" or "net" for distances; components of a position, such as "xy".
    call : the function, for kind "function".
    names, units : names and units of the d numbers.

    Examples
    --------
    >>> feature = marey.parametric.position("right_ball", "highest", axes="y")
    >>> feature.n_dims, feature.units
    (1, ('m',))
    >>> 0 < feature.find_frame(kick) < len(kick)
    True
    """

    kind: str
    joint: str = ""
    moment: str | float | None = None
    moment_joint: str = ""
    which: str = ""
    call: Callable[[Motion], ArrayLike] | None = None
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def n_dims(self) -> int:
        """Number of numbers d."""
        return len(self.names)

    @property
    def is_pose(self) -> bool:
        """Whether the feature refers to one pose instead of the entire motion."""
        return self.kind in _POSES

    @property
    def is_detectable(self) -> bool:
        """Whether the moment is an extreme that can be found in a motion without a registration."""
        return isinstance(self.moment, str) and self.moment not in ("start", "end")

    def __call__(self, motion: Motion) -> Floats:
        """Measure the feature (d,) of a single motion; the moment of a pose is found in the motion itself."""
        if not self.is_pose:
            return self.measure_whole(motion, None)
        if not isinstance(self.moment, str):
            raise InvalidValue(
                f"{self.label} is measured at {self.moment:g} s of a reference motion, so it needs a "
                "registration; for a single motion use a moment such as 'farthest'"
            )
        return self.measure_poses(motion, np.array([0.0, float(self.find_frame(motion))]))

    @property
    def label(self) -> str:
        """Name of the feature for messages."""
        if self.kind in ("given", "function"):
            return ", ".join(self.names)
        return " ".join(part for part in (self.kind, self.joint) if part)

    def find_frame(self, motion: Motion, world: World | None = None) -> int:
        """Find the frame of a motion at which the feature is measured (see `moment`).

        world : world positions and rotations of the motion, if already known.
        """
        if self.moment in ("start", "end"):
            return 0 if self.moment == "start" else len(motion) - 1
        if not isinstance(self.moment, str):
            raise InvalidValue(
                f"{self.label} is measured over the whole motion or at a fixed time, so there is no frame to look for"
            )
        path = find_path(motion.skeleton, motion.world() if world is None else world, self.moment_joint or self.joint)
        return _find_extreme(path, self.moment)

    def measure_poses(self, motion: Motion, frames: Floats) -> Floats:
        """Measure the feature (d,) of the pose at `frames[1]` relative to `frames[0]`; frames may be fractional."""
        poses = motion.at(frames / motion.fps)
        world = poses.world()
        floor = np.array([motion.source.floor or 0.0])
        start = World(world.positions[:1], world.rotations[:1])
        seen = self.measure_between(motion.skeleton, start, World(world.positions[1:], world.rotations[1:]), floor)
        return np.asarray(seen[0])

    def measure_between(self, skeleton: Skeleton, start: World, there: World, floor: Floats) -> Floats:
        """Measure the feature (B, d) of the B poses `there`, each relative to the pose with the same index in `start`.

        floor : (B,) or (1,) floor height in meters.
        """
        frame = start_frames(skeleton, start)
        if self.kind == "position":
            place = rigid2d.apply(rigid2d.invert(frame), find_path(skeleton, there, self.joint))
            place[:, 1] -= floor
            return place[:, [_AXES.index(axis) for axis in self.which]]
        joint = find_joint(skeleton, self.joint)
        turned = quat.log(quat.mul_inv(there.rotations[:, joint], start.rotations[:, joint]))
        return np.asarray(rigid2d.apply_vector(rigid2d.invert(frame), turned))

    def measure_whole(self, motion: Motion, world: World | None) -> Floats:
        """Measure the feature (d,) of the entire motion.

        world : world positions and rotations of the motion, if already known.
        """
        try:
            if self.call is not None:
                given = np.atleast_1d(np.asarray(self.call(motion), dtype=np.float64))
            else:
                seen = motion.world() if world is None else world
                given = np.array([MOTION_FEATURES[self.kind].call(motion, seen, self.joint, self.which)])
        except MareyError:
            raise
        except Exception as error:
            on = f" on {motion.name!r}" if motion.name else ""  # blends have no name; the caller describes them
            raise InvalidValue(f"{self.label} failed{on}: {type(error).__name__}: {error}") from error
        if given.shape != (self.n_dims,):
            raise InvalidValue(
                f"{self.label} must return {plural(self.n_dims, 'number')}, to match its names, but returned shape "
                f"{given.shape}" + (f" for {motion.name!r}" if motion.name else "")
            )
        return given

    def to_dict(self) -> dict[str, Any]:
        """Return a description from which `feature_from_dict` can restore the feature, unless it is a function."""
        out: dict[str, Any] = {"kind": self.kind, "joint": self.joint, "at": self.moment, "of": self.moment_joint}
        return out | {"which": self.which, "names": list(self.names), "units": list(self.units)}


def start_frames(skeleton: Skeleton, world: World) -> Floats:
    """Return floor placements (theta, x, z), (B, 3), of poses: heading, and position of the hips."""
    left = find_left_axis(skeleton, world.positions)
    hips = world.positions[:, skeleton.roles["hips"]]
    return np.stack([np.arctan2(-left[:, 2], left[:, 0]), hips[:, 0], hips[:, 2]], axis=1)


@renamed_parameters(at="moment", of="moment_joint")
def position(joint: str, moment: str | float = "farthest", *, moment_joint: str = "", axes: str = _AXES) -> Feature:
    """Position of a joint at a moment, in meters: x to the left, y above the floor, z ahead.

    Parameters
    ----------
    joint : role or joint name, or "center_of_mass".
    moment : one of `MOMENTS`, or a time in seconds in the reference motion.
    moment_joint : joint whose extreme defines the moment, if it is not `joint`.
    axes : components to use: any of "x", "y" and "z", such as "xy".

    Examples
    --------
    >>> feature = marey.parametric.position("right_ball", "highest", axes="xy")
    >>> feature.names, feature.units
    (('right_ball x', 'right_ball y'), ('m', 'm'))
    >>> marey.ParametricMotion.build(kicks, feature).parameters.shape
    (5, 2)
    """
    if not axes or any(axis not in _AXES for axis in axes) or len(set(axes)) != len(axes):
        raise InvalidValue(f"axes must be any of 'x', 'y' and 'z', each at most once, not {axes!r}")
    joint = _check_joint(joint)
    names = tuple(f"{joint} {axis}" for axis in axes)
    return Feature("position", joint, _check_moment(moment), moment_joint, axes, None, names, ("m",) * len(axes))


@renamed_parameters(at="moment", of="moment_joint")
def orientation(joint: str, moment: str | float = "farthest", *, moment_joint: str = "") -> Feature:
    """Rotation of a joint from the start to a moment: a rotation vector, in radians, in the initial coordinates.

    Parameters
    ----------
    joint : role or joint name.
    moment : one of `MOMENTS`, or a time in seconds in the reference motion.
    moment_joint : joint whose extreme defines the moment, if it is not `joint`.

    Examples
    --------
    >>> feature = marey.parametric.orientation("right_foot", "highest")
    >>> feature.n_dims, feature.units
    (3, ('rad', 'rad', 'rad'))
    """
    names = tuple(f"{joint} turn {axis}" for axis in _AXES)
    return Feature("orientation", joint, _check_moment(moment), moment_joint, "", None, names, ("rad",) * 3)


def speed(joint: str = "hips", which: str = "mean") -> Feature:
    """Speed of a joint in m/s: "mean", "min" or "max" of the motion. For the hips, only horizontal movement counts.

    Examples
    --------
    >>> feature = marey.parametric.speed()
    >>> feature.measure_whole(walk, None).round(1), feature.units
    (array([1.3]), ('m/s',))
    """
    return _make_motion_feature("speed", joint, _check_which(which))


def angular_speed(joint: str, which: str = "mean") -> Feature:
    """Angular speed of a joint in the world, in rad/s: "mean", "min" or "max" of the motion.

    Examples
    --------
    >>> feature = marey.parametric.angular_speed("right_lower_leg", "max")
    >>> feature.measure_whole(kick, None).round(), feature.units
    (array([11.]), ('rad/s',))
    """
    return _make_motion_feature("angular_speed", joint, _check_which(which))


def traveled(which: str = "path") -> Feature:
    """Horizontal distance that the hips travel, in meters: along the "path", or "net" distance from start to end.

    Examples
    --------
    >>> feature = marey.parametric.traveled("net")
    >>> feature.measure_whole(walk, None).round(1), feature.units
    (array([5.2]), ('m',))
    """
    if which not in ("path", "net"):
        raise InvalidValue(f"`which` must be 'path' or 'net', not {which!r}")
    return _make_motion_feature("traveled", "", which)


def turn() -> Feature:
    """Change of heading from start to end, in radians, positive to the left.

    Examples
    --------
    >>> feature = marey.parametric.turn()
    >>> feature.measure_whole(turning, None).round(1), feature.units
    (array([2.]), ('rad',))
    """
    return _make_motion_feature("turn")


def curvature() -> Feature:
    """Change of heading per meter of path, in rad/m, positive to the left.

    Examples
    --------
    >>> feature = marey.parametric.curvature()
    >>> feature.measure_whole(turning, None).round(1), feature.units
    (array([0.4]), ('rad/m',))
    """
    return _make_motion_feature("curvature")


def step_height(joint: str = "") -> Feature:
    """How high a foot rises above its lowest position, in meters; by default, the higher of the two feet.

    joint : role or joint name of the foot.

    Examples
    --------
    >>> feature = marey.parametric.step_height("left_foot")
    >>> bool(0.1 < feature.measure_whole(walk, None)[0] < 0.2), feature.units
    (True, ('m',))
    """
    return _make_motion_feature("step_height", joint)


def duration() -> Feature:
    """Duration from the first frame to the last, in seconds.

    Motions have whole frames, so a requested duration is met only to within half a frame.

    Examples
    --------
    >>> feature = marey.parametric.duration()
    >>> feature.measure_whole(walk, None), feature.units
    (array([4.]), ('s',))
    """
    return _make_motion_feature("duration")


def function(call: Callable[[Motion], ArrayLike], names: Iterable[str] = (), units: Iterable[str] = ()) -> Feature:
    """Make a feature from a function.

    Parameters
    ----------
    call : takes a Motion and returns one number or several.
    names : names of the numbers; by default, one number with the name of the function.
    units : units of the numbers, such as "m" or "rad"; any text is allowed.

    Examples
    --------
    >>> top = marey.parametric.function(lambda motion: motion.travel[:, 1].max(), names=["top"], units=["m"])
    >>> top.measure_whole(kick, None).shape, top.names
    ((1,), ('top',))
    """
    if not callable(call):
        raise InvalidValue(f"`call` must be a function that takes a motion, not {call!r}")
    named = tuple(names) or (getattr(call, "__name__", "function"),)
    given = tuple(units) or ("",) * len(named)
    if len(given) != len(named):
        raise InvalidValue(f"units must have one entry for each of {len(named)} names, not {len(given)}")
    return Feature("function", call=call, names=named, units=given)


OneFeature: TypeAlias = "str | Feature | Callable[[Motion], ArrayLike]"
FeatureLike: TypeAlias = "OneFeature | Iterable[OneFeature]"
"""What `feature=` accepts: a feature, its text, a function of a motion, or several of these."""


def as_features(given: FeatureLike | None) -> tuple[Feature, ...]:
    """Convert the argument ``feature=`` to features: a Feature, a string, a function, or a list of them."""
    if isinstance(given, Feature):
        return (given,)
    if isinstance(given, str):
        return parse_features(given)
    if callable(given):
        return (function(given),)
    if isinstance(given, Iterable):
        out = tuple(each for one in given for each in as_features(one))
        if out:
            return out
    raise InvalidValue(f"feature must be a feature, a function that takes a motion, or a list of these, not {given!r}")


def parse_features(text: str) -> tuple[Feature, ...]:
    """Parse features from text such as ``position:right_foot@highest``, ``turn,speed`` or ``speed:hips:max``.

    Commas separate features, and colons separate kind, joint and `which`. The moment follows ``@``: one of `MOMENTS`,
    or a time in seconds in the reference motion.

    Examples
    --------
    >>> features = marey.parametric.parse_features("position:right_foot@highest,duration")
    >>> [(feature.kind, feature.n_dims) for feature in features]
    [('position', 3), ('duration', 1)]
    """
    return tuple(_parse_feature(part.strip()) for part in str(text).split(",") if part.strip()) or _raise_no_feature(
        text
    )


def feature_from_dict(described: Mapping[str, Any]) -> Feature:
    """Restore a feature from the description returned by `Feature.to_dict`."""
    kind, joint, moment = (described.get(key) for key in ("kind", "joint", "at"))
    kind = _OLD_KINDS.get(str(kind), kind)
    joint = CENTER_OF_MASS if joint == _OLD_CENTER else joint
    moment_joint, which = str(described.get("of", "")), str(described.get("which", ""))
    if kind in _POSES:
        at = moment if isinstance(moment, str) else float(moment)  # type: ignore[arg-type]
        if kind == "position":
            return position(str(joint), at, moment_joint=moment_joint, axes=which)
        return orientation(str(joint), at, moment_joint=moment_joint)
    if kind in MOTION_FEATURES:
        return _make_motion_feature(str(kind), str(joint), which)
    raise UnknownName(f"no feature named {kind!r}{similar(str(kind), (*_POSES, *MOTION_FEATURES))}")


def _raise_no_feature(text: Any) -> tuple[Feature, ...]:
    raise InvalidValue(
        f"feature must be text such as 'position:right_hand@farthest' or 'turn,speed', not {text!r}; "
        f"features: {', '.join((*_POSES, *MOTION_FEATURES))}"
    )


def _parse_feature(text: str) -> Feature:
    head, _, moment = text.partition("@")
    kind, *rest = head.split(":")
    kind = _OLD_KINDS.get(kind, kind)
    known = (*_POSES, *MOTION_FEATURES)
    if kind not in known:
        near = similar(kind, known) or f"; features: {', '.join(known)}"
        raise UnknownName(f"no feature named {kind!r}{near}")
    if len(rest) > 2 or (moment and kind not in _POSES):
        raise InvalidValue(
            f"a feature must be KIND:JOINT:WHICH, optionally with @MOMENT for {' and '.join(_POSES)}, not {text!r}"
        )
    joint, which = (*rest, "", "")[:2]
    if kind in _POSES:
        if not joint:
            raise InvalidValue(f"{kind} needs a joint or role, such as '{kind}:right_hand', not {text!r}")
        at = _seconds_or_name(moment) if moment else "farthest"
        return position(joint, at, axes=which or _AXES) if kind == "position" else orientation(joint, at)
    return _make_motion_feature(kind, joint, which)


def _seconds_or_name(text: str) -> str | float:
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        return text


def _make_motion_feature(kind: str, joint: str = "", which: str = "") -> Feature:
    entry = MOTION_FEATURES[kind]
    if entry.choices and which not in ("", *entry.choices):
        raise InvalidValue(f"{kind} must be {', '.join(map(repr, entry.choices))}, not {which!r}")
    about = _check_joint(joint or entry.joint)
    if entry.needs_joint and not about:
        raise InvalidValue(f"{kind} needs a joint or role, such as '{kind}:right_hand'")
    chosen = which or (entry.choices[0] if entry.choices else "")
    usual = about == entry.joint and chosen in ("", *entry.choices[:1])
    name = " ".join(part for part in (kind.replace("_", " "), *(() if usual else (about, chosen))) if part)
    return Feature(kind, about, None, "", chosen, None, (name,), (entry.unit,))


def _check_joint(joint: str) -> str:
    if joint == _OLD_CENTER:
        warn_renamed(f"joint {joint!r}", repr(CENTER_OF_MASS))
        return CENTER_OF_MASS
    return joint


def _check_which(which: str) -> str:
    if which not in ("mean", "min", "max"):
        raise InvalidValue(f"`which` must be 'mean', 'min' or 'max', not {which!r}")
    return which


def _check_moment(moment: Any) -> str | float:
    if isinstance(moment, str):
        if moment not in MOMENTS:
            raise UnknownName(f"no moment named {moment!r}{similar(moment, MOMENTS)}; moments: {', '.join(MOMENTS)}")
        return moment
    seconds = parse_number(moment)
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise InvalidValue(f"a moment must be one of {', '.join(MOMENTS)}, or a time of at least 0 s, not {moment!r}")
    return seconds


def _measure_extent(path: Floats, which: str) -> Floats:
    """Return values (F,) that are largest where a path (F, 3) is farthest, highest and so on (`which`)."""
    if which == "farthest":
        return np.asarray(np.linalg.norm(path - path[0], axis=1))
    if which in ("highest", "lowest"):
        return path[:, 1] if which == "highest" else -path[:, 1]
    if len(path) < 3:
        raise InvalidValue(f"a {which} moment needs at least three frames, not {len(path)}")
    pace = np.linalg.norm(path[2:] - path[:-2], axis=1)
    inner = pace if which == "fastest" else -pace
    return np.concatenate([[-np.inf], inner, [-np.inf]])


def _find_extreme(path: Floats, which: str) -> int:
    value = _measure_extent(path, which)
    top, largest = int(np.argmax(value)), float(value.max())
    edge = max(1, round(_EDGE * len(path)))
    if which in ("fastest", "slowest") or edge <= top < len(path) - edge:
        return top
    # The end of a motion may already belong to the next action: prefer an extreme inside that is nearly as large.
    points = _find_turning_points(value)
    points = points[
        (value[points] >= largest - _NEARLY * np.ptp(value)) & (points >= edge) & (points < len(path) - edge)
    ]
    return int(points[np.argmax(value[points])]) if len(points) else top


def extreme_near(path: Floats, which: str, frame: int, reach: int) -> int:
    """Return the frame of the largest extreme of a path (F, 3) within `reach` frames; `frame` if there is none."""
    value = _measure_extent(path, which)
    points = _find_turning_points(value)
    points = points[np.abs(points - frame) <= reach]
    return int(points[np.argmax(value[points])]) if len(points) else frame


def _find_turning_points(value: Floats) -> Ints:
    return 1 + np.flatnonzero((value[1:-1] >= value[:-2]) & (value[1:-1] >= value[2:]))
