"""Compiled: the ways that many clips would lead, and how near they come to a point.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`. A table holds values on a grid of parameters, whose axes are
rows (first value, step, how many) of `axes`; rows of the table count through the last parameter fastest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.control.dubins_kernels import arc_then_straight, dubins
from marey.core.compiled import inner, kernel


@inner
def _corners(axes: Any, parameters: Any, index: Any, share: Any) -> None:
    """Rows (2^d,) of a table around parameters (d,), and their shares."""
    index[0], share[0] = 0, 1.0
    n = 1
    for k in range(len(axes)):
        first, step, count = axes[k, 0], axes[k, 1], int(axes[k, 2])
        place = min(max((parameters[k] - first) / step, 0.0), count - 1.0)
        before = min(int(place), max(count - 2, 0))
        after, t = min(before + 1, count - 1), place - before
        for c in range(n):
            row, part = index[c] * count, share[c]
            index[c], share[c] = row + before, part * (1.0 - t)
            index[n + c], share[n + c] = row + after, part * t
        n *= 2


@kernel
def find_corners(axes: Any, parameters: Any, index: Any, share: Any) -> None:
    """Rows (N, 2^d) of a table around parameters (N, d), and their shares."""
    for n in range(len(parameters)):
        _corners(axes, parameters[n], index[n], share[n])


@kernel
def read_rows(axes: Any, table: Any, parameters: Any, out: Any) -> None:
    """Rows (N, V) into `out`: a table (G, V) between its grid points, at parameters (N, d)."""
    n_corners = 2 ** len(axes)
    index, share = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(parameters)):
        _corners(axes, parameters[n], index, share)
        for v in range(table.shape[1]):
            total = 0.0
            for c in range(n_corners):
                total += share[c] * table[index[c], v]
            out[n, v] = total


@kernel
def enter_clips(before: Any, after: Any, here: Any, middle: Any, scale: Any, fitted: Any, out: Any) -> None:
    """Places (N, 3) into `out` where clips with parameters `after` (N, e) are laid; see `marey.control.joins.Join`.

    before : (N, d) parameters of the clips that are left where the figure is `here` (N, 3). fitted : (F, 3) for one,
    the parameters, and their products two by two.
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


@inner
def _lay(paths: Any, leave: Any, index: Any, share: Any, enter: float, here: Any, way: Any) -> None:
    """The way (W, 3) of one clip that begins at the moment `enter` where the figure is `here`, until it is left.

    The clip is the mean of paths (G, P, 3) at `index` with shares. Headings count on from the first, unwrapped.
    """
    last, n_points = paths.shape[1] - 1, len(way)
    stop = 0.0
    for c in range(len(index)):
        stop += share[c] * leave[index[c]]
    stop = max(stop, enter)
    for w in range(n_points):
        at = (enter + (stop - enter) * w / (n_points - 1)) * last
        before = min(max(int(at), 0), last - 1)
        t = at - before
        for k in range(3):
            total = 0.0
            for c in range(len(index)):
                row = index[c]
                total += share[c] * (paths[row, before, k] * (1.0 - t) + paths[row, before + 1, k] * t)
            way[w, k] = total
    turn, x0, z0 = here[0] - way[0, 0], way[0, 1], way[0, 2]
    cosine, sine = math.cos(turn), math.sin(turn)
    for w in range(n_points):
        x, z = way[w, 1] - x0, way[w, 2] - z0
        way[w, 0] += turn
        way[w, 1] = here[1] + x * cosine + z * sine
        way[w, 2] = here[2] + z * cosine - x * sine


@kernel
def lay_ways(axes: Any, paths: Any, leave: Any, parameters: Any, enter: Any, here: Any, out: Any) -> None:
    """Ways (N, W, 3) into `out`: clips with parameters (N, d) that begin at moments `enter` where the figure is `here`.

    axes, paths (G, P, 3), leave (G,) : table of the clips' node. Moments run from 0 to 1.
    """
    n_corners = 2 ** len(axes)
    index, share = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    for n in range(len(parameters)):
        _corners(axes, parameters[n], index, share)
        _lay(paths, leave, index, share, enter[n], here[n], out[n])


@inner
def _cheapest_pass(way: Any, goal: Any, limits: Any) -> float:
    """Metres along a way (W, 3) to where it passes goal (3,), misses included; infinite where it does not pass near.

    limits : metres, how near counts; metres of way that a metre beside the goal weighs; radians within which a heading
    counts; metres that a radian weighs.
    """
    gone, best = 0.0, math.inf
    for w in range(len(way) - 1):
        x, z = way[w, 1], way[w, 2]
        dx, dz = way[w + 1, 1] - x, way[w + 1, 2] - z
        step = math.sqrt(dx * dx + dz * dz)
        t = min(max(((goal[1] - x) * dx + (goal[2] - z) * dz) / max(step * step, 1e-12), 0.0), 1.0)
        apart = math.sqrt((x + t * dx - goal[1]) ** 2 + (z + t * dz - goal[2]) ** 2)
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
def weigh(
    axes: Any, paths: Any, leave: Any, parameters: Any, enter: Any, here: Any, goal: Any, radii: Any, limits: Any,
    least: float, far: float, n_points: int, places: Any, spent: Any, done: Any, onward: Any,
) -> None:  # fmt: skip
    """Where clips end, and what ways to a goal cost by them: `lay_ways` and what follows from it, at one go.

    axes, paths (G, P, 3), leave (G,) : table of the clips' node. parameters (N, d), enter (N,), here (N, 3) : clips.
    goal : (3,) rigid2d, its heading NaN for any. radii : metres to the left and to the right. limits : see above.
    least : metres that a clip counts at the least, so that standing still costs something too. far : metres from the
    goal beyond which no clip passes it. n_points : of ways.
    places (N, 3), spent, done, onward (N,) : outputs; rigid2d at the end, metres of the clip, metres until the goal is
    passed in it, metres of it and of the way on.
    """
    n_corners = 2 ** len(axes)
    index, share = np.empty(n_corners, dtype=np.int64), np.empty(n_corners)
    fine = np.empty((n_points, 3))
    coarse = fine[: n_points // 2]
    for n in range(len(parameters)):
        _corners(axes, parameters[n], index, share)
        # A clip that ends before it could pass the goal need not be known so well.
        away = math.hypot(goal[1] - here[n, 1], goal[2] - here[n, 2]) > far
        way = coarse if away else fine
        _lay(paths, leave, index, share, enter[n], here[n], way)
        length = 0.0
        for w in range(len(way) - 1):
            length += math.sqrt((way[w + 1, 1] - way[w, 1]) ** 2 + (way[w + 1, 2] - way[w, 2]) ** 2)
        places[n, :] = way[-1]
        spent[n] = max(length, least)
        done[n] = math.inf if away else _cheapest_pass(way, goal, limits)
        cosine, sine = math.cos(places[n, 0]), math.sin(places[n, 0])
        x, z = goal[1] - places[n, 1], goal[2] - places[n, 2]
        ahead, left = x * sine + z * cosine, x * cosine - z * sine
        if math.isnan(goal[0]):
            onward[n] = spent[n] + arc_then_straight(ahead, left, radii[0], radii[1])
        else:
            onward[n] = spent[n] + dubins(ahead, left, goal[0] - places[n, 0], radii[0], radii[1])
