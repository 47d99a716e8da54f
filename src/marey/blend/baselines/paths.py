"""Find cheap paths through a distance grid, by the methods of Sako (5.2.1) or by dynamic timewarping.

A path is a series of cells (frame of the first motion, frame of the second). Each step advances one frame in one motion
or in both. At most `slope_limit` - 1 consecutive steps advance the same motion alone (3 in Sako 4.3). A path leads from
a start cell to the last cell, or ends where it first reaches the last row or column. Its cost is the sum of its cells.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from marey.blend.baselines.paths_kernels import (
    BOTH,
    DOWN,
    RIGHT,
    SearchGrid,
    SearchRules,
    SearchState,
    find_bottleneck,
    is_within_reach,
    next_state,
    search_paths,
)
from marey.core.arrays import Bools, Floats, Ints, check_index, freeze_array
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoTimewarp
from marey.register.dtw import TimeAlignment

# The slope limit of Sako; registration allows 2 (`marey.register.dtw.SLOPE_LIMIT`).
DISCRETE_SLOPE_LIMIT = 3
THRESHOLD = 0.33
TIME_LIMIT = 10.0

End = Literal["corner", "border"]
Start = Literal["corner", "third"] | tuple[int, int]

# Search steps between two checks of the time limit: a few milliseconds.
_BUDGET = 200_000
_GRAYS = 255
_LETTERS = {(0, 1): "r", (1, 0): "d", (1, 1): "x"}


@dataclass(frozen=True, slots=True, eq=False)
class GridPath(TimeAlignment):
    """A path through a grid, and how it was found.

    Parameters
    ----------
    cells : (N, 2) frames of the first and of the second motion, in order.
    distances : (N,) the grid's value in each cell.
    complete : False if the time limit ended the search, so that a better path may exist.
    visited : number of cells that the search entered.
    """

    complete: bool = True
    visited: int = 0

    def __post_init__(self) -> None:
        TimeAlignment.__post_init__(self)
        steps = np.diff(self.cells, axis=0)
        if ((steps < 0) | (steps > 1)).any() or (steps.sum(axis=1) < 1).any():
            k = int(np.argmax(((steps < 0) | (steps > 1)).any(axis=1) | (steps.sum(axis=1) < 1)))
            raise InvalidValue(
                "each step of a path must advance one motion or both by one frame, but the path goes from "
                f"{tuple(self.cells[k].tolist())} to {tuple(self.cells[k + 1].tolist())}"
            )

    @property
    def cost(self) -> float:
        """Sum of the path's cells."""
        return float(self.distances.sum())

    @property
    def directions(self) -> str:
        """Steps of the path, one letter each (Sako, figure 17): ``r`` right, ``d`` down, ``x`` both."""
        return "".join(_LETTERS[int(i), int(j)] for i, j in np.diff(self.cells, axis=0))


@renamed_parameters(share="fraction")
def start_cell(values: Floats, fraction: float = 1.0 / 3.0) -> tuple[int, int]:
    """Return the cheapest cell in the first third (Sako 5.3), or another fraction, of the first row and column."""
    grid = check_grid(values)
    if not 0.0 < fraction <= 1.0:
        raise InvalidValue(f"fraction must be greater than 0 and at most 1, not {fraction!r}")
    rows, columns = (max(1, round(fraction * n)) for n in grid.shape)
    i, j = int(np.argmin(grid[:rows, 0])), int(np.argmin(grid[0, :columns]))
    return (i, 0) if grid[i, 0] < grid[0, j] else (0, j)


def brute_force(
    values: Floats,
    *,
    start: Start = "corner",
    end: End = "corner",
    slope_limit: int = DISCRETE_SLOPE_LIMIT,
    time_limit: float | None = TIME_LIMIT,
) -> GridPath:
    """Find the cheapest path by exhaustive search (Sako, figure 13).

    From each cell, the search tries the step to the right, then down, then diagonally. The greedy path is the best path
    at the start. A branch is abandoned if it cannot become cheaper than the best path: its cost so far, plus the
    cheapest cell of every remaining row or column, is a lower bound. It is also abandoned if its cell was already
    reached at no higher cost. The time still grows fast with the size of the grid: after `time_limit` seconds (None for
    no limit), the best path so far is returned, with `complete` False.
    """
    grid = check_grid(values)
    first = greedy(grid, start=start, end=end, slope_limit=slope_limit)
    everywhere = np.ones(grid.shape, dtype=np.bool_)
    return _search(grid, everywhere, start, end, slope_limit, time_limit, short_first=False, first=first)


