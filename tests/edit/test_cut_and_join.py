"""Crop, cycle, connect and de-seam."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.clean import point_paths
from marey.core import Label, Skeleton
from marey.edit import connect, crop, cycle, deseam, mirror, resample, retarget
from marey.errors import InvalidValue, MareyWarning
from marey.maths import quat, rigid2d
from marey.samples import sample
from tests.core.skeletons import MIXAMO
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, skeleton_of, slide, walk


def jerkiness(motion, frame, around=2):
    """Return the largest second difference of any joint's position near a frame, in meters."""
    positions = motion.world().positions
    return np.abs(np.diff(positions, 2, axis=0))[frame - around - 1 : frame + around].max()


def usual(motion):
    return np.abs(np.diff(motion.world().positions, 2, axis=0)).max()


# --- Crop


def test_crop_takes_frames_with_their_notes():
    motion = walk()
    result = crop(motion, 20, 90)
    assert same(result, motion[20:90])
    assert same_notes(result, motion[20:90])
    assert Label("left_part", 0, 30) in result.labels.items
    assert last_step(result) == {"op": "crop", "start": 20, "stop": 90, "of": len(motion)}
    assert same(crop(motion), motion)


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (5, 5), (9, 4), (0, 1000), (1000, None)])
def test_crop_refuses_frames_that_are_not_there(start, stop):
    with pytest.raises(InvalidValue, match=r"0 <= start < stop <= 181 of 'walk', not"):
        crop(walk(), start, stop)
    with pytest.raises(InvalidValue, match="start must be an integer, not 0.5"):
        crop(walk(), 0.5, 10)


# --- Cycle


def test_a_cycle_closes():
    motion = walk(4.0)
    result = cycle(motion, 20, 90, repeats=3, feet=None)
    assert len(result) == 3 * 70
    assert keeps_bones(result)
    # Every cycle is the one before, moved by the travel.
    travel = np.array(last_step(result)["travel"])
    assert same(result[:70].moved(travel), result[70:140], 1e-9)
    for seam in (70, 140):
        assert jerkiness(result, seam) < 1.5 * usual(motion)
    assert result.contacts.mask[:70].tolist() == result.contacts.mask[70:140].tolist()
    assert [x for x in result.labels if x.name == "left_part"] == [
        Label("left_part", 0, 30),
        Label("left_part", 70, 100),
        Label("left_part", 140, 170),
    ]


def test_a_perfect_stride_hardly_changes():
    from marey.samples import straight_walk

    motion = straight_walk(seconds=4.0)
    heel = motion.contacts.intervals("left_heel")
    start, stop = heel[1][0], heel[2][0]
    result = cycle(motion, start, stop, feet=None)
    assert np.abs(result.world().positions - motion[start:stop].world().positions).max() < 0.03


def test_a_turning_motion_keeps_turning():
    motion = walk(4.0, 0.8)
    result = cycle(motion, 30, 100, repeats=4)
    path = result.travel[:, [0, 2]]
    steps = np.diff(path, axis=0)
    heading = np.unwrap(np.arctan2(steps[:, 0], steps[:, 1]))
    assert heading[-1] - heading[0] == pytest.approx(0.8 * 280 / 60, abs=0.5)
    assert np.ptp(result.travel[:, 1]) < 0.12


@pytest.mark.parametrize(
    ("start", "stop", "repeats", "message"),
    [
        (0, 181, 1, "`stop=` must be at most frame 180 of 'walk', not 181; it is the frame that closes the loop"),
        (10, 12, 1, "start and stop must be at least 4 frames apart, not 2"),
        (10, 60, 0, "repeats must be at least 1, not 0"),
    ],
)
def test_cycles_that_cannot_be(start, stop, repeats, message):
    with pytest.raises(InvalidValue, match=message):
        cycle(walk(), start, stop, repeats=repeats)


