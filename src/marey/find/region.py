"""Which cells of a grid a match may use: near minima, within reach of a chain of them (Kovar 6.2.1 and 6.2.2).

- A cell is a *minimum* if it is no more than its neighbours to left and right, or above and below.
- The *valid region* is each minimum with the cells along its own direction, or both, up to one that is less, or whose D
  is 1 + alpha times the minimum's or more, or that is further than `reach`. Kovar goes on through lower cells, where
  whole valleys fill, and however far, where one figure standing still fills all there is of the other.
- A minimum is *on a chain* if the longest sequence of minima through it, each the next one's neighbour to the left,
  above or both, with no two straight steps in succession, lasts as long as `chain` on average in both clips. Only
  minima up to `near` count: what is alike has a stretch that is closely so, while chains of unlike frames are chance.
- A valid cell is *kept* if some path of that kind inside the valid region leads from it to a chain, or from a chain to
  it, over at most `bridge`, each step counted as the two frames that a diagonal one takes. These are the cells that
  bridges between chains can take, where Kovar keeps the best bridge for each two chains: a search then finds the best
  way by itself. Matches may begin and end off the chains, too.
- A valid cell is kept as well if it is on a *level* path: one of that kind inside the valid region, at least as long as
  `level`, with no cell beyond `near`. Where both figures pause, minima are anywhere and chains break: without these, up
  to a quarter of what a search of the whole valid region finds at 10 cm would be lost.

Cells beyond `limit` are none of these. Each rule looks a bounded way around a cell, so a part of a grid with enough
cells around it gives what the whole grid gives. What a search over all valid cells finds (`tests/twins/search.py`) is
the measure of what a web finds: for random stretches, at 5 and 10 cm, at least 95 of 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.errors import InvalidValue
from marey.find import region_kernels
from marey.find.cells import STEP, TOO_FAR, Units


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in cells and units of `cells.STEP`.

    cap : values from this on are out.
    near : values from this on are not on chains.
    ratio : of the root of D, from which on an extension ends.
    reach : cells of an extension.
    chain : Manhattan length of a chain at least.
    bridge : steps of a bridge at most.
    level : Manhattan length of a level path at least.
    """

    cap: int
    near: int
    ratio: float
    reach: int
    chain: int
    bridge: int
    level: int

    @classmethod
    def of(
        cls, fps: float, alpha: float, reach: float, chain: float, near: float, bridge: float, limit: float,
        level: float,
    ) -> Rules:  # fmt: skip
        """For grids of clips with `fps` frames a second; durations in seconds, `near` and `limit` in metres."""
        _check_number("alpha", alpha, 0.0, 10.0, "a share such as 0.15")
        _check_number("reach", reach, 0.0, 60.0, "seconds")
        _check_number("chain", chain, 0.0, 60.0, "seconds")
        _check_number("bridge", bridge, 0.0, 60.0, "seconds")
        _check_number("near", near, STEP, TOO_FAR * STEP, "metres")
        _check_number("limit", limit, STEP, TOO_FAR * STEP, "metres")
        _check_number("level", level, 0.0, 60.0, "seconds")
        return cls(
            _beyond(limit),
            _beyond(near),
            float(np.sqrt(1.0 + alpha)),
            max(round(reach * fps), 1),
            _length("chain", chain, fps),
            round(0.5 * bridge * fps),
            _length("level path", level, fps),
        )

    @property
    def halo(self) -> int:
        """Cells around a part of a grid that decide on those in it."""
        # Of a Manhattan length m at most (2 m + 1) / 3 go one way; a minimum takes one more cell to tell.
        chain, level = ((2 * (length + 2) + 1) // 3 + 1 for length in (self.chain, self.level))
        return max(self.bridge + max(chain, self.reach), level + self.reach) + 2


def quantise(distances: Floats) -> Units:
    """D (R, C) in m^2 as roots in units of `cells.STEP`."""
    out = np.empty(distances.shape, dtype=np.uint16)
    region_kernels.quantize_distances(np.ascontiguousarray(distances, dtype=np.float64), STEP, TOO_FAR, out)
    return out


def region_marks(values: Units, rules: Rules) -> Any:
    """(R, C) uint8, for each cell the bits `region_kernels.HORIZONTAL`, VERTICAL, VALID, CHAIN and LEVEL."""
    values = np.ascontiguousarray(values)
    marks = np.empty(values.shape, dtype=np.uint8)
    region_kernels.mark_minima(values, rules.cap, marks)
    region_kernels.mark_valid(values, rules.cap, rules.ratio, rules.reach, marks)
    member, free, bound = np.empty_like(marks), np.empty_like(marks), np.empty_like(marks)
    minimum = region_kernels.HORIZONTAL | region_kernels.VERTICAL
    for bits, least, to in (
        (minimum, rules.chain, region_kernels.CHAIN),
        (region_kernels.VALID, rules.level, region_kernels.LEVEL),
    ):
        region_kernels.mark_members(values, rules.near, marks, bits, member)
        region_kernels.mark_paths(member, least, to, marks, free, bound)
    return marks


def valid_region(values: Units, rules: Rules) -> Bools:
    """(R, C) the cells near minima."""
    return np.asarray((region_marks(values, rules) & region_kernels.VALID) != 0)


def kept_cells(values: Units, rules: Rules) -> Bools:
    """(R, C) the cells that a match web keeps."""
    marks = region_marks(values, rules)
    kept = np.empty(values.shape, dtype=np.uint8)
    region_kernels.mark_kept(marks, rules.bridge, kept)
    return kept.view(np.bool_)


def _length(name: str, seconds: float, fps: float) -> int:
    """Manhattan length of a path."""
    length = round(2 * seconds * fps)
    if length > 250:
        raise InvalidValue(f"a {name} of {seconds:g} s has {length} cells at {fps:g} Hz, at most 250 will do")
    return length


def _beyond(metres: float) -> int:
    """The first value that is more."""
    return min(int(np.floor(metres / STEP + 0.5)) + 1, TOO_FAR)


def _check_number(name: str, value: Any, low: float, high: float, what: str) -> None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not low <= number <= high:
        raise InvalidValue(f"{name} must be {what} from {low:g} to {high:g}, got {value!r}")
