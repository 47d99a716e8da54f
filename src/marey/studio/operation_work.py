"""Functions of the page's operations that need more than one call of the library. They run in the worker.

Each takes data, inputs and settings as `marey.studio.operations` declares them, and returns a motion, several, or a
dict with any of: "motions"; "notes", sentences; "columns" and "rows" of a table, with "links" (a frame such as
"frame:12", a file such as "file:walk.bvh", or an explanation such as "about:...") for its rows; "files", paths;
"graph", a built graph.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.core.naming import layer_name
from marey.errors import InvalidValue, collect_warnings, plural
from marey.studio.grades import grade_edit, tabulate
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.clean import CleanSettings
    from marey.compare import GridSettings
    from marey.control.settings import EvaluationSettings
    from marey.core.joint_limits import JointLimits, JointLimitSettings
    from marey.edit import WarpSettings
    from marey.graph import (
        GraphCrowdSettings,
        GraphReachSettings,
        GraphSearchSettings,
        LandingSettings,
        MotionGraph,
        RegisteredSettings,
        SimilaritySettings,
    )
    from marey.graph.settings import ReductionSettings, VariationSettings
    from marey.io import SolveSettings
    from marey.layer.settings import SpliceSettings, TransplantSettings
    from marey.store import ClipSearchSettings
    from marey.store.settings import OpenSettings
    from marey.studio.render_settings import RenderSettings

Found = dict[str, Any]
# Limits: rows of a table, and motions that one operation opens.
MAX_ROWS, MAX_MOTIONS = 200, 60
# Keys of the timewarp along a speed curve.
_CURVE_KEYS = 64


def run_operation(progress: Progress, operation: str, data: list[Any], values: Found, folder: str) -> Found:
    """Run an operation and return its motions, rows, files and notes. Warnings of the library become notes.

    folder : folder for the files that the operation writes.
    """
    from marey.studio.operations import OPERATIONS

    row = OPERATIONS[operation]
    progress(0.0, row.title.lower())
    tempfile.tempdir = folder
    loaded = [_load_graph(each) if take == "graph" else each for take, each in zip(row.takes, data, strict=True)]
    with collect_warnings() as said:
        result = row.call_function(loaded, values, progress)
    found = gather_result(result, said)
    if row.gives == "motion" and "grades" not in found:
        found |= grade_edit(data[0], found["motions"][0])
    return found


def gather_result(result: Any, warnings: Sequence[str] = ()) -> Found:
    """Convert the result of an operation to a dict of motions, rows, files and notes; add notes on what was edited."""
    from marey.edit.describe import describe_edit

    found: Found = result if isinstance(result, dict) else {}
    if isinstance(result, Motion):
        found = {"motions": [result], "notes": describe_edit(result)}
    elif not isinstance(result, dict):
        found = {"motions": list(result)}
    graph = found.pop("graph", None)
    if graph is not None:
        found["graph_file"] = str(Path(tempfile.mkdtemp()) / "graph.npz")
        graph.save(found["graph_file"])
        found["notes"] = [*found.get("notes", ()), *_describe_graph(graph)]
    found["notes"] = [*found.get("notes", ()), *warnings]
    if len(found.get("rows", ())) > MAX_ROWS:
        found["notes"].append(f"the table shows {MAX_ROWS} of {len(found['rows'])} rows")
        found["rows"] = found["rows"][:MAX_ROWS]
    return found


def _load_graph(path: str) -> MotionGraph:
    from marey.graph import MotionGraph

    return MotionGraph.load(path)


def _describe_graph(graph: MotionGraph) -> list[str]:
    found = graph.statistics()
    return [
        f"{found.transitions} transitions; {found.seconds_kept:.1f} of {found.seconds:.1f} s are connected",
        *graph.findings,
    ]


# --- Time


def split(motion: Motion, frame: int) -> list[Motion]:
    """Cut a motion in two before a frame."""
    from marey.edit import crop

    if not 0 < frame < len(motion):
        raise InvalidValue("a clip cannot be cut before its first frame; move the playhead", parameter="frame")
    parts = crop(motion, 0, frame), crop(motion, frame, len(motion))
    return [replace(part, name=f"{motion.name} ({k} of 2)") for k, part in enumerate(parts, start=1)]


def change_speed(motion: Motion, span: Sequence[int] | None, speed: float) -> Motion:
    """Play a span of frames, or all, at another speed."""
    from marey.edit import timewarp

    start, stop = (0.0, motion.duration) if span is None else (frame / motion.fps for frame in span)
    stop = min(stop, motion.duration)
    keys = [(start, start)] if start > 0.0 else []
    return timewarp(motion, [*keys, (stop, start + (stop - start) / speed)])


def follow_speed_curve(motion: Motion, curve: Sequence[Sequence[float]]) -> Motion:
    """Play a motion with a speed that changes over time; `curve` has points (fraction of the motion, speed)."""
    from marey.edit import timewarp

    return timewarp(motion, find_speed_keys(motion, curve))


def find_speed_keys(motion: Motion, curve: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the keys of the timewarp that gives a motion the speeds of a curve."""
    import numpy as np

    fractions, speeds = np.array(sorted(map(tuple, curve)), dtype=np.float64).T
    if not ((speeds >= 0.1) & (speeds <= 10.0)).all():
        raise InvalidValue("the speeds of a curve must be from 0.1 to 10")
    if len(motion) < 2:
        raise InvalidValue("the clip has only one frame, but a speed curve needs two or more")
    old = np.linspace(0.0, motion.duration, min(len(motion), _CURVE_KEYS))
    slowness = 1.0 / np.exp(np.interp(old / motion.duration, fractions, np.log(speeds)))
    new = np.cumsum(0.5 * (slowness[1:] + slowness[:-1]) * np.diff(old))
    return list(zip(old[1:].tolist(), new.tolist(), strict=True))


