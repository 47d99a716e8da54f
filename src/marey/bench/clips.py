"""Files for the benches: as many joints as a CMU clip, smooth angles, four decimals."""

from __future__ import annotations

import numpy as np

from marey.core._arrays import settle
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.io.bvh_write import write_bvh
from marey.maths import euler, quat

N_JOINTS = 31
_BRANCH = 5  # joints in a row before a new limb starts


def bench_motion(n_frames: int, seed: int = 0) -> Motion:
    """A figure of 31 joints whose every joint swings smoothly."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1] + [j if j % _BRANCH else 0 for j in range(N_JOINTS - 1)])
    names = tuple(f"joint_{j}" for j in range(N_JOINTS))
    skeleton = Skeleton(names, parents, rng.uniform(-0.2, 0.2, (N_JOINTS, 3)))
    time = np.arange(n_frames)[:, None, None] / 120.0
    angles = rng.uniform(5, 40, (N_JOINTS, 3)) * np.sin(time * rng.uniform(0.5, 6.0, (N_JOINTS, 3)))
    rotations = quat.unroll(euler.from_euler(np.deg2rad(np.round(angles, 4)), "ZXY"))
    root = np.cumsum(rng.normal(0, 0.005, (n_frames, 3)), axis=0)
    return Motion(skeleton, settle(root), settle(rotations), 120.0, name=f"bench_{n_frames}")


def bench_bvh(n_frames: int) -> bytes:
    """The same as BVH text in centimetres."""
    return b"".join(write_bvh(bench_motion(n_frames), unit=0.01, up="y"))
