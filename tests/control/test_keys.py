"""Scripted key presses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from marey.control import FollowDirection
from marey.control.blend_tree import BlendTreeStream
from marey.control.keys import KeyPress, can_stop, parse_keys, play_keys
from marey.errors import InvalidValue
from tests.control.clips import walking_tree
from tests.pmg.characters import small_walker
from tests.pmg.recipes import small_character


@pytest.mark.parametrize(
    ("keys", "degrees"),
    [("w", 0), ("a", 90), ("s", 180), ("d", -90), ("wa", 45), ("dw", -45), ("as", 135), ("W", 0), ("wad", 0)],
)
def test_keys_lead_where_they_point(keys, degrees):
    (press,) = parse_keys(f"{keys}:2.5")
    assert press[:2] == (0.0, 2.5)
    assert math.degrees(press.direction) == pytest.approx(degrees)


def test_keys_follow_each_other():
    presses = parse_keys(" w:3  -:1\na:2 ")
    assert [press[:2] for press in presses] == [(0.0, 3.0), (3.0, 4.0), (4.0, 6.0)]
    assert [press.direction for press in presses] == [0.0, None, pytest.approx(math.pi / 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an empty text"),
        ("w", "must be KEYS:SECONDS"),
        (":3", "must be KEYS:SECONDS"),
        ("w:x", "must be a number greater than 0"),
        ("w:-1", "must be a number greater than 0"),
        ("w:nan", "must be a number greater than 0"),
        ("q:1", "unknown key 'q' in 'q:1'; keys: w, s, a, d and -"),
        ("ad:1", "cancel out"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(InvalidValue, match=message):
        parse_keys(text)


def test_a_stream_goes_where_keys_say():
    played = play_keys(BlendTreeStream(walking_tree(), feet="lock"), "w:2 a:4")
    assert len(played) == 360
    way = (
        np.diff(played.travel[[60, 110]][:, [0, 2]], axis=0)[0],
        np.diff(played.travel[[300, 359]][:, [0, 2]], axis=0)[0],
    )
    assert abs(math.atan2(*way[0])) < 0.2
    assert math.atan2(*way[1]) == pytest.approx(math.pi / 2, abs=0.3)
    with pytest.raises(InvalidValue, match="at least one key"):
        play_keys(BlendTreeStream(walking_tree(), feet="lock"), ())


def test_waiting_keeps_the_direction():
    asked = []

    class Listening(BlendTreeStream):
        def request(self, **command):
            asked.append(command.get("direction"))
            super().request(**command)

    stream = Listening(walking_tree())
    asked.clear()
    play_keys(stream, [KeyPress(0.0, 0.1, 1.0), KeyPress(0.1, 0.3, None), KeyPress(0.3, 0.4, -1.0)])
    assert asked == [1.0, -1.0]


def test_a_character_stops_without_keys_and_starts_with_them():
    stream = small_character("stopping").stream(FollowDirection(0.0))
    assert can_stop(stream)
    assert not can_stop(small_walker().stream(FollowDirection(0.0)))
    played = play_keys(stream, "w:2 -:8 a:7")
    speed = np.linalg.norm(np.diff(played.travel[:, [0, 2]], axis=0), axis=1) * played.fps
    seconds = np.arange(len(speed)) / played.fps
    assert speed[seconds < 2.0].mean() > 0.5
    assert speed[(seconds > 8.0) & (seconds < 10.0)].mean() < 0.15
    assert speed[seconds > 15.0].mean() > 0.4
    assert [each.target for each in stream.transitions if each.target not in ("walk", "turn")] == ["stop", "start"]
    with pytest.raises(InvalidValue, match="the command stop must be True, False or None, not 3"):
        stream.request(stop=3)
