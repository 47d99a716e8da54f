"""Inertialization: a player jumps between frames of its clips, and the pose offset of each jump decays.

The offset from the new frame to the pose on screen starts with the difference of their velocities, so pose and velocity
are continuous (Bollo 2017). It then follows a critically damped spring (Holden 2018). The player reads only one clip at
a time and can jump again at any moment.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marey.control.inertia_kernels import MovingFrame, PlacedPose, decay, extrapolate, place_pose, rebase
from marey.control.inertia_lock import FootLock
from marey.control.inertia_reel import Reel
from marey.core.arrays import Bools, Floats, check_number, freeze_array, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.feet import Feet, check_feet
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue
from marey.maths import rigid2d

__all__ = ["FrameOutput", "FrameStream", "InertialPlayer", "OutputFrame", "accept_old_feet"]

P = ParamSpec("P")
R = TypeVar("R")


class OutputFrame(NamedTuple):
    """One frame as players pass it to their output.

    root : (3,) position of joint 0, meters. rotations : (J, 4) local rotations of J joints. flags : (K,) contact flags
    of K points. bones : (J, 3) bone offsets in meters if they change over time, else None.
    """

    root: Floats
    rotations: Floats
    flags: Bools
    bones: Floats | None = None


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
        self.row = self._check_row(row)
        self.place = (
            set_readonly(rigid2d.invert(reel.ground[self.row])) if place is None else freeze_array(place, "place", (3,))
        )
        n = len(reel.skeleton)
        self._x, self._v = np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
        # Bone offsets change little and slowly, so their difference starts at rest.
        self._longer, self._longer_rate = np.zeros((n, 3)), np.zeros((n, 3))
        self._side = reel.rotations[self.row]
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
        return self.reel.last_row(self.row) - self.row

    @property
    def offset(self) -> tuple[Floats, Floats]:
        """Copies of the pose offset and its velocity, each (J + 1, 3).

        Row 0 is the root position in meters, the other rows are rotation vectors of the joints in radians.
        """
        return self._x.copy(), self._v.copy()

    def shown(self) -> OutputFrame:
        """Return the current frame."""
        return OutputFrame(*self._pose, self.reel.contacts[self.row], self._bones())

    def step(self) -> OutputFrame:
        """Advance by one frame and return it; raise an error at the end of a clip."""
        if not self.remaining:
            name = self.reel.names[self.reel.find_clip(self.row)]
            raise InvalidValue(f"clip {name!r} has ended; jump to another frame first")
        self.row += 1
        decay(self._x, self._v, self._y, 1.0 / self.reel.fps)
        if self.reel.bones is not None:
            decay(self._longer, self._longer_rate, self._y, 1.0 / self.reel.fps)
        self._pose = self._read(self.reel.root[self.row], self.reel.rotations[self.row], self._x)
        return self.shown()

    def jump(self, row: int, place: ArrayLike | None = None) -> None:
        """Jump to another row, which replaces the current frame.

        place : rigid2d that places the new clip in the world; by default the character keeps its position and heading.
        """
        reel, to, dt = self.reel, self._check_row(row), 1.0 / self.reel.fps
        # Extrapolate the current clip by one frame from its rates; this works even on its last frame.
        x, v = self.offset
        decay(x, v, self._y, dt)
        root, turned = np.empty(3), np.empty(self._pose.rotations.shape)
        at = self.row
        extrapolate(_moving_frame(reel, at), dt, root, turned)
        coming = self._read(set_readonly(root), set_readonly(turned), x)
        shown = self._bones()
        if reel.bones is not None and shown is not None:
            self._longer, self._longer_rate = shown - reel.bones[to], np.zeros_like(shown)
        given = None if place is None else freeze_array(place, "place", (3,))
        self.place = _place_over(self.place, reel.ground[at], reel.ground[to]) if given is None else given
        self.row = to
        rebase(_moving_frame(reel, to), self.place, self._pose, coming, reel.fps, self._x, self._v)

    def _bones(self) -> Floats | None:
        return None if self.reel.bones is None else set_readonly(self.reel.bones[self.row] + self._longer)

    def _read(self, root: Floats, rotations: Floats, x: Floats) -> PlacedPose:
        out_root, out = np.empty(3), np.empty(rotations.shape)
        place_pose(root, rotations, self.place, x, self._side, out_root, out)
        self._side = set_readonly(out)
        return PlacedPose(set_readonly(out_root), self._side)

    def _check_row(self, row: int) -> int:
        if not 0 <= row < len(self.reel):
            raise InvalidValue(f"row must be from 0 to {len(self.reel) - 1}, not {row}")
        return int(row)


def _moving_frame(reel: Reel, row: int) -> MovingFrame:
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


class FrameOutput:
    """The output of a stream, with optional foot cleanup.

    Parameters
    ----------
    skeleton, fps : skeleton and frame rate of the frames. points : contact points. floor : floor height in meters.
    feet : ``"clean"`` cleans up foot contacts; frames then come out `delay` frames late. ``"lock"`` locks planted feet
        immediately. None leaves the feet as they are.
    name : name of the output motions.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        fps: float,
        points: Sequence[ContactPoint],
        *,
        floor: float,
        feet: Feet,
        name: str,
    ) -> None:
        self._skeleton, self._fps, self._points, self._name = skeleton, fps, tuple(points), name
        self._ready: deque[Motion] = deque()
        self._flags: deque[Bools] = deque()
        self._cleaner: Any = None
        check_feet(feet, live=True)
        self._lock = FootLock(skeleton, fps, self._points) if feet == "lock" and self._points else None
        if feet == "clean" and self._points:
            from marey.clean import clean_stream

            self._cleaner = clean_stream(skeleton, fps, self._points, floor=floor)

    @property
    def fps(self) -> float:
        """Frame rate of the output, in frames per second."""
        return self._fps

    @property
    def delay(self) -> int:
        """Frames of latency added by the foot cleanup."""
        return 0 if self._cleaner is None else int(self._cleaner.delay)

    def frame(self, make: Callable[[], OutputFrame]) -> Motion:
        """Return the next frame, a Motion of length 1. Calls `make` as often as needed to fill the cleanup window."""
        if self._cleaner is None:
            shown = make()
            if self._lock is not None:
                shown = shown._replace(rotations=self._lock(*shown))
            return self._make_motion(*shown)
        while not self._ready:
            shown = make()
            self._flags.append(shown.flags)
            for done in self._cleaner.push(*shown):
                self._ready.append(
                    self._make_motion(done.root_position, done.rotations, self._flags.popleft(), done.bone_offsets)
                )
        return self._ready.popleft()

    def _make_motion(self, root: Floats, rotations: Floats, flags: Bools, bones: Floats | None = None) -> Motion:
        return Motion(
            self._skeleton,
            set_readonly(root[None]),
            set_readonly(rotations[None]),
            self._fps,
            name=self._name,
            contacts=Contacts(self._points, set_readonly(flags[None])) if self._points else None,
            bone_offsets=None if bones is None else set_readonly(bones[None]),
        )


class FrameStream(ABC):
    """Base class of streams whose frames pass through a `FrameOutput`. Subclasses set `_output` and define `_next`."""

    _output: FrameOutput

    @property
    def fps(self) -> float:
        """Frame rate: call `frame` this many times per second."""
        return self._output.fps

    @property
    def delay(self) -> int:
        """Frames of latency added by the foot cleanup."""
        return self._output.delay

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1."""
        return self._output.frame(self._next)

    @abstractmethod
    def _next(self) -> OutputFrame:
        """Return the next frame, before cleanup or locking of the feet."""
