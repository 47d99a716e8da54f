"""Blends of loops: they repeat for any number of cycles, with changing weights (Kovar 5.4.3)."""

import numpy as np
import pytest

from marey.blend import blend
from marey.blend.transition_build import join_motions
from marey.core.placement import find_facing
from marey.edit import cycle
from marey.errors import InvalidValue
from marey.measure import measure
from marey.register import register
from marey.samples import sample
from tests.blend.helpers import furthest, heading_change
from tests.tiers import mostly_slow

FPS = 60.0
TURN = 0.6  # rad/s


def loop(name, turn, **parameters):
    """Return one stride of a regular gait as a loop."""
    result = sample(name, fps=FPS, variation=0.0, turn_rate=turn, seconds=8.0, **parameters)
    start, stop = (int(np.argmin(np.abs(result.phase - whole))) for whole in (2.0, 3.0))
    return cycle(result.motion, start, stop)


@pytest.fixture(scope="module")
def nine():
    """Return loops of walking, running and sneaking: straight, to the left and to the right."""
    gaits = (("walk", {}), ("run", {}), ("sneak", {"pauses": 0}))
    return register([loop(name, turn, **more) for name, more in gaits for turn in (0.0, TURN, -TURN)], cyclic=True)


def control(t):
    """Speed, turn and sneaking, each changing at its own rate."""
    speed, turn, sneak = 0.5 + 0.5 * np.sin(0.7 * t), np.sin(0.43 * t + 1.0), 0.5 - 0.5 * np.cos(0.31 * t)
    style = [(1.0 - speed) * (1.0 - sneak), speed * (1.0 - sneak), sneak]
    way = [1.0 - turn * turn, 0.5 * turn * (turn + 1.0), 0.5 * turn * (turn - 1.0)]
    return np.outer(style, way).ravel()


def jump(motion):
    """Return the largest change of any joint's velocity in m/s^2."""
    return float(np.linalg.norm(np.diff(motion.world().positions, n=2, axis=0), axis=-1).max()) * motion.fps**2


@pytest.mark.parametrize("feet", mostly_slow([None, "clean"], "cleans half a minute", n_fast=1))
def test_nine_gaits_under_continuous_control_for_half_a_minute(nine, feet):
    result = blend(nine, control, seconds=30.0, feet=feet)
    assert result.duration == pytest.approx(30.0, abs=1.0 / FPS)
    assert jump(result) < max(jump(motion) for motion in nine.motions)
    speed = np.linalg.norm(np.diff(result.travel[:, [0, 2]], axis=0), axis=1) * FPS
    assert speed.min() < 0.8
    assert speed.max() > 2.5
    # The character leans to both sides in turn, and feet are planted in every second of it.
    yaw = np.cumsum([heading_change(result[k : k + 61]) for k in range(0, 1800, 60)])
    assert np.ptp(yaw) > 90.0
    standing = result.contacts.mask.any(axis=1)
    assert all(standing[k : k + 60].any() for k in range(0, 1800, 60))
    if feet:
        assert measure(result)["slide_contact"].value < 1e-4


@pytest.mark.parametrize("k", range(9))
def test_a_single_loop_repeats_unchanged(nine, k):
    """Cycle after cycle: starting at its own beginning, or a fraction of a frame later."""
    motion = nine.motions[k]
    n = len(motion)
    result = blend(nine, np.eye(9)[k], seconds=3.0 * n / FPS, feet=None)
    for turns in (1, 2):
        later = result[:n]
        for _ in range(turns):
            later = later.moved(nine.loops[k])
        assert furthest(result[turns * n : (turns + 1) * n], later) < 1e-6
    twice = join_motions([motion, motion.moved(nine.loops[k])])
    at = np.arange(1, n) / FPS + float(nine.timewarp(0.0)[k])
    assert furthest(result[1:n], twice.at(at)) < 1e-6


def test_one_round_by_default(nine):
    weights = np.full(9, 1.0)
    whole = blend(nine, weights, feet=None)
    twice = blend(nine, weights, seconds=2.0 * len(whole) / FPS, feet=None)
    assert furthest(twice[: len(whole)], whole) < 1e-9
    changing = blend(nine, lambda t: weights, feet=None)
    assert abs(len(changing) - len(whole)) <= 1
    n = min(len(changing), len(whole))
    assert furthest(changing[:n], whole[:n]) < 1e-5


def test_constant_and_changing_weights_agree_over_many_rounds(nine):
    weights = np.arange(1.0, 10.0)
    one = blend(nine, weights, seconds=20.0, feet=None)
    two = blend(nine, lambda t: weights, seconds=20.0, feet=None)
    assert furthest(one, two) < 1e-4


def test_turns_cancel_over_many_rounds(nine):
    result = blend(nine, [0, 1, 1, 0, 1, 1, 0, 1, 1], seconds=20.0, feet=None)
    assert abs(heading_change(result)) < 5.0


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf, "long"])
def test_bad_lengths(nine, seconds):
    with pytest.raises(InvalidValue, match="seconds must be"):
        blend(nine, np.ones(9), seconds=seconds)


def test_loops_are_cut_from_captures():
    clips = [sample("walk", fps=30.0, seconds=5.0, turn_rate=rate, variation=0.0).motion for rate in (0.0, 0.6)]
    registered = register(clips, cut_loops=True)
    assert registered.cyclic
    by_hand = register([cycle(clip) for clip in clips], cyclic=True)
    np.testing.assert_allclose(registered.timewarp.points, by_hand.timewarp.points)
    made = blend(registered, lambda t: [1 - min(t / 6, 1), min(t / 6, 1)], seconds=6.0)
    assert made.duration == pytest.approx(6.0)
    headings = np.unwrap(find_facing(made.skeleton, made.world().positions))
    assert np.ptp(headings[:30]) < 0.3  # straight at first
    assert (headings[-1] - headings[-31]) == pytest.approx(0.55, abs=0.2)  # turning in the end
