"""Cross a square

Several characters walk through one motion graph and give way to each other.
"""

import marey
from marey.graph import crossing_paths, crowd
from marey.samples import sample

clips = [sample("walk", rng=k, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.8, -0.8))]
graph = marey.MotionGraph.build(clips, threshold=0.08, fps=30.0)

shown = crowd(graph, crossing_paths(4, 2.0), seconds=8.0).motions()
options = {"camera": "turntable", "path": True}
