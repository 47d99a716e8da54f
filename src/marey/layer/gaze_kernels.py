"""Compiled loops of gaze: plain arrays in, results written into the last arguments.

B: the body's axes, turned by its heading alone; G: the turn in B that a look has added to a joint; v: rotation vectors
of the five parts, one after another; f: where the head points by itself; m: where the eyes point by the model alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel
from marey.layer.gaze_arrays import Figure, Looks, Table, Track

Array = Any
# A re-aim goes this far at most, radians.
_FURTHEST = 0.35
# Eyes beyond their limit follow less and less, and come to a stop this much further, radians.
_GIVE = 0.15


@inner
def _multiply(a: Array, b: Array, out: Array) -> None:
    """out = a * b; out must be another array."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@inner
def _turned(q: Array, sign: float, v: Array, out: Array) -> None:
    """out = v turned by q, or with sign -1 by its inverse; out may be v."""
    x, y, z = sign * q[1], sign * q[2], sign * q[3]
    a, b, c = v[0], v[1], v[2]
    s = 2.0 * (y * c - z * b)
    t = 2.0 * (z * a - x * c)
    u = 2.0 * (x * b - y * a)
    out[0] = a + q[0] * s + (y * u - z * t)
    out[1] = b + q[0] * t + (z * s - x * u)
    out[2] = c + q[0] * u + (x * t - y * s)


@inner
def _exp(x: float, y: float, z: float, out: Array) -> None:
    angle = np.sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    share = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(half) / angle
    out[0] = np.cos(half)
    out[1] = share * x
    out[2] = share * y
    out[3] = share * z


@inner
def _vector_between(a: Array, b: Array, out: Array) -> None:
    """out = rotation vector of the smallest turn from unit a to unit b."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    sine = np.sqrt(x * x + y * y + z * z)
    angle = np.arctan2(sine, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    share = angle / sine if sine > 1e-12 else 1.0
    out[0] = share * x
    out[1] = share * y
    out[2] = share * z


@inner
def _unit(v: Array) -> None:
    size = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if size > 1e-12:
        v[0] /= size
        v[1] /= size
        v[2] /= size


@inner
def _towards(yaw: float, pitch: float, out: Array) -> None:
    out[0] = np.sin(yaw) * np.cos(pitch)
    out[1] = np.sin(pitch)
    out[2] = np.cos(yaw) * np.cos(pitch)


@inner
def _near(angle: float, other: float) -> Any:
    """The angle within pi of another."""
    return angle - 2.0 * np.pi * np.rint((angle - other) / (2.0 * np.pi))


@inner
def _between_corners(table: Array, origin: Array, cell: Array, yaw: float, pitch: float, n: int, out: Array) -> None:
    """out[:n] = the table at a goal, C1 across cells (Catmull-Rom)."""
    x = min(max((yaw - origin[0]) / cell[0], 1.0), table.shape[0] - 2.0 - 1e-9)
    y = min(max((pitch - origin[1]) / cell[1], 1.0), table.shape[1] - 2.0 - 1e-9)
    i, j = int(x), int(y)
    s, t = x - i, y - j
    wx0, wx1 = 0.5 * s * (-1.0 + s * (2.0 - s)), 0.5 * (2.0 + s * s * (-5.0 + 3.0 * s))
    wx2, wx3 = 0.5 * s * (1.0 + s * (4.0 - 3.0 * s)), 0.5 * s * s * (s - 1.0)
    wy0, wy1 = 0.5 * t * (-1.0 + t * (2.0 - t)), 0.5 * (2.0 + t * t * (-5.0 + 3.0 * t))
    wy2, wy3 = 0.5 * t * (1.0 + t * (4.0 - 3.0 * t)), 0.5 * t * t * (t - 1.0)
    for k in range(n):
        out[k] = 0.0
    for a in range(4):
        wx = wx0 if a == 0 else wx1 if a == 1 else wx2 if a == 2 else wx3
        for b in range(4):
            w = wx * (wy0 if b == 0 else wy1 if b == 1 else wy2 if b == 2 else wy3)
            corner = table[i - 1 + a, j - 1 + b]
            for k in range(n):
                out[k] += w * corner[k]


@inner
def _eye_direction(v: Array, ahead: Array, out: Array) -> None:
    """out = m: `ahead` turned by eyes, neck, upper spine, lower spine and pelvis."""
    q = np.empty(4)
    for k in range(3):
        out[k] = ahead[k]
    for part in range(4, -1, -1):
        _exp(v[3 * part], v[3 * part + 1], v[3 * part + 2], q)
        _turned(q, 1.0, out, out)


@kernel
def aimed_row(
    table: Array, origin: Array, cell: Array, request: Array, goal: Array, ahead: Array, row: Array, m: Array
) -> None:
    """row = the table's at `request` (2,), aimed again once so that `ahead` is turned to `goal` (3,); m likewise."""
    n = row.shape[0]
    _between_corners(table, origin, cell, request[0], request[1], n, row)
    _eye_direction(row, ahead, m)
    yaw = np.arctan2(m[0], m[2])
    off = _near(np.arctan2(goal[0], goal[2]) - yaw, 0.0)
    up = np.arctan2(goal[1], np.hypot(goal[0], goal[2])) - np.arctan2(m[1], np.hypot(m[0], m[2]))
    off = min(max(off, -_FURTHEST), _FURTHEST)
    up = min(max(up, -_FURTHEST), _FURTHEST)
    _between_corners(table, origin, cell, request[0] + off, request[1] + up, n, row)
    _eye_direction(row, ahead, m)


