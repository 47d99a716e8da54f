"""Find the parts of a human body from the joint tree and joint positions, without names.

The search looks for two pairs of mirrored limbs, each with two main bones of human proportions: legs and, farther from
the root, arms, with a head beyond them. Nothing here depends on the body's size, position or orientation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marey.core.joint_tree import JointTree, find_hips

__all__ = ["find_body_parts"]

Floats = NDArray[np.float64]

_MIN_RATIO = 0.6  # minimum length ratio of mirrored bones: performers are asymmetric, and finger lengths are estimates
_LONG = 0.15  # minimum size of a limb relative to the largest, and of a main bone relative to its limb
_WIDE = 8  # maximum number of branches compared per joint; faces and hair have hundreds
_DEEP = 24  # maximum number of joints along a limb
_PAIRS = 24  # maximum number of branch pairs examined
_TIPS = 3  # ends of a limb to examine: the longest may be a prop, the next is a finger
_WORST_FIT = 6.0  # maximum cost of a limb pair; typical people have 1, with twist joints 4


@dataclass(frozen=True, slots=True)
class _Twin:
    """Two joints that mirror each other, `a` and `b`, and the mirrored pairs below them (`children`)."""

    a: int
    b: int
    weight: float  # bone length mirrored here and below, mean of both sides
    children: tuple[_Twin, ...]


@dataclass(frozen=True, slots=True)
class _Shape:
    """Typical proportions of a limb, each as (mean, spread), relative to the length of its two main bones."""

    bones: tuple[float, float]  # log of the length ratio of upper to lower bone
    lead: tuple[float, float]  # from the limb's first joint to the start of the upper bone, such as the collar bone
    tail: tuple[float, float]  # hand or foot


_LEG = _Shape(bones=(0.0, 0.25), lead=(0.08, 0.12), tail=(0.2, 0.15))
_ARM = _Shape(bones=(0.1, 0.25), lead=(0.3, 0.2), tail=(0.25, 0.2))
_ARM_TO_LEG = (math.log(0.65), 0.25)


@dataclass(frozen=True, slots=True)
class _Limbs:
    """A mirrored pair of limbs: for each side, the joints from the trunk to the tip."""

    node: int  # the trunk joint that is the parent of both
    a: list[int]
    b: list[int]
    marks: tuple[int, int, int]  # positions in a and b: start of the upper bone, start and end of the lower one
    size: float  # length of the two bones
    cost: float

    def joints(self, mark: int) -> tuple[int, int]:
        return self.a[self.marks[mark]], self.b[self.marks[mark]]


@dataclass(frozen=True, slots=True)
class _Body:
    legs: _Limbs
    arms: _Limbs
    neck: int | None
    head: int


def find_body_parts(tree: JointTree, sides: Sequence[int], ends: Sequence[bool]) -> dict[str, int]:
    """Find the roles of the limbs, neck and head of a human body; empty if the skeleton is not human.

    Parameters
    ----------
    sides : J hints, +1 left, -1 right, 0 unknown, for example from names. Without hints the feet decide: they point
        forward from the shins. If neither helps, limbs are left out, because their side would be a guess.
    ends : J flags, True for joints known to be end sites.
    """
    body = _find_best_body(tree, ends)
    if body is None:
        return {}
    legs, arms = body.legs, body.arms
    roles = {"hips": find_hips(tree, (legs.a[0], legs.b[0]), arms.node), "head": body.head}
    if body.neck is not None:
        roles["neck"] = body.neck
    leg_side, arm_side = _find_sides(tree, legs, arms, sides)
    if leg_side:
        for side, joints in zip(("left", "right"), (legs.a, legs.b)[::leg_side], strict=True):
            for role, mark in zip(("upper_leg", "lower_leg", "foot"), legs.marks, strict=True):
                roles[f"{side}_{role}"] = joints[mark]
    if arm_side:
        for side, joints in zip(("left", "right"), (arms.a, arms.b)[::arm_side], strict=True):
            for role, mark in zip(("upper_arm", "forearm", "hand"), arms.marks, strict=True):
                roles[f"{side}_{role}"] = joints[mark]
            lead = joints[: arms.marks[0] + 1]
            if len(lead) > 1:
                # Of several joints before the arm, the collar bone is the one with the longest bone.
                roles[f"{side}_shoulder"] = tree.parents[max(lead[1:], key=tree.lengths.__getitem__)]
    return roles


# Which branches are limbs ---------------------------------------------------------------------------------


def _find_best_body(tree: JointTree, ends: Sequence[bool]) -> _Body | None:
    branches = _find_mirrored_branches(tree)
    legs = [fit for node, twin in branches if (fit := _fit_limbs(tree, node, twin, _LEG)) is not None]
    arms = [fit for node, twin in branches if (fit := _fit_limbs(tree, node, twin, _ARM)) is not None]
    best: _Body | None = None
    least = math.inf
    for leg in legs:
        for arm in arms:
            # The fits judge shape only; among well-shaped pairs (cloth, hair), the limbs are the long ones.
            cost = leg.cost + arm.cost + _measure_misfit(math.log(arm.size / leg.size), _ARM_TO_LEG)
            cost -= 2.0 * math.log(leg.size * arm.size)
            if cost < least and _can_join(tree, leg, arm):
                head = _find_head(tree, leg, arm, ends)
                if head is not None:
                    best, least = _Body(leg, arm, *head), cost
    return None if best is None or _walks_on_four(tree, best) else best


def _find_mirrored_branches(tree: JointTree) -> list[tuple[int, _Twin]]:
    """Return the longest pairs of branches that start at the same joint and mirror each other."""
    found = []
    for node, children in enumerate(tree.children):
        branches = _keep_longest([child for child in children if _has_bones(tree, child)], tree)
        for n, a in enumerate(branches):
            for b in branches[n + 1 :]:
                twin = _match(tree, a, b, _DEEP)
                if twin is not None:
                    found.append((node, twin))
    # Compare with each other, not with the entire tree: the path from a root on the floor to the hips has any length.
    least = _LONG * max((twin.weight for _, twin in found), default=0.0)
    long = [pair for pair in found if pair[1].weight > least]
    return sorted(long, key=lambda pair: -pair[1].weight)[:_PAIRS]


def _has_bones(tree: JointTree, joint: int) -> bool:
    """Return whether at least two consecutive bones start at `joint`, the minimum for a limb."""
    return any(tree.children[child] for child in tree.children[joint])


def _keep_longest(joints: list[int], tree: JointTree) -> list[int]:
    return joints if len(joints) <= _WIDE else sorted(joints, key=tree.extent)[-_WIDE:]


def _match(tree: JointTree, a: int, b: int, depth: int) -> _Twin | None:
    """Pair the branches of `a` with those of `b`; anything that only one side has, such as a prop, is dropped."""
    short, long = sorted((tree.lengths[a], tree.lengths[b]))
    if short < _MIN_RATIO * long - 1e-6 * tree.reach[0]:
        return None
    below_a, below_b = _keep_longest(tree.children[a], tree), _keep_longest(tree.children[b], tree)
    pairs = [(x, y) for x in below_a for y in below_b] if depth else []
    if len(pairs) > 1:
        pairs.sort(key=lambda pair: _measure_difference(tree, *pair))
    chosen: list[_Twin] = []
    taken: set[int] = set()
    for x, y in pairs:
        if x not in taken and y not in taken:
            twin = _match(tree, x, y, depth - 1)
            if twin is not None:
                taken |= {x, y}
                chosen.append(twin)
    return _Twin(a, b, (short + long) / 2 + sum(twin.weight for twin in chosen), tuple(chosen))


def _measure_difference(tree: JointTree, a: int, b: int) -> float:
    """Return how much two branches differ from mirror images of each other; 0 for perfect mirror images.

    First bones are compared and, with less weight because one side may hold a prop, the extents.
    """
    bone, size = max(tree.lengths[a], tree.lengths[b]), max(tree.extent(a), tree.extent(b))
    bones = abs(tree.lengths[a] - tree.lengths[b]) / bone if bone > 0.0 else 0.0
    return bones + min(abs(tree.extent(a) - tree.extent(b)) / size, 0.3) if size > 0.0 else bones


def _measure_misfit(value: float, typical: tuple[float, float]) -> float:
    mean, spread = typical
    return 0.5 * ((value - mean) / spread) ** 2


def _fit_limbs(tree: JointTree, node: int, twin: _Twin, shape: _Shape) -> _Limbs | None:
    """Find the two main bones of a mirrored pair: the three joints along it that fit the shape best."""
    best: _Limbs | None = None
    sides = [([pair.a for pair in chain], [pair.b for pair in chain]) for chain in _iterate_chains(twin)]
    longest = sorted(((_measure_arc(tree, a), a, b) for a, b in sides), key=lambda side: -side[0][-1])[:_TIPS]
    for along_a, a, b in longest:
        along_b = _measure_arc(tree, b)
        for marks in _bone_pairs(along_a, _LONG * along_a[-1]):
            cost = _shape_cost(along_a, along_b, marks, shape)
            if cost < (_WORST_FIT if best is None else best.cost - 1e-9):
                size = along_a[marks[2]] - along_a[marks[0]]
                apart = np.linalg.norm(tree.points[a[marks[0]]] - tree.points[b[marks[0]]])
                cost += 2.0 * (apart < 0.02 * size)  # two limbs rarely start at the same position
                if best is None or cost < best.cost - 1e-9:
                    best = _Limbs(node, a, b, marks, size, cost)
    return best


def _iterate_chains(twin: _Twin) -> Iterator[list[_Twin]]:
    """Yield all paths from a pair down to its leaves."""
    stack = [[twin]]
    while stack:
        chain = stack.pop()
        stack.extend([*chain, below] for below in chain[-1].children)
        if not chain[-1].children:
            yield chain


def _measure_arc(tree: JointTree, joints: list[int]) -> list[float]:
    """Return the path length from the first of `joints` to each."""
    along = [0.0]
    for joint in joints[1:]:
        along.append(along[-1] + tree.lengths[joint])
    return along


def _bone_pairs(along: list[float], least: float) -> Iterator[tuple[int, int, int]]:
    """Yield all choices of two consecutive bones of at least length `least` from a chain, as three positions in it."""
    n = len(along)
    for i in range(n - 2):
        for j in range(i + 1, n - 1):
            if along[j] - along[i] >= least > 0.0:
                for k in range(j + 1, n):
                    if along[k] - along[j] >= least:
                        yield i, j, k


def _shape_cost(along: list[float], other: list[float], marks: tuple[int, int, int], shape: _Shape) -> float:
    """Return how far two bones deviate from the limb's typical proportions and from the other side."""
    i, j, k = marks
    upper, lower = along[j] - along[i], along[k] - along[j]
    size = upper + lower
    cost = _measure_misfit(math.log(upper / lower), shape.bones)
    cost += _measure_misfit(along[i] / size, shape.lead) + _measure_misfit((along[-1] - along[k]) / size, shape.tail)
    other_upper, other_lower = other[j] - other[i], other[k] - other[j]
    if other_upper <= 0.0 or other_lower <= 0.0:
        return math.inf
    uneven = abs(math.log(upper / other_upper)) + abs(math.log(lower / other_lower))
    cost += _measure_misfit(uneven, (0.0, 0.15))
    # A bone that spans further joints (twist joints along it) is less likely than one that does not.
    inside = [along[m] - along[m - 1] > 1e-3 * size for m in range(i + 1, k + 1)]
    return cost + 2.0 * max(sum(inside) - 2, 0)


