"""Build a pruned graph from clips (Kovar 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from marey.compare import frame_weights, point_clouds
from marey.core.arrays import Bools, Floats, Ints
from marey.core.motion import Motion
from marey.core.protocols import Cache, Clips
from marey.edit.gather import gather_clips
from marey.errors import InvalidValue, NoResult
from marey.graph.alike import find_alike
from marey.graph.coarse import find_alike_coarsely
from marey.graph.motion_graph import How, MotionGraph, Threshold
from marey.graph.network import Edges, both_ways, compacted, connect_clips
from marey.graph.prune import UNLABELLED, components, findings, prune
from marey.graph.transitions import Transitions
from marey.graph.variations import more_takes


def build_graph(
    clips: Clips | Sequence[Motion],
    threshold: Threshold,
    *,
    thresholds: Mapping[tuple[str, str], Threshold],
    window: float,
    markers: str | Sequence[str],
    fps: float | None,
    least_seconds: float,
    coarse: int,
    max_memory: int,
    run: Callable[..., Any],
    progress: Callable[[float], None] | None,
    cache: Cache | None = None,
    variations: int = 0,
    rng: int | np.random.Generator = 0,
) -> MotionGraph:
    """See `MotionGraph.build`."""
    if not (np.isfinite(window) and window > 0.0):
        raise InvalidValue(f"the window of a transition must last more than 0 s, got {window!r}")
    if not (isinstance(coarse, int | np.integer) and coarse >= 1):
        raise InvalidValue(f"coarse is the step of the first pass in frames: 1 or more, got {coarse!r}")
    motions = prepared(clips, fps)
    if variations:
        motions = prepared((*motions, *more_takes(motions, variations, rng)), motions[0].fps)
    clouds = [point_clouds(motion, markers) for motion in motions]
    weights = frame_weights(window, motions[0].fps, "triangle")
    half = len(weights) // 2
    if max(len(motion) for motion in motions) < 4 * half + 4:
        longest = max(motion.duration for motion in motions)
        raise InvalidValue(
            f"the longest clip lasts {longest:.2f} s, too short for transitions of {window:g} s; give longer clips "
            "or a shorter window"
        )
    poses = () if cache is None else [_pose_key(cache, motion, markers) for motion in motions]
    how: dict[str, Any] = {"max_memory": max_memory, "run": run, "progress": progress, "cache": cache, "poses": poses}
    if coarse != 1:
        # A percentage refers to all minima, so none may be left out. A distance limits where to look.
        limit = _largest([threshold, *thresholds.values()])
        found = find_alike_coarsely(clouds, weights, limit, coarse, **how)
        try:
            return assembled(motions, found, half, threshold, thresholds, least_seconds)
        except NoResult:
            if limit is None:
                raise
            # To name a threshold that works, minima beyond the limit are needed: search again below.
    found = find_alike(clouds, weights, None, **how)
    return assembled(motions, found, half, threshold, thresholds, least_seconds)


def _largest(given: Sequence[Threshold]) -> float | None:
    """The largest threshold in meters; None if any is a percentage."""
    nothing = np.zeros(0)
    values = [metres(value, nothing) for value in given]
    return None if any(isinstance(value, str) and "%" in value for value in given) else max(values)


def _pose_key(cache: Cache, motion: Motion, markers: str | Sequence[str]) -> str:
    """Cache key of everything that determines a clip's markers; labels and contacts do not."""
    body = motion.skeleton
    tree = (list(body.names), body.parents, body.offsets, sorted(body.role_map.items()))
    what = markers if isinstance(markers, str) else list(markers)
    return cache.key(motion.root_positions, motion.rotations, motion.bone_offsets, motion.fps, tree, what)


def prepared(clips: Clips | Sequence[Motion], fps: float | None) -> tuple[Motion, ...]:
    """The clips at one frame rate, with root motion on joint 0, contacts and unique names."""
    given = [clips.motion(i) for i in range(len(clips.names))] if isinstance(clips, Clips) else _listed(clips)
    return gather_clips(given, fps, "a graph")


def _listed(clips: Any) -> list[Motion]:
    """Check that the clips are motions, and list them."""
    remedy = "open a folder with marey.MotionSet.open, read a file with marey.load"
    if isinstance(clips, str | PathLike):
        raise InvalidValue(f"a graph is built from motions, got the name {str(clips)!r}; {remedy}")
    several = isinstance(clips, Iterable) and not isinstance(clips, Motion)
    given: list[Any] = list(clips) if several else []
    wrong = [type(each).__name__ for each in given if not isinstance(each, Motion)]
    if wrong or not several:
        what = f"a list with {wrong[0]}" if wrong else type(clips).__name__
        raise InvalidValue(f"a graph is built from a list of motions or a set of them, got {what}; {remedy}")
    return given


def assembled(
    motions: tuple[Motion, ...],
    found: Transitions,
    half: int,
    threshold: Threshold,
    thresholds: Mapping[tuple[str, str], Threshold],
    least_seconds: float,
) -> MotionGraph:
    """Build the pruned graph of the transitions that pass the thresholds.

    Parameters
    ----------
    found : all local minima of the distance grids, each once.
    half : L; transitions have 2 L + 1 frames.
    """
    names, frame_labels = labels_of(motions)
    directed = both_ways(found)
    limits = limits_of(directed, found, names, frame_labels, threshold, thresholds)
    taken = directed.taken(directed.distances <= limits)
    how = How("distance", metres(threshold, found.distances))
    graph = _pruned(motions, taken, half, names, frame_labels, least_seconds, how)
    if graph is None:
        raise NoResult(_no_graph(motions, found, half, names, frame_labels, threshold))
    return graph


