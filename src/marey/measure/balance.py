"""Balance: the center of mass, and whether the feet can support its movement at a clip's frame rate.

A body moves its center of mass only by pushing against what it stands on. The push acts at the zero moment point
(Vukobratovic 1969). This point is below the center of mass while that is at rest, and moves to the side when it
accelerates. It cannot leave the area between the feet. Accelerations grow with the square of the frame rate: at twice
the true rate of a recording, the point is outside most of the time, whatever the person does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.core.kinematics import World
from marey.core.skeleton import Skeleton
from marey.errors import MareyError
from marey.io.unit_and_up_axis import STATURE, stature
from marey.maths import filters
from marey.measure import balance_kernels
from marey.measure.subject import Subject

_LIMBS = (
    ("upper_arm", "forearm", 0.028, 0.436),
    ("forearm", "hand", 0.016, 0.430),
    ("hand", "fingertips", 0.006, 0.506),
    ("upper_leg", "lower_leg", 0.100, 0.433),
    ("lower_leg", "foot", 0.0465, 0.433),
    ("foot", "toe_tip", 0.0145, 0.500),
)
_SEGMENTS: tuple[tuple[str, str, float, float], ...] = (
    ("hips", "neck", 0.497, 0.5),
    ("neck", "head", 0.081, 1.0),
    *((f"{side}_{a}", f"{side}_{b}", mass, at) for side in ("left", "right") for a, b, mass, at in _LIMBS),
)
"""Body segments: proximal role, distal role, fraction of the body's mass, and position of the segment's center of mass
as a fraction of its length from the proximal end (Winter, Biomechanics and Motor Control of Human Movement, table of
segments)."""

GRAVITY = 9.81
# Seconds: standard deviation of the Gaussian by which the path of the center of mass is smoothed.
SMOOTHING = 0.04
# Meters, for a body of average height: points at most this far above the lowest point support the body; first for
# soles, then for other points.
_SUPPORT, _SUPPORT_BODY = 0.06, 0.12
# Minimum height in meters of the center of mass of a standing body; and minimum vertical force per mass in m/s^2, below
# which the body is nearly in flight.
_STANDING, _LIGHT = 0.5, 4.0
# Frames per second that are enough for accelerations that are smoothed by that much.
_RATE = 50.0
# Number of directions in which the area of support is bounded.
_N_DIRECTIONS = 16
# Frames that are enough for a median, spread over the clip.
_ENOUGH = 200
# Minimum time of standing, in seconds and as a fraction of the clip; and minimum number of frames.
_MIN_SECONDS, _MIN_FRACTION, _FEWEST = 1.5, 0.25, 8
# If the rate is wrong, the median distance of the point from the area of support exceeds this, in meters; at half the
# rate, it is below this fraction of that distance.
_OUTSIDE, _BETTER = 0.09, 0.4


def find_center_of_mass(skeleton: Skeleton, world: World) -> Floats:
    """Return the path (F, 3) of the center of mass in meters, from the masses of body segments."""
    roles, weights = skeleton.roles, np.zeros(len(skeleton))
    for start, stop, fraction, at in _SEGMENTS:
        a, b = roles.get(start), roles.get(stop)
        if a is None:
            continue
        # If the skeleton has no joint at the distal end, use the proximal end.
        weights[a] += fraction * (1.0 - at)
        weights[a if b is None else b] += fraction * at
    if not weights.any():
        weights[roles["hips"]] = 1.0
    joints, path = np.flatnonzero(weights), np.empty((len(world.positions), 3))
    balance_kernels.average_joints(world.positions, joints, (weights / weights.sum())[joints], path)
    return path


def is_unsupported(subject: Subject) -> bool:
    """Return whether the feet cannot support the body's movements at the clip's frame rate, but could at half that
    rate.

    This indicates a wrong frame rate. No gait is needed, but the body must stand on its feet for a while.
    """
    try:
        standing = subject.is_standing.copy()
    except MareyError:
        return False
    fps, size = subject.motion.fps, (stature(subject.motion.skeleton) or STATURE) / STATURE
    for glitch in subject.glitches:
        standing[max(glitch.start - 1, 0) : glitch.stop + 1] = False
    if len(subject.motion) < 4 * max(fps / _RATE, 1.0) or standing.sum() < max(
        _MIN_SECONDS * fps, _MIN_FRACTION * len(standing)
    ):
        return False
    step = max(int(fps / _RATE), 1)
    soles = subject.paths(subject.foot_contacts[0].points)
    fps, standing, lowest = fps / step, standing[::step], subject.lowest_sole[::step]
    center = filters.gaussian(subject.center_of_mass[::step], SMOOTHING * fps)
    push = np.empty(center.shape)
    balance_kernels.differentiate_twice(center, push)
    body = _Body(soles, subject.world.positions, subject.joints, step, lowest, center, push, standing, size)
    outside = _measure_outside(body, fps)
    if outside is None or outside <= _OUTSIDE * size:
        return False
    halved = _measure_outside(body, 0.5 * fps)
    return halved is not None and halved < _BETTER * outside


@dataclass(frozen=True, slots=True, eq=False)
class _Body:
    """Data of a body for the test: every `step`-th frame of a clip of N frames, F frames in all.

    soles, positions : (N, K, 3) points of its feet, and (N, J, 3) joints, in all frames of the clip, meters.
    joints : (n,) indices of the joints that count.
    lowest : (F,) height of the lowest sole, meters.
    center, push : (F, 3) center of mass, and its second difference over the frames, meters.
    standing : (F,) whether a foot is in contact.
    size : body height divided by a usual body height.
    """

    soles: Floats
    positions: Floats
    joints: Ints
    step: int
    lowest: Floats
    center: Floats
    push: Floats
    standing: Bools
    size: float


def _measure_outside(body: _Body, fps: float) -> float | None:
    """Return the median distance in meters by which the zero moment point is outside the area of support; negative
    inside.

    None if the body does not stand on its feet for long enough. `fps` is the rate assumed for the F frames.
    """
    height, weight = body.center[:, 1] - body.lowest, GRAVITY + body.push[:, 1] * fps**2
    frames = np.flatnonzero(body.standing & (weight > _LIGHT) & (height > _STANDING * body.size))
    if len(frames) < _MIN_SECONDS * fps:
        return None
    frames = frames[:: max(len(frames) // _ENOUGH, 1)]
    tops = body.lowest[frames, None] + (_SUPPORT * body.size, _SUPPORT_BODY * body.size)
    lever = (height[frames] / weight[frames])[:, None] * fps**2
    point = body.center[frames][:, ::2] - lever * body.push[frames][:, ::2]
    angles = np.linspace(0.0, 2.0 * np.pi, _N_DIRECTIONS, endpoint=False)
    directions, distance = np.stack([np.cos(angles), np.sin(angles)]), np.empty(len(frames))
    balance_kernels.measure_outside(
        body.soles,
        body.positions,
        body.joints,
        frames * body.step,
        tops,
        np.ascontiguousarray(point),
        directions,
        distance,
    )
    ordered, n = np.sort(distance), len(distance)  # np.median would import numpy.ma, which takes longer
    return float(0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]))
