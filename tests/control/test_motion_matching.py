"""Motion matching: features, search, and the stream."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control.evaluate import record
from marey.control.inertia_reel import make_reel
from marey.control.motion_matching import MatchingData, MatchingSettings, MotionMatching
from marey.control.motion_matching_features import make_features
from marey.control.motion_matching_kernels import PathModel, predict_path
from marey.core.arrays import set_readonly
from marey.core.protocols import Stream
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.maths import quat, rigid2d
from marey.measure import measure
from marey.samples import sample
from tests.control.clips import largest_bend, matching, walks
from tests.twins import control as twins

AHEAD = (0.2, 0.5)


def turned(stream, direction, n=240):
    stream.request(direction=direction)
    return record(stream, n)


def test_features_hold_the_future_path_in_the_body_frame():
    walk = sample("walk", seconds=4, speed=1.4, variation=0.0).motion.moved((0.7, 3.0, 1.0))
    table = make_features(make_reel([walk]), path_times=AHEAD, weights=None)
    path = table.values[:, : table.n_path] / table.scale[: table.n_path]
    np.testing.assert_allclose(path[:, :4].mean(axis=0), [0.0, 0.28, 0.0, 0.7], atol=0.02)
    np.testing.assert_allclose(path[:, 4:].mean(axis=0), [0.0, 1.0, 0.0, 1.0], atol=0.02)
    assert table.paces.mean() == pytest.approx(1.4, abs=0.03)
    np.testing.assert_array_equal(table.turn_limits, [-0.2, 0.2])


def test_features_do_not_know_where_a_clip_is():
    a = make_features(make_reel(walks()), path_times=AHEAD, weights=None)
    b = make_features(make_reel([walk.moved((2.0, -1.0, 5.0)) for walk in walks()]), path_times=AHEAD, weights=None)
    np.testing.assert_allclose(a.all_values, b.all_values, atol=1e-9)
    np.testing.assert_allclose(a.turn_rates, b.turn_rates, atol=1e-9)


def test_groups_have_unit_spread_times_their_weights():
    table = make_features(make_reel(walks()), path_times=AHEAD, weights={"feet": 3.0})
    groups = np.split(table.values, np.cumsum([4, 4, 6, 6]), axis=1)
    spreads = [np.sqrt(group.var(axis=0).sum()) for group in groups]
    np.testing.assert_allclose(spreads, [1.0, 1.0, 3.0, 0.75, 0.5], rtol=1e-9)


def test_only_frames_with_enough_future_are_targets_of_jumps():
    table = make_features(make_reel(walks()), path_times=AHEAD, weights=None)
    n = len(walks()[0])
    assert table.rows[-1] == 3 * n - 1 - 30
    assert not np.isin(np.arange(n - 30, n), table.rows).any()


def test_a_calibration_pose_is_not_jumped_to():
    walk = walks()[1]
    rotations = walk.rotations.copy()
    rotations[0] = quat.identity()
    rotations[0, walk.skeleton.roles["left_upper_arm"]] = quat.exp([0.0, 0.0, 1.5])
    table = make_features(make_reel([replace(walk, rotations=set_readonly(rotations))]), path_times=AHEAD, weights=None)
    assert table.rows[0] == 1


def test_the_nearest_row_is_that_of_a_brute_search():
    data, chance = matching(), np.random.default_rng(0)
    for _ in range(50):
        query = data.features.values[chance.integers(len(data.features.rows))] + chance.normal(
            0, 0.3, data.features.values.shape[1]
        )
        apart = np.linalg.norm(data.features.values - query, axis=1)
        row, distance = data.nearest(query)
        assert distance == pytest.approx(apart.min())
        assert row == data.features.rows[int(np.argmin(apart))]


@pytest.mark.parametrize("limits", [(-9.0, 9.0), (-1.0, 0.5)])
def test_the_requested_path_follows_springs(limits):
    ahead, springs, out = np.array([0.2, 0.5, 0.8]), np.array([5.0, 6.0]), np.zeros(12)
    predict_path(1.1, 0.4, 1.5, -1.2, PathModel(ahead, springs, np.array(limits), np.ones(12)), out)
    np.testing.assert_allclose(out, twins.wished_path(1.1, 0.4, 1.5, -1.2, ahead, springs, limits), atol=2e-3)


@pytest.mark.parametrize("direction", [np.pi / 2, -np.pi / 2, 3.0])
def test_it_turns_to_the_requested_direction(direction):
    stream = MotionMatching(matching(), feet="lock")
    assert isinstance(stream, Stream)
    result = turned(stream, direction, 300)
    way = result.travel[-1] - result.travel[-60]
    assert abs(rigid2d.wrap_angle(np.arctan2(way[0], way[2]) - direction)) < 0.2
    assert stream.jumps > 0


def test_its_motion_is_as_smooth_as_the_clips():
    stream = MotionMatching(matching(), feet="lock")
    result = turned(stream, np.pi / 2)
    assert largest_bend(result) < 1.5 * max(map(largest_bend, walks()))


def test_it_keeps_the_requested_speed():
    clips = [sample("walk", seconds=5, speed=speed, variation=0.0).motion for speed in (0.8, 1.1, 1.4, 1.7)]
    stream = MotionMatching(clips, feet="lock")
    for speed in (0.8, 1.7):
        stream.request(speed=speed)
        result = record(stream, 240)
        assert np.linalg.norm(result.travel[-1] - result.travel[-121]) / 2.0 == pytest.approx(speed, abs=0.1)


def test_the_same_requests_give_the_same_frames():
    a, b = (turned(MotionMatching(matching(), feet="lock"), 1.0, 120) for _ in range(2))
    np.testing.assert_array_equal(a.rotations, b.rotations)
    np.testing.assert_array_equal(a.root_positions, b.root_positions)


def test_one_clip_continues_beyond_its_end():
    walk = walks()[1]
    stream = MotionMatching([walk], feet="lock")
    result = record(stream, 3 * len(walk))
    assert stream.jumps >= 2
    assert np.linalg.norm(result.travel[-1] - result.travel[0]) > 2.5 * np.linalg.norm(walk.travel[-1] - walk.travel[0])


def test_frames_carry_contacts_and_can_be_planted():
    plain, planted = (turned(MotionMatching(matching(), feet=feet), 1.5) for feet in ("lock", "clean"))
    assert plain.contacts.mask.any()
    slides = [measure(result)["slide_contact"].value for result in (plain, planted)]
    assert slides[1] < 0.1 * slides[0]
    assert MotionMatching(matching(), feet="clean").delay > 0 == MotionMatching(matching(), feet="lock").delay


def test_jumps_with_little_gain_are_skipped():
    eager, calm = (
        MotionMatching(matching(), feet="lock", settings=MatchingSettings(min_gain=fraction)) for fraction in (0.0, 0.9)
    )
    for stream in (eager, calm):
        record(stream, 200)
    assert calm.jumps < eager.jumps or eager.jumps == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({"color": 1}, "unknown command 'color'; motion matching accepts direction, speed"),
        ({"direction": np.nan}, "direction must be a finite number of radians"),
        ({"speed": -1.0}, "speed must be at least 0 meters per second"),
    ],
)
def test_invalid_commands_are_refused(command, message):
    with pytest.raises(InvalidValue, match=message):
        MotionMatching(matching(), feet="lock").request(**command)


def test_the_old_flags_for_feet_still_work():
    with pytest.warns(DeprecationWarning, match=r"clean=, lock=\) is deprecated, use feet="):
        old = MotionMatching(matching(), lock=False)
    new = MotionMatching(matching(), feet=None)
    np.testing.assert_array_equal(old.frame().rotations, new.frame().rotations)


def test_wrong_settings_are_refused():
    with pytest.raises(UnknownName, match="no feature group 'foot'.*feet"):
        MatchingData.build(walks(), weights={"foot": 1.0})
    with pytest.raises(InvalidValue, match="path_times must be increasing times"):
        MatchingData.build(walks(), path_times=(0.4, 0.2))
    with pytest.raises(InvalidValue, match="min_gain must be from 0 to 1"):
        MotionMatching(matching(), feet="lock", settings=MatchingSettings(min_gain=1.5))
    with pytest.raises(NoResult, match="no clip is longer than the lookahead of 0.8 s"):
        MatchingData.build([walk[:30] for walk in walks()])


def test_real_walks_answer_to_both_sides(data_folder):
    from marey.edit import mirror, resample
    from marey.io import load

    folder = data_folder / "cmu" / "016"
    if not folder.is_dir():
        pytest.skip(f"no walks at {folder}")
    clips = [resample(load(folder / f"16_{n}.bvh"), 60) for n in (15, 17)]
    stream = MotionMatching([*clips, *map(mirror, clips)], feet="lock")
    for direction in (np.pi / 2, -np.pi / 2):
        result = turned(stream, direction)
        way = result.travel[-1] - result.travel[-60]
        assert abs(rigid2d.wrap_angle(np.arctan2(way[0], way[2]) - direction)) < 0.3
