"""Where a character can go, how soon, and with which heading: an embedding in the plane (Heck 6.2.2.2, figure 6.11).

After Reitsma and Pollard 2007: expand everything its clips can lead to on a grid of positions and headings. Of clip
ends in the same cell with nearly the same parameters, only the earliest are expanded further, from their exact
position, so that errors do not add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.control.outlook import Outlook, even_shares, outlook_of
from marey.control.outlook_kernels import read_rows
from marey.control.reach_kernels import ReachGrid, keep_new, pass_cells
from marey.core.arrays import Floats, Ints, check_index, freeze_array, reduce_frozen, set_readonly
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.pmg import ParametricMotionGraph

__all__ = ["Reach", "reach"]

# Values of the first and of each other parameter to try in each box, and bins per parameter that distinguish one clip
# end from another.
_TRIED = (9, 2)
_BINS = (5, 2)
# Seconds by which a clip end must beat another in its cell to be expanded too.
_SOONER = 0.25
# Clip ends to expand at once, which limits memory.
_AT_ONCE = 2000
_MAX_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Cells of position and heading, and how soon a character can be in each; made by `reach`.

    x, z : (n,) meters, centers of the cells. headings : (H,) radians from +Z, positive to the left.
    seconds : (n, n, H) earliest time for x, z and heading; infinite if not reached in time.
    near : (n, n, H) meters from the center of the cell to the nearest path through it, infinite likewise.
    longest : time limit in seconds.
    states : number of clip ends expanded.
    """

    x: Floats
    z: Floats
    headings: Floats
    seconds: Floats
    near: Floats
    longest: float
    states: int

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("x", "z", "headings"):
            put(self, name, freeze_array(getattr(self, name), name, (None,)))
        shape = (len(self.x), len(self.z), len(self.headings))
        for name in ("seconds", "near"):
            # The arrays hold infinities, which `frozen` would reject.
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != shape or np.isnan(values).any():
                raise InvalidValue(f"{name} must have shape {shape} and no NaN, got {values.shape}")
            put(self, name, set_readonly(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    @property
    def cell(self) -> float:
        """Edge length of a cell in meters."""
        return float(self.x[1] - self.x[0])

    def within(self, seconds: float | None = None) -> Ints:
        """(n, n) number of headings reached at each position within some seconds, by default the time limit."""
        limit = self.longest if seconds is None else float(seconds)
        return np.asarray((self.seconds <= limit).sum(axis=2))

    def soonest(self, points: ArrayLike, heading: float | None = None) -> Floats:
        """(...) seconds until points (..., 2) can be reached, with a heading or any; infinite if never.

        A point counts as reached when its cell is.
        """
        at = np.asarray(points, dtype=np.float64)
        if at.ndim < 1 or at.shape[-1] != 2 or not np.isfinite(at).all():
            raise InvalidValue(f"points must be finite with shape (..., 2), got {at.shape}")
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
        """(H,) seconds until each heading can be faced, at any position: how fast the character responds."""
        return np.asarray(self.seconds.min(axis=(0, 1)))

    def share(self, radius: float, seconds: float | None = None) -> tuple[float, float]:
        """Fraction of the positions within a radius that are reached at all, and of their headings."""
        places = np.hypot(self.x[:, None], self.z) <= radius
        counts = self.within(seconds)[places]
        return float((counts > 0).mean()), float(counts.mean() / len(self.headings))

    def as_dict(self) -> dict[str, float]:
        """The metrics by name, for JSON and tables."""
        some = np.isfinite(self.seconds)
        places, headings = self.share(0.5 * float(self.x[-1]))
        return {
            "seconds": self.longest,
            "cell": self.cell,
            "headings": float(len(self.headings)),
            "cells_reached": float(some.sum()),
            "places_within_half": places,
            "headings_within_half": headings,
            "near_mean": float(self.near[some].mean()) if some.any() else float("inf"),
            "quarter_turn_seconds": float(
                max(self._max_seconds_to_turn(0.5 * np.pi), self._max_seconds_to_turn(-0.5 * np.pi))
            ),
            "half_turn_seconds": self._max_seconds_to_turn(np.pi),
        }

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

    It begins at the origin, facing +Z.

    Parameters
    ----------
    seconds : time limit.
    cell : meters, edge length of a cell.
    headings : number of headings in a full circle.
    start : a node to begin with, any of its clips (the first node by default); or a node and parameters, for a clip
        that has been played and is about to be left.
    """
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise InvalidValue(f"seconds must be above 0, got {seconds!r}")
    if not (np.isfinite(cell) and cell > 0.0):
        raise InvalidValue(f"a cell must be wider than 0 m, got {cell!r}")
    if check_index(headings, "headings") < 4:
        raise InvalidValue(f"expected at least 4 headings, got {headings}")
    if not graph.nodes:
        raise InvalidValue(f"{graph.name!r} has no nodes yet; add a node first")
    grid = _Grid(outlook_of(graph), float(seconds), float(cell), int(headings))
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
    """The cells, and which clip ends have been followed."""

    def __init__(self, outlook: Outlook, longest: float, cell: float, n_headings: int) -> None:
        outlook.prepare()
        self.outlook, self.longest, self.cell, self.n_headings = outlook, longest, cell, n_headings
        self.durations = {name: _durations(outlook, name) for name in outlook.graph.nodes}
        tables = [outlook.table(name) for name in outlook.graph.nodes]
        pace = max(
            table.longest / max(float(self.durations[name].min()), 1e-6)
            for name, table in zip(outlook.graph.nodes, tables, strict=True)
        )
        self.n = 2 * int(np.ceil(pace * longest / cell)) + 1
        if self.n**2 * n_headings > _MAX_CELLS:
            raise InvalidValue(
                f"{self.n} x {self.n} places with {n_headings} headings are more than {_MAX_CELLS:,} cells; use "
                "larger cells, or fewer seconds"
            )
        n_cells = self.n**2 * n_headings
        self.soonest, self.near = np.full(n_cells, np.inf), np.full(n_cells, np.inf)
        self.known: dict[str, Floats] = {}

    def begin(self, start: str | tuple[str, ArrayLike] | None) -> list[_ClipEnds]:
        """The ends of the clips that the character may begin with."""
        graph = self.outlook.graph
        if isinstance(start, tuple):
            name, given = start
            return [_ClipEnds(name, np.zeros((1, 3)), graph.node(name).checked(given)[None], np.zeros(1))]
        node = graph.node(next(iter(graph.nodes)) if start is None else start)
        unit = _box_fractions(node.n_dims, 2)
        parameters = node.low + unit * (node.high - node.low)
        n = len(unit)
        return self._add_clips(node.name, parameters, np.zeros((n, 3)), np.zeros(n), np.zeros(n))

    def follow(self, ends: _ClipEnds) -> list[_ClipEnds]:
        """The new ends of all clips that can follow."""
        out = []
        graph = self.outlook.graph
        for target in self.outlook.table(ends.node).boxes:
            unit = _box_fractions(graph.node(target).n_dims, 1)
            for begin in range(0, len(ends.places), _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                chosen, enter, parent = self.outlook.choices(ends.node, target, ends.parameters[part], unit)
                join = self.outlook.join(ends.node, target)
                here = join.entered(ends.parameters[part][parent], chosen, ends.places[part][parent])
                gone = ends.seconds[part][parent]
                out += self._add_clips(target, chosen, here, enter, gone)
        return out

    def _add_clips(self, node: str, parameters: Floats, here: Floats, enter: Floats, gone: Floats) -> list[_ClipEnds]:
        """Enter clips of a node into the cells, and return those of their ends that are new."""
        table = self.outlook.table(node)
        ways = self.outlook.ways(node, parameters, here, enter)
        read = np.empty((len(parameters), 2))
        rows = np.stack([table.leave, self.durations[node]], axis=1)
        read_rows(table.axes, rows, parameters, read)
        after = gone + np.maximum(read[:, 0] - enter, 0.0) * read[:, 1]
        grid = ReachGrid(self.longest, self.cell, self.n, self.n_headings)
        pass_cells(ways, gone, after, grid, self.soonest, self.near)
        bins, n_bins = _find_bins(table.axes, parameters)
        if node not in self.known:
            self.known[node] = np.full((len(self.soonest), n_bins), np.inf)
        kept = np.empty(len(parameters), dtype=np.int64)
        places = np.ascontiguousarray(ways[:, -1])
        count = keep_new(places, bins, after, grid, _SOONER, self.known[node], kept)
        row = kept[:count]
        return [_ClipEnds(node, places[row], parameters[row], after[row])] if count else []


def _durations(outlook: Outlook, name: str) -> Floats:
    """(G,) durations in seconds of the clips in a node's table."""
    node = outlook.graph.node(name)
    return np.array([node.motion(each).duration for each in outlook.table(name).grid])


def _box_fractions(n_dims: int, times: int) -> Floats:
    """(K, d) fractions of a box to try."""
    first = times * (_TRIED[0] - 1) + 1
    return even_shares((first, *[_TRIED[1]] * (n_dims - 1)))


def _find_bins(axes: Floats, parameters: Floats) -> tuple[Ints, int]:
    """(N,) bin of parameters (N, d), and the number of bins."""
    counts = [_BINS[0], *[_BINS[1]] * (len(axes) - 1)]
    out = np.zeros(len(parameters), dtype=np.int64)
    for k, count in enumerate(counts):
        first, step, n = axes[k]
        share = (parameters[:, k] - first) / (step * max(n - 1.0, 1.0))
        out = out * count + np.clip((share * count).astype(np.int64), 0, count - 1)
    return out, int(np.prod(counts))
