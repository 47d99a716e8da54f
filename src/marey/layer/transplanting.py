"""Transplanting: put some joints of one motion on another, with weights falling off along the chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Bools, Floats, check_list, check_number, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.roles import ROLE_NAMES
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue, JointNotFound, similar
from marey.layer.halves import check_bodies
from marey.layer.settings import TransplantSettings
from marey.maths import quat
from marey.maths.ease import ease_in

# For each limb, lists of roles; the first role of each list that the skeleton has is the limb's topmost joint.
LIMBS: dict[str, tuple[tuple[str, ...], ...]] = {
    "left_arm": (("left_shoulder", "left_upper_arm"),),
    "right_arm": (("right_shoulder", "right_upper_arm"),),
    "arms": (("left_shoulder", "left_upper_arm"), ("right_shoulder", "right_upper_arm")),
    "left_leg": (("left_upper_leg",),),
    "right_leg": (("right_upper_leg",),),
    "legs": (("left_upper_leg",), ("right_upper_leg",)),
    "head": (("neck", "head"),),
    "upper_body": (("spine",),),
}
"""Limb names that `transplant` accepts, with the roles of their topmost joints."""

# Weight from which a joint counts as transplanted, for example for its contacts.
_MOSTLY = 0.5


@operation(TransplantSettings)
def transplant(base: Motion, donor: Motion, settings: TransplantSettings) -> Motion:
    """Put some joints of `donor` on `base`, such as a waving arm on a walk.

    The named joints move as in the donor, all others as in the base motion. For joints between the named ones and the
    hips, the donor's weight falls off along the chain. Path and hips always come from the base motion. Unlike `splice`,
    this does not align the motions in time, so neither motion needs steps.

    Parameters
    ----------
    base, donor : motions with the same skeleton. Frame rates may differ; the result has that of the base.

    Contacts of transplanted hands come from the donor. Transplanted feet have no contacts, because they skate; if
    that matters, put the base's upper body on the donor instead. The result has the labels of both motions. Provenance
    records the weights, the frames, and notes, for example if the end of the donor is cut off.

    Examples
    --------
    >>> punch = marey.samples.sample("punch").motion
    >>> both = marey.transplant(walk, punch, joints="right_arm", at=1.0)
    >>> len(both) == len(walk), both.labels.names
    (True, ('punch', 'walk'))
    """
    if settings.retarget is not False:
        base, donor = share_skeleton((base, donor), base if settings.retarget is True else settings.retarget)
    check_bodies(base, donor, "a transplant")
    weights = find_joint_weights(base.skeleton, settings.joints, settings.falloff)
    begin, fade = settings.at, settings.ease
    if begin > base.duration + 1e-9:
        raise InvalidValue(
            f"at must be from 0 to {base.duration:g} s, the duration of the base motion, not {begin:g} s",
            parameter="at",
        )
    frames, alpha = _find_weights(base, donor, begin, fade)
    taken = donor.at(np.clip((frames / base.fps) - begin, 0.0, donor.duration))
    amount = alpha[:, None] * weights
    rotations = base.rotations.copy()
    touched = weights > 0.0
    rotations[np.ix_(frames, touched)] = quat.slerp(
        base.rotations[np.ix_(frames, touched)], taken.rotations[:, touched], amount[:, touched]
    )
    result = replace(
        base,
        rotations=set_readonly(quat.unroll(rotations)),
        bone_offsets=_mix_offsets(base, donor, taken, frames, amount),
        contacts=_merge_contacts(base, donor, weights, frames, alpha, begin),
        labels=_merge_labels(base, donor, begin),
        source=replace(base.source, channel_values=None),
    )
    return add_provenance(
        result,
        "transplant",
        base=base.name,
        donor=donor.name,
        weights={base.skeleton.names[j]: float(weights[j]) for j in np.flatnonzero(touched)},
        frames=[int(frames[0]), int(frames[-1]) + 1],
        ease=fade,
        notes=_make_notes(base, donor, weights, begin),
    )


def find_joint_weights(
    skeleton: Skeleton, joints: str | Sequence[str] | Mapping[str, float], falloff: int | None = None
) -> Floats:
    """Return the donor's weight (J,) for each joint, from 0 to 1; the parameters are as in `transplant`."""
    weights = np.zeros(len(skeleton))
    fixed = set(skeleton.chain(skeleton.roles["hips"]))
    if isinstance(joints, Mapping):
        if falloff is not None:
            raise InvalidValue("falloff must be None if joints is a mapping of weights")
        for name, weight in joints.items():
            value = check_number(weight, f"the weight of {name!r}")
            if value > 1.0:
                raise InvalidValue(f"the weight of {name!r} must be from 0 to 1, not {value:g}")
            weights[_find_joints(skeleton, name, limbs=False)] = value
    else:
        names = [joints] if isinstance(joints, str) else check_list(joints, str, "joints")
        if not names:
            raise InvalidValue("joints must name at least one limb, role or joint, got none")
        for root in (joint for name in names for joint in _find_joints(skeleton, name)):
            _set_weights(skeleton, root, falloff, fixed, weights)
    held = [skeleton.names[j] for j in sorted(fixed) if weights[j] > 0.0]
    if held:
        raise InvalidValue(f"joints must be descendants of the hips, not {held[0]!r}, which would move the whole body")
    return set_readonly(weights)


