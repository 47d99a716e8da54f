"""Edges: for each motion of one node, the box of the other's parameters that can follow, and when (Heck 6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from marey.core.arrays import Floats, freeze_array, reduce_frozen
from marey.errors import InvalidValue
from marey.parametric.neighbours import neighbour_shares

__all__ = ["Edge", "Onward"]

_DIGITS = 5


class Onward(NamedTuple):
    """What can follow a motion along an edge.

    low, high : (d,) box of the target's parameters.
    leave, enter : moments of the transition's middle in both motions, from 0 to 1.
    surest : (d,) fallback: parameters of the target sample that the nearest source sample joins best.
    """

    low: Floats
    high: Floats
    leave: float
    enter: float
    surest: Floats

    @property
    def middle(self) -> Floats:
        return np.asarray(0.5 * (self.low + self.high))


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A sampled edge.

    source, target : names of the nodes.
    good, bad : meters; T_GOOD, below which a sample was included, and T_BAD, above which it was excluded.
    parameters : (n, d) of the source's samples.
    low, high : (n, e) the box of each.
    surest : (n, e) fallback: the target sample that each source sample joins best.
    moments : (n, 2) mean positions of each sample's good transitions, from 0 to 1.
    scale : (d,) divisors of the source's parameters before they are compared.
    costs : (21,) meters, quantiles of all samples' best transitions, in steps of one twentieth.
    worst : meters, the best transition of the source sample that has the worst.

    Numbers are rounded to five digits, so that a text file holds exactly what plays.
    """

    source: str
    target: str
    good: float
    bad: float
    parameters: Floats
    low: Floats
    high: Floats
    surest: Floats
    moments: Floats
    scale: Floats
    costs: Floats
    worst: float

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("parameters", "low", "high", "surest", "moments", "scale", "costs"):
            put(self, name, _round_digits(getattr(self, name)))
        for name in ("good", "bad", "worst"):
            put(self, name, float(f"{getattr(self, name):.{_DIGITS}g}"))
        put(self, "parameters", freeze_array(self.parameters, "parameters of an edge", (None, None)))
        n, d = self.parameters.shape
        put(self, "low", freeze_array(self.low, "low ends of an edge's boxes", (n, None)))
        put(self, "high", freeze_array(self.high, "high ends of an edge's boxes", self.low.shape))
        put(self, "surest", freeze_array(self.surest, "best targets of an edge", self.low.shape))
        put(self, "moments", freeze_array(self.moments, "moments of an edge", (n, 2)))
        put(self, "scale", freeze_array(self.scale, "scale of an edge", (d,)))
        put(self, "costs", freeze_array(self.costs, "costs of an edge", (None,)))
        check_thresholds(self.good, self.bad)
        if not n or (self.low > self.high).any() or not (self.scale > 0.0).all():
            raise InvalidValue(f"the edge from {self.source!r} to {self.target!r} has an empty box")
        if self.moments.min() < 0.0 or self.moments.max() > 1.0:
            raise InvalidValue(f"the edge from {self.source!r} to {self.target!r} has moments outside 0 to 1")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __len__(self) -> int:
        return len(self.parameters)

    def onward(self, parameters: Floats) -> Onward:
        """What can follow the source's motion with parameters (d,), from its nearest samples (Heck 6.1.2).

        Among k = d + 2 nearest samples the last has weight 0, so boxes change continuously when samples change places.
        The other d + 1 span a space of d dimensions.
        """
        k = self.parameters.shape[1] + 2
        near, share = neighbour_shares(parameters / self.scale, self.parameters / self.scale, k)
        leave, enter = share @ self.moments[near]
        low, high = share @ self.low[near], share @ self.high[near]
        return Onward(low, high, float(leave), float(enter), self.surest[near[0]])


def check_thresholds(good: float, bad: float) -> None:
    """Raise an error for thresholds that are not distances, or in the wrong order."""
    if not (np.isfinite(good) and np.isfinite(bad) and good > 0.0):
        raise InvalidValue(f"good and bad must be distances in meters, above 0, got {good} and {bad}")
    if good > bad:
        raise InvalidValue(
            f"good must not be above bad, got {good:g} and {bad:g} m: transitions up to good are included, those above "
            "bad excluded"
        )


def _round_digits(values: Floats) -> Floats:
    """Round values to five digits."""
    given = np.asarray(values, dtype=np.float64)
    return np.array([float(f"{value:.{_DIGITS}g}") for value in given.ravel()]).reshape(given.shape)
