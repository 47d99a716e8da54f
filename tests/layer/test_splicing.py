"""Splices: what stays unchanged, properties of the result, and the comparison with copied angles."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import marey.layer
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.errors import InvalidValue
from marey.io import load_motion, save
from marey.layer import align_motions, neck_deviation, phase_errors, splice, splice_naive, wobble
from marey.layer.halves import split_body
from marey.layer.steadiness import neck_path
from marey.maths import quat
from marey.samples import sample
from tests.tiers import mostly_slow


def apart(a, b):
    """Return the mean distance of joints in meters."""
    return float(np.linalg.norm(a.world().positions - b.world().positions, axis=-1).mean())


@pytest.fixture(scope="module")
def curve():
    return sample("walk", turn_rate=0.4).motion


@pytest.fixture(scope="module")
def carry():
    return sample("carry_box", rng=3).motion


@pytest.fixture(scope="module")
def made(curve, carry):
    return splice(curve, carry)


@pytest.mark.parametrize(
    "name", mostly_slow(["walk", "run", "stairs", "sneak", "turn_around"], "splices further clips", n_fast=2)
)
@pytest.mark.parametrize("posture", ["pitch", "full", None])
def test_a_clip_spliced_with_itself_is_itself(name, posture):
    clip = sample(name, rng=2).motion
    got = splice(clip, clip, posture=posture)
    assert np.abs(got.world().positions - clip.world().positions).max() <= 1e-4
    assert quat.angle_between(got.rotations, clip.rotations).max() <= np.radians(0.05)
    assert got.labels == clip.labels
    np.testing.assert_array_equal(got.contacts.mask, clip.contacts.mask)


@pytest.mark.parametrize("turn", mostly_slow([0.0, 0.3, -0.6, 1.0], "splices further curves", n_fast=1))
@pytest.mark.parametrize("seed", [0, 1])
def test_carrying_on_a_curve_is_near_the_truth(turn, seed):
    lower = sample("walk", turn_rate=turn, rng=seed).motion
    upper = sample("carry_box", rng=seed + 3).motion
    truth = sample("carry_box", turn_rate=turn, rng=seed).motion
    ours, naive = splice(lower, upper), splice_naive(lower, upper)
    assert apart(ours, truth) <= 0.02
    assert apart(naive, truth) >= 2.0 * apart(ours, truth)


def test_one_take_of_a_walk_on_another():
    lower, upper = sample("walk", rng=2).motion, sample("walk", rng=5).motion
    ours = apart(splice(lower, upper), lower)
    assert ours <= 0.02
    assert apart(splice_naive(lower, upper), lower) >= 2.0 * ours


def test_leaning_into_a_turn_survives_by_pitch_but_not_by_full_posture():
    lower = sample("walk", turn_rate=1.0, rng=1).motion
    upper, truth = sample("carry_box", rng=4).motion, sample("carry_box", turn_rate=1.0, rng=1).motion
    pitch, full = (apart(splice(lower, upper, posture=p), truth) for p in ("pitch", "full"))
    assert pitch < full


def test_posture_leans_back_with_the_load(curve, carry):
    bare, full = splice(curve, carry, posture=None), splice(curve, carry)
    turn = full.source.provenance[-1]["posture_turn"]
    assert turn[0] < -0.01
    assert turn[1] == turn[2] == 0.0
    assert neck_path(full)[:, 2].mean() < neck_path(bare)[:, 2].mean() - 0.003


def test_every_joint_except_the_attachment_is_from_its_source(curve, carry, made):
    halves = split_body(curve.skeleton)
    lower = ~halves.upper
    lower[halves.attachment] = False
    np.testing.assert_array_equal(made.rotations[:, lower], curve.rotations[:, lower])
    np.testing.assert_array_equal(made.root_positions, curve.root_positions)
    found = align_motions(curve, carry)
    first, _, fraction = found.frames()
    plain = fraction == 0.0
    want = carry.at(first[plain] / carry.fps).rotations[:, halves.upper]
    assert np.abs(np.abs(quat.dot(made.rotations[plain][:, halves.upper], want)) - 1.0).max() < 1e-12
    assert quat.angle_between(made.rotations[plain][:, halves.upper], want).max() < 1e-7


def test_hands_are_as_far_apart_as_in_the_source(curve, carry, made):
    roles = curve.skeleton.roles
    first, _, fraction = align_motions(curve, carry).frames()

    def hands(motion):
        at = motion.world().positions
        return np.linalg.norm(at[:, roles["left_hand"]] - at[:, roles["right_hand"]], axis=-1)

    changed = np.abs(hands(made) - hands(carry.at(first / carry.fps)))
    assert changed[fraction == 0.0].max() < 1e-9
    report = made.source.provenance[-1]["seams"]
    if report is not None:
        assert report["hands"] < 0.05
        assert report["angle"] < 0.5
        assert sum(stop - start for start, stop in report["frames"]) == (fraction > 0.0).sum()


def test_seams_are_reported_for_a_short_upper_clip(curve):
    short = sample("carry_box", rng=3, seconds=2.0).motion
    step = splice(curve, short).source.provenance[-1]
    assert step["loop"]["passes"] >= 2
    assert len(step["seams"]["frames"]) >= 2
    assert 0.0 < step["seams"]["angle"] < 0.5
    assert 0.0 <= step["seams"]["hands"] < 0.03


def test_walking_east_on_walking_west_faces_forward():
    walk = sample("walk").motion
    east, west = walk.moved((np.pi / 2, 0.0, 0.0)), walk.moved((-np.pi / 2, 3.0, 4.0))
    got = splice(west, east)
    assert apart(got, west) < 1e-6
    roles = walk.skeleton.roles
    at = got.world().positions
    across = [at[:, roles[f"left_{part}"]] - at[:, roles[f"right_{part}"]] for part in ("upper_arm", "upper_leg")]
    assert (np.sum(across[0] * across[1], axis=-1) > 0.0).all()


def test_where_the_upper_clip_was_recorded_makes_no_difference(curve, carry, made):
    again = splice(curve, carry.moved((2.1, -5.0, 7.0)))
    assert np.abs(again.world().positions - made.world().positions).max() < 1e-6


def test_the_neck_stays_nearer_to_the_lower_clips_than_with_copied_angles(curve):
    """A faster walk whose hips move differently: the effect on the neck of copying its angles."""
    walk = sample("walk", rng=7, speed=1.7).motion
    ours, aligned = splice(curve, walk), splice_naive(curve, walk, aligned=True)
    assert neck_deviation(ours, curve) <= 0.4 * neck_deviation(aligned, curve)


def test_wobble_is_the_energy_above_the_second_harmonic(curve):
    """A pelvis that shakes, below a trunk that shakes with it."""
    t = np.arange(len(curve)) / curve.fps
    joint = curve.skeleton.roles["spine"]
    for hertz, least, most in ((1.0, 0.0, 1e-7), (4.0, 1e-6, 1e-3)):
        rotations = curve.rotations.copy()
        shake = quat.exp(0.02 * np.sin(2 * np.pi * hertz * t)[:, None] * np.array([0.0, 0.0, 1.0]))
        rotations[:, joint] = quat.mul(rotations[:, joint], shake)
        shaken = dataclasses.replace(curve, rotations=rotations)
        assert least <= wobble(shaken, 0.93) <= most


def test_all_changes_are_smooth(curve, carry, made):
    halves = split_body(curve.skeleton)
    turning = quat.angle_between(made.rotations[1:], made.rotations[:-1])
    usual = max(float(quat.angle_between(clip.rotations[1:], clip.rotations[:-1]).max()) for clip in (curve, carry))
    assert turning.max() <= 2.5 * usual
    assert (quat.dot(made.rotations[1:, halves.attachment], made.rotations[:-1, halves.attachment]) > 0.0).all()


def test_contacts_of_feet_are_the_lower_clips_and_of_hands_the_upper_clips(curve):
    carry = sample("carry_box", rng=3, seconds=2.0).motion  # looped, so that contacts recur
    hand = curve.skeleton.roles["left_hand"]
    mask = np.zeros((len(carry), 1), dtype=bool)
    line = align_motions(curve, carry).timeline
    mask[: int(line.start) + 10] = True
    holding = dataclasses.replace(carry, contacts=Contacts((ContactPoint("left_wrist", hand, np.zeros(3)),), mask))
    got = splice(curve, holding)
    assert got.contacts.names == (*curve.contacts.names, "left_wrist")
    np.testing.assert_array_equal(got.contacts.mask[:, :-1], curve.contacts.mask)
    first, second, fraction = align_motions(curve, holding).frames()
    at = np.rint(np.where(fraction < 0.5, first, second)).astype(int)
    np.testing.assert_array_equal(got.contacts.mask[:, -1], mask[at, 0])
    plain = dataclasses.replace(curve, contacts=None)
    assert splice(plain, dataclasses.replace(carry, contacts=None)).contacts is None


def test_labels_are_united(curve, carry):
    lower = dataclasses.replace(curve, labels=Labels((Label("walk", 0, len(curve)), Label("turn", 10, 50))))
    upper = dataclasses.replace(carry, labels=Labels((Label("walk", 0, 200), Label("carry", 0, len(carry)))))
    got = splice(lower, upper).labels
    assert Label("walk", 0, len(curve)) in tuple(got)
    assert Label("turn", 10, 50) in tuple(got)
    assert got.mask("carry", len(curve)).all()
    assert sum(label.name == "walk" for label in got) == 1


def test_moving_bones_of_both_remain(curve, carry):
    bones = np.broadcast_to(curve.skeleton.offsets, (len(carry), *curve.skeleton.offsets.shape)).copy()
    forearm = curve.skeleton.roles["left_forearm"]
    bones[:, forearm] *= 1.01
    got = splice(curve, dataclasses.replace(carry, bone_offsets=bones))
    np.testing.assert_allclose(
        got.bone_offsets[:, forearm], 1.01 * np.tile(curve.skeleton.offsets[forearm], (len(got), 1))
    )
    foot = curve.skeleton.roles["left_foot"]
    np.testing.assert_array_equal(got.bone_offsets[5, foot], curve.skeleton.offsets[foot])


def test_naive_copies_every_angle_of_the_upper_body(curve, carry):
    halves = split_body(curve.skeleton)
    got = splice_naive(curve[:100], carry)
    np.testing.assert_allclose(got.rotations[:, halves.upper], carry.rotations[:100, halves.upper], atol=1e-12)
    np.testing.assert_allclose(
        got.rotations[:, halves.attachment], carry.rotations[:100, halves.attachment], atol=1e-12
    )


def test_naive_copying_needs_no_steps_and_then_holds_the_last_frame(curve):
    stand = sample("stand", seconds=2.0).motion
    halves = split_body(curve.skeleton)
    got = splice_naive(curve, stand)
    want = np.broadcast_to(stand.rotations[-1, halves.upper], got.rotations[len(stand) :, halves.upper].shape)
    np.testing.assert_allclose(got.rotations[len(stand) :, halves.upper], want, atol=1e-12)


def test_inputs_stay_as_they_are(curve, carry):
    before = [clip.rotations.copy() for clip in (curve, carry)]
    splice(curve, carry)
    for clip, rotations in zip((curve, carry), before, strict=True):
        np.testing.assert_array_equal(clip.rotations, rotations)


def test_provenance_describes_the_splice(made, carry):
    step = made.source.provenance[-1]
    assert step["op"] == "splice"
    assert step["align"] == "loop"
    assert step["posture"] == "pitch"
    assert 0.0 < step["distance"] < 0.05
    assert 0.0 <= min(step["start"], step["stop"]) <= max(step["start"], step["stop"]) <= carry.duration
    assert step["slopes"][0] > 0.3


def test_other_skeletons_and_other_times_are_refused(curve, carry):
    longer = dataclasses.replace(curve.skeleton, offsets=1.1 * curve.skeleton.offsets)
    with pytest.raises(
        InvalidValue, match="a splice needs motions that share a skeleton, but they have different proportions: offsets"
    ):
        splice(curve, dataclasses.replace(carry, skeleton=longer))
    found = align_motions(curve, carry)
    with pytest.raises(
        InvalidValue,
        match="times were computed for a lower clip of 361 frames and an upper clip of 361 frames, "
        "but the clips have 100 and 361; align these two clips",
    ):
        splice(curve[:100], carry, times=found)
    with pytest.raises(InvalidValue, match="posture must be 'pitch', 'full' or None"):
        splice(curve, carry, posture="upright")


def test_a_wobble_needs_strides():
    with pytest.raises(InvalidValue, match="has no strides to compare its wobble with"):
        wobble(sample("stand").motion)


def test_the_package_offers_its_names():
    for name in marey.layer.__all__:
        assert getattr(marey.layer, name) is not None
    assert "splice" in dir(marey.layer)
    with pytest.raises(AttributeError, match="attribute splise"):
        marey.layer.splise  # noqa: B018


def test_anything_but_a_motion_is_refused():
    walk = sample("walk", seconds=3.0).motion
    for call in (lambda: splice(walk, None), lambda: splice("walk.bvh", walk), lambda: splice_naive(walk, None)):
        with pytest.raises(InvalidValue, match=r"each motion of a splice must be a Motion, not (NoneType|str); load"):
            call()


def test_splicing_a_clip_with_a_pause_onto_itself_restores_it(tmp_path):
    """Standing frames are all alike: the position of a minimum among them is rounding, and means nothing."""
    save(sample("start_and_stop").motion, tmp_path / "clip.bvh")
    clip = load_motion(tmp_path / "clip.bvh")
    made = splice(clip, clip)
    assert np.linalg.norm(made.world().positions - clip.world().positions, axis=-1).max() < 1e-6
    assert np.degrees(quat.angle_between(made.rotations, clip.rotations)).max() < 1e-4


def test_the_first_splice_of_a_process_is_the_same_as_the_second(tmp_path):
    save(sample("start_and_stop").motion, tmp_path / "clip.bvh")
    code = (
        "import sys, numpy as np, marey\n"
        "clip = marey.load(sys.argv[1])\n"
        "a, b = marey.splice(clip, clip), marey.splice(clip, clip)\n"
        "sys.exit(0 if np.array_equal(a.rotations, b.rotations) else 3)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "clip.bvh")], check=False).returncode == 0


@pytest.mark.parametrize("rng", [0, 1, 2])
def test_a_box_is_carried_up_stairs_in_step(rng):
    """The climb is not part of a step: it must not outweigh the cost of the steps themselves."""
    stairs, carry = sample("stairs", rng=rng).motion, sample("carry_box", rng=rng).motion
    found = align_motions(stairs, carry)
    assert np.quantile(np.abs(phase_errors(stairs, carry, found)), 0.95) < 0.1
    assert found.distance < 0.15


def test_packages_need_no_import_of_their_own():
    code = "import marey; marey.layer.SpliceSet; [getattr(marey, name) for name in marey._PACKAGES]"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_another_skeleton_is_refused_with_a_remedy():
    walk = sample("walk", seconds=3.0).motion
    longer = dataclasses.replace(walk.skeleton, offsets=1.1 * walk.skeleton.offsets)
    with pytest.raises(InvalidValue, match=r"offsets differ at .*; retarget them onto one skeleton"):
        splice(walk, dataclasses.replace(walk, skeleton=longer))
