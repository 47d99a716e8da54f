"""Gaze maps: every goal inside is met, individual style is preserved, and files contain everything that a map needs."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from marey.errors import InvalidValue, ParseError, UnknownVersion, UnreadableFile
from marey.layer import gaze_map
from marey.layer.gaze_capture import gaze_example
from marey.layer.gaze_map import GazeMap
from marey.layer.gaze_model import GazeShift, angles_to_direction
from marey.maths import quat
from marey.samples.gaze import GAZE_TRIADS, gaze_take, gaze_takes


@pytest.fixture(scope="module")
def gaze():
    return GazeMap.default()


def shift_of(take):
    return GazeShift(take.goal, take.pose, take.length, take.starts, take.peak, take.overshoot, take.motion.name)


def missed(gaze, goal, method="grid"):
    return math.degrees(
        math.acos(min(1.0, angles_to_direction(gaze.shift(goal, method=method).goal) @ angles_to_direction(goal)))
    )


def inside(n=150, seed=0):
    return np.random.default_rng(seed).uniform(np.radians([-150, -36]), np.radians([150, 36]), (n, 2))


def test_every_goal_inside_is_met_to_a_degree_before_the_eyes_correct_it(gaze):
    errors = [missed(gaze, goal) for goal in inside()]
    assert max(errors) < 0.05
    alone = [missed(gaze, goal, "neighbors") for goal in inside()]
    assert 0.5 < np.median(alone) < 4.0  # the reason for the grid
    corners = [missed(gaze, np.radians(goal)) for goal in ((150, 36), (-150, 36), (150, -36), (-150, -36))]
    assert max(corners) < 0.05


def test_at_an_example_the_map_gives_the_example_back(gaze):
    for example in gaze.examples[::6]:
        found = gaze.shift(example.goal, method="neighbors")
        assert np.degrees(quat.angle_between(found.pose, example.pose)).max() < 0.2
        near = gaze.shift(example.goal)
        assert np.degrees(quat.angle_between(near.pose, example.pose)).max() < 2.5
        assert near.length == pytest.approx(example.length, rel=0.05)
        assert near.overshoot == pytest.approx(example.overshoot, rel=0.1)


def test_the_person_turns_the_spine_more_to_the_right(gaze):
    for yaw in np.radians([60.0, 100.0, 140.0]):
        left, right = gaze.shift((yaw, 0.1)), gaze.shift((-yaw, 0.1))
        spine = [quat.angle(shift.pose[:3]).sum() for shift in (left, right)]
        eyes = [quat.angle(shift.pose[4]) for shift in (left, right)]
        assert spine[1] > 1.1 * spine[0]
        assert eyes[0] > 1.2 * eyes[1]


def test_the_cascade_goes_from_the_eyes_down(gaze):
    for goal in inside(40, 1):
        shift = gaze.shift(goal)
        pelvis, lower, upper, neck = shift.starts
        assert 0.0 < neck < upper < lower < pelvis < shift.peak < 1.0
        assert 0.04 < shift.overshoot < 0.16


def test_neighboring_goals_have_neighboring_shifts(gaze):
    yaws = np.radians(np.linspace(-150.0, 150.0, 601))
    rows = np.array([gaze.shift((yaw, 0.2)).to_row()[:15] for yaw in yaws])
    steps = np.abs(np.diff(rows, axis=0)).max(axis=1) / (yaws[1] - yaws[0])
    assert steps.max() < 1.5
    assert np.abs(np.diff(rows, 2, axis=0)).max() / (yaws[1] - yaws[0]) < 0.3


def test_goals_outside_are_projected_and_reported(gaze):
    aimed, outside = gaze.project(np.radians([170.0, 10.0]))
    assert outside
    np.testing.assert_allclose(np.degrees(aimed), [150.0, 10.0], atol=1e-3)
    aimed, outside = gaze.project(np.radians([30.0, 10.0]))
    assert not outside
    np.testing.assert_allclose(
        gaze.shift(np.radians([170.0, 10.0])).goal, gaze.shift(np.radians([150.0, 10.0])).goal, atol=1e-4
    )


@pytest.mark.slow("fits many gaze examples to markers")
def test_a_map_from_noisy_markers_is_the_same_person():
    takes = [take for take in gaze_takes() if abs(take.goal[0]) < 1.7]
    truth = GazeMap.build(shift_of(take) for take in takes)
    noisy = GazeMap.build(gaze_example(t.markers(rng=k), t.goal, GAZE_TRIADS) for k, t in enumerate(takes))
    assert len(noisy.examples) == len(takes)
    for goal in inside(40, 2) * [0.55, 0.9]:
        a, b = truth.shift(goal), noisy.shift(goal)
        assert np.degrees(quat.angle_between(a.pose, b.pose)).max() < 0.3
        assert b.overshoot == pytest.approx(a.overshoot, rel=0.1)
        assert b.length == pytest.approx(a.length, abs=0.04)


def test_the_shipped_map_is_what_the_samples_make(gaze):
    assert len(gaze.examples) == 33
    for take, example in zip(gaze_takes()[:5], gaze.examples[1:6], strict=True):
        result = gaze_example(take.markers(noise=0.0), take.goal, GAZE_TRIADS)
        np.testing.assert_allclose(example.to_row(), result.to_row(), atol=2e-4)
    shipped = Path(gaze_map.__file__).with_name("gaze_default.json")
    assert shipped.stat().st_size < 10_000
    assert GazeMap.default() is GazeMap.default()


def test_a_file_holds_the_examples_and_the_rest_is_recomputed(gaze, tmp_path):
    gaze.save(tmp_path / "map.json")
    again = GazeMap.load(tmp_path / "map.json")
    assert repr(again) == repr(gaze) == "<GazeMap: 33 examples, yaw -150 to 150, pitch -36 to 36 degrees>"
    np.testing.assert_allclose(again.table, gaze.table, atol=2e-5)
    again.save(tmp_path / "twice.json")
    assert (tmp_path / "twice.json").read_bytes() == (tmp_path / "map.json").read_bytes()
    other = pickle.loads(pickle.dumps(gaze))
    assert np.array_equal(other.table, gaze.table)


def test_two_looks_make_a_map_of_a_line():
    gaze = GazeMap.build(shift_of(gaze_take(yaw, 0.0)) for yaw in (1.0, -1.0))
    assert missed(gaze, (0.5, 0.0)) < 0.05
    aimed, outside = gaze.project((0.5, 0.3))
    assert outside
    assert aimed == pytest.approx([0.5, 0.0])
    assert np.isfinite(gaze.shift((0.5, 0.3)).pose).all()


def test_what_makes_no_map_is_refused(gaze, tmp_path):
    take = shift_of(gaze_take(1.0, 0.0))
    with pytest.raises(InvalidValue, match="examples must have at least two different gaze targets, not 1"):
        GazeMap.build([take])
    with pytest.raises(
        InvalidValue, match="examples 0 and 1 have the same gaze target, yaw 57.3 and pitch 0.0 degrees"
    ):
        GazeMap.build([take, take])
    with pytest.raises(
        InvalidValue, match="examples must be GazeShift objects, as gaze_example returns them, not tuple"
    ):
        GazeMap.build([(1.0, 0.0)])
    with pytest.raises(
        InvalidValue,
        match="k must be at least 4, not 2",
    ):
        GazeMap.build(gaze.examples, k=2)
    with pytest.raises(InvalidValue, match="method must be 'grid' or 'neighbors', not 'cubic'"):
        gaze.shift((0.1, 0.1), method="cubic")
    with pytest.raises(UnreadableFile):
        GazeMap.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda c: "no json", ParseError, "not valid JSON .*expected a gaze map"),
        (lambda c: json.dumps([1]), ParseError, 'a JSON object with "format": "marey.gaze_map"'),
        (lambda c: json.dumps({**c, "format": "other"}), UnknownVersion, r"expected a gaze map \(marey.gaze_map\)"),
        (
            lambda c: json.dumps({**c, "version": 2}),
            UnknownVersion,
            "the file has format version 2, but this version of marey reads 1;",
        ),
        (lambda c: json.dumps({**c, "examples": 3}), ParseError, "examples must be a list of at most"),
        (
            lambda c: json.dumps({**c, "examples": [{"goal": [0, 1]}, 2]}),
            ParseError,
            "is not a valid gaze map .'pose' is missing.",
        ),
        (
            lambda c: json.dumps({**c, "examples": c["examples"][:1]}),
            ParseError,
            "is not a valid gaze map .examples must have at least two different gaze targets, not 1",
        ),
        (lambda c: json.dumps({**c, "k": "many"}), ParseError, "k must be an integer"),
        (
            lambda c: json.dumps({**c, "examples": [{**e, "pose": [9] * 15} for e in c["examples"]]}),
            ParseError,
            "is not a valid gaze map .pose of an example must be 15 numbers from -pi to pi",
        ),
        (
            lambda c: json.dumps({**c, "examples": [{**e, "length": "long"} for e in c["examples"]]}),
            ParseError,
            "length must be an array of numbers",
        ),
    ],
)
def test_files_that_are_no_maps_are_refused(gaze, tmp_path, change, error, message):
    path = tmp_path / "map.json"
    gaze.save(path)
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(error, match=message):
        GazeMap.load(path)
