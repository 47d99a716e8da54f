"""Going to a point: the clips that leave the shortest way, told by where they would lead (Heck 6.2.2.2 and 6.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from marey.control.outlook import Outlook, Steps, spread
from marey.control.turning import arc_and_straight
from marey.core._arrays import Floats, Ints, checked_index, frozen
from marey.errors import InvalidValue, UnknownName
from marey.pmg import Choice, Moment, Node

__all__ = ["GoTo", "tightest"]

# Metres: a clip that passes this near to the point may end the way; beyond, going round again counts as better.
_PASSING = 0.25
# Metres of way that a metre of missing the point weighs.
_MISS = 8.0
# The circle that is planned with, over the tightest that a node has.
_WIDER = 1.05
# Clips that are looked at further, of all that could follow those before.
_BEAM = 24
_MOST_AHEAD = 8


class GoTo:
    """Walks to a point, and to the next one when it is asked to.

    Clips that can follow one another are laid end to end, a few ahead. The first of those is chosen after which the way
    along a circle and straight on is shortest, or that pass the point itself. With `ahead=1` this is greedy: it sees
    where each clip ends, but not that a sharp turn has to be left step by step.

    Parameters
    ----------
    point : (2,) x and z in metres.
    ahead : how many clips to look ahead, 1 to 8.
    nodes : names of the nodes to use; all by default.
    """

    def __init__(self, point: ArrayLike, *, ahead: int = 3, nodes: Sequence[str] | None = None) -> None:
        self.ahead = checked_index(ahead, "ahead")
        if not 1 <= self.ahead <= _MOST_AHEAD:
            raise InvalidValue(f"ahead must be a number of clips from 1 to {_MOST_AHEAD}, got {ahead}")
        self._nodes = None if nodes is None else tuple(nodes)
        self._outlook: Outlook | None = None
        self._radii: dict[str, float] = {}
        self.request(point=point)

    @property
    def point(self) -> Floats:
        """(2,) x and z of the point."""
        return self._point

    def request(self, *, point: ArrayLike) -> None:
        """Another point, from the next clip on."""
        self._point = frozen(point, "point", (2,))

    def choose(self, moment: Moment) -> Choice:
        """The clip that begins the shortest way."""
        if self._outlook is None or self._outlook.graph is not moment.graph:
            self._outlook, self._radii = Outlook(moment.graph), {}
            self._outlook.prepare()
        firsts = [
            self._outlook.first(option, spread(option.node, fine=True))
            for option in moment.options
            if self._nodes is None or option.node.name in self._nodes
        ]
        if not firsts:
            named = ", ".join(map(repr, self._nodes or ()))
            raise UnknownName(f"none of {named} can follow {moment.node!r}; name other nodes")
        offsets = np.cumsum([0, *(len(steps.places) for steps in firsts)])
        roots = [np.arange(a, b) for a, b in itertools.pairwise(offsets)]
        root = self._searched(firsts, roots)
        which = int(np.searchsorted(offsets, root, side="right")) - 1
        return Choice(firsts[which].node, firsts[which].parameters[root - offsets[which]])

    def _searched(self, level: list[Steps], roots: list[Ints]) -> int:
        """The first clip of the best way found; roots are the numbers of the first clips that each step comes from."""
        outlook = self._outlook
        best, choice = np.inf, 0
        gone = [np.zeros(len(steps.places)) for steps in level]
        for depth in range(self.ahead):
            scored = [self._scored(steps, before) for steps, before in zip(level, gone, strict=True)]
            for (done, onward, _), root in zip(scored, roots, strict=True):
                # What is left counts in full at the last clip; before, only ways that end count.
                total = np.minimum(done, onward) if depth == self.ahead - 1 else done
                k = int(np.argmin(total))
                if total[k] < best:
                    best, choice = float(total[k]), int(root[k])
            if depth == self.ahead - 1 or outlook is None:
                break
            hopes = np.concatenate([onward for _, onward, _ in scored])
            limit = np.partition(hopes, _BEAM)[_BEAM] if len(hopes) > _BEAM else np.inf
            grown: list[tuple[Steps, Ints, Floats]] = []
            for steps, root, (_, onward, spent) in zip(level, roots, scored, strict=True):
                keep = np.flatnonzero((onward <= limit) & (onward < best))
                if not len(keep):
                    continue
                for each in outlook.after(steps.node, steps.places[keep], steps.parameters[keep]):
                    if self._nodes is None or each.node in self._nodes:
                        grown.append((each, root[keep][each.parent], spent[keep][each.parent]))
            level, roots, gone = [row[0] for row in grown], [row[1] for row in grown], [row[2] for row in grown]
            if not level:
                break
        return choice

    def _scored(self, steps: Steps, before: Floats) -> tuple[Floats, Floats, Floats]:
        """(N,) metres of ways that end at the point in these clips; of ways that go on after them; and of the clips."""
        from marey.control.outlook_kernels import pass_by

        near, along, length = (np.empty(len(steps.ways)) for _ in range(3))
        pass_by(steps.ways, self._point[0], self._point[1], near, along, length)
        done = np.where(near < _PASSING, before + along + _MISS * near, np.inf)
        node = self._outlook.graph.node(steps.node) if self._outlook is not None else None
        spent = before + length
        onward = spent + arc_and_straight(steps.places, self._point, self._radius(node))
        return done, onward, spent

    def _radius(self, node: Node | None) -> float:
        if node is None:
            return 1.0
        if node.name not in self._radii:
            self._radii[node.name] = _WIDER * tightest(node)
        return self._radii[node.name]


def tightest(node: Node) -> float:
    """Metres of the tightest circle that the extremes of a node lead along."""
    values = [np.linspace(a, b, 3) for a, b in zip(node.low, node.high, strict=True)]
    corners = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, node.n_dims)
    paths = node.paths(corners)
    way = np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1)
    turn = np.abs(paths[:, -1, 0] - paths[:, 0, 0])
    return float((way / np.maximum(turn, 1e-3)).min())
