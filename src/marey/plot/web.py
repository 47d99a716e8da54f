"""Plot of two clips as a match web sees them: grid, minima, valid region, chains and bridges (Kovar figure 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection

from marey.core.annotations import check_frames
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.find import MatchWeb
from marey.find.grid_part import GridPart, grid_part
from marey.plot import style
from marey.plot.grid import make_grid_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marey.core.arrays import Ints

_COLORS = "cividis"
_CHAIN, _BRIDGE, _MINIMUM = "#d1195e", style.LEFT, "#7fdcff"
_VEIL = 0.92  # opacity of the white layer over cells outside the valid region
_MARGIN = (0.72, 1.0, 0.66, 0.56)  # inches: left, right with the scale of distances, top, bottom
_TALLEST = 7.0
_MAX_CELLS = 4_000_000  # maximum number of cells in a plot; more would be unreadable
Frames = tuple[int, int]


@style.plot_function
def web_grid(
    web: MatchWeb,
    p: int | str,
    q: int | str,
    path: style.StrPath | None = None,
    *,
    rows: Frames | None = None,
    columns: Frames | None = None,
) -> Figure:
    """Plot the distances between the frames of two clips; dark is near, dimmed outside the valid region.

    Dots are minima along a row or a column. Red lines are chains of minima, which are runs of similar frames; orange
    lines are bridges between chains.

    Parameters
    ----------
    rows, columns : frames of clips p and q, `stop` exclusive; default: all frames.
    """
    a, b = web.clips[web.index(p)], web.clips[web.index(q)]
    shown = (check_frames(a, *(rows or (None, None))), check_frames(b, *(columns or (None, None))))
    sizes = [stop - start for start, stop in shown]
    if sizes[0] * sizes[1] > _MAX_CELLS:
        raise InvalidValue(
            f"a plot shows at most {_MAX_CELLS:,} pairs of frames, not {sizes[0]} frames of {a.name!r} "
            f"times {sizes[1]} of {b.name!r}; choose a part of them"
        )
    part = grid_part(web, p, q, slice(*shown[0]), slice(*shown[1]))
    figure, axes, bar = _frame(shown, web.fps)
    _draw_cells(figure, axes, bar, part, web)
    for paths, color, width in ((part.bridges, _BRIDGE, 1.1), (part.chains, _CHAIN, 1.7)):
        axes.add_collection(_make_lines(paths, web.fps, colors=color, linewidths=width, zorder=4), autolim=False)
    _draw_key(figure, axes, a, b, part)
    return figure


draw_web_grid = web_grid


def _frame(shown: tuple[Frames, Frames], fps: float) -> tuple[Figure, Axes, Axes]:
    """Create axes for the shown frames of the two clips, and for the color scale."""
    size = (shown[0][1] - shown[0][0], shown[1][1] - shown[1][0])
    figure, axes, bar = make_grid_axes(size, _MARGIN, _TALLEST)
    x, y = (tuple((edge - 0.5) / fps for edge in ends) for ends in shown)
    axes.set(xlim=x, ylim=y)
    return figure, axes, bar


def _draw_cells(figure: Figure, axes: Axes, bar: Axes, part: GridPart, web: MatchWeb) -> None:
    fps = web.fps
    extent = tuple((edge - 0.5) / fps for ends in (part.rows, part.columns) for edge in ends)
    look: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "interpolation": "nearest"}
    limits = axes.get_xlim(), axes.get_ylim()
    top = min(float(part.values.max()), web.options.max_distance)
    image = axes.imshow(part.values.T, cmap=_COLORS, vmin=0.0, vmax=top, **look)
    veil = np.ones((*part.valid.T.shape, 4))
    veil[..., 3] = np.where(part.valid.T, 0.0, _VEIL)
    axes.imshow(veil, **look)
    rows, columns = np.nonzero(part.horizontal | part.vertical)
    size = float(np.clip(9000.0 / max(len(rows), 1), 0.25, 6.0))
    x, y = (rows + part.rows[0]) / fps, (columns + part.columns[0]) / fps
    axes.scatter(x, y, s=size, color=_MINIMUM, linewidths=0, zorder=3)
    axes.set(xlim=limits[0], ylim=limits[1])
    figure.colorbar(image, cax=bar, label="distance, m", extend="max" if part.values.max() > top else None)


def _make_lines(paths: Sequence[Ints], fps: float, **look: Any) -> LineCollection:
    return LineCollection([path / fps for path in paths], capstyle="round", **look)


def _draw_key(figure: Figure, axes: Axes, a: Motion, b: Motion, part: GridPart) -> None:
    height, left = figure.get_figheight(), _MARGIN[0] / style.WIDTH
    first, second = style.format_name(a, 30), style.format_name(b, 30)
    axes.set(xlabel=f"time in {first}, s", ylabel=f"time in {second}, s")
    title = f"Similar poses within {first}" if a is b else f"Similar poses in {first} and {second}"
    figure.text(left, 1.0 - 0.09 / height, title, size=11, va="top")
    percent = 100.0 * float(part.kept.mean())
    keys = (
        ("•", "minima", _MINIMUM),
        ("–", f"{len(part.chains)} chains", _CHAIN),
        ("–", f"{len(part.bridges)} bridges", _BRIDGE),
        ("", f"dimmed: outside the valid region; {percent:.1f} % of all cells are kept", style.NOTE),
    )
    x = left
    for mark, text, color in keys:
        figure.text(x, 1.0 - 0.37 / height, mark, size=12, weight="bold", color=color, va="center")
        figure.text(
            x + (0.016 if mark else 0.0), 1.0 - 0.37 / height, text, size=style.NOTE_SIZE, color=style.NOTE, va="center"
        )
        x += 0.04 + 0.0085 * len(text)
