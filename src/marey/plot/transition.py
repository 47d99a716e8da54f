"""The feet of two motions and of the transition between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.plot.registration import BLEND_LOOK, draw_foot
from marey.plot.style import (
    NOTE,
    StrPath,
    check_suffix,
    new_figure,
    series_look,
    shade,
    shown_names,
    styled,
    time_axes,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDES = ("left", "right")
# Seconds that the picture of the feet shows before and after the transition.
_MARGIN = 1.0


def transition_feet(a: Motion, b: Motion, made: Motion, step: Mapping[str, Any], path: StrPath) -> None:
    """Draw the feet about a transition, as PNG or SVG by the suffix; see `draw_transition_feet`."""
    check_suffix(path)
    write_figure(draw_transition_feet(a, b, made, step), path)


@styled
def draw_transition_feet(a: Motion, b: Motion, made: Motion, step: Mapping[str, Any]) -> Figure:
    """Heights of both feet in A, B and the result over the result's time, B where it goes on; the transition shaded.

    `step` is what the result's provenance tells of the transition.
    """
    begin, end, late = placed_in_time(step, made.fps)
    names = shown_names([a, b, made])
    figure = new_figure(4.9, layout="constrained")
    panels = figure.subplots(4, 1, height_ratios=[1.0, 0.3, 1.0, 0.3])
    for side, high, lanes in zip(SIDES, panels[::2], panels[1::2], strict=True):
        for k, (motion, shift) in enumerate(((a, 0.0), (b, late), (made, 0.0))):
            look = BLEND_LOOK if motion is made else series_look(k)
            draw_foot(high, lanes, motion, side, np.arange(len(motion)) / motion.fps + shift, look, k, names[k])
        high.set_title(f"{side.capitalize()} foot, height of the ball", size=10, loc="left")
        lanes.set_yticks([])
        lanes.invert_yaxis()
        for panel in (high, lanes):
            panel.axvspan(begin, end, color=shade(NOTE, 0.15), lw=0, zorder=0, gid="transition")
    time_axes(figure, list(panels), max(begin - _MARGIN, 0.0), min(end + _MARGIN, made.duration))
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.2)
    return figure


def placed_in_time(step: Mapping[str, Any], fps: float) -> tuple[float, float, float]:
    """Seconds of the result at which the transition begins and ends, and by which B is later in it than in itself."""
    # On whole frames the transition's last frame is one of B; else B goes on exactly the asked length later.
    whole = step["boundaries"] == "integer"
    end = (step["frames"][1] - 1) / fps if whole else step["from"] + step["length"]
    return step["from"], end, end - step["to"]
