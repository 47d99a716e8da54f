"""Steerable characters made of recorded motion: from twelve seconds of walks, or from twelve kicks of one take."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from marey.clean import detect_contacts
from marey.control import GoTo, RandomWalk
from marey.edit import resample
from marey.io import load
from marey.measure import measure
from marey.parametric import position
from marey.pmg import GaitSpace, ParametricMotionGraph, build_recipe, read_recipe


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
    space = character["walk"].space
    assert space.low[0] < -np.radians(80.0)
    assert space.high[0] > np.radians(80.0)
    wanted = np.linspace(space.low[0], space.high[0], 41)
    off = [abs(space.reached([each])[0] - each) for each in wanted]
    assert np.quantile(off, 0.95) < np.radians(1.0)


def test_a_random_walk_keeps_to_its_threshold_and_slides_no_more_than_its_sources(character, slow_walks):
    stream = character.stream(RandomWalk(0), feet=None)
    played = stream.record(60.0)
    assert all(each.cost <= each.bad for each in stream.transitions)
    sources = np.mean([measure(each)["slide_contact"].value for each in slow_walks])
    assert measure(played)["slide_contact"].value < 1.1 * sources
    cleaned = character.stream(RandomWalk(0)).record(20.0)
    assert measure(cleaned)["slide_contact"].value < 1e-6


@pytest.mark.parametrize("point", [(4.0, 4.0), (-5.0, -2.0), (0.5, -6.0)])
def test_points_are_reached(character, point):
    played = character.stream(GoTo(point), feet=None).record(25.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1).min() < 0.3


@pytest.fixture(scope="module")
def kicker(data_folder, tmp_path_factory):
    """Build from a recipe: each kick from before its apex until the stance before the next, by height and side."""
    name = "cmu/144/144_05.bvh"
    with open(data_folder / "annotations.csv", encoding="utf-8") as lines:
        apexes = [int(row["apex_frame"]) / 120.0 for row in csv.DictReader(lines) if row["file"] == name]
    clips = "".join(
        f'[[nodes.clips]]\nfiles = ["{(data_folder / name).resolve()}"]\nfrom = {at - 0.75}\nto = {at + 1.3}\n'
        for at in apexes
    )
    text = f"""
name = "kicker"
fps = 60
samples = [16, 80]
[[nodes]]
name = "kick"
kind = "parametric"
feature = "position:right_foot:xy@highest"
names = ["x", "y"]
max_distance = 0.5
request = "at a point"
{clips}
[[edges]]
from = "kick"
to = "kick"
"""
    path = tmp_path_factory.mktemp("kicker") / "kicker.toml"
    path.write_text(text)
    return build_recipe(read_recipe(path))


def test_kicks_hit_their_targets_and_follow_one_another(kicker):
    node = kicker["kick"]
    feature = position("right_foot", "highest", axes="xy")

    def miss(target):
        return np.linalg.norm(feature(node.motion(target)) - target)

    own = node.space.parameters
    assert len(own) == 12
    assert max(map(miss, own)) < 0.02
    assert np.quantile([miss(each) for each in node.samples(20, np.random.default_rng(0))], 0.95) < 0.02
    np.testing.assert_allclose(node.project(own.max(axis=0) + 1.0), node.project(own.max(axis=0) + 1.0001), atol=1e-3)
    stream = kicker.stream(RandomWalk(0), feet=None)
    stream.record(30.0)
    assert all(each.cost <= each.bad for each in stream.transitions)
    assert kicker.edges["kick", "kick"].worst < 0.12
