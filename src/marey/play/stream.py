"""Base classes of live streams: each is a source of frames that holds its own player."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from marey.core.contacts import ContactPoint
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.deprecation import renamed_parameters
from marey.play.frames import SourceFrame, take_frame
from marey.play.player import Player

__all__ = ["LockedStream", "PlayedStream", "WrappedStream"]


class PlayedStream(ABC):
    """Base class of live streams. Subclasses define `next_frame` and `request`, and set `player` to ``Player(self)``.

    Parameters
    ----------
    skeleton, fps, points, floor : what the frames are; see `marey.play.FrameSource`.

    Examples
    --------
    >>> from marey.play import PlayedStream, Player, take_frame
    >>> class Film(PlayedStream):
    ...     def __init__(self, motion):
    ...         super().__init__(motion.skeleton, motion.fps, motion.contacts.points, 0.0)
    ...         self.frames = (take_frame(motion, i) for i in range(len(motion)))
    ...         self.player = Player(self, feet=None)
    ...
    ...     def request(self, **command):
    ...         pass
    ...
    ...     def next_frame(self):
    ...         return next(self.frames)
    >>> len(Film(walk).record(2.0))
    120
    """

    player: Player
    input_delay = 0.0
    """Delay of the frames of `next_frame` in seconds; above 0 only if they come from another stream."""

    def __init__(self, skeleton: Skeleton, fps: float, points: tuple[ContactPoint, ...], floor: float | None) -> None:
        self.skeleton, self.fps, self.points, self.floor = skeleton, fps, points, floor

    @property
    def delay(self) -> int:
        """Latency in frames; ``player.delay`` is the same in seconds."""
        return round(self.player.delay * self.fps)

    @abstractmethod
    def request(self, **command: Any) -> None:
        """Set what the character should do from now on."""

    @abstractmethod
    def next_frame(self) -> SourceFrame:
        """Return the next frame, before the player corrects the feet. Called by the player."""

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1 with contacts and labels."""
        return self.player.frame()

    def record(self, seconds: float | None = None, *, n_frames: int | None = None) -> Motion:
        """Return the next `seconds`, or the next `n_frames` frames, as one motion with contacts and labels."""
        return self.player.record(seconds, n_frames=n_frames)


class WrappedStream(PlayedStream):
    """Base class of streams that change the frames of another stream.

    Skeleton and contact points may be unknown before the first frame.

    Examples
    --------
    >>> from marey.play import Player, WrappedStream
    >>> class Lifted(WrappedStream):
    ...     def __init__(self, stream):
    ...         super().__init__(stream)
    ...         self.player = Player(self, feet=None)
    ...
    ...     def next_frame(self):
    ...         frame = super().next_frame()
    ...         return frame._replace(root=frame.root + [0.0, 0.1, 0.0])
    >>> len(Lifted(character.stream(marey.control.FollowDirection(0.0))).record(1.0))
    30
    """

    def __init__(self, stream: Stream) -> None:
        given = (getattr(stream, name, default) for name, default in (("points", ()), ("floor", None)))
        super().__init__(getattr(stream, "skeleton", None), stream.fps, *given)  # type: ignore[arg-type]
        self.stream = stream
        player = stream.player if isinstance(stream, PlayedStream) else None
        self.input_delay = getattr(stream, "delay", 0) / stream.fps if player is None else player.delay
        self.name = "" if player is None else player.name
        """Name of the stream's motions, unless the wrapped stream names them."""

    def request(self, **command: Any) -> None:
        """Pass a command to the stream."""
        self.stream.request(**command)

    def next_frame(self) -> SourceFrame:
        """Return the next frame of the stream."""
        stream = self.stream
        if isinstance(stream, PlayedStream):  # avoid building a motion of one frame only to take it apart
            frame = stream.player.next_frame()
            self.skeleton, self.points = stream.skeleton, stream.points
            return frame
        motion = stream.frame()
        self.skeleton = motion.skeleton
        if motion.contacts is not None:
            self.points = motion.contacts.points
        return take_frame(motion)


class LockedStream(WrappedStream):
    """A stream that locks the planted feet of another stream. Frames without contacts pass through unchanged.

    Parameters
    ----------
    stream : a stream whose frames have contacts.
    half_life, max_offset : seconds and meters; see `marey.clean.foot_lock.FootLock`.

    Examples
    --------
    >>> from marey.play import LockedStream
    >>> stream = LockedStream(character.stream(marey.control.FollowDirection(0.0), feet=None))
    >>> len(stream.record(1.0))
    30
    """

    @renamed_parameters(furthest="max_offset")
    def __init__(self, stream: Stream, *, half_life: float = 0.1, max_offset: float = 0.2) -> None:
        super().__init__(stream)
        self.player = Player(
            self, "lock", name=self.name, step={"op": "foot lock"}, half_life=half_life, max_offset=max_offset
        )
