"""Searching a match web: everything that is like a stretch of a clip, and like what is like it (Kovar 6.2.3).

Where Kovar walks along chains and bridges, the best time alignments are found by timewarping over the web's kept cells
with free ends: for each frame of the set the best stretch that ends there, in time linear in the cells of the query's
rows. No grid is ever made.
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

# A shorter query has no time to be like anything in particular.
_LEAST_FRAMES = 4
STRAIGHT = 1e-4
"""m^2 that a straight step costs beside its cell when paths are compared, as much as a cell 1 cm away.

Where both figures stand still all paths cost next to nothing; this lets them run on at equal pace there, so that
matches end where the query does. It never counts in a distance."""
# From one threshold to the next where several are tried.
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
    """The matches of frames `start` to `stop` of a clip, of these matches, and so on until none is new.

    A larger threshold can find one or two fewer: of stretches that overlap in part, the one found first stays.

    Parameters
    ----------
    clip : a clip of the web by name or index, or a motion from outside, which is compared with every clip first.
    start, stop : frames of the clip at the web's rate, half-open; of a motion from outside at its own rate, None for
        its ends.
    threshold : metres; the root of the mean D along the time alignment of a match with what it is like.
    overlap : shares of the shorter's frames: two stretches that overlap by more than the first are the same match, by
        less than the second two matches. Raise the second for several periods of a cyclic motion.
    labels : one or several; only stretches of which at least half the frames carry one of them are matches.
    most : matches after which the search ends, which `Found.notes` then says.
    tiers : 1 for what is like the query itself, 2 for what is like that too; None for no end.

    Raises
    ------
    NoResult : where nothing is within the threshold; the message has the distance of the nearest.
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
    """A stretch of a clip that is looked for in a web: where it is, and how to find what is like it."""

    def __init__(self, web: MatchWeb, place: Place, outside: Any = None, labels: _Names | None = None) -> None:
        self.web, self.place, self.outside = web, place, outside
        self.allowed = None if labels is None else labelled(web, labels)
        named = () if labels is None else (labels,) if isinstance(labels, str) else labels
        self.told_labels = f" with the label {' or '.join(map(repr, named))}" if named else ""
        self.still = stillness_of(web, outside)

    @classmethod
    def of(cls, web: MatchWeb, clip: int | str | Motion, start: Any, stop: Any, labels: _Names | None) -> Query:
        """Checked."""
        least = least_frames(web)
        if isinstance(clip, Motion):
            from marey.find.outside import Outside

            outside, first, last = Outside.of(web, clip, start, stop, least)
            return cls(web, (NOWHERE, first, last), outside, labels)
        k = web.index(clip)
        first, last = checked_stretch(start, stop, len(web.clips[k]), web.fps, web.names[k], least)
        return cls(web, (k, first, last), None, labels)

    def finder(self, limit: float) -> Find:
        """Candidates up to `limit` metres of any stretch of the web's clips, and of the query."""

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
        """The match graph at a threshold; with `find`, by candidates that reach at least as far."""
        look = self.finder(threshold) if find is None else find
        return grow(self.place, look, self.still, threshold, overlap=overlap, most=most, tiers=tiers)

    def nearest(self, overlap: tuple[float, float], find: Find | None = None) -> tuple[Place, float] | None:
        """The nearest match at any distance that the web knows, and that distance."""
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
    """Thresholds from `first` on, each a little larger than the one before, up to `last` metres."""
    # What lies on the first rung is within it.
    rung = max(first, 1e-4) * (1.0 + 1e-9)
    while rung < last:
        yield rung
        rung *= _RUNG
    if first <= last:
        yield last


def candidates(pairs: Any, start: int, stop: int, limit: float) -> Candidates:
    """For every frame of every clip the best stretch that ends there, if it is within `limit` metres.

    Parameters
    ----------
    pairs : (clip, cells, whether the query's frames are rows of them) for each clip.
    start, stop : the query's frames.
    """
    # Within a rounding error of the limit, so that what lies on it stays.
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
    """The cells of a clip with each, in both orientations."""
    return [
        (q, web.cells(clip, q), True) if q >= clip else (q, web.cells(q, clip), False) for q in range(len(web.clips))
    ]


def checked_threshold(threshold: Any) -> float:
    """Metres, above 0."""
    return check_number(threshold, "threshold in metres", above=True)


def least_frames(web: MatchWeb) -> int:
    """Frames that a query must last at the web's rate."""
    return max(_LEAST_FRAMES, round(web.options.chain * web.fps))


def checked_stretch(start: Any, stop: Any, n_frames: int, fps: float, name: str, least: int) -> tuple[int, int]:
    """Frames of a query, which lie within the clip and are enough to be found again."""
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
    """For each clip, (F,) the frames that carry one of the labels."""
    wanted = (labels,) if isinstance(labels, str) else tuple(labels)
    known = sorted({name for clip in web.clips for name in clip.labels.names})
    for name in wanted:
        if name not in known:
            told = f"there are {', '.join(map(repr, known))}" if known else "the clips have no labels"
            raise UnknownName(f"no clip of this web has the label {name!r}; {told}{similar(str(name), known)}")
    if not wanted:
        raise InvalidValue("labels must name at least one, got none; leave them out to search everything")
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
    """The shares `same` and `new`."""
    try:
        same, new = (float(share) for share in overlap)
    except (TypeError, ValueError):
        raise InvalidValue(f"overlap must be two shares such as (0.8, 0.2), got {overlap!r}") from None
    if not 0.0 <= new <= same < 1.0:
        raise InvalidValue(
            f"overlap must be two shares, 0 <= new <= same < 1: the same match from more than the first on, a new one "
            f"up to the second; got {overlap!r}"
        )
    return same, new


def _notes(web: MatchWeb, graph: Growth, limit: float, most: int) -> list[str]:
    notes = []
    if graph.is_full:
        notes.append(f"the search ended at {most} matches, there are more; lower the threshold or raise most")
    if limit > web.options.limit:
        notes.append(
            f"the web was built up to {web.options.limit:g} m, so that a threshold of {limit:g} m finds no more"
        )
    return notes


def _refuse(query: Query, limit: float, overlap: tuple[float, float]) -> NoReturn:
    near = query.nearest(overlap)
    clip, start, stop = query.place
    name = query.outside.motion.name if clip == NOWHERE else query.web.names[clip]
    what = f"nothing{query.told_labels} within {limit:g} m of frames {start} to {stop} of {name!r}"
    if near is None:
        raise NoResult(f"{what}, nor at any distance that this web was built for, {query.web.options.limit:g} m")
    (clip, start, stop), distance = near
    raise NoResult(f"{what}; the nearest is {query.web.names[clip]!r} {start} to {stop}, at {distance:.4f} m")


def _aligner(web: MatchWeb, outside: Any) -> Callable[[Match, Match], TimeAlignment]:
    """The time alignment of two matches: the best over the whole of their grid, from corner to corner."""

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
    """The best path from corner to corner; matches whose mean intervals differ more than the slope limit get the next
    limit that joins them."""
    limit = SLOPE_LIMIT
    while True:
        try:
            return dtw(values, slope_limit=limit)
        except NoTimewarp:
            if limit > 8:
                raise
            limit += 1