def timewarp(motion: Motion, keys: str) -> Motion:
    """Retime a motion with keys such as ``"1.0=1.4, 1.6=2.0"``."""
    from marey import edit

    try:
        rows = [each.split("=") for each in keys.replace(";", ",").split(",") if each.strip()]
        pairs = [(float(old), float(new)) for old, new in rows]
    except ValueError:
        raise InvalidValue(
            f"keys must be times such as 1.0=1.4, 1.6=2.0, not {keys[:60]!r}", parameter="keys"
        ) from None
    if not pairs:
        raise InvalidValue("keys must have at least one time with its new time, such as 1.0=1.4", parameter="keys")
    return edit.timewarp(motion, pairs)


# --- Pose


def move_part(
    motion: Motion, frame: int, part: str, left: float, up: float, forward: float, axes: str, hold: float,
    settings: WarpSettings,
) -> Motion:  # fmt: skip
    """Move a hand, a foot or the hips at a frame."""
    from marey.edit import MoveKey, warp

    key = MoveKey(part, frame / motion.fps, offset=(left, up, forward), axes=axes, hold=hold)
    return warp(motion, [key], settings=settings)


def rotate_joint(
    motion: Motion, frame: int, joint: str, bend: float, twist: float, lean: float, axes: str, hold: float,
    settings: WarpSettings,
) -> Motion:  # fmt: skip
    """Rotate a joint at a frame."""
    from marey.edit import TurnKey, warp

    key = TurnKey(joint, frame / motion.fps, (bend, twist, lean), axes=axes, hold=hold)
    return warp(motion, [key], settings=settings)


# --- Repair


def limit_joints(motion: Motion, motions: Sequence[Motion], settings: tuple[Any, Any]) -> Found:
    """Keep the joints of a motion within limits learned from `motions`, and its feet planted during contacts."""
    from marey.clean import clean
    from marey.core.joint_limits import learn_joint_limits

    limits = learn_joint_limits(motions, settings=settings[0])
    before, _ = _find_most_excess(limits, motion)
    result = clean(motion, settings=type(settings[1])(settings=settings[1], joint_limits=limits))
    after, joint = _find_most_excess(limits, result)
    note = f"joints exceeded the limits by up to {before:.0f} degrees, now by up to {after:.0f}"
    return {"motions": [result], "notes": [f"{note} ({joint})" if after >= 0.5 else note]}


def _find_most_excess(limits: JointLimits, motion: Motion) -> tuple[float, str]:
    """Return the largest angle, in degrees, by which a motion exceeds limits, and the name of the joint."""
    names, excess = limits.find_excess(motion)
    if not excess.size:
        return 0.0, ""
    return math.degrees(excess.max()), names[int(excess.max(axis=0).argmax())]


