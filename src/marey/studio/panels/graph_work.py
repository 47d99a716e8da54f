"""Functions of the Graph panel that run in the worker. They store intermediate results in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError
from marey.graph.settings import GraphPathSettings, GraphSettings, GraphWalkSettings
from marey.studio.forms import group_skipped
from marey.studio.panels.graph_messages import BuildGraph
from marey.studio.parcels import pack, unpack_all
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.graph.follow import PathResult
    from marey.graph.motion_graph import MotionGraph

_FOUND, _GRAPH = "found.bin", "graph.npz"
_TRANSITIONS = ("distances", "clips", "frames", "transforms")
# Meters: spacing of the points of a drawn path, and standard deviation of its smoothing against hand tremor.
_SPACING, _TREMBLE = 0.05, 0.2
_MIN_LENGTH = 0.5
# Mean and final distance (m) that are good enough; otherwise search again with wider beams.
_NEAR, _NEAR_END = 0.05, 0.1
_WIDER = (400, 1600)
# Smallest deviation (m) that is explained.
_DEVIATION = 0.2
# Meters over which a turn is measured, and meters between sample points.
_REACH, _STEP = 1.0, 0.05
# Meters around the largest deviation in which to look for its cause: a walk may cut a bend and return later.
_AROUND = 3.0
# The path is the cause if it turns more sharply than the clips by more than this angle (radians).
_ROOM = 0.1


def find_candidates(
    progress: Progress,
    motions: list[Motion],
    files: list[list[str]],
    settings: dict[str, Any],
    max_threshold: float,
    folder: str,
) -> dict[str, Any]:
    """Find all transition candidates up to `max_threshold` meters. Return the data for `graph_links.Candidates.of`.

    files : (path, display name) pairs.
    settings : options of `GraphSettings`.
    folder : where the clips and candidates are stored for `build_graph`.
    """
    from marey.graph.build import collect_labels, compare_clips, prepare_graph_clips
    from marey.graph.network import add_reverses, connect_clips

    given, failed = _load_clips(progress, motions, files, bool(settings.get("retarget")))
    skipped = group_skipped(failed, BuildGraph)
    if not given:
        why = f"; first error: {failed[0][0]}: {skipped[0]['reason']}" if failed else ""
        raise InvalidValue(f"a graph needs at least one clip{why}")
    progress(0.2, "detecting contacts")

    def report(fraction: float) -> None:
        progress(0.3 + 0.6 * fraction, "comparing all frames")

    chosen = GraphSettings(**settings, progress=report)
    clips = prepare_graph_clips(given, chosen)
    found, half = compare_clips(clips, max_threshold, chosen)
    progress(0.92, "building the graph")
    names, masks = collect_labels(clips)
    lengths = np.array([len(clip) for clip in clips])
    nodes, edges = connect_clips(lengths, masks, add_reverses(found), half)
    into = Path(folder)
    arrays = [getattr(found, name) for name in _TRANSITIONS]
    (into / _FOUND).write_bytes(pack({"clips": clips, "found": arrays, "half": half}))
    return {
        "clips": [clip.name for clip in clips],
        "skipped": skipped,
        "labels": list(names),
        "lengths": lengths,
        "frame_labels": np.concatenate(masks),
        "rate": clips[0].fps,
        "half": half,
        "n_nodes": len(nodes),
        "edges": {name: getattr(edges, name) for name in edges.__slots__},
    }


def build_graph(
    progress: Progress, folder: str, threshold: float, pairs: list[list[Any]], min_seconds: float
) -> dict[str, Any]:
    """Build the graph with the thresholds (m) from the files of `find_candidates`, and save it.

    pairs : (label before, label after, threshold) for some pairs of labels.
    """
    from marey.graph.build import assemble_graph
    from marey.graph.transitions import Transitions

    progress(0.1, "building the graph")
    at = Path(folder)
    stored = unpack_all((at / _FOUND).read_bytes())
    found = Transitions(**dict(zip(_TRANSITIONS, stored["found"], strict=True)))
    limits = {(before, after): meters for before, after, meters in pairs}
    graph = assemble_graph(tuple(stored["clips"]), found, stored["half"], threshold, limits, min_seconds)
    graph.save(at / _GRAPH)
    return {"transitions": graph.n_transitions, "findings": list(graph.findings)}


def random_walk(progress: Progress, folder: str, settings: dict[str, Any], clean: bool) -> dict[str, Any]:
    """Generate a random walk."""
    progress(0.5, "walking")
    chosen = GraphWalkSettings(**settings)
    walk = _load_graph(folder).random_walk(settings=chosen).place_at()
    name = f"{chosen.label or ''} random walk {chosen.rng}".strip()
    return {"motion": walk.motion(feet=feet_from_flag(clean), name=name)}


def follow_path(
    progress: Progress, folder: str, stretches: list[dict[str, Any]], settings: dict[str, Any], clean: bool
) -> dict[str, Any]:
    """Generate a walk along a drawn path."""
    progress(0.3, "searching")
    graph = _load_graph(folder)
    path, ends = smooth_path([each["points"] for each in stretches])
    styles = _list_styles([each["label"] for each in stretches], ends, graph.label_names)
    chosen = GraphPathSettings(**settings, styles=styles)
    found, beam_width = graph.follow(path, settings=chosen), chosen.beam_width
    for k, width in enumerate(_WIDER if chosen.beam_width is None else ()):
        if found.mean_distance <= _NEAR and (found.end_distance <= _NEAR_END or chosen.seconds is not None):
            break
        progress(0.4 + 0.2 * k, "searching for a closer walk")
        other = graph.follow(path, settings=chosen, beam_width=width)
        # The search minimizes a cost that includes transitions; the user sees the distance.
        if other.mean_distance + 0.5 * other.end_distance < found.mean_distance + 0.5 * found.end_distance:
            found, beam_width = other, width
    progress(0.9, "locking feet")
    return {
        "motion": found.motion(feet=feet_from_flag(clean), name="path"),
        "path": path.round(3).tolist(),
        "followed": {"path": path.tolist(), "styles": styles, "beam_width": beam_width},
        "way": found.walked_path[:: max(1, round(graph.fps / 15))].round(3).tolist(),
        "length": float(ends[-1]),
        "mean_distance": found.mean_distance,
        "largest_distance": found.largest_distance,
        "end_distance": found.end_distance,
        "why": explain_deviation(graph, found, styles),
        "styles": [
            {
                "label": each.label,
                "start": each.start / graph.fps,
                "stop": each.stop / graph.fps,
                "own": each.own_frames / graph.fps,
                "through": each.through,
            }
            for each in found.styles
        ],
    }


def smooth_path(strokes: Sequence[Sequence[Sequence[float]]]) -> tuple[Floats, Floats]:
    """Join and smooth S drawn segments. Return the path (N, 2) and the arc lengths (S,), in meters, of their ends."""
    from marey.maths.filters import gaussian

    lines = [np.array(stroke, dtype=np.float64).reshape(-1, 2) for stroke in strokes]
    lines = [line for line in lines if len(line)]
    if not lines:
        raise InvalidValue("no path was drawn; press “Draw path” and draw one on the floor")
    points = np.concatenate(lines)
    arc_lengths = _arc_lengths(points)
    if arc_lengths[-1] < _MIN_LENGTH:
        raise InvalidValue(
            f"the path must be at least {_MIN_LENGTH:g} m long, not {arc_lengths[-1]:.2f} m; draw a longer one"
        )
    at = np.linspace(0.0, arc_lengths[-1], int(np.ceil(arc_lengths[-1] / _SPACING)) + 1)
    even = np.stack([np.interp(at, arc_lengths, points[:, k]) for k in (0, 1)], axis=1)
    smooth = np.asarray(gaussian(even, _TREMBLE / _SPACING))
    smooth[0], smooth[-1] = even[0], even[-1]
    lasts = arc_lengths[np.cumsum([len(line) for line in lines]) - 1]
    return smooth, np.interp(lasts, at, _arc_lengths(smooth))


def _arc_lengths(points: Floats) -> Floats:
    """Return the cumulative arc lengths (N,) of points (N, 2), in meters."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])


