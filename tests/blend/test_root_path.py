"""The path of a blend: averaged steps (Kovar 5.3.2)."""

import numpy as np
import pytest

from marey.blend.root_path import accumulate_votes, mean_origin
from marey.maths import rigid2d
from tests.blend import twin


def arcs(curvatures, n, way=4.0):
    """Make hips (n, k, 3) that move along arcs, and their alignments with the first."""
    s = np.linspace(0.0, way, n)
    hips, frames = [], []
    for curvature in curvatures:
        theta = curvature * s
        x = s * 0.5 * theta * np.sinc(0.5 * theta / np.pi) ** 2
        z = s * np.sinc(theta / np.pi)
        hips.append(np.stack([x, np.ones(n), z], axis=1))
        frames.append(np.stack([theta, x, z], axis=1))
    frames = np.stack(frames, axis=1)
    moves = rigid2d.compose(frames[:, :1], rigid2d.invert(frames))
    moves[..., 0] = frames[:, :1, 0] - frames[..., 0]
    return np.stack(hips, axis=1), moves


def walked(placed, alignments, hips, weights):
    return rigid2d.apply(placed, mean_origin(alignments, hips, weights))


def test_one_motion_alone_stays_where_it_is():
    hips, moves = arcs([0.3, -0.8], 50)
    weights = np.broadcast_to([0.0, 1.0], (50, 2))
    placed = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, rigid2d.invert(moves[0, 1]))
    np.testing.assert_allclose(rigid2d.compose(placed, moves[:, 1])[:, 1:], 0.0, atol=1e-12)
    np.testing.assert_allclose(walked(placed, moves, hips, weights), hips[:, 1, [0, 2]], atol=1e-12)


@pytest.mark.parametrize("turn", [0.6, 1.1, 2.0])  # radians per meter over 4 m: up to two and a half full turns apart
def test_left_and_right_go_straight(turn):
    hips, moves = arcs([turn, -turn], 240)
    weights = np.full((240, 2), 0.5)
    placed = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, np.zeros(3))
    path = walked(placed, moves, hips, weights)
    assert np.abs(path[:, 0]).max() < 2e-3
    assert path[-1, 1] == pytest.approx(4.0, abs=5e-3)


def test_curvatures_add_up_by_their_weights():
    hips, moves = arcs([0.9, -0.3, 0.2], 240)
    weights = np.broadcast_to([0.5, 0.2, 0.3], (240, 3))
    mean = 0.5 * 0.9 - 0.2 * 0.3 + 0.3 * 0.2
    placed = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, np.zeros(3))
    wanted, _ = arcs([mean], 240)
    np.testing.assert_allclose(walked(placed, moves, hips, weights), wanted[:, 0, [0, 2]], atol=5e-3)


def test_the_choice_of_the_reference_changes_nothing():
    hips, moves = arcs([0.9, -0.4, 0.1], 60)
    rng = np.random.default_rng(0)
    moves = moves + 0.02 * np.cumsum(rng.normal(size=moves.shape), axis=0) * [1.0, 0.1, 0.1]
    weights = np.broadcast_to([0.5, 0.3, 0.2], (60, 3))
    other = rigid2d.compose(rigid2d.invert(moves[:, 1:2]), moves)
    other[..., 0] = np.unwrap(moves[..., 0] - moves[:, 1:2, 0], axis=0)
    paths = []
    for given in (moves, other):
        first = rigid2d.invert(given[0, 0])
        placed = accumulate_votes(given, mean_origin(given, hips, weights), weights, first)
        paths.append(walked(placed, given, hips, weights))
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-12)


def test_played_backward_it_is_the_same_path():
    hips, moves = arcs([0.9, -0.4], 60)
    weights = np.stack([np.linspace(0.2, 0.9, 60), np.linspace(0.8, 0.1, 60)], axis=1)
    ahead = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, np.array([0.3, 1.0, 2.0]))
    back = accumulate_votes(moves[::-1], mean_origin(moves, hips, weights)[::-1], weights[::-1], ahead[-1])
    np.testing.assert_allclose(back[::-1], ahead, atol=1e-12)


def test_it_turns_and_moves_with_its_first_frame():
    hips, moves = arcs([0.9, -0.4], 60)
    weights = np.full((60, 2), 0.5)
    origins = mean_origin(moves, hips, weights)
    base = np.array([2.5, 100.0, -40.0])
    here, there = (
        accumulate_votes(moves, origins, weights, np.zeros(3)),
        accumulate_votes(moves, origins, weights, base),
    )
    np.testing.assert_allclose(there[:, 1:], rigid2d.compose(base, here)[:, 1:], atol=1e-12)
    np.testing.assert_allclose(there[:, 0], here[:, 0] + 2.5, atol=1e-12)


def test_it_is_the_source_s_average_in_the_limit_of_small_steps():
    apart = []
    for n in (100, 200, 400):
        hips, moves = arcs([0.9, -0.4], n)
        weights = np.broadcast_to([0.4, 0.6], (n, 2))
        mine = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, np.zeros(3))
        theirs = twin.place(moves, hips, weights, np.zeros(3))
        apart.append(np.abs(mine[-1, 1:] - theirs[-1, 1:]).max())
    assert apart[0] < 0.02
    assert apart[2] < 0.3 * apart[0]


def test_loops_go_on_round_after_round():
    """A loop of an arc, unrolled, against the averaged steps across its seams."""
    n, rounds = 40, 5
    curvatures, way = np.array([0.5, -0.7]), 1.3
    hips, moves = arcs(curvatures, n * rounds + 1, way * rounds)
    hips, moves = hips[:-1], moves[:-1]
    weights = np.stack([np.linspace(0.2, 0.9, n * rounds), np.linspace(0.8, 0.1, n * rounds)], axis=1)
    plain = accumulate_votes(moves, mean_origin(moves, hips, weights), weights, np.zeros(3))
    loops = np.stack([_end_of_arc(c, way) for c in curvatures])
    tiled = np.tile(moves[:n], (rounds, 1, 1))
    there = np.tile(hips[:n], (rounds, 1, 1))
    origins = mean_origin(tiled, there, weights)
    placed = accumulate_votes(
        tiled, origins, weights, np.zeros(3), turns=np.arange(n * rounds) // n, loops=loops, reference=0
    )
    np.testing.assert_allclose(
        rigid2d.apply(placed, origins), rigid2d.apply(plain, mean_origin(moves, hips, weights)), atol=1e-10
    )


def _end_of_arc(curvature, way):
    theta = curvature * way
    return np.array([theta, way * 0.5 * theta * np.sinc(0.5 * theta / np.pi) ** 2, way * np.sinc(theta / np.pi)])
