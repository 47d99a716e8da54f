"""Carry a box along a curve, from a walk on the curve and a box carried straight ahead.

python examples/carry_on_a_curve.py OUT.bvh    (uses generated clips)
"""

import sys

import numpy as np

from marey.io import save
from marey.layer import splice, splice_naive
from marey.samples import sample


def main(out: str) -> None:
    legs = sample("walk", turn_rate=0.5).motion
    arms = sample("carry_box", rng=3, seconds=3.0).motion  # straight ahead and too short, so it is looped
    both = splice(legs, arms)
    save(both, out)

    step = both.source.provenance[-1]
    print(f"{out}: looped {step['loop']['passes']} times, leaning by {np.degrees(step['posture_turn'][0]):.1f} degrees")

    truth = sample("carry_box", turn_rate=0.5).motion.world().positions  # known for generated clips
    for name, made in (("spliced", both), ("copied angles", splice_naive(legs, arms))):
        off = np.linalg.norm(made.world().positions - truth, axis=-1).mean()
        print(f"{name}: mean joint error {100 * off:.1f} cm")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1])
