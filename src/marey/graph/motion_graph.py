"""The motion graph: clips, and every place where one can lead into another (Kovar chapter 4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.core.arrays import Bools, Ints, freeze_array, reduce_frozen, set_readonly
from marey.core.motion import Motion
from marey.core.protocols import Cache, Clips
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, NoResult, UnknownName, similar
from marey.graph.network import Edges
from marey.graph.prune import Component

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.graph.crowd import Crowd
    from marey.graph.figures import GraphFigures
    from marey.graph.follow import Followed
    from marey.graph.search import Cost, Objective, Searched
    from marey.graph.stream import GraphStream
    from marey.graph.table import DirectionTable
    from marey.graph.thin import Thinning
    from marey.graph.walk import Walk

Threshold = float | str
Progress = Callable[[float], None]


class How(NamedTuple):
    """How a graph was built.

    kind : ``"distance"`` or ``"similarity"``.
    threshold : metres up to which, or similarity from which, frames were joined; NaN where it is not known.
    """

    kind: str = "distance"
    threshold: float = float("nan")

    @property
    def remedy(self) -> str:
        """What gives the graph more ways."""
        return "lower the similarity" if self.kind == "similarity" else "raise the threshold"


_UNKNOWN = How()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MotionGraph:
    """Clips of one skeleton and rate, and a pruned graph of what can follow what. `build` makes one.

    Attributes
    ----------
    clips : the motions that edges play.
    half_width : L; transitions blend 2 L + 1 frames.
    nodes : (N, 2) clip and frame: the next frame to play.
    edges : in order of their tails.
    label_names : (K,) of the columns of ``edges.labels``; frames without a label count as one.
    members : (K, N) nodes from which there is endless motion of each label.
    components : how much of each label there is, and what it leads to.
    findings : what a user ought to know, in sentences: labels with little motion, labels that cannot be got to.
    how : it was built.
    first_out : (N + 1,) the edges that leave node n are ``first_out[n]`` to ``first_out[n + 1]``, half-open.
    """

    clips: tuple[Motion, ...]
    half_width: int
    nodes: Ints
    edges: Edges
    label_names: tuple[str, ...]
    members: Bools
    components: tuple[Component, ...] = ()
    findings: tuple[str, ...] = ()
    how: How = _UNKNOWN
    first_out: Ints = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "clips", tuple(self.clips))
        nodes = freeze_array(self.nodes, "nodes", (None, 2), np.int64)
        put(self, "nodes", nodes)
        put(self, "members", freeze_array(self.members, "members", (len(self.label_names), len(nodes)), np.bool_))
        if len(self.edges) == 0:
            raise InvalidValue("a graph needs at least one edge")
        if (np.diff(self.edges.tails) < 0).any():
            raise InvalidValue("edges must be in order of their tails")
        outs = np.bincount(self.edges.tails, minlength=len(nodes))
        if (outs == 0).any():
            raise InvalidValue(f"node {int(np.flatnonzero(outs == 0)[0])} leads nowhere; prune the graph first")
        put(self, "first_out", set_readonly(np.concatenate([[0], np.cumsum(outs)])))

    def __reduce__(self) -> tuple[Any, ...]:
        made, values = reduce_frozen(self)
        return made, values[:-1]

    def __repr__(self) -> str:
        n = int(self.edges.blends.sum())
        return f"<MotionGraph: {len(self.clips)} clips, {len(self.nodes)} nodes, {n} transitions at {self.fps:g} Hz>"

    @property
    def skeleton(self) -> Skeleton:
        """The figure of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        return self.clips[0].fps

    @property
    def n_transitions(self) -> int:
        """Edges that blend one place into another."""
        return int(self.edges.blends.sum())

    def out_edges(self, node: int) -> range:
        """The edges that leave a node."""
        return range(int(self.first_out[node]), int(self.first_out[node + 1]))

    def label_index(self, name: str) -> int:
        """Column of the label in ``edges.labels`` and row in `members`."""
        try:
            return self.label_names.index(name)
        except ValueError:
            known = ", ".join(repr(label) for label in self.label_names)
            raise UnknownName(
                f"no label {name!r} in this graph; there are {known}{similar(name, self.label_names)}"
            ) from None

    def clip_index(self, name: str) -> int:
        """Number of the clip of this name that the graph plays."""
        played = np.unique(self.nodes[:, 0]).tolist()
        known = [self.clips[k].name for k in played]
        if name not in known:
            raise UnknownName(f"no clip {name!r} in this graph; there are {', '.join(known)}{similar(name, known)}")
        return int(played[known.index(name)])

    def allowed(self, label: str | None = None) -> Bools:
        """(E,) the edges of endless motion of a label; all edges for None."""
        if label is None:
            return np.ones(len(self.edges), dtype=bool)
        k = self.label_index(label)
        inside = self.members[k]
        edges = self.edges
        out = np.asarray(edges.labels[:, k] & inside[edges.tails] & inside[edges.heads])
        if not out.any():
            raise NoResult(f"there is no endless motion of {label!r}; {self.how.remedy}")
        return out

    @classmethod
    def build(
        cls,
        clips: Clips | Sequence[Motion],
        threshold: Threshold = 0.06,
        *,
        thresholds: Mapping[tuple[str, str], Threshold] | None = None,
        window: float = 0.5,
        markers: str | Sequence[str] = "body",
        fps: float | None = None,
        least_seconds: float = 2.0,
        coarse: int = 1,
        variations: int = 0,
        rng: int | np.random.Generator = 0,
        max_memory: int = 256 * 2**20,
        run: Callable[..., Any] = map,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> MotionGraph:
        """Find where clips look alike, join them there, and keep what can go on for ever.

        Parameters
        ----------
        clips : motions of one skeleton, or anything with names, ``motion(i)`` and a content key.
        threshold : metres up to which frames are alike enough, or a share of all places found such as ``"10%"``.
        thresholds : the same for pairs of labels, from the first to the second; 0 forbids the change.
        window : seconds that a transition takes, and over which frames are compared.
        markers : what is compared; see `marey.compare.point_clouds`.
        fps : rate of the graph; the lowest of the clips' by default.
        least_seconds : labels with less endless motion than this are among the findings.
        coarse : look at every n-th frame first, then closely around what was found there; 1 looks at all.
        variations : how many blends by chance of each action to add as further clips, where several clips are takes of
            one; see `marey.graph.variations.more_takes`.
        rng : of that chance.
        max_memory : bytes that grids may take at a time.
        run : how to map work over blocks; ``map`` does it here and now, `marey.store.processes` on all cores.
        cache : a `marey.store.Cache`, such as a set's ``clips.cache``: pairs of clips that were compared before, in
            whatever graph, are not compared again.
        progress : told the share that is done, from 0 to 1.
        """
        from marey.graph.build import build_graph

        return build_graph(
            clips,
            threshold,
            thresholds=thresholds or {},
            window=window,
            markers=markers,
            fps=fps,
            least_seconds=least_seconds,
            coarse=coarse,
            variations=variations,
            rng=rng,
            max_memory=max_memory,
            run=run,
            cache=cache,
            progress=progress,
        )

    @classmethod
    def build_by_similarity(
        cls, clips: Clips | Sequence[Motion], threshold: float = 0.7, **options: Any
    ) -> MotionGraph:
        """A graph by likeness of poses, velocities and accelerations; see `marey.graph.build_by_similarity`."""
        from marey.graph.similar import build_by_similarity

        return build_by_similarity(clips, threshold, **options)

    def with_registered_transitions(self, **options: Any) -> MotionGraph:
        """The graph with longer transitions added, in step; see `marey.graph.with_registered_transitions`."""
        from marey.graph.registered import with_registered_transitions

        return with_registered_transitions(self, **options)

    def thinned(self, *, loss: float = 0.1, rng: int | np.random.Generator = 0) -> tuple[MotionGraph, Thinning]:
        """The graph with as few transitions as it needs, and what that costs; see `marey.graph.thinned`."""
        from marey.graph.thin import thinned

        return thinned(self, loss=loss, rng=rng)

    def figures(self) -> GraphFigures:
        """What is in the graph, in numbers; see `marey.graph.GraphFigures`."""
        from marey.graph.figures import figures

        return figures(self)

    def walk(self, edges: ArrayLike, start: ArrayLike = (0.0, 0.0, 0.0), n_frames: int | None = None) -> Walk:
        """The walk along `edges`, with the first edge's clip put at `start`, a rigid2d."""
        from marey.graph.walk import Walk

        taken = freeze_array(edges, "edges", (None,), np.int64)
        known = taken[(taken >= 0) & (taken < len(self.edges))]
        whole = int(self.edges.n_frames[known].sum())
        return Walk(self, taken, np.asarray(start, dtype=np.float64), whole if n_frames is None else n_frames)

    def random_walk(self, seconds: float, rng: int | np.random.Generator = 0, **options: Any) -> Walk:
        """A walk of this length by chance; see `marey.graph.random_walk`."""
        from marey.graph.random_walk import random_walk

        return random_walk(self, seconds, rng, **options)

    def follow(self, path: ArrayLike, **options: Any) -> Followed:
        """A walk along a path (N, 2) of x, z in metres; see `marey.graph.follow`."""
        from marey.graph.follow import follow

        return follow(self, path, **options)

    def reached(self, at: ArrayLike, heading: float | None = None, **options: Any) -> Walk:
        """A walk from the origin to a place, or into a clip at a place; see `marey.graph.reached`."""
        from marey.graph.approach import reached

        return reached(self, at, heading, **options)

    def search(self, objective: Objective | Cost, **options: Any) -> Searched:
        """The walk of smallest cost, by branch and bound; see `marey.graph.search`."""
        from marey.graph.search import search

        return search(self, objective, **options)

    def shortest_walk(self, before: int | str, after: int | str) -> Walk:
        """The walk from one node to another, or from one clip, by its name, to another, that takes the least time."""
        from marey.graph.routes import quickest

        return quickest(self, self._nodes_of(before), self._nodes_of(after))

    def _nodes_of(self, which: int | str) -> Ints:
        """A node, or all nodes of a clip."""
        if isinstance(which, str):
            return np.flatnonzero(self.nodes[:, 0] == self.clip_index(which))
        return np.array([which], dtype=np.int64)

    def crowd(self, paths: Sequence[ArrayLike], seconds: float, **options: Any) -> Crowd:
        """Many walks, each along its own path and out of the others' way; see `marey.graph.crowd`."""
        from marey.graph.crowd import crowd

        return crowd(self, paths, seconds, **options)

    def direction_table(self, n_directions: int = 16, **options: Any) -> DirectionTable:
        """At each node, the edge that leads best in each direction; see `marey.graph.direction_table`."""
        from marey.graph.table import direction_table

        return direction_table(self, n_directions, **options)

    def stream(self, **options: Any) -> GraphStream:
        """Endless motion that goes where it is asked to; see `marey.graph.GraphStream`."""
        from marey.graph.stream import GraphStream

        return GraphStream(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph with its clips to an .npz file that plays without their sources."""
        from marey.graph.files import save_graph

        save_graph(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MotionGraph:
        """A graph that `save` wrote."""
        from marey.graph.files import load_graph

        return load_graph(path)
