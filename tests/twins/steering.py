"""Slow and obvious twins of what looks ahead."""

from __future__ import annotations

import itertools

import numpy as np

from marey.maths import rigid2d


def driven(place, pieces):
    """Where a figure gets to by pieces (kind, length, radius): L and R along a circle, S straight on; in meters."""
    theta, x, z = place
    for kind, length, radius in pieces:
        if kind == "S":
            x, z = x + length * np.sin(theta), z + length * np.cos(theta)
            continue
        side = 1.0 if kind == "L" else -1.0
        after = theta + side * length / radius
        x += side * radius * (np.cos(theta) - np.cos(after))
        z += side * radius * (np.sin(after) - np.sin(theta))
        theta = after
    return np.array([theta, x, z])


def mixed(axes, table, parameters):
    """A table between its grid points, by SciPy."""
    from scipy.interpolate import RegularGridInterpolator

    values = [first + step * np.arange(int(n)) for first, step, n in axes]
    shaped = table.reshape(*(len(each) for each in values), *table.shape[1:])
    return RegularGridInterpolator(values, shaped)(parameters)


def laid(axes, paths, leave, parameters, enter, here, n_points):
    """(N, n_points, 3) ways of clips, one by one."""
    out = []
    for parameter, start, place in zip(parameters, enter, here, strict=True):
        path = mixed(axes, paths, parameter[None])[0]
        stop = max(mixed(axes, leave, parameter[None])[0], start)
        at = np.linspace(start, stop, n_points) * (len(path) - 1)
        report = np.stack([np.interp(at, np.arange(len(path)), path[:, k]) for k in range(3)], axis=1)
        way = rigid2d.compose(rigid2d.compose(place, rigid2d.invert(report[0])), report)
        way[:, 0] = place[0] + report[:, 0] - report[0, 0]
        out.append(way)
    return np.array(out)


def cheapest_pass(way, goal, limits):
    """Least of meters along a way and what is missed, at very many places of it."""
    fine = np.linspace(0.0, len(way) - 1.0, 2000 * (len(way) - 1) + 1)
    dense = np.stack([np.interp(fine, np.arange(len(way)), way[:, k]) for k in range(3)], axis=1)
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense[:, 1:], axis=0), axis=1))])
    apart = np.linalg.norm(dense[:, 1:] - goal[1:], axis=1)
    off = np.zeros(len(dense)) if np.isnan(goal[0]) else np.abs(rigid2d.wrap_angle(dense[:, 0] - goal[0]))
    best = np.inf
    for k in range(len(way) - 1):
        # Of each piece only the place nearest to the goal counts.
        part = slice(2000 * k, 2000 * (k + 1) + 1)
        near = part.start + int(np.argmin(apart[part]))
        if apart[near] < limits[0] and off[near] < limits[2]:
            best = min(best, gone[near] + limits[1] * apart[near] + limits[3] * off[near])
    return best


def turning_costs(turns, index, share, within, n_headings, ahead):
    """(G, H) least cost of turning in some clips, by trying all that can follow, again and again."""
    headings = -np.pi + 2.0 * np.pi * np.arange(n_headings) / n_headings
    wrapped = np.append(headings, np.pi)

    def stage(off):
        away = np.abs(rigid2d.wrap_angle(off))
        return away + 0.5 * np.pi * np.clip(3.0 * away / within - 2.0, 0.0, 1.0)

    values = np.zeros((len(turns), n_headings))
    for _ in range(ahead):
        out = np.empty_like(values)
        for (g, row), (h, off) in itertools.product(enumerate(turns), enumerate(headings)):
            costs = []
            for k, turn in enumerate(row):
                left = (off - turn + np.pi) % (2.0 * np.pi) - np.pi
                after = sum(
                    s * np.interp(left, wrapped, np.append(values[i], values[i, 0]))
                    for i, s in zip(index[g, k], share[g, k], strict=True)
                )
                costs.append(stage(left) + after)
            out[g, h] = min(costs)
        values = out
    return values


def passed_cells(ways, first, last, cell, n, n_headings):
    """(n, n, H) soonest seconds of cells that ways pass, at very many moments."""
    out = np.full((n, n, n_headings), np.inf)
    for way, begin, end in zip(ways, first, last, strict=True):
        for s in np.linspace(0.0, 1.0, 4001):
            place = [np.interp(s * (len(way) - 1), np.arange(len(way)), way[:, k]) for k in range(3)]
            i, j = (int(np.floor(each / cell + 0.5)) + n // 2 for each in place[1:])
            h = int(np.floor(place[0] / (2.0 * np.pi) * n_headings + 0.5)) % n_headings
            if 0 <= i < n and 0 <= j < n:
                out[i, j, h] = min(out[i, j, h], begin + s * (end - begin))
    return out
