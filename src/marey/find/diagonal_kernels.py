"""D along diagonals of the grid of two clips.

A diagonal compares each frame of one clip with the frame of the other clip that is a constant lag later. A band around
a diagonal consists of a few such lines, and windows are weighted sums along them. See `grid_kernels` for the products
of markers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, helper
from marey.find.index_kernels import Blocks


class FrameFactors(NamedTuple):
    """Frames from `begin` on as factors of D; see `grid_kernels`.

    x, y, z : (M, F) markers times the roots of their weights, relative to a center.
    sums : (3, F) mean x and z of each frame, and its mean square.
    means : (3, F) mean x and z, and spread, of the window around each frame; wrong where a clip's end cuts the window.
    """

    begin: int
    x: Floats2D
    y: Floats2D
    z: Floats2D
    sums: Floats2D
    means: Floats2D


@helper
def read_points(
    points: Floats3D, origin: Floats1D, begin: int, end: int, roots: Floats1D, weights: Floats1D
) -> FrameFactors:
    """Return the factors of frames `begin` to `end` of points (F, M, 3), relative to a point.

    roots : (M,) square roots of the markers' weights. weights : (2 L + 1,) weights of the frames in a window.
    """
    n, n_markers = end - begin, points.shape[1]
    x, y, z = np.empty((n_markers, n)), np.empty((n_markers, n)), np.empty((n_markers, n))
    sums, means = np.zeros((3, n)), np.zeros((3, n))
    for m in range(n_markers):
        for f in range(n):
            x[m, f] = points[begin + f, m, 0] - origin[0]
            y[m, f] = points[begin + f, m, 1] - origin[1]
            z[m, f] = points[begin + f, m, 2] - origin[2]
        _add_marker(x[m], y[m], z[m], roots[m], sums)
    _average_windows(sums, weights, means)
    return FrameFactors(begin, x, y, z, sums, means)


@helper
def read_clip(
    blocks: Blocks, clip: int, left: int, right: int, height: float, roots: Floats1D, weights: Floats1D
) -> FrameFactors:
    """Return the factors of frames `left` to `right` of a clip, and of the frames around them that windows need.

    The factors are relative to the position of a marker in the first of these frames; heights are relative to `height`.
    """
    values, starts, n_markers, n_features = blocks
    length, half = starts[clip + 1] - starts[clip], len(weights) // 2
    begin, end = max(left - half, 0), min(right + half, length)
    n, first = end - begin, (3 * n_markers + n_features) * starts[clip] + begin
    x, y, z = np.empty((n_markers, n)), np.empty((n_markers, n)), np.empty((n_markers, n))
    sums, means = np.zeros((3, n)), np.zeros((3, n))
    origin_x, origin_z = float(values[first]), float(values[first + 2 * n_markers * length])
    for m in range(n_markers):
        at = first + m * length
        gx, gy = values[at : at + n], values[at + n_markers * length : at + n_markers * length + n]
        gz = values[at + 2 * n_markers * length : at + 2 * n_markers * length + n]
        px, py, pz = x[m], y[m], z[m]
        for j in range(n):
            px[j] = float(gx[j]) - origin_x
            py[j] = float(gy[j]) - height
            pz[j] = float(gz[j]) - origin_z
        _add_marker(px, py, pz, roots[m], sums)
    _average_windows(sums, weights, means)
    return FrameFactors(begin, x, y, z, sums, means)


@helper
def _add_marker(x: Floats1D, y: Floats1D, z: Floats1D, root: float, sums: Floats2D) -> None:
    """Multiply a marker by the root of its weight, and add it to the sums of all frames."""
    mean_x, mean_z, squares = sums[0], sums[1], sums[2]
    for j in range(len(x)):
        x[j], y[j], z[j] = x[j] * root, y[j] * root, z[j] * root
        mean_x[j] += x[j] * root
        mean_z[j] += z[j] * root
        squares[j] += x[j] * x[j] + y[j] * y[j] + z[j] * z[j]


@helper
def _average_windows(sums: Floats2D, weights: Floats1D, out: Floats2D) -> None:
    """Write mean x, mean z and spread of the window around each frame that has a complete one."""
    n, length = sums.shape[1], len(weights)
    for f in range(n - length + 1):
        x = z = squares = 0.0
        for r in range(length):
            x += weights[r] * sums[0, f + r]
            z += weights[r] * sums[1, f + r]
            squares += weights[r] * sums[2, f + r]
        at = f + length // 2
        out[0, at], out[1, at], out[2, at] = x, z, squares - x * x - z * z


@helper
def multiply(
    ours: FrameFactors, theirs: FrameFactors, lags: tuple[int, int], frames: tuple[int, int], out: Floats3D
) -> None:
    """Write the products of `frames` of our clip and the frames that are `lags` later; see `grid_kernels`.

    Four markers are multiplied at a time, for all lags, while they are in the processor's L1 cache.

    out : (lags, 3, R) dot, cross and up of each frame; 0 where the other clip has no frame.
    """
    n_markers, n_ours = ours.x.shape
    n_theirs, shift = theirs.x.shape[1], ours.begin - theirs.begin
    out[:] = 0.0
    for m in range(0, n_markers, 4):
        n_left = n_markers - m
        for lag in range(lags[0], lags[1]):
            a = max(-shift - lag, frames[0] - ours.begin, 0)
            b = a + shift + lag
            n = min(frames[1] - ours.begin - a, n_ours - a, n_theirs - b)
            if n <= 0:
                continue
            products = out[lag - lags[0]]
            dot, cross, up = products[0, a : a + n], products[1, a : a + n], products[2, a : a + n]
            if n_left >= 4:
                _add_four(ours, theirs, m, a, b, dot, cross, up)
            else:
                for k in range(m, n_markers):
                    _add_one(ours, theirs, k, a, b, dot, cross, up)


@helper
def _add_one(
    ours: FrameFactors, theirs: FrameFactors, m: int, a: int, b: int, dot: Floats1D, cross: Floats1D, up: Floats1D
) -> None:
    """Add the products of marker m, from frames a and b of the factors on.

    ours, theirs : factors of the two clips.
    dot, cross, up : (n,) sums of dot products, cross products and products of heights, changed in place.
    """
    n = len(dot)
    ax, ay, az = ours.x[m, a : a + n], ours.y[m, a : a + n], ours.z[m, a : a + n]
    bx, by, bz = theirs.x[m, b : b + n], theirs.y[m, b : b + n], theirs.z[m, b : b + n]
    for k in range(n):
        dot[k] += ax[k] * bx[k] + az[k] * bz[k]
        cross[k] += ax[k] * bz[k] - az[k] * bx[k]
        up[k] += ay[k] * by[k]


@helper
def _add_four(
    ours: FrameFactors, theirs: FrameFactors, m: int, a: int, b: int, dot: Floats1D, cross: Floats1D, up: Floats1D
) -> None:
    """Do the same as `_add_one` for four markers."""
    n, p, q, r = len(dot), m + 1, m + 2, m + 3
    ax, az, bx, bz = ours.x[m, a : a + n], ours.z[m, a : a + n], theirs.x[m, b : b + n], theirs.z[m, b : b + n]
    cx, cz, dx, dz = ours.x[p, a : a + n], ours.z[p, a : a + n], theirs.x[p, b : b + n], theirs.z[p, b : b + n]
    ex, ez, fx, fz = ours.x[q, a : a + n], ours.z[q, a : a + n], theirs.x[q, b : b + n], theirs.z[q, b : b + n]
    gx, gz, hx, hz = ours.x[r, a : a + n], ours.z[r, a : a + n], theirs.x[r, b : b + n], theirs.z[r, b : b + n]
    for k in range(n):
        first = (ax[k] * bx[k] + az[k] * bz[k]) + (cx[k] * dx[k] + cz[k] * dz[k])
        dot[k] += first + ((ex[k] * fx[k] + ez[k] * fz[k]) + (gx[k] * hx[k] + gz[k] * hz[k]))
        first = (ax[k] * bz[k] - az[k] * bx[k]) + (cx[k] * dz[k] - cz[k] * dx[k])
        cross[k] += first + ((ex[k] * fz[k] - ez[k] * fx[k]) + (gx[k] * hz[k] - gz[k] * hx[k]))
    ay, by, cy, dy = ours.y[m, a : a + n], theirs.y[m, b : b + n], ours.y[p, a : a + n], theirs.y[p, b : b + n]
    ey, fy, gy, hy = ours.y[q, a : a + n], theirs.y[q, b : b + n], ours.y[r, a : a + n], theirs.y[r, b : b + n]
    for k in range(n):
        up[k] += (ay[k] * by[k] + cy[k] * dy[k]) + (ey[k] * fy[k] + gy[k] * hy[k])


@helper
def measure_diagonal(
    ours: FrameFactors,
    theirs: FrameFactors,
    diagonal: tuple[int, int, int],
    sizes: tuple[int, int],
    weights: Floats1D,
    products: Floats2D,
    totals: Floats2D,
    out: Floats1D,
) -> None:
    """Write D between frames of our clip and the frames of the other clip that are a lag later.

    diagonal : the lag, and first and end frame of our clip. sizes : numbers of frames of both clips.
    products : (3, R) see `multiply`. totals : (3, n) work array.
    """
    (lag, start, stop), half = diagonal, len(weights) // 2
    # Frames of windows that both clips have.
    begin, end = max(start - half, -lag, 0), min(stop + half, sizes[1] - lag, sizes[0])
    inner, outer = max(begin + half, start), min(end - half, stop)
    n = outer - inner
    if n > 0:
        dots, crosses, ups = totals[0, :n], totals[1, :n], totals[2, :n]
        dots[:], crosses[:], ups[:] = 0.0, 0.0, 0.0
        for r in range(2 * half + 1):
            w, at = weights[r], inner - half + r - ours.begin
            dot, cross, up = products[0, at : at + n], products[1, at : at + n], products[2, at : at + n]
            for k in range(n):
                dots[k] += w * dot[k]
                crosses[k] += w * cross[k]
                ups[k] += w * up[k]
        a, b = inner - ours.begin, inner + lag - theirs.begin
        ax, az, aa = ours.means[0, a : a + n], ours.means[1, a : a + n], ours.means[2, a : a + n]
        bx, bz, bb = theirs.means[0, b : b + n], theirs.means[1, b : b + n], theirs.means[2, b : b + n]
        line = out[inner - start : outer - start]
        for k in range(n):
            p = dots[k] - (ax[k] * bx[k] + az[k] * bz[k])
            q = crosses[k] - (ax[k] * bz[k] - az[k] * bx[k])
            d = (aa[k] + bb[k]) - 2.0 * (ups[k] + math.sqrt(p * p + q * q))
            line[k] = d if d > 0.0 else 0.0
    for part in range(2):
        for i in range(start if part == 0 else max(outer, inner), min(inner, stop) if part == 0 else stop):
            out[i - start] = _measure_edge_cell(ours, theirs, lag, i, (begin, end), weights, products)


@helper
def _measure_edge_cell(
    ours: FrameFactors,
    theirs: FrameFactors,
    lag: int,
    i: int,
    frames: tuple[int, int],
    weights: Floats1D,
    products: Floats2D,
) -> float:
    """Return D of frame i and the frame `lag` later of the other clip, with a window cut to `frames`.

    ours, theirs : factors of the two clips.
    products : (3, n) sums over the markers; see `_add_one`.
    """
    half, (begin, end) = len(weights) // 2, frames
    total = dots = crosses = ups = ax = az = bx = bz = squares = 0.0
    for f in range(max(i - half, begin), min(i + half + 1, end)):
        w, a, b = weights[f - i + half], f - ours.begin, f + lag - theirs.begin
        total += w
        dots += w * products[0, a]
        crosses += w * products[1, a]
        ups += w * products[2, a]
        ax += w * ours.sums[0, a]
        az += w * ours.sums[1, a]
        bx += w * theirs.sums[0, b]
        bz += w * theirs.sums[1, b]
        squares += w * (ours.sums[2, a] + theirs.sums[2, b])
    ax, az, bx, bz = ax / total, az / total, bx / total, bz / total
    p = dots / total - (ax * bx + az * bz)
    q = crosses / total - (ax * bz - az * bx)
    spread = squares / total - (ax * ax + az * az) - (bx * bx + bz * bz)
    return max(spread - 2.0 * (ups / total + math.sqrt(p * p + q * q)), 0.0)
