"""Limit how far cleanup moves joints."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.limbs import Limbs
from marey.clean.points import point_paths
from marey.core.arrays import Bools, Floats, find_runs
from marey.core.contacts import ContactPoint, Contacts
from marey.core.limb_draft import Limb, MotionDraft, find_limb_hinge
from marey.core.motion import Motion
from marey.maths import ease, quat

# Maximum distance that a joint moves, as a multiple of `max_pull`, and the number of bisection steps that enforce it.
_MAX_MOVE, _N_HALVINGS = 1.49, 12
# Minimum of that distance in meters, for small values of `max_pull`: a knee moves much farther than the foot below it.
_MIN_LIMIT = 0.298
# Depth in meters at which a part counts as below the floor.
_MAX_DEPTH = 0.005
# Seconds before and after, over which a limb that moved too far returns to its cleaned pose.
_RETURN = 0.1


def limit_moves(motion: Motion, source: Motion, limbs: Limbs, contacts: Contacts, pull: float) -> tuple[Motion, Bools]:
    """Rotate limbs back toward the source where one of their joints has moved too far.

    If holding a plant requires such a move, the source is broken there, or the foot does not stand. A hand or foot that
    is then below the floor is lifted, without its plant, as far as the limit allows. Return the motion, and where
    limbs (F, E) were rotated back, so that their plants are no longer held.
    """
    limit = _find_limit(pull)
    done = np.zeros((len(motion), len(limbs.names)), dtype=bool)
    distances = np.linalg.norm(motion.world().positions - source.world().positions, axis=2)
    far = distances > limit
    if not far.any():
        return motion, done
    width = round(_RETURN * motion.fps)
    draft = MotionDraft.of(motion)
    for e, name in enumerate(limbs.names):
        hip, knee, ankle = limbs.table[e, [layout.BASE, layout.MID, layout.END]].tolist()
        limb = Limb(hip, knee, ankle, name)
        below = motion.skeleton.is_below(limb.hip)
        is_far = far[:, below].any(axis=1)
        if not is_far.any():
            continue
        points = tuple(point for point in contacts.points if motion.skeleton.is_below(limb.ankle)[point.joint])
        end = _LimbEnd(limb, find_limb_hinge(source, limb), points)
        done[:, e] = _fade(is_far.astype(np.float64), width) > 0.0
        for start, stop in find_runs(done[:, e]):
            rows = slice(start, stop)
            near = _bring_back(motion[rows], source[rows], is_far[rows], end, limit)
            draft.rotations[rows, below] = near.rotations[:, below]
            if draft.offsets is not None and near.bone_offsets is not None:
                draft.offsets[rows, below] = near.bone_offsets[:, below]
    return draft.apply_to(motion), done


def _find_limit(pull: float) -> float:
    """Return the maximum distance in meters that a joint may move."""
    return max(_MAX_MOVE * pull, _MIN_LIMIT)


class _LimbEnd(NamedTuple):
    """A limb, its hinge axis (3,), and the contact points of its hand or foot."""

    limb: Limb
    hinge: Floats
    points: tuple[ContactPoint, ...]


def _bring_back(part: Motion, source: Motion, is_far: Bools, end: _LimbEnd, limit: float) -> Motion:
    """Return `part` with a limb rotated back toward the source where its end is too far away, with a fade before and
    after.

    Rotate as little as necessary. If the hand or foot is then below the floor, it is lifted from its place in the
    source instead, and the pose that is less deep below the floor is returned.

    part, source : the same frames, cleaned and original.
    is_far : (F,) frames in which the end is too far away.
    limit : maximum distance in meters.
    """
    weight, width = np.zeros(len(part)), round(_RETURN * part.fps)
    low, high = np.zeros(len(part)), np.ones(len(part))
    for _ in range(_N_HALVINGS):
        middle = 0.5 * (low + high)
        is_near = _is_near(_rotate_back(part, source, end.limb, middle), source, end.limb, limit)
        low, high = np.where(is_near, low, middle), np.where(is_near, middle, high)
    weight[is_far] = high[is_far]
    turned = _rotate_back(part, source, end.limb, _fade(weight, width))
    depth = _measure_depth(turned, end).max()
    if depth <= max(_measure_depth(part, end).max(), _MAX_DEPTH):
        return turned
    weight[is_far] = 1.0
    lifted = _lift(_rotate_back(part, source, end.limb, _fade(weight, width)), source, end, limit)
    return lifted if _measure_depth(lifted, end).max() < depth else turned


def _lift(part: Motion, source: Motion, end: _LimbEnd, limit: float) -> Motion:
    """Return `part` with the hand or foot of a limb lifted out of the floor, at most `limit` meters from the source."""
    depth = np.maximum(_measure_depth(part, end), 0.0)
    world = part.world()
    ends, orientations = world.positions[:, end.limb.ankle], world.rotations[:, end.limb.ankle]

    def lift(fraction: Floats) -> Motion:
        draft = MotionDraft.of(part)
        rise = (fraction * depth)[:, None] * [0.0, 1.0, 0.0]
        draft.reach(end.limb, np.arange(len(part)), ends + rise, orientations, hinge=end.hinge)
        return draft.apply_to(part)

    low, high = np.zeros(len(part)), np.ones(len(part))
    for k in range(_N_HALVINGS):
        fraction = high if k == 0 else 0.5 * (low + high)
        is_near = _is_near(lift(fraction), source, end.limb, limit)
        low, high = np.where(is_near, fraction, low), np.where(is_near, high, fraction)
    return lift(low)


def _is_near(motion: Motion, source: Motion, limb: Limb, limit: float) -> Bools:
    """Return whether no joint of a limb is farther than the limit from its place in the source, for all frames (F,)."""
    below = motion.skeleton.is_below(limb.hip)
    away = motion.world().positions[:, below] - source.world().positions[:, below]
    return np.asarray((np.linalg.norm(away, axis=2) <= limit).all(axis=1))


def _measure_depth(motion: Motion, end: _LimbEnd) -> Floats:
    """Return how far the hand or foot of a limb is below the floor, in meters, for all frames (F,)."""
    joints = motion.world().positions[:, motion.skeleton.is_below(end.limb.ankle), 1]
    heights = np.hstack([joints, point_paths(motion, end.points)[:, :, 1]])
    return np.asarray((motion.source.floor or 0.0) - heights.min(axis=1))


def _rotate_back(motion: Motion, source: Motion, limb: Limb, weight: Floats) -> Motion:
    """Return the motion with the joints of a limb rotated toward their pose in the source, by weights (F,)."""
    below = motion.skeleton.is_below(limb.hip)
    draft = MotionDraft.of(motion)
    draft.rotations[:, below] = quat.slerp(motion.rotations[:, below], source.rotations[:, below], weight[:, None])
    if draft.offsets is not None:
        below[limb.hip] = False
        difference = source.frame_offsets[:, below] - draft.offsets[:, below]
        draft.offsets[:, below] += weight[:, None, None] * difference
    return draft.apply_to(motion)


def _fade(weight: Floats, n: int) -> Floats:
    """Return weights (F,) that rise and fall over n frames before and after each stretch of positive weights."""
    out = weight.copy()
    slopes = ease(np.arange(1, n + 1) / (n + 1.0))
    for start, stop in find_runs(weight > 0.0):
        before, after = out[max(start - n, 0) : start], out[stop : stop + n]
        np.maximum(before, weight[start] * slopes[: len(before)][::-1], out=before)
        np.maximum(after, weight[stop - 1] * slopes[: len(after)], out=after)
    return out


def limit_feet(motion: Motion, source: Motion, limbs: Limbs, pull: float) -> tuple[Motion, Bools]:
    """Rotate toes, then feet and hands, back toward the source in frames in which joints below them moved too far.

    Toes bend less. Feet and hands get closer to their orientation in the world. Return the motion, and where feet and
    hands (F, E) were rotated, so that their plants are no longer held.
    """
    limit, given = _find_limit(pull), source.world()
    turned = np.zeros((len(motion), len(limbs.names)), dtype=bool)
    away = np.linalg.norm(motion.world().positions - given.positions, axis=2)
    if not (away > limit).any():
        return motion, turned
    draft = MotionDraft.of(motion)
    for e, column in product(range(len(limbs.names)), (layout.TOE, layout.END)):
        joint = int(limbs.table[e, column])
        if joint < 0:
            continue
        below = motion.skeleton.is_below(joint)
        frames = np.flatnonzero((away[:, joint] <= limit) & (away[:, below] > limit).any(axis=1))
        if not len(frames):
            continue
        local, goal = draft.rotations[frames, joint], source.rotations[frames, joint]
        if column == layout.END:
            goal = quat.inv_mul(
                draft.world(frames).rotations[:, motion.skeleton.parents[joint]], given.rotations[frames, joint]
            )
            turned[frames, e] = True
        low, high = np.zeros(len(frames)), np.ones(len(frames))
        for _ in range(_N_HALVINGS):
            middle = 0.5 * (low + high)
            draft.rotations[frames, joint] = quat.slerp(local, goal, middle)
            at = draft.world(frames).positions[:, below] - given.positions[np.ix_(frames, np.flatnonzero(below))]
            is_near = (np.linalg.norm(at, axis=2) <= limit).all(axis=1)
            low, high = np.where(is_near, low, middle), np.where(is_near, middle, high)
        draft.rotations[frames, joint] = quat.slerp(local, goal, high)
        away[frames] = np.linalg.norm(draft.world(frames).positions - given.positions[frames], axis=2)
    return draft.apply_to(motion), turned
