"""Objectives for `marey.graph.search` (Kovar 4.2.2, 4.3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, check_index, freeze_array
from marey.deprecation import renamed_fields, renamed_methods
from marey.errors import InvalidValue
from marey.graph.edge_paths import edge_paths
from marey.graph.follow import SPACING, check_circles, resample_path
from marey.graph.routes import count_frames_to
from marey.graph.search import Objective, PartialWalk, place_start
from marey.maths import rigid2d

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Cost of each second until a clip is reached, as if the character were this many meters away.
_HURRY = 1.0


def _check_least(name: str, value: float, unit: str) -> None:
    if not value >= 0.0:
        raise InvalidValue(f"{name} must be at least 0 {unit}, not {value:g}", parameter=name)


def _edge_points(walk: PartialWalk, edge: int) -> tuple[Floats, Floats]:
    """Return world positions (n, 2) of the hips on the n frames of an edge appended to a walk, and the distance (n,) in
    meters from each previous frame."""
    paths = edge_paths(walk.graph)
    begin, stop = int(paths.first[edge]), int(paths.first[edge + 1])
    theta, x, z = walk.place.tolist()
    c, s = math.cos(theta), math.sin(theta)
    # Same as `rigid2d.apply`, but without its checks, which take longer than the work itself.
    turned = paths.points[begin:stop] @ np.array([[c, -s], [s, c]])
    return turned + np.array([x, z]), paths.steps[begin:stop]


@renamed_methods(placed="place_start")
@renamed_fields(least_step="min_step")
@dataclass(frozen=True, slots=True, eq=False)
class FollowPath:
    """Follow a path. The cost is the squared distance to the path point at the same arc length, summed over frames
    (Kovar 4.15).

    Parameters
    ----------
    path : (N, 2) x, z in meters.
    min_step : minimum progress in meters that each frame counts for, so standing still does not pay.

    Examples
    --------
    >>> objective = marey.graph.FollowPath([[0.0, 0.0], [0.0, 3.0]])
    >>> marey.graph.search(graph, objective).complete
    True
    """

    path: ArrayLike
    min_step: float = 0.01
    _course: tuple[Floats, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_course", resample_path(self.path))

    def place_start(self, graph: MotionGraph, node: int) -> Floats:
        """Return the rigid2d (theta, x, z) that places the node's clip to start at the path's first point and face
        along the path."""
        paths, (course, _) = edge_paths(graph), self._course
        ahead = course[min(len(course) - 1, round(0.5 / SPACING))] - course[0]
        turn = float(np.arctan2(*ahead) - paths.headings[node])
        here = rigid2d.apply(np.array([turn, 0.0, 0.0]), paths.points[paths.first[graph.first_out[node]]])
        return np.array([turn, *(course[0] - here)])

    def begin(self, walk: PartialWalk) -> tuple[float, float]:
        """Return the initial memo (see `PartialWalk`): arc length 0 and distance 0."""
        return 0.0, 0.0

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, tuple[float, float]]:
        """Return the edge's cost in m^2, and as memo the arc length after it and the distance from the path there, in
        meters. Frames beyond the end of the path are compared with its last point."""
        course, total = self._course
        points, steps = _edge_points(walk, edge)
        gone = walk.memo[0] + np.cumsum(np.maximum(steps, self.min_step))
        at = np.minimum(gone, total) / SPACING
        low = np.minimum(at.astype(np.int64), len(course) - 2)
        fraction = (at - low)[:, None]
        wanted = course[low] * (1.0 - fraction) + course[low + 1] * fraction
        off = points - wanted
        return float((off * off).sum()), (float(gone[-1]), math.hypot(*off[-1].tolist()))

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the walk has covered the length of the path."""
        return bool(walk.memo[0] >= self._course[1])

    def bound(self, walk: PartialWalk) -> float:
        """Return a lower bound on the remaining cost: in each frame, the character and its target point approach each
        other by at most twice the largest step."""
        gone, away = walk.memo
        step = max(edge_paths(walk.graph).max_step, self.min_step)
        frames = int(min(away / (2.0 * step), (self._course[1] - gone) / step))
        return float(((away - 2.0 * step * np.arange(1, frames + 1)) ** 2).sum()) if frames > 0 else 0.0


