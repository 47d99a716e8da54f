"""Fit uniform quadratic B-splines by least squares: banded normal equations, lower bounds by an active set.

Points that depend on one another (a cyclic spline's last two on its first two, or neighbors whose step is held at its
bound) share one unknown: ``points = unknowns[group] + offset``. The normal equations of the unknowns keep their
bandwidth of two, so each solution takes time linear in the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marey.maths._arrays import FloatArray

Ints = npt.NDArray[np.intp]

# Weight of a sample that must be interpolated; its small residual is then removed exactly.
_HEAVY = 1e4
# Minimum weight of the second differences, relative to a sample: it determines points without samples.
_STRAIGHTEN = 1e-10
_DENSE = 8  # maximum number of unknowns at which bands would overlap around a cycle
_FEW_COLUMNS = 6
_ROUNDS_OF_BLOCKS = 3
# Relative tolerance for a step to be at its bound and for a multiplier to be 0.
_SLACK = 1e-13
# Maximum exchanges per step, far more than ever observed; after that, the remaining steps are set to the bound.
_MAX_EXCHANGES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The part of a least-squares fit that does not depend on the sample values.

    span : (N,) spline span of each sample.
    basis : (N, 3) values of the three basis functions that are not zero at each sample.
    weight : (N,) weight of each sample.
    bands : (3, K) diagonal and two upper diagonals of the normal matrix.
    """

    span: Ints
    basis: FloatArray
    weight: FloatArray
    bands: FloatArray

    @classmethod
    def of(cls, span: Ints, x: FloatArray, n_points: int, heavy_ends: bool, smooth: float) -> Design:
        basis = np.stack([0.5 * (1.0 - x) ** 2, 0.5 + x - x * x, 0.5 * x * x], axis=-1)
        weight = np.ones(len(span))
        if heavy_ends:
            weight[[0, -1]] = _HEAVY
        bands = np.zeros((3, n_points))
        for a in range(3):
            for b in range(a, 3):
                bands[b - a] += np.bincount(span + a, weight * basis[:, a] * basis[:, b], minlength=n_points)
        second = (1.0, -2.0, 1.0)
        for a in range(3):
            for b in range(a, 3):
                bands[b - a, a : n_points - 2 + a] += max(smooth, _STRAIGHTEN) * second[a] * second[b]
        return cls(span, basis, weight, bands)

    def moments(self, samples: FloatArray) -> FloatArray:
        """Return the right-hand sides (K, C) of the normal equations for samples (N, C)."""
        out = np.zeros((self.bands.shape[1], samples.shape[1]))
        for a in range(3):
            np.add.at(out, self.span + a, (self.weight * self.basis[:, a])[:, None] * samples)
        return np.asarray(out)

    def product(self, points: FloatArray) -> FloatArray:
        """Multiply the normal matrix by points (K, C)."""
        out = self.bands[0][:, None] * points
        for d in (1, 2):
            band = self.bands[d, :-d, None]
            out[:-d] += band * points[d:]
            out[d:] += band * points[:-d]
        return np.asarray(out)


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Which control points share an unknown of the fit.

    group : (K,) index of the unknown of each control point, from 0.
    period : (C,) offset of the last two points from the first two in a cyclic fit; None if the fit is not cyclic.
    """

    group: Ints
    period: FloatArray | None

    @classmethod
    def of(cls, n_points: int, period: FloatArray | None) -> Ties:
        group = np.arange(n_points)
        if period is not None:
            group = group % (n_points - 2)
        return cls(group, period)

    def offset(self, n_columns: int) -> FloatArray:
        """Return the offset (K, C) of each point from its unknown."""
        out = np.zeros((len(self.group), n_columns))
        if self.period is not None:
            # With one span, the last point is two periods ahead.
            out += (np.arange(len(out)) // (len(out) - 2))[:, None] * self.period
        return np.asarray(out)


def fit_free(design: Design, samples: FloatArray, ties: Ties) -> FloatArray:
    """Return the control points (K, C) of the spline that fits samples (N, C) best, by least squares."""
    # Relative to the first sample: ridge and rounding then do not depend on the samples' distance from 0.
    base = samples[0]
    offset = ties.offset(samples.shape[1])
    return np.asarray(_solve_tied(design, design.moments(samples - base), ties.group, offset) + base)


def fit_bounded(design: Design, samples: FloatArray, ties: Ties, least: FloatArray) -> FloatArray:
    """Fit like `fit_free`; neighboring control points increase by at least `least` (C,)."""
    points = fit_free(design, samples, ties)
    low = (np.diff(points, axis=0) < least).any(axis=0)
    for column in np.flatnonzero(low):
        one = slice(column, column + 1)
        alone = replace(ties, period=None if ties.period is None else ties.period[one])
        points[:, one] = _active_set(design, samples[:, one], alone, float(least[column]))
    return points


def _active_set(design: Design, samples: FloatArray, ties: Ties, least: float) -> FloatArray:
    """Fit one column of samples by block principal pivoting (Kim and Park 2011); return the control points.

    Each round exchanges all steps that are on the wrong side of their bound; when that no longer helps, only the last
    one.
    """
    base = samples[0]
    moments = design.moments(samples - base)
    cycle = None if ties.period is None else len(ties.group) - 2
    n_steps = len(ties.group) - 1 if cycle is None else cycle
    held = np.zeros(n_steps, dtype=bool)
    scale = float(np.abs(samples - base).max())
    slack = _SLACK * scale * float(np.abs(design.bands).max()) * n_steps
    fewest, chances = n_steps + 1, _ROUNDS_OF_BLOCKS
    for _ in range(_MAX_EXCHANGES * (n_steps + 1)):
        group, offset = _find_groups(held, len(ties.group), cycle, ties.period, least)
        points = _solve_tied(design, moments, group, offset)
        steps = np.diff(points[:, 0])[:n_steps]
        pull = _compute_multipliers(design.product(points)[:, 0] - moments[:, 0], held, cycle)
        wrong = np.where(held, pull < -slack, steps < least - _SLACK * scale)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, chances = count, _ROUNDS_OF_BLOCKS
        elif chances > 0:
            chances -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        held ^= wrong
    return np.asarray(_raise_steps(points, least, ties.period) + base)


def _raise_steps(points: FloatArray, least: float, period: FloatArray | None) -> FloatArray:
    """Return `points` (K, 1) with every step below `least`, usually due to rounding, raised to `least`."""
    steps = np.maximum(np.diff(points[:, 0]), least)
    if period is not None:
        cycle = len(points) - 2
        above = steps[:cycle] - least
        steps[:cycle] = least + above * ((float(period[0]) - cycle * least) / above.sum())
        steps[cycle:] = steps[: len(steps) - cycle]
    return np.asarray(points[0] + np.concatenate([[0.0], np.cumsum(steps)])[:, None])


def _find_groups(
    held: npt.NDArray[np.bool_], n_points: int, cycle: int | None, period: FloatArray | None, least: float
) -> tuple[Ints, FloatArray]:
    """Return the index of the solver's unknown for each control point (K,), and the point's offset from it (K, 1).

    Neighboring points whose difference is held at its minimum share one unknown.
    """
    if cycle is None or period is None:
        first = np.concatenate([[True], ~held])
        group = np.cumsum(first) - 1
        starts = np.flatnonzero(first)
        return group, (least * (np.arange(n_points) - starts[group]))[:, None]
    # Go around the cycle, starting at a free step, where a group begins.
    along = np.arange(cycle) + (int(np.flatnonzero(~held)[0]) + 1) % cycle
    first = ~held[(along - 1) % cycle]
    number = np.cumsum(first) - 1
    above = least * (np.arange(cycle) - np.flatnonzero(first)[number]) - (along // cycle) * float(period[0])
    group, offset = np.empty(cycle, dtype=np.intp), np.empty(cycle)
    group[along % cycle], offset[along % cycle] = number, above
    point = np.arange(n_points)
    return group[point % cycle], (offset[point % cycle] + (point // cycle) * float(period[0]))[:, None]


def _compute_multipliers(gradient: FloatArray, held: npt.NDArray[np.bool_], cycle: int | None) -> FloatArray:
    """Return the derivative of the cost with respect to each held step: the gradient summed over the later points of
    its group.
    """
    if cycle is None:
        return np.asarray(-np.cumsum(gradient)[:-1])
    around = np.zeros(cycle)
    np.add.at(around, np.arange(len(gradient)) % cycle, gradient)
    along = (np.arange(cycle) + int(np.flatnonzero(~held)[0]) + 1) % cycle
    out = np.empty(cycle)
    out[along] = -np.cumsum(around[along])
    return np.asarray(out)


def _solve_tied(design: Design, moments: FloatArray, group: Ints, offset: FloatArray) -> FloatArray:
    """Return the points (K, C) of least cost of the form ``unknowns[group] + offset``."""
    n = int(group.max()) + 1
    right = np.zeros((n, moments.shape[1]))
    np.add.at(right, group, moments - design.product(offset))
    if n <= _DENSE:
        unknowns = np.linalg.solve(_make_dense(design.bands, group, n), right)
    else:
        unknowns = _solve_around(*_fold_bands(design.bands, group, n), right)
    return np.asarray(unknowns[group] + offset)


def _make_dense(bands: FloatArray, group: Ints, n: int) -> FloatArray:
    out = np.zeros((n, n))
    for d in range(3):
        one, other = group[: len(group) - d], group[d:]
        np.add.at(out, (one, other), bands[d, : len(one)])
        if d:
            np.add.at(out, (other, one), bands[d, : len(one)])
    return np.asarray(out)


def _fold_bands(bands: FloatArray, group: Ints, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the bands (3, n) of the unknowns, and the coupling (2, 2) of the last two unknowns with the first two."""
    out, corner = np.zeros((3, n)), np.zeros((2, 2))
    for d in range(3):
        one, other = group[: len(group) - d], group[d:]
        values = bands[d, : len(one)] * np.where((d > 0) & (one == other), 2.0, 1.0)
        apart = np.abs(other - one)
        near = apart <= 2
        np.add.at(out, (apart[near], np.minimum(one, other)[near]), values[near])
        low, high = np.minimum(one, other)[~near], np.maximum(one, other)[~near]
        np.add.at(corner, (high - (n - 2), low), values[~near])
    return out, corner


