"""Wander

A random walk through a motion graph is new motion of any length, made of recorded pieces.
"""

import marey
from marey.samples import sample

clips = [sample("walk", rng=k, seconds=6.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.7, -0.7))]
graph = marey.MotionGraph.build(clips, threshold=0.08, fps=30.0)

shown = [graph.random_walk(8.0, rng=2).motion()]
options = {"path": True}
