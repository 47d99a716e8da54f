"""Stream a live character: endless frames from a parametric motion graph, steered clip by clip (Heck 6.2.2)."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
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
from marey.pmg.costs import REACH, half_window
from marey.pmg.edge import TransitionRange
from marey.pmg.node import Node
from marey.pmg.seam import PlacedFrames, Seam, blend_frames, find_seam, insert_frames, measure_change, place_clip
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
# A change within a clip is made only if a parameter changes by more than this fraction of its range.
_MIN_CHANGE = 0.03
# Seconds between reviews of a choice.
_REVIEW = 0.1


@renamed_fields(onward="range", here="place")
class TransitionOption(NamedTuple):
    """A node that can come next.

    node : the node.
    range : its allowed parameters, and the position of the transition in both motions.
    place : (3,) floor placement (theta, x, z) of the character at the transition.
    inside : whether this is a change within the current clip: to another clip of the same node, at the same phase.
    """

    node: Node
    range: TransitionRange
    place: Floats
    inside: bool = False


class ControlState(NamedTuple):
    """The information that a controller gets when it chooses the next clip.

    node, parameters : node name and parameters (d,) of the current clip.
    options : the nodes that can come next.
    seconds : stream time so far, including frames that are not shown yet.
    graph : the character.
    changes : the time span in which a clip can be replaced by another one of its node: it begins this many seconds
        after the middle of the transition into the clip, and ends this many seconds before the middle of the
        transition out of it. None if the stream does not replace clips.

    Examples
    --------
    >>> class Watch:
    ...     def choose(self, state):
    ...         self.nodes = [option.node.name for option in state.options]
    ...         return marey.pmg.Choice("walk", state.options[0].range.middle)
    >>> watch = Watch()
    >>> motion = character.stream(watch).record(1.0)
    >>> watch.nodes
    ['walk']
    """

    node: str
    parameters: Floats
    options: tuple[TransitionOption, ...]
    seconds: float
    graph: ParametricMotionGraph
    changes: tuple[float, float] | None = None

    def option(self, name: str) -> TransitionOption | None:
        """Return the option whose node is named `name`, or None."""
        return next((each for each in self.options if each.node.name == name), None)


class Choice(NamedTuple):
    """The next clip: a node name and requested parameters (d,); the stream plays the nearest allowed ones.

    review : whether the stream asks the controller again within the clip, if the controller `changes_clips`; see
        `Controller`.

    Examples
    --------
    >>> marey.pmg.Choice("walk", np.array([0.3])).node
    'walk'
    """

    node: str
    parameters: Floats
    review: bool = False


@runtime_checkable
class Controller(Protocol):
    """Protocol of a controller, which chooses the next clip.

    A controller that accepts commands also has a method ``request(**command)``. If its attribute ``changes_clips`` is
    true, `choose` is also called within a clip after a command; the only option is then another clip of the node.

    Examples
    --------
    >>> from marey.pmg import Choice
    >>> class Sharpest:
    ...     def choose(self, state):
    ...         option = state.option("walk")
    ...         return Choice("walk", option.range.high)
    >>> character.stream(Sharpest()).record(1.0)
    <Motion 'walker': 30 frames at 30 Hz, 27 joints>
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


def find_change_window(graph: ParametricMotionGraph, fps: float) -> tuple[float, float]:
    """Return the seconds after the entry of a clip, and before its exit, between which streams can change it.

    Entry, exit and change are the middles of transitions. The second half of a change can overlap the transition out of
    the clip. Only a change that follows a command can begin within the transition into the clip.
    """
    half = half_window(graph.seams, fps)
    return (2 * half + _LEAD) / fps, (half + REACH) / fps


def find_change_limits(graph: ParametricMotionGraph, name: str, fps: float) -> tuple[float, Floats]:
    """Return the maximum cost of changes within the clips of a node, in meters, and the largest changes (d,) to try.

    Transitions to parameters farther away are too bad to be played.
    """
    bad = min(edge.bad for edge in graph.out_edges(name))
    return bad, bad / measure_change(graph[name], half_window(graph.seams, fps), graph.seams.markers)


