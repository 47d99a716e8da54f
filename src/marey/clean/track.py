"""Paths, heights and speeds of contact points, smoothed only as much as their noise requires."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.clean import contact_kernels
from marey.clean.body_parts import subtract_rolling
from marey.clean.points import SIDES, check_points, contact_points, find_side, leg_length, place_joints
from marey.core.arrays import Bools, Floats, Ints
from marey.core.contacts import ContactPoint
from marey.core.kinematics import World
from marey.core.motion import Motion, check_motion
from marey.errors import InvalidValue

# Thresholds apply to this leg length of an adult, thigh plus shin, in meters.
REFERENCE_LEG = 0.85
MIN_FRAMES = 4
# The noise that may remain in a speed, m/s along each axis: a tenth of the speed at which a plant begins.
_SPEED_NOISE = 0.03
# Minimum smoothing of recorded motion and maximum smoothing, in seconds.
_MIN_WIDTH, _MAX_WIDTH = 0.012, 0.040
# Paths with less noise than this (meters, for the reference body) were computed, not recorded, and are not smoothed.
_EXACT = 1e-5
# A Gaussian of t seconds converts white noise s at rate f into a speed noise v with v^2 = s^2 / (4 sqrt(pi) f t^3).
_SPREAD = 4.0 * math.sqrt(math.pi)
# Percentile from which noise is estimated: the stillest frames.
_QUIET = 5.0
# A foot that is higher above the hips than this, in meters for the reference body, stands on nothing: the body is
# upside down, or lies with its legs up.
_ALOFT = 0.25


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale of the thresholds for a body: they are given for a person with legs of 0.85 m.

    Gaits of animals and people of different size are similar at the same Froude number v^2 / (g leg) (Alexander 1984):
    lengths scale with leg length, speeds and times with its square root. A body twice as large whose motion takes
    sqrt(2) times as long has the same contacts, frame by frame.
    """

    length: float

    @property
    def root(self) -> float:
        """Factor for speeds and times."""
        return math.sqrt(self.length)


@dataclass(frozen=True, slots=True, eq=False)
class PointTrack:
    """Paths of K points over F frames.

    points : the K contact points.
    sides : the foot that each point is part of, or None.
    raw, paths : (F, K, 3) meters, before and after smoothing.
    speed : (F, K) m/s.
    hips, head : (F, 3) meters; head is None if all points are on feet.
    noise, speed_noise : estimated noise along each axis, m and m/s.
    fps : frames per second.
    scale : size of the body.
    """

    points: tuple[ContactPoint, ...]
    sides: tuple[str | None, ...]
    raw: Floats
    paths: Floats
    speed: Floats
    hips: Floats
    head: Floats | None
    noise: float
    speed_noise: float
    fps: float
    scale: Scale

    @property
    def is_recorded(self) -> bool:
        """Whether the motion was recorded: its paths are noisy, so they were smoothed."""
        return self.paths is not self.raw

    @property
    def heights(self) -> Floats:
        """Heights (F, K) of the points in meters."""
        return self.paths[:, :, 1]

    @property
    def feet(self) -> Ints:
        """Foot (K,) of each point: 0 left, 1 right, -1 neither."""
        return np.array([-1 if side is None else SIDES.index(side) for side in self.sides], dtype=np.int64)

    @property
    def foot_columns(self) -> tuple[int, ...]:
        """Columns of points on feet."""
        return tuple(k for k, side in enumerate(self.sides) if side is not None)

    @property
    def is_aloft(self) -> Bools:
        """Whether points (F, K) on feet are too far above the hips to stand."""
        above = self.heights > self.hips[:, None, 1] + _ALOFT * self.scale.length
        return np.asarray(above & np.array([side is not None for side in self.sides]))

    def main_column(self, side: str) -> int | None:
        """Return the point that best shows whether a foot stands: its ball, else its first point."""
        columns = [k for k, its in enumerate(self.sides) if its == side]
        for k in columns:
            if self.points[k].name == f"{side}_ball":
                return k
        return columns[0] if columns else None

    def frames(self, seconds: float) -> int:
        """Convert a duration in seconds, given for the reference body, to frames for the tracked body."""
        return round(seconds * self.scale.root * self.fps)


def choose_points(motion: Motion, hands: bool = False, body: bool = False) -> tuple[ContactPoint, ...]:
    """Return the points to track: the standard ones of feet and, on request, hands or body, and all other points of the
    motion's contacts.

    If the motion's contacts define a standard point, their definition is used.
    """
    check_motion(motion)
    given = {point.name: point for point in motion.contacts.points} if motion.contacts is not None else {}
    usual = contact_points(motion.skeleton, hands=hands, standing=motion, body=body)
    own = [point for name, point in given.items() if name not in {p.name for p in usual}]
    return (*(given.get(point.name, point) for point in usual), *own)


