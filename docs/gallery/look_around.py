"""Look around

A gaze map, learned from recorded looks, turns eyes, head and spine together toward given directions.
"""

import marey
from marey.samples import sample

walk = sample("walk", seconds=5.0).motion
gaze = marey.GazeMap.default()

shown = [gaze.apply(walk, [(1.2, 0.9, 0.1), (2.4, -0.9, 0.0), (3.8, 0.0, 0.3)])]
