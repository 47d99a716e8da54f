"""Small random characters of gliding bodies: cheap to build, with known paths and arbitrary boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.motion import Motion
from marey.pmg import Edge, ParametricMotionGraph
from marey.samples import body_skeleton

FPS = 20.0


@dataclass(frozen=True)
class Glide:
    """A space of arcs whose only parameter is the turn; all clips have one speed (m/s) and duration (s)."""

    speed: float
    seconds: float
    low: np.ndarray
    high: np.ndarray
    names = ("turn",)
    units = ("rad",)
    fps = FPS

    def paths(self, targets, n):
        turn = np.asarray(targets)[:, :1] * np.linspace(0.0, 1.0, n)
        step = self.speed * self.seconds / (n - 1)
        ways = np.stack([np.sin(turn), np.cos(turn)], axis=-1)
        along = step * np.cumsum(0.5 * (ways[:, 1:] + ways[:, :-1]), axis=1)
        places = np.concatenate([np.zeros((len(turn), 1, 2)), along], axis=1)
        return np.concatenate([turn[..., None], places], axis=-1)

    def __call__(self, target):
        skeleton = body_skeleton()
        n = round(self.seconds * FPS) + 1
        path = self.paths(np.atleast_2d(target), n)[0]
        rotations = np.zeros((n, len(skeleton), 4))
        rotations[..., 0] = 1.0
        rotations[:, 0, 0], rotations[:, 0, 2] = np.cos(0.5 * path[:, 0]), np.sin(0.5 * path[:, 0])
        roots = np.stack([path[:, 1], np.full(n, 1.0), path[:, 2]], axis=1)
        return Motion(skeleton, roots, rotations, FPS)


def random_character(seed: int, n_nodes: int = 1) -> ParametricMotionGraph:
    """Connect nodes with random turns and speeds in a ring. What can follow a clip depends on its turn."""
    rng = np.random.default_rng(seed)
    char = ParametricMotionGraph(f"random {seed}", length=0.1, region=0.2)
    for k in range(n_nodes):
        span = rng.uniform(0.5, 1.3)
        middle = rng.uniform(-0.3, 0.3) * span
        space = Glide(
            rng.uniform(0.8, 1.6), rng.uniform(0.6, 1.1), np.array([middle - span]), np.array([middle + span])
        )
        char.add(f"n{k}", space)
    ring = {(k, (k + 1) % n_nodes) for k in range(n_nodes)} | {(k, k) for k in range(n_nodes) if rng.random() < 0.5}
    for a, b in sorted(ring | ({(0, 0)} if n_nodes == 1 else set())):
        char._put(edge=_random_edge(char, f"n{a}", f"n{b}", rng))
    return char


def two_pace_character() -> ParametricMotionGraph:
    """Slow clips on circles of 1.2 m radius, and fast ones of 3.2 m; every clip can follow every other."""
    char = ParametricMotionGraph("two paces", length=0.1, region=0.2)
    for name, speed, seconds in (("slow", 0.9, 0.8), ("fast", 4.8, 0.4)):
        char.add(name, Glide(speed, seconds, np.array([-0.6]), np.array([0.6])))
    for source in char.nodes:
        for target in char.nodes:
            a, b = char[source], char[target]
            turns, n = np.linspace(a.low, a.high, 3), np.ones((3, 1))
            moments = np.tile([0.9, 0.1], (3, 1))
            boxes = n * b.low, n * b.high, n * b.middle
            char._put(edge=Edge(source, target, 1.0, 2.0, turns, *boxes, moments, a.scale, np.zeros(21), 0.0))
    return char


def _random_edge(char: ParametricMotionGraph, source: str, target: str, rng: np.random.Generator) -> Edge:
    """Sharper turns limit the turns that can follow: a box around the turn, of at least 60 % of the node's width."""
    a, b = char[source], char[target]
    turns = np.linspace(a.low, a.high, 9)
    width = rng.uniform(0.6, 1.0) * (b.high - b.low)
    fraction = (turns - a.low) / (a.high - a.low)
    low = b.low + fraction * (b.high - b.low - width)
    moments = np.tile([0.9, 0.1], (9, 1))
    middle = low + 0.5 * width
    return Edge(source, target, 1.0, 2.0, turns, low, low + width, middle, moments, a.scale, np.zeros(21), 0.0)
