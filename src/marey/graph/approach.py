"""Walks to a position, or into a clip at a position, by a beam search that tests for arrival at every frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Bools, Floats, Ints, freeze_array
from marey.core.placement import find_placement
from marey.errors import InvalidValue, NoResult
from marey.graph.edge_paths import EdgePaths, edge_layout, edge_paths, edge_poses
from marey.graph.follow import checked_circles
from marey.graph.layout_kernels import EdgeLayout, Starts, Trail
from marey.graph.motion_graph import MotionGraph
from marey.graph.reach_kernels import InEdges, ReachGoal, ReachSettings, ReachSpace, Tails, find_tails, search_reach
from marey.graph.routes import frames_to
from marey.graph.walk import Walk
from marey.maths import rigid2d

# Assumed turning radius in meters, with the beam width. What the clips can do is not known in advance, so each is tried
# until one ends well.
_TRIED = ((0.8, 60), (1.5, 120), (2.5, 200), (0.4, 200), (0.8, 500))
# Meters that a radian of heading error counts for. `landed` may correct up to 0.3 m and half a radian.
_RADIAN = 0.6
# Meters within which two ends count as equal, a good final error, and the cost of a frame and of a transition.
_NEAR, _WELL, _PER_FRAME, _PENALTY = 0.08, 0.15, 0.001, 0.01
# Minimum duration of a walk in seconds, so that its end can be adjusted; see `marey.graph.landed`.
_LEAST = 2.5
# Search horizon: these seconds, plus the time to go there at this slow speed in m/s.
_MORE, _SLOW = 15.0, 0.4
# Cost in meters of each second until the clip can be entered.
_WAIT = 0.7
# Seconds that stand for "never".
_NEVER = 1e3
# A clip may be entered within its first seconds; if nothing enters it there, the limit is doubled until something does.
_ENTERED = 3.0
# Routes into a clip are enumerated up to _TAIL seconds before it: at most _MOST_TAILS in all and _OF_NODE from one
# node. The search steers for the starts of up to _GOALS routes that take between _STEERED seconds.
_TAIL, _MOST_TAILS, _OF_NODE = 6.0, 60_000, 24
_STEERED, _GOALS = (1.0, 3.0), 6
# States within this many seconds of a clip are interchangeable if they have a similar position and heading.
_ALIKE = 0.2
# Replan the last seconds of a walk, trying these durations.
_REDONE = (1.0, 2.0, 3.5, 5.0, 7.0)
# An end that is further off than this, in meters, is not replanned.
_FAR = 3.0
_N_STARTS = 64
_MOST_RECORDS = 2_000_000


class _Goal(NamedTuple):
    """The goal, and the routes into it if it is a clip."""

    goal: ReachGoal
    tails: Tails


def led_to(
    walk: Walk,
    at: ArrayLike,
    heading: float | None = None,
    *,
    label: str | None = None,
    avoid: ArrayLike = (),
) -> Walk:
    """Extend a walk from the end of its last edge to the position `at`, as near as the graph allows.

    Among the walks that end near enough, the shortest is taken. Use `landed` to arrive exactly.

    Parameters
    ----------
    at : (2,) x, z in meters.
    heading : direction that hips and shoulders face at the end, radians from +Z, positive to the left; by default any.
    label : keep to this label on the way.
    avoid : (M, 3) circles x, z, radius to keep out of on the way.

    Raises
    ------
    NoResult : if no walk leads there.
    """
    goal = _place_goal(walk.graph, at, heading)
    return _gone_on(walk, goal, label, avoid)


def led_into(
    walk: Walk,
    clip: str,
    at: ArrayLike,
    heading: float,
    *,
    label: str | None = None,
    avoid: ArrayLike = (),
    within: float = 0.5,
) -> Walk:
    """Extend a walk into a clip so that the clip begins at the position `at` and faces `heading` there.

    The walk may enter the clip a few seconds after its beginning, at the place where the clip would be by then.

    Parameters
    ----------
    clip : name of the clip to enter.
    at, heading : (2,) x, z in meters, and radians from +Z, positive to the left, of the clip's first frame.
    label : keep to this label on the way.
    avoid : (M, 3) circles x, z, radius to keep out of on the way.
    within : largest placement error of the clip in meters; a radian of rotation counts as a meter.

    Raises
    ------
    NoResult : if no walk places the clip that accurately.
    """
    goal = _clip_goal(walk.graph, clip, at, heading, label)
    return _gone_on(walk, goal, label, avoid, clip, within)


def reached(
    graph: MotionGraph,
    at: ArrayLike,
    heading: float | None = None,
    *,
    clip: str | None = None,
    begin: str | None = None,
    label: str | None = None,
    avoid: ArrayLike = (),
    within: float = 0.5,
    rng: int | np.random.Generator = 0,
) -> Walk:
    """Find a walk from the origin, initially along +Z, to the position `at`, or into a clip at that position.

    Parameters
    ----------
    at, heading : see `led_to`, or `led_into` if a clip is given.
    clip : name of the clip to enter.
    begin : name of the clip to start in; by default any.
    label, avoid, within : see `led_into`.
    rng : seed or generator that chooses the start nodes to try.
    """
    if clip is None:
        goal = _place_goal(graph, at, heading)
    else:
        goal = _clip_goal(graph, clip, at, 0.0 if heading is None else heading, label)
    able = graph.allowed(label) & ~graph.edges.blends
    if begin is not None:
        able = able & (graph.nodes[graph.edges.tails, 0] == graph.clip_index(begin))
    nodes = np.unique(graph.edges.tails[able])
    if not len(nodes):
        raise NoResult(f"the clip {begin!r} has no endless motion with label {label!r}; start in another clip")
    nodes = np.sort(np.random.default_rng(rng).choice(nodes, min(_N_STARTS, len(nodes)), replace=False))
    ways = edge_paths(graph)
    turns = -ways.headings[nodes]
    here = ways.points[ways.first[graph.first_out[nodes]]]
    c, s = np.cos(turns), np.sin(turns)
    starts = np.stack([c, s, -(here[:, 0] * c + here[:, 1] * s), here[:, 0] * s - here[:, 1] * c], axis=1)
    least = round(_LEAST * graph.fps)
    which, edges, n_frames = _searched(graph, ways, goal, starts, nodes, True, label, avoid, least, clip, within)
    c, s, x, z = starts[which]
    return Walk(graph, edges, np.array([np.arctan2(s, c), x, z]), n_frames)


def ended(
    walk: Walk, at: ArrayLike, heading: float | None = None, *, label: str | None = None, avoid: ArrayLike = ()
) -> Walk:
    """Replan the last seconds of a walk, if needed, so that it ends near the position `at` and faces `heading` there,
    as near as the graph allows. A walk that ends 3 m away or more is returned unchanged.

    Parameters
    ----------
    at, heading, label, avoid : see `led_to`.
    """
    goal = _place_goal(walk.graph, at, heading)
    best = _off(walk, goal.goal.at), walk
    played = np.cumsum(walk.graph.edges.n_frames[walk.edges])
    for seconds in _REDONE if best[0] <= _FAR else ():
        if best[0] <= _WELL:
            break
        n_edges = int(np.searchsorted(played, len(walk) - round(seconds * walk.graph.fps), side="right"))
        if n_edges < 1:
            break
        try:
            made = _gone_on(walk.graph.walk(walk.edges[:n_edges], walk.start), goal, label, avoid)
        except NoResult:
            continue
        best = min(best, (_off(made, goal.goal.at), made), key=lambda each: each[0])
    return best[1]


def _off(walk: Walk, at: Floats) -> float:
    """Distance in meters from a walk's end to a target (3,) x, z, heading, including the heading error."""
    turn, x, z = walk.end
    missing = 0.0 if np.isnan(at[2]) else _RADIAN * abs(float(rigid2d.wrap_angle(turn - at[2])))
    return max(float(np.hypot(x - at[0], z - at[1])), missing)