def test_a_single_frame_has_no_cycle():
    with pytest.raises(
        InvalidValue,
        match=r"a loop needs at least 0.4 s, but only 0.00 s are available; use a longer range, or pass both",
    ):
        cycle(walk()[3])
    with pytest.raises(InvalidValue, match="start must be at most frame 180 of 'walk', not 500"):
        cycle(walk(), 500)
    with pytest.raises(
        InvalidValue,
        match=r"a loop needs at least 0.4 s, but only 0.08 s are available; use a longer range, or pass both",
    ):
        cycle(walk(), 175)


@pytest.mark.parametrize("name", ["walk", "run"])
def test_the_best_loop_is_one_stride(name):
    result = sample(name, seconds=6.0)
    motion, phase = result.motion, result.phase
    step = last_step(cycle(motion, feet=None))
    assert phase[step["stop"]] - phase[step["start"]] == pytest.approx(1.0, abs=0.05)


def test_a_loop_is_looked_for_from_a_given_frame():
    motion = walk(6.0, 0.0)
    stride = last_step(cycle(motion))
    length = stride["stop"] - stride["start"]
    from_here = last_step(cycle(motion, 40))
    assert from_here["start"] == 40
    assert (from_here["stop"] - 40) / length == pytest.approx(round((from_here["stop"] - 40) / length), abs=0.06)
    to_here = last_step(cycle(motion, stop=300))
    assert to_here["stop"] == 300
    assert ((300 - to_here["start"]) / length) == pytest.approx(round((300 - to_here["start"]) / length), abs=0.06)


def test_a_long_motion_is_searched_coarsely_and_then_finely():
    motion = sample("walk", seconds=40.0).motion
    assert len(motion) > 1500
    step = last_step(cycle(motion, feet=None))
    assert 60 <= step["stop"] - step["start"] <= 72
    assert step["seam"]["position"] < 1.5 * step["seam"]["usual_position"]


@pytest.mark.parametrize("name", ["walk", "run", "hop", "stand", "kick"])
def test_feet_hold_over_the_seam(name):
    result = cycle(sample(name).motion, repeats=3)
    step = last_step(result)
    assert step["replanted"]
    assert slide(result) < 1e-6
    n = len(result) // 3
    assert same(result[:n].moved(step["travel"]), result[n : 2 * n], 1e-9)
    seam = step["seam"]
    assert seam["position"] < max(1.5 * seam["usual_position"], 1e-3)
    assert seam["velocity"] < max(1.5 * seam["usual_velocity"], 0.1)
    assert seam["position"] < seam["position_before"]


def test_standing_on_one_foot_does_not_drift():
    step = last_step(cycle(sample("kick").motion, repeats=2))
    assert step["travel"] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("clip", ["16_15", "16_21", "16_35", "16_45"])
def test_loops_of_real_walks_and_runs(clip, data_folder):
    motion = marey.load(data_folder / "cmu" / "016" / f"{clip}.bvh")
    result = cycle(motion, repeats=3)
    step = last_step(result)
    rate = marey.measure(motion)["stride_rate"].value
    assert (step["stop"] - step["start"]) / motion.fps == pytest.approx(1.0 / rate, rel=0.08)
    assert slide(result) < 1e-6
    seam = step["seam"]
    assert seam["position"] < seam["usual_position"]
    assert seam["velocity"] < seam["usual_velocity"]


@pytest.mark.parametrize(
    ("clip", "turn"), [("16_11", 36.0), ("16_13", -50.0), ("16_23", 34.0), ("16_25", -37.0), ("16_37", 27.0)]
)
def test_a_veering_walk_gives_a_loop_that_veers(clip, turn, data_folder):
    motion = marey.load(data_folder / "cmu" / "016" / f"{clip}.bvh")
    step = last_step(cycle(motion))
    seconds = (step["stop"] - step["start"]) / motion.fps
    mean = np.radians(turn) / motion.duration
    assert step["travel"][0] / seconds / mean > 1.0
    assert seconds < 1.5  # one stride


