"""Mirror a motion: swap left and right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, swap_sides
from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.kinematics import to_local
from marey.core.labels import Label, Labels
from marey.core.motion import Motion, check_motion
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.errors import JointNotFound
from marey.maths import quat

_MIRROR = np.array([-1.0, 1.0, 1.0])
# Reflecting the space in x = 0 keeps w and x of a quaternion and negates y and z.
_MIRROR_TURN = np.array([1.0, 1.0, -1.0, -1.0])
# A rest pose is symmetric if every mirrored bone is within this angle of its partner (cosine of 30 degrees).
_MIN_COSINE = 0.866


def mirror(motion: Motion) -> Motion:
    """Mirror the motion at the plane x = 0, with left and right joints swapped.

    Joints are paired by role, the rest by name and position in the hierarchy. Joints without a partner are reflected
    individually. Contacts and labels change sides with the body: ``left_heel`` becomes ``right_heel``, ``turn-left``
    becomes ``turn-right``. Mirroring twice restores the original.

    If the rest pose is symmetric, left and right joints have mirrored axes, and local rotations are reflected directly.
    If it is not, as in rigs whose bones all lie along one axis, the axes of left and right may differ by quarter turns;
    `find_axis_changes` finds these from bones and poses.

    The skeleton stays the same, so mirrored motions combine with others of it. On a body whose left and right bones are
    equal, the mirrored motion measures the same. Recorded skeletons often have legs that differ by centimeters: each
    side then does with its own bones what the other did, and feet may be higher or lower than before.

    Examples
    --------
    >>> mirrored = marey.edit.mirror(walk)
    >>> np.allclose(mirrored.travel[:, 0], -walk.travel[:, 0])
    True
    >>> walk.contacts.intervals("left_heel") == mirrored.contacts.intervals("right_heel")
    True
    """
    skeleton = check_motion(motion).skeleton
    partner = find_partners(skeleton)
    if not (partner != np.arange(len(partner))).any():
        raise JointNotFound(
            f"no joint of {motion.name!r} has a partner on the other side",
            parameter="roles",
            remedy="assign roles with `roles=` or skeleton.with_roles(...), as "
            '{"left_hand": "JointName", "right_hand": "JointName"}',
        )
    fix = find_axis_changes(
        motion, partner
    )  # joint p's new world rotation is the reflection of its partner's, times fix[p]
    above = fix[skeleton.parents]
    above[0] = quat.identity()
    rotations = _mirror_rotations(motion, partner, fix, above)
    contacts = motion.contacts
    result = replace(
        motion,
        root_positions=set_readonly(motion.root_positions * _MIRROR),
        rotations=set_readonly(rotations),
        bone_offsets=_mirror_offsets(motion, partner, above),
        contacts=None if contacts is None else _mirror_contacts(contacts, partner, fix),
        labels=Labels(tuple(Label(swap_sides(label.name), label.start, label.stop) for label in motion.labels)),
    )
    return add_provenance(result, "mirror")


def _mirror_rotations(motion: Motion, partner: Ints, fix: Floats, above: Floats) -> Floats:
    """Return the mirrored local rotations (F, J, 4)."""
    parents = motion.skeleton.parents
    if np.array_equal(partner[parents[1:]], parents[partner[1:]]):
        reflected = (motion.rotations * _MIRROR_TURN)[:, partner]
        return quat.mul(quat.inv_mul(above, reflected), fix)
    # The two sides have different hierarchies, so reflect world rotations.
    world = quat.mul((motion.world().rotations * _MIRROR_TURN)[:, partner], fix)
    return quat.unroll(to_local(world, parents))


def find_partners(skeleton: Skeleton) -> Ints:
    """Return the joint on the other side for each joint, (J,); its own index if there is none."""
    roles, n = skeleton.roles, len(skeleton)
    partner = np.full(n, -1)
    for role, joint in roles.items():
        other = swap_sides(role)
        if other != role and other in roles:
            partner[joint] = roles[other]
    # Pair ancestors too: a joint above only the left limb is the partner of the joint above only the right limb.
    parents = skeleton.parents
    for joint in range(n - 1, 0, -1):
        other = partner[joint]
        a, b = parents[joint], parents[other] if other >= 0 else -1
        if (
            other >= 0
            and a != b
            and a >= 0
            and b >= 0
            and partner[a] < 0
            and partner[b] < 0
            and not _is_above(parents, a, b)
        ):
            partner[a], partner[b] = b, a
    _pair_others(skeleton, partner)
    lonely = partner < 0
    partner[lonely] = np.flatnonzero(lonely)
    return set_readonly(partner)


def _is_above(parents: Ints, a: int, b: int) -> bool:
    """Return whether one of two joints is an ancestor of the other."""
    for low, high in ((a, b), (b, a)):
        joint = low
        while joint > high:
            joint = parents[joint]
        if joint == high:
            return True
    return False


def _pair_others(skeleton: Skeleton, partner: Ints) -> None:
    """Write to `partner`, in place, the partners of joints without roles (fingers, twist joints, end sites), by name or
    else by order."""
    children, names = skeleton.children, skeleton.names
    for joint in range(len(skeleton)):
        other = joint if partner[joint] < 0 else int(partner[joint])
        if other < joint:
            continue
        mine = [c for c in children[joint] if partner[c] < 0]
        candidates = [c for c in children[other] if partner[c] < 0]
        if other == joint:  # under a central parent, only names show which children correspond
            for c in mine:
                d = next((d for d in mine if d > c and _is_mirrored_name(names[c], names[d])), None)
                if d is not None and partner[c] < 0:
                    partner[c], partner[d] = d, c
            continue
        for c in mine:
            found = next((d for d in candidates if _is_mirrored_name(names[c], names[d])), None)
            if found is None and len(mine) == len(candidates):
                found = candidates[mine.index(c)]
            if found is not None and partner[found] < 0:
                partner[c], partner[found] = found, c


def _is_mirrored_name(one: str, other: str) -> bool:
    """Return whether two names differ only in their side: LeftThumb and RightThumb, hand.L and hand.R."""
    a, b = one.lower(), other.lower()
    if a != b and (a.replace("left", "right") == b or b.replace("left", "right") == a):
        return True
    apart = [{x, y} for x, y in zip(a, b, strict=False) if x != y]
    return len(a) == len(b) and apart == [{"l", "r"}]


def find_axis_changes(motion: Motion, partner: Ints) -> Floats:
    """Return the rotation (J, 4) from each joint's axes to the reflected axes of its partner.

    If the rest pose is symmetric, these are identities. Otherwise each is the quarter turn that takes a joint's bones
    to the reflected bones of its partner. If the bones allow several choices, for example if a joint has a single bone
    along one of its axes, the choice makes the mean local rotations of left and right mirror images of each other. For
    the hips, the axis across the body decides.
    """
    skeleton = motion.skeleton
    n = len(skeleton)
    fix = quat.identity(n)
    if _is_symmetric(skeleton, partner):
        return fix
    mean = quat.average(motion.rotations, axis=0)
    hips = skeleton.roles["hips"]
    above_hips = set(skeleton.chain(hips)[:-1])
    quarters = _list_quarter_turns()
    for joint in range(n):
        other = int(partner[joint])
        if joint in above_hips or other < joint:
            continue
        # A central joint has one axis reflected: reflecting x and then axis k is a half turn about the third.
        choices = quarters if other != joint else np.eye(4)[[0, 3, 2]]
        if joint == hips:
            score = _measure_across(motion, hips)
        else:
            above = fix[skeleton.parents[other]]
            score = np.abs(quat.mul(quat.inv_mul(above, mean[joint] * _MIRROR_TURN), choices) @ mean[other])
        fix[other] = choices[int(np.argmax(score - _measure_misfit(skeleton, partner, joint, choices)))]
        if other != joint:
            fix[joint] = quat.inv(fix[other]) * _MIRROR_TURN
    return fix


def _measure_across(motion: Motion, joint: int) -> Floats:
    """Return how well each of a joint's axes aligns with the body's left-right axis, (3,)."""
    world = motion.world()
    axes = quat.to_matrix(world.rotations[:, joint])
    left = find_left_axis(motion.skeleton, world.positions)
    return np.asarray(np.abs(np.einsum("fk,fkc->fc", left, axes)).mean(axis=0))


def _measure_misfit(skeleton: Skeleton, partner: Ints, joint: int, choices: Floats) -> Floats:
    """Return, for each choice (C,) of axes, how much the partner's bones differ from the joint's reflected bones; 20
    for choices that reverse a bone."""
    total = np.zeros(len(choices))
    for child in skeleton.children[joint]:
        wanted = skeleton.offsets[child] * _MIRROR
        given = quat.rotate(choices, skeleton.offsets[partner[child]])
        size = float(np.linalg.norm(wanted) * np.linalg.norm(skeleton.offsets[partner[child]]))
        if size > 1e-6:
            total += 10.0 * (1.0 - given @ wanted / size)
    return total


def _is_symmetric(skeleton: Skeleton, partner: Ints) -> bool:
    hips = set(skeleton.chain(skeleton.roles.get("hips", 0)))
    for joint, other in enumerate(partner.tolist()):
        a, b = skeleton.offsets[joint] * _MIRROR, skeleton.offsets[other]
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        if joint not in hips and joint <= other and size > 1e-6 and float(a @ b) < _MIN_COSINE * size:
            # A short stub on the center line, such as a spine joint slightly off it, has no meaningful direction.
            if joint == other and size < 1e-4:
                continue
            return False
    return True


def _list_quarter_turns() -> Floats:
    """Return the 24 rotations (24, 4) that map coordinate axes to coordinate axes."""
    half = np.sqrt(0.5)
    quarters = [np.array([half, *row]) for row in half * np.concatenate([np.eye(3), -np.eye(3)])]
    found = [quat.identity()]
    for one in found:
        for quarter in quarters:
            new = quat.mul(quarter, one)
            if all(abs(float(new @ old)) < 0.99 for old in found):
                found.append(new)
    # Round to exact zeros and halves: mirroring twice then restores every digit.
    exact = np.array([0.0, 0.5, half, 1.0])
    rotations = np.stack(found)
    return np.asarray(np.sign(rotations) * exact[np.abs(np.abs(rotations)[..., None] - exact).argmin(axis=-1)])


def _mirror_offsets(motion: Motion, partner: Ints, above: Floats) -> Floats | None:
    """Mirror varying offsets relative to the rest offsets; each side keeps its original bones."""
    if motion.bone_offsets is None:
        return None
    rest = motion.skeleton.offsets
    carried = list(motion.skeleton.chain(motion.skeleton.roles.get("hips", 0)))
    base = rest.copy()
    base[carried] = 0.0  # these offsets place the body in the world
    added = (motion.bone_offsets - base) * _MIRROR
    return set_readonly(base + quat.inv_rotate(above, added[:, partner]))


def _mirror_contacts(contacts: Contacts, partner: Ints, fix: Floats) -> Contacts:
    """Move each point's flags to the point on the other side, which is added if it is missing."""
    known = {point.name: point for point in contacts.points}
    points = []
    for point in contacts.points:
        name = swap_sides(point.name)
        joint = int(partner[point.joint])
        points.append(known.get(name) or ContactPoint(name, joint, quat.inv_rotate(fix[joint], point.offset * _MIRROR)))
    # Keep the motion's order if it has both points.
    order = [
        next((k for k, p in enumerate(points) if p.name == point.name), i) for i, point in enumerate(contacts.points)
    ]
    if sorted(order) != list(range(len(points))):
        order = list(range(len(points)))
    return Contacts(tuple(points[k] for k in order), set_readonly(contacts.mask[:, order]))
