"""How long a figure takes to answer: from the wish for another direction until it faces there."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

from marey.studio.panels.drive_messages import Way, WayFigures

# As `marey.control.trials` has it: radians within which it faces where it should, and seconds for which it has to.
WITHIN, LONG = math.radians(15.0), 0.25
# A wish that differs by less is the same; radians. After so many seconds it counts as not answered.
SAME, LONGEST = math.radians(10.0), 8.0
# Seconds for which a wish has to last to be one: until then a hand, a stick or the camera is still on its way there.
SETTLED = 0.5
_REMEMBERED = 1_000


@dataclass(slots=True, eq=False)
class Record:
    """What one way has done so far."""

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    unanswered: int = 0

    def add(self, answer: float) -> None:
        """One more answer, in seconds."""
        self.answers.append(answer)
        del self.answers[:-_REMEMBERED]

    def told(self, way: Way) -> WayFigures:
        """As the page is told."""
        median = statistics.median(self.answers) if self.answers else None
        slowest = max(self.answers, default=None)
        return WayFigures(way, self.seconds, len(self.answers), self.unanswered, median, slowest)


class ResponseClock:
    """Takes the time of changes of direction, frame by frame.

    A drag or the sweep of a stick gives many wishes, of which the last is meant: one that follows within `SETTLED`
    seconds of the one before, however little they differ, takes its place, and nothing was given up. So the time of
    a turn counts from the last change of the wish, by more than `SAME`, before it lasted.
    """

    def __init__(self, fps: float, record: Record) -> None:
        self._step = 1.0 / fps
        self._record = record
        self._wish: float | None = None
        self._waited: float | None = None
        self._facing = 0.0
        self._last: float | None = None
        self._lasted = 0.0
        self.answer: float | None = None

    @property
    def waiting(self) -> float | None:
        """Seconds since a wish that is not answered yet."""
        return self._waited

    def ask(self, direction: float | None, heading: float) -> None:
        """A wish, in radians, of a figure that faces `heading`."""
        if direction is None:
            self._wish = self._waited = self._last = None
            return
        settled = self._lasted >= SETTLED - 1e-9
        if direction != self._last:
            self._last, self._lasted = direction, 0.0
        if self._wish is not None and abs(_turn(direction - self._wish)) < SAME:
            return
        if self._waited is not None and settled:
            self._record.unanswered += 1
        self._wish, self._facing = direction, 0.0
        # Whoever faces there already has nothing to answer.
        self._waited = 0.0 if abs(_turn(direction - heading)) > WITHIN else None

    def step(self, heading: float) -> None:
        """One frame on."""
        self._record.seconds += self._step
        self._lasted += self._step
        if self._waited is None or self._wish is None:
            return
        self._waited += self._step
        self._facing = self._facing + self._step if abs(_turn(self._wish - heading)) <= WITHIN else 0.0
        if self._facing >= LONG - 1e-9:
            self.answer = max(self._waited - self._facing, 0.0)
            self._record.add(self.answer)
            self._waited = None
        elif self._waited > LONGEST:
            self._record.unanswered += 1
            self._waited = None


def _turn(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)
