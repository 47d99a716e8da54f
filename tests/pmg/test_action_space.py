"""Spaces of single actions: exact, as fast as gait spaces, with planted feet, and the same after loading."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from marey.errors import InvalidValue, NoResult, ParseError, UnknownVersion
from marey.measure import measure
from marey.parametric import ParametricMotion, SpaceSettings, position
from marey.pmg import ActionSpace
from marey.pmg.action_space import _find_width
from marey.pmg.files import load_any_space
from marey.samples import sample
from tests.pmg.characters import turn_space
from tests.pmg.recipes import small_character


def punches():
    return small_character("boxing")["punch"].space


@cache
def ducks():
    motions = [sample("duck", height=height, fps=30.0, variation=0.0).motion for height in (1.0, 1.2, 1.4, 1.6)]
    return ParametricMotion.build(motions, values=[1.0, 1.2, 1.4, 1.6], names=["height"], samples=0)


def test_weights_sum_to_one_and_examples_give_themselves():
    space = ActionSpace.build(ducks())
    rng = np.random.default_rng(0)
    for target in rng.uniform(space.low, space.high, (20, 1)):
        weights = space.weights(target)
        assert weights.min() >= 0.0
        np.testing.assert_allclose(weights.sum(), 1.0)
        np.testing.assert_allclose(weights @ space.parameters, target, atol=1e-3)
    result = space([1.0])
    given = sample("duck", height=1.0, fps=30.0, variation=0.0).motion
    assert abs(result.duration - given.duration) <= 1.0 / 30.0
    low = [each.world().positions[..., 1].max(axis=1).min() for each in (result, given)]
    assert abs(low[0] - low[1]) < 0.005


@pytest.mark.slow("makes and measures 40 motions")
def test_measured_parameters_are_met():
    space = punches()
    feature = position("right_hand", "farthest")
    rng = np.random.default_rng(1)
    off = [np.linalg.norm(feature(space(each)) - each) for each in space.region.sample(40, rng)]
    assert np.median(off) < 0.02
    assert np.quantile(off, 0.9) < 0.04  # up to the ends of the region, which have few examples around them


def test_feet_are_planted_and_motion_changes_smoothly_with_parameters():
    space = punches()
    middle = 0.5 * (space.low + space.high)
    a, b = space(middle), space(middle + 1e-3 * (space.high - space.low))
    assert measure(a)["slide_contact"].value < 0.01
    n = min(len(a), len(b))
    apart = np.abs(a.world().positions[:n] - b.world().positions[:n]).max()
    assert 0.0 < apart < 0.01
    np.testing.assert_allclose(a.root_positions[0, [0, 2]], 0.0, atol=1e-9)


def test_paths_are_those_of_the_motions():
    space = small_character("boxing")["dance"].space
    path = space.paths(np.array([[0.6, 0.05]]), 9)[0]
    assert abs(path[-1, 0] - path[0, 0] - 0.6) < 0.05
    np.testing.assert_allclose(path[0], 0.0, atol=1e-9)


def test_a_file_gives_the_same_space(tmp_path):
    space = ActionSpace.build(ducks(), names=("height",), units=("m",))
    space.save(tmp_path / "a.npz")
    again = load_any_space(tmp_path / "a.npz")
    assert isinstance(again, ActionSpace)
    assert again.names == ("height",)
    assert again.units == ("m",)
    np.testing.assert_allclose(again([1.3]).rotations, space([1.3]).rotations, atol=1e-6)
    turn_space().save(tmp_path / "g.npz")
    assert type(load_any_space(tmp_path / "g.npz")).__name__ == "GaitSpace"
    ducks().save(tmp_path / "p.npz")
    assert isinstance(load_any_space(tmp_path / "p.npz"), ParametricMotion)


def test_bad_files(tmp_path):
    from marey.io import save

    save(sample("duck", fps=30.0).motion, tmp_path / "m.npz")
    with pytest.raises(UnknownVersion, match=r"m.npz: is not a space of motions"):
        load_any_space(tmp_path / "m.npz")
    data = bytearray((tmp_path / "m.npz").read_bytes())[:200]
    (tmp_path / "cut.npz").write_bytes(bytes(data))
    with pytest.raises(ParseError, match=r"cut.npz"):
        load_any_space(tmp_path / "cut.npz")


def test_bad_input():
    with pytest.raises(InvalidValue, match="one entry for each of 1 parameters .height., not 2"):
        ActionSpace.build(ducks(), names=("a", "b"))
    with pytest.raises(InvalidValue, match="bandwidth must be greater than 0"):
        ActionSpace.build(ducks(), bandwidth=0.0)
    motions = list(ducks().registration.motions)
    same = ParametricMotion.build(
        motions, values=[1.0, 1.0, 1.0, 1.0], names=["height"], samples=0, settings=SpaceSettings(scale=[1.0])
    )
    with pytest.raises(NoResult, match="'height' cannot be a parameter"):
        ActionSpace.build(same)


def test_every_example_is_reached():
    node = small_character("boxing")["punch"]
    found = node.count_reached()
    assert found.n_reached == found.n_examples == len(node.space.parameters)
    assert found.describe() == f"{found.n_examples} of {found.n_examples} examples within 2 cm"
    for own in node.space.parameters[::3]:
        assert np.linalg.norm(position("right_hand", "farthest")(node.motion(own)) - own) < 0.02
    part = node.part("near", node.low, [*node.high[:2], node.middle[2]])
    assert part.count_reached().n_reached == part.count_reached().n_examples < found.n_examples
    assert small_character("boxing")["duck"].count_reached().describe() == "3 examples"


def test_parameters_outside_are_projected_and_change_continuously():
    node = small_character("boxing")["punch"]
    line = node.middle + np.linspace(0.0, 1.0, 200)[:, None] * [0.6, 0.3, 0.8]
    found = node.project(line)
    steps = np.linalg.norm(np.diff(found / node.scale, axis=0), axis=1)
    assert steps.max() <= np.linalg.norm(np.diff(line[:2] / node.scale, axis=0)) + 1e-9
    assert all(node.contains(each) for each in found[::20])
    assert not node.contains(line[-1])
    near = [np.linalg.norm(node.reached(each) - each) for each in node.samples(30, np.random.default_rng(0))]
    assert np.median(near) < 0.02


@pytest.mark.parametrize(("apart", "width"), [(0.01, 0.2), (0.3, 0.3), (0.9, 0.4)])
def test_kernels_are_as_wide_as_neighbors_are_apart(apart, width):
    pairs = np.array([0.0, apart, 4.0, 4.0 + apart, 8.0, 8.0 + apart])[:, None]
    np.testing.assert_allclose(_find_width(3.0 * pairs, np.array([3.0])), [3.0 * width])


def test_kernels_of_equal_or_single_examples_are_wide():
    for n in (1, 3):
        np.testing.assert_allclose(_find_width(np.ones((n, 2)), np.array([1.0, 2.0])), [0.4, 0.8])
