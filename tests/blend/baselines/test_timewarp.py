"""Blends and transitions along paths, with the settings of Motion Blender."""

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.blend import BlendSettings, TransitionSettings
from marey.blend.baselines import dynamic, find_warp_path, greedy, start_cell, threshold_search
from marey.blend.baselines.paths import round_costs
from marey.compare import distance_grid
from marey.edit import timewarp
from marey.errors import InvalidValue, MareyWarning, NoTimewarp
from marey.maths import quat
from marey.samples import straight_walk

WALK = replace(straight_walk(seconds=2.5, fps=30.0), name="walk")
SLOW = replace(timewarp(WALK, [(0.0, 0.0), (1.0, 1.4), (2.5, 3.0)]), name="slow")
GRID = distance_grid(WALK, SLOW).values


def cells(**options):
    return find_warp_path(WALK, SLOW, BlendSettings(method="cubic", **options)).cells


def test_the_finder_and_its_options_are_those_asked_for():
    np.testing.assert_array_equal(cells(), dynamic(GRID).cells)
    np.testing.assert_array_equal(cells(path_finder="greedy"), greedy(GRID).cells)
    below = threshold_search(GRID, threshold=0.6, time_limit=None).cells
    np.testing.assert_array_equal(cells(path_finder="threshold", path_threshold=0.6, path_time_limit=None), below)
    np.testing.assert_array_equal(cells(path_start="third")[0], start_cell(GRID))
    whole = greedy(round_costs(GRID)).cells
    np.testing.assert_array_equal(cells(path_finder="greedy", whole_costs=True), whole)
    np.testing.assert_array_equal(cells(path_slope_limit=4), dynamic(GRID, slope_limit=4).cells)


def test_a_threshold_that_is_too_low_is_refused_with_one_that_works():
    with pytest.raises(NoTimewarp, match="raise the threshold to"):
        cells(path_finder="threshold", path_threshold=0.001)


def test_a_search_that_was_stopped_says_so():
    with pytest.warns(MareyWarning, match="the search for a path was stopped after 1e-09 s"):
        cells(path_finder="brute_force", path_time_limit=1e-9)


def test_cubic_blends_have_the_frames_asked_for():
    assert len(marey.blend([WALK, SLOW], [0.5, 0.5], method="cubic", n_frames=77)) == 77
    assert len(marey.blend([WALK, SLOW], [0.5, 0.5], method="cubic")) != 77


@pytest.mark.parametrize("method", ["discrete", "cubic"])
def test_a_transition_is_the_first_motion_then_the_second(method):
    made = marey.transition(WALK, SLOW, at=(1.2, 1.6), length=0.6, method=method)
    step = made.source.provenance[0]
    start, stop = step["frames"]
    np.testing.assert_allclose(made.root_positions[:start], WALK.root_positions[:start], atol=1e-12)
    assert quat.angle_between(made.rotations[:start], WALK.rotations[:start]).max() < 1e-7
    rest = len(made) - stop
    assert rest > 10
    # The second motion continues where the path ends and is moved on the floor as a whole: joints except the root
    # agree.
    assert quat.angle_between(made.rotations[stop:, 1:], SLOW.rotations[-rest:, 1:]).max() < 1e-6
    steps = np.linalg.norm(np.diff(made.world().positions, axis=0), axis=-1).max()
    assert steps < 1.6 * np.linalg.norm(np.diff(WALK.world().positions, axis=0), axis=-1).max()
    assert made.name == f"walk to slow at 48 % ({method})"


def test_the_length_of_a_cubic_transition_can_be_chosen():
    made = marey.transition(WALK, SLOW, at=(1.2, 1.6), length=0.6, method="cubic", n_frames=40)
    start, stop = made.source.provenance[0]["frames"]
    assert stop - start == 40


def test_a_transition_finds_its_own_place():
    made = marey.transition(WALK, SLOW, length=0.6, method="discrete", path_finder="greedy")
    assert made.source.provenance[0]["finder"] == "greedy"


@pytest.mark.parametrize("kind", [BlendSettings, TransitionSettings])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("registered", {"n_frames": 20}),
        ("linear", {"path_finder": "greedy"}),
        ("discrete", {"n_frames": 20}),
        ("linear", {"whole_costs": True}),
    ],
)
def test_options_of_paths_are_refused_where_there_is_none(kind, method, options):
    with pytest.raises(InvalidValue, match=f"`{next(iter(options))}=` does not apply to the method '{method}'"):
        kind(method=method, **options)


def test_transitions_near_an_end_are_refused():
    with pytest.raises(InvalidValue, match="the middle of the transition must be from 0.3"):
        marey.transition(WALK, SLOW, at=(0.1, 1.6), length=0.6, method="cubic")
