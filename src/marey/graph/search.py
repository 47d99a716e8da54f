"""Find walks that minimize an objective by branch and bound, one time window after another (Kovar 4.2.1)."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Bools, Floats, check_index, freeze_array
from marey.core.settings import operation
from marey.deprecation import renamed_parameters, warn_renamed
from marey.errors import InvalidValue, NoResult
from marey.graph.settings import GraphSearchSettings
from marey.graph.walk_result import WalkResult

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph


@dataclass(frozen=True, slots=True)
class PartialWalk:
    """A partial walk during a search.

    Attributes
    ----------
    graph : the graph.
    node : the current node.
    place : (3,) rigid2d (theta, x, z) that places the current clip in the world.
    n_frames : number of frames played so far.
    cost : cost so far.
    memo : state that the objective carries along the walk.
    before, edge : the walk without its last edge, and that edge; None and -1 for an empty walk.

    Examples
    --------
    >>> def cost(walk, edge):
    ...     return walk.n_frames / 60.0 + float(walk.graph.edges.blends[edge])
    >>> marey.graph.search(graph, cost).complete
    True
    """

    graph: MotionGraph
    node: int
    place: Floats
    n_frames: int
    cost: float
    memo: Any
    before: PartialWalk | None = None
    edge: int = -1

    @property
    def edges(self) -> list[int]:
        """The edges so far, in order."""
        return [part.edge for part in self.parts()][1:]

    def parts(self) -> list[PartialWalk]:
        """Return the partial walk at each of its nodes, in order; the first is empty."""
        out = []
        part: PartialWalk | None = self
        while part is not None:
            out.append(part)
            part = part.before
        return out[::-1]


Cost = Callable[[PartialWalk, int], float]
P = ParamSpec("P")
R = TypeVar("R")
# Seconds after which a walk is complete if the objective is only a cost function.
_A_WHILE = 4.0


def _has_lasted(walk: PartialWalk) -> bool:
    return walk.n_frames >= _A_WHILE * walk.graph.fps


class Objective(Protocol):
    """The objective that a search minimizes: a sum of non-negative edge costs (Kovar 4.14).

    Two more methods are optional. ``bound(walk)`` returns a lower bound on the remaining cost and makes the search
    faster. It must be consistent: no more than the cost of any next edge plus the bound after it. ``place_start(
    graph, node)`` returns the rigid2d (theta, x, z) that places the clip when a walk starts at this node.

    Examples
    --------
    >>> class FewTransitions:
    ...     def begin(self, walk):
    ...         return None
    ...
    ...     def add(self, walk, edge):
    ...         return float(walk.graph.edges.blends[edge]), None
    ...
    ...     def complete(self, walk):
    ...         return walk.n_frames >= 120
    >>> marey.graph.search(graph, FewTransitions()).complete
    True
    """

    def begin(self, walk: PartialWalk) -> Any:
        """Return the initial memo of an empty walk."""
        ...

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, Any]:
        """Return the cost of appending `edge` (infinity forbids it), and the new memo."""
        ...

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the walk may end here."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionObjective:
    """An objective made of two functions: ``cost(walk, edge)``, and ``done(walk)``, by default true after 4 s of
    walk.

    Examples
    --------
    >>> from marey.graph import FunctionObjective
    >>> few = FunctionObjective(lambda walk, edge: graph.edges.distances[edge], lambda walk: walk.n_frames >= 120)
    >>> marey.graph.search(graph, few).walk.n_frames >= 120
    True
    """

    cost: Cost
    done: Callable[[PartialWalk], bool] = _has_lasted

    def begin(self, walk: PartialWalk) -> None:
        """Return None; this objective needs no memo."""

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, None]:
        """Return the cost of the edge, without a memo."""
        return float(self.cost(walk, edge)), None

    def complete(self, walk: PartialWalk) -> bool:
        """Return the value of ``done(walk)``."""
        return bool(self.done(walk))


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult(WalkResult):
    """The result of a search.

    Attributes
    ----------
    walk : the best walk.
    cost : its cost.
    complete : whether it satisfies the stopping condition; False if a budget ran out first.
    proven : whether the walk is proven optimal: it was searched in a single window and no budget ran out.
    is_cut : whether a budget ran out before the search ended; a complete walk may then cost more than the best one.
    n_expanded : number of partial walks that were expanded.
    """

    cost: float
    complete: bool
    proven: bool
    is_cut: bool
    n_expanded: int

    def to_dict(self) -> dict[str, Any]:
        """Return what the walk plays and how it was found, JSON-ready."""
        return self.walk.to_dict() | {
            "cost": self.cost,
            "complete": self.complete,
            "proven": self.proven,
            "budget_ran_out": self.is_cut,
            "expanded": self.n_expanded,
        }


def _accept_frames(function: Callable[P, R]) -> Callable[P, R]:
    """Accept the old parameters `frames` and `keep`, which were numbers of frames."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for old, new in (("frames", "window"), ("keep", "step")):
            if old in kwargs:
                warn_renamed(f"search({old}=)", f"{new}= in seconds")
                graph: Any = kwargs["graph"] if "graph" in kwargs else args[0]
                n: Any = kwargs.pop(old)
                kwargs[new] = None if n is None else n / graph.fps
        return function(*args, **kwargs)

    return call


