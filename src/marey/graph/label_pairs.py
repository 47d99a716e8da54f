"""Direct transitions from label to label: how many a graph has, and which thresholds would give more."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.graph.network import number_places
from marey.graph.transitions import FramePairs

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

N_DISTANCES = 12
"""Number of possible transitions of each pair of labels whose distances are stored with a graph."""


class LabelPair(NamedTuple):
    """Direct transitions from one label to another.

    transitions : number of transitions.
    min_distance : distance in meters of the best possible one, even if it exceeds the threshold; infinite if there is
        none, NaN if unknown.
    """

    transitions: int
    min_distance: float


def find_pair_distances(graph: MotionGraph, batches: Iterable[FramePairs], frame_labels: list[Bools]) -> Floats:
    """Return the smallest distances (K, K, 12) in meters of transitions from one label (row) to another (column).

    Only transitions count that leave the component of the first label and enter that of the second, so a larger
    threshold for the pair adds them to the graph. Missing ones are infinite.

    Parameters
    ----------
    graph : the graph.
    batches : all local minima of the distance grids; they count in both directions.
    frame_labels : for each clip, a mask (F, K) of which of its F frames have which label.
    """
    n_labels, half = len(graph.label_names), graph.half_width
    out = np.full((n_labels, n_labels, N_DISTANCES), np.inf)
    if n_labels == 1:
        return set_readonly(out)
    first_place = number_places(np.array([len(mask) for mask in frame_labels]))
    inside = np.zeros((first_place[-1], n_labels), dtype=bool)
    edges = graph.edges
    for k in range(n_labels):
        runs = ~edges.blends & edges.labels[:, k] & graph.members[k, edges.tails] & graph.members[k, edges.heads]
        for clip, start, n in zip(edges.clips[runs, 0], edges.starts[runs, 0], edges.n_frames[runs], strict=True):
            inside[first_place[clip] + start : first_place[clip] + start + n + 1, k] = True
    has_label = np.concatenate([np.pad(mask, ((0, 1), (0, 0))) for mask in frame_labels])
    for pairs in batches:
        places = first_place[pairs.clips] + pairs.frames
        for leave, enter in (places.T, places.T[::-1]):
            leaves = inside[leave - half] & has_label[leave + half]
            enters = inside[enter + half + 1] & has_label[enter - half]
            for before, after in itertools.permutations(range(n_labels), 2):
                found = pairs.distances[leaves[:, before] & enters[:, after]]
                best = np.concatenate([out[before, after], found[found < out[before, after, -1]]])
                if len(best) > N_DISTANCES:
                    out[before, after] = np.sort(np.partition(best, N_DISTANCES)[:N_DISTANCES])
    return set_readonly(out)


def count_direct(graph: MotionGraph) -> Ints:
    """Return the number (K, K) of transitions from the component of one label (row) to that of another (column)."""
    edges = graph.edges.select(graph.edges.blends)
    leaves = edges.labels & graph.members[:, edges.tails].T
    enters = edges.labels & graph.members[:, edges.heads].T
    counts = leaves.T.astype(np.int64) @ enters.astype(np.int64)
    np.fill_diagonal(counts, 0)
    return set_readonly(counts)


def summarize_pairs(graph: MotionGraph) -> dict[tuple[str, str], LabelPair]:
    """Return the direct transitions of each pair of labels (from, to) that can be played forever."""
    counts, distances = count_direct(graph), graph.pair_distances
    alive = [k for k in range(len(graph.label_names)) if graph.members[k].any()]
    return {
        (graph.label_names[i], graph.label_names[j]): LabelPair(
            int(counts[i, j]), float("nan") if distances is None else float(distances[i, j, 0])
        )
        for i in alive
        for j in alive
        if i != j
    }


def explain_styles(graph: MotionGraph, labels: list[str]) -> str:
    """Return which change of style has the fewest direct transitions and how to get more; "" if no style changes."""
    counts = count_direct(graph)
    changes = [(graph.index(label=a), graph.index(label=b)) for a, b in itertools.pairwise(labels) if a != b]
    if not changes:
        return ""
    i, j = min(changes, key=lambda pair: counts[pair])
    before, after = graph.label_names[i], graph.label_names[j]
    n = int(counts[i, j])
    number = f"{'only ' if n else ''}{n or 'no'} {'transition leads' if n < 2 else 'transitions lead'}"
    return f"{number} directly from {before!r} to {after!r}{_suggest(graph, i, j, n)}"


def _suggest(graph: MotionGraph, i: int, j: int, n: int) -> str:
    """Return the threshold that gives a pair more transitions, as the end of a sentence."""
    distances = graph.pair_distances
    if distances is None:
        return f"; {graph.build_info.remedy}"
    possible = distances[i, j][np.isfinite(distances[i, j])]
    if len(possible) <= n:
        return ", and the clips have no similar frames for more; add clips"
    limit = np.ceil(1000.0 * possible[-1]) / 1000.0
    pair = (graph.label_names[i], graph.label_names[j])
    return f"; build the graph with `thresholds={{{pair}: {limit:g}}}`, which gives {len(possible)} or more"
