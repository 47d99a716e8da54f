"""Timewarp and alignment curves: increasing, exact, and correct for motions with known ground truth."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marey
from marey.compare import Clouds, distance_grid, frame_weights, point_clouds
from marey.edit import resample
from marey.errors import InvalidValue, NotBlendable
from marey.maths import rigid2d
from marey.register.curves import (
    AlignmentCurve,
    TimewarpCurve,
    alignment_curve,
    merge_timewarps,
    pair_timewarp,
)
from marey.register.dtw import TimeAlignment, dtw, dtw_cyclic
from marey.register.loops import extend_loop, interpolate_moves
from marey.samples import sample
from tests.strategies import LAWS, numbers, rigid2ds

U = np.linspace(0.0, 1.0, 401)


def apart(a, b):
    """Return the largest difference of rigid2d, with angles modulo full turns."""
    difference = np.asarray(a) - b
    difference[..., 0] = rigid2d.wrap_angle(difference[..., 0])
    return np.abs(difference).max()


@st.composite
def paths(draw, limit=2):
    """Return the cells of a path that obeys the slope limit."""
    blocks = draw(st.lists(st.integers(-(limit - 1), limit - 1), min_size=1, max_size=60))
    steps = []
    for straight in blocks:
        steps += [(1, 1)] + [(1, 0) if straight > 0 else (0, 1)] * abs(straight)
    return np.concatenate([[[0, 0]], np.cumsum(steps, axis=0)])


# Timewarp curves -----------------------------------------------------------------------------------------------------


@given(paths(), st.booleans(), st.sampled_from([0.0, 0.3]), st.sampled_from([1, 3, 4, 8]))
@LAWS
def test_a_warp_never_turns_back(cells, exact_ends, smooth, knot_every):
    curve = TimewarpCurve.fit(cells / 30.0, exact_ends=exact_ends, smooth=smooth, knot_every=knot_every)
    assert (np.diff(curve(U), axis=0) > 0).all()
    assert (curve.slope(U) > 0).all()
    if exact_ends:
        np.testing.assert_allclose(curve([0.0, 1.0]), cells[[0, -1]] / 30.0, rtol=0, atol=1e-13)
        np.testing.assert_allclose(curve.durations, cells[-1] / 30.0, rtol=0, atol=1e-13)


@given(paths(3), st.integers(0, 1))
@LAWS
def test_inverse_is_exact(cells, motion):
    curve = TimewarpCurve.fit(cells / 120.0)
    seconds = curve(U)[:, motion]
    np.testing.assert_allclose(curve.inverse(motion, seconds), U, rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve(curve.inverse(motion, seconds))[:, motion], seconds, rtol=0, atol=1e-12)


@given(paths())
@LAWS
def test_a_fit_stays_with_the_path(cells):
    curve = TimewarpCurve.fit(cells.astype(float))
    assert np.abs(curve(np.linspace(0, 1, len(cells))) - cells).max() < 1.0


def test_slope_is_the_derivative():
    curve = TimewarpCurve.fit(np.cumsum(np.random.default_rng(0).uniform(0.2, 1, (50, 3)), axis=0))
    at, h = np.linspace(0.01, 0.99, 57), 1e-6
    np.testing.assert_allclose(curve.slope(at), (curve(at + h) - curve(at - h)) / (2 * h), rtol=1e-4)
    assert curve.knots[0] == 0.0
    assert curve.knots[-1] == 1.0
    assert len(curve.knots) == len(curve.points) - 1


def test_steep_and_flat_stretches_stay_increasing():
    samples = np.repeat([0.0, 1.0, 1.0, 1.0, 9.0, 9.0, 10.0], 8)[:, None] + np.zeros(2)
    curve = TimewarpCurve.fit(samples)
    assert (curve.slope(U) >= 0.05 * 10.0 * (1 - 1e-9)).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_cyclic_warp_has_no_seam(seed):
    rng = np.random.default_rng(seed)
    samples = np.concatenate([np.zeros((1, 3)), np.cumsum(rng.choice([0.0, 1.0, 1.0], (80, 3)), axis=0)])
    curve = TimewarpCurve.fit(samples, cyclic=True)
    period = samples[-1] - samples[0]
    np.testing.assert_allclose(curve.durations, period, rtol=1e-13)
    np.testing.assert_allclose(curve(0.0), samples[0], atol=1e-12)
    np.testing.assert_allclose(curve(U + 1), curve(U) + period, atol=1e-9)
    np.testing.assert_allclose(curve.slope(1 - 1e-13), curve.slope(0.0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(curve.slope(-1e-13), curve.slope(0.0), rtol=0, atol=1e-9)
    around = np.linspace(-1.5, 2.5, 301)
    for j in range(3):
        np.testing.assert_allclose(curve.inverse(j, curve(around)[:, j]), around, rtol=0, atol=1e-12)


# A motion and its own copy -------------------------------------------------------------------------------------------


def warped(motion, share=0.1, longer=1.2):
    """Return a copy with other timing, turned and moved, and the original time at each time of the copy."""
    whole = motion.duration
    n = round(whole * longer * motion.fps) + 1
    length = (n - 1) / motion.fps

    def source(seconds):
        return whole * (seconds / length + share / (4 * np.pi) * np.sin(4 * np.pi * seconds / length))

    return motion.at(source(np.arange(n) / motion.fps)).moved((2.5, 3.0, -7.0)), source


@pytest.mark.parametrize("name", ["walk", "run", "kick"])
def test_the_warp_of_a_copy_is_found(name):
    motion = resample(sample(name, rng=0).motion, 60.0)
    copied, source = warped(motion)
    grid = distance_grid(motion, copied)
    curve = pair_timewarp(grid, dtw(grid.values))
    first, second = curve(U).T
    assert np.abs(first - source(second)).max() * 60.0 < 1.0
    moves = alignment_curve([grid.a, grid.b], curve, 0, grid.frame_weights)(U)
    assert (moves[:, 0] == 0.0).all()
    expected = rigid2d.invert((2.5, 3.0, -7.0))
    assert np.degrees(np.abs(rigid2d.wrap_angle(moves[:, 1, 0] - expected[0])).max()) < 2.0
    where = copied.at(second).travel
    off = rigid2d.apply(moves[:, 1], where) - rigid2d.apply(expected, where)
    assert np.sqrt((off**2).sum(axis=-1).mean()) < 0.01


@pytest.mark.parametrize(("name", "fps"), [("16_15", 30.0), ("16_11", 30.0), ("16_35", 30.0), ("16_15", 120.0)])
def test_the_warp_of_a_real_copy_is_found(name, fps, data_folder):
    motion = marey.load(data_folder / "cmu" / "016" / f"{name}.bvh")
    if fps != motion.fps:
        motion = resample(motion, fps)
    copied, source = warped(motion)
    grid = distance_grid(motion, copied)
    path = dtw(grid.values)

    def error(curve):
        first, second = curve(U).T
        return np.abs(first - source(second)) * fps, np.abs(np.diff(first) / np.diff(source(second)) - 1.0)

    off, ripple = error(pair_timewarp(grid, path))
    stairs_off, stairs_ripple = error(pair_timewarp(grid, path, refine=False, smooth=0.0))
    assert off.max() < 0.75
    assert np.sqrt((off**2).mean()) < (0.05 if fps == 30.0 else 0.15)
    assert np.sqrt((off**2).mean()) < np.sqrt((stairs_off**2).mean())
    assert np.sqrt((ripple**2).mean()) < 0.5 * np.sqrt((stairs_ripple**2).mean())


def test_unlike_walks_are_fitted_to_their_path(data_folder):
    walks = [resample(marey.load(data_folder / "cmu" / "016" / f"{name}.bvh"), 30.0) for name in ("16_15", "16_21")]
    grid = distance_grid(*walks)
    path = dtw(grid.values, end="border")
    curve = pair_timewarp(grid, path)
    off = curve(np.linspace(0, 1, len(path))) * 30.0 - path.cells
    assert np.abs(off).max() < 1.5
    assert np.sqrt((off**2).mean()) < 0.6


# Many motions --------------------------------------------------------------------------------------------------------


def smooth_warp(seed, duration, reference_duration, n=200):
    """Return a timewarp (reference, other) with its ground truth."""
    rng = np.random.default_rng(seed)
    phase, size = rng.uniform(0, 2 * np.pi), rng.uniform(0.02, 0.05)

    def other(reference):
        v = reference / reference_duration
        return duration * (v + size * (np.sin(2 * np.pi * v + phase) - np.sin(phase)))

    # u is proportional to the time of neither motion.
    first = reference_duration * np.linspace(0, 1, n) ** 1.2
    return TimewarpCurve.fit(np.stack([first, other(first)], axis=1)), other


def test_merging_goes_through_the_reference():
    result = {j: smooth_warp(j, 2.0 + j, 3.0) for j in (0, 1, 3)}
    curve = merge_timewarps(2, [result[0][0], result[1][0], None, result[3][0]], fps=30.0)
    assert curve.n_motions == 4
    np.testing.assert_allclose(curve.durations, [2.0, 3.0, 3.0, 5.0], rtol=1e-9)
    seconds = curve(U)
    np.testing.assert_allclose(seconds[:, 2], 3.0 * U, atol=1e-6)
    for j, (_, other) in result.items():
        np.testing.assert_allclose(seconds[:, j], other(seconds[:, 2]), atol=0.002)


def test_merging_takes_what_all_pairs_cover():
    whole, part = smooth_warp(0, 3.0, 3.0)[0], TimewarpCurve.fit(np.linspace([1.0, 0.5], [2.5, 2.0], 50))
    curve = merge_timewarps(0, [None, whole, part], fps=30.0)
    np.testing.assert_allclose(curve([0.0, 1.0])[:, 0], [1.0, 2.5], atol=1e-12)
    np.testing.assert_allclose(curve([0.0, 1.0])[:, 2], [0.5, 2.0], atol=1e-9)
    with pytest.raises(NotBlendable, match="no part of the reference motion in common"):
        merge_timewarps(0, [None, part, TimewarpCurve.fit(np.linspace([2.6, 0.0], [3.0, 1.0], 9))], fps=30.0)


def test_alignment_of_many_lies_on_the_reference():
    motion = sample("walk", rng=0).motion
    moves = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, 2.0], [-2.0, 5.0, 0.0]])
    clouds = [point_clouds(motion.moved(move)) for move in moves]
    curve = TimewarpCurve.fit(np.linspace(np.zeros(3), np.full(3, motion.duration), len(motion)))
    found = alignment_curve(clouds, curve, 1, frame_weights(0.1, motion.fps))
    assert found.reference == 1
    assert apart(found(U), np.broadcast_to(rigid2d.compose(moves[1], rigid2d.invert(moves)), (len(U), 3, 3))) < 1e-9


def test_unwrapped_over_more_than_a_full_turn():
    theta = np.linspace(0.0, 9.0, 200)
    samples = np.zeros((200, 2, 3))
    samples[:, 1, 0] = rigid2d.wrap_angle(theta)
    curve = AlignmentCurve.fit(samples)
    np.testing.assert_allclose(curve(np.linspace(0, 1, 200))[10:-10, 1, 0], theta[10:-10], atol=1e-6)


def test_single_spikes_are_filtered_out():
    samples = np.zeros((100, 2, 3))
    samples[:, 1, 1] = np.linspace(0, 1, 100)
    spiked = samples.copy()
    spiked[40:42, 1, 1] += 5.0
    spiked[70, 1, 0] = 3.0
    clean = AlignmentCurve.fit(samples)(U)
    assert np.abs(AlignmentCurve.fit(spiked)(U) - clean).max() < 0.03
    assert np.abs(AlignmentCurve.fit(spiked, median=1)(U) - clean).max() > 0.5


def test_a_jump_near_half_a_turn_is_refused():
    motion = sample("walk", rng=0).motion
    points = point_clouds(motion).points.copy()
    half = len(points) // 2
    points[half:] = rigid2d.apply((3.0, 0.0, 0.0), points[half:])
    clouds = point_clouds(motion)
    turned = Clouds(points, clouds.weights, clouds.fps, "turned", clouds.names)
    curve = TimewarpCurve.fit(np.linspace(np.zeros(2), np.full(2, motion.duration), len(motion)))
    with pytest.raises(NotBlendable, match=r"changes by \d+ degrees in one frame"):
        alignment_curve([clouds, turned], curve, 0, frame_weights(0.0, motion.fps))


# Loops ---------------------------------------------------------------------------------------------------------------


@given(rigid2ds((4,)), numbers((5,), 3.0))
@LAWS
def test_fractions_of_a_move_add_up(moves, share):
    assert apart(interpolate_moves(moves, np.ones(())), moves) < 1e-9
    assert np.abs(interpolate_moves(moves, np.zeros(()))).max() == 0.0
    # Half a turn is ambiguous, and a rounding error beyond it goes the other way around; both are right.
    assert apart(interpolate_moves(moves, share + 1.0), rigid2d.compose(moves, interpolate_moves(moves, share))) < 1e-8


@given(
    numbers((30, 3, 3), 2.0),
    rigid2ds((3,)),
    st.integers(0, 2),
)
@LAWS
def test_a_cyclic_alignment_continues_as_the_loops_do(samples, loops, reference):
    samples[:, reference] = 0.0
    curve = AlignmentCurve.fit(samples, reference=reference, loops=loops)
    u = np.linspace(-1.0, 1.0, 41)
    expected = rigid2d.compose(rigid2d.compose(loops[reference], curve(u)), rigid2d.invert(loops))
    assert apart(curve(u + 1.0), expected) < 1e-9 * max(1.0, np.abs(curve(u)).max())
    assert (curve(u)[:, reference] == 0.0).all()
    # There is no jump across the seam, and angles are unwrapped.
    assert np.abs(curve(1.0 - 1e-12) - curve(1.0 + 1e-12)).max() < 1e-7


def loop_of_markers(n_frames, loop, phase=0.0, seed=0):
    """Return clouds of a character that repeats a cycle of `n_frames` while it travels by `loop`, without a seam."""
    rng = np.random.default_rng(seed)
    base, swing = rng.normal(size=(12, 3)), 0.4 * rng.normal(size=(2, 12, 3))
    v = np.arange(n_frames) / n_frames
    angle = 2 * np.pi * (v + phase)[:, None, None]
    body = base + np.sin(angle) * swing[0] + np.cos(2 * angle) * swing[1]
    moved = rigid2d.apply(interpolate_moves(np.asarray(loop)[None], v)[:, 0][:, None], body)
    return Clouds(moved, np.full(12, 1 / 12), 60.0)


def test_looped_clouds_go_on():
    loop = np.array([0.5, 1.0, 0.3])
    clouds = loop_of_markers(40, loop)
    longer = extend_loop(clouds, loop, 45, 90)
    assert len(longer) == 40 + 45 + 90
    np.testing.assert_array_equal(longer.points[45:85], clouds.points)
    np.testing.assert_allclose(longer.points[40:], rigid2d.apply(loop, longer.points[:-40]), atol=1e-12)


def test_cyclic_registration_wraps():
    loops = np.array([[0.6, 0.1, 1.2], [-0.4, 0.0, 2.0], [0.0, 0.0, 1.5]])
    sizes = (60, 76, 50)
    rounds = [loop_of_markers(n, loop, phase) for n, loop, phase in zip(sizes, loops, (0.0, 0.2, 0.7), strict=True)]
    weights = frame_weights(0.1, 60.0)
    pairs = []
    for n, cloud, loop in zip(sizes[1:], rounds[1:], loops[1:], strict=True):
        # Margins keep the windows complete; the grid of one cycle is between them.
        grid = distance_grid(extend_loop(rounds[0], loops[0], 3, 3), extend_loop(cloud, loop, 3, 3))
        one = type(grid)(rounds[0], cloud, grid.values[3:63, 3 : 3 + n], weights)
        pairs.append(pair_timewarp(one, dtw_cyclic(one.values), cyclic=True))
    warp = merge_timewarps(0, [None, *pairs], fps=60.0)
    assert warp.cyclic
    np.testing.assert_allclose(warp.durations, np.array(sizes) / 60.0, rtol=1e-12)
    # Ground truth: equal phases correspond.
    phases = warp(U) * 60.0 / sizes + (0.0, 0.2, 0.7)
    off = (phases - phases[:, :1] + 0.5) % 1.0 - 0.5
    assert np.abs(off * sizes).max() < 1.0
    np.testing.assert_allclose(warp.slope(1 - 1e-13), warp.slope(0.0), rtol=0, atol=1e-9)
    moves = alignment_curve(rounds, warp, 0, weights, loops=loops)
    u = np.linspace(-0.5, 1.5, 101)
    assert apart(moves(u + 1), rigid2d.compose(rigid2d.compose(loops[0], moves(u)), rigid2d.invert(loops))) < 1e-9
    # Aligned characters coincide, in the next cycle too.
    at = warp(1.3)
    frames = [extend_loop(c, loop, 0, 3 * len(c)).points for c, loop in zip(rounds, loops, strict=True)]
    placed = [
        rigid2d.apply(move, points[round(seconds * 60.0)])
        for points, seconds, move in zip(frames, at, moves(1.3), strict=True)
    ]
    assert np.abs(placed[1] - placed[0]).max() < 0.15
    assert np.abs(placed[2] - placed[0]).max() < 0.15


# Values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "curve",
    [
        TimewarpCurve.fit(np.linspace([0.0, 1.0], [1.0, 3.0], 20)),
        TimewarpCurve.fit(np.linspace([0.0, 1.0], [1.0, 3.0], 20), cyclic=True),
        AlignmentCurve(np.zeros((5, 2, 3))),
        AlignmentCurve(np.zeros((5, 2, 3)), 1, np.ones((2, 3))),
        TimeAlignment(np.array([[0, 0]]), np.ones(1)),
    ],
)
def test_values_are_frozen_and_copy(curve):
    arrays = [value for value in (getattr(curve, name) for name in curve.__slots__) if isinstance(value, np.ndarray)]
    assert arrays
    for again in (curve, copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        for name in curve.__slots__:
            np.testing.assert_array_equal(getattr(again, name), getattr(curve, name))
            if isinstance(getattr(again, name), np.ndarray):
                assert not getattr(again, name).flags.writeable
    with pytest.raises(FrozenInstanceError):
        setattr(curve, curve.__slots__[0], arrays[0])


def a_warp(n=2):
    return TimewarpCurve.fit(np.linspace(np.zeros(n), np.ones(n), 20))


def clouds_of(n_frames):
    return loop_of_markers(n_frames, (0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: TimewarpCurve([[0.0], [1.0], [1.0]]),
            "must be strictly increasing, but point 2 of motion 0 goes from 1 to 1 s",
        ),
        (lambda: TimewarpCurve([[0.0], [1.0]]), "points of a timewarp curve must have shape"),
        (lambda: TimewarpCurve([[0.0], [1.0], [np.nan]]), "must be finite"),
        (lambda: TimewarpCurve([[0.0], [1.0], [3.0], [7.0]], cyclic=True), "repeated one period later"),
        (lambda: TimewarpCurve.fit([[0.0, 0.0], [1.0, 0.0]]), "later than the first in every motion"),
        (lambda: a_warp().inverse(2, 0.5), "motion must be from 0 to 1, not 2"),
        (lambda: AlignmentCurve(np.ones((4, 2, 3))), "points must be all zeros for motion 0, the reference"),
        (lambda: AlignmentCurve(np.zeros((4, 2, 3)), 2), "the index of a motion, must be from 0 to 1, not 2"),
        (lambda: AlignmentCurve(np.zeros((2, 2, 3))), "points of an alignment curve must have shape"),
        (lambda: AlignmentCurve.fit(np.zeros((1, 2, 3))), "at least two rows, not 1"),
        (lambda: merge_timewarps(0, [None], 30.0), "one pairwise timewarp for each motion except"),
        (lambda: merge_timewarps(0, [None, a_warp(3)], 30.0), "one pairwise timewarp for each"),
        (lambda: merge_timewarps(2, [None, a_warp()], 30.0), "the index of a motion, must be from 0 to 1, not 2"),
        (lambda: alignment_curve([clouds_of(61)], a_warp(), 0, [1.0]), "the timewarp's 2 motions, not 1"),
        (lambda: alignment_curve([clouds_of(61)] * 2, a_warp(), 2, [1.0]), "a motion, must be from 0 to 1, not 2"),
        (lambda: alignment_curve([clouds_of(61)] * 2, a_warp(), 0, [1.0], loops=np.zeros((2, 3))),
         "loops must be given if the timewarp is cyclic"),
        (lambda: alignment_curve([clouds_of(61), clouds_of(50)], a_warp(), 0, [1.0]),
         "covers frames 0 to 60 of motion 1, but its point cloud has only frames 0 to 49"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message):
    with pytest.raises(InvalidValue, match=re.escape(message)):
        call()


def test_a_path_of_one_cell_is_refused():
    grid = distance_grid(clouds_of(20), clouds_of(20))
    with pytest.raises(NotBlendable, match="zero length"):
        pair_timewarp(grid, dtw(grid.values, start=(3, 19), end="border"))
