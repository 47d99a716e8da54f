"""Compare all path finders and blending methods on one pair of motions: cost, accuracy and time (Sako 7.3)."""

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
from marey.blend.baselines.paths import GridPath, round_costs
from marey.blend.baselines.poses import Weights
from marey.blend.settings import ComparisonSettings
from marey.core.arrays import Floats
from marey.core.clips import prepare_clips
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_fields, renamed_methods, renamed_parameters
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
"""Metrics by which blends are compared. None needs contacts, because only registered blends have contacts."""

OURS, OUR_BLEND = "dynamic timewarping", "registration curves"


@renamed_methods(as_dict="to_dict")
@dataclass(frozen=True, slots=True, eq=False)
class PathRow:
    """Result of one method to find a path.

    cost : sum of the path's cells, in m^2, or in gray levels if costs are rounded; None if no path was found.
    distance : root of the mean squared distance along the path, in meters.
    accuracy : percent, 100 * optimal cost / cost (the reciprocal of Sako, eq. 4).
    seconds : computation time of the search, without the grid.
    note : why no path was found, or that the search was stopped early.
    """

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    seconds: float
    path: GridPath | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
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


@renamed_methods(as_dict="to_dict")
@renamed_fields(figures="metrics")
@dataclass(frozen=True, slots=True, eq=False)
class BlendRow:
    """Result of one blending method.

    seconds : computation time of the blend, without grid, path and registration; None for an input motion.
    performance : percent, 100 * time of the discrete timewarp / time of this method (Sako, eq. 6).
    metrics : values by metric name, in the units of `Comparison.units`; None if a metric is not available.
    note : why there is no blend.
    """

    method: str
    motion: Motion | None
    seconds: float | None
    performance: float | None
    metrics: Mapping[str, float | None]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        motion = self.motion
        return {
            "method": self.method,
            "frames": None if motion is None else len(motion),
            "seconds": self.seconds,
            "performance": self.performance,
            "metrics": dict(self.metrics),
            "note": self.note,
        }


