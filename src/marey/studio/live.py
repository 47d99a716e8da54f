"""Live streams: send one frame at a time at a steady rate. If the page is slow, the oldest frames are dropped."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from marey.core.arrays import Floats
from marey.core.markers import Markers
from marey.errors import InvalidValue, MareyError
from marey.studio.frames import pack_live
from marey.studio.jobs import Cancelled
from marey.studio.messages import LiveEnded, LiveReport, LiveStarted
from marey.studio.motion_history import Recording, compute_world
from marey.studio.outbox import Outbox

MIN_RATE, MAX_RATE = 1.0, 240.0
# A stream that is late by more than this many seconds moves its schedule instead of sending faster to catch up.
_LATE = 0.25
# Number of echoes in the reported median round-trip time.
_ECHOES = 256
# Maximum number of frames of a motion to stream.
_MAX_LENGTH = 100_000

_log = logging.getLogger("marey.studio")


class LiveFrame(NamedTuple):
    """A pose in world coordinates: positions (J, 3) in meters, rotations (J, 4) wxyz, and optional extra data."""

    positions: Floats
    rotations: Floats
    info: Mapping[str, Any] | None = None


class LiveSource(Protocol):
    """A source of live frames. `frame` runs in the server's event loop, so it must take well under 2 ms."""

    joints: tuple[str, ...]
    parents: tuple[int, ...]

    def frame(self) -> LiveFrame | None:
        """Return the next frame; None ends the stream."""


class MotionPlayer:
    """Streams a motion in a loop, resampled to `rate` frames per second. Markers use the nearest frame."""

    def __init__(self, recording: Recording, rate: float) -> None:
        n_frames = int(recording.duration * check_rate(rate) + 1e-9) + 1
        if n_frames > _MAX_LENGTH:
            raise InvalidValue(
                f"expected at most {_MAX_LENGTH} frames to play live, got {n_frames}; choose a lower rate"
            )
        times = np.arange(n_frames) / rate
        if isinstance(recording, Markers):
            self.joints, self.parents = recording.names, (-1,) * len(recording.names)
            nearest = np.minimum(np.rint(times * recording.fps).astype(np.int64), len(recording) - 1)
            positions, rotations = compute_world(recording, 0, len(recording))
            self._positions, self._rotations = positions[nearest], rotations[nearest]
        else:
            self.joints, self.parents = recording.skeleton.names, tuple(recording.skeleton.parents.tolist())
            resampled = recording.at(np.minimum(times, recording.duration))
            self._positions, self._rotations = compute_world(resampled, 0, len(resampled))
        self._next = 0

    def frame(self) -> LiveFrame:
        """Return the next frame; after the last comes the first."""
        i = self._next % len(self._positions)
        self._next += 1
        return LiveFrame(self._positions[i], self._rotations[i])


class Live:
    """The live streams of one session. A new stream ends all others, except those in the `beside` argument of `start`.

    Preparing a source may take long. Take a ticket before preparing and pass it to `start`. If another ticket was taken
    or all streams were stopped in the meantime, `start` raises an error and does not end the current stream.
    """

    def __init__(self, outbox: Outbox, send_event: Callable[[LiveEnded], None]) -> None:
        self._outbox = outbox
        self._send_event = send_event
        self._stream = 0
        self._ticket = 0
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._echoes: deque[float] = deque(maxlen=_ECHOES)
        self._late = 0

    def take_ticket(self) -> int:
        """Return a ticket for `start`; it expires when the next one is taken."""
        self._ticket += 1
        return self._ticket

    @property
    def playing(self) -> tuple[int, ...]:
        """Numbers of the streams that play."""
        return tuple(number for number, task in self._tasks.items() if not task.done())

    def start(
        self, source: LiveSource, rate: float, ticket: int | None = None, beside: Collection[int] = ()
    ) -> LiveStarted:
        """Start streaming at `rate` frames per second; call it in the server's event loop.

        beside : numbers of streams that continue; all others end.

        A ticket that has expired raises `Cancelled`. Without a ticket, the stream always starts.
        """
        check_rate(rate)
        if ticket is not None and ticket != self._ticket:
            raise Cancelled("another stream was started in the meantime")
        self._ticket += 1
        self._end(set(self._tasks) - set(beside))
        self._stream += 1
        self._late = 0
        self._echoes.clear()
        self._outbox.sent_live = self._outbox.dropped_live = 0
        self._tasks[self._stream] = asyncio.get_running_loop().create_task(self._play(source, rate, self._stream))
        self._outbox.n_streams = len(self._tasks)
        return LiveStarted(self._stream, rate, source.joints, source.parents)

    def stop(self, stream: int | None = None) -> None:
        """Stop a stream if it is still playing. Without a number, stop any stream, including those being prepared."""
        if stream is None:
            self._ticket += 1
        self._end(set(self._tasks) if stream is None else {stream} & set(self._tasks))

    def _end(self, streams: Collection[int]) -> None:
        for stream in streams:
            self._tasks.pop(stream).cancel()
        self._outbox.n_streams = max(1, len(self._tasks))
        if streams:
            self._outbox.drop_live()

    def record_echo(self, stream: int, frame: int, sent: float) -> None:
        """Record that the page has shown `frame`, which was sent at `sent` (seconds since 1970)."""
        trip = time.time() - sent
        if stream == self._stream and frame >= 0 and 0.0 <= trip < 60.0:
            self._echoes.append(trip)

    def report(self) -> LiveReport:
        """Return the statistics of the current stream."""
        trip = 1000.0 * statistics.median(self._echoes) if self._echoes else None
        return LiveReport(self._stream, self._outbox.sent_live, self._outbox.dropped_live, self._late, trip)

    async def _play(self, source: LiveSource, rate: float, stream: int) -> None:
        """Send frames on time; pause while no page is connected."""
        error, frame = "", 0
        try:
            loop = asyncio.get_running_loop()
            begin = loop.time()
            while True:
                if not self._outbox.is_attached:
                    await self._outbox.wait_attached()
                    begin = loop.time() - frame / rate
                wait = begin + frame / rate - loop.time()
                await asyncio.sleep(max(wait, 0.0))
                if wait < -_LATE:
                    self._late += int(-wait * rate)
                    begin = loop.time() - frame / rate
                frame_data = source.frame()
                if frame_data is None:
                    break
                self._outbox.put_live(
                    pack_live(
                        frame_data.positions,
                        frame_data.rotations,
                        stream=stream,
                        frame=frame,
                        sent=time.time(),
                        info=frame_data.info,
                    )
                )
                frame += 1
        except asyncio.CancelledError:
            raise
        except Exception as problem:
            if not isinstance(problem, MareyError):
                _log.exception("a live stream failed at frame %d", frame)
            error = f"{type(problem).__name__}: {problem}"
        self._send_event(LiveEnded(stream, error))


def check_rate(rate: float) -> float:
    """Check a stream's rate, in frames per second, and return it."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise InvalidValue(f"expected {MIN_RATE:g} to {MAX_RATE:g} frames per second, got {rate:g}")
    return rate
