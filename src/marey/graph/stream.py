"""A character that is steered while it plays: a walk chosen edge by edge from direction tables (Kovar 4.3.3)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult
from marey.graph.motion_graph import MotionGraph
from marey.graph.routes import shortest_ways
from marey.graph.table import DirectionTable, direction_table
from marey.maths import rigid2d

_WISHES = ("direction", "speed", "label")


class GraphStream:
    """Endless motion from a graph. `request` sets the command, `frame` returns the next frame.

    Parameters
    ----------
    graph : the graph.
    n_directions : number of directions in the tables.
    start : start node; by default the node with the best value for the first direction.
    place : rigid2d that places the first clip in the world; by default the character starts at the origin.
    direction, speed, label : the first command; see `request`.
    clean : remove footskate from the output. Frames then come `delay` frames after they were chosen.
    """

    def __init__(
        self,
        graph: MotionGraph,
        *,
        n_directions: int = 16,
        start: int | None = None,
        place: ArrayLike | None = None,
        direction: float = 0.0,
        speed: float | None = None,
        label: str | None = None,
        clean: bool = True,
    ) -> None:
        self.graph = graph
        self._n_directions = n_directions
        self._tables: dict[tuple[str | None, float | None], DirectionTable] = {}
        self._routes: dict[str, Ints] = {}
        self._wish: dict[str, Any] = {"direction": 0.0, "speed": None, "label": None}
        self.request(direction=direction, speed=speed, label=label)
        table = self.prepare(label, speed)
        node = int(np.argmax(table.values[:, table.column(direction)])) if start is None else start
        if not 0 <= node < len(graph.nodes):
            raise InvalidValue(f"start must be a node from 0 to {len(graph.nodes) - 1}, got {start}")
        self._node = node
        clip, frame = graph.nodes[node]
        here = graph.clips[clip].travel[min(frame, len(graph.clips[clip]) - 1)]
        self._place = (
            np.array([0.0, -here[0], -here[2]]) if place is None else freeze_array(place, "place", (3,)).copy()
        )
        self._ready: deque[Motion] = deque()
        self._last_turns: Floats | None = None
        self._edges: list[int] = []
        self._cleaner = self._make_cleaner() if clean else None

    @property
    def fps(self) -> float:
        """Frame rate: how often per second to call `frame`."""
        return self.graph.fps

    @property
    def delay(self) -> int:
        """Number of frames by which the foot cleanup delays the output."""
        return 0 if self._cleaner is None else self._cleaner.delay

    @property
    def edges(self) -> tuple[int, ...]:
        """The edges taken so far."""
        return tuple(self._edges)

    @property
    def upcoming(self) -> tuple[int, Floats]:
        """The node at which the next edge is chosen, and the rigid2d that places its clip in the world."""
        return self._node, self._place.copy()

    def request(self, **wish: Any) -> None:
        """Change the command, from the next edge on. Values that are not given stay as they are.

        Parameters
        ----------
        direction : radians from +Z in the world, positive to the left.
        speed : meters per second, or None for as fast as possible.
        label : the label to play, or None for any. A change takes the shortest route there.
        """
        for name, value in wish.items():
            if name not in _WISHES:
                raise InvalidValue(f"expected a command with {', '.join(_WISHES)}, got {name!r}")
            if name == "label" and value is not None:
                self.graph.label_index(value)
            if name == "direction" and not np.isfinite(value):
                raise InvalidValue(f"direction must be an angle in radians, got {value!r}")
            if name == "speed" and value is not None and not (np.isfinite(value) and value >= 0.0):
                raise InvalidValue(f"speed must be at least 0 m/s, or None, got {value!r}")
            self._wish[name] = value

    def prepare(self, label: str | None = None, speed: float | None = None) -> DirectionTable:
        """Build the table for a command ahead of time. Only the first call takes time."""
        key = (label, None if speed is None else float(speed))
        if key not in self._tables:
            self._tables[key] = direction_table(self.graph, self._n_directions, label=label, speed=key[1])
        return self._tables[key]

    def frame(self) -> Motion:
        """The next frame, a Motion of length 1."""
        while not self._ready:
            self._ready.extend(self._planted(self._play_edge()))
        return self._ready.popleft()

    def _play_edge(self) -> Motion:
        edge = self._choose()
        graph = self.graph
        played = graph.walk([edge], self._place).motion(clean=False)
        if graph.edges.blends[edge]:
            self._place = rigid2d.compose(self._place, graph.edges.moves[edge])
        self._node = int(graph.edges.heads[edge])
        self._edges.append(edge)
        turns = played.rotations
        if self._last_turns is not None:
            # q and -q are the same rotation, but smoothing filters must not see a sign change as a jump.
            sign = np.where((turns[0] * self._last_turns).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
            played = replace(played, rotations=set_readonly(turns * sign))
        self._last_turns = played.rotations[-1]
        return played

    def _choose(self) -> int:
        label, speed, direction = self._wish["label"], self._wish["speed"], self._wish["direction"]
        first = int(self.graph.first_out[self._node])
        if label is not None and not self.graph.members[self.graph.label_index(label), self._node]:
            step = int(self._route(label)[self._node])
            if step < 0:
                raise NoResult(f"no route leads to {label!r} from here; raise the threshold of the graph")
            return step
        table = self.prepare(label, speed)
        return first + int(table.choices[self._node, table.column(direction - self._place[0])])

    def _route(self, label: str) -> Ints:
        if label not in self._routes:
            self._routes[label] = shortest_ways(self.graph, label)
        return self._routes[label]

    def _make_cleaner(self) -> Any:
        from marey.clean import clean_stream, find_floor

        graph = self.graph
        contacts = next((clip.contacts for clip in graph.clips if clip.contacts is not None), None)
        if contacts is None:
            return None
        floors = [find_floor(clip) if clip.source.floor is None else clip.source.floor for clip in graph.clips]
        return clean_stream(graph.skeleton, graph.fps, contacts.points, floor=float(np.median(floors)))

    def _planted(self, played: Motion) -> list[Motion]:
        if self._cleaner is None or played.contacts is None:
            return list(played)
        done = self._cleaner.push(played.root_positions, played.rotations, played.contacts.mask, played.bone_offsets)
        return [
            Motion(
                played.skeleton,
                frame.root_position[None],
                frame.rotations[None],
                played.fps,
                name=played.name,
                bone_offsets=frame.bone_offsets[None],
            )
            for frame in done
        ]


def response_time(
    graph: MotionGraph, table: DirectionTable, rng: int | np.random.Generator = 0, *, trials: int = 50
) -> tuple[float, float]:
    """Seconds from a command for another direction until the character goes there: median and 90th percentile.

    After 3 s in one direction, the command changes by at least 60 degrees. The response is complete when the travel
    over the last half second points within 30 degrees of the new direction. A trial ends after 8 s, and counts as 8 s.
    """
    from marey.graph.edge_paths import edge_paths

    chance, ways = np.random.default_rng(rng), edge_paths(graph)
    usable = np.flatnonzero(table.choices[:, 0] >= 0)
    taken = []
    for _ in range(trials):
        node, place = int(chance.choice(usable)), np.array([chance.uniform(-np.pi, np.pi), 0.0, 0.0])
        wanted = chance.uniform(-np.pi, np.pi)
        asked, gone = -1, np.zeros((0, 2))
        while True:
            if asked < 0 and len(gone) >= 3.0 * graph.fps:
                asked = len(gone)
                wanted += chance.choice([-1.0, 1.0]) * chance.uniform(np.pi / 3.0, np.pi)
            edge = int(graph.first_out[node]) + int(table.choices[node, table.column(wanted - place[0])])
            gone = np.concatenate([gone, rigid2d.apply(place, ways.points[ways.first[edge] : ways.first[edge + 1]])])
            if graph.edges.blends[edge]:
                place = rigid2d.compose(place, graph.edges.moves[edge])
            node = int(graph.edges.heads[edge])
            if asked >= 0 and len(gone) >= asked + 8.0 * graph.fps:
                break
        taken.append(_answered(gone, asked, wanted, graph.fps))
    return float(np.median(taken)), float(np.quantile(taken, 0.9))


def _answered(gone: Floats, asked: int, wanted: float, fps: float) -> float:
    """Seconds from frame `asked` until the travel direction is the wanted one."""
    back = max(1, round(0.5 * fps))
    for frame in range(asked, asked + round(8.0 * fps)):
        x, z = gone[frame] - gone[frame - back]
        if np.hypot(x, z) > 0.1 and abs(rigid2d.wrap_angle(np.arctan2(x, z) - wanted)) < np.pi / 6.0:
            return (frame - asked) / fps
    return 8.0
