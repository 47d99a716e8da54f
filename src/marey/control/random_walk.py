"""A random walk: any edge, any parameters of its box (Heck 6.2.2.1)."""

from __future__ import annotations

import numpy as np

from marey.pmg import Choice, Moment

__all__ = ["RandomWalk"]


class RandomWalk:
    """Chooses at random. The same seed gives the same stream.

    Parameters
    ----------
    rng : a seed or Generator.
    """

    def __init__(self, rng: int | np.random.Generator = 0) -> None:
        self._chance = np.random.default_rng(rng)

    def choose(self, moment: Moment) -> Choice:
        """Choose any option, with parameters uniformly distributed over its box."""
        option = moment.options[int(self._chance.integers(len(moment.options)))]
        box = option.onward
        return Choice(option.node.name, self._chance.uniform(box.low, box.high))
