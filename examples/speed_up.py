"""Speed up from a walk to a run and back: blend two loops with weights that change over time.

python examples/speed_up.py OUT.glb
"""

import sys

import numpy as np

import marey
from marey.edit import cycle
from marey.samples import sample


def main(out: str) -> None:
    walk, run = (cycle(sample(kind, seconds=6.0).motion) for kind in ("walk", "run"))
    loops = marey.register([walk, run], cyclic=True)

    def weights(t: float) -> list[float]:
        run_weight = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / 10.0)  # 0 at the ends, 1 after 5 s
        return [1.0 - run_weight, run_weight]

    made = marey.blend(loops, weights, seconds=10.0, name="speed_up")
    marey.save(made, out)
    speed = np.linalg.norm(np.diff(made.travel[:, [0, 2]], axis=0), axis=1) * made.fps
    print(f"{out}: from {speed[:30].mean():.2f} to {speed.max():.2f} m/s and back to {speed[-30:].mean():.2f} m/s")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