def _can_join(tree: JointTree, legs: _Limbs, arms: _Limbs) -> bool:
    """Return whether legs and arms can belong to one body rooted at its hips: neither is attached to the other."""
    if legs.node == arms.node or tree.is_below(legs.node, arms.node):
        return False
    return not any(tree.is_below(arms.node, joint) for joint in (legs.a[0], legs.b[0]))


def _walks_on_four(tree: JointTree, body: _Body) -> bool:
    """Return whether front limbs are about as long as hind limbs, and hind limbs do not extend the trunk's line."""
    legs, arms = body.legs, body.arms
    trunk = tree.points[arms.node] - tree.points[legs.node]
    down = tree.points[list(legs.joints(2))].mean(axis=0) - tree.points[legs.node]
    return arms.size > 0.75 * legs.size and _sign(trunk, down, 0.35) >= 0


def _find_head(tree: JointTree, legs: _Limbs, arms: _Limbs, ends: Sequence[bool]) -> tuple[int | None, int] | None:
    """Return the neck, if there is one, and the head, on the branch that continues the trunk beyond the arms; None
    without a head.

    ends : (J,) True for joints known to be end sites.
    """
    trunk = tree.points[list(arms.joints(0))].mean(axis=0) - tree.points[list(legs.joints(0))].mean(axis=0)
    height: list[float] = (tree.points @ trunk).tolist()
    top = list(height)
    for joint in range(len(top) - 1, 0, -1):
        top[tree.parents[joint]] = max(top[tree.parents[joint]], top[joint])
    waist = tree.common(legs.node, arms.node)
    limbs = {arms.a[0], arms.b[0], legs.a[0], legs.b[0]}
    for node in reversed(tree.path(waist, arms.node)[1:]):
        branches = [c for c in tree.children[node] if c not in limbs and not tree.is_below(arms.node, c)]
        if branches:
            chain = [max(branches, key=top.__getitem__)]
            if top[chain[0]] - height[node] > 0.05 * legs.size * float(np.linalg.norm(trunk)):
                while tree.children[chain[-1]]:
                    chain.append(max(tree.children[chain[-1]], key=top.__getitem__))
                head = _head_along(tree, chain, legs, ends)
                return (None if head == chain[0] else chain[0]), head
    return None


