"""Durations of a character's clips, which limit how fast it responds to a command (Heck 6.2.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.errors import InvalidValue
from marey.pmg.character import ParametricMotionGraph

__all__ = ["ClipLengths", "clip_lengths"]


class ClipLengths(NamedTuple):
    """Durations of the clips of a node, in seconds.

    node : its name. mean, least, most : of whole clips. played : mean of the part that is played, from the incoming
    transition to the outgoing one; NaN for a node without incoming or outgoing edges.
    """

    node: str
    mean: float
    least: float
    most: float
    played: float


def clip_lengths(
    character: ParametricMotionGraph, *, n: int = 100, rng: int | np.random.Generator = 0
) -> tuple[ClipLengths, ...]:
    """Measure the clips of each node with n motions spread over its ranges, corners first; one row per node."""
    if n < 1:
        raise InvalidValue(f"expected at least 1 sample for each node, got {n}")
    if not character.nodes:
        raise InvalidValue(f"{character.name!r} has no nodes yet; add a node first")
    chance = np.random.default_rng(rng)
    rows = []
    for name, node in character.nodes.items():
        chosen = node.samples(n, chance, corners=True)
        seconds = np.array([node.motion(each).duration for each in chosen])
        left = [edge.moments[:, 0].mean() for edge in character.out(name)]
        entered = [edge.moments[:, 1].mean() for edge in character.edges.values() if edge.target == name]
        share = float(np.mean(left) - np.mean(entered)) if left and entered else float("nan")
        rows.append(
            ClipLengths(name, float(seconds.mean()), float(seconds.min()), float(seconds.max()), share * seconds.mean())
        )
    return tuple(rows)
