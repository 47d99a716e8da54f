"""Measurements of the tests of samples."""

from functools import cache
from typing import Any

import numpy as np

from marey.core import Motion, hinge_angle
from marey.maths import quat
from marey.samples import Sample, sample, sample_names

NAMES = sample_names()


@cache
def made(name: str, seed: int = 0, fps: float = 60.0, **parameters: Any) -> Sample:
    """Return a sample, made once for all tests."""
    return sample(name, rng=seed, fps=fps, **parameters)


def paths(motion: Motion) -> np.ndarray:
    """Return the world paths of the contact points, (F, K, 3)."""
    world = motion.world()
    columns = [
        world.positions[:, point.joint] + quat.rotate(world.rotations[:, point.joint], point.offset)
        for point in motion.contacts.points
    ]
    return np.stack(columns, axis=1)


def bends(motion: Motion, upper: str, lower: str, hinge: np.ndarray) -> np.ndarray:
    """Return the bend of a hinge, (F,) radians: 0 is straight, negative is backward."""
    joint, end = motion.skeleton.roles[upper], motion.skeleton.roles[lower]
    offsets = motion.skeleton.offsets
    return np.pi - hinge_angle(offsets[joint], offsets[end], motion.rotations[:, joint], hinge)


def speed_steps(motion: Motion) -> np.ndarray:
    """Return the change of angular velocity from frame to frame, (F - 2, J) rad/s."""
    turns = quat.log(quat.mul_inv(motion.rotations[1:], motion.rotations[:-1])) * motion.fps
    return np.linalg.norm(np.diff(turns, axis=0), axis=2)


def strikes(motion: Motion, name: str) -> list[int]:
    """Return the first frames of a point's contacts, except for one at the start of the clip."""
    return [start for start, _ in motion.contacts.intervals(name) if start > 0]
