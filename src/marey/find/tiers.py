"""From candidates to matches: overlap, tiers and the match graph (Kovar 6.2.3).

Candidates are stretches of clips that are like a query; most of them are the same motion, a few frames apart. Two of
them overlap by the length of what they share over the length of the shorter (Kovar 6.1). Of a query's candidates, from
the best on, those that overlap with a better one by more than `same` are dropped. The rest are held against all matches
so far: more than `same` is that match seen again, which gets an edge and the mean of all intervals it was seen with;
less than `new` is a new match; what lies between is neither and is dropped. New matches are queries of the next tier.

Which of two candidates is the better goes by the cost of their paths and not by its mean: a path that lingers where
both figures stand still has the lower mean, and tier by tier the ends of matches would drift away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.find.search_kernels import find_most_overlap, keep_distinct

NOWHERE = -1
"""The clip of a query that is not in the set."""

# How many times nearer to standing still than to what it is like a stretch may be, if it is stiller than that.
_DULLER = 1.5

Place = tuple[int, int, int]
"""A clip, and frames of it, half-open."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """N stretches of clips that are like a query.

    clips, starts, stops : (N,) which clip, and frames, half-open.
    distances : (N,) metres, the root of the mean D along the best time alignment.
    costs : (N,) what that alignment cost, m^2.
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

    def taken(self, which: Ints | Bools) -> Candidates:
        """Some of them."""
        return Candidates(
            self.clips[which], self.starts[which], self.stops[which], self.distances[which], self.costs[which]
        )

    def within(self, threshold: float, lengths: tuple[int, int]) -> Candidates:
        """Those with at most this distance, and with so many frames at least and at most."""
        n_frames = self.stops - self.starts
        return self.taken((self.distances <= threshold) & (n_frames >= lengths[0]) & (n_frames <= lengths[1]))

    def distinct(self, same: float) -> Candidates:
        """From the best on, those that overlap with no better one by more than `same`."""
        order = np.lexsort((self.stops, self.starts, self.clips, self.costs))
        ordered = self.taken(order)
        kept = np.empty(len(order), dtype=np.int64)
        n = keep_distinct(ordered.clips, ordered.starts, ordered.stops, same, kept)
        return ordered.taken(kept[:n])


Find = Callable[[int, int, int], Candidates]
"""``find(clip, start, stop)``: the candidates of a query."""

Still = Callable[[int, int, int], float]
"""``still(clip, start, stop)``: metres between a stretch and a figure that stands still."""


class Growth:
    """A match graph while it grows; node 0 is the query.

    Attributes
    ----------
    n : how many nodes.
    tiers : of each node.
    stillness : of each node, metres between it and a figure that stands still.
    links : metres between two nodes (a < b).
    lengths : frames that a match has at least and at most: half and twice the query's, whatever the tier.
    is_full : whether there was a match too many.
    """

    def __init__(self, query: Place, most: int, still: float = np.inf) -> None:
        self.most = most
        self.tiers: list[int] = []
        self.stillness: list[float] = []
        self.links: dict[tuple[int, int], float] = {}
        self.is_full = False
        n_frames = query[2] - query[1]
        self.lengths = (n_frames + 1) // 2, 2 * n_frames
        self._seen: list[tuple[int, int, int]] = []  # how often, and the sums of starts and stops
        self._places = np.zeros((16, 3), dtype=np.int64)
        self.add(query, 0, still)

    @property
    def n(self) -> int:
        """How many nodes."""
        return len(self.tiers)

    def place(self, node: int) -> Place:
        """A node's clip and mean interval."""
        clip, start, stop = self._places[node].tolist()
        return clip, start, stop

    def add(self, place: Place, tier: int, still: float = np.inf) -> int:
        """A new node."""
        if self.n == len(self._places):
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
        self._places[self.n] = place
        self._seen.append((1, place[1], place[2]))
        self.tiers.append(tier)
        self.stillness.append(still)
        return self.n - 1

    def see_again(self, node: int, start: int, stop: int) -> None:
        """Take one more interval into a node's mean, whose length is the mean length."""
        n, starts, stops = self._seen[node]
        n, starts, stops = n + 1, starts + start, stops + stop
        self._seen[node] = n, starts, stops
        first = round(starts / n)
        self._places[node, 1:] = first, first + round((stops - starts) / n)

    def link(self, a: int, b: int, distance: float) -> None:
        """An edge, or a shorter one."""
        pair = (min(a, b), max(a, b))
        self.links[pair] = min(distance, self.links.get(pair, np.inf))

    def nearest(self, place: Place) -> tuple[int, float]:
        """The node that overlaps most with a stretch, and by what share."""
        return find_most_overlap(self._places, self.n, place)


def grow(
    query: Place, find: Find, still: Still, threshold: float, *, overlap: tuple[float, float], most: int,
    tiers: int | None = None,
) -> Growth:  # fmt: skip
    """The matches of a query, of its matches, and so on, until none is new.

    A stretch in which less happens than in what it is like, and that is more like a figure that stands still, is no
    match: all standing would come in through it.

    Parameters
    ----------
    query : clip, start, stop.
    overlap : `same` and `new`, shares from 0 to 1.
    most : matches, besides the query, after which it stops.
    tiers : how far to go; None for as far as there is something new.
    """
    graph = Growth(query, most, still(*query))
    level, tier = [0], 0
    while level and (tiers is None or tier < tiers):
        tier += 1
        fresh: list[int] = []
        for node in level:
            seen = find(*graph.place(node)).within(threshold, graph.lengths).distinct(overlap[0])
            if not _tell_apart(graph, node, seen, still, tier, overlap, fresh):
                return graph
        level = fresh
    return graph


def _tell_apart(
    graph: Growth, node: int, seen: Candidates, still: Still, tier: int, overlap: tuple[float, float], fresh: list[int]
) -> bool:
    """Link a node to its candidates, whether seen before or new, which are added to `fresh` too; False if full."""
    for clip, start, stop, distance in seen:
        nearest, share = graph.nearest((clip, start, stop))
        if share < overlap[1] or share == 0.0:
            stillness = still(clip, start, stop)
            if stillness < graph.stillness[node] and distance > _DULLER * stillness:
                continue
            if graph.n > graph.most:
                graph.is_full = True
                return False
            fresh.append(graph.add((clip, start, stop), tier, stillness))
            graph.link(node, fresh[-1], distance)
        elif share > overlap[0] and nearest != node:
            graph.link(node, nearest, distance)
            if nearest != 0:  # the query stays as it was given
                graph.see_again(nearest, start, stop)
    return True
