"""Bend a path

The path of a straight walk is replaced by a curve; steps, feet and timing stay.
"""

import numpy as np

from marey.edit import edit_path
from marey.samples import sample

walk = sample("walk", seconds=5.0).motion
z = np.linspace(0.0, 6.0, 60)

shown = [walk, edit_path(walk, np.stack([0.8 * np.sin(z), z], axis=1))]
options = {"path": True}
