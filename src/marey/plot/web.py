"""How a match web sees two clips: the grid with its minima, the valid region, chains and bridges (Kovar figure 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.find import MatchWeb
from marey.find.chains import GridPart, grid_part
from marey.plot.style import (
    LEFT,
    NOTE,
    NOTE_SIZE,
    WIDTH,
    StrPath,
    check_suffix,
    new_figure,
    shown_name,
    styled,
    write_figure,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marey.core.arrays import Ints

_COLOURS = "cividis"
_CHAIN, _BRIDGE, _MINIMUM = "#d1195e", LEFT, "#7fdcff"
_VEIL = 0.92  # of paper, over cells outside the valid region
_MARGIN = (0.72, 1.0, 0.66, 0.56)  # inches: left, right with the scale of distances, top, bottom
_TALLEST, _FLATTEST = 7.0, 1.6
_MOST_CELLS = 4_000_000  # that a picture can show; more would only be mud
Frames = tuple[int, int]


def web_grid(
    web: MatchWeb,
    p: int | str,
    q: int | str,
    path: StrPath,
    *,
    rows: Frames | None = None,
    columns: Frames | None = None,
) -> None:
    """Draw two clips' grid as the web sees it, as PNG or SVG by the suffix; see `draw_web_grid`."""
    check_suffix(path)
    write_figure(draw_web_grid(web, p, q, rows=rows, columns=columns), path)


@styled
def draw_web_grid(
    web: MatchWeb, p: int | str, q: int | str, *, rows: Frames | None = None, columns: Frames | None = None
) -> Figure:
    """Distances between the frames of two clips, dark is near, veiled outside the valid region.

    Dots are minima along a row or a column, red lines chains of them, orange ones bridges from chain to chain.

    Parameters
    ----------
    rows, columns : frames of p and of q, half-open; all of them by default.
    """
    a, b = web.clips[web.index(p)], web.clips[web.index(q)]
    shown = (_checked(rows, a), _checked(columns, b))
    sizes = [stop - start for start, stop in shown]
    if sizes[0] * sizes[1] > _MOST_CELLS:
        raise InvalidValue(
            f"a picture shows up to {_MOST_CELLS} pairs of frames, got {sizes[0]} frames of {a.name!r} and {sizes[1]} "
            f"of {b.name!r}; choose a part of them"
        )
    part = grid_part(web, p, q, slice(*shown[0]), slice(*shown[1]))
    figure, axes, bar = _frame(shown, web.fps)
    _draw_cells(figure, axes, bar, part, web)
    for paths, colour, width in ((part.bridges, _BRIDGE, 1.1), (part.chains, _CHAIN, 1.7)):
        axes.add_collection(_lines(paths, web.fps, colors=colour, linewidths=width, zorder=4), autolim=False)
    _tell(figure, axes, a, b, part)
    return figure


def _checked(frames: Frames | None, clip: Motion) -> Frames:
    start, stop = (0, len(clip)) if frames is None else (int(frames[0]), int(frames[1]))
    if not 0 <= start < stop <= len(clip):
        raise InvalidValue(f"expected frames 0 to {len(clip)} of {clip.name!r}, half-open, got {start} to {stop}")
    return start, stop


def _frame(shown: tuple[Frames, Frames], fps: float) -> tuple[Figure, Axes, Axes]:
    """An empty figure in which a second is as long one way as the other, unless that makes it a ribbon."""
    left, right, head, foot = _MARGIN
    wide = WIDTH - left - right
    tall = wide * (shown[1][1] - shown[1][0]) / (shown[0][1] - shown[0][0])
    if tall > _TALLEST:
        wide, tall = max(wide * _TALLEST / tall, 3.0), _TALLEST
    tall = max(tall, _FLATTEST)
    total = head + tall + foot
    figure = new_figure(total)
    axes = figure.add_axes((left / WIDTH, foot / total, wide / WIDTH, tall / total))
    bar = figure.add_axes(((left + wide + 0.14) / WIDTH, foot / total, 0.14 / WIDTH, tall / total))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    x, y = (tuple((edge - 0.5) / fps for edge in ends) for ends in shown)
    axes.set(xlim=x, ylim=y)
    return figure, axes, bar


def _draw_cells(figure: Figure, axes: Axes, bar: Axes, part: GridPart, web: MatchWeb) -> None:
    fps = web.fps
    extent = tuple((edge - 0.5) / fps for ends in (part.rows, part.columns) for edge in ends)
    look: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "interpolation": "nearest"}
    limits = axes.get_xlim(), axes.get_ylim()
    top = min(float(part.values.max()), web.options.limit)
    image = axes.imshow(part.values.T, cmap=_COLOURS, vmin=0.0, vmax=top, **look)
    veil = np.ones((*part.valid.T.shape, 4))
    veil[..., 3] = np.where(part.valid.T, 0.0, _VEIL)
    axes.imshow(veil, **look)
    rows, columns = np.nonzero(part.horizontal | part.vertical)
    size = float(np.clip(9000.0 / max(len(rows), 1), 0.25, 6.0))
    x, y = (rows + part.rows[0]) / fps, (columns + part.columns[0]) / fps
    axes.scatter(x, y, s=size, color=_MINIMUM, linewidths=0, zorder=3)
    axes.set(xlim=limits[0], ylim=limits[1])
    figure.colorbar(image, cax=bar, label="distance, m", extend="max" if part.values.max() > top else None)


def _lines(paths: Sequence[Ints], fps: float, **look: Any) -> LineCollection:
    return LineCollection([path / fps for path in paths], capstyle="round", **look)


def _tell(figure: Figure, axes: Axes, a: Motion, b: Motion, part: GridPart) -> None:
    height, left = figure.get_figheight(), _MARGIN[0] / WIDTH
    first, second = shown_name(a, 30), shown_name(b, 30)
    axes.set(xlabel=f"time in {first}, s", ylabel=f"time in {second}, s")
    title = f"What is alike within {first}" if a is b else f"What is alike in {first} and {second}"
    figure.text(left, 1.0 - 0.09 / height, title, size=11, va="top")
    share = 100.0 * float(part.kept.mean())
    keys = (
        ("•", "minima", _MINIMUM),
        ("–", f"{len(part.chains)} chains", _CHAIN),
        ("–", f"{len(part.bridges)} bridges", _BRIDGE),
        ("", f"veiled: outside the valid region; {share:.1f} % of all cells are kept", NOTE),
    )
    x = left
    for mark, text, colour in keys:
        figure.text(x, 1.0 - 0.37 / height, mark, size=12, weight="bold", color=colour, va="center")
        figure.text(x + (0.016 if mark else 0.0), 1.0 - 0.37 / height, text, size=NOTE_SIZE, color=NOTE, va="center")
        x += 0.04 + 0.0085 * len(text)
