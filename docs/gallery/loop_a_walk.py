"""Make a loop

`cycle` finds the best pair of frames, cuts there, and spreads the remaining difference, so that the loop has no seam.
"""

from marey.edit import cycle
from marey.samples import sample

walk = sample("walk", seconds=5.0).motion

shown = [cycle(walk, repeats=4)]
options = {"path": True}
