"""Blends driven by the planted foot.

In a blend of poses, neither hips nor feet follow the blend of their paths. While a foot is planted, the foot's path is
the one that counts: the character is moved along the floor so that points in contact move by the weighted mean of their
movements in the blended motions. If they all stay still, so does the blend; if feet slide a little, as recorded ones
do, the blend slides no more than they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.skeleton import Skeleton
from marey.pmg.stance_kernels import carry_frames, correct_steps, find_points, measure_steps, step_legs

__all__ = ["Soles", "make_soles"]

# Square meters: heel and ball, about ten times as far apart, fix the character's heading; one point alone does not.
_GIVE = 0.01**2
# Radians: legs bent by this much are moved halfway.
_UNBENT = 0.2
# Meters: points this far above the lowest one have a third of its weight.
_LOW = 0.015


@dataclass(frozen=True, slots=True, eq=False)
class Soles:
    """Contact points of a skeleton, ready to be tracked.

    chains : (K, depth) joints from the root's child down to the one that carries the point, then -1.
    places : (K, 3) meters, the points in these joints. bones : (1, J, 3) the skeleton's own.
    legs : (L, 3) hip, knee and ankle. above : (L, depth) joints from the root's child down to the one that carries the
        leg, then -1. owned : (L, K) whether a point is on a leg.
    """

    chains: Ints
    places: Floats
    bones: Floats
    legs: Ints
    above: Ints
    owned: Bools

    def points(self, rotations: Floats, bones: Floats | None = None) -> Floats:
        """(F, K, 3) meters from joint 0, for local rotations (F, J, 4) and, where bones move, offsets (F, J, 3)."""
        out = np.empty((len(rotations), len(self.chains), 3))
        find_points(self.chains, self.bones if bones is None else bones, self.places, rotations, out)
        return out

    def steps(self, points: Floats, moves: Floats) -> Floats:
        """(F - 1, K, 2) movements of points (F, K, 3) from frame to frame; see `stance_kernels.measure_steps`."""
        out = np.empty((len(points) - 1, points.shape[1], 2))
        measure_steps(points, moves, out)
        return out

    def corrections(self, steps: Floats, wanted: Floats, levels: Floats) -> Floats:
        """(F - 1, 2) corrections of the character's movement; see `stance_kernels.correct_steps`."""
        out = np.empty((len(steps), 2))
        correct_steps(steps, wanted, levels, out)
        return out

    def carry(self, points: Floats, wanted: Floats, levels: Floats) -> Floats:
        """(F, 3) rigid2d that place frames so that planted points move as wanted; see `stance_kernels.carry_frames`."""
        out = np.empty((len(points), 3))
        carry_frames(points, wanted, levels, _GIVE, out)
        return out

    def lifts(self, points: Floats, wanted: Floats) -> Floats:
        """(F,) meters by which characters must rise for points (F, K, 3) to be as high as wanted (F, K).

        The lowest count most, so that one foot takes over from the other as they come down and rise.
        """
        weights = np.exp((wanted.min(axis=1, keepdims=True) - wanted) / _LOW)
        return np.asarray((weights * (wanted - points[..., 1])).sum(axis=1) / weights.sum(axis=1))

    def step_legs(self, rotations: Floats, points: Floats, wanted: Floats, bones: Floats | None = None) -> None:
        """Change rotations (F, J, 4) so that feet with points (F, K, 3) go where they are `wanted` (F, K, 3).

        A foot is moved rigidly; its lowest point has the most weight.
        """
        if not len(self.legs):
            return
        own = np.where(self.owned, wanted[:, None, :, 1], np.inf)
        weights = np.exp((own.min(axis=2, keepdims=True) - own) / _LOW)
        shifts = np.einsum("flk,fkc->flc", weights / weights.sum(axis=2, keepdims=True), wanted - points)
        step_legs(self.above, self.legs, self.bones if bones is None else bones, shifts, _UNBENT, rotations)


def make_soles(skeleton: Skeleton, points: Sequence[ContactPoint]) -> Soles:
    """Prepare the tracking of contact points of a skeleton."""
    return _make_soles(skeleton, tuple(points))


@lru_cache(maxsize=16)
def _make_soles(skeleton: Skeleton, points: tuple[ContactPoint, ...]) -> Soles:
    chains = [list(skeleton.chain(point.joint))[1:] for point in points]
    places = np.array([point.offset for point in points], dtype=np.float64).reshape(-1, 3)
    legs = _find_legs(skeleton, chains)
    owned = np.array([[leg[2] in chain for chain in chains] for leg in legs], dtype=bool).reshape(
        len(legs), len(chains)
    )
    return Soles(
        _pad_rows(chains),
        set_readonly(places),
        set_readonly(np.ascontiguousarray(skeleton.offsets[None])),
        set_readonly(np.array(legs, dtype=np.int64).reshape(-1, 3)),
        _pad_rows([list(skeleton.chain(leg[0]))[1:-1] for leg in legs]),
        set_readonly(owned),
    )


def _find_legs(skeleton: Skeleton, chains: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Hip, knee and ankle of the legs that carry points, if they are directly connected."""
    roles, parents, out = skeleton.roles, skeleton.parents, []
    for side in ("left", "right"):
        names = [f"{side}_{part}" for part in ("upper_leg", "lower_leg", "foot")]
        if all(name in roles for name in names):
            hip, knee, ankle = (int(roles[name]) for name in names)
            if parents[ankle] == knee and parents[knee] == hip and any(ankle in chain for chain in chains):
                out.append((hip, knee, ankle))
    return out


def _pad_rows(chains: Sequence[Sequence[int]]) -> Ints:
    """Rows of joints, with -1 after the last."""
    depth = max(1, *(len(chain) for chain in chains)) if chains else 1
    padded = np.full((len(chains), depth), -1, dtype=np.int64)
    for row, chain in zip(padded, chains, strict=True):
        row[: len(chain)] = chain
    return set_readonly(padded)
