"""Build a pruned motion graph from clips (Kovar 4.1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.check import warn_of_findings
from marey.clean import ensure_contacts
from marey.compare import frame_weights, point_clouds
from marey.compare.distance import warn_of_centimeters
from marey.core.arrays import Bools, Floats, Ints
from marey.core.clips import make_names_unique, prepare_clips
from marey.core.motion import Motion
from marey.core.protocols import Clips, ResultCache
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue, NoResult
from marey.graph.label_pairs import find_pair_distances
from marey.graph.minima import Minima, search_minima
from marey.graph.network import Edges, UnprunedEdges, compact, link_clips, number_places
from marey.graph.prune import UNLABELED, components, findings, prune
from marey.graph.settings import ClipGraphSettings, GraphSettings, SpreadSettings, Threshold
from marey.graph.transitions import FramePairs, FramePairSource, Transitions
from marey.graph.variations import more_takes
from marey.maths import rigid2d

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph


class BuildInfo(NamedTuple):
    """How a graph was built.

    kind : ``"distance"`` or ``"similarity"``.
    threshold : largest distance in meters, or smallest similarity, at which frames were joined; NaN if unknown.
    skipped : fraction of the frame pairs that were known to be too far apart without being compared.

    Examples
    --------
    >>> graph.build_info.kind, graph.build_info.threshold > 0.0  # meters
    ('distance', True)
    """

    kind: str = "distance"
    threshold: float = float("nan")
    skipped: float = 0.0

    @property
    def remedy(self) -> str:
        """Advice on how to get more transitions, as a phrase for error messages."""
        return "lower the similarity" if self.kind == "similarity" else "raise the threshold"


@renamed_parameters(options="settings", least_seconds="min_seconds", coarse="coarse_step")
@operation(GraphSettings)
def build_graph(clips: Clips | Sequence[Motion], settings: GraphSettings) -> MotionGraph:
    """Find similar frames, add transitions between them, and keep the part of the graph without dead ends.

    Parameters
    ----------
    clips : motions that share a skeleton, or an object with ``names``, ``motion(i)`` and ``content_key(i)``, such as a
        `MotionSet`.

    Examples
    --------
    >>> graph = marey.MotionGraph.build([walk, turning], threshold=0.05)  # meters
    >>> graph.n_transitions > 0, bool((graph.edges.distances <= 0.05).all())
    (True, True)
    """
    threshold, thresholds = settings.threshold, settings.thresholds or {}
    for name, values in (("threshold", [threshold]), ("thresholds", thresholds.values())):
        warn_of_centimeters(name, *(threshold_in_meters(each, np.zeros(0)) for each in values))
    motions = prepare_graph_clips(clips, settings)
    # A distance in meters limits a coarse search. A percentage refers to all minima, so it sets no limit.
    limit = None if settings.coarse_step == 1 else _get_largest([threshold, *thresholds.values()])
    if settings.max_search_distance is not None:
        _check_max_distance(settings.max_search_distance, [threshold, *thresholds.values()])
        limit = settings.max_search_distance if limit is None else min(limit, settings.max_search_distance)
    found, half = search_clips(motions, limit, settings)
    try:
        return assemble_graph(motions, found, half, threshold, thresholds, settings.min_seconds)
    except NoResult:
        if limit is None or settings.max_search_distance is not None:
            raise
        # The error message names a threshold that works. That needs minima beyond the limit.
        found, half = search_clips(motions, None, GraphSettings(settings=settings, coarse_step=1))
        return assemble_graph(motions, found, half, threshold, thresholds, settings.min_seconds)


def compare_clips(motions: Sequence[Motion], limit: float | None, settings: GraphSettings) -> tuple[Transitions, int]:
    """Find all transitions up to `limit` meters, None for no limit. Also return L; they blend 2 L + 1 frames."""
    found, half = search_clips(motions, limit, settings)
    return found.collect(), half


def search_clips(motions: Sequence[Motion], limit: float | None, settings: GraphSettings) -> tuple[Minima, int]:
    """Search for all transitions up to `limit` meters, None for no limit. Also return L; they blend 2 L + 1 frames."""
    cache = settings.cache
    clouds = [
        point_clouds(motion, settings.markers, per_joint=settings.per_joint, weights=settings.weights)
        for motion in motions
    ]
    weights = frame_weights(settings.window, motions[0].fps, settings.window_shape)
    half = len(weights) // 2
    check_lengths(motions, half, "window", settings.window)
    penalty = settings.contact_penalty
    found = search_minima(
        clouds,
        weights,
        limit,
        coarse_step=settings.coarse_step,
        max_memory=settings.max_memory,
        run=settings.run,
        progress=settings.progress,
        cache=cache,
        poses=() if cache is None else [_pose_key(cache, motion, settings) for motion in motions],
        penalize=partial(penalize_contacts, motions, penalty) if penalty else None,
    )
    return found, half


def penalize_contacts(motions: Sequence[Motion], penalty: float, pairs: FramePairs) -> Floats:
    """Return distances (T,) that include a penalty for different contacts in the middle of a transition; see
    `GraphSettings`.

    Contact points that only one of the clips has do not count.
    """
    differ = np.zeros(len(pairs))
    for pair in np.unique(pairs.clips, axis=0):
        one, other = (motions[k].contacts for k in pair)
        shared = [] if one is None or other is None else [name for name in one.names if name in other.names]
        if one is None or other is None or not shared:
            continue
        here = np.flatnonzero((pairs.clips == pair).all(axis=1))
        a, b = (
            contacts.mask[frames][:, [contacts.index(name) for name in shared]]
            for contacts, frames in ((one, pairs.frames[here, 0]), (other, pairs.frames[here, 1]))
        )
        differ[here] = (a != b).mean(axis=1)
    return np.asarray(np.sqrt(pairs.distances**2 + penalty**2 * differ))


def check_lengths(motions: Sequence[Motion], half: int, parameter: str, seconds: float) -> None:
    """Raise an error if no clip is long enough for transitions of `seconds`, which are set by a parameter."""
    if max(len(motion) for motion in motions) < 4 * half + 4:
        longest = max(motion.duration for motion in motions)
        raise InvalidValue(
            f"the longest clip lasts {longest:.2f} s, too short for transitions of {seconds:g} s",
            parameter=parameter,
            remedy=f"use longer clips or a smaller `{parameter}=`",
        )


def _check_max_distance(max_distance: float, given: Sequence[Threshold]) -> None:
    """Raise an error if a threshold exceeds `max_distance`, the largest distance that is searched."""
    for threshold in given:
        value = threshold_in_meters(threshold, np.zeros(0))
        if value > max_distance:
            raise InvalidValue(
                f"max_search_distance must be at least the threshold of {value:g} m, not {max_distance:g} m",
                parameter="max_search_distance",
                remedy="raise `max_search_distance=` or lower `threshold=`",
            )


def _get_largest(given: Sequence[Threshold]) -> float | None:
    """Return the largest threshold in meters, or None if any is a percentage."""
    nothing = np.zeros(0)
    values = [threshold_in_meters(value, nothing) for value in given]
    return None if any(map(is_percentage, given)) else max(values)


def _pose_key(cache: ResultCache, motion: Motion, settings: GraphSettings) -> str:
    """Return a cache key for everything that determines a clip's markers. Labels and contacts are not part of it."""
    body = motion.skeleton
    tree = (list(body.names), body.parents, body.offsets, sorted(body.role_map.items()))
    markers = settings.markers
    what: list[Any] = [markers if isinstance(markers, str) else list(markers)]
    if settings.per_joint != 1 or settings.weights:
        what += [settings.per_joint, sorted((settings.weights or {}).items())]
    return cache.key(motion.root_positions, motion.rotations, motion.bone_offsets, motion.fps, tree, *what)


