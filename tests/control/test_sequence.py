"""Sequences of actions: their order, their routes, and what they refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.control.planner import get_planner
from marey.control.sequence import Action, ActionSequence
from marey.errors import InvalidValue, NoResult, UnknownName
from tests.pmg.characters import fresh_walker


@pytest.fixture(scope="module")
def chain():
    """Parts of a walk as nodes: right and left meet only via straight ahead."""
    char = fresh_walker()
    walk = char["walk"]
    char.restrict("right", "walk", walk.low, [-0.6])
    char.restrict("straight", "walk", [-0.4], [0.4])
    char.restrict("left", "walk", [0.6], walk.high)
    ways = [("right", "straight"), ("straight", "right"), ("left", "straight"), ("straight", "left")]
    for a, b in [*ways, ("right", "right"), ("straight", "straight"), ("left", "left"), ("walk", "straight")]:
        char.connect(a, b, n_source=4, n_target=12)
    return char


def played(char, control, seconds, start="straight", parameters=(0.0,)):
    stream = char.stream(control, feet=None, start=start, parameters=parameters)
    stream.record(seconds)
    return [start, *(each.target for each in stream.transitions)], stream


def test_routes_take_time(chain):
    planner = get_planner(chain)
    seconds = {name: planner.seconds_to_node(name, chain[name].middle, "left") for name in chain.nodes}
    assert seconds["left"] == seconds["straight"] == 0.0
    assert 0.5 < seconds["right"] < 2.0
    assert seconds["walk"] == pytest.approx(seconds["right"], abs=0.3)
    assert planner.seconds_to_node("left", chain["left"].middle, "walk") == np.inf


def test_actions_are_played_in_order_with_the_nodes_between(chain):
    control = ActionSequence([Action("right", times=2), "left"], then="straight")
    nodes, stream = played(chain, control, 12.0)
    assert nodes[:7] == ["straight", "right", "right", "straight", "left", "straight", "straight"]
    assert control.done
    assert all(each.cost <= each.bad for each in stream.transitions)


def test_the_clip_that_plays_counts(chain):
    nodes, _ = played(chain, ActionSequence(["straight", "right"]), 6.0)
    assert nodes[:3] == ["straight", "right", "right"]


def test_a_sequence_repeats_and_restarts_with_another_stream(chain):
    control = ActionSequence(["straight", "right"], repeat=True)
    for _ in range(2):
        nodes, _ = played(chain, control, 8.0)
        assert nodes[:6] == ["straight", "right"] * 3
        assert not control.done


def test_until_ends_an_action(chain):
    seen = []

    def enough(moment):
        seen.append(moment.seconds)
        return len(seen) == 3

    control = ActionSequence([Action("right", until=enough), "straight"])
    nodes, _ = played(chain, control, 10.0)
    assert nodes[:6] == ["straight", "right", "right", "right", "straight", "straight"]
    assert all(a < b for a, b in itertools.pairwise(seen))
    most = ActionSequence([Action("right", times=2, until=lambda moment: False), "straight"])
    assert played(chain, most, 8.0)[0][:4] == ["straight", "right", "right", "straight"]


def test_parameters_and_commands_are_used(chain):
    control = ActionSequence([Action("straight", [0.2], times=2), Action("straight", command={"turn": -0.3})])
    _, stream = played(chain, control, 6.0)
    assert [each.requested[0] for each in stream.transitions][:3] == [0.2, -0.3, -0.3]
    toward = ActionSequence([Action("straight", command={"direction": 0.5}, times=4)])
    _, stream = played(chain, toward, 6.0)
    assert stream.transitions[0].requested[0] == pytest.approx(0.5, abs=0.2)


def test_a_sequence_begins_with_its_first_action(chain):
    stream = chain.stream(ActionSequence(["left"]), feet=None)
    assert stream.playing[0] == "left"
    with pytest.raises(UnknownName, match="no node of the character takes the command 'tun'; similar: 'turn'"):
        chain.stream(ActionSequence([Action("left", command={"tun": 0.1})]), feet=None)


def test_a_sequence_can_begin_elsewhere(chain):
    stream = chain.stream(ActionSequence(["left"]), feet=None, start="walk")
    stream.record(4.0)
    assert [each.source for each in stream.transitions][:2] == ["walk", "straight"]


def test_bad_input(chain):
    with pytest.raises(InvalidValue, match="at least one action"):
        ActionSequence([])
    with pytest.raises(InvalidValue, match="at least one action, each an Action"):
        ActionSequence([3])
    with pytest.raises(InvalidValue, match="either `repeat` or `then`, not both"):
        ActionSequence(["left"], then="right", repeat=True)
    with pytest.raises(InvalidValue, match="must be the name of a node, not ''"):
        Action("")
    with pytest.raises(InvalidValue, match="`times` must be at least 1, not 0"):
        Action("left", times=0)
    with pytest.raises(InvalidValue, match="`until` must be a function that takes a ControlState, not int"):
        Action("left", until=3)
    with pytest.raises(InvalidValue, match="'left' has both parameters and a command"):
        Action("left", [1.0], {"turn": 1.0})

    def stream(control):
        chain.stream(control, feet=None, start="straight", parameters=[0.0])

    with pytest.raises(UnknownName, match="no node 'lift'"):
        stream(ActionSequence(["lift"]))
    with pytest.raises(InvalidValue, match="'left' must have 1 parameters, not 2"):
        stream(ActionSequence([Action("left", [1.0, 2.0])]))
    with pytest.raises(NoResult, match="no route leads from 'left' to 'walk'"):
        stream(ActionSequence(["left", "walk"]))
    with pytest.raises(NoResult, match="no route leads from 'walk' to 'walk'"):
        stream(ActionSequence([Action("walk", times=2), "left"]))


def test_a_moment_without_a_path_raises(chain):
    from marey.pmg import ControlState

    with pytest.raises(UnknownName, match="no route leads from 'left' to 'walk'"):
        get_planner(chain).next_option(ControlState("left", chain["left"].middle, (), 0.0, chain), "walk")
