"""Reduce a graph to the transitions it needs.

Finding the smallest set would require trying every subset. Here the choice is greedy: transitions are ranked by how
often direction tables, shortest routes between labels, and walks along curves use them. A backbone of transitions that
keeps the graph connected comes first. Bisection finds how many transitions in this order are needed. The result is
measured on curves that were not used for the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.core.reports import ReportBase
from marey.core.settings import operation
from marey.deprecation import warn_renamed
from marey.errors import NoResult
from marey.graph.bridges import count_recorded_clips
from marey.graph.build import find_nodes
from marey.graph.direction_table import direction_table
from marey.graph.follow import follow
from marey.graph.network import compact
from marey.graph.prune import components, findings, prune
from marey.graph.routes import count_frames_to_label, find_first_edges
from marey.graph.settings import ReductionSettings

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

_DIRECTIONS = 8
# Length of the curves in meters, number of curves for ranking and for checking, and the beam width.
_LENGTH, _N_LEARN, _N_CHECK, _WIDTH = 12.0, 10, 4, 60
# Tolerance in meters for the distance between walk and curve; smaller changes are noise.
_CHANCE = 0.01
# Bisection stops when the interval is this fraction of the transitions.
_FINE = 0.01
_MIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Usefulness(ReportBase):
    """Measures of what a graph can do.

    Attributes
    ----------
    transitions : number of transitions.
    seconds : total duration in seconds of the clips in the components of all labels.
    progress : mean value of the direction table in meters: how fast the graph responds to a change of direction.
    change : mean time in seconds to another label by the shortest route; 0 if there is one label.
    deviation : mean distance in meters between curves and walks along them; infinite if a curve has no walk.
    """

    transitions: int
    seconds: float
    progress: float
    change: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class ReductionResult:
    """A graph with fewer transitions, and what was lost.

    Attributes
    ----------
    graph : the reduced graph.
    before, after : the measures of the graph before and after the reduction.
    loss : the fraction by which each measure was allowed to get worse.
    backbone : number of kept transitions that keep the graph connected.
    tried : number of reduced graphs that were measured.
    """

    graph: MotionGraph
    before: Usefulness
    after: Usefulness
    loss: float
    backbone: int
    tried: int

    def to_dict(self) -> dict[str, Any]:
        """Return the measures before and after, JSON-ready."""
        return {
            "transitions": [self.before.transitions, self.after.transitions],
            "seconds": [self.before.seconds, self.after.seconds],
            "progress_m": [self.before.progress, self.after.progress],
            "label_change_s": [self.before.change, self.after.change],
            "deviation_m": [self.before.deviation, self.after.deviation],
        }

    def __getitem__(self, k: int) -> Any:
        """Deprecated: index 0 is the graph, index 1 the report."""
        warn_renamed("using a ReductionResult as a tuple", "ReductionResult.graph")
        return (self.graph, self)[k]


@operation(ReductionSettings)
def reduce_transitions(graph: MotionGraph, settings: ReductionSettings) -> ReductionResult:
    """Remove transitions that a graph does not need, and report what was lost.

    Every label keeps all of its endless motion and can still reach the same labels. The progress of the direction table
    drops by at most the fraction `loss`. The time to other labels and the distance to curves grow by at most this
    fraction; the distance may always grow by 1 cm.

    Parameters
    ----------
    graph : the graph to reduce.

    Examples
    --------
    >>> result = marey.graph.reduce_transitions(graph)
    >>> result.graph.n_transitions <= graph.n_transitions
    True
    """
    loss = settings.loss
    generator = np.random.default_rng(settings.rng)
    learn, check = (tuple(_make_curve(generator) for _ in range(n)) for n in (_N_LEARN, _N_CHECK))
    jumps = np.flatnonzero(graph.edges.blends)
    spine = _backbone(graph)
    order = _rank_transitions(graph, learn, spine)
    before = _measure(graph, graph, check)
    # Bisect between the backbone alone, which may be enough, and all transitions, which are.
    low, high = int(spine.sum()), len(jumps)
    after, tried = before, 0
    chosen = np.ones(len(graph.edges), dtype=bool)
    step: int | None = low
    while step is not None:
        mask = ~graph.edges.blends
        mask[order[:step]] = True
        tried += 1
        found = _measure(_keep_edges(graph, mask, join=False), graph, check)
        if _is_good_enough(before, found, loss):
            high, after, chosen = step, found, mask
        else:
            low = step
        step = (low + high) // 2 if high - low > max(1.0, _FINE * len(jumps)) else None
    reduced = _keep_edges(graph, chosen, join=True)
    after = replace(after, transitions=reduced.n_transitions)
    return ReductionResult(reduced, before, after, loss, int(spine.sum()), tried)


def _is_good_enough(before: Usefulness, after: Usefulness, loss: float) -> bool:
    return (
        after.seconds >= before.seconds
        and after.progress >= before.progress - loss * abs(before.progress)
        and after.change <= (1.0 + loss) * before.change
        and after.deviation <= max((1.0 + loss) * before.deviation, before.deviation + _CHANCE)
    )


def _measure(graph: MotionGraph, full: MotionGraph, curves: tuple[Floats, ...]) -> Usefulness:
    """Return how useful `graph`, a part of the graph `full`, is; nodes that the part lacks count as zero progress.

    curves : (m, 2) paths on the floor to follow, in meters.
    """
    seconds = sum(component.n_frames for component in graph.components) / graph.fps
    progress = float(direction_table(graph, _DIRECTIONS).values.sum()) / (_DIRECTIONS * len(full.nodes))
    changes = []
    for name in graph.label_names:
        away = count_frames_to_label(graph, name)[~graph.members[graph.index(label=name)]]
        changes.extend(away[np.isfinite(away)].tolist())
    away_from = []
    for curve in curves:
        try:
            followed = follow(graph, curve, beam_width=_WIDTH)
        except NoResult:
            away_from.append(np.inf)
        else:
            away_from.append(0.5 * (followed.mean_distance + followed.mean_uncovered))
    change = float(np.mean(changes)) / graph.fps if changes else 0.0
    return Usefulness(graph.n_transitions, seconds, progress, change, float(np.mean(away_from)))


def _rank_transitions(graph: MotionGraph, curves: tuple[Floats, ...], spine: Bools) -> Ints:
    """Return the transitions in order: the backbone first, then by decreasing use; ties by increasing distance."""
    edges = graph.edges
    use = np.zeros(len(edges))
    for label in (None, *graph.label_names):
        try:
            table = direction_table(graph, _DIRECTIONS, label=label)
        except NoResult:
            continue
        nodes, columns = np.nonzero(table.choices >= 0)
        np.add.at(use, graph.first_out[nodes] + table.choices[nodes, columns], 1.0 / _DIRECTIONS)
    for label in graph.label_names if len(graph.label_names) > 1 else ():
        first_edges = find_first_edges(graph, label)
        first_edges = first_edges[(first_edges >= 0) & ~graph.members[graph.index(label=label)]]
        use[first_edges] += 1.0
    for curve in curves:
        try:
            walked = follow(graph, curve, beam_width=_WIDTH).walk.edges
        except NoResult:
            continue
        # Use by one walk counts as much as use by a direction table in all directions.
        use[walked] += 1.0
    jumps = np.flatnonzero(edges.blends)
    return np.asarray(jumps[np.lexsort((edges.distances[jumps], -use[jumps], ~spine[jumps]))])


def _backbone(graph: MotionGraph) -> Bools:
    """Return a mask (E,) of transitions that suffice to keep every label's component and all routes between labels.

    These are the routes with the fewest transitions from one root node of each label's component to all of its nodes
    and back, and the routes between the roots.
    """
    edges = graph.edges
    keep = np.zeros(len(edges), dtype=bool)
    roots = {
        k: int(np.flatnonzero(graph.members[k])[0]) for k in range(len(graph.label_names)) if graph.members[k].any()
    }
    for k, root in roots.items():
        inside = edges.labels[:, k] & graph.members[k][edges.tails] & graph.members[k][edges.heads]
        for back in (False, True):
            keep[_find_tree(graph, inside, root, back)] = True
    everywhere = np.ones(len(edges), dtype=bool)
    for root in roots.values():
        into = _find_last_edges(graph, everywhere, root)
        for k in roots:
            node = roots[k]
            while node != root and into[node] >= 0:
                keep[into[node]] = True
                node = int(edges.tails[into[node]])
    return np.asarray(keep & edges.blends)


def _find_tree(graph: MotionGraph, allowed: Bools, root: int, back: bool) -> Ints:
    into = _find_last_edges(graph, allowed, root, back)
    return np.asarray(into[into >= 0])


def _find_last_edges(graph: MotionGraph, allowed: Bools, root: int, back: bool = False) -> Ints:
    """Return the last edge (N,) of the route with the fewest transitions from `root` to each node; with `back`, the
    first edge of the route from each node to `root`. -1 if no route exists."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    edges, n = graph.edges, len(graph.nodes)
    which = np.flatnonzero(allowed)
    # Clip edges cost almost nothing; better transitions cost a little less.
    cost = np.where(edges.blends[which], 1.0 + edges.distances[which], 1e-6)
    tails, heads = (edges.heads, edges.tails) if back else (edges.tails, edges.heads)
    order = np.lexsort((cost, heads[which], tails[which]))
    which, cost = which[order], cost[order]
    once = np.ones(len(which), dtype=bool)
    once[1:] = (tails[which][1:] != tails[which][:-1]) | (heads[which][1:] != heads[which][:-1])
    which, cost = which[once], cost[once]
    links: Any = coo_array((cost, (tails[which], heads[which])), shape=(n, n)).tocsr()
    _, before = dijkstra(links, indices=root, return_predecessors=True)
    edge_of = {(int(t), int(h)): int(e) for t, h, e in zip(tails[which], heads[which], which, strict=True)}
    return np.array([edge_of[int(p), v] if p >= 0 else -1 for v, p in enumerate(before)])