def test_a_walk_that_turns_once_gives_a_straight_loop():
    straight = sample("walk", seconds=8.0).motion
    turn = sample("walk", seconds=3.0, turn_rate=0.6).motion
    motion = marey.edit.connect(straight, turn)
    step = last_step(cycle(motion, feet=None))
    assert abs(step["travel"][0]) < 0.1


# --- Connect


def test_connect_keeps_both_and_fills_smoothly():
    motion = walk()
    other = mirror(motion)[40:]
    result = connect(motion, other, gap=0.5, feet=None)
    n, gap = len(motion), 29
    assert len(result) == n + gap + len(other)
    assert same(result[:n], motion)
    aligned = np.array(last_step(result)["aligned"])
    assert same(result[n + gap :], other.moved(aligned), 1e-9)
    assert keeps_bones(result)
    for seam in (n, n + gap):
        assert jerkiness(result, seam) < 1.5 * usual(motion)
    speed = np.linalg.norm(np.diff(result.travel[:, [0, 2]], axis=0), axis=1) * result.fps
    assert speed[n - 1 : n + gap].min() > 0.6 * speed[:n].mean()


def test_connect_joins_contacts_and_labels():
    motion = walk()
    result = connect(motion, motion, gap=0.5, feet=None)
    n, gap = len(motion), 29
    assert np.array_equal(result.contacts.mask[:n], motion.contacts.mask)
    assert not result.contacts.mask[n : n + gap].any()
    assert np.array_equal(result.contacts.mask[n + gap :], motion.contacts.mask)
    assert Label("left_part", 10 + n + gap, 50 + n + gap) in result.labels.items
    bare = connect(replace(motion, contacts=None), motion, gap=0.5, feet=None)
    assert not bare.contacts.mask[: n + gap].any()


def test_connect_without_alignment_leaves_the_second_in_place():
    motion = walk()
    other = motion.moved((1.0, 2.0, 3.0))
    result = connect(motion, other, gap=1.0, align=False)
    assert same(result[-len(other) :], other, 1e-12)
    assert last_step(result)["aligned"] is None


def test_connect_of_a_motion_cut_in_two_is_nearly_the_motion():
    motion = walk(3.0, 0.0)
    result = connect(motion[:60], motion[64:], gap=4 / 60 + 1 / 60, align=True)
    assert np.abs(result.world().positions - motion.world().positions).max() < 0.03


def test_still_single_frames_are_connected_by_an_eased_slerp():
    a, b = walk()[10], walk()[40]
    result = connect(a, b, gap=1.0, align=False, feet=None)
    assert len(result) == 61
    assert quat.angle_between(result.rotations[30], quat.slerp(a.rotations[0], b.rotations[0], 0.5)).max() < 1e-6


def test_feet_next_to_the_gap_are_planted_and_the_rest_stays():
    motion = walk(4.0)
    first, second = motion[:120], walk(4.0, -0.2)[25:]
    plain, result = (connect(first, second, gap=0.3, feet=feet) for feet in (None, "clean"))
    start, stop = last_step(result)["start"], last_step(result)["stop"]
    assert last_step(result)["replanted"]
    assert not last_step(plain)["replanted"]
    paths = point_paths(result, result.contacts.points)
    assert paths[start:stop, :, 1].min() > -1e-4  # interpolation alone goes through the floor
    assert point_paths(plain, plain.contacts.points)[start:stop, :, 1].min() < -0.01
    assert slide(result) < 1e-6
    moved = np.abs(result.world().positions - plain.world().positions).max(axis=(1, 2))
    changed = np.flatnonzero(moved > 0.0)
    assert 0 < changed[0] < start
    assert stop < changed[-1] < len(result) - 30
    assert np.array_equal(result.rotations[: changed[0]], plain.rotations[: changed[0]])


