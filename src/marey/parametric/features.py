"""Features that describe a motion: the function f of Kovar 6.3, from a motion to a few numbers.

A feature refers either to one pose, such as the position of the hand at the apex of a reach, or to the entire motion,
such as the angle it turns. Positions are in the character's frame at the start: the origin on the floor under the
hips, facing ahead; x to the left, y up from the floor, z ahead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_fields, renamed_method, renamed_parameters
from marey.errors import InvalidValue, MareyError, UnknownName, similar
from marey.maths import quat, rigid2d
from marey.parametric.motion_features import MOTION_FEATURES
from marey.parametric.points import find_joint, find_path

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
"""Moments that are found in each motion: where a point is farthest from its start, highest, lowest, fastest or slowest
(not at the very ends), and the first and the last frame."""
# Fraction of its range by which an extreme may be below the largest value at an end, and still be the moment.
_NEARLY = 0.2
# Fraction of a motion's length that counts as its end.
_EDGE = 0.08
_POSES = ("position", "orientation")
_AXES = "xyz"
# Earlier spellings in files and texts.
_OLD_KINDS = {"travelled": "traveled"}


@renamed_fields(at="moment", of="moment_joint")
@dataclass(frozen=True, slots=True)
class Feature:
    """One or several numbers that describe what a motion does.

    kind : "position" or "orientation" of a joint at a moment; "function"; or one of the features of entire motions.
    joint : role or joint name, or "centre_of_mass"; "" if the feature needs none.
    moment : of a pose: one of `MOMENTS`, or seconds of the reference motion, which the timewarp maps to the
        others.
    moment_joint : the joint whose extreme defines the moment; by default the same joint.
    which : "mean", "min" or "max" of speeds; the components of a position to use, such as "xy".
    call : the function, for kind "function".
    names, units : of the numbers.
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
        return len(self.names)

    @property
    def is_pose(self) -> bool:
        """Whether it refers to one pose, so that no other pose is needed."""
        return self.kind in _POSES

    @property
    def is_detectable(self) -> bool:
        """Whether the moment can be found inside a motion without a registration."""
        return isinstance(self.moment, str) and self.moment not in ("start", "end")

    def __call__(self, motion: Motion) -> Floats:
        """(d,) of a motion by itself; the moment of a pose is found in it."""
        if not self.is_pose:
            return self.measure_whole(motion, None)
        if not isinstance(self.moment, str):
            raise InvalidValue(
                f"{self.label} is measured at {self.moment:g} s of a reference motion, so it needs a "
                "registration; for a single motion use a moment such as 'farthest'"
            )
        return self.measure_poses(motion, np.array([0.0, float(self.find_frame(motion))]))

    is_found = renamed_method("is_found", "is_detectable")
    told = renamed_method("told", "label")
    described = renamed_method("described", "to_dict")
    frame = renamed_method("frame", "find_frame")
    between = renamed_method("between", "measure_between")
    of_poses = renamed_method("of_poses", "measure_poses")
    of_whole = renamed_method("of_whole", "measure_whole")

    @property
    def label(self) -> str:
        """Name for messages."""
        if self.kind in ("given", "function"):
            return ", ".join(self.names)
        return " ".join(part for part in (self.kind, self.joint) if part)

    def find_frame(self, motion: Motion, world: World | None = None) -> int:
        """The frame of a motion at the moment."""
        if self.moment in ("start", "end"):
            return 0 if self.moment == "start" else len(motion) - 1
        if not isinstance(self.moment, str):
            raise InvalidValue(
                f"{self.label} is measured over the whole motion or at a fixed time, so it has no moment to find"
            )
        path = find_path(motion.skeleton, motion.world() if world is None else world, self.moment_joint or self.joint)
        return _find_extreme(path, self.moment)

    def measure_poses(self, motion: Motion, frames: Floats) -> Floats:
        """(d,) of the pose at frames[1], which may be fractional, relative to that at frames[0]."""
        poses = motion.at(frames / motion.fps)
        world = poses.world()
        floor = np.array([motion.source.floor or 0.0])
        start = World(world.positions[:1], world.rotations[:1])
        seen = self.measure_between(motion.skeleton, start, World(world.positions[1:], world.rotations[1:]), floor)
        return np.asarray(seen[0])

    def measure_between(self, skeleton: Skeleton, start: World, there: World, floor: Floats) -> Floats:
        """(B, d) for B poses relative to as many starting poses, with floors (B,) or (1,)."""
        frame = start_frames(skeleton, start)
        if self.kind == "position":
            place = rigid2d.apply(rigid2d.invert(frame), find_path(skeleton, there, self.joint))
            place[:, 1] -= floor
            return place[:, [_AXES.index(axis) for axis in self.which]]
        joint = find_joint(skeleton, self.joint)
        turned = quat.log(quat.mul_inv(there.rotations[:, joint], start.rotations[:, joint]))
        return np.asarray(rigid2d.apply_vector(rigid2d.invert(frame), turned))

    def measure_whole(self, motion: Motion, world: World | None) -> Floats:
        """(d,) of all frames; `world` if it is already known."""
        try:
            if self.call is not None:
                given = np.atleast_1d(np.asarray(self.call(motion), dtype=np.float64))
            else:
                seen = motion.world() if world is None else world
                given = np.array([MOTION_FEATURES[self.kind].call(motion, seen, self.joint, self.which)])
        except MareyError:
            raise
        except Exception as error:
            on = f" on {motion.name!r}" if motion.name else ""  # blends have no name; the caller names them
            raise InvalidValue(f"{self.label} failed{on}: {type(error).__name__}: {error}") from error
        if given.shape != (self.n_dims,):
            raise InvalidValue(
                f"{self.label} must return {self.n_dims} numbers, to match its names, but returned shape {given.shape}"
                + (f" for {motion.name!r}" if motion.name else "")
            )
        return given

    def to_dict(self) -> dict[str, Any]:
        """A description from which `feature_from_dict` restores it; functions only by name."""
        out: dict[str, Any] = {"kind": self.kind, "joint": self.joint, "at": self.moment, "of": self.moment_joint}
        return out | {"which": self.which, "names": list(self.names), "units": list(self.units)}


