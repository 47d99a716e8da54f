"""Correct blends to follow the planted foot.

When poses are blended, neither the hips nor the feet follow the blend of their paths. While a foot is planted, its path
has priority: the character is moved along the floor until points in contact move by the weighted mean of their
movements in the blended motions. If all of these stay still, the blended foot stays still too; if they slide a little,
as recorded feet do, it slides no more than they do.
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

# Square meters, regularization of the heading: the heel and ball of a foot, which are much farther apart than 0.01 m,
# determine the heading; a single point does not.
_GIVE = 0.01**2
# Radians: a leg with this much knee flexion is moved by half of the requested shift.
_UNBENT = 0.2
# Meters: a point this much higher than the lowest one has 1/e (about a third) of its weight.
_LOW = 0.015


@dataclass(frozen=True, slots=True, eq=False)
class Soles:
    """The K contact points and L legs of a skeleton, prepared for the kernels.

    chains : (K, depth) joints from the root's child down to the joint of the contact point, padded with -1.
    places : (K, 3) offsets of the points in the coordinates of their joints, in meters.
    bones : (1, J, 3) the skeleton's bone offsets, in meters.
    legs : (L, 3) hip, knee and ankle joint of each leg.
    above : (L, depth) joints from the root's child down to the parent of the hip, padded with -1.
    owned : (L, K) whether a point belongs to a leg.
    """

    chains: Ints
    places: Floats
    bones: Floats
    legs: Ints
    above: Ints
    owned: Bools

    def points(self, rotations: Floats, bones: Floats | None = None) -> Floats:
        """Return contact point positions (F, K, 3) relative to joint 0, in meters.

        rotations : (F, J, 4) local rotations. bones : (F, J, 3) bone offsets, if they change over time.
        """
        out = np.empty((len(rotations), len(self.chains), 3))
        find_points(self.chains, self.bones if bones is None else bones, self.places, rotations, out)
        return out

    def steps(self, points: Floats, moves: Floats) -> Floats:
        """Return the movements (F - 1, K, 2) of points (F, K, 3) over the floor between frames; see
        `stance_kernels.measure_steps`."""
        out = np.empty((len(points) - 1, points.shape[1], 2))
        measure_steps(points, moves, out)
        return out

    def corrections(self, steps: Floats, wanted: Floats, levels: Floats) -> Floats:
        """Return corrections (F - 1, 2) of the character's movement; see `stance_kernels.correct_steps`."""
        out = np.empty((len(steps), 2))
        correct_steps(steps, wanted, levels, out)
        return out

    def carry(self, points: Floats, wanted: Floats, levels: Floats) -> Floats:
        """Return floor transforms (theta, x, z), (F, 3), that make planted points move as wanted.

        See `stance_kernels.carry_frames` for the parameters.
        """
        out = np.empty((len(points), 3))
        carry_frames(points, wanted, levels, _GIVE, out)
        return out

    def lifts(self, points: Floats, wanted: Floats) -> Floats:
        """Return how far the character must rise, (F,) meters, to bring points (F, K, 3) to heights `wanted` (F, K).

        The lowest point has the most weight, so one foot takes over smoothly from the other during a step.
        """
        weights = np.exp((wanted.min(axis=1, keepdims=True) - wanted) / _LOW)
        return np.asarray((weights * (wanted - points[..., 1])).sum(axis=1) / weights.sum(axis=1))

    def step_legs(self, rotations: Floats, points: Floats, wanted: Floats, bones: Floats | None = None) -> None:
        """Change leg rotations in `rotations` (F, J, 4), in place, to move points (F, K, 3) toward `wanted` (F, K, 3).

        A foot is moved rigidly; its lowest point has the most weight.
        """
        if not len(self.legs):
            return
        own = np.where(self.owned, wanted[:, None, :, 1], np.inf)
        weights = np.exp((own.min(axis=2, keepdims=True) - own) / _LOW)
        shifts = np.einsum("flk,fkc->flc", weights / weights.sum(axis=2, keepdims=True), wanted - points)
        step_legs(self.above, self.legs, self.bones if bones is None else bones, shifts, _UNBENT, rotations)


def make_soles(skeleton: Skeleton, points: Sequence[ContactPoint]) -> Soles:
    """Return the (cached) `Soles` of a skeleton for some contact points."""
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
    """Find hip, knee and ankle of each leg that carries contact points; skip legs with joints in between."""
    roles, parents, out = skeleton.roles, skeleton.parents, []
    for side in ("left", "right"):
        names = [f"{side}_{part}" for part in ("upper_leg", "lower_leg", "foot")]
        if all(name in roles for name in names):
            hip, knee, ankle = (int(roles[name]) for name in names)
            if parents[ankle] == knee and parents[knee] == hip and any(ankle in chain for chain in chains):
                out.append((hip, knee, ankle))
    return out


def _pad_rows(chains: Sequence[Sequence[int]]) -> Ints:
    """Return the chains as rows of one array, padded with -1."""
    depth = max(1, *(len(chain) for chain in chains)) if chains else 1
    padded = np.full((len(chains), depth), -1, dtype=np.int64)
    for row, chain in zip(padded, chains, strict=True):
        row[: len(chain)] = chain
    return set_readonly(padded)
