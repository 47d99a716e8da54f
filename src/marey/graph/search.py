"""Walks that make an objective small: branch and bound, piece by piece (Kovar 4.2.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Bools, Floats, frozen
from marey.errors import InvalidValue, NoResult
from marey.graph.motion_graph import MotionGraph
from marey.graph.walk import Walk
from marey.maths import rigid2d


@dataclass(frozen=True, slots=True)
class Partial:
    """A walk while it is being searched for.

    Attributes
    ----------
    graph : the graph.
    node : where it stands.
    place : (3,) rigid2d of the clip that it stands in.
    n_frames : frames gone so far.
    cost : what they cost.
    memo : what the objective remembers of them.
    before, edge : the walk without its last edge, and that edge; None and -1 for one that has not begun.
    """

    graph: MotionGraph
    node: int
    place: Floats
    n_frames: int
    cost: float
    memo: Any
    before: Partial | None = None
    edge: int = -1

    @property
    def edges(self) -> list[int]:
        """The edges gone, in order."""
        return [part.edge for part in self.parts()][1:]

    def parts(self) -> list[Partial]:
        """The walk at each of its nodes, in order."""
        out = []
        part: Partial | None = self
        while part is not None:
            out.append(part)
            part = part.before
        return out[::-1]


class Objective(Protocol):
    """What a search makes small: the sum of costs of edges, none of them negative (Kovar 4.14)."""

    def begin(self, walk: Partial) -> Any:
        """What to remember of a walk that has not begun."""
        ...

    def add(self, walk: Partial, edge: int) -> tuple[float, Any]:
        """The cost of going on by `edge`, infinity to forbid it, and what to remember then."""
        ...

    def complete(self, walk: Partial) -> bool:
        """Whether the walk may end here."""
        ...


@dataclass(frozen=True, slots=True)
class Function:
    """An objective from two functions: ``cost(walk, edge)`` and ``done(walk)``."""

    cost: Callable[[Partial, int], float]
    done: Callable[[Partial], bool]

    def begin(self, walk: Partial) -> None:
        """Nothing."""

    def add(self, walk: Partial, edge: int) -> tuple[float, None]:
        """The cost alone."""
        return float(self.cost(walk, edge)), None

    def complete(self, walk: Partial) -> bool:
        """As the function says."""
        return bool(self.done(walk))


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    walk : the best walk.
    cost : its cost.
    complete : whether it satisfies the halting condition, or is only as far as the budget went.
    proven : whether nothing better exists: the whole was searched at once, and no budget ran out.
    n_expanded : walks that were gone on with.
    """

    walk: Walk
    cost: float
    complete: bool
    proven: bool
    n_expanded: int


def search(
    graph: MotionGraph,
    objective: Objective,
    *,
    start: int | tuple[int, ArrayLike] | None = None,
    frames: int | None = 90,
    keep: int = 28,
    label: str | None = None,
    most_expanded: int = 200_000,
    most_seconds: float | None = None,
    good_enough: float = 0.0,
    among: float = 0.0,
    rng: int | np.random.Generator = 0,
) -> Searched:
    """The walk of smallest cost, by branch and bound over `frames` frames at a time.

    Children are tried in order of their cost, and a branch ends where it costs as much as the best walk known. Each
    piece of `frames` frames is searched for, its first `keep` frames are kept, and the search goes on from there until
    a walk is complete; out of a dead end it goes back and looks further ahead. It
    stops at any time when a budget runs out, with the best so far.

    Parameters
    ----------
    objective : costs and the halting condition; see `marey.graph.objectives`, and `Function` for your own.
    start : a node, or a node and the rigid2d of its clip in the world; by default the best of all nodes.
    frames : None searches for the whole walk at once, which proves the optimum but takes exponential time.
    keep : frames of each piece that are kept.
    label : keep to the endless motion of this label.
    most_expanded, most_seconds : budgets for the whole search.
    good_enough : stop at a complete walk that costs less than this.
    among : in each piece, take by chance one of the walks that cost at most this much more than the best.
    rng : for that chance.
    """
    if frames is not None and not 1 <= keep <= frames:
        raise InvalidValue(f"keep must lie between 1 and frames={frames}, got {keep}")
    if most_expanded < 1:
        raise InvalidValue(f"most_expanded must be at least 1, got {most_expanded}")
    hunt = _Hunt(graph, objective, graph.allowed(label), most_expanded, most_seconds, good_enough, among)
    chance = np.random.default_rng(rng)
    ahead = frames
    trail = [list(_beginnings(graph, objective, start, hunt.allowed))]
    while trail:
        heads = trail[-1]
        found = hunt.piece(heads, None if ahead is None else heads[0].n_frames + ahead)
        if not found:
            if ahead is None or hunt.spent:
                break
            # What was kept leads into a dead end: one piece back, and look further ahead from there.
            trail.pop()
            ahead *= 2
            continue
        best = found[0] if among <= 0.0 else found[int(chance.integers(len(found)))]
        done = objective.complete(best)
        if done or hunt.spent:
            walk = graph.walk(best.edges, best.parts()[0].place)
            return Searched(walk, best.cost, done, done and frames is None and not hunt.cut, hunt.n)
        trail.append([_kept(best, heads[0].n_frames + keep)])
    if hunt.spent:
        raise NoResult(f"no walk was found within {hunt.n} steps; give the search a larger budget")
    raise NoResult("no walk satisfies the objective and its constraints; loosen them, or give more clips")


