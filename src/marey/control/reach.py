"""Compute where a character can go, how soon, and with which heading: its embedding in the plane.

See Heck 6.2.2.2, figure 6.11, and Reitsma and Pollard 2007. The search expands all clips that can follow, on a grid of
positions and headings. Of clip ends in the same cell with nearly the same parameters, only the earliest are expanded
further. They are expanded from their exact position, so errors do not add up.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.control.lookahead import LookaheadTable, get_lookahead_table, grid_fractions
from marey.control.lookahead_kernels import read_rows
from marey.control.reach_kernels import ReachGrid, keep_new, pass_cells
from marey.core.arrays import Floats, FrozenRecord, Ints, check_index, set_readonly
from marey.deprecation import renamed_fields, renamed_method
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.pmg import ParametricMotionGraph

__all__ = ["ClipLengths", "Reach", "clip_lengths", "reach"]

# Numbers of values to try in each box: for the first parameter, and for each other one. Then the numbers of bins that
# distinguish clip ends, likewise.
_TRIED = (9, 2)
_BINS = (5, 2)
# Seconds by which a clip end must be earlier than another in its cell to be expanded too.
_SOONER = 0.25
# Number of clip ends to expand at once; limits memory.
_AT_ONCE = 2000
_MAX_CELLS = 20_000_000


@renamed_fields(near="distances", longest="time_limit")
@dataclass(frozen=True, slots=True, eq=False)
class Reach(FrozenRecord):
    """Cells of position and heading, and how soon a character can reach each of them. Returned by `reach`.

    x, z : (n,) centers of the cells, meters. headings : (H,) radians from +Z, positive to the left.
    seconds : (n, n, H) earliest time for x, z and heading; infinite if not reached within the time limit.
    distances : (n, n, H) meters from the center of the cell to the nearest path through it; infinite if there is none.
    time_limit : seconds.
    states : number of clip ends expanded.
    """

    x: Floats
    z: Floats
    headings: Floats
    seconds: Floats
    distances: Floats
    time_limit: float
    states: int

    def __post_init__(self) -> None:
        self._freeze(x=(None,), z=(None,), headings=(None,))
        shape = (len(self.x), len(self.z), len(self.headings))
        for name in ("seconds", "distances"):
            # The arrays contain infinities, which `_freeze` rejects by default.
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != shape or np.isnan(values).any():
                raise InvalidValue(f"{name} must have shape {shape} and no NaN, not shape {values.shape}")
            self._put(**{name: set_readonly(values)})

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
        points : (..., 2) x and z in meters. heading : radians from +Z; None for any.
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
            "near_mean": float(self.distances[some].mean()) if some.any() else float("inf"),
            "quarter_turn_seconds": float(
                max(self._max_seconds_to_turn(0.5 * np.pi), self._max_seconds_to_turn(-0.5 * np.pi))
            ),
            "half_turn_seconds": self._max_seconds_to_turn(np.pi),
        }

    as_dict = renamed_method("as_dict", "to_dict")
    share = renamed_method("share", "fraction")

    def _max_seconds_to_turn(self, angle: float) -> float:
        n = len(self.headings)
        return float(self.turning()[round(angle / (2.0 * np.pi) * n) % n])


class _ClipEnds(NamedTuple):
    """Ends of N clips of one node: places (N, 3) rigid2d, parameters (N, d), seconds (N,)."""

    node: str
    places: Floats
    parameters: Floats
    seconds: Floats


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
        raise InvalidValue(f"seconds must be greater than 0, not {seconds!r}")
    if not (np.isfinite(cell) and cell > 0.0):
        raise InvalidValue(f"cell must be greater than 0 m, not {cell!r}")
    if check_index(headings, "headings") < 4:
        raise InvalidValue(f"headings must be at least 4, not {headings}")
    if not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes yet; add a node first")
    grid = _Grid(get_lookahead_table(graph), float(seconds), float(cell), int(headings))
    ends = grid.begin(start)
    states = 0
    while ends:
        states += sum(len(each.places) for each in ends)
        ends = [after for each in ends for after in grid.follow(each)]
    shape = (grid.n, grid.n, grid.n_headings)
    middles = grid.cell * np.arange(-(grid.n // 2), grid.n // 2 + 1, dtype=np.float64)
    angles = rigid2d.wrap_angle(np.arange(grid.n_headings) * (2.0 * np.pi / grid.n_headings))
    found = grid.soonest.reshape(shape), grid.near.reshape(shape)
    return Reach(middles, middles, np.asarray(angles), *found, grid.longest, states)


class _Grid:
    """The cells, and which clip ends have been expanded."""

    def __init__(self, lookahead: LookaheadTable, longest: float, cell: float, n_headings: int) -> None:
        lookahead.prepare()
        self.lookahead, self.longest, self.cell, self.n_headings = lookahead, longest, cell, n_headings
        self.durations = {name: _durations(lookahead, name) for name in lookahead.graph.nodes}
        tables = [lookahead.table(name) for name in lookahead.graph.nodes]
        pace = max(
            table.longest / max(float(self.durations[name].min()), 1e-6)
            for name, table in zip(lookahead.graph.nodes, tables, strict=True)
        )
        self.n = 2 * int(np.ceil(pace * longest / cell)) + 1
        if self.n**2 * n_headings > _MAX_CELLS:
            raise InvalidValue(
                f"{self.n} x {self.n} places with {n_headings} headings are too many cells (maximum "
                f"{_MAX_CELLS:,}); use larger cells, or fewer seconds"
            )
        n_cells = self.n**2 * n_headings
        self.soonest, self.near = np.full(n_cells, np.inf), np.full(n_cells, np.inf)
        self.known: dict[str, Floats] = {}

    def begin(self, start: str | tuple[str, ArrayLike] | None) -> list[_ClipEnds]:
        """Return the ends of the clips with which the character may start."""
        graph = self.lookahead.graph
        if isinstance(start, tuple):
            name, given = start
            return [_ClipEnds(name, np.zeros((1, 3)), graph[name].project(given)[None], np.zeros(1))]
        node = graph[next(iter(graph.nodes)) if start is None else start]
        unit = _box_fractions(node.n_dims, 2)
        parameters = node.project(node.low + unit * (node.high - node.low))
        n = len(unit)
        return self._add_clips(node.name, parameters, np.zeros((n, 3)), np.zeros(n), np.zeros(n))

    def follow(self, ends: _ClipEnds) -> list[_ClipEnds]:
        """Return the new ends of all clips that can follow the given ends."""
        out = []
        graph = self.lookahead.graph
        for target in self.lookahead.table(ends.node).boxes:
            unit = _box_fractions(graph[target].n_dims, 1)
            for begin in range(0, len(ends.places), _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                chosen, enter, parent = self.lookahead.choices(ends.node, target, ends.parameters[part], unit)
                join = self.lookahead.join(ends.node, target)
                here = join.entered(ends.parameters[part][parent], chosen, ends.places[part][parent])
                gone = ends.seconds[part][parent]
                out += self._add_clips(target, chosen, here, enter, gone)
        return out

    def _add_clips(self, node: str, parameters: Floats, here: Floats, enter: Floats, gone: Floats) -> list[_ClipEnds]:
        """Record clips of a node in the cells they pass, and return those of their ends that are new.

        parameters : (N, d). here : (N, 3) rigid2d where the clips begin. enter : (N,) moments at which they begin.
        gone : (N,) seconds before.
        """
        table = self.lookahead.table(node)
        paths = self.lookahead.lay_paths(node, parameters, here, enter)
        read = np.empty((len(parameters), 2))
        rows = np.stack([table.leave, self.durations[node]], axis=1)
        read_rows(table.axes, rows, parameters, read)
        after = gone + np.maximum(read[:, 0] - enter, 0.0) * read[:, 1]
        grid = ReachGrid(self.longest, self.cell, self.n, self.n_headings)
        pass_cells(paths, gone, after, grid, self.soonest, self.near)
        bins, n_bins = _find_bins(table.axes, parameters)
        if node not in self.known:
            self.known[node] = np.full((len(self.soonest), n_bins), np.inf)
        new = np.empty(len(parameters), dtype=np.int64)
        places = np.ascontiguousarray(paths[:, -1])
        count = keep_new(places, bins, after, grid, _SOONER, self.known[node], new)
        row = new[:count]
        return [_ClipEnds(node, places[row], parameters[row], after[row])] if count else []


def _durations(lookahead: LookaheadTable, name: str) -> Floats:
    """Return the durations (G,) in seconds of the clips in a node's table."""
    node = lookahead.graph[name]
    return np.array([node.motion(each).duration for each in lookahead.table(name).grid])


