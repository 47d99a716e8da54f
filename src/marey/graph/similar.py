"""Build motion graphs from similar poses, with transitions that jump to the next clip and fade out the pose offset.

The method is from Reitsma's lecture on motion graphs. It differs from `MotionGraph.build` in three ways:

- Frames are compared by joint angles, velocities and accelerations over the previous frames, and not by point clouds
  over a window. Positions are ignored, except for a maximum distance that separates stairs from floor.
- Transitions are local maxima of similarity above a threshold from 0 to 1.
- A transition does not play any more of the clip it leaves. If frame i is similar to frame j, frame j + 1 follows frame
  i, with the offset between the two poses added. The offset then fades out.

Transitions are shorter and the target clip shows at once, but the fading offset makes a planted foot slide until
cleanup pins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.compare import frame_distances, local_minima, point_clouds, pose_cost, similarity
from marey.compare.clouds import Clouds
from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.core.protocols import Clips
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import NoResult
from marey.graph.bridges import Bridge, build_with_bridges
from marey.graph.build import BuildInfo, check_lengths, collect_labels, prepare_graph_clips, prune_graph
from marey.graph.network import connect_clips
from marey.graph.settings import SimilaritySettings
from marey.graph.transitions import Transitions
from marey.maths import quat

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Seconds kept before and after a transition: smoothing its path over the floor needs them.
_AROUND = 0.2


@renamed_parameters(options="settings", most_apart="max_distance", least_seconds="min_seconds")
@operation(SimilaritySettings)
def build_by_similarity(clips: Clips | Sequence[Motion], settings: SimilaritySettings) -> MotionGraph:
    """Build a graph whose transitions go from a frame to the successor of a similar frame.

    Similarity grids are held in memory, one pair of clips at a time. Each transition stores the frames over which its
    offset fades out as a short clip of the graph. Edge distances are in meters, over windows as long as the fade, so
    they can be compared with those of other graphs.

    Parameters
    ----------
    clips : the clips, as `build_graph` takes them.

    Examples
    --------
    >>> similar = marey.graph.build_by_similarity([walk, turning])
    >>> similar.build_info.kind, similar.n_transitions > 0
    ('similarity', True)
    """
    threshold, limit = settings.threshold, settings.max_distance
    motions = prepare_graph_clips(clips, settings)
    half = max(1, round(0.5 * (settings.fade * motions[0].fps - 1.0)))
    check_lengths(motions, half, "fade", settings.fade)
    clouds = [point_clouds(motion) for motion in motions]
    costs = {"weights": settings.weights, "velocity": settings.velocity, "acceleration": settings.acceleration}
    joins = list(_find_joins(motions, clouds, half, limit, threshold, costs, settings.progress))
    nothing = Transitions(np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0), np.zeros((0, 3)))
    bridges = [bridge for each in joins for bridge in _make_bridges(motions, each, half)]
    info = BuildInfo("similarity", threshold)
    graph = build_with_bridges(motions, half, nothing, bridges, info, settings.min_seconds)
    if graph is None:
        all_joins = list(_find_joins(motions, clouds, half, limit, 0.0, costs, None))
        raise NoResult(_explain_no_graph(motions, all_joins, half, threshold))
    return graph


class _Joins(NamedTuple):
    """N pairs of similar frames of two clips.

    ends : indices of the source clip and the target clip.
    cells : (N, 2) frame of each clip.
    scores : (N,) similarity, from 0 to 1.
    moves : (N, 3) rigid2d (theta, x, z) that moves the target clip onto the source clip.
    apart : (N,) distance in meters.
    """

    ends: tuple[int, int]
    cells: Ints
    scores: Floats
    moves: Floats
    apart: Floats


def _find_joins(
    motions: Sequence[Motion],
    clouds: Sequence[Clouds],
    half: int,
    max_distance: float,
    threshold: float,
    costs: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> Iterator[_Joins]:
    """Yield, for each pair of clips in both directions, the frames that are similar enough and not too far apart."""
    lengths = np.array([len(motion) for motion in motions], dtype=np.float64)
    cells_before, total = 0.0, 0.5 * (lengths.sum() ** 2 + (lengths**2).sum())
    window = half + 1.0 - np.abs(np.arange(-half, half + 1))
    window = set_readonly(window / window.sum())
    for a, one in enumerate(motions):
        for b in range(a, len(motions)):
            cells, scores = _find_similar_frames(np.asarray(pose_cost(one, motions[b], **costs)), half, a == b)
            cells, scores = cells[scores >= threshold], scores[scores >= threshold]
            for ends, rows in (((a, b), cells), ((b, a), cells[:, ::-1])):
                if not len(rows):
                    continue
                at = [np.ascontiguousarray(rows[:, k], dtype=np.float64) for k in (0, 1)]
                moves, squares = frame_distances(clouds[ends[0]], at[0], clouds[ends[1]], at[1], window)
                apart = np.sqrt(squares)
                near = apart <= max_distance
                yield _Joins(ends, rows[near], scores[near], np.asarray(moves)[near], apart[near])
            cells_before += lengths[a] * lengths[b]
            if progress is not None:
                progress(min(1.0, cells_before / total))


def _explain_no_graph(motions: tuple[Motion, ...], joins: Sequence[_Joins], half: int, threshold: float) -> str:
    """Compose the error message: why no graph was built, and which similarity would give one."""
    problem = f"with a similarity of {threshold:g} the graph has only dead ends"
    names, frame_labels = collect_labels(motions)
    lengths = np.array([len(motion) for motion in motions])
    scores = np.concatenate([np.zeros(0), *(each.scores for each in joins)])

    def works(limit: float) -> bool:
        # A transition leaves after frame i and enters 2 half + 1 frames after frame j.
        chosen = [(each, each.scores >= limit) for each in joins]
        clips = np.concatenate([np.broadcast_to(each.ends, (int(m.sum()), 2)) for each, m in chosen])
        frames = np.concatenate([each.cells[m] for each, m in chosen]) + [1 + half, 1 + half]
        transitions = Transitions(clips, frames, np.zeros(len(clips)), np.zeros((len(clips), 3)))
        return (
            prune_graph(
                motions, half, *connect_clips(lengths, frame_labels, transitions, half), names, 0.0, BuildInfo()
            )
            is not None
        )

    steps = np.unique(scores)
    if not len(steps) or not works(float(steps[0])):
        return f"{problem}, and so does any other; use longer or more clips"
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(float(steps[middle])) else (low, middle - 1)
    return f"{problem}; the largest that works is {np.floor(1000.0 * steps[low]) / 1000.0:.3f}"


def _find_similar_frames(cost: Floats, half: int, own: bool) -> tuple[Ints, Floats]:
    """Return the local maxima (N, 2) of similarity with enough frames after them for a transition in both directions,
    and their similarity (N,).

    cost : grid of pose costs.
    own : whether it is the grid of a clip with itself; then pairs must be at least 2 half + 2 frames apart.
    """
    cells = local_minima(cost, min_lag=2 * half + 2 if own else 0)
    if own:
        cells = cells[cells[:, 1] > cells[:, 0]]
    inside = (cells[:, 0] + 2 * half + 2 < cost.shape[0]) & (cells[:, 1] + 2 * half + 2 < cost.shape[1])
    # Velocities and accelerations are backward differences; the first frames have none.
    inside &= (cells >= 2).all(axis=1)
    cells = cells[inside]
    return cells, similarity(cost[cells[:, 0], cells[:, 1]])


def _make_bridges(motions: Sequence[Motion], joins: _Joins, half: int) -> Iterator[Bridge]:
    """Yield bridges from each frame of the source clip to the successor of the similar frame in the target clip."""
    a, b = joins.ends
    n = 2 * half + 1
    for (i, j), move, apart in zip(joins.cells.tolist(), joins.moves, joins.apart, strict=True):
        motion, start = _add_offset(motions[a], i, motions[b], j, move, n)
        yield Bridge((a, b), i + 1, j + 1 + n, (motion, None), start, n, float(apart), np.asarray(move))


def _add_offset(a: Motion, i: int, b: Motion, j: int, move: Floats, n: int) -> tuple[Motion, int]:
    """Return clip b from frame j + 1 on, with the offset that makes its frame j equal to frame i of a, and the number
    of extra frames before these.

    The clip is also moved by `move`, onto a. The offset is constant; it fades out when the result is blended into b
    itself.
    """
    around = round(_AROUND * a.fps)
    before = min(around, i, j)
    stop = min(j + 1 + n + around, len(b))
    part = b[j - before : stop].moved(move)
    like, turned = part[before : before + 1], a[i : i + 1]
    shift = turned.root_positions[0] - like.root_positions[0]
    offsets = quat.mul_inv(turned.rotations[0], like.rotations[0])
    offsets = np.where(offsets[:, :1] < 0.0, -offsets, offsets)
    bones = part.bone_offsets
    if a.bone_offsets is not None and bones is not None:
        bones = set_readonly(bones + (a.bone_offsets[i] - b.bone_offsets[j]))  # type: ignore[index]
    shifted = replace(
        part,
        root_positions=set_readonly(part.root_positions + shift),
        rotations=set_readonly(quat.mul(offsets, part.rotations)),
        bone_offsets=bones,
        name=f"{a.name} to {b.name}",
    )
    return shifted, before + 1
