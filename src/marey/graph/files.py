"""Graph files: clips, nodes and edges, complete, so that nothing has to be rebuilt."""

from __future__ import annotations

import os
from dataclasses import fields

import numpy as np

from marey.errors import MareyError, ParseError, UnknownFormat
from marey.graph.motion_graph import How, MotionGraph
from marey.graph.network import Edges
from marey.graph.prune import Component
from marey.io import archive, clip_arrays
from marey.io.files import read_bytes, split_name, write_bytes

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
    suffix = split_name(path)[1]
    if suffix != ".npz":
        raise UnknownFormat(f"a graph is written as .npz, got {suffix or 'no suffix'}", path=os.fspath(path))
    found = graph.components
    names = [component.label for component in found]
    arrays = {
        "half_width": np.array(graph.half_width),
        "nodes": graph.nodes,
        "graph_labels": archive.text_array(graph.label_names, "labels"),
        "members": graph.members,
        "findings": archive.text_array(graph.findings, "findings"),
        "built_by": archive.text_array(graph.how.kind, "how it was built"),
        "threshold": np.array(graph.how.threshold, dtype=np.float64),
        "component_labels": archive.text_array(names, "labels"),
        "component_frames": np.array([(c.n_frames, c.of_frames) for c in found], dtype=np.int64).reshape(-1, 2),
        "component_reaches": np.array([[name in c.reaches for name in names] for c in found], dtype=bool),
        **{f"edge_{name}": getattr(graph.edges, name) for name in _EDGES},
    }
    write_bytes(path, [archive.pack(FORMAT, VERSION, clip_arrays.clip_arrays(graph.clips) | arrays)])


def load_graph(path: str | os.PathLike[str]) -> MotionGraph:
    """Load a graph from a file that `save_graph` wrote."""
    name = os.fspath(path)
    required = (*clip_arrays.REQUIRED, *_OWN, *_COMPONENTS)
    arrays = archive.unpack(read_bytes(path), name, FORMAT, VERSION, required, clip_arrays.OPTIONAL)
    clips = clip_arrays.clips_from(arrays, name)
    try:
        labels = tuple(arrays["component_labels"].tolist())
        found = tuple(
            Component(label, int(kept), int(had), tuple(np.array(labels)[reach].tolist()))
            for label, (kept, had), reach in zip(
                labels, arrays["component_frames"], arrays["component_reaches"].reshape(len(labels), -1), strict=True
            )
        )
        edges = Edges(*(arrays[f"edge_{name}"] for name in _EDGES))
        _check_ranges(edges, arrays["nodes"], np.array([len(clip) for clip in clips]))
        how = How(str(arrays["built_by"]), float(arrays["threshold"]))
        if how.kind not in _KINDS:
            raise ValueError(f"it was built by {how.kind[:20]!r}, expected {' or '.join(_KINDS)}")
        return MotionGraph(
            clips,
            int(arrays["half_width"]),
            arrays["nodes"],
            edges,
            tuple(arrays["graph_labels"].tolist()),
            arrays["members"],
            found,
            tuple(arrays["findings"].tolist()),
            how,
        )
    except (MareyError, ValueError, IndexError, TypeError) as error:
        raise ParseError(f"the graph in this file is inconsistent ({error})", path=name) from None


def _check_ranges(edges: Edges, nodes: np.ndarray, lengths: np.ndarray) -> None:
    """Raise an error for edges with invalid nodes, clips or frames, before anything uses them as indices."""
    ends = np.concatenate([edges.tails, edges.heads])
    if ends.size and not (ends.min() >= 0 and ends.max() < len(nodes)):
        raise ValueError(f"edges lead to nodes {ends.min()} to {ends.max()} of {len(nodes)}")
    clips = edges.clips
    if clips.size and not (clips.min() >= 0 and clips.max() < len(lengths)):
        raise ValueError(f"edges play clips {clips.min()} to {clips.max()} of {len(lengths)}")
    stops = edges.starts + edges.n_frames[:, None]
    if ((edges.starts < 0) | (edges.n_frames[:, None] < 1) | (stops > lengths[clips])).any():
        raise ValueError("edges play frames that their clips do not have")