def learn_limits(motion: Motion, motions: Sequence[Motion], settings: JointLimitSettings) -> Found:
    """Learn joint limits from motions, and list how far a motion exceeds them."""
    import numpy as np

    from marey.core.joint_limits import learn_joint_limits
    from marey.io import save_joint_limits

    limits = learn_joint_limits(motions, settings=settings)
    names, excess = limits.find_excess(motion)
    most = dict(zip(names, np.degrees(excess.max(axis=0)), strict=True))
    order = sorted(range(len(limits)), key=lambda k: -most.get(limits.names[k], 0.0))
    rows, links = [], []
    for k in order:
        widest = int(np.argmax(limits.high[k] - limits.low[k]))
        low, high = np.degrees(limits.low[k, widest]), np.degrees(limits.high[k, widest])
        beyond = most.get(limits.names[k], 0.0)
        rows.append([limits.names[k], f"{round(low)} to {round(high)}°", f"{beyond:.0f}°" if beyond >= 0.5 else "–"])
        where = names.index(limits.names[k]) if limits.names[k] in names else -1
        links.append(f"frame:{int(excess[:, where].argmax())}" if beyond >= 0.5 else "")
    path = Path(tempfile.mkdtemp()) / "joint_limits.json"
    save_joint_limits(limits, path)
    n_frames = sum(map(len, motions))
    return {
        "columns": ["Joint", "Widest range", "Beyond"], "rows": rows, "links": links, "files": [str(path)],
        "notes": [f"learned from {n_frames} frames"],
    }  # fmt: skip


# --- Files


def render_motion(
    motion: Motion, frame: int, span: Sequence[int] | None, format: str, settings: RenderSettings
) -> Found:
    """Draw a motion as an animation, or one frame of it."""
    from marey.studio.places import suggest_file_name
    from marey.studio.render import render

    path = Path(tempfile.mkdtemp()) / f"{suggest_file_name(motion.name)}.{format}"
    if format == "png":
        render(motion, path, frame=frame, settings=settings)
    else:
        render(motion if span is None else motion[span[0] : span[1]], path, settings=settings)
    return {"files": [str(path)]}


def search_library(folder: str, settings: ClipSearchSettings) -> Found:
    """List the clips of a folder that match the settings."""
    from marey.store import MotionSet, search_clips
    from marey.studio.places import choose_cache

    clips = MotionSet.open(folder, cache=str(choose_cache(Path(folder)))).summarize()
    found = search_clips(clips, settings=settings)
    rows = [
        [clip.file, f"{clip.duration:.1f} s", f"{clip.speed:.2f} m/s", f"{round(math.degrees(clip.turn))}°",
         ", ".join(clip.labels)]
        for clip in found
    ]  # fmt: skip
    return {
        "columns": ["Clip", "Duration", "Speed", "Turn", "Labels"], "rows": rows,
        "links": [f"file:{clip.file}" for clip in found], "notes": [f"{len(found)} of {len(clips)} clips"],
    }  # fmt: skip


def open_folder(folder: str, settings: OpenSettings) -> Found:
    """Open the clips of a folder at one rate."""
    from marey.store import MotionSet
    from marey.studio.places import choose_cache

    clips = MotionSet.open(folder, settings=settings, cache=str(choose_cache(Path(folder))))
    if len(clips.files) > MAX_MOTIONS:
        raise InvalidValue(
            f"pattern must choose at most {MAX_MOTIONS} files, not {len(clips.files)}", parameter="pattern",
            remedy="choose fewer, such as walks/*",
        )  # fmt: skip
    motions = list(clips)
    notes = [f"{each.name}: {each.reason}" for each in clips.skipped]
    return {"motions": motions, "notes": [f"{len(motions)} clips opened", *notes]}


def solve_positions(file: str, settings: SolveSettings) -> Found:
    """Fit a skeleton to the positions in a file."""
    from marey.io import solve_with_report

    result = solve_with_report(file, settings=settings)
    notes = [
        f"error {1e3 * result.mean_error:.1f} mm mean, {1e3 * result.max_error:.1f} mm at most; noise of the positions "
        f"{1e3 * result.noise:.1f} mm"
    ]
    notes += [f"filled frames {gap.start} to {gap.stop} of {gap.joint}" for gap in result.gaps[:5]]
    return {"motions": [result.motion], "notes": [*notes, *result.motion.source.evidence]}


# --- Compare


