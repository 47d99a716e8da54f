"""Search a match web: everything similar to an interval of a clip, transitively (Kovar 6.2.3).

Kovar follows chains and bridges. Here the best time alignments are found by timewarping with free ends over the web's
kept cells: for each frame of the set, the best interval that ends there, in time linear in the number of cells in the
query's rows. No distance grid is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from marey.compare import frame_weights
from marey.compare.pairing import Pairing
from marey.core.arrays import Bools, check_index, check_number
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult, NoTimewarp, UnknownName, similar
from marey.find.cells import COARSE, STEP, Cells
from marey.find.cells_kernels import Runs
from marey.find.found import Found, Match, assembled
from marey.find.search_kernels import PathEnds, PathQuery, find_best_paths, find_best_wide_paths
from marey.find.stillness import stillness_of
from marey.find.tiers import NOWHERE, Candidates, Find, Growth, Place, grow
from marey.register.dtw import SLOPE_LIMIT, TimeAlignment, dtw

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# A shorter query is too short to be similar to anything specific.
_LEAST_FRAMES = 4
STRAIGHT = 1e-4
"""Extra cost in m^2 of a straight step when paths are compared, as much as a cell 1 cm away.

If both characters stand still, all paths cost almost nothing. This makes them advance at equal pace there, so that
matches end where the query does. It never counts in a distance."""
# Factor from one threshold to the next when several are tried.
_RUNG = 1.05
_Names = str | Sequence[str]


def search(
    web: MatchWeb,
    clip: int | str | Motion,
    start: int | None,
    stop: int | None,
    threshold: float,
    *,
    overlap: tuple[float, float] = (0.8, 0.2),
    labels: _Names | None = None,
    most: int = 500,
    tiers: int | None = None,
) -> Found:
    """Find the matches of frames `start` to `stop` of a clip, the matches of these, and so on until none is new.

    A larger threshold can find one or two fewer: of partly overlapping intervals, the first one found is kept.

    Parameters
    ----------
    clip : a clip of the web by name or index, or another motion, which is first compared with every clip.
    start, stop : frames of the clip at the web's frame rate, half-open; for another motion, frames at its own rate, or
        None for its ends.
    threshold : maximum distance of a match in meters: the square root of the mean D along its time alignment.
    overlap : (same, new), fractions of the shorter interval: intervals that overlap by more than `same` are one match,
        by less than `new` two matches. Raise `new` to find several periods of a cyclic motion.
    labels : one or several labels; at least half the frames of a match must have one of them.
    most : maximum number of matches; if it is reached, `Found.notes` says so.
    tiers : 1 to find only matches of the query, 2 to include matches of these; None for no limit.

    Raises
    ------
    NoResult : if nothing is within the threshold; the message has the distance of the nearest match.
    """
    limit, shares = checked_threshold(threshold), checked_overlap(overlap)
    if check_index(most, "most") < 1 or (tiers is not None and check_index(tiers, "tiers") < 1):
        raise InvalidValue(f"most and tiers must be at least 1, got {most} and {tiers}")
    query = Query.of(web, clip, start, stop, labels)
    graph = query.grown(limit, shares, most, tiers)
    if graph.n == 1:
        _refuse(query, limit, shares)
    return query.found(graph, limit, _notes(web, graph, limit, most))


class Query:
    """An interval of a clip to find in a web, and how to find what is similar to it."""

    def __init__(self, web: MatchWeb, place: Place, outside: Any = None, labels: _Names | None = None) -> None:
        self.web, self.place, self.outside = web, place, outside
        self.allowed = None if labels is None else labelled(web, labels)
        named = () if labels is None else (labels,) if isinstance(labels, str) else labels
        self.told_labels = f" with the label {' or '.join(map(repr, named))}" if named else ""
        self.still = stillness_of(web, outside)

    @classmethod
    def of(cls, web: MatchWeb, clip: int | str | Motion, start: Any, stop: Any, labels: _Names | None) -> Query:
        """Check the arguments of a search and make a query."""
        least = least_frames(web)
        if isinstance(clip, Motion):
            from marey.find.outside import Outside

            outside, first, last = Outside.of(web, clip, start, stop, least)
            return cls(web, (NOWHERE, first, last), outside, labels)
        k = web.index(clip)
        first, last = checked_stretch(start, stop, len(web.clips[k]), web.fps, web.names[k], least)
        return cls(web, (k, first, last), None, labels)

    def finder(self, limit: float) -> Find:
        """A function that returns the candidates within `limit` meters of any interval of the web's clips or of the
        query."""

        def find(clip: int, start: int, stop: int) -> Candidates:
            if clip == NOWHERE:
                found = candidates(self.outside.pairs, 0, stop - start, limit)
            else:
                found = candidates(web_pairs(self.web, clip), start, stop, limit)
            return found if self.allowed is None else found.taken(_carrying(found, self.allowed))

        return find

    def grown(
        self,
        threshold: float,
        overlap: tuple[float, float],
        most: int,
        tiers: int | None = None,
        find: Find | None = None,
    ) -> Growth:
        """Grow the match graph at a threshold; `find` may be given if it reaches at least as far."""
        look = self.finder(threshold) if find is None else find
        return grow(self.place, look, self.still, threshold, overlap=overlap, most=most, tiers=tiers)

    def nearest(self, overlap: tuple[float, float], find: Find | None = None) -> tuple[Place, float] | None:
        """The nearest match at any distance within the web's limit, and its distance."""
        limit = self.web.options.limit
        look = self.finder(limit) if find is None else find
        clip, start, stop = self.place
        near = look(*self.place).within(limit, Growth(self.place, 1).lengths)
        shared = np.minimum(near.stops, stop) - np.maximum(near.starts, start)
        is_apart = (near.clips != clip) | (shared < overlap[1] * np.minimum(near.stops - near.starts, stop - start))
        # What is nearest of all may be someone standing still, which is no match.
        for threshold in ladder(float(near.distances[is_apart].min(initial=np.inf)), limit):
            graph = self.grown(threshold, overlap, 10**9, 1, look)
            if graph.n > 1:
                distance, node = min((graph.links[0, node], node) for node in range(1, graph.n))
                return graph.place(node), distance
        return None

    def found(self, graph: Growth, limit: float, notes: list[str]) -> Found:
        """The result of a search."""
        matches, motions = [], []
        for node in range(graph.n):
            clip, start, stop = graph.place(node)
            motion = self.outside.motion if clip == NOWHERE else self.web.clips[clip]
            matches.append(Match(motion.name, start, stop, 0.0, graph.tiers[node]))
            motions.append(replace(motion[start:stop], name=f"{motion.name} {start}-{stop}"))
        return assembled(matches, motions, graph.links, limit, notes, _aligner(self.web, self.outside))