def _list_styles(labels: list[str | None], ends: Floats, names: tuple[str, ...]) -> list[tuple[float, str]] | None:
    """Return the labels along a path as `MotionGraph.follow` takes them. Neighbors with the same label are merged."""
    if all(label is None for label in labels):
        return None
    if any(label is None for label in labels):
        raise InvalidValue(f"choose an action for every segment of the path or for none; available: {', '.join(names)}")
    out: list[tuple[float, str]] = []
    for label, end in zip(labels, ends.tolist(), strict=True):
        if out and out[-1][1] == label:
            out.pop()
        out.append((end, str(label)))
    return out


def _load_graph(folder: str) -> MotionGraph:
    from marey.graph import MotionGraph

    return MotionGraph.load(Path(folder) / _GRAPH)


def _load_clips(
    progress: Progress, motions: list[Motion], files: list[list[str]], retarget: bool
) -> tuple[list[Motion], list[tuple[str, MareyError]]]:
    """Return the motions and the files that have their skeleton, and the name and error of each file that is skipped.

    Without motions, the skeleton is that of most files. With `retarget`, clips of any skeleton are returned.
    """
    from marey.core.placement import check_same_skeleton
    from marey.edit.common_skeleton import choose_target
    from marey.io import load_motion

    loaded: list[tuple[str, Motion]] = []
    failed: list[tuple[str, MareyError]] = []
    for k, (path, shown) in enumerate(files):
        progress(0.2 * k / len(files), f"reading {shown}")
        try:
            loaded.append((shown, load_motion(path)))
        except MareyError as error:
            failed.append((shown, error))
    if retarget or not (motions or loaded):
        return [*motions, *(motion for _, motion in loaded)], failed
    bodies = [(motion.skeleton, len(motion), shown) for shown, motion in loaded]
    target = motions[0] if motions else choose_target(bodies, True, lambda k: loaded[k][1])[0]
    skeleton = target.skeleton if isinstance(target, Motion) else target
    given = list(motions)
    for shown, motion in loaded:
        try:
            check_same_skeleton(skeleton, motion.skeleton, "a graph")
        except MareyError as error:
            failed.append((shown, error))
        else:
            given.append(motion)
    return given, failed


