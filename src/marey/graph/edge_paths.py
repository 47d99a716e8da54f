"""Paths of the hips over the floor for each edge, as flat arrays for searches (Kovar 4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.placement import find_facing
from marey.graph.beam_kernels import EdgeLayout
from marey.maths import filters, rigid2d
from marey.maths.ease import ease_in

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Width in seconds of a Gaussian that removes hip sway but keeps turns. Sway would add length to the path without
# progress.
_SWAY = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class EdgePaths:
    """Hip positions on the P frames of all E edges, in the coordinates of each edge's first clip.

    Attributes
    ----------
    first : (E + 1,) edge e has the points ``first[e]`` to ``first[e + 1]``, half-open.
    points : (P, 2) x, z in meters of the hips, without sway.
    steps : (P,) distance in meters from the previous frame.
    moves : (E, 4) cos, sin, x, z of the transform by which each edge changes the world transform of the next clip.
    headings : (N,) direction of travel at each of the N nodes, radians from +Z, measured over half a second; if the
        character stands still there, over a longer time.
    max_step : the largest of `steps`, in meters.
    """

    first: Ints
    points: Floats
    steps: Floats
    moves: Floats
    headings: Floats
    max_step: float


def smooth_paths(graph: MotionGraph) -> list[Floats]:
    """Return the path (F, 2) of the hips over the floor, without sway, for each clip."""
    return [filters.gaussian(clip.travel[:, [0, 2]], _SWAY * graph.fps) for clip in graph.clips]


def edge_paths(graph: MotionGraph) -> EdgePaths:
    """Return the hip paths of all edges of a graph; computed once per graph."""
    known = graph._edge_paths
    if not known:
        known.append(_find_edge_paths(graph))
    return known[0]


def _find_edge_paths(graph: MotionGraph) -> EdgePaths:
    edges = graph.edges
    clip_paths = smooth_paths(graph)
    frames = _list_frames(graph)
    first, jumps = frames.first, frames.jumps
    flat = np.concatenate(clip_paths)
    points = flat[frames.source]
    # The previous frame in the clip, or the frame itself at the start of a clip.
    before = flat[np.maximum(frames.source - 1, np.repeat(frames.clip_first[edges.clips[:, 0]], edges.n_frames))]
    carried = rigid2d.apply(frames.moves, flat[frames.target])
    points[jumps] += frames.alpha * (carried - points[jumps])
    inner = np.flatnonzero(frames.along > 0)
    before[inner] = points[inner - 1]
    theta = edges.moves[:, 0]
    moves = np.stack([np.cos(theta), np.sin(theta), edges.moves[:, 1], edges.moves[:, 2]], axis=1)
    steps = np.linalg.norm(points - before, axis=1)
    max_step = float(max(steps.max(), 1e-6))
    arrays = [set_readonly(each) for each in (first, points, steps, moves, _compute_headings(graph, clip_paths))]
    return EdgePaths(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], max_step)


def edge_poses(graph: MotionGraph) -> Floats:
    """Return facing in radians, x and z of the hips (P, 3) on every frame of every edge, in the order of
    `EdgePaths`."""
    clips = [
        np.column_stack([find_facing(clip.skeleton, clip.world().positions), clip.travel[:, [0, 2]]])
        for clip in graph.clips
    ]
    flat, frames = np.concatenate(clips), _list_frames(graph)
    out, other = flat[frames.source], flat[frames.target]
    other = np.column_stack([other[:, 0] + frames.moves[:, 0], rigid2d.apply(frames.moves, other[:, 1:])])
    missing = other - out[frames.jumps]
    missing[:, 0] = rigid2d.wrap_angle(missing[:, 0])
    out[frames.jumps] += frames.alpha * missing
    return np.ascontiguousarray(out)


class _EdgeFrames(NamedTuple):
    """All P frames of all edges, one edge after another, and the T of them that are in transitions.

    first : (E + 1,) first frame of each edge.
    clip_first : (C + 1,) first frame of each clip, if the clips are concatenated.
    along : (P,) number of the frame in its edge.
    source : (P,) its frame in the concatenated clips; in a transition, that of the clip that is left.
    jumps : (P,) whether it is in a transition.
    target, moves, alpha : for those, the frame (T,) of the clip that is entered, the rigid2d (T, 3) that places this
        clip, and its weight (T, 1).
    """

    first: Ints
    clip_first: Ints
    along: Ints
    source: Ints
    jumps: Bools
    target: Ints
    moves: Floats
    alpha: Floats


def _list_frames(graph: MotionGraph) -> _EdgeFrames:
    edges, lengths = graph.edges, graph.edges.n_frames
    first = np.concatenate([[0], np.cumsum(lengths)])
    clip_first = np.concatenate([[0], np.cumsum([len(clip) for clip in graph.clips])])
    along = np.arange(first[-1]) - np.repeat(first[:-1], lengths)
    source, target = (np.repeat(clip_first[edges.clips[:, k]] + edges.starts[:, k], lengths) + along for k in (0, 1))
    jumps = np.repeat(edges.blends, lengths)
    alpha = ease_in((along[jumps] + 1.0) / (2 * graph.half_width + 2))[:, None]
    moves = np.repeat(edges.moves, lengths, axis=0)[jumps]
    return _EdgeFrames(first, clip_first, along, source, jumps, target[jumps], moves, alpha)


def find_sections(graph: MotionGraph, seconds: float) -> Ints:
    """Divide clips into sections of `seconds` and return the section index (N,) of each node."""
    long = max(1, round(seconds * graph.fps))
    where = np.stack([graph.nodes[:, 0], graph.nodes[:, 1] // long], axis=1)
    return np.asarray(np.unique(where, axis=0, return_inverse=True)[1]).reshape(-1)


def edge_layout(graph: MotionGraph, seconds: float) -> EdgeLayout:
    """Return the graph in the form that searches need. Nodes in the same section of a clip, `seconds` long, count as
    interchangeable."""
    edges, paths = graph.edges, edge_paths(graph)
    return EdgeLayout(
        find_sections(graph, seconds),
        graph.first_out,
        edges.heads,
        edges.n_frames,
        edges.blends,
        paths.first,
        paths.points,
        paths.steps,
        paths.moves,
    )


def _compute_headings(graph: MotionGraph, clip_paths: list[Floats]) -> Floats:
    out = np.zeros(len(graph.nodes))
    reach = max(1, round(0.25 * graph.fps))
    for clip, clip_path in enumerate(clip_paths):
        here = np.flatnonzero(graph.nodes[:, 0] == clip)
        frames, last = graph.nodes[here, 1], len(clip_path) - 1
        gone = np.zeros((len(here), 2))
        stands = np.ones(len(here), dtype=bool)
        # Widen the window around the node until the character has moved.
        for wide in (reach, 4 * reach, 16 * reach, len(clip_path)):
            ahead, behind = clip_path[np.minimum(frames + wide, last)], clip_path[np.maximum(frames - wide, 0)]
            gone[stands] = (ahead - behind)[stands]
            stands &= np.hypot(*gone.T) <= 0.05
        out[here] = np.arctan2(gone[:, 0], gone[:, 1])
    return out