def _head_along(tree: JointTree, chain: list[int], legs: _Limbs, ends: Sequence[bool]) -> int:
    """Return the head among the joints from the first neck joint to the crown."""
    for joint in chain:
        if len(tree.children[joint]) > 2:
            return joint  # a face
    has_crown = ends[chain[-1]]
    if not any(ends):
        # It is unknown which leaves are end sites. A rig with end sites on its toes has one on its head too.
        feet = [tree.children[foot] for foot in legs.joints(2)]
        has_crown = len(chain) > 2 and all(any(tree.children[toe] for toe in toes) for toes in feet)
        # Neck bones are short; an end site lies at the crown, or at its parent's position if it was not measured.
        has_crown = has_crown and not 1e-3 < tree.lengths[chain[-1]] / legs.size < 0.08
    return chain[-2] if has_crown and len(chain) > 1 else chain[-1]


# Which side is which --------------------------------------------------------------------------------------


def _find_sides(tree: JointTree, legs: _Limbs, arms: _Limbs, sides: Sequence[int]) -> tuple[int, int]:
    """Return the sides of legs and arms: for each pair, +1 if side a is left, -1 if side b is left, 0 if unknown.

    sides : hints from names, as in `find_body_parts`.
    """
    across_legs, across_arms = _find_side_axis(tree, legs), _find_side_axis(tree, arms)
    leg_side = _vote(sides, legs) or _sign(_left_axis(tree, legs), across_legs, 0.35)
    arm_side = _vote(sides, arms) or _sign(leg_side * across_legs, across_arms, 0.2)
    return leg_side or _sign(arm_side * across_arms, across_legs, 0.2), arm_side