def prepare_graph_clips(clips: Clips | Sequence[Motion], settings: ClipGraphSettings) -> tuple[Motion, ...]:
    """Prepare clips for a graph: one frame rate (see `marey.core.clips`), root motion on joint 0, contacts, unique
    names, and variations."""
    given = share_skeleton(clips, settings.retarget, purpose="a graph")
    detect = partial(ensure_contacts, problem="feet of a clip without contacts are not cleaned up")
    motions = make_names_unique(
        prepare_clips(given, "a graph", fps=settings.fps, detect=detect, can_retarget=True).motions
    )
    warn_of_findings(motions)
    if not settings.variations:
        return motions
    takes = more_takes(motions, settings.variations, **settings.select(SpreadSettings))
    fps = motions[0].fps
    return make_names_unique(prepare_clips((*motions, *takes), "a graph", fps=fps, detect=detect).motions)


def assemble_graph(
    motions: tuple[Motion, ...],
    found: FramePairSource,
    half: int,
    threshold: Threshold,
    thresholds: Mapping[tuple[str, str], Threshold],
    min_seconds: float,
) -> MotionGraph:
    """Build the pruned graph from the transitions that pass the thresholds.

    Parameters
    ----------
    motions : the clips.
    found : all local minima of the distance grids. Only those that may pass the thresholds are held in memory.
    half : L; transitions blend 2 L + 1 frames.
    threshold, thresholds, min_seconds : see `GraphSettings`.
    """
    names, frame_labels = collect_labels(motions)
    _check_pairs(thresholds, names)
    overall, limits = _convert_thresholds(found, names, frame_labels, threshold, thresholds)
    lengths = np.array([len(motion) for motion in motions])
    firsts = number_places(lengths)

    def build(limit: float, limits: Mapping[tuple[str, str], float], seconds: float) -> MotionGraph | None:
        pairs, align = found.up_to(max([limit, *limits.values()]))
        n = len(pairs)
        # Transitions in both directions: n and more are the reverse ones.
        chosen = np.arange(2 * n, dtype=np.int32)
        if limits:
            passes = (
                each.distances <= find_limits(each, each, names, frame_labels, limit, limits)
                for each in (pairs, pairs.reverse())
            )
            chosen = chosen[np.concatenate(list(passes))]
        places = (firsts[pairs.clips] + pairs.frames).astype(np.int32)
        leave, enter = (np.concatenate([places[:, k], places[:, 1 - k]])[chosen] for k in (0, 1))
        del places

        def look_up(items: Ints) -> tuple[Floats, Floats]:
            which = chosen[items].astype(np.int64) % max(n, 1)
            used, index = np.unique(which, return_inverse=True)
            moves = align(used)[index]
            reverse = chosen[items] >= n
            moves[reverse] = rigid2d.invert(moves[reverse])
            return pairs.distances[which], moves

        links = link_clips(lengths, frame_labels, leave, enter, half, look_up)
        info = BuildInfo("distance", limit, found.skipped)
        return prune_graph(motions, half, links.nodes, links, names, seconds, info)

    graph = build(overall, limits, min_seconds)
    if graph is None:
        raise NoResult(_explain_no_graph(found, threshold, lambda limit: build(limit, {}, 0.0) is not None))
    return replace(graph, pair_distances=find_pair_distances(graph, found.batches(), frame_labels))


