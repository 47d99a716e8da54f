"""Find the parts of a skeleton that take part in a look: joints from the first spine joint to the head, and eyes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.placement import find_left_axis
from marey.core.skeleton import Skeleton
from marey.errors import JointNotFound

__all__ = ["GazeBody"]

_UP = np.array([0.0, 1.0, 0.0])
# Distance in meters of the eyes above and in front of the head joint if the head joint has no children.
_HEAD = 0.08


@dataclass(frozen=True, slots=True, eq=False)
class GazeBody:
    """The joints of a skeleton that a look rotates.

    chain : (m,) joints from the first spine joint, where a layer begins, to the head, parents first.
    fractions : (m, 4) cumulative fractions, from 0 to 1, of the rotations of pelvis, lower spine, upper spine and neck
        that the chain has applied up to and including each joint.
    landmarks : the first joints that have the full rotation of pelvis, lower spine, upper spine and neck.
    head : head joint, the last of the chain.
    ahead : (3,) forward direction in the rest pose, in the head's local axes.
    eyes : (3,) position of the eyes in the head's local axes, in meters.
    """

    chain: Ints
    fractions: Floats
    landmarks: tuple[int, ...]
    head: int
    ahead: Floats
    eyes: Floats

    @staticmethod
    def from_skeleton(skeleton: Skeleton) -> GazeBody:
        """Find these joints in a skeleton; a missing role raises `JointNotFound` with a remedy."""
        return _find_body(skeleton)


@lru_cache(maxsize=8)
def _find_body(skeleton: Skeleton) -> GazeBody:
    roles = skeleton.roles
    head, first = roles["head"], roles["spine"]
    above = skeleton.chain(head)
    if first not in above:
        raise JointNotFound(
            f"the head {skeleton.names[head]!r} must be a descendant of the first spine joint "
            f"{skeleton.names[first]!r} to be rotated by a look; correct the roles spine and head"
        )
    chain = above[above.index(first) :]
    spine = [joint for joint in chain if joint in roles.spine and joint != head] or [first]
    n_spine = chain.index(spine[-1]) + 1
    fractions = np.ones((len(chain), 4))
    for k in range(len(chain)):
        # Distribute the three trunk parts over the spine joints, and the neck over the joints above, up to the head.
        fractions[k, :3] = np.clip(3.0 * (k + 1) / n_spine - np.arange(3), 0.0, 1.0)
        fractions[k, 3] = max(0.0, (k + 1 - n_spine) / max(len(chain) - n_spine, 1))
    if n_spine == len(chain):  # the head itself is the only joint above the hips
        fractions[-1, 3] = 1.0
    landmarks = [chain[int(np.argmax(fractions[:, part] >= 1.0))] for part in range(4)]
    left = find_left_axis(skeleton, skeleton.rest_positions[None])[0]
    ahead = np.cross(left, _UP)
    tips = [skeleton.offsets[joint] for joint in skeleton.children[head]]
    tip = max(tips, key=lambda offset: float(np.linalg.norm(offset)), default=_HEAD * 2.0 * _UP)
    eyes = 0.5 * tip + 0.5 * float(np.linalg.norm(tip)) * ahead
    arrays = [
        set_readonly(np.ascontiguousarray(part)) for part in (np.array(chain, dtype=np.int64), fractions, ahead, eyes)
    ]
    return GazeBody(arrays[0], arrays[1], tuple(landmarks), head, arrays[2], arrays[3])
