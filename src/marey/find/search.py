"""Search a match web transitively for intervals similar to a query (Kovar 6.2.3).

Kovar follows chains and bridges. Here the best time alignments are found by timewarping with free ends over the web's
kept cells. For each frame of each clip, this finds the best interval that ends there, in time linear in the number of
cells in the query's rows. No distance grid is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds, frame_weights
from marey.compare.distance import warn_of_centimeters
from marey.compare.pairing import Pairing
from marey.core.arrays import Bools, Floats, Ints, check_index, check_number
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoResult, NoTimewarp
from marey.find.build import find_label_masks
from marey.find.cells import COARSE, STEP, Cells
from marey.find.cells_kernels import Runs
from marey.find.chain_order import cut_window, order_by_chain
from marey.find.match_graph import (
    EXTERNAL,
    CandidateLimits,
    Candidates,
    Find,
    Interval,
    KnownMatches,
    MatchGraph,
    Still,
    grow_match_graph,
)
from marey.find.result import Match, MatchResult, make_match_result
from marey.find.search_kernels import PathEnds, PathQuery, find_best_paths, find_best_wide_paths
from marey.find.settings import IndexSettings, SearchSettings, WebSettings
from marey.find.stillness_kernels import measure_stillness
from marey.register.dtw import SLOPE_LIMIT, TimeAlignment, dtw

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# Minimum number of frames of a query; a shorter one is similar to almost anything.
_MIN_FRAMES = 4
STRAIGHT = 1e-4
"""Extra cost in m^2 of a straight (horizontal or vertical) step when paths are compared, as much as a distance of 1 cm.