def start_frames(skeleton: Skeleton, world: World) -> Floats:
    """(B, 3) rigid2d of poses: position of the hips on the floor, and heading."""
    left = find_left_axis(skeleton, world.positions)
    hips = world.positions[:, skeleton.roles["hips"]]
    return np.stack([np.arctan2(-left[:, 2], left[:, 0]), hips[:, 0], hips[:, 2]], axis=1)


@renamed_parameters(at="moment", of="moment_joint")
def position(joint: str, moment: str | float = "farthest", *, moment_joint: str = "", axes: str = _AXES) -> Feature:
    """Position of a joint (role or name, or "centre_of_mass") at a moment: x to the left, y above the floor, z ahead.

    Parameters
    ----------
    moment : one of `MOMENTS`, or seconds of the reference motion.
    moment_joint : the joint whose extreme defines the moment, if it is another one.
    axes : which of "xyz" to use.
    """
    if not axes or any(axis not in _AXES for axis in axes) or len(set(axes)) != len(axes):
        raise InvalidValue(f"axes must be any of 'x', 'y' and 'z', each at most once, not {axes!r}")
    names = tuple(f"{joint} {axis}" for axis in axes)
    return Feature("position", joint, _check_moment(moment), moment_joint, axes, None, names, ("m",) * len(axes))


@renamed_parameters(at="moment", of="moment_joint")
def orientation(joint: str, moment: str | float = "farthest", *, moment_joint: str = "") -> Feature:
    """Rotation of a joint from the start to a moment: a rotation vector in the character's initial frame."""
    names = tuple(f"{joint} turn {axis}" for axis in _AXES)
    return Feature("orientation", joint, _check_moment(moment), moment_joint, "", None, names, ("rad",) * 3)


def speed(joint: str = "hips", which: str = "mean") -> Feature:
    """Mean, minimum or maximum speed of a joint; that of the hips is horizontal."""
    return _make_motion_feature("speed", joint, _check_which(which))


def angular_speed(joint: str, which: str = "mean") -> Feature:
    """Mean, minimum or maximum angular speed of a joint in the world."""
    return _make_motion_feature("angular_speed", joint, _check_which(which))


def traveled(which: str = "path") -> Feature:
    """Horizontal distance of the hips: along the "path", or the "net" distance between its ends."""
    if which not in ("path", "net"):
        raise InvalidValue(f"which must be 'path' or 'net', not {which!r}")
    return _make_motion_feature("traveled", "", which)


def turn() -> Feature:
    """Change of heading from start to end, positive to the left."""
    return _make_motion_feature("turn")


def curvature() -> Feature:
    """Turn to the left per meter of path."""
    return _make_motion_feature("curvature")


def step_height(joint: str = "") -> Feature:
    """How far a foot (role or joint; by default the higher of both) rises above its lowest position."""
    return _make_motion_feature("step_height", joint)


