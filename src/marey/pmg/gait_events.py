"""Synchronize gait cycles: warp their phases until all feet leave and touch the floor at the same phase.

Relative to the times at which the feet pass each other, slow walks have slightly longer stances than fast ones.
Blending a planted foot with one that has left the floor causes foot skate. Warping makes liftoffs and touchdowns
coincide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.pmg.stance import make_soles

__all__ = ["EVENTS", "find_event_phases", "find_usual_phases", "warp_phases"]

# Contact point of each event; True if the event is its touchdown, False if it is its liftoff.
EVENTS = (("left_heel", True), ("left_ball", False), ("right_heel", True), ("right_ball", False))
# Meters above its height in stance at which a point counts as off the floor. Interpolating heights gives event times
# more finely than whole frames.
_RISEN = 0.008
# In cycles: events closer than _APART to an end of the cycle or its margins are not shifted, nor are events farther
# than _FURTHEST from their typical phase. An event has no typical phase if its median deviation exceeds _UNSURE.
_APART, _FURTHEST, _UNSURE = 0.06, 0.06, 0.02


def find_event_phases(motion: Motion, phase: Floats, first: int, last: int) -> list[Floats]:
    """Find the phases at which each of `EVENTS` occurs between frames `first` and `last`.

    Return one array of phases per event. It is empty if the motion's contacts do not include that event.

    phase : (F,) gait phase of the motion's frames.
    """
    contacts = motion.contacts
    if contacts is None:
        return [np.zeros(0)] * len(EVENTS)
    soles = make_soles(motion.skeleton, contacts.points)
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
        alpha = above[at] / (above[at] - above[at + 1])
        out.append(known[at] + alpha * (known[at + 1] - known[at]))
    return out


def find_usual_phases(found: Sequence[Sequence[Floats]]) -> Floats:
    """Return the typical phase (4,), in [0, 1), of each event in some motions; NaN if an event has none.

    found : result of `find_event_phases` for each motion.
    """
    out = np.full(len(EVENTS), np.nan)
    for k in range(len(EVENTS)):
        phases = np.concatenate([each[k] for each in found]) if found else np.zeros(0)
        if len(phases):
            angles = 2.0 * np.pi * phases
            near = float(np.angle(np.exp(1j * angles).mean()))
            off = np.angle(np.exp(1j * (angles - near))) / (2.0 * np.pi)
            middle = float(np.median(off))
            if np.median(np.abs(off - middle)) <= _UNSURE:
                out[k] = (near / (2.0 * np.pi) + middle) % 1.0
    return out


def warp_phases(
    grid: Floats, start: float, events: Sequence[Floats], usual: Floats, span: float = 1.0
) -> Floats:  # fmt: skip
    """Return the phases (G,) of a motion at which to sample a clip, so that its events fall on their typical phases.

    The ends of the clip and of its margins do not move.

    Parameters
    ----------
    grid : (G,) phases of the clip's points relative to `start`, from below 0 to above `span`.
    start : phase of the motion at which the clip begins.
    events : phases of the motion's events, from `find_event_phases`.
    usual : (4,) typical phases, from `find_usual_phases`.
    span : length of the clip in cycles, without its margins.
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
    if slopes.min() < 0.5 or slopes.max() > 2.0:  # the warp would be too strong: leave this cycle as it is
        return np.asarray(start + grid)
    return np.asarray(start + PchipInterpolator(at, own_at)(grid))
