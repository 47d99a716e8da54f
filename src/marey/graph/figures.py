"""What is worth knowing about a graph: how much it holds at which threshold, and how quickly it answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core._arrays import Floats, Ints
from marey.graph.motion_graph import MotionGraph
from marey.graph.prune import prune
from marey.graph.routes import time_to

_N_LIMITS = 40


@dataclass(frozen=True, slots=True)
class GraphFigures:
    """A graph in numbers.

    Attributes
    ----------
    clips, seconds : how many, and how long they are together.
    nodes, edges, transitions : how many.
    seconds_kept : of clips that the graph plays.
    mean_edge : seconds.
    mean_distance : metres, of transitions.
    choices_per_second : places at which a clip can be left, per second of clip.
    to_label : for pairs of labels, seconds from the first to the second by the quickest way, mean over its nodes.
    """

    clips: int
    seconds: float
    nodes: int
    edges: int
    transitions: int
    seconds_kept: float
    mean_edge: float
    mean_distance: float
    choices_per_second: float
    to_label: dict[tuple[str, str], float]


def figures(graph: MotionGraph) -> GraphFigures:
    """The figures of a graph."""
    edges, fps = graph.edges, graph.fps
    kept = float(edges.n_frames[~edges.blends].sum()) / fps
    leaves = len(np.unique(edges.tails[edges.blends]))
    times = {}
    for after in graph.label_names:
        away = time_to(graph, after) / fps
        for k, before in enumerate(graph.label_names):
            here = away[graph.members[k]]
            if before != after and here.size:
                times[before, after] = float(here.mean())
    # Clips that only transitions are made of have no nodes of their own.
    own = [graph.clips[k] for k in np.unique(graph.nodes[:, 0])]
    return GraphFigures(
        clips=len(own),
        seconds=sum(len(clip) for clip in own) / fps,
        nodes=len(graph.nodes),
        edges=len(edges),
        transitions=graph.n_transitions,
        seconds_kept=kept,
        mean_edge=float(edges.n_frames.mean()) / fps,
        mean_distance=float(edges.distances[edges.blends].mean()) if edges.blends.any() else 0.0,
        choices_per_second=leaves / kept if kept else 0.0,
        to_label=times,
    )


def connectivity(graph: MotionGraph) -> tuple[Floats, Floats, Ints]:
    """Thresholds (T,) in metres up to the graph's own, the seconds (T, K) of clips of each label that can be played
    endlessly at each, and how many transitions (T,) that leaves."""
    edges = graph.edges
    limits = np.linspace(0.0, float(edges.distances.max()), _N_LIMITS)
    seconds = np.zeros((_N_LIMITS, len(graph.label_names)))
    counts = np.zeros(_N_LIMITS, dtype=np.int64)
    for row, limit in enumerate(limits):
        taken = edges.taken(~edges.blends | (edges.distances <= limit))
        keep, members = prune(len(graph.nodes), taken)
        counts[row] = int((keep & taken.blends).sum())
        for k in range(len(graph.label_names)):
            inside = taken.labels[:, k] & ~taken.blends & members[k, taken.tails] & members[k, taken.heads]
            seconds[row, k] = float(taken.n_frames[inside].sum()) / graph.fps
    return limits, seconds, counts
