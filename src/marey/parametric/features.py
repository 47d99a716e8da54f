"""What a motion is described by: the function f of Kovar 6.3, from a motion to a few numbers.

A feature is either about one pose, such as where the hand is at the apex of a reach, or about the whole motion, such as
how far it turns. Places are told in the figure's own frame at the start: the floor under the hips, facing ahead; x to
the left, y up from the floor, z ahead.
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
from marey.errors import InvalidValue, MareyError, UnknownName, similar
from marey.maths import quat, rigid2d
from marey.parametric.points import joint_of, path_of
from marey.parametric.wholes import WHOLES

__all__ = [
    "MOMENTS",
    "Feature",
    "angular_speed",
    "curvature",
    "duration",
    "feature_from",
    "features_of",
    "function",
    "orientation",
    "parse_features",
    "position",
    "speed",
    "step_height",
    "travelled",
    "turn",
]

MOMENTS = ("farthest", "highest", "lowest", "fastest", "slowest", "start", "end")
"""Moments that are found in each motion: where a point is farthest from where it began, highest, lowest, fastest or
slowest (not at the very ends), and the first and the last frame."""
# Share of its range by which a turning point may stay below the largest value at an end, and still be the moment.
_NEARLY = 0.2
# Share of a motion's length that counts as its end.
_EDGE = 0.08
_POSES = ("position", "orientation")
_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Feature:
    """One or several numbers that say what a motion does.

    kind : "position" or "orientation" of a joint at a moment; "function"; or one of the features of whole motions.
    joint : role or joint name, or "centre_of_mass"; "" where the feature is not about one.
    at : the moment of a pose: one of `MOMENTS`, or seconds into the reference motion, which the timewarp carries
        over to the others.
    of : whose extreme the moment is; the joint's own by default.
    which : "mean", "min" or "max" of speeds; the components kept of a position, such as "xy".
    call : the function, for kind "function".
    names, units : of the numbers.
    """

    kind: str
    joint: str = ""
    at: str | float | None = None
    of: str = ""
    which: str = ""
    call: Callable[[Motion], ArrayLike] | None = None
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def n_dims(self) -> int:
        return len(self.names)

    @property
    def is_pose(self) -> bool:
        """Whether it is about one pose, so that no others need be made."""
        return self.kind in _POSES

    @property
    def is_found(self) -> bool:
        """Whether the moment is one that can be found in a motion by itself, inside it."""
        return isinstance(self.at, str) and self.at not in ("start", "end")

    def __call__(self, motion: Motion) -> Floats:
        """(d,) of a motion by itself; the moment of a pose is found in it."""
        if not self.is_pose:
            return self.of_whole(motion, None)
        if not isinstance(self.at, str):
            raise InvalidValue(
                f"{self.told} is about {self.at:g} s of a reference motion, which only a registration carries over to "
                "others; use a moment that can be found, such as 'farthest'"
            )
        return self.of_poses(motion, np.array([0.0, float(self.frame(motion))]))

    @property
    def told(self) -> str:
        """As messages name it."""
        if self.kind in ("given", "function"):
            return ", ".join(self.names)
        return " ".join(part for part in (self.kind, self.joint) if part)

    def frame(self, motion: Motion, world: World | None = None) -> int:
        """The frame of a motion that is the moment."""
        if self.at in ("start", "end"):
            return 0 if self.at == "start" else len(motion) - 1
        if not isinstance(self.at, str):
            raise InvalidValue(f"{self.told} has no moment that could be found")
        path = path_of(motion.skeleton, motion.world() if world is None else world, self.of or self.joint)
        return _extreme(path, self.at)

    def of_poses(self, motion: Motion, frames: Floats) -> Floats:
        """(d,) with the pose at frames[1], which may lie between two, seen from that at frames[0]."""
        poses = motion.at(frames / motion.fps)
        world = poses.world()
        floor = np.array([motion.source.floor or 0.0])
        start = World(world.positions[:1], world.rotations[:1])
        seen = self.between(motion.skeleton, start, World(world.positions[1:], world.rotations[1:]), floor)
        return np.asarray(seen[0])

    def between(self, skeleton: Skeleton, start: World, there: World, floor: Floats) -> Floats:
        """(B, d) for B poses seen from as many starting poses, with floors (B,) or (1,)."""
        frame = start_frames(skeleton, start)
        if self.kind == "position":
            place = rigid2d.apply(rigid2d.invert(frame), path_of(skeleton, there, self.joint))
            place[:, 1] -= floor
            return place[:, [_AXES.index(axis) for axis in self.which]]
        joint = joint_of(skeleton, self.joint)
        turned = quat.log(quat.mul_inv(there.rotations[:, joint], start.rotations[:, joint]))
        return np.asarray(rigid2d.apply_vector(rigid2d.invert(frame), turned))

    def of_whole(self, motion: Motion, world: World | None) -> Floats:
        """(d,) of all frames; `world` where it is known already."""
        try:
            if self.call is not None:
                given = np.atleast_1d(np.asarray(self.call(motion), dtype=np.float64))
            else:
                seen = motion.world() if world is None else world
                given = np.array([WHOLES[self.kind].call(motion, seen, self.joint, self.which)])
        except MareyError:
            raise
        except Exception as error:
            on = f" on {motion.name!r}" if motion.name else ""  # blends have no name: who measures them knows it
            raise InvalidValue(f"{self.told} failed{on}: {type(error).__name__}: {error}") from error
        if given.shape != (self.n_dims,):
            raise InvalidValue(
                f"{self.told} must give {self.n_dims} numbers, as its names say, but gave shape {given.shape}"
                + (f" for {motion.name!r}" if motion.name else "")
            )
        return given

    def described(self) -> dict[str, Any]:
        """What `feature_from` makes it from again; functions only by name."""
        out: dict[str, Any] = {"kind": self.kind, "joint": self.joint, "at": self.at, "of": self.of}
        return out | {"which": self.which, "names": list(self.names), "units": list(self.units)}


def start_frames(skeleton: Skeleton, world: World) -> Floats:
    """(B, 3) rigid2d of poses: where the hips are on the floor, and which way the figure faces."""
    left = find_left_axis(skeleton, world.positions)
    hips = world.positions[:, skeleton.roles["hips"]]
    return np.stack([np.arctan2(-left[:, 2], left[:, 0]), hips[:, 0], hips[:, 2]], axis=1)


def position(joint: str, at: str | float = "farthest", *, of: str = "", axes: str = _AXES) -> Feature:
    """Where a joint (role or name, or "centre_of_mass") is at a moment: x to the left, y above the floor, z ahead.

    Parameters
    ----------
    at : one of `MOMENTS`, or seconds into the reference motion.
    of : the joint whose extreme the moment is, where that is another one.
    axes : which of "xyz" count.
    """
    if not axes or any(axis not in _AXES for axis in axes) or len(set(axes)) != len(axes):
        raise InvalidValue(f"axes must be some of 'x', 'y' and 'z', each once, got {axes!r}")
    names = tuple(f"{joint} {axis}" for axis in axes)
    return Feature("position", joint, _checked_moment(at), of, axes, None, names, ("m",) * len(axes))


def orientation(joint: str, at: str | float = "farthest", *, of: str = "") -> Feature:
    """By how much a joint has turned from the start to a moment: a rotation vector in the figure's frame at first."""
    names = tuple(f"{joint} turn {axis}" for axis in _AXES)
    return Feature("orientation", joint, _checked_moment(at), of, "", None, names, ("rad",) * 3)


