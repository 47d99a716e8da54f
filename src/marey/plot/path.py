"""Plot of the hip paths of several motions on one floor, from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.plot import style
from marey.plot.body import Body, extract_body, spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = (0.75, 0.15, 0.42, 0.52)  # inches: left, right, top, bottom
_LEGEND = 2.6  # inches
_HEIGHTS = (1.6, 5.2)  # inches of the floor


@style.plot_function
def path(
    motions: Motion | Sequence[Motion],
    path: style.StrPath | None = None,
    *,
    start: int | Sequence[int] = 0,
    stop: int | Sequence[int] | None = None,
    align: bool = False,
) -> Figure:
    """Plot hip paths from above: a ring at the start, a square at the end, and an arrow for the heading every second.

    +Z points to the right and +X up.

    Parameters
    ----------
    start, stop : frames, `stop` exclusive: one value for all motions, or one per motion; default: all frames.
    align : move each motion to start at the origin facing +Z, so that shapes can be compared.

    Examples
    --------
    >>> figure = marey.plot.draw_path([walk, turning], align=True)
    >>> len(figure.axes)
    1
    """
    clips = spans(motions, start, stop)
    figure = style.new_figure(4.0)
    axes = figure.add_axes((0.1, 0.1, 0.5, 0.8))
    everything: list[Floats] = []
    texts: list[str] = []
    names = style.format_names([motion for motion, _, _ in clips])
    for k, (motion, first, last) in enumerate(clips):
        body = extract_body(motion)
        floor, heading = _on_floor(body, first, last, align)
        look = style.series_look(k)
        length = float(np.linalg.norm(np.diff(floor, axis=0), axis=1).sum())
        texts.append(f"{length:.2f} m in {(last - 1 - first) / motion.fps:.2f} s")
        axes.plot(floor[:, 0], floor[:, 1], label=f"{names[k]}\n{texts[k]}", lw=1.7, zorder=3 + 0.01 * k, **look)
        axes.plot(*floor[0], "o", ms=7, mfc="white", mec=look["color"], mew=1.6, zorder=4)
        axes.plot(*floor[-1], "s", ms=6, color=look["color"], zorder=4)
        _draw_headings(axes, floor, heading, motion.fps, look["color"])
        everything.append(floor)
    _fit(figure, axes, np.concatenate(everything), _LEGEND if len(clips) > 1 else 0.0)
    axes.set_xlabel("z, m")
    axes.set_ylabel("x, m")
    axes.grid(True)
    what = f"Path of {names[0]}: {texts[0]}" if len(clips) == 1 else f"Paths of {len(clips)} motions"
    axes.set_title(f"{what}{', aligned at the start' if align else ''}", pad=8)
    key = "○ start   ■ end   ➤ facing, each second"
    figure.text(
        1.0 - _MARGIN[1] / style.WIDTH,
        0.1 / figure.get_size_inches()[1],
        key,
        size=style.NOTE_SIZE,
        color=style.NOTE,
        ha="right",
    )
    if len(clips) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, labelspacing=0.7)
    return figure


draw_path = path


def _on_floor(body: Body, first: int, last: int, align: bool) -> tuple[Floats, Floats]:
    """Compute (F, 2) z and x in meters, and (F,) heading in radians."""
    floor = body.travel[first:last][:, [2, 0]]
    heading = body.heading[first:last]
    if not align:
        return floor, heading
    known = heading[np.isfinite(heading)]
    turn = float(known[0]) if known.size else 0.0
    z, x = (floor - floor[0]).T
    return np.stack([z * np.cos(turn) + x * np.sin(turn), x * np.cos(turn) - z * np.sin(turn)], axis=1), heading - turn


def _draw_headings(axes: Axes, floor: Floats, heading: Floats, fps: float, color: str) -> None:
    each = np.arange(0, len(floor), max(1.0, fps)).round().astype(int)
    each = each[np.isfinite(heading[each])]
    axes.quiver(
        floor[each, 0],
        floor[each, 1],
        np.cos(heading[each]),
        np.sin(heading[each]),
        color=color,
        units="inches",
        scale=1 / 0.24,  # arrows of 0.24 inches
        scale_units="inches",
        angles="xy",
        width=0.022,
        headwidth=4.5,
        headlength=4.5,
        headaxislength=4.0,
        zorder=5,
    )


def _fit(figure: Figure, axes: Axes, floor: Floats, legend: float) -> None:
    """Choose the figure's height so that both axes have the same scale and the floor fills its area."""
    left, right, head, foot = _MARGIN
    wide = style.WIDTH - left - right - legend
    low, high = floor.min(axis=0), floor.max(axis=0)
    extent = np.maximum(high - low, 0.5)
    margin = 0.08 * extent.max() + 0.1
    extent = extent + 2 * margin
    middle = 0.5 * (low + high)
    tall = float(np.clip(extent[1] / extent[0] * wide, *_HEIGHTS))
    per_inch = max(extent[0] / wide, extent[1] / tall)
    half = 0.5 * per_inch * np.array([wide, tall])
    total = head + tall + foot
    figure.set_size_inches(style.WIDTH, total)
    axes.set_position((left / style.WIDTH, foot / total, wide / style.WIDTH, tall / total))
    axes.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    axes.set_aspect("equal", adjustable="box")
