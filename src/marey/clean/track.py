"""Paths, heights and speeds of contact points, smoothed only as much as their noise requires."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.clean import contact_kernels
from marey.clean.points import check_points, contact_points, find_side, leg_length, place_joints
from marey.core.arrays import Floats
from marey.core.contacts import ContactPoint
from marey.core.motion import Motion
from marey.errors import InvalidValue

# Thresholds are stated for a grown person's leg, thigh and shin together.
REFERENCE_LEG = 0.85
MIN_FRAMES = 4
# The noise that may remain in a speed, m/s along each axis. A tenth of the speed at which a plant begins.
_SPEED_NOISE = 0.03
# Seconds: the least smoothing of recorded motion and the most of any.
_LEAST, _MOST = 0.012, 0.040
# Below this noise, as a fraction of the leg, a path was computed, not recorded, and is not smoothed at all.
_EXACT = 1e-5
# A Gaussian of t seconds converts white noise s at rate f into a speed noise v with v^2 = s^2 / (4 sqrt(pi) f t^3).
_SPREAD = 4.0 * math.sqrt(math.pi)
# Fraction of the frames, the stillest ones, from which noise is estimated.
_QUIET = 5.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Scales the thresholds of a person with legs of 0.85 m to another body.

    Gaits of animals and people of different size are similar when their Froude number v^2 / (g leg) is the same
    (Alexander 1984): lengths go with the leg, speeds and times with its square root. A body of twice the size whose
    motion takes sqrt(2) times as long gives the same contacts, frame by frame.
    """

    length: float

    @property
    def root(self) -> float:
        """For speeds and times."""
        return math.sqrt(self.length)


@dataclass(frozen=True, slots=True, eq=False)
class PointTrack:
    """K points over F frames.

    sides : the foot that each point is part of, or None. raw, paths : (F, K, 3) meters, as they are and smoothed.
    speed : (F, K) m/s. hips, head : (F, 3) meters; the head's is None where all points are on feet.
    noise, speed_noise : m and m/s along each axis, as estimated.
    fps, scale : of the motion.
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
        """Whether the paths are noisy enough to have been smoothed."""
        return self.paths is not self.raw

    @property
    def heights(self) -> Floats:
        """(F, K) meters."""
        return self.paths[:, :, 1]

    @property
    def foot_columns(self) -> tuple[int, ...]:
        """Columns of points on feet."""
        return tuple(k for k, side in enumerate(self.sides) if side is not None)

    def main_column(self, side: str) -> int | None:
        """The point that best shows whether a foot stands: its ball, or else the first one."""
        columns = [k for k, its in enumerate(self.sides) if its == side]
        for k in columns:
            if self.points[k].name == f"{side}_ball":
                return k
        return columns[0] if columns else None

    def frames(self, seconds: float) -> int:
        """A duration for the reference body as frames of this one."""
        return round(seconds * self.scale.root * self.fps)


def choose_points(motion: Motion, hands: bool = False) -> tuple[ContactPoint, ...]:
    """The points to watch: the usual ones, as `motion.contacts` defines them where it does, and any others there."""
    given = {point.name: point for point in motion.contacts.points} if motion.contacts is not None else {}
    usual = contact_points(motion.skeleton, hands=hands, standing=motion)
    own = [point for name, point in given.items() if name not in {p.name for p in usual}]
    return (*(given.get(point.name, point) for point in usual), *own)


def track_points(motion: Motion, points: Sequence[ContactPoint]) -> PointTrack:
    """The track of `points` through `motion`."""
    if len(motion) < MIN_FRAMES:
        raise InvalidValue(
            f"{motion.name!r} must have at least {MIN_FRAMES} frames for contacts to be detected, got {len(motion)}"
        )
    scale = Scale(leg_length(motion.skeleton) / REFERENCE_LEG)
    check_points(points, len(motion.skeleton))
    sides = tuple(find_side(motion.skeleton, point) for point in points)
    if not any(sides):
        raise InvalidValue("at least one contact point must be on a foot to find the floor")
    raw, hips, head = _find_paths(motion, points, with_head=not all(sides))
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
    motion: Motion, points: Sequence[ContactPoint], with_head: bool
) -> tuple[Floats, Floats, Floats | None]:
    """World paths of points (F, K, 3), hips and head, if asked for."""
    roles = motion.skeleton.roles
    head = roles.get("head") if with_head else None
    others = [roles["hips"]] if head is None else [roles["hips"], head]
    world, slots = place_joints(motion, [*(point.joint for point in points), *others])
    n = len(points)
    raw = np.empty((len(motion), n, 3))
    offsets = np.array([point.offset for point in points], dtype=np.float64)
    joints = np.array(slots[:n], dtype=np.int64)
    contact_kernels.place_points(world.positions, world.rotations, joints, offsets, raw)
    hips = np.ascontiguousarray(world.positions[:, slots[n]])
    return raw, hips, None if head is None else world.positions[:, slots[n + 1]]


def _estimate_noise(paths: Floats) -> float:
    """Standard deviation of white noise along each axis, meters, or what bounds it from above.

    Differences of order 1, 2 and 3 let white noise of size s through as sqrt(2), sqrt(6) and sqrt(20) s, and nothing
    of a point at rest. Their length over three axes has its 5th percentile at 0.593 times that. Movement only adds to
    it, so the least of all orders and points is nearest to the noise: high orders see through slow movement, low ones
    need but a moment's rest.
    """
    squares = np.empty((3, paths.shape[1], len(paths) - 3))
    contact_kernels.square_differences(paths, squares)
    at = int(_QUIET / 100.0 * (squares.shape[2] - 1))
    squares.partition(at, axis=2)
    quiet = squares[:, :, at].min(axis=1)
    return math.sqrt(float((quiet / (2.0, 6.0, 20.0)).min())) / 0.593


def _choose_width(noise: float, fps: float, scale: Scale) -> float:
    """Seconds: the narrowest Gaussian that leaves a noise of 0.03 m/s in the speed along each axis."""
    if noise < _EXACT * scale.length:
        return 0.0
    wanted = math.cbrt(noise**2 / (_SPREAD * fps * (_SPEED_NOISE * scale.root) ** 2))
    return min(max(wanted, _LEAST * scale.root), _MOST * scale.root)


def _estimate_speed_noise(noise: float, width: float, fps: float) -> float:
    """m/s along each axis, that noise leaves in a path smoothed by a Gaussian of `width` seconds."""
    plain = math.sqrt(2.0) * noise * fps
    return plain if width == 0.0 else min(plain, noise / math.sqrt(_SPREAD * fps * width) / width)