def _box_fractions(n_dims: int, times: int) -> Floats:
    """Return the fractions (K, d) of a box to try; `times` multiplies the number of steps of the first parameter."""
    first = times * (_TRIED[0] - 1) + 1
    return grid_fractions((first, *[_TRIED[1]] * (n_dims - 1)))


def _find_bins(axes: Floats, parameters: Floats) -> tuple[Ints, int]:
    """Return the bin index (N,) of parameters (N, d), and the number of bins."""
    counts = [_BINS[0], *[_BINS[1]] * (len(axes) - 1)]
    out = np.zeros(len(parameters), dtype=np.int64)
    for k, count in enumerate(counts):
        first, step, n = axes[k]
        fraction = (parameters[:, k] - first) / (step * max(n - 1.0, 1.0))
        out = out * count + np.clip((fraction * count).astype(np.int64), 0, count - 1)
    return out, int(np.prod(counts))


@renamed_fields(least="min", most="max")
@dataclass(frozen=True, slots=True, eq=False)
class ClipLengths:
    """Durations of the clips of a node, in seconds.

    node : name of the node. mean, min, max : durations of complete clips. played : mean duration of the played part,
    from the incoming transition to the outgoing one; NaN for a node without incoming or outgoing edges.
    """

    node: str
    mean: float
    min: float
    max: float
    played: float

    def to_dict(self) -> dict[str, Any]:
        """Return the durations by name, for JSON and tables."""
        return asdict(self)


def clip_lengths(
    character: ParametricMotionGraph, *, n: int = 100, rng: int | np.random.Generator = 0
) -> tuple[ClipLengths, ...]:
    """Measure the clip durations of each node of a character.

    Parameters
    ----------
    n : number of sample clips per node: the corners of its parameter ranges first, then random ones.
    rng : seed or Generator for the samples.
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
