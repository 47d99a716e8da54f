"""The parametric motion graph: nodes that are spaces of motion, and edges between them (Heck chapter 6)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.errors import InvalidValue, NoResult, UnknownName, similar
from marey.pmg.connect import Compared, check_alike, compare_nodes, edge_from, free_part
from marey.pmg.costs import Seams, seam_range
from marey.pmg.edge import Edge, Onward
from marey.pmg.node import Node, Request, by_name
from marey.pmg.space import as_space

if TYPE_CHECKING:
    from marey.pmg.auto import AutoReport
    from marey.pmg.files_kept import Kept
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
        self._kept: dict[int, Kept] = {}

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

    def node(self, name: str) -> Node:
        """The node of that name."""
        if name not in self._nodes:
            known = ", ".join(map(repr, self._nodes)) or "none yet"
            raise UnknownName(f"no node {name!r} in {self.name!r}{similar(str(name), self._nodes)}; nodes: {known}")
        return self._nodes[name]

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
            raise InvalidValue(f"a node needs a name, got {name!r}")
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        if request is not None and not callable(request):
            raise InvalidValue(f"request must be a function from a command to parameters, got {type(request).__name__}")
        made = as_space(space, names, low, high, units)
        least = made.low if low is None else np.atleast_1d(low)
        most = made.high if high is None else np.atleast_1d(high)
        node = Node(name, made, least, most, by_name if request is None else request)
        self._check_fits(node)
        self._nodes[name] = node
        return node

    def restrict(self, name: str, of: str, low: ArrayLike, high: ArrayLike) -> Node:
        """Add part of a node as a new node: with narrower ranges it may have edges that the whole cannot (Heck 6.3)."""
        if name in self._nodes:
            raise InvalidValue(f"{self.name!r} already has a node {name!r}; choose another name")
        node = self.node(of).part(name, low, high)
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
    ) -> Compared:
        """Sample two nodes and find the best transition of each pair, as a basis for choosing thresholds."""
        return compare_nodes(
            self.node(source), self.node(target), self.seams, n_source=n_source, n_target=n_target, rng=rng, run=run
        )

    def connect(
        self,
        source: str,
        target: str,
        *,
        good: float | None = None,
        bad: float | None = None,
        part: str | None = None,
        compared: Compared | None = None,
        **sampling: Any,
    ) -> Edge:
        """Add an edge: the target's motions that can follow each of the source's.

        Parameters
        ----------
        source, target : names of nodes, perhaps the same.
        good, bad : meters, T_GOOD and T_BAD; by default chosen from the distribution of all transitions.
        part : if only part of the source has transitions of at most `good` (required then), add that part as a node of
            this name and connect it.
        compared : from `compare` of the same nodes, to try thresholds without comparing again.
        sampling : n_source, n_target, rng and run, as for `compare`.
        """
        start, end = self.node(source), self.node(target)
        for threshold, name in ((good, "good"), (bad, "bad")):
            if threshold is not None and not (np.isfinite(threshold) and threshold > 0.0):
                raise InvalidValue(f"{name} must be a distance in meters, above 0, got {threshold!r}")
        if good is not None and bad is not None and good > bad:
            raise InvalidValue(f"good must not be above bad, got {good:g} and {bad:g} m; exchange them")
        if part is not None:
            if good is None:
                raise InvalidValue("part needs good: by default all of the source has transitions; give good")
            if part in self._nodes:
                raise InvalidValue(f"{self.name!r} already has a node {part!r}; choose another name")
        found = self.compare(source, target, **sampling) if compared is None else compared
        if part is not None and good is not None and (found.costs.min(axis=1) > good).any():
            start, found = free_part(start, end, part, good, found, self.seams, **sampling)
        edge = edge_from(found, start, end, good, bad)
        self._nodes.setdefault(start.name, start)
        self._edges[start.name, end.name] = edge
        return edge

    def auto(
        self,
        *,
        good: float = 0.10,
        bad: float = 0.15,
        n_source: int = 40,
        n_target: int = 200,
        rng: int = 0,
        prune: bool = True,
        run: Callable[..., Iterable[Any]] = map,
        progress: Callable[[float], None] | None = None,
    ) -> AutoReport:
        """Try all pairs of nodes that are not connected yet, keep the edges that work, and remove dead ends.

        Parameters
        ----------
        good, bad : meters, T_GOOD and T_BAD of the edges. A pair works if every motion of the source has a transition.
        n_source, n_target, rng, run : as for `compare`.
        prune : remove nodes that cannot continue forever, and those that become dead ends as a result.
        progress : called with the completed fraction.
        """
        from marey.pmg.auto import connect_all

        return connect_all(self, good, bad, n_source, n_target, rng, prune, run, progress)

    def remove(self, name: str) -> None:
        """Remove a node, with the edges to and from it."""
        self.node(name)
        self._edges = {ends: edge for ends, edge in self._edges.items() if name not in ends}
        del self._nodes[name]

    def disconnect(self, source: str, target: str) -> None:
        """Remove an edge."""
        if (source, target) not in self._edges:
            raise UnknownName(f"no edge from {source!r} to {target!r}")
        del self._edges[source, target]

    def out(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a node."""
        self.node(name)
        return tuple(edge for (source, _), edge in self._edges.items() if source == name)

    def onward(self, name: str, parameters: ArrayLike) -> dict[str, Onward]:
        """What can follow a motion: for each reachable node, the box of its parameters and the transition moments."""
        at = self.node(name).checked(parameters)
        return {edge.target: edge.onward(at) for edge in self.out(name)}

    def dead_ends(self) -> tuple[str, ...]:
        """Nodes that cannot continue forever."""
        from marey.pmg.auto import dead_ends_in_turn

        stuck = set(dead_ends_in_turn(self))
        return tuple(name for name in self._nodes if name in stuck)

    def stream(self, controller: Controller, **options: Any) -> CharacterStream:
        """Start endless motion steered by a controller; see `CharacterStream` for the options.

        A controller may have `first`, the name of the first node, which is used unless `start` is given.
        """
        from marey.pmg.stream import CharacterStream

        first = getattr(controller, "first", None)
        if first is not None and options.get("start") is None:
            options["start"] = first
        return CharacterStream(self, controller, **options)

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
        requests : by node name, likewise, request functions other than the built-in ones.
        """
        from marey.pmg.files import load_character

        return load_character(path, spaces or {}, requests or {})

    def _some_node(self) -> Node:
        if not self._nodes:
            raise NoResult(f"{self.name!r} has no nodes yet; add a node first")
        return next(iter(self._nodes.values()))

    def _check_fits(self, node: Node) -> None:
        """Raise an error for a node with another skeleton or rate, or with clips too short for transitions."""
        made = node.motion(node.middle)
        seam_range(len(made), self.seams, made.fps, end=True)
        if self._nodes:
            first = self._some_node()
            check_alike((first.motion(first.middle), made), (first.name, node.name))

    def _put(self, node: Node | None = None, edge: Edge | None = None) -> None:
        """Add a node or edge; for the file reader."""
        if node is not None:
            self._nodes[node.name] = node
        if edge is not None:
            self._edges[edge.source, edge.target] = edge
