"""Compiled: find the positions of contact points, and how a character has to move to keep planted points in place.

Key: the level of a point, from 0 to 1, says how certainly it is planted. Its weight is 0 up to a level of 0.5 and rises
to 1 at a level of 1. F = frames, K = contact points, J = joints, L = legs.
"""

from __future__ import annotations

import math

from marey.compiled import Floats2D, Floats3D, Ints2D, Out, kernel
from marey.core.limb_kernels import LimbInput, find_knee_rotation, knee_angle, solve
from marey.maths import vector_kernels as vec


@kernel
def find_points(chains: Ints2D, bones: Floats3D, locals_: Floats2D, rotations: Floats3D, out: Out[Floats3D]) -> None:
    """Write the positions of contact points relative to joint 0, in world-aligned axes, to `out` (F, K, 3).

    chains : (K, depth) joints from a child of joint 0 down to the joint of the contact point, padded with -1.
    bones : (1 or F, J, 3) bone offsets. locals_ : (K, 3) offsets of the points in the coordinates of their joints.
    rotations : (F, J, 4) local rotations. If joint 0 is given relative to the heading, so are the results.
    """
    moving = 1 if bones.shape[0] > 1 else 0
    for f in range(rotations.shape[0]):
        for k in range(chains.shape[0]):
            q = vec.get_quat(rotations[f, 0], 0)
            px = py = pz = 0.0
            for n in range(chains.shape[1] + 1):
                joint = chains[k, n] if n < chains.shape[1] else -1
                if joint >= 0:
                    a, b, c = vec.get(bones[f * moving, joint], 0)
                else:
                    a, b, c = vec.get(locals_[k], 0)
                w, x, y, z = q
                s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
                px += a + w * s + (y * u - z * t)
                py += b + w * t + (z * s - x * u)
                pz += c + w * u + (x * t - y * s)
                if joint < 0:
                    break
                q = vec.mul(q, vec.get_quat(rotations[f, joint], 0))
            out[f, k, 0], out[f, k, 1], out[f, k, 2] = px, py, pz


@kernel
def measure_steps(points: Floats3D, moves: Floats2D, out: Out[Floats3D]) -> None:
    """Write how far points move over the floor between frames, with the character, to `out` (F - 1, K, 2).

    Movements are in meters, to the left and ahead.

    points : (F, K, 3) positions relative to joint 0 and to the character's heading.
    moves : (F - 1, c) with c at least 3: the character's turn in radians, and its movement to the left and ahead.

    All movements are relative to the mean heading of the two frames.
    """
    for f in range(points.shape[0] - 1):
        c, s = math.cos(0.5 * moves[f, 0]), math.sin(0.5 * moves[f, 0])
        for k in range(points.shape[1]):
            a, b, d, e = points[f, k, 0], points[f, k, 2], points[f + 1, k, 0], points[f + 1, k, 2]
            out[f, k, 0] = moves[f, 1] + (d * c + e * s) - (a * c - b * s)
            out[f, k, 1] = moves[f, 2] + (e * c - d * s) - (b * c + a * s)


@kernel
def correct_steps(steps: Floats3D, wanted: Floats3D, levels: Floats2D, out: Out[Floats2D]) -> None:
    """Find the correction of the character's movement, `out` (F - 1, 2), that makes planted points move as wanted.

    steps, wanted : (F - 1, K, 2) actual and wanted movements of the points.
    levels : (F, K) contact values, from 0 to 1. A point counts if its value is above 0.5 in both frames. If the total
        weight of the points is below 1, the correction is reduced in proportion.
    """
    for f in range(steps.shape[0]):
        total = x = z = 0.0
        for k in range(steps.shape[1]):
            w = max(0.0, 2.0 * min(levels[f, k], levels[f + 1, k]) - 1.0)
            total += w
            x += w * (wanted[f, k, 0] - steps[f, k, 0])
            z += w * (wanted[f, k, 1] - steps[f, k, 1])
        weight = max(total, 1.0)
        out[f, 0], out[f, 1] = x / weight, z / weight


