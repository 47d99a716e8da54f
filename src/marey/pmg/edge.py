"""Edges: for each motion of the source node, which parameters of the target node can follow, and when (Heck 6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, freeze_array
from marey.deprecation import renamed_fields, renamed_methods
from marey.errors import InvalidValue
from marey.parametric.region import Region
from marey.parametric.target_weights import neighbor_weights

__all__ = ["Edge", "TransitionRange"]

_DIGITS = 5


@renamed_fields(surest="fallback")
class TransitionRange(NamedTuple):
    """The motions of the target node that can follow a motion along an edge.

    low, high : (e,) box of the target's e parameters.
    leave, enter : position of the transition's middle in the source and in the target motion, from 0 to 1.
    fallback : (e,) parameters of the target sample with the best transition from the nearest source sample.
    region : the allowed parameters: the part of the target node's region that is in the box.
    """

    low: Floats
    high: Floats
    leave: float
    enter: float
    fallback: Floats
    region: Region

    @property
    def middle(self) -> Floats:
        """(e,) the allowed parameters that are nearest to the middle of the box."""
        return self.region.middle


@renamed_methods(onward="transition_range")
@renamed_fields(surest="fallback")
@dataclass(frozen=True, slots=True, eq=False)
class Edge(FrozenRecord):
    """An edge between two nodes, stored as n samples of the source node.

    The source has d parameters, the target e.

    source, target : names of the nodes.
    good, bad : thresholds in meters: T_GOOD, up to which target samples were included, and T_BAD, above which they were
        excluded.
    parameters : (n, d) parameters of the source samples.
    low, high : (n, e) box of target parameters that can follow each source sample.
    fallback : (n, e) parameters of the target sample with the best transition from each source sample.
    moments : (n, 2) mean position of each sample's good transitions in the source and target motions, from 0 to 1.
    scale : (d,) divisors that make the source's parameters comparable.
    costs : (21,) quantiles of the costs of all sampled pairs, in meters, in steps of 0.05.
    worst : meters; the largest, over all source samples, of the cost of the sample's best transition.
    is_chosen : whether `good` was chosen automatically.

    Numbers are rounded to five digits, so an edge read from a text file is identical to the one that was written.

    Examples
    --------
    >>> edge = character.edges["walk", "walk"]
    >>> edge.parameters.shape, edge.costs.shape
    ((12, 1), (21,))
    >>> edge.transition_range(edge.parameters[0]).low.shape
    (1,)
    """

    source: str
    target: str
    good: float
    bad: float
    parameters: Floats
    low: Floats
    high: Floats
    fallback: Floats
    moments: Floats
    scale: Floats
    costs: Floats
    worst: float
    is_chosen: bool = False

    def __post_init__(self) -> None:
        for name in ("parameters", "low", "high", "fallback", "moments", "scale", "costs"):
            self._put(**{name: _round_digits(getattr(self, name))})
        for name in ("good", "bad", "worst"):
            self._put(**{name: float(f"{getattr(self, name):.{_DIGITS}g}")})
        self._put(parameters=freeze_array(self.parameters, "parameters of an edge", (None, None)))
        n, d = self.parameters.shape
        self._put(low=freeze_array(self.low, "low ends of an edge's boxes", (n, None)))
        self._put(
            high=freeze_array(self.high, "high ends of an edge's boxes", self.low.shape),
            fallback=freeze_array(self.fallback, "best targets of an edge", self.low.shape),
            moments=freeze_array(self.moments, "moments of an edge", (n, 2)),
            scale=freeze_array(self.scale, "scale of an edge", (d,)),
            costs=freeze_array(self.costs, "costs of an edge", (None,)),
        )
        check_thresholds(self.good, self.bad)
        if not n or (self.low > self.high).any() or not (self.scale > 0.0).all():
            raise InvalidValue(
                f"the edge from {self.source!r} to {self.target!r} must have at least one sample, low must not exceed "
                "high, and scale must be greater than 0"
            )
        if self.moments.min() < 0.0 or self.moments.max() > 1.0:
            raise InvalidValue(f"moments of the edge from {self.source!r} to {self.target!r} must be from 0 to 1")

    def __len__(self) -> int:
        return len(self.parameters)

    def transition_range(self, parameters: Floats, region: Region | None = None) -> TransitionRange:
        """Interpolate what can follow the source's motion with parameters (d,), from its nearest samples (Heck 6.1.2).

        region : region of the target node; None if all parameters in a box are allowed.

        The k = d + 2 nearest samples are used. The farthest has weight 0, so boxes change continuously when the set of
        nearest samples changes. The other d + 1 span a space of d dimensions.
        """
        k = self.parameters.shape[1] + 2
        near, weights = neighbor_weights(parameters / self.scale, self.parameters / self.scale, k)
        leave, enter = weights @ self.moments[near]
        low, high = weights @ self.low[near], weights @ self.high[near]
        allowed = Region.from_box(low, high) if region is None else region.cut(low, high)
        return TransitionRange(low, high, float(leave), float(enter), self.fallback[near[0]], allowed)


def check_thresholds(good: float, bad: float) -> None:
    """Raise an error if a threshold is not a positive distance, or if `good` is above `bad`."""
    if not (np.isfinite(good) and np.isfinite(bad) and good > 0.0):
        raise InvalidValue(f"`good` and `bad` must be finite distances in meters, greater than 0, not {good} and {bad}")
    if good > bad:
        raise InvalidValue(
            f"`good` must be at most `bad`, but they are {good:g} m and {bad:g} m: transitions that cost at most "
            "`good` are accepted, and those above `bad` are rejected"
        )


def _round_digits(values: Floats) -> Floats:
    """Round values to five digits."""
    given = np.asarray(values, dtype=np.float64)
    return np.array([float(f"{value:.{_DIGITS}g}") for value in given.ravel()]).reshape(given.shape)
