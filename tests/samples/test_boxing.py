"""A boxer's turns and ducks: they begin and end in the same guard, so each can follow any other."""

from __future__ import annotations

import numpy as np
import pytest

from marey.compare import distance_grid
from marey.core.placement import find_facing
from marey.samples import sample


def turned(motion):
    heading = find_facing(motion.skeleton, motion.world().positions)
    return heading[-1] - heading[0]


@pytest.mark.parametrize("degrees", [-75.0, -20.0, 0.0, 40.0, 75.0])
def test_a_turn_has_its_angle_and_planted_feet(degrees):
    result = sample("box_turn", angle=np.radians(degrees), variation=0.0)
    assert np.degrees(turned(result.motion)) == pytest.approx(degrees, abs=0.5)
    steps = result.motion.contacts.mask.any(axis=1)
    assert steps.mean() > 0.7
    assert [label.name for label in result.motion.labels] == ["box_turn"]


def test_all_begin_and_end_in_the_same_guard():
    clips = [
        sample("box_turn", angle=0.8, variation=0.0).motion,
        sample("duck", stance="guard", height=1.1, variation=0.0).motion,
        sample("punch", variation=0.0).motion,
    ]
    for before in clips:
        for after in clips:
            values = distance_grid(before[-8:], after[:8], window=0.1).values
            assert np.sqrt(values.min()) < 0.005


def test_a_duck_in_guard_keeps_the_hands_up():
    result = sample("duck", stance="guard", height=1.1, variation=0.0)
    assert result.targets[0].position[1] == pytest.approx(1.1)
    motion = result.motion
    frame = round(result.targets[0].seconds * motion.fps)
    places = motion.world().positions[frame]
    roles = motion.skeleton.roles
    for side in ("left", "right"):
        assert places[roles[f"{side}_hand"], 1] > places[roles[f"{side}_forearm"], 1] - 0.05
