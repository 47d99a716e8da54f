"""All live players, built from the same clips."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from marey.control.baselines import KINDS, TURNS, baseline_streams, pick_strides
from marey.control.evaluate import record
from marey.core.placement import find_facing
from marey.edit import mirror
from marey.errors import NoResult, UnknownName
from marey.maths import rigid2d
from marey.measure import measure
from tests.pmg.characters import walks


@cache
def clips():
    return (*walks(), *(mirror(walk) for walk in walks()))


@cache
def made():
    quick = {"parametric motion graph": {"n_source": 12, "n_target": 50}, "motion graph": {"threshold": 0.1}}
    return baseline_streams(clips(), settings=quick)


def test_one_cycle_is_cut_for_each_turn():
    found = pick_strides(clips(), margin=0.0)
    assert list(found) == ["-60", "-30", "+0", "+30", "+60"]
    for turn, stride in zip(TURNS, found.values(), strict=True):
        yaw = find_facing(stride.skeleton, stride.world().positions)
        assert yaw[-1] - yaw[0] == pytest.approx(turn, abs=math.radians(12))
        assert stride.duration == pytest.approx(1.1, abs=0.2)
    longer = pick_strides(clips(), margin=0.2)
    assert longer["+0"].duration == pytest.approx(1.4 * found["+0"].duration, abs=0.07)
    assert list(pick_strides(clips()[3:4], TURNS)) < list(found)


@pytest.mark.parametrize("kind", KINDS)
def test_each_follows_the_direction(kind):
    stream = made()[kind]()
    assert stream.player.feet == "lock"
    record(stream, 60)
    stream.request(direction=math.pi / 2)
    played = record(stream, 210)
    step = played.travel[-1] - played.travel[-36]
    assert abs(rigid2d.wrap_angle(np.arctan2(step[0], step[2]) - math.pi / 2)) < 0.5
    assert measure(played)["slide_contact"].value < 0.02


def test_missing_names_are_refused():
    with pytest.raises(
        UnknownName, match="no baseline 'fat grap'; similar: 'fat graph'.*parametric motion graph, fat graph"
    ):
        baseline_streams(clips(), kinds=["fat grap"])
    with pytest.raises(UnknownName, match="no baseline 'thin graph'"):
        baseline_streams(clips(), kinds=["fat graph"], settings={"thin graph": {}})
    with pytest.raises(NoResult, match=r"no clip \('.*'\) is long enough: it must contain 1.4 gait cycles"):
        pick_strides([clips()[0][:45]], margin=0.2)
