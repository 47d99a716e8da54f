"""Aim a kick

Mark one kick in a long take, find the others, and make new ones that hit given points.
"""

from dataclasses import replace

import marey
from marey.parametric import position
from marey.samples import sample

take = replace(sample("medley", fps=30.0, kicks=8, punches=1, reaches=1).motion, name="take")
web = marey.MatchWeb.build([take])
one = next(label for label in take.labels if label.name == "kick")
found = web.search("take", one.start, one.stop, threshold=0.07)
kick = marey.ParametricMotion.build(found, position("right_ball", axes="xy"))
middle = kick.parameters[:, 0].mean()

shown = [kick((middle, height), name=f"{height:.1f} m") for height in (0.7, 1.0, 1.3)]
options = {"camera": "front", "apart": True, "labels": True}
