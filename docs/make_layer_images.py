"""Draw the pictures of splicing and transplanting in docs/layers.md: python docs/make_layer_images.py [OUTDIR] [DATA]

From generated motion, and where the folder DATA holds the clips of CMU subjects 83, 111 and 143, from these.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from marey import plot
from marey.io import load_motion
from marey.layer import find_correlations, splice, splice_naive, transplant
from marey.plot.layer import correlation, neck
from marey.samples import sample


def main(folder: Path, data: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    curve = replace(sample("walk", turn_rate=0.6, seconds=3.5).motion, name="walk on a curve")
    carry = replace(sample("carry_box", rng=3).motion, name="carry a box")
    both = replace(splice(curve, carry), name="carry a box on a curve")
    plot.filmstrip(both, folder / "layer_splice.png", n_poses=7)
    correlation(find_correlations(sample("walk", seconds=4.0).motion), folder / "layer_correlations.png")
    reach = sample("reach", y=1.6, x=-0.3, z=0.4).motion
    straight = sample("walk", seconds=3.5).motion
    wave = replace(transplant(straight, reach, joints="right_arm", at=0.5), name="reach up in passing")
    plot.filmstrip(wave, folder / "layer_transplant.png", n_poses=7)
    if data is not None:
        stairs, box = (
            load_motion(data / "cmu" / "143" / f"{name}.bvh", file_fps=60.0) for name in ("143_17", "143_11")
        )
        box = box[300:450]  # from where it is picked up to where it is put down
        made = replace(splice(stairs, box), name="carry a box over stairs")
        plot.filmstrip(made, folder / "layer_cmu_stairs.png", n_poses=10)
        necks = {"spliced": made, "lower clip": stairs, "copied angles": splice_naive(stairs, box)}
        neck(necks, folder / "layer_cmu_neck.png")
        step, load = (load_motion(data / "cmu" / name) for name in ("083/83_25.bvh", "111/111_36.bvh"))
        plot.filmstrip(
            replace(splice(step, load, retarget=True), name="carry up a step"), folder / "layer_step_up.png", n_poses=8
        )


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images",
        Path(sys.argv[2]) if len(sys.argv) > 2 else None,
    )
