"""Compiled kernels of the planner: paths of many clips, the goals that they reach, and their costs.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`. A table holds values at the points of a parameter grid. Each row
of `axes` is (first value, step, number of values) of one parameter; in the table, the last parameter varies fastest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Out, helper, kernel
from marey.maths.value_kernels import GoalGrid, read_goal
from marey.maths.vector_kernels import square


class PathTable(NamedTuple):
    """The clips of a node on a grid of d parameters with G points.

    axes : (d, 3) first value, step and number of values of each parameter. paths : (G, P, 3) rigid2d at P times in each
        clip. timing : (G, 2) normalized time, from 0 to 1, at which each clip is left, and its duration in seconds.
    """

    axes: Floats2D
    paths: Floats3D
    timing: Floats2D


class ClipStarts(NamedTuple):
    """Beginnings of N clips of one node.

    parameters : (N, d), d per clip. enter : (N,) moments from 0 to 1 at which the clips begin. here : (N, 3) rigid2d of
    the character at that moment. until : (N,) moments at which they end, unless they are left before. rows : (N,) first
    row of the value table for that moment.
    """

    parameters: Floats2D
    enter: Floats1D
    here: Floats2D
    until: Floats1D
    rows: Ints1D


class GoalValues(NamedTuple):
    """A goal, and the value table for it.

    place : (3,) rigid2d of the goal; the heading is NaN if any heading is allowed. limits : (4,) maximum distance in
        meters, cost in seconds per meter of distance, maximum heading error in radians, cost in seconds per radian of
        error; for a direction, see `measure_facing`. values : (B G, C) value table of the clips' node, at B moments.
        grid : columns of the table.
    horizon : time constant of the discount in seconds; 0 for none.
    """

    place: Floats1D
    limits: Floats1D
    values: Floats2D
    grid: GoalGrid
    horizon: float


class ClipCosts(NamedTuple):
    """Costs of N clips of one node on the path to a goal, in seconds.

    places : (N, 3) rigid2d when the next transition begins. spent : (N,) seconds of each clip. done : (N,) cost up to
    the time at which the clip reaches the goal; infinite if it does not. onward : (N,) cost of the clip and of the
    best clips after it.
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
    """Write the rows (N, 2^d) of a table around parameters (N, d) to `index`, and their interpolation weights to
    `weights`."""
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
    """Predict where N clips start, rigid2d (N, 3); see `marey.control.joins.Join`.

    before : (N, d) parameters of the preceding clips. after : (N, e) parameters of the clips themselves.
    here : (N, 3) rigid2d at which the character leaves the preceding clips.
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
def _lay_path(table: PathTable, index: Ints1D, weights: Floats1D, clips: ClipStarts, n: int, path: Floats2D) -> float:
    """Write the path (W, 3) of clip n from where it begins to where it ends; headings are unwrapped.

    The clip is the mean of the table's rows `index` with weights `weights`. Returns the seconds that are played.
    """
    enter, here = clips.enter[n], clips.here[n]
    paths = table.paths
    last, n_points = paths.shape[1] - 1, len(path)
    stop, duration = 0.0, 0.0
    for c in range(len(index)):
        stop += weights[c] * table.timing[index[c], 0]
        duration += weights[c] * table.timing[index[c], 1]
    stop = max(min(stop, clips.until[n]), enter)
    for w in range(n_points):
        position = (enter + (stop - enter) * w / (n_points - 1)) * last
        before = min(max(int(position), 0), last - 1)
        t = position - before
        for k in range(3):
            total = 0.0
            for c in range(len(index)):
                row = index[c]
                total += weights[c] * (paths[row, before, k] * (1.0 - t) + paths[row, before + 1, k] * t)
            path[w, k] = total
    turn, x0, z0 = here[0] - path[0, 0], path[0, 1], path[0, 2]
    cosine, sine = math.cos(turn), math.sin(turn)
    for w in range(n_points):
        x, z = path[w, 1] - x0, path[w, 2] - z0
        path[w, 0] += turn
        path[w, 1] = here[1] + x * cosine + z * sine
        path[w, 2] = here[2] + z * cosine - x * sine
    return float((stop - enter) * duration)


@kernel
def lay_paths(table: PathTable, clips: ClipStarts, out: Out[Floats3D], seconds: Out[Floats1D]) -> None:
    """Write the paths (N, W, 3) of N clips, W points each, from where they begin to where they are left.

    seconds : (N,) receives the time that each path takes.
    """
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        seconds[n] = _lay_path(table, index, weights, clips, n, out[n])


@helper
def _pass_goal(path: Floats2D, seconds: float, goal: Floats1D, limits: Floats1D) -> float:
    """Return the lowest cost, in seconds, at which a path (W, 3) reaches `goal` (3,); infinity if it does not.

    path : rigid2d along the path.
    seconds : duration of the path.
    limits : see `GoalValues`.
    """
    best, n = math.inf, len(path) - 1
    for w in range(n):
        x, z = path[w, 1], path[w, 2]
        dx, dz = path[w + 1, 1] - x, path[w + 1, 2] - z
        t = min(max(((goal[1] - x) * dx + (goal[2] - z) * dz) / max(dx * dx + dz * dz, 1e-12), 0.0), 1.0)
        apart = math.sqrt(square(x + t * dx - goal[1]) + square(z + t * dz - goal[2]))
        if apart < limits[0]:
            off = 0.0
            if not math.isnan(goal[0]):
                facing = path[w, 0] + t * (path[w + 1, 0] - path[w, 0])
                off = abs((facing - goal[0] + math.pi) % (2.0 * math.pi) - math.pi)
            if off < limits[2]:
                best = min(best, (w + t) / n * seconds + limits[1] * apart + limits[3] * off)
    return best


# Number of times in a clip at which the heading error is averaged.
_FACINGS = 4


@helper
def _weigh_facing(off: float, limits: Floats1D) -> float:
    """Return the weight, from 0 to 1, of time with a heading error `off` in radians; see `measure_facing`."""
    off = abs((off + math.pi) % (2.0 * math.pi) - math.pi)
    return float((1.0 - limits[1]) * min(off / limits[0], 1.0) + limits[1] * off / math.pi)


@helper
def _measure_facing(before: float, after: float, limits: Floats1D) -> float:
    """Return the weighted fraction of a clip's time, from 0 to 1, that does not face a direction.

    before, after : heading error at the clip's beginning and end, in radians. limits : see `measure_facing`.
    """
    total = 0.0
    for k in range(_FACINGS):
        total += _weigh_facing(before + (after - before) * (k + 1.0) / _FACINGS, limits)
    return total / _FACINGS


@helper
def _measure_path_facing(path: Floats2D, before: float, limits: Floats1D) -> float:
    """Return the weighted fraction of the time in which a character on a path (W, 3) does not face the requested
    direction.

    before : heading error at the beginning of the path, in radians. limits : see `measure_facing`.
    """
    n, total = len(path) - 1, 0.0
    for w in range(n):
        total += _weigh_facing(before - (path[w + 1, 0] - path[0, 0]), limits)
    return total / n


@kernel
def measure_facing(turns: Floats1D, seconds: Floats1D, limits: Floats1D, out: Out[Floats2D]) -> None:
    """Write the seconds (N, H) during which each of N clips does not face a direction, for H directions.

    Time is weighted by the heading error: (1 - s) min(error / m, 1) + s error / pi, with m and s from `limits`.

    turns : (N,) radians that the clips turn to the left. seconds : (N,) their durations. limits : (2,) m in radians,
    and s from 0 to 1.
    """
    n_headings = out.shape[1]
    for n in range(len(turns)):
        for h in range(n_headings):
            off = 2.0 * math.pi / n_headings * h
            out[n, h] = seconds[n] * _measure_facing(off, off - turns[n], limits)


# A goal on the grid counts as reached within this fraction of its distance, or within the tolerance if that is larger.
_CELL = 0.2


@kernel
def find_ends(
    paths: Floats3D, seconds: Floats1D, grid: GoalGrid, limits: Floats1D, first: Out[Ints1D], columns: Out[Ints1D],
    costs: Out[Floats1D],
) -> int:  # fmt: skip
    """Find the goals of a grid that N paths (N, W, 3) with durations `seconds` (N,) reach; return their number M.

    first : (N + 1,) receives the index of the first goal of each path. columns, costs : (M,) receive the goals' columns
        and costs; with length 0, the goals are only counted.
    limits : see `GoalValues`.
    """
    goal, wide, count = np.empty(3), limits.copy(), 0
    for n in range(len(paths)):
        first[n] = count
        longest = 0.0
        for w in range(paths.shape[1]):
            longest = max(longest, np.hypot(paths[n, w, 1], paths[n, w, 2]))
        for r in range(len(grid.distances)):
            wide[0] = max(limits[0], _CELL * grid.distances[r])
            if grid.distances[r] > longest + wide[0]:
                break
            for b in range(grid.n_bearings):
                bearing = 2.0 * math.pi / grid.n_bearings * b
                goal[1], goal[2] = grid.distances[r] * math.sin(bearing), grid.distances[r] * math.cos(bearing)
                for h in range(grid.n_headings):
                    goal[0] = math.nan if grid.n_headings == 1 else 2.0 * math.pi / grid.n_headings * h
                    cost = _pass_goal(paths[n], seconds[n], goal, wide)
                    if cost < math.inf:
                        if len(columns) > 0:
                            columns[count] = (r * grid.n_bearings + b) * grid.n_headings + h
                            costs[count] = cost
                        count += 1
    first[len(paths)] = count
    return count


@kernel
def weigh_clips(table: PathTable, clips: ClipStarts, goal: GoalValues, n_points: int, costs: ClipCosts) -> None:
    """Compute the ends of clips, and the costs of the clips and of the best clips after them, in a single pass.

    n_points : points per path. costs : output.
    """
    n_corners = 2 ** len(table.axes)
    index, weights = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    path = np.empty((n_points, 3))
    is_direction = len(goal.grid.distances) == 1
    for n in range(len(clips.parameters)):
        _write_corners(table.axes, clips.parameters[n], index, weights)
        seconds = _lay_path(table, index, weights, clips, n, path)
        end = path[n_points - 1]
        x, z = goal.place[1] - end[1], goal.place[2] - end[2]
        cosine, sine = math.cos(end[0]), math.sin(end[0])
        left, ahead = x * cosine - z * sine, x * sine + z * cosine
        heading = 0.0 if math.isnan(goal.place[0]) else goal.place[0] - end[0]
        value = 0.0
        for c in range(n_corners):
            if weights[c] > 0.0:
                row = goal.values[clips.rows[n] + index[c]]
                value += weights[c] * read_goal(row, goal.grid, left, ahead, heading)
        for k in range(3):
            costs.places[n, k] = end[k]
        costs.spent[n], costs.done[n] = seconds, math.inf
        if is_direction:
            before = (goal.place[0] - clips.here[n, 0] + math.pi) % (2.0 * math.pi) - math.pi
            off = _measure_path_facing(path, before, goal.limits)
            costs.onward[n] = seconds * off + math.exp(-seconds / goal.horizon) * value
        else:
            costs.done[n] = _pass_goal(path, seconds, goal.place, goal.limits)
            costs.onward[n] = seconds + value


class PlayedClips(NamedTuple):
    """N clips that are played first.

    paths : (N, W, 3) rigid2d. seconds : (N,) their durations. heads, weights : (N, Q) rows of the value table at their
    ends, and interpolation weights.
    """

    paths: Floats3D
    seconds: Floats1D
    heads: Ints2D
    weights: Floats2D


@kernel
def weigh_goals(
    clips: PlayedClips, values: Floats2D, grid: GoalGrid, goals: Floats2D, limits: Floats1D, out: Out[Floats1D]
) -> None:
    """Write the seconds (M,) until each of M goals (M, 3) is reached by the best plan that begins with a given clip.

    limits : see `GoalValues`.
    out : (M,) output.
    """
    for m in range(len(goals)):
        best = math.inf
        for n in range(len(clips.seconds)):
            best = min(best, _pass_goal(clips.paths[n], clips.seconds[n], goals[m], limits))
            end = clips.paths[n, clips.paths.shape[1] - 1]
            x, z = goals[m, 1] - end[1], goals[m, 2] - end[2]
            cosine, sine = math.cos(end[0]), math.sin(end[0])
            left, ahead, heading = x * cosine - z * sine, x * sine + z * cosine, goals[m, 0] - end[0]
            value = clips.seconds[n]
            for q in range(clips.heads.shape[1]):
                if clips.weights[n, q] > 0.0:
                    value += clips.weights[n, q] * read_goal(values[clips.heads[n, q]], grid, left, ahead, heading)
            best = min(best, value)
        out[m] = best
