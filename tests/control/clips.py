"""Small sets of clips for the tests of live players."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from marey.control.baselines.move_tree import MoveTree
from marey.control.blend_tree import BlendTree
from marey.control.motion_matching import MatchingData
from marey.core import Motion, Skeleton
from marey.edit import cycle
from marey.maths import quat
from marey.samples import sample

TURNS = (-1.0, 0.0, 1.0)
NAMES = ("right", "ahead", "left")


@cache
def walks() -> tuple[Motion, ...]:
    """Three regular walks: to the right, straight, and to the left."""
    return tuple(
        replace(sample("walk", seconds=6, turn_rate=turn, variation=0.0).motion, name=name)
        for turn, name in zip(TURNS, NAMES, strict=True)
    )


@cache
def matching() -> MatchingData:
    return MatchingData.build(walks())


@cache
def loops() -> dict[str, Motion]:
    return {walk.name: cycle(walk, feet=None) for walk in walks()}


@cache
def walking_tree() -> BlendTree:
    return BlendTree.build(loops(), [NAMES])


@cache
def strides() -> dict[str, Motion]:
    """One stride of each, between equal phases, with 0.15 s more at both ends."""
    out = {}
    for turn, name in zip(TURNS, NAMES, strict=True):
        result = sample("walk", seconds=6, turn_rate=turn, variation=0.0)
        first, last = (int(np.searchsorted(result.phase, phase)) for phase in (1.0, 2.0))
        out[name] = replace(result.motion[first - 9 : last + 10], name=name)
    return out


@cache
def stride_tree() -> MoveTree:
    return MoveTree.build(strides(), dict.fromkeys(NAMES, NAMES))


def below_a_stand(motion: Motion) -> Motion:
    """The same character with hips carried by a joint 0 that is half a meter up and rotates by itself."""
    given = motion.skeleton
    names = ("Stand", *given.names)
    parents = np.concatenate([[-1], given.parents + 1])
    offsets = np.concatenate([np.zeros((1, 3)), given.offsets])
    offsets[1] = [0.1, 0.5, 0.0]
    stand = quat.exp(
        np.stack([0.0 * np.arange(len(motion)), 0.01 * np.arange(len(motion)), 0.0 * np.arange(len(motion))], axis=1)
    )
    rotations = np.concatenate([stand[:, None], motion.rotations], axis=1)
    rotations[:, 1] = quat.inv_mul(stand, motion.rotations[:, 0])
    root = motion.root_positions - quat.rotate(stand, offsets[1])
    return Motion(Skeleton(names, parents, offsets), root, rotations, motion.fps, name=motion.name)


def largest_bend(motion: Motion) -> float:
    """Return the largest second difference of any joint's position, in m/s^2."""
    return float(np.linalg.norm(np.diff(motion.world().positions, n=2, axis=0), axis=-1).max()) * motion.fps**2
