"""Random walks that visit all parts of a graph about equally often.

An unguided random walk stays for minutes in clips that are easy to enter and rarely reaches others. This one prefers
motion that it has played least: the value of a node is the discounted unplayed time ahead of it, computed by value
iteration over the graph, and edges of higher value are more likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import check_index
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import NoResult
from marey.graph.direction_table import edge_steps
from marey.graph.settings import GraphWalkSettings, count_frames
from marey.maths.value_kernels import GoalGrid, iterate_values

if TYPE_CHECKING:
    from marey.core.arrays import Bools, Floats
    from marey.graph.motion_graph import MotionGraph
    from marey.graph.walk import Walk

# Length in seconds of the sections of clips whose plays are counted.
_STRETCH = 1.0
# Time constant of the discount in seconds: unplayed motion this far ahead counts 1/e as much.
_HORIZON = 8.0
# Recompute the values after this many seconds of walk.
_RENEWED = 5.0
# An edge that is worth this many seconds more is chosen e times as often.
_DRAW = 0.25
# Maximum factor by which the rate of leaving a clip grows if the value elsewhere is higher.
_MAX_URGE = 30.0
_SETTLED, _MAX_SWEEPS = 0.02, 200
_ANY_GOAL = GoalGrid(np.zeros(1), 1, 1, 0.0)


@renamed_parameters(between="transition_interval")
@operation(GraphWalkSettings)
def random_walk(graph: MotionGraph, settings: GraphWalkSettings) -> Walk:
    """Make a random walk; the same seed gives the same walk.

    Parameters
    ----------
    graph : the graph.

    Examples
    --------
    >>> route = marey.graph.random_walk(graph, seconds=5.0, rng=1)
    >>> route.motion()
    <Motion 'walk': 300 frames at 60 Hz, 27 joints>
    """
    n_frames = count_frames(settings.seconds, graph.fps)
    start, transition_interval = settings.start, settings.transition_interval
    generator = np.random.default_rng(settings.rng)
    edges = graph.edges
    allowed = graph.select_edges(settings.label)
    runs = allowed & ~edges.blends
    worth = _Worth(graph, allowed)
    if start is None:
        weights = np.where(runs if runs.any() else allowed, edges.n_frames, 0).astype(float)
        edge = int(generator.choice(len(edges), p=weights / weights.sum()))
    else:
        check_index(start, "start, a node,", len(graph.nodes))
        edge = _choose_edge(graph, start, allowed, transition_interval, worth, generator)
    taken = [edge]
    worth.play(edge)
    done = int(edges.n_frames[edge])
    while done < n_frames:
        edge = _choose_edge(graph, int(edges.heads[edge]), allowed, transition_interval, worth, generator)
        taken.append(edge)
        worth.play(edge)
        done += int(edges.n_frames[edge])
    return graph.walk(taken, n_frames=n_frames)


class _Worth:
    """The value of each edge: the discounted unplayed time ahead of it, in seconds."""

    def __init__(self, graph: MotionGraph, allowed: Bools) -> None:
        self._graph = graph
        self._allowed = allowed
        lengths = np.array([len(clip) for clip in graph.clips])
        long = max(1, round(_STRETCH * graph.fps))
        firsts = np.concatenate([[0], np.cumsum(-(-lengths // long))])
        self._frame = np.concatenate([[0], np.cumsum(lengths)])
        self._stretch = np.concatenate([firsts[k] + np.arange(n) // long for k, n in enumerate(lengths)])
        self._played = np.zeros(firsts[-1])
        self._weight = 1.0 / long
        self._fade = np.exp(-graph.edges.n_frames / (_HORIZON * graph.fps))
        self._costs = np.zeros((len(graph.nodes), 1))
        self._edges = np.zeros(len(graph.edges))
        self._since = np.inf

    def play(self, edge: int) -> None:
        """Record that an edge was played. Transitions do not count."""
        edges = self._graph.edges
        n = int(edges.n_frames[edge])
        self._since += n / self._graph.fps
        if not edges.blends[edge]:
            begin = int(self._frame[edges.clips[edge, 0]] + edges.starts[edge, 0])
            np.add.at(self._played, self._stretch[begin : begin + n], self._weight)

    def of(self, edges: list[int]) -> Floats:
        """Return the values of some edges, in seconds."""
        if self._since >= _RENEWED:
            self._renew()
            self._since = 0.0
        return self._edges[edges]

    def _renew(self) -> None:
        graph, edges = self._graph, self._graph.edges
        new = 1.0 / (1.0 + self._played[self._stretch]) / graph.fps
        until = np.concatenate([[0.0], np.cumsum(new)])
        begin = self._frame[edges.clips[:, 0]] + edges.starts[:, 0]
        gain = np.where(edges.blends, 0.0, until[begin + np.where(edges.blends, 0, edges.n_frames)] - until[begin])
        gain[~self._allowed] = -np.inf
        choices = np.empty(self._costs.shape, dtype=np.int64)
        steps = edge_steps(graph, -gain[:, None], self._fade, np.zeros((len(gain), 3)))
        iterate_values(steps, _ANY_GOAL, _SETTLED, _MAX_SWEEPS, 0.0, self._costs, choices)
        self._edges = gain - self._fade * self._costs[edges.heads, 0]


def _choose_edge(
    graph: MotionGraph, node: int, allowed: Bools, interval: float, worth: _Worth, generator: np.random.Generator
) -> int:
    edges = graph.edges
    outs = [edge for edge in graph.out_edges(node) if allowed[edge]]
    if not outs:
        raise NoResult(f"no allowed edge leaves node {node}; allow more labels, or start elsewhere")
    if len(outs) == 1:
        return outs[0]
    runs = [edge for edge in outs if not edges.blends[edge]]
    jumps = [edge for edge in outs if edges.blends[edge]]
    if runs and jumps:
        gained = (worth.of(jumps).max() - worth.of(runs)[0]) / _DRAW
        urge = float(np.exp(np.clip(gained, 0.0, np.log(_MAX_URGE))))
        stay = np.exp(-urge * float(edges.n_frames[runs[0]]) / (graph.fps * interval)) if interval > 0.0 else 0.0
        outs = runs if generator.random() < stay else jumps
    values = worth.of(outs) / _DRAW
    weights = np.exp(values - values.max())
    return outs[int(generator.choice(len(outs), p=weights / weights.sum()))]