def ladder(first: float, last: float) -> Iterator[float]:
    """Increasing thresholds from `first` to `last` meters."""
    # Include matches exactly at the first threshold.
    rung = max(first, 1e-4) * (1.0 + 1e-9)
    while rung < last:
        yield rung
        rung *= _RUNG
    if first <= last:
        yield last


def candidates(pairs: Any, start: int, stop: int, limit: float) -> Candidates:
    """For every frame of every clip, the best interval that ends there, if it is within `limit` meters.

    Parameters
    ----------
    pairs : for each clip: (clip, cells, whether the query's frames are the rows).
    start, stop : the query's frames.
    """
    # Allow a rounding error, so that matches exactly at the limit count.
    most = limit**2 * (1.0 + 1e-12)
    parts = []
    for clip, cells, is_row in pairs:
        n_frames = cells.shape[1] if is_row else cells.shape[0]
        totals = np.empty(n_frames)
        counts, firsts = np.empty(n_frames, dtype=np.int32), np.empty(n_frames, dtype=np.int32)
        cap = most * (2 * (stop - start) - 1) + STRAIGHT * (stop - start - 1)
        query = PathQuery(start, stop, is_row, COARSE * STEP, STRAIGHT, cap)
        best_paths(cells, query, PathEnds(totals, counts, firsts))
        ends = np.flatnonzero(totals < np.inf)
        n_cells, starts = counts[ends].astype(np.int64), firsts[ends].astype(np.int64)
        n_straight = 2 * (n_cells - 1) - (stop - start - 1) - (ends - starts)
        means = np.maximum(totals[ends] - STRAIGHT * n_straight, 0.0) / n_cells
        near = means <= most
        parts.append(
            (np.full(near.sum(), clip), starts[near], ends[near] + 1, np.sqrt(means[near]), totals[ends[near]])
        )
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Candidates(*columns)


def best_paths(cells: Cells, query: PathQuery, out: PathEnds) -> int:
    """Fill `out` with the best paths through the cells; returns how many cells were examined."""
    runs = cells.runs
    if isinstance(runs, Runs):
        return find_best_paths(runs, query, out)
    return find_best_wide_paths(runs, query, out)


def web_pairs(web: MatchWeb, clip: int) -> list[tuple[int, Cells, bool]]:
    """The cells of a clip with every clip, and whether its frames are the rows."""
    return [
        (q, web.cells(clip, q), True) if q >= clip else (q, web.cells(q, clip), False) for q in range(len(web.clips))
    ]


def checked_threshold(threshold: Any) -> float:
    """Check a threshold in meters, above 0."""
    return check_number(threshold, "threshold in metres", above=True)


