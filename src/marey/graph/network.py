"""Nodes and edges of a graph (Kovar 4.1.2).

A node is the next frame to play: (clip, frame). An edge plays frames and leads to another node. A clip edge plays
consecutive frames of one clip unchanged; a transition blends 2 L + 1 frames of one clip into as many of another. A
transition between frames i and j leaves the first clip at frame i - L and continues in the second at frame j + L + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints, set_readonly
from marey.deprecation import renamed_methods
from marey.graph.transitions import Transitions
from marey.maths import rigid2d

LookUp = Callable[[Ints], tuple[Floats, Floats]]
# Number of transitions whose labels are computed together.
_BATCH = 2**16


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
        return Edges(*(set_readonly(getattr(self, name)[which]) for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class UnprunedEdges:
    """The edges of a graph before pruning, without the data that can be computed later for the remaining edges.

    Attributes
    ----------
    nodes : (N, 2) clip and frame of each node.
    half : L; transitions blend 2 L + 1 frames.
    tails, heads, n_frames, blends, labels : as in `Edges`, sorted by tail; integers have 32 bits.
    items : (E,) index of the transition; for clip edges, a negative number.
    look_up : returns the distances (M,) and moves (M, 3) of transitions, given their indices (M,).
    """

    nodes: Ints
    half: int
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    n_frames: NDArray[np.int32]
    labels: Bools
    items: NDArray[np.int32]
    look_up: LookUp

    def __len__(self) -> int:
        return len(self.tails)

    @property
    def blends(self) -> Bools:
        """(E,) True for transitions."""
        return np.asarray(self.items >= 0)

    def select(self, which: Ints | Bools) -> Edges:
        """Return the edges selected by indices or by a mask."""
        tails, heads, items = (each[which].astype(np.int64) for each in (self.tails, self.heads, self.items))
        blends = items >= 0
        distances, moves = np.zeros(len(tails)), np.zeros((len(tails), 3))
        distances[blends], moves[blends] = self.look_up(items[blends])
        # A transition enters its second clip 2 L + 1 frames after its first blended frame.
        first, second = self.nodes[tails], np.where(blends[:, None], self.nodes[heads], self.nodes[tails])
        columns = {
            "tails": tails,
            "heads": heads,
            "clips": np.stack([first[:, 0], second[:, 0]], axis=1),
            "starts": np.stack([first[:, 1], second[:, 1] - np.where(blends, 2 * self.half + 1, 0)], axis=1),
            "n_frames": self.n_frames[which].astype(np.int64),
            "distances": distances,
            "moves": moves,
            "blends": blends,
            "labels": self.labels[which],
        }
        return Edges(**{name: set_readonly(column) for name, column in columns.items()})


def connect_clips(lengths: Ints, frame_labels: list[Bools], transitions: Transitions, half: int) -> tuple[Ints, Edges]:
    """Build nodes (N, 2) of (clip, frame) and edges, sorted by tail, from clips and directed transitions.

    Parameters
    ----------
    lengths : (C,) number of frames of each clip.
    frame_labels : for each clip, a mask (F, K) of which of K labels each of its F frames has.
    transitions : directed, from the first clip to the second.
    half : L, number of frames on either side of a transition's center.
    """

    def look_up(items: Ints) -> tuple[Floats, Floats]:
        return transitions.distances[items], transitions.transforms[items]

    places = (number_places(lengths)[transitions.clips] + transitions.frames).astype(np.int32)
    links = link_clips(lengths, frame_labels, places[:, 0], places[:, 1], half, look_up)
    return links.nodes, links.select(np.arange(len(links)))


def number_places(lengths: Ints) -> Ints:
    """Return the number of the first place of each clip, then the number of all places, (C + 1,).

    A place is a possible node, numbered over all clips. A node is the next frame to play, so a clip has one more place
    than frames.
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths) + 1)])


def link_clips(
    lengths: Ints,
    frame_labels: list[Bools],
    leave: NDArray[np.int32],
    enter: NDArray[np.int32],
    half: int,
    look_up: LookUp,
) -> UnprunedEdges:
    """Link the nodes of clips by clip edges and T directed transitions.

    Parameters
    ----------
    lengths, frame_labels, half : as in `connect_clips`.
    leave, enter : (T,) places, as numbered by `number_places`, of the frames at the middle of each transition: that of
        the clip that is left, and that of the clip that is entered.
    look_up : see `UnprunedEdges`.
    """
    firsts = number_places(lengths)
    has_label = np.concatenate([np.pad(mask, ((0, 1), (0, 0))) for mask in frame_labels])
    used = np.zeros(firsts[-1], dtype=bool)
    # The first and last places of a clip, and those where its labels change: each clip edge has one set of labels.
    used[firsts[:-1]] = used[firsts[1:] - 1] = True
    used[1:] |= (has_label[1:] != has_label[:-1]).any(axis=1)
    used[leave - half] = used[enter + half + 1] = True
    places = np.flatnonzero(used)
    clips = np.searchsorted(firsts, places, side="right") - 1
    nodes = np.stack([clips, places - firsts[clips]], axis=1)
    number = (np.cumsum(used) - 1).astype(np.int32)
    follows = np.flatnonzero(clips[1:] == clips[:-1]).astype(np.int32)
    n_runs, n = len(follows), len(leave)
    tails = np.concatenate([follows, number[leave - half]])
    order = np.argsort(tails, kind="stable").astype(np.int32)
    n_frames = np.full(n_runs + n, 2 * half + 1, dtype=np.int32)
    n_frames[:n_runs] = np.diff(places)[follows]
    labels = np.concatenate([has_label[places[follows]], _find_blend_labels(has_label, leave, enter, half)])
    heads = np.concatenate([follows + np.int32(1), number[enter + half + 1]])
    return UnprunedEdges(
        set_readonly(nodes), half, tails[order], heads[order], n_frames[order], labels[order], order - n_runs, look_up
    )


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


def _find_blend_labels(has_label: Bools, leave: NDArray[np.int32], enter: NDArray[np.int32], half: int) -> Bools:
    """Return a mask (T, K) of the labels that every blended frame of a transition has in at least one of its clips."""
    out = np.empty((len(leave), has_label.shape[1]), dtype=bool)
    span = np.arange(-half, half + 1)[:, None]
    for at in range(0, len(leave), _BATCH):
        part = slice(at, at + _BATCH)
        out[part] = (has_label[leave[part] + span] | has_label[enter[part] + span]).all(axis=0)
    return out
