"""A character of recorded walks: twelve seconds of capture, and it can be steered."""

from __future__ import annotations

import numpy as np
import pytest

from marey.clean import detect_contacts
from marey.control import GoTo, RandomWalk
from marey.edit import resample
from marey.io import load
from marey.measure import measure
from marey.pmg import GaitSpace, ParametricMotionGraph


@pytest.fixture(scope="module")
def slow_walks(data_folder):
    names = ("16_11", "16_13", "16_15", "16_17", "16_19")
    return [detect_contacts(resample(load(data_folder / "cmu" / "016" / f"{name}.bvh"), 60.0)) for name in names]


@pytest.fixture(scope="module")
def character(slow_walks):
    char = ParametricMotionGraph("slow walker")
    char.add("walk", GaitSpace.build(slow_walks, mirror=True))
    char.connect("walk", "walk", n_source=40, n_target=200)
    return char


def test_turns_reach_far_and_are_met(character):
    space = character.node("walk").space
    assert space.low[0] < -np.radians(80.0)
    assert space.high[0] > np.radians(80.0)
    wanted = np.linspace(space.low[0], space.high[0], 41)
    off = [abs(space.reached([each])[0] - each) for each in wanted]
    assert np.quantile(off, 0.95) < np.radians(1.0)


def test_a_random_walk_keeps_to_its_threshold_and_slides_no_more_than_its_sources(character, slow_walks):
    stream = character.stream(RandomWalk(0), clean=False)
    played = stream.record(60.0)
    assert all(each.cost <= each.bad for each in stream.transitions)
    sources = np.mean([measure(each)["slide_contact"].value for each in slow_walks])
    assert measure(played)["slide_contact"].value < 1.1 * sources
    cleaned = character.stream(RandomWalk(0)).record(20.0)
    assert measure(cleaned)["slide_contact"].value < 1e-6


@pytest.mark.parametrize("point", [(4.0, 4.0), (-5.0, -2.0), (0.5, -6.0)])
def test_points_are_reached(character, point):
    played = character.stream(GoTo(point), clean=False).record(25.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1).min() < 0.3
