"""Plot of the feet of two motions and of the transition between them.

Separate from `marey.plot.registration`, because a transition has no registration of whole motions, only the step that
the result's provenance records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.plot import style
from marey.plot.registration import BLEND_LOOK, draw_foot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDES = ("left", "right")
# Seconds that the picture of the feet shows before and after the transition.
_MARGIN = 1.0


@style.plot_function
def transition_feet(
    a: Motion, b: Motion, result: Motion, step: Mapping[str, Any], path: style.StrPath | None = None
) -> Figure:
    """Plot the heights of both feet in A, B and the result over the result's time, with the transition shaded.

    B is drawn at the time at which it continues in the result.

    Parameters
    ----------
    step : the transition step in the result's provenance.
    """
    begin, end, late = get_transition_times(step, result.fps)
    names = style.format_names([a, b, result])
    figure = style.new_figure(4.9, layout="constrained")
    panels = figure.subplots(4, 1, height_ratios=[1.0, 0.3, 1.0, 0.3])
    for side, high, lanes in zip(SIDES, panels[::2], panels[1::2], strict=True):
        for k, (motion, shift) in enumerate(((a, 0.0), (b, late), (result, 0.0))):
            look = BLEND_LOOK if motion is result else style.series_look(k)
            draw_foot(high, lanes, motion, side, np.arange(len(motion)) / motion.fps + shift, look, k, names[k])
        high.set_title(f"{side.capitalize()} foot, height of the ball", size=10, loc="left")
        lanes.set_yticks([])
        lanes.invert_yaxis()
        for panel in (high, lanes):
            panel.axvspan(begin, end, color=style.shade(style.NOTE, 0.15), lw=0, zorder=0, gid="transition")
    style.time_axes(figure, list(panels), max(begin - _MARGIN, 0.0), min(end + _MARGIN, result.duration))
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.2)
    return figure


draw_transition_feet = transition_feet


def get_transition_times(step: Mapping[str, Any], fps: float) -> tuple[float, float, float]:
    """Return when the transition begins and ends in the result, and the delay of B in it, in seconds."""
    # With integer boundaries, the transition's last frame is a frame of B; otherwise B continues after exactly the
    # requested length.
    is_integer = step["boundaries"] == "integer"
    end = (step["frames"][1] - 1) / fps if is_integer else step["from"] + step["length"]
    return step["from"], end, end - step["to"]
