"""Path of a blend: each motion contributes a step from frame to frame, and the steps are averaged (Kovar 5.3.2).

T(t) moves the aligned frames A_j(u) M_j to their place in the blend. From one frame to the next, motion j alone would
advance by ``A_j(before) A_j(now)^-1``, a small rotation and translation in the reference's coordinates. The rotations
are averaged as angles. The translations are averaged by their effect on the origin, the mean position of the aligned
hips, both before and after the step. The path therefore depends neither on the direction of play nor on the choice of
the reference.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.maths import rigid2d

__all__ = ["accumulate_votes", "mean_origin"]


def mean_origin(alignments: Floats, hips: Floats, weights: Floats) -> Floats:
    """Compute the mean aligned hip position, x and z (F, 2), from A (F, n, 3), hips (F, n, 3) and weights (F, n)."""
    placed = rigid2d.apply(alignments, hips[..., [0, 2]])
    return np.asarray(np.einsum("fn,fnk->fk", weights, placed))


def accumulate_votes(
    alignments: Floats,
    origins: Floats,
    weights: Floats,
    first: Floats,
    *,
    turns: Floats | None = None,
    loops: Floats | None = None,
    reference: int = 0,
) -> Floats:
    """Compute T for each of F frames by accumulating averaged steps of n motions.

    T moves the aligned frames of the motions to their place in the blend; see the module's docstring.

    Parameters
    ----------
    alignments : (F, n, 3) A_j(u), which align motion j with the reference; angles are continuous over time.
    origins : (F, 2) from `mean_origin`.
    weights : (F, n) with sums of 1.
    first : (3,) T of the first frame.
    turns : (F,) completed cycles of a cyclic registration; A is then that of u in [0, 1).
    loops : (n, 3) rigid2d that each loop travels per cycle; None if the motions are not loops.
    reference : index of the motion whose coordinates A refers to.

    Returns
    -------
    (F, 3) rigid2d; angles are continuous over time, not wrapped.
    """
    before, now = alignments[:-1].copy(), alignments[1:]
    origins_before = origins[:-1].copy()
    seams: Bools = np.zeros(len(before), dtype=np.bool_)
    onwards = rigid2d.identity()
    if turns is not None and loops is not None:
        seams, onwards = np.diff(turns) != 0, loops[reference]
        # Convert the alignments before a seam to the coordinates after it, in which the reference is back at its start.
        back = rigid2d.invert(onwards)
        before[seams] = rigid2d.compose(back, rigid2d.compose(before[seams], loops))
        origins_before[seams] = rigid2d.apply(back, origins_before[seams])
    weight = 0.5 * (weights[:-1] + weights[1:])
    turn = before[..., 0] - now[..., 0]
    turn[seams] = rigid2d.wrap_angle(turn[seams])
    votes = rigid2d.compose(before, rigid2d.invert(now))
    angle = np.einsum("fn,fn->f", weight, turn)
    shift = _average_shift(votes, weight, angle, origins_before, origins[1:])
    return _chain_steps(first, angle, shift, seams, onwards)


def _average_shift(votes: Floats, weights: Floats, angle: Floats, before: Floats, now: Floats) -> Floats:
    """Average the translations (F - 1, 2) that the motions would give the origins before and after each step.

    votes : (F - 1, n, 3) rigid2d of each step in each of n motions.
    weights : (F - 1, n) their weights.
    angle : (F - 1,) averaged turn of each step, in radians.
    before, now : (F - 1, n, 2) origins before and after each step.
    """
    rotated = np.stack([angle, np.zeros_like(angle), np.zeros_like(angle)], axis=1)
    goes_to = np.einsum("fn,fnk->fk", weights, rigid2d.apply(votes, now[:, None]))
    comes_from = np.einsum("fn,fnk->fk", weights, rigid2d.apply(rigid2d.invert(votes), before[:, None]))
    forward = goes_to - rigid2d.apply(rotated, now)
    backward = before - rigid2d.apply(rotated, comes_from)
    return np.asarray(0.5 * (forward + backward))


def _chain_steps(first: Floats, angle: Floats, shift: Floats, seams: Bools, onwards: Floats) -> Floats:
    """Chain steps: T(i) = T(i - 1) o step(i), and T(i - 1) o onwards o step(i) at a loop's seam.

    first : (3,) rigid2d T(0).
    angle, shift : (F - 1,) radians and (F - 1, 2) meters of the steps.
    seams : (F - 1,) whether a step crosses a loop's seam.
    onwards : (3,) rigid2d from one pass of the loop to the next.
    Return T, (F, 3).
    """
    out = np.empty((len(angle) + 1, 3))
    start, at = np.asarray(first, dtype=np.float64), 0
    # There are few seams; the steps between two of them are accumulated in one operation.
    for stop in [*np.flatnonzero(seams).tolist(), len(angle)]:
        theta = start[0] + np.concatenate([[0.0], np.cumsum(angle[at:stop])])
        heading = np.stack([theta[:-1], np.zeros(stop - at), np.zeros(stop - at)], axis=1)
        path = np.cumsum(rigid2d.apply(heading, shift[at:stop]), axis=0)
        out[at : stop + 1, 0] = theta
        out[at : stop + 1, 1:] = start[1:] + np.concatenate([np.zeros((1, 2)), path])
        if stop < len(angle):
            step = np.array([angle[stop], *shift[stop]])
            start, at = _append_step(_append_step(out[stop], onwards), step), stop + 1
    return out


def _append_step(base: Floats, step: Floats) -> Floats:
    """Compute base o step; the angles are added without wrapping."""
    out = rigid2d.compose(base, step)
    out[0] = base[0] + step[0]
    return out
