"""Draw the pictures of docs/blending.md from generated motion: python docs/make_blending_images.py [OUTDIR]"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from marey import Motion, plot
from marey.blend import blend
from marey.blend.baselines import dynamic, linear_blend
from marey.compare import distance_grid
from marey.plot import registration as in_step
from marey.plot.grid import grid as draw_grid
from marey.register import register
from marey.samples import sample


def clip(kind: str, name: str, **parameters: float) -> Motion:
    return replace(sample(kind, fps=60.0, **parameters).motion, name=name)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    walk = clip("walk", "walk", speed=1.4, seconds=5.0)
    run = clip("run", "run", speed=3.0, seconds=4.0)
    reg = register([walk, run])
    jog = blend(reg, [0.5, 0.5], name="jog")
    grid = distance_grid(*reg.motions)
    draw_grid(grid, folder / "blend_grid.png", minima=False, cells=dynamic(grid.values, slope_limit=2).cells)
    in_step.timewarp(reg, folder / "blend_timewarp.png")
    in_step.matches(reg, folder / "blend_matches.png")
    in_step.foot_heights(reg.motions, jog, folder / "blend_feet.png", registration=reg)
    for motion in (*reg.motions, jog):
        plot.filmstrip(motion, folder / f"blend_{motion.name}.png", stop=min(100, len(motion)))

    left = clip("walk", "left", turn_rate=0.5, seconds=7.0)
    right = clip("walk", "right", turn_rate=-0.5, seconds=7.0)
    curves = register([left, right])
    blends = {
        "linear blending": linear_blend(curves.motions, [0.5, 0.5]),
        "registration curve": blend(curves, [0.5, 0.5]),
    }
    in_step.blend_paths(curves.motions, blends, folder / "blend_paths.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
