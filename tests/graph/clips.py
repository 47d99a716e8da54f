"""Small sets of clips for the graph's tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from marey.core import Label, Labels, Motion
from marey.graph import MotionGraph
from marey.samples import sample


def one_label(motion: Motion, name: str) -> Motion:
    return replace(motion, labels=Labels((Label(name, 0, len(motion)),)))


@cache
def walks() -> tuple[Motion, ...]:
    """Return three walks at 30 Hz: straight, to the left and to the right."""
    return tuple(
        one_label(
            replace(sample("walk", rng=seed, fps=30, seconds=8, turn_rate=turn).motion, name=f"walk{seed}"), "walk"
        )
        for seed, turn in enumerate((0.0, 0.5, -0.5))
    )


@cache
def sneaks() -> tuple[Motion, ...]:
    return tuple(
        one_label(
            replace(sample("sneak", rng=seed, fps=30, seconds=8, turn_rate=turn).motion, name=f"sneak{seed}"), "sneak"
        )
        for seed, turn in enumerate((0.0, 0.4))
    )


@cache
def walking_graph() -> MotionGraph:
    return MotionGraph.build(walks(), 0.08)


@cache
def two_styles() -> MotionGraph:
    return MotionGraph.build((*walks(), *sneaks()), 0.2)
