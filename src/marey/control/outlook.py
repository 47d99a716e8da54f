"""What a character could do next, and after that: quick tables of a graph for controllers that look ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.core._arrays import Floats, Ints
from marey.pmg import Node, Option, ParametricMotionGraph

__all__ = ["Outlook", "Steps", "spread"]

# Values of each parameter that tables have, by how many parameters there are.
_VALUES = {1: 65, 2: 15, 3: 7}
_FEWEST = 3
# Moments of a clip between two changes at which its way is told.
WAY_POINTS = 9


class Steps(NamedTuple):
    """Clips that could be played, N of one node.

    places : (N, 3) rigid2d where the figure is when the next change begins. parameters : (N, d).
    ways : (N, WAY_POINTS, 3) rigid2d from the change before to the next. parent : (N,) the state that each follows.
    """

    node: str
    places: Floats
    parameters: Floats
    ways: Floats
    parent: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A node on a grid of parameters: its paths, when it is left, and what can follow by each edge."""

    axes: tuple[Floats, ...]
    paths: Floats  # (G, P, 3)
    leave: Floats  # (G,)
    boxes: dict[str, Floats]  # by target: (G, 2 e + 1), low, high and enter

    def at(self, parameters: Floats) -> tuple[Ints, Floats]:
        """Grid points (N, 2^d) around parameters (N, d), and their shares."""
        n, d = parameters.shape
        index, share = np.zeros((n, 1), dtype=np.int64), np.ones((n, 1))
        for k in range(d):
            axis = self.axes[k]
            step = axis[1] - axis[0] if len(axis) > 1 else 1.0
            place = np.clip((parameters[:, k] - axis[0]) / (step if step > 0.0 else 1.0), 0.0, len(axis) - 1.0)
            before = np.minimum(place.astype(np.int64), max(len(axis) - 2, 0))
            after = np.minimum(before + 1, len(axis) - 1)
            t = (place - before)[:, None]
            index = np.concatenate([index * len(axis) + before[:, None], index * len(axis) + after[:, None]], axis=1)
            share = np.concatenate([share * (1.0 - t), share * t], axis=1)
        return index, share


class Outlook:
    """Tables of a graph, made when they are first needed."""

    def __init__(self, graph: ParametricMotionGraph) -> None:
        self.graph = graph
        self._tables: dict[str, _Table] = {}

    def prepare(self) -> None:
        """Make all tables now, so that no choice waits for them."""
        for name in self.graph.nodes:
            self._table(name)

    def first(self, option: Option, unit: Floats) -> Steps:
        """The clips of an option whose parameters lie at shares `unit` (K, d) of its box."""
        box = option.onward
        parameters = box.low + unit * (box.high - box.low)
        here = np.broadcast_to(option.here, (len(unit), 3))
        ways = self._ways(option.node.name, parameters, here, np.full(len(unit), box.enter))
        return Steps(option.node.name, ways[:, -1], parameters, ways, np.arange(len(unit)))

    def after(self, node: str, places: Floats, parameters: Floats) -> list[Steps]:
        """The clips that can follow clips of a node with parameters (N, d), when the figure is at places (N, 3)."""
        table = self._table(node)
        index, share = table.at(parameters)
        out = []
        for target, boxes in table.boxes.items():
            unit = spread(self.graph.node(target), fine=False)
            found = np.einsum("nc,ncv->nv", share, boxes[index])
            e, k = unit.shape[1], len(unit)
            low, high, enter = found[:, :e], found[:, e : 2 * e], found[:, -1]
            chosen = (low[:, None] + unit * (high - low)[:, None]).reshape(-1, e)
            parent = np.repeat(np.arange(len(places)), k)
            ways = self._ways(target, chosen, places[parent], enter[parent])
            out.append(Steps(target, ways[:, -1], chosen, ways, parent))
        return out

    def _ways(self, node: str, parameters: Floats, here: Floats, enter: Floats) -> Floats:
        """(N, WAY_POINTS, 3) rigid2d: clips of a node that begin at moments `enter` where the figure is `here`."""
        from marey.control.outlook_kernels import lay_ways

        table = self._table(node)
        index, share = table.at(parameters)
        leave = np.maximum((share * table.leave[index]).sum(axis=1), enter)
        ways = np.empty((len(index), WAY_POINTS, 3))
        lay_ways(table.paths, index, share, enter, leave, np.ascontiguousarray(here), ways)
        return ways

    def _table(self, name: str) -> _Table:
        if name not in self._tables:
            node = self.graph.node(name)
            n = _VALUES.get(node.n_dims, _FEWEST)
            axes = tuple(np.linspace(a, b, n) for a, b in zip(node.low, node.high, strict=True))
            grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, node.n_dims)
            leave = np.zeros(len(grid))
            boxes = {}
            edges = self.graph.out(name)
            for edge in edges:
                found = [edge.onward(each) for each in grid]
                leave += np.array([each.leave for each in found]) / len(edges)
                boxes[edge.target] = np.stack([np.concatenate([each.low, each.high, [each.enter]]) for each in found])
            self._tables[name] = _Table(axes, np.ascontiguousarray(node.paths(grid)), leave, boxes)
        return self._tables[name]


def spread(node: Node, *, fine: bool) -> Floats:
    """(K, d) shares of a box, evenly spread over it: more of them for the choice itself than for what follows it.

    The first parameter has most. Numbers are odd, so that the middle, which often is straight on, is among them.
    """
    if node.n_dims == 1:
        counts = [41 if fine else 9]
    else:
        counts = [17 if fine else 9, *[5 if fine else 3] * (node.n_dims - 1)]
    shares = np.meshgrid(*(np.linspace(0.0, 1.0, n) for n in counts), indexing="ij")
    return np.stack(shares, axis=-1).reshape(-1, node.n_dims)