def _gone_on(
    walk: Walk, goal: _Goal, label: str | None, avoid: ArrayLike, clip: str | None = None, within: float = np.inf
) -> Walk:
    """Extend a walk to the goal."""
    graph = walk.graph
    whole = graph.walk(walk.edges, walk.start)
    theta, x, z = whole.places[-1]
    starts = np.array([[np.cos(theta), np.sin(theta), x, z]])
    nodes = graph.edges.heads[walk.edges[-1:]]
    least = max(1, round(_LEAST * graph.fps) - len(whole))
    ways = edge_paths(graph)
    _, edges, n_frames = _searched(graph, ways, goal, starts, nodes, False, label, avoid, least, clip, within)
    return Walk(graph, np.concatenate([walk.edges, edges]), walk.start, len(whole) + n_frames)


def _place_goal(graph: MotionGraph, at: ArrayLike, heading: float | None) -> _Goal:
    goal = freeze_array(at, "the place to go to", (2,))
    if heading is not None and not np.isfinite(heading):
        raise InvalidValue(f"the heading must be an angle in radians, got {heading!r}")
    there = np.array([[*goal, np.nan if heading is None else float(heading)]])
    n = len(graph.nodes)
    none = Tails(
        first=np.zeros(n + 1, np.int64),
        moves=np.zeros((0, 4)),
        edges=np.zeros((0, 2), np.int64),
        frames=np.zeros(0, np.int64),
        transitions=np.zeros(0),
        wait=np.zeros(n),
    )
    return _Goal(ReachGoal(there, there[0], np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(2)), none)


