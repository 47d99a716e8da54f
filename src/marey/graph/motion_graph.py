"""Motion graphs: clips and the transitions between them (Kovar chapter 4)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, freeze_array, set_readonly
from marey.core.clips import SharedClips
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_methods, warn_renamed
from marey.errors import InvalidValue, NoResult, UnknownName, plural, similar
from marey.graph.approach import reach as _reach
from marey.graph.build import BuildInfo, build_graph
from marey.graph.crowd import crowd as _crowd
from marey.graph.direction_table import direction_table as _direction_table
from marey.graph.follow import follow as _follow
from marey.graph.network import Edges
from marey.graph.prune import UNLABELED, Component
from marey.graph.random_walk import random_walk as _random_walk
from marey.graph.reduction import reduce_transitions as _reduce_transitions
from marey.graph.registered import with_registered_transitions as _with_registered_transitions
from marey.graph.routes import shortest_walk as _shortest_walk
from marey.graph.search import search as _search
from marey.graph.settings import GraphStreamSettings
from marey.graph.similar import build_by_similarity as _build_by_similarity
from marey.graph.statistics import graph_statistics
from marey.graph.walk import Walk

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.graph.edge_paths import EdgePaths
    from marey.graph.stream import GraphStream

_UNKNOWN = BuildInfo()


@renamed_methods(
    allowed="select_edges",
    clip_index="index",
    figures="statistics",
    how="build_info",
    reached="reach",
    thinned="reduce_transitions",
)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MotionGraph(SharedClips):
    """A motion graph: clips that share a skeleton and a frame rate, and the transitions between them, without dead
    ends. Create one with `build`.

    Attributes
    ----------
    clips : the motions that edges play.
    half_width : L; transitions blend 2 L + 1 frames.
    nodes : (N, 2) clip index and frame index of the next frame to play.
    edges : the edges, sorted by tail node.
    label_names : names of the K labels, in the order of the columns of ``edges.labels``; unlabeled frames share one
        label.
    members : (K, N) whether each node belongs to the label's component, where motion with this label can continue
        forever.
    components : for each label, how much of it the graph keeps and which other labels can be reached from it.
    findings : warnings as sentences, such as labels with little motion or labels that cannot be reached.
    build_info : how the graph was built.
    pair_distances : (K, K, 12) distances in meters of the 12 best possible transitions from label (row) to label
        (column), including transitions beyond the threshold; infinite if there are fewer. None if unknown.
    first_out : (N + 1,) edges ``first_out[n]`` to ``first_out[n + 1]``, half-open, leave node n.

    Examples
    --------
    >>> graph = marey.MotionGraph.build([walk, turning, marey.edit.mirror(turning)])
    >>> graph.nodes.shape[1], graph.label_names
    (2, ('turn_left', 'turn_right', 'walk'))
    >>> marey.graph.random_walk(graph, seconds=5.0).motion()
    <Motion 'walk': 300 frames at 60 Hz, 27 joints>
    >>> graph.save("graph.npz")
    """

    clips: tuple[Motion, ...]
    half_width: int
    nodes: Ints
    edges: Edges
    label_names: tuple[str, ...]
    members: Bools
    components: tuple[Component, ...] = ()
    findings: tuple[str, ...] = ()
    build_info: BuildInfo = _UNKNOWN
    pair_distances: Floats | None = None
    first_out: Ints = field(init=False, repr=False)
    _edge_paths: list[EdgePaths] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        self._put(clips=tuple(self.clips))
        self._freeze(nodes=("n", 2), members=(len(self.label_names), "n"))
        if len(self.edges) == 0:
            raise InvalidValue("edges must contain at least one edge")
        if (np.diff(self.edges.tails) < 0).any():
            raise InvalidValue("edges must be sorted by tail node")
        outs = np.bincount(self.edges.tails, minlength=len(self.nodes))
        if (outs == 0).any():
            raise InvalidValue(f"node {int(np.flatnonzero(outs == 0)[0])} has no outgoing edge; prune the graph first")
        self._put(first_out=set_readonly(np.concatenate([[0], np.cumsum(outs)])))

    def __repr__(self) -> str:
        return f"<MotionGraph: {self._describe_size()}>"

    def _describe_size(self) -> str:
        counts = (
            plural(len(self.clips), "clip"),
            plural(len(self.nodes), "node"),
            plural(self.n_transitions, "transition"),
        )
        return f"{', '.join(counts)} at {self.fps:g} Hz"

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        leaving = self.nodes[self.edges.tails[self.edges.blends], 0]
        rows = (
            (clip.name, f"{clip.duration:.2f}", int((self.nodes[:, 0] == k).sum()), int((leaving == k).sum()))
            for k, clip in enumerate(self.clips)
        )
        return show_table("motion graph", self._describe_size(), ("clip", "seconds", "nodes", "transitions out"), rows)

    @property
    def n_transitions(self) -> int:
        """Number of transitions: edges that blend one clip into another."""
        return int(self.edges.blends.sum())

    def out_edges(self, node: int) -> range:
        """Return the range of edges that leave a node.

        Examples
        --------
        >>> bool((graph.edges.tails[list(graph.out_edges(3))] == 3).all())
        True
        """
        return range(int(self.first_out[node]), int(self.first_out[node + 1]))

    def index(self, clip: str | None = None, *, label: str | None = None) -> int:
        """Look up a clip or a label by name.

        Parameters
        ----------
        clip : name of a clip that the graph plays; the result is its index in `clips`.
        label : name of a label; the result is its column in ``edges.labels`` and its row in `members`.

        Examples
        --------
        >>> graph.index("walk"), graph.label_names[graph.index(label="turn_left")]
        (0, 'turn_left')
        """
        if (clip is None) == (label is None):
            raise InvalidValue("pass either `clip=` with the name of a clip or `label=` with the name of a label")
        if label is not None:
            names, positions = list(self.label_names), list(range(len(self.label_names)))
        else:
            positions = np.unique(self.nodes[:, 0]).tolist()
            names = [self.clips[k].name for k in positions]
        name = clip if label is None else label
        if name not in names:
            kind, shown = ("clip", names) if label is None else ("label", [repr(each) for each in names])
            there = "its clips have no labels" if names == [UNLABELED] else f"there are {', '.join(shown)}"
            raise UnknownName(f"no {kind} {name!r} in this graph; {there}{similar(str(name), names)}")
        return int(positions[names.index(name)])

    def label_index(self, name: str) -> int:
        """Deprecated: use ``index(label=name)``."""
        warn_renamed("MotionGraph.label_index", "MotionGraph.index(label=)")
        return self.index(label=name)

    def select_edges(self, label: str | None = None) -> Bools:
        """Return a mask (E,) of the edges inside a label's component; None allows all edges."""
        if label is None:
            return np.ones(len(self.edges), dtype=bool)
        k = self.index(label=label)
        inside = self.members[k]
        edges = self.edges
        out = np.asarray(edges.labels[:, k] & inside[edges.tails] & inside[edges.heads])
        if not out.any():
            raise NoResult(f"no motion with label {label!r} can continue forever; {self.build_info.remedy}")
        return out

    build = staticmethod(build_graph)
    build_by_similarity = staticmethod(_build_by_similarity)
    with_registered_transitions = _with_registered_transitions
    reduce_transitions = _reduce_transitions
    statistics = graph_statistics
    random_walk = _random_walk
    follow = _follow
    reach = _reach
    search = _search
    shortest_walk = _shortest_walk
    crowd = _crowd
    direction_table = _direction_table

    def walk(self, edges: ArrayLike, start: ArrayLike = (0.0, 0.0, 0.0), n_frames: int | None = None) -> Walk:
        """Create a walk along a sequence of edges.

        Parameters
        ----------
        edges : (M,) indices of edges; each must start at the node where the previous one ends.
        start : (3,) rigid2d (theta, x, z) that places the first edge's clip in the world; by default the clip stays
            where it was recorded.
        n_frames : number of frames to play, ending within the last edge; by default all.

        Examples
        --------
        >>> edges = [graph.out_edges(0)[0]]
        >>> graph.walk(edges).motion().rotations.shape[1:]
        (27, 4)
        """
        taken = freeze_array(edges, "edges", (None,), np.int64)
        known = taken[(taken >= 0) & (taken < len(self.edges))]
        total = int(self.edges.n_frames[known].sum())
        return Walk(self, taken, np.asarray(start, dtype=np.float64), total if n_frames is None else n_frames)

    @operation(GraphStreamSettings)
    def stream(self, settings: GraphStreamSettings) -> GraphStream:
        """Create a stream of endless motion that can be steered while it plays; see `marey.graph.GraphStream`.

        Examples
        --------
        >>> stream = graph.stream(direction=0.0)
        >>> len(stream.record(1.0)), stream.fps
        (60, 60.0)
        """
        from marey.graph.stream import GraphStream

        return GraphStream(self, settings=settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph and its clips to an .npz file. The original motion files are not needed to play it."""
        from marey.graph.files import save_graph

        save_graph(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MotionGraph:
        """Load a graph that `save` wrote.

        Examples
        --------
        >>> graph.save("graph.npz")
        >>> marey.MotionGraph.load("graph.npz").n_transitions == graph.n_transitions
        True
        """
        from marey.graph.files import load_graph

        return load_graph(path)
