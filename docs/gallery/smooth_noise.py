"""Smooth noisy capture

`smooth` removes noise joint by joint, and less where the body moves fast, so that contacts and strikes stay sharp.
"""

from dataclasses import replace

import numpy as np

from marey.edit import smooth
from marey.maths import quat
from marey.samples import sample

walk = sample("walk", seconds=3.0).motion
shake = quat.exp(np.random.default_rng(0).normal(0.0, 0.03, (*walk.rotations.shape[:2], 3)))
noisy = replace(walk, rotations=quat.mul(walk.rotations, shake))

shown = [noisy, smooth(noisy)]
options = {"camera": "side", "apart": True}
