"""What walks can be searched for (Kovar 4.2.2, 4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Floats, frozen
from marey.errors import InvalidValue
from marey.graph.edge_paths import EdgePaths, edge_paths
from marey.graph.follow import SPACING, checked_path
from marey.graph.motion_graph import MotionGraph
from marey.graph.search import Partial
from marey.maths import rigid2d


class _Ways:
    """The paths of a graph's edges in the world, laid out when first asked for."""

    __slots__ = ("_paths",)

    def __init__(self) -> None:
        self._paths: tuple[MotionGraph, EdgePaths] | None = None

    def points(self, walk: Partial, edge: int) -> tuple[Floats, Floats]:
        """(n, 2) where the figure is on the edge's frames, and (n,) metres from the frame before."""
        if self._paths is None or self._paths[0] is not walk.graph:
            self._paths = walk.graph, edge_paths(walk.graph)
        ways = self._paths[1]
        run = slice(int(ways.first[edge]), int(ways.first[edge + 1]))
        return rigid2d.apply(walk.place, ways.points[run]), ways.steps[run]


@dataclass(frozen=True, slots=True, eq=False)
class FollowPath:
    """Go along a path: squared metres to its point at the length gone, summed over frames (Kovar 4.15).

    Parameters
    ----------
    path : (N, 2) x, z in metres.
    least_step : metres that count as gone on each frame at least, so that standing still is no way to follow.
    """

    path: ArrayLike
    least_step: float = 0.003
    _course: tuple[Floats, float] = field(init=False, repr=False)
    _ways: _Ways = field(init=False, repr=False, default_factory=_Ways)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_course", checked_path(self.path))

    def begin(self, walk: Partial) -> float:
        """No length is gone."""
        return 0.0

    def add(self, walk: Partial, edge: int) -> tuple[float, float]:
        """The edge's cost, and the length gone after it; frames beyond the path's end belong to its last point."""
        course, total = self._course
        points, steps = self._ways.points(walk, edge)
        gone = walk.memo + np.cumsum(np.maximum(steps, self.least_step))
        at = np.minimum(gone, total) / SPACING
        low = np.minimum(at.astype(np.int64), len(course) - 2)
        share = (at - low)[:, None]
        wanted = course[low] * (1.0 - share) + course[low + 1] * share
        return float(((points - wanted) ** 2).sum()), float(gone[-1])

    def complete(self, walk: Partial) -> bool:
        """Whether as much has been gone as the path is long."""
        return bool(walk.memo >= self._course[1])


@dataclass(frozen=True, slots=True, eq=False)
class ReachPoint:
    """Come to a point: metres still to go, summed over frames, until it is within `within` metres."""

    point: ArrayLike
    within: float = 0.3
    _ways: _Ways = field(init=False, repr=False, default_factory=_Ways)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", frozen(self.point, "the point", (2,)))

    def begin(self, walk: Partial) -> float:
        """Nobody has been there."""
        return np.inf

    def add(self, walk: Partial, edge: int) -> tuple[float, float]:
        """Metres to the point over the edge's frames, and how near its last one is."""
        points, _ = self._ways.points(walk, edge)
        away = np.hypot(*(points - np.asarray(self.point)).T)
        return float(away.sum() / walk.graph.fps), float(away[-1])

    def complete(self, walk: Partial) -> bool:
        """Whether it is there."""
        return bool(walk.memo <= self.within)


