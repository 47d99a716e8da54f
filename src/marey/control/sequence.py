"""Controllers that play a sequence of actions, with routes between their nodes, or a random walk."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marey.control.planner import get_planner
from marey.core.arrays import Floats, FrozenRecord, check_index, freeze_array
from marey.deprecation import renamed_fields, renamed_methods
from marey.errors import InvalidValue, NoResult
from marey.pmg import Choice, ControlState, ParametricMotionGraph
from marey.pmg.requests import check_command

__all__ = ["Action", "ActionSequence", "RandomWalk", "parse_actions"]


@renamed_methods(most="max_clips")
@renamed_fields(wishes="command")
@dataclass(frozen=True, slots=True, eq=False)
class Action(FrozenRecord):
    """One action of a sequence: a node, played some number of times.

    node : name of the node.
    parameters : (d,) parameters of its clips, clamped to the reachable range; None to derive them from the command.
    command : commands such as ``direction`` or ``speed``, which the node converts to parameters. Without parameters and
        command, the middle of the node's ranges is used.
    times : number of clips to play, or the maximum if `until` is given. By default one, or as many as `until` needs.
    until : function called with the `ControlState` after each clip of the action; a true result ends the action.

    Examples
    --------
    >>> action = marey.control.Action("walk", command={"direction": 0.5}, times=2)
    >>> action.max_clips
    2
    """

    node: str
    parameters: Floats | None = None
    command: Mapping[str, Any] = field(default_factory=dict)
    times: int | None = None
    until: Callable[[ControlState], bool] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.node, str) or not self.node:
            raise InvalidValue(f"node must be the name of a node, not {self.node!r}")
        if self.until is not None and not callable(self.until):
            raise InvalidValue(f"`until` must be a function that takes a ControlState, not {type(self.until).__name__}")
        if self.times is not None and check_index(self.times, "times") < 1:
            raise InvalidValue(f"`times` must be at least 1, not {self.times}")
        if self.parameters is not None:
            if self.command:
                raise InvalidValue(f"action {self.node!r} has both parameters and a command; pass only one of them")
            given = np.atleast_1d(np.asarray(self.parameters, dtype=np.float64))
            self._put(parameters=freeze_array(given, f"parameters of action {self.node!r}", (None,)))

    @property
    def max_clips(self) -> float:
        """Maximum number of clips."""
        return (1 if self.until is None else np.inf) if self.times is None else self.times


def parse_actions(text: str) -> tuple[Action, ...]:
    """Parse actions in order, such as ``"walk*3, sit, rise"``: names of nodes, with the number of clips.

    Examples
    --------
    >>> actions = marey.control.parse_actions("walk*3, sit")
    >>> [(action.node, action.max_clips) for action in actions]
    [('walk', 3), ('sit', 1)]
    """
    out = []
    for word in str(text).split(","):
        name, star, times = (part.strip() for part in word.partition("*"))
        if not name or (star and not (times.isdecimal() and int(times) > 0)):
            raise InvalidValue(f'a sequence must be names of nodes such as "walk*3, sit, rise", not {text!r}')
        out.append(Action(name, times=int(times) if star else None))
    return tuple(out)


class ActionSequence:
    """Controller that plays actions in order. A stream starts with a clip of the first action's node.

    If the current node does not lead directly to the next action's node, the controller takes the fastest route.
    Nodes on the route also follow the action's command, as far as they know it.

    Parameters
    ----------
    actions : `Action` objects, or names of nodes to play once.
    then : action to continue with after the last one; None to continue with the last one.
    repeat : whether to start over after the last action.

    Examples
    --------
    >>> sequence = marey.control.ActionSequence(["walk", "walk"])
    >>> motion = character.stream(sequence).record(3.0)
    >>> sequence.first, sequence.done
    ('walk', True)
    """

    def __init__(
        self, actions: Iterable[Action | str], *, then: Action | str | None = None, repeat: bool = False
    ) -> None:
        self.actions = tuple(Action(each) if isinstance(each, str) else each for each in actions)
        if not self.actions or not all(isinstance(each, Action) for each in self.actions):
            raise InvalidValue("actions must contain at least one action, each an Action or the name of a node")
        if repeat and then is not None:
            raise InvalidValue("pass either `repeat` or `then`, not both: a sequence either repeats or ends in a node")
        self.repeat = bool(repeat)
        self._last = self.actions[-1] if then is None else Action(then) if isinstance(then, str) else then
        self._at, self._played = 0, 0

    @property
    def first(self) -> str:
        """Name of the node with which a stream starts."""
        return self.actions[0].node

    @property
    def at(self) -> int:
        """Index of the current action; equal to the number of actions when all are done."""
        return self._at

    @property
    def done(self) -> bool:
        """Whether all actions have been played."""
        return self._at >= len(self.actions)

    def prepare(self, graph: ParametricMotionGraph) -> None:
        """Start over, and check that the character has the nodes of all actions and routes between them."""
        self._at, self._played = 0, 0
        line = [*self.actions, self.actions[0] if self.repeat else self._last]
        for each in line:
            given = graph[each.node].n_dims
            check_command(graph.nodes.values(), each.command)
            if each.parameters is not None and len(each.parameters) != given:
                raise InvalidValue(
                    f"an action of {each.node!r} must have {given} parameters, not {len(each.parameters)}"
                )
        pairs = [(a.node, b.node) for a, b in itertools.pairwise(line)]
        pairs += [(each.node, each.node) for each in line if each.max_clips > 1]
        if not self.repeat:
            pairs.append((self._last.node, self._last.node))
        planner = get_planner(graph)
        for source, target in pairs:
            if np.isinf(planner.seconds_to_node(source, graph[source].middle, target)):
                raise NoResult(f"no route leads from {source!r} to {target!r}; connect them")

    def choose(self, state: ControlState) -> Choice:
        """Choose the next clip of the current action, or of the route to it."""
        if state.seconds > 0.0:
            self._count(state)
        action = self._last if self.done else self.actions[self._at]
        option = get_planner(state.graph).next_option(state, action.node)
        node = option.node
        if node.name == action.node and action.parameters is not None:
            return Choice(node.name, action.parameters)
        return Choice(node.name, np.atleast_1d(node.request(node, action.command, option.place)))

    def _count(self, state: ControlState) -> None:
        """Count the current clip toward the action, if it is of the action's node."""
        if self.done or state.node != self.actions[self._at].node:
            return
        action = self.actions[self._at]
        self._played += 1
        if self._played >= action.max_clips or (action.until is not None and action.until(state)):
            self._at, self._played = self._at + 1, 0
            if self.repeat and self._at == len(self.actions):
                self._at = 0


class RandomWalk:
    """Controller that chooses at random. The same seed gives the same stream.

    Parameters
    ----------
    rng : seed or Generator.

    Examples
    --------
    >>> character.stream(marey.control.RandomWalk(rng=1)).record(2.0)
    <Motion 'walker': 60 frames at 30 Hz, 27 joints>
    """

    def __init__(self, rng: int | np.random.Generator = 0) -> None:
        self._rng = np.random.default_rng(rng)

    def choose(self, state: ControlState) -> Choice:
        """Choose any option, with parameters uniformly distributed over those that are allowed."""
        option = state.options[int(self._rng.integers(len(state.options)))]
        return Choice(option.node.name, option.range.region.sample(1, self._rng)[0])
