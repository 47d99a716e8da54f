"""Limb IK for edits and cleanup: move hands and feet to targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.kinematics import World, forward_kinematics
from marey.core.limb import LimbSettings, find_hinge, solve_limb
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import ease, ease_in, quat

HANDS = ("left_hand", "right_hand")
FEET = ("left_foot", "right_foot")
# A target missed by more than _MISSED (meters) is out of reach; softened limbs are damped above this knee angle.
_MISSED = 1e-6
_DAMPED_FROM = np.deg2rad(150.0)
_ABOVE = {"hand": ("upper_arm", "forearm"), "foot": ("upper_leg", "lower_leg")}


class Limb(NamedTuple):
    """A limb: indices of hip or shoulder, knee or elbow, ankle or wrist; and the role of the last."""

    hip: int
    knee: int
    ankle: int
    role: str


def find_limb(skeleton: Skeleton, role: str) -> Limb:
    """Return the limb that ends in ``left_hand``, ``right_hand``, ``left_foot`` or ``right_foot``."""
    side, part = role.split("_")
    hip, knee = (skeleton.roles[f"{side}_{name}"] for name in _ABOVE[part])
    ankle = skeleton.roles[role]
    rest = skeleton.rest_positions
    for a, b in ((hip, knee), (knee, ankle)):
        if float(np.linalg.norm(rest[b] - rest[a])) < 1e-6:
            raise InvalidValue(
                f"{role} cannot be moved: the bone from {skeleton.names[a]!r} to {skeleton.names[b]!r} has zero length"
            )
    return Limb(hip, knee, ankle, role)


@dataclass(slots=True, eq=False)
class MotionDraft:
    """Writable copies of a motion's arrays during an edit; `apply_to` returns a motion with them.

    root : (F, 3) root positions. rotations : (F, J, 4) local rotations. offsets : (F, J, 3) bone offsets if they
        change, else None.
    """

    skeleton: Skeleton
    root: Floats
    rotations: Floats
    offsets: Floats | None

    @classmethod
    def of(cls, motion: Motion) -> MotionDraft:
        """Copy the motion's arrays."""
        bones = None if motion.bone_offsets is None else motion.bone_offsets.copy()
        return cls(motion.skeleton, motion.root_positions.copy(), motion.rotations.copy(), bones)

    def apply_to(self, motion: Motion) -> Motion:
        """Return a copy of `motion` with its arrays replaced by those of the draft."""
        return replace(
            motion,
            root_positions=set_readonly(self.root),
            rotations=set_readonly(self.rotations),
            bone_offsets=None if self.offsets is None else set_readonly(self.offsets),
        )

    def world(self, frames: Ints | None = None) -> World:
        """Compute the world poses of all frames, or of some."""
        at = slice(None) if frames is None else frames
        bones = None if self.offsets is None else self.offsets[at]
        return forward_kinematics(self.skeleton, self.root[at], self.rotations[at], bones)

    def reach(
        self,
        limb: Limb,
        frames: Ints,
        targets: Floats,
        orientations: Floats | None = None,
        *,
        hinge: Floats,
        certainty: Floats | None = None,
        max_stretch: float = 0.0,
        soften: float = 0.0,
        exact: Ints | None = None,
    ) -> Floats:
        """Move the limb's end to `targets` (n, 3) on `frames` (n,), in place; return the distances missed (n,), meters.

        Parameters
        ----------
        orientations : (n, 4) world rotations of the limb's end; None keeps its local rotation.
        hinge : (3,) hinge axis of the knee, from `find_limb_hinge`.
        certainty : (n,) from 0 to 1. A knee that bends backward in the source is bent forward to meet a target. Where
            certainty is below 1, that change is partly undone, to avoid a jump at the start of the edit.
        max_stretch : maximum scaling of the bones, as a fraction of their length, as in `LimbSettings`.
        soften : number of frames. A limb that gets out of reach would snap straight; within this many frames its knee
            is damped (Kovar 3.14) and stops short of the target instead.
        exact : frames at which a target within reach is still met exactly.
        """
        if not len(frames):
            return np.zeros(0)
        solved = self._solve(limb, frames, targets, orientations, hinge, max_stretch)
        rotations, scale = list(solved[:3]), solved[3]
        if soften > 0.0 and solved[4].max() > _MISSED:
            weight = _compute_softness(solved[4] > _MISSED, frames, soften, exact)
            damped = self._solve(limb, frames, targets, orientations, hinge, max_stretch, _DAMPED_FROM)
            rotations = [quat.slerp(a, b, weight) for a, b in zip(rotations, damped[:3], strict=True)]
            scale = scale + weight * (damped[3] - scale)
        if certainty is not None and (certainty < 1.0).any():
            same = self._solve(limb, frames, None, orientations, hinge, 0.0)
            joints = (limb.hip, limb.knee, limb.ankle)
            back = [quat.inv_mul(q, self.rotations[frames, j]) for q, j in zip(same[:3], joints, strict=True)]
            rotations = [quat.mul(q, quat.power(b, 1.0 - certainty)) for q, b in zip(rotations, back, strict=True)]
        for joint, rotated in zip((limb.hip, limb.knee, limb.ankle), rotations, strict=True):
            before = self.rotations[frames, joint]
            self.rotations[frames, joint] = np.where(quat.dot(before, rotated)[:, None] < 0.0, -rotated, rotated)
        if max_stretch > 0.0 and (scale != 1.0).any():
            self._stretch(limb, frames, scale)
        return np.asarray(np.linalg.norm(self.world(frames).positions[:, limb.ankle] - targets, axis=1))

    def _solve(
        self,
        limb: Limb,
        frames: Ints,
        targets: Floats | None,
        orientations: Floats | None,
        hinge: Floats,
        max_stretch: float,
        damping_from: float | None = None,
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return local rotations of hip, knee and ankle, scale and residue; without targets, the end stays in place."""
        world = self.world(frames)
        at, rotated = world.positions, world.rotations
        hip, knee, ankle = limb[:3]
        if targets is None:
            targets = at[:, ankle]
            orientations = None if orientations is None else rotated[:, ankle]
        parents = self.skeleton.parents
        over_hip = rotated[:, parents[hip]] if hip else np.broadcast_to(quat.identity(), (len(frames), 4))
        # Rigs may have twist joints in between; treat them as part of the knee's and the ankle's rotation.
        to_knee = quat.inv_mul(rotated[:, hip], rotated[:, parents[knee]])
        to_ankle = quat.inv_mul(rotated[:, knee], rotated[:, parents[ankle]])
        pose = solve_limb(
            at[:, hip],
            over_hip,
            self.rotations[frames, hip],
            quat.mul(to_knee, self.rotations[frames, knee]),
            quat.mul(to_ankle, self.rotations[frames, ankle]),
            quat.inv_rotate(rotated[:, hip], at[:, knee] - at[:, hip]),
            quat.inv_rotate(rotated[:, knee], at[:, ankle] - at[:, knee]),
            hinge,
            targets,
            orientations,
            settings=LimbSettings(damping_from=damping_from, max_stretch=max_stretch),
        )
        return (
            pose.hip,
            quat.inv_mul(to_knee, pose.knee),
            quat.inv_mul(to_ankle, pose.ankle),
            pose.scale,
            pose.residue,
        )

    def _stretch(self, limb: Limb, frames: Ints, scale: Floats) -> None:
        if self.offsets is None:
            self.offsets = np.broadcast_to(self.skeleton.offsets, (len(self.root), *self.skeleton.offsets.shape)).copy()
        chain = self.skeleton.chain(limb.ankle)
        for joint in chain[chain.index(limb.hip) + 1 :]:
            self.offsets[frames, joint] *= scale[:, None]


def _compute_softness(missed: Bools, frames: Ints, width: float, exact: Ints | None) -> Floats:
    """Return damping weights (n,): 1 within `width` frames of a frame with a missed target, fading to 0 over another
    `width` frames.

    Near the frames `exact` whose target is met, the weights also fade to 0.
    """
    out = frames[missed]
    after = np.clip(np.searchsorted(out, frames), 0, len(out) - 1)
    apart = np.minimum(np.abs(frames - out[after]), np.abs(frames - out[np.maximum(after - 1, 0)]))
    weight = ease(apart / width - 1.0)
    if exact is not None:
        for frame in exact[np.isin(exact, frames[~missed])]:
            weight = weight * ease_in(np.abs(frames - frame) / width)
    return np.asarray(weight)


def find_limb_hinge(motion: Motion, limb: Limb) -> Floats:
    """Return the limb's hinge axis (3,) in the hip's frame, estimated from the motion.

    If the limb never bends, the result is the anatomical axis.
    """
    world = motion.world()
    at, rotated = world.positions, world.rotations
    upper = quat.inv_rotate(rotated[:, limb.hip], at[:, limb.knee] - at[:, limb.hip])
    lower = quat.inv_rotate(rotated[:, limb.knee], at[:, limb.ankle] - at[:, limb.knee])
    bend = quat.inv_mul(rotated[:, limb.hip], rotated[:, limb.knee])
    # Knees fold backward and elbows forward.
    left = find_left_axis(motion.skeleton, at[:1])[0]
    forward = np.array([-left[2], 0.0, left[0]]) * (-1.0 if limb.role.endswith("foot") else 1.0)
    up = at[0, limb.hip] - at[0, limb.knee]
    axis = np.cross(up, forward)
    if float(np.linalg.norm(axis)) < 1e-3 * float(np.linalg.norm(up)):
        axis = left
    fallback = quat.inv_rotate(rotated[0, limb.hip], axis)
    return find_hinge(upper.mean(axis=0), lower.mean(axis=0), bend, fallback=fallback)


def find_foot_plants(motion: Motion, side: str) -> Bools | None:
    """Return a mask (F,): True where any point of a foot is in contact; None if the motion has no contacts."""
    contacts = motion.contacts
    foot = motion.skeleton.roles.get(f"{side}_foot")
    if contacts is None or foot is None:
        return None
    columns = [k for k, point in enumerate(contacts.points) if foot in motion.skeleton.chain(point.joint)]
    return np.asarray(contacts.mask[:, columns].any(axis=1)) if columns else None
