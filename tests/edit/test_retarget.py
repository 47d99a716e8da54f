"""Retargeting a motion to another skeleton."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.core import ContactPoint, Contacts, Motion, Skeleton
from marey.edit import RetargetMap, retarget
from marey.errors import InvalidValue, JointNotFound, MareyWarning, ParseError, UnknownVersion
from marey.maths import quat
from marey.samples import body_skeleton, sample
from tests.core.skeletons import BANDAI, CMU, MIXAMO, SHAPELY, SMPL
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, skeleton_of, slide, walk

FIGURE = body_skeleton()
LIMBS = [f"{s}_{p}" for s in ("left", "right") for p in ("upper_arm", "forearm", "upper_leg", "lower_leg")]
NEXT = {"upper_arm": "forearm", "forearm": "hand", "upper_leg": "lower_leg", "lower_leg": "foot"}


def directions(motion: Motion) -> np.ndarray:
    """Return the directions of the limbs' bones, (F, L, 3)."""
    positions, roles = motion.world().positions, motion.skeleton.roles
    out = []
    for role in LIMBS:
        side, part = role.split("_", 1)
        bone = positions[:, roles[f"{side}_{NEXT[part]}"]] - positions[:, roles[role]]
        out.append(bone / np.linalg.norm(bone, axis=1, keepdims=True))
    return np.stack(out, axis=1)


def test_onto_itself_nothing_changes():
    motion = walk()
    result = retarget(motion, motion.skeleton)
    assert same(result, motion, 1e-9)
    assert same_notes(result, motion)
    assert last_step(result)["scale"] == 1.0


@pytest.mark.parametrize("rig", SHAPELY, ids=lambda rig: rig.label)
def test_limbs_point_where_the_sources_do(rig):
    motion = walk()
    body = skeleton_of(rig)
    result = retarget(motion, body, feet=None)
    assert result.skeleton is body
    assert keeps_bones(result)
    assert np.abs(directions(result) - directions(motion)).max() < 1e-6
    assert result.labels == motion.labels


@pytest.mark.parametrize("rig", [MIXAMO, CMU, SMPL], ids=lambda rig: rig.label)
def test_there_and_back_again(rig):
    motion = walk()
    there = retarget(motion, skeleton_of(rig), feet=None)
    back = retarget(there, FIGURE, feet=None)
    roles = motion.skeleton.roles
    turned = quat.angle_between(back.world().rotations, motion.world().rotations)
    assert turned[:, [roles[role] for role in (*LIMBS, "hips", "head", "chest")]].max() < 1e-6
    assert np.abs(back.travel - motion.travel).max() < 1e-4


def test_the_path_is_scaled_by_leg_length_and_soles_stay_on_the_floor():
    motion = walk()
    small = replace(FIGURE, offsets=FIGURE.offsets * 0.5)
    result = retarget(motion, small, feet=None)
    assert last_step(result)["scale"] == pytest.approx(0.5)
    assert np.allclose(result.world().positions, 0.5 * motion.world().positions, atol=1e-9)
    assert np.array_equal(result.contacts.mask, motion.contacts.mask)
    assert slide(result) < 1e-6


def test_spines_of_other_lengths_divide_the_bend():
    motion = walk()
    bent = motion.rotations.copy()
    spine = motion.skeleton.roles.spine
    for joint in spine:
        bent[:, joint] = quat.mul(bent[:, joint], quat.exp(np.array([0.2, 0.0, 0.0])))
    motion = replace(motion, rotations=bent)
    for rig in (CMU, SMPL, MIXAMO):
        result = retarget(motion, skeleton_of(rig), feet=None)
        ours, theirs = (
            quat.angle_between(
                m.world().rotations[:, m.skeleton.roles["hips"]], m.world().rotations[:, m.skeleton.roles["chest"]]
            )
            for m in (motion, result)
        )
        assert np.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("rig", [MIXAMO, CMU], ids=lambda rig: rig.label)
def test_feet_are_planted_again(rig):
    motion = walk()
    result = retarget(motion, skeleton_of(rig))
    assert result.contacts.names == motion.contacts.names
    assert np.array_equal(result.contacts.mask, motion.contacts.mask)
    assert slide(result) < (1e-5 if last_step(result)["replanted"] else 0.05)
    from marey.clean import point_paths

    heights = point_paths(result, result.contacts.points)[..., 1][result.contacts.mask]
    assert np.abs(heights).max() < 0.03


def clapping() -> Motion:
    """Make a motion whose hands meet in front of the body and separate again."""
    from marey.edit import MoveKey, warp

    motion = walk()[:60]
    hips = motion.travel[30]
    keys = [
        MoveKey(f"{side}_hand", 0.5, target=hips + np.array([0.04 * sign, 0.25, 0.35]))
        for side, sign in (("left", 1.0), ("right", -1.0))
    ]
    return warp(motion, keys, ease=0.4)


@pytest.mark.parametrize("rig", [MIXAMO, CMU], ids=lambda rig: rig.label)
def test_hands_stay_together(rig):
    motion = clapping()
    loose, kept = (retarget(motion, skeleton_of(rig), hands=how, feet=None) for how in (None, "together"))
    gaps = []
    for m in (motion, loose, kept):
        roles, positions = m.skeleton.roles, m.world().positions[30]
        gaps.append(float(np.linalg.norm(positions[roles["left_hand"]] - positions[roles["right_hand"]])))
    scale = last_step(kept)["scale"]
    assert gaps[2] == pytest.approx(scale * gaps[0], abs=1e-6)
    assert abs(gaps[1] - scale * gaps[0]) > 0.005
    assert max(last_step(kept)["residue"].values()) < 1e-6
    assert keeps_bones(kept)