@renamed_fields(within="max_distance")
@dataclass(frozen=True, slots=True, eq=False)
class ReachPoint(FrozenRecord):
    """Go to a point. The cost is the remaining distance, integrated over time, until it is at most `max_distance`.

    Parameters
    ----------
    point : (2,) x, z in meters.
    max_distance : distance in meters at which the walk has arrived.

    Examples
    --------
    >>> objective = marey.graph.ReachPoint((0.0, 4.0), max_distance=0.5)  # meters
    >>> marey.graph.search(graph, objective).complete
    True
    """

    point: ArrayLike
    max_distance: float = 0.3

    def __post_init__(self) -> None:
        _check_least("max_distance", self.max_distance, "m")
        self._put(point=freeze_array(self.point, "the point", (2,)))

    def begin(self, walk: PartialWalk) -> float:
        """Return the initial memo: an infinite distance."""
        return np.inf

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, float]:
        """Return the distance to the point integrated over the edge's frames, in meter-seconds, and as memo the
        distance on its last frame."""
        points, _ = _edge_points(walk, edge)
        away = np.hypot(*(points - np.asarray(self.point)).T)
        return float(away.sum() / walk.graph.fps), float(away[-1])

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the walk is close enough to the point."""
        return bool(walk.memo <= self.max_distance)

    def bound(self, walk: PartialWalk) -> float:
        """Return the cost of going straight to the point with the largest step of the graph."""
        if not math.isfinite(walk.memo):
            return 0.0
        return _sum_distances(walk.memo, self.max_distance, edge_paths(walk.graph).max_step) / walk.graph.fps


class _ClipTarget(NamedTuple):
    """The target of `ReachClip`: the clip, the point (2,) where it should begin, and the shortest time (N,) in seconds
    from each node to an edge into it."""

    graph: MotionGraph
    clip: int
    point: Floats
    seconds: Floats


@renamed_fields(within="max_error")
@dataclass(frozen=True, slots=True, eq=False)
class ReachClip(FrozenRecord):
    """Enter a clip at a position and heading, for example a kick that has to hit (Kovar 4.2.2).

    As Kovar advises, the cost guides the whole walk and not only its end. It is the remaining distance plus a constant,
    integrated over time, plus the squared error when the clip is entered. For clips with few incoming transitions,
    `marey.graph.extend_into_clip` is faster because it knows them in advance.

    Parameters
    ----------
    clip : name or index of the clip.
    place : (3,) rigid2d (theta, x, z) that places the clip in the world.
    max_error : largest error in meters at which a walk may end; a radian of rotation counts as a meter.

    Examples
    --------
    >>> objective = marey.graph.ReachClip("walk", place=(0.0, 0.0, 3.0), max_error=2.0)
    >>> marey.graph.search(graph, objective).complete
    True
    """

    clip: int | str
    place: ArrayLike
    max_error: float = 0.5
    _goal: _ClipTarget | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        _check_least("max_error", self.max_error, "m")
        self._put(place=freeze_array(self.place, "the place", (3,)))

    def begin(self, walk: PartialWalk) -> tuple[_ClipTarget, float, float]:
        """Return the initial memo: the target, and an infinite distance and error."""
        graph = walk.graph
        clip, n = self.clip, len(graph.clips)
        number = graph.index(clip) if isinstance(clip, str) else check_index(clip, "clip", n)
        edges = graph.edges
        enters = (edges.clips[:, 1] == number) & edges.blends
        goal = self._goal
        if goal is None or goal.graph is not graph:
            there = rigid2d.apply(np.asarray(self.place), graph.clips[number].travel[0, [0, 2]])
            times = count_frames_to(graph, np.unique(edges.tails[enters]), np.ones(len(edges), dtype=bool))
            goal = _ClipTarget(graph, number, there, times / graph.fps)
            self._put(_goal=goal)
        return goal, np.inf, np.inf

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, tuple[_ClipTarget, float, float]]:
        """Return the edge's cost and the new memo: the target, the distance to it in meters, and the position error
        of the clip, which is infinite unless the edge leads into the clip."""
        graph, edges = walk.graph, walk.graph.edges
        goal = walk.memo[0]
        points, _ = _edge_points(walk, edge)
        away = np.hypot(*(points - goal.point).T)
        cost = float(away.sum() + _HURRY * len(away)) / graph.fps
        if edges.clips[edge, 1] != goal.clip:
            return cost, (goal, float(away[-1]), np.inf)
        place = rigid2d.compose(walk.place, edges.moves[edge])
        off = self._measure_placement_error(points[-1], place)
        return cost + off**2, (goal, float(away[-1]), off)

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the walk has entered the clip and the clip is close enough to its target."""
        return bool(walk.memo[2] <= self.max_error)

    def bound(self, walk: PartialWalk) -> float:
        """Return the cost of the shortest time to an edge into the clip."""
        return float(_HURRY * walk.memo[0].seconds[walk.node])

    def _measure_placement_error(self, here: Floats, place: Floats) -> float:
        """Return the error in meters between the character at `here` (2,) with its clip at `place` (3,), and where it
        would be if the clip were at its target; a radian of rotation counts as a meter."""
        local = rigid2d.apply(rigid2d.invert(place), here)
        there = rigid2d.apply(np.asarray(self.place), local)
        turn = float(rigid2d.wrap_angle(place[0] - np.asarray(self.place)[0]))
        return float(np.hypot(np.hypot(*(here - there)), turn))


