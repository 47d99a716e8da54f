"""Reach for something

Warping bends a motion so that a hand, a foot or the hips are somewhere else at a given time.
"""

from marey.edit import MoveKey, warp
from marey.samples import sample

walk = sample("walk", seconds=4.0).motion

shown = [walk, warp(walk, [MoveKey("left_hand", 2.0, offset=(0.1, 0.6, 0.2), axes="body")])]
options = {"camera": "front", "apart": True}