While both characters stand still, all paths cost almost nothing. The extra cost makes both advance at the same rate
there, and matches end where the query does. It never counts in a distance."""
# Allows a rounding error: matches exactly at the limit count.
_EXACT = 1.0 + 1e-12
# First limit, in meters, of the search for the nearest match.
_NEAR = 0.1
# Factor from one threshold to the next when several are tried.
_FACTOR = 1.05


@renamed_parameters(most="max_matches", tiers="max_tiers")
@operation(SearchSettings)
def search(
    web: Searchable,
    clip: int | str | Motion,
    start: int | None,
    stop: int | None,
    threshold: float,
    *,
    settings: SearchSettings,
) -> MatchResult:
    """Find the matches of frames `start` to `stop` of a clip, the matches of these, and so on until there are no new
    ones.

    A larger threshold can find one or two matches fewer: of partly overlapping intervals, the first one found is kept.

    Parameters
    ----------
    web : the match web, or a motion index.
    clip : a clip of the web by name or index, or another motion, which is first compared with every clip.
    start, stop : frames of the clip at the web's frame rate, half-open; for another motion, frames at its own rate, or
        None for its ends.
    threshold : maximum distance in meters of a match from the match it was found by: the square root of the mean D
        along their time alignment.

    Raises
    ------
    NoResult : if nothing is within the threshold; the message gives the distance of the nearest match.

    Examples
    --------
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> found = web.search("medley", kick.start, kick.stop, threshold=0.07)  # meters
    >>> found.query.start == kick.start, len(found)
    (True, 4)
    """
    limit = check_threshold(threshold)
    query = Query.make(web, clip, start, stop, settings)
    graph = query.grow(limit)
    if graph.n == 1:
        _raise_no_match(query, limit)
    return query.make_result(graph, limit, _make_notes(query, graph, limit))


class External(Protocol):
    """A query that is not in a web: its motion at the rate of the web, and its markers."""

    @property
    def motion(self) -> Motion: ...
    @property
    def clouds(self) -> Clouds: ...


class Searchable(Protocol):
    """Protocol of what can be searched: a `MatchWeb` or a `MotionIndex`."""

    @property
    def clips(self) -> Sequence[Motion]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def fps(self) -> float: ...
    @property
    def options(self) -> WebSettings | IndexSettings: ...
    def index(self, clip: int | str) -> int: ...
    def clouds(self, clip: int) -> Clouds: ...
    def compare_external(self, motion: Motion, start: Any, stop: Any, n: int) -> tuple[External, int, int]: ...
    def find_candidates(self, interval: Interval, external: External | None, limits: CandidateLimits) -> Candidates: ...


class Query:
    """A query: an interval to search for in a web.

    interval : clip index, start and stop; the clip index is `EXTERNAL` for a motion that is not in the web.
    external : that motion, compared with the web's clips, or None.
    settings : how to search.
    """

    def __init__(
        self,
        web: Searchable,
        interval: Interval,
        external: External | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        self.web, self.interval, self.external = web, interval, external
        self.settings = SearchSettings() if settings is None else settings
        labels = self.settings.labels
        self.allowed = None if labels is None else find_label_masks(web.clips, labels)
        named = () if labels is None else (labels,) if isinstance(labels, str) else labels
        self.label_phrase = f" with the label {' or '.join(map(repr, named))}" if named else ""
        self.still = make_stillness(web, external)

    @classmethod
    def make(
        cls, web: Searchable, clip: int | str | Motion, start: Any, stop: Any, settings: SearchSettings | None
    ) -> Query:
        """Validate the arguments of a search and create the query."""
        min_frames = min_query_frames(web)
        if isinstance(clip, Motion):
            external, first, last = web.compare_external(clip, start, stop, min_frames)
            return cls(web, (EXTERNAL, first, last), external, settings)
        k = web.index(clip)
        first, last = check_interval(start, stop, web.clips[k], min_frames)
        return cls(web, (k, first, last), None, settings)

    def make_finder(self, limit: float) -> Find:
        """Return a function that finds the candidates within `limit` meters of an interval, which is the query or any
        interval of the web's clips."""

        def find(clip: int, start: int, stop: int, known: KnownMatches | None = None) -> Candidates:
            limits = CandidateLimits(limit, self.settings.max_matches, known)
            found = self.web.find_candidates((clip, start, stop), self.external, limits)
            return found if self.allowed is None else found.select(_have_labels(found, self.allowed))

        return find

    def grow(self, threshold: float, find: Find | None = None, settings: SearchSettings | None = None) -> MatchGraph:
        """Grow the match graph at a threshold in meters. Pass `find` to reuse a finder whose limit is at least the
        threshold, and other `settings` for other limits."""
        look = self.make_finder(threshold) if find is None else find
        return grow_match_graph(
            self.interval, look, self.still, threshold, settings or self.settings, skip_known=find is None
        )

    def find_nearest(self, find: Find | None = None) -> tuple[Interval, float] | None:
        """Return the nearest match within the web's maximum distance, and its distance in meters; None if there is
        none."""
        limit = last = self.web.options.max_distance
        if find is None:  # look close by first, which is faster
            limit = min(_NEAR, last)
        while True:
            look = self.make_finder(limit) if find is None else find
            found = self._find_nearest_within(look, limit)
            if found is not None or limit >= last:
                return found
            limit = min(2.0 * limit, last)

    def _find_nearest_within(self, look: Find, limit: float) -> tuple[Interval, float] | None:
        clip, start, stop = self.interval
        near = look(*self.interval).within(limit, MatchGraph(self.interval, 1).lengths)
        shared = np.minimum(near.stops, stop) - np.maximum(near.starts, start)
        overlap = self.settings.overlap
        is_apart = (near.clips != clip) | (shared < overlap[1] * np.minimum(near.stops - near.starts, stop - start))
        only_near = SearchSettings(overlap=overlap, max_matches=10**9, max_tiers=1)
        # The nearest candidate may be a character that stands still, which is not a match; try larger thresholds.
        for threshold in list_thresholds(float(near.distances[is_apart].min(initial=np.inf)), limit):
            graph = self.grow(threshold, look, only_near)
            if graph.n > 1:
                distance, node = min((graph.links[0, node], node) for node in range(1, graph.n))
                return graph.interval(node), distance
        return None

    def make_result(self, graph: MatchGraph, limit: float, notes: list[str]) -> MatchResult:
        """Turn a match graph into the result of a search."""
        matches, motions = [], []
        for node in range(graph.n):
            clip, start, stop = graph.interval(node)
            motion = self.get_motion(clip)
            matches.append(Match(motion.name, start, stop, 0.0, graph.tiers[node]))
            motions.append(replace(motion[start:stop], name=f"{motion.name} {start}-{stop}"))
        clouds = _make_cloud_lookup(self.web, self.external)
        result = make_match_result(matches, motions, graph.links, limit, notes, _make_aligner(self.web, clouds))
        if self.settings.order == "distance":
            return result
        n_frames = len(result.query)
        points = [cut_window(clouds(match).points, match.start, match.stop, n_frames) for match in result]
        return result.reorder(order_by_chain(points, clouds(result.query).weights))

    def get_motion(self, clip: int) -> Motion:
        """Return a clip of the web, or the external motion for `EXTERNAL`."""
        return self.web.clips[clip] if self.external is None or clip != EXTERNAL else self.external.motion


