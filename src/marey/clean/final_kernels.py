"""Step 5 of the cleanup: adjustments fade out into free frames, and nothing is under the floor (Kovar 3.2.6).

Kovar solves the limbs first and fades joint angles out. Here targets fade out and limbs are solved in free frames too:
the limb's angles are smooth functions of its target, so they are as smooth as the target is, and a free foot follows a
smooth way through the world.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.layout_kernels import (
    AIM,
    AIM_Q,
    BASE,
    BEND,
    END,
    FIRST,
    FREE,
    IS_FOOT,
    KIND,
    KNEE,
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
    TIP,
    TOE,
    CleanBody,
    CleanOptions,
    CleanState,
    D,
    FreeSpan,
    H,
    P,
    Q,
    R,
    SourceFrames,
    T,
    W,
)
from marey.clean.root_kernels import find_pivot, follow_shift
from marey.clean.target_kernels import fade_tail, fade_tails, find_span
from marey.compiled import helper
from marey.core.limb_kernels import bones, hinge_axis, knee_turn
from marey.maths.vector_kernels import (
    Quat,
    Vec,
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
    squared,
    sub,
    times,
    turn,
    unit,
    vec,
)

Array = Any
Pose = tuple[Vec, Quat]


@helper
def aim(body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int) -> None:
    """Find where each hand and foot of frame t comes to be, and how far its knee or elbow must rotate for that."""
    flags = state.flags
    shift = vec(state.shifts[t], SHIFT)
    for e in range(flags.shape[1]):
        row, limb, kind = state.values[t, e], body.limbs[e], flags[t, e, KIND]
        source, along = qua(row, Q), follow_shift(row, limb, shift)
        target = vec(row, T)
        if kind == FREE:
            target = add(add(vec(row, P), along), (0.0, row[LIFT], 0.0))
            target = add(target, _fade_out(limb, options, state, t, e, n_ready))
        moved = size(vec(row, D)) + size(vec(row, R)) + size(vec(row, W)) + row[LIFT] > 0.0 or along[1] != shift[1]
        orientation = mul(exp(vec(row, R)), source)
        near_plants = _weigh_single_plants(flags, options.fade, t, e, n_ready)
        (target, orientation), bend, raised = _raise_above_floor(
            row, limb, kind, options, frames.positions[t], (target, orientation), near_plants
        )
        put(row, AIM, target)
        put_qua(row, AIM_Q, orientation)
        row[BEND], row[KNEE] = bend, 0.0
        flags[t, e, MOVED] = moved or raised or kind != FREE
        if flags[t, e, MOVED] != 0:
            up, down, hinge = find_hinge(limb, options, frames, state, t, e, n_ready)
            distance = size(sub(target, add(vec(frames.positions[t, limb[BASE]], 0), shift)))
            row[KNEE] = knee_turn(up, down, hinge, distance, options.damping)


@helper
def _fade_out(limb: Array, options: CleanOptions, state: CleanState, t: int, e: int, n_ready: int) -> Vec:
    """Fade adjustments into free frame t: returns that of the wrist or ankle, and writes D, R and W of its row."""
    row = state.values[t, e]
    span = find_span(state.flags, e, t, options.fade, False, n_ready)
    put(row, W, fade_tails(options, state, span, W, options.fade))
    pivot, source = find_pivot(row, limb), qua(row, Q)
    total, rotated, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # A foot that was kept flat is soon as steep as in the source: it would be long, and the leg with it.
    rotation_window = options.blend if options.is_smooth else options.fade
    for side in range(2):
        away = fade_tail(options, state, span, D, options.fade, side)
        if limb[IS_FOOT] != 0 and options.is_smooth and _ends_lower(state, span, side):
            quick = fade_tail(options, state, span, D, options.rise, side)
            away = (away[0], quick[1], away[2])
        swung = fade_tail(options, state, span, R, rotation_window, side)
        total, rotated = add(total, away), add(rotated, swung)
        moved = add(moved, sub(turn(source, pivot), turn(mul(exp(swung), source), pivot)))
    put(row, D, total)
    put(row, R, rotated)
    return add(total, moved)


@helper
def _ends_lower(state: CleanState, span: FreeSpan, side: int) -> bool:
    """Whether the foot is put lower where the adjustment begins to fade."""
    at = span.t - span.back if side == 0 else span.t + span.ahead
    lower: bool = state.values[at, span.e, D + 1] < 0.0
    return lower


@helper
def find_hinge(
    limb: Array, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, e: int, n_ready: int
) -> tuple[Vec, Vec, Vec]:
    """From the knee to hip and ankle in frame t, and the knee's axis.

    The last frame that may be seen knows best which way the knee usually bends.
    """
    up, down = bones(frames.positions[t], limb[BASE], limb[MID], limb[END])
    usual = unit(vec(state.values[min(t + options.fade, n_ready - 1), e], H), (1.0, 0.0, 0.0))
    return up, down, hinge_axis(up, down, turn(qua(frames.world[t, limb[BASE]], 0), usual))


@helper
def _raise_above_floor(
    row: Array, limb: Array, kind: int, options: CleanOptions, positions: Array, pose: Pose, near_plants: Array
) -> tuple[Pose, float, bool]:
    """Raise all points above the floor: target and orientation, how far the toes bend for it, and if it moved.

    positions : (J, 3) in the source. near_plants : as from `_weigh_single_plants`.
    """
    target, orientation = pose
    floor, raised = options.floor, False
    if kind in (POSE, POSITION):
        return (target, orientation), 0.0, raised
    second = add(vec(row, O2), vec(row, W))
    if kind == FIRST and limb[POINT2] >= 0:
        held, other = vec(row, O1), second
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == SECOND and limb[POINT1] >= 0:
        held, other = second, vec(row, O1)
        target, orientation, raised = _tilt(target, orientation, held, other, floor)
    elif kind == FREE:
        target, orientation, raised = _raise_free(limb, (vec(row, O1), second), target, orientation, floor, near_plants)
    bend = 0.0
    if limb[TOE] >= 0 and limb[TIP] >= 0:
        bend, missing = _bend_toes(row, limb, options, positions, target, orientation)
        if kind == FREE and missing > 0.0:
            target, raised = (target[0], target[1] + missing, target[2]), True
    return (target, orientation), bend, raised


@helper
def _weigh_single_plants(flags: Array, window: int, t: int, e: int, n_ready: int) -> tuple[float, float]:
    """How near frame t is to one in which the first, or the second, point alone is planted: 1 beside it, 0 far off."""
    first, second = 0.0, 0.0
    span = find_span(flags, e, t, window, False, n_ready)
    for n in (-span.back, span.ahead):
        kind = flags[t + n, e, KIND]
        near = fade_smoothly(abs(n) / (window + 1))
        if kind == FIRST:
            first = max(first, near)
        elif kind == SECOND:
            second = max(second, near)
    return first, second


@helper
def _raise_free(
    limb: Array, points: tuple[Vec, Vec], target: Vec, orientation: Quat, floor: float, near_plants: tuple[float, float]
) -> tuple[Vec, Quat, bool]:
    """Lift a free hand or foot until one of its points is above the floor, then rotate it about that one.

    So nothing changes at once where a plant ends and the foot rotated about it before. Away from such a plant, the
    steeper the foot is, the more of what the other point lacks is lifted and the less rotated: one that hangs straight
    down would have to rotate far for the last millimetre, and its low point would jump aside by centimetres.
    """
    if limb[POINT1] < 0 and limb[POINT2] < 0:
        return target, orientation, False
    first, second = points
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
    lifted = (1.0 - fade(steep)) * (1.0 - (near_plants[0] if one >= two else near_plants[1]))
    target = (target[0], target[1] + lifted * depth, target[2])
    if one >= two:
        target, orientation, _ = _tilt(target, orientation, first, second, floor)
    else:
        target, orientation, _ = _tilt(target, orientation, second, first, floor)
    return target, orientation, True


@helper
def _tilt(target: Vec, orientation: Quat, held: Vec, other: Vec, floor: float) -> tuple[Vec, Quat, bool]:
    """Rotate the foot about its planted point by the least that puts the other point above the floor."""
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


@helper
def find_toes(
    row: Array, limb: Array, options: CleanOptions, positions: Array, target: Vec, orientation: Quat
) -> tuple[Vec, Vec, Vec]:
    """What the toes rotate about, and from there to their tip and to the ankle.

    They rotate about the planted point where that sits on them beside the joint, and the joint is moved along.
    positions : (J, 3) in the source. target, orientation : of the ankle.
    """
    back = inv(qua(row, Q))
    toe = turn(back, sub(vec(positions[limb[TOE]], 0), vec(row, P)))
    tip = turn(back, sub(vec(positions[limb[TIP]], 0), vec(row, P)))
    if limb[SHIFTED] >= 0:
        toe, tip = add(toe, vec(row, W)), add(tip, vec(row, W))
    if limb[ON_TOE] != 0 and options.can_stretch:
        toe = add(vec(row, O2), vec(row, W))
    return add(target, turn(orientation, toe)), turn(orientation, sub(tip, toe)), turn(orientation, times(-1.0, toe))


@helper
def toe_axis(row: Array, limb: Array, tip: Vec, ankle: Vec, orientation: Quat) -> Vec:
    """The axis about which toes bend towards the shin: across the foot, as heel, ball and ankle lie.

    tip, ankle : from what the toes rotate about. Without a heel, across toes and ankle.
    """
    ahead = tip
    if limb[POINT1] >= 0:
        ahead = sub(times(-1.0, ankle), turn(orientation, vec(row, O1)))
    return unit(cross(ahead, ankle), (1.0, 0.0, 0.0))


@helper
def _bend_toes(
    row: Array, limb: Array, options: CleanOptions, positions: Array, target: Vec, orientation: Quat
) -> tuple[float, float]:
    """The least upward bend of the toes that puts their tip above the floor, and the metres that it cannot.

    Kovar 3.16-3.17 as an angle: the tip's height is along + most * cos(bend - top).
    """
    pivot, tip, ankle = find_toes(row, limb, options, positions, target, orientation)
    height = options.floor - pivot[1]
    if tip[1] >= height:
        return 0.0, 0.0
    axis = toe_axis(row, limb, tip, ankle, orientation)
    along = axis[1] * dot(axis, tip)
    side = cross(axis, tip)
    most, top = math.sqrt(squared(tip[1] - along) + side[1] * side[1]), math.atan2(side[1], tip[1] - along)
    if top < -0.5 * math.pi:  # curled under the foot: straight down first, then up
        top += 2.0 * math.pi
    if top <= 0.0:  # the foot is upside down: bending only lowers the tip
        return 0.0, height - tip[1]
    if height - along >= most:
        return top, height - along - most
    return top - math.acos(max((height - along) / most, -1.0)), 0.0
