"""Compressed storage for the kept cells of a distance grid. A match web stores them in place of the grid.

The value of a cell is the square root of D, the squared distance of two frames after alignment. Grids store it in units
of `STEP`; kept cells round it to `COARSE` units, which is 0.1 mm, the precision of distances in a search. Consecutive
cells of a row form a run, which stores its first value and one byte for the change from each cell to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints, convert_array, freeze_array, set_readonly
from marey.deprecation import renamed_classmethod, renamed_methods
from marey.errors import InvalidValue
from marey.find import packing_kernels
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
"""Meters per unit of a grid's values."""

COARSE = 10
"""Values of kept cells are rounded to multiples of this many units."""

TOO_FAR = 65535
"""The value, in units, of cells that are never used: 0.65535 m and beyond."""

# Maximum number of cells of a run, and maximum change from one cell to the next in `COARSE` units; each fits in a byte.
_MAX_RUN, _MAX_RISE = 255, 127
# Offsets have 32 bits to save memory.
_MAX_CELLS = 2**31 - 1

Units = NDArray[np.uint16]


@renamed_methods(listed="to_lists", mirrored="mirror", saved="arrays", transposed="transpose")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells(FrozenRecord):
    """The M kept cells of an R by C grid, stored as N runs.

    Parameters
    ----------
    shape : R and C.
    row_counts : (R,) number of runs in each row; uint16 if C < 65536, else int32.
    run_first : (N,) first column of each run; same type.
    run_lengths : (N,) uint8, number of cells in each run. The runs of a row are sorted. Two runs touch if the first is
        full, or if the value changes too much from one cell to the next.
    run_bases : (N,) uint16, first value of each run: the square root of D in `COARSE` units.
    rises : (M - N,) int8, change in value from each cell of a run to the next.

    Attributes
    ----------
    row_runs, row_rises : (R + 1,) int32, index of each row's first run and first rise; computed.

    Examples
    --------
    >>> cells = web.cells(0, 0)
    >>> cells.shape == (len(take), len(take))
    True
    >>> cells.dense(slice(0, 20), slice(0, 30)).shape  # square meters
    (20, 30)
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
        self._put(shape=(n_rows, n_columns))
        narrow = np.uint16 if n_columns < 2**16 else np.int32
        self._put(
            row_counts=_to_narrow_integers(self.row_counts, "row_counts", (n_rows,), narrow),
            run_first=_to_narrow_integers(self.run_first, "run_first", (None,), narrow),
        )
        n_runs = len(self.run_first)
        self._put(
            run_lengths=_to_narrow_integers(self.run_lengths, "run_lengths", (n_runs,), np.uint8),
            run_bases=_to_narrow_integers(self.run_bases, "run_bases", (n_runs,), np.uint16),
            rises=_to_narrow_integers(self.rises, "rises", (None,), np.int8),
        )
        if len(self) > _MAX_CELLS:
            raise InvalidValue(
                f"a pair of clips may have at most {_MAX_CELLS} cells, not {len(self)}; cut the clips into "
                "shorter ones, or lower `max_distance=`",
                parameter="max_distance",
            )
        runs = np.concatenate([[0], np.cumsum(self.row_counts, dtype=np.int64)])
        cells = np.concatenate([[0], np.cumsum(self.run_lengths, dtype=np.int64)])
        if runs[-1] != n_runs:
            raise InvalidValue(f"row_counts must add up to the number of runs, {n_runs}, not {runs[-1]}")
        if (self.run_lengths == 0).any() or cells[-1] != len(self):
            raise InvalidValue(
                "run_lengths must be greater than 0 and add up to the number of runs and rises, "
                f"{len(self)}, not {cells[-1]}"
            )
        self._put(
            row_runs=set_readonly(runs.astype(np.int32)), row_rises=set_readonly((cells[runs] - runs).astype(np.int32))
        )
        self._check()

    def _check(self) -> None:
        """Raise an error for invalid runs, before any kernel uses them as indices."""
        ends = self.run_first.astype(np.int64) + self.run_lengths
        if ends.max(initial=0) > self.shape[1]:
            raise InvalidValue(
                f"run {int(np.argmax(ends))} ends at column {ends.max()}, but the grid has {self.shape[1]} columns"
            )
        overlapping = np.asarray(self.run_first[1:] < ends[:-1])
        begins = self.row_runs[(self.row_runs > 0) & (self.row_runs < len(self.run_first))]
        overlapping[begins - 1] = False
        if overlapping.any():
            raise InvalidValue(
                f"run {int(np.argmax(overlapping)) + 1} overlaps the run before it; the runs of a row must be "
                "sorted and must not overlap"
            )
        low, high = find_value_range(self.run_lengths, self.run_bases, self.rises)
        if low < 0 or high * COARSE >= TOO_FAR:
            raise InvalidValue(f"cell values must be from 0 to {TOO_FAR // COARSE}, not {low} to {high}")

    of = renamed_classmethod("of", "from_grid")

    def __repr__(self) -> str:
        return f"<Cells: {len(self)} of {self.shape[0]} x {self.shape[1]}>"

    def __len__(self) -> int:
        return len(self.run_first) + len(self.rises)

    @classmethod
    def from_grid(cls, values: Units, kept: Bools) -> Cells:
        """Compress the cells of a grid where `kept` is True.

        values : (R, C) square roots of D in units of `STEP`.
        kept : (R, C) mask.
        """
        mask = np.ascontiguousarray(kept, dtype=bool).view(np.uint8)
        return _encode(values.shape, *list_kept_cells(mask, np.ascontiguousarray(values)))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The stored arrays: row_counts, run_first, run_lengths, run_bases and rises."""
        return self.row_counts, self.run_first, self.run_lengths, self.run_bases, self.rises

    @property
    def runs(self) -> Runs | WideRuns:
        """The cells in the form that kernels need."""
        record: Any = Runs if self.run_first.dtype == np.uint16 else WideRuns
        runs: Runs | WideRuns = record(self.row_runs, self.row_rises, *self.arrays[1:])
        return runs

    @property
    def nbytes(self) -> int:
        """Size of `arrays` in bytes."""
        return sum(array.nbytes for array in self.arrays)

    def units(self, rows: slice = slice(None), columns: slice = slice(None)) -> Units:
        """Return the values of a part of the grid in units of `STEP`; `TOO_FAR` where no cell is kept."""
        (top, bottom, _), (left, right, _) = rows.indices(self.shape[0]), columns.indices(self.shape[1])
        out = np.full((max(bottom - top, 0), max(right - left, 0)), TOO_FAR, dtype=np.uint16)
        runs = self.runs
        if isinstance(runs, Runs):
            unpack_cells(runs, COARSE, (top, left), out)
        else:
            unpack_wide_cells(runs, COARSE, (top, left), out)
        return out

    def dense(self, rows: slice = slice(None), columns: slice = slice(None)) -> Floats:
        """Return D of a part of the grid, (rows, columns) in m^2; infinite where no cell is kept."""
        units = self.units(rows, columns)
        return np.where(units == TOO_FAR, np.inf, (units * STEP) ** 2)

    def transpose(self) -> Cells:
        """Exchange rows and columns."""
        return _encode(self.shape[::-1], *transpose_cells(*self.to_lists(), self.shape[1]))

    def upper(self) -> Cells:
        """Return only the cells on the diagonal and to the right of it."""
        return _encode(self.shape, *take_right_cells(*self.to_lists(), 0))

    def mirror(self) -> Cells:
        """Return the cells on the diagonal and to the right of it, and their mirror images: the complete symmetric grid
        of a clip with itself."""
        right = take_right_cells(*self.to_lists(), 0)
        left = transpose_cells(*take_right_cells(*right, 1), self.shape[1])
        return _join_lists([left, right], self.shape)

    def to_lists(self) -> tuple[Any, Any, Any]:
        """Decompress all M cells. Return the index of each row's first cell (R + 1,), the column of each cell (M,),
        and its value in units of `STEP` (M,)."""
        runs = self.runs
        return list_cells(runs, COARSE) if isinstance(runs, Runs) else list_wide_cells(runs, COARSE)


