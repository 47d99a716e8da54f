"""Compiled loops of the foot lock: plain arrays in, results written into the last arguments.

Key: x, v = how far an ankle is moved from where the frame has it, and its velocity.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.limb_kernels import bones, hinge_axis, knee_turn, solve
from marey.clean.vector_kernels import add, inv, mul, put_qua, qua, size, turn, unit, unit_qua, vec
from marey.core.compiled import kernel

Array = Any


@kernel
def hold(
    joints: Array,
    offsets: Array,
    columns: Array,
    flags: Array,
    positions: Array,
    world: Array,
    y: float,
    dt: float,
    furthest: float,
    held: Array,
    anchors: Array,
    x: Array,
    v: Array,
) -> None:
    """What each of E feet is moved by in this frame.

    joints, offsets, columns : (E, 2), (E, 2, 3), (E, 2) of both points of each foot, and their columns among the flags,
    -1 for none. positions, world : of the frame. held : (E,) which point a foot is held by, -1 for none; anchors :
    (E, 3) where. The second point, the ball, is the one to hold by where both are planted: it is planted last.
    """
    left = math.exp(-y * dt)
    for e in range(joints.shape[0]):
        by = -1
        for k in range(2):
            if columns[e, k] >= 0 and flags[columns[e, k]]:
                by = k
        at = (0.0, 0.0, 0.0)
        if by >= 0:
            joint = joints[e, by]
            at = add(vec(positions[joint], 0), turn(qua(world[joint], 0), vec(offsets[e, by], 0)))
        # What a spring would make of the foot if it were free.
        sx, sz = v[e, 0] + y * x[e, 0], v[e, 2] + y * x[e, 2]
        free_x, free_z = left * (x[e, 0] + sx * dt), left * (x[e, 2] + sz * dt)
        free_vx, free_vz = left * (v[e, 0] - y * sx * dt), left * (v[e, 2] - y * sz * dt)
        if by >= 0 and held[e] != by:
            anchors[e, 0] = at[0] + free_x
            anchors[e, 2] = at[2] + free_z
        if by >= 0:
            to_x, to_z = anchors[e, 0] - at[0], anchors[e, 2] - at[2]
            away = math.hypot(to_x, to_z)
            if away > furthest:
                # It is dragged along no further than it has to be.
                to_x, to_z = to_x * furthest / away, to_z * furthest / away
                anchors[e, 0], anchors[e, 2] = at[0] + to_x, at[2] + to_z
            free_vx, free_vz = (to_x - x[e, 0]) / dt, (to_z - x[e, 2]) / dt
            free_x, free_z = to_x, to_z
        held[e] = by
        x[e, 0], x[e, 2], v[e, 0], v[e, 2] = free_x, free_z, free_vx, free_vz


@kernel
def reach(
    parents: Array, limbs: Array, hinges: Array, x: Array, damping: float, positions: Array, world: Array, out: Array
) -> None:
    """Turn legs so that ankles are where x (E, 3) moves them; feet keep their orientation.

    limbs : (E, 3) hip, knee, ankle. hinges : (E, 3) in the hip's frame. positions, world : of the frame. out : (J, 4)
    its local rotations, which are changed.
    """
    for e in range(limbs.shape[0]):
        if abs(x[e, 0]) + abs(x[e, 2]) < 1e-7:
            continue
        base, mid, end = limbs[e, 0], limbs[e, 1], limbs[e, 2]
        up, down = bones(positions, base, mid, end)
        usual = unit(turn(qua(world[base], 0), vec(hinges[e], 0)), (1.0, 0.0, 0.0))
        hinge = hinge_axis(up, down, usual)
        foot = qua(world[end], 0)
        target = add(vec(positions[end], 0), vec(x[e], 0))
        hip = vec(positions[base], 0)
        away = size((target[0] - hip[0], target[1] - hip[1], target[2] - hip[2]))
        change = knee_turn(up, down, hinge, away, damping)
        thigh, shank, _, _ = solve(hip, up, down, hinge, change, foot, target, foot, 0.5, 0.0)
        local = qua(out[base], 0), qua(out[mid], 0), qua(out[end], 0)
        above = qua(world[parents[base]], 0) if parents[base] >= 0 else (1.0, 0.0, 0.0, 0.0)
        turned = (
            mul(inv(above), mul(thigh, qua(world[base], 0))),
            mul(inv(mul(thigh, qua(world[parents[mid]], 0))), mul(shank, qua(world[mid], 0))),
            mul(inv(mul(shank, qua(world[parents[end]], 0))), foot),
        )
        for k in range(3):
            joint = base if k == 0 else (mid if k == 1 else end)
            was, now = local[k], unit_qua(turned[k])
            if was[0] * now[0] + was[1] * now[1] + was[2] * now[2] + was[3] * now[3] < 0.0:
                now = (-now[0], -now[1], -now[2], -now[3])
            put_qua(out[joint], 0, now)
