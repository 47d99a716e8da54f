"""Retarget a motion to another skeleton."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from marey.clean import get_floor
from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.feet import feet_from_flag
from marey.core.kinematics import to_local
from marey.core.limb_draft import HANDS, MotionDraft, find_limb, find_limb_hinge
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.deprecation import renamed_parameters
from marey.edit.replant import replant_feet, set_contacts
from marey.edit.retarget_map import RetargetMap
from marey.edit.settings import RetargetSettings
from marey.errors import InvalidValue, warn_user
from marey.maths import ease, quat

# Hands are together within this fraction of an arm's length, and apart beyond twice that distance.
_TOGETHER = 0.5
# Meters by which a hand may miss its target without a warning.
_MISSED = 1e-3


@renamed_parameters(replant=("feet", feet_from_flag))
@operation(RetargetSettings)
def retarget(motion: Motion, target: Skeleton | Motion | RetargetMap, settings: RetargetSettings) -> Motion:
    """Retarget the motion to another skeleton with the same roles.

    Each joint gets the same world rotation as its counterpart, relative to a reference pose that is the same for both
    bodies. The bend of a spine or neck is spread over all of the target's joints there. The path of the hips is scaled
    by leg length, and heights are adjusted to keep the soles on the floor. Feet are then planted again, unless the
    target has the same bones as the source. Changes of bone length over time are dropped.

    In some files the rest pose is not usable, because all bones lie along one axis. The reference is then the frame in
    which the body stands straightest. A pose in which it stands upright, arms anywhere, is more exact:
    ``retarget(clip, skeleton, pose=40)``. For such a target, give a motion of it: ``retarget(walk, clip)``.

    Parameters
    ----------
    target : a skeleton, a motion of it, or a map from `RetargetMap.build` or `RetargetMap.load`, which includes the
        poses.

    Contacts are transferred to the points of the same name; a `MareyWarning` names those without a counterpart. The
    distance by which hands miss is recorded in the provenance as ``residue``, in meters.

    Examples
    --------
    >>> smaller = marey.Skeleton(walk.skeleton.names, walk.skeleton.parents, 0.8 * walk.skeleton.offsets)
    >>> child = marey.edit.retarget(walk, smaller)
    >>> round(float(child.travel[0, 1] / walk.travel[0, 1]), 1)
    0.8
    """
    check_motion(motion)
    if isinstance(target, RetargetMap):
        if settings.pose is not None or settings.target_pose is not None:
            raise InvalidValue("the map already includes its reference poses; leave out `pose=` and `target_pose=`")
        known = target
        if known.source_names != motion.skeleton.names:
            raise InvalidValue(
                f"the map was built for another skeleton ({len(known.source_names)} joints, root "
                f"{known.source_names[0]!r}) than that of {motion.name!r}; build a map for this one"
            )
    else:
        known = RetargetMap.build(motion, target, pose=settings.pose, target_pose=settings.target_pose)
    body = known.target
    same = body.fits(motion.skeleton) and bool(np.array_equal(body.offsets[1:], motion.skeleton.offsets[1:]))
    source = set_contacts(motion) if settings.feet and not same else motion
    result = _map_motion(source, known, same)
    residue: dict[str, float] = {}
    if settings.hands is not None:
        result, residue = _place_hands(source, result, known, settings.hands)
    for name, meters in residue.items():
        if meters > _MISSED:
            warn_user(f"{name} cannot reach its target and misses it by {meters:.3g} m")
    done = False
    if settings.feet and not same:
        result, done = replant_feet(result)
    if not isinstance(target, Motion):
        character = motion.source.character if same else ""
    else:
        character = target.source.character
    return add_provenance(
        replace(result, source=replace(result.source, character=character)),
        "retarget",
        target=list(body.names),
        scale=known.scale,
        hands=settings.hands,
        replanted=done,
        residue=residue,
    )


def _map_motion(motion: Motion, known: RetargetMap, same: bool) -> Motion:
    """Transfer rotations, path and annotations to the target."""
    body = known.target
    rotated = _map_rotations(motion.world().rotations, known)
    root, bones = motion.root_positions, motion.bone_offsets
    if not same:
        root, bones = _place_root(motion, known, rotated), None
    return replace(
        motion,
        skeleton=body,
        root_positions=set_readonly(root) if root.flags.owndata else root,
        rotations=set_readonly(quat.unroll(to_local(rotated, body.parents))),
        bone_offsets=bones,
        contacts=motion.contacts if same else _map_contacts(motion, known, rotated),
        source=motion.source if same else _strip_source(motion.source),
    )


def _map_rotations(source: Floats, known: RetargetMap) -> Floats:
    """Return world rotations (F, T, 4) of the target's T joints from those of the source's S joints (F, S, 4)."""
    body = known.target
    against = quat.mul_inv(source, known.source_turns)
    change: dict[int, Floats] = {}
    for from_chain, to_chain in known.chains:
        n, m = len(to_chain) - 1, len(from_chain) - 1
        for i in range(1, n + 1):
            # The i-th of n joints rotates as the source's chain does at the same fraction of its length.
            low, rest = divmod(i * m, n)
            if rest == 0:
                change.setdefault(to_chain[i], against[:, from_chain[low]])
            else:
                change.setdefault(
                    to_chain[i], quat.slerp(against[:, from_chain[low]], against[:, from_chain[low + 1]], rest / n)
                )
    rotated = np.empty((len(source), len(body), 4))
    for joint, parent in enumerate(body.parents.tolist()):
        if joint in change:
            rotated[:, joint] = quat.mul(change[joint], known.target_turns[joint])
        elif parent < 0:
            rotated[:, joint] = known.target_turns[joint]
        else:
            keep = quat.inv_mul(known.target_turns[parent], known.target_turns[joint])
            rotated[:, joint] = quat.mul(rotated[:, parent], keep)
    return rotated


def _place_root(motion: Motion, known: RetargetMap, rotated: Floats) -> Floats:
    """Return positions (F, 3) of the target's joint 0 that make its hips follow the scaled path."""
    body = known.target
    floor = get_floor(motion, 0.0)
    own = motion.world().positions[:, motion.skeleton.roles["hips"]]
    hips = own * known.scale
    height = own[:, 1] - floor - known.source_stand
    hips[:, 1] = known.scale * height + known.target_stand + floor
    chain = body.chain(body.roles["hips"])
    for parent, joint in itertools.pairwise(chain):
        hips -= quat.rotate(rotated[:, parent], body.offsets[joint])
    return hips


