"""Crop, cycle, connect and de-seam."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.core import Label
from marey.edit import connect, crop, cycle, deseam, mirror, resample, retarget
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from tests.core.skeletons import MIXAMO
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, skeleton_of, walk


def jerkiness(motion, frame, around=2):
    """The largest second difference of any joint's position near a frame, metres."""
    positions = motion.world().positions
    return np.abs(np.diff(positions, 2, axis=0))[frame - around - 1 : frame + around].max()


def usual(motion):
    return np.abs(np.diff(motion.world().positions, 2, axis=0)).max()


# --- Crop


def test_crop_takes_frames_with_their_notes():
    motion = walk()
    made = crop(motion, 20, 90)
    assert same(made, motion[20:90])
    assert same_notes(made, motion[20:90])
    assert Label("left_part", 0, 30) in made.labels.items
    assert last_step(made) == {"op": "crop", "start": 20, "stop": 90, "of": len(motion)}
    assert same(crop(motion), motion)


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (5, 5), (9, 4), (0, 1000), (1000, None)])
def test_crop_refuses_frames_that_are_not_there(start, stop):
    with pytest.raises(InvalidValue, match=r"0 <= start < stop <= 181, got"):
        crop(walk(), start, stop)
    with pytest.raises(InvalidValue, match="start must be an integer, got 0.5"):
        crop(walk(), 0.5, 10)


# --- Cycle


def test_a_cycle_closes():
    motion = walk(4.0)
    made = cycle(motion, 20, 90, repeats=3)
    assert len(made) == 3 * 70
    assert keeps_bones(made)
    # Every cycle is the one before, carried on.
    travel = np.array(last_step(made)["travel"])
    assert same(made[:70].moved(travel), made[70:140], 1e-9)
    for seam in (70, 140):
        assert jerkiness(made, seam) < 1.5 * usual(motion)
    assert made.contacts.mask[:70].tolist() == made.contacts.mask[70:140].tolist()
    assert [x for x in made.labels if x.name == "left_part"] == [
        Label("left_part", 0, 30),
        Label("left_part", 70, 100),
        Label("left_part", 140, 170),
    ]


def test_a_perfect_stride_hardly_changes():
    from marey.samples import straight_walk

    motion = straight_walk(seconds=4.0)
    heel = motion.contacts.intervals("left_heel")
    start, stop = heel[1][0], heel[2][0]
    made = cycle(motion, start, stop)
    assert np.abs(made.world().positions - motion[start:stop].world().positions).max() < 0.03


def test_what_turns_goes_on_turning():
    motion = walk(4.0, 0.8)
    made = cycle(motion, 30, 100, repeats=4)
    path = made.travel[:, [0, 2]]
    steps = np.diff(path, axis=0)
    heading = np.unwrap(np.arctan2(steps[:, 0], steps[:, 1]))
    assert heading[-1] - heading[0] == pytest.approx(0.8 * 280 / 60, abs=0.5)
    assert np.ptp(made.travel[:, 1]) < 0.12


@pytest.mark.parametrize(
    ("start", "stop", "repeats", "told"),
    [
        (0, 181, 1, "frame stop is the other face of the seam and must exist: at most 180, got 181"),
        (10, 12, 1, "at least 4 frames from start to stop, got 2"),
        (10, 60, 0, "at least 1 cycle, got repeats=0"),
    ],
)
def test_cycles_that_cannot_be(start, stop, repeats, told):
    with pytest.raises(InvalidValue, match=told):
        cycle(walk(), start, stop, repeats=repeats)


def test_a_single_frame_has_no_cycle():
    with pytest.raises(InvalidValue, match="start and stop must be frames"):
        cycle(walk()[3])


# --- Connect


def test_connect_keeps_both_and_fills_smoothly():
    motion = walk()
    other = mirror(motion)[40:]
    made = connect(motion, other, gap=0.5)
    n, gap = len(motion), 29
    assert len(made) == n + gap + len(other)
    assert same(made[:n], motion)
    aligned = np.array(last_step(made)["aligned"])
    assert same(made[n + gap :], other.moved(aligned), 1e-9)
    assert keeps_bones(made)
    for seam in (n, n + gap):
        assert jerkiness(made, seam) < 1.5 * usual(motion)
    speed = np.linalg.norm(np.diff(made.travel[:, [0, 2]], axis=0), axis=1) * made.fps
    assert speed[n - 1 : n + gap].min() > 0.6 * speed[:n].mean()


def test_connect_joins_contacts_and_labels():
    motion = walk()
    made = connect(motion, motion, gap=0.5)
    n, gap = len(motion), 29
    assert np.array_equal(made.contacts.mask[:n], motion.contacts.mask)
    assert not made.contacts.mask[n : n + gap].any()
    assert np.array_equal(made.contacts.mask[n + gap :], motion.contacts.mask)
    assert Label("left_part", 10 + n + gap, 50 + n + gap) in made.labels.items
    bare = connect(replace(motion, contacts=None), motion, gap=0.5)
    assert not bare.contacts.mask[: n + gap].any()


