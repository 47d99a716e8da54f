"""Bridges: transitions with their own motion, stored as short clips.

An ordinary transition of `Edges` blends two recorded clips while it plays. A bridge has its own motion and duration.
The motion is stored as an extra clip after the recorded ones, and a single edge plays it. The edge leaves a recorded
clip and enters another, so labels and pruning treat it like any other transition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.graph.build import BuildInfo, collect_labels, prune_graph
from marey.graph.network import connect_clips
from marey.graph.transitions import Transitions

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph


@dataclass(frozen=True, slots=True, eq=False)
class Bridge:
    """A transition with its own motion.

    Attributes
    ----------
    clips : indices of the source clip and of the target clip.
    leave : first frame of the source clip that is not played.
    enter : first frame of the target clip that is played after the bridge.
    motions : the two motions to blend. The first is in the coordinates of the source clip, the second in those of the
        target clip; None means the target clip itself, up to `enter`. A motion that needs no blending is passed twice,
        once in each clip's coordinates.
    start, n_frames : first frame and number of frames of the motions to play. The motions may have extra frames before
        and after.
    distance : distance in meters between the frames that it joins.
    move : (3,) rigid2d (theta, x, z) that moves the target clip onto the source clip.
    """

    clips: tuple[int, int]
    leave: int
    enter: int
    motions: tuple[Motion, Motion | None]
    start: int
    n_frames: int
    distance: float
    move: Floats


def build_with_bridges(
    motions: Sequence[Motion],
    half: int,
    plain: Transitions,
    bridges: Sequence[Bridge],
    how: BuildInfo,
    min_seconds: float = 2.0,
) -> MotionGraph | None:
    """Build the pruned graph of clips, transitions and bridges; return None if it has no cycle.

    Parameters
    ----------
    motions : the recorded clips.
    half : L; ordinary transitions blend 2 L + 1 frames.
    plain : ordinary transitions, directed.
    bridges : each must have leave + 2 L < number of frames of its source clip, and enter > 2 L.
    how : how the graph was built.
    min_seconds : labels of which fewer seconds can be played forever are listed in `MotionGraph.findings`.
    """
    names, frame_labels = collect_labels(motions)
    joins = Transitions(
        np.array([bridge.clips for bridge in bridges], dtype=np.int64).reshape(-1, 2),
        np.array([(b.leave + half, b.enter - half - 1) for b in bridges], dtype=np.int64).reshape(-1, 2),
        # Edges will be reordered; until then, a negative distance identifies the bridge.
        -1.0 - np.arange(len(bridges), dtype=np.float64),
        np.array([bridge.move for bridge in bridges], dtype=np.float64).reshape(-1, 3),
    )
    both = Transitions(
        np.concatenate([plain.clips, joins.clips]),
        np.concatenate([plain.frames, joins.frames]),
        np.concatenate([plain.distances, joins.distances]),
        np.concatenate([plain.transforms, joins.transforms]),
    )
    lengths = np.array([len(motion) for motion in motions])
    nodes, edges = connect_clips(lengths, frame_labels, both, half)
    graph = prune_graph(tuple(motions), half, nodes, edges, names, min_seconds, how)
    if graph is None:
        return None
    edges = graph.edges
    clips, starts = edges.clips.copy(), edges.starts.copy()
    n_frames, distances = edges.n_frames.copy(), edges.distances.copy()
    extra: list[Motion] = []
    for e in np.flatnonzero(edges.distances < 0.0):
        bridge = bridges[round(-1.0 - float(edges.distances[e]))]
        for side, motion in enumerate(bridge.motions):
            if motion is None:
                starts[e, side] = bridge.enter - bridge.n_frames
            else:
                clips[e, side], starts[e, side] = len(motions) + len(extra), bridge.start
                extra.append(replace(motion, name=f"{motion.name} ({len(extra) + 1})"))
        n_frames[e], distances[e] = bridge.n_frames, bridge.distance
    played = replace(edges, clips=clips, starts=starts, n_frames=n_frames, distances=distances)
    return replace(graph, clips=(*motions, *extra), edges=played)


def plays_own_clips(graph: MotionGraph) -> Bools:
    """Return a mask (E,) of the edges that play the clips of their nodes, which bridges do not."""
    ends = np.stack([graph.nodes[graph.edges.tails, 0], graph.nodes[graph.edges.heads, 0]], axis=1)
    return np.asarray((graph.edges.clips == ends).all(axis=1))


def count_recorded_clips(graph: MotionGraph) -> int:
    """Count the recorded clips. They come first in ``graph.clips``; the others are motions of bridges."""
    own = graph.edges.clips[~plays_own_clips(graph)]
    own = own[~np.isin(own, graph.nodes[:, 0])]
    return int(own.min()) if own.size else len(graph.clips)


def get_plain_transitions(graph: MotionGraph) -> Transitions:
    """Return the directed transitions of a graph; raise `InvalidValue` if it has bridges."""
    edges = graph.edges
    if (graph.nodes[edges.tails] != np.stack([edges.clips[:, 0], edges.starts[:, 0]], axis=1)).any():
        raise InvalidValue("this graph already has registered transitions; start from the graph that it was built from")
    jumps = edges.blends
    return Transitions(
        edges.clips[jumps], edges.starts[jumps] + graph.half_width, edges.distances[jumps], edges.moves[jumps]
    )
