"""Walks that minimize an objective: branch and bound, one window at a time (Kovar 4.2.1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Bools, Floats, freeze_array
from marey.errors import InvalidValue, NoResult
from marey.graph.motion_graph import MotionGraph
from marey.graph.walk import Walk


@dataclass(frozen=True, slots=True)
class Partial:
    """A partial walk during a search.

    Attributes
    ----------
    graph : the graph.
    node : the current node.
    place : (3,) rigid2d that places the current clip in the world.
    n_frames : frames played so far.
    cost : cost so far.
    memo : state that the objective carries along the walk.
    before, edge : the walk without its last edge, and that edge; None and -1 for an empty walk.
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
        """The edges so far, in order."""
        return [part.edge for part in self.parts()][1:]

    def parts(self) -> list[Partial]:
        """The walk at each of its nodes, in order."""
        out = []
        part: Partial | None = self
        while part is not None:
            out.append(part)
            part = part.before
        return out[::-1]


Cost = Callable[[Partial, int], float]
# Seconds after which a walk is complete if the objective is only a cost function.
_A_WHILE = 4.0


def _after_a_while(walk: Partial) -> bool:
    return walk.n_frames >= _A_WHILE * walk.graph.fps


class Objective(Protocol):
    """What a search minimizes: a sum of non-negative edge costs (Kovar 4.14).

    Two more methods are optional. ``bound(walk)`` returns a lower bound on the cost from here to the end, no more than
    the cost of an edge plus the bound after it; it makes the search faster. ``placed(graph, node)`` returns the rigid2d
    (3,) that places the clip when a walk starts at this node.
    """

    def begin(self, walk: Partial) -> Any:
        """The initial memo of an empty walk."""
        ...

    def add(self, walk: Partial, edge: int) -> tuple[float, Any]:
        """The cost of appending `edge` (infinity forbids it), and the new memo."""
        ...

    def complete(self, walk: Partial) -> bool:
        """Whether the walk may end here."""
        ...