def threshold_search(
    values: Floats,
    *,
    threshold: float = THRESHOLD,
    start: Start = "corner",
    end: End = "corner",
    slope_limit: int = DISCRETE_SLOPE_LIMIT,
    time_limit: float | None = TIME_LIMIT,
) -> GridPath:
    """Find the cheapest path over cells below a threshold, short paths first (Sako 5.2.1, recursion with thresholds).

    Branches are abandoned as in `brute_force`. The search starts with the greedy path if that stays below the
    threshold.

    Parameters
    ----------
    threshold : fraction of the grid's largest cell above which cells are not visited; Sako found 0.30 to 0.35 best.

    Raises
    ------
    NoTimewarp : if no path stays below the threshold; the message says which threshold is enough.
    """
    grid = check_grid(values)
    if not 0.0 < threshold <= 1.0:
        raise InvalidValue(
            f"threshold must be a fraction of the largest cell, greater than 0 and at most 1, not {threshold!r}"
        )
    cell, run = _check_settings(grid, start, end, slope_limit)
    most = float(grid.max()) * (1.0 + 1e-12)
    dearest = float(find_bottleneck(grid, cell, end == "corner", run))
    if dearest > threshold * most:
        fraction = dearest / most
        raise NoTimewarp(
            f"no path from {cell} to the {end} keeps to cells of at most {100 * threshold:.4g} % of the largest; it "
            f"takes {100 * fraction:.4g} %, so raise the threshold to {np.ceil(1e3 * fraction) / 1e3:g}"
        )
    first = greedy(grid, start=cell, end=end, slope_limit=slope_limit)
    below = grid <= threshold * most
    return _search(
        grid, below, cell, end, slope_limit, time_limit, short_first=True,
        first=first if first.distances.max() <= threshold * most else None,
    )  # fmt: skip


def greedy(
    values: Floats, *, start: Start = "corner", end: End = "corner", slope_limit: int = DISCRETE_SLOPE_LIMIT
) -> GridPath:
    """Find a path that always enters the cheapest next cell that can still lead to the end (Sako, figure 13)."""
    grid = check_grid(values)
    (i, j), run = _check_settings(grid, start, end, slope_limit)
    rows, columns = grid.shape
    cells, state = [(i, j)], 0
    while (i, j) != (rows - 1, columns - 1) if end == "corner" else (i < rows - 1 and j < columns - 1):
        options = []
        for step, row, column in ((BOTH, i + 1, j + 1), (RIGHT, i, j + 1), (DOWN, i + 1, j)):
            after = next_state(state, step, run)
            inside = row < rows and column < columns and after >= 0
            if inside and (end == "border" or is_within_reach(rows - 1 - row, columns - 1 - column, after, run)):
                options.append((grid[row, column], row, column, after))
        # On ties, take the first option, the diagonal step: one diagonal step replaces two straight ones.
        _, i, j, state = min(options, key=lambda option: option[0])
        cells.append((i, j))
    return _make_path(grid, np.array(cells, dtype=np.int64), complete=True, visited=len(cells))


def dynamic(
    values: Floats, *, start: Start = "corner", end: End = "corner", slope_limit: int = DISCRETE_SLOPE_LIMIT
) -> GridPath:
    """Find the cheapest path by dynamic timewarping (Kovar 5.2.1), with `marey.register.dtw`.

    Unlike the other methods, its first step always advances both motions. With ``end="border"`` it ends where the mean
    of its cells is lowest.
    """
    from marey.register.dtw import dtw

    grid = check_grid(values)
    cell, run = _check_settings(grid, start, end, slope_limit)
    found = dtw(grid, start=cell, end=end, slope_limit=run + 1)
    return _make_path(grid, np.asarray(found.cells), complete=True, visited=int(grid.size))


def round_costs(values: Floats) -> Floats:
    """Return the cells rounded to gray levels from 0 to 255, as Sako does."""
    return np.asarray(np.rint(_GRAYS * values / max(float(values.max()), 1e-300)))


def check_grid(values: Any) -> Floats:
    """Return `values` as a grid of costs (R, C); raise an error if any is negative."""
    grid = freeze_array(values, "grid values", (None, None))
    if not grid.size:
        raise InvalidValue(f"a grid needs at least one cell, got shape {grid.shape}")
    if grid.min() < 0.0:
        raise InvalidValue(f"a grid's values must not be negative, got {grid.min():g}")
    return grid


# The search ---------------------------------------------------------------------------------------------------


