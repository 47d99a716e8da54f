"""Search results: the matches, the graph that connects them, and their distance from the query (Kovar 6.2.3)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, Ints, check_index, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.register.dtw import TimeAlignment


@dataclass(frozen=True, slots=True)
class Match:
    """A match: an interval of a clip that is similar to the query, directly or through other matches.

    clip : name of the clip.
    start, stop : frames of the clip, half-open.
    distance : distance in meters from the query, summed along the shortest path in the match graph.
    tier : 0 for the query, 1 for matches of the query, 2 for matches of these, and so on.
    """

    clip: str
    start: int
    stop: int
    distance: float = 0.0
    tier: int = 0

    def __len__(self) -> int:
        return self.stop - self.start


class MatchEdge:
    """An edge of the match graph: two similar matches.

    Parameters
    ----------
    first, second : indices in `MatchResult.matches`, first < second.
    distance : distance in meters: the square root of the mean D along their best time alignment when they were found.
    alignment : time alignment of the two motions from end to end, or a function that computes it on first use.

    Examples
    --------
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> edge = web.search("medley", kick.start, kick.stop, threshold=0.07).edges[0]
    >>> edge.first, edge.distance < 0.07, edge.alignment.cells.shape[1]  # meters
    (0, True, 2)
    """

    __slots__ = ("_alignment", "distance", "first", "second")

    def __init__(
        self, first: int, second: int, distance: float, alignment: TimeAlignment | Callable[[], TimeAlignment]
    ) -> None:
        self.first, self.second, self.distance = first, second, distance
        self._alignment = alignment

    @property
    def alignment(self) -> TimeAlignment:
        """Time alignment of the two motions: corresponding frames (N, 2), and D of each pair."""
        if not isinstance(self._alignment, TimeAlignment):
            self._alignment = self._alignment()
        return self._alignment

    def __repr__(self) -> str:
        return f"MatchEdge({self.first}, {self.second}, distance={self.distance:.4f})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchResult(FrozenRecord):
    """The query and its matches, connected as a graph.

    Parameters
    ----------
    matches : the query first, then the matches by increasing distance, or as `SearchSettings.order` says.
    motions : the motions of the matches, cut out of their clips.
    edges : edges of the match graph.
    parents : (n,) index of each match's parent, the next match on the shortest path to the query; -1 for the query.
    threshold : threshold of the search in meters.
    notes : messages for the user, such as a limit that was reached.
    aligned : function that computes the time alignment of any two matches.

    Examples
    --------
    >>> kick = next(label for label in take.labels if label.name == "kick")
    >>> found = web.search("medley", kick.start, kick.stop, threshold=0.07)
    >>> len(found), found.distances.shape, found.parents.shape
    (4, (4,), (4,))
    >>> len(found.without(-1))
    3
    """

    matches: tuple[Match, ...]
    motions: tuple[Motion, ...] = field(repr=False)
    edges: tuple[MatchEdge, ...]
    parents: Ints
    threshold: float
    notes: tuple[str, ...]
    aligned: Callable[[Match, Match], TimeAlignment]

    def __post_init__(self) -> None:
        self._put(
            matches=tuple(self.matches), motions=tuple(self.motions), edges=tuple(self.edges), notes=tuple(self.notes)
        )
        if not self.matches or len(self.motions) != len(self.matches):
            raise InvalidValue(
                f"motions must have one entry per match, including the query, not {len(self.motions)} for "
                f"{len(self.matches)} matches"
            )
        self._freeze(parents=(len(self.matches),))

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __getitem__(self, which: int) -> Match:
        return self.matches[which]

    def __repr__(self) -> str:
        tiers = max(match.tier for match in self.matches)
        return (
            f"<MatchResult: {len(self) - 1} matches of {self.query.clip!r} {self.query.start} to {self.query.stop} "
            f"within {self.threshold:g} m, in {tiers} tiers>"
        )

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        rows = (
            (
                k,
                one.clip,
                f"{one.start} to {one.stop}",
                f"{one.start / motion.fps:.2f} s",
                f"{100 * one.distance:.1f} cm",
            )
            for k, (one, motion) in enumerate(zip(self.matches, self.motions, strict=True))
        )
        n = len(self) - 1
        facts = f"{n} match{'' if n == 1 else 'es'} within {100 * self.threshold:g} cm; 0 is the query"
        columns = ("match", "clip", "frames", "start", "distance")
        return show_table(f"Matches of {self.query.clip}", facts, columns, rows)

    @property
    def query(self) -> Match:
        """The query, which is match 0."""
        return self.matches[0]

    @property
    def distances(self) -> Floats:
        """(n,) distance in meters of each match from the query, along the shortest path in the match graph."""
        return set_readonly(np.array([match.distance for match in self.matches]))

    def to_dict(self) -> dict[str, Any]:
        """Return the query, its matches and the match graph, JSON-ready. Frames and seconds refer to each match's
        clip."""
        rows = [
            {
                "number": k,
                "clip": match.clip,
                "start": match.start,
                "stop": match.stop,
                "start_s": match.start / motion.fps,
                "stop_s": match.stop / motion.fps,
                "distance_m": match.distance,
                "tier": match.tier,
                "parent": int(parent),
            }
            for k, (match, motion, parent) in enumerate(zip(self.matches, self.motions, self.parents, strict=True))
        ]
        return {
            "threshold_m": self.threshold,
            "query": rows[0],
            "matches": rows[1:],
            "edges": [{"first": edge.first, "second": edge.second, "distance_m": edge.distance} for edge in self.edges],
            "notes": list(self.notes),
        }

    def reorder(self, order: Sequence[int]) -> MatchResult:
        """Return the result with its matches in another order, given by their indices; the query stays first."""
        if sorted(order) != list(range(len(self))) or order[0] != 0:
            raise InvalidValue(f"order must contain the indices 0 to {len(self) - 1}, each once and 0 first")
        place = {k: at for at, k in enumerate(order)}
        edges = []
        for edge in self.edges:
            first, second = sorted((place[edge.first], place[edge.second]))
            pair = self.matches[order[first]], self.matches[order[second]]
            edges.append(MatchEdge(first, second, edge.distance, _align_later(self.aligned, *pair)))
        parents = [self.parents[k] for k in order]
        return replace(
            self,
            matches=tuple(self.matches[k] for k in order),
            motions=tuple(self.motions[k] for k in order),
            edges=tuple(sorted(edges, key=lambda edge: (edge.first, edge.second))),
            parents=set_readonly(np.array([-1 if k < 0 else place[int(k)] for k in parents], dtype=np.int64)),
        )

    def without(self, *which: int) -> MatchResult:
        """Return the result without some matches, given by index; negative indices count from the end.

        Matches that were connected to the query only through a removed match stay. They are connected to their nearest
        remaining ancestor.

        Examples
        --------
        >>> kick = next(label for label in take.labels if label.name == "kick")
        >>> found = web.search("medley", kick.start, kick.stop, threshold=0.07)
        >>> len(found), len(found.without(1, -1))
        (4, 2)
        """
        drop = set()
        for given in which:
            k = check_index(given, "the index of a match")
            if not -len(self) <= k < len(self):
                raise InvalidValue(f"`which` must be match indices from 1 to {len(self) - 1}, not {k}")
            drop.add(k % len(self))
        if 0 in drop:
            raise InvalidValue("the query, match 0, cannot be removed; search with another query instead")
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
        return make_match_result(
            [self.matches[k] for k in keep], [self.motions[k] for k in keep], renamed, self.threshold, self.notes,
            self.aligned,
        )  # fmt: skip


def make_match_result(
    matches: Sequence[Match],
    motions: Sequence[Motion],
    links: dict[tuple[int, int], float],
    threshold: float,
    notes: Iterable[str],
    aligned: Callable[[Match, Match], TimeAlignment],
) -> MatchResult:
    """Build a result: compute distances from the query, which is the first match, and sort the matches by them.

    links : edges of the match graph, keyed by pairs of indices into `matches`, with their distance in meters.
    The other parameters are those of `MatchResult`.
    """
    distances, before = shortest_paths(len(matches), links)
    order = sorted(range(len(matches)), key=lambda k: (k != 0, distances[k], matches[k].clip, matches[k].start))
    place = {k: at for at, k in enumerate(order)}
    ordered = [replace(matches[k], distance=float(distances[k])) for k in order]
    edges = []
    for (a, b), distance in sorted(((sorted((place[a], place[b])), d) for (a, b), d in links.items())):
        edges.append(MatchEdge(a, b, float(distance), _align_later(aligned, ordered[a], ordered[b])))
    parents = np.array([-1 if before[k] < 0 else place[before[k]] for k in order], dtype=np.int64)
    return MatchResult(
        tuple(ordered),
        tuple(motions[k] for k in order),
        tuple(edges),
        set_readonly(parents),
        threshold,
        tuple(notes),
        aligned,
    )


def _align_later(
    aligned: Callable[[Match, Match], TimeAlignment], first: Match, second: Match
) -> Callable[[], TimeAlignment]:
    return lambda: aligned(first, second)


def shortest_paths(n: int, links: dict[tuple[int, int], float]) -> tuple[list[float], list[int]]:
    """Return the distances of n nodes from node 0, and the previous node on the path to each; inf and -1 if
    unreachable.

    Of paths with equal distance, the one found first is used.
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
