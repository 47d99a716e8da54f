"""Explain why a walk deviates from its path: compare the turns of the path with the sharpest turns of the clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats

if TYPE_CHECKING:
    from marey.graph.follow import PathResult
    from marey.graph.motion_graph import MotionGraph

# Smallest deviation (m) that is explained.
_FAR = 0.2
# Meters over which a turn is measured, and meters between sample points.
_REACH, _STEP = 1.0, 0.05
# Meters around the largest deviation in which to look for its cause: a walk may cut a bend and return later.
_AROUND = 3.0
# The path is the cause if it turns more sharply than the clips by more than this angle (radians).
_ROOM = 0.1


def explain_deviation(graph: MotionGraph, found: PathResult, styles: Sequence[tuple[float, str]] | None) -> str:
    """Return an explanation if the walk deviates by 0.2 m or more from its path; else "".

    styles : (meters, label) pairs, each with the arc length at which the label ends, as for `MotionGraph.follow`; None
        for any label.
    """
    if found.largest_distance < _FAR:
        return ""
    from scipy.spatial import cKDTree

    apart, nearest = cKDTree(found.path).query(found.walked_path)
    arc_lengths = _arc_lengths(found.path)
    off = float(arc_lengths[nearest[apart.argmax()]])
    asked = np.abs(turn_angles(found.path))
    at = _REACH / 2 + _STEP * np.arange(len(asked))
    near = np.abs(at - off) < _AROUND
    # Excess, angle, arc length and description of the turn that exceeds the clips of its label the most.
    worst = (0.0, 0.0, 0.0, "")
    begin = 0.0
    for end, label in [(arc_lengths[-1], None)] if styles is None else styles:
        most = sharpest_turn(graph, label)
        here = np.flatnonzero(near & (at >= begin) & (at <= end))
        sharp = float(asked[here].max(initial=0.0))
        if len(here) and sharp - most > worst[0]:
            clips = "the clips" if label is None else f"the clips of {label!r}"
            worst = (sharp - most, sharp, float(at[here[asked[here].argmax()]]), f"{clips} turn by {_degrees(most)}")
        begin = end
    excess, sharp, place, limit = worst
    if excess > _ROOM:
        return (
            f"The path turns by {_degrees(sharp)} within 1 m at {place:.1f} m; {limit} at most. Draw a wider bend, "
            "or add clips that turn more sharply."
        )
    return (
        f"The largest deviation is {off:.1f} m along the path. The clips can turn as sharply as the path, so more "
        "transitions (a higher threshold) or more clips may reduce it."
    )


def sharpest_turn(graph: MotionGraph, label: str | None = None) -> float:
    """Return the sharpest turn (radians) within one meter in the clips of a label; None for all clips."""
    from marey.graph.build import collect_labels
    from marey.graph.edge_paths import smooth_paths

    names, masks = collect_labels(graph.clips)
    column = None if label is None else names.index(label)
    most = 0.0
    for path, mask in zip(smooth_paths(graph), masks, strict=True):
        inside = np.ones(len(path), dtype=bool) if column is None else mask[:, column]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            turns = turn_angles(path[start:stop])
            most = max(most, float(np.abs(turns).max(initial=0.0)))
    return most


def turn_angles(path: Floats) -> Floats:
    """Return the turn (radians) within the next meter for a point every 5 cm of a path (N, 2).

    Empty if the path is shorter than 1.1 m.
    """
    arc_lengths = _arc_lengths(path)
    if arc_lengths[-1] < _REACH + 2 * _STEP:
        return np.zeros(0)
    at = np.arange(0.0, arc_lengths[-1], _STEP)
    moving = np.concatenate([[True], np.diff(arc_lengths) > 0.0])
    even = np.stack([np.interp(at, arc_lengths[moving], path[moving, k]) for k in (0, 1)], axis=1)
    headings = np.unwrap(np.arctan2(*np.diff(even, axis=0).T))
    far = round(_REACH / _STEP)
    return np.asarray(headings[far:] - headings[:-far])


def _arc_lengths(points: Floats) -> Floats:
    """Return the cumulative arc lengths (N,) of points (N, 2), in meters."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.0f}°"
