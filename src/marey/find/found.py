"""What a search found: the matches, how they hang together, and how far each is from the query (Kovar 6.2.3)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from marey.core.arrays import Floats, Ints, check_index, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.register.dtw import TimeAlignment


@dataclass(frozen=True, slots=True)
class Match:
    """Frames `start` to `stop`, half-open, of a clip.

    distance : metres from the query: the sum along the shortest path of the match graph.
    tier : 0 for the query, 1 for what is like it, 2 for what is like these, and so on.
    """

    clip: str
    start: int
    stop: int
    distance: float = 0.0
    tier: int = 0

    def __len__(self) -> int:
        return self.stop - self.start


class MatchEdge:
    """Two matches that are alike, by their place in `Found.matches`.

    Parameters
    ----------
    first, second : places, first < second.
    distance : metres; the root of the mean D along their best time alignment when they were found.
    alignment : frames of the two cut motions that belong together, from the first of both to the last of both; or a
        function that gives them, called when they are first asked for.
    """

    __slots__ = ("_alignment", "distance", "first", "second")

    def __init__(
        self, first: int, second: int, distance: float, alignment: TimeAlignment | Callable[[], TimeAlignment]
    ) -> None:
        self.first, self.second, self.distance = first, second, distance
        self._alignment = alignment

    @property
    def alignment(self) -> TimeAlignment:
        """Frames (N, 2) of the first and of the second cut motion that belong together, and D of each pair."""
        if not isinstance(self._alignment, TimeAlignment):
            self._alignment = self._alignment()
        return self._alignment

    def __repr__(self) -> str:
        return f"MatchEdge({self.first}, {self.second}, distance={self.distance:.4f})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found:
    """The query and its matches, as a graph.

    Parameters
    ----------
    matches : the query first, then by distance.
    motions : the same, cut out of their clips.
    edges : the match graph.
    parents : (n,) the match before each on its shortest path to the query; -1 for the query.
    threshold : metres, that the search was made with.
    notes : what the user should know, such as a cap that was reached.
    aligned : the time alignment of any two matches.
    """

    matches: tuple[Match, ...]
    motions: tuple[Motion, ...] = field(repr=False)
    edges: tuple[MatchEdge, ...]
    parents: Ints
    threshold: float
    notes: tuple[str, ...]
    aligned: Callable[[Match, Match], TimeAlignment]

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "matches", tuple(self.matches))
        put(self, "motions", tuple(self.motions))
        put(self, "edges", tuple(self.edges))
        put(self, "notes", tuple(self.notes))
        if not self.matches or len(self.motions) != len(self.matches):
            raise InvalidValue(
                f"expected as many motions as matches, the query among them, got {len(self.motions)} and "
                f"{len(self.matches)}"
            )
        put(self, "parents", freeze_array(self.parents, "parents", (len(self.matches),), np.int64))

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __getitem__(self, which: int) -> Match:
        return self.matches[which]

    def __repr__(self) -> str:
        tiers = max(match.tier for match in self.matches)
        return (
            f"<Found: {len(self) - 1} matches of {self.query.clip!r} {self.query.start} to {self.query.stop} within "
            f"{self.threshold:g} m, in {tiers} tiers>"
        )

    @property
    def query(self) -> Match:
        """What was looked for."""
        return self.matches[0]

    @property
    def distances(self) -> Floats:
        """(n,) metres from the query along the shortest paths."""
        return set_readonly(np.array([match.distance for match in self.matches]))

    def without(self, *which: int) -> Found:
        """The same without some matches, by their places; negative ones count from the end.

        Those that hung on a dropped match alone stay, joined to the match that came before it.
        """
        drop = set()
        for given in which:
            k = check_index(given, "a match's place")
            if not -len(self) <= k < len(self):
                raise InvalidValue(f"expected places of matches from 1 to {len(self) - 1}, got {k}")
            drop.add(k % len(self))
        if 0 in drop:
            raise InvalidValue("the query, at place 0, cannot be dropped; search with another query instead")
        keep = [k for k in range(len(self)) if k not in drop]
        place = {k: at for at, k in enumerate(keep)}
        links = {(edge.first, edge.second): edge.distance for edge in self.edges}
        left = {pair: d for pair, d in links.items() if pair[0] in place and pair[1] in place}
        reached, _ = shortest_paths(len(self), left)
        for k in keep:
            if not np.isfinite(reached[k]):
                before = k
                while True:
                    before = int(self.parents[before])
                    if before in place:
                        break
                pair = (min(before, k), max(before, k))
                left[pair] = min(left.get(pair, np.inf), abs(self.matches[k].distance - self.matches[before].distance))
        renamed = {(place[a], place[b]): d for (a, b), d in left.items()}
        return assembled(
            [self.matches[k] for k in keep], [self.motions[k] for k in keep], renamed, self.threshold, self.notes,
            self.aligned,
        )  # fmt: skip


def assembled(
    matches: Sequence[Match],
    motions: Sequence[Motion],
    links: dict[tuple[int, int], float],
    threshold: float,
    notes: Iterable[str],
    aligned: Callable[[Match, Match], TimeAlignment],
) -> Found:
    """Matches put in order of their distance from the first, the query, over `links`: places and metres."""
    distances, before = shortest_paths(len(matches), links)
    order = sorted(range(len(matches)), key=lambda k: (k != 0, distances[k], matches[k].clip, matches[k].start))
    place = {k: at for at, k in enumerate(order)}
    ordered = [replace(matches[k], distance=float(distances[k])) for k in order]
    edges = []
    for (a, b), distance in sorted(((sorted((place[a], place[b])), d) for (a, b), d in links.items())):
        edges.append(MatchEdge(a, b, float(distance), _later(aligned, ordered[a], ordered[b])))
    parents = np.array([-1 if before[k] < 0 else place[before[k]] for k in order], dtype=np.int64)
    return Found(
        tuple(ordered),
        tuple(motions[k] for k in order),
        tuple(edges),
        set_readonly(parents),
        threshold,
        tuple(notes),
        aligned,
    )


def _later(
    aligned: Callable[[Match, Match], TimeAlignment], first: Match, second: Match
) -> Callable[[], TimeAlignment]:
    return lambda: aligned(first, second)


def shortest_paths(n: int, links: dict[tuple[int, int], float]) -> tuple[list[float], list[int]]:
    """Distances of n nodes from node 0 and the node before each on the way there; inf and -1 where there is none.

    Of equal paths the one whose nodes were found first is taken.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for (a, b), distance in links.items():
        near[a].append((b, distance))
        near[b].append((a, distance))
    distances, before = [np.inf] * n, [-1] * n
    distances[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        so_far, node = heapq.heappop(heap)
        if so_far > distances[node]:
            continue
        for other, step in sorted(near[node]):
            if so_far + step < distances[other]:
                distances[other], before[other] = so_far + step, node
                heapq.heappush(heap, (so_far + step, other))
    return distances, before