def clean_motion(motion: Motion, settings: CleanSettings) -> Found:
    """Remove foot skate. The table has the metrics before and after."""
    from marey.clean import clean_with_report
    from marey.measure import measure

    done = clean_with_report(motion, settings=settings)
    result, own = done.motion, done.metrics
    # Measure both with the same contacts and floor.
    source = replace(motion.source, floor=result.source.floor)
    before = replace(motion, contacts=result.contacts, source=source)
    table = tabulate(measure(result, before), ["Metric", "before", "after"]) if len(motion) > 1 else {}
    note = (
        f"{len(done.plants)} foot plants locked; max residual {1e3 * own['residue_max']:.1f} mm, max limb stretch "
        f"{100 * own['limb_scaling_max']:.1f} %, max body shift {100 * own['shift_max']:.1f} cm"
    )
    kept = replace(motion.source, floor=result.source.floor, provenance=result.source.provenance, channel_values=None)
    return {"motions": [replace(result, source=kept)], "notes": [note], **table}


def measure_motions(motion: Motion, against: Motion | None) -> Found:
    """Measure a motion, and another one for comparison."""
    from marey.measure import measure

    return tabulate(measure(motion, against), ["Metric", *([] if against is None else [against.name]), motion.name])


def compare_frames(first: Motion, second: Motion, threshold: float | None, settings: GridSettings) -> Found:
    """Plot the distances of all frames of two motions, and list the local minima."""
    import numpy as np

    from marey.compare import distance_grid
    from marey.core.resample import resample
    from marey.plot.grid import grid as plot_grid

    slower = min(first.fps, second.fps)
    pair = [clip if clip.fps == slower else resample(clip, slower) for clip in (first, second)]
    grid = distance_grid(*pair, settings=settings)
    minima = grid.minima(threshold)
    distances = np.sqrt(grid.values[minima[:, 0], minima[:, 1]])
    order = np.argsort(distances, kind="stable")
    rows = [[f"{i / slower:.2f} s", f"{j / slower:.2f} s", f"{100 * d:.1f} cm"]
            for (i, j), d in zip(minima[order].tolist(), distances[order], strict=True)]  # fmt: skip
    path = Path(tempfile.mkdtemp()) / "grid.png"
    plot_grid(grid, path, threshold=threshold)
    return {
        "columns": [first.name[:20], second.name[:20], "Distance"], "rows": rows, "files": [str(path)],
        "links": [f"frame:{round(i * first.fps / slower)}" for i in minima[order, 0].tolist()],
        "notes": [f"{plural(len(minima), 'pair')} of frames, each more similar than those around it"],
    }  # fmt: skip


# --- Layers


def splice_bodies(lower: Motion, upper: Motion, settings: SpliceSettings) -> Found:
    """Put the upper body of one motion on the lower body of another, in sync."""
    import numpy as np

    from marey.layer.splicing import splice

    result = splice(lower, upper, settings=settings)
    step: Found = dict(result.source.provenance[-1])
    part = f"uses {upper.name} from {step['start']:.2f} to {step['stop']:.2f} s"
    if loop := step["loop"]:
        part = (
            f"starts at {step['start']:.2f} s of {upper.name} and repeats {loop['start']:.2f} to {loop['stop']:.2f} s "
            f"of it to match {lower.name}"
        )
    notes = [
        f"The upper body {part}.",
        f"The steps of the two clips differ by {100 * step['distance']:.1f} cm on average.",
        f"The upper body is rotated by {math.degrees(np.linalg.norm(step['posture_turn'])):.1f}° to fit the hips.",
    ]
    return {"motions": [result], "notes": [*notes, *([step["warning"]] if step["warning"] else [])]}


def transplant_part(base: Motion, donor: Motion, part: str, settings: TransplantSettings) -> Found:
    """Put a body part of one motion on another."""
    from marey.layer.transplanting import transplant

    result = transplant(base, donor, joints=part, settings=settings)
    named = replace(result, name=layer_name(base.name, part, donor.name))
    return {"motions": [named], "notes": list(result.source.provenance[-1]["notes"])}


# --- Graphs


def reach_point(graph: MotionGraph, x: float, z: float, settings: tuple[GraphReachSettings, LandingSettings]) -> Found:
    """Walk from the origin to a position, and land there exactly; or enter a clip there."""
    reach, landing = settings
    walk = graph.reach((x, z), settings=reach)
    if reach.clip is not None:
        return {"motions": [walk.pad(0.0, 2.0).motion(feet=landing.feet, name=landing.name or "reach")]}
    landed = walk.land_at((x, z), settings=landing)
    notes = [f"the last {landed.seconds:.1f} s were moved by {100 * landed.shift:.1f} cm and turned by "
             f"{math.degrees(landed.turn):.1f}°"]  # fmt: skip
    return {"motions": [landed.motion()], "notes": notes}


