"""Walks along a path, by one beam search over the whole path (Kovar 4.3 searches piece by piece)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, convert_array, freeze_array
from marey.errors import InvalidValue, NoResult
from marey.graph.beam_kernels import Bounds, Course, FollowSearch, FollowSettings, search_follow
from marey.graph.edge_paths import EdgePaths, edge_layout, edge_paths
from marey.graph.layout_kernels import Starts, Trail
from marey.graph.motion_graph import MotionGraph
from marey.graph.walk import Walk
from marey.maths import rigid2d

if TYPE_CHECKING:
    from marey.core.arrays import Bools

# Meters between the sample points of a path.
SPACING = 0.02
# Reward in m^2 for each meter of progress when states at one frame are compared. Without it the beam fills with states
# that linger where it is cheap.
_REWARD = 0.2
# Every frame counts as progress of at least this speed, in m/s, so that standing on the path is not free.
_LEAST_SPEED = 0.1
# A walk that stays within _SPOT meters for more than _PATIENCE seconds pays _DAWDLING m^2 for every further frame. A
# turn on the spot takes about that long; a detour in place takes longer.
_SPOT = 0.25
_PATIENCE = 0.8
_DAWDLING = 1.0
# Cost of a transition in m^2, because blended frames are not as good as recorded ones.
_PENALTY = 0.5
# The distance at the end of the path weighs as much as this many frames.
_END_WEIGHT = 60.0
# The beam search starts with this width and doubles it up to the requested width, so a wider search finds everything
# that a narrower one finds.
_NARROWEST = 25
# Without a given width, stop at the first of these widths whose walk is this close to the path, in meters: on average
# and at the end.
_WIDTHS = {50: (0.05, 0.1), 100: (0.15, 0.25), 200: (np.inf, np.inf)}
# States within this many seconds of a clip are interchangeable if they have a similar heading and progress. This keeps
# the beam from filling with walks that left a clip a frame sooner or later.
_ALIKE = 0.2
_N_STARTS = 96
_MOST_RECORDS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """A walk that follows a path.

    Attributes
    ----------
    walk : the walk.
    path : (N, 2) the path.
    way : (F, 2) the path that the walk took, without hip sway.
    cost : m^2, the minimized cost.
    mean_distance : mean distance in meters from each frame of the walk to the path.
    largest_distance : the largest of these distances, in meters.
    mean_uncovered : mean distance in meters from each point of the path to the walk.
    end_distance : distance in meters between the two ends.
    """

    walk: Walk
    path: Floats
    way: Floats = field(repr=False)
    cost: float
    mean_distance: float
    largest_distance: float
    mean_uncovered: float
    end_distance: float


def follow(
    graph: MotionGraph,
    path: ArrayLike,
    *,
    styles: Sequence[tuple[float, str]] | str | None = None,
    start: tuple[int, ArrayLike] | None = None,
    avoid: ArrayLike = (),
    others: ArrayLike | None = None,
    apart: float = 0.5,
    seconds: float | None = None,
    early: float = 0.9,
    width: int | None = None,
    rng: int | np.random.Generator = 0,
) -> Followed:
    """Find a walk whose hips travel along `path`.

    The cost of a walk is the sum over frames of the squared distance to the path point at the same arc length (Kovar
    4.15), plus a small cost for each transition. Arc lengths ignore hip sway.

    Parameters
    ----------
    path : (N, 2) x, z in metres.
    styles : a label for the whole path, or pairs (meters, label): use this label up to this arc length. The last label
        holds to the end.
    start : a node and the rigid2d that places its clip in the world. By default any node, placed at the start of the
        path and facing along it.
    avoid : (M, 3) circles x, z, radius that the character stays out of.
    others : (T, M, 2) positions x, z in meters of M other characters on each frame; NaN where absent.
    apart : minimum distance in meters to the other characters.
    seconds : stop after this time, anywhere along the path; by default the walk stops at the end of the path.
    early : the next style may begin this many meters before the current one ends; half a person's height (Kovar 4.3.1).
    width : beam width, in states per frame. Beams of 25, 50, 100 and so on up to this width are searched and the best
        walk is kept, so a larger width is never worse. By default 50 to 200, as wide as needed to stay close.
    rng : seed or generator that chooses the start nodes to try.
    """
    course, total = checked_path(path)
    ends, carried = _styles(graph, styles, total)
    circles = checked_circles(avoid)
    moving = np.zeros((0, 0, 2)) if others is None else convert_array(others, "others")
    if moving.ndim != 3 or moving.shape[2] != 2:
        raise InvalidValue(f"others must have shape (any, any, 2), got {moving.shape}")
    if seconds is not None and not (np.isfinite(seconds) and round(seconds * graph.fps) >= 1):
        raise InvalidValue(f"a walk must last at least one frame, got {seconds} s")
    last_frame = 0 if seconds is None else round(seconds * graph.fps)
    ways = edge_paths(graph)
    starts = _starts(graph, ways, course, carried, start, np.random.default_rng(rng))
    search = FollowSearch(
        edge_layout(graph, ways, _ALIKE),
        Course(course, SPACING, ends, carried, early),
        Bounds(circles, np.ascontiguousarray(moving), apart, last_frame),
        _settings(graph.fps, total),
    )
    best: tuple[float, Walk] | None = None
    if width is not None and width < _NARROWEST:
        raise InvalidValue(f"width must be at least {_NARROWEST}, got {width}")
    wide = _NARROWEST
    while wide <= (max(_WIDTHS) if width is None else width):
        better = _searched(graph, starts, search, wide, best)
        best = better or best
        if width is None and wide in _WIDTHS and _close(best, path, ways, last_frame, *_WIDTHS[wide]):
            break
        wide *= 2
    if best is None:
        what = "" if styles is None else " in these styles"
        raise NoResult(f"no walk covers this path of {total:.1f} m{what}{_why(course, circles, graph)}")
    return described(best[1], path, best[0], ways)


def described(walk: Walk, path: ArrayLike, cost: float, ways: EdgePaths | None = None) -> Followed:
    """Measure how well a walk follows a path. Pass `ways` to avoid computing the edge paths again."""
    course, _ = checked_path(path)
    way = way_of(walk, ways)
    away, uncovered = _nearest(way, course), _nearest(course, way)
    end = float(np.hypot(*(way[-1] - course[-1])))
    points = freeze_array(path, "a path", (None, 2))
    return Followed(walk, points, way, cost, float(away.mean()), float(away.max()), float(uncovered.mean()), end)


def way_of(walk: Walk, ways: EdgePaths | None = None) -> Floats:
    """(F, 2) the path of a walk over the floor, without hip sway."""
    ways = edge_paths(walk.graph) if ways is None else ways
    out = []
    for place, e in zip(walk.places, walk.edges, strict=False):
        c, s = np.cos(place[0]), np.sin(place[0])
        x, z = ways.points[ways.first[e] : ways.first[e + 1]].T
        out.append(np.stack([x * c + z * s + place[1], z * c - x * s + place[2]], axis=1))
    return np.concatenate(out)[: walk.n_frames]


def checked_path(path: ArrayLike) -> tuple[Floats, float]:
    """Validate a path. Returns its points at even spacing and its length in meters."""
    points = freeze_array(path, "a path", (None, 2))
    if len(points) < 2:
        raise InvalidValue(f"a path needs at least 2 points x, z, got {len(points)}")
    lengths = np.hypot(*np.diff(points, axis=0).T)
    if (lengths == 0.0).any():
        k = int(np.flatnonzero(lengths == 0.0)[0])
        raise InvalidValue(f"points {k} and {k + 1} of the path are identical; remove one")
    gone = np.concatenate([[0.0], np.cumsum(lengths)])
    total = float(gone[-1])
    at = np.minimum(np.arange(int(np.ceil(total / SPACING)) + 2) * SPACING, total)
    return np.stack([np.interp(at, gone, points[:, k]) for k in (0, 1)], axis=1), total


def _why(course: Floats, circles: Floats, graph: MotionGraph) -> str:
    """Why there is no walk along a path, and how to fix it, as the end of an error message."""
    for place, where in ((course[0], "begins"), (course[-1], "ends")):
        inside = np.flatnonzero(np.hypot(*(circles[:, :2] - place).T) < circles[:, 2])
        if len(inside):
            x, z, radius = circles[inside[0]]
            return f": it {where} inside the circle at {x:g},{z:g} with radius {radius:g} m; move one of them"
    if len(circles):
        return f" and avoids the circles; make them smaller, move them, or {graph.how.remedy} of the graph"
    return f"; add clips, or {graph.how.remedy} of the graph"


def checked_circles(avoid: ArrayLike) -> Floats:
    """(M, 3) circles x, z, radius."""
    given = convert_array(avoid, "avoid")
    circles = freeze_array(given.reshape(0, 3) if given.size == 0 else given, "avoid", (None, 3))
    if (circles[:, 2] < 0.0).any():
        raise InvalidValue(f"the radius of a circle to avoid must be at least 0 m, got {circles[:, 2].min():g}")
    return circles


def _close(
    best: tuple[float, Walk] | None, path: ArrayLike, ways: EdgePaths, last_frame: int, mean: float, at_end: float
) -> bool:
    """Whether the walk is so close to the path that a wider beam is not worth its time."""
    if best is None:
        return False
    found = described(best[1], path, best[0], ways)
    # A time-limited walk need not reach the end of the path.
    return found.mean_distance <= mean and (found.end_distance <= at_end or last_frame > 0)


def _styles(graph: MotionGraph, styles: Sequence[tuple[float, str]] | str | None, total: float) -> tuple[Floats, Bools]:
    """(S,) arc lengths in meters at which styles end, and (E, S) which edges may be used in each style."""
    edges = graph.edges
    if styles is None:
        return np.array([total]), np.ones((len(edges), 1), dtype=bool)
    listed = [(total, styles)] if isinstance(styles, str) else list(styles)
    if not listed:
        raise InvalidValue("styles must contain at least one label, got none")
    ends = np.array([float(end) for end, _ in listed])
    ends[-1] = total
    if (np.diff(ends) <= 0.0).any() or ends[0] <= 0.0:
        raise InvalidValue(f"the ends of styles must increase along a path of {total:.2f} m, got {ends.tolist()}")
    columns = []
    reaches = {each.label: each.reaches for each in graph.components}
    for number, (_, label) in enumerate(listed):
        k = graph.label_index(label)
        inside = graph.members[k]
        if not inside.any():
            raise NoResult(f"no endless motion with label {label!r}; {graph.how.remedy}, or leave out this style")
        before = listed[number - 1][1] if number else label
        if before != label and before in reaches and label not in reaches[before]:
            raise NoResult(
                f"no transition leads from {before!r} to {label!r}; {graph.how.remedy}, or change the styles"
            )
        # Once entered, a style can be continued.
        columns.append(edges.labels[:, k] & inside[edges.heads])
    return ends, np.stack(columns, axis=1)


def _settings(fps: float, total: float) -> FollowSettings:
    """Search settings for a path of `total` meters; the width is set later."""
    return FollowSettings(
        min_step=_LEAST_SPEED / fps,
        spot=_SPOT,
        patience=round(_PATIENCE * fps),
        dawdling=_DAWDLING,
        penalty=_PENALTY,
        end_weight=_END_WEIGHT,
        reward=_REWARD,
        max_frames=int(np.ceil(total / _LEAST_SPEED * fps)) + 10,
        width=_NARROWEST,
    )


def _starts(
    graph: MotionGraph,
    ways: EdgePaths,
    course: Floats,
    carried: Bools,
    start: tuple[int, ArrayLike] | None,
    chance: np.random.Generator,
) -> Starts:
    """Start states (S, 9): c, s, x, z, arc length, cost, x and z of the spot, frames on it; and their nodes."""
    if start is not None:
        if not (isinstance(start, tuple | list) and len(start) == 2):
            raise InvalidValue(f"start must be a node and the rigid2d (3,) of its clip in the world, got {start!r}")
        node, place = start
        if not 0 <= node < len(graph.nodes):
            raise InvalidValue(f"start must begin with a node from 0 to {len(graph.nodes) - 1}, got {node}")
        theta, x, z = freeze_array(place, "the start's place", (3,))
        here = rigid2d.apply(np.array([theta, x, z]), ways.points[ways.first[graph.first_out[node]]])
        return Starts(
            np.array([[np.cos(theta), np.sin(theta), x, z, 0.0, 0.0, *here, 0.0]]), np.array([node], np.int64)
        )
    able = np.unique(graph.edges.tails[carried[:, 0]])
    if not len(able):
        raise NoResult(f"no edge of the graph has the first style; {graph.how.remedy}")
    nodes = np.sort(chance.choice(able, min(_N_STARTS, len(able)), replace=False))
    ahead = course[min(len(course) - 1, round(0.5 / SPACING))] - course[0]
    theta = np.arctan2(ahead[0], ahead[1]) - ways.headings[nodes]
    c, s = np.cos(theta), np.sin(theta)
    x, z = ways.points[ways.first[graph.first_out[nodes]]].T
    here = np.stack([c, s, course[0, 0] - (x * c + z * s), course[0, 1] - (z * c - x * s)], axis=1)
    states = np.zeros((len(nodes), 9))
    states[:, :4] = here
    states[:, 6:8] = course[0]
    return Starts(states, nodes)


def _searched(
    graph: MotionGraph, starts: Starts, search: FollowSearch, width: int, best: tuple[float, Walk] | None
) -> tuple[float, Walk] | None:
    """The best walk if its cost is lower than that of `best`, else None."""
    edges = graph.edges
    settings = search.settings._replace(width=width)
    n_records = min(_MOST_RECORDS, width * settings.max_frames + len(starts.nodes))
    trail = Trail(np.empty((n_records, 2), dtype=np.int64), np.empty(3, dtype=np.int64))
    cost = search_follow(starts, search._replace(settings=settings), np.inf if best is None else best[0], trail)
    record, edge, played = (int(value) for value in trail.end)
    if edge < 0:
        return None
    taken = [edge]
    while record >= 0:
        parent, edge = (int(value) for value in trail.records[record])
        if edge < 0:
            break
        taken.append(edge)
        record = parent
    taken.reverse()
    node = int(edges.tails[taken[0]])
    c, s, x, z = starts.states[np.flatnonzero(starts.nodes == node)[0], :4]
    n_frames = int(edges.n_frames[taken[:-1]].sum()) + played
    return cost, Walk(graph, np.array(taken), np.array([np.arctan2(s, c), x, z]), n_frames)


def _nearest(points: Floats, to: Floats) -> Floats:
    """(N,) distance in meters from each point to the nearest point of `to`."""
    from scipy.spatial import cKDTree

    distances: Floats = cKDTree(to).query(points)[0]
    return distances
