"""What the examples of the Python reference use without making it: small motions, and results made from them."""

from dataclasses import replace

import numpy as np

import marey
from marey.pmg.walker import walker

walk = marey.samples.sample("walk", seconds=4.0).motion
run = marey.samples.sample("run", seconds=4.0).motion
kick = marey.samples.sample("kick").motion
turning = marey.samples.sample("walk", turn_rate=0.5, seconds=4.0).motion
kicks = [marey.samples.sample("kick", height=height, rng=i).motion for i, height in enumerate(np.linspace(0.5, 1.3, 5))]
# Frame 90 is broken: it has the pose of the first frame.
broken = replace(walk, rotations=np.where(np.arange(len(walk))[:, None, None] == 90, walk.rotations[0], walk.rotations))
graph = marey.MotionGraph.build([walk, turning, marey.edit.mirror(turning)])
take = marey.samples.sample("medley", fps=30.0, kicks=4, punches=2, reaches=2).motion
web = marey.MatchWeb.build([take])
space = marey.ParametricMotion.build(kicks, marey.parametric.position("right_ball", axes="y"))
character = walker(n_turns=5, speeds=(1.2,), fps=30.0, n_source=12, n_target=40)
