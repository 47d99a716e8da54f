"""Controllers of a character in real time. Each has a stream, the requests it accepts, and its reachable area."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from marey.control import (
    BlendTree,
    BlendTreeSettings,
    BlendTreeStream,
    GoToSettings,
    MatchingData,
    MatchingSettings,
    MotionMatching,
    find_limits,
    get_planner,
)
from marey.core.arrays import Floats
from marey.core.feet import Feet as StreamFeet
from marey.graph import MotionGraph
from marey.graph.edge_paths import edge_paths
from marey.graph.settings import GraphStreamSettings
from marey.graph.stream import GraphStream
from marey.maths import rigid2d
from marey.play import PlayedStream
from marey.pmg import ParametricMotionGraph
from marey.pmg.requests import request_at_point, request_name
from marey.studio.panels.author_messages import CharacterRange
from marey.studio.panels.drive_messages import DriveNode, Feet
from marey.studio.panels.drive_steering import Steering
from marey.studio.panels.graph_links import start_node

# Lookahead (s) of the drawn reachable area for controllers that do not choose whole clips, and frames between updates.
_AHEAD, _EVERY = 1.0, 6
# Limits: edges searched for a graph's reachable area, and similar frames for that of motion matching.
_MAX_EDGES, _N_NEAREST = 400, 600
# Number of directions in which the farthest reachable point is drawn.
_SECTORS = 36
# Quantiles of the clips' speeds that bound the range of speeds that can be requested.
_SPEEDS = (0.02, 0.98)
# Speed (m/s) below which a character stands; those that cannot walk so slowly do not stop.
_STANDING = 0.2
# Step (m/s) between the speeds of a graph's direction tables.
_PACE = 0.25
# Maximum length of a clip's name sent with each frame.
_MAX_NAME_CHARS = 40

Lines = Sequence[Floats]
FEET: Mapping[Feet, StreamFeet] = {"lock": "lock", "clean": "clean", "free": None}


S = TypeVar("S", GraphStream, MotionMatching, BlendTreeStream)


class Driver(Protocol):
    """A stream that the user can control. Its player gives the delay, and the stream the height of the floor.

    nodes : its actions.
    speed : range of speeds that can be requested, in m/s; None if the speed is fixed.
    usual : default speed in m/s.
    limits : what the character cannot do after some of its clips.
    """

    nodes: tuple[DriveNode, ...]
    speed: tuple[float, float] | None
    usual: float | None
    limits: tuple[str, ...]

    @property
    def can_stop(self) -> bool:
        """Whether the character can stand still."""

    @property
    def stream(self) -> PlayedStream:
        """The stream that is played."""

    @property
    def doing(self) -> str:
        """Description of the current motion, such as the name of a node or clip."""

    def request(self, request: Mapping[str, Any]) -> None:
        """Replace the request, in the stream's coordinates; missing keys are cleared.

        Keys: direction (radians), floor (x, z to go to), point (x, y, z to aim at), node, speed (m/s), values
        (parameters of the node).
        """

    def finish(self) -> None:
        """Wait for what a request has started in the background."""

    def reach(self, place: Floats) -> Lines | None:
        """Return outlines (n, 2), x and z, of the area that a character at `place` (theta, x, z) can reach next.

        None if unchanged.
        """


class _DirectionDriver(Generic[S]):
    """Common base of controllers that take only directions and speeds."""

    nodes: tuple[DriveNode, ...] = ()
    speed: tuple[float, float] | None = None
    usual: float | None = None
    limits: tuple[str, ...] = ()
    doing = ""

    def __init__(self, stream: S) -> None:
        self.stream: S = stream
        self._frame = 0

    @property
    def can_stop(self) -> bool:
        """Whether the character can stand still: its lowest speed counts as standing."""
        return self.speed is not None and self.speed[0] < _STANDING

    def request(self, request: Mapping[str, Any]) -> None:
        """Set the direction and the speed; other requests are ignored."""
        asked = {} if request.get("direction") is None else {"direction": request["direction"]}
        self.stream.request(**asked)
        speed = self.usual if request.get("speed") is None else float(request["speed"])
        if self.speed is not None and speed is not None:
            speed = 0.0 if request.get("stop") and self.can_stop else speed
            self._set_speed(min(max(speed, self.speed[0]), self.speed[1]))

    def finish(self) -> None:
        """Do nothing: a request applies at once."""

    def _set_speed(self, speed: float) -> None:
        """Request a speed within the valid range."""
        self.stream.request(speed=speed)

    def reach(self, place: Floats) -> Lines | None:
        """Return the outlines of the reachable area every few frames, otherwise None."""
        self._frame += 1
        return self._lines(place) if self._frame % _EVERY == 1 else None

    def _lines(self, place: Floats) -> Lines:
        raise NotImplementedError


def describe_limits(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Describe what a character cannot do after some of its clips."""
    return tuple(each.describe(graph) for each in find_limits(graph))


