"""Characters whose feet move exactly as a test specifies: the shins stretch as needed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.core.motion import Motion
from marey.maths import ease_in, quat
from marey.samples import body_skeleton

FLAT = 0.0


@dataclass(frozen=True)
class Foot:
    """Interpolate the foot from keys (seconds, x, y, z, pitch) with easing: position of the ball, and radians toes
    down."""

    keys: Sequence[tuple[float, float, float, float, float]]

    def at(self, t):
        keys = np.array(self.keys)
        values = np.empty((len(t), 4))
        which = np.clip(np.searchsorted(keys[:, 0], t, side="right") - 1, 0, len(keys) - 2)
        span = keys[which + 1, 0] - keys[which, 0]
        fraction = ease_in(np.clip((t - keys[which, 0]) / span, 0.0, 1.0))[:, None]
        values = keys[which, 1:] * (1 - fraction) + keys[which + 1, 1:] * fraction
        return values[:, :3], values[:, 3]


def puppet(left: Foot, right: Foot, hips, seconds: float, fps: float = 60.0) -> Motion:
    """Return a motion with these feet; `hips` is (3,) or keys (seconds, x, y, z)."""
    skeleton = body_skeleton()
    t = np.arange(round(seconds * fps) + 1) / fps
    rotations = quat.identity((len(t), len(skeleton)))
    offsets = np.tile(skeleton.offsets, (len(t), 1, 1))
    root = _path(hips, t)
    for side, foot in (("left", left), ("right", right)):
        ankle, knee = skeleton.roles[f"{side}_foot"], skeleton.roles[f"{side}_lower_leg"]
        ball, pitch = foot.at(t)
        turn = quat.from_axis_angle([1.0, 0.0, 0.0], pitch)
        rotations[:, ankle] = turn
        rotations[:, skeleton.roles[f"{side}_ball"]] = quat.inv(turn)  # toes stay level
        above = root + skeleton.rest_positions[knee]
        offsets[:, ankle] = ball - quat.rotate(turn, skeleton.offsets[skeleton.roles[f"{side}_ball"]]) - above
    return Motion(skeleton, root, rotations, fps, name="puppet", bone_offsets=offsets)


def standing(x: float, z: float = 0.0, y: float = 0.0, seconds: float = 100.0) -> Foot:
    """Return a foot that never moves."""
    return Foot([(0.0, x, y, z, FLAT), (seconds, x, y, z, FLAT)])


def _path(hips, t):
    keys = np.atleast_2d(np.asarray(hips, dtype=float))
    if keys.shape == (1, 3):
        return np.tile(keys, (len(t), 1))
    return np.stack([np.interp(t, keys[:, 0], keys[:, c]) for c in (1, 2, 3)], axis=1)


def raised(motion: Motion, by: float) -> Motion:
    """Return the same motion, raised by some meters."""
    floor = motion.source.floor
    return replace(
        motion,
        root_positions=motion.root_positions + np.array([0.0, by, 0.0]),
        source=replace(motion.source, floor=None if floor is None else floor + by),
    )


def unmarked(motion: Motion) -> Motion:
    """Return the same motion without contacts and floor."""
    return replace(motion, contacts=None, source=replace(motion.source, floor=None))


def shaken(motion: Motion, size: float, seed: int = 0) -> Motion:
    """Add white noise of `size` meters along each axis to the whole body."""
    noise = np.random.default_rng(seed).normal(0.0, size, motion.root_positions.shape)
    return replace(motion, root_positions=motion.root_positions + noise)


def jittered(motion: Motion, size: float, seed: int = 0) -> Motion:
    """Add white noise of `size` meters along each axis to every joint separately; bones stretch."""
    world, parents = motion.world(), motion.skeleton.parents[1:]
    positions = world.positions + np.random.default_rng(seed).normal(0.0, size, world.positions.shape)
    offsets = np.zeros_like(positions)
    offsets[:, 1:] = quat.inv_rotate(world.rotations[:, parents], positions[:, 1:] - positions[:, parents])
    return replace(motion, root_positions=positions[:, 0].copy(), bone_offsets=offsets)


def wobbling(motion: Motion, size: float, seed: int = 0) -> Motion:
    """The same motion with white noise on the root and on hips, knees and ankles, so large that feet move by `size`."""
    rng, roles, lengths = np.random.default_rng(seed), motion.skeleton.roles, motion.skeleton.bone_lengths
    turns, shift = np.zeros((*motion.rotations.shape[:2], 3)), rng.normal(size=motion.root_positions.shape)
    for side in ("left", "right"):
        chain = [roles[f"{side}_{part}"] for part in ("upper_leg", "lower_leg", "foot", "ball")]
        for joint, end in itertools.pairwise(chain):
            turns[:, joint] = rng.normal(size=(len(motion), 3)) / lengths[end]

    def by(much: float) -> Motion:
        rotations = quat.normalize(quat.mul(motion.rotations, quat.exp(much * turns)))
        return replace(motion, rotations=rotations, root_positions=motion.root_positions + much * shift)

    balls = [roles["left_ball"], roles["right_ball"]]
    moved = by(size).world().positions[:, balls] - motion.world().positions[:, balls]
    return by(size * size / float(np.sqrt((moved**2).mean())))


def scaled(motion: Motion, by: float) -> Motion:
    """Return a character `by` times as large that moves as slowly as gravity requires."""
    skeleton = replace(motion.skeleton, offsets=motion.skeleton.offsets * by)
    contacts = motion.contacts
    if contacts is not None:
        points = tuple(replace(point, offset=point.offset * by) for point in contacts.points)
        contacts = replace(contacts, points=points)
    return replace(
        motion,
        skeleton=skeleton,
        root_positions=motion.root_positions * by,
        fps=motion.fps / np.sqrt(by),
        contacts=contacts,
        source=replace(motion.source, floor=None),
        bone_offsets=None if motion.bone_offsets is None else motion.bone_offsets * by,
    )
