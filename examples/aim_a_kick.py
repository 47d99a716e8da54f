"""Mark one kick in a long take, find the others, and make a new one that hits a given height.

python examples/aim_a_kick.py OUT.bvh [HEIGHT]    (meters; uses generated takes)
"""

import sys
from dataclasses import replace

from marey.find import MatchWeb
from marey.io import save
from marey.parametric import ParametricMotion, position
from marey.samples import sample


def main(out: str, height: float) -> None:
    takes = [sample("medley", rng=k, fps=30.0, kicks=6, punches=1, reaches=1).motion for k in range(2)]
    web = MatchWeb.build([replace(take, name=f"take{k}") for k, take in enumerate(takes)])

    one = next(label for label in takes[0].labels if label.name == "kick")
    found = web.search("take0", one.start, one.stop, threshold=0.07)
    print(f"{len(found) - 1} kicks similar to the one at {one.start / web.fps:.1f} s of take0")

    kick = ParametricMotion.build(found, position("right_ball", axes="xy"))  # sideways and up, at the farthest point
    target = (kick.parameters[:, 0].mean(), height)
    save(kick(target, refine=True, name="kick"), out)
    print(f"{out}: {1000 * kick.synthesize(target, refine=True).distances()['m']:.2g} mm from the target")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