class CharacterDriver:
    """Controls a parametric motion graph.

    limits : texts from `describe_limits`; None computes them.
    waits : see `marey.studio.panels.drive_steering.Steering`.
    """

    def __init__(
        self,
        graph: ParametricMotionGraph,
        feet: Feet,
        settings: GoToSettings | None = None,
        limits: tuple[str, ...] | None = None,
        waits: bool = True,
    ) -> None:
        self._steering = Steering(graph, settings, waits)
        self.stream = graph.stream(self._steering, feet=FEET[feet])
        self.nodes = tuple(
            DriveNode(
                node.name,
                tuple(
                    CharacterRange(*row)
                    for row in zip(node.names, node.units, node.low.tolist(), node.high.tolist(), strict=True)
                ),
                node.request is request_at_point,
            )
            for node in graph.nodes.values()
        )
        speeds = [each for node in self.nodes for each in node.ranges if each.name == "speed"]
        self.speed = (min(e.low for e in speeds), max(e.high for e in speeds)) if speeds else None
        self.usual = 0.5 * (speeds[0].low + speeds[0].high) if speeds else None
        self._known = {node.name for node in self.nodes}
        names = {"direction", "node", "stop", *(each.name for node in self.nodes for each in node.ranges)}
        self._accepted = names | ({"point"} if any(node.at_point for node in self.nodes) else set())
        # A node with a custom request function may accept any request.
        self._any = any(request_name(node.request) is None for node in graph.nodes.values())
        self._active: set[str] = set()
        self._known_command: dict[str, Any] = {}
        self._seen = 0
        self.limits = describe_limits(graph) if limits is None else limits
        self.can_stop = bool(get_planner(graph).rests)

    @property
    def doing(self) -> str:
        """Name of the current node."""
        return self.stream.playing[0]

    def request(self, request: Mapping[str, Any]) -> None:
        """Pass on the requests that the character accepts, and withdraw those that are no longer made.

        A request stays in effect when the character changes, and the new character may accept fewer requests.
        """
        node = request.get("node") if request.get("node") in self._known else None
        asked = {
            "direction": request.get("direction"),
            "node": node,
            "point": request.get("point"),
            "speed": request.get("speed"),
            "stop": bool(request.get("stop")),
        }
        asked |= request.get("values") or {}
        asked = {name: value for name, value in asked.items() if self._any or name in self._accepted}
        gone = dict.fromkeys(self._active - set(asked))
        self._active = set(asked)
        command = {"floor": request.get("floor"), **gone, **asked}
        # While a character goes to a point, its direction to it changes all the time.
        known = {name: np.asarray(value).tolist() for name, value in command.items() if name != "direction"}
        known["direction"] = None if command["floor"] is not None else command.get("direction")
        if known != self._known_command:
            self._known_command = known
            self.stream.request(**command)

    def finish(self) -> None:
        """Do nothing: a request applies at once."""

    def reach(self, place: Floats) -> Lines | None:
        """Return outlines of the ends of all clips that the last choice considered; None if they are unchanged."""
        if self._seen == self._steering.count:
            return None
        self._seen = self._steering.count
        return self._steering.reach