def labels_of(motions: Sequence[Motion]) -> tuple[tuple[str, ...], list[Bools]]:
    """The labels of all clips, and for each clip (F, K) which frames have them. Unlabeled frames share one label."""
    names = sorted({name for motion in motions for name in motion.labels.names})
    if UNLABELLED in names:
        clip = next(motion.name for motion in motions if UNLABELLED in motion.labels.names)
        raise InvalidValue(
            f"the clip {clip!r} has the label {UNLABELLED!r}, which is reserved for frames without; rename it"
        )
    masks = [
        np.stack([motion.labels.mask(name, len(motion)) for name in names], axis=1)
        if names
        else np.zeros((len(motion), 0), dtype=bool)
        for motion in motions
    ]
    bare = [np.asarray(~mask.any(axis=1)) for mask in masks]
    if any(each.any() for each in bare):
        names.append(UNLABELLED)
        masks = [np.concatenate([mask, each[:, None]], axis=1) for mask, each in zip(masks, bare, strict=True)]
    return tuple(names), masks


def limits_of(
    directed: Transitions,
    found: Transitions,
    names: tuple[str, ...],
    frame_labels: list[Bools],
    threshold: Threshold,
    thresholds: Mapping[tuple[str, str], Threshold],
) -> Floats:
    """(T,) threshold in meters of each directed transition: the smallest of its label pairs, else the overall one."""
    out = np.full(len(directed), np.inf)
    given = np.zeros(len(directed), dtype=bool)
    ends = [_labels_at(directed.clips[:, k], directed.frames[:, k], frame_labels) for k in (0, 1)]
    for (before, after), value in thresholds.items():
        for name in (before, after):
            if name not in names:
                raise InvalidValue(f"thresholds contain the label {name!r}, but the clips have {', '.join(names)}")
        here = np.asarray(ends[0][:, names.index(before)] & ends[1][:, names.index(after)])
        limit = metres(value, directed.distances[here])
        # Identical frames have distance 0; a threshold of 0 forbids these, too.
        out[here] = np.minimum(out[here], limit if limit > 0.0 else -1.0)
        given |= here
    return np.where(given, out, metres(threshold, found.distances))


def metres(threshold: Threshold, distances: Floats) -> float:
    """A threshold in meters; for a percentage such as "10%", that quantile of `distances`."""
    text = threshold.strip() if isinstance(threshold, str) else None
    try:
        if text is not None and text.endswith("%"):
            share = float(text[:-1]) / 100.0
            if 0.0 <= share <= 1.0:
                return float(np.quantile(distances, share)) if len(distances) else 0.0
            raise ValueError
        value = float(threshold)
    except ValueError:
        value = np.nan
    if not value >= 0.0:
        raise InvalidValue(f"a threshold must be at least 0 m, or a percentage such as '10%', got {threshold!r}")
    return value


def _labels_at(clips: Ints, frames: Ints, frame_labels: list[Bools]) -> Bools:
    """(T, K) the labels of single frames."""
    firsts = np.concatenate([[0], np.cumsum([len(mask) for mask in frame_labels])])
    return np.asarray(np.concatenate(frame_labels)[firsts[clips] + frames])


def _pruned(
    motions: tuple[Motion, ...],
    taken: Transitions,
    half: int,
    names: tuple[str, ...],
    frame_labels: list[Bools],
    least_seconds: float,
    how: How,
) -> MotionGraph | None:
    """The pruned graph, or None if it has no cycle."""
    lengths = np.array([len(motion) for motion in motions])
    nodes, edges = connect_clips(lengths, frame_labels, taken, half)
    return pruned_graph(motions, half, nodes, edges, names, least_seconds, how)


def pruned_graph(
    motions: tuple[Motion, ...],
    half: int,
    nodes: Ints,
    edges: Edges,
    names: tuple[str, ...],
    least_seconds: float,
    how: How,
) -> MotionGraph | None:
    """The graph of nodes and edges without dead ends, or None if it has no cycle."""
    keep, members = prune(len(nodes), edges)
    if not (keep & ~edges.blends).any():
        return None
    found = components(names, edges, members)
    told = findings(found, motions[0].fps, least_seconds, how.remedy)
    small, kept = compacted(nodes, edges.taken(keep))
    # Keep the membership of the nodes that remain.
    index = index_of(small, nodes)
    return MotionGraph(motions, half, small, kept, names, members[:, index], found, told, how)


def index_of(some: Ints, nodes: Ints) -> Ints:
    """(M,) index of each of the nodes `some` (M, 2) in `nodes` (N, 2)."""
    place = {(int(c), int(f)): k for k, (c, f) in enumerate(nodes)}
    return np.array([place[int(c), int(f)] for c, f in some])


def _no_graph(
    motions: tuple[Motion, ...],
    found: Transitions,
    half: int,
    names: tuple[str, ...],
    frame_labels: list[Bools],
    threshold: Threshold,
) -> str:
    """Error message: why there is no graph, and which threshold would give one."""
    if not len(found):
        return "no two frames in these clips are similar; use longer or more clips"
    directed = both_ways(found)
    steps = np.unique(found.distances)
    low, high = 0, len(steps) - 1

    def works(limit: float) -> bool:
        taken = directed.taken(directed.distances <= limit)
        return _pruned(motions, taken, half, names, frame_labels, 0.0, How()) is not None

    if not works(float(steps[high])):
        return "no motion in these clips returns to itself at any threshold; use longer or more clips"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(float(steps[middle])) else (middle + 1, high)
    least = np.ceil(1000.0 * steps[low]) / 1000.0
    return f"a threshold of {threshold} leaves only dead ends; the smallest that works is {least:.3f} m"