def least_frames(web: MatchWeb) -> int:
    """Minimum length of a query in frames at the web's frame rate."""
    return max(_LEAST_FRAMES, round(web.options.chain * web.fps))


def checked_stretch(start: Any, stop: Any, n_frames: int, fps: float, name: str, least: int) -> tuple[int, int]:
    """Check that the frames of a query are inside its clip and long enough."""
    first, last = check_index(start, "start"), check_index(stop, "stop")
    if not 0 <= first < last <= n_frames:
        raise InvalidValue(
            f"a query must lie within its clip: {name!r} has frames 0 to {n_frames} at {fps:g} Hz, got {first} to "
            f"{last}"
        )
    if last - first < least:
        raise InvalidValue(
            f"a query must last at least {least} frames, {least / fps:.2f} s, got {last - first} of {name!r}"
        )
    return first, last


def labelled(web: MatchWeb, labels: _Names) -> list[Bools]:
    """For each clip, (F,) the frames that have one of the labels."""
    wanted = (labels,) if isinstance(labels, str) else tuple(labels)
    known = sorted({name for clip in web.clips for name in clip.labels.names})
    for name in wanted:
        if name not in known:
            told = f"there are {', '.join(map(repr, known))}" if known else "the clips have no labels"
            raise UnknownName(f"no clip of this web has the label {name!r}; {told}{similar(str(name), known)}")
    if not wanted:
        raise InvalidValue("labels must contain at least one label, got none; omit them to search everything")
    return [np.any([clip.labels.mask(name, len(clip)) for name in wanted], axis=0) for clip in web.clips]


def _carrying(found: Candidates, allowed: Sequence[Bools]) -> Bools:
    """(N,) which candidates have at least half their frames among those allowed."""
    so_far = [np.concatenate([[0], np.cumsum(mask)]) for mask in allowed]
    out = np.empty(len(found), dtype=bool)
    for clip in np.unique(found.clips):
        here = found.clips == clip
        starts, stops = found.starts[here], found.stops[here]
        out[here] = 2 * (so_far[clip][stops] - so_far[clip][starts]) >= stops - starts
    return out


def checked_overlap(overlap: Any) -> tuple[float, float]:
    """Check the fractions `same` and `new`."""
    try:
        same, new = (float(share) for share in overlap)
    except (TypeError, ValueError):
        raise InvalidValue(f"overlap must be two fractions such as (0.8, 0.2), got {overlap!r}") from None
    if not 0.0 <= new <= same < 1.0:
        raise InvalidValue(
            f"overlap must be two fractions (same, new) with 0 <= new <= same < 1: above the first, intervals are the "
            f"same match, below the second, two matches; got {overlap!r}"
        )
    return same, new


def _notes(web: MatchWeb, graph: Growth, limit: float, most: int) -> list[str]:
    notes = []
    if graph.is_full:
        notes.append(f"the search stopped at {most} matches, there are more; lower the threshold or raise most")
    if limit > web.options.limit:
        notes.append(
            f"the web was built for distances up to {web.options.limit:g} m; a threshold of {limit:g} m finds no more"
        )
    return notes


def _refuse(query: Query, limit: float, overlap: tuple[float, float]) -> NoReturn:
    near = query.nearest(overlap)
    clip, start, stop = query.place
    name = query.outside.motion.name if clip == NOWHERE else query.web.names[clip]
    what = f"nothing{query.told_labels} within {limit:g} m of frames {start} to {stop} of {name!r}"
    if near is None:
        raise NoResult(f"{what}, nor within {query.web.options.limit:g} m, the limit of this web")
    (clip, start, stop), distance = near
    raise NoResult(f"{what}; the nearest is {query.web.names[clip]!r} {start} to {stop}, at {distance:.4f} m")


def _aligner(web: MatchWeb, outside: Any) -> Callable[[Match, Match], TimeAlignment]:
    """A function that computes the time alignment of two matches: the best path over their grid, corner to corner."""

    def clouds(match: Match) -> Any:
        if outside is not None and match.tier == 0:
            return outside.clouds
        return web.clouds(web.names.index(match.clip))

    weights = frame_weights(web.options.window, web.fps, "triangle")

    def aligned(first: Match, second: Match) -> TimeAlignment:
        values = np.empty((len(first), len(second)))
        pairing = Pairing(clouds(first), clouds(second), weights)
        pairing.fill(values, (first.start, first.stop, second.start, second.stop))
        return whole_alignment(np.maximum(values, 0.0))

    return aligned


def whole_alignment(values: Any) -> TimeAlignment:
    """The best path from corner to corner. If two matches differ too much in length for the slope limit, the limit is
    raised until a path exists."""
    limit = SLOPE_LIMIT
    while True:
        try:
            return dtw(values, slope_limit=limit)
        except NoTimewarp:
            if limit > 8:
                raise
            limit += 1