def test_hands_are_put_in_their_places():
    motion = clapping()
    result = retarget(motion, skeleton_of(MIXAMO), hands="targets", feet=None)
    scale = last_step(result)["scale"]
    for role in ("left_hand", "right_hand"):
        wanted = scale * motion.world().positions[:, motion.skeleton.roles[role]]
        apart = np.linalg.norm(result.world().positions[:, result.skeleton.roles[role]] - wanted, axis=1)
        assert apart.max() <= last_step(result)["residue"][role] + 1e-9


# --- The map


def test_a_saved_map_does_the_same(tmp_path):
    motion = walk()
    known = RetargetMap.build(motion, skeleton_of(MIXAMO))
    known.save(tmp_path / "map.json")
    again = RetargetMap.load(tmp_path / "map.json")
    assert json.loads((tmp_path / "map.json").read_text())["format"] == "marey.retarget"
    assert same(retarget(motion, again, feet=None), retarget(motion, known, feet=None))
    other = sample("walk", seconds=1.0, speed=1.6).motion
    assert len(retarget(other, again, feet=None)) == len(other)


def test_a_map_for_another_skeleton_is_refused():
    known = RetargetMap.build(skeleton_of(MIXAMO), FIGURE)
    with pytest.raises(InvalidValue, match=r"than that of 'walk'; build a map for this one"):
        retarget(walk(), known)
    with pytest.raises(
        InvalidValue, match="the map already includes its reference poses; leave out `pose=` and `target_pose=`"
    ):
        retarget(walk(), RetargetMap.build(FIGURE, FIGURE), pose=3)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("{", ParseError, "not valid JSON"),
        ("[]", ParseError, 'expected a retarget map, a JSON object with "format": "marey.retarget"'),
        (
            '{"format": "marey.retarget", "version": 9}',
            UnknownVersion,
            "the file has format version 9, but this version of marey reads 1; update marey",
        ),
        ('{"format": "marey.retarget", "version": 1}', ParseError, "not a valid retarget map .'source' is missing"),
    ],
)
def test_invalid_map_files(tmp_path, text, error, message):
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(error, match=message):
        RetargetMap.load(tmp_path / "map.json")


# --- Bad input


def test_skeletons_without_legs_are_refused():
    stick = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0.0, 1, 0]]))
    with pytest.raises(JointNotFound, match="role 'hips' was not found"):
        retarget(walk(), stick)
    legless = Skeleton(FIGURE.names[:7], FIGURE.parents[:7], FIGURE.offsets[:7], {"hips": "Hips"})
    with pytest.raises(JointNotFound, match="left_upper_leg|left_foot"):
        retarget(walk(), legless)


def test_a_rest_pose_that_is_not_a_pose_is_refused():
    with pytest.raises(
        InvalidValue,
        match=r"so rotations cannot be compared with it; pass `target_pose=`, a frame in which",
    ):
        retarget(walk(), skeleton_of(BANDAI))
    with pytest.raises(InvalidValue, match="the target must be a motion to choose a reference frame, not a skeleton"):
        retarget(walk(), FIGURE, target_pose=0)
    with pytest.raises(InvalidValue, match="hands must be 'together', 'targets' or None, not 'free'"):
        retarget(walk(), FIGURE, hands="free")


def test_points_without_a_counterpart_are_dropped_with_a_note():
    motion = walk()
    end = motion.skeleton.index("HeadEnd")
    contacts = Contacts(
        (*motion.contacts.points, ContactPoint("crown", end, np.zeros(3))), np.zeros((len(motion), 5), bool)
    )
    with pytest.warns(MareyWarning, match="contact point 'crown' was dropped"):
        result = retarget(replace(motion, contacts=contacts), skeleton_of(SMPL), feet=None)
    assert result.contacts.names == motion.contacts.names


def test_single_frames():
    result = retarget(walk()[3], skeleton_of(MIXAMO), feet=None)
    assert len(result) == 1
    assert np.isfinite(result.rotations).all()


# --- Recorded motion


def test_a_recorded_walk_on_the_sample_body_and_back(data_folder):
    motion = marey.detect_contacts(marey.load(data_folder / "cmu" / "016" / "16_15.bvh"))
    there = retarget(motion, FIGURE, feet=None)
    assert np.abs(directions(there) - directions(motion)).max() < 1e-6
    back = retarget(there, motion.skeleton, feet=None)
    roles = motion.skeleton.roles
    turned = quat.angle_between(back.world().rotations, motion.world().rotations)
    assert turned[:, [roles[role] for role in (*LIMBS, "hips", "head", "chest")]].max() < 1e-6
    assert np.abs(back.travel - motion.travel).max() < 1e-4


def test_rigs_without_a_rest_pose_take_a_frame(data_folder):
    motion = marey.load(data_folder / "bandai-namco" / "dataset-2_walk_normal_001.bvh")
    assert same(retarget(motion, motion, pose=0, target_pose=0), motion, 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MareyWarning)
        result = retarget(motion, FIGURE, pose=0, feet=None)
        onto = retarget(walk(), motion, target_pose=0, feet=None)
    assert np.abs(directions(result) - directions(motion)).max() < 1e-6
    assert np.abs(directions(onto) - directions(walk())).max() < 1e-6
