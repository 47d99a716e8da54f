"""Feet, joint angles and parameters over time: curves, units and bands."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Contacts, Motion
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.plot import draw_feet, draw_joints, draw_parameters
from marey.plot.body import extract_body
from marey.plot.feet import horizontal_speed
from marey.plot.joints import flexion, rotation_vectors
from tests.plot.pictures import WALK, bare, under_resting_root

# Feet ----------------------------------------------------------------------------------------------------


def bands(axes, name: str) -> list[tuple[float, float]]:  # type: ignore[no-untyped-def]
    found = [patch for patch in axes.patches if patch.get_gid() == f"contact {name}"]
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in found]


@pytest.mark.parametrize(("start", "stop"), [(0, None), (30, 95)])
def test_bands_and_lanes_are_the_contacts(start: int, stop: int | None) -> None:
    contacts = WALK.contacts
    assert contacts is not None
    figure = draw_feet(WALK, start=start, stop=stop)
    panels = figure.axes
    assert [p.get_ylabel() for p in panels] == ["height, cm", "speed, m/s", ""] * 2
    assert panels[-1].get_xlabel() == "time, s"
    for n, side in enumerate(("left", "right")):
        for part in ("heel", "ball"):
            name = f"{side}_{part}"
            spans = contacts.crop(start, len(WALK) if stop is None else stop).intervals(name)
            expected = [((a + start - 0.5) / WALK.fps, (b + start - 0.5) / WALK.fps) for a, b in spans]
            assert expected
            for panel in panels[3 * n : 3 * n + 2]:
                np.testing.assert_allclose(bands(panel, name), expected)
            lane = next(c for c in panels[3 * n + 2].collections if c.get_gid() == f"lane {name}")
            xs = [(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in lane.get_paths()]
            np.testing.assert_allclose(xs, expected)
        assert [t.get_text() for t in panels[3 * n + 2].get_yticklabels()] == ["heel", "ball"]
    assert "contacts as noted" in figure.get_suptitle()


def test_feet_curves_are_heights_in_centimeters_and_speeds() -> None:
    figure = draw_feet(under_resting_root())
    heel, ball = figure.axes[0].get_lines()
    assert (heel.get_label(), ball.get_label()) == ("heel", "ball")
    np.testing.assert_allclose(ball.get_xdata(), np.arange(len(WALK)) / WALK.fps)
    y = np.asarray(ball.get_ydata())
    assert -3.0 < y.min() < 3.0
    assert 5.0 < y.max() < 40.0
    contacts = WALK.contacts
    assert contacts is not None
    speed = np.asarray(figure.axes[1].get_lines()[1].get_ydata())
    a, b = contacts.intervals("left_ball")[0]
    assert speed[a + 5 : b - 5].max() < 0.05
    assert speed.max() > 1.0
    assert figure.axes[0].get_ylim() == figure.axes[3].get_ylim()


def test_horizontal_speed_ignores_height() -> None:
    times = np.arange(50) / 25.0
    path = np.stack([3.0 * times, np.sin(9 * times), -4.0 * times], axis=1)[:, None]
    np.testing.assert_allclose(horizontal_speed(path, 25.0), 5.0)
    assert horizontal_speed(path[:1], 25.0).tolist() == [[0.0]]


def test_contacts_are_detected_where_there_are_none() -> None:
    figure = draw_feet(replace(WALK, contacts=None))
    assert "contacts detected" in figure.get_suptitle()
    assert len(bands(figure.axes[0], "left_ball")) >= 2
    short = draw_feet(replace(WALK, contacts=None)[:1])  # nothing to detect in one frame
    assert "no contacts found" in short.get_suptitle()
    assert bands(short.axes[0], "left_ball") == []


def test_other_points_in_contact_have_lanes_below() -> None:
    contacts = WALK.contacts
    assert contacts is not None
    hand = replace(contacts.points[0], name="right_wrist", joint=WALK.skeleton.roles["right_hand"])
    mask = np.concatenate([contacts.mask, np.zeros((len(WALK), 1), dtype=bool)], axis=1)
    mask[10:20, -1] = True
    figure = draw_feet(replace(WALK, contacts=Contacts((*contacts.points, hand), mask)))
    assert [t.get_text() for t in figure.axes[-1].get_yticklabels()] == ["right wrist"]


def test_real_stairs(data_folder: Path) -> None:
    path = data_folder / "cmu/143/143_17.bvh"
    if not path.exists():
        pytest.skip("143_17 is not there")
    figure = draw_feet(marey.load(path, file_fps=60))
    heights = np.asarray(figure.axes[0].get_lines()[1].get_ydata())
    assert 30.0 < np.percentile(heights, 80) < 60.0  # on the top step for a while
    assert len(bands(figure.axes[0], "left_ball")) >= 4


# Joints --------------------------------------------------------------------------------------------------


def test_knees_and_elbows_bend_in_one_panel_each_others_turn_in_their_own() -> None:
    figure = draw_joints(WALK)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "Knee flexion",
        "Elbow flexion",
        "Left hip, rotation vector",
        "Right hip, rotation vector",
    ]
    assert [line.get_label() for line in figure.axes[0].get_lines()[:2]] == ["left", "right"]
    assert [line.get_label() for line in figure.axes[2].get_lines()[:3]] == ["x", "y", "z"]
    assert {axes.get_ylabel() for axes in figure.axes} == {"angle, °"}
    assert figure.axes[-1].get_xlabel() == "time, s"


def test_flexion_is_zero_for_a_straight_limb_and_grows_with_the_bend() -> None:
    n = 30
    bend = np.linspace(0.0, 2.0, n)
    rotations = quat.identity((n, len(WALK.skeleton)))
    knee = WALK.skeleton.roles["left_lower_leg"]
    rotations[:, knee] = quat.from_axis_angle([1.0, 0.0, 0.0], bend)
    motion = Motion(WALK.skeleton, np.zeros((n, 3)), rotations, 30.0)
    np.testing.assert_allclose(flexion(motion, "left", "lower_leg"), bend, atol=1e-9)
    np.testing.assert_allclose(flexion(motion, "right", "lower_leg"), 0.0, atol=1e-7)
    np.testing.assert_allclose(flexion(under_resting_root(), "left", "forearm"), flexion(WALK, "left", "forearm"))
    assert flexion(bare(), "left", "lower_leg") is None


def test_rotation_vectors_do_not_jump() -> None:
    axis = np.array([0.6, 0.0, 0.8])
    angle = np.linspace(-9.0, 9.0, 400)  # several turns, through none at all
    vectors = rotation_vectors(quat.from_axis_angle(axis, angle))
    assert np.abs(np.diff(vectors, axis=0)).max() < 0.1
    np.testing.assert_allclose(quat.angle_between(quat.exp(vectors), quat.from_axis_angle(axis, angle)), 0.0, atol=1e-6)
    assert rotation_vectors(quat.identity(1)).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (["knee"], ["Knee flexion"]),
        (["left_knee", "right_lower_leg"], ["Knee flexion"]),
        (["wrist"], ["Left wrist, rotation vector", "Right wrist, rotation vector"]),
        (["neck", "LeftArm"], ["Neck, rotation vector", "LeftArm, rotation vector"]),
        (["upper_arm"], ["Left upper arm, rotation vector", "Right upper arm, rotation vector"]),
    ],
)
def test_joints_by_role_by_name_and_by_everyday_name(names: list[str], titles: list[str]) -> None:
    assert [axes.get_title(loc="left") for axes in draw_joints(WALK, names=names).axes] == titles


def test_without_roles_the_joints_that_turn_most() -> None:
    titles = [axes.get_title(loc="left") for axes in draw_joints(bare()).axes]
    assert len(titles) == 4
    assert all(title.startswith("b") for title in titles)


def test_missing_joints_are_reported() -> None:
    with pytest.raises(JointNotFound, match="no joint or role 'knie' in '.*'; similar: 'knee'"):
        draw_joints(WALK, names=["knie"])
    with pytest.raises(JointNotFound, match="role 'left_lower_leg' was not found"):
        draw_joints(bare(), names=["knee"])
    with pytest.raises(InvalidValue, match="at least one role or joint"):
        draw_joints(WALK, names=[])
    with pytest.raises(InvalidValue, match="names must be a list of roles or joints, not the text 'knee'"):
        draw_joints(WALK, names="knee")
    with pytest.raises(InvalidValue, match=f"at most 16 joints, got {len(WALK.skeleton)}; name fewer"):
        draw_joints(WALK, names=WALK.skeleton.names)


# Parameters ----------------------------------------------------------------------------------------------


def test_parameters_have_units_and_one_curve_for_each_motion() -> None:
    labels = ["position, m", "height, m", "heading, °", "speed, m/s", "turn rate, °/s"]
    for n, motions in ((1, WALK), (3, [WALK, WALK[20:], under_resting_root()])):
        figure = draw_parameters(motions)
        assert [axes.get_ylabel() for axes in figure.axes] == labels
        assert figure.axes[-1].get_xlabel() == "time, s"
        for axes in figure.axes[1:]:
            assert sum(len(np.asarray(line.get_xdata())) > 2 for line in axes.get_lines()) == n
        assert len(figure.legends) == (n > 1)


def test_parameters_of_a_walk_on_a_circle() -> None:
    fps, n = 50.0, 300
    theta = np.arange(n) / fps * 0.5  # half a radian per second to the left, at 1 m/s
    rotations = np.tile(WALK[0].rotations, (n, 1, 1))
    rotations[:, 0] = quat.mul(quat.from_axis_angle([0.0, 1.0, 0.0], theta), rotations[:, 0])
    radius = 2.0
    root = np.stack([-radius * np.cos(theta), np.full(n, 0.9), radius * np.sin(theta)], axis=1)
    figure = draw_parameters(Motion(WALK.skeleton, root, rotations, fps), start=50, stop=250)
    heading, speed, turn = (np.asarray(axes.get_lines()[0].get_ydata()) for axes in figure.axes[2:])
    np.testing.assert_allclose(heading, np.degrees(theta[50:250] - theta[50]), atol=1e-6)
    np.testing.assert_allclose(speed, 1.0, atol=0.01)
    np.testing.assert_allclose(turn, np.degrees(0.5), atol=0.2)
    assert figure.axes[0].get_xlim() == pytest.approx((1.0, 4.98))


def test_heading_is_left_out_while_a_body_is_not_upright() -> None:
    rotations = np.tile(WALK[0].rotations, (3, 1, 1))
    rotations[1, 0] = quat.from_axis_angle([0.0, 0.0, 1.0], np.pi / 2)  # as in a cartwheel
    body = extract_body(Motion(WALK.skeleton, np.zeros((3, 3)), rotations, 30.0))
    assert np.isfinite(body.heading).tolist() == [True, False, True]