def _vote(sides: Sequence[int], limbs: _Limbs) -> int:
    votes = sum(sides[joint] for joint in limbs.a) - sum(sides[joint] for joint in limbs.b)
    return (votes > 0) - (votes < 0)


def _find_side_axis(tree: JointTree, limbs: _Limbs) -> Floats:
    """Return the vector from side b to side a, measured where the limbs start, or further down if they start at one
    point."""
    across: Floats = np.zeros(3)
    for mark in range(3):
        a, b = limbs.joints(mark)
        across = tree.points[a] - tree.points[b]
        if np.linalg.norm(across) > 0.02 * limbs.size:
            break
    return across


def _left_axis(tree: JointTree, legs: _Limbs) -> Floats:
    """Return an axis (3,) to the body's left, zero if the feet do not show it.

    The ankle is a hinge, so shin and foot span the plane in which a leg swings, in every pose. The cross product shin
    (upward) x foot points to the leg's left, and turned-out feet cancel in the sum of both legs.
    """
    axis: Floats = np.zeros(3)
    for knee, ankle in zip(legs.joints(1), legs.joints(2), strict=True):
        shin = tree.points[knee] - tree.points[ankle]
        foot = tree.points[tree.descend(ankle)] - tree.points[ankle]
        lengths = float(np.linalg.norm(shin) * np.linalg.norm(foot))
        if lengths > 0.0 and np.linalg.norm(foot) > 0.04 * legs.size:
            axis = axis + np.cross(shin, foot) / lengths
    return axis if np.linalg.norm(axis) > 0.2 else np.zeros(3)


def _sign(u: Floats, v: Floats, least: float) -> int:
    """Return the sign of the cosine between two vectors; 0 if its magnitude is at most `least` or a vector is zero."""
    lengths = float(np.linalg.norm(u) * np.linalg.norm(v))
    cosine = float(u @ v) / lengths if lengths > 0.0 else 0.0
    return (cosine > least) - (cosine < -least)