def speed(joint: str = "hips", which: str = "mean") -> Feature:
    """Mean, smallest or largest speed of a joint; that of the hips is along the floor."""
    return _whole("speed", joint, _checked_which(which))


def angular_speed(joint: str, which: str = "mean") -> Feature:
    """Mean, smallest or largest angular speed of a joint in the world."""
    return _whole("angular_speed", joint, _checked_which(which))


def travelled(which: str = "path") -> Feature:
    """How far the hips go along the floor: the "path", or the "net" distance between its ends."""
    if which not in ("path", "net"):
        raise InvalidValue(f"which must be 'path' or 'net', got {which!r}")
    return _whole("travelled", "", which)


def turn() -> Feature:
    """By how much the figure faces further to the left at the end than at the start."""
    return _whole("turn")


def curvature() -> Feature:
    """Turn to the left for each metre of the way."""
    return _whole("curvature")


def step_height(joint: str = "") -> Feature:
    """How far a foot (role or joint; the higher of both by default) rises above its lowest place."""
    return _whole("step_height", joint)


def duration() -> Feature:
    """Seconds from the first frame to the last: whole frames, so that a motion has it to within half of one at best."""
    return _whole("duration")


def function(call: Callable[[Motion], ArrayLike], names: Iterable[str] = (), units: Iterable[str] = ()) -> Feature:
    """Any function of a Motion that gives one number or several.

    Parameters
    ----------
    names : of the numbers; the function's own name by default, for one number.
    units : such as "m" or "rad"; unknown ones are fine.
    """
    if not callable(call):
        raise InvalidValue(f"expected a function of a motion, got {call!r}")
    named = tuple(names) or (getattr(call, "__name__", "function"),)
    told = tuple(units) or ("",) * len(named)
    if len(told) != len(named):
        raise InvalidValue(f"expected a unit for each of {len(named)} names, got {len(told)}")
    return Feature("function", call=call, names=named, units=told)


