"""Minima found while the rows of a grid are computed: those of the grid itself, for any tiles, strips and spans."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from marey.compare import Clouds, frame_weights, local_minima, sweep
from marey.compare.pairing import Pairing
from marey.compare.sweep import even_runs, span_minima
from tests.compare.clips import wandering
from tests.twins import compare as twin

EVERY = float(np.finfo(np.float64).max)


def held(pairing, span, limit=EVERY, min_lag=None):
    """Find the minima in a complete grid of whole windows."""
    half = pairing.half
    values = np.empty((len(pairing.a), len(pairing.b)))
    pairing.fill(values, (0, len(pairing.a), 0, len(pairing.b)), 1)
    inner = values[half : len(pairing.a) - half, half : len(pairing.b) - half]
    cells = local_minima(inner.copy(), limit**0.5) + half
    rows, columns = cells.T
    inside = (rows >= span[0]) & (rows < span[1]) & (columns >= span[2]) & (columns < span[3])
    if min_lag is not None:
        inside &= columns - rows >= min_lag
    return cells[inside]


def test_minima_are_those_of_the_definition():
    a, b = wandering(90, 4, seed=1), wandering(80, 4, seed=2)
    weights = frame_weights(0.3, 30.0, "triangle")
    half = len(weights) // 2
    assert Pairing(a, b, weights).is_triangle(80)
    values = twin.grid(a.points, b.points, a.weights, weights)
    cells = twin.minima(values[half:-half, half:-half]) + half
    assert len(cells) > 3
    np.testing.assert_array_equal(span_minima(Pairing(a, b, weights), (0, 90, 0, 80), EVERY), cells)


@pytest.mark.parametrize("seconds", [0.25, 0.5, 1.1, 4.0])
@pytest.mark.parametrize("span", [(0, 700, 0, 640), (3, 290, 100, 633), (200, 201, 0, 640), (400, 700, 17, 40)])
def test_two_clips(seconds, span):
    a, b = wandering(700, 6, seed=1), wandering(640, 6, seed=2, far=(3000.0, 0.0, -800.0))
    pairing = Pairing(a, b, frame_weights(seconds, 30.0, "triangle"))
    for limit in (EVERY, 0.02):
        np.testing.assert_array_equal(span_minima(pairing, span, limit), held(pairing, span, limit))


@pytest.mark.parametrize("span", [(0, 600, 0, 600), (100, 420, 100, 420), (100, 500, 300, 420), (300, 500, 0, 200)])
def test_a_clip_with_itself_right_of_the_lag(span):
    a = wandering(600, 6, seed=3)
    pairing = Pairing(a, a, frame_weights(0.5, 30.0, "triangle"))
    np.testing.assert_array_equal(span_minima(pairing, span, EVERY, 15), held(pairing, span, min_lag=15))


@pytest.mark.parametrize(("seconds", "shape"), [(0.5, "box"), (0.5, "gaussian"), (0.1, "triangle"), (0.0, "triangle")])
def test_other_windows(seconds, shape):
    a, b = wandering(150, 5, seed=1), wandering(120, 5, seed=2)
    pairing = Pairing(a, b, frame_weights(seconds, 30.0, shape))
    span = (10, 140, 5, 110)
    np.testing.assert_array_equal(span_minima(pairing, span, EVERY), held(pairing, span))


def test_markers_without_weight_change_nothing():
    a, b = wandering(200, 5, seed=1), wandering(220, 5, seed=2)
    weights, rng = frame_weights(0.5, 30.0, "triangle"), np.random.default_rng(0)
    more = [
        Clouds(np.concatenate([c.points, rng.normal(size=(len(c), 2, 3))], axis=1), np.append(c.weights, [0, 0]), 30.0)
        for c in (a, b)
    ]
    wanted = span_minima(Pairing(a, b, weights), (0, 200, 0, 220), EVERY)
    np.testing.assert_array_equal(span_minima(Pairing(*more, weights), (0, 200, 0, 220), EVERY), wanted)


def test_tiles_of_any_size_give_the_same(monkeypatch):
    a, b = wandering(300, 6, seed=1), wandering(310, 6, seed=2)
    pairing = Pairing(a, b, frame_weights(0.5, 30.0, "triangle"))
    wanted = span_minima(pairing, (0, 300, 0, 310), EVERY)
    for rows, columns, strip in ((16, 20, 6), (100, 1000, 66), (1000, 33, 48)):
        monkeypatch.setattr(sweep, "TILE_ROWS", rows)
        monkeypatch.setattr(sweep, "TILE_COLUMNS", columns)
        monkeypatch.setattr(sweep, "_STRIP", strip)
        np.testing.assert_array_equal(span_minima(pairing, (0, 300, 0, 310), EVERY), wanted)


def test_a_motionless_clip_has_at_most_one_minimum_per_cell():
    still = Clouds(np.tile(wandering(1, 5).points, (60, 1, 1)), np.full(5, 0.2), 30.0)
    pairing = Pairing(still, still, frame_weights(0.5, 30.0, "triangle"))
    cells = span_minima(pairing, (0, 60, 0, 60), EVERY)
    apart = np.abs(cells[:, None] - cells[None]).max(axis=2)
    assert (apart[~np.eye(len(cells), dtype=bool)] > 1).all()


def moving(kind, n_frames, seed):
    """Make a clip of one kind of motion that is difficult for the search."""
    clouds = wandering(n_frames, 6, seed)
    points, time = clouds.points, np.arange(n_frames)
    if kind == "far":
        points = points + [100.0, 0.0, -100.0]
    elif kind == "still":
        points = np.repeat(points[:1], n_frames, axis=0)
    elif kind == "pausing":
        points = points[np.clip(time, n_frames // 3, n_frames // 2)]
    elif kind == "periodic":
        points = points[time % 40]
    elif kind == "tiny":
        points = points[:1] + 1e-9 * (points - points[:1])
    elif kind == "microscopic":
        points = 1e-25 * points
    elif kind == "enormous":
        points = 1e18 * points
    elif kind == "noisy":
        points = points + np.random.default_rng(seed).normal(0.0, 0.05, points.shape)
    return Clouds(points, clouds.weights, clouds.fps)


def check_minima(cells, pairing, limit, min_lag, tolerance):
    """Cells are minima of the grid within a tolerance, and all clear minima are among them."""
    half = pairing.half
    values = np.empty((len(pairing.a), len(pairing.b)))
    pairing.fill(values, (0, len(pairing.a), 0, len(pairing.b)), 1)
    values = values[half : len(pairing.a) - half, half : len(pairing.b) - half]
    around = np.pad(values, 1, constant_values=np.inf)
    n, m = values.shape
    parts = [around[i : i + n, j : j + m] for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    least = np.min(parts, axis=0)
    rows, columns = np.indices(values.shape)
    counts = columns - rows >= (-n if min_lag is None else min_lag)
    possible = (values <= least + tolerance) & (values <= limit + tolerance) & counts
    sure = (values < least - tolerance) & (values <= limit - tolerance) & counts
    found = np.zeros_like(sure)
    found[tuple((cells - half).T)] = True
    assert not (found & ~possible).any()
    assert not (sure & ~found).any()
    apart = np.pad(found, 1)
    assert not any((found & apart[i : i + n, j : j + m]).any() for i, j in ((0, 0), (0, 1), (0, 2), (1, 0)))


KINDS = ["wandering", "far", "still", "pausing", "periodic", "tiny", "microscopic", "enormous", "noisy"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("root", [None, 0.15, 0.4])
@pytest.mark.parametrize("other", ["same clip", "equal clip", "other clip"])
def test_minima_are_those_of_the_grid_whatever_moves(kind, root, other):
    a = moving(kind, 330, 1)
    b = {"same clip": a, "equal clip": moving(kind, 330, 1), "other clip": moving(kind, 290, 2)}[other]
    pairing = Pairing(a, b, frame_weights(0.5, 30.0, "triangle"))
    scale = np.square(a.points - a.points.mean(axis=(0, 1))).sum(axis=2).max()
    limit = EVERY if root is None else root**2
    min_lag = 15 if other == "same clip" else None
    cells = span_minima(pairing, (0, len(a), 0, len(b)), limit, min_lag)
    check_minima(cells, pairing, limit, min_lag, 1e-12 * scale)
    if kind in ("wandering", "far", "noisy") and other != "equal clip":
        assert len(cells) > 3 or root is not None
        np.testing.assert_array_equal(cells, held(pairing, (0, len(a), 0, len(b)), limit, min_lag))


@pytest.mark.parametrize("kind", ["wandering", "noisy", "pausing"])
def test_single_and_double_precision_give_the_same(kind, monkeypatch):
    a, b = moving(kind, 600, 1), moving(kind, 570, 2)
    pairing = Pairing(a, b, frame_weights(0.5, 30.0, "triangle"))
    screened = span_minima(pairing, (0, 600, 0, 570), EVERY)
    monkeypatch.setattr(sweep, "_LARGEST_ERROR", 0.0)
    np.testing.assert_array_equal(span_minima(pairing, (0, 600, 0, 570), EVERY), screened)


@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_errors_of_single_precision_stay_within_their_bound(seconds):
    a, b = moving("noisy", 300, 1), moving("far", 300, 2)
    levels, weights = np.zeros(6), frame_weights(seconds, 30.0, "triangle")
    half = len(weights) // 2
    run = (half, 300 - half)
    ours, theirs = (sweep.SweepFactors.of(c, run, weights, levels, c is b) for c in (a, b))
    rows, columns = ours.screened, theirs.screened
    flat, heights = (panels.swapaxes(1, 2).reshape(-1, panels.shape[1]) for panels in columns[:2])
    errors = []
    turned = np.concatenate([-ours.frames.flat[:, 6:], ours.frames.flat[:, :6]], axis=1)
    pairs = (ours.frames.flat, theirs.frames.flat), (turned, theirs.frames.flat)
    doubles = [*pairs, (ours.frames.heights, theirs.frames.heights)]
    for k, (left, right) in enumerate(((rows.flat, flat), (rows.turned, flat), (rows.heights, heights))):
        integers = (left @ right.T).astype(np.int32)
        assert (half + 1) ** 2 * np.abs(integers).max() < 2**30.7
        rounded = integers * (ours.units[k // 2] * theirs.units[k // 2])
        errors.append(np.abs(rounded - doubles[k][0] @ doubles[k][1].T).max())
    dot, cross, up = errors
    bound = sweep.bound_error(ours, theirs, 300)
    assert 0.0 < 2.0 * (np.hypot(dot, cross) + up) < bound < 1e-3


def test_sides_that_were_kept_change_nothing():
    a = wandering(700, 6, seed=3)
    pairing = Pairing(a, a, frame_weights(0.5, 30.0, "triangle"))
    sides = pickle.loads(pickle.dumps(sweep.make_sides(pairing.frame_weights)))
    for span in ((0, 350, 0, 350), (0, 350, 350, 700), (350, 700, 350, 700), (0, 350, 350, 700)):
        np.testing.assert_array_equal(
            span_minima(pairing, span, EVERY, 15, sides), span_minima(pairing, span, EVERY, 15)
        )
    assert sides.call.cache_info().hits > 2


def test_spans_without_cells_have_none():
    a, b = wandering(30, 5, seed=1), wandering(9, 5, seed=2)
    pairing = Pairing(a, b, frame_weights(0.5, 30.0, "triangle"))
    assert span_minima(pairing, (0, 30, 0, 9), EVERY).shape == (0, 2)
    own = Pairing(a, a, pairing.frame_weights)
    assert span_minima(own, (20, 30, 0, 12), EVERY, 15).shape == (0, 2)


@pytest.mark.parametrize(("start", "stop", "largest"), [(0, 10, 3), (7, 1031, 1024), (7, 1032, 1024), (5, 6, 9)])
def test_even_runs_cover_all_and_differ_by_one(start, stop, largest):
    runs = even_runs(start, stop, largest)
    assert runs[0][0] == start
    assert runs[-1][1] == stop
    assert all(before[1] == after[0] for before, after in pairwise(runs))
    sizes = [last - first for first, last in runs]
    assert max(sizes) <= largest
    assert max(sizes) - min(sizes) <= 1
