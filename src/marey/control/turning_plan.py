"""Plans for turning to a heading over several clips: the best combination of turns, precomputed for entire nodes."""

from __future__ import annotations

import numpy as np

from marey.control.lookahead import LookaheadTable, grid_fractions
from marey.control.lookahead_kernels import measure_costs, sweep_costs
from marey.core.arrays import Floats, Ints
from marey.maths import rigid2d
from marey.pmg import ControlState, ParametricMotionGraph, TransitionOption

__all__ = ["TurnPlan", "turning_ring"]

# Number of heading errors over the full circle, and number of times to go through a plan's nodes as lookahead.
_HEADINGS = 48
_AHEAD = 5
# Radians within which a heading counts as reached; slightly less than required, because the tables are not exact.
_WITHIN = np.radians(12.0)
# Number of turns to try in each box: in the table (where each other parameter has two values), and for a choice.
_TRIED, _CHOSEN = 13, 41


def turning_ring(graph: ParametricMotionGraph, node: str) -> tuple[str, ...]:
    """Return the nodes with a parameter ``turn`` that form a ring through `node`: itself alone, or it and another.

    For example, a node of left steps and one of right steps lead to each other, but not to themselves. Returns an empty
    tuple if there is no such ring.
    """
    turning = [name for name, each in graph.nodes.items() if "turn" in each.names]
    if node not in turning:
        return ()
    if (node, node) in graph.edges:
        return (node,)
    both = [name for name in turning if (node, name) in graph.edges and (name, node) in graph.edges]
    return (node, both[0]) if both else ()


class TurnPlan:
    """Costs of turning by any angle after any clip, for nodes that follow one another in a ring.

    A clip costs its heading error at the end, plus a penalty if that is too large. The lowest sum over the next clips
    is computed for all clips and angles at once, backward from the last clip (dynamic programming). As a result, the
    character enters and leaves sharp turns in time, even if that takes several clips, and a character that cannot turn
    left goes around to the right.

    Parameters
    ----------
    lookahead : tables of the graph.
    ring : node names, as returned by `turning_ring`.
    """

    def __init__(self, lookahead: LookaheadTable, ring: tuple[str, ...]) -> None:
        self._table = lookahead
        onward = [self._find_following(node, ring[(k + 1) % len(ring)]) for k, node in enumerate(ring)]
        values = np.zeros((len(lookahead.table(ring[0]).grid), _HEADINGS))
        self._values: dict[str, Floats] = {}
        for k in reversed(range(_AHEAD * len(ring))):
            turns, index, weights = onward[k % len(ring)]
            before, values = values, np.empty((len(turns), _HEADINGS))
            sweep_costs(turns, index, weights, _WITHIN, before, values)
            self._values[ring[k % len(ring)]] = values

    def _find_following(self, node: str, after: str) -> tuple[Floats, Ints, Floats]:
        """Find K clips of node `after` that can follow each of the G rows of `node`'s table.

        Returns
        -------
        Their turns (G, K) in radians, the C rows (G, K, C) around each in the table of `after`, and the interpolation
        weights (G, K, C) of these rows.
        """
        lookahead = self._table
        about = lookahead.graph[after]
        turn = about.names.index("turn")
        counts = tuple(_TRIED if k == turn else 2 for k in range(about.n_dims))
        grid = lookahead.table(node).grid
        chosen, enter, parent = lookahead.choices(node, after, grid, grid_fractions(counts))
        here = lookahead.join(node, after).entered(grid[parent], chosen, np.zeros((len(chosen), 3)))
        paths = lookahead.lay_paths(after, chosen, here, enter)
        index, weights = lookahead.corners(after, chosen)
        turns = np.ascontiguousarray(paths[:, -1, 0]).reshape(len(grid), -1)
        return turns, index.reshape(*turns.shape, -1), weights.reshape(*turns.shape, -1)

    def best(self, state: ControlState, option: TransitionOption, direction: float, parameters: Floats) -> Floats:
        """Choose the parameters (d,) of an option that turn best to a world direction.

        Parameters
        ----------
        direction : radians from +Z, positive to the left.
        parameters : (d,) requested parameters; all but the turn stay unchanged, clamped to the option's box.
        """
        box, name = option.range, option.node.name
        k = option.node.names.index("turn")
        tried = np.tile(box.region.project(parameters), (_CHOSEN + 1, 1))
        # The requested parameters come first, and win ties.
        tried[1:, k] = np.linspace(box.low[k], box.high[k], _CHOSEN)
        tried = box.region.project(tried)
        here = self._table.begun(state, option, tried)
        paths = self._table.lay_paths(name, tried, here, np.full(len(tried), box.enter))
        off = rigid2d.wrap_angle(direction - paths[:, -1, 0])
        index, weights = self._table.corners(name, tried)
        costs = np.empty(len(tried))
        measure_costs(self._values[name], index, weights, _WITHIN, off, costs)
        return np.asarray(tried[int(np.argmin(costs))])