@kernel
def carry_frames(points: Floats3D, wanted: Floats3D, levels: Floats2D, give: float, out: Out[Floats2D]) -> None:
    """Find floor transforms (theta, x, z) of the frames, `out` (F, 3), that make planted points move as wanted.

    points : (F, K, 3) world positions before the transforms.
    wanted : (F - 1, K, 2) wanted movements in x and z between frames.
    levels : (F, K).
    give : regularization in m^2; with larger values, frames rotate less for points that are close to each other.
    """
    theta = x = z = 0.0
    out[0, 0] = out[0, 1] = out[0, 2] = 0.0
    for f in range(points.shape[0] - 1):
        total = mx = mz = rx = rz = 0.0
        for k in range(points.shape[1]):
            w = max(0.0, 2.0 * min(levels[f, k], levels[f + 1, k]) - 1.0)
            total += w
            mx += w * points[f + 1, k, 0]
            mz += w * points[f + 1, k, 2]
            rx += w * (wanted[f, k, 0] - points[f + 1, k, 0] + points[f, k, 0])
            rz += w * (wanted[f, k, 1] - points[f + 1, k, 2] + points[f, k, 2])
        if total > 0.0:
            mx, mz, rx, rz = mx / total, mz / total, rx / total, rz / total
            across, spread = 0.0, total * give
            for k in range(points.shape[1]):
                w = max(0.0, 2.0 * min(levels[f, k], levels[f + 1, k]) - 1.0)
                a, b = points[f + 1, k, 0] - mx, points[f + 1, k, 2] - mz
                p = wanted[f, k, 0] - points[f + 1, k, 0] + points[f, k, 0] - rx
                q = wanted[f, k, 1] - points[f + 1, k, 2] + points[f, k, 2] - rz
                across += w * (p * b - q * a)
                spread += w * (a * a + b * b)
            fraction = min(total, 1.0)
            angle = fraction * across / spread
            # Rotate about the center of the points, then shift by the remaining error, in the axes of the previous
            # frame.
            c, s = math.cos(angle), math.sin(angle)
            dx = mx + fraction * rx - (mx * c + mz * s)
            dz = mz + fraction * rz - (mz * c - mx * s)
            c, s = math.cos(theta), math.sin(theta)
            x, z = x + dx * c + dz * s, z + dz * c - dx * s
            theta += angle
        out[f + 1, 0], out[f + 1, 1], out[f + 1, 2] = theta, x, z


@kernel
def step_legs(
    above: Ints2D, legs: Ints2D, bones: Floats3D, shifts: Floats3D, unbent: float, rotations: Out[Floats3D]
) -> None:
    """Move the feet by `shifts` (F, L, 3), in meters, as far as hips and knees allow; feet keep their orientation.

    above : (L, depth) joints from a child of joint 0 down to the parent of the hip, padded with -1.
    legs : (L, 3) hip, knee and ankle.
    bones : (1 or F, J, 3) bone offsets.
    unbent : knee flexion in radians at which a leg follows half of the shift. A stretched leg does not follow, because
        its knee would snap.
    rotations : (F, J, 4) local rotations, changed in place.
    """
    moving = 1 if bones.shape[0] > 1 else 0
    for f in range(rotations.shape[0]):
        row = f * moving
        for k in range(legs.shape[0]):
            base = vec.get_quat(rotations[f, 0], 0)
            for n in range(above.shape[1]):
                joint = above[k, n]
                if joint < 0:
                    break
                base = vec.mul(base, vec.get_quat(rotations[f, joint], 0))
            upper, lower, foot = legs[k, 0], legs[k, 1], legs[k, 2]
            thigh = vec.mul(base, vec.get_quat(rotations[f, upper], 0))
            shank = vec.mul(thigh, vec.get_quat(rotations[f, lower], 0))
            sole = vec.mul(shank, vec.get_quat(rotations[f, foot], 0))
            up = vec.scale(-1.0, vec.rotate(thigh, vec.get(bones[row, lower], 0)))
            down = vec.rotate(shank, vec.get(bones[row, foot], 0))
            hinge = vec.normalize(vec.cross(up, down), (1.0, 0.0, 0.0))
            bend = math.pi - knee_angle(up, down, hinge)
            gain = bend * bend / (bend * bend + unbent * unbent)
            # Target position of the ankle relative to the hip.
            target = vec.add(vec.sub(down, up), vec.scale(gain, vec.get(shifts[f, k], 0)))
            change = find_knee_rotation(up, down, hinge, vec.norm(target), math.pi)
            hip, knee, _, _ = solve(LimbInput((0.0, 0.0, 0.0), up, down, hinge, sole), change, target, 0.0, 0.0)
            thigh, shank = vec.mul(hip, thigh), vec.mul(knee, shank)
            vec.put_quat(rotations[f, upper], 0, vec.mul(vec.inv(base), thigh))
            vec.put_quat(rotations[f, lower], 0, vec.mul(vec.inv(thigh), shank))
            vec.put_quat(rotations[f, foot], 0, vec.mul(vec.inv(shank), sole))
