"""The distance between two frames and the transform that aligns them, against direct minimization of Kovar 4.1."""

import numpy as np
import pytest

from marey.compare import Clouds, align_frames, frame_distance, frame_distances, frame_weights
from marey.compare.distance import warn_of_centimeters
from marey.errors import InvalidValue, collect_warnings
from marey.maths import rigid2d
from tests.compare.clips import wandering
from tests.tiers import mostly_slow
from tests.twins import compare as twin

SHAPES = ("triangle", "box", "gaussian")


@pytest.mark.parametrize("shape", mostly_slow(SHAPES, "searches for the minimum again", n_fast=1))
@pytest.mark.parametrize("far", [(0.0, 0.0, 0.0), (100.0, 0.0, -100.0)])
def test_it_is_the_minimum_that_a_search_finds(shape, far):
    a, b = wandering(30, seed=1, weights=[1, 2, 3, 4, 5]), wandering(25, seed=2, far=far, weights=[1, 2, 3, 4, 5])
    weights = frame_weights(0.3, 30.0, shape)
    for i, j in ((0, 0), (2, 20), (15, 12), (29, 24), (29, 0), (1, 3)):
        distance, move = frame_distance(a, i, b, j, weights)
        p, q, w = twin.clouds_at(a.points, i, b.points, j, a.weights, weights)
        found, where = twin.searched(p, q, w)
        variance = twin.spread(p, w) + twin.spread(q, w)
        assert abs(distance - found) <= 1e-9 * variance
        assert np.abs(np.sin((move[0] - where[0]) / 2)) < 1e-5
        # The transform attains the minimum, and none nearby is better.
        assert twin.objective(move, p, q, w) == pytest.approx(distance, abs=1e-9 * variance)
        for step in np.eye(3) * 1e-3:
            assert twin.objective(move + step, p, q, w) >= distance - 1e-12
            assert twin.objective(move - step, p, q, w) >= distance - 1e-12


def test_without_alignment_it_is_the_plain_sum():
    a, b = wandering(20, seed=3), wandering(20, seed=4)
    weights = frame_weights(0.2, 30.0)
    for i, j in ((0, 3), (10, 10), (19, 2)):
        distance, move = frame_distance(a, i, b, j, weights, align=False)
        p, q, w = twin.clouds_at(a.points, i, b.points, j, a.weights, weights)
        assert distance == pytest.approx(twin.objective((0, 0, 0), p, q, w), rel=1e-12)
        assert (move == 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_moved_copy_is_at_distance_zero_and_its_move_is_found(seed):
    rng = np.random.default_rng(seed)
    b = wandering(20, seed=seed)
    # Half a turn and more: an arctangent of the quotient alone would be wrong by pi.
    move = np.array([rng.uniform(-np.pi, np.pi), *rng.uniform(-100, 100, 2)])
    a = Clouds(rigid2d.apply(move, b.points), b.weights, b.fps)
    distance, found = frame_distance(a, 7, b, 7, frame_weights(0.3, 30.0))
    assert distance < 1e-12
    assert found == pytest.approx(move, abs=1e-9)


def test_moving_either_clip_changes_nothing_but_lifting_does():
    a, b = wandering(20, seed=5), wandering(20, seed=6)
    weights = frame_weights(0.2, 30.0)
    before, move = frame_distance(a, 8, b, 9, weights)
    turn = np.array([2.5, 3.0, -4.0])
    moved = Clouds(rigid2d.apply(turn, b.points), b.weights, b.fps)
    after, other = frame_distance(a, 8, moved, 9, weights)
    assert after == pytest.approx(before, rel=1e-12)
    assert rigid2d.compose(other, turn) == pytest.approx(move, abs=1e-9)
    p, q, w = twin.clouds_at(a.points, 8, b.points, 9, a.weights, weights)
    gap = float((w * (p[:, 1] - q[:, 1])).sum())
    lifted = Clouds(b.points + [0.0, 0.3, 0.0], b.weights, b.fps)
    assert frame_distance(a, 8, lifted, 9, weights)[0] == pytest.approx(before + 0.09 - 0.6 * gap, rel=1e-9)


def test_swapping_the_clips_inverts_the_move():
    a, b = wandering(20, seed=7), wandering(22, seed=8)
    weights = frame_weights(0.2, 30.0)
    there, move = frame_distance(a, 5, b, 13, weights)
    back, inverse = frame_distance(b, 13, a, 5, weights)
    assert back == pytest.approx(there, rel=1e-12)
    assert rigid2d.compose(move, inverse) == pytest.approx(np.zeros(3), abs=1e-9)


def test_many_pairs_at_once_are_the_single_ones():
    a, b = wandering(30, seed=9), wandering(25, seed=10)
    weights = frame_weights(0.4, 30.0)
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 30, 40), rng.integers(0, 25, 40)
    moves, left = frame_distances(a, i, b, j, weights)
    for k in range(40):
        distance, move = frame_distance(a, int(i[k]), b, int(j[k]), weights)
        assert left[k] == distance
        assert (moves[k] == move).all()
    assert (align_frames(a, i, b, j, weights) == moves).all()


