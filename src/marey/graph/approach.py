"""On to a place: a walk gone on with along the shortest way that does not turn too sharply (Dubins 1957)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Bools, Floats, frozen
from marey.edit._figure import place
from marey.errors import InvalidValue, NoResult
from marey.graph.follow import follow, way_of
from marey.graph.walk import Walk
from marey.maths import rigid2d

# Metres of the circles on which a figure turns: what clips can do is not known before it is tried.
_RADII = (0.7, 1.2, 2.0, 3.0, 4.5)
# Metres that there have to be to go to a place, and below which a figure stood in the last half second.
_NEAREST, _STANDS = 0.5, 0.05
# Metres between the points of a way, and that a radian counts for when ends are compared.
_STEP, _RADIAN = 0.1, 0.5
# Seconds before its end in which a walk may be nearer to the place, and is cut there.
_CUT = 1.5
# Metres within which one end is as good as another, and that a frame on the way counts for.
_NEAR_ENOUGH, _PER_FRAME = 0.2, 0.001
# Places on a clip's way, half a second apart, at which it may be entered, and seconds before the end of a walk there in
# which it may be left for the clip.
_ENTRIES, _ENTERED = 6, 3.0


def led_to(
    walk: Walk, at: ArrayLike, heading: float | None = None, *, label: str | None = None, width: int | None = None
) -> Walk:
    """The walk, gone on with from the end of its last edge to the place `at`, as near as the graph allows.

    Ways with wider and narrower bends are tried, and the shortest walk that ends near enough is taken. Give it to
    `landed` to arrive exactly.

    Parameters
    ----------
    at : (2,) x, z in metres.
    heading : radians from +Z, positive to the left, in which to arrive; by default as it comes.
    label : keep to this label on the way.
    width : of the search; see `marey.graph.follow`.

    Raises
    ------
    NoResult : where no walk leads there.
    """
    goal = frozen(at, "the place to go to", (2,))
    if heading is not None and not np.isfinite(heading):
        raise InvalidValue(f"the heading must be an angle in radians, got {heading!r}")
    graph = walk.graph
    whole = graph.walk(walk.edges, walk.start)
    way = way_of(whole)
    far = float(np.hypot(*(goal - way[-1])))
    if far < _NEAREST:
        raise InvalidValue(
            f"the place to go to is {far:.2f} m from where the walk ends, expected at least {_NEAREST:g} m; land there "
            "at once, or walk for longer"
        )
    gone = way[-1] - way[max(0, len(way) - 1 - round(0.5 * graph.fps))]
    if np.hypot(*gone) < _STANDS:
        gone = goal - way[-1]
    ahead = float(np.arctan2(gone[0], gone[1]))
    start = (int(graph.edges.heads[walk.edges[-1]]), whole.places[-1])
    best: tuple[float, Walk] | None = None
    for radius in _RADII:
        try:
            found = follow(graph, bend(way[-1], ahead, goal, heading, radius), styles=label, start=start, width=width)
        except NoResult:
            continue
        off = _off(found.way, goal, heading, graph.fps)
        first = max(0, len(off) - 1 - round(_CUT * graph.fps))
        k = first + int(off[first:].argmin())
        score = max(float(off[k]), _NEAR_ENOUGH) + _PER_FRAME * k
        if best is None or score < best[0]:
            best = score, _cut(found.walk, k + 1)
    if best is None:
        what = "" if label is None else f" in {label!r}"
        raise NoResult(f"no walk leads on to the place {far:.1f} m away{what}; give more clips or a larger threshold")
    onward = best[1]
    edges = np.concatenate([walk.edges, onward.edges])
    return Walk(graph, edges, walk.start, len(whole) + onward.n_frames)


def led_into(
    walk: Walk, clip: str, at: ArrayLike, heading: float, *, label: str | None = None, within: float = 0.5
) -> Walk:
    """The walk, gone on with into a clip such that the clip begins at the place `at` and faces `heading` there.

    It is led to several places on the clip's way, and of all transitions into the clip near their ends the one is taken
    that puts it best.

    Parameters
    ----------
    clip : name of the clip.
    at, heading : (2,) x, z in metres, and radians from +Z, positive to the left, of the clip's first frame.
    label : keep to this label on the way.
    within : metres, how far off the clip may be where it is entered; a radian of turn counts as a metre.

    Raises
    ------
    NoResult : where no transition puts it as near.
    """
    goal = frozen(at, "the place of the clip", (2,))
    graph = walk.graph
    number = graph.clip_index(clip)
    first = graph.clips[number][:1]
    wanted = rigid2d.compose(np.array([float(heading), *goal]), rigid2d.invert(place(first.skeleton, first.world(), 0)))
    way = rigid2d.apply(wanted, graph.clips[number].travel[:, [0, 2]])
    step = round(0.5 * graph.fps)
    entered = 2 * graph.half_width + 1 + step * np.arange(_ENTRIES)
    best: tuple[float, Walk] | None = None
    for frame in entered[entered + step < len(way)]:
        gone = way[frame + step] - way[frame]
        ahead = float(np.arctan2(gone[0], gone[1])) if np.hypot(*gone) > _STANDS else float(heading)
        try:
            lead = led_to(walk, way[frame], ahead, label=label)
        except (NoResult, InvalidValue):
            continue
        for off, into in _entering(lead, len(walk.edges), number, wanted, graph.allowed(label)):
            if best is None or off < best[0]:
                best = off, into
        if best is not None and best[0] < 0.5 * within:
            break
    if best is None or best[0] > within:
        told = "" if best is None else f"; the nearest is {best[0]:.2f} m off, a radian counting as a metre"
        raise NoResult(f"no walk leads into {clip!r} at that place{told}; ask for another, or give more clips")
    return best[1]


def _entering(walk: Walk, least: int, clip: int, wanted: Floats, allowed: Bools) -> Iterator[tuple[float, Walk]]:
    """Walks that leave this one, near its end but not before edge `least`, for a clip; each with how far off it is."""
    graph, edges = walk.graph, walk.graph.edges
    travel = graph.clips[clip].travel[:, [0, 2]]
    played = np.cumsum(edges.n_frames[walk.edges])
    places = graph.walk(walk.edges, walk.start).places
    for k in range(len(walk.edges), least - 1, -1):
        if played[-1] - played[k - 1] > _ENTERED * graph.fps:
            break
        for edge in graph.out_edges(int(edges.heads[walk.edges[k - 1]])):
            if not (allowed[edge] and edges.blends[edge] and graph.nodes[edges.heads[edge], 0] == clip):
                continue
            there = rigid2d.compose(places[k], edges.moves[edge])
            local = travel[graph.nodes[edges.heads[edge], 1] - 1]
            off = np.hypot(*(rigid2d.apply(there, local) - rigid2d.apply(wanted, local)))
            off = float(np.hypot(off, rigid2d.wrap_angle(there[0] - wanted[0])))
            yield off, graph.walk(np.concatenate([walk.edges[:k], [edge]]), walk.start)


def _off(way: Floats, goal: Floats, heading: float | None, fps: float) -> Floats:
    """(F,) metres from each frame of a way to the goal, with the turn that is missing there."""
    out = np.hypot(*(way - goal).T)
    if heading is not None:
        before = way[np.maximum(np.arange(len(way)) - round(0.5 * fps), 0)]
        headings = np.arctan2(*(way - before).T)
        out += _RADIAN * np.abs(rigid2d.wrap_angle(headings - heading))
    return np.asarray(out)


def _cut(walk: Walk, n_frames: int) -> Walk:
    """The first frames of a walk."""
    played = np.cumsum(walk.graph.edges.n_frames[walk.edges])
    n_edges = int(np.searchsorted(played, n_frames)) + 1
    return Walk(walk.graph, walk.edges[:n_edges], walk.start, n_frames)


def bend(start: ArrayLike, ahead: float, goal: ArrayLike, heading: float | None, radius: float) -> Floats:
    """(N, 2) the shortest way, at most as bent as a circle, from a place and direction to another: an arc, a straight
    line, and an arc where the direction at the end matters.

    Angles are in radians from +Z, positive to the left, x and z in metres.
    """
    # z and x as the usual two axes, so that angles go the usual way round.
    begin, end = np.asarray(start, dtype=np.float64)[::-1], np.asarray(goal, dtype=np.float64)[::-1]
    last = 0.0 if heading is None else radius
    best: tuple[float, tuple[float, ...]] | None = None
    for first_side, last_side in product((1.0, -1.0), (1.0, -1.0) if last else (1.0,)):
        into = 0.0 if heading is None else heading
        middle = end + last * last_side * _left(into) - begin - radius * first_side * _left(ahead)
        off = radius * first_side - last * last_side
        far = float(np.hypot(*middle))
        if far <= abs(off):
            continue
        angle = float(np.arctan2(middle[1], middle[0]) + np.arcsin(off / far))
        turns = _turn(first_side * (angle - ahead)), 0.0
        if last:
            turns = turns[0], _turn(last_side * (into - angle))
        straight = float(np.sqrt(far**2 - off**2))
        total = radius * turns[0] + straight + last * turns[1]
        if best is None or total < best[0]:
            best = total, (radius * turns[0], first_side / radius, straight, last * turns[1], last_side / radius)
    if best is None:
        # Too near for such a bend: straight there.
        return np.stack([begin, end])[:, ::-1]
    total, (first_arc, first_bend, straight, _, last_bend) = best
    along = np.linspace(0.0, total, max(3, int(np.ceil(total / _STEP)) + 1))
    # Turned by so much at each place, in between by the mean: of an arc, the chord.
    angles = ahead + first_bend * np.minimum(along, first_arc)
    angles = angles + last_bend * np.maximum(along - first_arc - straight, 0.0)
    middles = 0.5 * (angles[1:] + angles[:-1])
    steps = np.diff(along)[:, None] * np.stack([np.cos(middles), np.sin(middles)], axis=1)
    points = begin + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    # Chords are a little shorter than arcs; what is missing at the end is made up on the way.
    points += (along / total)[:, None] * (end - points[-1])
    return np.ascontiguousarray(points[:, ::-1])


def _turn(angle: float) -> float:
    """The angle from 0 to below a full turn; what rounding leaves of none is none."""
    around = float(np.mod(angle, 2.0 * np.pi))
    return around if around < 2.0 * np.pi - 1e-9 else 0.0


def _left(angle: float) -> Floats:
    """(2,) the unit vector to the left of a direction, in z and x."""
    return np.array([-np.sin(angle), np.cos(angle)])