def test_a_foot_planted_on_both_sides_stays_planted_in_the_gap():
    motion = sample("stand").motion
    result = connect(motion[:100], motion[115:], gap=0.25)
    start, stop = last_step(result)["start"], last_step(result)["stop"]
    assert result.contacts.mask[start:stop].all()
    assert slide(result) < 1e-6


def test_a_motion_without_feet_is_connected_all_the_same():
    motion = walk()
    legs = [j for j, name in enumerate(motion.skeleton.names) if any(x in name for x in ("Leg", "Foot", "Toe"))]
    keep = [j for j in range(len(motion.skeleton)) if j not in legs]
    parents = [-1 if j == 0 else keep.index(motion.skeleton.parents[j]) for j in keep]
    body = Skeleton([motion.skeleton.names[j] for j in keep], parents, motion.skeleton.offsets[keep])
    assert "left_foot" not in body.roles
    torso = replace(motion, skeleton=body, rotations=motion.rotations[:, keep], contacts=None)
    with pytest.warns(MareyWarning, match="feet were not replanted"):
        result = connect(torso[:60], torso[70:], gap=0.2)
    assert np.isfinite(result.world().positions).all()
    assert not last_step(result)["replanted"]


def test_connect_refuses_what_does_not_fit():
    motion = walk()
    with pytest.raises(
        InvalidValue, match="connect needs clips with the same frame rate, got 60 and 30 Hz; resample one first"
    ):
        connect(motion, resample(motion, 30))
    other = retarget(motion, skeleton_of(MIXAMO), feet=None)
    with pytest.raises(
        InvalidValue,
        match="connect needs motions that share a skeleton, but they have different skeletons: only the first",
    ):
        connect(motion, other)
    taller = replace(motion, skeleton=replace(motion.skeleton, offsets=motion.skeleton.offsets * 1.1))
    with pytest.raises(InvalidValue, match=r"offsets differ at .* by 4.\d cm.*; retarget them onto one skeleton first"):
        connect(motion, taller)
    with pytest.raises(InvalidValue, match="gap must be from 0 to 3600 seconds, not -1"):
        connect(motion, motion, gap=-1)


# --- De-seam


def seamed():
    """Make a walk that jumps to another phase at frame 80."""
    motion = walk()
    return connect(motion[:80], motion[110:].moved((0.2, 0.1, 0.0)), gap=0.0)


def test_a_seam_is_gone_and_the_past_untouched():
    motion = seamed()
    before = jerkiness(motion, 80)
    for result in (deseam(motion, 80), deseam(motion, 80, half_life=0.15), deseam(motion, 80, seconds=20 / 60)):
        assert same(result[:80], motion[:80])
        assert keeps_bones(result)
        assert jerkiness(result, 80) < 0.3 * before


def test_a_decayed_offset_ends_after_n_frames():
    motion = seamed()
    result = deseam(motion, 80, seconds=0.25)
    assert same(result[95:], motion[95:])
    assert not same(result[80:95], motion[80:95], 1e-3)


def test_inertia_starts_with_the_old_velocity():
    motion = seamed()
    result = deseam(motion, 80, half_life=0.1)
    steps = quat.log(quat.inv_mul(result.rotations[:-1], result.rotations[1:]))
    # The step across the seam is the step before it, which to first order equals the next; what does not jump stays.
    before = quat.log(quat.inv_mul(motion.rotations[:-1], motion.rotations[1:]))
    jumps = np.linalg.norm(before[79] - before[78], axis=1) > 0.08
    assert jumps.sum() >= 4
    assert np.abs(steps[79] - steps[78])[jumps].max() < 1e-3
    assert np.abs(steps[80] - steps[79])[jumps].max() < 0.05
    assert same(result[-1], motion[-1], 0.02)