@dataclass(frozen=True, slots=True, eq=False)
class ReachClip:
    """Come to a clip at a place and heading: the source's example of a kick that has to hit (Kovar 4.2.2).

    As the source advises, all of the walk is guided and not its end alone: each frame costs the metres that are still
    to go, and entering the clip costs how far off it then is, squared.

    Parameters
    ----------
    clip : number of the clip.
    place : (3,) rigid2d that the clip should have in the world.
    within : metres, how far off a walk may end; a radian of turn counts as a metre.
    """

    clip: int
    place: ArrayLike
    within: float = 0.5
    _ways: _Ways = field(init=False, repr=False, default_factory=_Ways)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", frozen(self.place, "the place", (3,)))

    def begin(self, walk: Partial) -> float:
        """It is not there."""
        return np.inf

    def add(self, walk: Partial, edge: int) -> tuple[float, float]:
        """The edge's cost, and how far off the clip is if the edge leads into it."""
        graph, edges = walk.graph, walk.graph.edges
        points, _ = self._ways.points(walk, edge)
        goal = rigid2d.apply(np.asarray(self.place), graph.clips[self.clip].travel[0, [0, 2]])
        cost = float(np.hypot(*(points - goal).T).sum() / graph.fps)
        if edges.clips[edge, 1] != self.clip:
            return cost, np.inf
        place = rigid2d.compose(walk.place, edges.moves[edge])
        off = self._off(points[-1], place)
        return cost + off**2, off

    def complete(self, walk: Partial) -> bool:
        """Whether the walk is in the clip, near enough to where it should be."""
        return bool(walk.memo <= self.within)

    def _off(self, here: Floats, place: Floats) -> float:
        """How far the figure is from where it would be if the clip were at the wanted place."""
        local = rigid2d.apply(rigid2d.invert(place), here)
        there = rigid2d.apply(np.asarray(self.place), local)
        turn = float(rigid2d.wrap_angle(place[0] - np.asarray(self.place)[0]))
        return float(np.hypot(np.hypot(*(here - there)), turn))


@dataclass(frozen=True, slots=True, eq=False)
class KeepSpeed:
    """Go at a speed for some seconds: squared metres per second off, summed over seconds."""

    speed: float
    seconds: float
    _ways: _Ways = field(init=False, repr=False, default_factory=_Ways)

    def __post_init__(self) -> None:
        if not (self.speed >= 0.0 and self.seconds > 0.0):
            raise InvalidValue(f"expected a speed and a time above 0, got {self.speed} m/s and {self.seconds} s")

    def begin(self, walk: Partial) -> None:
        """Nothing."""

    def add(self, walk: Partial, edge: int) -> tuple[float, None]:
        """How far off the speed the edge's frames are."""
        _, steps = self._ways.points(walk, edge)
        fps = walk.graph.fps
        return float(((steps * fps - self.speed) ** 2).sum() / fps), None

    def complete(self, walk: Partial) -> bool:
        """Whether the time is over."""
        return walk.n_frames >= self.seconds * walk.graph.fps


@dataclass(frozen=True, slots=True, eq=False)
class KeepStyle:
    """Do one thing for some seconds: the seconds spent on edges without the label."""

    label: str
    seconds: float

    def begin(self, walk: Partial) -> int:
        """Which label it is."""
        return walk.graph.label_index(self.label)

    def add(self, walk: Partial, edge: int) -> tuple[float, int]:
        """The edge's seconds, if it is not in style."""
        edges = walk.graph.edges
        lost = 0.0 if edges.labels[edge, walk.memo] else float(edges.n_frames[edge]) / walk.graph.fps
        return lost, walk.memo

    def complete(self, walk: Partial) -> bool:
        """Whether the time is over."""
        return walk.n_frames >= self.seconds * walk.graph.fps


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Another objective, but never inside circles (M, 3) of x, z, radius."""

    objective: Any
    avoid: ArrayLike
    _ways: _Ways = field(init=False, repr=False, default_factory=_Ways)

    def __post_init__(self) -> None:
        object.__setattr__(self, "avoid", frozen(self.avoid, "avoid", (None, 3)))

    def begin(self, walk: Partial) -> Any:
        """As the objective."""
        return self.objective.begin(walk)

    def add(self, walk: Partial, edge: int) -> tuple[float, Any]:
        """As the objective, and infinity where the edge enters a circle."""
        points, _ = self._ways.points(walk, edge)
        circles = np.asarray(self.avoid)
        away = np.hypot(*(points[:, None] - circles[None, :, :2]).transpose(2, 0, 1))
        if (away < circles[:, 2]).any():
            return np.inf, None
        cost, memo = self.objective.add(walk, edge)
        return float(cost), memo

    def complete(self, walk: Partial) -> bool:
        """As the objective."""
        return bool(self.objective.complete(walk))