class _Hunt:
    """Branch and bound, with its budgets."""

    def __init__(
        self,
        graph: MotionGraph,
        objective: Objective,
        allowed: Bools,
        most: int,
        seconds: float | None,
        good_enough: float,
        among: float,
    ) -> None:
        self.graph, self.objective, self.allowed = graph, objective, allowed
        self.most, self.good_enough, self.among = most, good_enough, among
        self.until = None if seconds is None else time.monotonic() + seconds
        self.n = 0
        self.cut = False

    @property
    def spent(self) -> bool:
        """Whether a budget has run out."""
        if self.n >= self.most or (self.until is not None and time.monotonic() > self.until):
            self.cut = True
        return self.cut

    def piece(self, heads: list[Partial], until: int | None) -> list[Partial]:
        """Complete walks, or walks of `until` frames, that cost least; the best first."""
        found: list[Partial] = []
        bound = np.inf
        # Depth first, with the cheapest child on top.
        stack = sorted(heads, key=lambda walk: -walk.cost)
        while stack:
            walk = stack.pop()
            if walk.cost > bound or (walk.cost == bound and self.among <= 0.0):
                continue
            # A walk has to have begun before it can be complete.
            if walk.edge >= 0 and (self.objective.complete(walk) or (until is not None and walk.n_frames >= until)):
                found = [other for other in (*found, walk) if other.cost <= walk.cost + self.among or other is walk]
                bound = min(bound, walk.cost + self.among)
                if self.objective.complete(walk) and walk.cost < self.good_enough:
                    break
                continue
            if self.spent and found:
                break
            if self.n >= 4 * self.most:
                break
            self.n += 1
            stack += sorted(self._children(walk), key=lambda child: -child.cost)
        if not found:
            return []
        least = min(walk.cost for walk in found)
        return sorted((w for w in found if w.cost <= least + self.among), key=lambda walk: walk.cost)

    def _children(self, walk: Partial) -> Iterator[Partial]:
        edges = self.graph.edges
        for edge in self.graph.out_edges(walk.node):
            if not self.allowed[edge]:
                continue
            cost, memo = self.objective.add(walk, edge)
            if not cost >= 0.0:
                raise InvalidValue(f"an objective's costs must be 0 or more, got {cost} for edge {edge}")
            if np.isinf(cost):
                continue
            place = rigid2d.compose(walk.place, edges.moves[edge]) if edges.blends[edge] else walk.place
            yield Partial(
                walk.graph,
                int(edges.heads[edge]),
                place,
                walk.n_frames + int(edges.n_frames[edge]),
                walk.cost + cost,
                memo,
                walk,
                edge,
            )


def _beginnings(
    graph: MotionGraph, objective: Objective, start: int | tuple[int, ArrayLike] | None, allowed: Bools
) -> Iterator[Partial]:
    nodes = range(len(graph.nodes)) if start is None else [start if isinstance(start, int) else start[0]]
    place = frozen(start[1], "the start's place", (3,)) if isinstance(start, tuple) else np.zeros(3)
    for node in nodes:
        if not 0 <= node < len(graph.nodes):
            raise InvalidValue(f"start must be a node from 0 to {len(graph.nodes) - 1}, got {node}")
        if start is None and not allowed[list(graph.out_edges(node))].any():
            continue
        empty = Partial(graph, node, place, 0, 0.0, None)
        yield replace(empty, memo=objective.begin(empty))


def _kept(walk: Partial, n_frames: int) -> Partial:
    """The walk cut back to the first node at which it has gone `n_frames`."""
    return next(part for part in walk.parts() if part.n_frames >= n_frames or part is walk)
