"""Build a character from a recipe and send it to points, one after another.

python examples/steer_a_character.py OUT.bvh [RECIPE.toml | NAME]    (default: the built-in "right-turner")
"""

import sys

import numpy as np

import marey
from marey.control import GoTo
from marey.pmg import build_recipe, read_recipe

POINTS = ((0.0, 4.0), (3.0, 5.0))  # x, z in meters
MAX_SECONDS = 15.0  # for each point


def main(out: str, recipe: str) -> None:
    character = build_recipe(read_recipe(recipe))
    aim = GoTo(POINTS[0])
    stream = character.stream(aim, feet=None)
    frames = []
    for point in POINTS:
        stream.request(point=point)
        for _ in range(round(MAX_SECONDS * stream.fps)):
            frames.append(stream.frame())
            if np.linalg.norm(frames[-1].travel[0, [0, 2]] - point) < 0.3:
                print(f"reached {point} after {len(frames) / stream.fps:.1f} s")
                break
        else:
            print(f"did not reach {point} within {len(frames) / stream.fps:.1f} s")
    roots = np.concatenate([frame.root_positions for frame in frames])
    rotations = np.concatenate([frame.rotations for frame in frames])
    marey.save(marey.Motion(frames[0].skeleton, roots, rotations, stream.fps, name=character.name), out)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "right-turner")
