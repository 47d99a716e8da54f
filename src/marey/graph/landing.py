"""Exact arrival: adjust the end of a walk so that the character stops exactly at a position and heading.

A graph has a limited set of steps, so the best walk ends near the target and not on it. The remaining error is spread
over the last seconds: the path is bent by the missing rotation, and shifted by the remaining offset, both eased in. A
planted foot moves by a single transform, and cleanup pins it. The size of the adjustment is reported, and an adjustment
beyond a limit is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, check_number, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, find_placement, move_frames
from marey.edit.path import with_held_feet
from marey.edit.replant import mix_poses, replant_feet, set_contacts
from marey.errors import InvalidValue, NoResult
from marey.graph.walk import Walk
from marey.maths import rigid2d
from marey.maths.ease import ease_in

# Seconds before the adjusted part over which frames blend from the given to the cleaned motion.
_LEAD = 0.3
# Cleanup moves the hips a little, too. Repeat until they end within this many meters and radians.
_NEAR, _ROUNDS = 1e-4, 6


@dataclass(frozen=True, slots=True)
class Landing:
    """How far a motion was adjusted to arrive exactly.

    Attributes
    ----------
    shift : distance in meters between its end and the target.
    turn : heading difference in radians, positive to the left.
    seconds : duration of the adjusted part.
    drag : largest change of speed by the adjustment, in meters per second.
    swing : largest angular velocity of the adjustment, in radians per second.
    """

    shift: float
    turn: float
    seconds: float
    drag: float
    swing: float


def landed(
    walk: Walk | Motion,
    at: ArrayLike,
    heading: float | None = None,
    *,
    seconds: float = 2.0,
    most: float = 0.3,
    most_turn: float = 0.5,
    clean: bool = True,
) -> tuple[Motion, Landing]:
    """Adjust the end of a motion so that the hips of the last frame are exactly above `at`, facing exactly `heading`.

    Returns the motion and a report of the adjustment. Frames before the last `seconds`, except a few that cleanup
    needs, keep their exact values.

    Parameters
    ----------
    walk : a walk, which is cleaned first, or any motion.
    at : (2,) x, z in metres.
    heading : direction that hips and shoulders face, radians from +Z, positive to the left; None leaves it unchanged.
    seconds : duration of the adjusted part.
    most, most_turn : largest adjustment allowed, in meters and radians.
    clean : keep planted feet in place; if False they move with the adjustment.
    """
    goal = freeze_array(at, "the place to land at", (2,))
    if heading is not None and not np.isfinite(heading):
        raise InvalidValue(f"the heading must be an angle in radians, got {heading!r}")
    span = check_number(seconds, "seconds", above=True)
    bounds = check_number(most, "most in metres"), check_number(most_turn, "most_turn in radians")
    given = bake_hips_into_root(walk.motion(clean=clean) if isinstance(walk, Walk) else walk)
    n = round(span * given.fps)
    lead = max(1, round(_LEAD * given.fps)) if clean else 0
    if n < 2 or n + lead >= len(given) - 1:
        takes = (max(n, 2) + lead + 1) / given.fps
        raise InvalidValue(
            f"adjusting the last {span:g} s takes more than {takes:.2f} s of motion, but the walk lasts "
            f"{given.duration:.2f} s"
        )
    end = _end(given)
    wanted = np.array([end[0] if heading is None else float(heading), *goal])
    shift, turn = float(np.hypot(*(wanted - end)[1:])), float(rigid2d.wrap_angle(wanted[0] - end[0]))
    if shift > bounds[0] or abs(turn) > bounds[1]:
        missing, allowed = np.degrees(abs(turn)), np.degrees(bounds[1])
        raise NoResult(
            f"the walk ends {shift:.3f} m and {missing:.1f} degrees from the target, more than the {bounds[0]:g} m and "
            f"{allowed:.1f} degrees by which it may be adjusted; choose another target or seed, or add clips to the "
            "graph"
        )
    first = len(given) - 1 - n - lead
    tail = set_contacts(given)[first:] if clean else given[first:]
    made, moves = _bent(tail, wanted, n, lead, clean)
    out = _put(given, made, first)
    step = np.diff(moves, axis=0) * given.fps
    report = Landing(shift, turn, span, float(np.hypot(step[:, 1], step[:, 2]).max()), float(np.abs(step[:, 0]).max()))
    told = {"at": goal.tolist(), "heading": float(wanted[0]), "shift": shift, "turn": turn, "seconds": span}
    return add_provenance(out, "land", **told), report


def _end(motion: Motion) -> Floats:
    """(3,) heading, x, z of the last frame."""
    last = motion[-1:]
    return find_placement(last.skeleton, last.world(), 0)


def _bent(tail: Motion, wanted: Floats, n: int, lead: int, clean: bool) -> tuple[Motion, Floats]:
    """The tail with its last frame at `wanted`, and (F, 3) rotation, x and z by which each frame was moved about its
    own position."""
    share = ease_in(np.clip(np.arange(len(tail)) - lead, 0, n) / n)
    aim = wanted
    made, about = tail, np.zeros((len(tail), 3))
    for _ in range(_ROUNDS if clean else 1):
        transforms, about = _moves(tail, aim, share)
        made = move_frames(tail, transforms)
        if clean:
            made, _ = replant_feet(with_held_feet(tail, made, transforms))
            # Blend in from the original motion: up to here only cleanup changed anything.
            made = mix_poses(tail, tail, made, ease_in(np.arange(len(tail)) / lead), slice(0, len(tail)))
        missed = wanted - _end(made)
        missed[0] = rigid2d.wrap_angle(missed[0])
        if np.abs(missed).max() < _NEAR:
            break
        aim = aim + missed
    # The remaining error is invisible; removing it makes the end exact.
    transforms, _ = _moves(made, wanted, share)
    return move_frames(made, transforms), about


def _moves(tail: Motion, wanted: Floats, share: Floats) -> tuple[Floats, Floats]:
    """(F, 3) rigid2d that bend the path so that it ends at `wanted`, and (F, 3) rotation, x and z of each frame
    relative to where it was."""
    way = tail.travel[:, [0, 2]]
    end = _end(tail)
    turns = share * float(rigid2d.wrap_angle(wanted[0] - end[0]))
    about = np.stack([turns, np.zeros_like(turns), np.zeros_like(turns)], axis=1)
    steps = np.diff(way, axis=0)
    # Each step is rotated by the rotation reached at that time.
    middle = 0.5 * (about[1:] + about[:-1])
    there = way[0] + np.concatenate([np.zeros((1, 2)), np.cumsum(rigid2d.apply_vector(middle, steps), axis=0)])
    there += share[:, None] * (wanted[1:] - there[-1])
    about[:, 1:] = there - way
    turned = rigid2d.apply_vector(about, way)
    return np.concatenate([turns[:, None], there - turned], axis=1), about


def _put(motion: Motion, tail: Motion, first: int) -> Motion:
    """The motion with its frames from `first` on replaced by `tail`."""
    root, turns = motion.root_positions.copy(), motion.rotations.copy()
    root[first:], turns[first:] = tail.root_positions, tail.rotations
    # Cleanup may have chosen the opposite quaternion for a rotation.
    flip = (turns[first] * turns[first - 1]).sum(axis=-1) < 0.0
    turns[first:, flip] *= -1.0
    bones = motion.bone_offsets
    if tail.bone_offsets is not None:
        whole = motion.skeleton.offsets if bones is None else bones
        bones = np.broadcast_to(whole, (len(motion), *motion.skeleton.offsets.shape)).copy()
        bones[first:] = tail.bone_offsets
    return replace(
        motion,
        root_positions=set_readonly(root),
        rotations=set_readonly(turns),
        bone_offsets=None if bones is None else set_readonly(bones),
    )
