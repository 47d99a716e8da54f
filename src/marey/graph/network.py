"""Nodes and edges of a graph (Kovar 4.1.2).

A node is the next frame to play: (clip, frame). An edge plays frames and leads to another node. A clip edge plays
consecutive frames of one clip unchanged; a transition blends 2 L + 1 frames of one clip into as many of another. A
transition between frames i and j leaves the first clip at frame i - L and continues in the second at frame j + L + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints, set_readonly
from marey.deprecation import renamed_methods
from marey.graph.transitions import Transitions
from marey.maths import rigid2d


@renamed_methods(taken="select")
@dataclass(frozen=True, slots=True, eq=False)
class Edges(FrozenRecord):
    """The E edges of a graph.

    Attributes
    ----------
    tails, heads : (E,) the node that each edge leaves, and the node that it enters.
    clips : (E, 2) index of the clip that is played, and of the clip that is blended into; equal for a clip edge.
    starts : (E, 2) the first frame played in each clip.
    n_frames : (E,) number of frames played.
    distances : (E,) distance in meters between the frames that a transition joins; 0 for clip edges.
    moves : (E, 3) rigid2d (theta, x, z) that moves the second clip onto the first; identity for clip edges. If W is the
        world transform of an edge's first clip, W o move is that of the next clip.
    blends : (E,) True for transitions.
    labels : (E, K) True if every frame of the edge has the label.

    Examples
    --------
    >>> graph.edges.distances.shape == graph.edges.n_frames.shape
    True
    >>> transitions = graph.edges.select(graph.edges.blends)
    >>> len(transitions) == graph.n_transitions
    True
    """

    tails: Ints
    heads: Ints
    clips: Ints
    starts: Ints
    n_frames: Ints
    distances: Floats
    moves: Floats
    blends: Bools
    labels: Bools

    def __post_init__(self) -> None:
        self._freeze(
            tails=("n",),
            heads=("n",),
            n_frames=("n",),
            clips=("n", 2),
            starts=("n", 2),
            distances=("n",),
            moves=("n", 3),
            blends=("n",),
            labels=("n", None),
        )

    def __len__(self) -> int:
        return len(self.tails)

    def select(self, which: Ints | Bools) -> Edges:
        """Select edges by indices or by a mask."""
        return Edges(*(getattr(self, name)[which] for name in self.__slots__))


def connect_clips(lengths: Ints, frame_labels: list[Bools], transitions: Transitions, half: int) -> tuple[Ints, Edges]:
    """Build nodes (N, 2) of (clip, frame) and edges, sorted by tail, from clips and directed transitions.

    Parameters
    ----------
    lengths : (C,) number of frames of each clip.
    frame_labels : for each clip, a mask (F, K) of which of K labels each of its F frames has.
    transitions : directed, from the first clip to the second.
    half : L, number of frames on either side of a transition's center.
    """
    leave = np.stack([transitions.clips[:, 0], transitions.frames[:, 0] - half], axis=1)
    enter = np.stack([transitions.clips[:, 1], transitions.frames[:, 1] + half + 1], axis=1)
    ends = np.concatenate([[(c, 0), (c, int(n))] for c, n in enumerate(lengths)])
    changes = [_label_changes(c, mask) for c, mask in enumerate(frame_labels)]
    nodes, index = np.unique(np.concatenate([leave, enter, ends, *changes]), axis=0, return_inverse=True)
    index = index.reshape(-1)
    n = len(transitions)
    follows = np.flatnonzero(nodes[1:, 0] == nodes[:-1, 0])
    runs = _clip_edges(nodes, follows, frame_labels)
    jumps = Edges(
        tails=index[:n],
        heads=index[n : 2 * n],
        clips=transitions.clips,
        starts=transitions.frames - half,
        n_frames=np.full(n, 2 * half + 1),
        distances=transitions.distances,
        moves=transitions.transforms,
        blends=np.ones(n, dtype=bool),
        labels=_blended_labels(transitions, frame_labels, half),
    )
    both = Edges(*(np.concatenate([getattr(runs, name), getattr(jumps, name)]) for name in runs.__slots__))
    return set_readonly(nodes), both.select(np.argsort(both.tails, kind="stable"))


def add_reverses(transitions: Transitions) -> Transitions:
    """Append the reverse of each transition. Similar frames can be joined in both directions."""
    return Transitions(
        np.concatenate([transitions.clips, transitions.clips[:, ::-1]]),
        np.concatenate([transitions.frames, transitions.frames[:, ::-1]]),
        np.concatenate([transitions.distances, transitions.distances]),
        np.concatenate([transitions.transforms, rigid2d.invert(transitions.transforms)]),
    )


def compact(nodes: Ints, edges: Edges) -> tuple[Ints, Edges]:
    """Remove unused nodes, and merge consecutive clip edges where nothing branches; the graph plays the same motion."""
    n = len(nodes)
    ins, outs = np.bincount(edges.heads, minlength=n), np.bincount(edges.tails, minlength=n)
    runs = np.flatnonzero(~edges.blends)
    into, out_of = np.full(n, -1), np.full(n, -1)
    into[edges.heads[runs]] = runs
    out_of[edges.tails[runs]] = runs
    plain = (ins == 1) & (outs == 1) & (into >= 0) & (out_of >= 0)
    inner = np.flatnonzero(plain)
    same = (edges.labels[into[inner]] == edges.labels[out_of[inner]]).all(axis=1)
    plain[inner[~same]] = False
    heads, lengths = edges.heads.copy(), edges.n_frames.copy()
    keep = np.ones(len(edges), dtype=bool)
    keep[out_of[plain]] = False
    # Go through each clip backward, so whole runs are merged. A merged run always has an end: a run can only loop
    # through a transition, and the node that the transition enters is not plain.
    order = np.flatnonzero(plain)[np.lexsort((-nodes[plain, 1], nodes[plain, 0]))]
    for node in order:
        before, after = into[node], out_of[node]
        heads[before] = heads[after]
        lengths[before] += lengths[after]
    joined = Edges(
        edges.tails,
        heads,
        edges.clips,
        edges.starts,
        lengths,
        edges.distances,
        edges.moves,
        edges.blends,
        edges.labels,
    ).select(keep)
    used = np.zeros(n, dtype=bool)
    used[joined.tails] = used[joined.heads] = True
    number = np.cumsum(used) - 1
    return set_readonly(nodes[used]), Edges(
        number[joined.tails], number[joined.heads], *(getattr(joined, name) for name in joined.__slots__[2:])
    )


def _label_changes(clip: int, mask: Bools) -> Ints:
    """Return nodes (M, 2) where the labels of a clip change. They split clip edges, so each has one set of labels."""
    frames = np.flatnonzero((mask[1:] != mask[:-1]).any(axis=1)) + 1
    return np.stack([np.full(len(frames), clip), frames], axis=1).astype(np.int64)


def _clip_edges(nodes: Ints, tails: Ints, frame_labels: list[Bools]) -> Edges:
    """Create clip edges from each node in `tails` to the next node of its clip."""
    n = len(tails)
    clip, start = nodes[tails].T
    labels = np.array([frame_labels[c][f] for c, f in zip(clip, start, strict=True)], dtype=bool)
    return Edges(
        tails=tails,
        heads=tails + 1,
        clips=np.stack([clip, clip], axis=1),
        starts=np.stack([start, start], axis=1),
        n_frames=nodes[tails + 1, 1] - start,
        distances=np.zeros(n),
        moves=np.zeros((n, 3)),
        blends=np.zeros(n, dtype=bool),
        labels=labels.reshape(n, -1),
    )


def _blended_labels(transitions: Transitions, frame_labels: list[Bools], half: int) -> Bools:
    """Return a mask (T, K) of the labels that every blended frame of a transition has in at least one of its clips."""
    n_labels = frame_labels[0].shape[1] if frame_labels else 0
    out = np.zeros((len(transitions), n_labels), dtype=bool)
    span = np.arange(-half, half + 1)
    for t, ((a, b), (i, j)) in enumerate(zip(transitions.clips, transitions.frames, strict=True)):
        out[t] = (frame_labels[a][i + span] | frame_labels[b][j + span]).all(axis=0)
    return out
