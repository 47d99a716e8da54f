"""Landing on the spot: the end of a walk bent by a little, so that the figure arrives exactly where it is wanted.

A graph has only so many steps, and the best walk ends near the place, not on it. The rest is made up over the last
seconds: the way is bent by the turn that is missing, and shifted by what is then left, both eased in. While a foot
stands, one move holds for it, and cleanup pins it. How much was bent is told, and more than a bound is refused.
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

# Seconds before the bend in which frames go over from what was given to what cleanup made of it.
_LEAD = 0.3
# Cleanup moves the hips by a little as well; it is asked again until they end within so many metres and radians.
_NEAR, _ROUNDS = 1e-4, 6


@dataclass(frozen=True, slots=True)
class Landing:
    """How far a motion was bent to land.

    Attributes
    ----------
    shift : metres between where it ended and where it was to end.
    turn : radians between the two headings, positive to the left.
    seconds : over which that was made up.
    drag : metres per second, the most by which the bend speeds the figure up or slows it down.
    swing : radians per second, the most by which it turns it.
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
    """The motion with its hips, at the last frame, exactly above the place `at`, facing exactly `heading`; and how far
    it was bent for that.

    Frames before the last `seconds`, and the little that cleanup needs before them, stay bit for bit.

    Parameters
    ----------
    walk : a walk, which is cleaned first, or any motion.
    at : (2,) x, z in metres.
    heading : radians from +Z, positive to the left, into which hips and shoulders face; None leaves it as it comes.
    seconds : over which the way is bent.
    most, most_turn : metres and radians beyond which it is refused.
    clean : hold the feet; without it they go where the bend takes them.
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
            f"the last {span:g} s are to be bent, which takes more than {takes:.2f} s of motion, but the walk lasts "
            f"{given.duration:.2f} s"
        )
    end = _end(given)
    wanted = np.array([end[0] if heading is None else float(heading), *goal])
    shift, turn = float(np.hypot(*(wanted - end)[1:])), float(rigid2d.wrap_angle(wanted[0] - end[0]))
    if shift > bounds[0] or abs(turn) > bounds[1]:
        missing, allowed = np.degrees(abs(turn)), np.degrees(bounds[1])
        raise NoResult(
            f"the nearest walk ends {shift:.3f} m and {missing:.1f} degrees from where it is to land, beyond the "
            f"{bounds[0]:g} m and {allowed:.1f} degrees by which it may be bent; ask for another place or seed, or "
            "give the graph more clips"
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
    """The tail with its last frame at `wanted`, and (F, 3) turn, x and z by which each of its frames was moved there
    about itself."""
    share = ease_in(np.clip(np.arange(len(tail)) - lead, 0, n) / n)
    aim = wanted
    made, about = tail, np.zeros((len(tail), 3))
    for _ in range(_ROUNDS if clean else 1):
        transforms, about = _moves(tail, aim, share)
        made = move_frames(tail, transforms)
        if clean:
            made, _ = replant_feet(with_held_feet(tail, made, transforms))
            # Into the bend from the motion as it was: before it, nothing but cleanup has changed anything.
            made = mix_poses(tail, tail, made, ease_in(np.arange(len(tail)) / lead), slice(0, len(tail)))
        missed = wanted - _end(made)
        missed[0] = rigid2d.wrap_angle(missed[0])
        if np.abs(missed).max() < _NEAR:
            break
        aim = aim + missed
    # What is left is less than anyone can see; with it the end is exact.
    transforms, _ = _moves(made, wanted, share)
    return move_frames(made, transforms), about


def _moves(tail: Motion, wanted: Floats, share: Floats) -> tuple[Floats, Floats]:
    """(F, 3) rigid2d that bend the way so that it ends at `wanted`, and (F, 3) the turn, and x and z, of each frame
    against where it was."""
    way = tail.travel[:, [0, 2]]
    end = _end(tail)
    turns = share * float(rigid2d.wrap_angle(wanted[0] - end[0]))
    about = np.stack([turns, np.zeros_like(turns), np.zeros_like(turns)], axis=1)
    steps = np.diff(way, axis=0)
    # Each step goes where the figure is turned to by then.
    middle = 0.5 * (about[1:] + about[:-1])
    there = way[0] + np.concatenate([np.zeros((1, 2)), np.cumsum(rigid2d.apply_vector(middle, steps), axis=0)])
    there += share[:, None] * (wanted[1:] - there[-1])
    about[:, 1:] = there - way
    turned = rigid2d.apply_vector(about, way)
    return np.concatenate([turns[:, None], there - turned], axis=1), about


def _put(motion: Motion, tail: Motion, first: int) -> Motion:
    """The motion with its last frames, from `first` on, exchanged."""
    root, turns = motion.root_positions.copy(), motion.rotations.copy()
    root[first:], turns[first:] = tail.root_positions, tail.rotations
    # Cleanup may have chosen the other of two quaternions for one rotation.
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
