"""Find the shortest routes through a graph, measured in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Bools, Ints, check_index
from marey.deprecation import renamed_parameters
from marey.errors import NoResult

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph
    from marey.graph.walk import Walk


@renamed_parameters(before="start", after="goal")
def shortest_walk(graph: MotionGraph, start: int | str, goal: int | str) -> Walk:
    """Find the shortest walk, in time, from one node or clip to another.

    Parameters
    ----------
    graph : the graph.
    start, goal : nodes by index, or clips by name. From a node to itself, the result is the shortest loop.

    Raises
    ------
    NoResult : if no walk leads there.

    Examples
    --------
    >>> loop = marey.graph.shortest_walk(graph, 0, 0)
    >>> bool(graph.edges.tails[loop.edges[0]] == graph.edges.heads[loop.edges[-1]])
    True
    """
    return find_shortest_walk(graph, _find_nodes(graph, start), _find_nodes(graph, goal))


def _find_nodes(graph: MotionGraph, which: int | str) -> Ints:
    """Return a node given by index, or all nodes of a clip given by name."""
    if isinstance(which, str):
        return np.flatnonzero(graph.nodes[:, 0] == graph.index(which))
    return np.array([which], dtype=np.int64)


def find_shortest_walk(graph: MotionGraph, before: Ints, after: Ints) -> Walk:
    """Find the shortest walk, in time, with at least one edge, from any node in `before` to any node in `after`."""
    from scipy.sparse.csgraph import dijkstra

    n = len(graph.nodes)
    for node in (*before, *after):
        check_index(node, "the index of a node", n)
    edges = graph.edges
    goals = set(after.tolist())
    away = dijkstra(_make_backward_times(graph), indices=after, min_only=True)
    # Choose the first edge separately: a walk that starts at a goal also needs at least one edge.
    begun = edges.n_frames + away[edges.heads]
    first = np.flatnonzero(np.isin(edges.tails, before) & np.isfinite(begun))
    if not len(first):
        raise NoResult(
            f"no route through the graph leads from {_describe(graph, before)} to {_describe(graph, after)}; "
            f"{graph.build_info.remedy} of the graph"
        )
    out = [int(first[begun[first].argmin()])]
    while (node := int(edges.heads[out[-1]])) not in goals:
        outs = graph.out_edges(node)
        out.append(min(outs, key=lambda edge: edges.n_frames[edge] + away[edges.heads[edge]]))
    return graph.walk(out)


def _describe(graph: MotionGraph, nodes: Ints) -> str:
    return f"node {nodes[0]}" if len(nodes) == 1 else f"clip {graph.clips[graph.nodes[nodes[0], 0]].name!r}"


def find_first_edges(graph: MotionGraph, label: str) -> Ints:
    """Return the edge (N,) at each node that starts the shortest route to a label's component; -1 if there is none."""
    edges = graph.edges
    total = edges.n_frames + count_frames_to_label(graph, label)[edges.heads]
    best = np.minimum.reduceat(total, graph.first_out[:-1])
    leads = np.flatnonzero((total == best[edges.tails]) & np.isfinite(total))
    out = np.full(len(graph.nodes), -1, dtype=np.int64)
    out[edges.tails[leads[::-1]]] = leads[::-1]
    return out


def count_frames_to(graph: MotionGraph, nodes: Ints, allowed: Bools) -> Any:
    """Return the number of frames (N,) from each node to the nearest of `nodes` along allowed edges (E,); infinity if
    unreachable."""
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(_make_backward_times(graph, allowed), indices=nodes, min_only=True)


def count_frames_to_label(graph: MotionGraph, label: str) -> Any:
    """Return the number of frames (N,) from each node to a label's component by the shortest route; infinity if
    unreachable."""
    from scipy.sparse.csgraph import dijkstra

    goals = np.flatnonzero(graph.members[graph.index(label=label)])
    if not len(goals):
        return np.full(len(graph.nodes), np.inf)
    return dijkstra(_make_backward_times(graph), indices=goals, min_only=True)


def _shortest_edges(graph: MotionGraph, allowed: Bools | None = None) -> Ints:
    """Return the shortest edge between each connected pair of nodes. A sparse matrix would add up parallel edges."""
    edges = graph.edges
    order = np.lexsort((edges.n_frames, edges.heads, edges.tails))
    if allowed is not None:
        order = order[allowed[order]]
    tails, heads = edges.tails[order], edges.heads[order]
    once = np.ones(len(order), dtype=bool)
    once[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    return np.asarray(order[once])


def _make_backward_times(graph: MotionGraph, allowed: Bools | None = None) -> Any:
    """Return a sparse matrix (N, N) whose entry [i, j] is the number of frames of the shortest edge from node j to node
    i. It is transposed to search backward from the goals."""
    from scipy.sparse import coo_array

    edges, n, taken = graph.edges, len(graph.nodes), _shortest_edges(graph, allowed)
    ends = (edges.heads[taken], edges.tails[taken])
    return coo_array((edges.n_frames[taken].astype(float), ends), shape=(n, n)).tocsr()
