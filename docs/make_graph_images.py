"""Draw the pictures of graphs.md: python docs/make_graph_images.py [FOLDER].

They are of generated motion; with clips of one walker in the folder named by MAREY_WALKS, also the word that they walk.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.core import Motion
from marey.graph import MotionGraph, word_path
from marey.io import load_motion
from marey.plot import filmstrip
from marey.plot import graph as figures
from marey.samples import sample


def clips() -> list[Motion]:
    """Walks that go straight and turn both ways, short and long turns, and sneaking."""
    turns = (0.0, 0.35, -0.35, 0.8, -0.8, 1.2, -1.2)
    walks = [
        replace(sample("walk", rng=k, fps=30, seconds=12, turn_rate=turn, speed=1.1).motion, name=f"walk {k}")
        for k, turn in enumerate(turns)
    ]
    turned = [
        replace(sample("turn_around", rng=k, fps=30, angle=angle).motion, name=f"turn {k}")
        for k, angle in enumerate((3.1, -3.1))
    ]
    return [*walks, *turned]


def curve() -> np.ndarray:
    """A path with bends to both sides, 24 m long or so."""
    z = np.linspace(0.0, 20.0, 400)
    return np.stack([2.0 * np.sin(z / 20.0 * 4.0 * np.pi) * (0.4 + z / 30.0), z], axis=1)


def main(folder: str) -> None:
    out = Path(folder)
    graph = MotionGraph.build(clips(), 0.08)
    figures.graph(graph, out / "graph.png")
    figures.threshold(graph, out / "graph_threshold.png")
    figures.followed(graph.follow(curve()), out / "graph_path.png")
    walk = graph.random_walk(20.0, rng=4).motion()
    filmstrip(walk, out / "graph_walk.png")
    recorded = sorted(Path(os.environ["MAREY_WALKS"]).glob("*.bvh")) if "MAREY_WALKS" in os.environ else []
    if recorded:
        real = MotionGraph.build([load_motion(path, trim_rest=True) for path in recorded], 0.08, fps=30.0)
        figures.followed(real.follow(word_path("Hello", 12.0)), out / "graph_hello.png")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent / "images"))