def _check_pairs(thresholds: Mapping[tuple[str, str], Threshold], names: tuple[str, ...]) -> None:
    """Raise an error for thresholds of labels that no clip has."""
    for name in itertools.chain.from_iterable(thresholds):
        if name not in names:
            raise InvalidValue(
                f"thresholds must use labels of the clips ({', '.join(names)}), not {name!r}",
                parameter="thresholds",
            )


def _convert_thresholds(
    found: FramePairSource,
    names: tuple[str, ...],
    frame_labels: list[Bools],
    threshold: Threshold,
    thresholds: Mapping[tuple[str, str], Threshold],
) -> tuple[float, dict[tuple[str, str], float]]:
    """Convert thresholds to meters. Percentages refer to all minima, so they need a pass over their distances."""
    overall: list[Floats] = [np.zeros(0)]
    of_pairs: dict[tuple[str, str], list[Floats]] = {pair: [np.zeros(0)] for pair in thresholds}
    if any(is_percentage(each) for each in (threshold, *thresholds.values())):
        for pairs in found.batches():
            if is_percentage(threshold):
                overall.append(pairs.distances)
            for pair in (pair for pair, value in thresholds.items() if is_percentage(value)):
                for each in (pairs, pairs.reverse()):
                    of_pairs[pair].append(each.distances[_has_labels(each, pair, names, frame_labels)])
    return threshold_in_meters(threshold, np.concatenate(overall)), {
        pair: threshold_in_meters(value, np.concatenate(of_pairs[pair])) for pair, value in thresholds.items()
    }


def is_percentage(threshold: Threshold) -> bool:
    """Return whether a threshold is a percentage of all local minima."""
    return isinstance(threshold, str) and threshold.strip().endswith("%")


def collect_labels(motions: Sequence[Motion]) -> tuple[tuple[str, ...], list[Bools]]:
    """Collect the K labels of all clips, and for each clip a mask (F, K) of which of its F frames carry which label.

    Unlabeled frames share one extra label.
    """
    names = sorted({name for motion in motions for name in motion.labels.names})
    if UNLABELED in names:
        clip = next(motion.name for motion in motions if UNLABELED in motion.labels.names)
        raise InvalidValue(
            f"clip {clip!r} has the label {UNLABELED!r}, which is reserved for unlabeled frames; rename it"
        )
    masks = [
        np.stack([motion.labels.mask(name, len(motion)) for name in names], axis=1)
        if names
        else np.zeros((len(motion), 0), dtype=bool)
        for motion in motions
    ]
    bare = [np.asarray(~mask.any(axis=1)) for mask in masks]
    if any(each.any() for each in bare):
        names.append(UNLABELED)
        masks = [np.concatenate([mask, each[:, None]], axis=1) for mask, each in zip(masks, bare, strict=True)]
    return tuple(names), masks


