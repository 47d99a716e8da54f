"""Interpolate streams with low frame rates for smooth display."""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.maths import quat

# Streams below this rate (frames per second) are interpolated.
MIN_FPS = 60.0


class Pose(NamedTuple):
    """A pose: root position (3,), local rotations (J, 4), and bone offsets (J, 3) if not those of the skeleton."""

    root: Floats
    rotations: Floats
    bones: Floats | None


class InterpolatedStream:
    """The poses of a stream, interpolated to `times` its rate, at least 60 per second.

    fps : poses per second.
    delay : seconds of delay, in addition to the stream's own; less than one frame of the stream.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.times = max(1, math.ceil(MIN_FPS / stream.fps - 1e-6))
        self.fps = stream.fps * self.times
        self.delay = (self.times - 1) / self.fps
        first = stream.frame()
        self.skeleton: Skeleton = first.skeleton
        self._last = _pose(first)
        self._next: Pose | None = self._last
        self._step = 0

    def pose(self) -> Pose:
        """Return the next pose."""
        step, self._step = self._step, (self._step + 1) % self.times
        if self._next is None:
            self._next = _pose(self._stream.frame())
        if step:
            return self._interpolate(self._last, self._next, step / self.times)
        self._last, self._next = self._next, None
        return self._last

    def _interpolate(self, last: Pose, after: Pose, alpha: float) -> Pose:
        bones = None
        if last.bones is not None or after.bones is not None:
            own = self.skeleton.offsets
            a, b = (own if pose.bones is None else pose.bones for pose in (last, after))
            bones = a + alpha * (b - a)
        root = last.root + alpha * (after.root - last.root)
        return Pose(root, quat.slerp(last.rotations, after.rotations, alpha), bones)


def _pose(frame: Motion) -> Pose:
    bones = None if frame.bone_offsets is None else frame.bone_offsets[0]
    return Pose(frame.root_positions[0], frame.rotations[0], bones)
