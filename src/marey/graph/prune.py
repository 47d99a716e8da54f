"""Remove dead ends from a graph (Kovar 4.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.graph.network import Edges, UnprunedEdges

UNLABELED = "(unlabeled)"


@dataclass(frozen=True, slots=True)
class Component:
    """The part of a label's motion that can be played endlessly.

    Attributes
    ----------
    label : name of the label.
    n_frames : number of clip frames in the largest strongly connected component of the label's edges.
    of_frames : number of clip frames that have the label.
    reaches : other labels that can be reached from this component.

    Examples
    --------
    >>> component = graph.components[0]
    >>> component.label, component.n_frames <= component.of_frames
    ('turn_left', True)
    """

    label: str
    n_frames: int
    of_frames: int
    reaches: tuple[str, ...]


def prune(n_nodes: int, edges: Edges | UnprunedEdges) -> tuple[Bools, Bools]:
    """Return masks of the edges to keep, (E,), and of the nodes in each label's component, (K, N).

    A label's component is the strongly connected component with the most clip frames among the edges that have the
    label. An edge is kept if its tail and its head are each in the component of one of its labels. Edges inside a
    component give endless motion with one label; edges between components change the label.
    """
    members = np.stack(
        [_largest_component(n_nodes, edges, edges.labels[:, k]) for k in range(edges.labels.shape[1])]
    ).reshape(-1, n_nodes)
    return _leads_on(edges, members), members


def _leads_on(edges: Edges | UnprunedEdges, members: Bools) -> Bools:
    """Return a mask (E,) of the edges whose tail and head are each in the component of one of their labels."""
    tails, heads = (edges.labels & members[:, ends].T for ends in (edges.tails, edges.heads))
    return np.asarray(tails.any(axis=1) & heads.any(axis=1))


def components(names: tuple[str, ...], edges: Edges | UnprunedEdges, members: Bools) -> tuple[Component, ...]:
    """Summarize pruning: how much of each label remains, and which labels it reaches.

    edges : the edges before pruning.
    members : (K, N) the nodes in each label's component.
    """
    reach = _reachable(members, edges, _leads_on(edges, members))
    out = []
    for k, name in enumerate(names):
        runs = edges.labels[:, k] & ~edges.blends
        inside = runs & members[k, edges.tails] & members[k, edges.heads]
        others = tuple(names[m] for m in np.flatnonzero(reach[k]) if m != k)
        out.append(Component(name, int(edges.n_frames[inside].sum()), int(edges.n_frames[runs].sum()), others))
    return tuple(out)


def findings(found: tuple[Component, ...], fps: float, min_seconds: float, remedy: str) -> tuple[str, ...]:
    """Return the warnings of Kovar 4.1.3 as sentences: small components and unreachable labels.

    min_seconds : components shorter than this are reported.
    remedy : advice to append to a warning.
    """
    out = []
    alive = [each for each in found if each.n_frames]
    for each in found:
        if not each.n_frames:
            out.append(f"nothing with label {each.label!r} remains: no transitions lead back to it; {remedy}")
        elif each.n_frames < min_seconds * fps:
            playable, total = each.n_frames / fps, each.of_frames / fps
            out.append(f"only {playable:.1f} s of {total:.1f} s with label {each.label!r} can be played endlessly")
    for one, other in permutations(alive, 2):
        if other.label not in one.reaches:
            out.append(f"no route leads from {one.label!r} to {other.label!r}; {remedy}")
    return tuple(out)


def _largest_component(n_nodes: int, edges: Edges | UnprunedEdges, carried: Bools) -> Bools:
    """Return a mask (N,) of the strongly connected component with the most clip frames, among the edges `carried` (E,);
    all False in a graph without cycles."""
    which, n_inner, frames = find_components(n_nodes, edges, carried)
    if not n_inner.any():
        return np.zeros(n_nodes, dtype=bool)
    return np.asarray(which == int((frames + 1e-9 * n_inner).argmax()))


def find_components(
    n_nodes: int, edges: Edges | UnprunedEdges, carried: Bools | None = None
) -> tuple[Ints, Ints, Floats]:
    """Find the strongly connected components of a graph.

    carried : (E,) the edges to consider; all by default.

    Returns the component (N,) of each node and, for each component, the number of edges inside it, and the number of
    clip frames that they play. A component of one node has an inner edge only if it is a self-loop.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    taken = slice(None) if carried is None else carried
    tails, heads = edges.tails[taken], edges.heads[taken]
    links = coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(n_nodes, n_nodes))
    count, which = connected_components(links, directed=True, connection="strong")
    inside = which[tails] == which[heads]
    frames = np.where(edges.blends[taken], 0, edges.n_frames[taken])[inside]
    homes = which[tails[inside]]
    n_inner: Ints = np.bincount(homes, minlength=count)
    return which, n_inner, np.asarray(np.bincount(homes, frames, minlength=count), dtype=np.float64)


def _reachable(members: Bools, edges: Edges | UnprunedEdges, kept: Bools) -> Bools:
    """Return a mask (K, K) of whether the component of one label (row) leads to that of another (column), along
    the edges `kept` (E,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n_labels, n_nodes = members.shape
    tails, heads = edges.tails[kept], edges.heads[kept]
    links = coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(n_nodes, n_nodes)).tocsr()
    reach = np.zeros((n_labels, n_labels), dtype=bool)
    for k in range(n_labels):
        start = np.flatnonzero(members[k])
        if len(start):
            seen: Ints = breadth_first_order(links, int(start[0]), return_predecessors=False)
            reach[k] = members[:, seen].any(axis=1)
    return reach