def _solve_around(bands: FloatArray, corner: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a symmetric positive definite system of bandwidth two whose ends may be coupled; return (n, C)."""
    if not corner.any():
        return _solve(bands, right)
    # The last two unknowns are solved separately: the rest is banded, and these two form a system of their own.
    inner = bands[:, :-2].copy()
    inner[1, -1] = 0.0
    inner[2, -2:] = 0.0
    n = inner.shape[1]
    border = np.zeros((n, 2))
    border[:2] = corner.T
    border[-1] = bands[1, n - 1], bands[2, n - 1]
    border[-2, 0] += bands[2, n - 2]
    core = np.array([[bands[0, n], bands[1, n]], [bands[1, n], bands[0, n + 1]]])
    both = _solve(inner, np.concatenate([right[:-2], border], axis=1))
    plain, along = both[:, :-2], both[:, -2:]
    last = np.linalg.solve(core - border.T @ along, right[-2:] - border.T @ plain)
    return np.concatenate([plain - along @ last, last])


def _solve(bands: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a symmetric positive definite system of bandwidth two by L D L^T; return (n, C)."""
    n = bands.shape[1]
    main, near, far = bands.tolist()
    pivot, one, two = [0.0] * n, [0.0] * n, [0.0] * n
    for i in range(n):
        value, coupling = main[i], near[i]
        if i >= 1:
            value -= pivot[i - 1] * one[i - 1] ** 2
            coupling -= pivot[i - 1] * one[i - 1] * two[i - 1]
        if i >= 2:
            value -= pivot[i - 2] * two[i - 2] ** 2
        pivot[i], one[i], two[i] = value, coupling / value, far[i] / value
    if right.shape[1] <= _FEW_COLUMNS:  # Python floats are faster than such small arrays
        return np.stack([_substitute(column, pivot, one, two) for column in right.T.tolist()], axis=1)
    return np.stack(_substitute(list(right), pivot, one, two))


def _substitute(rows: list[Any], pivot: list[float], one: list[float], two: list[float]) -> list[Any]:
    """Do forward and back substitution of one right-hand side.

    rows : the right-hand side; a number or a row of numbers for each unknown.
    pivot, one, two : the factors D and, for the first and the second diagonal below, L.
    """
    n = len(rows)
    for i in range(1, n):
        taken = one[i - 1] * rows[i - 1]
        rows[i] = rows[i] - (taken + two[i - 2] * rows[i - 2] if i >= 2 else taken)
    rows[n - 1] = rows[n - 1] / pivot[n - 1]
    for i in range(n - 2, -1, -1):
        taken = one[i] * rows[i + 1]
        rows[i] = rows[i] / pivot[i] - (taken + two[i] * rows[i + 2] if i + 2 < n else taken)
    return rows
