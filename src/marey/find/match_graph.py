"""Turn candidates into matches: overlap, tiers and the match graph (Kovar 6.2.3).

Candidates are intervals of clips that are similar to a query; many of them are the same motion, a few frames apart. The
overlap of two intervals is the length of their intersection divided by the length of the shorter one (Kovar 6.1).

Candidates of a query that overlap a better one by more than `same` are dropped. The others are compared with all
matches so far. If the largest overlap is more than `same`, the candidate is a known match: it gets an edge, and the
interval of the match becomes the mean of all intervals found for it. If it is less than `new`, the candidate is a new
match. Otherwise it is dropped. New matches are the queries of the next tier.

Candidates are ranked by the total cost of their paths, not by the mean. A path that lingers while both characters stand
still has a lower mean, and the ends of matches would drift from tier to tier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, Ints
from marey.find.search_kernels import find_most_overlap, keep_distinct
from marey.find.settings import SearchSettings

EXTERNAL = -1
"""The clip index of a query that is not in the web."""

# A candidate is not a match if it is closer to standing still than its query is, and this many times closer to standing
# still than to its query.
_STILLER = 1.5

# A search with `skip_known` begins to skip known matches when there are more matches than this.
_MAX_LINKED = 32

Interval = tuple[int, int, int]
"""Clip index, first frame and end frame (exclusive)."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """N intervals of clips that are similar to a query.

    clips, starts, stops : (N,) clip index and frames of each interval, half-open.
    distances : (N,) distance in meters: the square root of the mean D along the best time alignment.
    costs : (N,) total cost of that alignment in m^2.
    """

    clips: Ints
    starts: Ints
    stops: Ints
    distances: Floats
    costs: Floats

    def __len__(self) -> int:
        return len(self.clips)

    def __iter__(self) -> Iterator[tuple[int, int, int, float]]:
        columns = (self.clips, self.starts, self.stops, self.distances)
        return iter(zip(*(column.tolist() for column in columns), strict=True))

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The arrays, in the order of the parameters."""
        return self.clips, self.starts, self.stops, self.distances, self.costs

    def select(self, which: Ints | Bools) -> Candidates:
        """Select candidates by indices or by a mask."""
        return Candidates(*(column[which] for column in self.columns))

    def shift(self, frames: int) -> Candidates:
        """Move all candidates by a number of frames."""
        return replace(self, starts=self.starts + frames, stops=self.stops + frames)

    def within(self, threshold: float, lengths: tuple[int, int]) -> Candidates:
        """Select candidates with a distance of at most `threshold` meters and a number of frames in the range
        `lengths`, inclusive."""
        n_frames = self.stops - self.starts
        return self.select((self.distances <= threshold) & (n_frames >= lengths[0]) & (n_frames <= lengths[1]))

    def drop_overlapping(self, same: float) -> Candidates:
        """Drop candidates that overlap a better one by more than `same`; the others are sorted, best first."""
        order = np.lexsort((self.stops, self.starts, self.clips, self.costs))
        ordered = self.select(order)
        kept = np.empty(len(order), dtype=np.int64)
        n = keep_distinct(ordered.clips, ordered.starts, ordered.stops, same, kept)
        return ordered.select(kept[:n])


@dataclass(frozen=True, slots=True, eq=False)
class KnownMatches:
    """The matches that a search has found so far.

    intervals : (N, 3) clip, start and stop of each.
    new : maximum overlap of a new match with each of them, as a fraction.
    radius : no new match ends up to this many frames after the end of a known match.
    """

    intervals: Ints
    new: float
    radius: int

    def contain(self, ends: Ints, starts: Ints) -> Bools:
        """Return a mask (E,) of the frames at which no new match can end.

        A match that ends n frames into a known match overlaps it by n frames, or by its own length if that is less. It
        is new only if n is less than `new` times the length of the known match.

        ends : (E,) frames, numbered over all clips. starts : (C + 1,) first frame of each clip.
        """
        inside = self.intervals[self.intervals[:, 0] >= 0]
        if not len(inside) or not len(ends):
            return np.zeros(len(ends), dtype=bool)
        clips, begin, stop = inside.T
        first = starts[clips] + begin + np.ceil(self.new * (stop - begin)).astype(np.int64) - 1
        last = np.minimum(starts[clips] + stop - 1 + self.radius, starts[clips + 1] - 1)
        order = np.argsort(first, kind="stable")
        before = np.searchsorted(first[order], ends, side="right") - 1
        furthest = np.maximum.accumulate(last[order])
        return np.asarray((before >= 0) & (ends <= furthest[before]))


class CandidateLimits(NamedTuple):
    """Which candidates a search looks for.

    distance : maximum distance from the query in meters.
    max_matches : maximum number of matches of the search.
    known : matches that were found before; None to look for all.
    """

    distance: float
    max_matches: int
    known: KnownMatches | None = None


def are_near(frames: Ints, centers: Ints, radius: int) -> Bools:
    """Return a mask (N,) of the frames that are within `radius` frames of any of the sorted frames `centers`."""
    if not len(centers):
        return np.zeros(len(frames), dtype=bool)
    after = np.searchsorted(centers, frames)
    to_next = np.abs(centers[np.minimum(after, len(centers) - 1)] - frames)
    to_last = np.abs(frames - centers[np.maximum(after - 1, 0)])
    return np.asarray(np.minimum(to_next, to_last) <= radius)


