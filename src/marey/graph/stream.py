"""Steer a character while it plays: each next edge is chosen from direction tables (Kovar 4.3.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.clean import get_floor
from marey.core.annotations import join_contacts
from marey.core.arrays import Floats, Ints, check_index, freeze_array
from marey.core.contacts import ContactPoint, Contacts
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.core.settings import Seed, operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.graph.direction_table import DirectionTable, direction_table
from marey.graph.edge_paths import edge_paths
from marey.graph.routes import find_first_edges
from marey.graph.settings import GraphStreamSettings
from marey.maths import rigid2d
from marey.play import PlayedStream, Player, SourceFrame, take_frame

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

_COMMANDS = ("direction", "speed", "label")


class GraphStream(PlayedStream):
    """A stream of endless motion from a graph. `request` sets the command; `frame` returns the next frame.

    Parameters
    ----------
    graph : the graph.

    The options are those of `GraphStreamSettings`.

    Examples
    --------
    >>> stream = graph.stream()
    >>> stream.request(direction=np.pi / 2)
    >>> len(stream.record(2.0))
    120
    """

    @renamed_parameters(clean=("feet", feet_from_flag))
    @operation(GraphStreamSettings)
    def __init__(self, graph: MotionGraph, settings: GraphStreamSettings) -> None:
        floor = float(np.median([get_floor(clip, 0.0) for clip in graph.clips]))
        super().__init__(graph.skeleton, graph.fps, _collect_points(graph), floor)
        self.graph = graph
        self._settings = settings
        self._tables: dict[tuple[str | None, float | None], DirectionTable] = {}
        self._routes: dict[str, Ints] = {}
        self._command: dict[str, Any] = {}
        self.request(**{name: getattr(settings, name) for name in _COMMANDS})
        table, start, place = self.prepare(settings.label, settings.speed), settings.start, settings.place
        node = int(np.argmax(table.values[:, table.column(settings.direction)])) if start is None else start
        self._node = check_index(node, "start, a node,", len(graph.nodes))
        clip, frame = graph.nodes[node]
        here = graph.clips[clip].travel[min(frame, len(graph.clips[clip]) - 1)]
        self._place = (
            np.array([0.0, -here[0], -here[2]]) if place is None else freeze_array(place, "place", (3,)).copy()
        )
        self._edges: list[int] = []
        self._played: Motion | None = None
        self._next = 0
        self.player = Player(self, settings.feet, name="motion graph")

    @property
    def edges(self) -> tuple[int, ...]:
        """The edges played so far."""
        return tuple(self._edges)

    @property
    def upcoming(self) -> tuple[int, Floats]:
        """The node at which the next edge is chosen, and the rigid2d (theta, x, z) that places its clip in the
        world."""
        return self._node, self._place.copy()

    def request(self, **command: Any) -> None:
        """Change the command; it takes effect at the next edge. Omitted values stay as they are.

        Parameters
        ----------
        direction : travel direction in the world, radians from +Z, positive to the left.
        speed : meters per second, or None for as fast as possible.
        label : the label to play, or None for any. The character takes the shortest route to a new label.
        """
        for name, value in command.items():
            if name not in _COMMANDS:
                raise InvalidValue(f"unknown command {name!r}; a graph stream accepts {', '.join(_COMMANDS)}")
            # The settings of a stream check the value.
            checked = getattr(GraphStreamSettings(**{name: value}), name)
            if name == "label" and value is not None:
                self.graph.index(label=value)
            self._command[name] = checked

    def can_reach(self, label: str) -> bool:
        """Return whether motion with the label can be reached from the end of the edge that is playing."""
        return bool(
            self.graph.members[self.graph.index(label=label), self._node] or self._route(label)[self._node] >= 0
        )

    def prepare(self, label: str | None = None, speed: float | None = None) -> DirectionTable:
        """Return the direction table for a label and a speed, building it on first use. Call this ahead of time to
        avoid a pause when the command changes."""
        key = (label, None if speed is None else float(speed))
        if key not in self._tables:
            self._tables[key] = direction_table(
                self.graph, n_directions=self._settings.n_directions, label=label, speed=key[1]
            )
        return self._tables[key]

    @property
    def n_chosen(self) -> int:
        """Number of frames left on the edge that is playing; no command changes them anymore."""
        return 0 if self._played is None else len(self._played) - self._next

    def next_frame(self) -> SourceFrame:
        """Return the next frame, with the labels of its clip; choose the next edge if the current one has ended."""
        if self._played is None or self._next == len(self._played):
            self._played, self._next = self._play_edge(), 0
        self._next += 1
        return take_frame(self._played, self._next - 1)

    def _play_edge(self) -> Motion:
        edge = self._choose()
        graph = self.graph
        played = graph.walk([edge], self._place).motion(feet=None)
        if graph.edges.blends[edge]:
            self._place = rigid2d.compose(self._place, graph.edges.moves[edge])
        self._node = int(graph.edges.heads[edge])
        self._edges.append(edge)
        if played.contacts is not None and played.contacts.names != tuple(point.name for point in self.points):
            none = Contacts(self.points, np.zeros((0, len(self.points)), dtype=bool))
            played = replace(played, contacts=join_contacts([(none, 0), (played.contacts, len(played))]))
        return played

    def _choose(self) -> int:
        label, speed, direction = self._command["label"], self._command["speed"], self._command["direction"]
        first = int(self.graph.first_out[self._node])
        if label is not None and not self.graph.members[self.graph.index(label=label), self._node]:
            step = int(self._route(label)[self._node])
            if step < 0:
                raise NoResult(f"no route leads from here to {label!r}; {self.graph.build_info.remedy} of the graph")
            return step
        table = self.prepare(label, speed)
        return first + int(table.choices[self._node, table.column(direction - self._place[0])])

    def _route(self, label: str) -> Ints:
        if label not in self._routes:
            self._routes[label] = find_first_edges(self.graph, label)
        return self._routes[label]


def _collect_points(graph: MotionGraph) -> tuple[ContactPoint, ...]:
    """Return the contact points of all clips; the first definition of each."""
    points: dict[str, ContactPoint] = {}
    for clip in graph.clips:
        for point in () if clip.contacts is None else clip.contacts.points:
            points.setdefault(point.name, point)
    return tuple(points.values())


def response_time(graph: MotionGraph, table: DirectionTable, rng: Seed = 0, *, trials: int = 50) -> tuple[float, float]:
    """Measure the time from a request for another direction until the character travels in it; return the median and
    the 90th percentile in seconds.

    In each trial, the requested direction changes after 3 s by 60 to 180 degrees. The response is complete when the
    travel over the last half second points within 30 degrees of the new direction. A trial without a response within
    8 s counts as 8 s.

    Parameters
    ----------
    graph : the graph.
    table : a direction table of this graph.
    rng : seed or generator for start nodes and directions.
    trials : number of trials.

    Examples
    --------
    >>> table = marey.graph.direction_table(graph)
    >>> median, p90 = marey.graph.response_time(graph, table, trials=3)
    >>> 0.0 < median <= p90  # seconds
    True
    """
    table.check_graph(graph)
    generator, paths = np.random.default_rng(rng), edge_paths(graph)
    usable = np.flatnonzero((table.choices >= 0).all(axis=1))
    if not usable.size:
        raise NoResult("the direction table has no node from which every direction can be requested")
    times = []
    for _ in range(trials):
        node, place = int(generator.choice(usable)), np.array([generator.uniform(-np.pi, np.pi), 0.0, 0.0])
        wanted = generator.uniform(-np.pi, np.pi)
        asked, walked = -1, np.zeros((0, 2))
        while True:
            if asked < 0 and len(walked) >= 3.0 * graph.fps:
                asked = len(walked)
                wanted += generator.choice([-1.0, 1.0]) * generator.uniform(np.pi / 3.0, np.pi)
            choice = int(table.choices[node, table.column(wanted - place[0])])
            if choice < 0:
                raise InvalidValue(
                    f"the direction table leads to node {node}, but has no edge for it; build the table again",
                    parameter="table",
                )
            edge = int(graph.first_out[node]) + choice
            points = paths.points[paths.first[edge] : paths.first[edge + 1]]
            walked = np.concatenate([walked, rigid2d.apply(place, points)])
            if graph.edges.blends[edge]:
                place = rigid2d.compose(place, graph.edges.moves[edge])
            node = int(graph.edges.heads[edge])
            if asked >= 0 and len(walked) >= asked + 8.0 * graph.fps:
                break
        times.append(_find_response(walked, asked, wanted, graph.fps))
    return float(np.median(times)), float(np.quantile(times, 0.9))


def _find_response(walked: Floats, asked: int, wanted: float, fps: float) -> float:
    """Return the seconds from frame `asked` until the walked path (F, 2) runs within 30 degrees of the direction
    `wanted`; at most 8."""
    back = max(1, round(0.5 * fps))
    for frame in range(asked, asked + round(8.0 * fps)):
        x, z = walked[frame] - walked[frame - back]
        if np.hypot(x, z) > 0.1 and abs(rigid2d.wrap_angle(np.arctan2(x, z) - wanted)) < np.pi / 6.0:
            return (frame - asked) / fps
    return 8.0
