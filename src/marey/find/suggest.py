"""Suggest a search threshold: inside a wide range of thresholds over which the number of matches stays the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, Ints, convert_array, set_readonly
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_fields, renamed_methods, renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.find.search import Query, Searchable, list_thresholds
from marey.find.settings import SearchSettings, SuggestSettings

if TYPE_CHECKING:
    from marey.find.match_graph import Find

# Minimum ratio of the upper to the lower end of a plateau; shorter ones are part of a steady rise.
_MIN_RATIO = 1.25
# Relative increase in matches that still counts as a plateau; overlapping matches come and go.
_WOBBLE = 0.05
# Try thresholds up to this multiple of the matches' median distance to standing still; beyond it, anything matches.
_BEYOND_STILL = 2.0
# Number of intervals whose candidates are cached.
_CACHED = 128


@renamed_methods(stands_out="has_plateau")
@renamed_fields(level="plateau", still="still_distance")
@dataclass(frozen=True, slots=True, eq=False)
class Suggestion(FrozenRecord):
    """A suggested threshold, and the match counts it is based on.

    threshold : suggested threshold in meters, inside the plateau.
    n_matches : number of matches it finds, without the query.
    plateau : lowest and highest threshold in meters between which the number of matches stays nearly the same; at most
        the distance to standing still. Without a plateau, both are equal.
    thresholds : (n,) the thresholds tried, increasing, in meters.
    counts : (n,) number of matches at each threshold, without the query.
    still_distance : distance in meters between the query and standing still.
    is_complete : False if the last threshold has more than `max_matches` matches.

    Examples
    --------
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> suggestion = web.suggest_threshold("medley", kick.start, kick.stop)
    >>> 0.0 < suggestion.threshold < 0.2, suggestion.n_matches  # meters
    (True, 3)
    """

    threshold: float
    n_matches: int
    plateau: tuple[float, float]
    thresholds: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    still_distance: float
    is_complete: bool = True

    def __post_init__(self) -> None:
        self._freeze(thresholds=("n",), counts=("n",))

    @property
    def has_plateau(self) -> bool:
        """Whether there is a plateau."""
        return self.plateau[0] < self.plateau[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion and the number of matches at each threshold, JSON-ready."""
        tried = zip(self.thresholds.tolist(), self.counts.tolist(), strict=True)
        return {
            "threshold_m": self.threshold,
            "matches": self.n_matches,
            "plateau_m": list(self.plateau) if self.has_plateau else None,
            "still_m": self.still_distance,
            "counts": [
                {"threshold_m": threshold, "matches": n}
                for threshold, n in sorted({*tried, (self.threshold, self.n_matches)})
            ],
            "is_complete": self.is_complete,
        }

    def __str__(self) -> str:
        many = f"{self.threshold:.4f} m finds {self.n_matches} match{'' if self.n_matches == 1 else 'es'}"
        if not self.has_plateau:
            return f"{many}; no threshold stands out, because the number keeps rising"
        return f"{many}, and so does nearly any threshold from {self.plateau[0]:.4f} to {self.plateau[1]:.4f} m"


@dataclass(frozen=True, slots=True)
class _Plateau:
    """A plateau: thresholds from `low` to `high` meters find about `n` matches; `still` is the median distance of these
    to standing still, in meters."""

    low: float
    high: float
    n: int
    still: float

    @property
    def weight(self) -> float:
        """How much the plateau stands out: its relative length, times the logarithm of 1 plus its number of matches; 0
        if it is too short or begins beyond the distance to standing still."""
        if self.low >= self.still or self.high < _MIN_RATIO * self.low:
            return 0.0
        return (1.0 - self.low / self.high) * float(np.log1p(self.n))

    @property
    def middle(self) -> float:
        """Geometric mean of its ends in meters; the upper end is capped at the distance to standing still."""
        return float(np.sqrt(self.low * min(self.high, self.still)))