def _clip_goal(graph: MotionGraph, clip: str, at: ArrayLike, heading: float, label: str | None) -> _Goal:
    goal = freeze_array(at, "the place of the clip", (2,))
    if not np.isfinite(heading):
        raise InvalidValue(f"the heading must be an angle in radians, got {heading!r}")
    number = graph.clip_index(clip)
    motion = graph.clips[number]
    first = motion[:1]
    wanted = rigid2d.compose(
        np.array([float(heading), *goal]), rigid2d.invert(find_placement(first.skeleton, first.world(), 0))
    )
    edges, allowed = graph.edges, graph.allowed(label)
    into = edges.blends & allowed & (graph.nodes[edges.heads, 0] == number)
    if not into.any():
        what = "" if label is None else f" in {label!r}"
        raise NoResult(f"no transition leads into the clip {clip!r}{what}; {graph.how.remedy} of the graph")
    until = _ENTERED * graph.fps
    while not (enters := into & (graph.nodes[edges.heads, 1] <= until)).any():
        until *= 2.0
    # The middle of the frames at which the clip may be entered.
    entry = motion.travel[min(len(motion) - 1, round(0.5 * until))][[0, 2]]
    ways = edge_paths(graph)
    tails = _ways_into(graph, ways, np.flatnonzero(enters), allowed, entry)
    low, high = (round(seconds * graph.fps) for seconds in _STEERED)
    some = np.flatnonzero((tails.frames >= low) & (tails.frames <= high))
    if not len(some):
        some = np.arange(len(tails.frames))
    # Position and travel direction of the character at the start of each route.
    moves = np.stack([np.arctan2(tails.moves[some, 1], tails.moves[some, 0]), *tails.moves[some, 2:].T], axis=1)
    from_here = rigid2d.compose(wanted, rigid2d.invert(moves))
    nodes = edges.tails[tails.edges[some, 0]]
    there = rigid2d.apply(from_here, ways.points[ways.first[graph.first_out[nodes]]])
    steer = np.concatenate([there, (from_here[:, 0] + ways.headings[nodes])[:, None]], axis=1)
    transform = np.array([np.cos(wanted[0]), np.sin(wanted[0]), *wanted[1:]])
    return _Goal(ReachGoal(_spread(steer, _GOALS), np.zeros(0), transform, np.ascontiguousarray(entry)), tails)


def _ways_into(graph: MotionGraph, ways: EdgePaths, enters: Ints, allowed: Bools, entry: Floats) -> Tails:
    """Routes that end with one of the edges `enters`."""
    edges, n = graph.edges, len(graph.nodes)
    in_edges = np.argsort(edges.heads, kind="stable")
    first_in = np.concatenate([[0], np.cumsum(np.bincount(edges.heads, minlength=n))])
    numbers, marks = np.empty((_MOST_TAILS, 4)), np.empty((_MOST_TAILS, 5), dtype=np.int64)
    known = InEdges(edges.tails, edges.n_frames, edges.blends, ways.moves, allowed, first_in, in_edges)
    point = np.ascontiguousarray(entry)
    count = find_tails(known, enters, point, round(_TAIL * graph.fps), _OF_NODE, numbers, marks)
    numbers, marks = numbers[:count], marks[:count]
    order = np.argsort(marks[:, 0], kind="stable")
    where = np.append(np.argsort(order), -1)
    first = np.concatenate([[0], np.cumsum(np.bincount(marks[:, 0], minlength=n))])
    marks = marks[order]
    wait = _WAIT * np.minimum(frames_to(graph, np.unique(edges.tails[enters]), allowed) / graph.fps, _NEVER)
    return Tails(
        first=first,
        moves=numbers[order],
        edges=np.stack([marks[:, 1], where[marks[:, 2]]], axis=1),
        frames=np.ascontiguousarray(marks[:, 3]),
        transitions=marks[:, 4].astype(np.float64),
        wait=np.asarray(wait),
    )


def _edges_along(tails: Tails, tail: int) -> list[int]:
    """The edges of a route into a clip."""
    out = []
    while tail >= 0:
        out.append(int(tails.edges[tail, 0]))
        tail = int(tails.edges[tail, 1])
    return out


