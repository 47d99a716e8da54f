"""Small characters for the tests, made once."""

from __future__ import annotations

from functools import cache

import numpy as np

from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.pmg import GaitSpace, ParametricMotionGraph
from marey.pmg.walker import sample_walks, walker


@cache
def walks():
    return tuple(sample_walks(n_turns=7, speeds=(1.2,), fps=30.0))


@cache
def turn_space():
    return GaitSpace.build(walks(), mirror=True)


@cache
def small_walker():
    """One speed, at 30 Hz. Tests must not add to it."""
    return walker(n_turns=7, speeds=(1.2,), fps=30.0, n_source=16, n_target=60)


@cache
def two_speed_walker():
    """Turn and speed, at 30 Hz. Tests must not add to it."""
    return walker(n_turns=7, speeds=(0.8, 1.2), fps=30.0, n_source=30, n_target=100)


@cache
def small_stepper():
    """Clips of one step, of one speed, at 30 Hz. Tests must not add to it."""
    return walker(n_turns=7, speeds=(1.2,), fps=30.0, n_source=12, n_target=40, steps=1)


def fresh_walker():
    """Return a new graph with the same node, not yet connected."""
    char = ParametricMotionGraph("fresh")
    char.add("walk", turn_space())
    return char


def slider(skeleton: Skeleton, fps: float = 30.0, seconds: float = 1.5):
    """A function space without gait: a stiff character that turns by its parameter and glides."""

    def make(target):
        n = round(seconds * fps) + 1
        fraction = np.linspace(0.0, 1.0, n)
        half = 0.5 * target[0] * fraction
        turns = np.zeros((n, len(skeleton), 4))
        turns[..., 0] = 1.0
        turns[:, 0, 0], turns[:, 0, 2] = np.cos(half), np.sin(half)
        roots = np.zeros((n, 3))
        roots[:, 1], roots[:, 2] = 1.0, fraction
        return Motion(skeleton, roots, turns, fps)

    return make
