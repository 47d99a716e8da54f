"""The area that a character can reach, compared with what it does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from marey.control.reach import Reach, reach
from marey.control.sequence import RandomWalk
from marey.core.placement import find_facing
from marey.errors import InvalidValue, NoResult, UnknownFormat, UnknownName
from marey.plot.reach import draw_reach
from marey.plot.reach import reach as draw
from marey.pmg import ParametricMotionGraph
from tests.pmg.characters import small_walker


@pytest.fixture(scope="module")
def found():
    return reach(small_walker(), seconds=5.0, cell=0.5, headings=12)


def test_it_begins_at_the_origin_facing_ahead(found):
    n = len(found.x)
    assert found.x[n // 2] == 0.0
    assert found.headings[0] == 0.0
    assert found.seconds[n // 2, n // 2, 0] == 0.0
    assert found.cell == 0.5


def test_nothing_is_reached_faster_than_the_fastest_walk(found):
    away = np.hypot(found.x[:, None], found.z) - found.cell
    assert (away <= 1.6 * found.seconds.min(axis=2)).all()


def test_more_time_reaches_more(found):
    short = reach(small_walker(), seconds=3.0, cell=0.5, headings=12)
    edge = (len(found.x) - len(short.x)) // 2
    inner = found.seconds[edge:-edge, edge:-edge]
    assert (inner <= short.seconds + 0.3).all()
    assert np.isfinite(found.seconds).sum() > 2 * np.isfinite(short.seconds).sum()
    np.testing.assert_array_equal(found.within(3.0).sum(), (found.seconds <= 3.0).sum())


def test_left_and_right_are_nearly_equal(found):
    """Mirrored walks begin with the other foot, so the results agree only approximately."""
    mirrored = found.seconds[::-1][:, :, (-np.arange(12)) % 12]
    both = np.isfinite(found.seconds) & np.isfinite(mirrored)
    assert both.sum() > 0.85 * np.isfinite(found.seconds).sum()
    assert np.median(np.abs(found.seconds[both] - mirrored[both])) < 0.15


def test_random_walks_stay_within_reach(found):
    char = small_walker()
    hits = []
    for seed in range(6):
        played = char.stream(RandomWalk(seed), feet=None).record(5.0)
        yaw = find_facing(played.skeleton, played.world().positions)
        for frame in range(30, len(played), 15):
            x, z = played.travel[frame, [0, 2]]
            # The clips of a stream do not meet exactly as the tables predict, so the neighboring cell may be reached
            # instead.
            around = [
                found.soonest((x + dx, z + dz), yaw[frame] + dh)
                for dx in (-0.25, 0.25) for dz in (-0.25, 0.25) for dh in (-0.26, 0.26)
            ]  # fmt: skip
            hits.append(min(around) <= frame / played.fps + 0.4)
    assert np.mean(hits) > 0.95


def test_a_clip_that_has_been_played_limits_what_follows():
    char = small_walker()
    node = char["walk"]
    sharp = reach(char, seconds=2.0, cell=0.5, headings=12, start=("walk", node.high))
    straight = reach(char, seconds=2.0, cell=0.5, headings=12, start=("walk", [0.0]))
    # A character that turns sharply to the left cannot be far to the right soon.
    right = sharp.headings < -0.6
    assert np.isfinite(straight.seconds[..., right]).sum() > np.isfinite(sharp.seconds[..., right]).sum()


def test_questions_are_answered(found):
    assert found.soonest((0.0, 2.0)) <= found.soonest((0.0, 2.0), 0.0)
    assert np.isinf(found.soonest((500.0, 0.0)))
    assert found.soonest(np.zeros((3, 2, 2))).shape == (3, 2)
    assert found.turning()[0] == 0.0
    assert found.turning()[3] < found.turning()[6]
    places, headings = found.fraction(2.0)
    assert 0.5 < places <= 1.0
    assert 0.0 < headings < places
    report = found.to_dict()
    assert report["quarter_turn_seconds"] < report["half_turn_seconds"] < 4.0
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.seconds, found.seconds)
    with pytest.raises(ValueError, match="read-only"):
        found.seconds[0, 0, 0] = 1.0


def test_it_is_the_same_again(found):
    again = reach(small_walker(), seconds=5.0, cell=0.5, headings=12)
    np.testing.assert_array_equal(again.seconds, found.seconds)


def test_it_is_plotted(found, tmp_path):
    figure = draw_reach(found, seconds=3.0)
    assert "within 3 s" in figure.texts[0].get_text()
    image = figure.axes[1].get_images()[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(image), found.within(3.0) == 0)
    draw(found, tmp_path / "reach.png")
    assert (tmp_path / "reach.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UnknownFormat, match=r"\.png or \.svg"):
        draw(found, tmp_path / "reach.txt")
    with pytest.raises(InvalidValue, match="5, the time limit"):
        draw_reach(found, seconds=9.0)
    nothing = Reach(found.x, found.z, found.headings, np.inf * (found.seconds + 1), 5.0)
    with pytest.raises(NoResult, match="nothing is reached within 5 s"):
        draw_reach(nothing)


def test_bad_input(found):
    char = small_walker()
    with pytest.raises(InvalidValue, match="seconds must be finite and greater than 0, not 0"):
        reach(char, seconds=0)
    with pytest.raises(InvalidValue, match="cell must be finite and greater than 0 m, not -1"):
        reach(char, cell=-1)
    with pytest.raises(InvalidValue, match="headings must be at least 4, not 2"):
        reach(char, headings=2)
    with pytest.raises(InvalidValue, match="use larger cells, or fewer seconds"):
        reach(char, seconds=100.0, cell=0.05)
    with pytest.raises(UnknownName, match="no node 'fly'"):
        reach(char, start="fly")
    with pytest.raises(InvalidValue, match=r"points must be finite with shape \(\.\.\., 2\)"):
        found.soonest((1.0, 2.0, 3.0))
    with pytest.raises(InvalidValue, match="seconds must have shape"):
        Reach(found.x, found.z, found.headings, np.zeros((1, 1, 1)), 5.0)


def test_a_character_without_nodes_reaches_nothing():
    with pytest.raises(InvalidValue, match="'empty' has no nodes yet; add a node first"):
        reach(ParametricMotionGraph("empty"))
