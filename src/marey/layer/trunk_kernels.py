"""Spatial alignment of a splice: where the upper body stands on the lower body, and the posture of a clip.

A: the attachment's frame; H: the hip frame, x along the hip line to the left, y upwards as far as that allows.
q_A: the rotation in A that lays the upper clip's trunk on the lower clip's (Heck 4.2.3).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

Array = Any

_SWEEPS = 12
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


class Cut(NamedTuple):
    """A skeleton of J joints, cut at its first spine joint, the attachment.

    parents : (J,) of all joints, -1 for the root.
    below : joints that place the attachment and the hip line in the world, parents first.
    above : joints from the attachment, which is the first, up to the points, parents first.
    points : (N,) joints that are compared to align the trunk; the last two are the left and the right arm.
    legs : (2,) left and right upper leg.
    """

    parents: Ints1D
    below: Ints1D
    above: Ints1D
    points: Ints1D
    legs: Ints1D


class ClipArrays(NamedTuple):
    """A clip of F frames.

    offsets : (1 or F, J, 3) meters, bone offsets.
    rotations : (F, J, 4) local.
    """

    offsets: Floats3D
    rotations: Floats3D


class TrunkArrays(NamedTuple):
    """The aligned trunk in F frames, before posture; written.

    local : (F, 4) the attachment's rotation in its parent: A's in the lower clip times q_A.
    carrier : (F, 4) the world rotation of its parent.
    hip : (F, 4) H of the lower clip.
    shoulders : (F, 2, 3) meters, the upper clip's arms as H sees them from the attachment.
    """

    local: Out[Floats2D]
    carrier: Out[Floats2D]
    hip: Out[Floats2D]
    shoulders: Out[Floats3D]


@kernel
def best_rotation(source: Floats2D, target: Floats2D) -> Quat:
    """The rotation about the origin that carries points (N, 3) nearest to targets (N, 3) (Horn 1987).

    The largest eigenvector of Horn's symmetric matrix, by Jacobi's rotations; w >= 0.
    """
    s = np.zeros((3, 3))
    for k in range(source.shape[0]):
        for i in range(3):
            for j in range(3):
                s[i, j] += source[k, i] * target[k, j]
    m = np.empty((4, 4))
    m[0, 0] = s[0, 0] + s[1, 1] + s[2, 2]
    m[0, 1] = s[1, 2] - s[2, 1]
    m[0, 2] = s[2, 0] - s[0, 2]
    m[0, 3] = s[0, 1] - s[1, 0]
    m[1, 1] = s[0, 0] - s[1, 1] - s[2, 2]
    m[1, 2] = s[0, 1] + s[1, 0]
    m[1, 3] = s[2, 0] + s[0, 2]
    m[2, 2] = s[1, 1] - s[0, 0] - s[2, 2]
    m[2, 3] = s[1, 2] + s[2, 1]
    m[3, 3] = s[2, 2] - s[0, 0] - s[1, 1]
    v = np.eye(4)
    for _ in range(_SWEEPS):
        off, whole = 0.0, 0.0
        for i in range(4):
            whole += m[i, i] * m[i, i]
            for j in range(i + 1, 4):
                off += m[i, j] * m[i, j]
        if off <= 1e-34 * whole:
            break
        for i in range(3):
            for j in range(i + 1, 4):
                if m[i, j] == 0.0:
                    continue
                theta = (m[j, j] - m[i, i]) / (2.0 * m[i, j])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                d = t * c
                h = t * m[i, j]
                m[i, i] -= h
                m[j, j] += h
                m[i, j] = 0.0
                for k in range(4):
                    if k != i and k != j:
                        a, b = min(k, i), max(k, i)
                        e, f = min(k, j), max(k, j)
                        p, r = m[a, b], m[e, f]
                        m[a, b] = c * p - d * r
                        m[e, f] = d * p + c * r
                for k in range(4):
                    p, r = v[k, i], v[k, j]
                    v[k, i] = c * p - d * r
                    v[k, j] = d * p + c * r
    best = 0
    for i in range(1, 4):
        if m[i, i] > m[best, best]:
            best = i
    sign = -1.0 if v[0, best] < 0.0 else 1.0
    return vec.normalize_quat((sign * v[0, best], sign * v[1, best], sign * v[2, best], sign * v[3, best]))


@helper
def _place_points(
    cut: Cut, offsets: Array, rotations: Array, positions: Array, orientations: Array, points: Array
) -> None:
    """points (N, 3) = the points in A, from the attachment; positions and orientations (J, 3 and 4) are scratch."""
    first = cut.above[0]
    vec.put(positions[first], 0, (0.0, 0.0, 0.0))
    vec.put_quat(orientations[first], 0, _IDENTITY)
    for n in range(1, cut.above.shape[0]):
        _place_joint(cut.above[n], cut.parents, offsets, rotations, positions, orientations)
    for n in range(cut.points.shape[0]):
        vec.put(points[n], 0, vec.get(positions[cut.points[n]], 0))


@helper
def _place_joint(
    joint: int, parents: Array, offsets: Array, rotations: Array, positions: Array, orientations: Array
) -> None:
    """Position and orientation of a joint whose parent has its own."""
    parent = parents[joint]
    above = vec.get_quat(orientations[parent], 0)
    vec.put(positions[joint], 0, vec.add(vec.rotate(above, vec.get(offsets[joint], 0)), vec.get(positions[parent], 0)))
    vec.put_quat(orientations[joint], 0, vec.mul(above, vec.get_quat(rotations[joint], 0)))


@helper
def _find_hip_frame(cut: Cut, offsets: Array, rotations: Array, positions: Array, orientations: Array) -> Quat:
    """H; the world rotations of the joints `below` are left in `orientations`."""
    for n in range(cut.below.shape[0]):
        j = cut.below[n]
        if cut.parents[j] < 0:
            vec.put(positions[j], 0, (0.0, 0.0, 0.0))
            vec.put_quat(orientations[j], 0, vec.get_quat(rotations[j], 0))
        else:
            _place_joint(j, cut.parents, offsets, rotations, positions, orientations)
    line = vec.sub(vec.get(positions[cut.legs[0]], 0), vec.get(positions[cut.legs[1]], 0))
    length = vec.norm(line)
    if length < 1e-9:
        return _IDENTITY
    x, y, z = line[0] / length, line[1] / length, line[2] / length
    level = math.sqrt(x * x + z * z)
    if level < 1e-9:  # lying on the side: the world does not say which way H faces
        level, x = 1e-9, 1e-9
    # H = yaw then list: the yaw takes x to the level part of the hip line, the list lifts it.
    half_yaw = 0.5 * math.atan2(-z, x)
    half_list = 0.5 * math.atan2(y, level)
    a, b = math.cos(half_yaw), math.sin(half_yaw)
    c, d = math.cos(half_list), math.sin(half_list)
    return a * c, b * d, b * c, a * d


@helper
def _in_hip_frame(hip: Quat, orientation: Quat, point: Vec) -> Vec:
    """A point of A as H sees it; `orientation` is that of A in the world."""
    return vec.rotate(vec.inv(hip), vec.rotate(orientation, point))


@helper
def align_trunk(
    cut: Cut, lower_offsets: Array, lower: Array, upper_offsets: Array, upper: Array
) -> tuple[Quat, Quat, Quat, Vec, Vec]:
    """One frame of `TrunkArrays`, with the left and the right shoulder at the end.

    lower, upper : (J, 4) rotations with their (J, 3) offsets.
    """
    n_joints, n_points = cut.parents.shape[0], cut.points.shape[0]
    positions, orientations = np.empty((n_joints, 3)), np.empty((n_joints, 4))
    own, other = np.empty((n_points, 3)), np.empty((n_points, 3))
    attachment = cut.above[0]
    _place_points(cut, lower_offsets, lower, positions, orientations, other)
    _place_points(cut, upper_offsets, upper, positions, orientations, own)
    local = vec.mul(vec.get_quat(lower[attachment], 0), best_rotation(own, other))
    hip = _find_hip_frame(cut, lower_offsets, lower, positions, orientations)
    carrier = vec.get_quat(orientations[cut.parents[attachment]], 0)
    world = vec.mul(carrier, local)
    left = _in_hip_frame(hip, world, vec.get(own[n_points - 2], 0))
    right = _in_hip_frame(hip, world, vec.get(own[n_points - 1], 0))
    return local, carrier, hip, left, right


@kernel
def align_trunks(cut: Cut, lower: ClipArrays, upper: ClipArrays, trunk: TrunkArrays) -> None:
    """Align the trunk of an upper clip with that of a lower clip, frame by frame."""
    for f in range(lower.rotations.shape[0]):
        local, carrier, hip, left, right = align_trunk(
            cut,
            lower.offsets[f % lower.offsets.shape[0]],
            lower.rotations[f],
            upper.offsets[f % upper.offsets.shape[0]],
            upper.rotations[f],
        )
        vec.put_quat(trunk.local[f], 0, local)
        vec.put_quat(trunk.carrier[f], 0, carrier)
        vec.put_quat(trunk.hip[f], 0, hip)
        vec.put(trunk.shoulders[f, 0], 0, left)
        vec.put(trunk.shoulders[f, 1], 0, right)


@kernel
def find_shoulders(cut: Cut, clip: ClipArrays, shoulders: Out[Floats3D]) -> None:
    """shoulders (F, 2, 3) = the arms of a clip as its own hip frame sees them from the attachment, meters."""
    n_joints, n_points = cut.parents.shape[0], cut.points.shape[0]
    positions, orientations = np.empty((n_joints, 3)), np.empty((n_joints, 4))
    points = np.empty((n_points, 3))
    for f in range(clip.rotations.shape[0]):
        offsets, rotations = clip.offsets[f % clip.offsets.shape[0]], clip.rotations[f]
        _place_points(cut, offsets, rotations, positions, orientations, points)
        hip = _find_hip_frame(cut, offsets, rotations, positions, orientations)
        world = vec.get_quat(orientations[cut.above[0]], 0)
        for side in range(2):
            vec.put(shoulders[f, side], 0, _in_hip_frame(hip, world, vec.get(points[n_points - 2 + side], 0)))


@kernel
def pitch_between(mean: Floats2D, wanted: Floats2D) -> float:
    """Angle about x that carries `mean` (2, 3) nearest to `wanted` (2, 3), radians."""
    across, along = 0.0, 0.0
    for k in range(2):
        across += mean[k, 1] * wanted[k, 2] - mean[k, 2] * wanted[k, 1]
        along += mean[k, 1] * wanted[k, 1] + mean[k, 2] * wanted[k, 2]
    return math.atan2(across, along)


@kernel
def rotate_trunk(local: Quat, carrier: Quat, hip: Quat, rotation: Quat) -> Quat:
    """The attachment's local rotation after a rotation that is given in H: pelvis' = H rotation H^-1 pelvis."""
    world = vec.mul(hip, vec.mul(rotation, vec.mul(vec.inv(hip), vec.mul(carrier, local))))
    return vec.normalize_quat(vec.mul(vec.inv(carrier), world))
