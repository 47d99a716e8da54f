"""A live character: endless frames from a parametric motion graph, steered clip by clip (Heck 6.2.2)."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from marey.clean.settings import CleanSettings
from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.placement import find_placement as place_of
from marey.core.source import Source
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.maths import quat, rigid2d
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.costs import half_window
from marey.pmg.edge import Onward
from marey.pmg.node import Node
from marey.pmg.seam import REACH, Frames, Seam, find_seam, frames_of, joined_frames

__all__ = ["STREAM_CLEANING", "CharacterStream", "Choice", "Controller", "Moment", "Option", "Transition"]

STREAM_CLEANING = CleanSettings(average=0.1, blend=0.1, root=0.1, fade=0.2)
"""Shorter windows than for whole motions: every second of cleanup lookahead delays the response by a second.

Transitions follow the planted foot, so little is left to clean up, and that needs little time.
"""

# Frames cleaned together: one takes nearly as long as a few, and frames that are not shown yet are chosen early.
_PIECE = 2
# Frames left to show when the next clip is chosen: choice, clip, seam and change each take place with one of them.
_LEAD = 3
# Times that a transition's parameters move halfway to the middle of the box before the middle itself is used.
_HALVINGS = 3
# Number of transitions that a stream remembers.
_REMEMBERED = 100_000


class Option(NamedTuple):
    """A node that can come next: its parameter box, the transition moments, and the character's position then.

    node : the node. onward : its box. here : (3,) rigid2d, position and heading of the character at the transition.
    """

    node: Node
    onward: Onward
    here: Floats


class Moment(NamedTuple):
    """What a controller sees when it chooses the next clip.

    node, parameters : current clip. options : what can come next. seconds : played so far. graph : the character.
    """

    node: str
    parameters: Floats
    options: tuple[Option, ...]
    seconds: float
    graph: ParametricMotionGraph

    def option(self, name: str) -> Option | None:
        """Return the option with a node's name, if any."""
        return next((each for each in self.options if each.node.name == name), None)


class Choice(NamedTuple):
    """A node, and its parameters (d,), which are moved into the reachable box."""

    node: str
    parameters: Floats


@runtime_checkable
class Controller(Protocol):
    """Chooses what comes next. A controller that takes commands also has ``request(**command)``."""

    def choose(self, moment: Moment) -> Choice:
        """Choose the next clip."""
        ...


class Transition(NamedTuple):
    """A transition that was played.

    frame : of the stream, its middle. source, target : nodes. asked : (d,) parameters that the controller requested.
    used : (d,) parameters that were played. cost : meters, root of D. bad : meters, T_BAD of its edge. tries : number
    of clips tried.
    """

    frame: int
    source: str
    target: str
    asked: Floats
    used: Floats
    cost: float
    bad: float
    tries: int