class GraphDriver(_DirectionDriver[GraphStream]):
    """Controls a motion graph with direction tables. Its actions are the labels of the graph."""

    def __init__(self, graph: MotionGraph, settings: GraphStreamSettings) -> None:
        if settings.start is None and settings.label is None:
            settings = GraphStreamSettings(settings=settings, start=start_node(graph))
        super().__init__(GraphStream(graph, settings=settings))
        if len(graph.label_names) > 1:
            # The page lets the user steer only actions with a parameter "turn".
            turn = CharacterRange("turn", "rad/s", 0.0, 0.0)
            self.nodes = tuple(DriveNode(name, (turn,), False) for name in graph.label_names)
        self._label: str | None = None
        self._paths = edge_paths(graph)
        self._node = -1
        paces = self._paths.steps * graph.fps
        low, usual, high = (_round_speed(float(pace)) for pace in np.quantile(paces, (_SPEEDS[0], 0.5, _SPEEDS[1])))
        if high - low > _PACE:
            self.speed, self.usual = (low, high), usual
        self._tables = _Tables(self.stream)

    def request(self, request: Mapping[str, Any]) -> None:
        """Set the direction, the speed and the label; a label that cannot be reached from here is ignored."""
        label = request.get("node")
        self._label = label if label in {node.name for node in self.nodes} else None
        super().request(request)
        if self.speed is None:
            self._tables.request(self._label, None)

    def _set_speed(self, speed: float) -> None:
        self._tables.request(self._label, _round_speed(speed))

    def finish(self) -> None:
        """Wait for the table of the requested label and speed."""
        self._tables.finish()

    @property
    def doing(self) -> str:  # type: ignore[override]
        """Name of the clip in which the next edge starts."""
        graph, label = self.stream.graph, self._label
        if label is not None and not self.stream.can_reach(label):
            return f"no route from here to {_shorten(label)}"
        return _shorten(str(graph.clips[graph.nodes[self.stream.upcoming[0]][0]].name))

    def reach(self, place: Floats) -> Lines | None:
        """Return outlines of the area that can be reached within `_AHEAD` seconds after the next edge begins.

        None if the next edge has not changed since the last call.
        """
        node, carried = self.stream.upcoming
        if node == self._node:
            return None
        self._node = node
        return _make_outline(self._find_ends(node, carried), place)

    def _find_ends(self, node: int, place: Floats) -> list[tuple[float, float]]:
        """Return reachable points (x, z), as plain floats, because this runs within the time budget of one frame."""
        graph, paths = self.stream.graph, self._paths
        heads, first_out, lengths = graph.edges.heads, graph.first_out, graph.edges.n_frames
        points: list[tuple[float, float]] = []
        waiting = deque([(node, math.cos(place[0]), math.sin(place[0]), place[1], place[2], round(_AHEAD * graph.fps))])
        seen = 0
        while waiting and seen < _MAX_EDGES:
            at, c, s, x, z, left = waiting.popleft()
            for edge in range(int(first_out[at]), int(first_out[at + 1])):
                seen += 1
                n = int(lengths[edge])
                if n >= left:
                    px, pz = paths.points[int(paths.first[edge]) + left - 1].tolist()
                    points.append((x + c * px + s * pz, z - s * px + c * pz))
                else:
                    mc, ms, mx, mz = paths.moves[edge].tolist()
                    on = (c * mc - s * ms, s * mc + c * ms, x + c * mx + s * mz, z - s * mx + c * mz)
                    waiting.append((int(heads[edge]), *on, left - n))
        return points


