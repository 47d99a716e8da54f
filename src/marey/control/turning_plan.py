"""Turning to a heading clip by clip: the turns that together end soonest there, known beforehand for a whole node."""

from __future__ import annotations

import numpy as np

from marey.control.outlook import Outlook, even_shares
from marey.core._arrays import Floats
from marey.maths import rigid2d
from marey.pmg import Moment, Option

__all__ = ["TurnPlan"]

# Directions that a heading may be off, over the full circle, and clips that are looked ahead.
_HEADINGS = 48
_AHEAD = 5
# Radians within which a heading counts as taken; a little less than is asked for, as tables are not exact.
_WITHIN = np.radians(12.0)
# Turns that are tried of each box: in the table, where the others have two values, and for a choice.
_TRIED, _CHOSEN = 13, 41


class TurnPlan:
    """What it costs to turn by any angle after any clip of a node that can follow itself.

    A clip costs what its end is off the heading, and more if that is too far. The best sum over the next clips is
    found for all clips and angles at once, backwards from the last one. A sharp turn that cannot be left at once is
    then not begun too late, and who cannot turn left goes round by the right.
    """

    def __init__(self, outlook: Outlook, node: str) -> None:
        from marey.control.turning_kernels import sweep

        self._outlook, self.node = outlook, node
        about = outlook.graph.node(node)
        self._turn = about.names.index("turn")
        counts = tuple(_TRIED if k == self._turn else 2 for k in range(about.n_dims))
        grid = outlook.table(node).grid
        chosen, enter, parent = outlook.choices(node, node, grid, even_shares(counts))
        here = outlook.join(node, node).entered(grid[parent], chosen, np.zeros((len(chosen), 3)))
        ways = outlook.ways(node, chosen, here, enter)
        index, share = outlook.corners(node, chosen)
        shape = (len(grid), -1)
        turns = ways[:, -1, 0].reshape(shape)
        index, share = index.reshape(*turns.shape, -1), share.reshape(*turns.shape, -1)
        values = np.zeros((len(grid), _HEADINGS))
        for _ in range(_AHEAD):
            before, values = values, np.empty_like(values)
            sweep(turns, index, share, _WITHIN, before, values)
        self._values = values

    def best(self, moment: Moment, option: Option, direction: float, parameters: Floats) -> Floats:
        """Parameters (d,) of the clip of a moment's option that turns best to a direction of the world.

        Parameters
        ----------
        parameters : (d,) what is wished for; all but the turn is kept, as far as the option's box allows.
        """
        from marey.control.turning_kernels import cost_after

        box, k = option.onward, self._turn
        kept = np.clip(parameters, box.low, box.high)
        tried = np.tile(kept, (_CHOSEN + 1, 1))
        # What was wished for comes first, and stays where nothing else is better.
        tried[1:, k] = np.linspace(box.low[k], box.high[k], _CHOSEN)
        here = self._outlook.begun(moment, option, tried)
        ways = self._outlook.ways(self.node, tried, here, np.full(len(tried), box.enter))
        off = rigid2d.wrap_angle(direction - ways[:, -1, 0])
        index, share = self._outlook.corners(self.node, tried)
        costs = np.empty(len(tried))
        cost_after(self._values, index, share, _WITHIN, off, costs)
        return np.asarray(tried[int(np.argmin(costs))])
