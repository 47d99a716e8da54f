"""Reduced forms of the shipped characters do what they are made for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.control import FollowDirection, HitPoint, RandomWalk
from marey.core.placement import find_facing
from marey.maths import rigid2d
from marey.pmg import Choice
from tests.pmg.recipes import small_character
from tests.tiers import mostly_slow


class Boxer:
    """Punch at points that were within reach when they were chosen, with dances and ducks in between."""

    def __init__(self, beyond=0.0):
        self.chance, self.targets, self.beyond = np.random.default_rng(0), [], beyond

    def choose(self, moment):
        option = moment.option(("dance", "punch", "duck")[len(self.targets) % 3]) or moment.options[0]
        node, here = option.node, option.place
        command = {"height": 1.1, "direction": self.chance.uniform(-3.0, 3.0)}
        if node.name == "punch":
            seen = node.samples(1, self.chance)[0] + [0.0, 0.0, self.beyond]
            command = {"point": rigid2d.apply(here, seen)}
        self.targets.append((node.name, moment.seconds, command))
        return Choice(node.name, node.request(node, command, here))


def hand_misses(boxer, played):
    hand = played.world().positions[:, played.skeleton.roles["right_hand"]]
    out = []
    for name, seconds, command in boxer.targets:
        start = round(seconds * played.fps)
        if name == "punch" and start + 70 < len(played):
            out.append(np.linalg.norm(hand[start : start + 65] - command["point"], axis=1).min())
    return np.array(out)


def test_punches_land_on_their_targets():
    char = small_character("boxing")
    boxer = Boxer()
    played = char.stream(boxer, feet=None, parameters=[0.0, 0.0]).record(120.0)
    off = hand_misses(boxer, played)
    assert len(off) > 15
    assert (off < 0.05).mean() >= 0.95


def test_beyond_reach_the_nearest_punch_is_thrown():
    char = small_character("boxing")
    node, boxer = char["punch"], Boxer(beyond=0.5)
    stream = char.stream(boxer, feet=None, parameters=[0.0, 0.0])
    stream.record(12.0)
    thrown = [each for each in stream.transitions if each.target == "punch"]
    assert thrown
    for each in thrown:
        assert not node.contains(each.requested)
        np.testing.assert_allclose(each.played, node.project(each.requested), atol=1e-3)


@pytest.mark.parametrize("point", [(0.3, 1.4, 0.7), (-0.9, 1.35, -0.3)])
def test_a_target_out_of_reach_is_approached_then_hit(point):
    char = small_character("boxing")
    controller = HitPoint(point)
    played = char.stream(controller, feet=None).record(7.0)
    (hit,) = controller.hits
    assert hit.miss < 0.05
    assert hit.node in ("punch", "jab")
    hands = played.world().positions[:, [played.skeleton.roles[f"{side}_hand"] for side in ("left", "right")]]
    thrown = hands[round(hit.seconds * played.fps) :][:45]
    assert np.linalg.norm(thrown - point, axis=2).min() < 0.08
    # A point within reach is hit after the first clip; for the other, the boxer moves first.
    assert (hit.seconds > 1.5) == (point[2] < 0.0)


def test_a_duck_brings_the_head_below_the_height():
    node = small_character("boxing")["duck"]
    for height in (1.0, 1.2, 1.5):
        result = node.motion(node.request(node, {"height": height}, np.zeros(3)))
        top = result.world().positions[:, :, 1].max(axis=1).min()
        assert abs(top - height) < 0.03


def test_a_dance_turns_to_a_heading():
    node = small_character("boxing")["dance"]
    here = np.array([0.4, 1.0, 2.0])
    result = node.motion(node.request(node, {"direction": 1.2}, here))
    turned = find_facing(result.skeleton, result.world().positions)
    assert abs(turned[-1] - turned[0] - 0.8) < np.radians(3.0)


def test_a_character_that_only_turns_right_goes_left_by_right_turns():
    char = small_character("right-turner")
    stream = char.stream(FollowDirection(0.0), feet=None, parameters=[0.0])
    stream.record(3.0)
    stream.request(direction=np.pi / 2.0)
    played = stream.record(14.0)
    turned = find_facing(played.skeleton, played.world().positions)
    assert turned.max() - turned[0] < np.radians(25.0)
    assert abs(turned[-1] - turned[0] + 1.5 * np.pi) < np.radians(25.0)


def test_cartwheels_go_left_by_two_turns_to_the_right():
    """Heck 6.2.2.3: nothing in the character requires this."""
    char = small_character("cartwheeling")
    stream = char.stream(FollowDirection(0.0), feet=None, parameters=[0.0], respond="clip")
    stream.record(1.0)
    stream.request(direction=np.pi / 2.0)
    stream.record(12.0)
    turns = np.degrees([each.played[0] for each in stream.transitions])
    assert (turns[:2] < -90.0).all()
    assert abs(turns.sum() + 270.0) < 20.0


@pytest.mark.parametrize(
    "name", mostly_slow(["boxing", "everyday", "right-turner"], "builds a larger character", n_fast=1)
)
def test_random_walks_never_enter_a_bad_transition(name):
    stream = small_character(name).stream(RandomWalk(1), feet=None)
    played = stream.record(45.0)
    assert all(each.cost <= each.bad for each in stream.transitions)
    assert np.isfinite(played.root_positions).all()


@pytest.mark.slow("builds and plays the largest character")
def test_everyday_actions_follow_one_another_and_steps_are_left_as_high_as_they_were_taken():
    char = small_character("everyday")
    stream = char.stream(FollowDirection(0.0, node="walk"), feet=None)
    seen = []
    for node in ("run", "sit", "step up", "leap", "walk"):
        stream.request(node=node, height=0.2, seat=0.45)
        stream.record(14.0)
        seen += [each.target for each in stream.transitions]
        assert node in seen
    steps = [each for each in stream.transitions if each.target in ("step up", "step down")]
    for up, down in itertools.pairwise(steps):
        if down.target == "step down":
            assert abs(up.played[0] - down.played[0]) < 0.03


@pytest.mark.parametrize("name", mostly_slow(["walk-run", "everyday"], "builds the largest character", n_fast=1))
def test_walk_to_run_and_back_takes_few_clips(name):
    stream = small_character(name).stream(FollowDirection(0.0, node="walk", speed=1.2), feet=None)
    stream.record(4.0)
    for node in ("run", "walk"):
        before = len(stream.transitions)
        stream.request(node=node)
        stream.record(6.0)
        assert [each.target for each in stream.transitions][before:].index(node) < 4