def explain_deviation(graph: MotionGraph, found: PathResult, styles: Sequence[tuple[float, str]] | None) -> str:
    """Return an explanation if the walk deviates by 0.2 m or more from its path; else "".

    styles : (meters, label) pairs, each with the arc length at which the label ends, as for `MotionGraph.follow`; None
        for any label.
    """
    if found.largest_distance < _DEVIATION:
        return ""
    from scipy.spatial import cKDTree

    apart, nearest = cKDTree(found.path).query(found.walked_path)
    arc_lengths = _arc_lengths(found.path)
    off = float(arc_lengths[nearest[apart.argmax()]])
    asked = np.abs(turn_angles(found.path))
    at = _REACH / 2 + _STEP * np.arange(len(asked))
    near = np.abs(at - off) < _AROUND
    # Excess, angle, arc length and description of the turn that exceeds the clips of its label the most.
    worst = (0.0, 0.0, 0.0, "")
    begin = 0.0
    for end, label in [(arc_lengths[-1], None)] if styles is None else styles:
        most = sharpest_turn(graph, label)
        here = np.flatnonzero(near & (at >= begin) & (at <= end))
        sharp = float(asked[here].max(initial=0.0))
        if len(here) and sharp - most > worst[0]:
            clips = "the clips" if label is None else f"the clips of {label!r}"
            worst = (
                sharp - most,
                sharp,
                float(at[here[asked[here].argmax()]]),
                f"{clips} turn by {_format_degrees(most)}",
            )
        begin = end
    excess, sharp, place, limit = worst
    if excess > _ROOM:
        return (
            f"The path turns by {_format_degrees(sharp)} within 1 m at {place:.1f} m; {limit} at most. Draw a wider "
            "bend, or add clips that turn more sharply."
        )
    return (
        f"The largest deviation is {off:.1f} m along the path. The clips can turn as sharply as the path, so more "
        "transitions (a higher threshold) or more clips may reduce it."
    )


def sharpest_turn(graph: MotionGraph, label: str | None = None) -> float:
    """Return the sharpest turn (radians) within one meter in the clips of a label; None for all clips."""
    from marey.graph.build import collect_labels
    from marey.graph.edge_paths import smooth_paths

    names, masks = collect_labels(graph.clips)
    column = None if label is None else names.index(label)
    most = 0.0
    for path, mask in zip(smooth_paths(graph), masks, strict=True):
        inside = np.ones(len(path), dtype=bool) if column is None else mask[:, column]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            turns = turn_angles(path[start:stop])
            most = max(most, float(np.abs(turns).max(initial=0.0)))
    return most


def turn_angles(path: Floats) -> Floats:
    """Return the turn (radians) within the next meter for a point every 5 cm of a path (N, 2).

    Empty if the path is shorter than 1.1 m.
    """
    arc_lengths = _arc_lengths(path)
    if arc_lengths[-1] < _REACH + 2 * _STEP:
        return np.zeros(0)
    at = np.arange(0.0, arc_lengths[-1], _STEP)
    moving = np.concatenate([[True], np.diff(arc_lengths) > 0.0])
    even = np.stack([np.interp(at, arc_lengths[moving], path[moving, k]) for k in (0, 1)], axis=1)
    headings = np.unwrap(np.arctan2(*np.diff(even, axis=0).T))
    far = round(_REACH / _STEP)
    return np.asarray(headings[far:] - headings[:-far])


def _format_degrees(angle: float) -> str:
    return f"{np.degrees(angle):.0f}°"
