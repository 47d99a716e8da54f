"""Compiled kernels: paths of many clips, their distance from a point, and the cost of turns.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`. A table holds values at the points of a parameter grid. Each row
of `axes` is (first value, step, number of values) of one parameter; in the table, the last parameter varies fastest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Ints3D, Out, helper, kernel
from marey.control.dubins_kernels import measure_path
from marey.maths.vector_kernels import square


class PathTable(NamedTuple):
    """The clips of a node on a grid of d parameters with G points.

    axes : (d, 3) first value, step and number of values of each parameter. paths : (G, P, 3) rigid2d at P moments of
    each clip. leave : (G,) moments from 0 to 1 at which clips are left.
    """

    axes: Floats2D
    paths: Floats3D
    leave: Floats1D


class ClipStarts(NamedTuple):
    """Beginnings of N clips of one node.

    parameters : (N, d), d per clip. enter : (N,) moments from 0 to 1 at which the clips begin. here : (N, 3) rigid2d of
    the character at that moment.
    """

    parameters: Floats2D
    enter: Floats1D
    here: Floats2D


class PathGoal(NamedTuple):
    """The goal of a path, and how paths to it are weighed.

    place : (3,) rigid2d; the heading is NaN if any will do. radii : (2,) radii in meters of the tightest circles to the
    left and right. limits : (4,) distance from the goal within which a clip passes it, meters; meters of path that one
    meter of miss distance costs; heading error within which a clip may pass the goal, radians; meters of path that one
    radian of heading error costs. min_cost : minimum cost of a clip in meters, because standing still costs time too.
    """

    place: Floats1D
    radii: Floats1D
    limits: Floats1D
    min_cost: float


class ClipCosts(NamedTuple):
    """Costs of N clips of one node on the way to a goal, in meters of path.

    places : (N, 3) rigid2d when the next transition begins. spent : (N,) cost of each clip. done : (N,) cost up to the
    point where the clip passes the goal, including the miss; infinite if it does not pass. onward : (N,) cost of the
    clip and of the shortest path from its end to the goal.
    """

    places: Out[Floats2D]
    spent: Out[Floats1D]
    done: Out[Floats1D]
    onward: Out[Floats1D]


@helper
def _write_corners(axes: Floats2D, parameters: Floats1D, index: Ints1D, weights: Floats1D) -> None:
    """Write the rows (2^d,) of a table around parameters (d,), and their interpolation weights."""
    index[0], weights[0] = 0, 1.0
    n = 1
    for k in range(len(axes)):
        first, step, count = axes[k, 0], axes[k, 1], int(axes[k, 2])
        place = min(max((parameters[k] - first) / step, 0.0), count - 1.0)
        before = min(int(place), max(count - 2, 0))
        after, t = min(before + 1, count - 1), place - before
        for c in range(n):
            row, part = index[c] * count, weights[c]
            index[c], weights[c] = row + before, part * (1.0 - t)
            index[n + c], weights[n + c] = row + after, part * t
        n *= 2


@kernel
def find_corners(axes: Floats2D, parameters: Floats2D, index: Out[Ints2D], weights: Out[Floats2D]) -> None:
    """Find the rows (N, 2^d) of a table around parameters (N, d), and their interpolation weights."""
    for n in range(len(parameters)):
        _write_corners(axes, parameters[n], index[n], weights[n])


@kernel
def read_rows(axes: Floats2D, table: Floats2D, parameters: Floats2D, out: Out[Floats2D]) -> None:
    """Interpolate a table (G, V) at parameters (N, d), and write the results (N, V) to `out`."""
    n_corners = 2 ** len(axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(parameters)):
        _write_corners(axes, parameters[n], index, weights)
        for v in range(table.shape[1]):
            total = 0.0
            for c in range(n_corners):
                total += weights[c] * table[index[c], v]
            out[n, v] = total


@kernel
def enter_clips(
    before: Floats2D,
    after: Floats2D,
    here: Floats2D,
    middle: Floats1D,
    scale: Floats1D,
    fitted: Floats2D,
    out: Out[Floats2D],
) -> None:
    """Predict the rigid2d (N, 3) at which clips with parameters `after` (N, e) start; see `marey.control.joins.Join`.

    before : (N, d) parameters of the preceding clips. here : (N, 3) rigid2d at which the character leaves them.
    middle, scale : (d + e,) normalization of the parameters. fitted : (F, 3) coefficients for 1, the parameters, and
    their squares and pairwise products.
    """
    d, e = before.shape[1], after.shape[1]
    both, laid = np.empty(d + e), np.empty(3)
    for n in range(len(after)):
        for k in range(d + e):
            both[k] = ((before[n, k] if k < d else after[n, k - d]) - middle[k]) / scale[k]
        for c in range(3):
            total, row = fitted[0, c], d + e + 1
            for i in range(d + e):
                total += both[i] * fitted[1 + i, c]
                for j in range(i, d + e):
                    total += both[i] * both[j] * fitted[row, c]
                    row += 1
            laid[c] = total
        cosine, sine = math.cos(here[n, 0]), math.sin(here[n, 0])
        out[n, 0] = here[n, 0] + laid[0]
        out[n, 1] = here[n, 1] + laid[1] * cosine + laid[2] * sine
        out[n, 2] = here[n, 2] + laid[2] * cosine - laid[1] * sine


@helper
def _lay_path(table: PathTable, index: Ints1D, weights: Floats1D, enter: float, here: Floats1D, way: Floats2D) -> None:
    """Write the path (W, 3) of one clip that begins at the moment `enter` with the character at `here`.

    The clip is the mean of the table's rows `index` with weights `weights`. The path ends where the clip is left.
    Headings are unwrapped.
    """
    paths, leave = table.paths, table.leave
    last, n_points = paths.shape[1] - 1, len(way)
    stop = 0.0
    for c in range(len(index)):
        stop += weights[c] * leave[index[c]]
    stop = max(stop, enter)
    for w in range(n_points):
        position = (enter + (stop - enter) * w / (n_points - 1)) * last
        before = min(max(int(position), 0), last - 1)
        t = position - before
        for k in range(3):
            total = 0.0
            for c in range(len(index)):
                row = index[c]
                total += weights[c] * (paths[row, before, k] * (1.0 - t) + paths[row, before + 1, k] * t)
            way[w, k] = total
    turn, x0, z0 = here[0] - way[0, 0], way[0, 1], way[0, 2]
    cosine, sine = math.cos(turn), math.sin(turn)
    for w in range(n_points):
        x, z = way[w, 1] - x0, way[w, 2] - z0
        way[w, 0] += turn
        way[w, 1] = here[1] + x * cosine + z * sine
        way[w, 2] = here[2] + z * cosine - x * sine


@kernel
def lay_paths(table: PathTable, clips: ClipStarts, out: Out[Floats3D]) -> None:
    """Write the paths (N, W, 3) of N clips, W points each, from where they begin to where they are left."""
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        _lay_path(table, index, weights, clips.enter[n], clips.here[n], out[n])


@helper
def _find_cheapest_pass(way: Floats2D, goal: Floats1D, limits: Floats1D) -> float:
    """Return the lowest cost in meters at which a path (W, 3) passes `goal` (3,); infinite if it does not.

    The cost is the path length up to that point, plus the costs of miss distance and heading error.

    limits : (4,); see `PathGoal`.
    """
    gone, best = 0.0, math.inf
    for w in range(len(way) - 1):
        x, z = way[w, 1], way[w, 2]
        dx, dz = way[w + 1, 1] - x, way[w + 1, 2] - z
        step = math.sqrt(dx * dx + dz * dz)
        t = min(max(((goal[1] - x) * dx + (goal[2] - z) * dz) / max(step * step, 1e-12), 0.0), 1.0)
        apart = math.sqrt(square(x + t * dx - goal[1]) + square(z + t * dz - goal[2]))
        if apart < limits[0]:
            off = 0.0
            if not math.isnan(goal[0]):
                facing = way[w, 0] + t * (way[w + 1, 0] - way[w, 0])
                off = abs((facing - goal[0] + math.pi) % (2.0 * math.pi) - math.pi)
            if off < limits[2]:
                best = min(best, gone + t * step + limits[1] * apart + limits[3] * off)
        gone += step
    return best


@kernel
def weigh_clips(
    table: PathTable, clips: ClipStarts, goal: PathGoal, far: float, n_points: int, costs: ClipCosts
) -> None:
    """Compute where clips end and what paths to a goal cost that start with them, in a single pass over the clips.

    far : distance from the goal in meters beyond which no clip can pass it. n_points : points per path. costs : output.
    """
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    fine = np.empty((n_points, 3))
    coarse = fine[: n_points // 2]
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        # A clip that cannot reach the goal needs only a coarse path.
        away = np.hypot(goal.place[1] - clips.here[n, 1], goal.place[2] - clips.here[n, 2]) > far
        way = coarse if away else fine
        _lay_path(table, index, weights, clips.enter[n], clips.here[n], way)
        length = 0.0
        for w in range(len(way) - 1):
            length += math.sqrt(square(way[w + 1, 1] - way[w, 1]) + square(way[w + 1, 2] - way[w, 2]))
        for k in range(3):
            costs.places[n, k] = way[-1, k]
        costs.spent[n] = max(length, goal.min_cost)
        costs.done[n] = math.inf if away else _find_cheapest_pass(way, goal.place, goal.limits)
        costs.onward[n] = costs.spent[n] + measure_path(costs.places[n], goal.place, goal.radii[0], goal.radii[1])


# The cost of turning to a heading, clip by clip, by dynamic programming. A cost table has G rows, one per point of a
# node's parameter grid, and H columns, one per heading error, evenly spaced over the full circle starting at -pi. K
# clips can follow row g; each is interpolated between C rows of the table.


@helper
def _measure_clip_cost(off: float, within: float) -> float:
    """Return the cost in radians of a clip that ends `off` radians from the heading.

    It is the absolute error, plus a penalty that rises from 0 at two thirds of `within` to pi / 2 at `within`.
    """
    away = abs((off + math.pi) % (2.0 * math.pi) - math.pi)
    return away + 0.5 * math.pi * min(max(3.0 * away / within - 2.0, 0.0), 1.0)


@helper
def _interpolate_cost(values: Floats2D, index: Ints1D, weights: Floats1D, off: float) -> float:
    """Interpolate the cost table (G, H) between rows and between heading errors."""
    n_headings = values.shape[1]
    position = ((off + math.pi) % (2.0 * math.pi)) / (2.0 * math.pi) * n_headings
    before = int(position) % n_headings
    t, after = position - int(position), (before + 1) % n_headings
    total = 0.0
    for c in range(len(index)):
        total += weights[c] * (values[index[c], before] * (1.0 - t) + values[index[c], after] * t)
    return total


@kernel
def sweep_costs(
    turns: Floats2D, index: Ints3D, weights: Floats3D, within: float, values: Floats2D, out: Out[Floats2D]
) -> None:
    """Extend the plan by one clip: write to `out` (G, H) the lowest cost of the next clip and of all clips after it.

    turns : (G, K) turns of the clips that can follow, radians. index, weights : (G, K, C) their rows in the table, with
    interpolation weights. within : heading error that is still acceptable, radians. values : (G, H) costs of the clips
    after that.
    """
    n_headings = values.shape[1]
    for g in range(len(turns)):
        for h in range(n_headings):
            off = -math.pi + 2.0 * math.pi * h / n_headings
            best = math.inf
            for k in range(turns.shape[1]):
                left = off - turns[g, k]
                cost = _measure_clip_cost(left, within)
                if cost < best:
                    best = min(best, cost + _interpolate_cost(values, index[g, k], weights[g, k], left))
            out[g, h] = best


@kernel
def measure_costs(
    values: Floats2D, index: Ints2D, weights: Floats2D, within: float, off: Floats1D, out: Out[Floats1D]
) -> None:
    """Write the costs (N,) of N clips and of all clips after them.

    values : (G, H) cost table. index, weights : (N, C) rows of the clips in it, with interpolation weights. within :
    heading error that is still acceptable, radians. off : (N,) heading error at the end of each clip, radians.
    """
    for n in range(len(off)):
        out[n] = _measure_clip_cost(off[n], within) + _interpolate_cost(values, index[n], weights[n], off[n])
