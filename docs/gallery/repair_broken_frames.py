"""Repair broken frames

Frames that no body can have made are found by their speed, and replaced by interpolation.
"""

from dataclasses import replace

import numpy as np

from marey.edit import repair
from marey.maths import quat
from marey.samples import sample

walk = sample("walk", seconds=3.0).motion
rotations = walk.rotations.copy()
elbow = walk.skeleton.roles["left_forearm"]
rotations[90:93, elbow] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), 2.8)
broken = replace(walk, rotations=rotations)

shown = [broken, repair(broken)]
options = {"camera": "side", "apart": True}
