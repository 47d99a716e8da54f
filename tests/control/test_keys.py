"""Keys held by a script."""

from __future__ import annotations

import math

import numpy as np
import pytest

from marey.control.blend_tree import BlendTreeStream
from marey.control.keys import KeyPress, parse_keys, play_keys
from marey.errors import InvalidValue
from tests.control.clips import walking_tree


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
        ("", "it is empty"),
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
