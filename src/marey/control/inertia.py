"""Inertialization: a player jumps between frames of its clips, and the pose offset of each jump decays.

The offset from the new frame to the pose on screen starts with the difference of their velocities, so pose and velocity
are continuous (Bollo 2017). It then follows a critically damped spring (Holden 2018). The player reads only one clip at
a time and can jump again at any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marey.control.inertia_kernels import MovingFrame, PlacedPose, decay, extrapolate, place_pose, rebase
from marey.control.inertia_reel import Reel
from marey.core.arrays import Floats, check_index, check_number, freeze_array, set_readonly
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.play import SourceFrame

__all__ = ["InertialPlayer", "accept_old_feet"]

P = ParamSpec("P")
R = TypeVar("R")


class InertialPlayer:
    """Plays the frames of a reel in order and jumps between them without a visible discontinuity.

    Parameters
    ----------
    reel : the clips to play.
    half_life : seconds in which an offset that starts at rest roughly halves.
    row : row of the reel to start at.
    place : rigid2d (theta, x, z) that places the clip in the world; by default the character starts at the origin,
        facing +Z.
    """

    def __init__(self, reel: Reel, *, half_life: float = 0.1, row: int = 0, place: ArrayLike | None = None) -> None:
        self.reel = reel
        self._y = 2.0 * math.log(2.0) / check_number(half_life, "half_life in seconds", above=True)
        self.row = check_index(row, "row", len(self.reel))
        self.place = (
            set_readonly(rigid2d.invert(reel.ground[self.row])) if place is None else freeze_array(place, "place", (3,))
        )
        self._enter_clip()
        n = len(reel.skeleton)
        self._x, self._v = np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
        # Bone offsets change little and slowly, so their difference starts at rest.
        self._longer, self._longer_rate = np.zeros((n, 3)), np.zeros((n, 3))
        self._pose = self._read(reel.root[self.row], reel.rotations[self.row], self._x)

    @property
    def ground(self) -> Floats:
        """Heading and position of the character in the current frame, (3,) rigid2d in the world."""
        return rigid2d.compose(self.place, self.reel.ground[self.row])

    @property
    def heading(self) -> float:
        """Current heading in radians from +Z."""
        return float(self.place[0] + self.reel.ground[self.row, 0])

    @property
    def remaining(self) -> int:
        """Number of frames left in the current clip."""
        return self._last_row - self.row

    @property
    def offset(self) -> tuple[Floats, Floats]:
        """Copies of the pose offset and its velocity, each (J + 1, 3).

        Row 0 is the root position in meters, the other rows are rotation vectors of the joints in radians.
        """
        return self._x.copy(), self._v.copy()

    def get_frame(self) -> SourceFrame:
        """Return the current frame."""
        return SourceFrame(*self._pose, self.reel.contacts[self.row], self._bones(), self._labels)

    def step(self) -> SourceFrame:
        """Advance by one frame and return it; raise an error at the end of a clip."""
        if not self.remaining:
            raise InvalidValue(f"clip {self._labels[0]!r} has ended; jump to another frame first")
        self.row += 1
        decay(self._x, self._v, self._y, 1.0 / self.reel.fps)
        if self.reel.bones is not None:
            decay(self._longer, self._longer_rate, self._y, 1.0 / self.reel.fps)
        self._pose = self._read(self.reel.root[self.row], self.reel.rotations[self.row], self._x)
        return self.get_frame()

    def jump(self, row: int, place: ArrayLike | None = None) -> None:
        """Jump to another row, which replaces the current frame.

        place : rigid2d that places the new clip in the world; by default the character keeps its position and heading.
        """
        reel, to, dt = self.reel, check_index(row, "row", len(self.reel)), 1.0 / self.reel.fps
        # Extrapolate the current clip by one frame from its rates; this works even on its last frame.
        x, v = self.offset
        decay(x, v, self._y, dt)
        root, turned = np.empty(3), np.empty(self._pose.rotations.shape)
        at = self.row
        extrapolate(_make_moving_frame(reel, at), dt, root, turned)
        coming = self._read(set_readonly(root), set_readonly(turned), x)
        get_frame = self._bones()
        if reel.bones is not None and get_frame is not None:
            self._longer, self._longer_rate = get_frame - reel.bones[to], np.zeros_like(get_frame)
        given = None if place is None else freeze_array(place, "place", (3,))
        self.place = _place_over(self.place, reel.ground[at], reel.ground[to]) if given is None else given
        self.row = to
        self._enter_clip()
        rebase(_make_moving_frame(reel, to), self.place, self._pose, coming, reel.fps, self._x, self._v)

    def _enter_clip(self) -> None:
        """Store the last row and the label of the clip that contains the current row, because they are the same for all
        frames of the clip."""
        self._last_row = self.reel.last_row(self.row)
        self._labels = (self.reel.names[self.reel.find_clip(self.row)],)

    def _bones(self) -> Floats | None:
        return None if self.reel.bones is None else set_readonly(self.reel.bones[self.row] + self._longer)

    def _read(self, root: Floats, rotations: Floats, x: Floats) -> PlacedPose:
        out_root, out = np.empty(3), np.empty(rotations.shape)
        place_pose(root, rotations, self.place, x, out_root, out)
        return PlacedPose(set_readonly(out_root), set_readonly(out))


def _make_moving_frame(reel: Reel, row: int) -> MovingFrame:
    return MovingFrame(reel.root[row], reel.root_rate[row], reel.rotations[row], reel.turn_rate[row])


def _place_over(place: Floats, ground: Floats, other: Floats) -> Floats:
    """Return the rigid2d (3,) that moves a frame at `other` to where `place` moves a frame at `ground`."""
    theta, x0, z0 = place.tolist()
    a, x, z = ground.tolist()
    b, u, w = other.tolist()
    turn = math.remainder(theta + a - b, 2.0 * math.pi)
    c, s, co, si = math.cos(theta), math.sin(theta), math.cos(turn), math.sin(turn)
    return set_readonly(np.array([turn, c * x + s * z + x0 - co * u - si * w, c * z - s * x + z0 - co * w + si * u]))


def accept_old_feet(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a constructor to accept the old parameters clean= and lock= instead of feet=."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if "clean" in kwargs or "lock" in kwargs:
            clean, lock = kwargs.pop("clean", False), kwargs.pop("lock", True)
            kwargs["feet"] = "clean" if clean else "lock" if lock else None
            warn_renamed(f"{function.__qualname__}(clean=, lock=)", "feet=")
        return function(*args, **kwargs)

    return call
