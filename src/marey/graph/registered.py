"""Longer transitions, in step: through registration curves, where blending frame by frame would not do (Kovar 5.4.1).

A transition of a graph blends two clips at equal pace over a fixed time, so it needs frames that are alike throughout.
Where they are alike in the middle but one clip runs faster than the other, a registration keeps them in step, and a
longer blend hides more. Such transitions are made here and added to a graph as motions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from marey.blend.handover import Handover, TransitionPoint, handed_over
from marey.compare import frame_weights, point_clouds
from marey.core.arrays import Floats, check_number
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult
from marey.graph.alike import find_alike
from marey.graph.bridges import Bridge, plain_transitions, with_bridges
from marey.graph.motion_graph import MotionGraph
from marey.graph.network import both_ways
from marey.graph.transitions import Transitions
from marey.maths import quat, rigid2d

# Seconds around a transition that are kept with it, so that its way over the floor can be smoothed like any other.
_AROUND = 0.2
# Of the seconds of a transition, what is cut out of both clips to each side of its middle.
_CUT = 1.6
_MAX_MEMORY = 256 * 2**20


def with_registered_transitions(
    graph: MotionGraph,
    *,
    threshold: float | None = None,
    lengths: Sequence[float] = (1.2, 0.8),
    most: int = 200,
    markers: str = "body",
    progress: Callable[[float], None] | None = None,
) -> MotionGraph:
    """The graph with further transitions, each as long as its place allows and with both clips in step.

    They are made at places that are less alike than those that the graph has: of these the best, both ways. The graph
    is pruned anew; nothing that it had is lost.

    Parameters
    ----------
    graph : as `MotionGraph.build` makes it.
    threshold : metres up to which the middle of a transition, and the clips in step throughout, may be apart; by
        default one and a half times the largest distance of the graph's own.
    lengths : seconds; the first that fits is taken.
    most : transitions to make at the most, each direction being one. Each is kept as two short clips.
    markers : what is compared.
    progress : told the share that is done, from 0 to 1.
    """
    tried = [check_number(length, "lengths in seconds", above=True) for length in lengths]
    if not tried:
        raise InvalidValue("lengths must hold at least one, got none")
    if most < 1:
        raise InvalidValue(f"most must be at least 1, got {most}")
    plain = plain_transitions(graph)
    largest = float(plain.distances.max(initial=0.0))
    limit = 1.5 * largest if threshold is None else check_number(threshold, "threshold in metres")
    places = _places(graph, largest, limit, markers)
    bridges: list[Bridge] = []
    for n, k in enumerate(np.argsort(places.distances, kind="stable")):
        if len(bridges) >= most:
            break
        made = _made(graph, places.taken(np.array([k])), tried, limit, markers)
        if made is not None:
            bridges.append(made)
        if progress is not None:
            progress(max(len(bridges) / most, (n + 1) / len(places)))
    if not bridges:
        raise NoResult(
            f"no transition in step could be made at {len(places)} places between {largest:.3f} and {limit:.3f} m; "
            "raise the threshold or take shorter ones"
        )
    out = with_bridges(graph.clips, graph.half_width, plain, bridges, graph.how)
    if out is None:
        raise NoResult("with these transitions nothing can go on")
    return out


def _places(graph: MotionGraph, above: float, limit: float, markers: str) -> Transitions:
    """Directed: where clips are alike, but not so alike that the graph joins them there."""
    weights = frame_weights((2 * graph.half_width + 1) / graph.fps, graph.fps, "triangle")
    clouds = [point_clouds(clip, markers) for clip in graph.clips]
    found = both_ways(find_alike(clouds, weights, limit, max_memory=_MAX_MEMORY))
    return found.taken(found.distances > above)


def _made(graph: MotionGraph, place: Transitions, lengths: list[float], limit: float, markers: str) -> Bridge | None:
    """The longest transition that fits at a place, or None."""
    (a, b), (i, j) = place.clips[0].tolist(), place.frames[0].tolist()
    for length in lengths:
        made = _handed(graph, (a, b), (i, j), length, float(place.distances[0]), markers)
        if made is not None and made.distance <= limit:
            return made
    return None


def _handed(
    graph: MotionGraph, clips: tuple[int, int], frames: tuple[int, int], length: float, distance: float, markers: str
) -> Bridge | None:
    fps, half = graph.fps, graph.half_width
    reach = round(_CUT * length * fps)
    firsts = [max(frame - reach, 0) for frame in frames]
    one, other = (graph.clips[c][f : at + reach + 1] for c, f, at in zip(clips, firsts, frames, strict=True))
    middle = [(at - first) / fps for at, first in zip(frames, firsts, strict=True)]
    settings = Handover(length, "integer", markers, 0.1, 2)
    try:
        whole, record = handed_over(one, other, TransitionPoint(middle[0], middle[1], distance), settings)
    except NoResult:  # no room, or no way to keep in step
        return None
    start, stop = record["frames"]
    resumed = len(other) - (len(whole) - stop)
    leave, enter = firsts[0] + start, firsts[1] + resumed
    if stop >= len(whole) or start < 1:
        return None
    if leave + 2 * half >= len(graph.clips[clips[0]]) or enter <= 2 * half:
        return None
    move = _move(other, resumed, whole, stop)
    before = min(round(_AROUND * fps), start)
    part = whole[start - before : min(stop + round(_AROUND * fps), len(whole))]
    named = (f"{one.name} to {other.name}", f"{one.name} to {other.name}, seen from there")
    motions = tuple(
        _named(motion, name) for motion, name in zip((part, part.moved(rigid2d.invert(move))), named, strict=True)
    )
    apart = max(distance, float(record["path_distance"]))
    return Bridge(clips, leave, enter, (motions[0], motions[1]), before, stop - start, apart, move)


def _named(motion: Motion, name: str) -> Motion:
    return replace(motion, name=name)


def _move(b: Motion, frame: int, whole: Motion, at: int) -> Floats:
    """(3,) rigid2d that carries b's `frame` onto frame `at` of a motion that it is part of."""
    turn = quat.mul_inv(whole.rotations[at, 0], b.rotations[frame, 0])
    theta = 2.0 * np.arctan2(turn[2], turn[0])
    spin = np.array([float(theta), 0.0, 0.0])
    shift = whole.root_positions[at] - rigid2d.apply(spin, b.root_positions[frame])
    return np.array([float(rigid2d.wrap_angle(theta)), shift[0], shift[2]])