@renamed_methods(as_dict="to_dict")
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Results of all path finders and blending methods on one pair of motions.

    frames : numbers of frames of both motions, as compared.
    optimum : lowest cost found; `proven` says whether no path can be cheaper.
    paths : a row for each path finder.
    inputs : the motions themselves, for their metrics.
    blends : a row for each blending method.
    units : units of the metrics, by name.
    notes : sentences on how the motions were prepared, and on problems.
    cost_unit : unit of the costs of paths, "m2" or "gray levels".
    """

    frames: tuple[int, int]
    optimum: float | None
    proven: bool
    paths: tuple[PathRow, ...]
    inputs: tuple[BlendRow, ...]
    blends: tuple[BlendRow, ...]
    units: Mapping[str, str]
    notes: tuple[str, ...]
    cost_unit: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "frames": list(self.frames),
            "optimum": self.optimum,
            "proven": self.proven,
            "paths": [row.to_dict() for row in self.paths],
            "inputs": [row.to_dict() for row in self.inputs],
            "blends": [row.to_dict() for row in self.blends],
            "units": dict(self.units),
            "notes": list(self.notes),
            "cost_unit": self.cost_unit,
        }


_declare: Callable[[Callable[..., Comparison]], Callable[..., Comparison]] = operation(ComparisonSettings)


@renamed_parameters(search="settings")
@_declare
def compare(
    a: Motion | RegistrationCurve,
    b: Motion | None = None,
    weights: Weights = (0.5, 0.5),
    *,
    settings: ComparisonSettings,
) -> Comparison:
    """Run every path finder and every blending method on two motions and return a `Comparison`.

    Parameters
    ----------
    a, b : two motions, or one registration of two. Motions are registered first, so that all methods use the same
        crops. If registration fails, full motions are used, and a note says why.
    weights : (2,), or a function of time in seconds.
    """
    registration, notes = _register_pair(a, b, crop=settings.crop, window=settings.window, markers=settings.markers)
    if registration is not None:
        one, two = prepare_clips(registration.motions, "compare", min_clips=2).motions
    else:
        assert isinstance(a, Motion)
        assert b is not None
        one, two = prepare_clips([a, b], "compare", min_clips=2).motions
    from marey.compare.grid import distance_grid

    grid = distance_grid(one, two, window=settings.window, markers=settings.markers)
    rows = _make_path_rows(grid.values, settings)
    found = [row.path for row in rows if row.path is not None]
    best = min(found, key=lambda path: path.cost, default=None)
    inputs: tuple[BlendRow, ...] = ()
    result: tuple[BlendRow, ...] = ()
    if settings.blends:
        inputs = tuple(BlendRow(clip.name, clip, None, None, _measure_blend(clip)) for clip in (one, two))
        result = _make_blend_rows(one, two, weights, best, registration, settings.n_frames)
    return Comparison(
        frames=(len(one), len(two)),
        optimum=None if best is None else best.cost,
        proven=rows[0].path is not None and rows[0].path.complete,
        paths=rows,
        inputs=inputs,
        blends=result,
        units=_find_units(one) if settings.blends else {},
        notes=notes,
        cost_unit="gray levels" if settings.whole_costs else "m2",
    )


def _register_pair(
    a: Motion | RegistrationCurve, b: Motion | None, **options: Any
) -> tuple[RegistrationCurve | None, tuple[str, ...]]:
    """Return the registration, None if it failed, and notes."""
    if isinstance(a, RegistrationCurve):
        if b is not None or len(a.motions) != 2:
            raise InvalidValue(
                f"expected two motions, or only a registration of two, got a registration of {len(a.motions)}"
            )
        return a, a.notes
    if not isinstance(a, Motion) or not isinstance(b, Motion):
        got = type(b if isinstance(a, Motion) else a).__name__
        raise InvalidValue(f"expected two motions, or only a registration of two, got {got}")
    from marey.register.registration import register

    try:
        result = register([a, b], **options)
    except NoResult as refusal:
        return None, (f"the motions cannot be registered, so full motions are used: {refusal}",)
    return result, result.notes


# Paths --------------------------------------------------------------------------------------------------------


def _make_path_rows(values: Floats, search: ComparisonSettings) -> tuple[PathRow, ...]:
    start = search.start if search.start_cell is None else search.start_cell
    rules: dict[str, Any] = {"start": start, "end": search.end, "slope_limit": search.slope_limit}
    finders: dict[str, Callable[[Floats], GridPath]] = {
        "brute force": lambda grid: paths.brute_force(grid, time_limit=search.time_limit, **rules),
        f"recursion below {100 * search.threshold:.3g} %": lambda grid: paths.threshold_search(
            grid, threshold=search.threshold, time_limit=search.time_limit, **rules
        ),
        "greedy": lambda grid: paths.greedy(grid, **rules),
        OURS: lambda grid: paths.dynamic(grid, **rules),
    }
    costs_of_cells = round_costs(values) if search.whole_costs else values
    found = {method: _run_timed(lambda finder=finder: finder(costs_of_cells)) for method, finder in finders.items()}  # type: ignore[misc]
    costs = [path.cost for path, _, _ in found.values() if path is not None]
    optimum = min(costs, default=None)
    return tuple(_make_path_row(method, *row, optimum, search.time_limit, values) for method, row in found.items())


def _make_path_row(
    method: str,
    path: GridPath | None,
    seconds: float,
    note: str,
    optimum: float | None,
    time_limit: float | None,
    values: Floats,
) -> PathRow:
    if path is None or optimum is None:
        return PathRow(method, None, None, None, seconds, None, note)
    accuracy = 100.0 * optimum / path.cost if path.cost > 0.0 else 100.0
    cut = "" if path.complete else f"stopped after {time_limit:g} s; this is the best path found by then"
    distance = float(np.sqrt(values[tuple(path.cells.T)].mean()))
    return PathRow(method, path.cost, distance, accuracy, seconds, path, cut)


def _run_timed(work: Callable[[], Any]) -> tuple[Any, float, str]:
    """Run `work`; return its result (None if it fails), the seconds it took, and the reason why it failed."""
    before = time.perf_counter()
    result, note = None, ""
    try:
        result = work()
    except NoResult as refusal:
        note = str(refusal)
    return result, time.perf_counter() - before, note


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
            raise NoResult("no path was found; the table of path finders gives the reason")
        return warped(a, b, weights, path=path, **options)

    def blend_registered() -> Motion:
        if registration is None:
            raise NoResult("the motions could not be registered; the notes give the reason")
        return blend(registration, weights)

    methods: dict[str, Callable[[], Motion]] = {
        "linear, Euler angles": lambda: linear_blend([a, b], weights, angles="euler"),
        "linear, quaternions": lambda: linear_blend([a, b], weights),
        "linear, root velocities": lambda: linear_blend([a, b], weights, root="velocities"),
        "timewarp, discrete path": lambda: along(discrete_blend),
        "timewarp, cubic spline": lambda: along(cubic_blend, n_frames=n_frames),
        OUR_BLEND: blend_registered,
    }
    done = {}
    for method, run in methods.items():
        _run_timed(run)  # warm-up run: imports modules and fills caches
        done[method] = _run_timed(run)
    discrete = done["timewarp, discrete path"]
    rows = []
    for method, (motion, seconds, note) in done.items():
        known = motion is not None and discrete[0] is not None
        performance = 100.0 * discrete[1] / seconds if known else None
        metrics = dict.fromkeys(METRICS) if motion is None else _measure_blend(motion)
        rows.append(BlendRow(method, motion, None if motion is None else seconds, performance, metrics, note))
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
