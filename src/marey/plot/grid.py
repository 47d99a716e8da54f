"""Plot of the distance grid of two motions as a heat map, with its minima and a timewarp path (Kovar figure 4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.compare import Clouds, DistanceGrid
from marey.core.arrays import Bools, Floats, Ints, convert_array
from marey.errors import InvalidValue
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Dark means similar, as in Kovar's figures, so that bright marks stand out there.
_COLORS = "cividis"
_MINIMUM, _PATH, _REFUSED = "#ff9d2e", "#ffffff", "#c9ccd1"
# Maximum number of cells drawn along the longer side; in larger grids, each square of cells is drawn as its minimum.
_FINEST = 1500
_MARGIN = (0.72, 1.0, 0.62, 0.56)  # inches: left, right with the scale of distances, top, bottom
_TALLEST, _FLATTEST = 7.2, 1.6
# Distances above this quantile get one color; otherwise a few unique poses would use up all shades.
_BRIGHTEST = 0.99


@style.plot_function
def grid(
    grid: DistanceGrid,
    path: style.StrPath | None = None,
    *,
    minima: bool = True,
    threshold: float | None = None,
    cells: ArrayLike | None = None,
    region: ArrayLike | None = None,
) -> Figure:
    """Plot the distances in meters between all frames of two motions; dark is near.

    Time in the first motion is to the right, time in the second upward. Excluded cells are gray.

    Parameters
    ----------
    minima : mark the local minima; see `DistanceGrid.minima`.
    threshold : meters; only minima up to this distance are marked.
    cells : (N, 2) rows and columns of a path of N cells, drawn as a line.
    region : (Fa, Fb) True where a search may go, for motions of Fa and Fb frames; the rest is dimmed.
    """
    line = None if cells is None else _path(cells, grid.values.shape)
    veil = None if region is None else _check_region(region, grid.values.shape)
    figure, axes, bar = make_grid_axes((len(grid.a) / grid.a.fps, len(grid.b) / grid.b.fps), _MARGIN, _TALLEST)
    distances, step = _reduce_cells(grid.values)
    finite = distances[np.isfinite(distances)]
    low, high = (0.0, 1.0) if finite.size == 0 else (float(finite.min()), float(np.quantile(finite, _BRIGHTEST)))
    if high <= low:
        high = low + 1e-3
    a, b = grid.a, grid.b
    # A cell is a square about its frame's time; blocks of cells end beyond the last frame.
    n_rows, n_columns = distances.shape
    extent = _find_extent(n_rows * step, a.fps) + _find_extent(n_columns * step, b.fps)
    look: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "interpolation": "nearest"}
    axes.set_facecolor(_REFUSED)
    image = axes.imshow(np.ma.masked_invalid(distances).T, cmap=_COLORS, vmin=low, vmax=high, **look)
    if veil is not None:
        _draw_veil(axes, veil, step, look)
    axes.set(xlim=_find_extent(len(a), a.fps), ylim=_find_extent(len(b), b.fps))
    figure.colorbar(image, cax=bar, label="distance, m", extend="max" if finite.size and finite.max() > high else None)
    notes = _draw_marks(axes, grid, grid.minima(threshold) if minima else None, line)
    _label(figure, axes, grid, notes)
    return figure


draw_grid = grid


def make_grid_axes(
    size: tuple[float, float], margin: tuple[float, float, float, float], tallest: float
) -> tuple[Figure, Axes, Axes]:
    """Create an empty figure with axes for a grid and for its color scale.

    Both axes have the same scale, unless that would make the grid a narrow strip.

    Parameters
    ----------
    size : extent of the grid in the two directions, in the same unit.
    margin : inches on the left, right, top and bottom.
    tallest : largest height of the grid in inches.
    """
    left, right, head, foot = margin
    wide = style.WIDTH - left - right
    tall = wide * size[1] / size[0]
    if tall > tallest:
        wide, tall = max(wide * tallest / tall, 3.0), tallest
    tall = max(tall, _FLATTEST)
    total = head + tall + foot
    figure = style.new_figure(total)
    axes = figure.add_axes((left / style.WIDTH, foot / total, wide / style.WIDTH, tall / total))
    bar = figure.add_axes(((left + wide + 0.14) / style.WIDTH, foot / total, 0.14 / style.WIDTH, tall / total))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    return figure, axes, bar


def _reduce_cells(values: Floats) -> tuple[Floats, int]:
    """Return distances in meters, reduced to squares of `step` by `step` cells if there are too many to see."""
    step = int(np.ceil(max(values.shape) / _FINEST))
    if step > 1:
        rows, columns = (np.arange(0, n, step) for n in values.shape)
        values = np.minimum.reduceat(np.minimum.reduceat(values, rows, axis=0), columns, axis=1)
    return np.sqrt(values), step


def _find_extent(n: int, fps: float) -> tuple[float, float]:
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
    """Draw minima as dots and the path as a line; return a description for the title."""
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
    height, left = figure.get_figheight(), _MARGIN[0] / style.WIDTH
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
        notes.append("gray: contacts differ")
    figure.text(left, 1.0 - 0.35 / height, "; ".join(notes), size=style.NOTE_SIZE, color=style.NOTE, va="top")


def _name(clouds: Clouds, default: str) -> str:
    name = "".join(c if c.isprintable() else " " for c in clouds.name).strip() or default
    return name if len(name) <= 30 else f"{name[:14]}…{name[-15:]}"


def _path(cells: ArrayLike, shape: tuple[int, ...]) -> Ints:
    path: Ints = convert_array(cells, "cells of a path", np.int64)
    if path.ndim != 2 or path.shape[1] != 2 or len(path) == 0:
        raise InvalidValue(f"path must have shape (cells, 2) with at least one cell, not {path.shape}")
    if (path < 0).any() or (path >= np.array(shape)).any():
        raise InvalidValue(f"path must be within the grid of {shape[0]} x {shape[1]} frames")
    return path


def _check_region(region: ArrayLike, shape: tuple[int, ...]) -> Bools:
    mask: Bools = convert_array(region, "region", np.bool_)
    if mask.shape != shape:
        raise InvalidValue(f"region must have the grid's shape {shape}, not {mask.shape}")
    return mask
