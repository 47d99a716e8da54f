"""Keyed displacements and timing."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marey
from marey.core import Label, Labels
from marey.core.placement import find_left_axis
from marey.edit import MoveKey, TurnKey, timewarp, warp
from marey.edit._splines import hermite, monotone_slopes
from marey.errors import InvalidValue, JointNotFound, MareyWarning, UnknownName
from marey.maths import quat
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, slide, walk
from tests.strategies import LAWS


def path_of(motion, role):
    return motion.world().positions[:, motion.skeleton.roles[role]]


def changed(a, b):
    """Return the frames in which anything differs."""
    differs = (a.rotations != b.rotations).any(axis=(1, 2)) | (a.root_positions != b.root_positions).any(axis=1)
    return np.flatnonzero(differs)


# --- The splines


def test_chords_that_are_next_to_nothing_are_level():
    x, y = np.arange(4.0), np.array([0.0, 1e-310, 1e-309, 1.0])
    slopes = monotone_slopes(x, y)
    assert np.isfinite(slopes).all()
    assert slopes[1] == 0.0


@pytest.mark.parametrize("continuity", [1, 2])
@LAWS
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=6), st.randoms(use_true_random=False))
def test_splines_meet_keys_and_are_smooth(continuity, values, random):
    x = np.cumsum([random.uniform(0.3, 2.0) for _ in values])
    y = np.array(values)[:, None]
    slopes = monotone_slopes(x, y)
    assert np.array_equal(hermite(x, y, slopes, x, continuity), y)
    h = 1e-5
    for derivative in range(1, continuity + 1):
        for key in x[1:-1]:
            sides = []
            for sign in (-1, 1):
                at = key + sign * h * np.arange(derivative + 1)
                f = hermite(x, y, slopes, at, continuity)[:, 0]
                sides.append((f[1] - f[0]) * sign / h if derivative == 1 else (f[2] - 2 * f[1] + f[0]) / h**2)
            assert sides[0] == pytest.approx(sides[1], abs=1e-2 if derivative == 1 else 0.2)


@LAWS
@given(st.lists(st.floats(-2, 2), min_size=3, max_size=6))
def test_a_cubic_never_overshoots(values):
    x = np.arange(len(values), dtype=float)
    y = np.array(values)
    fine = np.linspace(0, len(values) - 1, 301)
    curve = hermite(x, y, monotone_slopes(x, y), fine)
    low, high = np.minimum(y[:-1], y[1:]), np.maximum(y[:-1], y[1:])
    piece = np.minimum(fine.astype(int), len(values) - 2)
    assert (curve >= low[piece] - 1e-9).all()
    assert (curve <= high[piece] + 1e-9).all()


# --- Warps


@pytest.mark.parametrize("continuity", [1, 2])
def test_keys_of_nothing_change_nothing(continuity):
    motion = walk()
    keys = [
        MoveKey("left_hand", 1.0, offset=(0, 0, 0)),
        TurnKey("head", 1.5, (0, 0, 0)),
        MoveKey("hips", 2.0, (0, 0, 0)),
    ]
    result = warp(motion, keys, continuity=continuity)
    assert same(result, motion)
    assert same_notes(result, motion)
    assert last_step(result)["op"] == "warp"


@pytest.mark.parametrize("continuity", [1, 2])
@pytest.mark.parametrize("role", ["left_hand", "right_hand", "left_foot", "right_foot"])
@pytest.mark.parametrize("orientation", [None, "world", "limb"])
def test_an_end_effector_meets_its_key_and_the_rest_is_untouched(role, orientation, continuity):
    motion = walk()
    frame = int(np.argmax(path_of(motion, role)[40:140, 1])) + 40
    hip = f"{role.split('_')[0]}_{'upper_arm' if role.endswith('hand') else 'upper_leg'}"
    inwards = path_of(motion, hip)[frame] - path_of(motion, role)[frame]
    offset = 0.2 * inwards + np.array([0.03, -0.02, 0.05])
    result = warp(
        motion, [MoveKey(role, frame / 60, offset=offset)], ease=0.3, continuity=continuity, orientation=orientation
    )
    moved = path_of(result, role) - path_of(motion, role)
    assert np.allclose(moved[frame], offset, atol=1e-9)
    assert changed(result, motion).min() > frame - 18
    assert changed(result, motion).max() < frame + 18
    limb = {"hand": ("upper_arm", "forearm", "hand"), "foot": ("upper_leg", "lower_leg", "foot")}[role.split("_")[1]]
    allowed = [motion.skeleton.roles[f"{role.split('_')[0]}_{part}"] for part in limb]
    others = [j for j in range(len(motion.skeleton)) if j not in allowed]
    assert np.array_equal(result.rotations[:, others], motion.rotations[:, others])
    assert keeps_bones(result)
    assert last_step(result)["residue"][role] < 1e-9
    # It begins and ends smoothly: the second difference of the displacement does not jump.
    bend = np.abs(np.diff(moved, 2, axis=0)).max(axis=1)
    assert bend[frame - 20] < 0.2 * bend.max() + 1e-4


def test_a_reach_goes_to_its_target():
    motion = walk()
    goal = path_of(motion, "right_hand")[90] + np.array([0.1, 0.2, 0.1])
    result = warp(motion, [MoveKey("right_hand", 1.5, target=goal)])
    assert np.allclose(path_of(result, "right_hand")[90], goal, atol=1e-9)


def test_orientation_in_the_world_does_not_change():
    motion = walk()
    result = warp(motion, [MoveKey("left_hand", 1.5, offset=(0, 0.1, 0.1))], orientation="world")
    hand = motion.skeleton.roles["left_hand"]
    assert quat.angle_between(result.world().rotations[:, hand], motion.world().rotations[:, hand]).max() < 1e-7


def test_a_duck_lowers_the_head_and_holds_the_feet():
    motion = walk()
    keys = [
        MoveKey("hips", 1.4, offset=(0, -0.25, 0), hold=0.2),
        TurnKey("spine", 1.4, (0.5, 0, 0), hold=0.2),
    ]
    result = warp(motion, keys, ease=0.5)
    assert path_of(result, "head")[90, 1] < path_of(motion, "head")[90, 1] - 0.25
    for role in ("left_foot", "right_foot"):
        assert np.abs(path_of(result, role) - path_of(motion, role)).max() < 1e-6
    assert same_notes(result, motion)
    assert slide(result) < 1e-6
    assert keeps_bones(result)
    free = warp(motion, keys, ease=0.5, feet=None)
    assert np.abs(path_of(free, "left_foot") - path_of(motion, "left_foot")).max() > 0.2


@pytest.mark.parametrize("axes", ["joint", "body", "world"])
def test_turns_are_about_the_axes_that_are_named(axes):
    motion = walk()
    turn = np.array([0.0, 0.4, 0.0])
    result = warp(motion, [TurnKey("head", 1.5, turn, axes=axes)])
    head, frame = motion.skeleton.roles["head"], 90
    before, after = motion.world().rotations[frame, head], result.world().rotations[frame, head]
    if axes == "joint":
        assert np.allclose(quat.log(quat.inv_mul(before, after)), turn, atol=1e-9)
    else:  # the character's up is the world's
        assert np.allclose(quat.log(quat.mul_inv(after, before)), turn, atol=1e-9)
    assert changed(result, motion).min() == 61
    assert changed(result, motion).max() == 119


def test_the_bodys_axes_rotate_with_it():
    motion = walk().moved((np.pi / 2, 0.0, 0.0))
    result = warp(motion, [MoveKey("hips", 0.0, offset=(0, 0, 0.1), axes="body")], feet=None)
    moved = (path_of(result, "hips") - path_of(motion, "hips"))[0]
    left = find_left_axis(motion.skeleton, motion.world().positions[0])
    assert np.allclose(moved, 0.1 * np.cross(left, [0.0, 1.0, 0.0]), atol=1e-9)
    assert moved[0] > 0.08  # it roughly faces +X there


def test_a_longer_step_keeps_the_plant_while_it_is_held():
    motion = walk(3.0, 0.0)
    start, stop = motion.contacts.intervals("left_ball")[1]
    at, hold = (start - 12) / 60, (stop - start + 24) / 60
    # A longer step with the same legs lowers the hips.
    keys = [MoveKey("left_foot", at, (0, 0, 0.06), hold=hold), MoveKey("hips", at, (0, -0.05, 0.03), hold=hold)]
    result = warp(motion, keys, ease=0.3)
    shift = path_of(result, "left_foot") - path_of(motion, "left_foot")
    assert np.allclose(shift[start:stop], [0, 0, 0.06], atol=1e-9)
    assert np.abs(path_of(result, "right_foot") - path_of(motion, "right_foot")).max() < 1e-9
    assert result.contacts.mask[start:stop, result.contacts.index("left_ball")].all()


def test_contacts_that_are_lifted_are_taken_away():
    motion = walk()
    start, stop = motion.contacts.intervals("left_ball")[1]
    middle = (start + stop) // 2
    result = warp(motion, [MoveKey("left_foot", middle / 60, offset=(0, 0.1, 0))], ease=0.4)
    assert not result.contacts.mask[middle, result.contacts.index("left_ball")]
    assert np.array_equal(result.contacts.mask[:, 2:], motion.contacts.mask[:, 2:])


def test_out_of_reach_is_reported_and_never_more_than_the_limit():
    motion = walk()
    with pytest.warns(MareyWarning, match=r"left_hand cannot reach its target and misses it by .* m"):
        result = warp(motion, [MoveKey("left_hand", 1.5, offset=(0, 2.0, 0))])
    assert last_step(result)["residue"]["left_hand"] > 0.5
    assert keeps_bones(result)
    assert np.isfinite(result.rotations).all()
    with pytest.warns(MareyWarning):
        stretched = warp(motion, [MoveKey("left_hand", 1.5, offset=(0, 2.0, 0))], max_stretch=0.1)
    forearm = motion.skeleton.roles["left_hand"]
    assert np.linalg.norm(stretched.bone_offsets[90, forearm]) == pytest.approx(0.25 * 1.1)
    assert last_step(stretched)["residue"]["left_hand"] < last_step(result)["residue"]["left_hand"]


def test_a_limb_that_runs_out_of_reach_does_not_snap():
    motion = walk()
    hand = path_of(motion, "left_hand")[90]
    outwards = hand - path_of(motion, "left_upper_arm")[90]
    with pytest.warns(MareyWarning):
        result = warp(motion, [MoveKey("left_hand", 1.5, offset=0.3 * outwards)], ease=0.5)
    steps = [quat.log(quat.inv_mul(m.rotations[:-1], m.rotations[1:])) for m in (motion, result)]
    bends = [np.abs(np.diff(step, axis=0)).max() for step in steps]
    assert bends[1] < bends[0] + 0.02
    # A key within reach is met, whatever other keys there are.
    keys = [MoveKey("left_hand", 1.0, offset=0.3 * outwards), MoveKey("left_hand", 1.5, offset=-0.2 * outwards)]
    with pytest.warns(MareyWarning):
        result = warp(motion, keys)
    assert np.allclose(path_of(result, "left_hand")[90], hand - 0.2 * outwards, atol=1e-9)


def test_a_single_frame_can_be_warped():
    motion = walk()[20]
    result = warp(motion, [MoveKey("right_hand", 0.0, offset=(0, 0.1, 0))])
    assert np.allclose(path_of(result, "right_hand") - path_of(motion, "right_hand"), [0, 0.1, 0], atol=1e-9)


@LAWS
@given(
    st.sampled_from(["left_hand", "right_foot", "hips"]),
    st.lists(st.tuples(st.integers(0, 180), st.floats(-0.05, 0.05), st.floats(-0.05, 0.05)), min_size=1, max_size=4),
)
def test_any_keys_are_met_or_reported(role, drawn):
    motion = walk()
    frames = sorted({frame for frame, _, _ in drawn})
    keys = [MoveKey(role, f / 60, offset=(dx, dy, 0)) for f, (_, dx, dy) in zip(frames, drawn, strict=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MareyWarning)
        result = warp(motion, keys, ease=0.25)
    missed = max(last_step(result)["residue"].values(), default=0.0)
    moved = path_of(result, role) - path_of(motion, role)
    for key in keys:
        apart = np.linalg.norm(moved[round(key.at * 60)] - np.asarray(key.offset))
        assert apart <= (missed if role != "hips" else 0.0) + 1e-9
    assert np.isfinite(result.rotations).all()
    outside = [
        f for f in range(len(motion)) if all(abs(f - g) >= 15 for g in frames) and not frames[0] < f < frames[-1]
    ]
    assert same(result[outside[0] : outside[0] + 1], motion[outside[0] : outside[0] + 1]) if outside else True


@pytest.mark.parametrize(
    ("keys", "options", "error", "message"),
    [
        ([], {}, InvalidValue, "keys must have at least one"),
        ([("head", 1)], {}, InvalidValue, "keys must be TurnKey or MoveKey objects, not"),
        (
            [MoveKey("left_hand", 9.0, (0, 0, 0))],
            {},
            InvalidValue,
            "a key must end by 3 s, the end of the motion, but one ends at 9 s",
        ),
        ([MoveKey("left_hand", -1.0, (0, 0, 0))], {}, InvalidValue, "`at=` in seconds must be a number"),
        ([MoveKey("left_hadn", 1.0, (0, 0, 0))], {}, UnknownName, "similar: 'left_hand'"),
        (
            [MoveKey("left_hand", 1.0)],
            {},
            InvalidValue,
            "a key of left_hand must have an offset or a target, but not both",
        ),
        ([MoveKey("left_hand", 1.0, (0, 0, np.nan))], {}, InvalidValue, "must be finite"),
        ([MoveKey("left_hand", 1.0, (0, 0))], {}, InvalidValue, r"must have shape \(3,\)"),
        ([MoveKey("left_hand", 1.0, (0, 0, 0), axes="joint")], {}, UnknownName, "one of body, world, not 'joint'"),
        ([TurnKey("nose", 1.0, (0, 0, 0))], {}, JointNotFound, "no joint or role 'nose'"),
        (
            [TurnKey("head", 1.0, (0, 0, 1))] * 2,
            {},
            InvalidValue,
            "two keys of the same joint are at frame 60; remove one of them",
        ),
        ([TurnKey("head", 1.0, (0, 0, 0))], {"continuity": 3}, InvalidValue, "continuity must be from 1 to 2, not 3"),
        (
            [TurnKey("head", 1.0, (0, 0, 0))],
            {"ease": 0},
            InvalidValue,
            "ease must be greater than 0 seconds, not 0",
        ),
        (
            [TurnKey("head", 1.0, (0, 0, 0))],
            {"orientation": "up"},
            InvalidValue,
            "orientation must be 'world', 'limb' or None, not 'up'",
        ),
        (
            [TurnKey("head", 1.0, (0, 0, 0)), TurnKey("head", 2.0, (0, 0, 0), axes="world")],
            {},
            InvalidValue,
            "either all keys of a joint or none must have axes='joint'",
        ),
    ],
)
def test_wrong_keys(keys, options, error, message):
    with pytest.raises(error, match=message):
        warp(walk(), keys, **options)


def test_a_limb_without_length_cannot_reach():
    motion = walk()
    offsets = motion.skeleton.offsets.copy()
    offsets[motion.skeleton.roles["left_hand"]] = 0.0
    motion = replace(motion, skeleton=replace(motion.skeleton, offsets=offsets))
    with pytest.raises(
        InvalidValue, match="left_hand cannot be moved: the bone from 'LeftForeArm' to 'LeftHand' has zero length"
    ):
        warp(motion, [MoveKey("left_hand", 1.0, (0, 0.1, 0))])


def test_a_higher_kick(data_folder):
    motion = marey.load(data_folder / "cmu" / "144" / "144_05.bvh")[700:900]
    frame = int(path_of(motion, "right_foot")[:, 1].argmax())
    at = frame / motion.fps
    result = warp(motion, [TurnKey("right_upper_leg", at, (-0.3, 0, 0), axes="body")], ease=0.35)
    rise = path_of(result, "right_foot")[frame, 1] - path_of(motion, "right_foot")[frame, 1]
    assert 0.1 < rise < 0.4
    offset = np.array([0.0, 0.15, -0.2])
    result = warp(motion, [MoveKey("right_foot", at, offset=offset)], ease=0.35, orientation="limb")
    moved = path_of(result, "right_foot") - path_of(motion, "right_foot")
    assert np.allclose(moved[frame], offset, atol=1e-9)
    assert same(result[: frame - 43], motion[: frame - 43])
    assert same(result[frame + 43 :], motion[frame + 43 :])


# --- Time warps


def test_keys_on_the_diagonal_change_nothing():
    motion = walk()
    result = timewarp(motion, [(0.5, 0.5), (2.0, 2.0)])
    assert same(result, motion)
    assert same_notes(result, motion)


def test_what_was_then_is_now():
    motion = walk()
    result = timewarp(motion, [(1.0, 1.5), (2.0, 2.25)])
    assert result.duration == pytest.approx(3.25)
    for now, then in ((1.0, 1.5), (2.0, 2.25), (3.0, 3.25)):
        assert same(result[round(then * 60)], motion[round(now * 60)], 1e-9)
    assert keeps_bones(result)


@pytest.mark.slow("warps a walk in many random ways")
@LAWS
@given(st.lists(st.tuples(st.floats(0.05, 1.0), st.floats(0.05, 1.0)), min_size=1, max_size=5))
def test_time_never_runs_back(steps):
    motion = walk()
    pairs = np.cumsum(np.array(steps), axis=0)
    pairs[:, 0] *= motion.duration / max(pairs[-1, 0], motion.duration)
    # Labels of single frames show the timing.
    marked = replace(motion, labels=Labels(tuple(Label(f"{i:03d}", i, i + 1) for i in range(0, 181, 20))))
    result = timewarp(marked, [tuple(p) for p in pairs.tolist()])
    starts = [label.start for label in sorted(result.labels, key=lambda x: x.name)]
    assert starts == sorted(starts)
    assert len(result.contacts) == len(result)
    assert np.isfinite(result.rotations).all()


def test_contacts_and_labels_move_with_the_time():
    motion = walk()
    result = timewarp(motion, [(3.0, 6.0)])
    assert result.contacts.mask.mean() == pytest.approx(motion.contacts.mask.mean(), abs=0.01)
    label = next(x for x in result.labels if x.name == "left_part")
    assert abs(label.start - 20) <= 1
    assert abs(label.stop - 100) <= 1
    assert slide(result) < 5e-3


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([], "keys must have at least one"),
        ([(1.0, 1.0), (1.5, 0.9)], r"both times of each key must be later than those of the key before, not"),
        ([(1.0, 0.0)], "both times of each key must be later than those of the key before, not"),
        ([(1.0, 1.0), (1.0, 2.0)], "both times of each key must be later than those of the key before, not"),
        ([(9.0, 9.0)], "old times of keys must be from 0 to 3 s .the motion's duration., not 9 s"),
        ([(-1.0, 0.0)], "old times of keys must be from 0 to"),
        ([(0.0, 1.0)], "a key at old time 0 must have new time 0, not 1 s; the motion always begins at 0 s"),
        ([(1.0, np.nan)], "must be finite"),
        ([(1.0, 1e9)], "s; check the new times of the keys"),
    ],
)
def test_wrong_times(keys, message):
    with pytest.raises(InvalidValue, match=message):
        timewarp(walk(), keys)


def test_the_old_name_of_the_body_axes_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"MoveKey\(axes='figure'\) is deprecated, use axes='body'"):
        assert MoveKey("hips", 0.0, offset=(0, 0, 0.1), axes="figure").axes == "body"