def make_stillness(web: Searchable, external: External | None = None) -> Still:
    """Return a function that measures the distance in meters between an interval and standing still. Results are
    cached.

    Standing still means holding the pose at the interval's start or at its end, whichever is closer. This distance
    separates an action from the pauses around it.
    """
    weights = frame_weights(web.options.window, web.fps, "triangle")

    @cache
    def measure(clip: int, start: int, stop: int) -> float:
        clouds = web.clouds(clip) if external is None or clip != EXTERNAL else external.clouds
        return measure_stillness(clouds.points, clouds.weights, weights, start, stop)

    return measure


def list_thresholds(first: float, last: float) -> Iterator[float]:
    """Yield increasing thresholds from `first` to `last` meters, 5 % apart."""
    # Include matches exactly at the first threshold.
    threshold = max(first, 1e-4) * (1.0 + 1e-9)
    while threshold < last:
        yield threshold
        threshold *= _FACTOR
    if first <= last:
        yield last


def find_candidates(pairs: Any, start: int, stop: int, limit: float) -> Candidates:
    """Find, for every frame of every clip, the best interval that ends there, if it is within `limit` meters.

    Parameters
    ----------
    pairs : for each clip, its index, the cells of its grid with the query's clip, and whether the query's frames are
        the rows.
    start, stop : the query's frames, half-open.
    limit : maximum distance in meters.
    """
    parts = []
    for clip, cells, is_row in pairs:
        n_frames = cells.shape[1] if is_row else cells.shape[0]
        totals = np.empty(n_frames)
        counts, firsts = np.empty(n_frames, dtype=np.int32), np.empty(n_frames, dtype=np.int32)
        query = PathQuery(start, stop, is_row, COARSE * STEP, STRAIGHT, cap_paths(stop - start, limit))
        best_paths(cells, query, PathEnds(totals, counts, firsts))
        ends = np.flatnonzero(totals < np.inf)
        parts.append(list_candidates(np.full(len(ends), clip), ends, totals[ends], counts[ends], firsts[ends],
                                     stop - start, limit))  # fmt: skip
    columns = [np.concatenate(column) for column in zip(*(each.columns for each in parts), strict=True)]
    return Candidates(*columns)


def list_candidates(
    clips: Ints, ends: Ints, totals: Floats, counts: NDArray[Any], firsts: NDArray[Any], n_frames: int, limit: float
) -> Candidates:
    """Return the candidates within `limit` meters among the best paths that end at frames `ends` (N,) of `clips` (N,).

    totals, counts, firsts : (N,) see `PathEnds`. n_frames : number of frames of the query.
    """
    n_cells, starts = counts.astype(np.int64), firsts.astype(np.int64)
    n_straight = 2 * (n_cells - 1) - (n_frames - 1) - (ends - starts)
    means = np.maximum(totals - STRAIGHT * n_straight, 0.0) / n_cells
    near = means <= limit**2 * _EXACT
    return Candidates(clips[near], starts[near], ends[near] + 1, np.sqrt(means[near]), totals[near])


def cap_paths(n_frames: int, limit: float) -> float:
    """Return the largest cost that a path may have if its mean distance is to be at most `limit` meters.

    `n_frames` is the length of the query; see `marey.find.search_kernels` for its cost.
    """
    return limit**2 * _EXACT * (2 * n_frames - 1) + STRAIGHT * (n_frames - 1)


def best_paths(cells: Cells, query: PathQuery, out: PathEnds) -> int:
    """Fill `out` with the best paths through the cells; return the number of cells examined."""
    runs = cells.runs
    if isinstance(runs, Runs):
        return find_best_paths(runs, query, out)
    return find_best_wide_paths(runs, query, out)


def list_pairs(web: MatchWeb, clip: int) -> list[tuple[int, Cells, bool]]:
    """Return for each clip its index, the cells of its grid with `clip`, and whether the frames of `clip` are the
    rows."""
    return [
        (q, web.cells(clip, q), True) if q >= clip else (q, web.cells(q, clip), False) for q in range(len(web.clips))
    ]


def check_threshold(threshold: Any) -> float:
    """Check that a threshold in meters is greater than 0; warn if it seems to be in centimeters."""
    limit = check_number(threshold, "threshold in meters", above=True)
    warn_of_centimeters("threshold", limit)
    return limit


