"""Find walks along a path, by one beam search over the whole path (Kovar 4.3 searches piece by piece)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, check_index, convert_array, freeze_array
from marey.core.settings import operation
from marey.deprecation import renamed_methods, renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.graph.beam import run_beam
from marey.graph.beam_kernels import Limits, Starts
from marey.graph.edge_paths import edge_layout, edge_paths
from marey.graph.follow_kernels import (
    OWN,
    SPOT_X,
    SPOT_Z,
    FollowSearch,
    FollowSettings,
    StyledPath,
    WalkLimits,
    search_follow,
)
from marey.graph.label_pairs import explain_styles
from marey.graph.path_styles import StyleStretch, count_frames_ahead, find_style_edges, trace_styles
from marey.graph.settings import GraphPathSettings, count_frames
from marey.graph.walk_result import WalkResult
from marey.maths import rigid2d

if TYPE_CHECKING:
    from marey.core.arrays import Bools, Ints
    from marey.graph.motion_graph import MotionGraph
    from marey.graph.walk import Walk

# Meters between the sample points of a path.
SPACING = 0.02
# Reward in m^2 per meter of progress when states at one frame are compared. Without it the beam fills with states that
# linger where frames are cheap.
_REWARD = 0.2
# Every frame counts as progress at this speed or more, in m/s, so standing on the path is not free.
_MIN_SPEED = 0.1
# A walk that stays within _SPOT meters for more than _PATIENCE seconds pays _DAWDLING m^2 for every further frame. A
# turn on the spot takes about that long; a detour in place takes longer.
_SPOT = 0.25
_PATIENCE = 0.8
_DAWDLING = 1.0
# Cost of a transition in m^2: blended frames are not as good as recorded ones.
_PENALTY = 0.5
# The distance at the end of the path weighs as much as this many frames.
_END_WEIGHT = 60.0
# The beam search starts with this width and doubles it up to the requested width, so a wider search finds everything
# that a narrower one finds.
_NARROWEST = 25
# Without a given width, stop at the first of these widths whose walk is this close to the path, in meters: on average
# and at the end.
_WIDTHS = {50: (0.05, 0.1), 100: (0.15, 0.25), 200: (np.inf, np.inf)}
# States in the same section of a clip, this many seconds long, are interchangeable if their heading and progress are
# similar. This keeps the beam from filling with walks that left a clip a frame sooner or later.
_ALIKE = 0.2
_N_STARTS = 96
# If a style may end but no transition leads directly to the next one, states are compared with an added cost: this many
# m^2 for each frame to the next style. Without it the beam fills with states that wait there, and misses the few
# exits. The second value is used if the first finds no walk.
_HURRY = (0.3, 1.0)
# Seconds that a walk may wait at the end of each style, on average.
_CHANGE = 10.0
_MAX_RECORDS = 4_000_000


@renamed_methods(way="walked_path")
@dataclass(frozen=True, slots=True, eq=False)
class PathResult(WalkResult):
    """A walk that follows a path.

    Attributes
    ----------
    walk : the walk.
    path : (N, 2) the requested path, x, z in meters.
    walked_path : (F, 2) the path of the hips on each frame, x, z in meters, without sway.
    cost : the minimized cost, m^2.
    mean_distance : mean over the walk's frames of the distance to the nearest point of the path, in meters.
    largest_distance : the largest of these distances, in meters.
    mean_uncovered : mean over the path of the distance to the nearest frame of the walk, in meters.
    end_distance : distance in meters between the end of the walk and the end of the path.
    styles : the styles along the path, in order; empty if none were requested.
    """

    path: Floats
    walked_path: Floats = field(repr=False)
    cost: float
    mean_distance: float
    largest_distance: float
    mean_uncovered: float
    end_distance: float
    styles: tuple[StyleStretch, ...] = ()
    _motion_name: ClassVar[str] = "path"

    def to_dict(self) -> dict[str, Any]:
        """Return what the walk plays and its distances from the path, JSON-ready."""
        return self.walk.to_dict() | {
            "mean_distance_m": self.mean_distance,
            "largest_distance_m": self.largest_distance,
            "mean_uncovered_m": self.mean_uncovered,
            "end_distance_m": self.end_distance,
            "cost_m2": self.cost,
            "styles": [
                {
                    "label": each.label,
                    "frames": [each.start, each.stop],
                    "own_frames": each.own_frames,
                    "end_m": each.arc_length,
                    "requested_end_m": each.requested_arc_length,
                    "through": list(each.through),
                }
                for each in self.styles
            ],
        }


@renamed_parameters(others="other_characters", apart="min_distance", early="style_overlap", width="beam_width")
@operation(GraphPathSettings)
def follow(graph: MotionGraph, path: ArrayLike, settings: GraphPathSettings) -> PathResult:
    """Find a walk whose hips travel along `path`.

    The cost of a walk is the sum over frames of the squared distance to the path point at the same arc length (Kovar
    4.15). Transitions, lingering on one spot and the distance at the end of the path add to it. Arc lengths ignore hip
    sway.

    Each style is kept for at least `min_style_time`. At the end of a style, the arc length does not increase until the
    next style begins. If no transition leads from a style to the next, the walk goes through other labels;
    `PathResult.styles` lists them.

    Parameters
    ----------
    graph : the graph.
    path : (N, 2) x, z in meters.

    Raises
    ------
    NoResult : if no walk covers the path.

    Examples
    --------
    >>> path = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 4.0]])  # x, z in meters
    >>> found = marey.graph.follow(graph, path)
    >>> found.mean_distance < 0.3, found.walked_path.shape[1]
    (True, 2)
    >>> found.motion().name
    'path'
    """
    styles, width, others = settings.styles, settings.beam_width, settings.other_characters
    course, total = resample_path(path)
    ends, carried, between = find_style_edges(graph, styles, total)
    ahead = count_frames_ahead(graph, carried, between)
    circles = check_circles(settings.avoid)
    moving = np.zeros((0, 0, 2)) if others is None else convert_array(others, "other_characters")
    if moving.ndim != 3 or moving.shape[2] != 2:
        raise InvalidValue(
            f"other_characters must have shape (frames, characters, 2), not {moving.shape}",
            parameter="other_characters",
        )
    last_frame = 0 if settings.seconds is None else count_frames(settings.seconds, graph.fps)
    starts = _find_starts(graph, course, carried, settings.start, np.random.default_rng(settings.rng))
    search = FollowSearch(
        edge_layout(graph, _ALIKE),
        StyledPath(
            course,
            SPACING,
            ends,
            carried,
            between,
            ahead,
            settings.style_overlap,
            0 if styles is None else round(settings.min_style_time * graph.fps),
        ),
        WalkLimits(circles, np.ascontiguousarray(moving), settings.min_distance, last_frame),
        FollowSettings(
            min_step=_MIN_SPEED / graph.fps,
            spot=_SPOT,
            patience=round(_PATIENCE * graph.fps),
            dawdling=_DAWDLING,
            penalty=_PENALTY,
            end_weight=_END_WEIGHT,
            reward=_REWARD,
            hurry=_HURRY[0],
        ),
        Limits(_NARROWEST, int(np.ceil((total / _MIN_SPEED + _CHANGE * len(ends)) * graph.fps)), 0.0, 0.0),
    )
    best = _search_widths(graph, starts, search, width, path)
    if best is None and between.any():
        hurried = search._replace(settings=search.settings._replace(hurry=_HURRY[1]))
        best = _search_widths(graph, starts, hurried, width, path)
    if best is None:
        listed = [] if styles is None or isinstance(styles, str) else [label for _, label in styles]
        what = "" if styles is None else " in these styles"
        scarce = explain_styles(graph, listed) if listed and not len(circles) else ""
        why = f": {scarce}" if scarce else _explain_no_walk(course, circles, graph)
        raise NoResult(f"no walk covers this path of {total:.1f} m{what}{why}")
    found = measure_path(best[1], path, best[0])
    if styles is None:
        return found
    labels = [styles] if isinstance(styles, str) else [label for _, label in styles]
    return replace(found, styles=trace_styles(best[1], search, labels))


def measure_path(walk: Walk, path: ArrayLike, cost: float) -> PathResult:
    """Measure how well a walk follows a path; `cost` is stored in the result.

    Parameters
    ----------
    path : (N, 2) x, z in meters.
    cost : m^2.

    Examples
    --------
    >>> route = marey.graph.random_walk(graph, seconds=3.0).place_at((0.0, 0.0), heading=0.0)
    >>> result = marey.graph.measure_path(route, [[0.0, 0.0], [0.0, 4.0]], cost=0.0)
    >>> result.walked_path.shape, result.end_distance > 0.0  # meters
    ((180, 2), True)
    """
    course, _ = resample_path(path)
    walked = find_walked_path(walk)
    away, uncovered = _measure_nearest(walked, course), _measure_nearest(course, walked)
    end = float(np.hypot(*(walked[-1] - course[-1])))
    points = freeze_array(path, "a path", (None, 2))
    return PathResult(walk, points, walked, cost, float(away.mean()), float(away.max()), float(uncovered.mean()), end)


def find_walked_path(walk: Walk) -> Floats:
    """Return the path (F, 2) of a walk over the floor, x, z in meters, without hip sway."""
    paths = edge_paths(walk.graph)
    out = []
    for place, e in zip(walk.places, walk.edges, strict=False):
        c, s = np.cos(place[0]), np.sin(place[0])
        x, z = paths.points[paths.first[e] : paths.first[e + 1]].T
        out.append(np.stack([x * c + z * s + place[1], z * c - x * s + place[2]], axis=1))
    return np.concatenate(out)[: walk.n_frames]


def resample_path(path: ArrayLike) -> tuple[Floats, float]:
    """Validate a path; return points (C, 2) along it every `SPACING` meters, and its length in meters."""
    points = freeze_array(path, "a path", (None, 2))
    if len(points) < 2:
        raise InvalidValue(f"path must have at least 2 points (x, z), not {len(points)}")
    lengths = np.hypot(*np.diff(points, axis=0).T)
    if (lengths == 0.0).any():
        k = int(np.flatnonzero(lengths == 0.0)[0])
        raise InvalidValue(f"path points {k} and {k + 1} are identical; remove one of them")
    gone = np.concatenate([[0.0], np.cumsum(lengths)])
    total = float(gone[-1])
    at = np.minimum(np.arange(int(np.ceil(total / SPACING)) + 2) * SPACING, total)
    return np.stack([np.interp(at, gone, points[:, k]) for k in (0, 1)], axis=1), total


def _explain_no_walk(course: Floats, circles: Floats, graph: MotionGraph) -> str:
    """Compose the end of an error message: why no walk exists along a path, and how to fix it."""
    for place, where in ((course[0], "begins"), (course[-1], "ends")):
        inside = np.flatnonzero(np.hypot(*(circles[:, :2] - place).T) < circles[:, 2])
        if len(inside):
            x, z, radius = circles[inside[0]]
            return f": it {where} inside the circle at {x:g},{z:g} with radius {radius:g} m; move one of them"
    if len(circles):
        return f" and avoids the circles; make them smaller, move them, or {graph.build_info.remedy} of the graph"
    return f"; add clips, or {graph.build_info.remedy} of the graph"


def check_circles(avoid: ArrayLike) -> Floats:
    """Validate circles and return them as an array (M, 3) of x, z, radius in meters."""
    given = convert_array(avoid, "avoid")
    circles = freeze_array(given.reshape(0, 3) if given.size == 0 else given, "avoid", (None, 3))
    if (circles[:, 2] < 0.0).any():
        raise InvalidValue(f"avoid must have radii of at least 0 m, not {circles[:, 2].min():g}", parameter="avoid")
    return circles


def _is_close(best: tuple[float, Walk] | None, path: ArrayLike, last_frame: int, mean: float, at_end: float) -> bool:
    """Return whether the walk is so close to the path that a wider beam is not worth its time."""
    if best is None:
        return False
    found = measure_path(best[1], path, best[0])
    # A time-limited walk need not reach the end of the path.
    return found.mean_distance <= mean and (found.end_distance <= at_end or last_frame > 0)


def _find_starts(
    graph: MotionGraph,
    course: Floats,
    carried: Bools,
    start: tuple[int, ArrayLike] | None,
    rng: np.random.Generator,
) -> Starts:
    """Return start states and their nodes; see `marey.graph.follow_kernels`."""
    paths = edge_paths(graph)
    if start is not None:
        if not (isinstance(start, tuple | list) and len(start) == 2):
            raise InvalidValue(
                "start must be (node, placement), with the placement (theta, x, z) of the node's clip in the "
                f"world, not {start!r}"
            )
        node, place = start
        check_index(node, "start, a node,", len(graph.nodes))
        theta, x, z = freeze_array(place, "the start's place", (3,))
        here = rigid2d.apply(np.array([theta, x, z]), paths.points[paths.first[graph.first_out[node]]])
        places = np.array([[np.cos(theta), np.sin(theta), x, z]])
        return _start_states(places, here, np.array([node], np.int64))
    able = np.unique(graph.edges.tails[carried[:, 0]])
    if not len(able):
        raise NoResult(f"no motion of the graph has the first style; {graph.build_info.remedy}")
    nodes = np.sort(rng.choice(able, min(_N_STARTS, len(able)), replace=False))
    ahead = course[min(len(course) - 1, round(0.5 / SPACING))] - course[0]
    theta = np.arctan2(ahead[0], ahead[1]) - paths.headings[nodes]
    c, s = np.cos(theta), np.sin(theta)
    x, z = paths.points[paths.first[graph.first_out[nodes]]].T
    places = np.stack([c, s, course[0, 0] - (x * c + z * s), course[0, 1] - (z * c - x * s)], axis=1)
    return _start_states(places, course[0], nodes)


def _start_states(places: Floats, spot: Floats, nodes: Ints) -> Starts:
    states = np.zeros((len(nodes), OWN + 1))
    states[:, :4] = places
    states[:, [SPOT_X, SPOT_Z]] = spot
    return Starts(states, nodes)


def _search_widths(
    graph: MotionGraph, starts: Starts, search: FollowSearch, width: int | None, path: ArrayLike
) -> tuple[float, Walk] | None:
    """Search with wider and wider beams up to `width`, by default until a walk is close to the path.

    Return the best walk and its cost, or None.
    """
    best: tuple[float, Walk] | None = None
    beam_width = _NARROWEST
    while beam_width <= (max(_WIDTHS) if width is None else width):
        best = _search_beam(graph, starts, search, beam_width, best) or best
        last_frame = search.bounds.last_frame
        if width is None and beam_width in _WIDTHS and _is_close(best, path, last_frame, *_WIDTHS[beam_width]):
            break
        beam_width *= 2
    return best


def _search_beam(
    graph: MotionGraph, starts: Starts, search: FollowSearch, width: int, best: tuple[float, Walk] | None
) -> tuple[float, Walk] | None:
    """Run one beam search. Return the best walk and its cost if it is cheaper than `best`, else None."""
    cost = np.array([np.inf if best is None else best[0], np.inf])
    search = search._replace(limits=search.limits._replace(width=width))
    found = run_beam(search_follow, starts, search, cost, _MAX_RECORDS)
    if found is None:
        return None
    c, s, x, z = starts.states[found.start, :4]
    n_frames = int(graph.edges.n_frames[found.edges].sum()) + found.n_played
    return float(cost[0]), graph.walk([*found.edges, found.last], (np.arctan2(s, c), x, z), n_frames)


def _measure_nearest(points: Floats, targets: Floats) -> Floats:
    """Return the distance (N,) in meters from each point to the nearest point of `targets`."""
    from scipy.spatial import cKDTree

    distances: Floats = cKDTree(targets).query(points)[0]
    return distances
