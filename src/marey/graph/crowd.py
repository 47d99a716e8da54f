"""Crowds: several characters from one graph, each on its own path (Kovar 4.3.3, "Crowds").

Prioritized planning (Erdmann and Lozano-Perez 1987) keeps them apart: walks are planned one after another, and earlier
characters are moving obstacles for later ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats
from marey.core.feet import Feet
from marey.core.motion import Motion
from marey.core.settings import Seed, operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoResult
from marey.graph.follow import PathResult, follow
from marey.graph.settings import GraphCrowdSettings, count_frames

if TYPE_CHECKING:
    from marey.graph.motion_graph import MotionGraph

# Factors for the minimum distance and for the beam width, tried in order before a character is left out.
_NEARER = ((1.0, 1), (1.0, 4), (0.8, 4), (0.6, 8))
_MAX_CHARACTERS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The result of `crowd`.

    Attributes
    ----------
    found : the walk along each path; None if no walk keeps clear of the earlier characters.
    places : (T, M, 2) hip positions x, z in meters of M characters on T frames; NaN where absent.
    nearest : smallest distance in meters between any two characters at the same time; infinity for one character.
    """

    found: tuple[PathResult | None, ...]
    places: Floats = field(repr=False)
    nearest: float

    def motions(self, *, feet: Feet = "clean", name: str = "character") -> tuple[Motion, ...]:
        """Return the motions of the characters that have a walk, with names numbered from 0; see `Walk.motion`."""
        walks = [result.walk for result in self.found if result is not None]
        return tuple(walk.motion(feet=feet, name=f"{name}{k:03}") for k, walk in enumerate(walks))

    def to_dict(self) -> dict[str, Any]:
        """Return how many characters have a walk and how close they come to each other, JSON-ready."""
        n = sum(result is not None for result in self.found)
        return {"characters": n, "left_out": len(self.found) - n, "nearest_m": self.nearest if n > 1 else None}


@renamed_parameters(apart="min_distance", width="beam_width")
@operation(GraphCrowdSettings)
def crowd(graph: MotionGraph, paths: Sequence[ArrayLike], settings: GraphCrowdSettings) -> Crowd:
    """Find a walk along each path, with the characters kept apart.

    Parameters
    ----------
    graph : the graph.
    paths : one path per character, each (N, 2) x, z in meters. A character that reaches the end of its path before
        the time is up disappears there.

    Examples
    --------
    >>> paths = [np.array([[0.0, 0.0], [0.0, 3.0]]), np.array([[3.0, 0.0], [3.0, 3.0]])]
    >>> result = marey.graph.crowd(graph, paths, seconds=2.0)
    >>> len(result.motions()), result.nearest > 1.0  # meters
    (2, True)
    """
    if not len(paths):
        raise InvalidValue("paths must contain at least one path, not none")
    rng, progress = settings.rng, settings.progress
    places = np.full((count_frames(settings.seconds, graph.fps), len(paths), 2), np.nan)
    found: list[PathResult | None] = []
    seeds = (
        rng.integers(2**31, size=len(paths)) if isinstance(rng, np.random.Generator) else rng + np.arange(len(paths))
    )
    for k, path in enumerate(paths):
        walk = _find_walk(graph, path, places[:, :k], settings, int(seeds[k]))
        found.append(walk)
        if walk is not None:
            places[: len(walk.walked_path), k] = walk.walked_path
        if progress is not None:
            progress((k + 1) / len(paths))
    return Crowd(tuple(found), places, nearest_pair(places))


def nearest_pair(places: Floats) -> float:
    """Return the smallest distance in meters between any two of M positions (T, M, 2) on the same frame."""
    nearest = np.inf
    for here in places:
        there = here[np.isfinite(here).all(axis=1)]
        if len(there) > 1:
            away = np.hypot(*(there[:, None] - there[None]).transpose(2, 0, 1))
            nearest = min(nearest, float(away[np.triu_indices(len(there), 1)].min()))
    return nearest


def crossing_paths(n: int, radius: float, rng: Seed = 0) -> list[Floats]:
    """Make straight paths, each (2, 2), for n characters that stand around a circle and cross to its other side.

    Start directions are evenly spaced with random jitter. Two of three characters start farther out, so they do not all
    meet in the middle.

    Parameters
    ----------
    n : number of characters, at most 1000.
    radius : radius in meters of the innermost starting circle; paths end at twice this radius.
    rng : seed or generator for the jitter.

    Examples
    --------
    >>> paths = marey.graph.crossing_paths(3, radius=2.0)
    >>> len(paths), paths[0].shape
    (3, (2, 2))
    """
    if not 1 <= n <= _MAX_CHARACTERS or not (np.isfinite(radius) and radius > 0.0):
        raise InvalidValue(
            f"n must be from 1 to {_MAX_CHARACTERS} and radius finite and greater than 0 m, not {n} and {radius:g}"
        )
    generator = np.random.default_rng(rng)
    angle = 2.0 * np.pi * (np.arange(n) + generator.uniform(-0.2, 0.2, n)) / n
    across = angle + np.pi + generator.uniform(-0.5, 0.5, n)
    out = radius * (1.0 + 0.35 * (np.arange(n) % 3))
    begin = np.stack([np.sin(angle), np.cos(angle)], axis=1) * out[:, None]
    end = np.stack([np.sin(across), np.cos(across)], axis=1) * (radius * 2.0)
    return [np.stack([a, b]) for a, b in zip(begin, end, strict=True)]


def _find_walk(
    graph: MotionGraph, path: ArrayLike, other_characters: Floats, settings: GraphCrowdSettings, seed: int
) -> PathResult | None:
    """Find a walk, with the minimum distances and beam widths of `_NEARER` in order; return None if all fail."""
    for fraction, wider in _NEARER:
        try:
            return follow(
                graph,
                path,
                other_characters=other_characters,
                min_distance=fraction * settings.min_distance,
                seconds=settings.seconds,
                beam_width=wider * settings.beam_width,
                rng=seed,
            )
        except NoResult:
            continue
    return None
