"""Why a way is off its path: what the path asks for where they are furthest apart, and what the clips can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats

if TYPE_CHECKING:
    from marey.graph.follow import Followed
    from marey.graph.motion_graph import MotionGraph

# Metres off the path from which on it is worth a sentence.
_FAR = 0.2
# Metres along a way over which its turn is told, and between the points at which it is looked at.
_REACH, _STEP = 1.0, 0.05
# Metres around the place that is furthest off in which its cause is looked for: a bend is cut, and made up for later.
_AROUND = 3.0
# Radians by which a path turns more sharply than the clips before that is said to be the cause.
_ROOM = 0.1


def why_off(graph: MotionGraph, found: Followed, styles: Sequence[tuple[float, str]] | None) -> str:
    """A sentence where the walk is far off its path somewhere; "" where it is not.

    styles : (metres, label) as `MotionGraph.follow` takes them; None for anything.
    """
    if found.largest_distance < _FAR:
        return ""
    from scipy.spatial import cKDTree

    apart, nearest = cKDTree(found.path).query(found.way)
    gone = _gone(found.path)
    off = float(gone[nearest[apart.argmax()]])
    asked = np.abs(turns_of(found.path))
    at = _REACH / 2 + _STEP * np.arange(len(asked))
    near = np.abs(at - off) < _AROUND
    # Where along the path more is asked for than the clips of its label can do.
    worst = (0.0, 0.0, 0.0, "")
    begin = 0.0
    for end, label in [(gone[-1], None)] if styles is None else styles:
        most = sharpest_turn(graph, label)
        here = np.flatnonzero(near & (at >= begin) & (at <= end))
        sharp = float(asked[here].max(initial=0.0))
        if len(here) and sharp - most > worst[0]:
            clips = "the clips" if label is None else f"the clips of {label!r}"
            worst = (sharp - most, sharp, float(at[here[asked[here].argmax()]]), f"{clips} turn by {_degrees(most)}")
        begin = end
    excess, sharp, place, told = worst
    if excess > _ROOM:
        return (
            f"The path turns by {_degrees(sharp)} within a metre at {place:.1f} m; {told} at most. Draw a wider bend, "
            "or add clips that turn more sharply."
        )
    return (
        f"It is furthest off {off:.1f} m along the path. The clips turn as sharply as the path does, so that more "
        "transitions, or more clips, may bring it nearer."
    )


def sharpest_turn(graph: MotionGraph, label: str | None = None) -> float:
    """Radians: the most that the clips of a label turn within a metre of their way."""
    from marey.graph.build import labels_of
    from marey.graph.edge_paths import travelled

    names, masks = labels_of(graph.clips)
    column = None if label is None else names.index(label)
    most = 0.0
    for way, mask in zip(travelled(graph), masks, strict=True):
        inside = np.ones(len(way), dtype=bool) if column is None else mask[:, column]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            turns = turns_of(way[start:stop])
            most = max(most, float(np.abs(turns).max(initial=0.0)))
    return most


def turns_of(way: Floats) -> Floats:
    """(M,) radians that a way (N, 2) turns within a metre, every 5 cm; none for one shorter than that."""
    gone = _gone(way)
    if gone[-1] < _REACH + 2 * _STEP:
        return np.zeros(0)
    at = np.arange(0.0, gone[-1], _STEP)
    moving = np.concatenate([[True], np.diff(gone) > 0.0])
    even = np.stack([np.interp(at, gone[moving], way[moving, k]) for k in (0, 1)], axis=1)
    headings = np.unwrap(np.arctan2(*np.diff(even, axis=0).T))
    far = round(_REACH / _STEP)
    return np.asarray(headings[far:] - headings[:-far])


def _gone(points: Floats) -> Floats:
    """(N,) metres along a way."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.0f}°"