@_accept_frames
@renamed_parameters(
    limits="settings",
    among="tolerance",
    most_expanded="max_expanded",
    most_of_piece="max_expanded_per_window",
    most_seconds="max_seconds",
    good_enough="cost_threshold",
)
@operation(GraphSearchSettings)
def search(graph: MotionGraph, objective: Objective | Cost, settings: GraphSearchSettings) -> SearchResult:
    """Find the walk with the lowest cost, by branch and bound over windows.

    Children are expanded in order of cost. A branch is cut when its cost, plus the objective's lower bound if it has
    one, reaches that of the best known walk. After each window, its first part is kept and the search continues from
    there until a walk is complete. At a dead end, the search backtracks and looks farther ahead. When a budget runs
    out, the best walk so far is returned.

    Parameters
    ----------
    graph : the graph.
    objective : costs and the stopping condition; see `marey.graph.objectives`. A plain function ``cost(walk, edge)`` is
        minimized over 4 s; use ``FunctionObjective(cost, done)`` to choose when to stop.

    Raises
    ------
    NoResult : if no walk satisfies the objective, or none was found within the budgets.

    Examples
    --------
    >>> result = marey.graph.search(graph, marey.graph.ReachPoint((0.0, 4.0)))
    >>> result.complete
    True
    >>> bool(np.hypot(*(result.walk.end[1:] - [0.0, 4.0])) < 0.5)  # meters
    True
    """
    window, label, tolerance = settings.window, settings.label, settings.tolerance
    n_window = None if window is None else max(1, round(window * graph.fps))
    n_step = max(1, round(settings.step * graph.fps))
    objective = _as_objective(objective)
    if n_window is None:
        settings = GraphSearchSettings(settings=settings, max_expanded_per_window=settings.max_expanded)
    hunt = _BranchAndBound(graph, objective, graph.select_edges(label), settings)
    generator = np.random.default_rng(settings.rng)
    ahead = n_window
    trail = [list(_make_beginnings(graph, objective, settings.start, hunt.allowed))]
    while trail:
        heads = trail[-1]
        found = hunt.search_window(heads, None if ahead is None else heads[0].n_frames + ahead)
        if not found:
            if ahead is None or hunt.is_spent:
                break
            # The kept part leads into a dead end: go back one window and look farther ahead from there.
            trail.pop()
            ahead *= 2
            continue
        best = found[0] if tolerance <= 0.0 else found[int(generator.integers(len(found)))]
        done = objective.complete(best)
        if done or hunt.is_spent:
            walk = graph.walk(best.edges, best.parts()[0].place)
            proven = done and n_window is None and not hunt.is_cut
            return SearchResult(walk, best.cost, done, proven, hunt.is_cut, hunt.n_expanded)
        trail.append([_cut_back(best, heads[0].n_frames + n_step)])
    if hunt.is_spent:
        raise NoResult(
            f"no complete walk was found after {hunt.n_expanded} partial walks", remedy="raise `max_expanded=`"
        )
    what = "" if label is None else f" in {label!r}"
    raise NoResult(
        f"no walk{what} satisfies the objective and its constraints from any allowed start; relax them, or "
        f"{graph.build_info.remedy} of the graph"
    )


def _as_objective(given: Objective | Cost) -> Objective:
    if all(hasattr(given, name) for name in ("begin", "add", "complete")):
        return given  # type: ignore[return-value]
    if callable(given):
        return FunctionObjective(given)
    raise InvalidValue(
        "objective must be an object with begin, add and complete, such as those in marey.graph.objectives, or a "
        f"function cost(walk, edge), not {type(given).__name__}"
    )