class CharacterStream:
    """Endless motion; made by `ParametricMotionGraph.stream`.

    Parameters
    ----------
    graph : the character.
    controller : chooses what comes next.
    start : node of the first clip; the first node by default.
    parameters : of the first clip; by default the controller chooses from all of the node.
    place : initial rigid2d, position and heading of the character; the origin, facing +Z, by default.
    clean : clean up foot contacts. Frames are then chosen `delay` frames before they are shown.
    settings : of the cleanup.
    """

    def __init__(
        self,
        graph: ParametricMotionGraph,
        controller: Controller,
        *,
        start: str | None = None,
        parameters: ArrayLike | None = None,
        place: ArrayLike | None = None,
        clean: bool = True,
        settings: CleanSettings | None = None,
    ) -> None:
        if not isinstance(controller, Controller):
            raise InvalidValue(f"a controller needs choose(moment), got {type(controller).__name__}")
        stuck = graph.dead_ends()
        if not graph.nodes or stuck:
            told = f"{', '.join(map(repr, stuck))} cannot continue" if stuck else "it has no nodes"
            raise NoResult(f"{graph.name!r} cannot play forever: {told}; connect it, or remove it")
        self.graph, self.controller = graph, controller
        self._node = graph.node(next(iter(graph.nodes)) if start is None else start)
        here = np.zeros(3) if place is None else freeze_array(place, "place", (3,))
        self._parameters = self._node.checked(self._first(here) if parameters is None else parameters)
        self._clip = self._node.motion(self._parameters)
        self.fps = self._clip.fps
        self._half = half_window(graph.seams, self.fps)
        self._place = rigid2d.between(place_of(self._clip.skeleton, self._clip[:1].world(), 0), here)
        self._at = 0
        self._work: Iterator[bool] = iter(())
        self._raw: deque[tuple[Frames, str]] = deque()
        self._ready: deque[tuple[Floats, Floats, Floats | None, Floats | None, str]] = deque()
        self._flags_and_names: deque[tuple[Floats | None, str]] = deque()
        self._made = 0
        self._last_turns: Floats | None = None
        self.transitions: deque[Transition] = deque(maxlen=_REMEMBERED)
        self._floor = 0.0 if self._clip.source.floor is None else self._clip.source.floor
        self._cleaner = self._make_cleaner(settings or STREAM_CLEANING) if clean else None
        # Controllers compute their tables now, so that no transition waits for them.
        prepare = getattr(controller, "prepare", None)
        if prepare is not None:
            prepare(graph)

    @property
    def delay(self) -> int:
        """Frames between the choice of a frame and its display."""
        return 0 if self._cleaner is None else self._cleaner.delay

    @property
    def playing(self) -> tuple[str, Floats]:
        """Node and parameters of the clip that frames are currently chosen from."""
        return self._node.name, self._parameters

    def request(self, **wish: Any) -> None:
        """Pass a command to the controller; it takes effect from the next clip on."""
        ask = getattr(self.controller, "request", None)
        if ask is None:
            raise InvalidValue(f"{type(self.controller).__name__} takes no requests")
        ask(**wish)

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1."""
        root, turns, bones, contacts, _ = self._next()
        return Motion(
            self._clip.skeleton,
            root[None],
            turns[None],
            self.fps,
            name=self.graph.name,
            bone_offsets=None if bones is None else bones[None],
            contacts=None if contacts is None or self._points is None else Contacts(self._points, contacts[None] > 0.5),
        )

    def record(self, seconds: float) -> Motion:
        """Return the next seconds as one motion, labeled with the nodes that play."""
        if not np.isfinite(seconds) or seconds * self.fps < 0.5:
            raise InvalidValue(f"expected a finite time of at least one frame, got {seconds:g} s")
        n = max(1, round(seconds * self.fps))
        rows = [self._next() for _ in range(n)]
        bones = None
        if any(row[2] is not None for row in rows):
            own = self._clip.skeleton.offsets
            bones = set_readonly(np.stack([own if row[2] is None else row[2] for row in rows]))
        contacts = None
        if self._points is not None:
            flags = [row[3] for row in rows if row[3] is not None]
            contacts = Contacts(self._points, np.stack(flags) > 0.5) if len(flags) == n else None
        names = [row[4] for row in rows]
        cuts = [0, *(k for k in range(1, n) if names[k] != names[k - 1]), n]
        labels = [Label(names[a], a, b) for a, b in itertools.pairwise(cuts)]
        return Motion(
            self._clip.skeleton,
            set_readonly(np.stack([row[0] for row in rows])),
            set_readonly(quat.unroll(np.stack([row[1] for row in rows]))),
            self.fps,
            name=self.graph.name,
            bone_offsets=bones,
            contacts=contacts,
            labels=Labels(tuple(labels)),
            source=Source(floor=self._floor).with_step(op="parametric motion graph", character=self.graph.name),
        )

    # Choosing clips -------------------------------------------------------------------------------------------------

    def _next(self) -> tuple[Floats, Floats, Floats | None, Floats | None, str]:
        if self._n_left <= _LEAD:  # prepare the next clip step by step with the remaining frames
            self._advance()
        while not self._ready:
            while not self._raw:
                self._advance()
            self._output(*self._raw.popleft())
        return self._ready.popleft()

    @property
    def _n_left(self) -> int:
        """Number of known frames that are not shown yet; those in the cleanup do not count."""
        return len(self._ready) + sum(len(frames.roots) for frames, _ in self._raw)

    def _advance(self) -> None:
        """Do one step of the work for a clip."""
        if next(self._work, True):
            self._work = self._clip_by_steps()

    def _clip_by_steps(self) -> Iterator[bool]:
        """Play until the transition region, choose what comes next there, and blend into it, in steps."""
        onward = self.graph.onward(self._node.name, self._parameters)
        last = len(self._clip) - 1
        until = round(min(each.leave for each in onward.values()) * last) - self._half - REACH
        until = min(until, last - 2 * self._half)
        if until > self._at:
            self._queue(frames_of(self._clip, self._at, until, self._place))
            self._at = until
            yield False
        moment = self._make_moment(onward)
        option, asked = self._choose(moment)
        yield False
        found: list[tuple[float, Floats, Motion, Seam]] = []
        for used in self._candidates(option, asked):
            clip = option.node.motion(used)
            yield False
            box, markers = option.onward, self.graph.seams.markers
            seam = find_seam(self._clip, clip, box.leave, box.enter, self._half, self._at, markers)
            found.append((seam.cost, used, clip, seam))
            if seam.cost <= self.graph.edges[self._node.name, option.node.name].bad:
                break
            yield False
        yield False
        self._blend_into(option.node, asked, found)

    def _first(self, here: Floats) -> Floats:
        """Parameters of the first clip, which no previous clip restricts."""
        anything = Onward(self._node.low, self._node.high, 0.0, 0.0, self._node.middle)
        option = Option(self._node, anything, here)
        choice = self.controller.choose(Moment(self._node.name, self._node.middle, (option,), 0.0, self.graph))
        return np.asarray(choice.parameters)

    def _choose(self, moment: Moment) -> tuple[Option, Floats]:
        choice = self.controller.choose(moment)
        option = moment.option(choice.node)
        if option is None:
            known = ", ".join(repr(each.node.name) for each in moment.options)
            raise UnknownName(f"no edge leads from {self._node.name!r} to {choice.node!r}; possible: {known}")
        return option, freeze_array(
            np.atleast_1d(choice.parameters), f"parameters of {choice.node!r}", (option.node.n_dims,)
        )

    def _candidates(self, option: Option, asked: Floats) -> Iterator[Floats]:
        """Yield parameters to try: the requested ones in the box, then closer to its middle, finally the fallback."""
        box = option.onward
        wanted = np.clip(asked, box.low, box.high)
        for k in range(_HALVINGS + 2):
            away = 0.5**k if k <= _HALVINGS else 0.0
            yield option.node.checked(box.middle + away * (wanted - box.middle))
        yield option.node.checked(box.surest)

    def _blend_into(self, node: Node, asked: Floats, found: list[tuple[float, Floats, Motion, Seam]]) -> None:
        """Blend into the best of the clips that were tried."""
        _, used, clip, seam = min(found, key=lambda each: each[0])
        source, self._node, self._parameters = self._node.name, node, used
        if seam.leave - self._half > self._at:
            self._queue(frames_of(self._clip, self._at, seam.leave - self._half, self._place))
        blended, place = joined_frames(self._clip, clip, seam, self._half, self._place)
        bad, middle = self.graph.edges[source, node.name].bad, self._made + self._half
        self.transitions.append(Transition(middle, source, node.name, asked, used, seam.cost, bad, len(found)))
        self._queue(blended)
        self._clip, self._place, self._at = clip, place, seam.enter + self._half + 1

    def _make_moment(self, onward: Mapping[str, Onward]) -> Moment:
        last = len(self._clip) - 1
        options = []
        for name, each in onward.items():
            frame = int(np.clip(round(each.leave * last), 0, last))
            world = self._clip[frame : frame + 1].world()
            here = rigid2d.compose(self._place, place_of(self._clip.skeleton, world, 0))
            options.append(Option(self.graph.node(name), each, here))
        return Moment(self._node.name, self._parameters, tuple(options), self._made / self.fps, self.graph)

    # Output ---------------------------------------------------------------------------------------------------

    def _queue(self, frames: Frames) -> None:
        """Queue frames for output, in pieces that are quick to clean."""
        turns = frames.turns
        if self._last_turns is not None:
            # The opposite quaternion is the same rotation, but smoothing must not see a jump.
            sign = np.where((turns[0] * self._last_turns).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
            turns = turns * sign
        turns = quat.unroll(turns)
        self._last_turns = turns[-1]
        n = len(turns)
        self._made += n
        for start in range(0, n, _PIECE):
            part = slice(start, min(start + _PIECE, n))
            bones = None if frames.bones is None else frames.bones[part]
            contacts = None if frames.contacts is None else frames.contacts[part]
            self._raw.append((Frames(frames.roots[part], turns[part], bones, contacts), self._node.name))

    def _output(self, frames: Frames, name: str) -> None:
        n = len(frames.roots)
        flags = [None if frames.contacts is None else frames.contacts[k] for k in range(n)]
        if self._cleaner is None:
            for k in range(n):
                bones = None if frames.bones is None else frames.bones[k]
                self._ready.append((frames.roots[k], frames.turns[k], bones, flags[k], name))
            return
        self._flags_and_names.extend((flag, name) for flag in flags)
        for done in self._cleaner.push(frames.roots, frames.turns, frames.contacts, frames.bones):
            flag, called = self._flags_and_names.popleft()
            self._ready.append((done.root_position, done.rotations, done.bone_offsets, flag, called))

    @property
    def _points(self) -> Any:
        return None if self._clip.contacts is None else self._clip.contacts.points

    def _make_cleaner(self, settings: CleanSettings) -> Any:
        from marey.clean import clean_stream

        for node in self.graph.nodes.values():
            if node.motion(node.middle).contacts is None:
                return None
        return clean_stream(self._clip.skeleton, self.fps, self._points, floor=self._floor, settings=settings)
