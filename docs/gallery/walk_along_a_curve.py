"""Walk along a curve

A motion graph connects clips where they look alike. A walk through the graph can follow any path.
"""

import numpy as np

import marey
from marey.samples import sample

clips = [sample("walk", rng=k, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.8, -0.8))]
graph = marey.MotionGraph.build(clips, threshold=0.08, fps=30.0)
z = np.linspace(0.0, 7.0, 80)
found = graph.follow(np.stack([np.sin(z), z], axis=1))

shown = [found.motion()]
options = {"path": True, "camera": "top"}
