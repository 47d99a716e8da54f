"""Features of entire motions, such as speed, distance and turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.parametric.points import CENTER_OF_MASS, find_joint, find_path

__all__ = ["MOTION_FEATURES", "MotionFeature"]

_KINDS: dict[str, Callable[[Floats], float]] = {
    "mean": lambda values: float(values.mean()),
    "min": lambda values: float(values.min()),
    "max": lambda values: float(values.max()),
}
# Meters of path below which curvature is undefined.
_STILL = 1e-3


@dataclass(frozen=True, slots=True)
class MotionFeature:
    """A feature of entire motions.

    call : measures it, given the motion, its world positions and rotations, a joint and one of `choices`.
    unit : unit of the result.
    choices : allowed values of `which`, the default first; empty if only one value is allowed.
    joint : default joint, or "".
    needs_joint : whether a joint is required.
    """

    call: Callable[[Motion, World, str, str], float]
    unit: str
    choices: tuple[str, ...] = ()
    joint: str = ""
    needs_joint: bool = False


def _measure_speed(motion: Motion, world: World, joint: str, which: str) -> float:
    return _KINDS[which](_steps(motion, world, joint) * motion.fps)


def _angular_speed(motion: Motion, world: World, joint: str, which: str) -> float:
    if joint == CENTER_OF_MASS:
        raise InvalidValue("angular_speed needs a joint or role, because the center of mass does not rotate")
    _need_frames(motion)
    turned = world.rotations[:, find_joint(motion.skeleton, joint)]
    return _KINDS[which](quat.angle_between(turned[:-1], turned[1:]) * motion.fps)


def _measure_traveled(motion: Motion, world: World, joint: str, which: str) -> float:
    if which == "path":
        return float(_steps(motion, world, "hips").sum())
    path = find_path(motion.skeleton, world, "hips")[:, [0, 2]]
    return float(np.linalg.norm(path[-1] - path[0]))


def _turn(motion: Motion, world: World, joint: str, which: str) -> float:
    yaw = find_facing(motion.skeleton, world.positions)
    return float(yaw[-1] - yaw[0])


def _measure_curvature(motion: Motion, world: World, joint: str, which: str) -> float:
    distance = _measure_traveled(motion, world, "", "path")
    if distance < _STILL:
        raise InvalidValue(f"the curvature of {motion.name or 'a motion'!r} is undefined, because it stays in place")
    return _turn(motion, world, "", "") / distance


def _step_height(motion: Motion, world: World, joint: str, which: str) -> float:
    roles = motion.skeleton.roles
    feet = [joint] if joint else [role for role in ("left_foot", "right_foot") if role in roles]
    if not feet:
        raise JointNotFound(
            "step_height needs a joint, or the role left_foot or right_foot; name a joint or assign one of these roles"
        )
    heights = [find_path(motion.skeleton, world, foot)[:, 1] for foot in feet]
    return max(float(height.max() - height.min()) for height in heights)


def _measure_duration(motion: Motion, world: World, joint: str, which: str) -> float:
    return motion.duration


def _steps(motion: Motion, world: World, joint: str) -> Floats:
    """Return the distance (F - 1,) that a joint moves from frame to frame, in meters; horizontal for the hips."""
    _need_frames(motion)
    path = find_path(motion.skeleton, world, joint)
    return np.asarray(np.linalg.norm(np.diff(path[:, [0, 2]] if joint == "hips" else path, axis=0), axis=1))


def _need_frames(motion: Motion) -> None:
    if len(motion) < 2:
        name = repr(motion.name) if motion.name else "a motion"
        raise InvalidValue(f"speeds and distances need at least two frames, but {name} has {len(motion)}")


MOTION_FEATURES: dict[str, MotionFeature] = {
    "speed": MotionFeature(_measure_speed, "m/s", tuple(_KINDS), "hips"),
    "angular_speed": MotionFeature(_angular_speed, "rad/s", tuple(_KINDS), needs_joint=True),
    "traveled": MotionFeature(_measure_traveled, "m", ("path", "net")),
    "turn": MotionFeature(_turn, "rad"),
    "curvature": MotionFeature(_measure_curvature, "rad/m"),
    "step_height": MotionFeature(_step_height, "m"),
    "duration": MotionFeature(_measure_duration, "s"),
}
