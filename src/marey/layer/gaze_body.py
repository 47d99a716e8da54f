"""What of a skeleton takes part in a look: the joints from the first of the spine to the head, and the eyes."""

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
# Where a head has no tip, eyes are this far above and before its joint, meters.
_HEAD = 0.08


@dataclass(frozen=True, slots=True, eq=False)
class GazeBody:
    """The joints of a skeleton that a look turns.

    chain : joints from the first of the spine, which is where a layer begins, to the head, parents first.
    shares : (m, 4) how much of pelvis, lower spine, upper spine and neck each has been turned by, from 0 to 1.
    landmarks : joints at which pelvis, lower spine, upper spine and neck have made all of their turn.
    head : the head's joint, the last of the chain.
    ahead : (3,) straight ahead at rest, in the head's own axes.
    eyes : (3,) meters, where the eyes are in the head's own axes.
    """

    chain: Ints
    shares: Floats
    landmarks: tuple[int, ...]
    head: int
    ahead: Floats
    eyes: Floats

    @staticmethod
    def of(skeleton: Skeleton) -> GazeBody:
        """Of a skeleton; a missing role is a `JointNotFound` that says how to map it."""
        return _find_body(skeleton)


@lru_cache(maxsize=8)
def _find_body(skeleton: Skeleton) -> GazeBody:
    roles = skeleton.roles
    head, first = roles["head"], roles["spine"]
    above = skeleton.chain(head)
    if first not in above:
        raise JointNotFound(
            f"the head {skeleton.names[head]!r} does not hang from the spine's first joint "
            f"{skeleton.names[first]!r}, so that a look cannot turn it; map the roles spine and head"
        )
    chain = above[above.index(first) :]
    spine = [joint for joint in chain if joint in roles.spine and joint != head] or [first]
    n_spine = chain.index(spine[-1]) + 1
    shares = np.ones((len(chain), 4))
    for k in range(len(chain)):
        # Three parts over any number of spine joints, and the neck over the joints up to the head.
        shares[k, :3] = np.clip(3.0 * (k + 1) / n_spine - np.arange(3), 0.0, 1.0)
        shares[k, 3] = max(0.0, (k + 1 - n_spine) / max(len(chain) - n_spine, 1))
    if n_spine == len(chain):  # the head itself is the only joint there is
        shares[-1, 3] = 1.0
    whole = [chain[int(np.argmax(shares[:, part] >= 1.0))] for part in range(4)]
    left = find_left_axis(skeleton, skeleton.rest_positions[None])[0]
    ahead = np.cross(left, _UP)
    tips = [skeleton.offsets[joint] for joint in skeleton.children[head]]
    tip = max(tips, key=lambda offset: float(np.linalg.norm(offset)), default=_HEAD * 2.0 * _UP)
    eyes = 0.5 * tip + 0.5 * float(np.linalg.norm(tip)) * ahead
    settled = [
        set_readonly(np.ascontiguousarray(part)) for part in (np.array(chain, dtype=np.int64), shares, ahead, eyes)
    ]
    return GazeBody(settled[0], settled[1], tuple(whole), head, settled[2], settled[3])
