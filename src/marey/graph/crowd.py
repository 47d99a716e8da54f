"""Several characters from one graph, each on its own path (Kovar 4.3.3, "Crowds").

Prioritized planning (Erdmann and Lozano-Perez 1987) keeps them apart: walks are found one after another, and earlier
characters are moving obstacles for later ones.
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

# Fractions of the minimum distance and factors of the beam width that are tried, in this order, before a character is
# left out.
_NEARER = ((1.0, 1), (1.0, 4), (0.8, 4), (0.6, 8))


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The result of `crowd`.

    Attributes
    ----------
    found : for each path the walk along it; None if there is no way between the others.
    places : (T, M, 2) position of each character on each frame in meters; NaN where absent.
    nearest : smallest distance in meters between any two at the same time; infinity for one character.
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
    """Find a walk along each path so that the characters keep a distance from each other.

    Parameters
    ----------
    paths : (N, 2) x, z in meters, each; a character whose path ends before `seconds` leaves there.
    seconds : duration.
    apart : minimum distance in meters between the hips of any two; if there is no walk, 0.8 and 0.6 times this is
        tried.
    width : beam width; see `follow`.
    rng : seed; each character gets its own, so that no two walk alike.
    progress : called with the fraction done.
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
    """The smallest distance in meters between any two of (T, M, 2) at the same time."""
    nearest = np.inf
    for here in places:
        there = here[np.isfinite(here).all(axis=1)]
        if len(there) > 1:
            away = np.hypot(*(there[:, None] - there[None]).transpose(2, 0, 1))
            nearest = min(nearest, float(away[np.triu_indices(len(there), 1)].min()))
    return nearest


def crossing_paths(n: int, radius: float, rng: int | np.random.Generator = 0) -> list[Floats]:
    """Paths (2, 2) for n characters that stand around a circle and cross to its other side.

    Their directions are evenly spaced with jitter, and some start further out, so that not all meet in the middle.
    """
    if n < 1 or not (np.isfinite(radius) and radius > 0.0):
        raise InvalidValue(f"expected at least 1 character and a radius above 0 m, got {n} and {radius}")
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
    """The walk at the largest distance for which there is one, or None."""
    for share, wider in _NEARER:
        try:
            return follow(
                graph, path, others=others, apart=share * apart, seconds=seconds, width=wider * width, rng=seed
            )
        except NoResult:
            continue
    return None
