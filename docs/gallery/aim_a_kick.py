"""Aim a kick

Mark one kick in a long take, find the others, and make new ones that hit given points.
"""

from dataclasses import replace

import numpy as np

import marey
from marey.parametric import position
from marey.samples import sample

take = replace(sample("medley", fps=30.0, kicks=8, punches=1, reaches=1).motion, name="take")
web = marey.MatchWeb.build([take])
one = next(label for label in take.labels if label.name == "kick")
found = web.search("take", one.start, one.stop, threshold=0.07)
kick = marey.ParametricMotion.build(found, position("right_ball", axes="xy"))
middle, low, high = kick.parameters[:, 0].mean(), *np.percentile(kick.parameters[:, 1], (10, 90))

shown = [kick((middle, height), name=f"{height:.2f} m") for height in np.linspace(low, high, 3)]
options = {"camera": "front", "apart": True, "labels": True}
