"""The player of live motion: everything between a source of frames and the screen."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from marey.clean.foot_lock import FootLock
from marey.clean.settings import CleanSettings
from marey.clean.stream import CleanStream, clean_stream
from marey.core.arrays import Bools, Floats, check_frame_count, check_index, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.feet import LiveFeet, check_feet
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.play.frames import SourceFrame, stack_frames

__all__ = ["FrameSource", "Player", "ReleasedPlant"]

# The largest number of frames cleaned together. More would save little time and make single frames late.
_MAX_TOGETHER = 16
# The largest number of released plants to remember.
_MAX_RELEASED = 1000


class ReleasedPlant(NamedTuple):
    """A plant that ends early, because the motion moves too far away from it.

    Attributes
    ----------
    point : name of the contact point.
    start : its first frame.
    stop : the first frame in which it is not held.
    """

    point: str
    start: int
    stop: int


class FrameSource(Protocol):
    """Protocol of a source, which only yields frames.

    skeleton : skeleton of the frames.
    fps : frames per second.
    points : the contact points whose flags come with each frame.
    floor : height of the floor in meters, or None if unknown.

    Examples
    --------
    >>> from marey.play import Player, take_frame
    >>> class Still:
    ...     skeleton, fps, points, floor = walk.skeleton, walk.fps, walk.contacts.points, 0.0
    ...
    ...     def next_frame(self):
    ...         return take_frame(walk, 0)
    >>> len(Player(Still(), feet=None).record(1.0))
    60
    """

    @property
    def skeleton(self) -> Skeleton: ...
    @property
    def fps(self) -> float: ...
    @property
    def points(self) -> tuple[ContactPoint, ...]: ...
    @property
    def floor(self) -> float | None: ...

    def next_frame(self) -> SourceFrame:
        """Return the next frame."""
        ...


class Player:
    """A player of a source, which keeps the signs of quaternions continuous, corrects the feet, and records.

    Parameters
    ----------
    source : yields the frames. If it has an attribute ``input_delay``, that many seconds are added to `delay`. If it
        has an attribute ``n_chosen``, the number of next frames that no command changes anymore, the cleanup takes
        these frames together, which is faster.
    feet : ``"clean"`` removes foot skate; frames then come out `delay` seconds after the source yielded them.
        ``"lock"`` locks planted feet at once by rotating the legs. ``"auto"`` is "clean" if `record` is called before
        any frame was taken, else "lock". None leaves the feet as they are.
    name : name of the motions, unless frames have an origin with a name.
    settings : settings of the cleanup for ``feet="clean"``.
    half_life, max_offset : seconds and meters for ``feet="lock"``; see `marey.clean.foot_lock.FootLock`.
    signs : (J, 4) quaternions whose signs the first frame follows; by default it keeps its own.
    step : the step of provenance that recordings get, with `feet` added; by default ``{"op": name}``.

    Attributes
    ----------
    released : the latest plants that ended early, because the motion moved too far away from them.

    Examples
    --------
    >>> from marey.play import Player, take_frame
    >>> class Film:
    ...     skeleton, fps, points, floor = walk.skeleton, walk.fps, walk.contacts.points, 0.0
    ...     frames = iter(range(len(walk)))
    ...
    ...     def next_frame(self):
    ...         return take_frame(walk, next(self.frames))
    >>> player = Player(Film(), feet="lock")
    >>> player.delay, len(player.record(2.0)), len(player.released)
    (0.0, 120, 0)
    """

    def __init__(
        self,
        source: FrameSource,
        feet: LiveFeet = "auto",
        *,
        name: str = "",
        settings: CleanSettings | None = None,
        half_life: float = 0.1,
        max_offset: float = 0.2,
        signs: Floats | None = None,
        step: Mapping[str, Any] | None = None,
    ) -> None:
        check_feet(feet, live=True)
        self.source, self.feet, self.name = source, feet, name
        self._half_life, self._max_offset = half_life, max_offset
        self._step = {"op": name} if step is None else dict(step)
        self._signs = signs
        # Frames that the cleanup has not returned yet, and finished ones.
        self._waiting: deque[SourceFrame] = deque()
        self._ready: deque[SourceFrame] = deque()
        self._lock: FootLock | None = None
        self._cleaner: CleanStream | None = None
        self._settings, self._is_open = settings, feet == "auto" or hasattr(source, "stream")
        # Number of returned frames with contacts, and the latest contacts; for each point, the start of its plant,
        # and whether it was released.
        self._n_frames = 0
        self._flags: bytes | None = None
        self._held = np.zeros(0, dtype=bool)
        self._plant_starts = np.zeros(0, dtype=np.int64)
        self._was_released = np.zeros(0, dtype=bool)
        self.released: deque[ReleasedPlant] = deque(maxlen=_MAX_RELEASED)
        self._set_up_feet()

    def _set_up_feet(self) -> None:
        source = self.source
        self._lock = self._make_lock() if self.feet == "lock" and source.points else None
        if self.feet == "clean" and source.points:
            floor, settings = 0.0 if source.floor is None else source.floor, self._settings
            self._cleaner = clean_stream(source.skeleton, source.fps, source.points, floor=floor, settings=settings)

    def _decide_feet(self, *, is_recording: bool) -> None:
        """Resolve the foot handling ``"auto"`` of this player and, if it plays a stream, of the stream's own player."""
        self._is_open = False
        inner = getattr(getattr(self.source, "stream", None), "player", None)
        if isinstance(inner, Player) and inner._is_open:
            inner._decide_feet(is_recording=is_recording)
            self.source.input_delay = inner.delay  # type: ignore[attr-defined]
        if self.feet == "auto":
            self.feet = "clean" if is_recording else "lock"
            self._set_up_feet()

    @property
    def recording_source(self) -> Source:
        """The source of recordings: the floor, and a step of provenance that names the stream and its foot handling."""
        return Source(floor=self.source.floor).with_step(**self._step, feet=self._find_feet())

    def _find_feet(self) -> str | None:
        """Return the foot handling in use, by this player or by the player of a wrapped stream."""
        inner = getattr(getattr(self.source, "stream", None), "player", None)
        return inner._find_feet() if self.feet is None and isinstance(inner, Player) else self.feet

    @property
    def delay(self) -> float:
        """Seconds from when the source yields a frame until `frame` returns it."""
        own = 0 if self._cleaner is None else self._cleaner.delay
        return own / self.source.fps + float(getattr(self.source, "input_delay", 0.0))

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1 with contacts and labels."""
        frame, source = self.next_frame(), self.source
        name, origin = (self.name, None) if frame.origin is None else (frame.origin.name, frame.origin.source)
        return stack_frames([frame], source.skeleton, source.fps, source.points, name=name, source=origin)

    def record(self, seconds: float | None = None, *, n_frames: int | None = None) -> Motion:
        """Return the next `seconds`, or the next `n_frames` frames, as one motion with contacts and labels."""
        n = _count_frames(seconds, n_frames, self.source.fps)
        if self._is_open:
            self._decide_feet(is_recording=True)
        n_joints = len(getattr(self.source, "skeleton", None) or ())  # streams written by users may not have it
        check_frame_count(n, n_joints, parameter="seconds", remedy="lower `seconds=`")
        frames, source = [self.next_frame() for _ in range(n)], self.source
        name = self.name if frames[0].origin is None else frames[0].origin.name
        origin = self.recording_source
        return stack_frames(frames, source.skeleton, source.fps, source.points, name=name, source=origin)

    def next_frame(self) -> SourceFrame:
        """Return the next frame, as `frame` does, but not as a motion."""
        if self._is_open:
            self._decide_feet(is_recording=False)
        if self._cleaner is None:
            return self._lock_feet(self._pull())
        while not self._ready:
            frames = [self._pull()]
            while len(frames) < _MAX_TOGETHER and getattr(self.source, "n_chosen", 0) > 0:
                frames.append(self._pull())
            self._waiting += frames
            for _, root, rotations, bones, released in self._cleaner.push(*self._stack(frames)):
                _, _, contacts, _, labels, origin = self._waiting.popleft()
                contacts = self._end_plants(contacts, released)
                cleaned = (set_readonly(root), set_readonly(rotations), contacts, set_readonly(bones), labels, origin)
                self._ready.append(SourceFrame(*cleaned))
        return self._ready.popleft()

    def _stack(self, frames: list[SourceFrame]) -> tuple[Floats, Floats, Bools, Floats | None]:
        """Return root positions, rotations, contact flags and bone offsets, as the cleanup takes them."""
        roots, rotations, contacts, bones, _, _ = zip(*frames, strict=True)
        none = np.zeros(len(self.source.points), dtype=bool)
        offsets = None
        if any(each is not None for each in bones):
            offsets = np.array([self.source.skeleton.offsets if each is None else each for each in bones])
        flags = np.array([none if each is None else each for each in contacts])
        return np.array(roots), np.array(rotations), flags, offsets

    def _pull(self) -> SourceFrame:
        """Return the next frame of the source, with the signs of the previous frame.

        q and -q are the same rotation, but to the filters of the cleanup a change of sign is a jump.
        """
        frame = self.source.next_frame()
        if self._signs is not None:
            dots = np.einsum("jk,jk->j", frame.rotations, self._signs)
            if min(dots.tolist()) < 0.0:
                rotations = np.where(dots[:, None] < 0.0, -frame.rotations, frame.rotations)
                frame = frame._replace(rotations=set_readonly(rotations))
        self._signs = frame.rotations
        return frame

    def _lock_feet(self, frame: SourceFrame) -> SourceFrame:
        if self.feet != "lock" or frame.contacts is None or not self.source.points:
            return frame
        if self._lock is None:  # a source that wraps a stream learns its points from the first frame
            self._lock = self._make_lock()
        rotations = self._lock(frame.root, frame.rotations, frame.contacts, frame.bones)
        return frame._replace(rotations=rotations, contacts=self._end_plants(frame.contacts, self._lock.dragged))

    def _make_lock(self) -> FootLock:
        source = self.source
        return FootLock(
            source.skeleton, source.fps, source.points, half_life=self._half_life, max_offset=self._max_offset
        )

    def _end_plants(self, contacts: Bools | None, released: Bools) -> Bools | None:
        """Return the contacts (K,) of a frame without the points that are `released`, and add the plants that end
        thereby to `self.released`."""
        if contacts is None:
            return None
        flags = contacts.tobytes()
        if flags != self._flags:  # plants begin or end
            if self._flags is None:
                self._held = self._was_released = np.zeros(len(contacts), dtype=bool)
                self._plant_starts = np.zeros(len(contacts), dtype=np.int64)
            self._plant_starts[contacts & ~self._held] = self._n_frames
            self._held, self._was_released, self._flags = contacts, self._was_released & contacts, flags
        self._n_frames += 1
        if not released.any():
            return contacts
        ended = contacts & released
        for k in np.flatnonzero(ended & ~self._was_released).tolist():
            plant = ReleasedPlant(self.source.points[k].name, int(self._plant_starts[k]), self._n_frames - 1)
            self.released.append(plant)
        self._was_released = self._was_released | ended
        return set_readonly(contacts & ~released) if ended.any() else contacts


def _count_frames(seconds: float | None, n_frames: int | None, fps: float) -> int:
    if (seconds is None) == (n_frames is None):
        given = "neither" if seconds is None else "both"
        raise InvalidValue(f"pass either `seconds=` or `n_frames=` to record, not {given}")
    if seconds is not None:
        if not math.isfinite(seconds) or seconds * fps < 0.5:
            raise InvalidValue(f"seconds must be finite and at least one frame, not {seconds:g} s")
        return max(1, round(seconds * fps))
    count = check_index(n_frames, "n_frames")
    if count < 1:
        raise InvalidValue(f"n_frames must be at least 1, not {n_frames}")
    return count
