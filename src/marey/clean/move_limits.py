"""Limit how far cleanup moves joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.limbs import Limbs
from marey.clean.points import point_paths
from marey.core.arrays import Bools, Floats, Ints, find_runs, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.maths import ease, quat

# Maximum distance that a joint moves, as a multiple of `max_pull`, and the number of bisection steps that enforce it.
_MAX_MOVE, _N_HALVINGS = 1.49, 12
# Minimum of that distance in meters, for small values of `max_pull`: a knee moves much farther than the foot below it.
_MIN_LIMIT = 0.298
# Limbs that moved farther than this multiple of the limit are rotated back even if they are then below the floor.
_FAR = 1.25
# Depth in meters at which a part counts as below the floor.
_MAX_DEPTH = 0.005
# Seconds before and after, over which a limb that moved too far returns to its cleaned pose.
_RETURN = 0.1


def limit_moves(motion: Motion, source: Motion, limbs: Limbs, contacts: Contacts, pull: float) -> tuple[Motion, Bools]:
    """Rotate limbs back toward the source where one of their joints, other than the tips of toes, has moved too far.

    If holding a plant requires such a move, the source is broken there, or the foot does not stand. A limb that would
    be below the floor after rotating back stays as it is, unless it moved much farther than the limit. Returns the
    motion, and where limbs (F, E) were rotated back, so that their plants are no longer held.
    """
    limit = max(_MAX_MOVE * pull, _MIN_LIMIT)
    done = np.zeros((len(motion), len(limbs.names)), dtype=bool)
    distances = np.linalg.norm(motion.world().positions - source.world().positions, axis=2)
    tips = limbs.table[:, layout.TIP]
    distances[:, tips[tips >= 0]] = 0.0  # `limit_toes` limits them
    far = distances > limit
    if not far.any():
        return motion, done
    for e, base in enumerate(limbs.table[:, layout.BASE]):
        below = motion.skeleton.is_below(int(base))
        joints = np.flatnonzero(below)
        frames = np.flatnonzero(far[:, joints].any(axis=1))
        if not len(frames):
            continue
        points = tuple(point for point in contacts.points if below[point.joint])
        for weight in (_find_way_back(motion, source, frames, joints, limit), np.ones(len(frames))):
            weights = np.zeros(len(motion))
            weights[frames] = weight
            weights = _fade(weights, round(_RETURN * motion.fps))
            rows = np.flatnonzero(weights)
            turned = _rotate_back(motion, source, rows, joints, weights[rows])
            depth, before = (_measure_depth(each, points, joints, rows) for each in (turned, motion))
            # A limb that moved slightly too far is better than one below the floor.
            if depth <= max(before, _MAX_DEPTH) or distances[frames].max() > _FAR * limit:
                motion, done[rows, e] = turned, True
                break
    return motion, done


def _measure_depth(motion: Motion, points: Sequence[ContactPoint], joints: Ints, rows: Ints) -> float:
    """Return the maximum depth of points and joints below the floor in frames `rows`, in meters."""
    heights = [motion.world().positions[np.ix_(rows, joints)][..., 1], point_paths(motion, points)[rows, :, 1]]
    return (motion.source.floor or 0.0) - float(min(each.min(initial=np.inf) for each in heights))


def _rotate_back(motion: Motion, source: Motion, rows: Ints, joints: Ints, weight: Floats) -> Motion:
    """Return the motion with joints rotated toward the source by `weight` (n,), 0 to 1, in frames `rows` (n,)."""
    rotations = motion.rotations.copy()
    rotations[np.ix_(rows, joints)], bones = _turn_back(motion, source, rows, joints, weight)
    offsets = None
    if motion.bone_offsets is not None:
        offsets = motion.bone_offsets.copy()
        offsets[np.ix_(rows, joints[1:])] = bones[:, 1:]
        set_readonly(offsets)
    return replace(motion, rotations=set_readonly(rotations), bone_offsets=offsets)


def _turn_back(motion: Motion, source: Motion, rows: Ints, joints: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """Interpolate rotations (n, m, 4) and bone offsets (n, m, 3) of m joints between motion and source."""
    at = np.ix_(rows, joints)
    turned = quat.slerp(motion.rotations[at], source.rotations[at], weight[:, None])
    bones, given = (
        np.broadcast_to(m.skeleton.offsets[joints], (*turned.shape[:2], 3)) if m.bone_offsets is None
        else m.bone_offsets[at] for m in (motion, source)
    )  # fmt: skip
    return turned, bones + weight[:, None, None] * (given - bones)


def _find_way_back(motion: Motion, source: Motion, rows: Ints, joints: Ints, limit: float) -> Floats:
    """Return the smallest weight (n,) of the source with which no joint has moved farther than the limit."""
    given, world = source.world().positions[np.ix_(rows, joints)], motion.world()
    column: dict[int, int] = {}
    base = int(joints[0])
    parent = motion.skeleton.parents[base]
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(_N_HALVINGS):
        weight = 0.5 * (low + high)
        rotations, bones = _turn_back(motion, source, rows, joints, weight)
        at, turned = np.empty_like(given), np.empty_like(rotations)
        for k, joint in enumerate(joints.tolist()):
            column[joint] = k
            if joint == base:
                at[:, k] = world.positions[rows, base]
                turned[:, k] = (
                    quat.mul(world.rotations[rows, parent], rotations[:, k]) if parent >= 0 else rotations[:, k]
                )
                continue
            above = column[motion.skeleton.parents[joint]]
            at[:, k] = at[:, above] + quat.rotate(turned[:, above], bones[:, k])
            turned[:, k] = quat.mul(turned[:, above], rotations[:, k])
        is_near = (np.linalg.norm(at - given, axis=2) <= limit).all(axis=1)
        low, high = np.where(is_near, low, weight), np.where(is_near, weight, high)
    return high


def _fade(weight: Floats, n: int) -> Floats:
    """Return weights (F,) that rise and fall over n frames before and after each stretch of positive weights."""
    out = weight.copy()
    slopes = ease(np.arange(1, n + 1) / (n + 1.0))
    for start, stop in find_runs(weight > 0.0):
        before, after = out[max(start - n, 0) : start], out[stop : stop + n]
        np.maximum(before, weight[start] * slopes[: len(before)][::-1], out=before)
        np.maximum(after, weight[stop - 1] * slopes[: len(after)], out=after)
    return out


def limit_toes(motion: Motion, source: Motion, limbs: Limbs, lifted: Floats, pull: float) -> Motion:
    """Reduce the bend of the toes of feet that are lifted far, in frames in which their tips have moved too far.

    lifted : (F, E) meters by which hands and feet are lifted above the floor.
    """
    rotations = None
    for e in np.flatnonzero(limbs.table[:, layout.TIP] >= 0):
        toe, tip = (int(limbs.table[e, column]) for column in (layout.TOE, layout.TIP))
        given = source.world().positions[:, tip]
        limits = (_MAX_MOVE + 5.0 * ease(lifted[:, e] / (0.5 * pull))) * pull
        frames = np.flatnonzero(np.linalg.norm(motion.world().positions[:, tip] - given, axis=1) > limits)
        if not len(frames):
            continue
        world = motion.world()
        base, local = world.rotations[frames, motion.skeleton.parents[toe]], motion.rotations[frames, toe]
        bones = motion.skeleton.offsets[None] if motion.bone_offsets is None else motion.bone_offsets[frames]
        below = [j for j in motion.skeleton.chain(tip) if toe in motion.skeleton.chain(j) and j != toe]
        low, high = np.zeros(len(frames)), np.ones(len(frames))
        for _ in range(_N_HALVINGS):
            less = 0.5 * (low + high)
            turned = quat.slerp(local, source.rotations[frames, toe], less)
            at, rotation = world.positions[frames, toe], quat.mul(base, turned)
            for joint in below:
                at = at + quat.rotate(rotation, bones[:, joint])
                rotation = quat.mul(rotation, motion.rotations[frames, joint])
            is_near = np.linalg.norm(at - given[frames], axis=1) <= limits[frames]
            low, high = np.where(is_near, low, less), np.where(is_near, less, high)
        rotations = motion.rotations.copy() if rotations is None else rotations
        rotations[frames, toe] = quat.slerp(local, source.rotations[frames, toe], high)
    return motion if rotations is None else replace(motion, rotations=set_readonly(rotations))
