"""Compiled: the paths along which many clips lead, how near they come to a point, and the cost of turns.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`. A table holds values on a grid of parameters, whose axes are
rows (first value, step, how many) of `axes`; rows of the table count through the last parameter fastest.
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

    axes : (d, 3) first value, step and number of values. paths : (G, P, 3) rigid2d. leave : (G,) moments from 0 to 1 at
    which clips are left.
    """

    axes: Floats2D
    paths: Floats3D
    leave: Floats1D


class ClipStarts(NamedTuple):
    """N clips of one node: parameters (N, d), moments `enter` (N,) at which they begin, and rigid2d `here` (N, 3) where
    the character is then."""

    parameters: Floats2D
    enter: Floats1D
    here: Floats2D


class PathGoal(NamedTuple):
    """Where paths lead to, and what they cost.

    place : (3,) rigid2d, its heading NaN for any. radii : (2,) meters of the tightest circles to the left and to the
    right. limits : (4,) meters from the goal within which a clip passes it; meters of path that a meter beside the goal
    costs; radians off the heading within which a clip may pass; meters of path that a radian costs. min_cost : meters
    that a clip costs at least, so that standing still costs something too.
    """

    place: Floats1D
    radii: Floats1D
    limits: Floats1D
    min_cost: float


class ClipCosts(NamedTuple):
    """What N clips of one node cost on the way to a goal.

    places : (N, 3) rigid2d when the next change begins. spent : (N,) meters of the clips. done : (N,) meters until the
    goal is passed in them, misses included; infinite where it is not. onward : (N,) meters of them and the path on.
    """

    places: Out[Floats2D]
    spent: Out[Floats1D]
    done: Out[Floats1D]
    onward: Out[Floats1D]


@helper
def _write_corners(axes: Floats2D, parameters: Floats1D, index: Ints1D, weights: Floats1D) -> None:
    """Rows (2^d,) of a table around parameters (d,), and their weights."""
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
    """Rows (N, 2^d) of a table around parameters (N, d), and their weights."""
    for n in range(len(parameters)):
        _write_corners(axes, parameters[n], index[n], weights[n])


@kernel
def read_rows(axes: Floats2D, table: Floats2D, parameters: Floats2D, out: Out[Floats2D]) -> None:
    """Rows (N, V) into `out`: a table (G, V) between its grid points, at parameters (N, d)."""
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
    """Places (N, 3) into `out` where clips with parameters `after` (N, e) are laid; see `marey.control.joins.Join`.

    before : (N, d) parameters of the clips that are left where the character is `here` (N, 3). middle, scale : (d + e,)
    of the parameters. fitted : (F, 3) for one, the parameters, and their products two by two.
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
    """Write the path (W, 3) of one clip that begins at the moment `enter` where the character is `here`.

    The clip is the mean of the table's rows `index` with weights `weights`. The path ends where the clip is left.
    Headings count on from the first, unwrapped.
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
    """Paths (N, W, 3) of clips into `out`, from where they begin to where they are left."""
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        _lay_path(table, index, weights, clips.enter[n], clips.here[n], out[n])


@helper
def _find_cheapest_pass(way: Floats2D, goal: Floats1D, limits: Floats1D) -> float:
    """Meters along a path (W, 3) to where it passes goal (3,), misses included; infinite where it does not pass near.

    limits : see `PathGoal`.
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
    """Find where clips end, and what paths to a goal cost by them: `lay_paths` and what follows from it, at one go.

    far : meters from the goal beyond which no clip passes it. n_points : of paths. costs : results.
    """
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    fine = np.empty((n_points, 3))
    coarse = fine[: n_points // 2]
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        # A clip that ends before it could pass the goal need not be known so well.
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


# The cost of turning to a heading, clip by clip, by dynamic programming. A cost table has G rows of a node's parameters
# and H angles by which the heading may be off, evenly spread over the full circle from -pi on. K clips follow row g,
# each between C rows of the table.


@helper
def _measure_clip_cost(off: float, within: float) -> float:
    """The cost of a clip that ends `off` the heading, radians: how far, and a quarter circle more if too far."""
    away = abs((off + math.pi) % (2.0 * math.pi) - math.pi)
    return away + 0.5 * math.pi * min(max(3.0 * away / within - 2.0, 0.0), 1.0)


@helper
def _interpolate_cost(values: Floats2D, index: Ints1D, weights: Floats1D, off: float) -> float:
    """A value of the table (G, H), between rows and between directions."""
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
    """One clip more: into `out` (G, H) the least cost of a clip and, by `values` (G, H), of all after it.

    turns : (G, K) radians of the clips that can follow. index, weights : (G, K, C) where they are in the table.
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
    """Costs (N,) into `out` of clips at rows (N, C) of the table that end `off` (N,) the heading, and of all after."""
    for n in range(len(off)):
        out[n] = _measure_clip_cost(off[n], within) + _interpolate_cost(values, index[n], weights[n], off[n])