class _Tables:
    """Direction tables of a graph for labels and speeds, each built in the background on first request."""

    def __init__(self, stream: GraphStream) -> None:
        self._stream = stream
        self._ready: set[tuple[str | None, float | None]] = {(None, None)}
        self._wanted: tuple[str | None, float | None] = (None, None)
        self._busy = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def request(self, label: str | None, speed: float | None) -> None:
        """Request a label and a speed. They apply once their table is ready."""
        with self._lock:
            self._wanted = (label, speed)
            if self._wanted in self._ready:
                self._apply()
            elif not self._busy:
                self._busy = True
                self._thread = threading.Thread(target=self._make, daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Wait until the table of the newest request is ready."""
        if self._thread is not None:
            self._thread.join()

    def _apply(self) -> None:
        label, speed = self._wanted
        usable = label is None or self._stream.can_reach(label)
        self._stream.request(speed=speed, **({"label": label} if usable else {}))

    def _make(self) -> None:
        """Build tables until the table for the newest request is ready."""
        while True:
            with self._lock:
                wanted = self._wanted
                if wanted in self._ready:
                    self._apply()
                    self._busy = False
                    return
            self._stream.prepare(*wanted)
            with self._lock:
                self._ready.add(wanted)


class MatchingDriver(_DirectionDriver[MotionMatching]):
    """Controls a character by motion matching."""

    def __init__(self, data: MatchingData, settings: MatchingSettings) -> None:
        super().__init__(MotionMatching(data, settings=settings))
        paces = data.features.paces[data.features.rows]
        low, high = np.quantile(paces, _SPEEDS)
        if high - low > 0.1:
            self.speed, self.usual = (float(low), float(high)), float(np.median(paces))

    @property
    def doing(self) -> str:  # type: ignore[override]
        """Name of the current clip."""
        reel = self.stream.data.reel
        return _shorten(str(reel.names[reel.find_clip(self.stream.row)]))

    def _lines(self, place: Floats) -> Lines:
        """Return the outline of the places to which frames with a similar pose lead."""
        features = self.stream.data.features
        pose = features.values[:, features.n_path :]
        apart = ((pose - features.all_values[self.stream.row, features.n_path :]) ** 2).sum(axis=1)
        nearest = np.argpartition(apart, min(_N_NEAREST, len(apart) - 1))[:_N_NEAREST]
        last = 2 * (len(features.path_times) - 1)
        ends = features.values[nearest, last : last + 2] / features.scale[last : last + 2]
        return _make_outline(rigid2d.apply(place, ends), place)


class TreeDriver(_DirectionDriver[BlendTreeStream]):
    """Controls a blend tree."""

    def __init__(self, tree: BlendTree, settings: BlendTreeSettings) -> None:
        super().__init__(BlendTreeStream(tree, settings=settings))
        self.speed = tree.knobs.get("speed")
        self.usual = self.stream.knobs["speed"] if self.speed is not None else None
        self.nodes = tuple(DriveNode(name, (), False) for name in tree.actions)
        self._action: str | None = None

    def request(self, request: Mapping[str, Any]) -> None:
        """Set the direction and the speed. A newly requested action plays once; a held one ends with its request."""
        super().request(request)
        action, before = request.get("node"), self._action
        self._action = action if action in self.stream.tree.actions else None
        if self._action not in (None, before):
            self.stream.request(action=self._action)
        elif self._action is None and before is not None and self.stream.tree.actions[before].action.hold:
            self.stream.request(action=None)

    @property
    def doing(self) -> str:  # type: ignore[override]
        """The current turn rate and speed, as text."""
        knobs = self.stream.knobs
        turn = f"turn {round(math.degrees(knobs['turn']))}°/s" if "turn" in knobs else ""
        return f"{turn} {knobs['speed']:.2f} m/s" if "speed" in knobs else turn

    def _lines(self, place: Floats) -> Lines:
        """Return the outline of where the loops of the tree lead."""
        table = self.stream.tree.table
        turned = table.turn_rates * _AHEAD
        length = table.speeds * _AHEAD * np.sinc(0.5 * turned / np.pi)
        ends = np.stack([length * np.sin(0.5 * turned), length * np.cos(0.5 * turned)], axis=1)
        return _make_outline(rigid2d.apply(place, ends), place)


def _round_speed(speed: float) -> float:
    """Round to the nearest speed for which a graph can have a direction table."""
    return round(speed / _PACE) * _PACE


def _shorten(name: str) -> str:
    """Shorten a clip's name to send with each frame."""
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1].rstrip()}…"


def _make_outline(points: Any, place: Floats) -> Lines:
    """Return the outline of points (n, 2) around a placement: a line through the farthest point of each sector."""
    apart = np.asarray(points, dtype=np.float64).reshape(-1, 2) - place[1:]
    if len(apart) < 3:
        return []
    angle = np.remainder(np.arctan2(apart[:, 0], apart[:, 1]) - place[0] + np.pi, 2.0 * np.pi)
    sector = np.minimum((angle * (_SECTORS / (2.0 * np.pi))).astype(np.int64), _SECTORS - 1)
    order = np.lexsort((np.hypot(apart[:, 0], apart[:, 1]), sector))
    last = np.flatnonzero(np.append(np.diff(sector[order]) > 0, True))
    return [np.concatenate([place[None, 1:], apart[order[last]] + place[1:]])]
