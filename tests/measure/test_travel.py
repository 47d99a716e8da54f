"""Path, speed, and the seam of a loop."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core import Motion
from marey.maths import quat, rigid2d
from marey.measure import travel
from tests.measure.simple_motions import N_BODY, statue, straight, turned


def test_path_and_speed_of_a_circle() -> None:
    angle = np.linspace(0.0, 2 * np.pi, 101)
    clip = statue(np.stack([3 * np.cos(angle), 0.2 * np.sin(angle), 3 * np.sin(angle)], axis=1), fps=50.0)
    length = 100 * 2 * 3 * np.sin(np.pi / 100)
    assert travel.path_length(clip).value == pytest.approx(length)
    assert travel.path_net(clip).value == pytest.approx(0.0, abs=1e-12)
    assert travel.speed_mean(clip).value == pytest.approx(length / 2.0)
    assert travel.speed_max(clip).value == pytest.approx(length / 2.0)


@pytest.mark.parametrize("fps", [25.0, 60.0, 120.0])
def test_path_and_speed_do_not_depend_on_the_rate(fps: float) -> None:
    clip = straight(1.4, 0.0, fps=fps)
    found = [one(clip).value for one in (travel.path_length, travel.path_net, travel.speed_mean, travel.speed_max)]
    assert found == pytest.approx([2.8, 2.8, 1.4, 1.4])


def test_the_quickest_frame_is_named() -> None:
    x = np.array([0.0, 0.01, 0.02, 0.06, 0.07])
    metric = travel.speed_max(statue(np.stack([x, 0 * x, 0 * x], axis=1)))
    assert metric.value == pytest.approx(0.04 * 60)
    assert metric.note == "frame 2 to 3"


def _round_walk(fps: float = 60.0) -> Motion:
    """Two full swings of the arms while the character walks steadily around a bend: it loops without a seam."""
    time = np.arange(round(2 * fps) + 1) / fps
    still = statue(np.zeros((len(time), 3)), fps)
    still = turned(still, "left_upper_arm", 0.5 * np.sin(2 * np.pi * time))
    bend = np.stack([0.7 * time, 2 * np.sin(0.7 * time), 2 * np.cos(0.7 * time)], axis=1)
    rotations = still.rotations.copy()
    rotations[:, 0] = quat.mul(rigid2d.to_quat(bend), rotations[:, 0])
    return replace(still, rotations=rotations, root_positions=rigid2d.apply(bend, still.root_positions))


def test_a_loop_on_a_bend_has_no_seam() -> None:
    clip = _round_walk()
    assert travel.loop_position(clip).value == pytest.approx(0.0, abs=1e-9)
    assert travel.loop_rotation(clip).value == pytest.approx(0.0, abs=1e-7)
    assert travel.loop_velocity(clip).value == pytest.approx(0.0, abs=0.01)
    coarse, fine = (travel.loop_velocity(_round_walk(fps)).value for fps in (60.0, 120.0))
    assert coarse is not None
    assert fine is not None
    assert fine < 0.3 * coarse  # the rest is the second-order error of the differences


def test_a_jump_in_height_is_a_seam_in_position() -> None:
    clip = _round_walk()
    root = clip.root_positions.copy()
    root[-1, 1] += 0.05
    metric = travel.loop_position(replace(clip, root_positions=root))
    assert metric.value == pytest.approx(0.05)
    assert metric.note.startswith("at most 5 cm")


def test_a_turned_hand_is_a_seam_in_rotation_alone() -> None:
    clip = straight(0.5, 0.0)
    angles = np.zeros(len(clip))
    angles[-1] = 0.6
    clip = turned(clip, "left_hand", angles)
    metric = travel.loop_rotation(clip)
    assert metric.value == pytest.approx(0.6 / np.sqrt(N_BODY))
    assert metric.note == "at most 34.4 deg, LeftHand"
    assert travel.loop_position(clip).value == pytest.approx(0.0, abs=1e-12)


def test_turning_about_the_vertical_is_not_a_seam_but_leaning_is() -> None:
    clip = straight(0.5, 0.0)
    end = np.zeros(len(clip))
    end[-1] = 0.4
    yawed = turned(clip, "hips", end, axis=(0.0, 1.0, 0.0))
    assert travel.loop_rotation(yawed).value == pytest.approx(0.0, abs=1e-7)
    leaned = turned(clip, "hips", end)
    assert travel.loop_rotation(leaned).value == pytest.approx(0.4 / np.sqrt(N_BODY), rel=1e-6)


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_a_change_of_speed_is_a_seam_in_velocity(fps: float) -> None:
    speed = np.where(np.arange(40) < 20, 0.5, 1.7)
    x = np.concatenate([[0.0], np.cumsum(speed / fps)])
    clip = statue(np.stack([x, 0 * x, 0 * x], axis=1), fps)
    assert travel.loop_velocity(clip).value == pytest.approx(1.2)


def test_alignment_undoes_any_floor_transform() -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(12, 3)) + [100.0, 0.0, -50.0]
    for theta in (-3.1, -1.0, 0.0, 2.0, np.pi):
        moved = rigid2d.apply(np.array([theta, 3.0, -4.0]), points)
        np.testing.assert_allclose(rigid2d.apply(travel.align(points, moved), moved), points, atol=1e-10)
