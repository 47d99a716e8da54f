"""Motion graphs: clips and the transitions between them (Kovar chapter 4)."""

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
    threshold : largest distance in meters, or smallest similarity, at which frames were joined; NaN if unknown.
    """

    kind: str = "distance"
    threshold: float = float("nan")

    @property
    def remedy(self) -> str:
        """How to get more transitions, as a phrase for error messages."""
        return "lower the similarity" if self.kind == "similarity" else "raise the threshold"


_UNKNOWN = How()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MotionGraph:
    """Clips with one skeleton and frame rate, and the pruned graph of their transitions. Create one with `build`.

    Attributes
    ----------
    clips : the motions that edges play.
    half_width : L; transitions blend 2 L + 1 frames.
    nodes : (N, 2) clip index and frame index of the next frame to play.
    edges : sorted by tail.
    label_names : (K,) names of the columns of ``edges.labels``; unlabeled frames share one label.
    members : (K, N) whether each node belongs to the label's component, where motion of this label never ends.
    components : for each label, how much of it the graph keeps and which labels it can reach.
    findings : warnings as sentences, such as labels with little motion or labels that cannot be reached.
    how : how the graph was built.
    first_out : (N + 1,) edges ``first_out[n]`` to ``first_out[n + 1]``, half-open, leave node n.
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
        """The skeleton of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        return self.clips[0].fps

    @property
    def n_transitions(self) -> int:
        """The number of edges that blend one clip into another."""
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
        """Index of the clip with this name, among the clips that the graph plays."""
        played = np.unique(self.nodes[:, 0]).tolist()
        known = [self.clips[k].name for k in played]
        if name not in known:
            raise UnknownName(f"no clip {name!r} in this graph; there are {', '.join(known)}{similar(name, known)}")
        return int(played[known.index(name)])

    def allowed(self, label: str | None = None) -> Bools:
        """(E,) mask of the edges inside a label's component; all edges for None."""
        if label is None:
            return np.ones(len(self.edges), dtype=bool)
        k = self.label_index(label)
        inside = self.members[k]
        edges = self.edges
        out = np.asarray(edges.labels[:, k] & inside[edges.tails] & inside[edges.heads])
        if not out.any():
            raise NoResult(f"no endless motion with label {label!r}; {self.how.remedy}")
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
        """Find similar frames, add transitions there, and keep the part of the graph without dead ends.

        Parameters
        ----------
        clips : motions with one skeleton, or an object with ``names``, ``motion(i)`` and a content key.
        threshold : largest distance of a transition in meters, or a percentage of all local minima such as ``"10%"``.
        thresholds : thresholds for pairs of labels, (from, to); 0 forbids transitions between them.
        window : length of a transition, and of the window over which frames are compared, in seconds.
        markers : the markers to compare; see `marey.compare.point_clouds`.
        fps : frame rate of the graph; by default the lowest rate of the clips.
        least_seconds : labels with less endless motion than this are reported in `findings`.
        coarse : compare every n-th frame first, then all frames around the minima found; 1 compares all frames.
        variations : number of random blends to add as extra clips for each action that has several takes; see
            `marey.graph.variations.more_takes`.
        rng : seed or generator for the variations.
        max_memory : maximum memory for distance grids, in bytes.
        run : a function that maps work over blocks; ``map`` uses this process, `marey.store.processes` all cores.
        cache : a `marey.store.Cache`, such as ``clips.cache`` of a motion set. Pairs of clips that were compared
            before, for any graph, are not compared again.
        progress : called with the fraction done, from 0 to 1.
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
        """Build a graph from similar poses, velocities and accelerations; see `marey.graph.build_by_similarity`."""
        from marey.graph.similar import build_by_similarity

        return build_by_similarity(clips, threshold, **options)

    def with_registered_transitions(self, **options: Any) -> MotionGraph:
        """Add longer transitions that keep both clips in step; see `marey.graph.with_registered_transitions`."""
        from marey.graph.registered import with_registered_transitions

        return with_registered_transitions(self, **options)

    def thinned(self, *, loss: float = 0.1, rng: int | np.random.Generator = 0) -> tuple[MotionGraph, Thinning]:
        """Reduce the graph to the transitions it needs, and report the cost; see `marey.graph.thinned`."""
        from marey.graph.thin import thinned

        return thinned(self, loss=loss, rng=rng)

    def figures(self) -> GraphFigures:
        """Statistics of the graph; see `marey.graph.GraphFigures`."""
        from marey.graph.figures import figures

        return figures(self)

    def walk(self, edges: ArrayLike, start: ArrayLike = (0.0, 0.0, 0.0), n_frames: int | None = None) -> Walk:
        """The walk along `edges`; `start` is the rigid2d that places the first edge's clip."""
        from marey.graph.walk import Walk

        taken = freeze_array(edges, "edges", (None,), np.int64)
        known = taken[(taken >= 0) & (taken < len(self.edges))]
        whole = int(self.edges.n_frames[known].sum())
        return Walk(self, taken, np.asarray(start, dtype=np.float64), whole if n_frames is None else n_frames)

    def random_walk(self, seconds: float, rng: int | np.random.Generator = 0, **options: Any) -> Walk:
        """A random walk of this length; see `marey.graph.random_walk`."""
        from marey.graph.random_walk import random_walk

        return random_walk(self, seconds, rng, **options)

    def follow(self, path: ArrayLike, **options: Any) -> Followed:
        """A walk along a path (N, 2) of x, z in meters; see `marey.graph.follow`."""
        from marey.graph.follow import follow

        return follow(self, path, **options)

    def reached(self, at: ArrayLike, heading: float | None = None, **options: Any) -> Walk:
        """A walk from the origin to a position, or into a clip at a position; see `marey.graph.reached`."""
        from marey.graph.approach import reached

        return reached(self, at, heading, **options)

    def search(self, objective: Objective | Cost, **options: Any) -> Searched:
        """The walk with the lowest cost, found by branch and bound; see `marey.graph.search`."""
        from marey.graph.search import search

        return search(self, objective, **options)

    def shortest_walk(self, before: int | str, after: int | str) -> Walk:
        """The shortest walk, in time, between two nodes, or between two clips given by name."""
        from marey.graph.routes import quickest

        return quickest(self, self._nodes_of(before), self._nodes_of(after))

    def _nodes_of(self, which: int | str) -> Ints:
        """One node by number, or all nodes of a clip by name."""
        if isinstance(which, str):
            return np.flatnonzero(self.nodes[:, 0] == self.clip_index(which))
        return np.array([which], dtype=np.int64)

    def crowd(self, paths: Sequence[ArrayLike], seconds: float, **options: Any) -> Crowd:
        """Walks along several paths that avoid each other; see `marey.graph.crowd`."""
        from marey.graph.crowd import crowd

        return crowd(self, paths, seconds, **options)

    def direction_table(self, n_directions: int = 16, **options: Any) -> DirectionTable:
        """The best edge at each node for each direction; see `marey.graph.direction_table`."""
        from marey.graph.table import direction_table

        return direction_table(self, n_directions, **options)

    def stream(self, **options: Any) -> GraphStream:
        """Endless motion that can be steered while it plays; see `marey.graph.GraphStream`."""
        from marey.graph.stream import GraphStream

        return GraphStream(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph and its clips to an .npz file. The original motion files are not needed to play it."""
        from marey.graph.files import save_graph

        save_graph(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MotionGraph:
        """Load a graph that `save` wrote."""
        from marey.graph.files import load_graph

        return load_graph(path)
