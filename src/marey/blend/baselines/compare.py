"""All path finders and all ways to blend on one pair of motions: cost, accuracy and time in tables (thesis S 7.3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.blend.baselines import paths
from marey.blend.baselines.cubic import cubic_blend
from marey.blend.baselines.discrete import discrete_blend
from marey.blend.baselines.linear import linear_blend
from marey.blend.baselines.paths import SLOPE_LIMIT, THRESHOLD, TIME_LIMIT, End, GridPath, Start
from marey.blend.baselines.poses import Weights, prepare_clips
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError, NoResult
from marey.measure import measure
from marey.register.registration import RegistrationCurve

METRICS = (
    "slide_weighted_speed",
    "skate_ratio",
    "penetration_max",
    "jitter",
    "angular_velocity_max",
    "path_length",
    "speed_mean",
    "stride_rate",
)
"""The measures of the blends that are put side by side: those that need no contacts, which only our blends have."""

_GRAYS = 255
OURS, OUR_BLEND = "dynamic timewarping", "registration curves"


@dataclass(frozen=True, slots=True, eq=False)
class PathRow:
    """How one way to find a path did.

    cost : the sum of its cells, m^2 (of gray levels where costs are whole); None where there is no path.
    distance : meters, the root of the mean of its cells.
    accuracy : percent, 100 * optimal cost / cost (S (4), the right way up).
    seconds : it took, without the grid.
    note : why there is no path, or that the search was cut.
    """

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    seconds: float
    path: GridPath | None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        path = self.path
        return {
            "method": self.method,
            "cost": self.cost,
            "distance": self.distance,
            "accuracy": self.accuracy,
            "seconds": self.seconds,
            "cells": None if path is None else len(path),
            "visited": None if path is None else path.visited,
            "complete": None if path is None else path.complete,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, eq=False)
class BlendRow:
    """How one way to blend did.

    seconds : it took, without grid, path and registration; None for an input.
    performance : percent, 100 * time of the discrete timewarp / its time (S (6)).
    figures : measures by name, in the units that `Comparison.units` gives; None where one cannot be had.
    note : why there is no blend.
    """

    method: str
    motion: Motion | None
    seconds: float | None
    performance: float | None
    figures: Mapping[str, float | None]
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        motion = self.motion
        return {
            "method": self.method,
            "frames": None if motion is None else len(motion),
            "seconds": self.seconds,
            "performance": self.performance,
            "figures": dict(self.figures),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The tables.

    frames : of both motions, as they were compared.
    optimum : the least cost found; `proven` says whether it is the least there is.
    paths : a row for each path finder.
    inputs : the motions themselves, for their figures.
    blends : a row for each way to blend.
    units : of the figures.
    notes : what was done to the motions beforehand, and what could not be.
    """

    frames: tuple[int, int]
    optimum: float | None
    proven: bool
    paths: tuple[PathRow, ...]
    inputs: tuple[BlendRow, ...]
    blends: tuple[BlendRow, ...]
    units: Mapping[str, str]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "frames": list(self.frames),
            "optimum": self.optimum,
            "proven": self.proven,
            "paths": [row.as_dict() for row in self.paths],
            "inputs": [row.as_dict() for row in self.inputs],
            "blends": [row.as_dict() for row in self.blends],
            "units": dict(self.units),
            "notes": list(self.notes),
        }


def compare(
    a: Motion | RegistrationCurve,
    b: Motion | None = None,
    weights: Weights = (0.5, 0.5),
    *,
    start: Start = "corner",
    end: End = "corner",
    slope_limit: int = SLOPE_LIMIT,
    threshold: float = THRESHOLD,
    time_limit: float | None = TIME_LIMIT,
    whole_costs: bool = False,
    n_frames: int | None = None,
    window: float = 0.1,
    markers: str = "body",
    crop: str | None = "auto",
    blends: bool = True,
) -> Comparison:
    """Find paths through the grid of two motions, and blend them, by every method there is.

    Parameters
    ----------
    a, b : two motions, or one registration of two. Motions are registered first, so that all methods start from the
        same crops; where that is refused they are taken whole, and a note says why.
    weights : (2,), or a function of time in seconds.
    start, end, slope_limit : of the paths; see `paths`.
    threshold : of the recursion, a share of the largest cell.
    time_limit : seconds for each search; None for none.
    whole_costs : round the cells to gray levels 0 to 255, as S does, instead of square meters.
    n_frames : of the cubic timewarp.
    window, markers : of the grid.
    crop : as in `marey.register`.
    blends : False finds paths only.
    """
    registration, notes = _register_pair(a, b, crop=crop, window=window, markers=markers)
    if registration is not None:
        one, two = prepare_clips(registration.motions, "compare")
    else:
        assert isinstance(a, Motion)
        assert b is not None
        one, two = prepare_clips([a, b], "compare")
    from marey.compare.grid import distance_grid

    values = distance_grid(one, two, window=window, markers=markers).values
    if whole_costs:
        values = np.rint(_GRAYS * values / max(float(values.max()), 1e-300))
    rows = _make_path_rows(values, start, end, slope_limit, threshold, time_limit)
    found = [row.path for row in rows if row.path is not None]
    best = min(found, key=lambda path: path.cost, default=None)
    inputs: tuple[BlendRow, ...] = ()
    made: tuple[BlendRow, ...] = ()
    if blends:
        inputs = tuple(BlendRow(clip.name, clip, None, None, _measure_blend(clip)) for clip in (one, two))
        made = _make_blend_rows(one, two, weights, best, registration, n_frames)
    return Comparison(
        frames=(len(one), len(two)),
        optimum=None if best is None else best.cost,
        proven=rows[0].path is not None and rows[0].path.complete,
        paths=rows,
        inputs=inputs,
        blends=made,
        units=_find_units(one) if blends else {},
        notes=notes,
    )


