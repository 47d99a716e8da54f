"""The kept cells of one pair's grid, row by row in runs: what a match web holds instead of the grid.

A value is the root of D in units of `STEP`; a row's runs are in order and never touch one another, so that the same
cells always give the same arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core._arrays import Bools, Floats, Ints, as_type, frozen, rebuilt, settle
from marey.errors import InvalidValue

STEP = 1e-5
"""Metres to one unit of a value."""

TOO_FAR = 65535
"""The value of cells that nothing looks at: 0.65535 m and beyond."""

# Offsets are of 32 bits, as there are many.
_MOST = 2**31 - 1

Units = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """Kept cells of an R by C grid.

    Parameters
    ----------
    shape : R and C.
    row_runs : (R + 1,) int32; row r has the runs ``row_runs[r]`` to ``row_runs[r + 1]``, half-open.
    run_first : (N,) first column of each run, uint16 where C allows it, else int32.
    run_values : (N + 1,) int32; run n has the values ``run_values[n]`` to ``run_values[n + 1]``.
    values : (M,) uint16 roots of D in units of `STEP`.
    """

    shape: tuple[int, int]
    row_runs: NDArray[np.int32] = field(repr=False)
    run_first: NDArray[np.uint16] | NDArray[np.int32] = field(repr=False)
    run_values: NDArray[np.int32] = field(repr=False)
    values: Units = field(repr=False)

    def __post_init__(self) -> None:
        n_rows, n_columns = (int(n) for n in self.shape)
        values = frozen(self.values, "values", (None,), np.uint16)
        if len(values) > _MOST:
            raise InvalidValue(
                f"one pair of clips may keep {_MOST} cells of its grid, got {len(values)}; cut clips, or lower limit="
            )
        row_runs = frozen(self.row_runs, "row_runs", (n_rows + 1,), np.int32)
        run_first = as_type(self.run_first, "run_first", np.int32)
        if run_first.size and (run_first.min() < 0 or run_first.max() >= n_columns):
            raise InvalidValue(f"runs of cells must lie within the {n_columns} columns of the grid")
        narrow = np.uint16 if n_columns <= 2**16 else np.int32
        run_first = frozen(run_first.astype(narrow), "run_first", (None,), narrow)
        run_values = frozen(self.run_values, "run_values", (len(run_first) + 1,), np.int32)
        _check(row_runs, run_first, run_values, values, n_columns)
        put = object.__setattr__
        put(self, "shape", (n_rows, n_columns))
        put(self, "row_runs", row_runs)
        put(self, "run_first", run_first)
        put(self, "run_values", run_values)
        put(self, "values", values)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt(self)

    def __repr__(self) -> str:
        return f"<Cells: {len(self)} of {self.shape[0]} x {self.shape[1]}>"

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, values: Units, kept: Bools) -> Cells:
        """The cells of a dense grid (R, C), in units of `STEP`, where `kept` is set."""
        from marey.find import cells_kernels

        shape = (values.shape[0], values.shape[1])
        mask = np.ascontiguousarray(kept, dtype=bool).view(np.uint8)
        return cls(shape, *map(settle, cells_kernels.runs_of(mask, np.ascontiguousarray(values))))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.row_runs.nbytes + self.run_first.nbytes + self.run_values.nbytes + self.values.nbytes

    def units(self, rows: slice = slice(None), columns: slice = slice(None)) -> Units:
        """Values of a part of the grid, `TOO_FAR` where no cell is kept."""
        from marey.find import cells_kernels

        (top, bottom, _), (left, right, _) = rows.indices(self.shape[0]), columns.indices(self.shape[1])
        out = np.full((max(bottom - top, 0), max(right - left, 0)), TOO_FAR, dtype=np.uint16)
        cells_kernels.unpacked(*self._arrays(), top, left, out)
        return out

    def dense(self, rows: slice = slice(None), columns: slice = slice(None)) -> Floats:
        """D of a part of the grid, m^2, infinite where no cell is kept."""
        units = self.units(rows, columns)
        return np.where(units == TOO_FAR, np.inf, (units * STEP) ** 2)

    def transposed(self) -> Cells:
        """The same cells with rows for columns."""
        from marey.find import cells_kernels

        n_rows, n_columns = self.shape
        return _listed((n_columns, n_rows), *cells_kernels.flipped(*self._arrays(), n_columns, -n_rows))

    def upper(self) -> Cells:
        """The cells on the diagonal and right of it."""
        from marey.find import cells_kernels

        none = np.zeros(self.shape[0] + 1, dtype=np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16)
        return _listed(self.shape, *cells_kernels.beside(*none, *self._arrays(), 0))

    def mirrored(self) -> Cells:
        """Of a clip's own grid, the cells on the diagonal and right of it, and their mirror images."""
        from marey.find import cells_kernels

        left = cells_kernels.flipped(*self._arrays(), self.shape[1], 1)
        return _listed(self.shape, *cells_kernels.beside(*left, *self._arrays(), 0))

    def _arrays(self) -> tuple[Any, Any, Any, Any]:
        return self.row_runs, self.run_first, self.run_values, self.values


