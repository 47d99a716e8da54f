"""The parametric motion graph: nodes that are spaces of motion, and edges between them (Heck chapter 6)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.feet import feet_from_flag
from marey.core.settings import operation
from marey.deprecation import renamed_methods, renamed_parameters
from marey.errors import InvalidValue, NoResult, UnknownName, plural, similar
from marey.pmg.auto import connect_all, find_dead_ends
from marey.pmg.connect import NodeComparison, build_edge, check_compatible, compare_nodes, find_free_part
from marey.pmg.costs import seam_range
from marey.pmg.edge import Edge, TransitionRange
from marey.pmg.node import Node, Request, request_by_name
from marey.pmg.settings import (
    CharacterSettings,
    CompareSettings,
    EdgeSettings,
    NodeSettings,
    SeamSettings,
    StreamSettings,
    accept_clean_settings,
)
from marey.pmg.space import as_space
from marey.pmg.units import format_ranges

if TYPE_CHECKING:
    from marey.pmg.node_files import SpaceFile
    from marey.pmg.stream import CharacterStream, Controller

__all__ = ["ParametricMotionGraph"]


@renamed_methods(node="__getitem__", out="out_edges", onward="transition_ranges", auto="connect_all")
class ParametricMotionGraph:
    """A controllable character: nodes are the actions it can perform, edges say which action can follow which.

    Parameters
    ----------
    name, length, region, markers, settings : see `CharacterSettings`.

    Examples
    --------
    >>> space = marey.pmg.GaitSpace.build([walk, turning, marey.edit.mirror(turning)])
    >>> walker = marey.ParametricMotionGraph("walker")
    >>> walker.add("walk", space).names
    ('turn',)
    >>> edge = walker.connect("walk", "walk", n_source=10, n_target=30)
    >>> stream = walker.stream(marey.control.FollowDirection(1.0))
    >>> stream.record(2.0)
    <Motion 'walker': 120 frames at 60 Hz, 27 joints>
    """

    @operation(CharacterSettings)
    def __init__(self, settings: CharacterSettings) -> None:
        self.name = settings.name
        self.seams = SeamSettings(**settings.select(SeamSettings))
        self._nodes: dict[str, Node] = {}
        self._edges: dict[tuple[str, str], Edge] = {}
        # File of each space, keyed by the identity of the space: unchanged spaces are not written again.
        self._space_files: dict[int, SpaceFile] = {}

    def __copy__(self) -> ParametricMotionGraph:
        """Return a character with the same nodes and edges, to change independently."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__
        other._nodes, other._edges = dict(self._nodes), dict(self._edges)
        other._space_files = dict(self._space_files)
        return other

    def __repr__(self) -> str:
        return f"<ParametricMotionGraph {self.name!r}: {self._describe_size()}>"

    def _describe_size(self) -> str:
        return f"{plural(len(self._nodes), 'node')}, {plural(len(self._edges), 'edge')}"

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        rows = (
            (
                name,
                format_ranges(node.names, node.units, node.low, node.high),
                ", ".join(target for source, target in self._edges if source == name),
            )
            for name, node in self._nodes.items()
        )
        return show_table(self.name or "character", self._describe_size(), ("node", "parameters", "leads to"), rows)

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes, keyed by name (read-only)."""
        return MappingProxyType(self._nodes)

    @property
    def edges(self) -> Mapping[tuple[str, str], Edge]:
        """The edges, keyed by (source name, target name) (read-only)."""
        return MappingProxyType(self._edges)

    @property
    def fps(self) -> float:
        """Frame rate of all motions, in frames per second."""
        return self._some_node().fps

    def __getitem__(self, name: str) -> Node:
        """Return the node named `name`."""
        if name not in self._nodes:
            known = ", ".join(map(repr, self._nodes)) or "none yet"
            raise UnknownName(f"no node {name!r} in {self.name!r}{similar(str(name), self._nodes)}; nodes: {known}")
        return self._nodes[name]

    @operation(NodeSettings)
    def add(self, name: str, space: object, settings: NodeSettings) -> Node:
        """Add a node.

        Parameters
        ----------
        name : name of the new node; must not be in use.
        space : a `ParametricMotion`, `GaitSpace` or `ActionSpace`, or any function that takes a parameter vector (d,)
            and returns a smooth motion.
        """
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"name must be non-empty text, not {name!r}")
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        request, low, high = settings.request, settings.low, settings.high
        if request is not None and not callable(request):
            raise InvalidValue(
                f"request must be a function that takes a command and returns parameters, not {type(request).__name__}"
            )
        used = as_space(space, settings.names, low, high, settings.units)
        lowest = used.low if low is None else np.atleast_1d(low)
        highest = used.high if high is None else np.atleast_1d(high)
        node = Node(name, used, lowest, highest, request_by_name if request is None else request)
        self._check_fits(node)
        self._nodes[name] = node
        return node

    @renamed_parameters(of="parent")
    def restrict(self, name: str, parent: str, low: ArrayLike, high: ArrayLike) -> Node:
        """Add part of a node's parameter range as a new node (Heck 6.3).

        With narrower ranges, the new node can have edges that are not possible for the full node.

        Parameters
        ----------
        name : name of the new node; must not be in use.
        parent : name of the node to restrict.
        low, high : (d,) range of the new node, inside that of `parent`.

        Examples
        --------
        >>> walker = marey.ParametricMotionGraph("walker")
        >>> node = walker.add("walk", character.nodes["walk"].space)
        >>> walker.restrict("straight", "walk", low=[-0.1], high=[0.1]).high
        array([0.1])
        """
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        node = self[parent].part(name, low, high)
        self._nodes[name] = node
        return node

    @operation(CompareSettings)
    def compare(self, source: str, target: str, settings: CompareSettings) -> NodeComparison:
        """Sample motions of two nodes and find the best transition for each pair, to help choose thresholds.

        Parameters
        ----------
        source, target : names of the nodes; may be the same.

        Examples
        --------
        >>> comparison = character.compare("walk", "walk", n_source=5, n_target=10)
        >>> comparison.costs.shape  # meters
        (5, 10)
        """
        return compare_nodes(self[source], self[target], self.seams, settings)

    @operation(EdgeSettings)
    def connect(self, source: str, target: str, settings: EdgeSettings) -> Edge:
        """Add an edge between two nodes, given by name, which may be the same.

        An edge stores, for each sampled motion of the source, which motions of the target can follow.

        Examples
        --------
        >>> walker = marey.ParametricMotionGraph("walker")
        >>> node = walker.add("walk", character.nodes["walk"].space)
        >>> edge = walker.connect("walk", "walk", good=0.1, bad=0.15, n_source=10, n_target=30)  # meters
        >>> edge.low.shape
        (10, 1)
        """
        start, end = self[source], self[target]
        good, part = settings.good, settings.part
        if part in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {part!r}; choose another name")
        compare = partial(compare_nodes, target=end, seams=self.seams, settings=settings)
        found = compare(start) if settings.compared is None else settings.compared
        if part is not None and good is not None and (found.costs.min(axis=1) > good).any():
            start, found = find_free_part(start, end, part, good, found, compare)
        edge = build_edge(found, start, end, good, settings.bad)
        self._nodes.setdefault(start.name, start)
        self._edges[start.name, end.name] = edge
        return edge

    connect_all = connect_all

    def remove(self, name: str) -> None:
        """Remove a node, with the edges to and from it."""
        self[name]
        self._edges = {ends: edge for ends, edge in self._edges.items() if name not in ends}
        del self._nodes[name]

    def disconnect(self, source: str, target: str) -> None:
        """Remove an edge."""
        if (source, target) not in self._edges:
            raise UnknownName(f"no edge from {source!r} to {target!r}; connect them first")
        del self._edges[source, target]

    def out_edges(self, name: str) -> tuple[Edge, ...]:
        """Return the edges that start at a node."""
        self[name]
        return tuple(edge for (source, _), edge in self._edges.items() if source == name)

    def transition_ranges(self, name: str, parameters: ArrayLike) -> dict[str, TransitionRange]:
        """Return what can follow a motion: for each reachable node, its allowed parameters and the transition times.

        Parameters
        ----------
        name : node of the motion.
        parameters : (d,) parameters of the motion; the node's nearest are used.

        Examples
        --------
        >>> node = character.nodes["walk"]
        >>> character.transition_ranges("walk", node.middle)["walk"].low.shape
        (1,)
        """
        given = self[name].project(np.atleast_1d(parameters))
        return {edge.target: edge.transition_range(given, self[edge.target].region) for edge in self.out_edges(name)}

    def dead_ends(self) -> tuple[str, ...]:
        """Return the names of the nodes that cannot continue forever."""
        stuck = set(find_dead_ends(self))
        return tuple(name for name in self._nodes if name in stuck)

    @renamed_parameters(clean=("feet", feet_from_flag))
    @accept_clean_settings
    @operation(StreamSettings)
    def stream(self, controller: Controller, settings: StreamSettings) -> CharacterStream:
        """Start endless motion steered by a controller.

        Parameters
        ----------
        controller : chooses the next clip.

        Examples
        --------
        >>> stream = character.stream(marey.control.GoTo((0.0, 3.0)))  # x, z in meters
        >>> len(stream.record(2.0)), stream.fps
        (60, 30.0)
        """
        from marey.pmg.stream import CharacterStream

        return CharacterStream(self, controller, settings=settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph as `.json` and its spaces as files in the same folder; see `marey.pmg.files`.

        Space files that are up to date are not rewritten.
        """
        from marey.pmg.files import save_character

        save_character(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        spaces: Mapping[str, Any] | None = None,
        requests: Mapping[str, Request] | None = None,
    ) -> ParametricMotionGraph:
        """Read a file written by `save`.

        Parameters
        ----------
        spaces : spaces that are Python functions and therefore not in any file, keyed by node name.
        requests : request functions other than the built-in ones, keyed by node name.

        Examples
        --------
        >>> character.save("walker.json")
        >>> marey.ParametricMotionGraph.load("walker.json").fps
        30.0
        """
        from marey.pmg.files import load_character

        return load_character(path, spaces or {}, requests or {})

    def _some_node(self) -> Node:
        if not self._nodes:
            raise NoResult(f"{self.name!r} has no nodes yet; add a node first")
        return next(iter(self._nodes.values()))

    def _check_fits(self, node: Node) -> None:
        """Raise an error if the node's skeleton or frame rate differs, or its clips are too short for transitions."""
        motion = node.motion(node.middle)
        seam_range(len(motion), self.seams, motion.fps, end=True)
        if self._nodes:
            first = self._some_node()
            check_compatible((first.motion(first.middle), motion), (first.name, node.name))

    def _put(self, node: Node | None = None, edge: Edge | None = None) -> None:
        """Add a node or edge without checks; used by the file reader."""
        if node is not None:
            self._nodes[node.name] = node
        if edge is not None:
            self._edges[edge.source, edge.target] = edge
