"""Change the timing

A timewarp moves moments of a motion to other times: the kick hits later, and faster.
"""

from marey.edit import timewarp
from marey.samples import sample

kick = sample("kick").motion
half = kick.duration / 2

shown = [kick, timewarp(kick, [(0.0, 0.0), (0.8 * half, 1.3 * half), (kick.duration, kick.duration)])]
options = {"camera": "side", "apart": True}
