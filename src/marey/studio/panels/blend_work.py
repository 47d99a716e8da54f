"""Functions of the Blend panel that run in the worker."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from marey.blend.settings import BlendSettings
from marey.blend.weights import WeightFunction
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import DifferentSkeletons, InvalidValue, MareyError, NoResult, collect_warnings
from marey.register.registration import RegistrationCurve
from marey.studio.forms import word_error
from marey.studio.grades import keep_finite
from marey.studio.panels.blend_messages import StudyBlend
from marey.studio.work import Progress

# Limits of a grid: pixels per side, computed cells, reported minima.
_MAX_PIXELS = 360
_MAX_CELLS = 12_000_000
_MAX_MINIMA = 400
_PATH_POINTS = 200
# Maximum iterations to make the weight curves match the length of the blend.
_TRIES = 5

# Note about clips that are blended without a registration.
UNSYNCHRONIZED = "full clips are used because"

Weights = Sequence[float] | WeightFunction
Options = dict[str, Any]
Pair = tuple[float, float]


def study(
    progress: Progress, motions: list[Motion], other: int, window: float, registration: Options, cache_file: str
) -> dict[str, Any]:
    """Register motions and compute a distance grid: see `marey.studio.panels.blend_messages.BlendStudy`.

    cache_file : the file that caches the registration for `blend_motions`.
    """
    from marey.core.placement import find_skeleton_difference
    from marey.register.prepare import prepare_motions

    progress(0.1, "synchronizing the motions")
    try:
        ready, notes = prepare_motions(motions)
    except DifferentSkeletons as error:
        first = motions[0].skeleton
        misfits = [k for k, motion in enumerate(motions) if find_skeleton_difference(first, motion.skeleton)]
        empty: dict[str, Any] = {"paths": [], "crops": [], "notes": [], "distance": None, "matches": 0}
        return empty | {"grid": None, "refused": word_error(error, StudyBlend), "misfits": misfits}
    reg, refused = None, ""
    loops, how = _cut_loops(motions, registration)
    try:
        reg = load_or_register(loops, how, cache_file)
    except NoResult as refusal:
        refused = word_error(refusal, StudyBlend)
    progress(0.5, "comparing all frames")
    image, step = _describe_grid(ready[0], ready[other], window)
    crops = [[0, len(motion)] for motion in ready] if reg is None else reg.crops.tolist()
    if how is not registration:  # the grid shows the whole motions
        starts = [round(loop.source.provenance[-1]["start"] * ready[0].fps / loop.fps) for loop in loops]
        crops = [[start + a, start + b] for start, (a, b) in zip(starts, crops, strict=True)]
    clips = list(ready if reg is None else reg.motions)
    paths = _describe_paths(clips, crops, other, reg)
    return {
        "grid": image,
        "paths": [{"method": method, "points": (points / step).round(2).tolist()} for method, points in paths.items()],
        "refused": refused,
        "distance": None if reg is None else reg.distance,
        "matches": 0 if reg is None else len(reg.matches),
        "crops": crops,
        "notes": list(notes if reg is None else reg.notes),
        "misfits": [],
    }


def fit_skeleton(progress: Progress, motion: Motion, target: Motion, frame: int, to_frame: int) -> dict[str, Any]:
    """Retarget a motion to another's skeleton. Return it with notes.

    The reference poses are the rest poses, or the given frames if a rest pose is not a standing pose.
    """
    from marey.edit import retarget

    progress(0.1, "retargeting")
    with collect_warnings() as notes:
        for pose, target_pose in ((None, None), (frame, None), (None, to_frame), (frame, to_frame)):
            try:
                result = retarget(motion, target, pose=pose, target_pose=target_pose)
                break
            except InvalidValue:
                if pose is not None and target_pose is not None:
                    raise
    for body, at in ((motion, pose), (target, target_pose)):
        if at is not None:
            notes.append(f"the rest pose of {body.name!r} is not a standing pose, so frame {at} was used instead")
    return {
        "motion": replace(result, name=f"{motion.name} as {target.name}"), "notes": notes, "pose": pose,
        "target_pose": target_pose,
    }  # fmt: skip


def _cut_loops(motions: list[Motion], registration: Options) -> tuple[list[Motion], Options]:
    """Return the motions, or loops cut from them if requested, and the options of their registration."""
    if not registration.get("cut_loops"):
        return motions, registration
    from marey.edit import cycle

    return [cycle(motion) for motion in motions], {**registration, "cut_loops": False, "cyclic": True}


def load_or_register(motions: list[Motion], registration: Options, cache_file: str) -> RegistrationCurve:
    """Register the motions, or load the registration from `cache_file`."""
    from marey.register import register

    if Path(cache_file).is_file():
        try:
            return RegistrationCurve.load(cache_file, motions)
        except MareyError:
            Path(cache_file).unlink(missing_ok=True)
    result = register(motions, **registration)
    result.save(cache_file)
    return result


def blend_motions(
    progress: Progress,
    motions: list[Motion],
    weights: list[float],
    curves: list[list[Pair]],
    settings: Options,
    registration: Options,
    cache_file: str,
) -> dict[str, Any]:
    """Blend motions with one of the methods, with constant `weights` or weight `curves`."""
    progress(0.1, "synchronizing the motions")
    motions, registration = _cut_loops(motions, registration)
    make, notes = _maker(motions, BlendSettings(**settings), registration, cache_file)
    progress(0.5, "blending")
    if not curves:
        return {"motion": make(weights or [1.0 / len(motions)] * len(motions)), "at": None, "notes": list(notes)}
    result, keys = _along_curves(make, curves, len(motions))
    return {"motion": result, "at": None, "notes": list(notes), "keys": keys}


def make_transition(progress: Progress, motions: list[Motion], at: Pair | None, settings: Options) -> dict[str, Any]:
    """Make a transition between two motions, with one of the methods."""
    from marey.blend.transition import transition

    if len(motions) != 2:
        raise InvalidValue(f"a transition needs two clips, got {len(motions)}; select two")
    progress(0.2, "finding the best match" if at is None else "blending")
    result = transition(motions[0], motions[1], at=None if at is None else (at[0], at[1]), **settings)
    record = next(step for step in result.source.provenance if step["op"].endswith("transition"))
    return {"motion": result, "at": list(record["at"]), "notes": list(record.get("notes", ()))}


def statistics(progress: Progress, motions: list[Motion], weights: list[float], settings: Options) -> dict[str, Any]:
    """Compare all alignment and blend methods on two motions."""
    from marey.blend.baselines import compare
    from marey.measure.display import get_metric_format

    if len(motions) != 2:
        raise InvalidValue(f"comparing methods needs two clips, got {len(motions)}; select two")
    progress(0.1, "comparing methods")
    found = compare(motions[0], motions[1], weights, **settings)
    formats = {name: get_metric_format(name, unit) for name, unit in found.units.items()}
    rows = [*found.inputs, *found.blends]
    return {
        "paths": [
            {
                "method": row.method,
                "cost": keep_finite(row.cost),
                "distance": keep_finite(row.distance),
                "accuracy": keep_finite(row.accuracy),
                "milliseconds": 1000.0 * row.seconds,
                "note": row.note,
            }
            for row in found.paths
        ],
        "proven": found.proven,
        "names": [each.title for each in formats.values()],
        "units": [each.unit for each in formats.values()],
        "blends": [
            {
                "method": row.method,
                "milliseconds": None if row.seconds is None else 1000.0 * row.seconds,
                "metrics": [keep_finite(each.convert(row.metrics.get(name))) for name, each in formats.items()],
                "note": row.note,
            }
            for row in rows
        ],
        "notes": list(found.notes),
    }


class Maker(Protocol):
    """Blends for given weights; options replace those of the panel."""

    def __call__(self, weights: Weights, **options: Any) -> Motion: ...


def _maker(
    motions: list[Motion], settings: BlendSettings, registration: Options, cache_file: str
) -> tuple[Maker, tuple[str, ...]]:
    """Return a function that blends the motions for given weights, and notes about the preparation."""
    from marey.blend.blend import blend, blend_simply
    from marey.register.prepare import prepare_motions

    try:
        reg = load_or_register(motions, registration, cache_file)
    except NoResult as refusal:
        if settings.method == "registered":
            raise
        clips, notes = prepare_motions(motions)
        return (
            lambda weights, **options: blend_simply(clips, weights, settings),
            (*notes, f"{UNSYNCHRONIZED} {refusal.message}"),
        )
    return lambda weights, **options: blend(reg, weights, **options, settings=settings), reg.notes


def _along_curves(
    make: Maker, curves: list[list[Pair]], n: int
) -> tuple[Motion, tuple[list[float], list[list[float]]]]:
    """Blend with weight curves over the length of the blend. Also return the keys: times and weights.

    The length depends on the curves: iterate to agreement.
    """
    times, rows = _keys(curves, n)
    span = make(_compute_mean(times, rows).tolist(), feet=None).duration
    for _ in range(_TRIES):
        draft = make(_make_weights(times, rows, span), feet=None)
        if abs(draft.duration - span) < 1.5 / draft.fps:
            break
        span = draft.duration
    return make(_make_weights(times, rows, span)), (_convert_to_seconds(times, span).tolist(), rows.tolist())


def _make_weights(times: Floats, rows: Floats, span: float) -> WeightFunction:
    from marey.blend.weights import interpolate_weights

    return interpolate_weights(_convert_to_seconds(times, span), rows)


def _convert_to_seconds(times: Floats, span: float) -> Floats:
    return np.asarray(times * max(span, 1e-3))


def _keys(curves: list[list[Pair]], n: int) -> tuple[Floats, Floats]:
    """Return the T times (T,), from 0 to 1, at which any curve has a point, and the weights (T, n) at these times."""
    if len(curves) != n:
        raise InvalidValue(f"expected {n} curves, one per motion, got {len(curves)}")
    tables = [np.array(curve, dtype=np.float64).reshape(-1, 2) for curve in curves]
    for table in tables:
        if not len(table) or table.min() < 0.0 or table[:, 0].max() > 1.0 or (np.diff(table[:, 0]) < 0.0).any():
            raise InvalidValue(
                "a curve needs (time, weight) points with increasing times from 0 to 1 and weights of at least 0"
            )
    times = np.unique(np.concatenate([table[:, 0] for table in tables]).round(6))
    return times, np.stack([np.interp(times, table[:, 0], table[:, 1]) for table in tables], axis=1)


def _compute_mean(times: Floats, rows: Floats) -> Floats:
    """Return the average weights (n,) of the curves over time."""
    if len(times) == 1:
        return np.asarray(rows[0])
    return np.asarray(np.trapezoid(rows, times, axis=0) / (times[-1] - times[0]))


# The grid -------------------------------------------------------------------------------------------------------------


def _describe_grid(a: Motion, b: Motion, window: float) -> tuple[dict[str, Any], int]:
    """Return the distance grid as an image, and the number of motion frames per grid frame."""
    from marey.compare.grid import distance_grid
    from marey.edit import resample

    if not 0.0 <= window <= 5.0:
        raise InvalidValue(f"window must be from 0 to 5 s, not {window:g} s")
    step = math.ceil(math.sqrt(len(a) * len(b) / _MAX_CELLS))
    if step > 1:
        a, b = (resample(motion, motion.fps / step) for motion in (a, b))
    grid = distance_grid(a, b, window=window)
    cells = grid.minima()
    found = np.sqrt(grid.values[cells[:, 0], cells[:, 1]])
    order = np.argsort(found, kind="stable")[:_MAX_MINIMA]
    small = np.sqrt(_pool(grid.values))
    largest = float(small.max())
    pixels = np.rint(small * (255.0 / max(largest, 1e-12))).astype(np.uint8)
    return {
        "rows": pixels.shape[0],
        "columns": pixels.shape[1],
        "pixels": base64.b64encode(pixels.tobytes()).decode(),
        "largest": largest,
        "rate": a.fps,
        "frames": [len(a), len(b)],
        "minima": np.column_stack([cells[order], found[order].round(5)]).tolist(),
    }, step


def _pool(values: Floats) -> Floats:
    """Average blocks of cells down to a drawable size."""
    for axis in (0, 1):
        n = values.shape[axis]
        if n > _MAX_PIXELS:
            firsts = np.arange(_MAX_PIXELS) * n // _MAX_PIXELS
            counts = np.diff(firsts, append=n)
            values = np.add.reduceat(values, firsts, axis=axis) / (counts[:, None] if axis == 0 else counts)
    return values


def _describe_paths(
    clips: list[Motion], crops: list[list[int]], other: int, reg: RegistrationCurve | None
) -> dict[str, Floats]:
    """Return the time alignment of the first motion with `other`, as frame pairs (N, 2), for each available method."""
    from marey.blend.baselines import cubic_warp, dynamic
    from marey.compare.grid import distance_grid

    first = np.array([crops[0][0], crops[other][0]], dtype=np.float64)
    one, two = clips[0], clips[other]
    out: dict[str, Floats] = {}
    if reg is not None:
        seconds = reg.timewarp(np.linspace(0.0, 1.0, _PATH_POINTS))[:, [0, other]]
        out["registered"] = first + seconds * reg.fps
    shorter = min(map(len, clips)) - 1
    out["linear"] = first + np.array([[0, 0], [shorter, shorter]])
    if len(clips) == 2 and len(one) * len(two) <= _MAX_CELLS:
        try:
            cells = dynamic(distance_grid(one, two).values).cells
        except NoResult:  # lengths that differ more than the slope limit allows
            return out
        out["discrete"] = first + cells
        out["cubic"] = first + cubic_warp(cells, _PATH_POINTS)
    return out
