"""Motion graphs as in the slides: similar poses, joined at once, and the seam taken out afterwards.

It differs from `MotionGraph.build` in three ways. Frames are compared by joint angles, their velocities and their
accelerations, looking back in time, instead of by clouds of points over a window: how far a foot is from where it would
have to be does not count, up to a bound that keeps stairs and floor apart. Local maxima of similarity above a threshold
from 0 to 1 are taken. And nothing of the clip that is left is played on: where frame i is like frame j, frame j + 1
follows frame i, with the offset between the two poses added, which then fades away. Transitions are shorter, and
another clip's motion shows at once; but the fading offset of a foot that stands makes it slide until cleanup holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from marey.compare import frame_distances, local_minima, point_clouds, pose_cost, similarity
from marey.compare.clouds import Clouds
from marey.core.arrays import Floats, Ints, check_number, set_readonly
from marey.core.motion import Motion
from marey.core.protocols import Clips
from marey.errors import InvalidValue, NoResult
from marey.graph.bridges import Bridge, with_bridges
from marey.graph.build import labels_of, prepared, pruned_graph
from marey.graph.motion_graph import How, MotionGraph
from marey.graph.network import connect_clips
from marey.graph.transitions import Transitions
from marey.graph.variations import more_takes
from marey.maths import quat

# Seconds around a transition that are kept with it, so that its way over the floor can be smoothed like any other.
_AROUND = 0.2


def build_by_similarity(
    clips: Clips | Sequence[Motion],
    threshold: float = 0.7,
    *,
    fade: float = 0.3,
    weights: Mapping[str, float] | None = None,
    velocity: float = 0.1,
    acceleration: float = 0.01,
    most_apart: float = 0.15,
    fps: float | None = None,
    least_seconds: float = 2.0,
    variations: int = 0,
    rng: int | np.random.Generator = 0,
    progress: Callable[[float], None] | None = None,
) -> MotionGraph:
    """A graph whose transitions go from a frame to the one after a similar frame, without their seams.

    Grids of similarity are held whole, one pair of clips at a time. Each transition keeps the frames over which its
    offset fades as a short clip of the graph. Distances of edges are in metres all the same, over windows as long as
    the fade, so that graphs can be compared.

    Parameters
    ----------
    clips : motions of one skeleton, or anything with names, ``motion(i)`` and a content key.
    threshold : similarity from which frames can be joined, above 0 and at most 1; ``1 / (1 + cost)``.
    fade : seconds over which an offset goes away.
    weights, velocity, acceleration : of the cost; see `marey.compare.pose_cost`.
    most_apart : metres between the bodies, laid upon each other on the floor, beyond which frames are not joined
        however alike their poses are: on a stair and beside it, say.
    fps : rate of the graph; the lowest of the clips' by default.
    least_seconds : labels with less endless motion than this are among the findings.
    variations, rng : blends to add as further clips; see `MotionGraph.build`.
    progress : told the share that is done, from 0 to 1.
    """
    if not (np.isfinite(threshold) and 0.0 < threshold <= 1.0):
        raise InvalidValue(f"a threshold of similarity is above 0 and at most 1, got {threshold!r}")
    seconds = check_number(fade, "fade in seconds", above=True)
    limit = check_number(most_apart, "most_apart in metres")
    motions = prepared(clips, fps)
    if variations:
        motions = prepared((*motions, *more_takes(motions, variations, rng)), motions[0].fps)
    half = max(1, round(0.5 * (seconds * motions[0].fps - 1.0)))
    if max(len(motion) for motion in motions) < 4 * half + 4:
        longest = max(motion.duration for motion in motions)
        raise InvalidValue(f"the longest clip lasts {longest:.2f} s, too short for a fade of {seconds:g} s")
    clouds = [point_clouds(motion) for motion in motions]
    how = {"weights": weights, "velocity": velocity, "acceleration": acceleration}
    joins = list(_joins(motions, clouds, half, limit, threshold, how, progress))
    nothing = Transitions(np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0), np.zeros((0, 3)))
    bridges = [bridge for each in joins for bridge in _bridges(motions, each, half)]
    built = How("similarity", float(threshold))
    graph = with_bridges(motions, half, nothing, bridges, built, least_seconds)
    if graph is None:
        raise NoResult(_no_graph(motions, list(_joins(motions, clouds, half, limit, 0.0, how, None)), half, threshold))
    return graph


class _Joins(NamedTuple):
    """Frames of two clips that are alike: (N, 2) frames, (N,) how alike, (N, 3) moves and (N,) metres between them."""

    ends: tuple[int, int]
    cells: Ints
    alike: Floats
    moves: Floats
    apart: Floats


def _joins(
    motions: Sequence[Motion],
    clouds: Sequence[Clouds],
    half: int,
    most_apart: float,
    threshold: float,
    how: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> Iterator[_Joins]:
    """For each pair of clips and both ways, all that is alike enough and not too far apart."""
    lengths = np.array([len(motion) for motion in motions], dtype=np.float64)
    cells_before, total = 0.0, 0.5 * (lengths.sum() ** 2 + (lengths**2).sum())
    window = half + 1.0 - np.abs(np.arange(-half, half + 1))
    window = set_readonly(window / window.sum())
    for a, one in enumerate(motions):
        for b in range(a, len(motions)):
            cells, alike = _alike(np.asarray(pose_cost(one, motions[b], **how)), half, a == b)
            cells, alike = cells[alike >= threshold], alike[alike >= threshold]
            for ends, rows in (((a, b), cells), ((b, a), cells[:, ::-1])):
                if not len(rows):
                    continue
                at = [np.ascontiguousarray(rows[:, k], dtype=np.float64) for k in (0, 1)]
                moves, squares = frame_distances(clouds[ends[0]], at[0], clouds[ends[1]], at[1], window)
                apart = np.sqrt(squares)
                near = apart <= most_apart
                yield _Joins(ends, rows[near], alike[near], np.asarray(moves)[near], apart[near])
            cells_before += lengths[a] * lengths[b]
            if progress is not None:
                progress(min(1.0, cells_before / total))


def _no_graph(motions: tuple[Motion, ...], joins: Sequence[_Joins], half: int, threshold: float) -> str:
    """Why there is none, and which similarity would give one."""
    told = f"a similarity of {threshold:g} leaves no motion that can go on"
    names, frame_labels = labels_of(motions)
    lengths = np.array([len(motion) for motion in motions])
    alike = np.concatenate([np.zeros(0), *(each.alike for each in joins)])

    def works(limit: float) -> bool:
        # A transition leaves after frame i and enters 2 half + 1 frames after frame j.
        chosen = [(each, each.alike >= limit) for each in joins]
        clips = np.concatenate([np.broadcast_to(each.ends, (int(m.sum()), 2)) for each, m in chosen])
        frames = np.concatenate([each.cells[m] for each, m in chosen]) + [1 + half, 1 + half]
        taken = Transitions(clips, frames, np.zeros(len(clips)), np.zeros((len(clips), 3)))
        return (
            pruned_graph(motions, half, *connect_clips(lengths, frame_labels, taken, half), names, 0.0, How())
            is not None
        )

    steps = np.unique(alike)
    if not len(steps) or not works(float(steps[0])):
        return f"{told}, and neither does any other; give longer or more clips"
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(float(steps[middle])) else (low, middle - 1)
    return f"{told}; the most that does is {np.floor(1000.0 * steps[low]) / 1000.0:.3f}"


def _alike(cost: Floats, half: int, own: bool) -> tuple[Ints, Floats]:
    """(N, 2) cells of the local maxima of similarity with room for a transition either way, and these (N,)."""
    cells = local_minima(cost, min_lag=2 * half + 2 if own else 0)
    if own:
        cells = cells[cells[:, 1] > cells[:, 0]]
    room = (cells[:, 0] + 2 * half + 2 < cost.shape[0]) & (cells[:, 1] + 2 * half + 2 < cost.shape[1])
    # Velocities and accelerations look back; the first frames know neither.
    room &= (cells >= 2).all(axis=1)
    cells = cells[room]
    return cells, similarity(cost[cells[:, 0], cells[:, 1]])


def _bridges(motions: Sequence[Motion], joins: _Joins, half: int) -> Iterator[Bridge]:
    """From each frame of the first clip to the one after its like in the second."""
    a, b = joins.ends
    n = 2 * half + 1
    for (i, j), move, apart in zip(joins.cells.tolist(), joins.moves, joins.apart, strict=True):
        motion, start = _offset(motions[a], i, motions[b], j, move, n)
        yield Bridge((a, b), i + 1, j + 1 + n, (motion, None), start, n, float(apart), np.asarray(move))


def _offset(a: Motion, i: int, b: Motion, j: int, move: Floats, n: int) -> tuple[Motion, int]:
    """b from frame j + 1 on, carried to where a is and with the offset that makes its frame j a's frame i; and how many
    frames are before these. Blended into b as it is, the offset fades."""
    around = round(_AROUND * a.fps)
    before = min(around, i, j)
    stop = min(j + 1 + n + around, len(b))
    part = b[j - before : stop].moved(move)
    like, turned = part[before : before + 1], a[i : i + 1]
    shift = turned.root_positions[0] - like.root_positions[0]
    turns = quat.mul_inv(turned.rotations[0], like.rotations[0])
    turns = np.where(turns[:, :1] < 0.0, -turns, turns)
    bones = part.bone_offsets
    if a.bone_offsets is not None and bones is not None:
        bones = set_readonly(bones + (a.bone_offsets[i] - b.bone_offsets[j]))  # type: ignore[index]
    made = replace(
        part,
        root_positions=set_readonly(part.root_positions + shift),
        rotations=set_readonly(quat.mul(turns, part.rotations)),
        bone_offsets=bones,
        name=f"{a.name} to {b.name}",
    )
    return made, before + 1
