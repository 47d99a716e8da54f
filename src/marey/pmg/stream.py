"""Stream a live character: endless frames from a parametric motion graph, steered clip by clip (Heck 6.2.2)."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from marey.clean.settings import CleanSettings
from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.core.placement import find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_fields, renamed_parameters
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.maths import rigid2d
from marey.play import PlayedStream, Player, SourceFrame
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.costs import half_window
from marey.pmg.edge import TransitionRange
from marey.pmg.node import Node
from marey.pmg.seam import REACH, PlacedFrames, Seam, blend_frames, find_seam, place_clip
from marey.pmg.settings import StreamSettings, accept_clean_settings

__all__ = [
    "STREAM_CLEANING",
    "CharacterStream",
    "Choice",
    "ControlState",
    "Controller",
    "Transition",
    "TransitionOption",
]

STREAM_CLEANING = CleanSettings(plant_window=0.1, orientation_window=0.1, body_window=0.1, fade_window=0.2)
"""Cleanup settings of a stream, with shorter windows than for complete motions.

Every second of cleanup lookahead delays the response by a second. Short windows are enough, because transitions follow
the planted foot and leave little to clean up.
"""

# Number of remaining frames at which work on the next clip begins. One step of it (choosing, generating the clip,
# finding the seam, blending) runs with each of these frames.
_LEAD = 3
# How often a transition's parameters move halfway toward the middle of the box before the middle itself is tried.
_HALVINGS = 3
# Number of transitions that a stream remembers.
_REMEMBERED = 100_000


@renamed_fields(onward="range", here="place")
class TransitionOption(NamedTuple):
    """A node that can come next.

    node : the node.
    range : its allowed parameters, and the position of the transition in both motions.
    place : (3,) floor placement (theta, x, z) of the character at the transition.
    """

    node: Node
    range: TransitionRange
    place: Floats


class ControlState(NamedTuple):
    """The information that a controller gets when it chooses the next clip.

    node, parameters : node name and parameters (d,) of the current clip.
    options : the nodes that can come next.
    seconds : stream time so far, including frames that are not shown yet.
    graph : the character.
    """

    node: str
    parameters: Floats
    options: tuple[TransitionOption, ...]
    seconds: float
    graph: ParametricMotionGraph

    def option(self, name: str) -> TransitionOption | None:
        """Return the option with this node name, or None."""
        return next((each for each in self.options if each.node.name == name), None)


class Choice(NamedTuple):
    """The next clip: a node name and requested parameters (d,); the stream plays the nearest allowed ones."""

    node: str
    parameters: Floats


@runtime_checkable
class Controller(Protocol):
    """Protocol of a controller, which chooses the next clip.

    A controller that accepts commands also has a method ``request(**command)``.
    """

    def choose(self, state: ControlState) -> Choice:
        """Choose the next clip."""
        ...


@renamed_fields(asked="requested", used="played")
class Transition(NamedTuple):
    """A transition that was played.

    frame : frame of the stream at the middle of the transition.
    source, target : names of the nodes.
    requested : (d,) parameters that the controller chose.
    played : (d,) parameters that were played.
    cost : square root of the window distance D, in meters.
    bad : threshold T_BAD of the edge, in meters.
    tries : number of clips that were tried.
    """

    frame: int
    source: str
    target: str
    requested: Floats
    played: Floats
    cost: float
    bad: float
    tries: int


class CharacterStream(PlayedStream):
    """An endless stream of frames; created by `ParametricMotionGraph.stream`.

    Parameters
    ----------
    graph : the character.
    controller : chooses the next clip.
    settings : see `StreamSettings`, whose options are also keywords.
    """

    @renamed_parameters(clean=("feet", feet_from_flag))
    @accept_clean_settings
    @operation(StreamSettings)
    def __init__(self, graph: ParametricMotionGraph, controller: Controller, settings: StreamSettings) -> None:
        if not isinstance(controller, Controller):
            raise InvalidValue(
                f"controller must have a method choose(state), which {type(controller).__name__} does not have"
            )
        stuck = graph.dead_ends()
        if not graph.nodes or stuck:
            names = ", ".join(map(repr, stuck))
            reason = (
                f"{names} cannot continue; add an outgoing edge that leads back, or remove the node"
                if stuck
                else "it has no nodes; add a node first"
            )
            raise NoResult(f"character {graph.name!r} cannot be streamed: {reason}")
        self.graph, self.controller = graph, controller
        first = getattr(controller, "first", None) or next(iter(graph.nodes))
        self._node = graph[first if settings.start is None else settings.start]
        here = np.zeros(3) if settings.place is None else freeze_array(settings.place, "place", (3,))
        given = settings.parameters
        self._parameters = self._node.project(self._choose_first(here) if given is None else given)
        self._clip = self._node.motion(self._parameters)
        floor = self._clip.source.floor
        super().__init__(self._clip.skeleton, self._clip.fps, self._find_points(), 0.0 if floor is None else floor)
        self._half = half_window(graph.seams, self.fps)
        self._place = rigid2d.between(find_placement(self._clip, 0), here)
        self._at = 0
        self._work: Iterator[bool] = iter(())
        self._frames: deque[SourceFrame] = deque()
        self._n_queued = 0
        self.transitions: deque[Transition] = deque(maxlen=_REMEMBERED)
        self.player = Player(
            self,
            settings.feet,
            name=graph.name,
            settings=settings.cleaning or STREAM_CLEANING,
            step={"op": "parametric motion graph", "character": graph.name},
        )
        # Let the controller compute its tables now, so no transition has to wait for them.
        prepare = getattr(controller, "prepare", None)
        if prepare is not None:
            prepare(graph)

    @property
    def playing(self) -> tuple[str, Floats]:
        """Node and parameters of the clip that frames are currently chosen from."""
        return self._node.name, self._parameters

    def request(self, **command: Any) -> None:
        """Pass a command to the controller; it takes effect with the next clip."""
        ask = getattr(self.controller, "request", None)
        if ask is None:
            raise InvalidValue(f"{type(self.controller).__name__} takes no commands")
        ask(**command)

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the node."""
        if len(self._frames) <= _LEAD:  # prepare the next clip step by step with the remaining frames
            self._advance()
        while not self._frames:
            self._advance()
        return self._frames.popleft()

    # Choosing clips -------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Do one step of the work on the next clip."""
        if next(self._work, True):
            self._work = self._clip_by_steps()

    def _clip_by_steps(self) -> Iterator[bool]:
        """Queue frames up to the transition region, choose the next clip, and blend into it; yield after each step."""
        ranges = self.graph.transition_ranges(self._node.name, self._parameters)
        last = len(self._clip) - 1
        until = round(min(each.leave for each in ranges.values()) * last) - self._half - REACH
        until = min(until, last - 2 * self._half)
        if until > self._at:
            self._queue(place_clip(self._clip, self._at, until, self._place))
            self._at = until
            yield False
        option, requested = self._choose(self._make_state(ranges))
        yield False
        found: list[tuple[float, Floats, Motion, Seam]] = []
        for parameters in self._candidates(option, requested):
            clip = option.node.motion(parameters)
            yield False
            box, markers = option.range, self.graph.seams.markers
            seam = find_seam(self._clip, clip, box.leave, box.enter, self._half, self._at, markers)
            found.append((seam.cost, parameters, clip, seam))
            if seam.cost <= self.graph.edges[self._node.name, option.node.name].bad:
                break
            yield False
        yield False
        self._blend_into(option.node, requested, found)

    def _choose_first(self, place: Floats) -> Floats:
        """Let the controller choose the parameters (d,) of the first clip from the node's full ranges."""
        node = self._node
        anything = TransitionRange(node.low, node.high, 0.0, 0.0, node.middle, node.region)
        option = TransitionOption(self._node, anything, place)
        choice = self.controller.choose(ControlState(self._node.name, self._node.middle, (option,), 0.0, self.graph))
        return np.asarray(choice.parameters)

    def _choose(self, state: ControlState) -> tuple[TransitionOption, Floats]:
        choice = self.controller.choose(state)
        option = state.option(choice.node)
        if option is None:
            known = ", ".join(repr(each.node.name) for each in state.options)
            raise UnknownName(
                f"no edge leads from {self._node.name!r} to {choice.node!r}; the controller must choose one of {known}"
            )
        return option, freeze_array(
            np.atleast_1d(choice.parameters), f"parameters of {choice.node!r}", (option.node.n_dims,)
        )

    def _candidates(self, option: TransitionOption, requested: Floats) -> Iterator[Floats]:
        """Yield parameters to try: the nearest allowed to the request, others closer to the middle, the fallback."""
        node, allowed = option.node, option.range.region
        wanted, middle = allowed.project(requested, node.scale), allowed.middle
        for k in range(_HALVINGS + 2):
            away = 0.5**k if k <= _HALVINGS else 0.0
            yield node.project(middle + away * (wanted - middle))
        yield node.project(option.range.fallback)

    def _blend_into(self, node: Node, requested: Floats, found: list[tuple[float, Floats, Motion, Seam]]) -> None:
        """Queue the transition into the best of the clips that were tried."""
        _, played, clip, seam = min(found, key=lambda each: each[0])
        source, self._node, self._parameters = self._node.name, node, played
        if seam.leave - self._half > self._at:
            self._queue(place_clip(self._clip, self._at, seam.leave - self._half, self._place))
        blended, place = blend_frames(self._clip, clip, seam, self._half, self._place)
        bad, middle = self.graph.edges[source, node.name].bad, self._n_queued + self._half
        self.transitions.append(Transition(middle, source, node.name, requested, played, seam.cost, bad, len(found)))
        self._queue(blended)
        self._clip, self._place, self._at = clip, place, seam.enter + self._half + 1

    def _make_state(self, ranges: Mapping[str, TransitionRange]) -> ControlState:
        last = len(self._clip) - 1
        options = []
        for name, each in ranges.items():
            frame = int(np.clip(round(each.leave * last), 0, last))
            place = rigid2d.compose(self._place, find_placement(self._clip, frame))
            options.append(TransitionOption(self.graph[name], each, place))
        return ControlState(self._node.name, self._parameters, tuple(options), self._n_queued / self.fps, self.graph)

    def _queue(self, frames: PlacedFrames) -> None:
        n, labels = len(frames.roots), (self._node.name,)
        contacts = [None] * n if frames.contacts is None else set_readonly(frames.contacts > 0.5)
        bones = [None] * n if frames.bones is None else frames.bones
        self._n_queued += n
        poses = set_readonly(frames.roots), set_readonly(frames.rotations)
        for root, rotations, flags, offsets in zip(*poses, contacts, bones, strict=True):
            self._frames.append(SourceFrame(root, rotations, flags, offsets, labels))

    def _find_points(self) -> tuple[ContactPoint, ...]:
        """Return the contact points of the first clip, or of the first node that has any."""
        middles = (node.motion(node.middle) for node in self.graph.nodes.values())
        found = (each.contacts.points for each in itertools.chain([self._clip], middles) if each.contacts is not None)
        return next(found, ())
