"""Plot of the positions and headings that a character can reach within some seconds (compare Heck figure 6.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap

from marey.control.reach import Reach
from marey.core.arrays import Floats
from marey.errors import InvalidValue, NoResult
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Omit the palest colors, so that white strokes are visible everywhere.
_COLORS = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.85, 256)))
# Places across the map at which the headings are drawn.
_FANS = 15


@style.plot_function
def reach(found: Reach, path: style.StrPath | None = None, *, seconds: float | None = None) -> Figure:
    """Plot the reachable positions: on the left with the headings as height, on the right as a map from above.

    The map is colored by the time to each position with any heading; strokes show the headings. The character starts at
    the origin, facing +Z; +Z points to the right and +X up.

    Parameters
    ----------
    found : result of `marey.control.reach`.
    seconds : draw what is reached within this time; default: the time limit of `found`.
    """
    limit = found.time_limit if seconds is None else float(seconds)
    if not 0.0 < limit <= found.time_limit:
        raise InvalidValue(
            f"seconds must be greater than 0 and at most {found.time_limit:g}, the time limit of `found`, not {limit:g}"
        )
    reached = found.seconds <= limit
    if not reached.any():
        raise NoResult(f"nothing is reached within {limit:g} s; use a larger value of seconds")
    figure = style.new_figure(4.9)
    solid: Any = figure.add_axes((0.0, 0.02, 0.42, 0.9), projection="3d")
    plan = figure.add_axes((0.54, 0.12, 0.36, 0.76))
    bar = figure.add_axes((0.915, 0.12, 0.015, 0.76))
    extent = _find_extent(found, reached)
    _draw_solid(solid, found, reached, limit, extent)
    image = _draw_plan(plan, found, reached, limit, extent)
    figure.colorbar(image, cax=bar, label="earliest arrival, s")
    places = int(reached.any(axis=2).sum())
    mean = float(reached.sum(axis=2)[reached.any(axis=2)].mean())
    figure.text(
        0.02, 0.95, f"within {limit:g} s: {places} places of {found.cell:g} m, on average {mean:.1f} of "
        f"{len(found.headings)} headings at each", fontsize=11.0,
    )  # fmt: skip
    return figure


draw_reach = reach


def _find_extent(found: Reach, reached: Any) -> float:
    """Return the distance in meters from the origin to the farthest position, plus one cell."""
    i, j, _ = np.nonzero(reached)
    return float(max(np.abs(found.x[i]).max(), np.abs(found.z[j]).max()) + found.cell)


def _draw_solid(axes: Any, found: Reach, reached: Any, limit: float, extent: float) -> None:
    i, j, h = np.nonzero(reached)
    height = np.degrees(found.headings[h])
    axes.scatter(
        found.z[j], found.x[i], height, c=found.seconds[i, j, h], cmap=_COLORS, vmin=0.0, vmax=limit, s=5.0, lw=0.0,
        alpha=0.85,
    )  # fmt: skip
    axes.set_xlim(-extent, extent)
    axes.set_ylim(-extent, extent)
    axes.set_zlim(-180.0, 180.0)
    axes.set_zticks([-180, -90, 0, 90, 180])
    axes.set_xlabel("z, m")
    axes.set_ylabel("x, m")
    axes.set_zlabel("heading, degrees to the left")
    axes.view_init(elev=24.0, azim=-62.0)
    axes.set_box_aspect((1.0, 1.0, 0.9), zoom=0.9)


def _draw_plan(axes: Axes, found: Reach, reached: Any, limit: float, extent: float) -> Any:
    soonest = np.where(reached, found.seconds, np.inf).min(axis=2)
    half = 0.5 * found.cell
    edge = (found.z[0] - half, found.z[-1] + half, found.x[0] - half, found.x[-1] + half)
    shown = np.ma.masked_invalid(soonest)
    image = axes.imshow(shown, origin="lower", extent=edge, cmap=_COLORS, vmin=0.0, vmax=limit, interpolation="nearest")
    step = max(1, round(2.0 * extent / found.cell / _FANS))
    middle = len(found.x) // 2
    lines = _compute_strokes(found, reached, middle % step, step)
    axes.plot(*lines, color="white", lw=0.9, solid_capstyle="butt")
    axes.annotate(
        "", (0.14 * extent, 0.0), (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": style.LEFT, "lw": 1.8}
    )
    axes.plot(0.0, 0.0, "o", ms=4.0, mfc="white", mec=style.MIDDLE)
    axes.set_xlim(-extent, extent)
    axes.set_ylim(-extent, extent)
    axes.set_xlabel("z, m")
    axes.set_ylabel("x, m")
    axes.set_title("strokes: headings of arrival at a position", fontsize=style.NOTE_SIZE, color=style.NOTE)
    return image


def _compute_strokes(found: Reach, reached: Any, first: int, step: int) -> tuple[Floats, Floats]:
    """Compute the ends of the strokes along z and x, separated by NaN."""
    size = 0.42 * step * found.cell
    z, x = [], []
    for i in range(first, len(found.x), step):
        for j in range(first, len(found.z), step):
            for h in np.flatnonzero(reached[i, j]):
                angle = found.headings[h]
                z += [found.z[j], found.z[j] + size * np.cos(angle), np.nan]
                x += [found.x[i], found.x[i] + size * np.sin(angle), np.nan]
    return np.array(z), np.array(x)
