"""Pictures of docs/layers.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from marey import plot
from marey.io import load_motion
from marey.layer import find_correlations, splice, splice_naive, transplant
from marey.plot.layer import correlation, neck
from marey.samples import sample


def draw(folder: Path) -> None:
    curve = replace(sample("walk", turn_rate=0.6, seconds=3.5).motion, name="walk on a curve")
    carry = replace(sample("carry_box", rng=3).motion, name="carry a box")
    both = replace(splice(curve, carry), name="carry a box on a curve")
    plot.filmstrip(both, folder / "layer_splice.png", n_poses=7)
    correlation(find_correlations(sample("walk", seconds=4.0).motion), folder / "layer_correlations.png")
    reach = sample("reach", y=1.6, x=-0.3, z=0.4).motion
    straight = sample("walk", seconds=3.5).motion
    wave = replace(transplant(straight, reach, joints="right_arm", at=0.5), name="reach up in passing")
    plot.filmstrip(wave, folder / "layer_transplant.png", n_poses=7)


def draw_recorded(folder: Path, data: Path) -> None:
    stairs, box = (load_motion(data / "cmu" / "143" / f"{name}.bvh", file_fps=60.0) for name in ("143_17", "143_11"))
    box = box[300:450]  # from where it is picked up to where it is put down
    made = replace(splice(stairs, box), name="carry a box over stairs")
    plot.filmstrip(made, folder / "layer_cmu_stairs.png", n_poses=10)
    necks = {"spliced": made, "lower clip": stairs, "copied angles": splice_naive(stairs, box)}
    neck(necks, folder / "layer_cmu_neck.png")
    step, load = (load_motion(data / "cmu" / name) for name in ("083/83_25.bvh", "111/111_36.bvh"))
    plot.filmstrip(
        replace(splice(step, load, retarget=True), name="carry up a step"), folder / "layer_step_up.png", n_poses=8
    )
