"""Clips of one gait cycle or of one step, cut where the feet pass each other and parameterized by gait phase.

Cut this way, with some margin at both ends, any two clips are synchronized where one leads into the other, and their
turns add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, find_facing
from marey.errors import InvalidValue
from marey.layer.gait import find_gait
from marey.maths import quat
from marey.pmg.gait_events import find_event_phases, find_usual_phases, warp_phases

__all__ = [
    "PER_CYCLE",
    "Cycle",
    "CyclePart",
    "compute_phase",
    "cut_cycles",
    "find_cycles",
    "find_usual_events",
    "grid_phases",
]

# Phase points per cycle: about 120 Hz for a walk. A foot's path has a corner where it leaves the floor; with a coarser
# grid the foot slides farther along the floor before it rises.
PER_CYCLE = 128


class Cycle(NamedTuple):
    """A clip of G phase points.

    rotations : (G, J, 4) local rotations, joint 0 relative to the character's heading.
    heights : (G,) meters, of joint 0.
    steps : (G - 1, 4) from point to point: turn of the heading in radians, movement to the left and forward in meters,
        relative to the heading halfway, and seconds.
    contacts : (G, K) 0 to 1; K is 0 if the motion has none.
    """

    rotations: Floats
    heights: Floats
    steps: Floats
    contacts: Floats


class CyclePart(NamedTuple):
    """The part of a cycle in a clip: its start, in cycles after the left foot passes the right, and its length in
    cycles.

    A full cycle by default; a step has half of one, and begins at 0 or at 0.5.
    """

    begin: float = 0.0
    span: float = 1.0


_FULL = CyclePart()


def grid_phases(margin: float, span: float = 1.0) -> Floats:
    """Phases of a clip's points from its beginning, from -margin to span + margin, including 0 and the span."""
    extra = max(1, round(margin * PER_CYCLE))
    return np.arange(-extra, round(span * PER_CYCLE) + extra + 1) / PER_CYCLE


def compute_phase(motion: Motion) -> tuple[Floats, int, int]:
    """(F,) gait phase, an integer where the left foot passes the right, and the first and last frame with a phase."""
    return find_gait(motion, "clip").run_phase()


def find_cycles(motion: Motion, margin: float, part: CyclePart = _FULL) -> Ints:
    """The integer phases of the cycles that the motion contains, in part, with margins."""
    phase, first, last = compute_phase(motion)
    low = np.ceil(phase[first] + margin - part.begin)
    high = np.floor(phase[last] - part.begin - part.span - margin)
    return np.arange(low, high + 1).astype(np.int64)


def cut_cycles(motion: Motion, margin: float, usual: Floats | None = None, part: CyclePart = _FULL) -> list[Cycle]:
    """Cut all cycles of a motion, or parts of them, with their margins; may be empty.

    Parameters
    ----------
    usual : phases at which feet should leave and touch the floor, as from `usual_events`; None for no change.
    """
    if not 0.0 < margin <= 0.5:
        raise InvalidValue(f"margin must be above 0 and at most 0.5 cycles, not {margin:g}")
    from scipy.interpolate import CubicSpline

    carried = _check_hips_root(bake_hips_into_root(motion))
    phase, first, last = compute_phase(motion)
    starts = find_cycles(motion, margin, part) + part.begin
    if not len(starts):
        return []
    frames = np.arange(first, last + 1)
    heading = find_facing(carried.skeleton, carried.world().positions)
    lone = np.stack([np.cos(0.5 * heading), 0 * heading, np.sin(0.5 * heading), 0 * heading], axis=-1)
    rotations = carried.rotations.copy()
    rotations[:, 0] = quat.inv_mul(lone, rotations[:, 0])
    n = len(frames)
    flat = np.concatenate(
        [
            quat.unroll(rotations)[first : last + 1].reshape(n, -1),
            carried.root_positions[first : last + 1],
            heading[first : last + 1, None],
        ],
        axis=1,
    )
    spline = CubicSpline(frames, flat, axis=0)
    known = phase[first : last + 1]
    mask = None if motion.contacts is None else motion.contacts.mask[first : last + 1].astype(np.float64)
    grid = grid_phases(margin, part.span)
    events = None if usual is None else find_event_phases(carried, phase, first, last)
    out = []
    for start in starts:
        wanted = start + grid
        if events is not None and usual is not None:
            wanted = warp_phases(grid, float(start), events, usual, part.span)
        at = np.interp(wanted, known, frames)
        out.append(_make_cycle(spline(at), at / motion.fps, _interpolate_flags(mask, at - first, len(grid))))
    return out


def find_usual_events(motions: Iterable[Motion]) -> Floats:
    """(4,) typical phases at which feet leave and touch the floor in some motions; see `gait_events.EVENTS`."""
    found = []
    for motion in motions:
        phase, first, last = compute_phase(motion)
        found.append(find_event_phases(bake_hips_into_root(motion), phase, first, last))
    return find_usual_phases(found)


def _make_cycle(rows: Floats, seconds: Floats, contacts: Floats) -> Cycle:
    rotations = quat.normalize(rows[:, :-4].reshape(len(rows), -1, 4))
    where, heading = rows[:, -4:-1], rows[:, -1]
    step, half = np.diff(where, axis=0), 0.5 * (heading[1:] + heading[:-1])
    left = step[:, 0] * np.cos(half) - step[:, 2] * np.sin(half)
    ahead = step[:, 0] * np.sin(half) + step[:, 2] * np.cos(half)
    steps = np.stack([np.diff(heading), left, ahead, np.diff(seconds)], axis=1)
    return Cycle(rotations, where[:, 1], steps, contacts)


def _interpolate_flags(mask: Floats | None, at: Floats, n: int) -> Floats:
    if mask is None:
        return np.zeros((n, 0))
    return np.asarray(mask[np.clip(np.rint(at).astype(np.int64), 0, len(mask) - 1)])


def _check_hips_root(motion: Motion) -> Motion:
    """Return the motion; raise an error if joint 0 is not the hips."""
    if motion.skeleton.roles["hips"] != 0:
        raise InvalidValue(
            f"a gait space needs characters whose root (joint 0) is the hips, but in {motion.name!r} the "
            f"hips are joint {motion.skeleton.roles['hips']}; load it with root= at the hips"
        )
    return motion
