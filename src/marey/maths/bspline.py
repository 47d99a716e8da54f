"""Uniform quadratic B-splines: control points (K, ...) over u in [0, 1], in m = K - 2 equal spans.

In span k, with x = m u - k in [0, 1], the value is ``(1 - x)^2 / 2 p[k] + (1/2 + x - x^2) p[k+1] + x^2 / 2 p[k+2]``. At
a border between spans it is the mean of two neighboring points, with a slope of m times their difference. The slope is
linear in between, so a spline whose points increase is increasing everywhere. Beyond [0, 1] it continues straight.

A cyclic spline ends as it begins, one period later: ``p[K-2:] - p[:2]`` is its period. It repeats without a jump in
value or slope.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from marey.errors import InvalidValue
from marey.maths._arrays import FloatArray, as_floats
from marey.maths._bspline_fit import Design, Ties, fit_bounded, fit_free

__all__ = ["derivative", "evaluate", "fit", "fit_increasing", "inverse", "n_points_for", "with_period"]

_FEWEST = 3


def evaluate(points: npt.ArrayLike, u: npt.ArrayLike, *, cyclic: bool = False) -> FloatArray:
    """Evaluate the spline at parameters u.

    Parameters
    ----------
    points : (K, ...) control points, K at least 3.
    u : (...) parameters of any shape; 0 is the start of the spline, 1 its end.
    cyclic : continue the spline periodically outside [0, 1]; otherwise it continues straight.

    Returns
    -------
    ``(*u.shape, *points.shape[1:])`` values.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> bspline.evaluate([0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 1.0])
    array([0.5, 1.5, 2.5])
    """
    control, at = _check_control(points, "bspline.evaluate"), as_floats(u, "bspline.evaluate", "u")
    if not cyclic:
        return _evaluate(control, at)
    rounds = np.floor(at)
    period = control[-2] - control[0]
    return np.asarray(_evaluate(control, at - rounds) + _add_axes(rounds, control) * period)


def derivative(points: npt.ArrayLike, u: npt.ArrayLike, *, cyclic: bool = False) -> FloatArray:
    """Evaluate the first derivative of the spline with respect to u; parameters and shapes as in `evaluate`.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> bspline.derivative([0.0, 1.0, 2.0, 3.0], [0.0, 0.5])
    array([2., 2.])
    """
    control, at = _check_control(points, "bspline.derivative"), as_floats(u, "bspline.derivative", "u")
    if cyclic:
        at = at - np.floor(at)
    span, x = _place(control, at)
    x = _add_axes(np.clip(x, 0.0, 1.0), control)
    steps = (len(control) - 2) * np.diff(control, axis=0)
    return np.asarray((1.0 - x) * steps[span] + x * steps[span + 1])


def inverse(points: npt.ArrayLike, values: npt.ArrayLike, *, cyclic: bool = False) -> FloatArray:
    """Return the u at which an increasing spline has the given values, in closed form.

    Parameters
    ----------
    points : (K,) control points, strictly increasing.
    values : (...) of any shape.
    cyclic : the spline continues periodically, as in `evaluate`.

    Returns
    -------
    u : (...)

    Examples
    --------
    >>> from marey.maths import bspline
    >>> bspline.inverse([0.0, 1.0, 2.0, 3.0], [0.5, 1.5]).round(6)
    array([0. , 0.5])
    """
    control, wanted = _check_control(points, "bspline.inverse"), as_floats(values, "bspline.inverse", "values")
    if control.ndim != 1 or not (np.diff(control) > 0.0).all():
        raise InvalidValue("bspline.inverse: points must have shape (K,) and increase; otherwise u is not unique")
    if not cyclic:
        return _invert(control, wanted)
    period = control[-2] - control[0]
    rounds = np.floor((wanted - 0.5 * (control[0] + control[1])) / period)
    return np.asarray(_invert(control, wanted - rounds * period) + rounds)


def fit(
    samples: npt.ArrayLike,
    n_points: int,
    *,
    at: npt.ArrayLike | None = None,
    period: npt.ArrayLike | None = None,
    smooth: float = 0.0,
) -> FloatArray:
    """Fit a spline to samples by least squares; return its control points.

    Parameters
    ----------
    samples : (N, ...) at least one.
    n_points : K, the number of control points, at least 3; `n_points_for` chooses it.
    at : (N,) u of each sample, increasing; evenly from 0 to 1 by default.
    period : (...) makes the fit cyclic: the spline increases by this value from u to u + 1; 0 for a closed curve.
    smooth : weight of the squared second differences of the control points, relative to that of a squared residual; 0
        by default.

    Returns
    -------
    (K, ...) control points. If there are too few samples to determine the spline, the straightest one is returned.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> points = bspline.fit(np.linspace(0.0, 2.0, 20), 5)
    >>> bspline.evaluate(points, [0.0, 0.5, 1.0]).round(6) + 0.0
    array([0., 1., 2.])
    """
    columns, design, ties, tail = _prepare_fit(samples, n_points, at, period, False, smooth, "bspline.fit")
    return fit_free(design, columns, ties).reshape(n_points, *tail)


def fit_increasing(
    samples: npt.ArrayLike,
    n_points: int,
    *,
    at: npt.ArrayLike | None = None,
    period: npt.ArrayLike | None = None,
    smooth: float = 0.0,
    exact_ends: bool = False,
    least: float = 0.05,
) -> FloatArray:
    """Fit like `fit`, but with a slope of at least `least` times the mean slope everywhere: strictly increasing.

    This solves least squares in the steps between control points, each with a lower bound.

    Parameters
    ----------
    exact_ends : make the values at u = 0 and 1 exactly the first and last sample (for a cyclic fit, the first).
    least : lower bound of the slope as a fraction of the mean slope over u, which is the last sample minus the first,
        or the period; in (0, 1), 0.05 by default.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> points = bspline.fit_increasing([0.0, 0.4, 0.3, 1.0], 4)
    >>> bool((np.diff(points) > 0.0).all())
    True
    """
    where = "bspline.fit_increasing"
    columns, design, ties, tail = _prepare_fit(samples, n_points, at, period, exact_ends, smooth, where)
    if not 0.0 < least < 1.0:
        raise InvalidValue(f"{where}: `least` must be greater than 0 and less than 1, not {least}")
    rise = columns[-1] - columns[0] if ties.period is None else ties.period
    if not (rise > 0.0).all():
        raise InvalidValue(
            f"{where}: the last sample must be greater than the first, not a difference of {rise.min():g}"
        )
    bound = least * rise / (n_points - 2)
    control = fit_bounded(design, columns, ties, bound)
    if exact_ends and ties.period is not None:
        control = control + (columns[0] - 0.5 * (control[0] + control[1]))
    elif exact_ends:
        control = _fit_ends(control, columns[0], columns[-1], bound)
    return control.reshape(n_points, *tail)


def n_points_for(n_samples: int, knot_every: float) -> int:
    """Return the number of control points for about one knot per `knot_every` samples, at most `n_samples`.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> bspline.n_points_for(100, knot_every=10)
    12
    """
    if not knot_every > 0:
        raise InvalidValue(f"bspline.n_points_for: knot_every must be greater than 0 samples, not {knot_every}")
    spans = max(1, math.ceil((n_samples - 1) / knot_every))
    return max(_FEWEST, min(spans + 2, n_samples))


def with_period(points: npt.ArrayLike, period: npt.ArrayLike) -> FloatArray:
    """Return the control points (K, ...) with the last two replaced by the first two plus `period`: exactly cyclic.

    Examples
    --------
    >>> from marey.maths import bspline
    >>> bspline.with_period([0.0, 1.0, 2.0, 2.9, 4.2], 3.0)
    array([0., 1., 2., 3., 4.])
    """
    control = _check_control(points, "bspline.with_period").copy()
    control[-2:] = control[:2] + as_floats(period, "bspline.with_period", "period")
    return control


def _check_control(points: npt.ArrayLike, where: str) -> FloatArray:
    control = as_floats(points, where, "points")
    if control.ndim == 0 or len(control) < _FEWEST:
        raise InvalidValue(
            f"{where}: points must have shape (K, ...) with K at least {_FEWEST}, not shape {control.shape}"
        )
    return control


def _add_axes(fraction: FloatArray, control: FloatArray) -> FloatArray:
    """Return `fraction` (...) with a trailing axis of length 1 for each component axis of the control points."""
    return fraction.reshape(fraction.shape + (1,) * (control.ndim - 1))


def _place(control: FloatArray, u: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Return the span of each u, and the position in it: 0 to 1, or beyond for u outside [0, 1]."""
    spans = len(control) - 2
    scaled = spans * u
    span = np.clip(np.floor(scaled), 0, spans - 1).astype(np.intp)
    return span, np.asarray(scaled - span)


