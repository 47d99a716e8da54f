"""Registered transitions: longer transitions with both clips time-aligned by registration curves (Kovar 5.4.1).

An ordinary transition blends two clips frame by frame over a fixed time, so the frames must be similar throughout. If
they are similar in the middle but one clip is faster than the other, a registration time-aligns them, and a longer
blend hides more of the difference. Such transitions are added to a graph as bridges; see `marey.graph.bridges`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from marey.blend.settings import TransitionSettings
from marey.blend.transition_build import TransitionPoint, build_transition
from marey.compare import frame_weights, point_clouds
from marey.compare.distance import warn_of_centimeters
from marey.core.arrays import Floats, check_number
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.graph.bridges import Bridge, build_with_bridges, get_plain_transitions
from marey.graph.minima import find_transitions
from marey.graph.network import add_reverses
from marey.graph.settings import RegisteredSettings
from marey.graph.transitions import Transitions
from marey.maths import quat, rigid2d

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Seconds kept before and after a transition: smoothing its path over the floor needs them.
_AROUND = 0.2
# How much of each clip to use on either side of the middle, as a multiple of the transition's length.
_CUT = 1.6
_MAX_MEMORY = 256 * 2**20


@renamed_parameters(most="max_transitions")
@operation(RegisteredSettings)
def with_registered_transitions(graph: MotionGraph, settings: RegisteredSettings) -> MotionGraph:
    """Add registered transitions to a graph: longer transitions with both clips time-aligned.

    They are created at the most similar frame pairs that the graph does not already join, in both directions. The graph
    is pruned again; nothing in it is lost.

    Parameters
    ----------
    graph : a graph from `MotionGraph.build`.

    Raises
    ------
    NoResult : if no registered transition is possible.

    Examples
    --------
    >>> graph = marey.MotionGraph.build([walk, turning], threshold=0.03)
    >>> more = marey.graph.with_registered_transitions(graph, threshold=0.06)  # meters
    >>> more.n_transitions > graph.n_transitions
    True
    """
    markers, max_transitions, progress = settings.markers, settings.max_transitions, settings.progress
    tried = [check_number(length, "lengths in seconds", above=True) for length in settings.lengths]
    if not tried:
        raise InvalidValue("lengths must contain at least one length in seconds", parameter="lengths")
    warn_of_centimeters("threshold", settings.threshold)
    plain = get_plain_transitions(graph)
    largest = float(plain.distances.max(initial=0.0))
    limit = 1.5 * largest if settings.threshold is None else settings.threshold
    places = _find_frame_pairs(graph, largest, limit, markers)
    bridges: list[Bridge] = []
    for n, k in enumerate(np.argsort(places.distances, kind="stable")):
        if len(bridges) >= max_transitions:
            break
        bridge = _find_bridge(graph, places.select(np.array([k])), tried, limit, markers)
        if bridge is not None:
            bridges.append(bridge)
        if progress is not None:
            progress(max(len(bridges) / max_transitions, (n + 1) / len(places)))
    if not bridges:
        raise NoResult(
            f"no registered transition is possible at any of {len(places)} frame pairs between "
            f"{largest:.3f} and {limit:.3f} m",
            parameter="threshold",
            remedy="raise `threshold=` or lower `lengths=`",
        )
    out = build_with_bridges(graph.clips, graph.half_width, plain, bridges, graph.build_info)
    if out is None:
        raise NoResult("even with the new transitions, the graph has only dead ends", remedy="raise `threshold=`")
    return replace(out, pair_distances=graph.pair_distances) if out.label_names == graph.label_names else out


def _find_frame_pairs(graph: MotionGraph, above: float, limit: float, markers: str) -> Transitions:
    """Find directed frame pairs with a distance from `above` to `limit` meters; the graph already joins closer
    pairs."""
    weights = frame_weights((2 * graph.half_width + 1) / graph.fps, graph.fps, "triangle")
    clouds = [point_clouds(clip, markers) for clip in graph.clips]
    found = add_reverses(find_transitions(clouds, weights, limit, max_memory=_MAX_MEMORY))
    return found.select(found.distances > above)


def _find_bridge(
    graph: MotionGraph, place: Transitions, lengths: list[float], limit: float, markers: str
) -> Bridge | None:
    """Return a transition at a frame pair with the first of `lengths` (seconds) that is possible there; None if none
    is.

    place : the frame pair, as a single transition.
    limit : maximum distance of the transition in meters.
    """
    (a, b), (i, j) = place.clips[0].tolist(), place.frames[0].tolist()
    for length in lengths:
        bridge = _make_bridge(graph, (a, b), (i, j), length, float(place.distances[0]), markers)
        if bridge is not None and bridge.distance <= limit:
            return bridge
    return None


def _make_bridge(
    graph: MotionGraph, clips: tuple[int, int], frames: tuple[int, int], length: float, distance: float, markers: str
) -> Bridge | None:
    fps, half = graph.fps, graph.half_width
    reach = round(_CUT * length * fps)
    firsts = [max(frame - reach, 0) for frame in frames]
    one, other = (graph.clips[c][f : at + reach + 1] for c, f, at in zip(clips, firsts, frames, strict=True))
    middle = [(at - first) / fps for at, first in zip(frames, firsts, strict=True)]
    settings = TransitionSettings(length=length, boundaries="integer", markers=markers)
    try:
        full, record = build_transition(one, other, TransitionPoint(middle[0], middle[1], distance), settings)
    except NoResult:  # not enough frames, or no valid timewarp
        return None
    start, stop = record["frames"]
    resumed = len(other) - (len(full) - stop)
    leave, enter = firsts[0] + start, firsts[1] + resumed
    if stop >= len(full) or start < 1:
        return None
    if leave + 2 * half >= len(graph.clips[clips[0]]) or enter <= 2 * half:
        return None
    move = _move(other, resumed, full, stop)
    before = min(round(_AROUND * fps), start)
    part = full[start - before : min(stop + round(_AROUND * fps), len(full))]
    named = (f"{one.name} to {other.name}", f"{one.name} to {other.name}, seen from there")
    motions = tuple(
        replace(motion, name=name) for motion, name in zip((part, part.moved(rigid2d.invert(move))), named, strict=True)
    )
    apart = max(distance, float(record["path_distance"]))
    return Bridge(clips, leave, enter, (motions[0], motions[1]), before, stop - start, apart, move)


def _move(b: Motion, frame: int, full: Motion, target_frame: int) -> Floats:
    """Return the rigid2d (theta, x, z) that moves frame `frame` of b onto frame `target_frame` of `full`, which has the
    same pose."""
    turn = quat.mul_inv(full.rotations[target_frame, 0], b.rotations[frame, 0])
    theta = 2.0 * np.arctan2(turn[2], turn[0])
    spin = np.array([float(theta), 0.0, 0.0])
    shift = full.root_positions[target_frame] - rigid2d.apply(spin, b.root_positions[frame])
    return np.array([float(rigid2d.wrap_angle(theta)), shift[0], shift[2]])
