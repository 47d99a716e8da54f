"""Crowds: members that avoid those in front of them."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control import FollowDirection
from marey.control.crowd import record_sources, turn_aside
from marey.errors import InvalidValue
from tests.pmg.characters import small_walker


def walk_together(distance, speeds=(0.0, 0.0), seconds=6.0):
    """Positions (F, 2, 2) of two walkers who meet head-on."""
    char = small_walker()
    streams = [char.stream(FollowDirection(0.0), feet=None) for _ in range(2)]
    places = [(0.0, 0.0, 0.0), (np.pi, 0.1, 7.0)]
    n = round(seconds * char.fps)
    frames = record_sources(
        streams, places, n, [lambda receiver, frame: None] * 2, directions=[0.0, 0.0], distance=distance
    )
    roots = np.stack([[each.root[[0, 2]] for each in row] for row in frames], axis=1)
    roots[:, 1] = np.array([0.1, 7.0]) - roots[:, 1]
    return roots


def test_members_that_meet_turn_aside_and_repeat_it():
    apart = [np.linalg.norm(np.diff(walk_together(each), axis=1)[:, 0], axis=1).min() for each in (0.0, 1.0)]
    assert apart[0] < 0.35
    assert apart[1] > apart[0] + 0.25
    np.testing.assert_array_equal(walk_together(1.0), walk_together(1.0))


def test_who_is_behind_turns_aside_and_who_is_in_front_does_not():
    here = np.array([[0.0, 0.0], [0.1, 2.0]])
    turns = turn_aside(here, np.array([[0.0, 1.5], [0.0, 0.8]]), 1.0)
    assert turns[0] < 0.0  # the other one is to the left
    assert turns[1] == 0.0


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_nobody_turns_aside_for_those_who_keep_their_distance(speed):
    here = np.array([[0.0, 0.0], [1.2, 0.0], [2.4, 0.0]])
    np.testing.assert_array_equal(turn_aside(here, np.tile([0.0, speed], (3, 1)), 1.0), 0.0)


def test_members_need_one_frame_rate():
    char = small_walker()
    stream, other = (char.stream(FollowDirection(0.0), feet=None) for _ in range(2))
    other.fps = 24.0
    with pytest.raises(InvalidValue, match="must have the same frame rate"):
        record_sources([stream, other], [(0.0, 0.0, 0.0)] * 2, 2, [lambda receiver, frame: None] * 2)
