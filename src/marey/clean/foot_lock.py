"""Foot lock: planted feet stay where they are, immediately and without lookahead.

Use it for streams that must respond immediately. While a point of a foot is planted, the ankle is moved along the floor
to keep that point still; after liftoff, the ankle's offset decays. A foot that would have to move too far is dragged
along, no farther than necessary: releasing it would make it slide all the way back. `marey.clean_stream` gives better
results, with a delay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.foot_lock_kernels import (
    LockedLegs,
    LockPoints,
    LockSettings,
    LockState,
    hold_feet,
    measure_speeds,
    move_ankles,
)
from marey.clean.limbs import find_limbs
from marey.clean.settings import ContactSettings
from marey.core.arrays import Bools, Floats, check_number, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.kinematics import pose_world
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_parameters

__all__ = ["FootLock"]

# Knee angle in radians above which rotations are damped; this keeps a nearly straight leg from popping (Kovar 3.14).
_DAMPING = math.radians(170.0)
# Speed in m/s above which a point does not count as planted: that of contact detection.
_GLIDE = ContactSettings().enter_speed
# Relative rounding error of an offset.
_ROUNDING = 1e-9


class FootLock:
    """Keeps planted feet in place in a stream; call it once per frame, in order.

    Parameters
    ----------
    skeleton : the skeleton of the frames.
    fps : frames per second.
    points : the contact points whose flags come with each frame.
    half_life : seconds in which the ankle's offset halves after liftoff; 0.1 by default.
    max_offset : maximum distance to move an ankle, in meters; 0.2 by default.

    Examples
    --------
    >>> lock = marey.control.FootLock(walk.skeleton, walk.fps, walk.contacts.points)
    >>> locked = lock(walk.root_positions[0], walk.rotations[0], walk.contacts.mask[0])
    >>> locked.shape  # local rotations
    (27, 4)
    """

    @renamed_parameters(furthest="max_offset")
    def __init__(
        self,
        skeleton: Skeleton,
        fps: float,
        points: Sequence[ContactPoint],
        *,
        half_life: float = 0.1,
        max_offset: float = 0.2,
    ) -> None:
        limbs = find_limbs(skeleton, points)
        feet = np.flatnonzero(limbs.table[:, layout.IS_FOOT] == 1)
        self._skeleton, self._n_points = skeleton, len(points)
        self._settings = LockSettings(
            stiffness=2.0 * math.log(2.0) / check_number(half_life, "half_life in seconds", above=True),
            dt=1.0 / fps,
            max_offset=check_number(max_offset, "max_offset in meters", above=True),
        )
        table = limbs.table[feet]
        self._points = LockPoints(
            joints=np.ascontiguousarray(table[:, [layout.POINT1, layout.POINT2]]),
            offsets=limbs.offsets[feet],
            columns=limbs.columns[feet],
        )
        self._legs = LockedLegs(
            parents=skeleton.parents,
            joints=np.ascontiguousarray(table[:, [layout.BASE, layout.MID, layout.END]]),
            hinges=limbs.hinges[feet],
        )
        n = len(feet)
        self._state = LockState(
            held=np.full(n, -1, dtype=np.int64),
            anchors=np.zeros((n, 3)),
            x=np.zeros((n, 3)),
            v=np.zeros((n, 3)),
            moved=np.zeros((n, 3)),
            planted=np.zeros((n, 2), dtype=bool),
            shown=np.zeros((n, 2, 3)),
            speeds=np.zeros((n, 2)),
        )

    @property
    def moved(self) -> Floats:
        """Offset (E, 3) of each of the E ankles in the last frame, in meters."""
        return self._state.x.copy()

    @property
    def dragged(self) -> Bools:
        """Which of the K points did not stay in place in the last frame.

        Their foot would have to move too far, their leg does not reach, or their foot still rotates.
        """
        state, columns = self._state, self._points.columns
        limit = (1.0 - _ROUNDING) * self._settings.max_offset
        # Plain floats take a third of the time of arrays of two limbs, and most frames end here.
        far = [
            held >= 0 and math.hypot(x, z) > limit for held, (x, _, z) in zip(state.held, state.x.tolist(), strict=True)
        ]
        out = np.zeros(self._n_points, dtype=bool)
        if any(far) or state.speeds.max(initial=0.0) > _GLIDE:
            out[columns[(np.array(far)[:, None] | (state.speeds > _GLIDE)) & (columns >= 0)]] = True
        return out

    def __call__(self, root: Floats, rotations: Floats, flags: Bools, bones: Floats | None = None) -> Floats:
        """Return the local rotations (J, 4) of a frame with its planted feet locked.

        root : (3,) root position in meters.
        rotations : (J, 4) local rotations.
        flags : (K,) True for points in contact.
        bones : (J, 3) bone offsets in meters, or None for the skeleton's own.
        """
        positions, world = pose_world(self._skeleton, root, rotations, bones)
        hold_feet(self._points, self._settings, flags, positions, world, self._state)
        out = rotations.copy()
        move_ankles(self._legs, self._state, _DAMPING, positions, world, out)
        measure_speeds(self._points, self._settings.dt, flags, positions, world, self._state)
        return set_readonly(out)
