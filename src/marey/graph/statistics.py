"""Statistics of a graph: its contents, what remains at each threshold, and the time from label to label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.compare import frame_weights, point_clouds
from marey.core.arrays import Floats, Ints
from marey.graph.bridges import count_recorded_clips, plays_own_clips
from marey.graph.build import collect_labels
from marey.graph.label_pairs import LabelPair, summarize_pairs
from marey.graph.minima import find_transitions
from marey.graph.network import Edges, add_reverses, connect_clips
from marey.graph.prune import components, find_components, prune
from marey.graph.routes import count_frames_to_label

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Number of thresholds, the largest threshold as a multiple of the graph's own, and the maximum number of frames to
# compare again.
_N_LIMITS, _BEYOND, _MAX_FRAMES = 41, 2.0, 20_000
_MAX_MEMORY = 256 * 2**20
# Tolerance in meters for a recomputed distance.
_SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class GraphStatistics:
    """Statistics of a graph.

    Attributes
    ----------
    clips : number of clips that the graph plays.
    seconds : total duration in seconds of the clips that it was built from.
    left_out : names of the clips that it does not play at all.
    nodes, edges, transitions : number of nodes, edges and transitions.
    seconds_kept : total duration in seconds of the clip frames that the graph plays.
    mean_edge : mean duration of an edge in seconds.
    mean_distance : mean distance of the transitions in meters.
    choices_per_second : number of nodes with at least one outgoing transition, per second of clip.
    parts : strongly connected components, largest first: the seconds of clips in each, and the labels whose component
        has nodes in it.
    pairs : keyed by pairs of labels (from, to): the direct transitions between them.
    to_label : keyed by pairs of labels (from, to): time in seconds by the shortest route, as the mean over the nodes of
        the first label's component; infinite if unreachable.
    """

    clips: int
    seconds: float
    left_out: tuple[str, ...]
    nodes: int
    edges: int
    transitions: int
    seconds_kept: float
    mean_edge: float
    mean_distance: float
    choices_per_second: float
    parts: tuple[tuple[float, tuple[str, ...]], ...]
    pairs: dict[tuple[str, str], LabelPair]
    to_label: dict[tuple[str, str], float]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics, JSON-ready. The time to an unreachable label is None."""
        return {
            "clips": self.clips,
            "clips_left_out": list(self.left_out),
            "seconds": self.seconds,
            "seconds_kept": self.seconds_kept,
            "nodes": self.nodes,
            "edges": self.edges,
            "transitions": self.transitions,
            "mean_edge_s": self.mean_edge,
            "mean_distance_m": self.mean_distance,
            "places_to_leave_per_s": self.choices_per_second,
            "components": [{"seconds": length, "labels": list(labels)} for length, labels in self.parts],
            "label_pairs": [
                {
                    "from": before,
                    "to": after,
                    "transitions": pair.transitions,
                    "min_distance_m": pair.min_distance if np.isfinite(pair.min_distance) else None,
                }
                for (before, after), pair in self.pairs.items()
            ],
            "seconds_to_label": [
                {"from": before, "to": after, "seconds": seconds if np.isfinite(seconds) else None}
                for (before, after), seconds in self.to_label.items()
            ],
        }


def graph_statistics(graph: MotionGraph) -> GraphStatistics:
    """Compute the statistics of a graph.

    Examples
    --------
    >>> statistics = marey.graph.graph_statistics(graph)
    >>> statistics.clips, statistics.transitions == graph.n_transitions
    (3, True)
    """
    edges, fps = graph.edges, graph.fps
    seconds_kept = float(edges.n_frames[~edges.blends].sum()) / fps
    leaves = len(np.unique(edges.tails[edges.blends]))
    times = {}
    for after in graph.label_names:
        away = count_frames_to_label(graph, after) / fps
        for k, before in enumerate(graph.label_names):
            here = away[graph.members[k]]
            if before != after and here.size:
                times[before, after] = float(here.mean())
    # The clips of bridges have no nodes.
    played = np.unique(graph.nodes[:, 0])
    own = [graph.clips[k] for k in played]
    others = np.setdiff1d(np.arange(count_recorded_clips(graph)), played)
    return GraphStatistics(
        clips=len(own),
        seconds=sum(len(clip) for clip in graph.clips[: count_recorded_clips(graph)]) / fps,
        left_out=tuple(graph.clips[k].name for k in others),
        nodes=len(graph.nodes),
        edges=len(edges),
        transitions=graph.n_transitions,
        seconds_kept=seconds_kept,
        mean_edge=float(edges.n_frames.mean()) / fps,
        mean_distance=float(edges.distances[edges.blends].mean()) if edges.blends.any() else 0.0,
        choices_per_second=leaves / seconds_kept if seconds_kept else 0.0,
        parts=_split_parts(graph),
        pairs=summarize_pairs(graph),
        to_label=times,
    )


