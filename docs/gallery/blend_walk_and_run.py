"""Blend a walk and a run

Registration finds which moments of two clips correspond, and where the bodies stand. Any mixture is then a natural
motion.
"""

import marey
from marey.samples import sample

walk, run = (sample(name, seconds=3.0).motion for name in ("walk", "run"))
both = marey.register([walk, run])
jog = marey.blend(both, [0.5, 0.5], name="jog")

shown = [walk, jog, run]
options = {"apart": True}
