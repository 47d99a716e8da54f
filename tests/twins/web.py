"""The cells that a match web keeps, cell by cell and path by path, following the rules."""

from __future__ import annotations

import numpy as np

STRAIGHT = ((0, 1), (1, 0))


def minima(values, cap):
    """Return two masks (R, C): no neighbor to the left and right is smaller; none above and below."""
    n_rows, n_columns = values.shape
    out = np.zeros((2, n_rows, n_columns), dtype=bool)
    for i in range(n_rows):
        for j in range(n_columns):
            for k, (di, dj) in enumerate(STRAIGHT):
                around = [(i - di, j - dj), (i + di, j + dj)]
                inside = [values[a, b] for a, b in around if 0 <= a < n_rows and 0 <= b < n_columns]
                out[k, i, j] = values[i, j] < cap and all(values[i, j] <= other for other in inside)
    return out


def valid(values, cap, ratio, reach):
    """Return minima (R, C), and the cells along their directions until one is smaller, or too much larger, or too far
    away."""
    n_rows, n_columns = values.shape
    out = np.zeros(values.shape, dtype=bool)
    for k, found in enumerate(minima(values, cap)):
        di, dj = STRAIGHT[k]
        for i, j in np.argwhere(found):
            out[i, j] = True
            for way in (-1, 1):
                for step in range(1, reach + 1):
                    a, b = i + way * step * di, j + way * step * dj
                    if not (0 <= a < n_rows and 0 <= b < n_columns):
                        break
                    if values[a, b] < values[i, j] or values[a, b] >= min(cap, ratio * values[i, j]):
                        break
                    out[a, b] = True
    return out


def longest(cells, cell, way, after_straight, known):
    """Return the Manhattan length of the longest path from a cell through `cells`, forward or back, without two
    straight steps in a row."""
    key = (cell, way, after_straight)
    if key not in known:
        i, j = cell
        best = 0
        for di, dj in ((1, 1), *(() if after_straight else STRAIGHT)):
            to = (i + way * di, j + way * dj)
            if to in cells:
                best = max(best, di + dj + longest(cells, to, way, di + dj == 1, known))
        known[key] = best
    return known[key]


def on_paths(found, least):
    """Return the cells (R, C) of `found` (R, C) on a path of such cells of at least that Manhattan length."""
    cells = {(int(i), int(j)) for i, j in np.argwhere(found)}
    known = {}
    out = np.zeros(found.shape, dtype=bool)
    for i, j in sorted(cells):
        through = [longest(cells, (i, j), -1, False, known) + longest(cells, (i, j), 1, True, known)]
        through.append(longest(cells, (i, j), -1, True, known) + longest(cells, (i, j), 1, False, known))
        out[i, j] = max(through) >= least
    return out


def on_chains(values, cap, near, least):
    """Return the minima (R, C) below `near` on a path of such minima of at least that Manhattan length."""
    return on_paths(minima(values, cap).any(axis=0) & (values < near), least)


def stored(values, rules):
    """Return the valid cells (R, C) that a path of few steps inside the valid region connects to a chain, in either
    direction, and those on long paths below `near`."""
    region = valid(values, rules.cap, rules.ratio, rules.reach)
    chains = on_chains(values, rules.cap, rules.near, rules.chain)
    out = on_paths(region & (values < rules.near), rules.level)
    for way in (-1, 1):
        front = {(int(i), int(j), False) for i, j in np.argwhere(chains)}
        seen = set(front)
        for _ in range(rules.bridge):
            new = set()
            for i, j, after_straight in front:
                for di, dj in ((1, 1), *(() if after_straight else STRAIGHT)):
                    a, b = i + way * di, j + way * dj
                    if 0 <= a < values.shape[0] and 0 <= b < values.shape[1] and region[a, b]:
                        new.add((a, b, di + dj == 1))
            front = new - seen
            seen |= new
        for i, j, _ in seen:
            out[i, j] = True
    return out
