"""Match corresponding contacts of several motions (Kovar 5.2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.register.intervals import Interval, match_intervals

if TYPE_CHECKING:
    from marey.register.curves import TimewarpCurve


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintMatch(FrozenRecord):
    """Corresponding contacts, one in each of n motions, such as the same plant of the left heel.

    Parameters
    ----------
    point : name of the contact point.
    starts, stops : (n,) start and end of each motion's contact in u, the timewarp's parameter. They lie halfway between
        the last frame without and the first with contact, or at the ends of the curve. In a cyclic registration they
        are unwrapped so that the mean of the starts is in [0, 1): a contact across the seam ends above 1, and that of
        one motion may begin below 0.

    Examples
    --------
    >>> match = marey.register([walk, run]).matches[0]
    >>> match.starts.shape
    (2,)
    >>> start, stop = match.interval([0.5, 0.5])
    >>> start < stop
    True
    """

    point: str
    starts: Floats
    stops: Floats

    def __post_init__(self) -> None:
        self._freeze(starts=("n",), stops=("n",))
        if (self.stops < self.starts).any():
            raise InvalidValue(
                f"stops must not come before starts, but a contact of {self.point!r} ends before it begins"
            )

    def __len__(self) -> int:
        return len(self.starts)

    def interval(self, weights: ArrayLike) -> tuple[float, float]:
        """Compute (start, stop) in u of the blended contact for weights (n,) (Kovar 5.14)."""
        return float(np.dot(weights, self.starts)), float(np.dot(weights, self.stops))


def match_contacts(
    motions: Sequence[Motion], timewarp: TimewarpCurve
) -> tuple[tuple[ConstraintMatch, ...], tuple[str, ...]]:
    """Return the contacts that correspond in all motions, and notes on contacts that were dropped or split.

    Each contact point is matched separately. If any motion has no contacts, there are no matches.

    Parameters
    ----------
    timewarp : S(u) of these motions. If it is cyclic, they are loops, and a contact may cross the seam.

    Examples
    --------
    >>> from marey.register import match_contacts
    >>> curve = marey.register([walk, run])
    >>> matches, notes = match_contacts(curve.motions, curve.timewarp)
    >>> len(matches) == len(curve.matches)
    True
    """
    cyclic = timewarp.cyclic
    # Skip points that are missing in any motion.
    names = [() if motion.contacts is None else motion.contacts.names for motion in motions]
    matches: list[ConstraintMatch] = []
    notes: list[str] = []
    for point in dict.fromkeys(name for row in names for name in row):
        rows = [
            _convert_to_u(motion, motion.contacts.intervals(point), j, timewarp)
            if motion.contacts is not None and point in names[j]
            else []
            for j, motion in enumerate(motions)
        ]
        if cyclic:
            rows = _unroll_intervals(rows)
        found = match_intervals(rows)
        for group in found.groups:
            ends = np.array(group)
            if cyclic:
                ends -= np.floor(ends[:, 0].mean() + 1e-9)
            matches.append(ConstraintMatch(point, ends[:, 0], ends[:, 1]))
        for j, interval in found.dropped:
            if all(point in row for row in names):
                notes.append(
                    _describe_contact(motions[j], j, point, timewarp, interval, "has no counterpart and is dropped")
                )
        for j, gap in found.gaps:
            notes.append(
                _describe_contact(
                    motions[j],
                    j,
                    point,
                    timewarp,
                    gap,
                    "is split, because other motions lift the point there",
                    "across",
                )
            )
        lacking = [str(motions[j].name or j) for j, row in enumerate(names) if point not in row]
        if lacking and any(rows):
            notes.append(f"{point}: contacts are dropped, because {', '.join(map(repr, lacking))} has no such point")
    return tuple(matches), tuple(notes)


def _convert_to_u(motion: Motion, spans: Sequence[tuple[int, int]], j: int, timewarp: TimewarpCurve) -> list[Interval]:
    """Convert the contact frames of motion j to u; in a loop, contacts that meet at the seam become one."""
    frames, n = list(spans), len(motion)
    if timewarp.cyclic:
        if frames == [(0, n)]:
            return [Interval(0.0, 1.0)]
        if len(frames) > 1 and frames[0][0] == 0 and frames[-1][1] == n:
            frames = [*frames[1:-1], (frames[-1][0], n + frames[0][1])]
    if not frames:
        return []
    seconds = (np.array(frames) - 0.5) / motion.fps
    if not timewarp.cyclic:
        first, last = timewarp(np.array([0.0, 1.0]))[:, j]
        seconds = seconds[(seconds[:, 1] > first) & (seconds[:, 0] < last)]
        seconds = np.clip(seconds, first, last)
    return [Interval(float(a), float(b)) for a, b in timewarp.inverse(j, seconds)]


def _unroll_intervals(rows: Sequence[Sequence[Interval]]) -> list[list[Interval]]:
    """Unroll intervals on a circle of length 1; the circle is cut where the fewest rows are in contact."""
    marks = sorted({end % 1.0 for row in rows for interval in row for end in interval})
    if not marks:
        return [list(row) for row in rows]
    gaps = [(a, b if b > a else b + 1.0) for a, b in zip(marks, [*marks[1:], marks[0]], strict=True)]

    def count_contacts(u: float) -> int:
        return sum((u - interval.start) % 1.0 < interval.stop - interval.start for row in rows for interval in row)

    # Among ranges with equally few rows in contact, take the longest.
    cut = min((count_contacts(0.5 * (a + b)), a - b, 0.5 * (a + b)) for a, b in gaps)[2] % 1.0
    out = []
    for row in rows:
        rotated = []
        for start, stop in row:
            # An interval across the cut stays in one piece, on the side that contains its middle.
            shift = np.floor(0.5 * (start + stop) - cut)
            rotated.append(Interval(start - shift, stop - shift))
        out.append(sorted(rotated))
    return out


def _describe_contact(
    motion: Motion, j: int, point: str, timewarp: TimewarpCurve, interval: Interval, what: str, where: str = "from"
) -> str:
    a, b = timewarp(np.array(interval))[:, j]
    return f"{point}: the contact of {str(motion.name or j)!r} {where} {a:.2f} to {b:.2f} s {what}"
