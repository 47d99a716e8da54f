"""A region contains its points, and the nearest point to a target is at least as near as any other point of it."""

import subprocess
import sys

import numpy as np
import pytest

from marey.parametric.region import Region

SEEDS = range(5)


def points_of(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 4
    return rng.normal(size=(12, d)) * rng.uniform(0.1, 3.0, d), rng


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hull_contains_its_points_and_their_means_and_nothing_outside_its_box(seed):
    points, rng = points_of(seed)
    region = Region.from_points(points)
    assert region.contains(points).all()
    assert region.contains(rng.dirichlet(np.ones(len(points)), 50) @ points).all()
    assert not region.contains(region.high + 0.01 * region.scale)[0]
    assert not region.is_empty


@pytest.mark.parametrize("seed", SEEDS)
def test_projecting_gives_the_nearest_point(seed):
    points, rng = points_of(seed)
    region = Region.from_points(points)
    far = rng.normal(size=(20, points.shape[1])) * 3.0 * region.scale
    near = region.project(far)
    assert region.contains(near, 1e-7).all()
    np.testing.assert_allclose(region.project(near), near, atol=1e-9)
    inside = rng.dirichlet(np.full(len(points), 0.2), 500) @ points
    for target, found in zip(far / region.scale, near / region.scale, strict=True):
        others = np.linalg.norm(inside / region.scale - target, axis=1)
        assert np.linalg.norm(found - target) <= others.min() + 1e-9


def test_projecting_is_continuous():
    points, rng = points_of(2)
    region = Region.from_points(points)
    ends = rng.normal(size=(2, 3)) * 4.0
    line = ends[0] + np.linspace(0.0, 1.0, 400)[:, None] * (ends[1] - ends[0])
    moved, steps = (
        np.linalg.norm(np.diff(each / region.scale, axis=0), axis=1) for each in (region.project(line), line)
    )
    assert (moved <= steps + 1e-9).all()


def test_a_small_scale_keeps_a_parameter_at_the_expense_of_the_others():
    region = Region.from_points(np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(region.project([0.8, 1.0], scale=[1e-3, 1.0]), [0.8, 0.2], atol=1e-4)
    np.testing.assert_allclose(region.project([0.8, 1.0], scale=[1.0, 1e-3]), [0.0, 1.0], atol=1e-4)


def test_a_cut_limits_a_region_and_may_miss_it():
    region = Region.from_points(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    part = region.cut([0.5, 0.0], [2.0, 0.2])
    np.testing.assert_allclose(part.project([0.0, 1.0]), [0.5, 0.2])
    assert part.contains(part.sample(20, np.random.default_rng(0))).all()
    assert region.cut([0.8, 0.8], [1.0, 1.0]).is_empty
    assert not part.is_empty


@pytest.mark.parametrize("n", [1, 2, 5])
def test_points_on_a_line_give_a_region_without_volume(n):
    points = np.linspace(0.0, 1.0, n)[:, None] * [1.0, 2.0, -1.0] + [0.0, 1.0, 0.5]
    region = Region.from_points(points)
    assert region.contains(points).all()
    found = region.sample(10, np.random.default_rng(0), corners=True)
    assert region.contains(found, 1e-6).all()
    np.testing.assert_allclose(region.project([5.0, 9.0, -9.0]), points[-1], atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_samples_are_in_the_region_and_hold_its_ends(seed):
    points, rng = points_of(seed)
    region = Region.from_points(points)
    found = region.sample(60, rng, corners=True)
    assert found.shape == (60, points.shape[1])
    assert region.contains(found, 1e-7).all()
    apart = np.linalg.norm((region.vertices[:, None] - found) / region.scale, axis=2).min(axis=1)
    assert apart.max() < 0.2


def test_more_parameters_are_independent_of_the_region():
    region = Region.from_points(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).extend([-1.0], [1.0])
    assert region.contains([0.3, 0.3, 1.0])[0]
    np.testing.assert_allclose(region.project([1.0, 1.0, 3.0]), [0.5, 0.5, 1.0])
    assert region.list_ends(20).shape[1] == 3


def test_a_range_of_one_parameter_does_not_import_the_hull():
    code = (
        "import sys; import numpy as np; from marey.parametric.region import Region; "
        "Region.from_points(np.array([[0.0], [1.0]])); sys.exit('scipy.spatial' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