def _set_weights(skeleton: Skeleton, root: int, falloff: int | None, fixed: set[int], weights: Floats) -> None:
    """Set, in place, the weights of the joint `root`, of its descendants, and of its ancestors up to the hips.

    falloff : number of ancestors with a weight between 0 and 1; None for all.
    fixed : joints that keep the base motion's rotations, so their weights stay 0.
    """
    below: Bools = np.zeros(len(skeleton), dtype=bool)
    below[root] = True
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] |= parent >= 0 and bool(below[parent])
    weights[below] = 1.0
    chain = [joint for joint in reversed(skeleton.chain(root)[:-1]) if joint not in fixed]
    n = len(chain) if falloff is None else min(falloff, len(chain))
    for k, joint in enumerate(chain[:n], start=1):
        weights[joint] = max(weights[joint], 1.0 - k / (n + 1.0))


def _find_joints(skeleton: Skeleton, name: Any, limbs: bool = True) -> list[int]:
    """Return the joints that a limb, role or joint name stands for.

    limbs : if True, "head" is the limb, which includes the neck; otherwise it is the role.
    """
    roles = skeleton.roles
    if name in skeleton.names:
        return [skeleton.index(name)]
    if name in LIMBS and (limbs or name not in ROLE_NAMES):
        return [roles[next((role for role in choices if role in roles), choices[-1])] for choices in LIMBS[name]]
    if name in ROLE_NAMES:
        return [roles[name]]
    near = similar(str(name), (*LIMBS, *ROLE_NAMES, *skeleton.names))
    raise JointNotFound(f"{name!r} is not a limb ({', '.join(LIMBS)}), role or joint of the skeleton{near}")


def _find_weights(base: Motion, donor: Motion, begin: float, fade: float) -> tuple[np.ndarray, Floats]:
    """Return the frames of the base motion that the donor covers, and the donor's weight in each, from 0 to 1.

    begin, fade : start of the donor, and duration of fading, in seconds.
    """
    times = np.arange(len(base)) / base.fps
    slack = 1e-9
    frames = np.flatnonzero((times >= begin - slack) & (times <= begin + donor.duration + slack))
    if not len(frames):
        raise InvalidValue(
            f"the donor covers no frame of the base: it plays from {begin:g} to {begin + donor.duration:g} s, and "
            f"the base lasts {base.duration:g} s at {base.fps:g} Hz; choose another `at=`"
        )
    alpha = np.ones(len(frames))
    if fade > 0.0:
        since, until = times[frames] - begin, begin + donor.duration - times[frames]
        if begin > slack:
            alpha *= ease_in(since / fade)
        if begin + donor.duration < base.duration - slack:
            alpha *= ease_in(until / fade)
    return frames, alpha


