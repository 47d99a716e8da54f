"""Transition points: pairs of similar frames (Kovar 4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, freeze_array, reduce_frozen


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """T pairs of frames.

    Attributes
    ----------
    clips, frames : (T, 2) the two clips, and one frame in each.
    distances : (T,) distance in meters, the square root of D.
    transforms : (T, 3) rigid2d that moves the second clip onto the first.
    """

    clips: Ints
    frames: Ints
    distances: Floats
    transforms: Floats

    def __post_init__(self) -> None:
        n = len(self.distances)
        put = object.__setattr__
        put(self, "clips", freeze_array(self.clips, "clips", (n, 2), np.int64))
        put(self, "frames", freeze_array(self.frames, "frames", (n, 2), np.int64))
        put(self, "distances", freeze_array(self.distances, "distances", (n,)))
        put(self, "transforms", freeze_array(self.transforms, "transforms", (n, 3)))

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __len__(self) -> int:
        return len(self.distances)

    def taken(self, which: Ints | Bools) -> Transitions:
        """Select transitions by indices or by a mask."""
        return Transitions(self.clips[which], self.frames[which], self.distances[which], self.transforms[which])