def search_graph(
    graph: MotionGraph, points: Sequence[Sequence[float]], x: float, z: float, objective: str, style: str, angle: float,
    speed: float, seconds: float, max_error: float | None, min_step: float, settings: GraphSearchSettings,
) -> Found:  # fmt: skip
    """Find the walk with the lowest cost for an objective."""
    from marey.core.placement import find_placement
    from marey.graph import FollowPath, KeepSpeed, KeepStyle, ReachClip, ReachPoint
    from marey.maths import rigid2d

    def reach_clip() -> ReachClip:
        first = graph.clips[graph.index(style)][:1]
        place = rigid2d.compose((angle, x, z), rigid2d.invert(find_placement(first, 0)))
        return ReachClip(style, place, 0.5 if max_error is None else max_error)

    goals: dict[str, Callable[[], Any]] = {
        "point": lambda: ReachPoint((x, z), 0.3 if max_error is None else max_error),
        "clip": reach_clip,
        "path": lambda: FollowPath(points, min_step),
        "speed": lambda: KeepSpeed(speed, seconds),
        "style": lambda: KeepStyle(style, seconds),
    }
    if objective == "path" and len(points) < 2:
        raise InvalidValue("draw the path on the floor first", parameter="objective")
    found = graph.search(goals[objective](), settings=settings)
    notes = [] if found.complete else ["the search stopped before the objective was met; raise its limits"]
    return {"motions": [found.walk.motion(name=f"search for {objective}")], "notes": notes}


def make_crowd(graph: MotionGraph, characters: int, radius: float, settings: GraphCrowdSettings) -> Found:
    """Let characters cross a circle."""
    from marey.graph import crossing_paths

    result = graph.crowd(crossing_paths(characters, radius, settings.rng), settings=settings)
    about = result.to_dict()
    notes = [f"{about['characters']} characters"]
    if about["nearest_m"] is not None:
        notes[0] += f", at least {about['nearest_m']:.2f} m apart"
    if about["left_out"]:
        notes.append(f"{plural(about['left_out'], 'character')} left out: no path avoids the others")
    return {"motions": list(result.motions(name="character ")), "notes": notes}


def reduce_graph(graph: MotionGraph, settings: ReductionSettings) -> Found:
    """Remove transitions that a graph does not need."""
    result = graph.reduce_transitions(settings=settings)
    names = {
        "transitions": "Transitions", "seconds": "Connected, s", "progress_m": "Progress, m",
        "label_change_s": "Change of style, s", "deviation_m": "Path error, m",
    }  # fmt: skip
    rows = [[names[key], *(f"{value:.3g}" if math.isfinite(value) else "–" for value in pair)]
            for key, pair in result.to_dict().items()]  # fmt: skip
    return {"graph": result.graph, "columns": ["", "Before", "After"], "rows": rows}


def register_graph(graph: MotionGraph, settings: RegisteredSettings) -> Found:
    """Add registered transitions."""
    return {"graph": graph.with_registered_transitions(settings=settings)}


def build_by_similarity(motions: Sequence[Motion], settings: SimilaritySettings) -> Found:
    """Build a graph by the similarity of poses."""
    from marey.graph import MotionGraph

    return {"graph": MotionGraph.build_by_similarity(motions, settings=settings)}


def evaluate_graph(graph: MotionGraph, settings: EvaluationSettings) -> Found:
    """Measure a live character of a graph."""
    from marey.control.evaluate import evaluate_stream

    metrics = evaluate_stream(lambda: graph.stream(), settings=settings).to_dict()
    shown = {
        "response": ("Response time", "{:.2f} s"), "response_p90": ("Slowest tenth", "{:.2f} s"),
        "answered": ("Turns completed", "{:.0%}"), "path_error": ("Path error", "{:.2f} m"),
        "path_error_max": ("Largest path error", "{:.2f} m"), "speed": ("Speed", "{:.2f} m/s"),
        "skate": ("Foot sliding", "{:.3f} m/s"), "frames_per_second": ("Frames per second", "{:.0f}"),
    }  # fmt: skip
    return {
        "columns": ["", "Value"],
        "rows": [[title, form.format(metrics[name])] for name, (title, form) in shown.items()],
    }


def make_variations(motions: Sequence[Motion], n: int, settings: VariationSettings) -> list[Motion]:
    """Blend takes with random weights."""
    from marey.graph import variations

    return list(variations(motions, n, settings=settings))
