"""The ways to drive a figure, each with its own stream: what it can be asked for, and what it could reach."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from marey.control import BlendTree, BlendTreeStream, LockedStream, MatchingData, MotionMatching
from marey.control.inertia_reel import floor_of
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.errors import InvalidValue
from marey.graph import MotionGraph
from marey.graph.edge_paths import edge_paths
from marey.graph.stream import GraphStream
from marey.maths import rigid2d
from marey.pmg import ParametricMotionGraph
from marey.pmg.requests import at_point, request_name
from marey.studio.panels.author_messages import CharacterRange
from marey.studio.panels.drive_messages import DriveNode, Feet
from marey.studio.panels.drive_steering import Steering

# Seconds ahead of which the reach is drawn where no clips are chosen one by one, and frames between two drawings.
_AHEAD, _EVERY = 1.0, 6
# Edges that are looked at for what a graph can reach, and frames of clips that are like the one that is shown.
_MOST_EDGES, _ALIKE = 400, 600
# Directions in which the furthest point is drawn.
_SECTORS = 36
# m/s, quantiles of the clips' own between which speeds can be asked for.
_SPEEDS = (0.02, 0.98)
# m/s between the speeds for which a graph has direction tables.
_PACE = 0.25
# Of a clip's name that is told with each frame.
_LETTERS = 40

Lines = Sequence[Floats]


class Driver(Protocol):
    """A stream that can be driven.

    nodes : what it can be told to do. speed : m/s that can be asked for, or None. usual : m/s while none is.
    floor : metres.
    """

    stream: Stream
    nodes: tuple[DriveNode, ...]
    speed: tuple[float, float] | None
    usual: float | None
    floor: float

    @property
    def delay(self) -> int:
        """Frames by which what is shown is late."""

    @property
    def doing(self) -> str:
        """What plays."""

    def ask(self, wish: Mapping[str, Any]) -> None:
        """All wishes, in the stream's world: direction, floor, point, node, speed, values."""

    def reach(self, place: Floats) -> Lines | None:
        """Lines (n, 2) around where a figure at a place, rigid2d, could be next; None where that is as before."""


class _Other:
    """What all ways have in common that take directions alone."""

    nodes: tuple[DriveNode, ...] = ()
    speed: tuple[float, float] | None = None
    usual: float | None = None
    floor = 0.0
    doing = ""

    def __init__(self, raw: Any, feet: Feet) -> None:
        self.raw = raw
        self.stream: Stream = LockedStream(raw) if feet == "lock" else raw
        self._frame = 0

    @property
    def delay(self) -> int:
        """Frames by which what is shown is late."""
        return int(self.raw.delay)

    def ask(self, wish: Mapping[str, Any]) -> None:
        """Direction and speed."""
        asked = {} if wish.get("direction") is None else {"direction": wish["direction"]}
        self.stream.request(**asked)
        wished = self.usual if wish.get("speed") is None else float(wish["speed"])
        if self.speed is not None and wished is not None:
            self._hurry(min(max(wished, self.speed[0]), self.speed[1]))

    def _hurry(self, speed: float) -> None:
        """Ask for a speed among those that it can be asked for."""
        self.stream.request(speed=speed)

    def reach(self, place: Floats) -> Lines | None:
        """Every few frames."""
        self._frame += 1
        return self._lines(place) if self._frame % _EVERY == 1 else None

    def _lines(self, place: Floats) -> Lines:
        raise NotImplementedError