def _evaluate(control: FloatArray, u: FloatArray) -> FloatArray:
    span, place = _place(control, u)
    inside = np.clip(place, 0.0, 1.0)
    x, beyond = _add_axes(inside, control), place - inside
    first, second, third = control[span], control[span + 1], control[span + 2]
    # Use differences: small steps between large values then keep their precision.
    value = 0.5 * (first + second) + x * (second - first) + 0.5 * x * x * ((third - second) - (second - first))
    if beyond.any():
        steps = np.where(_add_axes(beyond, control) < 0.0, second - first, third - second)
        value = value + _add_axes(beyond, control) * steps
    return np.asarray(value)


def _invert(control: FloatArray, values: FloatArray) -> FloatArray:
    spans = len(control) - 2
    borders = 0.5 * (control[:-1] + control[1:])
    span = np.clip(np.searchsorted(borders, values, side="right") - 1, 0, spans - 1)
    step, following = np.diff(control)[span], np.diff(control)[span + 1]
    rise = values - borders[span]
    whole = borders[span + 1] - borders[span]
    inside = np.clip(rise, 0.0, whole)
    # Root of bend x^2 + step x - inside in the form without cancellation.
    bend = 0.5 * (following - step)
    root = np.sqrt(np.maximum(step * step + 4.0 * bend * inside, 0.0))
    x = 2.0 * inside / (step + root)
    beyond = rise - inside
    x = x + beyond / np.where(beyond < 0.0, step, following)
    return np.asarray((span + x) / spans)


