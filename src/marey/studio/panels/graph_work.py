"""Functions of the Graph panel that run in the worker. They store intermediate results in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError
from marey.studio.forms import word_text
from marey.studio.panels.graph_messages import BuildGraph
from marey.studio.parcels import pack, unpack_all
from marey.studio.work import Progress

_FOUND, _GRAPH = "found.bin", "graph.npz"
_TRANSITIONS = ("distances", "clips", "frames", "transforms")
_MAX_MEMORY = 256 * 2**20
_MIN_SECONDS = 2.0
# Meters: spacing of the points of a drawn path, and standard deviation of its smoothing against hand tremor.
_SPACING, _TREMBLE = 0.05, 0.2
_MIN_LENGTH = 0.5
# Mean and final distance (m) that are good enough; otherwise search again with wider beams.
_NEAR, _NEAR_END = 0.05, 0.1
_WIDER = (400, 1600)


def find_candidates(
    progress: Progress,
    motions: list[Motion],
    files: list[list[str]],
    window: float,
    rate: float | None,
    max_threshold: float,
    folder: str,
) -> dict[str, Any]:
    """Find all transition candidates up to `max_threshold` meters. Returns the data for `graph_links.Candidates.of`.

    files : (path, display name) pairs.
    window : transition length in seconds.
    rate : frames per second of the graph; None for the highest rate of the clips.
    folder : where the clips and candidates are stored for `build_graph`.
    """
    from marey.compare import frame_weights, point_clouds
    from marey.graph.build import collect_labels, prepare_graph_clips
    from marey.graph.minima import find_transitions
    from marey.graph.network import add_reverses, connect_clips
    from marey.graph.settings import GraphSettings

    given, skipped = _load_clips(progress, motions, files)
    if not given:
        why = f"; first error: {skipped[0]}" if skipped else ""
        raise InvalidValue(f"a graph needs at least one clip{why}")
    progress(0.2, "detecting contacts")
    clips = prepare_graph_clips(given, GraphSettings(fps=rate))
    weights = frame_weights(window, clips[0].fps, "triangle")
    half = len(weights) // 2
    if max(map(len, clips)) < 4 * half + 4:
        longest = max(clip.duration for clip in clips)
        raise InvalidValue(
            f"the longest clip lasts {longest:.2f} s, too short for transitions of {window:g} s; choose longer clips "
            "or shorter transitions"
        )
    clouds = [point_clouds(clip) for clip in clips]

    def report(fraction: float) -> None:
        progress(0.3 + 0.6 * fraction, "comparing all frames")

    found = find_transitions(clouds, weights, max_threshold, max_memory=_MAX_MEMORY, progress=report)
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


def build_graph(progress: Progress, folder: str, threshold: float, pairs: list[list[Any]]) -> dict[str, Any]:
    """Build the graph within these thresholds (m) from the files of `find_candidates`, and save it.

    pairs : (label before, label after, threshold) for some pairs of labels.
    """
    from marey.graph.build import assemble_graph
    from marey.graph.transitions import Transitions

    progress(0.1, "building the graph")
    at = Path(folder)
    stored = unpack_all((at / _FOUND).read_bytes())
    found = Transitions(**dict(zip(_TRANSITIONS, stored["found"], strict=True)))
    limits = {(before, after): meters for before, after, meters in pairs}
    graph = assemble_graph(tuple(stored["clips"]), found, stored["half"], threshold, limits, _MIN_SECONDS)
    graph.save(at / _GRAPH)
    return {"transitions": graph.n_transitions, "findings": list(graph.findings)}


def random_walk(
    progress: Progress, folder: str, seconds: float, seed: int, label: str | None, clean: bool
) -> dict[str, Any]:
    """Generate a random walk."""
    progress(0.5, "walking")
    graph = _graph(folder)
    walk = graph.random_walk(seconds, seed, label=label).place_at()
    return {"motion": walk.motion(feet=feet_from_flag(clean), name=f"{label or ''} random walk {seed}".strip())}


def follow_path(progress: Progress, folder: str, stretches: list[dict[str, Any]], clean: bool) -> dict[str, Any]:
    """Generate a walk along a drawn path."""
    from marey.studio.panels.graph_turns import explain_deviation

    progress(0.3, "searching")
    graph = _graph(folder)
    path, ends = smoothed_path([each["points"] for each in stretches])
    styles = _styles([each["label"] for each in stretches], ends, graph.label_names)
    found = graph.follow(path, styles=styles)
    for k, width in enumerate(_WIDER):
        if found.mean_distance <= _NEAR and found.end_distance <= _NEAR_END:
            break
        progress(0.4 + 0.2 * k, "searching for a closer walk")
        other = graph.follow(path, styles=styles, beam_width=width)
        # The search minimizes a cost that includes transitions; the user sees the distance.
        found = min(found, other, key=lambda each: each.mean_distance + 0.5 * each.end_distance)
    progress(0.9, "locking feet")
    return {
        "motion": found.motion(feet=feet_from_flag(clean), name="path"),
        "path": path.round(3).tolist(),
        "way": found.walked_path[:: max(1, round(graph.fps / 15))].round(3).tolist(),
        "length": float(ends[-1]),
        "mean_distance": found.mean_distance,
        "largest_distance": found.largest_distance,
        "end_distance": found.end_distance,
        "why": explain_deviation(graph, found, styles),
    }


def smoothed_path(strokes: Sequence[Sequence[Sequence[float]]]) -> tuple[Floats, Floats]:
    """Join and smooth S drawn segments. Returns the path (N, 2) and the arc lengths (S,), in meters, of their ends."""
    from marey.maths.filters import gaussian

    lines = [np.array(stroke, dtype=np.float64).reshape(-1, 2) for stroke in strokes]
    lines = [line for line in lines if len(line)]
    if not lines:
        raise InvalidValue("there is no path; press “Draw path” and draw one on the ground")
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


def _styles(labels: list[str | None], ends: Floats, names: tuple[str, ...]) -> list[tuple[float, str]] | None:
    """Return the labels along a path as `MotionGraph.follow` takes them. Merges neighbors with the same label."""
    if all(label is None for label in labels):
        return None
    if any(label is None for label in labels):
        raise InvalidValue(f"choose a style for every segment of the path or for none; available: {', '.join(names)}")
    out: list[tuple[float, str]] = []
    for label, end in zip(labels, ends.tolist(), strict=True):
        if out and out[-1][1] == label:
            out.pop()
        out.append((end, str(label)))
    return out


def _graph(folder: str) -> Any:
    from marey.graph import MotionGraph

    return MotionGraph.load(Path(folder) / _GRAPH)


def _load_clips(progress: Progress, motions: list[Motion], files: list[list[str]]) -> tuple[list[Motion], list[str]]:
    """Return the motions and the files that have the skeleton of the first, and the skipped files with reasons."""
    from marey.core.placement import check_same_skeleton
    from marey.io import load_motion

    given, skipped = list(motions), []
    for k, (path, shown) in enumerate(files):
        progress(0.2 * k / len(files), f"reading {shown}")
        try:
            motion = load_motion(path)
            if given:
                check_same_skeleton(given[0].skeleton, motion.skeleton, "a graph")
        except MareyError as error:
            skipped.append(f"{shown}: {word_text(error.sentence, BuildGraph)}")
            continue
        given.append(motion)
    return given, skipped
