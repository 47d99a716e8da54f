"""The distance grid of two gaits and the path through it, computed in pieces so that clips of any length fit into
memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marey.compare import distance_grid
from marey.core.arrays import Bools, Floats, Ints
from marey.layer.gait import Gait
from marey.layer.phase_kernels import find_path

# Seconds compared around a frame. Knees look the same passing forward and backward, but not over this long.
WINDOW = 0.2
# Maximum rate in Hz at which frames are compared; frames in between are interpolated.
CELL_RATE = 60.0
# m^2 that a step off the diagonal costs, so that the path is only warped where this reduces the distance.
_STRAY = 1e-5
# m^2 that being a full cycle out of step costs, times the squared phase error: a tenth costs as much as 5 cm apart.
_OUT_OF_STEP = 0.25
# m^2 by which a valley must be deeper than its sides before its bottom is refined. A flatter one is a standing
# character, where differences are only rounding errors.
_FLAT = 1e-7
# Rows processed together, and how many of them are processed again with the next piece, as a path's end is uncertain.
_PIECE, _AGAIN = 1500, 240


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Frames of a lower gait (rows) compared with frames of an upper gait (columns).

    rows, columns : (R,) and (C,) frames of each clip, evenly spaced and possibly fractional.
    fps : rate of the rows; the columns are treated as if they had the same rate.
    """

    lower: Gait
    upper: Gait
    rows: Floats
    columns: Floats
    fps: float

    def distances(self, rows: slice, columns: slice) -> tuple[Floats, Floats]:
        """D of hips and knees in a rectangle, m^2, and the cost of frames that are out of step."""
        reach = math.ceil(0.5 * WINDOW * self.fps)
        wide = [slice(max(0, part.start - reach), part.stop + reach) for part in (rows, columns)]
        a = self.lower.sample_clouds(self.rows[wide[0]], self.fps)
        b = self.upper.sample_clouds(self.columns[wide[1]], self.fps)
        inner = [
            slice(part.start - more.start, part.stop - more.start)
            for part, more in zip((rows, columns), wide, strict=True)
        ]
        apart = distance_grid(a, b, window=WINDOW).values[inner[0], inner[1]]
        below, above = self.lower.phase_at(self.rows[rows]), self.upper.phase_at(self.columns[columns])
        return apart, _penalize_phase(below, above)


@dataclass(frozen=True, slots=True, eq=False)
class CellPath:
    """A path through all rows.

    columns : (R,) the column of each row, possibly fractional; they keep counting up when the columns repeat.
    cost : m^2, mean over the rows of the squared distance D plus the penalty for being out of step.
    distance : meters, root of the mean D.
    """

    columns: Floats
    cost: float
    distance: float


def find_best_path(
    cells: Cells, source: Callable[[Ints], Ints], n_starts: int, limit: int, held: Bools
) -> CellPath | None:
    """Find the cheapest path through all rows, starting in one of the first `n_starts` columns; None if there is none.

    Parameters
    ----------
    source : converts running column numbers to columns of the cells; -1 after the last one.
    limit : the slope limit.
    held : (R,) True where the lower clip stands still, so that the upper clip may wait for it.
    """
    n_rows = len(cells.rows)
    columns = np.empty(n_rows)
    costs, apart = np.empty(n_rows), np.empty(n_rows)
    first, start = 0, 0
    while True:
        stop = min(first + _PIECE, n_rows)
        taken = source(np.arange(start, start + n_starts + limit * (stop - first)))
        taken = taken[taken >= 0]
        if not len(taken):
            return None
        low, high = int(taken.min()), int(taken.max()) + 1
        near, late = (part[:, taken - low] for part in cells.distances(slice(first, stop), slice(low, high)))
        found = _find_best_columns(near + late, n_starts, limit, held[first:stop])
        if found is None:
            return None
        path, moves = found
        n_final = stop - first if stop == n_rows else stop - first - _AGAIN
        i, j = np.arange(n_final), np.rint(path[:n_final]).astype(np.int64)
        columns[first : first + n_final] = start + (path + moves)[:n_final]
        costs[first : first + n_final] = (near + late)[i, j]
        apart[first : first + n_final] = near[i, j]
        if stop == n_rows:
            return CellPath(columns, float(costs.mean()), float(np.sqrt(max(apart.mean(), 0.0))))
        start += math.floor(path[n_final])
        first += n_final
        n_starts = 2


def _penalize_phase(lower: Floats, upper: Floats) -> Floats:
    """(R, C) m^2, cost of frames at different points of the cycle; 0 where either has no phase."""
    apart = upper[None, :] - lower[:, None]
    apart -= np.rint(apart)
    return np.where(np.isnan(apart), 0.0, _OUT_OF_STEP * apart * apart)


def _find_best_columns(grid: Floats, n_starts: int, limit: int, held: Bools) -> tuple[Floats, Floats] | None:
    """(R,) column of each row, and the distance from there to the minimum between cells; None if there is no path."""
    columns = np.empty(len(grid))
    cost = find_path(np.ascontiguousarray(grid), n_starts, limit, _STRAY, held, columns)
    return (columns, find_moves_across(grid, columns)) if np.isfinite(cost) else None


def find_moves_across(grid: Floats, columns: Floats) -> Floats:
    """(R,) columns from the path to the minimum across it, from a parabola through the neighboring cells.

    Across means both one row back and one column ahead, so a clip's own grid favors neither side.
    """
    n_rows, n_columns = grid.shape
    i, j = np.arange(n_rows), np.rint(columns).astype(np.int64)
    inside = (i > 0) & (i < n_rows - 1) & (j > 0) & (j < n_columns - 1)
    before, after = np.clip(i - 1, 0, n_rows - 1), np.clip(i + 1, 0, n_rows - 1)
    left, right = np.clip(j - 1, 0, n_columns - 1), np.clip(j + 1, 0, n_columns - 1)
    here, ahead, behind = grid[i, j], grid[before, right], grid[after, left]
    bend = (ahead - here) + (behind - here)
    usable = inside & (bend > _FLAT)
    move = np.divide(0.5 * (behind - ahead), bend, where=usable, out=np.zeros(n_rows))
    # Cells on stairs are off the path by up to half a cell already.
    return np.asarray(np.clip(2.0 * np.clip(move, -0.5, 0.5) + (j - columns), -1.0, 1.0))
