"""The kept cells of one pair's grid, row by row in runs: what a match web holds instead of the grid.

A value is the root of D, in grids in units of `STEP`, in cells to the nearest `COARSE` units: 0.1 mm, which is what a
search tells of a distance. A run has its first value, and the rise from each of its cells to the next in one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, Ints, convert_array, freeze_array, reduce_frozen, set_readonly
from marey.errors import InvalidValue
from marey.find.cells_kernels import (
    Runs,
    WideRuns,
    encode_cells,
    find_value_range,
    join_lists,
    list_cells,
    list_kept_cells,
    list_wide_cells,
    take_right_cells,
    transpose_cells,
    unpack_cells,
    unpack_wide_cells,
)

STEP = 1e-5
"""Metres to one unit of a grid's values."""

COARSE = 10
"""Units to which values of cells are rounded."""

TOO_FAR = 65535
"""The value of cells that nothing looks at: 0.65535 m and beyond."""

# Cells of a run, and steps of `COARSE` units from one to the next, at most: what a byte holds.
_LONGEST, _STEEPEST = 255, 127
# Offsets are of 32 bits, as there are many.
_MOST = 2**31 - 1

Units = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """Kept cells of an R by C grid.

    Parameters
    ----------
    shape : R and C.
    row_counts : (R,) runs of each row, uint16 where C allows it, else int32.
    run_first : (N,) first column of each run, likewise.
    run_lengths : (N,) uint8 cells of each run. Runs of a row are in order; they touch where one is full, or where
        values rise or fall too steeply.
    run_bases : (N,) uint16 each run's first value, the root of D in `COARSE` units.
    rises : (M - N,) int8 from each cell of a run to the next.

    Attributes
    ----------
    row_runs, row_rises : (R + 1,) int32 where each row's runs and rises begin. They follow from the rest.
    """

    shape: tuple[int, int]
    row_counts: NDArray[np.uint16] | NDArray[np.int32] = field(repr=False)
    run_first: NDArray[np.uint16] | NDArray[np.int32] = field(repr=False)
    run_lengths: NDArray[np.uint8] = field(repr=False)
    run_bases: NDArray[np.uint16] = field(repr=False)
    rises: NDArray[np.int8] = field(repr=False)
    row_runs: NDArray[np.int32] = field(init=False, repr=False)
    row_rises: NDArray[np.int32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n_rows, n_columns = (int(n) for n in self.shape)
        put = object.__setattr__
        put(self, "shape", (n_rows, n_columns))
        narrow = np.uint16 if n_columns < 2**16 else np.int32
        put(self, "row_counts", _narrowed(self.row_counts, "row_counts", (n_rows,), narrow))
        put(self, "run_first", _narrowed(self.run_first, "run_first", (None,), narrow))
        n_runs = len(self.run_first)
        put(self, "run_lengths", _narrowed(self.run_lengths, "run_lengths", (n_runs,), np.uint8))
        put(self, "run_bases", _narrowed(self.run_bases, "run_bases", (n_runs,), np.uint16))
        put(self, "rises", _narrowed(self.rises, "rises", (None,), np.int8))
        if len(self) > _MOST:
            raise InvalidValue(
                f"one pair of clips may keep {_MOST} cells of its grid, got {len(self)}; cut clips, or lower limit="
            )
        runs = np.concatenate([[0], np.cumsum(self.row_counts, dtype=np.int64)])
        cells = np.concatenate([[0], np.cumsum(self.run_lengths, dtype=np.int64)])
        if runs[-1] != n_runs:
            raise InvalidValue(f"row_counts must add up to the number of runs, {n_runs}, got {runs[-1]}")
        if (self.run_lengths == 0).any() or cells[-1] != len(self):
            raise InvalidValue(
                f"run_lengths must be above 0 and add up to the number of runs and rises, {len(self)}, got {cells[-1]}"
            )
        put(self, "row_runs", set_readonly(runs.astype(np.int32)))
        put(self, "row_rises", set_readonly((cells[runs] - runs).astype(np.int32)))
        self._check()

    def _check(self) -> None:
        """Refuse runs that lie wrongly, before any loop relies on them."""
        ends = self.run_first.astype(np.int64) + self.run_lengths
        if ends.max(initial=0) > self.shape[1]:
            raise InvalidValue(f"runs of cells must lie within the {self.shape[1]} columns of the grid")
        overlapping = np.asarray(self.run_first[1:] < ends[:-1])
        begins = self.row_runs[(self.row_runs > 0) & (self.row_runs < len(self.run_first))]
        overlapping[begins - 1] = False
        if overlapping.any():
            raise InvalidValue("the runs of a row must be in order and not overlap")
        least, most = find_value_range(self.run_lengths, self.run_bases, self.rises)
        if least < 0 or most * COARSE >= TOO_FAR:
            raise InvalidValue(f"values of cells must be from 0 to {TOO_FAR // COARSE}, got {least} to {most}")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __repr__(self) -> str:
        return f"<Cells: {len(self)} of {self.shape[0]} x {self.shape[1]}>"

    def __len__(self) -> int:
        return len(self.run_first) + len(self.rises)

    @classmethod
    def of(cls, values: Units, kept: Bools) -> Cells:
        """The cells of a dense grid (R, C), in units of `STEP`, where `kept` is set."""
        mask = np.ascontiguousarray(kept, dtype=bool).view(np.uint8)
        return _encoded(values.shape, *list_kept_cells(mask, np.ascontiguousarray(values)))

    @property
    def saved(self) -> tuple[NDArray[Any], ...]:
        """What the cells are made of: row_counts, run_first, run_lengths, run_bases and rises."""
        return self.row_counts, self.run_first, self.run_lengths, self.run_bases, self.rises

    @property
    def runs(self) -> Runs | WideRuns:
        """The cells as kernels take them."""
        record: Any = Runs if self.run_first.dtype == np.uint16 else WideRuns
        runs: Runs | WideRuns = record(self.row_runs, self.row_rises, *self.saved[1:])
        return runs

    @property
    def nbytes(self) -> int:
        """Bytes of `saved`."""
        return sum(array.nbytes for array in self.saved)

    def units(self, rows: slice = slice(None), columns: slice = slice(None)) -> Units:
        """Values of a part of the grid, `TOO_FAR` where no cell is kept."""
        (top, bottom, _), (left, right, _) = rows.indices(self.shape[0]), columns.indices(self.shape[1])
        out = np.full((max(bottom - top, 0), max(right - left, 0)), TOO_FAR, dtype=np.uint16)
        runs = self.runs
        if isinstance(runs, Runs):
            unpack_cells(runs, COARSE, (top, left), out)
        else:
            unpack_wide_cells(runs, COARSE, (top, left), out)
        return out

    def dense(self, rows: slice = slice(None), columns: slice = slice(None)) -> Floats:
        """D of a part of the grid, m^2, infinite where no cell is kept."""
        units = self.units(rows, columns)
        return np.where(units == TOO_FAR, np.inf, (units * STEP) ** 2)

    def transposed(self) -> Cells:
        """The same cells with rows for columns."""
        return _encoded(self.shape[::-1], *transpose_cells(*self.listed(), self.shape[1]))

    def upper(self) -> Cells:
        """The cells on the diagonal and right of it."""
        return _encoded(self.shape, *take_right_cells(*self.listed(), 0))

    def mirrored(self) -> Cells:
        """Of a clip's own grid, the cells on the diagonal and right of it, and their mirror images."""
        right = take_right_cells(*self.listed(), 0)
        left = transpose_cells(*take_right_cells(*right, 1), self.shape[1])
        return _side_by_side([left, right], self.shape)

    def listed(self) -> tuple[Any, Any, Any]:
        """The cells one by one: where each row begins (R + 1,), columns (M,), units (M,)."""
        runs = self.runs
        return list_cells(runs, COARSE) if isinstance(runs, Runs) else list_wide_cells(runs, COARSE)


def join_columns(parts: Sequence[Cells], firsts: Sequence[int], n_columns: int) -> Cells:
    """Cells of tiles that stand side by side, from column `firsts` on each, as those of one grid."""
    if len(parts) == 1 and firsts[0] == 0 and parts[0].shape[1] == n_columns:
        return parts[0]
    lists = []
    for part, first in zip(parts, firsts, strict=True):
        starts, columns, units = part.listed()
        lists.append((starts, columns + np.int32(first), units))
    return _side_by_side(lists, (parts[0].shape[0], n_columns))


def join_rows(parts: Sequence[Cells]) -> Cells:
    """Cells of tiles below one another as those of one grid."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.saved for part in parts), strict=True)
    shape = (sum(part.shape[0] for part in parts), parts[0].shape[1])
    return Cells(shape, *(set_readonly(np.concatenate(column)) for column in columns))


def _side_by_side(lists: Sequence[tuple[Any, Any, Any]], shape: tuple[int, int]) -> Cells:
    before: Ints = np.concatenate([[0], np.cumsum([len(columns) for _, columns, _ in lists])])[:-1].astype(np.int64)
    starts = np.stack([starts for starts, _, _ in lists]) + before[:, None]
    columns, units = (np.concatenate([each[k] for each in lists]) for k in (1, 2))
    return _encoded(shape, *join_lists(starts, columns, units))


def _encoded(shape: tuple[int, ...], starts: Any, columns: Any, units: Any) -> Cells:
    arrays: tuple[NDArray[Any], ...] = encode_cells(starts, columns, units, COARSE, _LONGEST, _STEEPEST)
    return Cells((shape[0], shape[1]), *map(set_readonly, arrays))


def _narrowed(value: Any, name: str, shape: tuple[int | None, ...], dtype: Any) -> NDArray[Any]:
    """As `frozen`, of integers that `dtype` can hold."""
    given = np.asarray(value)
    if given.dtype != dtype:
        wide, room = convert_array(given, name, np.int64), np.iinfo(dtype)
        if wide.size and (wide.min() < room.min or wide.max() > room.max):
            raise InvalidValue(f"{name} must be from {room.min} to {room.max}, got {wide.min()} to {wide.max()}")
        given = set_readonly(wide.astype(dtype))
    return freeze_array(given, name, shape, dtype)