@inner
def _ease(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def blended(
    looks: Any, n_looks: int, table: Any, base: Array, slow: Array, frame: int, t: float, reach: Array, v: Array
) -> Any:
    """v (15,) = what the first `n_looks` looks come to at `t` seconds, and reach[i] (3,) = what each of them aims at.

    A part goes over from what looks before it do, ``v += rise (row - v)``, and overshoots by a share of its way from
    where it was when the look began: one that is broken off has not come as far as it was asked to (Heck 5.2.3).

    Returns
    -------
    The first look that still counts, and how busy the eyes are, 0 to 1.
    """
    row = np.empty(15)
    aim = np.empty(3)
    # A look that has settled leaves nothing of those before it.
    first = 0
    for i in range(n_looks):
        if looks.begins[i] + looks.times[i, 0] <= t:
            first = i
    for k in range(15):
        v[k] = 0.0
    busy = 0.0
    for i in range(first, n_looks):
        if looks.begins[i] > t:
            break
        now = (t - looks.begins[i]) / looks.times[i, 0]
        if looks.kinds[i] == 0:
            for k in range(15):
                row[k] = 0.0
            for k in range(3):
                reach[i, k] = slow[k]
            busy += _ease(now) * (0.0 - busy)
        else:
            request = looks.requests[i, frame]
            _towards(request[0] + base[frame, 0], request[1] + base[frame, 1], aim)
            aimed_row(table.rows, table.origin, table.cell, request, aim, slow, row, reach[i])
            busy += _ease(now) * (1.0 - busy)
        peak, overshoot = looks.times[i, 5], looks.times[i, 6]
        for part in range(5):
            start = looks.times[i, 1 + part] if part < 4 else 0.0
            rise, beyond = 1.0, 0.0
            if now <= peak:
                rise = _ease((now - start) / (peak - start))
                beyond = overshoot * rise
            elif now < 1.0:
                beyond = overshoot * (1.0 - _ease((now - peak) / (1.0 - peak)))
            for k in range(3 * part, 3 * part + 3):
                v[k] += rise * (row[k] - v[k]) + beyond * (row[k] - looks.anchors[i, k])
    return first, busy


@kernel
def displace(figure: Figure, looks: Looks, table: Table, steady: bool, limit: float, track: Track) -> None:
    """Looks on a motion, all frames: what `track` says is written. The eyes go little beyond `limit`, radians."""
    world, chain, parents, offsets, base = figure.world, figure.chain, figure.parents, figure.offsets, figure.base
    ahead, begins, gaze, eyes, rotations = figure.ahead, looks.begins, track.gaze, track.eyes, track.rotations
    goals = track.goals
    n_shifts = begins.shape[0]
    moving = 1 if offsets.shape[0] > 1 else 0
    v = np.empty(15)
    reach = np.empty((max(n_shifts, 1), 3))
    body, q, g, r, s = np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    f, slow, aim, own, c = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    place, eye = np.empty(3), np.empty(3)
    above = np.empty(4)
    head = chain[-1]
    for frame in range(world.shape[0]):
        t = frame / figure.fps
        goals[frame, 0] = np.nan
        goals[frame, 1] = np.nan
        turn = 0.5 * figure.heading[frame]
        body[0], body[1], body[2], body[3] = np.cos(turn), 0.0, np.sin(turn), 0.0
        _turned(world[frame, head], 1.0, ahead, f)
        _turned(body, -1.0, f, f)
        _towards(base[frame, 0], base[frame, 1], slow)
        first, busy = blended(looks, n_shifts, table, base, slow, frame, t, reach, v)
        # The chain turned, and the eyes' place.
        joint = chain[0]
        for k in range(3):
            place[k] = figure.places[frame, joint, k]
        parent = parents[joint]
        if parent < 0:
            above[0], above[1], above[2], above[3] = 1.0, 0.0, 0.0, 0.0
        else:
            for k in range(4):
                above[k] = world[frame, parent, k]
        for n in range(chain.shape[0]):
            joint = chain[n]
            if n > 0:
                _turned(above, 1.0, offsets[frame * moving, joint], own)
                for k in range(3):
                    place[k] += own[k]
            g[0], g[1], g[2], g[3] = body[0], body[1], body[2], body[3]
            for part in range(4):
                w = figure.shares[n, part]
                if w > 0.0:
                    _exp(w * v[3 * part], w * v[3 * part + 1], w * v[3 * part + 2], q)
                    _multiply(g, q, r)
                    for k in range(4):
                        g[k] = r[k]
            body[2] = -body[2]
            _multiply(g, body, r)
            body[2] = -body[2]
            _multiply(r, world[frame, joint], s)
            above[1], above[2], above[3] = -above[1], -above[2], -above[3]
            _multiply(above, s, q)
            size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
            if (
                q[0] * rotations[frame, joint, 0]
                + q[1] * rotations[frame, joint, 1]
                + q[2] * rotations[frame, joint, 2]
                + q[3] * rotations[frame, joint, 3]
                < 0.0
            ):
                size = -size
            for k in range(4):
                if first < n_shifts and begins[0] <= t:
                    rotations[frame, joint, k] = q[k] / size
                above[k] = s[k]
        # Here `above` is the head in the world, and `r` what it has been turned by.
        _turned(above, 1.0, figure.eye_offset, eye)
        for k in range(3):
            eye[k] += place[k]
            track.places[frame, k] = eye[k]
            c[k] = 0.0
        for i in range(first, n_shifts):
            if begins[i] > t:
                break
            w = _ease((t - begins[i]) / looks.times[i, 0])
            if looks.kinds[i] == 0:
                goals[frame, 0] = np.nan
                goals[frame, 1] = np.nan
                for k in range(3):
                    c[k] -= w * c[k]
                continue
            cut = looks.excess[i, frame]
            yaw, pitch = looks.points[i, 0], looks.points[i, 1]
            if looks.kinds[i] == 2:
                for k in range(3):
                    aim[k] = looks.points[i, k] - eye[k]
                _turned(body, -1.0, aim, aim)
                yaw = _near(np.arctan2(aim[0], aim[2]), looks.requests[i, frame, 0] + base[frame, 0] + cut[0])
                pitch = np.arctan2(aim[1], np.hypot(aim[0], aim[2]))
            goals[frame, 0] = yaw
            goals[frame, 1] = pitch
            # What body and head cannot do of a goal inside the map is left to the eyes.
            _towards(yaw - cut[0], pitch - cut[1], aim)
            _vector_between(reach[i], aim, own)
            for k in range(3):
                c[k] += w * (own[k] - c[k])
        # Without the eyes' help f bobs with the body; the busier they are, the more it is its slow part that counts.
        _eye_direction(v, slow, track.model[frame])
        if steady:
            for k in range(3):
                f[k] += busy * (slow[k] - f[k])
            _unit(f)
        _eye_direction(v, f, gaze[frame])
        _exp(c[0], c[1], c[2], q)
        _turned(q, 1.0, gaze[frame], gaze[frame])
        _turned(body, 1.0, gaze[frame], own)
        _turned(above, -1.0, own, own)
        _vector_between(ahead, own, c)
        size = np.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        track.strain[frame] = size
        share = 1.0
        if size > limit:
            share = (limit + _GIVE * np.tanh((size - limit) / _GIVE)) / size
        _exp(share * c[0], share * c[1], share * c[2], eyes[frame])
        if size > limit:
            _turned(eyes[frame], 1.0, ahead, own)
            _turned(above, 1.0, own, own)
            _turned(body, -1.0, own, gaze[frame])
