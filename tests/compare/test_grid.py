"""Whole grids: against the slow definition, at the ends, far from the origin, and in all variants."""

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import Clouds, DistanceGrid, distance_grid, frame_distances, frame_weights, point_clouds
from marey.compare import grid as grid_module
from marey.core import Contacts
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.samples import sample
from tests.compare.clips import wandering
from tests.twins import compare as twin


def every_cell(a, b, weights, align=True):
    """Compute the same grid pair by pair."""
    i, j = (index.ravel() for index in np.indices((len(a), len(b))))
    return frame_distances(a, i, b, j, weights, align=align)[1].reshape(len(a), len(b))


@pytest.mark.parametrize("shape", ["triangle", "box", "gaussian"])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize(
    ("n_a", "n_b", "half"), [(23, 17, 0), (23, 17, 1), (23, 31, 4), (9, 30, 7), (30, 6, 7), (1, 1, 3)]
)
def test_it_is_the_slow_definition(n_a, n_b, half, align, shape):
    weights = [1, 2, 3, 4, 5]
    a, b = wandering(n_a, seed=1, weights=weights), wandering(n_b, seed=2, weights=weights)
    grid = distance_grid(a, b, window=(2 * half + 0.1) / 30.0, shape=shape, align=align)
    assert len(grid.frame_weights) == 2 * half + 1
    slow = twin.grid(a.points, b.points, a.weights, grid.frame_weights, align)
    assert np.abs(grid.values - slow).max() <= 1e-12 * max(1.0, slow.max())


@pytest.mark.parametrize("window", [0.1, 0.5, 1.0])
def test_digits_are_kept_far_from_the_origin(window):
    """Both clips 100 m away, one of them 100 m long: equal to the definition to 1e-9 of the variance, and better."""
    a = wandering(700, seed=3, far=(100.0, 0.0, -100.0), speed=100 * 30 / 700)
    b = wandering(300, seed=4, far=(-100.0, 0.0, 70.0))
    grid = distance_grid(a, b, window=window)
    assert np.ptp(a.points[:, :, [0, 2]], axis=(0, 1)).max() > 60
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, 700, 150), rng.integers(0, 300, 150)], axis=1)
    cells = np.concatenate([cells, [[0, 0], [699, 299], [0, 299], [699, 0], [127, 128], [350, 3]]])
    for i, j in cells:
        p, q, w = twin.clouds_at(a.points, i, b.points, j, a.weights, grid.frame_weights)
        variance = twin.spread(p, w) + twin.spread(q, w)
        assert abs(grid.values[i, j] - twin.solved(p, q, w)) <= 1e-10 * variance


def test_large_grids_are_computed_in_consistent_tiles(monkeypatch):
    from marey.compare import pairing

    a, b = wandering(150, seed=5), wandering(131, seed=6)
    whole = distance_grid(a, b, window=0.5).values
    monkeypatch.setattr(pairing, "TILE_ROWS", 32)
    monkeypatch.setattr(pairing, "TILE_COLUMNS", 40)
    monkeypatch.setattr(pairing, "_SHARED", 0)  # also with threads
    for align in (True, False):
        whole = every_cell(a, b, frame_weights(0.5, 30.0), align)
        assert np.abs(distance_grid(a, b, window=0.5, align=align).values - whole).max() < 1e-12 * whole.max()
    own = distance_grid(a, window=0.5).values
    assert np.abs(own - every_cell(a, a, frame_weights(0.5, 30.0))).max() < 1e-13


@pytest.mark.parametrize("n", [1, 2, 40, 300, 530])
def test_a_clip_with_itself_is_symmetric_with_zeros(n):
    a = wandering(n, seed=7)
    grid = distance_grid(a, window=0.5)
    assert grid.is_own
    assert (np.diag(grid.values) == 0).all()
    assert (grid.values == grid.values.T).all()
    assert (grid.values >= 0).all()
    other = distance_grid(a, Clouds(a.points, a.weights, a.fps), window=0.5)
    assert not other.is_own
    assert np.abs(other.values - grid.values).max() < 1e-12
    assert (other.values >= 0).all()


