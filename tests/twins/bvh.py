"""BVH by its definition, slowly: a tidy text in, where every joint is in every frame out.

A joint's matrix is a shift by its OFFSET, whose components position channels replace, times one turn for each rotation
channel in listed order, in degrees. It stands in its parent's frame. Texts have one keyword to a line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Node:
    heading: str
    parent: Node | None
    offset: list[float] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)


@dataclass
class Evaluated:
    """Nodes in the file's order; rows of numbers; frame_time as spelled; positions (F, N, 3) in the file's unit."""

    nodes: list[Node]
    rows: list[list[float]]
    frame_time: str
    positions: np.ndarray


def evaluate(text: str, every: int = 1) -> Evaluated:
    """Evaluate every so many frames of a BVH text."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    motion = lines.index("MOTION")
    nodes = _nodes(lines[1:motion])
    rows = [[float(word) for word in line.split()] for line in lines[motion + 3 :]][::every]
    positions = _poses(nodes, np.array(rows))
    return Evaluated(nodes, rows, lines[motion + 2].split(":")[1].strip(), positions)


def _nodes(lines: list[str]) -> list[Node]:
    nodes: list[Node] = []
    open_nodes: list[Node] = []
    for line in lines:
        keyword = line.split()[0]
        if keyword in ("ROOT", "JOINT", "End"):
            nodes.append(Node(line, open_nodes[-1] if open_nodes else None))
        elif keyword == "{":
            open_nodes.append(nodes[-1])
        elif keyword == "}":
            open_nodes.pop()
        elif keyword == "OFFSET":
            open_nodes[-1].offset = [float(word) for word in line.split()[1:]]
        elif keyword == "CHANNELS":
            open_nodes[-1].channels = line.split()[2:]
        else:
            raise ValueError(f"not tidy enough for this evaluator: {line!r}")
    return nodes


def _poses(nodes: list[Node], table: np.ndarray) -> np.ndarray:
    """Compute (F, N, 3) from (F, C), all frames at once."""
    n_frames, n_channels = table.shape
    columns = iter(table.T)
    matrices: dict[int, np.ndarray] = {}
    points = []
    for node in nodes:
        shift, turns = np.tile(np.eye(4), (2, n_frames, 1, 1))
        shift[:, :3, 3] = node.offset
        for channel in node.channels:
            values = next(columns)
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                shift[:, axis, 3] = values
            else:
                turns = turns @ _turns(axis, np.radians(values))
        above = np.eye(4) if node.parent is None else matrices[id(node.parent)]
        matrices[id(node)] = above @ shift @ turns
        points.append(matrices[id(node)][:, :3, 3])
    if next(columns, None) is not None:
        raise ValueError(f"rows have {n_channels} numbers, more than the hierarchy has channels")
    return np.stack(points, axis=1)


def _turns(axis: int, angles: np.ndarray) -> np.ndarray:
    matrices = np.tile(np.eye(4), (len(angles), 1, 1))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrices[:, j, j] = matrices[:, k, k] = np.cos(angles)
    matrices[:, j, k], matrices[:, k, j] = -np.sin(angles), np.sin(angles)
    return matrices