def _keep_edges(graph: MotionGraph, selected: Bools, *, join: bool) -> MotionGraph:
    """Build the pruned graph of the edges `selected`; with `join`, merge clip edges where nothing branches anymore."""
    edges = graph.edges.select(selected)
    stays, members = prune(len(graph.nodes), edges)
    if not (stays & ~edges.blends).any():
        raise NoResult("without the removed transitions, the graph has only dead ends; keep more of them")
    old_frames = {component.label: component.of_frames for component in graph.components}
    found = tuple(
        replace(component, of_frames=old_frames.get(component.label, component.of_frames))
        for component in components(graph.label_names, edges, members)
    )
    left = edges.select(stays)
    index = np.unique(np.concatenate([left.tails, left.heads]))
    if join:
        nodes, left = compact(graph.nodes, left)
        index = find_nodes(nodes, graph.nodes)
    else:
        left = replace(left, tails=np.searchsorted(index, left.tails), heads=np.searchsorted(index, left.heads))
    problems = findings(found, graph.fps, _MIN_SECONDS, graph.build_info.remedy)
    # With `join`, drop the motions of removed transitions.
    used = np.union1d(np.arange(count_recorded_clips(graph)), left.clips) if join else np.arange(len(graph.clips))
    left = replace(left, clips=np.searchsorted(used, left.clips))
    clips = tuple(graph.clips[k] for k in used)
    nodes = graph.nodes[index]
    members = members[:, index]
    return replace(graph, clips=clips, nodes=nodes, edges=left, members=members, components=found, findings=problems)


def _make_curve(rng: np.random.Generator) -> Floats:
    """Make a random smooth curve (N, 2) whose direction varies by about a quarter turn to either side."""
    along = np.linspace(0.0, 1.0, 61)
    angle = sum(rng.normal(0.0, 0.7 / k) * np.sin(np.pi * k * along + rng.uniform(0.0, np.pi)) for k in (1, 2, 3))
    step = _LENGTH / 60.0 * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