class CharacterDriver:
    """A parametric motion graph."""

    def __init__(self, graph: ParametricMotionGraph, feet: Feet) -> None:
        self._steering = Steering(graph)
        self._raw = graph.stream(self._steering, clean=feet == "clean")
        self.stream: Stream = LockedStream(self._raw) if feet == "lock" else self._raw
        self.nodes = tuple(
            DriveNode(
                node.name,
                tuple(
                    CharacterRange(*row)
                    for row in zip(node.names, node.units, node.low.tolist(), node.high.tolist(), strict=True)
                ),
                node.request is at_point,
            )
            for node in graph.nodes.values()
        )
        speeds = [each for node in self.nodes for each in node.ranges if each.name == "speed"]
        self.speed = (min(e.low for e in speeds), max(e.high for e in speeds)) if speeds else None
        self.usual = 0.5 * (speeds[0].low + speeds[0].high) if speeds else None
        first = next(iter(graph.nodes.values()))
        self.floor = first.motion(first.middle).source.floor or 0.0
        self._known = {node.name for node in self.nodes}
        names = {"direction", "node", *(each.name for node in self.nodes for each in node.ranges)}
        self._wishes = names | ({"point"} if any(node.at_point for node in self.nodes) else set())
        # A node with a request function of its own may know any wish.
        self._any = any(request_name(node.request) is None for node in graph.nodes.values())
        self._asked: set[str] = set()
        self._seen = 0

    @property
    def delay(self) -> int:
        """Frames by which what is shown is late."""
        return self._raw.delay

    @property
    def doing(self) -> str:
        """The node that plays."""
        return self._raw.playing[0]

    def ask(self, wish: Mapping[str, Any]) -> None:
        """Everything that it knows: wishes stay when the character is changed, and another may have known more.

        What was asked for before, and is not any more, is taken back.
        """
        node = wish.get("node") if wish.get("node") in self._known else None
        asked = {
            "direction": wish.get("direction"),
            "node": node,
            "point": wish.get("point"),
            "speed": wish.get("speed"),
        }
        asked |= wish.get("values") or {}
        asked = {name: value for name, value in asked.items() if self._any or name in self._wishes}
        gone = dict.fromkeys(self._asked - set(asked))
        self._asked = set(asked)
        self._steering.request(floor=wish.get("floor"), **gone, **asked)

    def reach(self, place: Floats) -> Lines | None:
        """What the clip that was chosen last could have been."""
        if self._seen == self._steering.count:
            return None
        self._seen = self._steering.count
        return self._steering.reach


class GraphDriver(_Other):
    """A motion graph by its direction table."""

    def __init__(self, graph: MotionGraph, feet: Feet) -> None:
        super().__init__(GraphStream(graph, clean=feet == "clean"), feet)
        self._ways = edge_paths(graph)
        self._node = -1
        self.floor = float(np.median([floor_of(clip, 0.0) for clip in graph.clips]))
        paces = self._ways.steps * graph.fps
        low, usual, high = (_paced(float(pace)) for pace in np.quantile(paces, (_SPEEDS[0], 0.5, _SPEEDS[1])))
        if high - low > _PACE:
            self.speed, self.usual = (low, high), usual
        self._tables = _Tables(self.raw)

    def _hurry(self, speed: float) -> None:
        self._tables.want(_paced(speed))

    @property
    def doing(self) -> str:  # type: ignore[override]
        """The clip that the next edge begins in."""
        graph = self.raw.graph
        return _short(str(graph.clips[graph.nodes[self.raw.upcoming[0]][0]].name))

    def reach(self, place: Floats) -> Lines | None:
        """All that edges lead to; it changes with each."""
        node, carried = self.raw.upcoming
        if node == self._node:
            return None
        self._node = node
        return _around(self._ends(node, carried), place)

    def _ends(self, node: int, place: Floats) -> list[tuple[float, float]]:
        """In plain numbers: it has to be done between two frames."""
        graph, ways = self.raw.graph, self._ways
        heads, first_out, lengths = graph.edges.heads, graph.first_out, graph.edges.n_frames
        points: list[tuple[float, float]] = []
        waiting = deque([(node, math.cos(place[0]), math.sin(place[0]), place[1], place[2], round(_AHEAD * graph.fps))])
        seen = 0
        while waiting and seen < _MOST_EDGES:
            at, c, s, x, z, left = waiting.popleft()
            for edge in range(int(first_out[at]), int(first_out[at + 1])):
                seen += 1
                n = int(lengths[edge])
                if n >= left:
                    px, pz = ways.points[int(ways.first[edge]) + left - 1].tolist()
                    points.append((x + c * px + s * pz, z - s * px + c * pz))
                else:
                    mc, ms, mx, mz = ways.moves[edge].tolist()
                    on = (c * mc - s * ms, s * mc + c * ms, x + c * mx + s * mz, z - s * mx + c * mz)
                    waiting.append((int(heads[edge]), *on, left - n))
        return points


class _Tables:
    """Direction tables of a graph for several speeds, each made when it is first wished for, beside what plays."""

    def __init__(self, stream: GraphStream) -> None:
        self._stream = stream
        self._ready: set[float] = set()
        self._wanted = 0.0
        self._busy = False
        self._lock = threading.Lock()

    def want(self, speed: float) -> None:
        """A speed from now on, or from when its table is there."""
        with self._lock:
            self._wanted = speed
            if speed in self._ready:
                self._stream.request(speed=speed)
            elif not self._busy:
                self._busy = True
                threading.Thread(target=self._make, daemon=True).start()

    def _make(self) -> None:
        """Tables until that of the newest wish is there."""
        while True:
            with self._lock:
                speed = self._wanted
                if speed in self._ready:
                    self._stream.request(speed=speed)
                    self._busy = False
                    return
            self._stream.prepare(None, speed)
            with self._lock:
                self._ready.add(speed)