def join_columns(parts: Sequence[Cells], firsts: Sequence[int], n_columns: int) -> Cells:
    """Join tiles that are side by side; tile k starts at column ``firsts[k]``."""
    if len(parts) == 1 and firsts[0] == 0 and parts[0].shape[1] == n_columns:
        return parts[0]
    lists = []
    for part, first in zip(parts, firsts, strict=True):
        starts, columns, units = part.to_lists()
        lists.append((starts, columns + np.int32(first), units))
    return _join_lists(lists, (parts[0].shape[0], n_columns))


def join_rows(parts: Sequence[Cells]) -> Cells:
    """Join tiles that are stacked vertically, top first."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.arrays for part in parts), strict=True)
    shape = (sum(part.shape[0] for part in parts), parts[0].shape[1])
    return Cells(shape, *(set_readonly(np.concatenate(column)) for column in columns))


def _join_lists(lists: Sequence[tuple[Any, Any, Any]], shape: tuple[int, int]) -> Cells:
    before: Ints = np.concatenate([[0], np.cumsum([len(columns) for _, columns, _ in lists])])[:-1].astype(np.int64)
    starts = np.stack([starts for starts, _, _ in lists]) + before[:, None]
    columns, units = (np.concatenate([each[k] for each in lists]) for k in (1, 2))
    return _encode(shape, *join_lists(starts, columns, units))


def _encode(shape: tuple[int, ...], starts: Any, columns: Any, units: Any) -> Cells:
    arrays: tuple[NDArray[Any], ...] = encode_cells(starts, columns, units, COARSE, _MAX_RUN, _MAX_RISE)
    return Cells((shape[0], shape[1]), *map(set_readonly, arrays))


PACKED_TYPES = (np.int32, np.int8, np.int32, np.int8, np.int8, np.uint16)
"""Types of the arrays of `compress_cells`."""


def compress_cells(cells: Cells) -> tuple[NDArray[Any], ...]:
    """Return cells as arrays that compress well: intervals per row, edges, far edges, planes, lines and far values.

    See `marey.find.packing_kernels`.
    """
    starts, columns, units = cells.to_lists()
    m = len(columns)
    counts = np.empty(cells.shape[0], dtype=np.int32)
    edges, far_edges = np.empty(2 * m, dtype=np.int8), np.empty(2 * m, dtype=np.int32)
    n_edges, n_far_edges = packing_kernels.pack_edges(starts, columns, counts, edges, far_edges)
    planes, lines, far = np.empty(m, dtype=np.int8), np.empty(m, dtype=np.int8), np.empty(m, dtype=np.uint16)
    values = units // np.uint16(COARSE)
    n_planes, n_lines, n_far = packing_kernels.pack_values(starts, columns, values, cells.shape[1], planes, lines, far)
    long = edges[:n_edges], far_edges[:n_far_edges], planes[:n_planes], lines[:n_lines], far[:n_far]
    return counts, *(each.copy() for each in long)


def restore_cells(shape: tuple[int, int], packed: tuple[NDArray[Any], ...]) -> tuple[Cells, tuple[NDArray[Any], ...]]:
    """Undo `compress_cells` for a grid of this shape; also return what is left of the arrays.

    Raises `ValueError` if the arrays are damaged.
    """
    counts, edges, far_edges, planes, lines, far = packed
    own, left = counts[: shape[0]], counts[shape[0] :]
    n = int(own.sum(dtype=np.int64))
    if len(own) < shape[0] or own.min(initial=0) < 0 or 2 * n > len(edges):
        raise ValueError("the table of cell intervals is too short for the clips")
    spans, starts = np.empty(2 * n, dtype=np.int32), np.empty(shape[0] + 1, dtype=np.int64)
    n_edges, n_far_edges = packing_kernels.unpack_edges(own, shape[1], edges, far_edges, spans)
    if n_edges < 0:
        raise ValueError("the table of cell intervals is damaged")
    m = int((spans[1::2] - spans[::2]).sum(dtype=np.int64))
    if m > len(planes) + len(lines):
        raise ValueError("there are fewer cell values than cells")
    columns, values = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.uint16)
    packing_kernels.list_spans(own, spans, starts, columns)
    sizes = packing_kernels.unpack_values(starts, columns, shape[1], planes, lines, far, values)
    if sizes[0] < 0 or values.max(initial=0) > TOO_FAR // COARSE:
        raise ValueError("the cell values are damaged")
    rest = (a[size:] for a, size in zip((planes, lines, far), sizes, strict=True))
    return _encode(shape, starts, columns, values * np.uint16(COARSE)), (
        left,
        edges[n_edges:],
        far_edges[n_far_edges:],
        *rest,
    )


def _to_narrow_integers(value: Any, name: str, shape: tuple[int | None, ...], dtype: Any) -> NDArray[Any]:
    """Freeze an array like `freeze_array`; raise an error if a value does not fit the integer type `dtype`."""
    given = np.asarray(value)
    if given.dtype != dtype:
        wide, room = convert_array(given, name, np.int64), np.iinfo(dtype)
        if wide.size and (wide.min() < room.min or wide.max() > room.max):
            raise InvalidValue(f"{name} must be from {room.min} to {room.max}, not {wide.min()} to {wide.max()}")
        given = set_readonly(wide.astype(dtype))
    return freeze_array(given, name, shape, dtype)
