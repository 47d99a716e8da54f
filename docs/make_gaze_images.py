"""Draw the pictures of docs/gaze.md: python docs/make_gaze_images.py [OUTDIR] [DATA]

From generated motion, and where the folder DATA holds the clips of CMU subject 111, one picture from these. With
--map, the map that ships with the program is made again from generated looks instead.
"""

from __future__ import annotations

import sys
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


def main(folder: Path, data: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    gaze = GazeMap.default()
    gaze_shift(gaze.shift(np.radians([110.0, 15.0])), folder / "gaze_shift.png")
    walk = replace(sample("walk", seconds=4.0).motion, name="walk")
    # As in the source's figure 5.5: towards the ceiling over the left shoulder.
    gaze_track(gaze.trace(walk, [(1.0, *np.radians([110.0, 28.0]))]), folder / "gaze_look.png")
    if data is not None:
        held = load_motion(data / "cmu" / "111" / "111_36.bvh")
        gaze_track(gaze.trace(held, [(2.0, *np.radians([-80.0, 10.0]))]), folder / "gaze_cmu.png")


def ship() -> None:
    """Write the map that comes with the program."""
    examples = [gaze_example(take.markers(noise=0.0), take.goal, GAZE_TRIADS) for take in gaze_takes()]
    GazeMap.build(examples).save(Path(gaze_map.__file__).with_name("gaze_default.json"))


if __name__ == "__main__":
    if "--map" in sys.argv:
        ship()
    else:
        main(
            Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images",
            Path(sys.argv[2]) if len(sys.argv) > 2 else None,
        )
