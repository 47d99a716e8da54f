"""Move onto another body

Retargeting keeps what a motion does: planted feet stay planted on legs of another length.
"""

from marey.core import Skeleton
from marey.edit import retarget
from marey.samples import sample

walk = sample("walk", seconds=3.0).motion
body = walk.skeleton
legs = [body.roles[f"{side}_{part}"] for side in ("left", "right") for part in ("lower_leg", "foot")]
longer = body.offsets.copy()
longer[legs] *= 1.25
tall = Skeleton(body.names, body.parents, longer)

shown = [walk, retarget(walk, tall)]
options = {"camera": "side", "apart": True}