Find = Callable[..., Candidates]
"""``find(clip, start, stop)`` returns the candidates of a query; ``find(clip, start, stop, known)`` may leave out those
that cannot be new, given the `KnownMatches`."""

Still = Callable[[int, int, int], float]
"""``still(clip, start, stop)`` returns the distance in meters between an interval and standing still."""


class MatchGraph:
    """A match graph while it grows; node 0 is the query.

    Attributes
    ----------
    n : number of nodes.
    tiers : tier of each node.
    stillness : distance in meters of each node to standing still.
    links : distance in meters of two connected nodes, keyed by (a, b) with a < b.
    lengths : minimum and maximum number of frames of a match, in every tier: half and twice the query's.
    is_full : whether the search stopped because there are more than `max_matches` matches.
    """

    def __init__(self, query: Interval, max_matches: int, still: float = np.inf) -> None:
        self.max_matches = max_matches
        self.tiers: list[int] = []
        self.stillness: list[float] = []
        self.links: dict[tuple[int, int], float] = {}
        self.is_full = False
        n_frames = query[2] - query[1]
        self.lengths = (n_frames + 1) // 2, 2 * n_frames
        # How often each node was found, and the sums of its starts and stops.
        self._sums: list[tuple[int, int, int]] = []
        self._intervals = np.zeros((16, 3), dtype=np.int64)
        self.add(query, 0, still)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.tiers)

    def interval(self, node: int) -> Interval:
        """Return a node's clip and mean interval."""
        clip, start, stop = self._intervals[node].tolist()
        return clip, start, stop

    def get_known_matches(self, new: float) -> KnownMatches:
        """Return the nodes as known matches. A new match overlaps each of them by less than the fraction `new`."""
        # Two intervals of at least l frames that end d frames apart overlap by at least 1 - d / l.
        return KnownMatches(self._intervals[: self.n].copy(), new, int((1.0 - new) * self.lengths[0]))

    def add(self, interval: Interval, tier: int, still: float = np.inf) -> int:
        """Add a node and return its index."""
        if self.n == len(self._intervals):
            self._intervals = np.concatenate([self._intervals, np.zeros_like(self._intervals)])
        self._intervals[self.n] = interval
        self._sums.append((1, interval[1], interval[2]))
        self.tiers.append(tier)
        self.stillness.append(still)
        return self.n - 1

    def merge_interval(self, node: int, start: int, stop: int) -> None:
        """Include another interval in a node's mean interval; the length becomes the mean length."""
        n, starts, stops = self._sums[node]
        n, starts, stops = n + 1, starts + start, stops + stop
        self._sums[node] = n, starts, stops
        first = round(starts / n)
        self._intervals[node, 1:] = first, first + round((stops - starts) / n)

    def link(self, a: int, b: int, distance: float) -> None:
        """Add an edge between two nodes, or lower the distance of the existing one."""
        pair = (min(a, b), max(a, b))
        self.links[pair] = min(distance, self.links.get(pair, np.inf))

    def find_most_overlapping(self, interval: Interval) -> tuple[int, float]:
        """Return the node that overlaps most with an interval, and the overlap as a fraction."""
        return find_most_overlap(self._intervals, self.n, interval)


def grow_match_graph(
    query: Interval,
    find: Find,
    still: Still,
    threshold: float,
    settings: SearchSettings,
    *,
    skip_known: bool = False,
) -> MatchGraph:
    """Find the matches of a query, the matches of these, and so on until there are no new ones.

    A candidate that moves less than its query, and is more similar to standing still than to its query, is not a match.
    Otherwise it would lead to every pause in the web.

    Parameters
    ----------
    query : clip, start, stop.
    find : returns the candidates of an interval.
    still : returns the distance of an interval to standing still, in meters.
    threshold : maximum distance of a match in meters.
    settings : overlap (see the module), and the maximum numbers of matches and tiers.
    skip_known : whether `find` may leave out known matches as soon as there are more than 32. Later matches are then
        not linked to all others, and the intervals of known matches do not change anymore.
    """
    graph = MatchGraph(query, settings.max_matches, still(*query))
    overlap, max_tiers = settings.overlap, settings.max_tiers
    level, tier = [0], 0
    while level and (max_tiers is None or tier < max_tiers):
        tier += 1
        added: list[int] = []
        for node in level:
            known = (graph.get_known_matches(overlap[1]),) if skip_known and graph.n > _MAX_LINKED else ()
            found = find(*graph.interval(node), *known).within(threshold, graph.lengths).drop_overlapping(overlap[0])
            if not _add_candidates(graph, node, found, still, tier, overlap, added):
                return graph
        level = added
    return graph


def _add_candidates(
    graph: MatchGraph,
    node: int,
    found: Candidates,
    still: Still,
    tier: int,
    overlap: tuple[float, float],
    added: list[int],
) -> bool:
    """Link a node to its candidates. New matches become nodes and are appended to `added`. Return False if the graph is
    full."""
    for clip, start, stop, distance in found:
        other, fraction = graph.find_most_overlapping((clip, start, stop))
        if fraction < overlap[1] or fraction == 0.0:
            stillness = still(clip, start, stop)
            if stillness < graph.stillness[node] and distance > _STILLER * stillness:
                continue
            if graph.n > graph.max_matches:
                graph.is_full = True
                return False
            added.append(graph.add((clip, start, stop), tier, stillness))
            graph.link(node, added[-1], distance)
        elif fraction > overlap[0] and other != node:
            graph.link(node, other, distance)
            if other != 0:  # the interval of the query does not change
                graph.merge_interval(other, start, stop)
    return True
