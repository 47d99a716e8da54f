"""Step 5 of the cleanup: adjustments fade out into free frames, nothing is under the floor (Kovar 3.2.6), and the
finished frame.

Kovar solves the limbs first and fades joint angles out. Here targets fade out and limbs are solved in free frames too:
the limb's angles are smooth functions of its target, so they are as smooth as the target is, and a free foot follows a
smooth way through the world.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.layout import (
    BASE,
    DAMPING,
    END,
    FIRST,
    FLOOR,
    FREE,
    KIND,
    L4,
    LIFT,
    MID,
    O1,
    O2,
    ON_TOE,
    POINT1,
    POINT2,
    POSE,
    POSITION,
    RESIDUE,
    SCALE,
    SECOND,
    SHIFTED,
    SHIFTS,
    STRETCH,
    SWIVEL,
    TIP,
    TOE,
    D,
    H,
    P,
    Q,
    R,
    T,
    W,
)  # fmt: skip
from marey.clean.limb_kernels import bones, solve
from marey.clean.root_kernels import followed
from marey.clean.target_kernels import find_ends, tail
from marey.clean.vector_kernels import (
    about,
    add,
    cross,
    dot,
    exp,
    inv,
    mul,
    put,
    put_qua,
    qua,
    size,
    sub,
    times,
    turn,
    unit,
    unit_qua,
    vec,
)  # fmt: skip
from marey.core.compiled import kernel

Array = Any
Vec = Any
Quat = Any


@kernel
def finish(
    state: Array, flags: Array, limbs: Array, offsets: Array, parents: Array, spans: Array, amounts: Array,
    shifts: Array, positions: Array, world: Array, root: Array, local: Array, bone: Array,
    out_root: Array, out_local: Array, out_bone: Array, figures: Array, t: int, low: int, high: int,
) -> None:  # fmt: skip
    """The finished frame t, into `out_root`, `out_local` and `out_bone`."""
    shift = vec(shifts[t], 3)
    put(out_root[t], 0, add(vec(root[t], 0), shift))
    out_local[t] = local[t]
    out_bone[t] = bone[t]
    for e in range(flags.shape[1]):
        row, limb, kind = state[t, e], limbs[e], flags[t, e, KIND]
        if kind == FREE:
            back, ahead = find_ends(flags, e, t, spans[L4], low, high, False)
            put(row, D, tail(state, flags, e, t, D, back, ahead, spans, L4, low, high, False))
            put(row, R, tail(state, flags, e, t, R, back, ahead, spans, L4, low, high, False))
            put(row, W, tail(state, flags, e, t, W, back, ahead, spans, L4, low, high, False))
        source = qua(row, Q)
        moved = (
            size(vec(row, D)) + size(vec(row, R)) + size(vec(row, W)) + row[LIFT] > 0.0
            or followed(limb, shift)[1] != shift[1]
        )
        orientation = mul(exp(vec(row, R)), source)
        along = followed(limb, shift)
        target = add(add(add(vec(row, P), along), vec(row, D)), (0.0, row[LIFT], 0.0))
        if kind != FREE:
            target = vec(row, T)
        target, orientation, bend, raised = _above_floor(
            row, limb, kind, amounts[FLOOR], positions[t], source, target, orientation, spans[SHIFTS] != 0
        )
        figures[t, e, SCALE], figures[t, e, RESIDUE] = 1.0, 0.0
        if moved or raised or kind != FREE:
            _write_limb(
                state[min(t + spans[L4], high - 1), e], limb, parents, amounts, shift, positions[t], world[t],
                out_local[t], out_bone[t], figures[t, e], target, orientation,
            )  # fmt: skip
        _write_shift(row, limb, parents, world[t], source, out_bone[t])
        if bend > 0.0:
            _write_toes(
                row, limb, offsets[e], parents, positions[t], world[t], out_local[t], out_bone[t], source, bend,
                spans[SHIFTS] != 0,
            )  # fmt: skip


@kernel
def _above_floor(
    row: Array, limb: Array, kind: int, floor: float, positions: Array, source: Quat, target: Vec, orientation: Quat,
    shifts: bool,
) -> tuple[Vec, Quat, float, bool]:  # fmt: skip
    """Target and orientation that keep all points above the floor, how far the toes bend for it, and if it moved."""
    raised = False
    if kind in (POSE, POSITION):
        return target, orientation, 0.0, raised
    second = add(vec(row, O2), vec(row, W))
    if kind == FIRST and limb[POINT2] >= 0:
        held, other = vec(row, O1), second
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == SECOND and limb[POINT1] >= 0:
        held, other = second, vec(row, O1)
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == FREE:
        target, orientation, raised = _raise(limb, vec(row, O1), second, target, orientation, floor)
    bend = 0.0
    if limb[TOE] >= 0 and limb[TIP] >= 0:
        bend, missing = _toe_bend(row, limb, floor, positions, source, target, orientation, shifts)
        if kind == FREE and missing > 0.0:
            target, raised = (target[0], target[1] + missing, target[2]), True
    return target, orientation, bend, raised


@kernel
def _raise(
    limb: Array, first: Vec, second: Vec, target: Vec, orientation: Quat, floor: float
) -> tuple[Vec, Quat, bool]:
    """A free hand or foot lifted until one of its points is above the floor, then turned about that one.

    So nothing changes at once where a plant ends and the foot turned about it before.
    """
    if limb[POINT1] < 0 and limb[POINT2] < 0:
        return target, orientation, False
    one, two = turn(orientation, first)[1], turn(orientation, second)[1]
    if limb[POINT1] < 0:
        one = two
    if limb[POINT2] < 0:
        two = one
    lift = max(floor - target[1] - max(one, two), 0.0)
    target = (target[0], target[1] + lift, target[2])
    if target[1] + min(one, two) >= floor:
        return target, orientation, lift > 0.0
    if one >= two:
        target, orientation, _ = _tilt(target, orientation, first, second, floor)
    else:
        target, orientation, _ = _tilt(target, orientation, second, first, floor)
    return target, orientation, True


@kernel
def _tilt(target: Vec, orientation: Quat, held: Vec, other: Vec, floor: float) -> tuple[Vec, Quat, bool]:
    """The foot turned about its planted point by the least that puts the other point above the floor."""
    plant = add(target, turn(orientation, held))
    away = turn(orientation, sub(other, held))
    if plant[1] + away[1] >= floor:
        return target, orientation, False
    length, flat = size(away), math.sqrt(away[0] * away[0] + away[2] * away[2])
    if flat < 1e-9:
        return target, orientation, False
    rise = math.asin(min(max((floor - plant[1]) / length, -1.0), 1.0)) - math.atan2(away[1], flat)
    axis = (-away[2] / flat, 0.0, away[0] / flat)
    orientation = mul(about(axis, rise), orientation)
    return sub(plant, turn(orientation, held)), orientation, True


@kernel
def _toe_vectors(
    row: Array, limb: Array, positions: Array, source: Quat, target: Vec, orientation: Quat, shifts: bool
) -> tuple[Vec, Vec, Vec]:
    """What the toes turn about, and from there to their tip and to the ankle.

    They turn about the planted point where that sits on them beside the joint, and the joint is moved along.
    """
    back = inv(source)
    toe = turn(back, sub(vec(positions[limb[TOE]], 0), vec(row, P)))
    tip = turn(back, sub(vec(positions[limb[TIP]], 0), vec(row, P)))
    if limb[SHIFTED] >= 0:
        toe, tip = add(toe, vec(row, W)), add(tip, vec(row, W))
    if limb[ON_TOE] != 0 and shifts:
        toe = add(vec(row, O2), vec(row, W))
    return add(target, turn(orientation, toe)), turn(orientation, sub(tip, toe)), turn(orientation, times(-1.0, toe))


@kernel
def _toe_axis(row: Array, limb: Array, tip: Vec, ankle: Vec, orientation: Quat) -> Vec:
    """The axis about which toes bend towards the shin: across the foot, as heel, ball and ankle lie.

    tip, ankle : from what the toes turn about. Without a heel, across toes and ankle.
    """
    ahead = tip
    if limb[POINT1] >= 0:
        ahead = sub(times(-1.0, ankle), turn(orientation, vec(row, O1)))
    return unit(cross(ahead, ankle), (1.0, 0.0, 0.0))


@kernel
def _toe_bend(
    row: Array, limb: Array, floor: float, positions: Array, source: Quat, target: Vec, orientation: Quat, shifts: bool
) -> tuple[float, float]:
    """The least upward bend of the toes that puts their tip above the floor, and the metres that it cannot.

    Kovar 3.16-3.17 as an angle: the tip's height is along + most * cos(bend - top).
    """
    pivot, tip, ankle = _toe_vectors(row, limb, positions, source, target, orientation, shifts)
    height = floor - pivot[1]
    if tip[1] >= height:
        return 0.0, 0.0
    axis = _toe_axis(row, limb, tip, ankle, orientation)
    along = axis[1] * dot(axis, tip)
    side = cross(axis, tip)
    most, top = math.sqrt((tip[1] - along) ** 2 + side[1] * side[1]), math.atan2(side[1], tip[1] - along)
    if top < -0.5 * math.pi:  # curled under the foot: straight down first, then up
        top += 2.0 * math.pi
    if top <= 0.0:  # the foot is upside down: bending only lowers the tip
        return 0.0, height - tip[1]
    if height - along >= most:
        return top, height - along - most
    return top - math.acos(max((height - along) / most, -1.0)), 0.0


@kernel
def _write_limb(
    later: Array, limb: Array, parents: Array, amounts: Array, shift: Vec, positions: Array, world: Array,
    local: Array, bone: Array, figures: Array, target: Vec, orientation: Quat,
) -> None:  # fmt: skip
    """Turn and scale the limb. `later` is the row of the last frame that may be seen: it knows the hinge best."""
    base, mid, end = limb[BASE], limb[MID], limb[END]
    up, down = bones(positions, base, mid, end)
    usual = turn(qua(world[base], 0), unit(vec(later, H), (1.0, 0.0, 0.0)))
    hip, knee, scale, residue = solve(
        add(vec(positions[base], 0), shift), up, down, usual, qua(world[end], 0), target, orientation,
        amounts[DAMPING], amounts[SWIVEL], amounts[STRETCH],
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


@kernel
def _parent(world: Array, parents: Array, joint: int) -> Quat:
    if parents[joint] < 0:
        return 1.0, 0.0, 0.0, 0.0
    return qua(world[parents[joint]], 0)


@kernel
def _write_local(local: Array, joint: int, back: Quat, rotation: Quat) -> None:
    """A joint's rotation in its parent, of q and -q the one on the side of the rotation before."""
    q = unit_qua(mul(back, rotation))
    before = qua(local[joint], 0)
    if q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    put_qua(local[joint], 0, q)


