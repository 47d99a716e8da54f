"""Speed up and slow down

Weights may change over time: two loops become one motion that speeds up from a walk to a run and slows down again.
"""

import numpy as np

import marey
from marey.edit import cycle
from marey.samples import sample

walk, run = (cycle(sample(kind, seconds=5.0).motion) for kind in ("walk", "run"))
loops = marey.register([walk, run], cyclic=True)


def weights(t: float) -> list[float]:
    run_weight = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / 6.0)
    return [1.0 - run_weight, run_weight]


shown = [marey.blend(loops, weights, seconds=6.0)]
options = {"path": True}
