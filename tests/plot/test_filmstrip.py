"""Filmstrips: which poses are shown, from which side, and what is drawn of a body."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Circle

import marey
from marey.core import Motion
from marey.errors import InvalidValue
from marey.maths import quat
from marey.plot import draw_filmstrip
from marey.plot.body import extract_body
from marey.plot.filmstrip import _labels
from marey.plot.poses import PoseView, choose_frames, distinctive_frames
from marey.plot.style import LEFT, MIDDLE, RIGHT
from marey.samples import sample
from tests.plot.pictures import WALK, bare, in_place, under_resting_root
from tests.tiers import mostly_slow


def poses(axes: Axes, width: float = 1.8) -> list[LineCollection]:
    return [c for c in axes.collections if isinstance(c, LineCollection) and c.get_linewidths()[0] == width]


@pytest.mark.parametrize("n_poses", [1, 2, 7])
@pytest.mark.parametrize("motion", [WALK, in_place()], ids=["travels", "in place"])
def test_the_requested_number_of_poses_is_drawn_with_ghosts_between(motion: Motion, n_poses: int) -> None:
    figure = draw_filmstrip(motion, n_poses=n_poses)
    rows = [axes for axes in figure.axes if axes.get_ylabel() == "height, m"]
    plan = figure.axes[-1]
    assert sum(len(poses(axes)) for axes in rows) == n_poses
    assert sum(len(poses(axes, 0.9)) for axes in rows) <= 3 * n_poses
    assert len(poses(plan, 1.0)) == n_poses
    heads = sum(isinstance(patch, Circle) for axes in rows for patch in axes.patches)
    assert heads == sum(len(poses(axes)) + len(poses(axes, 0.9)) for axes in rows)


def test_axes_have_units_equal_scales_and_the_floor() -> None:
    figure = draw_filmstrip(WALK)
    side, plan = figure.axes
    assert side.get_ylabel() == "height, m"
    assert (plan.get_xlabel(), plan.get_ylabel()) == ("in the direction of travel, m", "left, m")
    assert side.get_xlim() == plan.get_xlim()  # above one another at one scale
    assert side.get_aspect() == plan.get_aspect() == 1.0
    floor = [line for line in side.lines if np.ptp(line.get_ydata()) == 0.0]
    assert np.unique(floor[0].get_ydata()) == 0.0


def test_the_floor_is_where_it_was_noted() -> None:
    raised = replace(
        WALK,
        root_positions=WALK.root_positions + np.array([0.0, 3.0, 0.0]),
        source=replace(WALK.source, floor=3.0),
    )
    lowest = np.concatenate(poses(draw_filmstrip(raised).axes[0])[0].get_segments())[:, 1].min()
    assert abs(lowest) < 0.05
    assert extract_body(replace(raised, source=replace(raised.source, floor=None))).floor == pytest.approx(
        3.0, abs=0.05
    )


def test_it_looks_across_the_travel_and_shows_sides_in_their_colors() -> None:
    turned = WALK.moved((1.1, 4.0, -2.0))
    for motion in (WALK, turned):
        axes = draw_filmstrip(motion, n_poses=3).axes[0]
        first, *_, last = (np.concatenate(pose.get_segments())[:, 0].mean() for pose in poses(axes))
        assert last - first == pytest.approx(np.linalg.norm(np.diff(motion.travel[[0, -1]], axis=0)), abs=0.35)
        colors = {to_hex(c) for c in poses(axes)[0].get_colors()}
        assert colors == {LEFT, RIGHT, MIDDLE}
        # If the character faces right, its right side is nearer to the viewer, so it is drawn over the left one.
        order = [to_hex(c) for c in poses(axes)[0].get_colors()]
        assert order[0] == LEFT
        assert order[-1] == RIGHT


def test_views_are_right_handed() -> None:
    along = np.array([0.0, 0.0, 1.0])
    left_hand = np.array([1.0, 0.0, 0.0])  # for a character that faces +Z
    assert PoseView.side(along).nearness(left_hand) == -1.0
    assert PoseView.front(along).flat(left_hand).tolist() == [1.0, 0.0]
    assert PoseView.front(along).nearness(along) == 1.0
    assert PoseView.top(along).flat(left_hand).tolist() == [0.0, 1.0]
    assert PoseView.top(along).nearness(np.array([0.0, 1.0, 0.0])) == 1.0


def test_a_resting_root_is_not_part_of_the_body() -> None:
    plain, rooted = draw_filmstrip(WALK), draw_filmstrip(under_resting_root())
    for a, b in zip(plain.axes, rooted.axes, strict=True):
        assert a.get_xlim() == pytest.approx(b.get_xlim())
        for pose, again in zip(poses(a), poses(b), strict=True):
            np.testing.assert_allclose(pose.get_segments(), again.get_segments(), atol=1e-9)
    # Without roles, the changing distance from the root to the hips still shows the travel.
    nameless = bare(under_resting_root())
    assert len(extract_body(nameless).bones) == len(nameless.skeleton) - 2


def test_without_roles_all_bones_have_one_color() -> None:
    figure = draw_filmstrip(bare(), n_poses=4)
    drawn = [pose for axes in figure.axes for pose in poses(axes)]
    assert len(drawn) == 4
    assert {to_hex(c) for pose in drawn for c in pose.get_colors()} == {MIDDLE}
    assert {len(pose.get_segments()) for pose in drawn} == {len(WALK.skeleton) - 1}


def test_markers_without_bones_are_drawn_as_points() -> None:
    markers = marey.core.markers_to_motion(sample("walk", fps=30.0, seconds=1.0).markers())
    side = draw_filmstrip(markers, n_poses=1).axes[0]
    assert [len(line.get_xdata()) for line in side.lines if line.get_color() == MIDDLE] == [len(markers.skeleton) - 1]


def test_contacts_are_drawn_where_there_are_any() -> None:
    def dots(axes: Axes) -> int:
        return sum(
            int(np.isfinite(np.ma.filled(c.get_offsets(), np.nan)).all(axis=1).sum())
            for c in axes.collections
            if not isinstance(c, LineCollection)
        )

    contacts = WALK.contacts
    assert contacts is not None
    side, plan = draw_filmstrip(WALK, n_poses=2).axes
    assert dots(side) == contacts.mask[[0, -1]].sum()
    assert dots(plan) == sum(len(contacts.intervals(name)) for name in contacts.names)
    without = draw_filmstrip(replace(WALK, contacts=None), n_poses=2)
    assert [dots(axes) for axes in without.axes] == [0, 0]


def test_a_front_view_on_request() -> None:
    for motion in (WALK, in_place()):
        plain, more = draw_filmstrip(motion, n_poses=5), draw_filmstrip(motion, n_poses=5, front=True)
        assert "from the front" in [axes.get_title(loc="left") for axes in more.axes]
        assert len([p for a in more.axes for p in poses(a)]) == 2 * len([p for a in plain.axes for p in poses(a)])


def test_paced_and_telling_frames() -> None:
    body = extract_body(WALK)
    assert choose_frames(body, 0, len(WALK), 3) == pytest.approx([0, 60, 120], abs=1)
    assert choose_frames(body, 7, 8, 5) == [7]
    # One arm moves up suddenly at frame 100 of a standing pose.
    rotations = np.tile(WALK[0].rotations, (200, 1, 1))
    arm = WALK.skeleton.roles["left_upper_arm"]
    rotations[100, arm] = quat.mul(quat.from_axis_angle([1.0, 0.0, 0.0], -2.0), rotations[100, arm])
    still = Motion(WALK.skeleton, np.tile(WALK.root_positions[:1], (200, 1)), rotations, 10.0)
    shown = distinctive_frames(extract_body(still), 0, 200, 4)
    assert 100 in shown
    assert len(shown) == 4
    assert shown == sorted(set(shown))
    texts = [t.get_text() for axes in draw_filmstrip(still, n_poses=4).axes for t in axes.texts]
    assert "10.00 s" in texts


def test_a_kick_is_shown_at_its_height() -> None:
    kick = sample("kick").motion
    ankle = kick.world().positions[:, kick.skeleton.roles["right_foot"]]
    reach = np.linalg.norm(ankle - kick.travel, axis=1) * (ankle[:, 1] > 0.5)
    frames = distinctive_frames(extract_body(kick), 0, len(kick), 8, ends=True)
    assert (frames[0], frames[-1], len(frames)) == (0, len(kick) - 1, 8)
    assert reach[frames].max() > 0.95 * reach.max()
    for n, length in ((1, 50), (2, 50), (3, 2), (5, 3), (8, 1)):
        few = distinctive_frames(extract_body(kick[:length]), 0, length, n, ends=True)
        assert few == sorted(set(few))
        assert 1 <= len(few) <= n
        assert set(few) <= set(range(length))


@pytest.mark.parametrize("motion", [WALK, WALK[:30], in_place()], ids=["far", "near", "in place"])
@pytest.mark.parametrize("n_poses", mostly_slow([3, 40], "draws more poses", n_fast=1))
def test_first_and_last_pose_have_their_times_and_none_overlap(motion: Motion, n_poses: int) -> None:
    figure = draw_filmstrip(motion, n_poses=n_poses)
    figure.draw_without_rendering()
    report = [text for axes in figure.axes for text in axes.texts if text.get_text().endswith(" s")]
    assert {"0.00 s", f"{motion.duration:.2f} s"} <= {text.get_text() for text in report}
    for axes in figure.axes:
        row = sorted((t.get_window_extent() for t in axes.texts), key=lambda box: box.x0)
        assert all(a.x1 < b.x0 for a, b in pairwise(row))


def test_labels_stay_below_their_poses_where_they_can() -> None:
    assert _labels([4, 5, 6], [0.0, 1.0, 2.0], (-1.0, 3.0), 0.5) == [(4, 0.0), (5, 1.0), (6, 2.0)]
    pushed = dict(_labels([0, 1, 2], [1.0, 1.1, 3.0], (-1.0, 4.0), 0.5))
    assert pushed == pytest.approx({0: 0.8, 1: 1.3, 2: 3.0})
    backward = _labels([0, 1, 2], [2.0, 1.0, 0.0], (-1.0, 3.0), 0.5)
    assert [k for k, _ in backward] == [2, 1, 0]


@pytest.mark.parametrize("wrong", [0, -3, 61])
def test_impossible_numbers_of_poses_are_refused(wrong: int) -> None:
    with pytest.raises(InvalidValue, match=f"n_poses must be from 1 to 60, not {wrong}"):
        draw_filmstrip(WALK, n_poses=wrong)


@pytest.mark.parametrize(
    ("name", "side_by_side"),
    [
        ("cmu/016/16_15.bvh", False),
        ("cmu/016/16_35.bvh", False),
        ("cmu/049/49_06.bvh", False),
        ("cmu/144/144_05.bvh", True),
        ("bandai-namco/dataset-2_walk-turn-left_normal_001.bvh", False),
    ],
)
def test_real_clips(data_folder: Path, name: str, side_by_side: bool) -> None:
    if not (data_folder / name).exists():
        pytest.skip(f"{name} is not there")
    figure = draw_filmstrip(marey.load(data_folder / name))
    assert (figure.axes[-1].get_xlabel() == "forward, m") == side_by_side
    for axes in figure.axes:
        for pose in [*poses(axes), *poses(axes, 0.9)]:
            ends = np.concatenate(pose.get_segments())
            assert axes.get_xlim()[0] <= ends[:, 0].min()
            assert ends[:, 0].max() <= axes.get_xlim()[1]
            assert ends[:, 1].min() > -0.06
            assert ends[:, 1].max() < axes.get_ylim()[1]
