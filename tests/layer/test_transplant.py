"""Transplants: weights along the chain, timing, contacts, and invalid input."""

import dataclasses

import numpy as np
import pytest

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.edit import resample
from marey.errors import InvalidValue, JointNotFound
from marey.layer import LIMBS, transplant
from marey.layer.transplanting import find_joint_weights
from marey.maths import quat
from marey.samples import sample


@pytest.fixture(scope="module")
def walk():
    return sample("walk").motion


@pytest.fixture(scope="module")
def reach():
    return sample("reach").motion


def below(skeleton, joint):
    return [j for j in range(len(skeleton)) if joint in skeleton.chain(j)]


@pytest.mark.parametrize("limb", LIMBS)
def test_of_the_same_motion_nothing_changes(walk, limb):
    got = transplant(walk, walk, joints=limb)
    assert quat.angle_between(got.rotations, walk.rotations).max() < 1e-7


def test_an_arm_moves_as_the_donor_and_the_legs_as_the_base(walk, reach):
    roles, skeleton = walk.skeleton.roles, walk.skeleton
    got = transplant(walk, reach, joints="right_arm", ease=0.0)
    n = len(reach)
    arm = below(skeleton, roles["right_shoulder"])
    assert quat.angle_between(got.rotations[:n, arm], reach.rotations[:, arm]).max() < 1e-7
    np.testing.assert_array_equal(got.rotations[n:, arm], walk.rotations[n:, arm])
    rest = [j for j in range(len(skeleton)) if j not in arm and j not in roles.spine]
    np.testing.assert_array_equal(got.rotations[:, rest], walk.rotations[:, rest])
    np.testing.assert_array_equal(got.root_positions, walk.root_positions)


def test_weights_fall_along_the_chain_to_the_hips(walk):
    roles = walk.skeleton.roles
    weights = find_joint_weights(walk.skeleton, "arms")
    assert weights[roles["left_hand"]] == weights[roles["right_shoulder"]] == 1.0
    spine = weights[list(roles.spine)]
    np.testing.assert_allclose(spine, (1.0 + np.arange(len(spine))) / (len(spine) + 1))
    assert weights[roles["hips"]] == weights[roles["left_foot"]] == weights[roles["head"]] == 0.0
    assert not find_joint_weights(walk.skeleton, "arms", 0)[list(roles.spine)].any()
    one = find_joint_weights(walk.skeleton, ["left_arm"], 1)[list(roles.spine)]
    np.testing.assert_allclose(one, [*[0.0] * (len(one) - 1), 0.5])


def test_legs_and_upper_body_are_one_another_s_rest(walk):
    legs, upper = (find_joint_weights(walk.skeleton, limb) for limb in ("legs", "upper_body"))
    hips = list(walk.skeleton.chain(walk.skeleton.roles["hips"]))
    both = legs + upper
    assert (np.delete(both, hips) == 1.0).all()
    assert not both[hips].any()


def test_weights_can_be_given_joint_by_joint(walk, reach):
    roles = walk.skeleton.roles
    got = transplant(walk, reach, joints={"head": 0.5, "left_hand": 0.0}, ease=0.0)
    want = quat.slerp(walk.rotations[: len(reach), roles["head"]], reach.rotations[:, roles["head"]], 0.5)
    assert quat.angle_between(got.rotations[: len(reach), roles["head"]], want).max() < 1e-7


def test_it_fades_in_and_out_smoothly(walk, reach):
    roles = walk.skeleton.roles
    got = transplant(walk, reach, joints="right_arm", at=1.0, ease=0.4)
    frames = got.source.provenance[-1]["frames"]
    assert frames == [60, 60 + len(reach)]
    np.testing.assert_array_equal(got.rotations[:60], walk.rotations[:60])
    arm = roles["right_upper_arm"]
    usual = max(quat.angle_between(m.rotations[1:, arm], m.rotations[:-1, arm]).max() for m in (walk, reach))
    assert quat.angle_between(got.rotations[1:, arm], got.rotations[:-1, arm]).max() < 2.0 * usual


def test_rates_may_differ_and_a_long_donor_is_cut(walk, reach):
    same = transplant(walk, reach, joints="head", at=4.5)
    other = transplant(walk, resample(reach, 120.0), joints="head", at=4.5)
    assert len(same) == len(other) == len(walk)
    assert other.fps == walk.fps
    assert quat.angle_between(same.rotations, other.rotations).max() < 1e-3


def test_contacts_of_hands_are_kept_and_those_of_feet_dropped(walk):
    kick = sample("kick").motion
    legs = transplant(walk, kick, joints="legs", ease=0.0)
    n = len(kick)
    assert not legs.contacts.mask[:n].any()
    np.testing.assert_array_equal(legs.contacts.mask[n:], walk.contacts.mask[n:])
    hand = walk.skeleton.roles["right_hand"]
    holds = Contacts((ContactPoint("right_wrist", hand, np.zeros(3)),), np.ones((n, 1), dtype=bool))
    arm = transplant(walk, dataclasses.replace(kick, contacts=holds), joints="right_arm", ease=0.0)
    assert arm.contacts.names[-1] == "right_wrist"
    assert arm.contacts.mask[:n, -1].all()
    np.testing.assert_array_equal(arm.contacts.mask[:, :-1], walk.contacts.mask)


def test_the_result_has_the_labels_of_both(walk, reach):
    donor = dataclasses.replace(reach, labels=Labels((Label("wave", 0, 30), Label("late", 100, len(reach)))))
    got = transplant(walk, donor, joints="arms", at=5.0)
    assert Label("wave", 300, 330) in tuple(got.labels)
    assert "late" not in got.labels.names


def test_wrong_requests_are_refused(walk, reach):
    with pytest.raises(JointNotFound, match=r"'lft_arm' is not a limb \(left_arm.*similar: 'left_arm'"):
        transplant(walk, reach, joints="lft_arm")
    with pytest.raises(
        InvalidValue, match="joints must be descendants of the hips, not 'Hips', which would move the whole body"
    ):
        transplant(walk, reach, joints="hips")
    with pytest.raises(InvalidValue, match="at least one limb"):
        transplant(walk, reach, joints=[])
    with pytest.raises(InvalidValue, match="weight of 'head' must be from 0 to 1, not 2"):
        transplant(walk, reach, joints={"head": 2.0})
    with pytest.raises(InvalidValue, match="falloff must be None if joints is a mapping"):
        transplant(walk, reach, joints={"head": 1.0}, falloff=1)
    with pytest.raises(InvalidValue, match="falloff must be at least 0, not -1"):
        transplant(walk, reach, joints="head", falloff=-1)
    with pytest.raises(InvalidValue, match="`at=` must be from 0 to 6 s, the duration of the base motion, not 9 s"):
        transplant(walk, reach, joints="head", at=9.0)
    with pytest.raises(InvalidValue, match="ease must be at least 0 seconds"):
        transplant(walk, reach, joints="head", ease=-1.0)
    longer = dataclasses.replace(walk.skeleton, offsets=1.1 * walk.skeleton.offsets)
    with pytest.raises(InvalidValue, match="a transplant needs motions that share a skeleton"):
        transplant(walk, dataclasses.replace(reach, skeleton=longer), joints="head")
