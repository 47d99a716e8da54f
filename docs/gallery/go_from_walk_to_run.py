"""Go from a walk to a run

A transition blends the end of one clip into the start of another, where they look most alike.
"""

import marey
from marey.samples import sample

walk, run = (sample(name, seconds=3.0).motion for name in ("walk", "run"))

shown = [marey.transition(walk, run)]
options = {"path": True}