def duration() -> Feature:
    """Seconds from the first frame to the last: whole frames, so a motion meets it at best to within half a frame."""
    return _make_motion_feature("duration")


def function(call: Callable[[Motion], ArrayLike], names: Iterable[str] = (), units: Iterable[str] = ()) -> Feature:
    """Wrap any function of a Motion that returns one number or several.

    Parameters
    ----------
    names : of the numbers; the function's own name by default, for one number.
    units : such as "m" or "rad"; unknown ones are allowed.
    """
    if not callable(call):
        raise InvalidValue(f"call must be a function of a motion, not {call!r}")
    named = tuple(names) or (getattr(call, "__name__", "function"),)
    given = tuple(units) or ("",) * len(named)
    if len(given) != len(named):
        raise InvalidValue(f"units must have one entry for each of {len(named)} names, not {len(given)}")
    return Feature("function", call=call, names=named, units=given)


def as_features(given: Any) -> tuple[Feature, ...]:
    """Convert what a user gives as feature=: a Feature, a text, a function, or several of these."""
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
    raise InvalidValue(f"feature must be a feature, a function of a motion, or a list of these, not {given!r}")


def parse_features(text: str) -> tuple[Feature, ...]:
    """Parse features from text: ``position:right_foot@highest``, ``turn,speed``, ``speed:hips:max``.

    Colons separate kind, joint and which; the moment follows ``@``: a name, or seconds of the reference.
    """
    return tuple(_parse_feature(part.strip()) for part in str(text).split(",") if part.strip()) or _raise_no_feature(
        text
    )


def feature_from_dict(described: Mapping[str, Any]) -> Feature:
    """Restore the feature from the description that `Feature.to_dict` returned."""
    kind, joint, moment = (described.get(key) for key in ("kind", "joint", "at"))
    kind = _OLD_KINDS.get(str(kind), kind)
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
            f"a feature must be KIND:JOINT:WHICH, with @MOMENT only for {' and '.join(_POSES)}, not {text!r}"
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
    about = joint or entry.joint
    if entry.needs_joint and not about:
        raise InvalidValue(f"{kind} needs a joint or role, such as '{kind}:right_hand'")
    chosen = which or (entry.choices[0] if entry.choices else "")
    usual = about == entry.joint and chosen in ("", *entry.choices[:1])
    name = " ".join(part for part in (kind.replace("_", " "), *(() if usual else (about, chosen))) if part)
    return Feature(kind, about, None, "", chosen, None, (name,), (entry.unit,))


def _check_which(which: str) -> str:
    if which not in ("mean", "min", "max"):
        raise InvalidValue(f"which must be 'mean', 'min' or 'max', not {which!r}")
    return which


def _check_moment(at: Any) -> str | float:
    if isinstance(at, str):
        if at not in MOMENTS:
            raise UnknownName(f"no moment named {at!r}{similar(at, MOMENTS)}; moments: {', '.join(MOMENTS)}")
        return at
    try:
        seconds = float(at)
    except (TypeError, ValueError):
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise InvalidValue(f"a moment must be one of {', '.join(MOMENTS)}, or a time of at least 0 s, not {at!r}")
    return seconds


def _extent(path: Floats, which: str) -> Floats:
    """(F,) values that are largest where a path (F, 3) is farthest, highest and so on."""
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
    value = _extent(path, which)
    top, largest = int(np.argmax(value)), float(value.max())
    edge = max(1, round(_EDGE * len(path)))
    if which in ("fastest", "slowest") or edge <= top < len(path) - edge:
        return top
    # What comes next may go farther than the action did: prefer an extreme that is nearly as far out.
    points = _find_turning_points(value)
    points = points[
        (value[points] >= largest - _NEARLY * np.ptp(value)) & (points >= edge) & (points < len(path) - edge)
    ]
    return int(points[np.argmax(value[points])]) if len(points) else top


def extreme_near(path: Floats, which: str, frame: int, reach: int) -> int:
    """The frame within `reach` of `frame` where a path (F, 3) has its largest extreme; `frame` if there is none."""
    value = _extent(path, which)
    points = _find_turning_points(value)
    points = points[np.abs(points - frame) <= reach]
    return int(points[np.argmax(value[points])]) if len(points) else frame


def _find_turning_points(value: Floats) -> Ints:
    return 1 + np.flatnonzero((value[1:-1] >= value[:-2]) & (value[1:-1] >= value[2:]))