@kernel
def _write_shift(row: Array, limb: Array, parents: Array, world: Array, source: Quat, bone: Array) -> None:
    """The second point's own adjustment, as a change of the bone that carries it."""
    joint, shift = limb[SHIFTED], vec(row, W)
    if joint < 0 or size(shift) == 0.0:
        return
    moved = turn(inv(_parent(world, parents, joint)), turn(source, shift))
    put(bone[joint], 0, add(vec(bone[joint], 0), moved))


@kernel
def _write_toes(
    row: Array, limb: Array, offsets: Array, parents: Array, positions: Array, world: Array, local: Array, bone: Array,
    source: Quat, bend: float, shifts: bool,
) -> None:  # fmt: skip
    """Bend the toes, in the source's world axes: the foot as a whole takes them along."""
    toe = limb[TOE]
    _, tip, ankle = _toe_vectors(row, limb, positions, source, vec(row, P), source, shifts)
    turned = about(_toe_axis(row, limb, tip, ankle, source), bend)
    parent = _parent(world, parents, toe)
    _write_local(local, toe, inv(parent), mul(turned, qua(world[toe], 0)))
    if limb[ON_TOE] != 0 and shifts:
        point = turn(qua(world[toe], 0), vec(offsets[1], 0))
        moved = turn(inv(parent), sub(point, turn(turned, point)))
        put(bone[toe], 0, add(vec(bone[toe], 0), moved))