def find_limits(
    directed: FramePairs | Transitions,
    found: FramePairs | Transitions,
    names: tuple[str, ...],
    frame_labels: list[Bools],
    threshold: Threshold,
    thresholds: Mapping[tuple[str, str], Threshold],
) -> Floats:
    """Return the threshold (T,) in meters of each directed transition: the smallest of those given for its label pairs,
    or else the overall one."""
    _check_pairs(thresholds, names)
    out = np.full(len(directed), np.inf)
    given = np.zeros(len(directed), dtype=bool)
    for pair, value in thresholds.items():
        here = _has_labels(directed, pair, names, frame_labels)
        limit = threshold_in_meters(value, directed.distances[here])
        # A threshold of 0 must also forbid identical frames, which have distance 0.
        out[here] = np.minimum(out[here], limit if limit > 0.0 else -1.0)
        given |= here
    return np.where(given, out, threshold_in_meters(threshold, found.distances))


def threshold_in_meters(threshold: Threshold, distances: Floats) -> float:
    """Convert a threshold to meters; a percentage such as "10%" gives that quantile of `distances`."""
    text = threshold.strip() if isinstance(threshold, str) else None
    try:
        if text is not None and text.endswith("%"):
            fraction = float(text[:-1]) / 100.0
            if 0.0 <= fraction <= 1.0:
                return float(np.quantile(distances, fraction)) if len(distances) else 0.0
            raise ValueError
        value = float(threshold)
    except (TypeError, ValueError):
        value = np.nan
    if not value >= 0.0:
        raise InvalidValue(
            f"threshold must be at least 0 m, or a percentage such as '10%', not {threshold!r}", parameter="threshold"
        )
    return value


def _has_labels(
    directed: FramePairs | Transitions, pair: tuple[str, str], names: tuple[str, ...], frame_labels: list[Bools]
) -> Bools:
    """Return a mask (T,) of the transitions from a frame with the first label of a pair to one with the second."""
    firsts = np.concatenate([[0], np.cumsum([len(mask) for mask in frame_labels])])
    labels = np.concatenate(frame_labels)
    places = firsts[directed.clips] + directed.frames
    before, after = (labels[places[:, k], names.index(name)] for k, name in enumerate(pair))
    return np.asarray(before & after)


def prune_graph(
    motions: tuple[Motion, ...],
    half: int,
    nodes: Ints,
    edges: Edges | UnprunedEdges,
    names: tuple[str, ...],
    min_seconds: float,
    info: BuildInfo,
) -> MotionGraph | None:
    """Remove dead ends and build the graph of the remaining nodes and edges; return None if they have no cycle."""
    from marey.graph.motion_graph import MotionGraph

    keep, members = prune(len(nodes), edges)
    if not (keep & ~edges.blends).any():
        return None
    found = components(names, edges, members)
    problems = findings(found, motions[0].fps, min_seconds, info.remedy)
    small, kept = compact(nodes, edges.select(keep))
    index = find_nodes(small, nodes)
    return MotionGraph(motions, half, small, kept, names, members[:, index], found, problems, info)


def find_nodes(some: Ints, nodes: Ints) -> Ints:
    """Return the index (M,) in `nodes` (N, 2) of each node in `some` (M, 2); rows are (clip, frame), in order."""
    n_frames = int(nodes[:, 1].max()) + 1
    ours, theirs = (each[:, 0] * n_frames + each[:, 1] for each in (some, nodes))
    return np.searchsorted(theirs, ours)


def _explain_no_graph(found: FramePairSource, threshold: Threshold, works: Callable[[float], bool]) -> str:
    """Compose the error message: why no graph was found, and which threshold would give one."""
    steps = np.unique(np.concatenate([np.zeros(0), *(pairs.distances for pairs in found.batches())]))
    if not len(steps):
        return "no two frames in these clips are similar; use longer or more clips"
    low, high = 0, len(steps) - 1
    if not works(float(steps[high])):
        return "no motion in these clips returns to itself at any threshold; use longer or more clips"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(float(steps[middle])) else (middle + 1, high)
    least = np.ceil(1000.0 * steps[low]) / 1000.0
    return f"with threshold {threshold} the graph has only dead ends; the smallest that works is {least:.3f} m"
