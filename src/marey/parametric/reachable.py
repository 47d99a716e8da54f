"""The parameters that can be requested from a parametric motion space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array
from marey.parametric.region import Region

__all__ = ["Reachable"]

# Number of random points at which the reachable part of the bounding box is measured.
_N_PROBES = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """The parameters that can be requested from a space.

    names, units : names and units of the d parameters.
    examples : (n, d) parameters of the examples.
    samples : (m, d) parameters known to be reachable, including those of the examples.
    low, high : (d,) bounding box of the samples; `fraction` says how much of it is reachable.
    within : (d,) distance from a sample, in each dimension, within which a target counts as reachable.
    by_hand : whether the parameters were given by hand instead of measured; the entire box is then reachable.

    Examples
    --------
    >>> reachable = space.reachable()
    >>> reachable.low.shape, reachable.distance([1.0]) < 1.0
    ((1,), True)
    >>> reachable.distance([3.0]) > 1.0
    True
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    examples: Floats
    samples: Floats
    low: Floats
    high: Floats
    within: Floats
    by_hand: bool = False

    @property
    def region(self) -> Region:
        """The convex hull of the samples, or the box if parameters were given by hand."""
        return Region.from_box(self.low, self.high) if self.by_hand else Region.from_points(self.samples)

    @property
    def fraction(self) -> float:
        """Fraction of the bounding box that is reachable, measured at 10,000 random points.

        It is small if the parameters depend on each other, as the height and distance of a kick with a stretched leg.
        """
        if self.by_hand:
            return 1.0
        from scipy.spatial import KDTree

        points = np.random.default_rng(0).uniform(self.low, self.high, (_N_PROBES, len(self.names)))
        distances, _ = KDTree(self.samples / self.within).query(points / self.within)
        return float((distances <= 1.0).mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the ranges as a dictionary for JSON."""
        rows = zip(self.names, self.units, self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "parameters": [{"name": name, "unit": unit, "low": low, "high": high} for name, unit, low, high in rows],
            "examples": self.examples.tolist(),
            "samples": len(self.samples),
            "fraction": self.fraction,
            "by_hand": self.by_hand,
        }

    def distance(self, target: ArrayLike) -> float:
        """Return the distance from a target (d,) to the nearest sample, in units of `within`."""
        given = freeze_array(target, "target", (len(self.names),))
        return float(np.linalg.norm((self.samples - given) / self.within, axis=1).min())

    def __contains__(self, target: ArrayLike) -> bool:
        if self.by_hand:
            given = freeze_array(target, "target", (len(self.names),))
            return bool(((self.low <= given) & (given <= self.high)).all())
        return self.distance(target) <= 1.0
