"""Compiled loops against slow, obvious twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marey.clean import _kernels
from marey.core import World
from marey.maths import filters, quat
from tests.twins import contacts as twin

LIMITS = np.array([0.35, 0.6, 0.025, 0.035])
# base, factor, noise, calm, calm_frames, calm_share, calm_longest
PLAIN = np.array([10.0, 0.0, 0.0, 10.0, 1.0, 1.0, 99.0])  # neither the plant's own speed nor its average matters
OWN = np.array([0.01, 3.0, 0.02, 0.2, 4.0, 0.75, 20.0])


def found(speed, clearance, own=PLAIN, height=1.0, gap=0, shortest=1):
    speed, clearance = (np.asarray(x, dtype=float).reshape(-1, 1) for x in (speed, clearance))
    mask = np.zeros(speed.shape, dtype=bool)
    _kernels.plants(speed, clearance, LIMITS, np.array([height]), own, gap, shortest, mask)
    return twin.runs_of(mask[:, 0].tolist())


@settings(deadline=None)  # the first call loads the kernel
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 0.05)), min_size=2, max_size=60),
    st.sampled_from([PLAIN, OWN]),
    st.integers(0, 4),
    st.integers(2, 9),
    st.sampled_from([0.02, 1.0]),
)
def test_plants_are_those_of_the_slow_twin(frames, own, gap, shortest, height):
    speed, clearance = (list(column) for column in zip(*frames, strict=True))
    expected = twin.plants(speed, clearance, LIMITS, height, own, gap, shortest)
    flags = np.zeros(len(frames), dtype=bool)
    for start, stop in expected:
        flags[start:stop] = True
    assert found(speed, clearance, own, height, gap, shortest) == twin.runs_of(flags.tolist())


def test_a_contact_begins_under_the_lower_threshold_and_lasts_under_the_higher():
    assert found([0.5] * 9, [0.0] * 9) == []  # never slow enough to begin
    speed = [0.9, 0.5, 0.5, 0.3, 0.5, 0.5, 0.9, 0.5, 0.9]
    assert found(speed, [0.0] * 9, shortest=2) == [(1, 6)]
    height = [0.05, 0.03, 0.02, 0.03, 0.05, 0.03, 0.05, 0.05, 0.05]
    assert found([0.1] * 9, height, shortest=2) == [(1, 4)]  # and likewise for heights


def test_low_and_slow_must_meet_in_one_frame():
    assert found([0.3, 0.5, 0.5, 0.5], [0.03, 0.03, 0.02, 0.03]) == []


def test_short_gaps_are_closed_and_long_ones_stay():
    speed = [0.1] * 5 + [0.9] * 3 + [0.1] * 5
    assert found(speed, [0.0] * 13, gap=2, shortest=2) == [(0, 5), (8, 13)]
    assert found(speed, [0.0] * 13, gap=3, shortest=2) == [(0, 13)]


def test_short_contacts_are_dropped_unless_the_clip_cuts_them_off():
    speed = [0.1] * 3 + [0.9] * 5 + [0.1] * 6 + [0.9] * 5 + [0.1] * 3
    assert found(speed, [0.0] * 22, shortest=7) == [(0, 3), (19, 22)]
    assert found(speed, [0.0] * 22, shortest=6) == [(0, 3), (8, 14), (19, 22)]


def test_a_plant_that_stands_dead_still_ends_with_its_first_movement():
    speed = [0.5, 0.2, 0.05, *[0.0] * 20, 0.05, 0.2, 0.5]
    own = np.array([0.001, 12.0, 0.0, 0.2, 6.0, 0.75, 20.0])
    assert found(speed, [0.0] * len(speed), own, shortest=5) == [(3, 23)]


def test_a_plant_that_drifts_keeps_its_drift():
    speed = [0.5, *[0.08, 0.05, 0.06, 0.09] * 5, 0.5]
    own = np.array([0.001, 12.0, 0.0, 0.2, 6.0, 0.75, 20.0])
    assert found(speed, [0.0] * 22, own, shortest=5) == [(0, 22)]


@settings(deadline=None)  # the first call loads the kernel
@given(st.lists(st.floats(-1.0, 1.0), max_size=40), st.floats(0.0, 0.5), st.integers(1, 10))
def test_the_lowest_level_is_that_of_the_slow_twin(heights, width, needed):
    level = _kernels.lowest_level(np.sort(np.array(heights, dtype=float)), width, needed)
    expected = twin.lowest_level(heights, width, needed)
    if expected is None:
        assert np.isnan(level)
    else:
        assert level == pytest.approx(expected)


@pytest.mark.parametrize("sigma", [0.1, 0.4, 0.72, 1.44, 6.0, 40.0])
@pytest.mark.parametrize("n_frames", [1, 4, 50])
def test_smoothing_is_that_of_the_filters(sigma, n_frames):
    x = np.random.default_rng(1).normal(size=(n_frames, 3, 3))
    out = np.empty_like(x)
    _kernels.smooth(x, sigma, out)
    np.testing.assert_allclose(out, filters.gaussian(x, sigma), atol=1e-12)


def test_speed_is_that_of_the_slower_neighbouring_step():
    path = np.zeros((6, 1, 3))
    path[:, 0, 0] = [0.0, 1.0, 1.0, 1.0, 3.0, 7.0]
    speed = np.empty((6, 1))
    _kernels.speeds(path, 10.0, speed)
    assert speed[:, 0].tolist() == [10.0, 0.0, 0.0, 0.0, 20.0, 40.0]


def test_points_are_placed_by_their_joints():
    rng = np.random.default_rng(0)
    world = World(rng.normal(size=(5, 4, 3)), quat.normalize(rng.normal(size=(5, 4, 4))))
    joints, offsets = np.array([2, 0, 2]), rng.normal(size=(3, 3))
    paths = np.empty((5, 3, 3))
    _kernels.place_points(world.positions, world.rotations, joints, offsets, paths)
    expected = world.positions[:, joints] + quat.rotate(world.rotations[:, joints], offsets)
    np.testing.assert_allclose(paths, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_edges_in_noise_are_where_the_point_leaves(seed):
    rng = np.random.default_rng(seed)
    f = np.arange(80)
    path = np.zeros((80, 1, 3))
    path[:, 0, 1] = 0.0004 * np.maximum(f - 59, 0) ** 2 + 0.0004 * np.maximum(20 - f, 0) ** 2
    path += rng.normal(0.0, 0.003, path.shape)
    for start, stop in ((20, 60), (16, 64), (24, 56)):  # wherever the first guess is
        mask = np.zeros((80, 1), dtype=bool)
        mask[start:stop] = True
        _kernels.settle_edges(path, 0.003, 7, 3, 0.03, mask)
        ((first, last),) = twin.runs_of(mask[:, 0].tolist())
        assert abs(first - 20) <= 3
        assert abs(last - 60) <= 3


def test_noise_alone_ends_no_plant():
    path = np.random.default_rng(3).normal(0.0, 0.003, (60, 1, 3))
    mask = np.zeros((60, 1), dtype=bool)
    mask[3:55] = True
    _kernels.settle_edges(path, 0.003, 7, 3, 0.03, mask)
    assert mask.all()
