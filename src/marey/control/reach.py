"""Where a character can get to, how soon, and facing which way: it is embedded in a plane (Heck 6.2.2.2, figure 6.11).

After Reitsma and Pollard 2007: all that its clips can lead to is followed over a grid of places and headings. Of the
clip ends that fall into one cell with nearly the same parameters only the soonest are followed on, and those from the
place that they really have, so that errors do not add up.
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

# Values of the first and of each other parameter that are tried of each box, and bins of both in which one clip end is
# told from another.
_TRIED = (9, 2)
_BINS = (5, 2)
# Seconds by which a clip end must be sooner than another in its cell to be followed too.
_SOONER = 0.25
# Clip ends that are followed at once: memory stays small.
_AT_ONCE = 2000
_MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Cells of place and heading, and how soon a character can be in each; made by `reach`.

    x, z : (n,) metres, middles of the cells. headings : (H,) radians from +Z, positive to the left.
    seconds : (n, n, H) soonest time for x, z and heading; infinite where it does not get in time.
    near : (n, n, H) metres from the middle of the cell to the nearest way through it, infinite likewise.
    longest : seconds that were followed.
    states : how many clip ends were followed.
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
            # They hold infinities, which `frozen` would refuse.
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != shape or np.isnan(values).any():
                raise InvalidValue(f"{name} must have shape {shape} and no NaN, got {values.shape}")
            put(self, name, set_readonly(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    @property
    def cell(self) -> float:
        """Metres of a cell."""
        return float(self.x[1] - self.x[0])

    def within(self, seconds: float | None = None) -> Ints:
        """(n, n) in how many headings each place is reached within some seconds, by default all that were followed."""
        limit = self.longest if seconds is None else float(seconds)
        return np.asarray((self.seconds <= limit).sum(axis=2))

    def soonest(self, points: ArrayLike, heading: float | None = None) -> Floats:
        """(...) seconds until points (..., 2) can be reached, facing a heading or any way; infinite where never.

        A point counts as reached with the cell that it lies in.
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
        """(H,) seconds until each heading can be faced, wherever: how fast the character answers."""
        return np.asarray(self.seconds.min(axis=(0, 1)))

    def share(self, radius: float, seconds: float | None = None) -> tuple[float, float]:
        """Shares of the places within a radius that are reached at all, and of their headings."""
        places = np.hypot(self.x[:, None], self.z) <= radius
        counts = self.within(seconds)[places]
        return float((counts > 0).mean()), float(counts.mean() / len(self.headings))

    def as_dict(self) -> dict[str, float]:
        """The figures by name, for JSON and tables."""
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
            "quarter_turn_seconds": float(max(self._turned(0.5 * np.pi), self._turned(-0.5 * np.pi))),
            "half_turn_seconds": self._turned(np.pi),
        }

    def _turned(self, angle: float) -> float:
        n = len(self.headings)
        return float(self.turning()[round(angle / (2.0 * np.pi) * n) % n])


class _Ends(NamedTuple):
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
    """Embed a character in a plane: which places, facing which way, it can be at within some seconds.

    It begins at the origin, facing +Z.

    Parameters
    ----------
    seconds : how far to follow it.
    cell : metres of a cell.
    headings : how many there are in a full circle.
    start : a node whose clips it may begin with, any of them (the first node by default); or a node and parameters, for
        a clip that has been played and is about to be left.
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
        if self.n**2 * n_headings > _MOST_CELLS:
            raise InvalidValue(
                f"{self.n} x {self.n} places with {n_headings} headings are more than {_MOST_CELLS:,} cells; take "
                "wider cells, or fewer seconds"
            )
        n_cells = self.n**2 * n_headings
        self.soonest, self.near = np.full(n_cells, np.inf), np.full(n_cells, np.inf)
        self.known: dict[str, Floats] = {}

    def begin(self, start: str | tuple[str, ArrayLike] | None) -> list[_Ends]:
        """The ends of the clips that it may begin with."""
        graph = self.outlook.graph
        if isinstance(start, tuple):
            name, given = start
            return [_Ends(name, np.zeros((1, 3)), graph.node(name).checked(given)[None], np.zeros(1))]
        node = graph.node(next(iter(graph.nodes)) if start is None else start)
        unit = _shares(node.n_dims, 2)
        parameters = node.low + unit * (node.high - node.low)
        n = len(unit)
        return self._ended(node.name, parameters, np.zeros((n, 3)), np.zeros(n), np.zeros(n))

    def follow(self, ends: _Ends) -> list[_Ends]:
        """The ends of all clips that can follow, as far as they are new."""
        out = []
        graph = self.outlook.graph
        for target in self.outlook.table(ends.node).boxes:
            unit = _shares(graph.node(target).n_dims, 1)
            for begin in range(0, len(ends.places), _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                chosen, enter, parent = self.outlook.choices(ends.node, target, ends.parameters[part], unit)
                join = self.outlook.join(ends.node, target)
                here = join.entered(ends.parameters[part][parent], chosen, ends.places[part][parent])
                gone = ends.seconds[part][parent]
                out += self._ended(target, chosen, here, enter, gone)
        return out

    def _ended(self, node: str, parameters: Floats, here: Floats, enter: Floats, gone: Floats) -> list[_Ends]:
        """Clips of a node, entered into the cells; those of their ends that are new."""
        table = self.outlook.table(node)
        ways = self.outlook.ways(node, parameters, here, enter)
        read = np.empty((len(parameters), 2))
        rows = np.stack([table.leave, self.durations[node]], axis=1)
        read_rows(table.axes, rows, parameters, read)
        after = gone + np.maximum(read[:, 0] - enter, 0.0) * read[:, 1]
        grid = ReachGrid(self.longest, self.cell, self.n, self.n_headings)
        pass_cells(ways, gone, after, grid, self.soonest, self.near)
        bins, n_bins = _bins(table.axes, parameters)
        if node not in self.known:
            self.known[node] = np.full((len(self.soonest), n_bins), np.inf)
        kept = np.empty(len(parameters), dtype=np.int64)
        places = np.ascontiguousarray(ways[:, -1])
        count = keep_new(places, bins, after, grid, _SOONER, self.known[node], kept)
        row = kept[:count]
        return [_Ends(node, places[row], parameters[row], after[row])] if count else []


def _durations(outlook: Outlook, name: str) -> Floats:
    """(G,) seconds of the clips in a node's table."""
    node = outlook.graph.node(name)
    return np.array([node.motion(each).duration for each in outlook.table(name).grid])


def _shares(n_dims: int, times: int) -> Floats:
    """(K, d) shares of a box that are tried."""
    first = times * (_TRIED[0] - 1) + 1
    return even_shares((first, *[_TRIED[1]] * (n_dims - 1)))


def _bins(axes: Floats, parameters: Floats) -> tuple[Ints, int]:
    """(N,) in which bin parameters (N, d) are, and how many bins there are."""
    counts = [_BINS[0], *[_BINS[1]] * (len(axes) - 1)]
    out = np.zeros(len(parameters), dtype=np.int64)
    for k, count in enumerate(counts):
        first, step, n = axes[k]
        share = (parameters[:, k] - first) / (step * max(n - 1.0, 1.0))
        out = out * count + np.clip((share * count).astype(np.int64), 0, count - 1)
    return out, int(np.prod(counts))