@dataclass(frozen=True, slots=True, eq=False)
class KeepSpeed:
    """Keep a speed for some time. The cost is the squared speed error in (m/s)^2, integrated over time.

    Parameters
    ----------
    speed : meters per second.
    seconds : duration of the walk in seconds.

    Examples
    --------
    >>> marey.graph.search(graph, marey.graph.KeepSpeed(1.3, seconds=3.0)).walk.duration >= 2.9
    True
    """

    speed: float
    seconds: float

    def __post_init__(self) -> None:
        _check_least("speed", self.speed, "m/s")
        if not self.seconds > 0.0:
            raise InvalidValue(f"seconds must be greater than 0, not {self.seconds:g}", parameter="seconds")

    def begin(self, walk: PartialWalk) -> None:
        """Return None; this objective needs no memo."""

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, None]:
        """Return the squared speed error, integrated over the edge's frames."""
        _, steps = _edge_points(walk, edge)
        fps = walk.graph.fps
        return float(((steps * fps - self.speed) ** 2).sum() / fps), None

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the time is up."""
        return walk.n_frames >= self.seconds * walk.graph.fps


@dataclass(frozen=True, slots=True, eq=False)
class KeepStyle:
    """Keep a label for some time. The cost is the time in seconds spent on edges without the label.

    Parameters
    ----------
    label : name of the label.
    seconds : duration of the walk in seconds.

    Examples
    --------
    >>> marey.graph.search(graph, marey.graph.KeepStyle("walk", seconds=3.0)).cost  # seconds without the label
    0.0
    """

    label: str
    seconds: float

    def __post_init__(self) -> None:
        if not self.seconds > 0.0:
            raise InvalidValue(f"seconds must be greater than 0, not {self.seconds:g}", parameter="seconds")

    def begin(self, walk: PartialWalk) -> int:
        """Return the memo: the index of the label."""
        return walk.graph.index(label=self.label)

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, int]:
        """Return the edge's duration in seconds if it does not have the label, else 0."""
        edges = walk.graph.edges
        lost = 0.0 if edges.labels[edge, walk.memo] else float(edges.n_frames[edge]) / walk.graph.fps
        return lost, walk.memo

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the time is up."""
        return walk.n_frames >= self.seconds * walk.graph.fps


def _sum_distances(away: float, max_distance: float, step: float) -> float:
    """Sum the remaining distance, from `away` meters on, over the frames needed to come within `max_distance` meters
    with steps of `step` meters."""
    n = max(0, math.ceil((away - max_distance) / step))
    return n * away - 0.5 * n * (n + 1) * step if n else 0.0


@renamed_methods(placed="place_start")
@dataclass(frozen=True, slots=True, eq=False)
class KeepOut:
    """Another objective, with the constraint to stay outside circles.

    Parameters
    ----------
    objective : the objective to minimize.
    avoid : (M, 3) x, z, radius in meters of M circles.

    Examples
    --------
    >>> to_point = marey.graph.ReachPoint((0.0, 4.0))
    >>> objective = marey.graph.KeepOut(to_point, avoid=[[2.0, 2.0, 0.5]])  # x, z, radius
    >>> marey.graph.search(graph, objective).complete
    True
    """

    objective: Objective
    avoid: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "avoid", check_circles(self.avoid))

    def begin(self, walk: PartialWalk) -> Any:
        """Return the initial memo of the wrapped objective."""
        return self.objective.begin(walk)

    def add(self, walk: PartialWalk, edge: int) -> tuple[float, Any]:
        """Return the cost and memo of the wrapped objective; the cost is infinite if the edge enters a circle."""
        points, _ = _edge_points(walk, edge)
        circles = np.asarray(self.avoid)
        away = np.hypot(*(points[:, None] - circles[None, :, :2]).transpose(2, 0, 1))
        if (away < circles[:, 2]).any():
            return np.inf, None
        cost, memo = self.objective.add(walk, edge)
        return float(cost), memo

    def complete(self, walk: PartialWalk) -> bool:
        """Return whether the wrapped objective is complete."""
        return bool(self.objective.complete(walk))

    def place_start(self, graph: MotionGraph, node: int) -> Floats:
        """Return the start placement of the wrapped objective; the identity if it does not define one."""
        return place_start(self.objective, graph, node)

    def bound(self, walk: PartialWalk) -> float:
        """Return the lower bound of the wrapped objective; 0 if it does not define one."""
        known = getattr(self.objective, "bound", None)
        return 0.0 if known is None else float(known(walk))
