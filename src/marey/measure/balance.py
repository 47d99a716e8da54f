"""Balance: the center of mass, and whether the feet can support its movement at a clip's frame rate.

A body moves its center of mass only by pushing against what it stands on. The point at which the push acts, the zero
moment point (Vukobratovic 1969), lies below the center of mass if that is at rest, and farther to the side the more it
accelerates. It cannot leave the area between the feet. Accelerations grow with the square of the frame rate: at twice
the true rate of a recording, the point is outside most of the time, whatever the person does.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.core.kinematics import World
from marey.core.skeleton import Skeleton
from marey.errors import MareyError
from marey.io.recognize import STATURE, stature
from marey.maths import filters
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

_GRAVITY = 9.81
# Seconds: standard deviation of the Gaussian by which the path of the center of mass is smoothed.
_SMOOTH = 0.04
# Meters for a body of usual height. Points this close to the height of the lowest one support the body; soles, others.
_SUPPORT, _SUPPORT_BODY = 0.06, 0.12
# Meters: the center of mass of a body that stands is at least this high. Meters per second squared: a body whose weight
# is less than this is about to fly.
_STANDING, _LIGHT = 0.5, 4.0
# Number of directions in which the area of support is bounded.
_N_DIRECTIONS = 16
# Frames that are enough for a median, spread over the clip.
_ENOUGH = 200
# Seconds of standing that are needed; fraction of the clip.
_MIN_SECONDS, _MIN_FRACTION = 1.5, 0.25
# Meters by which the point is usually outside if the rate is wrong; fraction of that at half the rate.
_OUTSIDE, _BETTER = 0.09, 0.4


def find_center_of_mass(skeleton: Skeleton, world: World) -> Floats:
    """Return the path (F, 3) of the center of mass in meters, from the masses of body segments."""
    roles, total, mass = skeleton.roles, np.zeros((len(world.positions), 3)), 0.0
    for start, stop, fraction, at in _SEGMENTS:
        a, b = roles.get(start), roles.get(stop)
        if a is None:
            continue
        # If the skeleton has no joint at the distal end, use the proximal end.
        first, last = world.positions[:, a], world.positions[:, a if b is None else b]
        total += fraction * (first + at * (last - first))
        mass += fraction
    return np.asarray(total / mass) if mass > 0.0 else world.positions[:, roles["hips"]]


def is_unsupported(subject: Subject) -> bool:
    """Return whether the feet cannot support the movements of the body at the clip's frame rate, but at half that rate.

    This shows a wrong frame rate. It needs no gait, but a body that stands on its feet for a while.
    """
    try:
        contacts, _ = subject.foot_contacts
    except MareyError:
        return False
    standing: Bools = np.array(contacts.mask.any(axis=1))
    fps, size = subject.motion.fps, (stature(subject.motion.skeleton) or STATURE) / STATURE
    for glitch in subject.glitches:
        standing[max(glitch.start - 1, 0) : glitch.stop + 1] = False
    if len(subject.motion) < 4 or standing.sum() < max(_MIN_SECONDS * fps, _MIN_FRACTION * len(standing)):
        return False
    points = np.concatenate([subject.paths(contacts.points), subject.positions], axis=1)
    lowest = points[:, : len(contacts.points), 1].min(axis=1)
    reach = np.full(points.shape[1], _SUPPORT_BODY * size)
    reach[: len(contacts.points)] = _SUPPORT * size
    supports: Bools = points[:, :, 1] < lowest[:, None] + reach
    center = filters.gaussian(find_center_of_mass(subject.motion.skeleton, subject.world), _SMOOTH * fps)
    outside, halved = (
        _measure_outside(center, points[:, :, [0, 2]], supports, lowest, standing, rate, size)
        for rate in (fps, 0.5 * fps)
    )
    if outside is None or halved is None:
        return False
    return outside > _OUTSIDE * size and halved < _BETTER * outside


def _measure_outside(
    center: Floats, points: Floats, supports: Bools, lowest: Floats, standing: Bools, fps: float, size: float
) -> float | None:
    """Return the median distance in meters by which the zero moment point is outside the area of support.

    It is negative inside. None if the body does not stand on its feet for long enough.
    """
    push = np.gradient(np.gradient(center, axis=0), axis=0) * fps**2
    height, weight = center[:, 1] - lowest, _GRAVITY + push[:, 1]
    frames = np.flatnonzero(standing & (weight > _LIGHT) & (height > _STANDING * size))
    if len(frames) < _MIN_SECONDS * fps:
        return None
    frames = frames[:: max(len(frames) // _ENOUGH, 1)]
    lever = (height[frames] / weight[frames])[:, None]
    point = center[frames][:, [0, 2]] - lever * push[frames][:, [0, 2]]
    distance = np.full(len(frames), -np.inf)
    for angle in np.linspace(0.0, 2.0 * np.pi, _N_DIRECTIONS, endpoint=False):
        direction = np.array([np.cos(angle), np.sin(angle)])
        edge = np.where(supports[frames], points[frames] @ direction, -np.inf).max(axis=1)
        np.maximum(distance, point @ direction - edge, out=distance)
    ordered, n = np.sort(distance), len(distance)  # np.median would import numpy.ma, which takes longer
    return float(0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]))
