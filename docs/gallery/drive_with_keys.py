"""Drive with keys

Motion matching looks ten times a second for the frame that fits best to what the keys ask for.
"""

from marey.control import MotionMatching, play_keys
from marey.samples import sample

turns = (0.0, 0.8, -0.8, 0.4)
clips = [sample("walk", rng=k, fps=30.0, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate(turns)]

shown = [play_keys(MotionMatching(clips, feet="lock"), "w:2 a:3 w:2")]
options = {"path": True, "camera": "top"}