class CharacterStream(PlayedStream):
    """An endless stream of frames; created by `ParametricMotionGraph.stream`.

    Parameters
    ----------
    graph : the character.
    controller : chooses the next clip.
    settings : see `StreamSettings`, whose options are also keywords.

    Examples
    --------
    >>> stream = character.stream(marey.control.FollowDirection(0.0))
    >>> stream.request(direction=np.pi / 2)
    >>> stream.record(1.0)
    <Motion 'walker': 30 frames at 30 Hz, 27 joints>
    >>> stream.playing[0]
    'walk'
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
                f"no clip can follow {names}; connect such a node to itself, or to a node that leads back, or remove it"
                if stuck
                else "it has no nodes; add a node first"
            )
            raise NoResult(f"character {graph.name!r} cannot be streamed: {reason}")
        self.graph, self.controller = graph, controller
        first = getattr(controller, "first", None) or next(iter(graph.nodes))
        self._node = graph[first if settings.start is None else settings.start]
        self._changes: tuple[float, float] | None = None
        if settings.respond == "anytime" and getattr(controller, "changes_clips", False):
            self._changes = find_change_window(graph, graph.fps)
        here = np.zeros(3) if settings.place is None else freeze_array(settings.place, "place", (3,))
        given = settings.parameters
        self._parameters = self._node.project(self._choose_first(here) if given is None else given)
        self._clip = self._node.motion(self._parameters)
        floor = self._clip.source.floor
        super().__init__(self._clip.skeleton, self._clip.fps, self._find_points(), 0.0 if floor is None else floor)
        self._half = half_window(graph.seams, self.fps)
        self._place = rigid2d.between(find_placement(self._clip, 0), here)
        self._at = 0
        self._find_exit()
        self._work: Iterator[bool] = iter(())
        self._frames: deque[SourceFrame] = deque()
        self._n_queued = 0
        # Whether to reconsider the current clip, and how many of the last frames in the queue are its own, which
        # include those of the transition into it.
        self._is_asked, self._n_own, self._tried_cost = False, 0, 0.0
        self._review_at: float = np.inf
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
        """Node name and parameters (d,) of the current clip, whose frames are being queued."""
        return self._node.name, self._parameters

    def request(self, **command: Any) -> None:
        """Pass a command to the controller; it takes effect as soon as `StreamSettings.respond` allows."""
        ask = getattr(self.controller, "request", None)
        if ask is None:
            raise InvalidValue(f"{type(self.controller).__name__} takes no commands")
        ask(**command)
        self._is_asked = self._changes is not None

    def next_frame(self) -> SourceFrame:
        """Return the next frame; its label is the name of the node."""
        if self._is_asked or self._n_queued - len(self._frames) >= self._review_at:
            self._leave_early()
        if len(self._frames) <= _LEAD:  # prepare the next clip step by step with the remaining frames
            self._advance()
        while not self._frames:
            self._advance()
        self._n_own = min(self._n_own, len(self._frames) - 1)
        return self._frames.popleft()

    # Choosing clips -------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Do one step of the work on the next clip."""
        if next(self._work, True):
            self._work = self._clip_by_steps()

    def _clip_by_steps(self) -> Iterator[bool]:
        """Queue frames up to the transition region, choose the next clip, and blend into it; yield after each step."""
        if self._until > self._at:
            self._queue(place_clip(self._clip, self._at, self._until, self._place))
            self._n_own, self._at = self._n_own + self._until - self._at, self._until
            yield False
        option, requested = self._choose(self._make_state())
        yield False
        bad = self.graph.edges[self._node.name, option.node.name].bad
        yield from self._blend_by_steps(option, requested, self._candidates(option, requested), bad)

    def _blend_by_steps(
        self, option: TransitionOption, requested: Floats, candidates: Iterator[Floats], bad: float
    ) -> Iterator[bool]:
        """Queue the transition into the first candidate that costs at most `bad`, else the best, step by step.

        Within a clip, queue nothing if all candidates cost more than `bad`.
        """
        found: list[tuple[float, Floats, Motion, Seam]] = []
        for parameters in candidates:
            clip = option.node.motion(parameters)
            yield False
            box, markers = option.range, self.graph.seams.markers
            seam = find_seam(self._clip, clip, box.leave, box.enter, self._half, self._at, markers)
            found.append((seam.cost, parameters, clip, seam))
            self._tried_cost = seam.cost
            if seam.cost <= bad:
                break
            yield False
        yield False
        if option.inside and seam.cost > bad:
            return  # the current clip continues
        self._blend_into(option, requested, found, bad)

    def _leave_early(self) -> None:
        """Begin a change within the current clip, if enough of its frames are left for a transition."""
        n_before = len(self._frames) - self._n_own
        n_dropped = max(0, self._n_own - max(0, _LEAD - n_before))
        if n_before > _LEAD or self._until - self._at + n_dropped <= self._half + REACH:
            return
        self._drop_frames(n_dropped)
        self._n_own -= n_dropped
        self._work = self._change_by_steps()

    def _drop_frames(self, n: int) -> None:
        """Remove the last n frames, which belong to the current clip, from the queue."""
        for _ in range(n):
            self._frames.pop()
        self._at, self._n_queued = self._at - n, self._n_queued - n

    def _change_by_steps(self) -> Iterator[bool]:
        """Let the controller replace the rest of the current clip by another one of its node; yield after each step."""
        node, frame, last = self._node, self._at + self._half, len(self._clip) - 1
        moment, now = frame / last, self._parameters
        bad, far = find_change_limits(self.graph, node.name, self.fps)
        low, high = np.maximum(node.low, now - far), np.minimum(node.high, now + far)
        box = TransitionRange(low, high, moment, moment, now, node.region.cut(low, high))
        place = rigid2d.compose(self._place, find_placement(self._clip, frame))
        option = TransitionOption(node, box, place, inside=True)
        state = ControlState(node.name, now, (option,), self._n_queued / self.fps, self.graph, self._changes)
        _, requested = self._choose(state)
        wanted = node.project(requested)
        yield False
        if np.abs((wanted - now) / node.scale).max() > _MIN_CHANGE:
            yield from self._blend_by_steps(option, requested, self._nearer(wanted, bad), bad)

    def _choose_first(self, place: Floats) -> Floats:
        """Let the controller choose the parameters (d,) of the first clip from the node's full ranges."""
        node = self._node
        anything = TransitionRange(node.low, node.high, 0.0, 0.0, node.middle, node.region)
        option = TransitionOption(self._node, anything, place)
        state = ControlState(self._node.name, self._node.middle, (option,), 0.0, self.graph, self._changes)
        choice = self.controller.choose(state)
        return np.asarray(choice.parameters)

    def _choose(self, state: ControlState) -> tuple[TransitionOption, Floats]:
        choice = self.controller.choose(state)
        self._is_asked = False
        self._review_at = self._n_queued + round(_REVIEW * self.fps) if choice.review and self._changes else np.inf
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
        """Yield parameters to try: the allowed ones nearest to the request, others closer to the middle, then the
        fallback."""
        node, allowed = option.node, option.range.region
        wanted, middle = allowed.project(requested, node.scale), allowed.middle
        for k in range(_HALVINGS + 2):
            away = 0.5**k if k <= _HALVINGS else 0.0
            yield node.project(middle + away * (wanted - middle))
        yield node.project(option.range.fallback)

    def _nearer(self, wanted: Floats, bad: float) -> Iterator[Floats]:
        """Yield parameters to try for a change within a clip: first `wanted`, then parameters that are nearer to the
        current ones.

        Costs are about proportional to the change.
        """
        node, now, fraction = self._node, self._parameters, 1.0
        for _ in range(_HALVINGS + 1):
            yield node.project(now + fraction * (wanted - now))
            fraction *= min(0.9 * bad / max(self._tried_cost, 1e-9), 0.9)

    def _blend_into(
        self, option: TransitionOption, requested: Floats, found: list[tuple[float, Floats, Motion, Seam]], bad: float
    ) -> None:
        """Queue the transition into the best of the clips that were tried."""
        node, inside = option.node, option.inside
        _, played, clip, seam = min(found, key=lambda each: each[0])
        source, self._node, self._parameters = self._node.name, node, played
        if seam.leave - self._half > self._at:
            self._queue(place_clip(self._clip, self._at, seam.leave - self._half, self._place))
        blended, place = blend_frames(self._clip, clip, seam, self._half, self._place)
        middle = self._n_queued + self._half
        self.transitions.append(Transition(middle, source, node.name, requested, played, seam.cost, bad, len(found)))
        self._queue(blended)
        self._clip, self._place, self._at, self._n_own = clip, place, seam.enter + self._half + 1, 0
        if self._changes is not None:
            self._review_at = max(self._review_at, self._n_queued)
            # Before this transition has ended, a command can change the clip, or the transition out of it can begin.
            self._clip = insert_frames(clip, seam.enter - self._half, blended, place)
            self._n_own = 0 if inside else len(blended.roots)
        self._find_exit()
        if inside:
            self._drop_frames(max(0, self._at - self._until))

    def _find_exit(self) -> None:
        """Find what can follow the current clip, and the frame of the clip at which the choice is made."""
        self._ranges = self.graph.transition_ranges(self._node.name, self._parameters)
        last = len(self._clip) - 1
        leave = round(min(each.leave for each in self._ranges.values()) * last)
        self._until = min(leave - self._half - REACH, last - 2 * self._half)

    def _make_state(self) -> ControlState:
        last = len(self._clip) - 1
        options = []
        for name, each in self._ranges.items():
            frame = int(np.clip(round(each.leave * last), 0, last))
            place = rigid2d.compose(self._place, find_placement(self._clip, frame))
            options.append(TransitionOption(self.graph[name], each, place))
        seconds = self._n_queued / self.fps
        return ControlState(self._node.name, self._parameters, tuple(options), seconds, self.graph, self._changes)

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