def features_of(given: Any) -> tuple[Feature, ...]:
    """What a user gives as feature=: a Feature, a text, a function, or several of these."""
    if isinstance(given, Feature):
        return (given,)
    if isinstance(given, str):
        return parse_features(given)
    if callable(given):
        return (function(given),)
    if isinstance(given, Iterable):
        out = tuple(each for one in given for each in features_of(one))
        if out:
            return out
    raise InvalidValue(f"expected a feature, a function of a motion or several of these, got {given!r}")


def parse_features(text: str) -> tuple[Feature, ...]:
    """Features as the command line names them: ``position:right_foot@highest``, ``turn,speed``, ``speed:hips:max``.

    kind, joint and which are separated by colons; the moment stands after ``@``: a name, or seconds into the reference.
    """
    return tuple(_parsed(part.strip()) for part in str(text).split(",") if part.strip()) or _none(text)


def feature_from(described: Mapping[str, Any]) -> Feature:
    """The feature that `Feature.described` tells of."""
    kind, joint, at = (described.get(key) for key in ("kind", "joint", "at"))
    of, which = str(described.get("of", "")), str(described.get("which", ""))
    if kind == "position":
        return position(str(joint), _moment(at), of=of, axes=which)
    if kind == "orientation":
        return orientation(str(joint), _moment(at), of=of)
    if kind in WHOLES:
        return _whole(str(kind), str(joint), which)
    raise UnknownName(f"no feature is called {kind!r}{similar(str(kind), (*_POSES, *WHOLES))}")


def _none(text: Any) -> tuple[Feature, ...]:
    raise InvalidValue(f"expected a feature such as 'position:right_hand@farthest' or 'turn,speed', got {text!r}")


