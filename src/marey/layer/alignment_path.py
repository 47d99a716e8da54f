"""Find the best path through the distance grid of two gaits, in chunks, so clips of any length fit into memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marey.compare import distance_grid
from marey.core.arrays import Bools, Floats, Ints
from marey.layer.gait import Gait
from marey.layer.time_alignment_kernels import find_path

# Length in seconds of the window compared around a frame. A single pose does not show whether a knee moves forward or
# backward; a window of this length does.
WINDOW = 0.2
# Maximum rate in Hz at which frames are compared; frames in between are interpolated.
CELL_RATE = 60.0
# Cost in m^2 of a step off the diagonal: time is warped only where this reduces the distance.
STRAY = 1e-5
# The same if a clip has no steps. Its hips and knees hardly determine the timing, so it plays at its own speed unless
# another speed clearly reduces the distance.
STRAY_WITHOUT_STEPS = 4e-3
# Cost in m^2 of a phase error, times the squared error in cycles: 0.1 cycles cost as much as a distance of 5 cm.
_OUT_OF_STEP = 0.25
# The minimum across the path is refined only if it is deeper than its sides by this much, in m^2. In a flatter valley
# the character stands still, and differences are only rounding errors.
_FLAT = 1e-7
# Number of rows per chunk, and how many of its last rows are processed again in the next chunk, because the end of a
# path is uncertain.
_PIECE, _AGAIN = 1500, 240


@dataclass(frozen=True, slots=True, eq=False)
class GaitGrid:
    """A grid that compares frames of the lower-body gait (rows) with frames of the upper-body gait (columns).

    lower, upper : the two gaits.
    rows, columns : (R,) and (C,) frame numbers in each clip, evenly spaced, possibly fractional.
    fps : frame rate of the rows; the columns are treated as if they had the same rate.
    stray : cost in m^2 of a step off the diagonal.
    """

    lower: Gait
    upper: Gait
    rows: Floats
    columns: Floats
    fps: float
    stray: float = STRAY

    def distances(self, rows: slice, columns: slice) -> tuple[Floats, Floats]:
        """Return distances D of hips and knees and costs of phase errors in a rectangle of the grid, both in m^2."""
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
    """A path through all rows of a grid.

    columns : (R,) column for each row, possibly fractional; it keeps counting up when a cyclic clip repeats.
    cost : mean over the rows of D (a squared distance) plus the cost of phase errors, in m^2.
    distance : square root of the mean of D, in meters.
    """

    columns: Floats
    cost: float
    distance: float


def find_best_path(
    cells: GaitGrid, source: Callable[[Ints], Ints], n_starts: int, limit: int, held: Bools
) -> CellPath | None:
    """Find the cheapest path through all rows, starting in one of the first `n_starts` columns; None if there is none.

    Parameters
    ----------
    cells : the grid.
    source : maps column numbers 0, 1, 2, ..., which may continue past the end of the clip, to columns of the grid. It
        returns -1 for numbers past the last column of a clip that does not repeat.
    limit : slope limit of the path.
    held : (R,) True where the lower clip stands still; there, the upper clip may wait.
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
        found = _find_best_columns(near + late, n_starts, limit, cells.stray, held[first:stop])
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
    """Return the cost (R, C) of phase errors, in m^2, for phases lower (R,) and upper (C,); 0 if either is NaN."""
    apart = upper[None, :] - lower[:, None]
    apart -= np.rint(apart)
    return np.where(np.isnan(apart), 0.0, _OUT_OF_STEP * apart * apart)


def _find_best_columns(
    grid: Floats, n_starts: int, limit: int, stray: float, held: Bools
) -> tuple[Floats, Floats] | None:
    """Find the column (R,) of each row, and the offset (R,) to the minimum between cells; None if no path exists."""
    columns = np.empty(len(grid))
    cost = find_path(np.ascontiguousarray(grid), n_starts, limit, stray, held, columns)
    return (columns, find_moves_across(grid, columns)) if np.isfinite(cost) else None


def find_moves_across(grid: Floats, columns: Floats) -> Floats:
    """Return the offset (R,), in columns, from the path to the minimum across it, by fitting a parabola.

    The neighbors across the path are one row back and one column ahead, and the reverse. A clip compared with itself
    therefore has no bias to either side.
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
    # Where the path has stair steps, cells are already up to half a cell off the path.
    return np.asarray(np.clip(2.0 * np.clip(move, -0.5, 0.5) + (j - columns), -1.0, 1.0))