def join_columns(parts: Sequence[Cells], firsts: Sequence[int], n_columns: int) -> Cells:
    """Cells of tiles that stand side by side, from column `firsts` on each, as those of one grid."""
    from marey.find import cells_kernels

    if len(parts) == 1 and firsts[0] == 0 and parts[0].shape[1] == n_columns:
        return parts[0]
    run_first = [part.run_first.astype(np.int32) + np.int32(first) for part, first in zip(parts, firsts, strict=True)]
    tile_runs = np.stack([part.row_runs for part in parts])
    tile_runs += _before([len(part.run_first) for part in parts])[:, None]
    run_values = _chained([part.run_values for part in parts])
    arrays = (np.concatenate(run_first), run_values, np.concatenate([part.values for part in parts]))
    return Cells((parts[0].shape[0], n_columns), *map(settle, cells_kernels.joined(tile_runs, *arrays)))


def join_rows(parts: Sequence[Cells]) -> Cells:
    """Cells of parts of a grid that stand below one another."""
    if len(parts) == 1:
        return parts[0]
    arrays = (
        _chained([part.row_runs for part in parts]),
        np.concatenate([part.run_first for part in parts]),
        _chained([part.run_values for part in parts]),
        np.concatenate([part.values for part in parts]),
    )
    return Cells((sum(part.shape[0] for part in parts), parts[0].shape[1]), *map(settle, arrays))


def _chained(rising: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays that each rise from 0, one behind the other, the last of one the first of the next."""
    before = _before([int(part[-1]) for part in rising])
    parts = [part[:-1] + part.dtype.type(n) for part, n in zip(rising, before, strict=True)]
    return np.concatenate([*parts, (rising[-1][-1:] + rising[-1].dtype.type(before[-1]))])


def _before(counts: Sequence[int]) -> Ints:
    """Of each, how many come before it."""
    return np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)


def _listed(shape: tuple[int, int], starts: Any, columns: Any, values: Any) -> Cells:
    from marey.find import cells_kernels

    row_runs, run_first, run_values = map(settle, cells_kernels.runs_of_list(starts, columns))
    return Cells(shape, row_runs, run_first, run_values, settle(values))


def _check(row_runs: Any, run_first: Any, run_values: Any, values: Any, n_columns: int) -> None:
    """Refuse arrays that do not fit together, before any loop relies on them."""
    lengths = np.diff(run_values)
    if (np.diff(row_runs) < 0).any() or row_runs[0] != 0 or row_runs[-1] != len(run_first):
        raise InvalidValue(f"row_runs must rise from 0 to the number of runs, {len(run_first)}")
    if (lengths < 1).any() or run_values[0] != 0 or run_values[-1] != len(values):
        raise InvalidValue(f"run_values must rise from 0 to the number of values, {len(values)}, with no empty run")
    if len(run_first) and (run_first + lengths).max() > n_columns:
        raise InvalidValue(f"runs of cells must lie within the {n_columns} columns of the grid")
    touching = np.asarray(run_first[1:] <= run_first[:-1] + lengths[:-1])
    begins = row_runs[(row_runs > 0) & (row_runs < len(run_first))]
    touching[begins - 1] = False
    if touching.any():
        raise InvalidValue("the runs of a row must be in order, with at least one column between them")