def test_between_frames_markers_lie_on_straight_lines():
    a, b = wandering(30, seed=11), wandering(30, seed=12)
    at = np.array([3.25, 0.0, 28.5, 14.75])
    weights = frame_weights(0.2, 30.0)

    def finer(clouds):
        steps = np.arange(4 * 29 + 1) / 4
        low = np.minimum(steps.astype(int), 28)
        part = (steps - low)[:, None, None]
        return Clouds(clouds.points[low] * (1 - part) + clouds.points[low + 1] * part, clouds.weights, 120.0)

    spaced = np.zeros(4 * (len(weights) - 1) + 1)
    spaced[::4] = weights
    there = np.array([10.0, 3.0, 12.5, 28.0])
    fine = align_frames(finer(a), 4 * at, finer(b), 4 * there, spaced)
    assert align_frames(a, at, b, there, weights) == pytest.approx(fine, abs=1e-12)


def test_one_frame_one_marker():
    a = Clouds(np.array([[[1.0, 2.0, 3.0]]]), np.ones(1), 30.0)
    b = Clouds(np.array([[[4.0, 2.5, 9.0]]]), np.ones(1), 30.0)
    distance, move = frame_distance(a, 0, b, 0, frame_weights(0.5, 30.0))
    assert distance == pytest.approx(0.25)
    assert rigid2d.apply(move, b.points[0, 0])[[0, 2]] == pytest.approx([1.0, 3.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b, w: frame_distance(a, 20, b, 0, w), "frame of 'clip1' must be from 0 to 19, not 20"),
        (lambda a, b, w: frame_distance(a, 0, b, -1, w), "frame of 'clip2' must be from 0 to 19, not -1"),
        (lambda a, b, w: frame_distance(a, 0.5, b, 0, w), "frame of 'clip1' must be an integer, not 0.5"),
        (lambda a, b, w: align_frames(a, [0, 1], b, [0], w), "at_a and at_b must have equal lengths, not 2 and 1"),
        (lambda a, b, w: align_frames(a, [19.5], b, [0], w), "frames of 'clip1' must be from 0 to 19, not 19.5"),
        (lambda a, b, w: align_frames(a, [np.nan], b, [0], w), "frames of 'clip1' must be from 0 to 19, not nan"),
        (lambda a, b, w: frame_distance(a, 0, b, 0, [1.0, 1.0]), "frame weights must be an odd number of values"),
        (lambda a, b, w: frame_distance(a, 0, b, 0, []), "frame weights must be an odd number of values"),
        (lambda a, b, w: frame_distance(a, 0, b, 0, [-1.0]), "values of at least 0"),
        (lambda a, b, w: frame_distance(a, 0, wandering(5, 4), 0, w), "clips need the same markers, got 5 and 4"),
        (
            lambda a, b, w: frame_distance(a, 0, wandering(5, fps=60.0), 0, w),
            "'clip1' has 30 frames per second, 'clip0' has 60; resample one of them with",
        ),
        (
            lambda a, b, w: frame_distance(a, 0, wandering(5, weights=[1, 1, 1, 1, 2]), 0, w),
            "clips need the same marker weights to be compared",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, message):
    with pytest.raises(InvalidValue) as error:
        change(wandering(20, seed=1), wandering(20, seed=2), frame_weights(0.1, 30.0))
    assert message in str(error.value)


def test_a_threshold_in_centimeters_or_millimeters_causes_a_warning():
    for value, expected in ((6.0, "for 6 cm write 0.06"), (150.0, "for 150 mm write 0.15"), (0.3, None), (None, None)):
        with collect_warnings() as texts:
            warn_of_centimeters("threshold", value)
        assert [text.rpartition("; ")[2] for text in texts] == ([] if expected is None else [expected])
        assert all(text.startswith("`threshold=` is in meters") for text in texts)
