"""Gait cycles in step with one another: feet that leave and touch the floor at the same points of phase.

Between the moments in which feet pass one another, slow walks stand a little longer than quick ones. A blend of a foot
that stands with one that has left the floor is one that slides along it, so cycles are told by a phase in which all
leave the floor at once, and touch it at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.pmg.stance import soles_of

__all__ = ["EVENTS", "event_phases", "usual_phases", "warped_phases"]

# Contact points, and whether it is their coming down that counts, or their rising.
EVENTS = (("left_heel", True), ("left_ball", False), ("right_heel", True), ("right_ball", False))
# Metres above where a point stands that it has risen by when it has left the floor. Heights tell between which frames.
_RISEN = 0.008
# Phases: nearer than this to a cycle's ends and those of its margins nothing is moved; events further from where they
# usually are, and events that are further than this from it in the median, are left where they are.
_APART, _FURTHEST, _UNSURE = 0.06, 0.06, 0.02


def event_phases(motion: Motion, phase: Floats, first: int, last: int) -> list[Floats]:
    """For each of `EVENTS`, phases at which it happens from frame `first` to `last`; none where it is not known."""
    contacts = motion.contacts
    if contacts is None:
        return [np.zeros(0)] * len(EVENTS)
    soles = soles_of(motion.skeleton, contacts.points)
    bones = None if motion.bone_offsets is None else np.ascontiguousarray(motion.bone_offsets)
    heights = soles.points(motion.rotations, bones)[first : last + 1, :, 1]
    heights = heights + motion.root_positions[first : last + 1, 1, None]
    known = phase[first : last + 1]
    out = []
    for name, comes_down in EVENTS:
        if name not in contacts.names:
            out.append(np.zeros(0))
            continue
        k = contacts.names.index(name)
        stands = contacts.mask[first : last + 1, k]
        if not stands.any():
            out.append(np.zeros(0))
            continue
        above = heights[:, k] - np.median(heights[stands, k]) - _RISEN
        sign = -above if comes_down else above
        at = np.flatnonzero((sign[:-1] <= 0.0) & (sign[1:] > 0.0))
        share = above[at] / (above[at] - above[at + 1])
        out.append(known[at] + share * (known[at + 1] - known[at]))
    return out


def usual_phases(found: Sequence[Sequence[Floats]]) -> Floats:
    """(4,) phases in [0, 1) at which events usually happen in some motions; NaN where there is no such phase."""
    out = np.full(len(EVENTS), np.nan)
    for k in range(len(EVENTS)):
        phases = np.concatenate([each[k] for each in found]) if found else np.zeros(0)
        if len(phases):
            turns = 2.0 * np.pi * phases
            near = float(np.angle(np.exp(1j * turns).mean()))
            off = np.angle(np.exp(1j * (turns - near))) / (2.0 * np.pi)
            middle = float(np.median(off))
            if np.median(np.abs(off - middle)) <= _UNSURE:
                out[k] = (near / (2.0 * np.pi) + middle) % 1.0
    return out


def warped_phases(
    grid: Floats, start: float, events: Sequence[Floats], usual: Floats, span: float = 1.0
) -> Floats:  # fmt: skip
    """A motion's phases at the points of a clip that begins at phase `start`, with its events where they usually are.

    Parameters
    ----------
    grid : (G,) phases of the points after `start`, from under 0 to over the span.
    events : as of `event_phases`. usual : as of `usual_phases`. span : cycles of the clip, without its margins.

    Nothing is moved where the clip begins and ends, nor at the ends of its margins.
    """
    from scipy.interpolate import PchipInterpolator

    fixed = [float(grid[0]), 0.0, span, float(grid[-1])]
    pairs = [(phase, phase) for phase in fixed]
    for phases, about in zip(events, usual, strict=True):
        if not len(phases) or not np.isfinite(about):
            continue
        first = (about - start) % 1.0
        for wanted in (first - 1.0, first, first + 1.0):
            if grid[0] < wanted < grid[-1] and min(abs(wanted - phase) for phase in fixed) >= _APART:
                own = float(phases[int(np.argmin(np.abs(phases - start - wanted)))] - start)
                if abs(own - wanted) <= _FURTHEST:
                    pairs.append((wanted, own))
    at, own_at = np.array(sorted(pairs)).T
    slopes = np.diff(own_at) / np.diff(at)
    if slopes.min() < 0.5 or slopes.max() > 2.0:  # events in another order than usual, or nearly: this cycle stays
        return np.asarray(start + grid)
    return np.asarray(start + PchipInterpolator(at, own_at)(grid))