def track_points(motion: Motion, points: Sequence[ContactPoint], world: World | None = None) -> PointTrack:
    """Track `points` through `motion`; `world` is the result of `motion.world()`, if it is known."""
    if len(motion) < MIN_FRAMES:
        raise InvalidValue(
            f"{motion.name!r} must have at least {MIN_FRAMES} frames for contacts to be detected, not {len(motion)}"
        )
    scale = Scale(leg_length(motion.skeleton) / REFERENCE_LEG)
    check_points(points, len(motion.skeleton))
    sides = tuple(find_side(motion.skeleton, point) for point in points)
    if not any(sides):
        raise InvalidValue("at least one contact point must be on a foot to find the floor")
    raw, hips, head = _find_paths(motion, points, scale.length, not all(sides), world)
    noise = _estimate_noise(
        raw if all(sides) else np.take(raw, [k for k, side in enumerate(sides) if side is not None], axis=1)
    )
    width = _choose_width(noise, motion.fps, scale)
    paths = raw
    if width > 0.0:
        paths = np.empty_like(raw)
        contact_kernels.smooth_paths(raw, width * motion.fps, paths)
    speed = np.empty(paths.shape[:2])
    contact_kernels.measure_speeds(paths, motion.fps, speed)
    speed_noise = _estimate_speed_noise(noise, width, motion.fps)
    return PointTrack(tuple(points), sides, raw, paths, speed, hips, head, noise, speed_noise, motion.fps, scale)


def _find_paths(
    motion: Motion, points: Sequence[ContactPoint], scale: float, with_head: bool, world: World | None
) -> tuple[Floats, Floats, Floats | None]:
    """Compute the world paths of points (F, K, 3), hips (F, 3) and, on request, head (F, 3).

    Paths of points on parts of the body that roll are slip paths; see `marey.clean.body_parts`.
    """
    roles = motion.skeleton.roles
    head = roles.get("head") if with_head else None
    others = [roles["hips"]] if head is None else [roles["hips"], head]
    slots = [*(point.joint for point in points), *others]
    if world is None:
        world, slots = place_joints(motion, slots)
    n = len(points)
    raw = np.empty((len(motion), n, 3))
    offsets = np.array([point.offset for point in points], dtype=np.float64)
    joints = np.array(slots[:n], dtype=np.int64)
    contact_kernels.place_points(world.positions, world.rotations, joints, offsets, raw)
    if with_head:
        subtract_rolling(motion.skeleton, points, [world.rotations[:, slot] for slot in slots[:n]], scale, raw)
    hips = np.ascontiguousarray(world.positions[:, slots[n]])
    return raw, hips, None if head is None else world.positions[:, slots[n + 1]]


def _estimate_noise(paths: Floats) -> float:
    """Estimate the standard deviation of white noise along each axis in meters, or an upper bound of it.

    Differences of order 1, 2 and 3 pass white noise of size s as sqrt(2), sqrt(6) and sqrt(20) s, and are zero for a
    point at rest. Their length over three axes has its 5th percentile at 0.593 times that. Movement only adds to it, so
    the minimum over all orders and points is closest to the noise: high orders suppress slow movement, low orders need
    only a brief rest.
    """
    squares = np.empty((3, paths.shape[1], len(paths) - 3))
    contact_kernels.square_differences(paths, squares)
    at = int(_QUIET / 100.0 * (squares.shape[2] - 1))
    squares.partition(at, axis=2)
    quiet = squares[:, :, at].min(axis=1)
    return math.sqrt(float((quiet / (2.0, 6.0, 20.0)).min())) / 0.593


def _choose_width(noise: float, fps: float, scale: Scale) -> float:
    """Return the width in seconds of the narrowest Gaussian that leaves 0.03 m/s of noise in the speed per axis."""
    if noise < _EXACT * scale.length:
        return 0.0
    wanted = math.cbrt(noise**2 / (_SPREAD * fps * (_SPEED_NOISE * scale.root) ** 2))
    return min(max(wanted, _MIN_WIDTH * scale.root), _MAX_WIDTH * scale.root)


def _estimate_speed_noise(noise: float, width: float, fps: float) -> float:
    """Return the noise in m/s along each axis that remains after smoothing with a Gaussian of `width` seconds."""
    plain = math.sqrt(2.0) * noise * fps
    return plain if width == 0.0 else min(plain, noise / math.sqrt(_SPREAD * fps * width) / width)
