"""The distance grid of two motions as a heat map, with its minima and a timewarp path (Kovar figure 4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.compare import Clouds, DistanceGrid
from marey.core.arrays import Bools, Floats, Ints, convert_array
from marey.errors import InvalidValue
from marey.plot.style import NOTE, NOTE_SIZE, WIDTH, StrPath, check_suffix, new_figure, styled, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Dark is near, as in Kovar's figures; bright marks stand out where they are wanted.
_COLOURS = "cividis"
_MINIMUM, _PATH, _REFUSED = "#ff9d2e", "#ffffff", "#c9ccd1"
# Cells drawn along the longer side at most; of larger grids, each square of cells is drawn as its smallest.
_FINEST = 1500
_MARGIN = (0.72, 1.0, 0.62, 0.56)  # inches: left, right with the scale of distances, top, bottom
_TALLEST, _FLATTEST = 7.2, 1.6
# Distances above this quantile share one color: a few poses like nothing else would take all shades.
_BRIGHTEST = 0.99


def grid(
    grid: DistanceGrid,
    path: StrPath,
    *,
    minima: bool = True,
    threshold: float | None = None,
    cells: ArrayLike | None = None,
    region: ArrayLike | None = None,
) -> None:
    """Draw a distance grid as a heat map, as PNG or SVG by the suffix; see `draw_grid`."""
    check_suffix(path)
    write_figure(draw_grid(grid, minima=minima, threshold=threshold, cells=cells, region=region), path)


@styled
def draw_grid(
    grid: DistanceGrid,
    *,
    minima: bool = True,
    threshold: float | None = None,
    cells: ArrayLike | None = None,
    region: ArrayLike | None = None,
) -> Figure:
    """The distances between all frames: time in the first motion to the right, in the second upwards, dark is near.

    Distances are in meters. Cells that were refused are gray.

    Parameters
    ----------
    minima : mark the local minima; see `DistanceGrid.minima`.
    threshold : meters; only minima up to it are marked.
    cells : (N, 2) rows and columns of a path, drawn as a line.
    region : (Fa, Fb) True where a search may go; the rest is veiled.
    """
    path = None if cells is None else _path(cells, grid.values.shape)
    veil = None if region is None else _region(region, grid.values.shape)
    figure, axes, bar = _frame(grid)
    distances, step = _shown(grid.values)
    finite = distances[np.isfinite(distances)]
    low, high = (0.0, 1.0) if finite.size == 0 else (float(finite.min()), float(np.quantile(finite, _BRIGHTEST)))
    if high <= low:
        high = low + 1e-3
    a, b = grid.a, grid.b
    # A cell is a square about its frame's time; blocks of cells end beyond the last frame.
    n_rows, n_columns = distances.shape
    extent = _extent(n_rows * step, a.fps) + _extent(n_columns * step, b.fps)
    look: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "interpolation": "nearest"}
    axes.set_facecolor(_REFUSED)
    image = axes.imshow(np.ma.masked_invalid(distances).T, cmap=_COLOURS, vmin=low, vmax=high, **look)
    if veil is not None:
        _draw_veil(axes, veil, step, look)
    axes.set(xlim=_extent(len(a), a.fps), ylim=_extent(len(b), b.fps))
    figure.colorbar(image, cax=bar, label="distance, m", extend="max" if finite.size and finite.max() > high else None)
    notes = _draw_marks(axes, grid, grid.minima(threshold) if minima else None, path)
    _label(figure, axes, grid, notes)
    return figure


def _frame(grid: DistanceGrid) -> tuple[Figure, Axes, Axes]:
    """An empty figure in which a second is as long one way as the other, unless that makes it a ribbon."""
    left, right, head, foot = _MARGIN
    wide = WIDTH - left - right
    tall = wide * (len(grid.b) / grid.b.fps) / (len(grid.a) / grid.a.fps)
    if tall > _TALLEST:
        wide, tall = max(wide * _TALLEST / tall, 3.0), _TALLEST
    tall = max(tall, _FLATTEST)
    total = head + tall + foot
    figure = new_figure(total)
    axes = figure.add_axes((left / WIDTH, foot / total, wide / WIDTH, tall / total))
    bar = figure.add_axes(((left + wide + 0.14) / WIDTH, foot / total, 0.14 / WIDTH, tall / total))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    return figure, axes, bar


def _shown(values: Floats) -> tuple[Floats, int]:
    """Distances in meters, of squares of `step` by `step` cells where there are too many to be seen."""
    step = int(np.ceil(max(values.shape) / _FINEST))
    if step > 1:
        rows, columns = (np.arange(0, n, step) for n in values.shape)
        values = np.minimum.reduceat(np.minimum.reduceat(values, rows, axis=0), columns, axis=1)
    return np.sqrt(values), step


def _extent(n: int, fps: float) -> tuple[float, float]:
    return -0.5 / fps, (n - 0.5) / fps


def _draw_veil(axes: Axes, region: Bools, step: int, look: dict[str, Any]) -> None:
    outside = region
    if step > 1:
        rows, columns = (np.arange(0, n, step) for n in region.shape)
        outside = np.maximum.reduceat(np.maximum.reduceat(region, rows, axis=0), columns, axis=1)
    paper = np.zeros((*outside.T.shape, 4))
    paper[..., :3] = 1.0
    paper[..., 3] = np.where(outside.T, 0.0, 0.65)
    axes.imshow(paper, **look)


def _draw_marks(axes: Axes, grid: DistanceGrid, minima: Ints | None, path: Ints | None) -> list[str]:
    """Minima as dots and the path as a line; what they are, for the title."""
    rates = np.array([grid.a.fps, grid.b.fps])
    notes = []
    if path is not None:
        times = path / rates
        # A dark rim keeps the line visible on bright cells.
        axes.plot(times[:, 0], times[:, 1], color="#111318", lw=3.2, zorder=3)
        axes.plot(times[:, 0], times[:, 1], color=_PATH, lw=1.5, zorder=3.1)
        mean = float(np.sqrt(grid.values[path[:, 0], path[:, 1]].mean()))
        notes.append(f"path (white): {mean:.3f} m")
    if minima is not None and len(minima):
        times = minima / rates
        size = float(np.clip(4000.0 / len(minima), 2.5, 22.0))
        axes.scatter(times[:, 0], times[:, 1], s=size, color=_MINIMUM, edgecolors="#111318", linewidths=0.5, zorder=4)
        notes.append(f"{len(minima)} local minima (dots)" if len(minima) > 1 else "1 local minimum (dot)")
    return notes


def _label(figure: Figure, axes: Axes, grid: DistanceGrid, notes: list[str]) -> None:
    height, left = figure.get_figheight(), _MARGIN[0] / WIDTH
    first, second = _name(grid.a, "first motion"), _name(grid.b, "second motion")
    axes.set(xlabel=f"time in {first}, s", ylabel=f"time in {second}, s")
    title = f"Distances within {first}" if grid.is_own else f"Distances between {first} and {second}"
    figure.text(left, 1.0 - 0.09 / height, title, size=11, va="top")
    seconds = (len(grid.frame_weights) - 1) / grid.a.fps
    window = (
        "single frames"
        if len(grid.frame_weights) == 1
        else f"windows of {len(grid.frame_weights)} frames, {seconds:.2f} s"
    )
    notes = [*notes, window + ("" if grid.align else ", not aligned")]
    if not np.isfinite(grid.values).all():
        notes.append("grey: contacts differ")
    figure.text(left, 1.0 - 0.35 / height, "; ".join(notes), size=NOTE_SIZE, color=NOTE, va="top")


def _name(clouds: Clouds, default: str) -> str:
    name = "".join(c if c.isprintable() else " " for c in clouds.name).strip() or default
    return name if len(name) <= 30 else f"{name[:14]}…{name[-15:]}"


def _path(cells: ArrayLike, shape: tuple[int, ...]) -> Ints:
    path: Ints = convert_array(cells, "cells of a path", np.int64)
    if path.ndim != 2 or path.shape[1] != 2 or len(path) == 0:
        raise InvalidValue(f"cells of a path must have shape (any, 2), at least one of them, got {path.shape}")
    if (path < 0).any() or (path >= np.array(shape)).any():
        raise InvalidValue(f"cells of a path must lie in the grid of {shape[0]} x {shape[1]} frames")
    return path


def _region(region: ArrayLike, shape: tuple[int, ...]) -> Bools:
    mask: Bools = convert_array(region, "region", np.bool_)
    if mask.shape != shape:
        raise InvalidValue(f"region must have the grid's shape {shape}, got {mask.shape}")
    return mask