def test_distances_ignore_placement_and_order():
    a, b = wandering(60, seed=8), wandering(50, seed=9)
    grid = distance_grid(a, b)
    moved = Clouds(rigid2d.apply([2.0, 30.0, -80.0], b.points), b.weights, b.fps)
    assert distance_grid(a, moved).values == pytest.approx(grid.values, abs=1e-11)
    assert distance_grid(b, a).values == pytest.approx(grid.values.T, abs=1e-12)
    assert distance_grid(a, moved, align=False).values.min() > 1000


def test_transforms_of_any_cells():
    a, b = wandering(40, seed=10), wandering(30, seed=11)
    grid = distance_grid(a, b, window=0.3)
    cells = np.array([[3, 4], [0, 29], [39, 0]])
    moves = grid.transform(cells[:, 0], cells[:, 1])
    assert moves.shape == (3, 3)
    for (i, j), move in zip(cells, moves, strict=True):
        p, q, w = twin.clouds_at(a.points, i, b.points, j, a.weights, grid.frame_weights)
        assert twin.objective(move, p, q, w) == pytest.approx(grid.values[i, j], rel=1e-9)
    assert grid.transform(3, 4).shape == (3,)
    assert (grid.transform(3, 4) == moves[0]).all()
    assert grid.transform(np.arange(40)[:, None], np.arange(30)).shape == (40, 30, 3)
    assert (distance_grid(a, b, align=False).transform([1, 2], [3, 4]) == 0).all()
    with pytest.raises(InvalidValue, match="rows of the grid must be from 0 to 39, not 40"):
        grid.transform(40, 0)
    with pytest.raises(InvalidValue, match="whole numbers"):
        grid.transform(1.5, 0)


def test_markers_without_weight_do_not_count():
    a, b = wandering(40, 6, seed=12), wandering(30, 6, seed=13)
    weights = np.array([0.5, 0.0, 0.25, 0.0, 0.25, 0.0])
    weighted = distance_grid(replace(a, weights=weights), replace(b, weights=weights)).values
    kept = weights > 0
    fewer = [Clouds(c.points[:, kept], weights[kept], c.fps) for c in (a, b)]
    assert weighted == pytest.approx(distance_grid(*fewer).values, abs=1e-14)


def flags(clouds, mask, names=("left_heel", "right_heel")):
    points = sample("walk", seconds=0.5).motion.contacts.points
    return replace(clouds, contacts=Contacts(tuple(replace(points[k], name=n) for k, n in enumerate(names)), mask))


def test_contacts_that_differ_are_refused_or_cost():
    rng = np.random.default_rng(3)
    masks = rng.random((40, 2)) < 0.5, rng.random((30, 2)) < 0.5
    a, b = flags(wandering(40, seed=14), masks[0]), flags(wandering(30, seed=15), masks[1])
    plain = distance_grid(a, b).values
    differ = (masks[0][:, None] != masks[1][None]).sum(axis=2)
    assert distance_grid(a, b, contacts=0.4).values == pytest.approx(plain + 0.16 * differ / 2, rel=1e-12)
    refused = distance_grid(a, b, contacts="refuse").values
    assert (np.isinf(refused) == (differ > 0)).all()
    assert (refused[differ == 0] == plain[differ == 0]).all()
    own = distance_grid(a, contacts="refuse").values
    assert (np.diag(own) == 0).all()
    assert (own == own.T).all()
    # Points are compared by name, not by column.
    turned = flags(wandering(30, seed=15), masks[1][:, ::-1].copy(), ("right_heel", "left_heel"))
    assert (distance_grid(a, turned, contacts="refuse").values == refused).all()