def _strip_source(source: Source) -> Source:
    """Return the source without data about the source skeleton's joints."""
    return replace(source, file_names=(), file_offsets=None, channels=None, channel_values=None)


def _map_contacts(motion: Motion, known: RetargetMap, rotated: Floats) -> Contacts | None:
    """Transfer the source's contact flags to the points of the same name, or to corresponding ones."""
    contacts = motion.contacts
    if contacts is None:
        return None
    from marey.clean import contact_points

    body = known.target
    posed = replace(
        motion,
        skeleton=body,
        rotations=to_local(rotated, body.parents),
        bone_offsets=None,
        contacts=None,
        source=_strip_source(motion.source),
    )
    hands = any(role in body.roles for role in HANDS)
    points = {point.name: point for point in contact_points(body, hands=hands, standing=posed)}
    partner = {from_chain[-1]: to_chain[-1] for from_chain, to_chain in known.chains}
    found, columns = [], []
    for k, point in enumerate(contacts.points):
        new = points.get(point.name)
        if new is None and point.joint in partner:
            joint = partner[point.joint]
            offset = quat.rotate(known.source_turns[point.joint], point.offset) * known.scale
            new = ContactPoint(point.name, joint, quat.inv_rotate(known.target_turns[joint], offset))
        if new is None:
            warn_user(f"contact point {point.name!r} was dropped, because the target has no counterpart")
            continue
        found.append(new)
        columns.append(k)
    return Contacts(tuple(found), set_readonly(contacts.mask[:, columns]))


def _place_hands(source: Motion, result: Motion, known: RetargetMap, how: str) -> tuple[Motion, dict[str, float]]:
    """Move the hands to the source's hand positions, or as close together as the source's hands; return the motion, and
    the distance in meters by which each hand misses."""
    source_world, result_world = source.world(), result.world()
    wrists = [source.skeleton.roles[role] for role in HANDS]
    limbs = [find_limb(result.skeleton, role) for role in HANDS]
    now = np.stack([result_world.positions[:, limb.ankle] for limb in limbs], axis=1)
    was = source_world.positions[:, wrists]
    if how == "targets":
        floor = np.array([0.0, get_floor(source, 0.0), 0.0])
        wanted = (was - floor) * known.scale + floor
        weight = np.ones(len(result))
    else:
        arm = _measure_arm(source.skeleton)
        apart = was[:, 1] - was[:, 0]
        weight = ease(np.linalg.norm(apart, axis=1) / (_TOGETHER * arm) - 1.0)
        middle, half = now.mean(axis=1), 0.5 * known.scale * apart
        wanted = np.stack([middle - half, middle + half], axis=1)
    goals = now + weight[:, None, None] * (wanted - now)
    draft = MotionDraft.of(result)
    frames = np.flatnonzero(weight > 0.0)
    residue: dict[str, float] = {}
    for k, limb in enumerate(limbs):
        missed = draft.reach(
            limb,
            frames,
            goals[frames, k],
            result_world.rotations[frames, limb.ankle],
            hinge=find_limb_hinge(result, limb),
            certainty=weight[frames],
        )
        residue[limb.role] = float(missed.max(initial=0.0))
    return draft.apply_to(result), residue


def _measure_arm(skeleton: Skeleton) -> float:
    lengths: Any = skeleton.bone_lengths
    limb = find_limb(skeleton, HANDS[0])
    chain = skeleton.chain(limb.ankle)
    return float(sum(lengths[j] for j in chain[chain.index(limb.hip) + 1 :]))
