"""Clips of one step: cut at both passings of the feet, mirror images of each other, with faster responses."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control import FollowDirection, RandomWalk
from marey.control.clip_model import find_turning_ring
from marey.control.evaluate import evaluate_stream
from marey.core.placement import find_facing
from marey.edit.mirror import mirror
from marey.errors import InvalidValue, NoResult, ParseError
from marey.pmg import GaitSpace, read_recipe
from marey.pmg.gait_cycles import PER_CYCLE, CyclePart, cut_cycles, find_cycles, grid_phases
from marey.pmg.gait_events import warp_phases
from marey.pmg.walker import walker
from marey.samples import sample
from tests.pmg.characters import small_stepper, small_walker, walks


def test_two_steps_make_a_cycle():
    walk = walks()[3]
    whole = cut_cycles(walk, 0.2)
    lefts, rights = (cut_cycles(walk, 0.2, part=CyclePart(begin, 0.5)) for begin in (0.0, 0.5))
    shift = len(find_cycles(walk, 0.2, CyclePart(0.0, 0.5))) - len(whole)
    assert 0 <= shift <= 1
    extra, half = round(0.2 * PER_CYCLE), PER_CYCLE // 2
    left, cycle = lefts[0], whole[0]
    right = rights[int(find_cycles(walk, 0.2)[0] - find_cycles(walk, 0.2, CyclePart(0.5, 0.5))[0])]
    np.testing.assert_allclose(left.steps[: extra + half], cycle.steps[: extra + half], atol=1e-12)
    np.testing.assert_allclose(right.steps[extra:], cycle.steps[extra + half :], atol=1e-12)


def test_steps_begin_with_their_own_foot():
    space = small_stepper()["left"].space
    assert space.span == 0.5
    assert len(grid_phases(space.margin, 0.5)) == space.heights.shape[1]
    for side in ("left", "right"):
        result = small_stepper()[side].motion([0.0])
        contacts = result.contacts
        at = round(0.2 / 0.9 * (len(result) - 1))
        stands = {name: contacts.mask[at, contacts.names.index(f"{name}_ball")] for name in ("left", "right")}
        assert not stands[side]
        assert stands["right" if side == "left" else "left"]


def test_right_steps_are_left_steps_in_the_mirror():
    left, right = (small_stepper()[side].space for side in ("left", "right"))
    np.testing.assert_allclose(left.low, -right.high, atol=1e-3)
    a, b = mirror(left([0.3])), right([-0.3])
    assert abs(len(a) - len(b)) <= 1
    n = min(len(a), len(b))
    assert np.abs(a.world().positions[:n] - b.world().positions[:n]).max() < 0.01


def test_turn_of_a_step_is_met():
    space = small_stepper()["right"].space
    for target in np.linspace(space.low[0], space.high[0], 5):
        assert space.reached([target])[0] == pytest.approx(target, abs=np.radians(0.1))
        result = space([target])
        faced = find_facing(result.skeleton, result.world().positions)
        at = np.array([0.2, 0.7]) / 0.9 * (len(result) - 1)
        assert np.diff(np.interp(at, np.arange(len(result)), faced))[0] == pytest.approx(target, abs=np.radians(4.0))


def test_feet_alternate_and_transitions_keep_to_their_thresholds():
    stream = small_stepper().stream(RandomWalk(0), feet=None)
    stream.record(30.0)
    targets = [each.target for each in stream.transitions]
    assert len(targets) > 40
    assert set(targets[::2]) == {"right"}
    assert set(targets[1::2]) == {"left"}
    assert all(each.cost <= each.bad for each in stream.transitions)


def test_steps_answer_sooner_than_cycles():
    took = [
        evaluate_stream(
            lambda char=char: char.stream(FollowDirection(0.0), feet=None, respond="clip"), n_turns=6, seconds=4.0
        ).response
        for char in (small_stepper(), small_walker())
    ]
    assert took[0] < 0.8 * took[1]


def test_alternating_steps_turn_by_a_plan():
    graph = small_stepper()
    assert find_turning_ring(graph, "left") == ("left", "right")
    assert find_turning_ring(graph, "right") == ("right", "left")
    assert find_turning_ring(small_walker(), "walk") == ("walk",)
    stream = graph.stream(FollowDirection(0.0), feet=None)
    stream.record(2.0)
    stream.request(direction=-2.0)
    played = stream.record(6.0)
    faced = find_facing(played.skeleton, played.world().positions)
    assert abs(faced[-1] + 2.0) < np.radians(15.0)


def test_events_of_a_step_are_where_they_are_in_a_cycle():
    usual = np.array([0.2, 0.82, 0.7, 0.33])
    late = [np.array([0.22, 1.22]), np.array([0.84]), np.array([0.72]), np.array([0.35])]
    whole = warp_phases(grid_phases(0.2), 0.0, late, usual)
    step = warp_phases(grid_phases(0.2, 0.5), 0.5, late, usual, 0.5)
    grid = 0.5 + grid_phases(0.2, 0.5)
    for about, own in ((0.7, 0.72), (0.82, 0.84)):
        assert np.interp(about, grid, step) == pytest.approx(own, abs=2e-3)
        assert np.interp(about, grid_phases(0.2), whole) == pytest.approx(own, abs=2e-3)


def test_steps_survive_files(tmp_path):
    space = small_stepper()["left"].space
    space.save(tmp_path / "left.npz")
    again = GaitSpace.load(tmp_path / "left.npz")
    assert again.span == 0.5
    np.testing.assert_allclose(again([0.2]).root_positions, space([0.2]).root_positions, atol=1e-6)


def test_bad_input(tmp_path):
    with pytest.raises(InvalidValue, match="steps must be from 1 to 2, not 3"):
        GaitSpace.build(walks(), steps=3)
    with pytest.raises(InvalidValue, match="side must be 'left' or 'right', not 'up'"):
        GaitSpace.build(walks(), steps=1, side="up")
    with pytest.raises(InvalidValue, match="must be 1 or 2 .*, not 4"):
        walker(steps=4)
    with pytest.raises(NoResult, match="at least 2 steps with margins"):
        GaitSpace.build([sample("walk", seconds=1.0, fps=30.0, variation=0.0).motion], steps=1)
    text = '[[nodes]]\nname = "a"\nkind = "gait"\nsteps = 3\n[[nodes.clips]]\nsample = "walk"\n'
    (tmp_path / "me.toml").write_text('name = "x"\n' + text)
    with pytest.raises(ParseError, match=r"steps must be 1 \(a step of one side\) or 2 \(a full cycle\), not 3"):
        read_recipe(tmp_path / "me.toml")
