"""Build a character from a recipe and have it go to points, one after another.

python examples/steer_a_character.py OUT.bvh [RECIPE.toml | NAME]    (the shipped "right-turner" by default)
"""

import sys

import numpy as np

import marey
from marey.control import GoTo
from marey.pmg import build_recipe, read_recipe

POINTS = ((0.0, 4.0), (3.0, 5.0))  # x, z in metres
MOST = 15.0  # seconds for each


def main(out: str, recipe: str) -> None:
    character = build_recipe(read_recipe(recipe))
    aim = GoTo(POINTS[0])
    stream = character.stream(aim, clean=False)
    frames = []
    for point in POINTS:
        stream.request(point=point)
        for _ in range(round(MOST * stream.fps)):
            frames.append(stream.frame())
            if np.linalg.norm(frames[-1].travel[0, [0, 2]] - point) < 0.3:
                print(f"at {point} after {len(frames) / stream.fps:.1f} s")
                break
        else:
            print(f"not at {point} after {len(frames) / stream.fps:.1f} s")
    roots = np.concatenate([frame.root_positions for frame in frames])
    turns = np.concatenate([frame.rotations for frame in frames])
    marey.save(marey.Motion(frames[0].skeleton, roots, turns, stream.fps, name=character.name), out)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "right-turner")
