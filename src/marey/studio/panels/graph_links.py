"""Compute the connectivity of a graph for given thresholds without building it, fast enough to follow a slider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.graph.build import find_limits
from marey.graph.motion_graph import MotionGraph
from marey.graph.network import Edges
from marey.graph.prune import components, find_components, prune
from marey.graph.settings import GraphSettings
from marey.graph.transitions import Transitions
from marey.studio.panels.graph_messages import GraphLinks, LabelPart, LimitPoint, PairCount, PairLimit

MAX_THRESHOLD = 0.25
"""Largest threshold that can be chosen, in meters."""

_N_LIMITS = 51
# The suggested threshold connects this fraction of what the largest one connects. To connect more, worse transitions
# are needed.
_ENOUGH = 0.6
_DEFAULT = float(GraphSettings().threshold)


@dataclass(frozen=True, slots=True, eq=False)
class LinkCandidates:
    """The compared clips, with all transitions up to `MAX_THRESHOLD` in both directions.

    names : the K labels.
    frame_labels : for each clip, a mask (F, K): which of its F frames have which label.
    fps, half : frames per second, and half the transition length in frames.
    n_nodes, edges : number of nodes and the edges of the graph with all transitions.
    """

    names: tuple[str, ...]
    frame_labels: list[Bools]
    fps: float
    half: int
    n_nodes: int
    edges: Edges

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> LinkCandidates:
        """Create the candidates from the result of `graph_work.find_candidates`."""
        masks = np.split(found["frame_labels"], np.cumsum(found["lengths"])[:-1])
        edges = Edges(**found["edges"])
        return cls(tuple(found["labels"]), masks, found["rate"], found["half"], found["n_nodes"], edges)

    @property
    def n_frames(self) -> int:
        """Total number of frames of all clips."""
        return sum(len(mask) for mask in self.frame_labels)


def links(candidates: LinkCandidates, threshold: float, pairs: Sequence[PairLimit]) -> GraphLinks:
    """Return the connectivity of the graph within a threshold (m) and the limits for pairs of labels."""
    edges = candidates.edges
    taken = edges.select(_select_edges(candidates, threshold, pairs))
    keep, members = prune(candidates.n_nodes, taken)
    left = taken.select(keep)
    blends = left.select(left.blends)
    parts = components(candidates.names, taken, members)
    counts = _counts(candidates, blends)
    return GraphLinks(
        len(blends),
        _largest_fraction(candidates, left),
        tuple(
            LabelPart(one.label, one.n_frames / candidates.fps, one.of_frames / candidates.fps, one.reaches)
            for one in parts
        ),
        tuple(
            PairCount(before, after, int(counts[i, j]))
            for i, before in enumerate(candidates.names)
            for j, after in enumerate(candidates.names)
        ),
    )


def curve(candidates: LinkCandidates) -> tuple[LimitPoint, ...]:
    """Return the connectivity for thresholds from 0 to `MAX_THRESHOLD`."""
    edges = candidates.edges
    out = []
    for limit in np.linspace(0.0, MAX_THRESHOLD, _N_LIMITS).tolist():
        taken = edges.select(~edges.blends | (edges.distances <= limit))
        keep, _ = prune(candidates.n_nodes, taken)
        left = taken.select(keep)
        out.append(LimitPoint(limit, _largest_fraction(candidates, left), int(left.blends.sum())))
    return tuple(out)


def suggest_threshold(points: Sequence[LimitPoint]) -> float:
    """Return the smallest threshold (m) that connects at least 60% of what the best threshold connects.

    It is not smaller than the default of the library: with more transitions, walks follow paths more closely.
    """
    most = max(point.connected for point in points)
    enough = next(point.meters for point in points if point.connected >= _ENOUGH * most)
    return max(enough, _DEFAULT)


def as_thresholds(pairs: Sequence[PairLimit]) -> dict[tuple[str, str], float]:
    """Return the limits for label pairs as a dict, as the library expects."""
    return {(pair.before, pair.after): pair.meters for pair in pairs}


def _select_edges(candidates: LinkCandidates, threshold: float, pairs: Sequence[PairLimit]) -> Bools:
    """Return a mask (E,) of the E edges: those inside clips, and the transitions within their threshold."""
    edges = candidates.edges
    out = ~edges.blends
    jumps = np.flatnonzero(edges.blends)
    directed = _make_transitions(edges.select(jumps), candidates.half)
    limits: Floats = find_limits(
        directed, directed, candidates.names, candidates.frame_labels, threshold, as_thresholds(pairs)
    )
    out[jumps] = directed.distances <= limits
    return out


def _make_transitions(jumps: Edges, half: int) -> Transitions:
    return Transitions(jumps.clips, jumps.starts + half, jumps.distances, jumps.moves)


def _counts(candidates: LinkCandidates, blends: Edges) -> Ints:
    """Return the numbers of transitions (K, K) from each of K labels to each."""
    firsts = np.concatenate([[0], np.cumsum([len(mask) for mask in candidates.frame_labels])])
    labels = np.concatenate(candidates.frame_labels).astype(np.int64)
    before, after = (labels[firsts[blends.clips[:, k]] + blends.starts[:, k] + candidates.half] for k in (0, 1))
    return np.asarray(before.T @ after)


def _largest_fraction(candidates: LinkCandidates, taken: Edges) -> float:
    """Return the fraction of all frames in the largest strongly connected component.

    taken : edges after pruning. Each label is pruned separately, which may remove entire clips.
    """
    _, _, frames = find_components(candidates.n_nodes, taken)
    return float(frames.max(initial=0.0)) / max(candidates.n_frames, 1)


def start_node(graph: MotionGraph) -> int | None:
    """Return a node of the strongly connected component with the most frames; None if there is only one."""
    which, _, frames = find_components(len(graph.nodes), graph.edges)
    return int(np.argmax(which == int(frames.argmax()))) if which.max() > 0 else None
