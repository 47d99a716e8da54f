"""Slow twins of the kernels that find glitches and strides."""

from __future__ import annotations

import itertools

import numpy as np

from marey.maths import quat


def moving_joints(positions, joints, distance):
    """Return the joints whose velocity changes by more than `distance` both before and after a step."""
    change = np.linalg.norm(np.diff(positions[:, joints], n=2, axis=0), axis=2)
    jump = np.concatenate([change[:1], np.minimum(change[:-1], change[1:]), change[-1:]])
    return (jump > distance).any(axis=0)


def flipping_joints(rotations, joints, cosine):
    dots = np.einsum("fjk,fjk->fj", rotations[1:, joints], rotations[:-1, joints])
    return (np.abs(dots) < cosine).any(axis=0)


def twist(rotations, joint, axis):
    """Return the range of the angle by which a joint rotates about an axis, summed over the frames."""
    steps = quat.log(quat.inv_mul(rotations[:-1, joint], rotations[1:, joint]))
    return np.ptp(np.cumsum([0.0, *(steps @ axis)]))


def lowest_heights(positions, joints):
    return positions[:, joints, 1].min(axis=1)


def mean_path(positions, joints, weights):
    return np.einsum("fjk,j->fk", positions[:, joints], weights)


def second_gradient(path):
    return np.gradient(np.gradient(path, axis=0), axis=0)


def gait_axis(hips, across):
    """Return the unit vectors that the hips face, and whether the body travels sideways."""
    left = across / np.linalg.norm(across, axis=1, keepdims=True)
    facing = np.stack([-left[:, 1], left[:, 0]], axis=1)
    steps = np.diff(hips, axis=0)
    ahead, aside = (np.abs((steps * axis[1:]).sum(axis=1)).sum() for axis in (facing, left))
    return facing, aside > ahead


def passes(values, frames, swing):
    """Return where a signal crosses 0, or the middle of a swing on one side of 0, between its extremes."""
    found = []
    for i, (a, b) in enumerate(itertools.pairwise(frames)):
        low, high = sorted((values[a], values[b]))
        level = 0.0 if low <= -0.25 * swing and high >= 0.25 * swing else 0.5 * (low + high)
        if level and i in (0, len(frames) - 2):
            continue
        part = values[a : b + 1] - level
        crossings = np.flatnonzero((part[:-1] < 0.0) != (part[1:] < 0.0))
        k = crossings[len(crossings) // 2]
        found.append(a + k + part[k] / (part[k] - part[k + 1]))
    return found


def distance_outside(points, tops, point, directions):
    """Return how far a point on the floor is outside the area between those points that are below their limits."""
    supports = points[points[:, 1] < tops][:, [0, 2]]
    return (point @ directions - (supports @ directions).max(axis=0)).max()


def extremes(values, swing):
    """Return the frames of alternating maxima and minima, with neighbors at least `swing` apart."""
    found, low, high, rising = [], 0, 0, 0
    for i, value in enumerate(values):
        high, low = (i if value > values[high] else high), (i if value < values[low] else low)
        if rising >= 0 and value <= values[high] - swing:
            found.append(high)
            rising, low = -1, i
        elif rising <= 0 and value >= values[low] + swing:
            found.append(low)
            rising, high = 1, i
    return [*found, high if rising > 0 else low] if rising else found


def stride(soles, hips, a, b, still, low):
    """Return the smaller and larger movement of an ankle, the length and the duty factor of a stride, frames a to b."""
    floor = soles[:, :, [0, 2]]
    moves = np.linalg.norm(np.ptp(floor[a : b + 1, :2], axis=0), axis=1)
    length = np.linalg.norm((hips[b] - hips[a])[[0, 2]])
    steps = np.linalg.norm(np.diff(floor[a : b + 1], axis=0), axis=2)
    heights = soles[a : b + 1, :, 1]
    stands = (steps < still * length / (b - a)) & (heights[1:] < heights.min(axis=0) + low)
    duty = (stands[:, :2] | stands[:, 2:]).mean()
    return [moves.min(), moves.max(), length, duty]