def _spread(places: Floats, n: int) -> Floats:
    """Up to n of T positions (T, 3) x, z, heading that are far apart: each is the farthest from those before it."""
    chosen = [0]
    away = np.full(len(places), np.inf)
    while len(chosen) < min(n, len(places)):
        last = places[chosen[-1]]
        turn = np.abs(rigid2d.wrap_angle(places[:, 2] - last[2]))
        away = np.minimum(away, np.hypot(*(places - last)[:, :2].T) + turn)
        chosen.append(int(away.argmax()))
    return places[chosen]


def _searched(
    graph: MotionGraph,
    ways: EdgePaths,
    goal: _Goal,
    starts: Floats,
    nodes: Ints,
    only_clips: bool,
    label: str | None,
    avoid: ArrayLike,
    least: int,
    clip: str | None,
    within: float,
) -> tuple[int, Ints, int]:
    """The chosen start among (S, 4), the edges from there, and the number of frames; the best of several beams."""
    circles = checked_circles(avoid)
    best = np.full(2, np.inf)
    kept: tuple[int, Ints, int] | None = None
    layout = edge_layout(graph, ways, _ALIKE)
    space = ReachSpace(
        graph.allowed(label),
        edge_poses(graph) if len(goal.goal.at) else np.zeros((0, 3)),
        np.ascontiguousarray(ways.points[ways.first[graph.first_out[:-1]]]),
        ways.headings,
        circles,
    )
    begin = Starts(starts, nodes)
    far = np.hypot(*(goal.goal.steer[:, None, :2] - _beginnings(space.node_points[nodes], starts)).transpose(2, 0, 1))
    most = round((_MORE + far.max() / _SLOW) * graph.fps) + least
    for radius, width in _TRIED:
        settings = ReachSettings(
            _NEAR, _WELL, _PER_FRAME, _PENALTY, _RADIAN, only_clips, least, most, radius, width
        )  # fmt: skip
        kept = _beam(graph, begin, layout, space, goal, settings, best) or kept
        if best[1] <= _WELL:
            break
    if kept is None or best[1] > within:
        raise NoResult(_told(graph, goal, label, circles, clip, within, float(best[1])))
    return kept


def _beam(
    graph: MotionGraph,
    starts: Starts,
    layout: EdgeLayout,
    space: ReachSpace,
    goal: _Goal,
    settings: ReachSettings,
    best: Floats,
) -> tuple[int, Ints, int] | None:
    """The best walk of one beam if it is better than `best`, which is updated in place; else None."""
    edges, tails = graph.edges, goal.tails
    n_records = min(_MOST_RECORDS, settings.width * settings.max_frames + len(starts.nodes))
    trail = Trail(np.empty((n_records, 2), dtype=np.int64), np.empty(3, dtype=np.int64))
    search_reach(starts, layout, space, goal.goal, tails, settings, best, trail)
    record, edge, played = (int(value) for value in trail.end)
    if edge < 0:
        return None
    into = [] if played else _edges_along(tails, edge)
    taken = [] if into else [edge]
    while (step := int(trail.records[record, 1])) >= 0:
        taken.append(step)
        record = int(trail.records[record, 0])
    taken = [*taken[::-1], *into]
    left = int(edges.n_frames[edge]) - played if played else 0
    return -1 - step, np.array(taken), int(edges.n_frames[taken].sum()) - left


def _beginnings(points: Floats, starts: Floats) -> Floats:
    """(S, 2) world positions of nodes at points (S, 2) of their clips."""
    c, s, x, z = starts.T
    return np.stack([points[:, 0] * c + points[:, 1] * s + x, points[:, 1] * c - points[:, 0] * s + z], axis=1)


def _told(
    graph: MotionGraph, goal: _Goal, label: str | None, circles: Floats, clip: str | None, within: float, off: float
) -> str:
    """Error message: why no walk was found, and how to fix it."""
    style = "" if label is None else f" in {label!r}"
    what = "that position" if clip is None else f"the clip {clip!r} at that position"
    able = np.unique(graph.edges.tails[graph.allowed(label)])
    if not len(goal.goal.at) and (goal.tails.wait[able] >= _WAIT * _NEVER).all():
        return f"no route{style} leads into the clip {clip!r}; allow other labels, or {graph.how.remedy} of the graph"
    if np.isfinite(off):
        nearest = (
            f"the best walk found places it {off:.2f} m off (a radian counts as a meter), more than the {within:g} m"
        )
        return (
            f"no walk{style} leads into the clip {clip!r} at that position: {nearest} allowed; choose another position"
        )
    round_it = " and avoids the circles" if len(circles) else ""
    return f"no walk{style} leads to {what}{round_it}; choose another, or {graph.how.remedy} of the graph"
