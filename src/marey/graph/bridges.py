"""Transitions with a motion of their own, stored as short clips that single edges play.

A transition of `Edges` blends two clips while it plays. A transition of another kind, with its own duration, is stored
as a clip next to the recorded ones, and its edge plays it. The edge leaves a recorded clip and enters another, so
labels and pruning treat it like any other transition.
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
    clips : the clip that is left and the clip that is entered.
    leave, enter : the first frame of the source that is not played any more, and the first frame of the other that is.
    motions : the two motions that are blended in between. The first is in the coordinates of the clip that is left, the
        second in those of the clip that is entered; None means the entered clip itself, up to `enter`. A motion that
        needs no blending is given in both coordinates.
    start, n_frames : the frames of the motions to play; they may have more frames around these.
    distance : distance in meters of the frames that it joins.
    move : (3,) rigid2d that moves the clip that is entered onto the one that is left.
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
    """Build the pruned graph of clips, transitions and bridges; None if it has no cycle.

    Parameters
    ----------
    plain : directed transitions of 2 half + 1 frames.
    bridges : each with `leave` + 2 half below the length of its first clip, and `enter` above 2 half.
    how : how the graph was built.
    """
    names, frame_labels = collect_labels(motions)
    joins = Transitions(
        np.array([bridge.clips for bridge in bridges], dtype=np.int64).reshape(-1, 2),
        np.array([(b.leave + half, b.enter - half - 1) for b in bridges], dtype=np.int64).reshape(-1, 2),
        # Edges will be reordered; meanwhile a negative distance identifies the bridge.
        -1.0 - np.arange(len(bridges), dtype=np.float64),
        np.array([bridge.move for bridge in bridges], dtype=np.float64).reshape(-1, 3),
    )
    both = Transitions(*(np.concatenate([getattr(plain, k), getattr(joins, k)]) for k in joins.__slots__))
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
    """(E,) edges that play the clips of their nodes, without a motion of their own."""
    ends = np.stack([graph.nodes[graph.edges.tails, 0], graph.nodes[graph.edges.heads, 0]], axis=1)
    return np.asarray((graph.edges.clips == ends).all(axis=1))


def count_recorded_clips(graph: MotionGraph) -> int:
    """Number of recorded clips, which come first; the other clips are motions of transitions."""
    own = graph.edges.clips[~plays_own_clips(graph)]
    own = own[~np.isin(own, graph.nodes[:, 0])]
    return int(own.min()) if own.size else len(graph.clips)


def get_plain_transitions(graph: MotionGraph) -> Transitions:
    """The directed transitions of a graph without bridges."""
    edges = graph.edges
    if (graph.nodes[edges.tails] != np.stack([edges.clips[:, 0], edges.starts[:, 0]], axis=1)).any():
        raise InvalidValue("this graph already has registered transitions; start from the graph that it was built from")
    jumps = edges.blends
    return Transitions(
        edges.clips[jumps], edges.starts[jumps] + graph.half_width, edges.distances[jumps], edges.moves[jumps]
    )
