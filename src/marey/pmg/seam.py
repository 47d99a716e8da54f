"""Find and blend the transition from one clip to the next while a stream plays, on the clips' actual frames."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from marey.compare.clouds import frame_weights, point_clouds
from marey.compare.distance import frame_distances
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.kinematics import rotate_root
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in
from marey.pmg.costs import REACH, sole_points
from marey.pmg.node import Node
from marey.pmg.stance import make_soles

__all__ = [
    "PlacedFrames",
    "Seam",
    "blend_frames",
    "find_seam",
    "insert_frames",
    "match_plants",
    "measure_change",
    "place_clip",
]

# Sizes of the measured changes as fractions of the parameter's range, and their moments as fractions of the clip.
_CHANGES, _CHANGED = (0.15, 0.3), (0.4, 0.5, 0.6)


class Seam(NamedTuple):
    """A transition between two clips.

    leave, enter : middle frame of the transition in the first and in the second clip.
    move : (3,) rigid transform (theta, x, z) on the floor that places the second clip relative to the first.
    cost : square root of the window distance D, in meters.
    """

    leave: int
    enter: int
    move: Floats
    cost: float


class PlacedFrames(NamedTuple):
    """Frames in world coordinates; n frames, J joints, K contact points.

    roots : (n, 3) positions of joint 0, in meters.
    rotations : (n, J, 4) local rotation quaternions.
    bones : (n, J, 3) bone offsets in meters, or None if they are constant.
    contacts : (n, K) contact flags, 0 or 1, or None.
    """

    roots: Floats
    rotations: Floats
    bones: Floats | None
    contacts: Floats | None


def find_seam(a: Motion, b: Motion, leave: float, enter: float, half: int, earliest: int, markers: str) -> Seam:
    """Find the best transition from clip `a` to clip `b` near given positions.

    Parameters
    ----------
    leave, enter : position of the transition's middle in `a` and in `b`, from 0 to 1.
    half : number of frames of the transition on each side of its middle.
    earliest : first frame of `a` that may be blended.
    markers : set of points to compare poses by; see `marey.compare.point_clouds`.
    """
    if len(b) <= 2 * half:
        raise InvalidValue(
            f"transitions of {2.0 * half / b.fps:.3g} s do not fit into a motion of {b.duration:.3g} s",
            parameter="length",
            remedy="use shorter transitions",
        )
    low, high = earliest + half, len(a) - 1 - half
    middle = int(np.clip(round(leave * (len(a) - 1)), low, max(low, high)))
    leaves = np.arange(max(low, middle - REACH), max(min(high, middle + REACH), max(low, middle - REACH)) + 1)
    leaves = np.minimum(leaves, len(a) - 1)
    middle = int(np.clip(round(enter * (len(b) - 1)), half, len(b) - 1 - half))
    enters = np.arange(max(half, middle - REACH), min(len(b) - 1 - half, middle + REACH) + 1)
    first, stop = max(0, int(leaves[0]) - half), int(enters[-1]) + half + 1
    clouds = point_clouds(a[first:], markers), point_clouds(b[:stop], markers)
    at = [grid.ravel() for grid in np.meshgrid(leaves, enters, indexing="ij")]
    weights = frame_weights(2.0 * half / a.fps, a.fps)
    moves, left = frame_distances(clouds[0], at[0] - float(first), clouds[1], at[1] * 1.0, weights)
    best = int(np.argmin(left))
    i, j = int(at[0][best]), int(at[1][best])
    after = min(half, len(a) - 1 - i)  # fewer than `half` frames if the first clip is left late
    windows = a[i - half : i + after + 1], b[j - half : j + after + 1]
    shift = _plant_shift(*windows, moves[best], weights[: half + after + 1])
    # Near the optimum, D grows with the square of the shift.
    cost = float(np.sqrt(left[best] + shift @ shift))
    return Seam(i, j, moves[best] + np.array([0.0, *shift]), cost)


@lru_cache(maxsize=64)
def measure_change(node: Node, half: int, markers: str) -> Floats:
    """Return the cost (d,) of changing each parameter within a clip, in meters per unit of the parameter.

    The cost of a transition is about proportional to the change. This is the mean over clips and times of the node,
    for small or for large changes, whichever is lower: streams reduce changes that turn out to be too bad.

    half, markers : see `find_seam`.
    """
    now, out = node.motion(node.middle), np.empty(node.n_dims)
    for k in range(node.n_dims):
        step = np.eye(node.n_dims)[k] * node.scale
        means = []
        for size in _CHANGES:
            costs = []
            for tried in (node.project(node.middle - size * step), node.project(node.middle + size * step)):
                clip, change = node.motion(tried), max(abs(tried[k] - node.middle[k]), 1e-6)
                costs += [find_seam(now, clip, each, each, half, 0, markers).cost / change for each in _CHANGED]
            means.append(np.mean(costs))
        out[k] = max(min(means), 1e-6)
    return set_readonly(out)


def _plant_shift(a: Motion, b: Motion, move: Floats, weights: Floats) -> Floats:
    """Return the additional shift (2,), x and z, of `b` after `move` that makes feet planted in both clips coincide.

    weights : (n,) weights of the frames.

    If a foot is planted at the same position in both clips, it stays still in the blend; otherwise it slides from one
    position to the other.
    """
    if a.contacts is None or b.contacts is None or a.contacts.names != b.contacts.names:
        return np.zeros(2)
    soles = sole_points(a.world(), a.contacts), sole_points(b.world(), b.contacts)
    return match_plants(soles, a.contacts.mask & b.contacts.mask, move, weights)


def match_plants(soles: tuple[Floats, Floats], planted: Bools, move: Floats, weights: Floats) -> Floats:
    """Return the shift (2,), x and z, of the second clip after `move` that makes planted points coincide.

    soles : positions (n, K, 3) of the contact points in both clips. planted : (n, K) whether they are planted in both.
    weights : (n,) weights of the frames.
    """
    both = planted * weights[:, None]
    total = float(both.sum())
    if total == 0.0:
        return np.zeros(2)
    apart = soles[0] - rigid2d.apply(move, soles[1])
    return np.asarray((both[..., None] * apart[..., [0, 2]]).sum(axis=(0, 1)) / total)


def place_clip(motion: Motion, start: int, stop: int, place: Floats) -> PlacedFrames:
    """Return frames `start` to `stop` (exclusive) of a clip, moved on the floor by `place` (theta, x, z)."""
    roots = rigid2d.apply(place, motion.root_positions[start:stop])
    rotations = rotate_root(motion.rotations[start:stop], place)
    bones = None if motion.bone_offsets is None else motion.bone_offsets[start:stop]
    contacts = None if motion.contacts is None else motion.contacts.mask[start:stop].astype(np.float64)
    return PlacedFrames(roots, rotations, bones, contacts)


def insert_frames(motion: Motion, start: int, frames: PlacedFrames, place: Floats) -> Motion:
    """Replace the frames of a clip from `start` on by frames of the world; `place` (theta, x, z) is that of the clip.

    A transition that begins within these frames then continues from what was played.
    """
    n, back = len(frames.roots), rigid2d.invert(place)
    rows = slice(start, start + n)
    roots, rotations = motion.root_positions.copy(), motion.rotations.copy()
    roots[rows], rotations[rows] = rigid2d.apply(back, frames.roots), rotate_root(frames.rotations, back)
    changed: dict[str, Any] = {"root_positions": roots, "rotations": rotations}
    if frames.bones is not None:
        bones = motion.skeleton.offsets if motion.bone_offsets is None else motion.bone_offsets
        changed["bone_offsets"] = np.array(np.broadcast_to(bones, (len(motion), *bones.shape[-2:])))
        changed["bone_offsets"][rows] = frames.bones
    if motion.contacts is not None and frames.contacts is not None:
        mask = motion.contacts.mask.copy()
        mask[rows] = frames.contacts > 0.5
        changed["contacts"] = replace(motion.contacts, mask=mask)
    return replace(motion, **changed)


def blend_frames(a: Motion, b: Motion, seam: Seam, half: int, place: Floats) -> tuple[PlacedFrames, Floats]:
    """Return the 2 half + 1 frames of a transition from `a` to `b`, and the placement (theta, x, z) of `b` after it.

    Positions are interpolated linearly and rotations by slerp, both with an ease curve that preserves the clips'
    velocities at its ends. The character is then moved to make planted feet move as they do in the clips. Contacts come
    from `a` up to the middle frame and from `b` after it.

    place : (3,) placement (theta, x, z) of `a`.
    """
    onward = rigid2d.compose(place, seam.move)
    n = 2 * half + 1
    # One extra frame at either end includes the movement into and out of the transition.
    out = place_clip(a, *_frame_range(a, seam.leave, half), place)
    into = place_clip(b, *_frame_range(b, seam.enter, half), onward)
    out, into = _pad_frames(out, a, seam.leave, half), _pad_frames(into, b, seam.enter, half)
    alpha = ease_in(np.arange(n + 2) / (n + 1))
    roots = out.roots + alpha[:, None] * (into.roots - out.roots)
    rotations = quat.slerp(out.rotations, into.rotations, alpha[:, None])
    bones = None
    if out.bones is not None or into.bones is not None:
        first = a.skeleton.offsets if out.bones is None else out.bones
        second = b.skeleton.offsets if into.bones is None else into.bones
        bones = np.asarray(first + alpha[:, None, None] * (second - first))
    contacts = None
    if out.contacts is not None and into.contacts is not None:
        contacts = np.where(np.arange(n + 2)[:, None] <= half + 1, out.contacts, into.contacts)
        laid, raised = _correct_feet(a, b, (out, into), PlacedFrames(roots, rotations, bones, contacts), alpha)
        roots = rigid2d.apply(laid, roots)
        roots[:, 1] += raised
        rotations = rotate_root(rotations, laid)
        onward = rigid2d.compose(laid[-1], onward)
    inner = slice(1, n + 1)
    return PlacedFrames(
        roots[inner],
        rotations[inner],
        None if bones is None else bones[inner],
        None if contacts is None else contacts[inner],
    ), onward


def _frame_range(motion: Motion, middle: int, half: int) -> tuple[int, int]:
    """Return the first frame and the stop of a transition, with one extra frame at either end if available."""
    return max(middle - half - 1, 0), min(middle + half + 2, len(motion))


def _pad_frames(frames: PlacedFrames, motion: Motion, middle: int, half: int) -> PlacedFrames:
    """Repeat the first or last frame where the motion begins or ends within the transition and its extra frames."""
    before, after = max(0, half + 1 - middle), max(0, middle + half + 2 - len(motion))
    if not before and not after:
        return frames

    def longer(rows: Floats | None) -> Floats | None:
        return None if rows is None else np.concatenate([rows[:1]] * before + [rows] + [rows[-1:]] * after)

    return PlacedFrames(*(longer(rows) for rows in frames))  # type: ignore[arg-type]


def _correct_feet(
    a: Motion, b: Motion, both: tuple[PlacedFrames, PlacedFrames], blend: PlacedFrames, alpha: Floats
) -> tuple[Floats, Floats]:
    """Compute how to move the frames of a blend to give planted feet the height, movement and rotation of the clips.

    Return floor transforms (theta, x, z), (n + 2, 3), and vertical shifts (n + 2,) in meters. The legs in `blend` are
    rotated in place to make the feet follow the mean of the clips.

    both : frames of the two clips. alpha : (n + 2,) blend weight of the second clip.
    """
    if a.contacts is None or b.contacts is None or a.contacts.names != b.contacts.names:
        return np.zeros((len(alpha), 3)), np.zeros(len(alpha))
    soles = make_soles(a.skeleton, a.contacts.points)
    first, second = (soles.points(frames.rotations, frames.bones) + frames.roots[:, None] for frames in both)
    mean = first + alpha[:, None, None] * (second - first)
    from_root = mean - blend.roots[:, None]
    soles.step_legs(blend.rotations, soles.points(blend.rotations, blend.bones), from_root, blend.bones)
    blended = soles.points(blend.rotations, blend.bones) + blend.roots[:, None]
    steps = [np.diff(points[..., ::2], axis=0) for points in (first, second)]
    wanted = steps[0] + 0.5 * (alpha[1:] + alpha[:-1])[:, None, None] * (steps[1] - steps[0])
    flags = [np.zeros(0) if frames.contacts is None else frames.contacts for frames in both]
    levels = flags[0] + alpha[:, None] * (flags[1] - flags[0])
    return soles.carry(blended, wanted, levels), soles.lifts(blended, mean[..., 1])
