"""Transition points: pairs of similar frames (Kovar 4.1.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints
from marey.deprecation import renamed_methods

Align = Callable[[Ints], Floats]
"""Returns the transforms (N, 3) of frame pairs, given their indices (N,)."""


@dataclass(frozen=True, slots=True, eq=False)
class FramePairs:
    """T pairs of similar frames, without the transforms that align them; fields as in `Transitions`, but clips and
    frames may have 32 bits."""

    clips: Ints | NDArray[np.int32]
    frames: Ints | NDArray[np.int32]
    distances: Floats

    def __len__(self) -> int:
        return len(self.distances)

    def select(self, which: Ints | Bools) -> FramePairs:
        """Select pairs by indices or by a mask."""
        return FramePairs(self.clips[which], self.frames[which], self.distances[which])

    def reverse(self) -> FramePairs:
        """Return the pairs in the other direction."""
        return FramePairs(self.clips[:, ::-1], self.frames[:, ::-1], self.distances)

    @classmethod
    def concatenate(cls, parts: list[FramePairs]) -> FramePairs:
        """Concatenate pairs. `parts` is emptied to save memory."""
        integers = np.empty((0, 2), dtype=np.int32)
        whole = []
        for name, empty in (("clips", integers), ("frames", integers), ("distances", np.empty(0))):
            whole.append(np.concatenate([empty, *(getattr(part, name) for part in parts)]))
        parts.clear()
        return cls(*whole)


class FramePairSource(Protocol):
    """All local minima of the distance grids, each listed once, for one direction; they need not fit into memory."""

    @property
    def skipped(self) -> float:
        """Fraction of all frame pairs that were ruled out as too far apart without being compared."""
        ...

    def batches(self) -> Iterator[FramePairs]:
        """Yield all pairs, sorted by clips and frames, in batches."""
        ...

    def up_to(self, max_distance: float) -> tuple[FramePairs, Align]:
        """Return the pairs up to a distance in meters, and a function that computes their transforms."""
        ...


@renamed_methods(taken="select")
@dataclass(frozen=True, slots=True, eq=False)
class Transitions(FrozenRecord):
    """T pairs of similar frames.

    Attributes
    ----------
    clips, frames : (T, 2) indices of the two clips, and one frame in each.
    distances : (T,) distance in meters, the square root of D.
    transforms : (T, 3) rigid2d (theta, x, z) that moves the second clip onto the first.
    skipped : fraction of all frame pairs that were ruled out as too far apart without being compared.

    Examples
    --------
    >>> from marey.graph import Transitions
    >>> pairs = Transitions(np.array([[0, 1]]), np.array([[30, 45]]), np.array([0.1]), np.zeros((1, 3)))
    >>> len(pairs.select(pairs.distances < 0.2))
    1
    """

    clips: Ints
    frames: Ints
    distances: Floats
    transforms: Floats
    skipped: float = 0.0

    def __post_init__(self) -> None:
        self._freeze(distances=("n",), clips=("n", 2), frames=("n", 2), transforms=("n", 3))

    def __len__(self) -> int:
        return len(self.distances)

    def select(self, which: Ints | Bools) -> Transitions:
        """Select transitions by indices or by a mask."""
        return Transitions(self.clips[which], self.frames[which], self.distances[which], self.transforms[which])

    def batches(self) -> Iterator[FramePairs]:
        """Yield the frames and distances of all transitions, as one batch."""
        yield FramePairs(self.clips, self.frames, self.distances)

    def up_to(self, max_distance: float) -> tuple[FramePairs, Align]:
        """Return the frames and distances up to `max_distance` meters, and a function that looks up transforms."""
        chosen = self.select(self.distances <= max_distance)
        return next(chosen.batches()), lambda which: np.asarray(chosen.transforms[which])
