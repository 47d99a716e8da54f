"""Loops: their travel on the floor, and their point clouds beyond one cycle.

The frame after the last frame of a cyclic motion is its first frame, moved by the loop's rigid2d.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.compare import Clouds
from marey.core.arrays import Floats, set_readonly
from marey.maths import rigid2d


def interpolate_moves(moves: Floats, fraction: Floats) -> Floats:
    """Compute the fraction (...) of each move (n, 3) on the floor along a steady turn: (..., n, 3), theta unwrapped."""
    theta = rigid2d.wrap_angle(moves[:, 0])

    def arc(angle: Floats) -> tuple[Floats, Floats]:
        # Mean of cos and of sin over a turn by `angle`.
        return np.sinc(angle / np.pi), 0.5 * angle * np.sinc(0.5 * angle / np.pi) ** 2

    along, across = arc(theta)
    size = along**2 + across**2
    x = (along * moves[:, 1] - across * moves[:, 2]) / size
    z = (along * moves[:, 2] + across * moves[:, 1]) / size
    turn = fraction[..., None] * theta
    along, across = arc(turn)
    out = np.empty((*turn.shape, 3))
    out[..., 0] = turn
    out[..., 1] = fraction[..., None] * (along * x + across * z)
    out[..., 2] = fraction[..., None] * (along * z - across * x)
    return out


def carry_alignments(moves: Floats, loops: Floats, reference: int, u: Floats, *, out_of_loops: bool) -> Floats:
    """Convert alignments (..., n, 3) at u (...) between coordinates that travel along with the loops and the world."""
    own = interpolate_moves(loops, u)
    first, last = own[..., reference : reference + 1, :], own
    if out_of_loops:
        last = rigid2d.invert(last)
    else:
        first = rigid2d.invert(first)
    out = rigid2d.compose(rigid2d.compose(first, moves), last)
    sign = 1.0 if out_of_loops else -1.0
    turn = own[..., reference : reference + 1, 0] - own[..., 0]
    out[..., 0] = moves[..., 0] + sign * turn
    return np.asarray(out)


def extend_loop(clouds: Clouds, loop: Floats, before: int, after: int) -> Clouds:
    """Extend one cycle of a loop by `before` frames of earlier cycles and `after` frames of later ones."""
    n = len(clouds)
    frames = np.arange(-before, n + after)
    rounds, within = np.divmod(frames, n)
    points = clouds.points[within].copy()
    for k in np.unique(rounds[rounds != 0]):
        move = rigid2d.identity()
        for _ in range(abs(int(k))):
            move = rigid2d.compose(move, loop if k > 0 else rigid2d.invert(loop))
        points[rounds == k] = rigid2d.apply(move, points[rounds == k])
    # Contacts belong to the frames of one round.
    return replace(clouds, points=set_readonly(points), contacts=None)
