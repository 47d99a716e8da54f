"""Walk along a new path: build a motion graph from clips and follow the path.

python examples/walk_a_path.py OUT.bvh [CLIPS...]    (default: generated walks)
"""

import sys

import numpy as np

import marey
from marey.samples import sample


def main(out: str, files: list[str]) -> None:
    clips = [marey.load_motion(file) for file in files]
    if not clips:
        clips = [sample("walk", rng=k, seconds=10.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.8, -0.8))]
    graph = marey.MotionGraph.build(clips, threshold=0.08, fps=30.0)
    z = np.linspace(0.0, 10.0, 100)
    found = graph.follow(np.stack([np.sin(z), z], axis=1))  # x, z in meters
    marey.save(found.motion(name="path"), out)
    print(f"{out}: {len(found.walk) / graph.fps:.1f} s, mean distance from the path {100 * found.mean_distance:.1f} cm")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