def test_the_spring_halves_an_offset_at_rest():
    from marey.edit.deseam import _decay_spring

    t = np.linspace(0.0, 1.0, 101)
    left = _decay_spring(t, 0.1, np.ones(1), np.zeros(1))[:, 0]
    # A critically damped spring lags a little behind plain decay: (1 + y t) exp(-y t).
    y = 2 * np.log(2) / 0.1
    assert np.allclose(left, (1 + y * t) * np.exp(-y * t))
    assert left[30] < 0.1
    assert (np.diff(left) <= 0).all()


@pytest.mark.parametrize("at", [1, 2, 30, 80, 123, 179, 180])
@pytest.mark.parametrize("how", [{}, {"seconds": 0.2}])
def test_without_a_seam_nothing_is_done(at, how):
    motion = walk()
    result = deseam(motion, at, **how)
    assert same(result, motion)
    assert same_notes(result, motion)
    assert (last_step(result)["jump"], last_step(result)["jump_turn"]) == (0.0, 0.0)


def test_a_real_walk_is_left_alone_where_it_does_not_jump(data_folder):
    motion = marey.load(data_folder / "cmu" / "016" / "16_15.bvh")
    apart = [np.abs(deseam(motion, at).world().positions - motion.world().positions).max() for at in range(1, 471, 47)]
    assert np.median(apart) == 0.0
    assert max(apart) < 0.01


def test_one_joint_that_jumps_takes_no_other_along():
    motion = walk()
    rotations = motion.rotations.copy()
    arm = motion.skeleton.roles["left_upper_arm"]
    rotations[80:, arm] = quat.mul(rotations[80:, arm], quat.from_axis_angle([0.0, 0.0, 1.0], 0.4))
    result = deseam(replace(motion, rotations=rotations), 80, seconds=20 / 60)
    others = [j for j in range(len(motion.skeleton)) if j != arm]
    assert np.array_equal(result.rotations[:, others], motion.rotations[:, others])
    assert last_step(result)["jump_turn"] == pytest.approx(0.4, abs=0.02)
    assert quat.angle_between(result.rotations[80, arm], motion.rotations[80, arm]) < 0.02


def test_frames_are_converted_to_seconds_with_a_warning():
    motion = seamed()
    with pytest.warns(DeprecationWarning, match=r"deseam\(frames=\) is deprecated, use seconds="):
        old = deseam(motion, 80, frames=15)
    with pytest.warns(DeprecationWarning, match=r"deseam\(at=\) is deprecated, use frame="):
        assert same(old, deseam(motion, at=80, seconds=0.25))


def test_contacts_that_the_offset_drags_are_dropped():
    motion = seamed()
    result = deseam(motion, 80, half_life=0.2)
    assert np.array_equal(result.contacts.mask[:80], motion.contacts.mask[:80])
    assert not (result.contacts.mask & ~motion.contacts.mask).any()
    assert result.contacts.mask.sum() < motion.contacts.mask.sum()


def test_seams_that_are_none():
    motion = walk()
    with pytest.raises(InvalidValue, match="must have at least 2 frames to have a seam, not 1"):
        deseam(motion[:1], 1)
    with pytest.raises(InvalidValue, match="frame must be from 1 to 180, not 0"):
        deseam(motion, 0)
    with pytest.raises(InvalidValue, match="give `seconds=` or `half_life=`, not both"):
        deseam(motion, 5, seconds=0.1, half_life=0.1)
    with pytest.raises(InvalidValue, match="seconds must be greater than 0 seconds, not 0"):
        deseam(motion, 5, seconds=0)
    with pytest.raises(InvalidValue, match="half_life must be greater than 0 seconds, not 0"):
        deseam(motion, 5, half_life=0)


def test_steps_are_recorded():
    motion = walk()
    message = {"op": "deseam", "at": 80, "method": "decay", "seconds": 0.1}
    assert message.items() <= last_step(deseam(motion, 80, seconds=0.1)).items()
    step = last_step(connect(motion, motion, gap=0.25))
    assert (step["op"], step["gap"], step["start"], step["stop"]) == ("connect", 0.25, 181, 195)
    assert rigid2d.identity().shape == np.shape(step["aligned"])
