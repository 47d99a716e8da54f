"""A slow twin of blending, frame by frame, following Kovar 5.3."""

import numpy as np
from scipy.integrate import solve_ivp

from marey.maths import quat, rigid2d


def advance(timewarp, weights_at, seconds):
    """Compute u at increasing times by an adaptive solver that restarts at every knot; the weights must let time
    advance."""
    knots = timewarp.knots
    slopes = timewarp.slope(knots)
    out, u, t = [], 0.0, 0.0
    span = 0
    for goal in seconds:
        while True:
            low, high = slopes[span], slopes[span + 1]
            left, width = knots[span], knots[span + 1] - knots[span]

            def speed(time, at, low=low, high=high, left=left, width=width):
                fraction = weights_at(time)
                return [(fraction / (low + (high - low) * (at[0] - left) / width)).sum()]

            def border(time, at, end=knots[span + 1]):
                return at[0] - end

            border.terminal = True
            border.direction = 1.0
            done = solve_ivp(speed, (t, goal), [u], rtol=1e-11, atol=1e-13, events=border)
            u, t = float(done.y[0, -1]), float(done.t[-1])
            if done.status != 1:
                break
            if span == len(knots) - 2:
                u = 1.0
                break
            u, span = float(knots[span + 1]), span + 1
        out.append(u)
    return np.array(out)


def place(alignments, hips, weights, first):
    """T of every frame by the votes of equations 5.11 and 5.12, one after another.

    Kovar's origin is near the hips as each vote leaves them. Here votes act within the reference's coordinates, where
    the same origin is near the hips before and after.
    """
    placed = [np.asarray(first, dtype=float)]
    for i in range(1, len(alignments)):
        votes = [
            rigid2d.compose(alignments[i - 1, j], rigid2d.invert(alignments[i, j])) for j in range(alignments.shape[1])
        ]
        moved = [rigid2d.apply(rigid2d.compose(vote, alignments[i, j]), hips[i, j]) for j, vote in enumerate(votes)]
        origin = np.mean(moved, axis=0)[[0, 2]]
        # A step as a rotation about the origin, followed by a shift.
        parameters = [[vote[0], *(rigid2d.apply(vote, origin) - origin)] for vote in votes]
        angle, x, z = weights[i] @ np.array(parameters)
        about = np.array([angle, 0.0, 0.0])
        step = np.array([angle, *(origin + [x, z] - rigid2d.apply(about, origin))])
        placed.append(rigid2d.compose(placed[-1], step))
    return np.array(placed)


def average(poses, weights, anchor):
    """Return the mean (4,) of quaternions (n, 4), each with the sign nearer to the anchor."""
    total = np.zeros(4)
    for q, weight in zip(poses, weights, strict=True):
        total += weight * (-q if np.dot(q, anchor) < 0.0 else q)
    return total / np.linalg.norm(total)


def pose(motions, seconds, alignments, weights, placed, anchor):
    """Return the rotations (J, 4) and the position of the hips (3,) of one frame."""
    taken = [motion.at(t).moved(align) for motion, t, align in zip(motions, seconds, alignments, strict=True)]
    rotations = np.stack([motion.rotations[0] for motion in taken])
    mean = np.stack([average(rotations[:, j], weights, rotations[anchor, j]) for j in range(rotations.shape[1])])
    mean[0] = quat.mul(rigid2d.to_quat(placed), mean[0])
    hips = sum(weight * motion.travel[0] for motion, weight in zip(taken, weights, strict=True))
    return mean, rigid2d.apply(placed, hips)
