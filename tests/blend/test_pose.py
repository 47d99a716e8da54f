"""Averaged poses and their kernels, against a slow twin."""

from dataclasses import replace

import numpy as np
import pytest

from marey.blend.pose import average_pose, make_strips
from marey.blend.pose_kernels import sample_rotations
from marey.errors import NotBlendable
from marey.maths import quat, rigid2d
from marey.samples import body_skeleton, sample
from tests.blend import twin

SKELETON = body_skeleton()


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.06, 0.07, 0.5, 1.5, 3.1])
def test_sampling_is_slerp(angle):
    rng = np.random.default_rng(1)
    a = quat.normalize(rng.normal(size=(40, 5, 4)))
    axis = rng.normal(size=(40, 5, 3))
    b = quat.mul(a, quat.exp(angle * axis / np.linalg.norm(axis, axis=-1, keepdims=True)))
    b = b * rng.choice([-1.0, 1.0], size=(40, 5, 1))
    t = rng.uniform(0.0, 1.0, 40)
    out = np.empty((40, 5, 4))
    sample_rotations(
        np.stack([a, b], axis=1).reshape(80, 5, 4),
        2.0 * np.arange(40) + t,
        np.zeros(1, dtype=np.int64),
        np.zeros(40),
        out,
    )
    np.testing.assert_allclose(out, quat.slerp(a, b, t[:, None]), atol=1e-14)


def test_exact_frames_are_used_unchanged():
    rotations = quat.normalize(np.random.default_rng(0).normal(size=(7, 3, 4)))
    out = np.empty((7, 3, 4))
    sample_rotations(rotations, np.arange(7.0), np.zeros(1, dtype=np.int64), np.zeros(7), out)
    np.testing.assert_array_equal(out, rotations)


def test_the_average_is_that_of_the_twin():
    rng = np.random.default_rng(2)
    motions = [sample("walk", rng=k, seconds=1.0, fps=30, turn_rate=0.2 * k).motion for k in range(3)]
    seconds = rng.uniform(0.0, 1.0, (9, 3))
    alignments = rng.normal(size=(9, 3, 3))
    weights = rng.uniform(-0.2, 1.0, (9, 3)) + 0.3
    weights /= weights.sum(axis=1, keepdims=True)
    placed = rng.normal(size=(9, 3))
    read = make_strips(motions, seconds, None)
    rows = [strip.frames(seconds[:, j]) for j, strip in enumerate(read)]
    rotations, bones = average_pose(SKELETON, read, rows, alignments, weights, placed, 1)
    assert bones is None
    for f in range(9):
        wanted, _ = twin.pose(motions, seconds[f], alignments[f], weights[f], placed[f], 1)
        same = np.abs((wanted * rotations[f]).sum(axis=-1))
        np.testing.assert_allclose(same, 1.0, atol=1e-12)


def test_bone_offsets_are_averaged_in_a_straight_line():
    plain = sample("walk", seconds=0.5, fps=30).motion
    stretched = replace(plain, bone_offsets=np.tile(1.1 * plain.skeleton.offsets, (len(plain), 1, 1)))
    seconds = np.full((4, 2), 0.2)
    read = make_strips([plain, stretched], seconds, None)
    rows = [strip.frames(seconds[:, j]) for j, strip in enumerate(read)]
    weights = np.tile([0.75, 0.25], (4, 1))
    _, bones = average_pose(SKELETON, read, rows, np.zeros((4, 2, 3)), weights, np.zeros((4, 3)), 0)
    np.testing.assert_allclose(bones, np.tile(1.025 * plain.skeleton.offsets, (4, 1, 1)), atol=1e-14)


def test_a_loop_is_carried_on_beyond_its_end():
    walk = sample("walk", seconds=1.0, fps=30).motion
    loop = np.array([0.4, 1.0, -2.0])
    seconds = np.array([[-0.5], [0.3], [1.2], [2.4]])
    (read,) = make_strips([walk], seconds, loop[None])
    rows = read.frames(seconds[:, 0])
    n = len(walk) / walk.fps
    for t, row, back in ((1.2, rows[2], 1), (2.4, rows[3], 2), (-0.5, rows[0], -1)):
        there = walk.at(min(t - back * n, walk.duration))
        carried = rigid2d.identity()
        for _ in range(abs(back)):
            carried = rigid2d.compose(loop if back > 0 else rigid2d.invert(loop), carried)
        np.testing.assert_allclose(read.hips(np.array([row])), rigid2d.apply(carried, there.travel), atol=1e-12)


def test_rotations_that_cancel_are_refused():
    """Half turns in both directions about one axis, which do not prefer a sign of an anchor without weight."""
    walk = sample("walk", seconds=0.5, fps=30).motion
    triple = []
    for q in ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0]):
        rotations = walk.rotations.copy()
        rotations[:, 3] = q
        triple.append(replace(walk, rotations=rotations))
    read = make_strips(triple, np.zeros((1, 3)), None)
    with pytest.raises(NotBlendable, match="cancel out"):
        average_pose(
            SKELETON, read, [np.zeros(1)] * 3, np.zeros((1, 3, 3)), np.array([[0.0, 0.5, 0.5]]), np.zeros((1, 3)), 0
        )
