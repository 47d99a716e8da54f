"""The parametric motion graph: nodes that are spaces of motion, and edges between them (Heck chapter 6)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.feet import Feet, feet_from_flag
from marey.deprecation import renamed_method, renamed_parameters
from marey.errors import InvalidValue, NoResult, UnknownName, similar
from marey.pmg.auto import connect_all, find_dead_ends
from marey.pmg.connect import NodeComparison, build_edge, check_compatible, compare_nodes, find_free_part
from marey.pmg.costs import Seams, seam_range
from marey.pmg.edge import Edge, TransitionRange
from marey.pmg.node import Node, Request, request_by_name
from marey.pmg.space import as_space

if TYPE_CHECKING:
    from marey.clean.settings import CleanSettings
    from marey.pmg.node_files import SpaceFile
    from marey.pmg.stream import CharacterStream, Controller

__all__ = ["ParametricMotionGraph"]


class ParametricMotionGraph:
    """A controllable character: what it can do, and what can follow what.

    Parameters
    ----------
    name : of the character.
    length : seconds of a transition.
    region : fraction of a clip, at its end and at its beginning, that may contain transitions.
    markers : points to compare; see `marey.compare.point_clouds`.

    Examples
    --------
    >>> char = ParametricMotionGraph("walker")                                      # doctest: +SKIP
    >>> char.add("walk", space)                                                     # doctest: +SKIP
    >>> char.connect("walk", "walk")                                                # doctest: +SKIP
    >>> frames = char.stream(GoTo((3.0, 4.0))).record(10.0)                         # doctest: +SKIP
    """

    def __init__(
        self, name: str = "character", *, length: float = 1.0 / 3.0, region: float = 0.3, markers: str = "body"
    ) -> None:
        self.name = str(name)
        self.seams = Seams(float(length), float(region), markers)
        self._nodes: dict[str, Node] = {}
        self._edges: dict[tuple[str, str], Edge] = {}
        # File of each space by identity, so that unchanged spaces are not written again.
        self._space_files: dict[int, SpaceFile] = {}

    def __repr__(self) -> str:
        return f"<ParametricMotionGraph {self.name!r}: {len(self._nodes)} nodes, {len(self._edges)} edges>"

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return MappingProxyType(self._nodes)

    @property
    def edges(self) -> Mapping[tuple[str, str], Edge]:
        """The edges by the names of their nodes."""
        return MappingProxyType(self._edges)

    @property
    def fps(self) -> float:
        """Frames per second of all motions."""
        return self._some_node().fps

    def __getitem__(self, name: str) -> Node:
        """The node of that name."""
        if name not in self._nodes:
            known = ", ".join(map(repr, self._nodes)) or "none yet"
            raise UnknownName(f"no node {name!r} in {self.name!r}{similar(str(name), self._nodes)}; nodes: {known}")
        return self._nodes[name]

    node = renamed_method("node", "__getitem__")

    def add(
        self,
        name: str,
        space: Any,
        *,
        request: Request | None = None,
        names: Sequence[str] | str | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        units: Sequence[str] = (),
    ) -> Node:
        """Add a node.

        Parameters
        ----------
        name : of the node, not in use yet.
        space : a `ParametricMotion`, a `GaitSpace`, or any function that gives smooth motion for a parameter vector; a
            function needs `names`, `low` and `high`. For other spaces `low` and `high` restrict the part that is used.
        request : converts a command to parameters; see `marey.pmg.Request`. By default commands match parameters by
            name, and a direction becomes a turn.
        """
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"name must be non-empty text, not {name!r}")
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        if request is not None and not callable(request):
            raise InvalidValue(
                f"request must be a function that takes a command and returns parameters, not {type(request).__name__}"
            )
        used = as_space(space, names, low, high, units)
        low = used.low if low is None else np.atleast_1d(low)
        high = used.high if high is None else np.atleast_1d(high)
        node = Node(name, used, low, high, request_by_name if request is None else request)
        self._check_fits(node)
        self._nodes[name] = node
        return node

    @renamed_parameters(of="parent")
    def restrict(self, name: str, parent: str, low: ArrayLike, high: ArrayLike) -> Node:
        """Add part of a node as a new node; with narrower ranges it may have edges that the node lacks (Heck 6.3)."""
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        node = self[parent].part(name, low, high)
        self._nodes[name] = node
        return node

    def compare(
        self,
        source: str,
        target: str,
        *,
        n_source: int = 60,
        n_target: int = 400,
        rng: int | np.random.Generator = 0,
        run: Callable[..., Iterable[Any]] = map,
    ) -> NodeComparison:
        """Sample two nodes and find the best transition of each pair, as a basis for choosing thresholds."""
        return compare_nodes(
            self[source], self[target], self.seams, n_source=n_source, n_target=n_target, rng=rng, run=run
        )

    def connect(
        self,
        source: str,
        target: str,
        *,
        good: float | None = None,
        bad: float | None = None,
        part: str | None = None,
        compared: NodeComparison | None = None,
        n_source: int = 60,
        n_target: int = 400,
        rng: int | np.random.Generator = 0,
        run: Callable[..., Iterable[Any]] = map,
    ) -> Edge:
        """Add an edge: the target's motions that can follow each of the source's.

        Parameters
        ----------
        source, target : names of nodes, perhaps the same.
        good, bad : meters, T_GOOD and T_BAD; by default chosen from the distribution of all transitions.
        part : if only part of the source has transitions of at most `good` (required then), add that part as a node of
            this name and connect it.
        compared : from `compare` of the same nodes, to try thresholds without comparing again.
        n_source, n_target, rng, run : as for `compare`.
        """
        start, end = self[source], self[target]
        for threshold, name in ((good, "good"), (bad, "bad")):
            if threshold is not None and not (np.isfinite(threshold) and threshold > 0.0):
                raise InvalidValue(f"{name} must be a distance in meters, above 0, not {threshold!r}")
        if good is not None and bad is not None and good > bad:
            raise InvalidValue(f"good must not be above bad, but they are {good:g} and {bad:g} m; swap them")
        if part is not None:
            if good is None:
                raise InvalidValue(
                    "part requires good, because otherwise good is chosen so that all of the source has transitions"
                )
            if part in self._nodes:
                raise InvalidValue(f"{self.name!r} already has a node {part!r}; choose another name")
        compare = partial(
            compare_nodes, target=end, seams=self.seams, n_source=n_source, n_target=n_target, rng=rng, run=run
        )
        found = compare(start) if compared is None else compared
        if part is not None and good is not None and (found.costs.min(axis=1) > good).any():
            start, found = find_free_part(start, end, part, good, found, compare)
        edge = build_edge(found, start, end, good, bad)
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
        """The edges that leave a node."""
        self[name]
        return tuple(edge for (source, _), edge in self._edges.items() if source == name)

    def transition_ranges(self, name: str, parameters: ArrayLike) -> dict[str, TransitionRange]:
        """What can follow a motion: for each reachable node, the box of its parameters and the transition moments."""
        given = self[name].clip_parameters(parameters)
        return {edge.target: edge.transition_range(given) for edge in self.out_edges(name)}

    out = renamed_method("out", "out_edges")
    onward = renamed_method("onward", "transition_ranges")
    auto = renamed_method("auto", "connect_all")

    def dead_ends(self) -> tuple[str, ...]:
        """Nodes that cannot continue forever."""
        stuck = set(find_dead_ends(self))
        return tuple(name for name in self._nodes if name in stuck)

    @renamed_parameters(clean=("feet", feet_from_flag))
    def stream(
        self,
        controller: Controller,
        *,
        start: str | None = None,
        parameters: ArrayLike | None = None,
        place: ArrayLike | None = None,
        feet: Feet = "clean",
        settings: CleanSettings | None = None,
    ) -> CharacterStream:
        """Start endless motion steered by a controller; see `CharacterStream` for the parameters."""
        from marey.pmg.stream import CharacterStream

        return CharacterStream(
            self, controller, start=start, parameters=parameters, place=place, feet=feet, settings=settings
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph as `.json`, and the spaces that it refers to next to it; see `marey.pmg.files`.

        Existing, unchanged space files are not rewritten.
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
        spaces : by node name, spaces that are functions and so not in any file.
        requests : also by node name, request functions other than the built-in ones.
        """
        from marey.pmg.files import load_character

        return load_character(path, spaces or {}, requests or {})

    def _some_node(self) -> Node:
        if not self._nodes:
            raise NoResult(f"{self.name!r} has no nodes yet; add a node first")
        return next(iter(self._nodes.values()))

    def _check_fits(self, node: Node) -> None:
        """Raise an error for a node with another skeleton or rate, or with clips too short for transitions."""
        motion = node.motion(node.middle)
        seam_range(len(motion), self.seams, motion.fps, end=True)
        if self._nodes:
            first = self._some_node()
            check_compatible((first.motion(first.middle), motion), (first.name, node.name))

    def _put(self, node: Node | None = None, edge: Edge | None = None) -> None:
        """Add a node or edge; for the file reader."""
        if node is not None:
            self._nodes[node.name] = node
        if edge is not None:
            self._edges[edge.source, edge.target] = edge
