"""Gaze shifts as numbers: laws of their curves, their rows, and invalid goals."""

import math
import pickle

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.layer.gaze_model import (
    GazeShift,
    angles_to_direction,
    check_goal,
    direction_to_angles,
    find_progress,
    find_reached_angles,
)
from marey.layer.gaze_region import convex_hull, project_into_region
from marey.maths import quat
from marey.samples.gaze import gaze_take


def shift_of(yaw=1.2, pitch=0.3):
    take = gaze_take(yaw, pitch)
    return GazeShift(take.goal, take.pose, take.length, take.starts, take.peak, take.overshoot, "take")


def test_parts_start_one_after_another_overshoot_and_settle():
    starts, peak, overshoot = np.array([0.3, 0.2, 0.1, 0.05]), 0.6, 0.1
    t = np.linspace(-0.2, 1.3, 3001)
    shares = find_progress(t, starts, peak, overshoot)
    for part, start in enumerate([*starts, 0.0]):
        assert (shares[t <= start, part] == 0.0).all()
        assert (shares[(t > start + 0.001) & (t < 1.0), part] > 0.0).all()
    at_peak = shares[np.argmin(np.abs(t - peak))]
    np.testing.assert_allclose(at_peak, 1.1, atol=1e-6)
    np.testing.assert_allclose(shares.max(axis=0), 1.1, atol=1e-6)
    np.testing.assert_allclose(shares[t >= 1.0], 1.0, atol=1e-12)


@pytest.mark.parametrize("n", [2000, 4000])
def test_the_curve_has_no_jump_in_its_slope(n):
    t = np.linspace(-0.2, 1.3, n)
    slopes = np.diff(find_progress(t, np.array([0.3, 0.2, 0.1, 0.05]), 0.6, 0.1), axis=0) / (t[1] - t[0])
    # At twice the frame rate, changes per frame are half as large.
    assert np.abs(np.diff(slopes, axis=0)).max() < 80.0 * (t[1] - t[0])


def test_a_row_holds_all_of_a_shift():
    shift = shift_of()
    again = GazeShift.from_row(shift.to_row())
    assert quat.angle_between(again.pose, shift.pose).max() < 1e-9
    np.testing.assert_allclose(again.starts, shift.starts)
    assert (again.length, again.peak, again.overshoot) == pytest.approx((shift.length, shift.peak, shift.overshoot))
    np.testing.assert_allclose(again.goal, shift.goal, atol=1e-9)  # the eyes cover what the head does not
    assert pickle.loads(pickle.dumps(shift)).length == shift.length
    with pytest.raises(ValueError, match="read-only"):
        shift.pose[0, 0] = 0.0


def test_turns_are_powers_of_the_pose():
    shift = shift_of()
    turns = shift.rotations_at([-0.1, shift.peak * shift.length, shift.length, 9.0])
    assert quat.angle(turns[0]).max() == 0.0
    np.testing.assert_allclose(quat.angle(turns[1]), (1.0 + shift.overshoot) * quat.angle(shift.pose), atol=1e-9)
    assert quat.angle_between(turns[2:], shift.pose).max() < 1e-9


def test_left_is_positive_yaw_and_up_positive_pitch():
    np.testing.assert_allclose(angles_to_direction([math.pi / 2, 0.0]), [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(angles_to_direction([0.0, math.pi / 2]), [0.0, 1.0, 0.0], atol=1e-12)
    angles = np.random.default_rng(0).uniform([-3.1, -1.5], [3.1, 1.5], (50, 2))
    np.testing.assert_allclose(direction_to_angles(angles_to_direction(angles)), angles, atol=1e-9)
    rows = np.array([shift_of(-1.7, 0.2).to_row()])
    np.testing.assert_allclose(
        find_reached_angles(rows, np.array([[4.6, 0.2]])), [[2.0 * math.pi - 1.7, 0.2]], atol=1e-6
    )


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (
            (60.0, 10.0),
            "must be angles in radians, yaw from -3.142 to 3.142, not 60; convert degrees with math.radians",
        ),
        ((0.5, 10.0), "pitch from -1.571 to 1.571, not 10"),
        ((0.5,), "two angles in radians, yaw to the left and pitch upward, not"),
        (("left", "up"), "two angles in radians"),
        ((np.nan, 0.0), "two angles in radians"),
        (None, "two angles in radians"),
    ],
)
def test_goals_that_are_no_angles_are_refused(goal, message):
    with pytest.raises(InvalidValue, match=message):
        check_goal(goal)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"length": 0.0}, "length must be from 0.05 to 20.0 s, not 0"),
        ({"peak": 1.0}, "peak must be a fraction of the length, greater than 0 and less than 1, not 1"),
        ({"starts": (0.9, 0.1, 0.1, 0.1)}, "starts must be at least 0 and less than the peak"),
        ({"overshoot": -0.1}, "overshoot must be a fraction from 0 to 1, not"),
        ({"pose": np.zeros((5, 4))}, "five unit quaternions"),
    ],
)
def test_impossible_shifts_are_refused(changed, message):
    take = gaze_take(0.8, 0.0)
    values = {name: getattr(take, name) for name in ("goal", "pose", "length", "starts", "peak", "overshoot")}
    with pytest.raises(InvalidValue, match=message):
        GazeShift(**{**values, **changed})


def test_a_region_keeps_points_inside_and_projects_others():
    region = convex_hull(np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0], [0.0, -1.0]]))
    assert len(region) == 4
    moved, apart = project_into_region(np.array([[0.3, 0.4], [3.0, 0.5], [2.0, 2.0]]), region)
    np.testing.assert_allclose(moved, [[0.3, 0.4], [1.0, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(apart, [0.0, 2.0, math.sqrt(2.0)])
    line = convex_hull(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    moved, apart = project_into_region(np.array([[0.5, 0.3], [2.0, 0.0]]), line)
    np.testing.assert_allclose(moved, [[0.5, 0.0], [1.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(apart, [0.3, 1.0])
