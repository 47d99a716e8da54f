"""Compiled loops against slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marey.clean import contact_kernels, floor_kernels
from marey.clean.contact_kernels import ContactLimits, PlantRules, PlantSpeed, PlantTrim
from marey.core import World
from marey.maths import filters, quat
from tests.twins import contacts as twin

LIMITS = ContactLimits(0.35, 0.6, 0.025, 0.035)
PLAIN = PlantSpeed(10.0, 0.0, 0.0, 10.0)  # the plant's own speed does not matter
OWN = PlantSpeed(0.01, 3.0, 0.02, 0.03)
ANY = PlantTrim(10.0, 0.0, 1.0, 99.0)  # nor its average and length
CALM = PlantTrim(0.2, 6.0, 0.5, 20.0)


def found(speed, clearance, own=PLAIN, height=1.0, gap=0, shortest=1, calm=ANY, pace=1.0, growth=0.0):
    speed, clearance = (np.asarray(x, dtype=float).reshape(-1, 1) for x in (speed, clearance))
    mask, each = np.zeros(speed.shape, dtype=bool), np.array([[height, growth]])
    paces = np.broadcast_to(np.asarray(pace, dtype=float), len(speed)).copy()
    rules = PlantRules(LIMITS, own, calm, gap, shortest)
    contact_kernels.detect_plants(speed, clearance, paces, each, rules, mask)
    return twin.runs_of(mask[:, 0].tolist())


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 0.05), st.sampled_from([0.9, 1.0, 1.3])), min_size=2, max_size=60
    ),
    st.sampled_from([PLAIN, OWN]),
    st.sampled_from([ANY, CALM]),
    st.integers(0, 4),
    st.integers(2, 9),
    st.sampled_from([(0.02, 0.0), (1.0, 0.0), (1.0, 1.5)]),
)
def test_plants_are_those_of_the_slow_twin(frames, own, calm, gap, shortest, each):
    speed, clearance, pace = (list(column) for column in zip(*frames, strict=True))
    expected = twin.plants(speed, clearance, pace, LIMITS, each, own, calm, gap, shortest)
    assert found(speed, clearance, own, each[0], gap, shortest, calm, pace, each[1]) == expected


def test_a_contact_begins_under_the_lower_threshold_and_lasts_under_the_higher():
    assert found([0.5] * 9, [0.0] * 9) == []  # never slow enough to start a contact
    speed = [0.9, 0.5, 0.5, 0.3, 0.5, 0.5, 0.9, 0.5, 0.9]
    assert found(speed, [0.0] * 9, shortest=2) == [(1, 6)]
    height = [0.05, 0.03, 0.02, 0.03, 0.05, 0.03, 0.05, 0.05, 0.05]
    assert found([0.1] * 9, height, shortest=2) == [(1, 4)]  # the same for heights


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


def test_a_motionless_plant_ends_with_its_first_movement():
    speed = [0.5, 0.2, 0.05, *[0.0] * 20, 0.05, 0.2, 0.5]
    own = PlantSpeed(0.001, 12.0, 0.0, 0.005)
    assert found(speed, [0.0] * len(speed), own, shortest=5) == [(3, 23)]


def test_a_plant_that_drifts_keeps_its_drift():
    speed = [0.5, *[0.08, 0.05, 0.06, 0.09] * 5, 0.5]
    own = PlantSpeed(0.001, 12.0, 0.0, 0.005)
    assert found(speed, [0.0] * 22, own, shortest=5) == [(0, 22)]


def test_what_the_clip_cuts_is_judged_by_the_other_plants():
    """In the first frames the foot is leaving: it is slow, but not as still as this foot is when planted."""
    speed = [0.1, 0.2, 0.4, 0.9, *[0.0] * 9, 0.9, 0.4]
    own = PlantSpeed(0.001, 12.0, 0.0, 0.005)
    assert found(speed, [0.0] * 15, own, shortest=5) == [(4, 13)]
    assert found(speed[:4], [0.0] * 4, own, shortest=5) == [(0, 3)]  # without other contacts, it may be a plant


def test_the_speed_to_keep_goes_with_the_pace():
    speed = [0.9, 0.7, 0.5, 0.3, 0.3, 0.5, 0.7, 0.9]
    assert found(speed, [0.0] * 8) == [(2, 6)]
    assert found(speed, [0.0] * 8, pace=1.2) == [(1, 7)]
    assert found(speed, [0.0] * 8, pace=0.75) == [(3, 5)]


def test_short_plants_at_pace_lose_their_fast_ends_down_to_a_length():
    speed = [0.9, *[0.5] * 6, *[0.1] * 4, *[0.5] * 4, 0.9]
    assert found(speed, [0.0] * 16, calm=CALM, pace=1.1)[0] == (4, 11)  # half of the fourteen
    assert found(speed, [0.0] * 16, calm=CALM, pace=1.0)[0] == (1, 15)  # standing or walking
    assert found(speed[6:], [0.0] * 10, calm=CALM, pace=1.1)[0][0] == 0  # the clip's end is not the plant's


def test_plants_too_short_for_a_step_grow_at_their_slower_side():
    speed = [0.9, 0.7, *[0.1] * 3, 0.65, 0.68, 0.9]
    calm = PlantTrim(10.0, 6.0, 0.5, 20.0)
    assert found(speed, [0.0] * 8, calm=calm) == [(2, 5)]
    assert found(speed, [0.0] * 8, calm=calm, growth=1.2) == [(1, 7)]
    assert found(speed, [0.0] * 8, calm=calm, growth=1.1) == [(2, 6)]  # not beyond its speed limit
    assert found(speed, [0.0] * 5 + [0.04] * 3, calm=calm, growth=1.2) == [(2, 5)]  # and not too high


@settings(deadline=None)
@given(st.lists(st.floats(-1.0, 1.0), max_size=40), st.floats(0.0, 0.5), st.integers(1, 10))
def test_the_lowest_level_is_that_of_the_slow_twin(heights, width, needed):
    level = floor_kernels.find_lowest_level(np.sort(np.array(heights, dtype=float)), width, needed)
    expected = twin.lowest_level(heights, width, needed)
    if expected is None:
        assert np.isnan(level)
    else:
        assert level == pytest.approx(expected)


@settings(deadline=None)
@given(
    st.lists(st.floats(-1.0, 1.0), max_size=40),
    st.floats(-1.0, 0.0),
    st.floats(0.0, 1.0),
    st.floats(0.01, 0.5),
    st.integers(1, 10),
)
def test_level_fractions_match_the_slow_twin(heights, low, high, width, needed):
    shares = np.empty(3)
    there = floor_kernels.measure_level(np.sort(np.array(heights, dtype=float)), low, high, width, needed, shares)
    expected = twin.level_shares(heights, low, high, width, needed)
    assert (shares.tolist() if there else None) == expected


def test_paces_are_how_far_the_hips_get():
    hips = np.zeros((50, 3))
    hips[:, 0], hips[:, 1] = 0.02 * np.arange(50), np.arange(50) % 3  # vertical movement is not travel
    pace = np.empty(50)
    contact_kernels.measure_paces(hips, 5, 0.1, 0.9, 3.0, pace)
    np.testing.assert_allclose(pace, 2.0)
    contact_kernels.measure_paces(hips, 5, 0.1, 0.9, 1.35, pace)
    np.testing.assert_allclose(pace, 1.35)
    contact_kernels.measure_paces(np.zeros((3, 3)), 5, 0.1, 0.9, 1.35, pace[:3])
    np.testing.assert_allclose(pace[:3], 0.9)


@pytest.mark.parametrize("sigma", [0.1, 0.4, 0.72, 1.44, 6.0, 40.0])
@pytest.mark.parametrize("n_frames", [1, 4, 50])
def test_smoothing_is_that_of_the_filters(sigma, n_frames):
    x = np.random.default_rng(1).normal(size=(n_frames, 3, 3))
    out = np.empty_like(x)
    contact_kernels.smooth_paths(x, sigma, out)
    np.testing.assert_allclose(out, filters.gaussian(x, sigma), atol=1e-12)


def test_speed_is_that_of_the_slower_neighboring_step():
    path = np.zeros((6, 1, 3))
    path[:, 0, 0] = [0.0, 1.0, 1.0, 1.0, 3.0, 7.0]
    speed = np.empty((6, 1))
    contact_kernels.measure_speeds(path, 10.0, speed)
    assert speed[:, 0].tolist() == [10.0, 0.0, 0.0, 0.0, 20.0, 40.0]


def test_points_are_placed_by_their_joints():
    rng = np.random.default_rng(0)
    world = World(rng.normal(size=(5, 4, 3)), quat.normalize(rng.normal(size=(5, 4, 4))))
    joints, offsets = np.array([2, 0, 2]), rng.normal(size=(3, 3))
    paths = np.empty((5, 3, 3))
    contact_kernels.place_points(world.positions, world.rotations, joints, offsets, paths)
    expected = world.positions[:, joints] + quat.rotate(world.rotations[:, joints], offsets)
    np.testing.assert_allclose(paths, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_edges_in_noise_are_where_the_point_leaves(seed):
    rng = np.random.default_rng(seed)
    f = np.arange(80)
    path = np.zeros((80, 1, 3))
    path[:, 0, 1] = 0.0004 * np.maximum(f - 59, 0) ** 2 + 0.0004 * np.maximum(20 - f, 0) ** 2
    path += rng.normal(0.0, 0.003, path.shape)
    for start, stop in ((20, 60), (16, 64), (24, 56)):  # for any initial guess
        mask = np.zeros((80, 1), dtype=bool)
        mask[start:stop] = True
        contact_kernels.refine_edges(path, 0.003, 7, 2, 6.0, mask)
        ((first, last),) = twin.runs_of(mask[:, 0].tolist())
        assert abs(first - 20) <= 3
        assert abs(last - 60) <= 3


def test_noise_alone_ends_no_plant():
    path = np.random.default_rng(3).normal(0.0, 0.003, (60, 1, 3))
    mask = np.zeros((60, 1), dtype=bool)
    mask[3:55] = True
    contact_kernels.refine_edges(path, 0.003, 7, 2, 6.0, mask)
    assert mask.all()


def test_stands_are_the_long_still_runs():
    rng = np.random.default_rng(4)
    still, paths = rng.random((60, 3)) < 0.8, rng.normal(size=(60, 3, 3))
    table = np.empty((2 * (60 // 4 + 1), 5))
    n = floor_kernels.find_stands(still, paths, np.array([2, 0]), 4, table)
    runs = [(k, *run) for k in (2, 0) for run in twin.runs_of(still[:, k]) if run[1] - run[0] >= 4]
    expected = [[*paths[start:stop, k].mean(axis=0), 0.5 * (start + stop), k] for k, start, stop in runs]
    assert n > 5
    np.testing.assert_array_equal(table[:n], expected)


@pytest.mark.parametrize("feet", [[0, 0, 1, 1, -1], [1, 1, 1, 1, -1]])
def test_clearance_above_the_floor(feet):
    rng = np.random.default_rng(11)
    above, deepest, feet = rng.normal(0.0, 0.1, (40, 5)), np.array([0.06, 0.06, 0.06, 0.06, 0.25]), np.array(feet)
    clearance = np.empty(above.shape)
    contact_kernels.measure_clearance(above, deepest, feet, 0.12, clearance)
    np.testing.assert_array_equal(clearance, twin.clearance_above_floor(above, deepest, feet, 0.12))


def test_feet_in_the_air_do_not_stand():
    rng = np.random.default_rng(12)
    still, paths = rng.random((60, 5)) < 0.7, rng.normal(0.0, 0.1, (60, 5, 3))
    mains, feet = np.array([1, 3]), np.array([0, 0, 1, 1, -1])
    expected = twin.raised_in_air(still, paths, mains, feet, 0.03, 0.36)
    floor_kernels.drop_raised(still, paths, mains, feet, 0.03, 0.36)
    np.testing.assert_array_equal(still, expected)


@pytest.mark.parametrize("slope", [0.0, 0.05])
@pytest.mark.parametrize("is_line", [False, True])
def test_plane_through_stands(slope, is_line):
    rng = np.random.default_rng(13)
    places, own = rng.uniform(-2.0, 2.0, (40, 2)), np.eye(4)[np.arange(40) % 4]
    places[:, 1] = 0.0 if is_line else places[:, 1]
    heights = slope * places[:, 0] + own @ [0.0, 0.01, 0.02, 0.9] + rng.normal(0.0, 0.004, 40)
    terms, weights = np.hstack([places, own]), np.empty(40)
    heights[::7] += 0.3  # on a step
    assert floor_kernels.weigh_stands(terms, heights, 0.06, 8, 1e-4, weights)
    np.testing.assert_allclose(weights, twin.robust_weights(terms, heights, 0.06, 8, 1e-4), atol=1e-6)
    weights[own[:, 3] > 0.0] = 0.0  # so its term is unknown
    prior, values, spread = np.array([400.0, 400.0, 0.0, 0.0, 0.0, 0.0]), np.empty(6), np.empty((6, 6))
    residue = floor_kernels.fit_stands(terms, heights, weights, 0.004, prior, values, spread)
    expected = twin.fitted(terms, heights, weights, 0.004, prior)
    for ours, theirs in zip((values, spread, residue), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)
    assert not floor_kernels.weigh_stands(np.ones((2, 1)), np.array([-1.0, 1.0]), 0.06, 8, 1e-4, weights[:2])
