"""Spaces of generated actions: targets are reached, smoothly, with weights within their bounds."""

import itertools
import json
import warnings

import numpy as np
import pytest

from marey.core.placement import find_placement
from marey.errors import InvalidValue, MareyWarning, NotBlendable
from marey.io import load_motion
from marey.maths import rigid2d
from marey.parametric import ParametricMotion
from tests.parametric.takes import (
    FEATURES,
    held_out,
    long_take_space,
    mean_errors,
    near_samples,
    real_space,
    space,
    takes,
)
from tests.tiers import mostly_slow

DEGREES = np.pi / 180.0
SIZES = {"reach": 16, "punch": 16, "kick": 24, "stretched": 24}


@pytest.mark.parametrize("kind", mostly_slow(["reach", "punch", "kick"], "builds another space", n_fast=1))
def test_a_target_near_a_sample_is_reached(kind):
    result = space(kind, SIZES[kind])
    targets = near_samples(result, 8)
    plain, fine = mean_errors(result, targets), mean_errors(result, targets, refine=True)
    assert plain["m mean"] < 0.02
    assert fine["m mean"] < 0.005
    assert fine["m own"] < 0.015


@pytest.mark.parametrize("kind", mostly_slow(["kick", "stretched"], "builds another space", n_fast=1))
def test_a_kick_hits_where_other_kicks_do(kind):
    result = space(kind, SIZES[kind])
    targets = held_out(kind, FEATURES[kind], result, 4)
    assert len(targets) == 4
    assert mean_errors(result, targets)["m mean"] < 0.02
    assert mean_errors(result, targets, refine=True)["m mean"] < 0.005


def thickness(samples):
    """Return the median of the smallest singular value of the samples' neighborhoods, relative to the largest."""
    weights = []
    for row in samples[::5]:
        near = samples[np.argsort(np.linalg.norm(samples - row, axis=1))[:16]]
        sizes = np.linalg.svd(near - near.mean(axis=0), compute_uv=False)
        weights.append(sizes[-1] / sizes[0])
    return np.median(weights)


def test_kicks_fill_a_volume_and_those_of_a_stretched_leg_a_surface():
    assert thickness(space("kick", SIZES["kick"]).samples) > 0.25
    assert thickness(space("stretched", SIZES["stretched"]).samples) < 0.15


def test_a_walk_turns_and_meets_requested_turn_and_speed():
    result = space("walk")
    targets = near_samples(result, 8)
    plain, fine = mean_errors(result, targets), mean_errors(result, targets, refine=True)
    assert plain["rad mean"] < 2.0 * DEGREES
    assert plain["m/s mean"] < 0.05
    assert fine["rad mean"] < 0.5 * DEGREES
    assert fine["m/s mean"] < 0.01


@pytest.mark.parametrize("kind", mostly_slow(["kick", "reach"], "builds another space of recorded motions", n_fast=1))
def test_real_examples_do_as_well(data_folder, kind):
    result = real_space(data_folder, kind)
    assert result.registration.n_motions == {"kick": 12, "reach": 15}[kind]
    targets = near_samples(result, 8)
    assert mean_errors(result, targets)["m mean"] < 0.02
    fine = mean_errors(result, targets, refine=True)
    assert fine["m mean"] < 0.01
    assert fine["m most"] < 0.03
    assert fine["m own"] < 0.04


@pytest.mark.parametrize("refine", [False, 2])
def test_weights_keep_their_bounds_and_sum(refine):
    result = space("reach")
    targets = np.concatenate([near_samples(result, 6), [[2.0, 3.0, -1.0]]])
    for target in targets:
        weights = result.weights(target, refine=refine, feet=None)
        assert weights.min() >= -result.delta - 1e-12
        assert weights.max() <= 1.0 + result.delta + 1e-12
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert np.count_nonzero(weights) <= result.k * (result.n_dims + 1)


def test_the_samples_keep_their_bounds_and_distances():
    result = space("reach")
    assert result.sample_weights.min() >= -result.delta - 1e-12
    assert result.sample_weights.max() <= 1.0 + result.delta + 1e-12
    np.testing.assert_allclose(result.sample_weights.sum(axis=1), 1.0, atol=1e-12)
    n = result.registration.n_motions
    np.testing.assert_array_equal(result.samples[:n], result.parameters)
    rows = result.samples / result.scale
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart[n:].min() >= 0.0127 / 0.03


