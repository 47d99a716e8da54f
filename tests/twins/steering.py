"""Slow twins of the planner."""

from __future__ import annotations

import numpy as np

from marey.maths import rigid2d


def mixed(axes, table, parameters):
    """Interpolate a table between its grid points, by SciPy."""
    from scipy.interpolate import RegularGridInterpolator

    values = [first + step * np.arange(int(n)) for first, step, n in axes]
    shaped = table.reshape(*(len(each) for each in values), *table.shape[1:])
    return RegularGridInterpolator(values, shaped)(parameters)


def laid(axes, paths, leave, clips, n_points):
    """Return the paths of clips, (N, n_points, 3), one by one."""
    out = []
    for parameter, start, place, until, _ in zip(*clips, strict=True):
        path = mixed(axes, paths, parameter[None])[0]
        stop = max(min(mixed(axes, leave, parameter[None])[0], until), start)
        at = np.linspace(start, stop, n_points) * (len(path) - 1)
        report = np.stack([np.interp(at, np.arange(len(path)), path[:, k]) for k in range(3)], axis=1)
        way = rigid2d.compose(rigid2d.compose(place, rigid2d.invert(report[0])), report)
        way[:, 0] = place[0] + report[:, 0] - report[0, 0]
        out.append(way)
    return np.array(out)


def cheapest_pass(way, goal, limits, seconds):
    """Return the lowest cost of time along a path plus remaining distance, at very many points of the path."""
    fine = np.linspace(0.0, len(way) - 1.0, 2000 * (len(way) - 1) + 1)
    dense = np.stack([np.interp(fine, np.arange(len(way)), way[:, k]) for k in range(3)], axis=1)
    gone = seconds * fine / (len(way) - 1.0)
    apart = np.linalg.norm(dense[:, 1:] - goal[1:], axis=1)
    off = np.zeros(len(dense)) if np.isnan(goal[0]) else np.abs(rigid2d.wrap_angle(dense[:, 0] - goal[0]))
    best = np.inf
    for k in range(len(way) - 1):
        # Of each piece, only the point nearest to the goal counts.
        part = slice(2000 * k, 2000 * (k + 1) + 1)
        near = part.start + int(np.argmin(apart[part]))
        if apart[near] < limits[0] and off[near] < limits[2]:
            best = min(best, gone[near] + limits[1] * apart[near] + limits[3] * off[near])
    return best


def read_goal(grid, row, place, goal):
    """Return the value of a goal (3,) seen from a place (3,), by SciPy, on a grid that is continued cyclically."""
    from scipy.interpolate import RegularGridInterpolator

    nb, nh = grid.n_bearings, grid.n_headings
    table = row.reshape(len(grid.distances), nb, nh)
    table = np.concatenate([table, table[:, :1]], axis=1)
    table = np.concatenate([table, table[:, :, :1]], axis=2)
    axes = grid.distances, np.arange(nb + 1) * 2.0 * np.pi / nb, np.arange(nh + 1) * 2.0 * np.pi / nh
    left, ahead = rigid2d.apply(rigid2d.invert(place), goal[1:])
    far = np.hypot(left, ahead)
    heading = 0.0 if np.isnan(goal[0]) else goal[0] - place[0]
    at = [min(far, grid.distances[-1]), np.arctan2(left, ahead) % (2.0 * np.pi), heading % (2.0 * np.pi)]
    return RegularGridInterpolator(axes, table)([at])[0] + grid.slowness * max(far - grid.distances[-1], 0.0)
