"""Carry a box around a bend

Splicing puts the upper body of one clip onto the legs of another: the walk turns, the box was carried straight ahead.
"""

import marey
from marey.samples import sample

legs = sample("walk", seconds=4.0, turn_rate=0.5).motion
arms = sample("carry_box", rng=3, seconds=3.0).motion

shown = [marey.splice(legs, arms)]
options = {"path": True}