@renamed_parameters(most="max_matches", tiers="max_tiers")
@operation(SuggestSettings)
def suggest_threshold(
    web: Searchable,
    clip: int | str | Motion,
    start: int | None = None,
    stop: int | None = None,
    *,
    settings: SuggestSettings,
    progress: Callable[[float], None] | None = None,
) -> Suggestion:
    """Suggest a threshold for `search`.

    Searches run with increasing thresholds, 5 % apart. A plateau in the number of matches means a gap in their
    distances. The plateau with the greatest relative length, weighted by its number of matches, is chosen, and the
    geometric mean of its ends is suggested. A match that is no closer than a character standing still is meaningless. A
    plateau therefore counts only if it begins below the median distance of its matches to standing still, and its upper
    end is capped at that distance.

    Parameters
    ----------
    web, clip, start, stop : see `search`; `start` and `stop` may be omitted only for a motion that is not in the web.
    progress : called with the fraction done, from 0 to 1.

    Raises
    ------
    NoResult : if no match is closer to the query than standing still.

    Examples
    --------
    >>> punch = next(label for label in take.labels if label.name == "punch")
    >>> suggestion = web.suggest_threshold("medley", punch.start, punch.stop)
    >>> suggestion.plateau[0] <= suggestion.threshold <= suggestion.plateau[1]  # meters
    True
    """
    query = Query.make(web, clip, start, stop, settings)
    find = lru_cache(_CACHED)(query.make_finder(web.options.max_distance))
    near, still = query.find_nearest(find), query.still(*query.interval)
    if near is None or near[1] > still:
        rest = "nothing matches" if near is None else f"the nearest match is {near[1]:.4f} m away"
        raise NoResult(
            f"no match is closer to the query than a pose held still, which is {still:.4f} m away; {rest}; choose a "
            f"query with more movement"
        )
    thresholds, counts, stillness, is_full = _try_thresholds(query, find, near[1], progress)
    best = max(_find_plateaus(thresholds, counts, stillness, is_full), key=lambda plateau: plateau.weight)
    if best.weight > 0.0:
        threshold = best.middle
        # Beyond the distance to standing still, matches are meaningless, even if their number stays the same.
        ends = (best.low, min(best.high, best.still, still if still > threshold else np.inf))
    else:
        # No plateau: use the largest threshold below the distance to standing still.
        threshold = max((t for t, s in zip(thresholds, stillness, strict=True) if t < s), default=thresholds[0])
        ends = (threshold, threshold)
    n_matches = query.grow(threshold, find).n - 1
    return Suggestion(threshold, n_matches, ends, np.array(thresholds), np.array(counts), still, not is_full)


def _try_thresholds(
    query: Query, find: Find, first: float, progress: Callable[[float], None] | None
) -> tuple[list[float], list[int], list[float], bool]:
    """Search with increasing thresholds from `first` meters on. Return the thresholds, the number of matches and the
    median distance to standing still at each, and whether the last one found more than `max_matches`."""
    thresholds: list[float] = []
    counts: list[int] = []
    stillness: list[float] = []
    limit, done = query.web.options.max_distance, 0.0
    for threshold in list_thresholds(first, limit):
        graph = query.grow(threshold, find)
        thresholds.append(threshold)
        counts.append(graph.n - 1)
        stillness.append(float(np.median(graph.stillness)))
        last = min(limit, _BEYOND_STILL * stillness[-1])
        if progress is not None:
            # The search ends at a threshold or a number of matches, and takes longer the more matches it finds.
            done = max(done, min(1.0, max(counts[-1] / query.settings.max_matches, threshold / last)))
            progress(done)
        if graph.is_full or threshold > last:
            return thresholds, counts, stillness, graph.is_full
    return thresholds, counts, stillness, False


def _find_plateaus(
    thresholds: Sequence[float], counts: Sequence[int], stillness: Sequence[float], is_full: bool
) -> list[_Plateau]:
    """Find the plateaus: ranges of thresholds with nearly the same number of matches. The last one is left out if its
    search stopped early (`is_full`)."""
    out = []
    begin = 0
    for k in range(1, len(thresholds) + 1):
        if k == len(thresholds) or counts[k] > (1.0 + _WOBBLE) * counts[begin]:
            if k < len(thresholds) or not is_full:
                out.append(_Plateau(thresholds[begin], thresholds[k - 1], counts[begin], stillness[k - 1]))
            begin = k
    return out or [_Plateau(thresholds[0], thresholds[0], counts[0], stillness[0])]


@renamed_parameters(most="max_matches")
@operation(SearchSettings)
def count_matches(
    web: Searchable,
    clip: int | str | Motion,
    start: int | None,
    stop: int | None,
    thresholds: ArrayLike,
    *,
    settings: SearchSettings,
) -> Ints:
    """Count the matches (n,) at each of several thresholds; the query itself does not count.

    Parameters
    ----------
    web, clip, start, stop : see `search`.
    thresholds : (n,) thresholds in meters.
    """
    limits = convert_array(thresholds, "thresholds in meters")
    if limits.ndim != 1 or not (limits > 0.0).all():
        raise InvalidValue(f"thresholds must be distances in meters greater than 0, not {thresholds!r}")
    query = Query.make(web, clip, start, stop, settings)
    find = lru_cache(_CACHED)(query.make_finder(float(limits.max(initial=0.0))))
    counts = [query.grow(float(limit), find).n - 1 for limit in limits]
    return set_readonly(np.array(counts, dtype=np.int64))