class _BranchAndBound:
    """Depth-first branch and bound with budgets."""

    def __init__(self, graph: MotionGraph, objective: Objective, allowed: Bools, limits: GraphSearchSettings) -> None:
        self.graph, self.objective, self.allowed, self.limits = graph, objective, allowed, limits
        self.tolerance = limits.tolerance
        self.bound: Callable[[PartialWalk], float] = getattr(objective, "bound", _no_bound)
        self.until = None if limits.max_seconds is None else time.monotonic() + limits.max_seconds
        self.n_expanded = 0
        self.is_cut = False

    @property
    def is_spent(self) -> bool:
        """Whether a budget has run out."""
        if self.n_expanded >= self.limits.max_expanded or (self.until is not None and time.monotonic() > self.until):
            self.is_cut = True
        return self.is_cut

    def search_window(self, heads: list[PartialWalk], until: int | None) -> list[PartialWalk]:
        """Return the cheapest walks that are complete or have at least `until` frames, best first.

        heads : partial walks to start from.
        """
        found: list[tuple[float, PartialWalk]] = []
        least, n_before, limits = np.inf, self.n_expanded, self.limits
        # Depth first; the cheapest child is on top of the stack.
        stack = self._rank_walks(heads)
        while stack:
            value, walk = stack.pop()
            if value > least + self.tolerance or (value >= least and self.tolerance <= 0.0):
                continue
            # An empty walk is never complete.
            done = walk.edge >= 0 and self.objective.complete(walk)
            if done or (walk.edge >= 0 and until is not None and walk.n_frames >= until):
                found.append((value, walk))
                least = min(least, value)
                if done and walk.cost < limits.cost_threshold:
                    break
                continue
            if found and (self.is_spent or self.n_expanded - n_before >= limits.max_expanded_per_window):
                self.is_cut = self.is_cut or until is None
                break
            if self.n_expanded >= 4 * limits.max_expanded:
                self.is_cut = True
                break
            self.n_expanded += 1
            stack += self._rank_walks(self._expand(walk))
        near = [each for each in found if each[0] <= least + self.tolerance]
        return [walk for _, walk in sorted(near, key=lambda each: each[0])]

    def _rank_walks(self, walks: Iterable[PartialWalk]) -> list[tuple[float, PartialWalk]]:
        """Return pairs (lower bound on the total cost, walk), sorted from the highest bound to the lowest."""
        valued = [(w.cost + (0.0 if self.objective.complete(w) else self.bound(w)), w) for w in walks]
        return sorted(valued, key=lambda each: -each[0])

    def _expand(self, walk: PartialWalk) -> Iterator[PartialWalk]:
        edges = self.graph.edges
        for edge in self.graph.out_edges(walk.node):
            if not self.allowed[edge]:
                continue
            cost, memo = self.objective.add(walk, edge)
            if not cost >= 0.0:
                raise InvalidValue(f"the objective must return costs of at least 0, not {cost} (for edge {edge})")
            if np.isinf(cost):
                continue
            place = _compose(walk.place, edges.moves[edge]) if edges.blends[edge] else walk.place
            yield PartialWalk(
                walk.graph,
                int(edges.heads[edge]),
                place,
                walk.n_frames + int(edges.n_frames[edge]),
                walk.cost + cost,
                memo,
                walk,
                edge,
            )


def place_start(objective: Objective, graph: MotionGraph, node: int) -> Floats:
    """Return the rigid2d (theta, x, z) at which an objective starts a node's clip: where it was recorded by default."""
    method = getattr(objective, "place_start", None)
    if method is None and (method := getattr(objective, "placed", None)) is not None:
        warn_renamed(f"{type(objective).__name__}.placed", "place_start")
    return np.zeros(3) if method is None else np.asarray(method(graph, node))


def _no_bound(walk: PartialWalk) -> float:
    return 0.0


def _compose(place: Floats, move: Floats) -> Floats:
    """Compose two rigid2d like `rigid2d.compose`, without its overhead."""
    theta, x, z = place.tolist()
    turn, dx, dz = move.tolist()
    c, s = math.cos(theta), math.sin(theta)
    angle = math.remainder(theta + turn, 2.0 * math.pi)
    return np.array([angle, dx * c + dz * s + x, dz * c - dx * s + z])


def _make_beginnings(
    graph: MotionGraph, objective: Objective, start: int | tuple[int, ArrayLike] | None, allowed: Bools
) -> Iterator[PartialWalk]:
    nodes = range(len(graph.nodes)) if start is None else [start[0] if isinstance(start, tuple) else start]
    given = freeze_array(start[1], "the start's place", (3,)) if isinstance(start, tuple) else None
    for node in nodes:
        check_index(node, "start, a node,", len(graph.nodes))
        if start is None and not allowed[list(graph.out_edges(node))].any():
            continue
        empty = PartialWalk(graph, node, place_start(objective, graph, node) if given is None else given, 0, 0.0, None)
        yield replace(empty, memo=objective.begin(empty))


def _cut_back(walk: PartialWalk, n_frames: int) -> PartialWalk:
    """Return a walk cut back to the first node at which at least `n_frames` frames have been played."""
    return next(part for part in walk.parts() if part.n_frames >= n_frames or part is walk)
