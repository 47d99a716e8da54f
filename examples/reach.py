"""Move a hand by inverse kinematics: the left hand reaches a point in front of the chest while walking.

python examples/reach.py OUT.glb
"""

import sys
from dataclasses import replace

import numpy as np

import marey
from marey.core import find_hinge, solve_limb
from marey.maths import quat
from marey.samples import straight_walk


def main(out: str) -> None:
    walk = straight_walk(seconds=3.0)
    roles, offsets, world = walk.skeleton.roles, walk.skeleton.offsets, walk.world()
    shoulder, arm, elbow, hand = (roles[f"left_{part}"] for part in ("shoulder", "upper_arm", "forearm", "hand"))
    chest = roles["chest"]
    target = world.positions[:, chest] + quat.rotate(world.rotations[:, chest], np.array([0.1, 0.1, 0.4]))
    pose = solve_limb(
        base=world.positions[:, arm],
        parent_rotation=world.rotations[:, shoulder],
        hip=walk.rotations[:, arm],
        knee=walk.rotations[:, elbow],
        ankle=walk.rotations[:, hand],
        upper_offset=offsets[elbow],
        lower_offset=offsets[hand],
        hinge=find_hinge(offsets[elbow], offsets[hand], walk.rotations[:, elbow]),
        target=target,
    )
    rotations = walk.rotations.copy()
    rotations[:, arm], rotations[:, elbow], rotations[:, hand] = pose.hip, pose.knee, pose.ankle
    marey.save(replace(walk, rotations=rotations, name="reach"), out)
    print(f"{out}: the hand is at most {1000 * pose.residue.max():.3g} mm from its target")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
