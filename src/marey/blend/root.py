"""Where the blend goes: each motion votes on every step, and the votes are averaged (Kovar 5.3.2).

T(t) carries the aligned frames A_j(u) M_j to their place in the blend. From one frame to the next, motion j alone would
go on by ``A_j(before) A_j(now)^-1``, which is a small turn and shift in the reference's coordinates. The votes' turns
are averaged as angles. Their shifts are averaged as what they do to the origin, the mean place of the aligned hips, as
it was before and as it is now: so the way depends neither on the direction of play nor on which motion is the
reference.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.maths import rigid2d

__all__ = ["accumulate_votes", "mean_origin"]


def mean_origin(alignments: Floats, hips: Floats, weights: Floats) -> Floats:
    """(F, 2) x and z of the mean aligned hips, from A (F, n, 3), hips (F, n, 3) in each motion and weights (F, n)."""
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
    """T for each frame.

    Parameters
    ----------
    alignments : (F, n, 3) A_j(u), angles continuous over time.
    origins : (F, 2) as of `mean_origin`.
    weights : (F, n) with sums of 1.
    first : (3,) T of the first frame.
    turns : (F,) how many times a cyclic registration has come round; A is then that of u in [0, 1).
    loops : (n, 3) what carries each loop on by one round; None where they are no loops.
    reference : whose coordinates A leads to.

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
        # What is before a seam, in the coordinates that hold after it: the reference is back where it began.
        back = rigid2d.invert(onwards)
        before[seams] = rigid2d.compose(back, rigid2d.compose(before[seams], loops))
        origins_before[seams] = rigid2d.apply(back, origins_before[seams])
    share = 0.5 * (weights[:-1] + weights[1:])
    turn = before[..., 0] - now[..., 0]
    turn[seams] = rigid2d.wrap_angle(turn[seams])
    votes = rigid2d.compose(before, rigid2d.invert(now))
    angle = np.einsum("fn,fn->f", share, turn)
    shift = _average_shift(votes, share, angle, origins_before, origins[1:])
    return _chain_steps(first, angle, shift, seams, onwards)


def _average_shift(votes: Floats, share: Floats, angle: Floats, before: Floats, now: Floats) -> Floats:
    """(F - 1, 2) of the mean step: mean of what the origins' now and before, where the votes put them, ask for."""
    turned = np.stack([angle, np.zeros_like(angle), np.zeros_like(angle)], axis=1)
    goes_to = np.einsum("fn,fnk->fk", share, rigid2d.apply(votes, now[:, None]))
    comes_from = np.einsum("fn,fnk->fk", share, rigid2d.apply(rigid2d.invert(votes), before[:, None]))
    forwards = goes_to - rigid2d.apply(turned, now)
    backwards = before - rigid2d.apply(turned, comes_from)
    return np.asarray(0.5 * (forwards + backwards))


def _chain_steps(first: Floats, angle: Floats, shift: Floats, seams: Bools, onwards: Floats) -> Floats:
    """Steps one after another, T(i) = T(i - 1) o step(i), at a seam T(i - 1) o onwards o step(i)."""
    out = np.empty((len(angle) + 1, 3))
    start, at = np.asarray(first, dtype=np.float64), 0
    # Seams are few; between them everything adds up at once.
    for stop in [*np.flatnonzero(seams).tolist(), len(angle)]:
        theta = start[0] + np.concatenate([[0.0], np.cumsum(angle[at:stop])])
        heading = np.stack([theta[:-1], np.zeros(stop - at), np.zeros(stop - at)], axis=1)
        way = np.cumsum(rigid2d.apply(heading, shift[at:stop]), axis=0)
        out[at : stop + 1, 0] = theta
        out[at : stop + 1, 1:] = start[1:] + np.concatenate([np.zeros((1, 2)), way])
        if stop < len(angle):
            step = np.array([angle[stop], *shift[stop]])
            start, at = _append_step(_append_step(out[stop], onwards), step), stop + 1
    return out


def _append_step(base: Floats, step: Floats) -> Floats:
    """base o step, with angles that add up."""
    out = rigid2d.compose(base, step)
    out[0] = base[0] + step[0]
    return out
