"""Which threshold to search with: the largest gap between the distances at which matches come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Floats, Ints, as_type, checked_index, settle
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult
from marey.find.search import Query, checked_overlap

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# Ends of a gap are at least this many times apart; below, the distances go on evenly.
_LEAST_RATIO = 1.25
# Of the distance to a figure that stands still, how far to look for the first match beyond it.
_FURTHER = 2.0
# Where nothing stands out, so much beyond the last match.
_BEYOND = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """A threshold that leaves out what is clearly further away, for a person to judge.

    threshold : metres, between the ends of the gap.
    n_matches : how many matches lie below it.
    gap : the distances on either side of it, the last of which may be `still`; the last match's twice where none
        stands out.
    distances : (n,) metres, rising: the threshold from which on each match is found, to the first beyond `still`.
    still : metres between the query and a figure that stands still.
    is_complete : whether these are all, or there were more than were looked at.
    """

    threshold: float
    n_matches: int
    gap: tuple[float, float]
    distances: Floats = field(repr=False)
    still: float
    is_complete: bool = True

    def __str__(self) -> str:
        if self.gap[0] == self.gap[1]:
            return f"{self.threshold:.4f} m takes in {self.n_matches} matches; no gap in their distances stands out"
        return (
            f"{self.threshold:.4f} m takes in {self.n_matches} matches up to {self.gap[0]:.4f} m; then comes nothing "
            f"before {self.gap[1]:.4f} m"
        )


def suggest(
    web: MatchWeb,
    clip: int | str | Motion,
    start: int | None = None,
    stop: int | None = None,
    *,
    overlap: tuple[float, float] = (0.8, 0.2),
    labels: str | Sequence[str] | None = None,
    most: int = 200,
) -> Suggestion:
    """A threshold for `search`, which never takes one by itself.

    As matches of matches count too, it goes by the threshold from which on each match is found at all, through
    whatever others. Of the gaps between these the one is taken that is largest in proportion, the more so the more
    matches lie below it; the threshold is the geometric mean of its ends. A match that is as far away as a figure that
    stands still says nothing, so that only gaps that begin below that distance count.

    Parameters
    ----------
    clip, start, stop, overlap, labels : as for `search`.
    most : matches to look at.
    """
    query = Query.of(web, clip, start, stop, labels)
    if checked_index(most, "most") < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    shares = checked_overlap(overlap)
    still = query.stillness()
    joined, has_more = query.joined(_FURTHER * still, shares, most, still)
    n_near = int(np.searchsorted(joined, still, side="right"))
    if n_near == 0:
        near = query.nearest(shares)
        rest = "there is nothing at all" if near is None else f"the nearest match is {near[1]:.4f} m away"
        raise NoResult(f"nothing is more like this query than a figure that stands still, at {still:.4f} m; {rest}")
    # Where nothing comes after the last match, standing still does.
    ends = joined if has_more or n_near < len(joined) else np.append(joined, still)
    at = largest_gap(ends)
    if at == len(ends):
        last = float(joined[n_near - 1])
        return Suggestion(_BEYOND * last, n_near, (last, last), joined, still, not has_more)
    low, high = float(ends[at - 1]), float(ends[at])
    return Suggestion(float(np.sqrt(low * high)), at, (low, high), joined, still, not has_more)


def largest_gap(distances: Floats) -> int:
    """How many of the rising distances (n,) lie before the gap that stands out most; all, if none does."""
    if len(distances) < 2:
        return len(distances)
    low, high = distances[:-1], distances[1:]
    many = np.arange(1, len(distances))
    weight = np.where(high >= _LEAST_RATIO * low, (1.0 - low / np.maximum(high, 1e-12)) * np.log1p(many), 0.0)
    at = int(np.argmax(weight))
    return at + 1 if weight[at] > 0.0 else len(distances)


def counts(
    web: MatchWeb,
    clip: int | str | Motion,
    start: int | None,
    stop: int | None,
    thresholds: ArrayLike,
    *,
    overlap: tuple[float, float] = (0.8, 0.2),
    labels: str | Sequence[str] | None = None,
    most: int = 500,
) -> Ints:
    """How many matches a search has at each of the thresholds (n,), at most `most`.

    All are counted in one growing search. Where matches nearly overlap, a search of its own can differ by one or two.
    """
    limits = as_type(thresholds, "thresholds in metres")
    if limits.ndim != 1 or not (limits > 0.0).all():
        raise InvalidValue(f"thresholds must be a list of metres above 0, got {thresholds!r}")
    if checked_index(most, "most") < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    query = Query.of(web, clip, start, stop, labels)
    joined, _ = query.joined(float(limits.max(initial=0.0)), checked_overlap(overlap), most)
    return settle(np.searchsorted(joined, limits, side="right").astype(np.int64))
