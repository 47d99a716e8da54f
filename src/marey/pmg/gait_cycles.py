"""Clips of one gait cycle or one step, cut where the feet pass each other and sampled by gait phase.

Each clip has a margin at both ends. Where one clip leads into another, the two are in phase, and their turns add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, find_facing
from marey.errors import InvalidValue
from marey.layer.gait import find_gait, track_legs
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
    "has_gait",
]

# Sample points per cycle: about 120 Hz for a walk. A foot's path has a corner where it leaves the floor; on a coarser
# grid, the foot slides farther along the floor before it rises.
PER_CYCLE = 128


class Cycle(NamedTuple):
    """A clip of one gait cycle or one step, sampled at G phases.

    rotations : (G, J, 4) local rotation quaternions of the J joints, joint 0 relative to the character's heading.
    heights : (G,) height of joint 0, in meters.
    steps : (G - 1, 4) changes from point to point: change of heading in radians, movement to the left and forward in
        meters (relative to the mean heading of the two points), and time in seconds.
    contacts : (G, K) flags of the K contact points, 0 or 1; K is 0 if the motion has no contacts.
    """

    rotations: Floats
    heights: Floats
    steps: Floats
    contacts: Floats


class CyclePart(NamedTuple):
    """The part of a gait cycle that a clip covers; a full cycle by default.

    begin : start, in cycles after the left foot passes the right; 0 or 0.5 for a step.
    span : length in cycles; 0.5 for a step.
    """

    begin: float = 0.0
    span: float = 1.0


_FULL = CyclePart()


def grid_phases(margin: float, span: float = 1.0) -> Floats:
    """Return the phases (G,) of a clip's sample points, in cycles from the start of its main part.

    They run from -margin to span + margin and include both 0 and span.
    """
    extra = max(1, round(margin * PER_CYCLE))
    return np.arange(-extra, round(span * PER_CYCLE) + extra + 1) / PER_CYCLE


def compute_phase(motion: Motion) -> tuple[Floats, int, int]:
    """Return the gait phase (F,) in cycles, and the first and last frame that have a phase.

    The phase is an integer when the left foot passes the right.
    """
    remedy = "leave this clip out, or use a longer part of the recording, in which both feet step"
    return find_gait(motion, "clip", remedy).run_phase()


def has_gait(motion: Motion) -> bool:
    """Return whether a motion has a gait phase: at least two consecutive steps."""
    return track_legs(motion).run is not None


def find_cycles(motion: Motion, margin: float, part: CyclePart = _FULL) -> Ints:
    """Return the integer phases of those cycles for which the motion contains the given part and its margins."""
    phase, first, last = compute_phase(motion)
    low = np.ceil(phase[first] + margin - part.begin)
    high = np.floor(phase[last] - part.begin - part.span - margin)
    return np.arange(low, high + 1).astype(np.int64)


def cut_cycles(motion: Motion, margin: float, usual: Floats | None = None, part: CyclePart = _FULL) -> list[Cycle]:
    """Cut all cycles, or the given part of each, out of a motion, with margins; the list may be empty.

    Parameters
    ----------
    margin : cycles to add at both ends, greater than 0 and at most 0.5.
    usual : (4,) phases to which foot liftoffs and touchdowns are shifted, from `find_usual_events`; None for no shift.
    part : part of the cycle to cut; the full cycle by default.
    """
    if not 0.0 < margin <= 0.5:
        raise InvalidValue(f"margin must be greater than 0 and at most 0.5 cycles, not {margin:g}")
    from scipy.interpolate import CubicSpline

    carried = _check_hips_root(bake_hips_into_root(motion))
    phase, first, last = compute_phase(motion)
    starts = find_cycles(motion, margin, part) + part.begin
    if not len(starts):
        return []
    frames = np.arange(first, last + 1)
    spline = CubicSpline(frames, stack_frames(carried)[first : last + 1], axis=0)
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


def stack_frames(motion: Motion) -> Floats:
    """Return the frames of a motion as rows (F, 4 J + 4) that can be interpolated.

    A row holds local rotations without sign flips, relative to the heading, the position of joint 0 and the heading.
    """
    heading = find_facing(motion.skeleton, motion.world().positions)
    lone = np.stack([np.cos(0.5 * heading), 0 * heading, np.sin(0.5 * heading), 0 * heading], axis=-1)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.inv_mul(lone, rotations[:, 0])
    return np.concatenate(
        [quat.unroll(rotations).reshape(len(motion), -1), motion.root_positions, heading[:, None]], axis=1
    )


def find_usual_events(motions: Iterable[Motion]) -> Floats:
    """Return the typical phases (4,) of foot touchdowns and liftoffs in some motions; see `gait_events.EVENTS`."""
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


def _interpolate_flags(mask: Floats | None, positions: Floats, n: int) -> Floats:
    if mask is None:
        return np.zeros((n, 0))
    return np.asarray(mask[np.clip(np.rint(positions).astype(np.int64), 0, len(mask) - 1)])


def _check_hips_root(motion: Motion) -> Motion:
    """Return the motion unchanged; raise an error if joint 0 is not the hips."""
    if motion.skeleton.roles["hips"] != 0:
        raise InvalidValue(
            f"a gait space needs skeletons whose root (joint 0) is the hips, but in {motion.name!r} the hips are joint "
            f"{motion.skeleton.roles['hips']}; call marey.core.placement.make_hips_root first"
        )
    return motion