def min_query_frames(web: Searchable) -> int:
    """Return the minimum length of a query in frames at the web's frame rate."""
    return max(_MIN_FRAMES, round(web.options.min_query_seconds * web.fps))


def check_interval(start: Any, stop: Any, motion: Motion, min_frames: int) -> tuple[int, int]:
    """Check that the frames of a query are inside its clip and long enough."""
    first, last = check_index(start, "start"), check_index(stop, "stop")
    if not 0 <= first < last <= len(motion):
        raise InvalidValue(
            f"start and stop must be frames with 0 <= start < stop <= {len(motion)} of {motion.name!r} "
            f"({motion.fps:g} fps), not {first} and {last}"
        )
    if last - first < min_frames:
        raise InvalidValue(
            f"the query must have at least {min_frames} frames ({min_frames / motion.fps:.2f} s), not "
            f"{last - first} of {motion.name!r}"
        )
    return first, last


def _have_labels(found: Candidates, allowed: Sequence[Bools | None]) -> Bools:
    """Return a mask (N,) of the candidates with at least half of their frames allowed.

    allowed : for each clip, a mask of its frames.
    """
    so_far = [np.concatenate([[0], np.cumsum(mask)]) for mask in allowed if mask is not None]
    out = np.empty(len(found), dtype=bool)
    for clip in np.unique(found.clips):
        here = found.clips == clip
        starts, stops = found.starts[here], found.stops[here]
        out[here] = 2 * (so_far[clip][stops] - so_far[clip][starts]) >= stops - starts
    return out


def _make_notes(query: Query, graph: MatchGraph, limit: float) -> list[str]:
    notes, stored = [], query.web.options.max_distance
    if graph.is_full:
        notes.append(
            f"the search stopped at {query.settings.max_matches} matches, but there are more; lower `threshold=` or "
            f"raise `max_matches=`"
        )
    if limit > stored:
        notes.append(
            f"the web was built for distances up to {stored:g} m; a threshold of {limit:g} m finds no more "
            f"matches than {stored:g} m"
        )
    return notes


def _raise_no_match(query: Query, limit: float) -> NoReturn:
    near = query.find_nearest()
    clip, start, stop = query.interval
    name, fps = query.get_motion(clip).name, query.web.fps
    what = f"nothing{query.label_phrase} within {limit:g} m of {_name_span(start, stop, fps)} of {name!r}"
    if near is None:
        raise NoResult(
            f"nothing{query.label_phrase} within {query.web.options.max_distance:g} m of "
            f"{_name_span(start, stop, fps)} of {name!r}; this is the largest distance that is searched "
            "(`max_distance=`)"
        )
    (clip, start, stop), distance = near
    raise NoResult(
        f"{what}; the nearest match is {query.web.names[clip]!r}, {_name_span(start, stop, fps)}, at {distance:.4f} m"
    )


def _name_span(start: int, stop: int, fps: float) -> str:
    return f"{start / fps:.2f} to {stop / fps:.2f} s (frames {start} to {stop} at {fps:g} Hz)"


def _make_cloud_lookup(web: Searchable, external: External | None) -> Callable[[Match], Any]:
    """Return a function that returns the point clouds of a match's clip."""

    def clouds(match: Match) -> Any:
        if external is not None and match.tier == 0:
            return external.clouds
        return web.clouds(web.names.index(match.clip))

    return clouds


def _make_aligner(web: Searchable, clouds: Callable[[Match], Any]) -> Callable[[Match, Match], TimeAlignment]:
    """Return a function that computes the time alignment of two matches: the best path through their distance grid,
    from corner to corner."""
    weights = frame_weights(web.options.window, web.fps, "triangle")

    def align(first: Match, second: Match) -> TimeAlignment:
        values = np.empty((len(first), len(second)))
        pairing = Pairing(clouds(first), clouds(second), weights)
        pairing.fill(values, (first.start, first.stop, second.start, second.stop))
        return align_full(np.maximum(values, 0.0))

    return align


def align_full(values: Any) -> TimeAlignment:
    """Find the best path through a distance grid in m^2, from corner to corner. If two matches differ too much in
    length for the slope limit, raise the limit until a path exists."""
    limit = SLOPE_LIMIT
    while True:
        try:
            return dtw(values, slope_limit=limit)
        except NoTimewarp:
            if limit > 8:
                raise
            limit += 1
