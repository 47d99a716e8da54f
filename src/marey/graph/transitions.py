"""Transition points: pairs of similar frames (Kovar 4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints
from marey.deprecation import renamed_methods


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