def _split_parts(graph: MotionGraph) -> tuple[tuple[float, tuple[str, ...]], ...]:
    which, n_inner, frames = find_components(len(graph.nodes), graph.edges)
    out = []
    for part in sorted(np.flatnonzero(n_inner), key=lambda part: -frames[part]):
        names = tuple(name for k, name in enumerate(graph.label_names) if (graph.members[k] & (which == part)).any())
        out.append((float(frames[part]) / graph.fps, names))
    return tuple(out)


class Connectivity(NamedTuple):
    """What remains of a graph with K labels at each of T thresholds.

    limits : (T,) thresholds in meters.
    seconds : (T, K) seconds of clips in each label's component.
    transitions : (T,) number of remaining transitions.
    ways : (T,) number of ordered label pairs (from, to) with a route.
    """

    limits: Floats
    seconds: Floats
    transitions: Ints
    ways: Ints

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as lists, JSON-ready."""
        return {name: column.tolist() for name, column in self._asdict().items()}


def connectivity(graph: MotionGraph) -> Connectivity:
    """Measure what remains of a graph at each of 41 thresholds, to help choose one.

    Thresholds go up to twice the graph's own. The clips are compared again, and each row describes the graph that would
    be built with that threshold for all labels. This is not possible for graphs with more than 20,000 frames, graphs
    built by similarity, and graphs built with other markers. For these, thresholds go up to the largest distance of the
    graph's transitions, and each row describes the graph without the transitions beyond the threshold.

    Examples
    --------
    >>> table = marey.graph.connectivity(graph)
    >>> table.limits.shape, table.seconds.shape
    ((41,), (41, 3))
    """
    limits, nodes, edges = _find_beyond(graph) or (
        np.linspace(0.0, float(graph.edges.distances.max()), _N_LIMITS), graph.nodes, graph.edges
    )  # fmt: skip
    seconds = np.zeros((len(limits), len(graph.label_names)))
    counts, ways = np.zeros((2, len(limits)), dtype=np.int64)
    for row, limit in enumerate(limits):
        taken = edges.select(~edges.blends | (edges.distances <= limit))
        keep, members = prune(len(nodes), taken)
        counts[row] = int((keep & taken.blends).sum())
        found = components(graph.label_names, taken, members)
        seconds[row] = [each.n_frames / graph.fps for each in found]
        ways[row] = sum(len(each.reaches) for each in found if each.n_frames)
    return Connectivity(limits, seconds, counts, ways)


def own_threshold(graph: MotionGraph) -> float:
    """Return the graph's threshold in meters; if unknown, the largest distance of its transitions."""
    if graph.build_info.kind == "distance" and graph.build_info.threshold > 0.0:
        return graph.build_info.threshold
    blends = graph.edges.blends & plays_own_clips(graph)
    return float(graph.edges.distances[blends if blends.any() else graph.edges.blends].max(initial=0.0))


def _find_beyond(graph: MotionGraph) -> tuple[Floats, Ints, Edges] | None:
    """Return thresholds up to twice the graph's own, and the nodes and edges of all clips with all transitions up to
    the largest. Return None if that would take too long, or if the graph's own transitions are not among them."""
    edges, half = graph.edges, graph.half_width
    plain = edges.blends & plays_own_clips(graph)
    clips = graph.clips[: count_recorded_clips(graph)]
    if not plain.any() or sum(len(clip) for clip in clips) > _MAX_FRAMES:
        return None
    own = max(float(edges.distances[plain].max()), own_threshold(graph))
    weights = frame_weights((2 * half + 1) / graph.fps, graph.fps, "triangle")
    clouds = [point_clouds(clip) for clip in clips]
    found = add_reverses(find_transitions(clouds, weights, _BEYOND * own, max_memory=_MAX_MEMORY))
    there = {(*c, *f): d for c, f, d in zip(found.clips.tolist(), found.frames.tolist(), found.distances, strict=True)}
    frames = edges.starts[plain] + half
    for c, f, d in zip(edges.clips[plain].tolist(), frames.tolist(), edges.distances[plain], strict=True):
        if abs(there.get((*c, *f), np.inf) - d) > _SAME:
            return None
    names, frame_labels = collect_labels(clips)
    if names != graph.label_names:
        return None
    nodes, all_edges = connect_clips(np.array([len(clip) for clip in clips]), frame_labels, found, half)
    return np.linspace(0.0, _BEYOND * own, _N_LIMITS), nodes, all_edges
