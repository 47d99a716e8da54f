"""Step 5 of the cleanup: adjustments fade out into free frames, and nothing is under the floor (Kovar 3.2.6).

Kovar solves the limbs first and fades joint angles out. Here targets fade out and limbs are solved in free frames too:
the limb's angles are smooth functions of its target, so they are as smooth as the target is, and a free foot follows a
smooth way through the world.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.layout import (
    AIM,
    AIM_Q,
    BASE,
    BEND,
    DAMPING,
    DOWN,
    END,
    FIRST,
    FLOOR,
    FREE,
    IS_FOOT,
    KIND,
    KNEE,
    L2,
    L4,
    LIFT,
    MID,
    MOVED,
    O1,
    O2,
    ON_TOE,
    POINT1,
    POINT2,
    POSE,
    POSITION,
    SECOND,
    SHIFT,
    SHIFTED,
    SHIFTS,
    SMOOTH,
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
from marey.clean.limb_kernels import bones, hinge_axis, knee_turn
from marey.clean.root_kernels import followed, pivot
from marey.clean.target_kernels import find_ends, tail, tail_from
from marey.clean.vector_kernels import (
    about,
    add,
    cross,
    dot,
    exp,
    fade,
    fade_smoothly,
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
    vec,
)  # fmt: skip
from marey.core.compiled import inner

Array = Any
Vec = Any
Quat = Any


@inner
def aim(
    state: Array, flags: Array, limbs: Array, spans: Array, amounts: Array, shifts: Array, positions: Array,
    world: Array, t: int, low: int, high: int,
) -> None:  # fmt: skip
    """Where each hand and foot of frame t comes to be, and how far its knee or elbow must turn for that."""
    shift = vec(shifts[t], SHIFT)
    for e in range(flags.shape[1]):
        row, limb, kind = state[t, e], limbs[e], flags[t, e, KIND]
        source, along = qua(row, Q), followed(row, limb, shift)
        target = vec(row, T)
        if kind == FREE:
            target = add(add(vec(row, P), along), (0.0, row[LIFT], 0.0))
            target = add(target, _fade_out(state, flags, limb, spans, t, e, low, high))
        moved = size(vec(row, D)) + size(vec(row, R)) + size(vec(row, W)) + row[LIFT] > 0.0 or along[1] != shift[1]
        orientation = mul(exp(vec(row, R)), source)
        target, orientation, bend, raised = _above_floor(
            row, limb, kind, amounts[FLOOR], positions[t], source, target, orientation, spans[SHIFTS] != 0,
            _turned_about(flags, spans, t, e, low, high),
        )  # fmt: skip
        put(row, AIM, target)
        put_qua(row, AIM_Q, orientation)
        row[BEND], row[KNEE] = bend, 0.0
        flags[t, e, MOVED] = moved or raised or kind != FREE
        if flags[t, e, MOVED] != 0:
            up, down = bones(positions[t], limb[BASE], limb[MID], limb[END])
            hinge = hinge_of(state, spans, limb, world[t], up, down, t, e, high)
            distance = size(sub(target, add(vec(positions[t, limb[BASE]], 0), shift)))
            row[KNEE] = knee_turn(up, down, hinge, distance, amounts[DAMPING])


@inner
def _fade_out(state: Array, flags: Array, limb: Array, spans: Array, t: int, e: int, low: int, high: int) -> Vec:
    """The adjustments that fade into free frame t: of the wrist or ankle, and D, R and W of its row."""
    row = state[t, e]
    back, ahead = find_ends(flags, e, t, spans[L4], low, high, False)
    put(row, W, tail(state, flags, e, t, W, back, ahead, spans, L4, low, high, False))
    held, source = pivot(row, limb), qua(row, Q)
    total, turned, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # A foot that was kept flat is soon as steep as in the source: it would be long, and the leg with it.
    turning = L2 if spans[SMOOTH] != 0 else L4
    for side in range(2):
        away = tail_from(state, flags, e, t, D, back, ahead, side, spans, L4, low, high, False)
        if limb[IS_FOOT] != 0 and spans[SMOOTH] != 0 and _ends_lower(state, t, e, back, ahead, side):
            quick = tail_from(state, flags, e, t, D, back, ahead, side, spans, DOWN, low, high, False)
            away = (away[0], quick[1], away[2])
        swung = tail_from(state, flags, e, t, R, back, ahead, side, spans, turning, low, high, False)
        total, turned = add(total, away), add(turned, swung)
        moved = add(moved, sub(turn(source, held), turn(mul(exp(swung), source), held)))
    put(row, D, total)
    put(row, R, turned)
    return add(total, moved)


@inner
def _ends_lower(state: Array, t: int, e: int, back: int, ahead: int, side: int) -> bool:
    """Whether the foot is put lower where the adjustment begins to fade."""
    at = t - back if side == 0 else t + ahead
    lower: bool = state[at, e, D + 1] < 0.0
    return lower


@inner
def hinge_of(
    state: Array, spans: Array, limb: Array, world: Array, up: Vec, down: Vec, t: int, e: int, high: int
) -> Vec:
    """The knee's axis in frame t. The last frame that may be seen knows best which way it usually bends."""
    usual = unit(vec(state[min(t + spans[L4], high - 1), e], H), (1.0, 0.0, 0.0))
    return hinge_axis(up, down, turn(qua(world[limb[BASE]], 0), usual))


