"""Find walks to a position, or into a clip at a position, by a beam search that tests for arrival at every frame."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Bools, Floats, Ints, freeze_array
from marey.core.placement import find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import MareyWarning, NoResult
from marey.graph.beam import run_beam
from marey.graph.beam_kernels import N_NUMBERS, Limits, Starts
from marey.graph.edge_paths import EdgePaths, edge_layout, edge_paths, edge_poses
from marey.graph.follow import check_circles, find_walked_path
from marey.graph.reach_kernels import (
    InEdges,
    ReachGoal,
    ReachSearch,
    ReachSettings,
    ReachSpace,
    Tails,
    find_tails,
    search_reach,
)
from marey.graph.routes import count_frames_to
from marey.graph.settings import ApproachSettings, ClipApproachSettings, GraphReachSettings
from marey.maths import rigid2d

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph
    from marey.graph.walk import Walk

# Pairs of assumed turning radius in meters and beam width. How tightly the clips can turn is not known in advance, so
# the pairs are tried in order until a walk ends well.
_TRIED = ((0.8, 60), (1.5, 120), (2.5, 200), (0.4, 200), (0.8, 500))
# Meters that count as much as a heading error of one radian. `land_at` can correct up to 0.3 m and half a radian.
_RADIAN = 0.6
# Meters: final errors below `_NEAR` count as equal, and those up to `_WELL` are good enough to end the search; costs of
# a frame and of a transition.
_NEAR, _WELL, _PER_FRAME, _PENALTY = 0.08, 0.15, 0.001, 0.01
# Minimum duration of a walk in seconds; `marey.graph.land_at` needs this much to adjust its end.
_MIN_SECONDS = 2.5
# Search horizon: this many seconds, plus the time to get there at this slow speed in m/s.
_MORE, _SLOW = 15.0, 0.4
# Cost, in meters, of each second until the target clip can be entered.
_WAIT = 0.7
# Time in seconds that means "never".
_NEVER = 1e3
# A clip may be entered within this many seconds of its start. If no transition leads there, the limit is doubled until
# one does.
_ENTRY_SECONDS = 3.0
# Routes into a clip of up to _TAIL seconds are enumerated, at most _MAX_TAILS in all and _MAX_PER_NODE from one node.
# The search steers toward the starts of up to _GOALS routes whose duration in seconds lies in the range _STEERED.
_TAIL, _MAX_TAILS, _MAX_PER_NODE = 6.0, 60_000, 24
_STEERED, _GOALS = (1.0, 3.0), 6
# States in the same section of a clip, this many seconds long, are interchangeable if their position and heading are
# similar.
_ALIKE = 0.2
# Numbers of seconds at the end of a walk to replan, tried in order.
_REPLANNED_SECONDS = (1.0, 2.0, 3.5, 5.0, 7.0)
# A walk that ends farther than this from the target, in meters, is not replanned.
_FAR = 3.0
# A replanned end is reported if it takes this many seconds longer, or leads this many meters away from the walk.
_LONG_DETOUR, _WIDE_DETOUR = 2.0, 1.0
_N_STARTS = 64
_MAX_RECORDS = 2_000_000


class _Goal(NamedTuple):
    """The goal of a search.

    goal : the goal in the form that the kernel needs.
    tails : the routes into the clip; empty if the goal is a position.
    clip : name of the clip to enter, or None.
    label : use only edges inside this label's component.
    circles : (M, 3) x, z, radius in meters of M circles to keep out of.
    max_error : largest error in meters at which a walk is accepted.
    """

    goal: ReachGoal
    tails: Tails
    clip: str | None
    label: str | None
    circles: Floats
    max_error: float


@renamed_parameters(at="position")
@operation(ApproachSettings)
def extend_to(walk: Walk, position: ArrayLike, settings: ApproachSettings) -> Walk:
    """Extend a walk from the end of its last edge until it ends within a tolerance of a position.

    Of all such walks, the shortest is chosen. Use `land_at` to arrive exactly.

    Parameters
    ----------
    walk : the walk to extend.
    position : (2,) target of the hips, x, z in meters.

    Raises
    ------
    NoResult : if no walk ends near enough.

    Examples
    --------
    >>> route = marey.graph.random_walk(graph, seconds=1.0).place_at((0.0, 0.0), heading=0.0)
    >>> longer = marey.graph.extend_to(route, (0.0, 4.0))
    >>> bool(np.hypot(*(longer.end[1:] - [0.0, 4.0])) < 0.5)  # meters
    True
    """
    return _extend(walk, _position_goal(walk.graph, position, settings))


@renamed_parameters(at="position", within="max_error")
@operation(ClipApproachSettings)
def extend_into_clip(walk: Walk, clip: str, position: ArrayLike, settings: ClipApproachSettings) -> Walk:
    """Extend a walk so that it enters a clip whose first frame is at `position` and faces `heading`.

    The walk may enter the clip a few seconds after the clip's first frame. It then joins the placed clip at that point.

    Parameters
    ----------
    walk : the walk to extend.
    clip : name of the clip to enter.
    position : (2,) position of the hips on the clip's first frame, x, z in meters.

    Raises
    ------
    NoResult : if no walk reaches the clip within `max_error`.

    Examples
    --------
    >>> route = marey.graph.random_walk(graph, seconds=1.0).place_at((0.0, 0.0), heading=0.0)
    >>> longer = marey.graph.extend_into_clip(route, "walk", (0.0, 4.0), max_error=1.0)
    >>> longer.n_frames > route.n_frames
    True
    """
    return _extend(walk, _clip_goal(walk.graph, clip, position, settings))


@renamed_parameters(at="position", begin="start_clip", within="max_error")
@operation(GraphReachSettings)
def reach(graph: MotionGraph, position: ArrayLike, settings: GraphReachSettings) -> Walk:
    """Find a walk from the origin, initially along +Z, to a position, or into a clip at that position.

    Parameters
    ----------
    graph : the graph.
    position : (2,) x, z in meters: where the hips end, or where they are on the first frame of `clip`.

    Raises
    ------
    NoResult : if no walk ends that accurately.

    Examples
    --------
    >>> route = marey.graph.reach(graph, (0.0, 4.0), max_error=0.5)
    >>> bool(np.hypot(*(route.end[1:] - [0.0, 4.0])) < 0.5)  # meters
    True
    """
    clip, start_clip, label = settings.clip, settings.start_clip, settings.label
    if clip is None:
        goal = _position_goal(graph, position, settings)._replace(max_error=settings.max_error)
    else:
        goal = _clip_goal(graph, clip, position, settings)
    able = graph.select_edges(label) & ~graph.edges.blends
    if start_clip is not None:
        able = able & (graph.nodes[graph.edges.tails, 0] == graph.index(start_clip))
    nodes = np.unique(graph.edges.tails[able])
    if not len(nodes):
        raise NoResult(
            f"clip {start_clip!r} has no motion with label {label!r} that can continue forever; start in another clip"
        )
    nodes = np.sort(np.random.default_rng(settings.rng).choice(nodes, min(_N_STARTS, len(nodes)), replace=False))
    paths = edge_paths(graph)
    angles = -paths.headings[nodes]
    here = paths.points[paths.first[graph.first_out[nodes]]]
    c, s = np.cos(angles), np.sin(angles)
    places = np.stack([c, s, -(here[:, 0] * c + here[:, 1] * s), here[:, 0] * s - here[:, 1] * c], axis=1)
    which, edges, n_frames = _search(graph, goal, places, nodes, round(_MIN_SECONDS * graph.fps), True)
    c, s, x, z = places[which]
    return graph.walk(edges, (np.arctan2(s, c), x, z), n_frames)


@renamed_parameters(at="position")
@operation(ApproachSettings)
def replan_end(walk: Walk, position: ArrayLike, settings: ApproachSettings) -> Walk:
    """Replan the last 1 to 7 seconds of a walk to end as close to a position and heading as the graph allows.

    A walk that already ends within 0.15 m, or more than 3 m away, is returned unchanged; a radian of heading counts as
    0.6 m. A long detour is reported as a `MareyWarning`.

    Parameters
    ----------
    walk, position : see `extend_to`.

    Examples
    --------
    >>> route = marey.graph.follow(graph, [[0.0, 0.0], [0.0, 4.0]]).walk
    >>> nearer = marey.graph.replan_end(route, (0.0, 4.0))
    >>> bool(np.hypot(*(nearer.end[1:] - [0.0, 4.0])) <= np.hypot(*(route.end[1:] - [0.0, 4.0])))
    True
    """
    goal = _position_goal(walk.graph, position, settings)
    best = _measure_end_error(walk, goal.goal.position), walk
    played = np.cumsum(walk.graph.edges.n_frames[walk.edges])
    for seconds in _REPLANNED_SECONDS if best[0] <= _FAR else ():
        if best[0] <= _WELL:
            break
        n_edges = int(np.searchsorted(played, len(walk) - round(seconds * walk.graph.fps), side="right"))
        if n_edges < 1:
            break
        try:
            other = _extend(walk.graph.walk(walk.edges[:n_edges], walk.start), goal)
        except NoResult:
            continue
        best = min(best, (_measure_end_error(other, goal.goal.position), other), key=lambda each: each[0])
    _warn_of_detour(walk, best[1], goal.goal.position[:2])
    return best[1]


def _warn_of_detour(walk: Walk, replanned: Walk, goal: Floats) -> None:
    """Warn if `replanned`, which ends at the goal, lasts much longer than `walk` or leads far away from its path."""
    from scipy.spatial import cKDTree

    seconds = (len(replanned) - len(walk)) / walk.graph.fps
    walked, other = find_walked_path(walk), find_walked_path(replanned)
    line = np.linspace(walked[-1], goal, 100)
    away = float(cKDTree(np.concatenate([walked, line])).query(other)[0].max())
    if seconds > _LONG_DETOUR or away > _WIDE_DETOUR:
        warnings.warn(
            f"to end at this position and heading, the walk makes a detour that takes {max(seconds, 0.0):.1f} s longer "
            f"and leads up to {away:.1f} m away; leave out the heading, choose another position, or "
            f"{walk.graph.build_info.remedy} of "
            "the graph",
            MareyWarning,
            stacklevel=5,
        )


def _measure_end_error(walk: Walk, target: Floats) -> float:
    """Return the error of a walk's end in meters: the larger of its distance and its heading error.

    target : (3,) x, z, heading; NaN if any heading will do.
    """
    turn, x, z = walk.end
    missing = 0.0 if np.isnan(target[2]) else _RADIAN * abs(float(rigid2d.wrap_angle(turn - target[2])))
    return max(float(np.hypot(x - target[0], z - target[1])), missing)


def _extend(walk: Walk, goal: _Goal) -> Walk:
    """Extend a graph walk until it reaches the goal."""
    graph = walk.graph
    played = graph.walk(walk.edges, walk.start)
    theta, x, z = played.places[-1]
    places = np.array([[np.cos(theta), np.sin(theta), x, z]])
    min_frames = max(1, round(_MIN_SECONDS * graph.fps) - len(played))
    _, edges, n_frames = _search(graph, goal, places, graph.edges.heads[walk.edges[-1:]], min_frames, False)
    return graph.walk(np.concatenate([walk.edges, edges]), walk.start, len(played) + n_frames)


def _position_goal(graph: MotionGraph, position: ArrayLike, settings: ApproachSettings) -> _Goal:
    goal, heading = freeze_array(position, "the position to go to", (2,)), settings.heading
    there = np.array([[*goal, np.nan if heading is None else heading]])
    n = len(graph.nodes)
    none = Tails(
        first=np.zeros(n + 1, np.int64),
        moves=np.zeros((0, 4)),
        edges=np.zeros((0, 2), np.int64),
        frames=np.zeros(0, np.int64),
        transitions=np.zeros(0),
        wait=np.zeros(n),
    )
    reached = ReachGoal(there, there[0], np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(2))
    return _Goal(reached, none, None, settings.label, check_circles(settings.avoid), np.inf)


def _clip_goal(graph: MotionGraph, clip: str, position: ArrayLike, settings: ClipApproachSettings) -> _Goal:
    goal = freeze_array(position, "the position of the clip", (2,))
    heading, label = settings.heading or 0.0, settings.label
    number = graph.index(clip)
    motion = graph.clips[number]
    first = motion[:1]
    wanted = rigid2d.compose(np.array([heading, *goal]), rigid2d.invert(find_placement(first, 0)))
    edges, allowed = graph.edges, graph.select_edges(label)
    into = edges.blends & allowed & (graph.nodes[edges.heads, 0] == number)
    if not into.any():
        what = "" if label is None else f" in {label!r}"
        raise NoResult(f"no transition leads into the clip {clip!r}{what}; {graph.build_info.remedy} of the graph")
    until = _ENTRY_SECONDS * graph.fps
    while not (enters := into & (graph.nodes[edges.heads, 1] <= until)).any():
        until *= 2.0
    # Measure placement errors at the middle of the frames at which the clip may be entered.
    entry = motion.travel[min(len(motion) - 1, round(0.5 * until))][[0, 2]]
    paths = edge_paths(graph)
    tails = _find_routes(graph, paths, np.flatnonzero(enters), allowed, entry)
    low, high = (round(seconds * graph.fps) for seconds in _STEERED)
    some = np.flatnonzero((tails.frames >= low) & (tails.frames <= high))
    if not len(some):
        some = np.arange(len(tails.frames))
    # World position and travel direction of the character at the start of each route.
    moves = np.stack([np.arctan2(tails.moves[some, 1], tails.moves[some, 0]), *tails.moves[some, 2:].T], axis=1)
    from_here = rigid2d.compose(wanted, rigid2d.invert(moves))
    nodes = edges.tails[tails.edges[some, 0]]
    there = rigid2d.apply(from_here, paths.points[paths.first[graph.first_out[nodes]]])
    steer = np.concatenate([there, (from_here[:, 0] + paths.headings[nodes])[:, None]], axis=1)
    transform = np.array([np.cos(wanted[0]), np.sin(wanted[0]), *wanted[1:]])
    reached = ReachGoal(_spread(steer, _GOALS), np.zeros(0), transform, np.ascontiguousarray(entry))
    return _Goal(reached, tails, clip, label, check_circles(settings.avoid), settings.max_error)


def _find_routes(graph: MotionGraph, paths: EdgePaths, enters: Ints, allowed: Bools, entry: Floats) -> Tails:
    """Find the routes that end with one of the edges `enters`."""
    edges, n = graph.edges, len(graph.nodes)
    in_edges = np.argsort(edges.heads, kind="stable")
    first_in = np.concatenate([[0], np.cumsum(np.bincount(edges.heads, minlength=n))])
    numbers, marks = np.empty((_MAX_TAILS, 4)), np.empty((_MAX_TAILS, 5), dtype=np.int64)
    known = InEdges(edges.tails, edges.n_frames, edges.blends, paths.moves, allowed, first_in, in_edges)
    point = np.ascontiguousarray(entry)
    count = find_tails(known, enters, point, round(_TAIL * graph.fps), _MAX_PER_NODE, numbers, marks)
    numbers, marks = numbers[:count], marks[:count]
    order = np.argsort(marks[:, 0], kind="stable")
    where = np.append(np.argsort(order), -1)
    first = np.concatenate([[0], np.cumsum(np.bincount(marks[:, 0], minlength=n))])
    marks = marks[order]
    wait = _WAIT * np.minimum(count_frames_to(graph, np.unique(edges.tails[enters]), allowed) / graph.fps, _NEVER)
    return Tails(
        first=first,
        moves=numbers[order],
        edges=np.stack([marks[:, 1], where[marks[:, 2]]], axis=1),
        frames=np.ascontiguousarray(marks[:, 3]),
        transitions=marks[:, 4].astype(np.float64),
        wait=np.asarray(wait),
    )


def _edges_along(tails: Tails, tail: int) -> list[int]:
    """List the edges of a route into a clip, in order."""
    out = []
    while tail >= 0:
        out.append(int(tails.edges[tail, 0]))
        tail = int(tails.edges[tail, 1])
    return out


def _spread(places: Floats, n: int) -> Floats:
    """Choose up to n of the placements (T, 3) x, z, heading, spread apart: each is the one farthest from those chosen
    before it. A radian of heading counts as a meter."""
    chosen = [0]
    away = np.full(len(places), np.inf)
    while len(chosen) < min(n, len(places)):
        last = places[chosen[-1]]
        turn = np.abs(rigid2d.wrap_angle(places[:, 2] - last[2]))
        away = np.minimum(away, np.hypot(*(places - last)[:, :2].T) + turn)
        chosen.append(int(away.argmax()))
    return places[chosen]


def _search(
    graph: MotionGraph, goal: _Goal, places: Floats, nodes: Ints, min_frames: int, only_clips: bool
) -> tuple[int, Ints, int]:
    """Find the best walk by several beam searches. Return the index of its start, its edges and its number of frames.

    places : (S, 4) cos, sin, x, z of the clips at the start nodes. nodes : (S,) start nodes. only_clips : the first
    edge must be a clip edge.
    """
    paths = edge_paths(graph)
    best = np.full(2, np.inf)
    found: tuple[int, Ints, int] | None = None
    starts = Starts(np.concatenate([places, np.zeros((len(nodes), N_NUMBERS - 4))], axis=1), nodes)
    space = ReachSpace(
        graph.select_edges(goal.label),
        edge_poses(graph) if len(goal.goal.position) else np.zeros((0, 3)),
        np.ascontiguousarray(paths.points[paths.first[graph.first_out[:-1]]]),
        paths.headings,
        goal.circles,
    )
    far = np.hypot(
        *(goal.goal.steer[:, None, :2] - _world_positions(space.node_points[nodes], places)).transpose(2, 0, 1)
    )
    max_frames = round((_MORE + far.max() / _SLOW) * graph.fps) + min_frames
    layout = edge_layout(graph, _ALIKE)
    for radius, width in _TRIED:
        settings = ReachSettings(_WELL, _PENALTY, _RADIAN, only_clips, min_frames, radius)
        limits = Limits(width, max_frames, _NEAR, _PER_FRAME)
        found = (
            _search_beam(graph, starts, ReachSearch(layout, space, goal.goal, goal.tails, settings, limits), best)
            or found
        )
        if best[1] <= _WELL:
            break
    if found is None or best[1] > goal.max_error:
        raise NoResult(_explain(graph, goal, float(best[1])))
    return found


def _search_beam(graph: MotionGraph, starts: Starts, search: ReachSearch, best: Floats) -> tuple[int, Ints, int] | None:
    """Return the walk of one beam search if it beats `best` (cost, error), which is updated in place; else None."""
    found = run_beam(search_reach, starts, search, best, _MAX_RECORDS)
    if found is None:
        return None
    n_frames, played = graph.edges.n_frames, found.n_played
    edges = np.array([*found.edges, *([found.last] if played else _edges_along(search.tails, found.last))])
    left = int(n_frames[found.last]) - played if played else 0
    return found.start, edges, int(n_frames[edges].sum()) - left


def _world_positions(points: Floats, starts: Floats) -> Floats:
    """Transform points (S, 2) of clips to world positions (S, 2); `starts` (S, 4) holds cos, sin, x, z of each clip."""
    c, s, x, z = starts.T
    return np.stack([points[:, 0] * c + points[:, 1] * s + x, points[:, 1] * c - points[:, 0] * s + z], axis=1)


def _explain(graph: MotionGraph, goal: _Goal, error: float) -> str:
    """Compose the error message: why no walk was found, and how to fix it."""
    label, clip, remedy = goal.label, goal.clip, graph.build_info.remedy
    style = "" if label is None else f" in {label!r}"
    what = "that position" if clip is None else f"the clip {clip!r} at that position"
    able = np.unique(graph.edges.tails[graph.select_edges(label)])
    if not len(goal.goal.position) and (goal.tails.wait[able] >= _WAIT * _NEVER).all():
        return f"no route{style} leads into the clip {clip!r}; allow other labels, or {remedy} of the graph"
    if np.isfinite(error):
        radian = _RADIAN if clip is None else 1.0
        return (
            f"no walk{style} leads to {what}: the best walk found misses it by {error:.2f} m (a radian counts as "
            f"{radian:g} m), more than the {goal.max_error:g} m allowed; choose another position"
        )
    round_it = " and avoids the circles" if len(goal.circles) else ""
    return f"no walk{style} leads to {what}{round_it}; choose another position, or {remedy} of the graph"
