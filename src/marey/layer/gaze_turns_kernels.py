"""Compiled: looks on poses as they play, frame by frame."""

from __future__ import annotations

import math
from typing import Any

from marey.clean.vector_kernels import about, add, exp, inv, mul, put_qua, qua, sub, times, turn, unit_qua, vec
from marey.core.compiled import kernel


@kernel
def turn_spine(above: Any, chain: Any, shares: Any, heading: Any, turns: Any, rotations: Any) -> None:
    """Turn the joints of a chain by looks; local rotations (F, J, 4) are changed.

    above : joints from the root down to the one that carries the chain, perhaps none. chain : (m,) joints, parents
    first. shares : (m, 4). heading : (F,) radians. turns : (F, 15) rotation vectors.
    """
    for f in range(len(rotations)):
        before = (1.0, 0.0, 0.0, 0.0)
        for n in range(len(above)):
            before = mul(before, qua(rotations[f, above[n]], 0))
        facing = about((0.0, 1.0, 0.0), heading[f])
        after = before
        for n in range(len(chain)):
            own = qua(rotations[f, chain[n]], 0)
            before = mul(before, own)
            added = (1.0, 0.0, 0.0, 0.0)
            for part in range(4):
                added = mul(added, exp(times(shares[n, part], vec(turns[f], 3 * part))))
            there = mul(mul(mul(facing, added), inv(facing)), before)
            local = unit_qua(mul(inv(after), there))
            side = local[0] * own[0] + local[1] * own[1] + local[2] * own[2] + local[3] * own[3]
            if side < 0.0:
                local = (-local[0], -local[1], -local[2], -local[3])
            put_qua(rotations[f, chain[n]], 0, local)
            after = there


@kernel
def goal_angles(head: Any, rotation: Any, eyes: Any, heading: float, goal: Any) -> tuple[float, float]:
    """Yaw to the left and pitch upwards of a goal (3,) from a body's heading, seen by eyes (3,) in the head's axes."""
    away = sub(vec(goal, 0), add(vec(head, 0), turn(qua(rotation, 0), vec(eyes, 0))))
    x, y, z = turn(about((0.0, 1.0, 0.0), -heading), away)
    return math.atan2(x, z), math.atan2(y, math.hypot(x, z))
