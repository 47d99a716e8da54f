"""Pictures of docs/gaze.md, and the gaze map that comes with marey: python docs/pictures/gaze.py draws it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.io import load_motion
from marey.layer import gaze_map
from marey.layer.gaze_capture import gaze_example
from marey.layer.gaze_map import GazeMap
from marey.plot.gaze import gaze_shift, gaze_track
from marey.samples import sample
from marey.samples.gaze import GAZE_TRIADS, gaze_takes


def draw(folder: Path) -> None:
    gaze = GazeMap.default()
    gaze_shift(gaze.shift(np.radians([110.0, 15.0])), folder / "gaze_shift.png")
    walk = replace(sample("walk", seconds=4.0).motion, name="walk")
    # As in the source's figure 5.5: toward the ceiling over the left shoulder.
    gaze_track(gaze.trace(walk, [(1.0, *np.radians([110.0, 28.0]))]), folder / "gaze_look.png")


def draw_recorded(folder: Path, data: Path) -> None:
    held = load_motion(data / "cmu" / "111" / "111_36.bvh")
    gaze_track(GazeMap.default().trace(held, [(2.0, *np.radians([-80.0, 10.0]))]), folder / "gaze_cmu.png")


def ship() -> None:
    """Build the gaze map that comes with marey from generated looks, and write it."""
    examples = [gaze_example(take.markers(noise=0.0), take.goal, GAZE_TRIADS) for take in gaze_takes()]
    GazeMap.build(examples).save(Path(gaze_map.__file__).with_name("gaze_default.json"))


if __name__ == "__main__":
    ship()
