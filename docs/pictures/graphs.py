"""Pictures of docs/graphs.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import marey
from marey.core import Label, Labels, Motion
from marey.graph import MotionGraph, PathResult, word_path
from marey.io import load_motion
from marey.plot import filmstrip
from marey.plot import graph as plots
from marey.samples import sample


def clips() -> list[Motion]:
    """Walks that go straight and turn both ways, at two speeds, and walks that turn round within a few steps."""
    turns = ((0.0, 1.1), (0.35, 1.1), (-0.35, 1.1), (0.8, 1.1), (-0.8, 1.1), (1.2, 1.1), (-1.2, 1.1))
    slow = ((0.0, 0.6), (1.2, 0.6), (-1.2, 0.6))
    walks = [
        replace(sample("walk", rng=k, fps=30, seconds=12, turn_rate=turn, speed=speed).motion, name=f"walk {k}")
        for k, (turn, speed) in enumerate(turns + slow)
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


def follow_styles(folder: Path) -> PathResult:
    """Walk, then sneak along a sine, on recorded clips and their mirror images (Kovar figure 4.13)."""
    named = {"143_32": "walk", "143_41": "sneak", "143_11": "carry", "143_13": "carry", "143_17": "stairs"}
    named |= {"143_18": "sit", "143_23": "fight", "143_24": "fight"}
    takes = []
    for name, label in named.items():
        motion = marey.edit.resample(marey.load(folder / f"{name}.bvh", file_fps=60.0), 30.0)
        labeled = replace(motion, labels=Labels((Label(label, 0, len(motion)),)))
        take = marey.detect_contacts(labeled)
        takes += [take, replace(marey.edit.mirror(take), name=f"{name} mirrored")]
    z = np.linspace(0.0, 12.0, 200)
    path = np.stack([1.2 * np.sin(z * np.pi / 6.0), z], axis=1)
    return MotionGraph.build(takes, 0.1).follow(path, styles=[(6.0, "walk"), (12.0, "sneak")])


def draw(out: Path) -> None:
    graph = MotionGraph.build(clips(), 0.08)
    plots.threshold(graph, out / "graph_threshold.png")
    plots.route(graph.follow(curve()), out / "graph_path.png")
    plots.route(graph.follow(word_path("Hello", 12.0)), out / "graph_samples.png")


def draw_recorded(out: Path, data: Path) -> None:
    plots.route(follow_styles(data / "cmu" / "143"), out / "graph_styles.png")
    clips = [load_motion(path) for path in sorted((data / "cmu" / "144").glob("*.bvh"))]
    graph = MotionGraph.build(clips, 0.08, fps=30.0)
    plots.graph(graph, out / "graph.png")
    plots.route(graph.follow(word_path("Hello", 12.0)), out / "graph_hello.png")
    filmstrip(graph.random_walk(20.0, rng=4).motion(), out / "graph_walk.png")
