"""The simple cost from joint angles, velocities and accelerations, and similarity."""

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import POSE_WEIGHTS, pose_cost, similarity
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.samples import sample

WALK = sample("walk", seconds=1.0, fps=30.0).motion
RUN = sample("run", seconds=0.8, fps=30.0).motion


def slow(a, b, i, j, weights, velocity=0.1, acceleration=0.01):
    """Compute one pair of frames by the formulas of the lecture."""

    def turn(m, joint, f):
        f = max(f, 1)
        return quat.log(quat.inv_mul(m.rotations[f - 1, joint], m.rotations[f, joint]))

    def change(m, joint, f):
        f = max(f, 2)
        return turn(m, joint, f) - turn(m, joint, f - 1)

    total = 0.0
    for role, weight in weights.items():
        p, q = a.skeleton.roles[role], b.skeleton.roles[role]
        angle = np.linalg.norm(quat.log(quat.inv_mul(a.rotations[i, p], b.rotations[j, q])))
        total += weight * angle
        total += velocity * weight * np.linalg.norm(turn(a, p, i) - turn(b, q, j))
        total += acceleration * weight * np.linalg.norm(change(a, p, i) - change(b, q, j))
    return total


def test_it_is_the_sum_of_the_slides():
    cost = pose_cost(WALK, RUN)
    assert cost.shape == (len(WALK), len(RUN))
    for i, j in ((0, 0), (1, 5), (2, 1), (20, 13), (len(WALK) - 1, 3)):
        assert cost[i, j] == pytest.approx(slow(WALK, RUN, i, j, POSE_WEIGHTS), rel=1e-9)
    given = {"head": 2.0, "left_hand": 0.5}
    cost = pose_cost(WALK, RUN, weights=given, velocity=1.0, acceleration=2.0)
    assert cost[7, 9] == pytest.approx(slow(WALK, RUN, 7, 9, given, 1.0, 2.0), rel=1e-9)


def test_a_motion_with_itself_is_symmetric_with_zeros():
    cost = pose_cost(WALK)
    assert (np.diag(cost) == 0).all()
    assert cost == pytest.approx(cost.T, abs=1e-12)
    # Independent of the position and of the signs of quaternions.
    other = replace(WALK.moved((1.0, 5.0, 3.0)), rotations=-WALK.moved((1.0, 5.0, 3.0)).rotations)
    assert pose_cost(WALK, other) == pytest.approx(cost, abs=1e-7)


def test_similarity_is_one_for_the_same_and_falls():
    assert similarity([0.0, 1.0, 3.0]) == pytest.approx([1.0, 0.5, 0.25])
    inside, across = similarity(pose_cost(WALK)).mean(), similarity(pose_cost(WALK, RUN)).mean()
    assert inside > across


def test_rates_have_the_same_units():
    finer = sample("walk", seconds=1.0, fps=120.0).motion
    assert pose_cost(finer)[20::4, 20::4] == pytest.approx(pose_cost(WALK)[5:, 5:], abs=0.15)


def test_bad_input():
    with pytest.raises(InvalidValue, match="weight velocity must be a finite number of at least 0, not -1"):
        pose_cost(WALK, velocity=-1)
    with pytest.raises(InvalidValue, match="weight of 'head' must be a finite number of at least 0, not nan"):
        pose_cost(WALK, weights={"head": np.nan})
    with pytest.raises(JointNotFound, match="'tail' is neither a joint nor a role"):
        pose_cost(WALK, weights={"tail": 1.0})
    with pytest.raises(InvalidValue, match="resample one of them with `marey.edit.resample`"):
        pose_cost(WALK, replace(RUN, fps=60.0))
    assert pose_cost(WALK[3:4], RUN[2:4]).shape == (1, 2)
