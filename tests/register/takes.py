"""Motions for the tests of registration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marey.core import Motion
from marey.edit import cycle
from marey.samples import sample

LOOPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("walk", {"seconds": 5.0}),
    ("run", {"seconds": 3.0}),
    ("sneak", {"seconds": 9.0, "pauses": 0}),
)


def warped_copy(
    motion: Motion, move: ArrayLike = (2.5, 3.0, -7.0), strength: float = 0.25
) -> tuple[Motion, NDArray[np.float64]]:
    """Return the motion with other timing, up to 1.4 times slower and faster, turned and moved; and the old seconds
    (F,)."""
    fraction = np.linspace(0.0, 1.0, len(motion))
    swing = np.sin(4.0 * np.pi * fraction) / (4.0 * np.pi) + 0.5 * np.sin(2.0 * np.pi * fraction) / (2.0 * np.pi)
    seconds = (fraction + strength * swing) * motion.duration
    copy = replace(motion.at(seconds), name="copy", contacts=None)
    return copy.moved(move), seconds


def loop(name: str, turn_rate: float = 0.0, phase: float = 0.0, fps: float = 60.0, **parameters: Any) -> Motion:
    """Return one stride as a loop that begins at `phase`."""
    result = sample(name, fps=fps, turn_rate=turn_rate, **parameters)
    strides = np.floor(result.phase - phase)
    first, second = (np.flatnonzero(strides[1:] != strides[:-1]) + 1)[1:3]
    return replace(cycle(result.motion, int(first), int(second)), name=f"{name} {turn_rate:+g}")


def nine_loops(fps: float = 60.0) -> list[Motion]:
    """Return walks, runs and sneaks: straight, to the left and to the right, beginning at different phases."""
    phases = iter(np.random.default_rng(0).uniform(0.0, 1.0, 9))
    return [
        loop(name, rate, float(next(phases)), fps, **parameters)
        for name, parameters in LOOPS
        for rate in (0.0, 0.6, -0.6)
    ]
