"""Suggest a search threshold, inside the widest range over which no more matches are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, check_index, convert_array, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult
from marey.find.search import Query, checked_overlap, ladder

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb
    from marey.find.tiers import Find

# Minimum ratio of the ends of a plateau; below it, the number of matches rises steadily.
_LEAST_RATIO = 1.25
# Relative increase of matches that still counts as a plateau; overlapping matches come and go.
_WOBBLE = 0.05
# Search thresholds up to this multiple of the distance to standing still; beyond that anything matches.
_FURTHER = 2.0
# Number of intervals whose candidates are cached.
_HELD = 128


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """A suggested threshold, in a range of thresholds with the same matches, for the user to judge.

    threshold : suggested threshold in meters, inside the plateau.
    n_matches : number of matches it finds, without the query.
    level : the plateau, from and to in meters, over which no more matches are found; it ends at the distance to
        standing still. Both are equal if there is no plateau.
    thresholds : (n,) the thresholds tried, increasing, in meters.
    counts : (n,) number of matches at each, without the query.
    still : distance in meters between the query and standing still.
    is_complete : False if the last threshold found `most` matches or more.
    """

    threshold: float
    n_matches: int
    level: tuple[float, float]
    thresholds: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    still: float
    is_complete: bool = True

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "thresholds", freeze_array(self.thresholds, "thresholds", (None,)))
        put(self, "counts", freeze_array(self.counts, "counts", (len(self.thresholds),), np.int64))

    @property
    def stands_out(self) -> bool:
        """Whether there is a plateau."""
        return self.level[0] < self.level[1]

    def __str__(self) -> str:
        many = f"{self.threshold:.4f} m finds {self.n_matches} match{'' if self.n_matches == 1 else 'es'}"
        if not self.stands_out:
            return f"{many}; no threshold stands out, because the number keeps rising"
        return f"{many}, and so does nearly any threshold from {self.level[0]:.4f} to {self.level[1]:.4f} m"


@dataclass(frozen=True, slots=True)
class _Level:
    """A plateau: thresholds from `low` to `high` meters find `n` matches; `still` is their median stillness."""

    low: float
    high: float
    n: int
    still: float

    @property
    def weight(self) -> float:
        """How much it stands out: its relative length, weighted by the number of matches."""
        if self.low >= self.still or self.high < _LEAST_RATIO * self.low:
            return 0.0
        return (1.0 - self.low / self.high) * float(np.log1p(self.n))

    @property
    def middle(self) -> float:
        """Geometric mean of its ends in meters; the distance to standing still is the end if it is lower."""
        return float(np.sqrt(self.low * min(self.high, self.still)))


def suggest(
    web: MatchWeb,
    clip: int | str | Motion,
    start: int | None = None,
    stop: int | None = None,
    *,
    overlap: tuple[float, float] = (0.8, 0.2),
    labels: str | Sequence[str] | None = None,
    most: int = 200,
    tiers: int | None = None,
) -> Suggestion:
    """Suggest a threshold for `search`.

    Searches are made with increasing thresholds, 5 % apart. A plateau in the number of matches is a gap in their
    distances. The plateau that is longest in proportion, weighted by its number of matches, is chosen, and the
    geometric mean of its ends is suggested. Matches as far away as standing still mean nothing: a plateau counts only
    if it starts below the distance of most of its matches to standing still, and that distance replaces its upper end
    if it is lower.

    Parameters
    ----------
    clip, start, stop, overlap, labels, tiers : as for `search`.
    most : stop at this number of matches.
    """
    query = Query.of(web, clip, start, stop, labels)
    if check_index(most, "most") < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    if tiers is not None and check_index(tiers, "tiers") < 1:
        raise InvalidValue(f"tiers must be at least 1, got {tiers}")
    shares = checked_overlap(overlap)
    find = lru_cache(_HELD)(query.finder(web.options.limit))
    near, still = query.nearest(shares, find), query.still(*query.place)
    if near is None or near[1] > still:
        rest = "there is no match at all" if near is None else f"the nearest match is {near[1]:.4f} m away"
        raise NoResult(f"no match is more similar to this query than standing still, at {still:.4f} m; {rest}")
    rungs, many, stillness, is_full = _climbed(query, find, near[1], shares, most, tiers)
    best = max(_levels(rungs, many, stillness, is_full), key=lambda level: level.weight)
    if best.weight > 0.0:
        threshold = best.middle
        # Beyond standing still anything matches, even if nothing more is found.
        ends = (best.low, min(best.high, best.still, still if still > threshold else np.inf))
    else:
        # The largest threshold below the distance to standing still.
        threshold = max((t for t, s in zip(rungs, stillness, strict=True) if t < s), default=rungs[0])
        ends = (threshold, threshold)
    n_matches = query.grown(threshold, shares, most, tiers, find).n - 1
    return Suggestion(threshold, n_matches, ends, np.array(rungs), np.array(many), still, not is_full)


def _climbed(
    query: Query, find: Find, first: float, overlap: tuple[float, float], most: int, tiers: int | None
) -> tuple[list[float], list[int], list[float], bool]:
    """Thresholds tried, number of matches and median stillness at each, and whether the last one found too many."""
    rungs: list[float] = []
    many: list[int] = []
    stillness: list[float] = []
    for threshold in ladder(first, query.web.options.limit):
        graph = query.grown(threshold, overlap, most, tiers, find)
        rungs.append(threshold)
        many.append(graph.n - 1)
        stillness.append(float(np.median(graph.stillness)))
        if graph.is_full or threshold > _FURTHER * stillness[-1]:
            return rungs, many, stillness, graph.is_full
    return rungs, many, stillness, False


def _levels(rungs: Sequence[float], many: Sequence[int], stillness: Sequence[float], is_full: bool) -> list[_Level]:
    """The plateaus: ranges of thresholds with the same number of matches, without the last one if it is incomplete."""
    out = []
    begin = 0
    for k in range(1, len(rungs) + 1):
        if k == len(rungs) or many[k] > (1.0 + _WOBBLE) * many[begin]:
            if k < len(rungs) or not is_full:
                out.append(_Level(rungs[begin], rungs[k - 1], many[begin], stillness[k - 1]))
            begin = k
    return out or [_Level(rungs[0], rungs[0], many[0], stillness[0])]


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
    """Number of matches at each of the thresholds (n,), at most `most`, without the query."""
    limits = convert_array(thresholds, "thresholds in metres")
    if limits.ndim != 1 or not (limits > 0.0).all():
        raise InvalidValue(f"thresholds must be a list of metres above 0, got {thresholds!r}")
    if check_index(most, "most") < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    query, shares = Query.of(web, clip, start, stop, labels), checked_overlap(overlap)
    find = lru_cache(_HELD)(query.finder(float(limits.max(initial=0.0))))
    many = [query.grown(float(limit), shares, most, find=find).n - 1 for limit in limits]
    return set_readonly(np.array(many, dtype=np.int64))
