"""Carry a cup while running

Transplanting copies a single limb from another clip: the arm that holds a cup, onto a run.
"""

import marey
from marey.samples import sample

run = sample("run", seconds=3.0).motion
cup = sample("carry_cup", seconds=3.0).motion

shown = [run, marey.transplant(run, cup, joints=["right_upper_arm", "right_forearm", "right_hand"])]
options = {"apart": True}