def test_minima_of_a_grid():
    a = wandering(120, seed=16)
    grid = distance_grid(a, window=0.5)
    cells = grid.minima(0.3)
    assert (np.abs(cells[:, 0] - cells[:, 1]) >= 15).all()
    assert (cells == twin.minima(grid.values, 0.09, 15)).all()
    assert (grid.minima(min_lag=0)[0] == 0).all()
    other = distance_grid(a, wandering(100, seed=17), window=0.5)
    assert (other.minima() == twin.minima(other.values)).all()


def test_straight_from_motions():
    walk, run = (sample(name, seconds=1.5, fps=60.0).motion for name in ("walk", "run"))
    before = walk.rotations.copy()
    grid = distance_grid(walk, run, markers="large", window=0.2)
    clouds = [point_clouds(motion, "large") for motion in (walk, run)]
    assert (grid.values == distance_grid(*clouds, window=0.2).values).all()
    assert (walk.rotations == before).all()
    assert distance_grid(walk).is_own
    assert distance_grid(walk, walk).is_own
    with_contacts = distance_grid(walk, run, contacts="refuse")
    assert 0.2 < np.isinf(with_contacts.values).mean() < 0.95


def test_a_grid_is_a_value():
    grid = distance_grid(wandering(10), wandering(12, seed=1))
    assert not grid.values.flags.writeable
    assert not grid.frame_weights.flags.writeable
    with pytest.raises(InvalidValue, match=r"grid values must have shape \(10, 12\), not \(3, 3\)"):
        DistanceGrid(grid.a, grid.b, np.zeros((3, 3)), grid.frame_weights)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda a, b: distance_grid(a, b, window=-0.1), "window must be at least 0 seconds, not -0.1"),
        (lambda a, b: distance_grid(a, b, window=np.nan), "window must be a finite number of seconds, not nan"),
        (lambda a, b: distance_grid(a, b, window=None), "window must be a number of seconds, not None"),
        (lambda a, b: distance_grid(a, b, shape="triangel"), "not 'triangel'; similar: 'triangle'"),
        (lambda a, b: distance_grid(a, b, contacts="refuse"), "'clip1' has no contacts to compare; detect them first"),
        (
            lambda a, b: distance_grid(a, b, markers="upper"),
            "markers, per_joint and weights must be left at their defaults for Clouds, which",
        ),
        (
            lambda a, b: distance_grid(a, wandering(9, fps=25.0)),
            "resample one of them with `marey.edit.resample`",
        ),
        (lambda a, b: distance_grid(a, "walk.bvh"), "recording must be a Motion, Markers or Clouds, not str"),
        (
            lambda a, b: distance_grid(
                flags(a, np.ones((20, 2), bool)), flags(b, np.ones((20, 1), bool), ("toe",)), contacts=1.0
            ),
            "no contact point in common: left_heel, right_heel and toe",
        ),
        (
            lambda a, b: distance_grid(flags(a, np.ones((20, 2), bool)), contacts="forbid"),
            "contacts must be 'refuse' or a finite penalty of at least 0 m, not 'forbid'",
        ),
        (
            lambda a, b: distance_grid(flags(a, np.ones((20, 2), bool)), contacts=-1),
            "contacts must be 'refuse' or a finite penalty of at least 0 m, not -1",
        ),
        (
            lambda a, b: distance_grid(replace(a, names=tuple("abcde")), replace(b, names=tuple("abxdy"))),
            "only 'clip1' has 'c', 'e' and only 'clip2' has 'x', 'y'",
        ),
        (
            lambda a, b: distance_grid(replace(a, names=tuple("abcde")), replace(b, names=tuple("bacde"))),
            "both clips have the same markers, but in a different order; pass their names in one",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(ask, message):
    with pytest.raises(InvalidValue) as error:
        ask(wandering(20, seed=1), wandering(20, seed=2))
    assert message in str(error.value)


def test_too_large_a_grid_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(grid_module, "LARGEST_GRID", 8 * 20 * 19)
    with pytest.raises(InvalidValue, match="resample the clips to a lower rate, or compare parts of them"):
        distance_grid(wandering(20))
