"""Carry a box upstairs

The legs climb, the arms carry: no one recorded both together.
"""

import marey
from marey.samples import sample

legs = sample("stairs", steps=4).motion
arms = sample("carry_box", seconds=4.0).motion

shown = [marey.splice(legs, arms)]
options = {"camera": "side"}
