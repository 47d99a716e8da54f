"""A wrapper that locks the planted feet of any stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from marey.clean.foot_lock import FootLock
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.deprecation import renamed_parameters

__all__ = ["FootLock", "LockedStream"]


class LockedStream:
    """Wraps a stream and locks its planted feet. Frames without contacts pass through unchanged.

    Parameters
    ----------
    stream : a stream whose frames have contacts. half_life, max_offset : seconds and meters; see `FootLock`.
    """

    @renamed_parameters(furthest="max_offset")
    def __init__(self, stream: Stream, *, half_life: float = 0.1, max_offset: float = 0.2) -> None:
        self.stream = stream
        self._half_life, self._max_offset = half_life, max_offset
        self._lock: FootLock | None = None

    @property
    def fps(self) -> float:
        """Frame rate: call `frame` this many times per second."""
        return self.stream.fps

    def request(self, **command: Any) -> None:
        """Pass a command to the stream."""
        self.stream.request(**command)

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1."""
        given = self.stream.frame()
        if given.contacts is None:
            return given
        if self._lock is None:
            self._lock = FootLock(
                given.skeleton, self.fps, given.contacts.points, half_life=self._half_life, max_offset=self._max_offset
            )
        bones = None if given.bone_offsets is None else given.bone_offsets[0]
        turned = self._lock(given.root_positions[0], given.rotations[0], given.contacts.mask[0], bones)
        return replace(given, rotations=turned[None])
