"""Going to a point with a heading."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control.go_to import GoTo
from marey.core.placement import find_facing
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.pmg import ControlState
from marey.pmg.stream import TransitionOption
from tests.pmg.characters import small_walker, two_speed_walker
from tests.tiers import mostly_slow


def arrived(char, point, heading, seconds, **options):
    """Return whether the character ever comes within 0.3 m and 20 degrees."""
    stream = char.stream(GoTo(point, heading=heading, **options), feet=None)
    for _ in range(round(seconds / 4.0)):
        played = stream.record(4.0)
        near = np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1) < 0.3
        yaw = find_facing(played.skeleton, played.world().positions)
        if (near & (np.abs(rigid2d.wrap_angle(yaw - heading)) < np.radians(20.0))).any():
            return True
    return False


@pytest.mark.parametrize("make", mostly_slow([small_walker, two_speed_walker], "plays another character", n_fast=1))
def test_points_are_reached_with_a_heading(make):
    rng = np.random.default_rng(5)
    for _ in range(4):
        angle, away, heading = rng.uniform(-np.pi, np.pi), 6.0 * np.sqrt(rng.random()), rng.uniform(-np.pi, np.pi)
        assert arrived(make(), (away * np.sin(angle), away * np.cos(angle)), heading, 36.0)


def test_commands_stay_until_they_are_changed():
    control = GoTo((1.0, 2.0), heading=2.5 * np.pi)
    assert control.heading == pytest.approx(0.5 * np.pi)
    control.request(point=(3.0, 4.0))
    assert control.heading == pytest.approx(0.5 * np.pi)
    np.testing.assert_array_equal(control.point, (3.0, 4.0))
    control.request(heading=None)
    assert control.heading is None
    np.testing.assert_array_equal(control.point, (3.0, 4.0))


def test_a_stream_lets_its_controller_prepare():
    asked = []

    class Preparing(GoTo):
        def prepare(self, graph):
            asked.append(graph)
            return super().prepare(graph)

    char = small_walker()
    char.stream(Preparing((0.0, 3.0)), feet=None, parameters=[0.0])
    assert asked == [char]


def test_a_setting_that_went_is_ignored():
    with pytest.warns(DeprecationWarning, match="lookahead=.* no longer has an effect"):
        GoTo((0.0, 1.0), lookahead=3)


def test_bad_input():
    with pytest.raises(InvalidValue, match="heading must be a finite number of radians or None, not nan"):
        GoTo((0.0, 1.0), heading=np.nan)
    control = GoTo((0.0, 1.0))
    with pytest.raises(InvalidValue, match="unknown command 'speed'; GoTo accepts point, heading"):
        control.request(speed=1.0)
    with pytest.raises(InvalidValue, match="point must have shape"):
        control.request(point=(1.0,), heading=1.0)
    assert control.heading is None


@pytest.mark.parametrize(("played", "is_reviewed"), [("as asked", True), ("otherwise", False)])
def test_choices_are_no_longer_reviewed_if_the_stream_cannot_follow(played, is_reviewed):
    """A character of recorded walks circled its goal: every review planned a change that was too large to play."""
    char = small_walker()
    node = char["walk"]
    now = node.middle
    box = char.transition_ranges("walk", now)["walk"]
    here = np.zeros(3)
    control = GoTo((0.5, 1.0))
    after, inside = (TransitionOption(node, box, here, inside=each) for each in (False, True))
    assert control.choose(ControlState("walk", now, (after,), 0.0, char)).review
    asked = control.choose(ControlState("walk", now, (inside,), 0.5, char)).parameters
    other = np.where(asked > node.middle, node.low, node.high)
    state = ControlState("walk", asked if played == "as asked" else other, (after,), 1.0, char)
    assert control.choose(state).review == is_reviewed
    control.request(point=(0.5, 1.0))
    assert control.choose(state).review
