"""Measure response times: from the request of a new direction until the character faces it."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

from marey.studio.panels.drive_messages import Way, WayFigures

# As in `marey.control.evaluate`: tolerance of the heading (radians), and seconds for which the heading must hold.
WITHIN, HOLD_SECONDS = math.radians(15.0), 0.25
# Requests that differ by less than `SAME` (radians) count as one. Seconds until a request counts as unanswered.
SAME, TIMEOUT = math.radians(10.0), 8.0
# Seconds that a request must last to count: until then, the user may still be moving the mouse, stick or camera.
SETTLED = 0.5
_REMEMBERED = 1_000


@dataclass(slots=True, eq=False)
class Record:
    """Response times of one controller, in seconds, and the total time driven."""

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    unanswered: int = 0

    def add(self, answer: float) -> None:
        """Add a response time in seconds."""
        self.answers.append(answer)
        del self.answers[:-_REMEMBERED]

    def summarize(self, way: Way) -> WayFigures:
        """Return the statistics for the page."""
        median = statistics.median(self.answers) if self.answers else None
        slowest = max(self.answers, default=None)
        return WayFigures(way, self.seconds, len(self.answers), self.unanswered, median, slowest)


class ResponseClock:
    """Measures the response to changes of direction, frame by frame.

    A drag or the sweep of a stick gives many requests, of which only the last counts: a request within `SETTLED`
    seconds of the previous one replaces it, and the replaced one does not count as unanswered. So the response time
    starts at the last change by more than `SAME`.
    """

    def __init__(self, fps: float, record: Record) -> None:
        self._step = 1.0 / fps
        self._record = record
        self._wanted: float | None = None
        self._waited: float | None = None
        self._facing = 0.0
        self._last: float | None = None
        self._lasted = 0.0
        self.answer: float | None = None

    @property
    def waiting(self) -> float | None:
        """Seconds since the pending request; None if no request is pending."""
        return self._waited

    def request(self, direction: float | None, heading: float) -> None:
        """Record that a character with this `heading` is requested to face `direction`, both in radians."""
        if direction is None:
            self._wanted = self._waited = self._last = None
            return
        is_steady = self._lasted >= SETTLED - 1e-9
        if direction != self._last:
            self._last, self._lasted = direction, 0.0
        if self._wanted is not None and abs(_wrap_angle(direction - self._wanted)) < SAME:
            return
        if self._waited is not None and is_steady:
            self._record.unanswered += 1
        self._wanted, self._facing = direction, 0.0
        # If the character already faces this direction, there is nothing to measure.
        self._waited = 0.0 if abs(_wrap_angle(direction - heading)) > WITHIN else None

    def step(self, heading: float) -> None:
        """Advance by one frame, in which the character has this heading (radians)."""
        self._record.seconds += self._step
        self._lasted += self._step
        if self._waited is None or self._wanted is None:
            return
        self._waited += self._step
        self._facing = self._facing + self._step if abs(_wrap_angle(self._wanted - heading)) <= WITHIN else 0.0
        if self._facing >= HOLD_SECONDS - 1e-9:
            self.answer = max(self._waited - self._facing, 0.0)
            self._record.add(self.answer)
            self._waited = None
        elif self._waited > TIMEOUT:
            self._record.unanswered += 1
            self._waited = None


def _wrap_angle(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)
