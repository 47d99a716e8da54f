"""Plots of a whole motion over time: position, height, heading, speed and turn rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.maths import filters
from marey.plot import style
from marey.plot.body import Body, extract_body, spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMOOTHING = 0.1  # seconds, standard deviation of the Gaussian that smooths speed and turn rate
_LABELS = ("position, m", "height, m", "heading, °", "speed, m/s", "turn rate, °/s")


@style.plot_function
def parameters(
    motions: Motion | Sequence[Motion],
    path: style.StrPath | None = None,
    *,
    start: int | Sequence[int] = 0,
    stop: int | Sequence[int] | None = None,
) -> Figure:
    """Plot position, height, heading, speed and turn rate of the hips over time, for one or more motions.

    The position is on the floor relative to the start (z solid, x dotted), the heading relative to that at the start
    (positive to the left). Horizontal speed and turn rate are smoothed over 0.1 s.

    Parameters
    ----------
    start, stop : frames, `stop` exclusive: one value for all motions, or one per motion; default: all frames.

    Examples
    --------
    >>> figure = marey.plot.draw_parameters([walk, run])
    >>> len(figure.axes)
    5
    """
    clips = spans(motions, start, stop)
    figure = style.new_figure(0.75 + 1.05 * len(_LABELS) + (0.0 if len(clips) == 1 else 0.22), layout="constrained")
    panels = figure.subplots(len(_LABELS), 1, sharex=True, height_ratios=[1.25, 0.9, 1, 1, 1])
    names = style.format_names([motion for motion, _, _ in clips])
    begin, end = np.inf, -np.inf
    lines = []
    for k, (motion, first, last) in enumerate(clips):
        times = np.arange(first, last) / motion.fps
        begin, end = min(begin, times[0]), max(end, times[-1])
        position, *curves = _compute_curves(extract_body(motion), motion.fps, first, last)
        look = style.series_look(k)
        lines += panels[0].plot(times, position[:, 1], label=names[k], **look)
        panels[0].plot(times, position[:, 0], lw=1.2, color=look["color"], ls=(0, (1, 1.2)))
        for panel, curve in zip(panels[1:], curves, strict=True):
            panel.plot(times, curve, **look)
    for panel, label in zip(panels, _LABELS, strict=True):
        panel.set_ylabel(label)
        panel.margins(y=0.12)
    for panel, least in zip(panels, (0.5, 0.1, 10.0, 0.5, 20.0), strict=True):
        _widen(panel, least)
    panels[3].set_ylim(bottom=0.0)
    for panel in (panels[0], panels[2], panels[4]):
        panel.axhline(0.0, color=style.MIDDLE, lw=0.6, zorder=0)
    panels[0].plot([], [], color=style.MIDDLE, label="z")
    panels[0].plot([], [], color=style.MIDDLE, lw=1.2, ls=(0, (1, 1.2)), label="x")
    panels[0].legend(
        handles=panels[0].get_lines()[-2:], loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2, borderaxespad=0.0
    )
    style.time_axes(figure, list(panels), float(begin), float(end))
    title = (
        f"{names[0]}: {style.length_text(clips[0][0])}" if len(clips) == 1 else f"Parameters of {len(clips)} motions"
    )
    panels[0].set_title(title, pad=8)
    if len(clips) > 1:
        figure.legend(handles=lines, loc="outside upper left", ncols=min(3, len(clips)))
    return figure


draw_parameters = parameters


def _compute_curves(body: Body, fps: float, first: int, last: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Compute (F, 2) position x and z, and (F,) height, heading in degrees, speed, and turn rate in degrees/s."""
    travel = body.travel
    sigma = SMOOTHING * fps
    speed = np.zeros(len(travel))
    turn = np.zeros(len(travel))
    if len(travel) > 1:
        floor = filters.gaussian(travel[:, [0, 2]], sigma)
        speed = np.linalg.norm(np.gradient(floor, axis=0), axis=1) * fps
        turn = np.degrees(np.gradient(_smooth_known(body.heading, sigma))) * fps
    cut = slice(first, last)
    heading = np.degrees(body.heading[cut])
    known = heading[np.isfinite(heading)]
    heading = heading - (known[0] if known.size else 0.0)
    return travel[cut][:, [0, 2]] - travel[first, [0, 2]], travel[cut, 1], heading, speed[cut], turn[cut]


def _smooth_known(values: Floats, sigma: float) -> Floats:
    """Return the values with each run of finite values smoothed separately; NaN values stay."""
    out = values.copy()
    known = np.concatenate([[False], np.isfinite(values), [False]])
    for a, b in np.flatnonzero(known[1:] != known[:-1]).reshape(-1, 2):
        out[a:b] = filters.gaussian(values[a:b], sigma)
    return out


def _widen(panel: Axes, least: float) -> None:
    """Widen an axis to a minimum range, so that noise around a constant does not fill the panel."""
    low, high = panel.get_ylim()
    if high - low < least:
        middle = 0.5 * (low + high)
        panel.set_ylim(middle - 0.5 * least, middle + 0.5 * least)