@inner
def _above_floor(
    row: Array, limb: Array, kind: int, floor: float, positions: Array, source: Quat, target: Vec, orientation: Quat,
    shifts: bool, held_alone: Vec,
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
        target, orientation, raised = _raise(limb, vec(row, O1), second, target, orientation, floor, held_alone)
    bend = 0.0
    if limb[TOE] >= 0 and limb[TIP] >= 0:
        bend, missing = _toe_bend(row, limb, floor, positions, source, target, orientation, shifts)
        if kind == FREE and missing > 0.0:
            target, raised = (target[0], target[1] + missing, target[2]), True
    return target, orientation, bend, raised


@inner
def _turned_about(flags: Array, spans: Array, t: int, e: int, low: int, high: int) -> tuple[float, float]:
    """How near frame t is to one in which the first, or the second, point alone is planted: 1 beside it, 0 far off."""
    first, second = 0.0, 0.0
    back, ahead = find_ends(flags, e, t, spans[L4], low, high, False)
    for n in (-back, ahead):
        kind = flags[t + n, e, KIND]
        near = fade_smoothly(abs(n) / (spans[L4] + 1))
        if kind == FIRST:
            first = max(first, near)
        elif kind == SECOND:
            second = max(second, near)
    return first, second


@inner
def _raise(
    limb: Array, first: Vec, second: Vec, target: Vec, orientation: Quat, floor: float, held_alone: Vec
) -> tuple[Vec, Quat, bool]:
    """A free hand or foot lifted until one of its points is above the floor, then turned about that one.

    So nothing changes at once where a plant ends and the foot turned about it before. Away from such a plant, the
    steeper the foot is, the more of what the other point lacks is lifted and the less turned: one that hangs straight
    down would have to turn far for the last millimetre, and its low point would jump aside by centimetres.
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
    depth = floor - target[1] - min(one, two)
    if depth <= 0.0:
        return target, orientation, lift > 0.0
    steep = (target[1] + max(one, two) - floor) / max(size(sub(second, first)), 1e-9)
    share = (1.0 - fade(steep)) * (1.0 - (held_alone[0] if one >= two else held_alone[1]))
    target = (target[0], target[1] + share * depth, target[2])
    if one >= two:
        target, orientation, _ = _tilt(target, orientation, first, second, floor)
    else:
        target, orientation, _ = _tilt(target, orientation, second, first, floor)
    return target, orientation, True


@inner
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


@inner
def toe_vectors(
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


@inner
def toe_axis(row: Array, limb: Array, tip: Vec, ankle: Vec, orientation: Quat) -> Vec:
    """The axis about which toes bend towards the shin: across the foot, as heel, ball and ankle lie.

    tip, ankle : from what the toes turn about. Without a heel, across toes and ankle.
    """
    ahead = tip
    if limb[POINT1] >= 0:
        ahead = sub(times(-1.0, ankle), turn(orientation, vec(row, O1)))
    return unit(cross(ahead, ankle), (1.0, 0.0, 0.0))


@inner
def _toe_bend(
    row: Array, limb: Array, floor: float, positions: Array, source: Quat, target: Vec, orientation: Quat, shifts: bool
) -> tuple[float, float]:
    """The least upward bend of the toes that puts their tip above the floor, and the metres that it cannot.

    Kovar 3.16-3.17 as an angle: the tip's height is along + most * cos(bend - top).
    """
    pivot, tip, ankle = toe_vectors(row, limb, positions, source, target, orientation, shifts)
    height = floor - pivot[1]
    if tip[1] >= height:
        return 0.0, 0.0
    axis = toe_axis(row, limb, tip, ankle, orientation)
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