@dataclass(frozen=True, slots=True)
class Function:
    """An objective made of two functions: ``cost(walk, edge)`` and ``done(walk)``, by default true after 4 s."""

    cost: Cost
    done: Callable[[Partial], bool] = _after_a_while

    def begin(self, walk: Partial) -> None:
        """No memo."""

    def add(self, walk: Partial, edge: int) -> tuple[float, None]:
        """The cost, without a memo."""
        return float(self.cost(walk, edge)), None

    def complete(self, walk: Partial) -> bool:
        """The value of ``done``."""
        return bool(self.done(walk))


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search.

    Attributes
    ----------
    walk : the best walk.
    cost : its cost.
    complete : whether it satisfies the stopping condition; False if a budget ran out first.
    proven : whether the walk is optimal: it was searched as a whole and no budget ran out.
    n_expanded : number of partial walks that were expanded.
    """

    walk: Walk
    cost: float
    complete: bool
    proven: bool
    n_expanded: int


def search(
    graph: MotionGraph,
    objective: Objective | Cost,
    *,
    start: int | tuple[int, ArrayLike] | None = None,
    frames: int | None = 45,
    keep: int = 15,
    label: str | None = None,
    most_expanded: int = 50_000,
    most_of_piece: int = 1_500,
    most_seconds: float | None = None,
    good_enough: float = 0.0,
    among: float = 0.0,
    rng: int | np.random.Generator = 0,
) -> Searched:
    """Find the walk with the lowest cost, by branch and bound over windows of `frames` frames.

    Children are expanded in order of cost. A branch is cut when its cost, plus the objective's lower bound if it has
    one, reaches that of the best known walk. Each window of `frames` frames is searched, its first `keep` frames are
    kept, and the search continues from there until a walk is complete. After a dead end it backtracks and looks further
    ahead. When a budget runs out it returns the best walk so far.

    Parameters
    ----------
    objective : costs and the stopping condition; see `marey.graph.objectives`. A plain function ``cost(walk, edge)`` is
        minimized over 4 s; use ``Function(cost, done)`` to choose when to stop.
    start : a node, or a node and the rigid2d that places its clip in the world; by default all nodes are tried. Without
        a rigid2d, clips stay where they were recorded, or for `FollowPath` at the start of the path.
    frames : window length. None searches for the whole walk at once, which proves the optimum but takes exponential
        time.
    keep : frames of each window that are kept.
    label : use only edges inside this label's component.
    most_expanded, most_seconds : budgets for the whole search, in expanded walks and in seconds.
    most_of_piece : budget for each window, in expanded walks. A few thousand take a second.
    good_enough : stop at the first complete walk that costs less than this.
    among : in each window, choose at random among the walks that cost at most this much more than the best.
    rng : seed or generator for that choice.
    """
    if frames is not None and not 1 <= keep <= frames:
        raise InvalidValue(f"keep must lie between 1 and frames={frames}, got {keep}")
    if most_expanded < 1:
        raise InvalidValue(f"most_expanded must be at least 1, got {most_expanded}")
    if most_of_piece < 1:
        raise InvalidValue(f"most_of_piece must be at least 1, got {most_of_piece}")
    objective = _as_objective(objective)
    of_piece = most_expanded if frames is None else most_of_piece
    hunt = _Hunt(graph, objective, graph.allowed(label), most_expanded, of_piece, most_seconds, good_enough, among)
    chance = np.random.default_rng(rng)
    ahead = frames
    trail = [list(_beginnings(graph, objective, start, hunt.allowed))]
    while trail:
        heads = trail[-1]
        found = hunt.piece(heads, None if ahead is None else heads[0].n_frames + ahead)
        if not found:
            if ahead is None or hunt.spent:
                break
            # The kept part leads into a dead end: go back one window and look further ahead from there.
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
        raise NoResult(f"no walk was found within {hunt.n} steps; raise the search budget")
    what = "" if label is None else f" in {label!r}"
    raise NoResult(
        f"no walk{what} satisfies the objective and its constraints from any allowed start; relax them, or "
        f"{graph.how.remedy} of the graph"
    )


def _as_objective(given: Objective | Cost) -> Objective:
    if all(hasattr(given, name) for name in ("begin", "add", "complete")):
        return given  # type: ignore[return-value]
    if callable(given):
        return Function(given)
    raise InvalidValue(
        f"expected an objective or a function cost(walk, edge), got {type(given).__name__}; see marey.graph.objectives"
    )


class _Hunt:
    """Branch and bound with budgets."""

    def __init__(
        self,
        graph: MotionGraph,
        objective: Objective,
        allowed: Bools,
        most: int,
        of_piece: int,
        seconds: float | None,
        good_enough: float,
        among: float,
    ) -> None:
        self.graph, self.objective, self.allowed = graph, objective, allowed
        self.most, self.of_piece, self.good_enough, self.among = most, of_piece, good_enough, among
        self.bound: Callable[[Partial], float] = getattr(objective, "bound", _no_bound)
        self.until = None if seconds is None else time.monotonic() + seconds
        self.n = 0
        self.cut = False

    @property
    def spent(self) -> bool:
        """Whether a budget is used up."""
        if self.n >= self.most or (self.until is not None and time.monotonic() > self.until):
            self.cut = True
        return self.cut

    def piece(self, heads: list[Partial], until: int | None) -> list[Partial]:
        """The cheapest walks that are complete or have `until` frames, best first."""
        found: list[tuple[float, Partial]] = []
        least, n_begun = np.inf, self.n
        # Depth first; the cheapest child is on top of the stack.
        stack = self._ranked(heads)
        while stack:
            value, walk = stack.pop()
            if value > least + self.among or (value >= least and self.among <= 0.0):
                continue
            # An empty walk is never complete.
            done = walk.edge >= 0 and self.objective.complete(walk)
            if done or (walk.edge >= 0 and until is not None and walk.n_frames >= until):
                found.append((value, walk))
                least = min(least, value)
                if done and walk.cost < self.good_enough:
                    break
                continue
            if found and (self.spent or self.n - n_begun >= self.of_piece):
                self.cut = self.cut or until is None
                break
            if self.n >= 4 * self.most:
                self.cut = True
                break
            self.n += 1
            stack += self._ranked(self._children(walk))
        near = [each for each in found if each[0] <= least + self.among]
        return [walk for _, walk in sorted(near, key=lambda each: each[0])]

    def _ranked(self, walks: Iterable[Partial]) -> list[tuple[float, Partial]]:
        """Walks with a lower bound on their total cost, best last."""
        valued = [(w.cost + (0.0 if self.objective.complete(w) else self.bound(w)), w) for w in walks]
        return sorted(valued, key=lambda each: -each[0])

    def _children(self, walk: Partial) -> Iterator[Partial]:
        edges = self.graph.edges
        for edge in self.graph.out_edges(walk.node):
            if not self.allowed[edge]:
                continue
            cost, memo = self.objective.add(walk, edge)
            if not cost >= 0.0:
                raise InvalidValue(f"the costs of an objective must be at least 0, got {cost} for edge {edge}")
            if np.isinf(cost):
                continue
            place = _after(walk.place, edges.moves[edge]) if edges.blends[edge] else walk.place
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


def _as_recorded(graph: MotionGraph, node: int) -> Floats:
    return np.zeros(3)


def _no_bound(walk: Partial) -> float:
    return 0.0


def _after(place: Floats, move: Floats) -> Floats:
    """`rigid2d.compose` for a single pair, without its overhead."""
    theta, x, z = place.tolist()
    turn, dx, dz = move.tolist()
    c, s = math.cos(theta), math.sin(theta)
    angle = math.remainder(theta + turn, 2.0 * math.pi)
    return np.array([angle, dx * c + dz * s + x, dz * c - dx * s + z])


def _beginnings(
    graph: MotionGraph, objective: Objective, start: int | tuple[int, ArrayLike] | None, allowed: Bools
) -> Iterator[Partial]:
    nodes = range(len(graph.nodes)) if start is None else [start[0] if isinstance(start, tuple) else int(start)]
    placed = getattr(objective, "placed", _as_recorded)
    given = freeze_array(start[1], "the start's place", (3,)) if isinstance(start, tuple) else None
    for node in nodes:
        if not 0 <= node < len(graph.nodes):
            raise InvalidValue(f"start must be a node from 0 to {len(graph.nodes) - 1}, got {node}")
        if start is None and not allowed[list(graph.out_edges(node))].any():
            continue
        empty = Partial(graph, node, placed(graph, node) if given is None else given, 0, 0.0, None)
        yield replace(empty, memo=objective.begin(empty))


def _kept(walk: Partial, n_frames: int) -> Partial:
    """The walk cut back to the first node at which it has played at least `n_frames`."""
    return next(part for part in walk.parts() if part.n_frames >= n_frames or part is walk)
