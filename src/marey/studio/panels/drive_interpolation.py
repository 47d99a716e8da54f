"""Interpolate streams with low frame rates for smooth display.

Separate from `drive_source`, which knows the studio's characters: this needs only a stream.
"""

from __future__ import annotations

import math

from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.maths import quat
from marey.play import SourceFrame, take_frame

# Streams below this rate (frames per second) are interpolated.
MIN_FPS = 60.0


class InterpolatedStream:
    """The frames of a stream, interpolated to `times` its rate, at least 60 per second.

    fps : frames per second.
    delay : seconds of delay, in addition to the stream's own; less than one frame of the stream.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.times = max(1, math.ceil(MIN_FPS / stream.fps - 1e-6))
        self.fps = stream.fps * self.times
        self.delay = (self.times - 1) / self.fps
        first = stream.frame()
        self.skeleton = first.skeleton
        self._last = _take(first)
        self._next: SourceFrame | None = self._last
        self._step = 0

    def frame(self) -> SourceFrame:
        """Return the next frame. Contacts and labels in between are those of the frame before."""
        step, self._step = self._step, (self._step + 1) % self.times
        if self._next is None:
            self._next = _take(self._stream.frame())
        if step:
            return self._interpolate(self._last, self._next, step / self.times)
        self._last, self._next = self._next, None
        return self._last

    def _interpolate(self, last: SourceFrame, after: SourceFrame, alpha: float) -> SourceFrame:
        bones = None
        if last.bones is not None or after.bones is not None:
            own = self.skeleton.offsets
            a, b = (own if frame.bones is None else frame.bones for frame in (last, after))
            bones = a + alpha * (b - a)
        root = last.root + alpha * (after.root - last.root)
        return last._replace(root=root, rotations=quat.slerp(last.rotations, after.rotations, alpha), bones=bones)


def _take(motion: Motion) -> SourceFrame:
    return take_frame(motion)._replace(origin=None)
