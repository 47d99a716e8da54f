"""Save and load graphs. A file holds the clips, nodes and edges, so nothing has to be rebuilt."""

from __future__ import annotations

import os
from dataclasses import fields

import numpy as np

from marey.graph.build import BuildInfo
from marey.graph.motion_graph import MotionGraph
from marey.graph.network import Edges
from marey.graph.prune import UNLABELED, Component
from marey.io import archive, clip_arrays

FORMAT = "marey.graph"
VERSION = 2

_EDGES = tuple(field.name for field in fields(Edges))
_OWN = (
    "half_width", "nodes", "graph_labels", "members", "findings", "built_by", "threshold",
    *(f"edge_{name}" for name in _EDGES),
)  # fmt: skip
_KINDS = ("distance", "similarity")
_COMPONENTS = ("component_labels", "component_frames", "component_reaches")


def save_graph(graph: MotionGraph, path: str | os.PathLike[str]) -> None:
    """Write the graph to an .npz file."""
    found = graph.components
    names = [component.label for component in found]
    arrays = {
        "half_width": np.array(graph.half_width),
        "nodes": graph.nodes,
        "graph_labels": archive.text_array(graph.label_names, "labels"),
        "members": graph.members,
        "findings": archive.text_array(graph.findings, "findings"),
        "built_by": archive.text_array(graph.build_info.kind, "how it was built"),
        "threshold": np.array(graph.build_info.threshold, dtype=np.float64),
        "component_labels": archive.text_array(names, "labels"),
        "component_frames": np.array([(c.n_frames, c.of_frames) for c in found], dtype=np.int64).reshape(-1, 2),
        "component_reaches": np.array([[name in c.reaches for name in names] for c in found], dtype=bool),
        **{f"edge_{name}": getattr(graph.edges, name) for name in _EDGES},
    }
    clip_arrays.write_clips(path, FORMAT, VERSION, graph.clips, arrays)


def load_graph(path: str | os.PathLike[str]) -> MotionGraph:
    """Load a graph from a file that `save_graph` wrote."""
    with clip_arrays.read_clips(path, FORMAT, VERSION, (*_OWN, *_COMPONENTS)) as (clips, arrays):
        labels = _read_labels(arrays["component_labels"])
        found = tuple(
            Component(label, int(kept), int(total), tuple(np.array(labels)[reach].tolist()))
            for label, (kept, total), reach in zip(
                labels, arrays["component_frames"], arrays["component_reaches"].reshape(len(labels), -1), strict=True
            )
        )
        edges = Edges(*(arrays[f"edge_{name}"] for name in _EDGES))
        _check_ranges(edges, arrays["nodes"], np.array([len(clip) for clip in clips]))
        how = BuildInfo(str(arrays["built_by"]), float(arrays["threshold"]))
        if how.kind not in _KINDS:
            raise ValueError(f"its kind is {how.kind[:20]!r}, not {' or '.join(_KINDS)}")
        return MotionGraph(
            clips,
            int(arrays["half_width"]),
            arrays["nodes"],
            edges,
            _read_labels(arrays["graph_labels"]),
            arrays["members"],
            found,
            tuple(arrays["findings"].tolist()),
            how,
        )


def _read_labels(names: np.ndarray) -> tuple[str, ...]:
    """Return the labels of a file. Earlier releases spelled the reserved label differently."""
    return tuple(UNLABELED if name == "(unlabelled)" else name for name in names.tolist())


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