def test_connect_without_alignment_leaves_the_second_in_place():
    motion = walk()
    other = motion.moved((1.0, 2.0, 3.0))
    made = connect(motion, other, gap=1.0, align=False)
    assert same(made[-len(other) :], other, 1e-12)
    assert last_step(made)["aligned"] is None


def test_connect_of_a_motion_cut_in_two_is_nearly_the_motion():
    motion = walk(3.0, 0.0)
    made = connect(motion[:60], motion[64:], gap=4 / 60 + 1 / 60, align=True)
    assert np.abs(made.world().positions - motion.world().positions).max() < 0.03


def test_still_single_frames_are_connected_by_an_eased_slerp():
    a, b = walk()[10], walk()[40]
    made = connect(a, b, gap=1.0, align=False)
    assert len(made) == 61
    assert quat.angle_between(made.rotations[30], quat.slerp(a.rotations[0], b.rotations[0], 0.5)).max() < 1e-6


def test_connect_refuses_what_does_not_fit():
    motion = walk()
    with pytest.raises(InvalidValue, match="connect needs one rate, got 60 and 30 Hz; resample one first"):
        connect(motion, resample(motion, 30))
    other = retarget(motion, skeleton_of(MIXAMO), replant=False)
    with pytest.raises(InvalidValue, match="connect needs motions of one skeleton.*retarget one of them first"):
        connect(motion, other)
    taller = replace(motion, skeleton=replace(motion.skeleton, offsets=motion.skeleton.offsets * 1.1))
    with pytest.raises(InvalidValue, match=r"bone offsets differ by 0.043 m; retarget one first"):
        connect(motion, taller)
    with pytest.raises(InvalidValue, match="gap in seconds must be a number of at least 0, got -1"):
        connect(motion, motion, gap=-1)


# --- De-seam


def seamed():
    """A walk that jumps to another phase at frame 80."""
    motion = walk()
    return connect(motion[:80], motion[110:].moved((0.2, 0.1, 0.0)), gap=0.0)


def test_a_seam_is_gone_and_the_past_untouched():
    motion = seamed()
    before = jerkiness(motion, 80)
    for made in (deseam(motion, 80), deseam(motion, 80, half_life=0.15), deseam(motion, 80, frames=20)):
        assert same(made[:80], motion[:80])
        assert keeps_bones(made)
        assert jerkiness(made, 80) < 0.3 * before


def test_a_decayed_offset_ends_after_n_frames():
    motion = seamed()
    made = deseam(motion, 80, frames=15)
    assert same(made[95:], motion[95:])
    assert not same(made[80:95], motion[80:95], 1e-3)


def test_inertia_starts_with_the_old_velocity():
    motion = seamed()
    made = deseam(motion, 80, half_life=0.1)
    steps = quat.log(quat.inv_mul(made.rotations[:-1], made.rotations[1:]))
    # The step over the seam is the step before it, and so to first order is the next.
    assert np.abs(steps[79] - steps[78]).max() < 1e-9
    assert np.abs(steps[80] - steps[79]).max() < 0.05
    assert same(made[-1], motion[-1], 0.02)


def test_the_spring_halves_what_is_at_rest():
    from marey.edit.deseam import _spring

    t = np.linspace(0.0, 1.0, 101)
    left = _spring(t, 0.1, np.ones(1), np.zeros(1))[:, 0]
    # A critically damped spring lags a little behind plain decay: (1 + y t) exp(-y t).
    y = 2 * np.log(2) / 0.1
    assert np.allclose(left, (1 + y * t) * np.exp(-y * t))
    assert left[30] < 0.1
    assert (np.diff(left) <= 0).all()


def test_without_a_seam_there_is_little_to_do():
    motion = walk()
    moved = deseam(motion, 80).world().positions - motion.world().positions
    assert np.abs(moved).max() < 0.04


def test_contacts_that_the_offset_drags_are_not_kept():
    motion = seamed()
    made = deseam(motion, 80, half_life=0.2)
    assert np.array_equal(made.contacts.mask[:80], motion.contacts.mask[:80])
    assert not (made.contacts.mask & ~motion.contacts.mask).any()
    assert made.contacts.mask.sum() < motion.contacts.mask.sum()


def test_seams_that_are_none():
    motion = walk()
    with pytest.raises(InvalidValue, match="a seam lies before a frame from 1 to 180, got 0"):
        deseam(motion, 0)
    with pytest.raises(InvalidValue, match="got both; give one"):
        deseam(motion, 5, frames=3, half_life=0.1)
    with pytest.raises(InvalidValue, match="at least 1 frame to fade over, got 0"):
        deseam(motion, 5, frames=0)
    with pytest.raises(InvalidValue, match="half_life in seconds must be a number above 0, got 0"):
        deseam(motion, 5, half_life=0)


def test_steps_are_recorded():
    motion = walk()
    assert last_step(deseam(motion, 80, frames=5)) == {"op": "deseam", "at": 80, "method": "decay", "frames": 5}
    step = last_step(connect(motion, motion, gap=0.25))
    assert (step["op"], step["gap"], step["start"], step["stop"]) == ("connect", 0.25, 181, 195)
    assert rigid2d.identity().shape == np.shape(step["aligned"])