def _prepare_fit(
    samples: npt.ArrayLike,
    n_points: int,
    at: npt.ArrayLike | None,
    period: npt.ArrayLike | None,
    heavy_ends: bool,
    smooth: float,
    where: str,
) -> tuple[FloatArray, Design, Ties, tuple[int, ...]]:
    given = as_floats(samples, where, "samples")
    if given.ndim == 0 or not len(given):
        raise InvalidValue(f"{where}: samples must have shape (N, ...) with N at least 1, not shape {given.shape}")
    if not np.isfinite(given).all():
        raise InvalidValue(f"{where}: samples must be finite, not {given[~np.isfinite(given)][0]}")
    if n_points < _FEWEST:
        raise InvalidValue(f"{where}: n_points must be at least {_FEWEST}, not {n_points}")
    if not 0.0 <= smooth < np.inf:
        raise InvalidValue(f"{where}: smooth must be finite and at least 0, not {smooth}")
    n, tail = len(given), given.shape[1:]
    u = np.linspace(0.0, 1.0, n) if at is None else as_floats(at, where, "at")
    if u.shape != (n,) or not (np.diff(u) >= 0.0).all() or u[0] < 0.0 or u[-1] > 1.0:
        raise InvalidValue(
            f"{where}: `at` must have one value from 0 to 1 for each of the {n} samples, in ascending order, not {u}"
        )
    rounds = None
    if period is not None:
        rounds = np.broadcast_to(as_floats(period, where, "period"), tail).reshape(-1)
    span, x = _place(np.empty(n_points), u)
    design = Design.of(span, x, n_points, heavy_ends, float(smooth))
    return given.reshape(n, -1), design, Ties.of(n_points, rounds), tail


def _fit_ends(control: FloatArray, first: FloatArray, last: FloatArray, bound: FloatArray) -> FloatArray:
    """Return the control points, adjusted so that the spline has exactly the values `first` and `last` at its ends.

    The change is small, because the fit gives the ends large weights. Only the part of each step above `bound` is
    scaled, so no step falls below it.
    """
    above = np.diff(control, axis=0) - bound
    fraction = np.ones((len(above), 1))
    fraction[[0, -1]] = 0.5
    wanted = (last - first) - bound * fraction.sum()
    steps = bound + above * (wanted / (fraction * above).sum(axis=0))
    start = first - 0.5 * steps[0]
    out = np.concatenate([start[None], start + np.cumsum(steps, axis=0)])
    # Correct the outermost points for rounding: the ends are then exact to about the last bit.
    out[0] += 2.0 * (first - 0.5 * (out[0] + out[1]))
    out[-1] += 2.0 * (last - 0.5 * (out[-2] + out[-1]))
    return np.asarray(out)
