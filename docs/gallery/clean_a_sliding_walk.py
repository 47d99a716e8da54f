"""Clean a sliding walk

Noise, retargeting and edits make feet slide and sink. Cleanup holds every planted foot in place.
"""

from dataclasses import replace

import numpy as np

import marey
from marey.samples import sample

walk = sample("walk", seconds=3.0).motion
seconds = np.arange(len(walk)) / walk.fps
sliding = replace(walk, root_positions=walk.root_positions + np.outer(seconds, [0.25, -0.02, 0.0]))

shown = [sliding, marey.clean(sliding)]
options = {"camera": "side", "apart": True}
