"""Compiled: align the upper body of a splice with the lower body in space, and measure the posture of a clip.

Key: A = coordinates of the attachment; H = hip coordinates, with x along the hip line to the left and y as close to
vertical as possible; q_A = rotation in A that aligns the upper clip's trunk with the lower clip's (Heck 4.2.3).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

_SWEEPS = 12
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


class Cut(NamedTuple):
    """A skeleton of J joints, split at its first spine joint, the attachment.

    parents : (J,) parent of each joint, -1 for the root.
    below : joints that determine the attachment and the hip line in the world, parents first.
    above : joints from the attachment, which comes first, to those in `points`, parents first.
    points : (N,) joints that are compared to align the trunk; the last two are the left and right upper arm.
    legs : (2,) left and right upper leg.
    """

    parents: Ints1D
    below: Ints1D
    above: Ints1D
    points: Ints1D
    legs: Ints1D


class ClipArrays(NamedTuple):
    """A clip of F frames.

    offsets : (1 or F, J, 3) bone offsets, in meters.
    rotations : (F, J, 4) local rotations.
    """

    offsets: Floats3D
    rotations: Floats3D


class TrunkArrays(NamedTuple):
    """Output arrays of `align_trunks`: the aligned trunk in F frames, before the posture transfer.

    local : (F, 4) local rotation of the attachment: that of the lower clip times q_A.
    carrier : (F, 4) world rotation of the attachment's parent.
    hip : (F, 4) rotation H of the lower clip.
    shoulders : (F, 2, 3) positions of the upper clip's upper arms relative to the attachment, in H, in meters.
    """

    local: Out[Floats2D]
    carrier: Out[Floats2D]
    hip: Out[Floats2D]
    shoulders: Out[Floats3D]


@kernel
def best_rotation(source: Floats2D, target: Floats2D) -> Quat:
    """Return the rotation about the origin that brings points (N, 3) closest to targets (N, 3) (Horn 1987).

    It is the eigenvector of Horn's symmetric matrix with the largest eigenvalue, found by Jacobi rotations; w >= 0.
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
    cut: Cut, offsets: Floats2D, rotations: Floats2D, positions: Floats2D, orientations: Floats2D, points: Floats2D
) -> None:
    """Write the positions of the compared joints in A to `points` (N, 3).

    positions, orientations : (J, 3) and (J, 4) working memory.
    """
    first = cut.above[0]
    vec.put(positions[first], 0, (0.0, 0.0, 0.0))
    vec.put_quat(orientations[first], 0, _IDENTITY)
    for n in range(1, cut.above.shape[0]):
        _place_joint(cut.above[n], cut.parents, offsets, rotations, positions, orientations)
    for n in range(cut.points.shape[0]):
        vec.put(points[n], 0, vec.get(positions[cut.points[n]], 0))


@helper
def _place_joint(
    joint: int, parents: Ints1D, offsets: Floats2D, rotations: Floats2D, positions: Floats2D, orientations: Floats2D
) -> None:
    """Write the position and orientation of a joint, computed from those of its parent, to `positions` and
    `orientations`."""
    parent = parents[joint]
    above = vec.get_quat(orientations[parent], 0)
    vec.put(positions[joint], 0, vec.add(vec.rotate(above, vec.get(offsets[joint], 0)), vec.get(positions[parent], 0)))
    vec.put_quat(orientations[joint], 0, vec.mul(above, vec.get_quat(rotations[joint], 0)))


@helper
def _find_hip_frame(
    cut: Cut, offsets: Floats2D, rotations: Floats2D, positions: Floats2D, orientations: Floats2D
) -> Quat:
    """Return the rotation H; also write the world rotations of the joints `cut.below` to `orientations`."""
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
    if level < 1e-9:  # the character lies on its side, so the heading of H is undefined
        level, x = 1e-9, 1e-9
    # H = yaw times list: yaw rotates x to the horizontal direction of the hip line, list tilts it sideways.
    half_yaw = 0.5 * math.atan2(-z, x)
    half_list = 0.5 * math.atan2(y, level)
    a, b = math.cos(half_yaw), math.sin(half_yaw)
    c, d = math.cos(half_list), math.sin(half_list)
    return a * c, b * d, b * c, a * d


@helper
def _in_hip_frame(hip: Quat, orientation: Quat, point: Vec) -> Vec:
    """Convert a point from A to H; `orientation` is the world rotation of A, `hip` that of H."""
    return vec.rotate(vec.inv(hip), vec.rotate(orientation, point))


@helper
def align_trunk(
    cut: Cut, lower_offsets: Floats2D, lower: Floats2D, upper_offsets: Floats2D, upper: Floats2D
) -> tuple[Quat, Quat, Quat, Vec, Vec]:
    """Align the trunk in one frame; return local, carrier, hip, left and right shoulder, as in `TrunkArrays`.

    lower, upper : (J, 4) local rotations. lower_offsets, upper_offsets : (J, 3) bone offsets.
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
    """Write the positions of a clip's upper arms relative to the attachment, in its own H, to `shoulders` (F, 2, 3)."""
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
    """Return the angle about x, in radians, that brings `mean` (2, 3) closest to `wanted` (2, 3)."""
    across, along = 0.0, 0.0
    for k in range(2):
        across += mean[k, 1] * wanted[k, 2] - mean[k, 2] * wanted[k, 1]
        along += mean[k, 1] * wanted[k, 1] + mean[k, 2] * wanted[k, 2]
    return math.atan2(across, along)


@kernel
def rotate_trunk(local: Quat, carrier: Quat, hip: Quat, rotation: Quat) -> Quat:
    """Return the attachment's local rotation after a rotation given in H: pelvis' = H rotation H^-1 pelvis."""
    world = vec.mul(hip, vec.mul(rotation, vec.mul(vec.inv(hip), vec.mul(carrier, local))))
    return vec.normalize_quat(vec.mul(vec.inv(carrier), world))
