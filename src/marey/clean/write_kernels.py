"""The finished frame: limbs turned and scaled, toes bent."""

from __future__ import annotations

import math
from typing import Any

from marey.clean.final_kernels import hinge_of, toe_axis, toe_vectors
from marey.clean.layout import (
    AIM,
    AIM_Q,
    BASE,
    BEND,
    CALM,
    END,
    KNEE,
    MID,
    MOVED,
    ON_TOE,
    RESIDUE,
    SCALE,
    SHIFT,
    SHIFTED,
    SHIFTS,
    STRETCH,
    SWIVEL,
    TOE,
    P,
    Q,
    W,
)  # fmt: skip
from marey.clean.limb_kernels import bones, solve
from marey.clean.vector_kernels import (
    about,
    add,
    inv,
    mul,
    put,
    put_qua,
    qua,
    size,
    sub,
    times,
    turn,
    unit_qua,
    vec,
)  # fmt: skip
from marey.core.compiled import inner

Array = Any
Vec = Any
Quat = Any


@inner
def finish(
    state: Array, flags: Array, limbs: Array, offsets: Array, parents: Array, spans: Array, amounts: Array,
    shifts: Array, positions: Array, world: Array,
    out_root: Array, out_local: Array, out_bone: Array, figures: Array, t: int, low: int, high: int,
    n: int,
) -> None:  # fmt: skip
    """The finished frame t, into `out_root`, `out_local` and `out_bone`, which hold the source's.

    high : frames that have an aim. n : frames that came in; knees are told by those, the same as when they were aimed.
    """
    shift = vec(shifts[t], SHIFT)
    put(out_root[t], 0, add(vec(out_root[t], 0), shift))
    for e in range(flags.shape[1]):
        row, limb = state[t, e], limbs[e]
        figures[t, e, SCALE], figures[t, e, RESIDUE] = 1.0, 0.0
        change = _calm_turn(state, spans, t, e, low, high)
        if flags[t, e, MOVED] != 0 or change != 0.0:
            up, down = bones(positions[t], limb[BASE], limb[MID], limb[END])
            hinge = hinge_of(state, spans, limb, world[t], up, down, t, e, n)
            _write_limb(
                row, limb, parents, amounts, shift, positions[t], world[t], up, down, hinge, change,
                out_local[t], out_bone[t], figures[t, e],
            )  # fmt: skip
        _write_shift(row, limb, parents, world[t], qua(row, Q), out_bone[t])
        bend = _calm_bend(state, spans, t, e, low, high)
        if bend > 0.0:
            _write_toes(
                row, limb, offsets[e], parents, positions[t], world[t], out_local[t], out_bone[t], bend,
                spans[SHIFTS] != 0,
            )  # fmt: skip


@inner
def _calm_turn(state: Array, spans: Array, t: int, e: int, low: int, high: int) -> float:
    """The knee's turn of frame t, smoothed over its neighbours.

    A knee that is nearly straight turns by degrees for each millimetre that the hip is off, so that it would shake with
    the noise of the recording. The limb's length takes up the millimetre instead.
    """
    half = spans[CALM]
    total, weight = 0.0, 0.0
    for n in range(max(low - t, -half), min(high - t, half + 1)):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        total += tap * state[t + n, e, KNEE]
        weight += tap
    return total / weight


@inner
def _calm_bend(state: Array, spans: Array, t: int, e: int, low: int, high: int) -> float:
    """The bend of the toes in frame t: the most within a few frames, smoothed over as many.

    Toes that point straight down must bend far for the last millimetre, so that they would snap back.
    """
    half = spans[CALM] // 2
    total, weight = 0.0, 0.0
    for n in range(-half, half + 1):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        most = 0.0
        for s in range(max(low, t + n - half), min(high, t + n + half + 1)):
            most = max(most, state[s, e, BEND])
        total += tap * most
        weight += tap
    return total / weight


@inner
def _write_limb(
    row: Array, limb: Array, parents: Array, amounts: Array, shift: Vec, positions: Array, world: Array,
    up: Vec, down: Vec, hinge: Vec, change: float, local: Array, bone: Array, figures: Array,
) -> None:  # fmt: skip
    """Turn and scale the limb."""
    base, mid, end = limb[BASE], limb[MID], limb[END]
    orientation = qua(row, AIM_Q)
    hip, knee, scale, residue = solve(
        add(vec(positions[base], 0), shift), up, down, hinge, change, qua(world[end], 0), vec(row, AIM), orientation,
        amounts[SWIVEL], amounts[STRETCH],
    )  # fmt: skip
    _write_local(local, base, inv(_parent(world, parents, base)), mul(hip, qua(world[base], 0)))
    _write_local(local, mid, inv(mul(hip, _parent(world, parents, mid))), mul(knee, qua(world[mid], 0)))
    _write_local(local, end, inv(mul(knee, _parent(world, parents, end))), orientation)
    if scale != 1.0:
        joint = end
        while joint != base:
            put(bone[joint], 0, times(scale, vec(bone[joint], 0)))
            joint = parents[joint]
    figures[SCALE], figures[RESIDUE] = scale, residue


@inner
def _parent(world: Array, parents: Array, joint: int) -> Quat:
    if parents[joint] < 0:
        return 1.0, 0.0, 0.0, 0.0
    return qua(world[parents[joint]], 0)


@inner
def _write_local(local: Array, joint: int, back: Quat, rotation: Quat) -> None:
    """A joint's rotation in its parent, of q and -q the one on the side of the rotation before."""
    q = unit_qua(mul(back, rotation))
    before = qua(local[joint], 0)
    if q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    put_qua(local[joint], 0, q)


@inner
def _write_shift(row: Array, limb: Array, parents: Array, world: Array, source: Quat, bone: Array) -> None:
    """The second point's own adjustment, as a change of the bone that carries it."""
    joint, shift = limb[SHIFTED], vec(row, W)
    if joint < 0 or size(shift) == 0.0:
        return
    moved = turn(inv(_parent(world, parents, joint)), turn(source, shift))
    put(bone[joint], 0, add(vec(bone[joint], 0), moved))


@inner
def _write_toes(
    row: Array, limb: Array, offsets: Array, parents: Array, positions: Array, world: Array, local: Array, bone: Array,
    bend: float, shifts: bool,
) -> None:  # fmt: skip
    """Bend the toes, in the source's world axes: the foot as a whole takes them along."""
    toe, source = limb[TOE], qua(row, Q)
    _, tip, ankle = toe_vectors(row, limb, positions, source, vec(row, P), source, shifts)
    turned = about(toe_axis(row, limb, tip, ankle, source), bend)
    parent = _parent(world, parents, toe)
    _write_local(local, toe, inv(parent), mul(turned, qua(world[toe], 0)))
    if limb[ON_TOE] != 0 and shifts:
        point = turn(qua(world[toe], 0), vec(offsets[1], 0))
        moved = turn(inv(parent), sub(point, turn(turned, point)))
        put(bone[toe], 0, add(vec(bone[toe], 0), moved))