def _register_pair(
    a: Motion | RegistrationCurve, b: Motion | None, **options: Any
) -> tuple[RegistrationCurve | None, tuple[str, ...]]:
    """The registration, or None where it was refused, and notes."""
    if isinstance(a, RegistrationCurve):
        if b is not None or len(a.motions) != 2:
            raise InvalidValue(f"expected two motions or one registration of two, got one of {len(a.motions)}")
        return a, a.notes
    if not isinstance(a, Motion) or not isinstance(b, Motion):
        got = type(b if isinstance(a, Motion) else a).__name__
        raise InvalidValue(f"expected two motions or one registration of two, got {got}")
    from marey.register.registration import register

    try:
        made = register([a, b], **options)
    except NoResult as refusal:
        return None, (f"registration was refused, so the motions are taken whole: {refusal}",)
    return made, made.notes


# Paths --------------------------------------------------------------------------------------------------------


def _make_path_rows(
    values: Floats, start: Start, end: End, slope_limit: int, threshold: float, time_limit: float | None
) -> tuple[PathRow, ...]:
    rules: dict[str, Any] = {"start": start, "end": end, "slope_limit": slope_limit}
    finders: dict[str, Callable[[Floats], GridPath]] = {
        "brute force": lambda grid: paths.brute_force(grid, time_limit=time_limit, **rules),
        f"recursion below {100 * threshold:.3g} %": lambda grid: paths.thresholded(
            grid, threshold=threshold, time_limit=time_limit, **rules
        ),
        "greedy": lambda grid: paths.greedy(grid, **rules),
        OURS: lambda grid: paths.dynamic(grid, **rules),
    }
    found = {method: _run_timed(lambda finder=finder: finder(values)) for method, finder in finders.items()}  # type: ignore[misc]
    costs = [path.cost for path, _, _ in found.values() if path is not None]
    optimum = min(costs, default=None)
    return tuple(_make_path_row(method, *row, optimum, time_limit) for method, row in found.items())


def _make_path_row(
    method: str, path: GridPath | None, seconds: float, note: str, optimum: float | None, time_limit: float | None
) -> PathRow:
    if path is None or optimum is None:
        return PathRow(method, None, None, None, seconds, None, note)
    accuracy = 100.0 * optimum / path.cost if path.cost > 0.0 else 100.0
    cut = "" if path.complete else f"cut after {time_limit:g} s; the best path until then"
    return PathRow(method, path.cost, float(np.sqrt(path.mean)), accuracy, seconds, path, cut)


def _run_timed(work: Callable[[], Any]) -> tuple[Any, float, str]:
    """What it made, or None where there is no result; how long it took; why there is none."""
    before = time.perf_counter()
    made, note = None, ""
    try:
        made = work()
    except NoResult as refusal:
        note = str(refusal)
    return made, time.perf_counter() - before, note


# Blends -------------------------------------------------------------------------------------------------------


def _make_blend_rows(
    a: Motion,
    b: Motion,
    weights: Weights,
    path: GridPath | None,
    registration: RegistrationCurve | None,
    n_frames: int | None,
) -> tuple[BlendRow, ...]:
    from marey.blend.blend import blend

    def along(warped: Callable[..., Motion], **options: Any) -> Motion:
        if path is None:
            raise NoResult("there is no path to go by")
        return warped(a, b, weights, path=path, **options)

    def ours() -> Motion:
        if registration is None:
            raise NoResult("registration was refused")
        return blend(registration, weights)

    ways: dict[str, Callable[[], Motion]] = {
        "linear, Euler angles": lambda: linear_blend([a, b], weights, angles="euler"),
        "linear, quaternions": lambda: linear_blend([a, b], weights),
        "linear, root velocities": lambda: linear_blend([a, b], weights, root="velocities"),
        "timewarp, discrete path": lambda: along(discrete_blend),
        "timewarp, cubic spline": lambda: along(cubic_blend, n_frames=n_frames),
        OUR_BLEND: ours,
    }
    done = {}
    for method, way in ways.items():
        _run_timed(way)  # a discarded run, which imports what it needs and fills caches
        done[method] = _run_timed(way)
    discrete = done["timewarp, discrete path"]
    rows = []
    for method, (motion, seconds, note) in done.items():
        known = motion is not None and discrete[0] is not None
        performance = 100.0 * discrete[1] / seconds if known else None
        figures = dict.fromkeys(METRICS) if motion is None else _measure_blend(motion)
        rows.append(BlendRow(method, motion, None if motion is None else seconds, performance, figures, note))
    return tuple(rows)


def _measure_blend(motion: Motion) -> dict[str, float | None]:
    try:
        report = measure(motion)
    except MareyError:  # such as a single frame
        return dict.fromkeys(METRICS)
    return {name: report[name].value for name in METRICS}


def _find_units(motion: Motion) -> dict[str, str]:
    report = measure(motion)
    return {name: report[name].unit for name in METRICS}
