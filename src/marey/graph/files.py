"""Save and load graphs. A file holds the clips, nodes and edges, so nothing has to be rebuilt."""

from __future__ import annotations

import os

import numpy as np

from marey.graph.build import BuildInfo
from marey.graph.label_pairs import N_DISTANCES
from marey.graph.motion_graph import MotionGraph
from marey.graph.network import Edges
from marey.graph.prune import UNLABELED, Component
from marey.io.limits import MAX_BLEND_FRAMES
from marey.io.stored import FileFormat, Part

_KINDS = ("distance", "similarity")
_EDGES = {
    "tails": Part("integer", ("edges",)),
    "heads": Part("integer", ("edges",)),
    "clips": Part("integer", ("edges", 2)),
    "starts": Part("integer", ("edges", 2)),
    "n_frames": Part("integer", ("edges",)),
    "distances": Part("float", ("edges",)),
    "moves": Part("float", ("edges", 3)),
    "blends": Part("flag", ("edges",)),
    "labels": Part("flag", ("edges", "graph labels")),
}
_FILE = FileFormat(
    "marey.graph", 2,
    {
        "half_width": Part("integer"),
        "nodes": Part("integer", ("nodes", 2)),
        "graph_labels": Part("text", ("graph labels",)),
        "members": Part("flag", ("graph labels", "nodes")),
        "findings": Part("text", ("findings",)),
        "built_by": Part("text"),
        "threshold": Part("float", is_finite=False),
        "pair_distances": Part("float", ("graph labels", "graph labels", N_DISTANCES), optional=True, is_finite=False),
        "component_labels": Part("text", ("components",)),
        "component_frames": Part("integer", ("components", 2)),
        "component_reaches": Part("flag", None),
        **{f"edge_{name}": part for name, part in _EDGES.items()},
    },
    has_clips=True,
)  # fmt: skip


def save_graph(graph: MotionGraph, path: str | os.PathLike[str]) -> None:
    """Write the graph to an .npz file."""
    found = graph.components
    names = [component.label for component in found]
    parts = {
        "clips": graph.clips,
        "half_width": graph.half_width,
        "nodes": graph.nodes,
        "graph_labels": graph.label_names,
        "members": graph.members,
        "findings": graph.findings,
        "built_by": graph.build_info.kind,
        "threshold": float(graph.build_info.threshold),
        "pair_distances": graph.pair_distances,
        "component_labels": names,
        "component_frames": np.array([(c.n_frames, c.of_frames) for c in found], dtype=np.int64).reshape(-1, 2),
        "component_reaches": np.array([[name in c.reaches for name in names] for c in found], dtype=bool),
        **{f"edge_{name}": getattr(graph.edges, name) for name in _EDGES},
    }
    _FILE.write(path, parts)


def load_graph(path: str | os.PathLike[str]) -> MotionGraph:
    """Load a graph from a file that `save_graph` wrote."""
    with _FILE.open(path) as parts:
        labels = _read_labels(parts["component_labels"])
        reaches = parts["component_reaches"].reshape(len(labels), -1)
        found = tuple(
            Component(label, int(kept), int(total), tuple(np.array(labels)[reach].tolist()))
            for label, (kept, total), reach in zip(labels, parts["component_frames"], reaches, strict=True)
        )
        edges = Edges(**{name: parts[f"edge_{name}"] for name in _EDGES})
        _check_ranges(edges, parts["nodes"], np.array([len(clip) for clip in parts["clips"]]))
        if not 0 <= parts["half_width"] <= MAX_BLEND_FRAMES:
            raise ValueError(f"half_width must be from 0 to {MAX_BLEND_FRAMES} frames, not {parts['half_width']}")
        how = BuildInfo(parts["built_by"], parts["threshold"])
        if how.kind not in _KINDS:
            raise ValueError(f"kind must be {' or '.join(_KINDS)}, not {how.kind[:20]!r}")
        return MotionGraph(
            parts["clips"],
            parts["half_width"],
            parts["nodes"],
            edges,
            _read_labels(parts["graph_labels"]),
            parts["members"],
            found,
            parts["findings"],
            how,
            parts["pair_distances"],
        )


def _read_labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the label names of a file, with the reserved label spelled as in this release."""
    return tuple(UNLABELED if name == "(unlabelled)" else name for name in names)


def _check_ranges(edges: Edges, nodes: np.ndarray, lengths: np.ndarray) -> None:
    """Raise an error for edges with invalid nodes, clips or frames, before anything uses them as indices."""
    ends = np.concatenate([edges.tails, edges.heads])
    if ends.size and not (ends.min() >= 0 and ends.max() < len(nodes)):
        raise ValueError(f"edges refer to nodes {ends.min()} to {ends.max()}, but the nodes are 0 to {len(nodes) - 1}")
    clips = edges.clips
    if clips.size and not (clips.min() >= 0 and clips.max() < len(lengths)):
        raise ValueError(
            f"edges refer to clips {clips.min()} to {clips.max()}, but the clips are 0 to {len(lengths) - 1}"
        )
    stops = edges.starts + edges.n_frames[:, None]
    outside = (edges.starts < 0) | (edges.n_frames[:, None] < 1) | (stops > lengths[clips])
    if outside.any():
        e, k = np.argwhere(outside)[0]
        raise ValueError(
            f"edge {e} plays frames {edges.starts[e, k]} to {stops[e, k]} of clip {clips[e, k]}, which has "
            f"{lengths[clips[e, k]]}"
        )
