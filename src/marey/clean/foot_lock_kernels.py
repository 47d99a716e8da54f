"""Compiled loops of the foot lock.

Key: x, v = how far an ankle is moved from where the frame has it, and its velocity.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats2D, Floats3D, Ints1D, Ints2D, Out, kernel
from marey.core.limb_kernels import bones, find_hinge_axis, find_knee_rotation, solve, write_limb
from marey.maths import vector_kernels as vec


class LockPoints(NamedTuple):
    """The two points of each of E feet.

    joints : (E, 2) that carry them. offsets : (E, 2, 3) meters in these joints. columns : (E, 2) among the contact
    flags, -1 for none.
    """

    joints: Ints2D
    offsets: Floats3D
    columns: Ints2D


class LockSettings(NamedTuple):
    """stiffness : 1/s, of the spring that a released foot follows. dt : seconds of a frame. max_offset : meters."""

    stiffness: float
    dt: float
    max_offset: float


class LockState(NamedTuple):
    """What is remembered of each of E feet from frame to frame.

    held : (E,) which point it is held by, -1 for none. anchors : (E, 3) meters, where. x, v : (E, 3) meters that its
    ankle is moved by, and m/s.
    """

    held: Out[Ints1D]
    anchors: Out[Floats2D]
    x: Out[Floats2D]
    v: Out[Floats2D]


class LockedLegs(NamedTuple):
    """parents : (J,) of the skeleton. joints : (E, 3) hip, knee, ankle. hinges : (E, 3) axes in the hips' frames."""

    parents: Ints1D
    joints: Ints2D
    hinges: Floats2D


@kernel
def hold_feet(
    points: LockPoints, settings: LockSettings, flags: Bools1D, positions: Floats2D, world: Floats2D, state: LockState
) -> None:
    """Find what each foot is moved by in this frame.

    flags : (K,) contacts. positions, world : (J, 3) and (J, 4) of the frame. The second point, the ball, is the one to
    hold by where both are planted: it is planted last.
    """
    y, dt, max_offset = settings.stiffness, settings.dt, settings.max_offset
    anchors, x, v = state.anchors, state.x, state.v
    left = math.exp(-y * dt)
    for e in range(points.joints.shape[0]):
        point = -1
        for k in range(2):
            if points.columns[e, k] >= 0 and flags[points.columns[e, k]]:
                point = k
        position = (0.0, 0.0, 0.0)
        if point >= 0:
            joint = points.joints[e, point]
            position = vec.add(
                vec.get(positions[joint], 0),
                vec.rotate(vec.get_quat(world[joint], 0), vec.get(points.offsets[e, point], 0)),
            )
        # Where a spring would take the foot if it were free.
        sx, sz = v[e, 0] + y * x[e, 0], v[e, 2] + y * x[e, 2]
        free_x, free_z = left * (x[e, 0] + sx * dt), left * (x[e, 2] + sz * dt)
        free_vx, free_vz = left * (v[e, 0] - y * sx * dt), left * (v[e, 2] - y * sz * dt)
        if point >= 0 and state.held[e] != point:
            anchors[e, 0] = position[0] + free_x
            anchors[e, 2] = position[2] + free_z
        if point >= 0:
            to_x, to_z = anchors[e, 0] - position[0], anchors[e, 2] - position[2]
            away = np.hypot(to_x, to_z)
            if away > max_offset:
                # It is dragged along no further than it has to be.
                to_x, to_z = to_x * max_offset / away, to_z * max_offset / away
                anchors[e, 0], anchors[e, 2] = position[0] + to_x, position[2] + to_z
            free_vx, free_vz = (to_x - x[e, 0]) / dt, (to_z - x[e, 2]) / dt
            free_x, free_z = to_x, to_z
        state.held[e] = point
        x[e, 0], x[e, 2], v[e, 0], v[e, 2] = free_x, free_z, free_vx, free_vz


@kernel
def move_ankles(
    legs: LockedLegs, x: Floats2D, damping: float, positions: Floats2D, world: Floats2D, local: Out[Floats2D]
) -> None:
    """Rotate legs so that ankles are where x (E, 3) moves them; feet keep their orientation.

    damping : radians of the knee from which its rotation is damped. positions, world : (J, 3) and (J, 4) of the frame.
    local : (J, 4) its local rotations, which are changed.
    """
    for e in range(legs.joints.shape[0]):
        if abs(x[e, 0]) + abs(x[e, 2]) < 1e-7:
            continue
        base, mid, end = legs.joints[e, 0], legs.joints[e, 1], legs.joints[e, 2]
        up, down = bones(positions, base, mid, end)
        usual = vec.normalize(vec.rotate(vec.get_quat(world[base], 0), vec.get(legs.hinges[e], 0)), (1.0, 0.0, 0.0))
        hinge = find_hinge_axis(up, down, usual)
        foot = vec.get_quat(world[end], 0)
        target = vec.add(vec.get(positions[end], 0), vec.get(x[e], 0))
        hip = vec.get(positions[base], 0)
        change = find_knee_rotation(up, down, hinge, vec.norm(vec.sub(target, hip)), damping)
        thigh, shank, _, _ = solve(hip, up, down, hinge, change, foot, target, foot, 0.5, 0.0)
        write_limb(local, world, legs.parents, (base, mid, end), thigh, shank, foot)
