"""The limbs that a cleanup moves (hip, knee, ankle or shoulder, elbow, wrist) and the contact points they carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.settings import EFFECTORS
from marey.core.arrays import Floats, Ints
from marey.core.contacts import ContactPoint
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

_PARTS = {"foot": ("upper_leg", "lower_leg"), "hand": ("upper_arm", "forearm")}
# Bones of a limb shorter than this, in meters, have zero length.
_NO_BONE = 1e-6
# Weight of the rest pose in the estimate of a hinge, in square meters: the other terms are products of two bones.
_REST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Limbs:
    """E limbs as tables for the kernels.

    names : names of the hands and feet.
    table : (E, N_LIMB) joints.
    offsets : (E, 2, 3) contact points in their joints' coordinate frames, meters.
    columns : (E, 2) columns of the points in the contacts, -1 for none.
    hinges : (E, 3) hinge axes from the rest pose, scaled by their weight.
    """

    names: tuple[str, ...]
    table: Ints
    offsets: Floats
    columns: Ints
    hinges: Floats


def find_limbs(skeleton: Skeleton, points: Sequence[ContactPoint], wanted: Collection[str] = ()) -> Limbs:
    """Find the limbs whose hand or foot has one of `points` or is listed in `wanted`.

    Points that are not on a hand or foot are ignored. Raise an error if a limb lacks a joint or has a bone of zero
    length, or if a hand or foot has more than two points.
    """
    ends = {name: skeleton.roles[name] for name in EFFECTORS if name in skeleton.roles}
    for name in wanted:
        skeleton.roles[name]  # raises an error that explains how to map it
    carried: dict[str, list[int]] = {name: [] for name in EFFECTORS}
    for column, point in enumerate(points):
        if point.joint >= len(skeleton):
            raise InvalidValue(
                f"contact point {point.name!r} is on joint {point.joint}, but the skeleton has only {len(skeleton)} "
                "joints"
            )
        owner = [name for name, joint in ends.items() if joint in skeleton.chain(point.joint)]
        if owner:
            carried[owner[0]].append(column)
    names = tuple(name for name in EFFECTORS if carried[name] or name in wanted)
    table = np.full((len(names), layout.N_LIMB), -1, dtype=np.int64)
    offsets, columns = np.zeros((len(names), 2, 3)), np.full((len(names), 2), -1, dtype=np.int64)
    hinges = np.zeros((len(names), 3))
    for e, name in enumerate(names):
        _fill_limb(skeleton, points, name, carried[name], table[e], offsets[e], columns[e])
        hinges[e] = _REST_WEIGHT * _find_rest_hinge(skeleton, table[e])
    return Limbs(names, table, offsets, columns, hinges)


def _fill_limb(
    skeleton: Skeleton,
    points: Sequence[ContactPoint],
    name: str,
    carried: Sequence[int],
    row: Ints,
    offsets: Floats,
    columns: Ints,
) -> None:
    side, part = name.split("_")
    upper, lower = _PARTS[part]
    base, mid, end = (skeleton.roles[f"{side}_{role}"] for role in (upper, lower, part))
    chain = skeleton.chain(end)
    if not (base in chain and mid in chain and chain.index(base) < chain.index(mid) < chain.index(end)):
        raise InvalidValue(
            f"{name}: expected {upper}, {lower} and {part} in one chain, but the chain from the root to "
            f"{skeleton.names[end]!r} is {' > '.join(skeleton.names[j] for j in chain)}; correct the role map"
        )
    for joint, above in ((mid, base), (end, mid)):
        between = chain[chain.index(above) + 1 : chain.index(joint) + 1]
        if sum(float(skeleton.bone_lengths[j]) for j in between) < _NO_BONE:
            raise InvalidValue(
                f"{name}: the bone that ends at {skeleton.names[joint]!r} has zero length, so the limb cannot be solved"
            )
    if len(carried) > 2:
        text = ", ".join(points[column].name for column in carried)
        raise InvalidValue(f"{name}: a hand or foot can have at most two contact points, got {text}; remove some")
    row[[layout.BASE, layout.MID, layout.END]] = base, mid, end
    row[layout.IS_FOOT] = part == "foot"
    row[layout.ON_TOE] = 0
    on_end = [column for column in carried if points[column].joint == end]
    others = [column for column in carried if column not in on_end]
    slots = (on_end + others)[:2] if on_end else ([-1, *others] if len(others) == 1 else others)
    for k, column in enumerate(slots):
        if column >= 0:
            row[layout.POINT1 + k] = points[column].joint
            offsets[k], columns[k] = points[column].offset, column
    below = skeleton.chain(int(row[layout.POINT2])) if row[layout.POINT2] >= 0 else ()
    if end in below and below[-1] != end:
        row[layout.SHIFTED] = below[below.index(end) + 1]
    toe, tip = skeleton.roles.get(f"{side}_ball"), skeleton.roles.get(f"{side}_toe_tip")
    if part == "foot" and toe is not None and tip is not None and toe != tip and toe in skeleton.chain(tip):
        row[layout.TOE], row[layout.TIP] = toe, tip
        row[layout.ON_TOE] = row[layout.POINT2] == toe and bool(np.any(offsets[1]))


def _find_rest_hinge(skeleton: Skeleton, row: Ints) -> Floats:
    """Return the axis (3,) about which a knee (backward) or an elbow (forward) bends in the rest pose."""
    rest = skeleton.rest_positions
    base, mid = rest[row[layout.BASE]], rest[row[layout.MID]]
    left = np.array([1.0, 0.0, 0.0])
    roles = skeleton.roles
    for part in ("upper_leg", "upper_arm"):
        if f"left_{part}" in roles and f"right_{part}" in roles:
            apart = rest[roles[f"left_{part}"]] - rest[roles[f"right_{part}"]]
            if np.linalg.norm(apart) > _NO_BONE:
                left = apart / np.linalg.norm(apart)
                break
    ahead = np.cross(left, [0.0, 1.0, 0.0])
    axis = np.cross(base - mid, -ahead if row[layout.IS_FOOT] else ahead)
    length = float(np.linalg.norm(axis))
    return axis / length if length > _NO_BONE else left