def test_requesting_the_parameters_of_an_example_returns_it():
    result = space("reach")
    j = 5
    motion, own = result(result.parameters[j], feet=None), result.registration.motions[j]
    assert len(motion) == len(own)
    np.testing.assert_allclose(motion.world().positions, standing_at_origin(own), atol=1e-6)


def standing_at_origin(motion):
    return motion.moved(rigid2d.invert(find_placement(motion, 0))).world().positions


def test_every_motion_begins_at_the_origin_unless_a_start_is_given():
    result = long_take_space()
    places = [find_placement(motion, 0) for motion in result.registration.motions]
    assert np.ptp(places, axis=0)[1:].max() > 2.0  # cut from places all over the floor
    for target in near_samples(result, 4):
        motion = result(target, feet=None)
        np.testing.assert_allclose(find_placement(motion, 0), 0.0, atol=1e-9)
        there = result(target, feet=None, start=(0.5, 2.0, -1.0))
        np.testing.assert_allclose(find_placement(there, 0), (0.5, 2.0, -1.0), atol=1e-9)


def test_a_requested_position_is_that_position_in_the_world():
    result = long_take_space()
    target = result.samples[20]
    reached = result.synthesize(target, refine=True, feet=None)
    motion = reached.motion()
    joint = motion.skeleton.roles["right_ball"]
    away = np.linalg.norm(motion.world().positions[:, joint] - target, axis=1).min()
    assert away < 0.02  # between two frames at 30 Hz
    assert reached.distances()["m"] < 0.005