class MatchingDriver(_Other):
    """Motion matching."""

    def __init__(self, data: MatchingData, feet: Feet) -> None:
        super().__init__(MotionMatching(data, clean=feet == "clean", lock=False), feet)
        paces = data.features.paces[data.features.rows]
        low, high = np.quantile(paces, _SPEEDS)
        if high - low > 0.1:
            self.speed, self.usual = (float(low), float(high)), float(np.median(paces))
        self.floor = data.reel.floor

    @property
    def doing(self) -> str:  # type: ignore[override]
        """The clip that plays."""
        reel = self.raw.data.reel
        return _short(str(reel.names[reel.clip_of(self.raw.row)]))

    def _lines(self, place: Floats) -> Lines:
        """Around where frames lead whose pose is like the one that is shown."""
        features = self.raw.data.features
        pose = features.values[:, features.n_path :]
        apart = ((pose - features.all_values[self.raw.row, features.n_path :]) ** 2).sum(axis=1)
        alike = np.argpartition(apart, min(_ALIKE, len(apart) - 1))[:_ALIKE]
        last = 2 * (len(features.ahead) - 1)
        ends = features.values[alike, last : last + 2] / features.scale[last : last + 2]
        return _around(rigid2d.apply(place, ends), place)


class TreeDriver(_Other):
    """A blend tree."""

    def __init__(self, tree: BlendTree, feet: Feet) -> None:
        super().__init__(BlendTreeStream(tree, clean=feet == "clean", lock=False), feet)
        self.speed = tree.knobs.get("speed")
        self.usual = self.raw.knobs["speed"] if self.speed is not None else None
        self.floor = tree.table.floor

    @property
    def doing(self) -> str:  # type: ignore[override]
        """How the knobs stand."""
        knobs = self.raw.knobs
        turn = f"turn {math.degrees(knobs['turn']):.0f}°/s" if "turn" in knobs else ""
        return f"{turn} {knobs['speed']:.2f} m/s" if "speed" in knobs else turn

    def _lines(self, place: Floats) -> Lines:
        """Where each loop would take the figure."""
        table = self.raw.tree.table
        turned = table.turn_rates * _AHEAD
        way = table.speeds * _AHEAD * np.sinc(0.5 * turned / np.pi)
        ends = np.stack([way * np.sin(0.5 * turned), way * np.cos(0.5 * turned)], axis=1)
        return _around(rigid2d.apply(place, ends), place)


def make_data(clips: Sequence[Motion]) -> MatchingData:
    """What motion matching searches in."""
    return MatchingData.build(clips)


def make_tree(clips: Sequence[Motion]) -> BlendTree:
    """A blend tree of the strides in some walks."""
    from marey.control.siblings import siblings

    made = siblings(clips, kinds=("blend tree",), lock=False)["blend tree"]()
    if not isinstance(made, BlendTreeStream):
        raise InvalidValue("these clips make no blend tree")
    return made.tree


def _paced(speed: float) -> float:
    """The nearest speed for which a graph has a table."""
    return round(speed / _PACE) * _PACE


def _short(name: str) -> str:
    """A clip's name as it is told with each frame."""
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1].rstrip()}…"


def _around(points: Any, place: Floats) -> Lines:
    """A line from a place through the furthest of points (n, 2) in each direction as seen from there."""
    apart = np.asarray(points, dtype=np.float64).reshape(-1, 2) - place[1:]
    if len(apart) < 3:
        return []
    angle = np.remainder(np.arctan2(apart[:, 0], apart[:, 1]) - place[0] + np.pi, 2.0 * np.pi)
    sector = np.minimum((angle * (_SECTORS / (2.0 * np.pi))).astype(np.int64), _SECTORS - 1)
    order = np.lexsort((np.hypot(apart[:, 0], apart[:, 1]), sector))
    last = np.flatnonzero(np.append(np.diff(sector[order]) > 0, True))
    return [np.concatenate([place[None, 1:], apart[order[last]] + place[1:]])]
