"""Live streams: one frame at a time, at a steady rate, to whoever watches; the newest frame wins."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from marey.core.arrays import Floats
from marey.core.markers import Markers
from marey.errors import InvalidValue, MareyError
from marey.studio.frames import pack_live
from marey.studio.jobs import Cancelled
from marey.studio.messages import LiveEnded, LiveReport, LiveStarted
from marey.studio.motions import Figure, world_of
from marey.studio.outbox import Outbox

LOWEST_RATE, HIGHEST_RATE = 1.0, 240.0
# A stream that is later than this, in seconds, leaves out what it has missed rather than hurry after it.
_LATE = 0.25
# Echoes whose median is reported.
_ECHOES = 256
# Longest motion that is played as a stream, in frames of the stream.
_LONGEST = 100_000

_log = logging.getLogger("marey.studio")


class LiveFrame(NamedTuple):
    """A pose in the world: positions (J, 3) metres, rotations (J, 4) wxyz, and what else there is to tell of it."""

    positions: Floats
    rotations: Floats
    told: Mapping[str, Any] | None = None


class LiveSource(Protocol):
    """What plays live. `frame` is called in the server's loop and has to be quick: well under 2 ms."""

    joints: tuple[str, ...]
    parents: tuple[int, ...]

    def frame(self) -> LiveFrame | None:
        """The next frame, or None at the end."""


class MotionPlayer:
    """A motion as a stream, at any rate, over and over."""

    def __init__(self, figure: Figure, rate: float) -> None:
        n_frames = int(figure.duration * check_rate(rate) + 1e-9) + 1
        if n_frames > _LONGEST:
            raise InvalidValue(f"up to {_LONGEST} frames are played live, got {n_frames}; choose a lower rate")
        times = np.arange(n_frames) / rate
        if isinstance(figure, Markers):
            self.joints, self.parents = figure.names, (-1,) * len(figure.names)
            nearest = np.minimum(np.rint(times * figure.fps).astype(np.int64), len(figure) - 1)
            positions, rotations = world_of(figure, 0, len(figure))
            self._positions, self._rotations = positions[nearest], rotations[nearest]
        else:
            self.joints, self.parents = figure.skeleton.names, tuple(figure.skeleton.parents.tolist())
            resampled = figure.at(np.minimum(times, figure.duration))
            self._positions, self._rotations = world_of(resampled, 0, len(resampled))
        self._next = 0

    def frame(self) -> LiveFrame:
        """The next frame; the first after the last."""
        i = self._next % len(self._positions)
        self._next += 1
        return LiveFrame(self._positions[i], self._rotations[i])


class Live:
    """The live stream of one session; a new one ends the one before.

    What is to be streamed may take long to make ready. Whoever begins to asks for a `turn`, and gives it to `start`:
    where another has asked since, or everything was stopped, it comes too late and must not end what plays.
    """

    def __init__(self, outbox: Outbox, tell: Callable[[LiveEnded], None]) -> None:
        self._outbox = outbox
        self._tell = tell
        self._stream = 0
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._echoes: deque[float] = deque(maxlen=_ECHOES)
        self._late = 0

    def turn(self) -> int:
        """A number for `start`, which is of no use once another has asked for one."""
        self._turn += 1
        return self._turn

    def start(self, source: LiveSource, rate: float, turn: int | None = None) -> LiveStarted:
        """Begin to stream; called in the server's loop. Without a turn it is whoever calls whose turn it is."""
        check_rate(rate)
        if turn is not None and turn != self._turn:
            raise Cancelled("something else was asked to play meanwhile")
        self._turn += 1
        self._end()
        self._stream += 1
        self._late = 0
        self._echoes.clear()
        self._outbox.sent_live = self._outbox.dropped_live = 0
        self._task = asyncio.get_running_loop().create_task(self._play(source, rate, self._stream))
        return LiveStarted(self._stream, rate, source.joints, source.parents)

    def stop(self, stream: int | None = None) -> None:
        """End a stream, if it still plays; without a number whatever plays, and whatever is made ready to."""
        if stream is None:
            self._turn += 1
        if stream in (None, self._stream):
            self._end()

    def _end(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        self._outbox.drop_live()

    def echoed(self, stream: int, frame: int, sent: float) -> None:
        """The page has shown `frame`, which was sent at `sent` (seconds since 1970)."""
        trip = time.time() - sent
        if stream == self._stream and frame >= 0 and 0.0 <= trip < 60.0:
            self._echoes.append(trip)

    def report(self) -> LiveReport:
        """How the stream does."""
        trip = 1000.0 * statistics.median(self._echoes) if self._echoes else None
        return LiveReport(self._stream, self._outbox.sent_live, self._outbox.dropped_live, self._late, trip)

    async def _play(self, source: LiveSource, rate: float, stream: int) -> None:
        """Frames at their times; while no page is there, the stream stands still."""
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
                made = source.frame()
                if made is None:
                    break
                self._outbox.put_live(
                    pack_live(
                        made.positions, made.rotations, stream=stream, frame=frame, sent=time.time(), told=made.told
                    )
                )
                frame += 1
        except asyncio.CancelledError:
            raise
        except Exception as problem:
            if not isinstance(problem, MareyError):
                _log.exception("a live stream failed at frame %d", frame)
            error = f"{type(problem).__name__}: {problem}"
        self._tell(LiveEnded(stream, error))


def check_rate(rate: float) -> float:
    """Frames per second of a stream."""
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise InvalidValue(f"expected {LOWEST_RATE:g} to {HIGHEST_RATE:g} frames per second, got {rate:g}")
    return rate