def _parsed(text: str) -> Feature:
    head, _, moment = text.partition("@")
    kind, *rest = head.split(":")
    known = (*_POSES, *WHOLES)
    if kind not in known:
        near = similar(kind, known) or f"; there are {', '.join(known)}"
        raise UnknownName(f"no feature is called {kind!r}{near}")
    if len(rest) > 2 or (moment and kind not in _POSES):
        raise InvalidValue(f"expected KIND:JOINT:WHICH, and @MOMENT for a pose, got {text!r}")
    joint, which = (*rest, "", "")[:2]
    if kind in _POSES:
        if not joint:
            raise InvalidValue(f"{kind} needs a joint or role, as in '{kind}:right_hand', got {text!r}")
        at = _seconds_or_name(moment) if moment else "farthest"
        return position(joint, at, axes=which or _AXES) if kind == "position" else orientation(joint, at)
    return _whole(kind, joint, which)


def _seconds_or_name(text: str) -> str | float:
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        return text


def _whole(kind: str, joint: str = "", which: str = "") -> Feature:
    entry = WHOLES[kind]
    if entry.choices and which not in ("", *entry.choices):
        raise InvalidValue(f"{kind} can be {', '.join(map(repr, entry.choices))}, got {which!r}")
    about = joint or entry.joint
    if entry.needs_joint and not about:
        raise InvalidValue(f"{kind} needs a joint or role, as in '{kind}:right_hand'")
    chosen = which or (entry.choices[0] if entry.choices else "")
    usual = about == entry.joint and chosen in ("", *entry.choices[:1])
    name = " ".join(part for part in (kind.replace("_", " "), *(() if usual else (about, chosen))) if part)
    return Feature(kind, about, None, "", chosen, None, (name,), (entry.unit,))


def _checked_which(which: str) -> str:
    if which not in ("mean", "min", "max"):
        raise InvalidValue(f"which must be 'mean', 'min' or 'max', got {which!r}")
    return which


def _moment(at: Any) -> str | float:
    return at if isinstance(at, str) else float(at)


def _checked_moment(at: Any) -> str | float:
    if isinstance(at, str):
        if at not in MOMENTS:
            raise UnknownName(f"no moment is called {at!r}{similar(at, MOMENTS)}; there are {', '.join(MOMENTS)}")
        return at
    try:
        seconds = float(at)
    except (TypeError, ValueError):
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise InvalidValue(f"a moment must be one of {', '.join(MOMENTS)}, or seconds of 0 or more, got {at!r}")
    return seconds


def _extent(path: Floats, which: str) -> Floats:
    """(F,) what is largest where a path (F, 3) is farthest, highest and so on."""
    if which == "farthest":
        return np.asarray(np.linalg.norm(path - path[0], axis=1))
    if which in ("highest", "lowest"):
        return path[:, 1] if which == "highest" else -path[:, 1]
    if len(path) < 3:
        raise InvalidValue(f"a {which} moment needs three frames or more, got {len(path)}")
    pace = np.linalg.norm(path[2:] - path[:-2], axis=1)
    inner = pace if which == "fastest" else -pace
    return np.concatenate([[-np.inf], inner, [-np.inf]])


def _extreme(path: Floats, which: str) -> int:
    value = _extent(path, which)
    top, most = int(np.argmax(value)), float(value.max())
    edge = max(1, round(_EDGE * len(path)))
    if which in ("fastest", "slowest") or edge <= top < len(path) - edge:
        return top
    # What comes next may lead further than the action did: a turning point nearly as far out is meant.
    turns = _turning_points(value)
    turns = turns[(value[turns] >= most - _NEARLY * np.ptp(value)) & (turns >= edge) & (turns < len(path) - edge)]
    return int(turns[np.argmax(value[turns])]) if len(turns) else top


def extreme_near(path: Floats, which: str, frame: int, reach: int) -> int:
    """The frame at most `reach` from `frame` where a path (F, 3) has its largest turning point; `frame` if none has."""
    value = _extent(path, which)
    turns = _turning_points(value)
    turns = turns[np.abs(turns - frame) <= reach]
    return int(turns[np.argmax(value[turns])]) if len(turns) else frame


def _turning_points(value: Floats) -> Ints:
    return 1 + np.flatnonzero((value[1:-1] >= value[:-2]) & (value[1:-1] >= value[2:]))
