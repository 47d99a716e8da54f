"""The joints of a skeleton as a tree, and body parts that follow from the limbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from marey.core.role_profiles import EXTRA, PLAIN

Floats = NDArray[np.float64]


class JointTree:
    """Joints with their parents and positions.

    Parameters
    ----------
    parents : J indices, parents before children, -1 for joint 0.
    points : (J, 3) positions, in any unit and orientation.
    """

    __slots__ = ("children", "lengths", "parents", "points", "reach")

    def __init__(self, parents: Sequence[int], points: Floats) -> None:
        self.parents = list(parents)
        self.points = points
        self.children: list[list[int]] = [[] for _ in self.parents]
        for joint in range(1, len(self.parents)):
            self.children[self.parents[joint]].append(joint)
        bones = points - points[np.maximum(self.parents, 0)]
        self.lengths: list[float] = np.sqrt((bones * bones).sum(axis=1)).tolist()
        self.reach = [0.0] * len(self.parents)  # longest path down from each joint
        for joint in range(len(self.parents) - 1, 0, -1):
            parent = self.parents[joint]
            self.reach[parent] = max(self.reach[parent], self.extent(joint))

    def extent(self, joint: int) -> float:
        """Return the length of a branch: the joint's own bone plus the longest path below it."""
        return self.lengths[joint] + self.reach[joint]

    def is_below(self, joint: int, ancestor: int) -> bool:
        """Return whether `joint` is `ancestor` itself or a descendant of it."""
        while joint > ancestor:
            joint = self.parents[joint]
        return joint == ancestor

    def common(self, *joints: int) -> int:
        """Return the lowest common ancestor of `joints`."""
        best = joints[0]
        for joint in joints[1:]:
            while best != joint:
                if best > joint:
                    best = self.parents[best]
                else:
                    joint = self.parents[joint]
        return best

    def path(self, top: int, bottom: int) -> list[int]:
        """Return the joints from `top` down to `bottom`, both included; empty if `bottom` is not below `top`."""
        joints = [bottom]
        while joints[-1] > top:
            joints.append(self.parents[joints[-1]])
        return joints[::-1] if joints[-1] == top else []

    def descend(self, joint: int) -> int:
        """Return the leaf at the end of the longest path down."""
        while self.children[joint]:
            joint = max(self.children[joint], key=self.extent)
        return joint


def find_hips(tree: JointTree, legs: Sequence[int], above: int) -> int:
    """Return the joint where the legs and the path to `above` branch; if it is far from the legs, the joint where the
    legs branch."""
    crotch = tree.common(*legs)
    fork = tree.common(crotch, above)
    # A root on the floor may have legs and spine as separate children: it is not the hips.
    far = float(np.linalg.norm(tree.points[fork] - tree.points[crotch]))
    return crotch if far > 0.25 * tree.reach[crotch] else fork


def find_toes(
    tree: JointTree, foot: int, ball: int | None, ends: Sequence[bool], ranks: Sequence[int]
) -> dict[str, int]:
    """Find the ball of the foot (unless given) and the tip of the toes, which is the last joint below the ball.

    A foot with only an End Site has a tip but no ball.

    ends, ranks : as in `marey.core.role_profiles.NameParts`.
    """
    found: dict[str, int] = {}
    if ball is None:
        branches = [joint for joint in tree.children[foot] if ranks[joint] < EXTRA]
        if not branches:
            return found
        ball = max(branches, key=tree.extent)
        if ends[ball]:
            return {"toe_tip": ball}
        found["ball"] = ball
    if tree.children[ball]:
        found["toe_tip"] = tree.descend(ball)
    return found


def find_fingertips(
    tree: JointTree, forearm: int | None, hand: int, ends: Sequence[bool], ranks: Sequence[int]
) -> int | None:
    """Return the end of the middle finger, else of the index finger, else of the hand's longest branch.

    ends, ranks : as in `marey.core.role_profiles.NameParts`.
    """
    best: tuple[int, float] | None = None
    tip = None
    for branch in tree.children[hand]:
        if ranks[branch] == EXTRA:
            continue
        rank = min(ranks[joint] for joint in _iterate_subtree(tree, branch))
        key = (rank, -tree.extent(branch))
        is_finger = rank < PLAIN or ends[branch] or forearm is None or not _outgrows(tree, branch, forearm, hand)
        if is_finger and (best is None or key < best):
            best, tip = key, tree.descend(branch)
    return tip


def _outgrows(tree: JointTree, branch: int, forearm: int, hand: int) -> bool:
    """Return whether a branch of the hand is too long to be a finger; it may be a prop."""
    return tree.extent(branch) > 1.2 * float(np.linalg.norm(tree.points[hand] - tree.points[forearm]))


def _iterate_subtree(tree: JointTree, joint: int) -> Iterator[int]:
    stack = [joint]
    while stack:
        joint = stack.pop()
        yield joint
        stack.extend(tree.children[joint])
