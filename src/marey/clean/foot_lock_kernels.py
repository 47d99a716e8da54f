"""Foot lock kernels.

Key: x, v = offset of an ankle from its position in the frame, and the velocity of that offset.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Bools2D, Floats2D, Floats3D, Ints1D, Ints2D, Out, helper, kernel
from marey.core.limb_kernels import (
    LimbInput,
    bones,
    find_hinge_axis,
    find_knee_rotation,
    find_swivel,
    solve,
    write_limb,
)
from marey.maths import vector_kernels as vec

# Fraction of the rotation of an ankle about the line to its hip that the hip takes over.
_SWIVEL = 0.5


class LockPoints(NamedTuple):
    """The two points of each of E feet.

    joints : (E, 2) joints that carry them.
    offsets : (E, 2, 3) meters, in the coordinate frames of these joints.
    columns : (E, 2) columns of the contact flags, -1 for none.
    """

    joints: Ints2D
    offsets: Floats3D
    columns: Ints2D


class LockSettings(NamedTuple):
    """Settings of the foot lock.

    stiffness : 1/s, of the spring that moves a released foot back.
    dt : duration of a frame in seconds.
    max_offset : maximum offset of an ankle in meters.
    """

    stiffness: float
    dt: float
    max_offset: float


class LockState(NamedTuple):
    """State of each of E feet from frame to frame.

    held : (E,) index of the point that is held, -1 for none.
    anchors : (E, 3) position at which it is held, in meters.
    x, v : (E, 3) offset of the ankle in meters, and its velocity in m/s.
    moved : (E, 3) offset of the ankle that its leg reaches, in meters.
    planted : (E, 2) whether a point is planted.
    shown : (E, 2, 3) position of a planted point after the ankle has moved, in meters.
    speeds : (E, 2) speed along the floor, in m/s, of a point that was planted in the previous frame; else 0.
    """

    held: Out[Ints1D]
    anchors: Out[Floats2D]
    x: Out[Floats2D]
    v: Out[Floats2D]
    moved: Out[Floats2D]
    planted: Out[Bools2D]
    shown: Out[Floats3D]
    speeds: Out[Floats2D]


class LockedLegs(NamedTuple):
    """The legs of E feet.

    parents : (J,) parents of the skeleton.
    joints : (E, 3) hip, knee, ankle.
    hinges : (E, 3) hinge axes in the hips' coordinate frames.
    """

    parents: Ints1D
    joints: Ints2D
    hinges: Floats2D


@helper
def _find_point(points: LockPoints, e: int, k: int, positions: Floats2D, world: Floats2D) -> vec.Vec:
    """Return the position of point k of foot e in a world pose."""
    joint = points.joints[e, k]
    offset = vec.rotate(vec.get_quat(world[joint], 0), vec.get(points.offsets[e, k], 0))
    return vec.add(vec.get(positions[joint], 0), offset)


@kernel
def hold_feet(
    points: LockPoints, settings: LockSettings, flags: Bools1D, positions: Floats2D, world: Floats2D, state: LockState
) -> None:
    """Find the offset of each foot in a frame, and update `state`.

    flags : (K,) contacts.
    positions, world : (J, 3) and (J, 4) world pose of the frame.

    If both points are planted, the foot is held by the second, the ball, because it lifts off last.
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
            position = _find_point(points, e, point, positions, world)
        # Position to which the spring would move a free foot.
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
                # Drag the anchor along, no farther than necessary.
                to_x, to_z = to_x * max_offset / away, to_z * max_offset / away
                anchors[e, 0], anchors[e, 2] = position[0] + to_x, position[2] + to_z
            free_vx, free_vz = (to_x - x[e, 0]) / dt, (to_z - x[e, 2]) / dt
            free_x, free_z = to_x, to_z
        state.held[e] = point
        x[e, 0], x[e, 2], v[e, 0], v[e, 2] = free_x, free_z, free_vx, free_vz


@kernel
def move_ankles(
    legs: LockedLegs, state: LockState, damping: float, positions: Floats2D, world: Floats2D, local: Out[Floats2D]
) -> None:
    """Rotate the legs to move the ankles by their offsets, as far as they reach; feet keep their orientation.

    damping : knee angle in radians above which rotations are damped.
    positions, world : (J, 3) and (J, 4) world pose of the frame.
    local : (J, 4) its local rotations, which are modified.
    """
    x, moved = state.x, state.moved
    for e in range(legs.joints.shape[0]):
        vec.put(moved[e], 0, (0.0, 0.0, 0.0))
        if abs(x[e, 0]) + abs(x[e, 2]) < 1e-7:
            continue
        base, mid, end = legs.joints[e, 0], legs.joints[e, 1], legs.joints[e, 2]
        up, down = bones(positions, base, mid, end)
        usual = vec.normalize(vec.rotate(vec.get_quat(world[base], 0), vec.get(legs.hinges[e], 0)), (1.0, 0.0, 0.0))
        hinge, sure = find_hinge_axis(up, down, usual)
        foot = vec.get_quat(world[end], 0)
        target = vec.add(vec.get(positions[end], 0), vec.get(x[e], 0))
        hip = vec.get(positions[base], 0)
        change = sure * find_knee_rotation(up, down, hinge, vec.norm(vec.sub(target, hip)), damping)
        limb = LimbInput(hip, up, down, hinge, foot)
        swivel = _SWIVEL * find_swivel(limb, change, target, foot, 0.0)
        thigh, shank, _, _ = solve(limb, change, target, swivel, 0.0)
        write_limb(local, world, legs.parents, (base, mid, end), thigh, shank, foot)
        ankle = vec.add(hip, vec.sub(vec.rotate(shank, down), vec.rotate(thigh, up)))
        vec.put(moved[e], 0, vec.sub(ankle, vec.get(positions[end], 0)))


@kernel
def measure_speeds(
    points: LockPoints, dt: float, flags: Bools1D, positions: Floats2D, world: Floats2D, state: LockState
) -> None:
    """Write the speeds of planted points, after the ankles have moved, to `state`. Parameters are those of
    `hold_feet`."""
    for e in range(points.joints.shape[0]):
        for k in range(2):
            stands = points.columns[e, k] >= 0 and flags[points.columns[e, k]]
            state.speeds[e, k] = 0.0
            if stands:
                shown = vec.add(_find_point(points, e, k, positions, world), vec.get(state.moved[e], 0))
                if state.planted[e, k]:
                    step = vec.sub(shown, vec.get(state.shown[e, k], 0))
                    state.speeds[e, k] = np.hypot(step[0], step[2]) / dt
                vec.put(state.shown[e, k], 0, shown)
            state.planted[e, k] = stands
