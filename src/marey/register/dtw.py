"""Dynamic timewarping: the best path through a grid of frame distances (Kovar 5.2.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from marey.core.arrays import Bools, Floats, FrozenRecord, Ints, check_index, convert_array, freeze_array, set_readonly
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoTimewarp, plural
from marey.register.dtw_kernels import fill_codes, trace_path

Cell = tuple[int, int]
Block = Callable[[slice, slice], npt.ArrayLike]
"""``block(rows, columns)`` gives the distances of a rectangle of the grid, (R, C) in square meters."""

SLOPE_LIMIT = 2
_MAX_SLOPE = 60  # the codes of the kernel are int8


@dataclass(frozen=True, slots=True, eq=False)
class TimeAlignment(FrozenRecord):
    """Corresponding frames of two motions: a path through their distance grid.

    Parameters
    ----------
    cells : (N, 2) frames of the first and of the second motion, in order.
    distances : (N,) squared distance D of each cell in square meters.
    """

    cells: Ints
    distances: Floats

    def __post_init__(self) -> None:
        cells = freeze_array(self.cells, "cells", (None, 2), np.int64)
        if not len(cells):
            raise InvalidValue("a path needs at least one cell")
        self._put(cells=cells)
        self._freeze(distances=(len(cells),))

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def mean(self) -> float:
        """Mean squared distance along the path, in square meters."""
        return float(self.distances.mean())

    @property
    def distance(self) -> float:
        """Root mean square distance along the path, in meters."""
        return float(np.sqrt(self.distances.mean()))


def dtw(
    values: npt.ArrayLike,
    *,
    start: Cell = (0, 0),
    end: Literal["corner", "border"] | Cell = "corner",
    slope_limit: int = SLOPE_LIMIT,
    mask: npt.ArrayLike | None = None,
) -> TimeAlignment:
    """Find the path with the smallest total distance from `start`.

    Each step of a path advances one motion or both by one frame. The first step advances both, and at most
    ``slope_limit - 1`` consecutive steps advance only one motion, so neither plays more than `slope_limit` times as
    fast as the other.

    Parameters
    ----------
    values : (R, C) distance D of each pair of frames in square meters, at least 0; inf where a path may not go. R and C
        are the numbers of frames of the two motions.
    start : (i, j), first cell of the path.
    end : "corner", the last frames of both; "border", wherever either motion ends: of the best paths to those cells,
        the one with the smallest mean distance; or a cell.
    slope_limit : W, at least 1; 1 allows only the diagonal.
    mask : (R, C) True where a path may go; default: everywhere.

    Raises
    ------
    NoTimewarp : if no path satisfies the rules; the message says which rule fails.

    Examples
    --------
    >>> from marey.register import dtw
    >>> path = dtw(marey.distance_grid(walk, run).values, end="border")
    >>> path.cells[0], path.cells.shape[1]
    (array([0, 0]), 2)
    """
    grid, allowed, limit = _check_grid(values, mask, slope_limit)
    first = _check_cell(start, grid.shape, "start")
    free = isinstance(end, str) and end == "border"
    if isinstance(end, str):
        if end not in ("corner", "border"):
            raise InvalidValue(f"`end` must be 'corner', 'border' or a cell (i, j), not {end!r}")
        last = grid.shape[0] - 1, grid.shape[1] - 1
    else:
        last = _check_cell(end, grid.shape, "end")
    _check_ends(grid, allowed, first, last, free, limit)
    found = _find_path(grid, first, last, free, limit)
    if found is None:
        raise NoTimewarp(_explain_failure(allowed, first, last, free, limit))
    return found


@renamed_parameters(centre="center")
def dtw_around(
    values: npt.ArrayLike,
    center: Cell,
    *,
    slope_limit: int = SLOPE_LIMIT,
    mask: npt.ArrayLike | None = None,
    ends: Literal["corner", "border"] | tuple[Cell, Cell] = "border",
) -> TimeAlignment:
    """Find the best path through a given cell, forward and backward from it.

    Parameters
    ----------
    values, slope_limit, mask : see `dtw`.
    center : (i, j), a cell that the path must go through, such as the middle of a transition.
    ends : "border", "corner", or a tuple of the first and the last cell; see `end` of `dtw`.

    Examples
    --------
    >>> from marey.register import dtw_around
    >>> path = dtw_around(marey.distance_grid(walk, run).values, (90, 100))
    >>> [90, 100] in path.cells.tolist()
    True
    """
    grid, allowed, limit = _check_grid(values, mask, slope_limit)
    i, j = _check_cell(center, grid.shape, "center")
    before, after = (ends, ends) if isinstance(ends, str) else ends
    if not isinstance(before, str):
        first = _check_cell(before, grid.shape, "the first end")
        before = i - first[0], j - first[1]
        if min(before) < 0:
            raise InvalidValue(f"ends must begin with a cell before the center {(i, j)}, not {first}")
    # To search backward from the center, reverse the grid.
    rotated = np.ascontiguousarray(grid[: i + 1, : j + 1][::-1, ::-1])
    open_there = None if allowed is None else allowed[: i + 1, : j + 1][::-1, ::-1]
    try:
        back = dtw(rotated, end=before, slope_limit=limit, mask=open_there)
    except NoTimewarp as error:
        raise NoTimewarp(
            f"in the part before the center {(i, j)}, with frames counted backward from it: {error}"
        ) from None
    ahead = dtw(grid, start=(i, j), end=after, slope_limit=limit, mask=allowed)
    cells = np.concatenate([(i, j) - back.cells[:0:-1], ahead.cells])
    return TimeAlignment(set_readonly(cells), set_readonly(np.concatenate([back.distances[:0:-1], ahead.distances])))


def dtw_cyclic(
    values: npt.ArrayLike,
    *,
    start: int | None = None,
    slope_limit: int = SLOPE_LIMIT,
    mask: npt.ArrayLike | None = None,
) -> TimeAlignment:
    """Find the path with the smallest total distance once around two loops, ending where it began.

    Parameters
    ----------
    values : (R, C) distance D of each pair of frames of one cycle of each loop, in square meters.
    start : frame of the second loop that corresponds to frame 0 of the first; by default it is searched for.
    slope_limit, mask : see `dtw`.

    Returns
    -------
    Cells from (0, j) to (R, j + C), which is the first one again: rows and columns keep counting beyond one cycle.

    Examples
    --------
    >>> from marey.register import dtw_cyclic
    >>> phase = np.arange(40) / 40
    >>> distances = 1.0 - np.cos(2.0 * np.pi * (phase[:, None] - phase))
    >>> path = dtw_cyclic(distances)
    >>> path.cells[0], path.cells[-1]
    (array([0, 0]), array([40, 40]))
    """
    grid, allowed, limit = _check_grid(values, mask, slope_limit)
    rows, columns = grid.shape
    if start is not None:
        _check_cell((0, start), grid.shape, "start")
    _check_slope((0, 0), (rows, columns), limit)
    tiled = np.tile(grid, (2, 2))[: rows + 1]
    best: TimeAlignment | None = None
    for j in range(columns) if start is None else (start,):
        if np.isinf(grid[0, j]):
            continue
        found = _find_path(tiled, (0, j), (rows, j + columns), False, limit)
        if found is not None and (best is None or found.distances[1:].sum() < best.distances[1:].sum()):
            best = found
    if best is None:
        what = "cells of infinite distance block" if allowed is None else "the mask blocks"
        raise NoTimewarp(
            f"no time alignment around both loops is possible: {what} every path within the slope "
            f"limit {limit}; raise `slope_limit=`" + ("" if allowed is None else ", or loosen the mask")
        )
    return best


def dtw_incremental(
    values: npt.ArrayLike | Block,
    start: Cell = (0, 0),
    *,
    size: int = 20,
    keep: int = 10,
    slope_limit: int = SLOPE_LIMIT,
    shape: tuple[int, int] | None = None,
) -> TimeAlignment:
    """Find a path from `start` to the border piece by piece, in time linear in the number of frames.

    Each window has `size` by `size` cells. Of the best path to its border (as with ``end="border"``), the first `keep`
    steps are kept, and the next window starts where they end. The search does not look past the window, so the path is
    not the global optimum; that is an advantage if the motions soon diverge.

    Parameters
    ----------
    values : (R, C) distances in square meters (see `dtw`), or ``block(rows, columns)``, called with two slices for each
        window, so that distances away from the path are never computed.
    start : (i, j), first cell of the path.
    size : k, side of a window in cells.
    keep : k', steps kept of each window's path, less than `size`.
    slope_limit : see `dtw`.
    shape : (R, C), required if `values` is a function.

    Examples
    --------
    >>> from marey.register import dtw_incremental
    >>> values = marey.distance_grid(walk, run).values
    >>> dtw_incremental(values, (0, 0)).distance < 1.0  # meters
    True
    """
    limit = _check_limit(slope_limit)
    window, n_steps = check_index(size, "size"), check_index(keep, "keep")
    if not 1 <= n_steps < window:
        raise InvalidValue(f"`keep` must be at least 1 and less than `size`, but they are {keep} and {size}")
    block, full = _as_block(values, shape)
    i, j = _check_cell(start, full, "start")
    cells: list[Ints] = []
    distances: list[Floats] = []
    while True:
        rows, columns = slice(i, min(i + window, full[0])), slice(j, min(j + window, full[1]))
        part = convert_array(block(rows, columns), "values")
        if part.shape != (rows.stop - i, columns.stop - j):
            raise InvalidValue(
                f"values must return one distance per pair of frames, but returned shape {part.shape} for "
                f"rows {rows} and columns {columns}"
            )
        try:
            piece = dtw(part, end="border", slope_limit=limit)
        except NoTimewarp as error:
            raise NoTimewarp(f"in the window of {window} cells at {(i, j)}: {error}") from None
        stop = min(n_steps + 1, len(piece))
        cells.append(piece.cells[:stop] + (i, j))
        distances.append(piece.distances[:stop])
        i, j = (int(k) for k in cells[-1][-1])
        if i == full[0] - 1 or j == full[1] - 1:
            return TimeAlignment(set_readonly(np.concatenate(cells)), set_readonly(np.concatenate(distances)))
        cells[-1], distances[-1] = cells[-1][:-1], distances[-1][:-1]


def _find_path(grid: Floats, first: Cell, last: Cell, free: bool, limit: int) -> TimeAlignment | None:
    codes = np.empty(grid.shape, dtype=np.int8)
    rim, lengths = np.empty((2, max(grid.shape))), np.empty((2, max(grid.shape)))
    fill_codes(grid, first, last, free, limit, codes, rim, lengths)
    if free:
        with np.errstate(invalid="ignore"):
            mean = np.where(np.isfinite(rim), rim / lengths, np.inf)
        side, at = (int(k) for k in np.unravel_index(int(np.argmin(mean)), mean.shape))
        last = (at, last[1]) if side == 0 else (last[0], at)
    else:
        side, at = 1, last[1]
    if not np.isfinite(rim[side, at]):
        return None
    cells = np.empty((int(lengths[side, at]), 2), dtype=np.int64)
    trace_path(codes, last, limit, cells)
    return TimeAlignment(set_readonly(cells), set_readonly(grid[cells[:, 0], cells[:, 1]]))


def _check_grid(values: Any, mask: Any, slope_limit: Any) -> tuple[Floats, Bools | None, int]:
    """Return the grid with inf outside the mask, the mask (None if everything is allowed), and the slope limit."""
    grid = np.ascontiguousarray(convert_array(values, "values"))
    if grid.ndim != 2 or not grid.size:
        raise InvalidValue(f"values must be a grid of distances (R, C) with at least one cell, not shape {grid.shape}")
    if not grid.min() >= 0.0:  # false for NaN too
        raise InvalidValue(f"values must be distances of at least 0, but contain {grid.min():g}")
    allowed: Bools | None = None
    if mask is not None:
        allowed = convert_array(mask, "mask", bool)
        if allowed.shape != grid.shape:
            raise InvalidValue(f"mask must have the shape of the grid, {grid.shape}, not {allowed.shape}")
        grid = np.ascontiguousarray(np.where(allowed, grid, np.inf))
    return grid, allowed, _check_limit(slope_limit)


def _check_limit(slope_limit: Any) -> int:
    limit = check_index(slope_limit, "slope_limit")
    if not 1 <= limit <= _MAX_SLOPE:
        raise InvalidValue(f"slope_limit must be from 1 to {_MAX_SLOPE}, not {limit}")
    return limit


def _check_cell(cell: Any, shape: tuple[int, ...], what: str) -> Cell:
    try:
        i, j = (check_index(k, f"a cell of {what}") for k in cell)
    except (TypeError, ValueError):
        raise InvalidValue(f"{what} must be a cell (i, j), not {cell!r}") from None
    if not (0 <= i < shape[0] and 0 <= j < shape[1]):
        raise InvalidValue(f"{what} must be a cell of the {shape[0]} x {shape[1]} grid, not {(i, j)}")
    return i, j


def _as_block(values: Any, shape: tuple[int, int] | None) -> tuple[Block, tuple[int, int]]:
    if callable(values):
        if shape is None:
            raise InvalidValue("shape must be given as (R, C), the size of the whole grid, if values is a function")
        return values, (int(shape[0]), int(shape[1]))
    grid = convert_array(values, "values")
    if grid.ndim != 2 or not grid.size:
        raise InvalidValue(f"values must be a grid of distances (R, C) with at least one cell, not shape {grid.shape}")
    return (lambda rows, columns: grid[rows, columns]), grid.shape


def _check_ends(grid: Floats, allowed: Bools | None, first: Cell, last: Cell, free: bool, limit: int) -> None:
    """Raise `NoTimewarp` if the start, the end or the slope limit alone rule out every path."""
    for cell, what in ((first, "start"),) if free else ((first, "start"), (last, "end")):
        if np.isinf(grid[cell]):
            why = "the mask" if allowed is not None and not allowed[cell] else "an infinite distance"
            raise NoTimewarp(
                f"no time alignment is possible: {why} excludes the {what} (frame {cell[0]} of the first "
                f"motion, frame {cell[1]} of the second); choose another {what}"
            )
    if not free:
        _check_slope(first, last, limit)


def _check_slope(first: Cell, last: Cell, limit: int) -> None:
    down, right = last[0] - first[0], last[1] - first[1]
    if down < 0 or right < 0:
        raise NoTimewarp(f"`end` must not come before `start` in either motion, but {last} comes before {first}")
    if max(down, right) > limit * min(down, right):
        ratio = f" (ratio {max(down, right) / min(down, right):.2f})" if min(down, right) else ""
        raise NoTimewarp(
            f"no time alignment from {first} to {last} satisfies the slope limit {limit}: between these, the first "
            f"motion advances {plural(down, 'frame')} and the second {right}{ratio}; crop the longer one, or raise "
            "`slope_limit=`"
        )


def _explain_failure(allowed: Bools | None, first: Cell, last: Cell, free: bool, limit: int) -> str:
    what = "cells of infinite distance block" if allowed is None else "the mask blocks"
    goal = "the frames where either motion ends" if free else str(last)
    return f"{what} every path from {first} to {goal} within the slope limit {limit}"