def _check_settings(grid: Floats, start: Start, end: End, slope_limit: int) -> tuple[tuple[int, int], int]:
    """Check the arguments; return the start cell and the maximum number of consecutive straight steps."""
    run = check_index(slope_limit, "slope_limit") - 1
    if run < 0:
        raise InvalidValue(f"slope_limit must be at least 1, not {slope_limit}")
    if end not in ("corner", "border"):
        raise InvalidValue(f"`end` must be 'corner' or 'border', not {end!r}")
    cell = _resolve_start(grid, start)
    rows, columns = (n - 1 - k for n, k in zip(grid.shape, cell, strict=True))
    if end == "corner" and not (columns <= rows * (run + 1) + run and rows <= columns * (run + 1) + run):
        raise NoTimewarp(
            f"no path from {cell} to the last cell of {grid.shape[0]} x {grid.shape[1]} frames keeps to a slope limit "
            f"of {run + 1}: one motion is more than {run + 1} times as long as the other; crop the "
            "longer one, or raise the limit"
        )
    return cell, run


def _resolve_start(grid: Floats, start: Start) -> tuple[int, int]:
    if isinstance(start, str):
        if start not in ("corner", "third"):
            raise InvalidValue(f"start must be 'corner', 'third' or a cell (i, j), not {start!r}")
        return start_cell(grid) if start == "third" else (0, 0)
    try:
        i, j = start
    except (TypeError, ValueError):
        raise InvalidValue(f"start must be 'corner', 'third' or a cell (i, j), not {start!r}") from None
    cell = (check_index(i, "the start's row"), check_index(j, "the start's column"))
    if not (0 <= cell[0] < grid.shape[0] and 0 <= cell[1] < grid.shape[1]):
        raise InvalidValue(f"the start {cell} lies outside a grid of {grid.shape[0]} x {grid.shape[1]} cells")
    return cell


def _search(
    grid: Floats,
    allowed: Bools,
    start: Start,
    end: End,
    slope_limit: int,
    time_limit: float | None,
    *,
    short_first: bool,
    first: GridPath | None = None,
) -> GridPath:
    """Search depth first for a path that is cheaper than `first`.

    allowed : (R, C) cells that the path may use.
    time_limit : seconds after which the search stops; None for no limit.
    short_first : whether the shortest branch is tried first.
    """
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidValue(f"time_limit must be greater than 0 s, or None for no limit, not {time_limit!r}")
    cell, run = _check_settings(grid, start, end, slope_limit)
    to_corner = end == "corner"
    at_end = cell == (grid.shape[0] - 1, grid.shape[1] - 1)
    if at_end or (not to_corner and (cell[0] == grid.shape[0] - 1 or cell[1] == grid.shape[1] - 1)):
        return _make_path(grid, np.array([cell], dtype=np.int64), complete=True, visited=1)
    most = sum(grid.shape)
    stack, costs = np.zeros((most, 6), dtype=np.int64), np.zeros(most)
    seen = np.full((*grid.shape, 2 * run + 1), np.inf)
    path, best = np.zeros((most, 2), dtype=np.int64), np.array([np.inf])
    counts = np.array([1, 0, 1], dtype=np.int64)
    if first is not None:
        path[: len(first)], best[0], counts[1] = first.cells, first.cost, len(first)
    stack[0, :2], costs[0], seen[cell][0] = cell, grid[cell], grid[cell]
    cells = SearchGrid(
        grid, allowed, _sum_remaining_minima(grid, allowed, axis=1), _sum_remaining_minima(grid, allowed, axis=0)
    )
    rules, progress = SearchRules(to_corner, run, short_first), SearchState(seen, stack, costs, path, best, counts)
    stop = np.inf if time_limit is None else time.monotonic() + time_limit
    finished = False
    while not finished and time.monotonic() < stop:
        finished = search_paths(cells, rules, progress, _BUDGET)
    if not counts[1]:
        raise NoTimewarp(f"no path from {cell} to the {end} was found within {time_limit} s; allow more time")
    return _make_path(grid, path[: counts[1]].copy(), complete=finished, visited=int(counts[2]))


def _sum_remaining_minima(grid: Floats, allowed: Bools, axis: int) -> Floats:
    """Return, for each row (axis 1) or column (axis 0), the sum of the cheapest cells of all later rows or columns.

    allowed : (R, C) cells that count.
    """
    least = np.where(allowed, grid, np.inf).min(axis=axis)
    return np.concatenate([np.cumsum(least[::-1])[::-1][1:], [0.0]])


def _make_path(grid: Floats, cells: Ints, *, complete: bool, visited: int) -> GridPath:
    return GridPath(cells, grid[cells[:, 0], cells[:, 1]], complete, visited)
