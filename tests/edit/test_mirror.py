"""Mirrored motion."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.core import ContactPoint, Contacts, Label, Labels, Motion, Skeleton
from marey.core.annotations import swap_sides
from marey.edit import mirror
from marey.edit.describe import describe_edit
from marey.edit.mirror import find_axis_changes, find_partners
from marey.errors import JointNotFound
from marey.maths import quat
from marey.measure import measure
from tests.core.skeletons import MIXAMO, RIGS, UE
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, skeleton_of, walk

FLIP = np.array([-1.0, 1.0, 1.0])


def random_motion(skeleton: Skeleton, n: int = 12, seed: int = 0) -> Motion:
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(n, len(skeleton), 3)) * 0.6
    return Motion(skeleton, rng.normal(size=(n, 3)), quat.exp(turns), 30.0)


def test_twice_is_the_original():
    motion = walk()
    again = mirror(mirror(motion))
    assert same(again, motion, 1e-9)
    assert same_notes(again, motion)
    assert [p.offset.tolist() for p in again.contacts.points] == [p.offset.tolist() for p in motion.contacts.points]


def test_it_is_the_reflection_on_a_symmetric_body():
    motion = walk()
    result, partner = mirror(motion), find_partners(motion.skeleton)
    assert np.allclose(result.world().positions[:, partner] * FLIP, motion.world().positions, atol=1e-12)
    assert keeps_bones(result)
    assert last_step(result) == {"op": "mirror"}


def test_a_mirrored_motion_measures_the_same():
    motion = replace(walk(), contacts=None)
    metrics, mirrored = measure(motion).metrics, measure(mirror(motion)).metrics
    assert [each.name for each in mirrored] == [each.name for each in metrics]
    assert [each.value for each in mirrored] == pytest.approx(
        [each.value for each in metrics], rel=1e-6, abs=1e-9, nan_ok=True
    )


def test_a_mirrored_motion_measures_the_same_on_mirrored_bones():
    motion = replace(walk(), contacts=None)
    skeleton, partner = motion.skeleton, find_partners(motion.skeleton)
    offsets = skeleton.offsets.copy()
    offsets[skeleton.roles["left_foot"]] *= 1.05
    motion = replace(motion, skeleton=replace(skeleton, offsets=offsets))
    swapped = replace(mirror(motion), skeleton=replace(skeleton, offsets=offsets[partner] * FLIP))
    one, other = ({each.name: each.value for each in measure(clip).metrics} for clip in (motion, swapped))
    assert other == pytest.approx(one, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.label)
def test_mirroring_twice_restores_every_rig(rig):
    motion = random_motion(skeleton_of(rig))
    assert same(mirror(mirror(motion)), motion, 1e-9)


@pytest.mark.parametrize("rig", [MIXAMO, UE], ids=lambda rig: rig.label)
def test_fingers_and_twist_joints_have_partners(rig):
    skeleton = skeleton_of(rig)
    partner = find_partners(skeleton)
    assert np.array_equal(partner[partner], np.arange(len(skeleton)))
    for joint, other in enumerate(partner):
        name = skeleton.names[joint]
        if "Left" in name:
            assert skeleton.names[other] == name.replace("Left", "Right")
        if name.endswith("_l"):
            assert skeleton.names[other] == name[:-1] + "r"


def test_contacts_and_labels_change_sides():
    motion = walk()
    result = mirror(motion)
    for part in ("heel", "ball"):
        for side, other in (("left", "right"), ("right", "left")):
            now = result.contacts.mask[:, result.contacts.index(f"{side}_{part}")]
            assert np.array_equal(now, motion.contacts.mask[:, motion.contacts.index(f"{other}_{part}")])
    assert Label("right_part", 10, 50) in result.labels.items
    # The flags apply to the mirrored feet: planted points stand still.
    from marey.clean import point_paths

    paths = point_paths(result, result.contacts.points)
    for k, name in enumerate(result.contacts.names):
        for start, stop in result.contacts.intervals(name):
            assert np.ptp(paths[start:stop, k], axis=0).max() < 1e-6


def test_a_point_without_a_partner_goes_to_the_other_side():
    motion = walk()
    only = Contacts((motion.contacts.points[0],), motion.contacts.mask[:, :1])
    result = mirror(replace(motion, contacts=only))
    assert result.contacts.names == ("right_heel",)
    assert motion.skeleton.names[result.contacts.points[0].joint] == "RightFoot"
    assert same_notes(mirror(result), replace(motion, contacts=only))


def test_bones_that_move_change_sides_too():
    motion = walk()
    offsets = np.broadcast_to(motion.skeleton.offsets, (len(motion), len(motion.skeleton), 3)).copy()
    offsets[:, motion.skeleton.roles["left_foot"], 1] *= 1.05
    stretched = replace(motion, bone_offsets=offsets)
    result, partner = mirror(stretched), find_partners(motion.skeleton)
    assert np.allclose(result.world().positions[:, partner] * FLIP, stretched.world().positions, atol=1e-12)
    assert same(mirror(result), stretched, 1e-9)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("left_heel", "right_heel"),
        ("walk-turn-left", "walk-turn-right"),
        ("Left kick", "Right kick"),
        ("LEFT", "RIGHT"),
        ("leftover", "leftover"),
        ("upright", "upright"),
        ("kick", "kick"),
    ],
)
def test_names_change_sides_by_whole_words(name, other):
    assert swap_sides(name) == other
    assert swap_sides(other) == name


def test_rigs_whose_bones_lie_along_one_axis(data_folder):
    clips = sorted((data_folder / "bandai-namco").glob("*.bvh"))
    assert clips
    for clip in clips:  # walks, runs, turns, and a punch in which left and right always differ
        motion = marey.load(clip)
        result, partner = mirror(motion), find_partners(motion.skeleton)
        assert np.abs(result.world().positions[:, partner] * FLIP - motion.world().positions).max() < 0.001
        assert same(mirror(result), motion, 1e-9)
        # Every clip gives the same joint axes: those of the left are those of the right, mirrored.
        changes = find_axis_changes(motion, partner)
        for role in ("upper_arm", "forearm", "hand", "lower_leg", "foot"):
            assert np.abs(changes[motion.skeleton.roles[f"left_{role}"]]).argmax() == 1


def test_recorded_bodies_are_not_quite_symmetric(data_folder):
    motion = marey.load(data_folder / "cmu" / "016" / "16_15.bvh")
    result, partner = mirror(motion), find_partners(motion.skeleton)
    assert np.abs(result.world().positions[:, partner] * FLIP - motion.world().positions).max() < 0.05
    assert same(mirror(result), motion, 1e-9)
    assert keeps_bones(result)
    (note,) = describe_edit(result)
    assert re.fullmatch(r"left and right bones of this body differ by up to 1\.\d cm, so .* change slightly", note)
    assert describe_edit(mirror(walk())) == []


def test_a_skeleton_without_sides_is_refused():
    stick = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0.0, 1, 0]]))
    motion = Motion(stick, np.zeros((2, 3)), quat.identity((2, 2)), 30.0)
    with pytest.raises(JointNotFound, match=r"no joint of '' has a partner on the other side.*with_roles"):
        mirror(motion)


def test_one_frame_and_no_notes():
    motion = replace(walk()[3], contacts=None, labels=Labels())
    assert same(mirror(mirror(motion)), motion, 1e-9)


def test_a_custom_point_is_swapped_by_its_name():
    motion = walk()
    roles = motion.skeleton.roles
    points = tuple(ContactPoint(f"{s}_knee", roles[f"{s}_lower_leg"], np.zeros(3)) for s in ("left", "right"))
    mask = np.zeros((len(motion), 2), dtype=bool)
    mask[:5, 0] = True
    result = mirror(replace(motion, contacts=Contacts(points, mask)))
    assert result.contacts.intervals("right_knee") == ((0, 5),)
    assert result.contacts.intervals("left_knee") == ()
