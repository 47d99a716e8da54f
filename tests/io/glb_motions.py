"""A motion for the tests of GLB, and a check of what was read back."""

from __future__ import annotations

import numpy as np

from marey.core import Motion, Skeleton
from marey.maths import quat

# Not in depth-first order, with an End Site, a bone of zero length, and a root away from the origin.
NAMES = (
    "Hips",
    "Spine",
    "LeftLeg",
    "RightLeg",
    "Neck",
    "LeftFoot",
    "RightFoot",
    "Head",
    "LeftFootEnd",
    "HeadEnd",
)
PARENTS = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 7]
OFFSETS = [
    [0.1, 0.9, 0], [0, 0.2, 0], [0.1, 0, 0], [-0.1, 0, 0], [0, 0.3, 0],
    [0, -0.8, 0], [0, -0.8, 0], [0, 0, 0], [0, 0, 0.2], [0, 0.2, 0.01],
]  # fmt: skip


def make_motion(
    seed: int = 0, n_frames: int = 40, fps: float = 120.0, name: str = "walk", slide: bool = False
) -> Motion:
    rng = np.random.default_rng(seed)
    skeleton = Skeleton(NAMES, np.array(PARENTS), np.array(OFFSETS))
    n = len(skeleton)
    rotations = quat.exp(np.cumsum(rng.normal(0, 0.15, (n_frames, n, 3)), axis=0))
    rotations[:, skeleton.is_end_site] = quat.identity()
    rotations[:, 4] = quat.exp([0.1, 0.2, 0.3])
    root = np.cumsum(rng.normal(0, 0.02, (n_frames, 3)), axis=0) + [0, 1, 0]
    bones = None
    if slide:
        bones = np.repeat(skeleton.offsets[None], n_frames, axis=0)
        bones[:, 5] *= 1.0 + 0.05 * rng.random((n_frames, 1))
    return Motion(skeleton, root, rotations, fps, name, bone_offsets=bones)


def check_same(got: Motion, wanted: Motion) -> None:
    assert got.skeleton.names == wanted.skeleton.names
    assert got.skeleton.parents.tolist() == wanted.skeleton.parents.tolist()
    assert len(got) == len(wanted)
    assert got.fps == wanted.fps
    np.testing.assert_array_equal(got.skeleton.offsets, wanted.skeleton.offsets)
    np.testing.assert_allclose(got.world().positions, wanted.world().positions, atol=1e-5)
    turned = quat.angle_between(got.world().rotations, wanted.world().rotations)
    assert turned.max() < 1e-5
    assert (quat.dot(got.rotations[1:], got.rotations[:-1]) >= 0).all()
