"""Compute where a character can go, how soon, and with which heading: its embedding in the plane.

See Heck 6.2.2.2, figure 6.11, and Reitsma and Pollard 2007. The times come from the planner's table of points with
headings: see `marey.control.planner`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marey.control.clip_model import grid_fractions, start_clips
from marey.control.planner import get_planner
from marey.core.arrays import Floats, FrozenRecord, Ints, check_index, set_readonly
from marey.core.reports import ReportBase
from marey.deprecation import renamed_fields, renamed_methods
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.pmg import ParametricMotionGraph

__all__ = ["ClipLengths", "Reach", "clip_lengths", "reach"]

# Numbers of first clips to try: values of the first parameter, and of each other one.
_TRIED = (17, 2)
_MAX_CELLS = 20_000_000


@renamed_methods(as_dict="to_dict", share="fraction")
@renamed_fields(longest="time_limit")
@dataclass(frozen=True, slots=True, eq=False)
class Reach(FrozenRecord):
    """Cells of position and heading, and how soon a character can reach each of them. Returned by `reach`.

    x, z : (n,) centers of the cells, meters.
    headings : (H,) radians from +Z, positive to the left.
    seconds : (n, n, H) earliest time for x, z and heading; infinite if not reached within the time limit.
    time_limit : seconds.

    Examples
    --------
    >>> from marey.control.reach import reach
    >>> found = reach(character, seconds=3.0)
    >>> found.seconds.shape == (len(found.x), len(found.z), len(found.headings))
    True
    >>> bool(found.soonest([0.0, 2.0]) < 3.0)  # seconds to x = 0 m, z = 2 m
    True
    """

    x: Floats
    z: Floats
    headings: Floats
    seconds: Floats
    time_limit: float

    def __post_init__(self) -> None:
        self._freeze(x=(None,), z=(None,), headings=(None,))
        shape = (len(self.x), len(self.z), len(self.headings))
        # The array contains infinities, which `_freeze` rejects by default.
        values = np.array(self.seconds, dtype=np.float64)
        if values.shape != shape or np.isnan(values).any():
            raise InvalidValue(f"seconds must have shape {shape} and no NaN, not shape {values.shape}")
        self._put(seconds=set_readonly(values))

    @property
    def cell(self) -> float:
        """Edge length of a cell in meters."""
        return float(self.x[1] - self.x[0])

    def within(self, seconds: float | None = None) -> Ints:
        """Return the number of headings (n, n) reached at each position within `seconds`, by default the time limit."""
        limit = self.time_limit if seconds is None else float(seconds)
        return np.asarray((self.seconds <= limit).sum(axis=2))

    def soonest(self, points: ArrayLike, heading: float | None = None) -> Floats:
        """Return the seconds (...) until points can be reached; infinite if never.

        A point counts as reached when its cell is.

        Parameters
        ----------
        points : (..., 2) x and z in meters.
        heading : radians from +Z; None for any.
        """
        at = np.asarray(points, dtype=np.float64)
        if at.ndim < 1 or at.shape[-1] != 2 or not np.isfinite(at).all():
            raise InvalidValue(f"points must be finite with shape (..., 2), not shape {at.shape}")
        n, cell = len(self.x), self.cell
        ij = np.floor(at / cell + 0.5).astype(np.int64) + n // 2
        inside = np.asarray(((ij >= 0) & (ij < n)).all(axis=-1))
        ij = np.where(inside[..., None], ij, 0)
        found = self.seconds[ij[..., 0], ij[..., 1]]
        if heading is None:
            best = found.min(axis=-1)
        else:
            best = found[..., round(float(heading) / (2.0 * np.pi) * len(self.headings)) % len(self.headings)]
        return np.asarray(np.where(inside, best, np.inf))

    def turning(self) -> Floats:
        """Return the seconds (H,) until each heading can be faced, at any position: the response time to a turn."""
        return np.asarray(self.seconds.min(axis=(0, 1)))

    def fraction(self, radius: float, seconds: float | None = None) -> tuple[float, float]:
        """Return the fraction of positions within a radius (meters) that are reached, and of their headings.

        seconds : time limit; by default that of the search.
        """
        places = np.hypot(self.x[:, None], self.z) <= radius
        counts = self.within(seconds)[places]
        return float((counts > 0).mean()), float(counts.mean() / len(self.headings))

    def to_dict(self) -> dict[str, float]:
        """Return the metrics by name, for JSON and tables."""
        some = np.isfinite(self.seconds)
        places, headings = self.fraction(0.5 * float(self.x[-1]))
        return {
            "seconds": self.time_limit,
            "cell": self.cell,
            "headings": float(len(self.headings)),
            "cells_reached": float(some.sum()),
            "places_within_half": places,
            "headings_within_half": headings,
            "quarter_turn_seconds": float(
                max(self._max_seconds_to_turn(0.5 * np.pi), self._max_seconds_to_turn(-0.5 * np.pi))
            ),
            "half_turn_seconds": self._max_seconds_to_turn(np.pi),
        }

    def _max_seconds_to_turn(self, angle: float) -> float:
        n = len(self.headings)
        return float(self.turning()[round(angle / (2.0 * np.pi) * n) % n])


def reach(
    graph: ParametricMotionGraph,
    *,
    seconds: float = 5.0,
    cell: float = 0.25,
    headings: int = 16,
    start: str | tuple[str, ArrayLike] | None = None,
) -> Reach:
    """Compute which positions and headings a character can reach within some seconds.

    The character starts at the origin, facing +Z.

    Parameters
    ----------
    graph : the character.
    seconds : time limit.
    cell : edge length of a cell in meters.
    headings : number of headings in a full circle, at least 4.
    start : name of the node to start with, at any of its clips (by default the first node of the graph); or a pair of
        node and parameters (d,), for a clip that has been played and is about to be left.
    """
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise InvalidValue(f"seconds must be finite and greater than 0, not {seconds!r}")
    if not (np.isfinite(cell) and cell > 0.0):
        raise InvalidValue(f"cell must be finite and greater than 0 m, not {cell!r}")
    if check_index(headings, "headings") < 4:
        raise InvalidValue(f"headings must be at least 4, not {headings}")
    if not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes yet; add a node first")
    planner = get_planner(graph)
    model = planner.model
    if isinstance(start, tuple):
        name, given = start
        node, parameters = graph[name], graph[name].project(given)[None]
        paths, gone = np.zeros((1, 2, 3)), np.zeros(1)
    else:
        node = graph[next(iter(graph.nodes)) if start is None else start]
        unit = grid_fractions((_TRIED[0], *[_TRIED[1]] * (node.n_dims - 1)))
        parameters = node.project(node.low + unit * (node.high - node.low))
        n_clips = len(parameters)
        starts = start_clips(parameters, np.zeros(n_clips), np.zeros((n_clips, 3)))
        paths, gone = model.lay_paths(node.name, starts)
    pace = max(table.pace for table in model.tables.values())
    n = 2 * int(np.ceil(pace * seconds / cell)) + 1
    if n**2 * headings > _MAX_CELLS:
        raise InvalidValue(
            f"{n} x {n} places with {headings} headings are too many cells (maximum {_MAX_CELLS:,}); use larger "
            "cells, or fewer seconds"
        )
    middles = cell * np.arange(-(n // 2), n // 2 + 1, dtype=np.float64)
    angles = np.asarray(rigid2d.wrap_angle(np.arange(headings) * (2.0 * np.pi / headings)))
    x, z, heading = np.meshgrid(middles, middles, angles, indexing="ij")
    places = np.ascontiguousarray(np.stack([heading, x, z], axis=-1).reshape(-1, 3))
    found = planner.seconds_to(places, node.name, parameters, paths, gone).reshape(n, n, headings)
    return Reach(middles, middles, angles, np.where(found <= seconds, found, np.inf), float(seconds))


@renamed_fields(least="min", most="max")
@dataclass(frozen=True, slots=True, eq=False)
class ClipLengths(ReportBase):
    """Durations of the clips of a node, in seconds.

    node : name of the node.
    mean, min, max : durations of complete clips.
    played : mean duration of the played part, from the incoming transition to the outgoing one; NaN for a node without
        incoming or outgoing edges.
    """

    node: str
    mean: float
    min: float
    max: float
    played: float


def clip_lengths(
    character: ParametricMotionGraph, *, n: int = 100, rng: int | np.random.Generator = 0
) -> tuple[ClipLengths, ...]:
    """Measure the clip durations of each node of a character.

    Parameters
    ----------
    n : number of sample clips per node: the corners of its parameter ranges first, then random ones.
    rng : seed or Generator for the samples.

    Examples
    --------
    >>> lengths = marey.control.clip_lengths(character, n=5)
    >>> lengths[0].node, 0.5 < lengths[0].mean < 2.0  # seconds
    ('walk', True)
    """
    if n < 1:
        raise InvalidValue(f"n must be at least 1 sample per node, not {n}")
    if not character.nodes:
        raise InvalidValue(f"{character.name!r} has no nodes yet; add a node first")
    generator = np.random.default_rng(rng)
    rows = []
    for name, node in character.nodes.items():
        chosen = node.samples(n, generator, corners=True)
        seconds = np.array([node.motion(each).duration for each in chosen])
        left = [edge.moments[:, 0].mean() for edge in character.out_edges(name)]
        entered = [edge.moments[:, 1].mean() for edge in character.edges.values() if edge.target == name]
        fraction = float(np.mean(left) - np.mean(entered)) if left and entered else float("nan")
        rows.append(
            ClipLengths(
                name, float(seconds.mean()), float(seconds.min()), float(seconds.max()), fraction * seconds.mean()
            )
        )
    return tuple(rows)
