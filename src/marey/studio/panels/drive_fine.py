"""Streams with few frames per second, shown with as many as the eye wants."""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.maths import quat

# Frames per second below which frames are put between a stream's own.
LEAST = 60.0


class Pose(NamedTuple):
    """Root (3,), local rotations (J, 4), and bones (J, 3) where they are not the skeleton's."""

    root: Floats
    rotations: Floats
    bones: Floats | None


class Fine:
    """The poses of a stream, `times` as often as it makes them; where that is more than once, up to a frame late.

    fps : poses per second. delay : seconds by which they are late, beside the stream's own delay.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.times = max(1, math.ceil(LEAST / stream.fps - 1e-6))
        self.fps = stream.fps * self.times
        self.delay = (self.times - 1) / self.fps
        first = stream.frame()
        self.skeleton: Skeleton = first.skeleton
        self._last = _pose(first)
        self._next: Pose | None = self._last
        self._step = 0

    def pose(self) -> Pose:
        """The next one."""
        step, self._step = self._step, (self._step + 1) % self.times
        if self._next is None:
            self._next = _pose(self._stream.frame())
        if step:
            return self._between(self._last, self._next, step / self.times)
        self._last, self._next = self._next, None
        return self._last

    def _between(self, last: Pose, after: Pose, share: float) -> Pose:
        bones = None
        if last.bones is not None or after.bones is not None:
            own = self.skeleton.offsets
            a, b = (own if pose.bones is None else pose.bones for pose in (last, after))
            bones = a + share * (b - a)
        root = last.root + share * (after.root - last.root)
        return Pose(root, quat.slerp(last.rotations, after.rotations, share), bones)


def _pose(frame: Motion) -> Pose:
    bones = None if frame.bone_offsets is None else frame.bone_offsets[0]
    return Pose(frame.root_positions[0], frame.rotations[0], bones)
