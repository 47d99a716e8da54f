"""Pictures of docs/blending.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from marey import Motion, plot
from marey.blend import blend
from marey.blend.baselines import dynamic, linear_blend
from marey.blend.weights import Weighting, interpolate_weights
from marey.compare import distance_grid
from marey.plot import registration as in_step
from marey.plot.grid import grid as draw_grid
from marey.plot.style import new_figure, settings, write_figure
from marey.register import register
from marey.samples import sample


def clip(kind: str, name: str, **parameters: float) -> Motion:
    return replace(sample(kind, fps=60.0, **parameters).motion, name=name)


def draw(folder: Path) -> None:
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
    draw_loops(folder / "blend_loops.png")


def draw_loops(path: Path) -> None:
    """Draw 24 s of continuous control of six loops: the weights over time, and the path."""
    turns = {"right": -0.6, "straight": 0.0, "left": 0.6}
    clips = [
        clip(kind, f"{kind}, {turn}", speed=speed, turn_rate=rate, seconds=5.0, variation=0.0)
        for kind, speed in (("walk", 1.3), ("run", 2.8))
        for turn, rate in turns.items()
    ]
    keys = [(0, 1), (4, 1), (6, 2), (9, 2), (11, 4), (13, 5), (16, 5), (18, 3), (21, 3), (23, 1), (24, 1)]
    times, rows = [float(time) for time, _ in keys], [np.eye(len(clips))[k].tolist() for _, k in keys]
    reg = register(clips, cut_loops=True)
    made = blend(reg, interpolate_weights(times, rows), seconds=24.0)
    with settings():
        figure = new_figure(3.4, layout="constrained")
        above, below = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
        seconds = np.arange(len(made)) / made.fps
        weights = Weighting.of(interpolate_weights(times, rows), len(clips)).at(seconds)
        above.stackplot(seconds, weights.T, labels=[motion.name for motion in clips], alpha=0.8)
        above.set(xlabel="time, s", ylabel="weights", xlim=(0, 24), ylim=(0, 1))
        figure.legend(loc="outside upper center", ncols=6, fontsize="x-small")
        travel = made.travel[:, [2, 0]]
        below.plot(travel[:, 0], travel[:, 1], color="black")
        every = round(2 * made.fps)
        below.plot(travel[::every, 0], travel[::every, 1], "o", color="black", markersize=3)
        below.set(xlabel="path from above, m; a dot every 2 s", aspect="equal")
        write_figure(figure, path)