def _make_notes(base: Motion, donor: Motion, weights: Floats, begin: float) -> list[str]:
    """Return sentences about possibly unexpected properties of the result."""
    notes = []
    over = begin + donor.duration - base.duration
    if over > 0.5 / base.fps:
        notes.append(f"the donor's last {over:.2f} s are cut off because the base motion ends earlier")
    if any(weights[joint] >= _MOSTLY for joint in _find_leg_joints(base.skeleton)):
        notes.append(
            "the transplanted feet skate, because the hips above them move as in the base motion: put the upper_body "
            "of the base motion on the donor instead, or hold feet that are nearly still in place with `marey.clean`"
        )
    return notes


def _mix_offsets(base: Motion, donor: Motion, taken: Motion, frames: np.ndarray, amount: Floats) -> Floats | None:
    if base.bone_offsets is None and donor.bone_offsets is None:
        return None
    bones = np.broadcast_to(base.shared_offsets, (*base.rotations.shape[:2], 3)).copy()
    bones[frames] += amount[..., None] * (taken.shared_offsets - bones[frames])
    return set_readonly(bones)


def _merge_contacts(
    base: Motion, donor: Motion, weights: Floats, frames: np.ndarray, alpha: Floats, begin: float
) -> Contacts | None:
    """Merge contacts: those of the base, except on transplanted limbs; hands have the donor's there, feet have none.

    frames, alpha : frames of the base that the donor covers, and the donor's weight in each. begin : start of the
        donor, in seconds.
    """
    if base.contacts is None and donor.contacts is None:
        return None
    legs = _find_leg_joints(base.skeleton)
    mostly = np.zeros(len(base), dtype=bool)
    mostly[frames[alpha >= _MOSTLY]] = True
    points, columns = [], []
    for k, point in enumerate(() if base.contacts is None else base.contacts.points):
        column = base.contacts.mask[:, k].copy()  # type: ignore[union-attr]
        if weights[point.joint] >= _MOSTLY:
            column &= ~mostly
        points.append(point)
        columns.append(column)
    names = [point.name for point in points]
    nearest = np.clip(np.rint((frames / base.fps - begin) * donor.fps), 0, len(donor) - 1).astype(np.int64)
    for k, point in enumerate(() if donor.contacts is None else donor.contacts.points):
        if weights[point.joint] < _MOSTLY or point.joint in legs:
            continue
        if point.name not in names:
            names.append(point.name)
            points.append(point)
            columns.append(np.zeros(len(base), dtype=bool))
        held = donor.contacts.mask[nearest, k] & (alpha >= _MOSTLY)  # type: ignore[union-attr]
        columns[names.index(point.name)][frames] |= held
    mask = np.stack(columns, axis=1) if columns else np.zeros((len(base), 0), dtype=bool)
    return Contacts(tuple(points), set_readonly(mask))


def _find_leg_joints(skeleton: Skeleton) -> set[int]:
    """Return all joints of both legs."""
    roots = {skeleton.roles.get("left_upper_leg"), skeleton.roles.get("right_upper_leg")}
    return {joint for joint in range(len(skeleton)) if roots & set(skeleton.chain(joint))}


def _merge_labels(base: Motion, donor: Motion, begin: float) -> Labels:
    """Merge labels: those of the base, and those of the donor, which begins at `begin` seconds, that overlap the base
    and are not duplicates."""
    items: list[Label] = list(base.labels)
    for label in donor.labels:
        ends: Iterable[float] = ((begin + frame / donor.fps) * base.fps for frame in (label.start, label.stop))
        start, stop = (int(np.clip(round(end), 0, len(base))) for end in ends)
        known = base.labels.mask(label.name, len(base))
        if stop > start and not known[start:stop].all():
            items.append(Label(label.name, start, stop))
    return Labels(tuple(items))
