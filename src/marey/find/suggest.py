"""Which threshold to search with: one from which on, for the longest way, nothing more is found."""

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

# Ends of a level stretch are at least this many times apart; below, the number of matches goes on rising evenly.
_LEAST_RATIO = 1.25
# More matches, in proportion, that still leave a stretch level: where matches overlap a few come and go.
_WOBBLE = 0.05
# How many times the distance to a figure that stands still thresholds are looked at: beyond, anything will do.
_FURTHER = 2.0
# Stretches of clips whose candidates are held.
_HELD = 128


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """A threshold around which others find the same, for a person to judge.

    threshold : metres, within the level stretch.
    n_matches : what a search with it finds, the query not counted.
    level : metres, from which to which threshold nothing more is found, ending where standing still is as near; the
        same twice where no stretch stands out.
    thresholds : (n,) metres, rising, that were searched with.
    counts : (n,) matches that each found, the query not counted.
    still : metres between the query and a figure that stands still.
    is_complete : False where the last threshold found as many as were looked for at most, or more.
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
        """Whether there is a level stretch."""
        return self.level[0] < self.level[1]

    def __str__(self) -> str:
        many = f"{self.threshold:.4f} m finds {self.n_matches} match{'' if self.n_matches == 1 else 'es'}"
        if not self.stands_out:
            return f"{many}; no threshold stands out, as the number goes on rising"
        return f"{many}, and so does nearly any threshold from {self.level[0]:.4f} to {self.level[1]:.4f} m"


@dataclass(frozen=True, slots=True)
class _Level:
    """Thresholds from `low` to `high` metres that all find `n` matches, and their stillness in the middle."""

    low: float
    high: float
    n: int
    still: float

    @property
    def weight(self) -> float:
        """How much it stands out: by its length in proportion, the more so the more matches there are."""
        if self.low >= self.still or self.high < _LEAST_RATIO * self.low:
            return 0.0
        return (1.0 - self.low / self.high) * float(np.log1p(self.n))

    @property
    def middle(self) -> float:
        """Metres, in proportion between its ends, or below standing still if that is nearer than its end."""
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
    """A threshold for `search`, which never takes one by itself.

    Searches are made with rising thresholds, 5 % from one to the next. Where the number of matches stays the same for
    a while there is a gap in their distances; the longest such stretch in proportion is taken, the more so the more
    matches it has, and the geometric mean of its ends suggested. What is as far away as a figure that stands still says
    nothing: only stretches that begin nearer than most of their matches are to that count, and it takes an end's place
    if it is nearer.

    Parameters
    ----------
    clip, start, stop, overlap, labels, tiers : as for `search`.
    most : matches from which on it looks no further.
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
        rest = "there is nothing at all" if near is None else f"the nearest match is {near[1]:.4f} m away"
        raise NoResult(f"nothing is more like this query than a figure that stands still, at {still:.4f} m; {rest}")
    rungs, many, stillness, is_full = _climbed(query, find, near[1], shares, most, tiers)
    best = max(_levels(rungs, many, stillness, is_full), key=lambda level: level.weight)
    if best.weight > 0.0:
        threshold = best.middle
        # Beyond standing still anything will do, even if nothing more is found.
        ends = (best.low, min(best.high, best.still, still if still > threshold else np.inf))
    else:
        # As much as can be had before standing still is as near.
        threshold = max((t for t, s in zip(rungs, stillness, strict=True) if t < s), default=rungs[0])
        ends = (threshold, threshold)
    n_matches = query.grown(threshold, shares, most, tiers, find).n - 1
    return Suggestion(threshold, n_matches, ends, np.array(rungs), np.array(many), still, not is_full)


def _climbed(
    query: Query, find: Find, first: float, overlap: tuple[float, float], most: int, tiers: int | None
) -> tuple[list[float], list[int], list[float], bool]:
    """Thresholds, how many each finds, how far these are from standing still in the middle, and whether the last one
    found too many."""
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
    """Stretches of thresholds that find the same, each up to the last before one that finds more; none of too many."""
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
    """How many matches a search with each of the thresholds (n,) finds, at most `most`, the query not counted."""
    limits = convert_array(thresholds, "thresholds in metres")
    if limits.ndim != 1 or not (limits > 0.0).all():
        raise InvalidValue(f"thresholds must be a list of metres above 0, got {thresholds!r}")
    if check_index(most, "most") < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    query, shares = Query.of(web, clip, start, stop, labels), checked_overlap(overlap)
    find = lru_cache(_HELD)(query.finder(float(limits.max(initial=0.0))))
    many = [query.grown(float(limit), shares, most, find=find).n - 1 for limit in limits]
    return set_readonly(np.array(many, dtype=np.int64))
