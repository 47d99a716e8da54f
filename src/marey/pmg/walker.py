"""A walking character from generated samples: one node, which can follow itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.motion import Motion
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.gait_space import GaitSpace
from marey.samples import sample

__all__ = ["sample_walks", "walker"]

SPEEDS = (0.6, 0.85, 1.1, 1.35)
# Radians per second: as far as samples of walking go.
_MOST_TURN = np.radians(70.0)
# Seconds of each walk: some cycles of it, with their margins.
_SECONDS = 5.0
# Metres; T_GOOD and T_BAD of the walk's own edge. Half of the way from one lean to the other is the planted foot's.
_GOOD, _BAD = 0.10, 0.15


def sample_walks(
    *,
    n_turns: int = 11,
    speeds: Sequence[float] = SPEEDS,
    fps: float = 60.0,
    variation: float = 0.5,
    rng: int = 0,
) -> list[Motion]:
    """Walks on curves from right to left, at some speeds.

    Parameters
    ----------
    n_turns : how many curves, evenly spread.
    speeds : m/s.
    variation : how much the seeds change; see `marey.samples.sample`.
    rng : seed of the first walk; the others count on from it.
    """
    rates = np.linspace(-_MOST_TURN, _MOST_TURN, n_turns)
    return [
        sample(
            "walk",
            rng=rng + k,
            fps=fps,
            seconds=_SECONDS,
            speed=float(speed),
            turn_rate=float(rate),
            variation=variation,
        ).motion
        for k, (speed, rate) in enumerate((speed, rate) for speed in speeds for rate in rates)
    ]


def walker(
    *,
    speeds: Sequence[float] = SPEEDS,
    n_turns: int = 11,
    fps: float = 60.0,
    variation: float = 0.5,
    good: float | None = _GOOD,
    bad: float | None = _BAD,
    n_source: int = 120,
    n_target: int = 400,
    rng: int = 0,
) -> ParametricMotionGraph:
    """A character that walks, with a node ``walk`` by turn in a cycle, or by turn and speed where there are several.

    Each walk's mirror image is taken too, so that it turns alike to both sides.

    Parameters
    ----------
    speeds : m/s of the walks that it is made of.
    n_turns, fps, variation : as for `sample_walks`.
    good, bad : metres, T_GOOD and T_BAD; None to choose them from the distribution.
    n_source, n_target : samples of the edge.
    rng : seed.
    """
    walks = sample_walks(n_turns=n_turns, speeds=speeds, fps=fps, variation=variation, rng=rng)
    names = ("turn",) if len(speeds) == 1 else ("turn", "speed")
    char = ParametricMotionGraph("walker")
    char.add("walk", GaitSpace.build(walks, names, mirror=True))
    char.connect("walk", "walk", good=good, bad=bad, n_source=n_source, n_target=n_target, rng=rng)
    return char
