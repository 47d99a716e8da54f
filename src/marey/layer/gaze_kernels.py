"""Compiled: blend looks at one time, apply looks to all frames of a motion, and apply looks to poses of a stream.

Key: B = the body's axes, rotated from the world by the heading alone; v = (15,) rotation vectors of the five parts
(pelvis, lower spine, upper spine, neck, eyes); f = direction in which the head points without a look; m = direction in
which the eyes point according to the gaze map alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.layer.gaze_aim_kernels import Angles, GazeTable, aim, get_direction, get_eye_direction, wrap_near
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

BACK, ANGLES, POINT = 0, 1, 2
"""Kinds of looks: back to the original motion, to a yaw and pitch, to a point in the world."""

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_NO_VECTOR = (0.0, 0.0, 0.0)
# Beyond their limit the eyes follow less and less; they stop this much farther, in radians.
_GIVE = 0.15


class GazeMotion(NamedTuple):
    """The motion of F frames and J joints that looks are added to.

    world : (F, J, 4) world rotations.
    positions : (F, J, 3) world positions, in meters.
    offsets : (1 or F, J, 3) bone offsets, in meters.
    parents : (J,) parent of each joint, -1 for the root.
    chain : (m,) joints from the first spine joint to the head; see `GazeBody`.
    weights : (m, 4) fractions of the rotations of pelvis, lower spine, upper spine and neck; see `GazeBody.fractions`.
    ahead : (3,) calibrated forward direction in the head's axes.
    eye_offset : (3,) position of the eyes in the head's axes, in meters.
    heading : (F,) heading of B in the world, in radians.
    base : (F, 2) yaw and pitch in B of the slow part of f, in radians.
    follow : (F, 12) rotation vectors by which pelvis, lower spine, upper spine and neck rotate further than the map.
    fps : frame rate.
    """

    world: Floats3D
    positions: Floats3D
    offsets: Floats3D
    parents: Ints1D
    chain: Ints1D
    weights: Floats2D
    ahead: Floats1D
    eye_offset: Floats1D
    heading: Floats1D
    base: Floats2D
    follow: Floats2D
    fps: float


class GazeLooks(NamedTuple):
    """S consecutive looks on F frames.

    begins : (S,) start times in seconds.
    kinds : (S,) `BACK`, `ANGLES` or `POINT`.
    times : (S, 7) length in seconds; starts of the four parts and the peak, as fractions of the length; overshoot.
    points : (S, 3) world point in meters, or yaw and pitch in radians.
    requests : (S, F, 2) goal minus `GazeMotion.base`, clamped to the map, in radians.
    anchors : (S, 15) v at the start of the look; the overshoot is relative to it.
    """

    begins: Floats1D
    kinds: Ints1D
    times: Floats2D
    points: Floats2D
    requests: Floats3D
    anchors: Floats2D


class GazeOutput(NamedTuple):
    """Output arrays of `apply_looks` for F frames.

    rotations : (F, J, 4) local rotations; those of the motion on entry, changed in place.
    eyes : (F, 4) rotations of the eyes in the head's axes.
    gaze : (F, 3) direction in B in which the eyes point.
    model : (F, 3) direction m in B, according to the gaze map alone.
    goals : (F, 2) requested yaw and pitch of the latest look, in radians; NaN if there is no goal.
    eye_positions : (F, 3) world positions of the eyes, in meters.
    wanted : (F, 3) direction in B in which the eyes would point without a limit.
    strain : (F,) rotation that the eyes would need without a limit, in radians.
    """

    rotations: Out[Floats3D]
    eyes: Out[Floats2D]
    gaze: Out[Floats2D]
    model: Out[Floats2D]
    goals: Out[Floats2D]
    eye_positions: Out[Floats2D]
    wanted: Out[Floats2D]
    strain: Out[Floats1D]


@helper
def _rotation_vector_between(a: Vec, b: Vec) -> Vec:
    """Return the rotation vector of the smallest rotation from unit vector a to unit vector b."""
    axis = vec.cross(a, b)
    sine = vec.norm(axis)
    return vec.scale(math.atan2(sine, vec.dot(a, b)) / sine if sine > 1e-12 else 1.0, axis)


@helper
def _ease(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@helper
def _blend(
    looks: GazeLooks, table: GazeTable, base: Angles, frame: int, t: float, reach: Floats2D, v: Floats1D
) -> tuple[int, float]:
    """Blend looks as in `blend_looks`; also write the direction that each look reaches to `reach` (S, 3).

    Return the first look that still has an effect, and how busy the eyes are, from 0 (no goal) to 1 (on a goal).
    """
    n_looks = looks.begins.shape[0]
    slow = get_direction(base[0], base[1])
    row = np.empty(15)
    # A finished look has replaced all looks before it.
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
        if looks.kinds[i] == BACK:
            for k in range(15):
                row[k] = 0.0
            vec.put(reach[i], 0, slow)
            busy += _ease(now) * (0.0 - busy)
        else:
            yaw, pitch = looks.requests[i, frame, 0], looks.requests[i, frame, 1]
            goal = get_direction(yaw + base[0], pitch + base[1])
            vec.put(reach[i], 0, aim(table, (yaw, pitch), goal, slow, row))
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
def blend_looks(looks: GazeLooks, table: GazeTable, base: Floats1D, t: float, v: Out[Floats1D]) -> None:
    """Blend looks on a single frame at `t` seconds; write the result to `v` (15,).

    Each look blends every part from the result of the looks before it, ``v += rise (row - v)``. It overshoots by a
    fraction of the part's rotation since the start of the look, because an interrupted look has not reached its goal
    (Heck 5.2.3).

    Parameters
    ----------
    base : (2,) yaw and pitch in radians; see `GazeMotion`.
    """
    _blend(looks, table, (base[0], base[1]), 0, t, np.empty((looks.begins.shape[0], 3)), v)


@helper
def _rotate_chain(
    motion: GazeMotion, frame: int, body: Quat, v: Floats1D, is_looking: bool, rotations: Floats2D
) -> tuple[Quat, Vec]:
    """Rotate the joints of the chain by v; return the world rotation of the head and the position of the eyes.

    body : heading as a rotation. rotations : (J, 4) local rotations, changed in place if `is_looking`.
    """
    chain, world = motion.chain, motion.world[frame]
    offsets = motion.offsets[frame if motion.offsets.shape[0] > 1 else 0]
    position = vec.get(motion.positions[frame, chain[0]], 0)
    parent = motion.parents[chain[0]]
    above = _IDENTITY if parent < 0 else vec.get_quat(world[parent], 0)
    for n in range(chain.shape[0]):
        joint = chain[n]
        if n > 0:
            position = vec.add(position, vec.rotate(above, vec.get(offsets[joint], 0)))
        g = body
        for part in range(4):
            w = motion.weights[n, part]
            if w > 0.0:
                g = vec.mul(g, vec.exp(vec.scale(w, vec.get(v, 3 * part))))
        new = vec.mul(vec.mul(g, vec.inv(body)), vec.get_quat(world[joint], 0))
        local = vec.mul(vec.inv(above), new)
        above = new
        if not is_looking:
            continue
        own = vec.get_quat(rotations[joint], 0)
        length = math.sqrt(local[0] * local[0] + local[1] * local[1] + local[2] * local[2] + local[3] * local[3])
        if local[0] * own[0] + local[1] * own[1] + local[2] * own[2] + local[3] * own[3] < 0.0:
            length = -length
        for k in range(4):
            rotations[joint, k] = local[k] / length
    return above, vec.add(vec.rotate(above, vec.get(motion.eye_offset, 0)), position)


@helper
def _find_correction(
    motion: GazeMotion, looks: GazeLooks, frame: int, first: int, body: Quat, eye: Vec, reach: Floats2D
) -> tuple[Vec, float, float]:
    """Find the rotation vector in B by which the eyes correct the remaining error, and the latest goal's angles.

    The angles are NaN if there is no goal.

    first : first look that still has an effect. body : heading as a rotation. eye : world position of the eyes.
    reach : (S, 3) direction that each look reaches.
    """
    t = frame / motion.fps
    correction = _NO_VECTOR
    goal_yaw, goal_pitch = np.nan, np.nan
    for i in range(first, looks.begins.shape[0]):
        if looks.begins[i] > t:
            break
        w = _ease((t - looks.begins[i]) / looks.times[i, 0])
        if looks.kinds[i] == BACK:
            goal_yaw, goal_pitch = np.nan, np.nan
            correction = vec.sub(correction, vec.scale(w, correction))
            continue
        yaw, pitch = looks.points[i, 0], looks.points[i, 1]
        if looks.kinds[i] == POINT:
            away = vec.rotate(vec.inv(body), vec.sub(vec.get(looks.points[i], 0), eye))
            yaw = wrap_near(math.atan2(away[0], away[2]), looks.requests[i, frame, 0] + motion.base[frame, 0])
            pitch = math.atan2(away[1], np.hypot(away[0], away[2]))
        goal_yaw, goal_pitch = yaw, pitch
        # The eyes cover the rest of a goal that body and head do not reach.
        missing = _rotation_vector_between(vec.get(reach[i], 0), get_direction(yaw, pitch))
        correction = vec.add(correction, vec.scale(w, vec.sub(missing, correction)))
    return correction, goal_yaw, goal_pitch


@kernel
def apply_looks(
    motion: GazeMotion, looks: GazeLooks, table: GazeTable, steady: bool, limit: float, out: GazeOutput
) -> None:
    """Apply looks to all frames of a motion.

    Parameters
    ----------
    steady : let the eyes compensate for the body's bobbing while they look at a goal.
    limit : rotation of the eyes in the head, in radians, beyond which they follow only a little farther.
    """
    n_looks = looks.begins.shape[0]
    v, turned = np.empty(15), np.empty(15)
    reach = np.empty((max(n_looks, 1), 3))
    ahead = vec.get(motion.ahead, 0)
    head = motion.chain[motion.chain.shape[0] - 1]
    for frame in range(motion.world.shape[0]):
        t = frame / motion.fps
        body = vec.from_axis_angle((0.0, 1.0, 0.0), motion.heading[frame])
        f = vec.rotate(vec.inv(body), vec.rotate(vec.get_quat(motion.world[frame, head], 0), ahead))
        base = (motion.base[frame, 0], motion.base[frame, 1])
        slow = get_direction(base[0], base[1])
        first, busy = _blend(looks, table, base, frame, t, reach, v)
        is_looking = first < n_looks and looks.begins[0] <= t
        for k in range(12):
            turned[k] = v[k] + motion.follow[frame, k]
        rotated_head, eye = _rotate_chain(motion, frame, body, turned, is_looking, out.rotations[frame])
        vec.put(out.eye_positions[frame], 0, eye)
        correction, yaw, pitch = _find_correction(motion, looks, frame, first, body, eye, reach)
        out.goals[frame, 0], out.goals[frame, 1] = yaw, pitch
        # f bobs with the body. The busier the eyes are, the more f is replaced by its slow part.
        vec.put(out.model[frame], 0, get_eye_direction(v, slow))
        if steady:
            f = vec.add(f, vec.scale(busy, vec.sub(slow, f)))
            f = vec.normalize(f, f)
        gaze = vec.rotate(vec.exp(correction), get_eye_direction(v, f))
        vec.put(out.wanted[frame], 0, gaze)
        strain = _rotation_vector_between(ahead, vec.rotate(vec.inv(rotated_head), vec.rotate(body, gaze)))
        angle = vec.norm(strain)
        out.strain[frame] = angle
        fraction = 1.0
        if angle > limit:
            fraction = (limit + _GIVE * math.tanh((angle - limit) / _GIVE)) / angle
        eyes = vec.exp(vec.scale(fraction, strain))
        if angle > limit:
            gaze = vec.rotate(vec.inv(body), vec.rotate(rotated_head, vec.rotate(eyes, ahead)))
        vec.put_quat(out.eyes[frame], 0, eyes)
        vec.put(out.gaze[frame], 0, gaze)


@kernel
def rotate_spine(
    above: Ints1D, chain: Ints1D, weights: Floats2D, heading: Floats1D, looks: Floats2D, rotations: Out[Floats3D]
) -> None:
    """Rotate the joints of a chain by looks; local rotations (F, J, 4) are changed in place.

    Parameters
    ----------
    above : joints from the root down to the parent of the chain; may be empty.
    chain : (m,) joints, parents first.
    weights : (m, 4) fractions of the rotations of pelvis, lower spine, upper spine and neck; see `GazeBody.fractions`.
    heading : (F,) heading of the body, in radians.
    looks : (F, 15) rotation vectors of the five parts.
    """
    for f in range(len(rotations)):
        before = (1.0, 0.0, 0.0, 0.0)
        for n in range(len(above)):
            before = vec.mul(before, vec.get_quat(rotations[f, above[n]], 0))
        facing = vec.from_axis_angle((0.0, 1.0, 0.0), heading[f])
        after = before
        for n in range(len(chain)):
            own = vec.get_quat(rotations[f, chain[n]], 0)
            before = vec.mul(before, own)
            added = (1.0, 0.0, 0.0, 0.0)
            for part in range(4):
                added = vec.mul(added, vec.exp(vec.scale(weights[n, part], vec.get(looks[f], 3 * part))))
            rotated = vec.mul(vec.mul(vec.mul(facing, added), vec.inv(facing)), before)
            local = vec.normalize_quat(vec.mul(vec.inv(after), rotated))
            side = local[0] * own[0] + local[1] * own[1] + local[2] * own[2] + local[3] * own[3]
            if side < 0.0:
                local = (-local[0], -local[1], -local[2], -local[3])
            vec.put_quat(rotations[f, chain[n]], 0, local)
            after = rotated


@kernel
def find_goal_angles(
    head: Floats1D, rotation: Floats1D, eyes: Floats1D, heading: float, goal: Floats1D
) -> tuple[float, float]:
    """Return yaw (positive to the left) and pitch (upward) of a goal seen from the eyes, relative to the heading.

    head, rotation : (3,) world position and (4,) world rotation of the head. eyes : (3,) eyes in the head's axes.
    heading : heading of the body in radians. goal : (3,) world position.
    """
    away = vec.sub(vec.get(goal, 0), vec.add(vec.get(head, 0), vec.rotate(vec.get_quat(rotation, 0), vec.get(eyes, 0))))
    x, y, z = vec.rotate(vec.from_axis_angle((0.0, 1.0, 0.0), -heading), away)
    return math.atan2(x, z), math.atan2(y, np.hypot(x, z))
