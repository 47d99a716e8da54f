"""Many figures at once from one graph, each on its own path (Kovar 4.3.3, "Crowds").

They are kept apart by prioritised planning (Erdmann and Lozano-Perez 1987): one after another finds its walk, and those
before it are in its way as they move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats
from marey.errors import InvalidValue, NoResult
from marey.graph.follow import Followed, follow
from marey.graph.motion_graph import MotionGraph

# A figure that finds no walk at its distance looks with a wider beam, and at these shares of the distance, before it is
# left out.
_NEARER = ((1.0, 1), (1.0, 4), (0.8, 4), (0.6, 8))


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """What `crowd` made.

    Attributes
    ----------
    found : for each path the walk along it; None for those who found no way between the others.
    places : (T, M, 2) metres, where each figure is on each frame; NaN where it is not there.
    nearest : metres, the smallest distance between any two at the same time; infinity for one figure.
    """

    found: tuple[Followed | None, ...]
    places: Floats = field(repr=False)
    nearest: float


def crowd(
    graph: MotionGraph,
    paths: Sequence[ArrayLike],
    seconds: float,
    *,
    apart: float = 0.6,
    width: int = 50,
    rng: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Crowd:
    """A walk along each path, such that nobody comes too near to another.

    Parameters
    ----------
    paths : (N, 2) x, z in metres, each; a figure whose path ends before `seconds` leaves there.
    seconds : how long.
    apart : metres between the hips of any two. Who finds no way at that distance tries at four and three fifths of it.
    width : of the beam; see `follow`.
    rng : seed; each figure has its own, so that no two walk alike.
    progress : told the share that is done.
    """
    if not len(paths):
        raise InvalidValue("a crowd needs at least one path, got none")
    if not (np.isfinite(apart) and apart > 0.0):
        raise InvalidValue(f"apart must be a distance above 0 m, got {apart}")
    n_frames = round(seconds * graph.fps) if np.isfinite(seconds) else 0
    places = np.full((max(n_frames, 0), len(paths), 2), np.nan)
    found: list[Followed | None] = []
    for k, path in enumerate(paths):
        walk = _squeezed(graph, path, seconds, places[:, :k], apart, width, rng + k)
        found.append(walk)
        if walk is not None:
            places[: len(walk.way), k] = walk.way
        if progress is not None:
            progress((k + 1) / len(paths))
    return Crowd(tuple(found), places, nearest_pair(places))


def nearest_pair(places: Floats) -> float:
    """Metres, the smallest distance between any two of (T, M, 2) at the same time."""
    nearest = np.inf
    for here in places:
        there = here[np.isfinite(here).all(axis=1)]
        if len(there) > 1:
            away = np.hypot(*(there[:, None] - there[None]).transpose(2, 0, 1))
            nearest = min(nearest, float(away[np.triu_indices(len(there), 1)].min()))
    return nearest


def crossing_paths(n: int, radius: float, rng: int | np.random.Generator = 0) -> list[Floats]:
    """Paths (2, 2) for n figures that stand around a circle and all want to its other side.

    Their directions are spread evenly and jittered, and some start further out, so that not all meet in the middle.
    """
    if n < 1 or not (np.isfinite(radius) and radius > 0.0):
        raise InvalidValue(f"expected at least 1 figure and a radius above 0 m, got {n} and {radius}")
    chance = np.random.default_rng(rng)
    angle = 2.0 * np.pi * (np.arange(n) + chance.uniform(-0.2, 0.2, n)) / n
    across = angle + np.pi + chance.uniform(-0.5, 0.5, n)
    out = radius * (1.0 + 0.35 * (np.arange(n) % 3))
    begin = np.stack([np.sin(angle), np.cos(angle)], axis=1) * out[:, None]
    end = np.stack([np.sin(across), np.cos(across)], axis=1) * (radius * 2.0)
    return [np.stack([a, b]) for a, b in zip(begin, end, strict=True)]


def _squeezed(
    graph: MotionGraph, path: ArrayLike, seconds: float, others: Floats, apart: float, width: int, seed: int
) -> Followed | None:
    """The walk at the largest distance at which one is found."""
    for share, wider in _NEARER:
        try:
            return follow(
                graph, path, others=others, apart=share * apart, seconds=seconds, width=wider * width, rng=seed
            )
        except NoResult:
            continue
    return None
