"""Motions and files for the benchmarks, with as many rotating joints as a CMU clip and smooth angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from marey.core.arrays import set_readonly
from marey.core.kinematics import World, forward_kinematics
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.io.bvh_write import write_bvh
from marey.maths import euler, quat
from marey.samples import body_skeleton

N_TURNING = 31  # joints with channels


def prepare_fk(motion: Motion) -> Callable[[], World]:
    """Return a function that computes forward kinematics of all frames, without the cache of `Motion.world`."""
    return lambda: forward_kinematics(motion.skeleton, motion.root_positions, motion.rotations, motion.bone_offsets)


def bench_motion(n_frames: int) -> Motion:
    """Generate smooth motion of the sample body, with a chain in its hand to get 31 rotating joints."""
    rng = np.random.default_rng(0)
    body = body_skeleton()
    turning = ~body.is_end_site
    n_links = N_TURNING - int(turning.sum())
    names = body.names + tuple(f"link_{k}" for k in range(n_links))
    held = body.roles["right_hand"]
    parents = np.concatenate([body.parents, [held, *range(len(body), len(names) - 1)]])
    offsets = np.concatenate([body.offsets, np.tile([0.0, -0.05, 0.0], (n_links, 1))])
    skeleton = Skeleton(names, parents, offsets)
    time = np.arange(n_frames)[:, None, None] / 120.0
    n_joints = len(skeleton)
    angles = rng.uniform(5, 40, (n_joints, 3)) * np.sin(time * rng.uniform(0.5, 6.0, (n_joints, 3)))
    angles[:, skeleton.is_end_site] = 0.0
    rotations = quat.unroll(euler.from_euler(np.deg2rad(angles), "ZXY"))
    root = np.cumsum(rng.normal(0, 0.005, (n_frames, 3)), axis=0) + [0.0, 0.9, 0.0]
    return Motion(skeleton, set_readonly(root), set_readonly(rotations), 120.0, name=f"bench_{n_frames}")


def bench_bvh(n_frames: int) -> bytes:
    """Return `bench_motion` as BVH text in centimeters."""
    return b"".join(write_bvh(bench_motion(n_frames), unit=0.01, up="y"))