@pytest.mark.parametrize("apart", [3e-3, 3e-5])
def test_neighboring_targets_give_neighboring_motions_in_the_world(apart):
    # In long takes, examples are meters apart, and any of them may have the largest weight.
    result = long_take_space()
    a, b = result.samples[result.parameters.shape[0]], result.samples[-1]
    used = set()
    for fraction in np.linspace(0.0, 1.0, 8):
        line = a + fraction * (b - a) + (b - a) / np.linalg.norm(b - a) * apart * np.arange(3)[:, None]
        used.add(int(np.argmax(result.weights(result.project(line[0])[0]))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MareyWarning)
            places = [result(target, feet=None).world().positions for target in line]
        for before, after in itertools.pairwise(places):
            n = min(len(before), len(after))
            assert np.linalg.norm(before[:n] - after[:n], axis=2).max() <= 20.0 * apart
    assert len(used) > 1


@pytest.mark.parametrize(("refine", "bound"), mostly_slow([(0, 15.0), (3, 50.0)], "refines every weight", n_fast=1))
@pytest.mark.parametrize(
    ("kind", "apart"),
    mostly_slow(
        [("reach", 3e-3), ("reach", 6e-5), ("punch", 6e-5), ("kick", 6e-5), ("stretched", 6e-5)],
        "builds another space",
        n_fast=2,
    ),
)
def test_neighboring_targets_give_neighboring_motions(kind, refine, bound, apart):
    # The same bound for targets at any distance: at the smaller distance, a jump would exceed it.
    result = space(kind, SIZES[kind])
    rng = np.random.default_rng(5)
    for _ in range(3):
        a, b = result.samples[rng.integers(len(result.samples), size=2)]
        line = a + 0.2 * (b - a) + (b - a) / np.linalg.norm(b - a) * apart * np.arange(5)[:, None]
        places = [standing_at_origin(result(target, feet=None, refine=refine)) for target in line]
        for before, after in itertools.pairwise(places):
            n = min(len(before), len(after))
            assert abs(len(before) - len(after)) <= 2
            assert np.linalg.norm(before[:n] - after[:n], axis=2).max() <= bound * apart


def test_weights_do_not_jump_where_neighbors_change():
    result = space("reach")
    a, b = result.samples[-1], result.samples[-40]
    change = []
    for n in (100, 400):
        line = a + (b - a) * np.linspace(0.0, 1.0, n)[:, None]
        weights = np.array([result.weights(target) for target in line])
        change.append(np.abs(np.diff(weights, axis=0)).sum(axis=1).max())
    assert change[1] < 0.4 * change[0]


@pytest.mark.parametrize("kind", mostly_slow(["reach", "punch", "kick", "stretched"], "builds another space", n_fast=1))
def test_refined_weights_do_not_jump_however_near_the_targets_are(kind):
    # Also off the surface of stretched kicks, where nothing can be reached.
    result = space(kind, SIZES[kind])
    rng = np.random.default_rng(2)
    for start in near_samples(result, 1, seed=6):
        way = rng.standard_normal(3)
        for apart in (2e-3, 5e-5, 2e-6):
            line = start + way / np.linalg.norm(way) * apart * np.arange(6)[:, None]
            weights = np.array([result.weights(target, refine=True, feet=None) for target in line])
            assert np.abs(np.diff(weights, axis=0)).sum(axis=1).max() < 600.0 * apart


def test_unreachable_targets_are_projected_and_reported():
    output = space("reach")
    far = output.samples.max(axis=0) + 0.5
    assert far not in output.reachable()
    with pytest.warns(MareyWarning, match=r"cannot be reached with these examples; the nearest"):
        motion = output(far)
    step = motion.source.provenance[-1]
    solved, projected = output.project(far)
    assert projected
    np.testing.assert_allclose(step["aimed"], solved)
    reach = output.reachable()
    assert (solved >= reach.low - 1e-9).all()
    assert (solved <= reach.high + 1e-9).all()
    result = output.synthesize(far)
    assert np.linalg.norm(result.reached - result.aimed) < 0.1


def test_the_reachable_fraction_of_the_ranges_is_measured():
    reach = space("reach").reachable()
    points = np.random.default_rng(7).uniform(reach.low, reach.high, (500, 3))
    assert reach.fraction == pytest.approx(np.mean([point in reach for point in points]), abs=0.07)
    assert 0.0 < reach.fraction < 1.0
    assert reach.to_dict()["fraction"] == reach.fraction


def test_only_noticeable_projections_count_as_out_of_reach():
    motion = space("reach")
    edge = motion.samples[np.argmax(motion.samples[:, 1])]
    line = edge + np.linspace(0.0, 0.09, 40)[:, None] * np.array([0.0, 1.0, 0.0])
    seen = set()
    for target in line:
        solved, projected = motion.project(target)
        moved = np.linalg.norm((solved - target) / motion.scale)
        assert projected == (moved > 0.1)
        seen.add((moved > 0.0, projected))
    assert seen == {(False, False), (True, False), (True, True)}
    result = motion.synthesize(line[-1])
    assert result.measure_projection()["m"] == pytest.approx(np.linalg.norm(result.aimed - line[-1]))
    distance = result.measure_projection()["m"]
    with pytest.warns(MareyWarning, match=rf"the nearest that can be is about .*, {distance:.2g} m away"):
        motion(line[-1])


def test_what_refinement_misses_is_out_of_reach():
    # Just beyond the samples, the target is hardly moved, so refinement decides.
    motion = space("stretched", SIZES["stretched"])
    out = motion.samples[np.argmax(motion.samples[:, 2])]
    seen = set()
    for step in np.linspace(0.031, 0.045, 5):
        result = motion.synthesize(out + [0.0, 0.0, step], refine=2, feet=None)
        moved = np.linalg.norm((result.aimed - result.target) / motion.scale)
        if 0.0 < moved <= 0.1:
            assert result.projected == (np.linalg.norm(result.error / motion.scale) > 0.5)
            seen.add(result.projected)
    assert True in seen


def test_the_aim_goes_over_without_a_jump():
    result = space("reach")
    edge = result.samples[np.argmax(result.samples[:, 1])]
    line = edge + np.linspace(0.0, 0.15, 60)[:, None] * np.array([0.0, 1.0, 0.0])
    aims = np.array([result.project(target)[0] for target in line])
    assert np.linalg.norm(np.diff(aims, axis=0), axis=1).max() < 8.0 * 0.15 / 59
    assert result.project(line[0]) == (pytest.approx(line[0]), False)


def test_only_examples_with_a_weight_are_blended_and_recorded():
    result = space("reach")
    target = result.samples[-1]
    motion = result(target, name="reach here", start=(0.3, 1.0, 2.0))
    assert motion.name == "reach here"
    np.testing.assert_allclose(find_placement(motion, 0), (0.3, 1.0, 2.0), atol=0.02)
    steps = {step["op"]: step for step in motion.source.provenance}
    assert motion.source.provenance[-1]["op"] == "parametric"
    used = np.count_nonzero(result.weights(target))
    # The reference is always listed, because the placement of the others is relative to it.
    assert len(steps["blend"]["inputs"]) in (used, used + 1)
    assert steps["parametric"]["target"] == pytest.approx(target.tolist())


def test_redundant_examples_are_left_out():
    motions = takes("punch", 12)
    whole = ParametricMotion.build(motions, FEATURES["punch"], samples=0)
    thin = ParametricMotion.build(motions, FEATURES["punch"], samples=600, redundant=0.02)
    n = thin.registration.n_motions
    assert 4 <= n < len(motions)
    assert any("redundant and left out" in note for note in thin.notes)
    # Each of the examples that were left out can still be reached.
    remaining = {motion.name for motion in thin.registration.motions}
    gone = [k for k, motion in enumerate(motions) if motion.name not in remaining]
    assert len(gone) == len(motions) - n
    errors = [thin.synthesize(whole.parameters[k], refine=True, feet=None).distances()["m"] for k in gone]
    assert np.mean(errors) < 0.02


def test_values_given_by_hand_need_no_sampling():
    motions = takes("reach", 4)
    mood = ParametricMotion.build(motions, values=[0.0, 1.0, 2.0, 3.0], names=["mood"])
    assert len(mood.samples) == 4
    np.testing.assert_allclose(mood.weights([1.0]), [0.0, 1.0, 0.0, 0.0])
    weights = mood.weights([0.5])
    assert weights[:2] == pytest.approx(weights[:2][::-1])
    assert weights[:2].sum() > 0.6
    assert len(mood([0.5])) > 30
    assert np.isnan(mood.synthesize([0.5]).reached).all(), "what cannot be measured has no error"
    with pytest.raises(InvalidValue, match=r"refine needs parameters that can be measured, but 'mood' was given"):
        mood.synthesize([0.5], refine=True)
    # Between the examples, every value is within reach; beyond them, it is not.
    assert mood.project([0.5]) == (0.5, False)
    assert [0.5] in mood.reachable()
    assert [3.5] not in mood.reachable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mood([2.5])
    with pytest.warns(MareyWarning, match="cannot be reached"):
        mood([3.5])


def test_unreachable_results_are_measured_against_the_request():
    motion = space("reach")
    far = motion.parameters.mean(axis=0) + [0.0, 3.0, 0.0]
    result = motion.synthesize(far)
    assert result.projected
    np.testing.assert_allclose(result.error, result.reached - far)
    assert result.distances()["m"] > 2.0


def test_two_examples_are_a_line():
    motions = takes("reach", 2)
    motion = ParametricMotion.build(motions, FEATURES["reach"], samples=50)
    middle = motion.parameters.mean(axis=0)
    result = motion.synthesize(middle, refine=True)
    # The middle of two positions is not on the arc along which the blends' hands lie.
    assert np.linalg.norm(result.reached - result.aimed) < 0.05


def test_a_motion_is_returned_with_the_parameters_it_reaches():
    output = space("reach", SIZES["reach"])
    target = output.samples[20]
    reached = output.synthesize(target, refine=True)
    motion = reached.motion()
    alone = output(target, refine=True)
    np.testing.assert_array_equal(motion.rotations, alone.rotations)
    assert (motion.name, motion.source.provenance) == (alone.name, alone.source.provenance)
    np.testing.assert_array_equal(reached.reached, output.synthesize(target, refine=True).reached)
    plain = json.loads(json.dumps(reached.to_dict(), allow_nan=False))
    assert plain["reached"] == reached.reached.tolist()
    with pytest.warns(
        DeprecationWarning, match=r"ParametricMotion\.made is deprecated, use ParametricMotion\.synthesize"
    ):
        old, result = output.made(target, refine=True)
    np.testing.assert_array_equal(old.rotations, motion.rotations)
    assert result.weights == pytest.approx(reached.weights)
    with pytest.raises(InvalidValue, match="feet must be 'clean' or None, not 'lock'"):
        output(target, feet="lock")


def test_takes_of_walks_are_cropped_to_a_common_phase(data_folder):
    """All takes can be used, although they begin and end at different phases; without the crop, most are left out."""
    numbers = (11, 13, 15, 17, 19, 21, 23, 25, 27, 29)
    takes = [load_motion(data_folder / "cmu" / "016" / f"16_{k}.bvh", fps=30) for k in numbers]
    result = ParametricMotion.build(takes, "turn,speed", samples=0)
    assert len(result.parameters) == len(takes)
    turns = np.degrees(result.parameters[:, 0])
    assert turns.min() < -80.0
    assert turns.max() > 80.0
    assert "cropped to 3 half cycles" in result.notes[0]
    with pytest.raises(NotBlendable, match="only 1 of 10 can be used"):
        ParametricMotion.build(takes, "turn,speed", samples=0, crop=None)
