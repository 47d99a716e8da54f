"""Curves through frames, and moments that are moved to a nearby extreme."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core.resample import resample
from marey.errors import InvalidValue
from marey.parametric import ParametricMotion, SpaceSettings, position
from marey.parametric.dense import cubic_weights, upsample
from marey.parametric.features import extreme_near
from marey.register import register_tree
from marey.samples import sample
from tests.parametric.takes import FEATURES, mean_errors, near_samples, space, takes


def test_dense_motions_go_through_the_frames_and_near_the_truth():
    fine = sample("kick", rng=3, fps=240.0).motion
    coarse = replace(fine, name="coarse", root_positions=fine.root_positions[::8], rotations=fine.rotations[::8],
                     fps=30.0, contacts=None, labels=type(fine.labels)())  # fmt: skip
    reg = register_tree([coarse, coarse]).registration
    dense = upsample(reg).motions[0]
    n = len(dense)
    assert dense.fps == 240.0
    np.testing.assert_allclose(dense.root_positions[::8], coarse.root_positions, atol=1e-12)
    np.testing.assert_allclose(np.abs((dense.rotations[::8] * coarse.rotations).sum(axis=2)), 1.0, atol=1e-12)
    truth, ball = fine.world().positions[:n], fine.skeleton.roles["right_ball"]
    curved = np.linalg.norm(dense.world().positions - truth, axis=2)[:, ball].max()
    straight = np.linalg.norm(coarse.at(np.arange(n) / 240.0).world().positions - truth, axis=2)[:, ball].max()
    assert curved < 0.5 * straight


def test_dense_motions_and_loops_are_unchanged():
    reg = space("reach").registration
    once = upsample(reg)
    assert [len(motion) for motion in once.motions] == [4 * (len(motion) - 1) + 1 for motion in reg.motions]
    assert upsample(once) is once
    for motion, own in zip(once.motions, reg.motions, strict=True):
        np.testing.assert_array_equal(motion.contacts.mask[::4], own.contacts.mask)


def test_values_between_frames_are_those_of_a_cubic():
    at, lengths = np.array([0.0, 0.3, 4.5, 8.9, 9.0, 1.25]), np.array([10, 10, 10, 10, 10, 3])
    places, weights = cubic_weights(at, lengths)
    assert (places >= 0).all()
    assert (places < lengths[:, None]).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose((weights * places**3).sum(axis=1)[:5], at[:5] ** 3, atol=1e-9)
    # With three frames, the straight line.
    assert (weights * places**2).sum(axis=1)[5] == pytest.approx(1.0 + 0.25 * 3.0)


@pytest.mark.slow("builds a space at a low rate")
def test_kicks_with_few_frames_still_hit():
    result = ParametricMotion.build([resample(motion, 30.0) for motion in takes("kick", 24)], FEATURES["kick"])
    assert result(result.samples[-1]).fps == 30.0
    assert mean_errors(result, near_samples(result, 8), refine=True)["m mean"] < 0.005


def test_the_extreme_nearby_is_the_largest_within_reach():
    height = np.array([0, 1, 0, 3, 0, 5, 0, 0, 0, 0.0])
    path = np.stack([0 * height, height, 0 * height], axis=1)
    assert extreme_near(path, "highest", 2, 1) == 3
    assert extreme_near(path, "highest", 3, 2) == 5
    assert extreme_near(path, "lowest", 5, 1) in (4, 6)
    assert extreme_near(np.stack([height] * 3, axis=1), "farthest", 0, 1) == 1
    ramp = np.linspace(0.0, 1.0, 9)[:, None] * np.ones(3)
    assert extreme_near(ramp, "highest", 4, 2) == 4


def test_a_given_moment_snaps_to_each_kick_s_own_apex():
    motions = takes("kick", 8)
    feature = position("right_ball")
    own = np.array([feature.find_frame(motion) for motion in motions])
    # Given 0.05 s away from the apex of the first.
    given = position("right_ball", (own[0] + 3) / motions[0].fps)
    snapped = ParametricMotion.build(motions, given, settings=SpaceSettings(snap="farthest"), samples=50)
    found = ParametricMotion.build(motions, feature, samples=50)
    np.testing.assert_allclose(snapped.parameters, found.parameters, atol=2e-3)
    loose = ParametricMotion.build(motions, given, samples=50)
    assert np.abs(loose.parameters - found.parameters).max() > 0.02


def test_what_cannot_be_snapped_is_refused():
    motions = takes("kick", 3)
    given = position("right_ball", 0.8)
    with pytest.raises(InvalidValue, match=r"`snap=` must be 'farthest', .* or None, not 'furthest'"):
        ParametricMotion.build(motions, given, settings=SpaceSettings(snap="furthest"))
    with pytest.raises(InvalidValue, match=r"`snap=` needs pose features at one moment in seconds"):
        ParametricMotion.build(motions, position("right_ball"), settings=SpaceSettings(snap="highest"))
    with pytest.raises(InvalidValue, match=r"omit `apexes=`"):
        ParametricMotion.build(motions, given, settings=SpaceSettings(snap="highest", apexes=[50, 50, 50]))
    with pytest.raises(InvalidValue, match=r"is measured at 99 s, but the reference lasts only"):
        ParametricMotion.build(motions, position("right_ball", 99.0), settings=SpaceSettings(snap="highest"))
