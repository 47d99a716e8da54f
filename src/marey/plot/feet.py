"""Plots of heel and ball heights and speeds over time, with the contacts as bands, to check a contact detection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.clean import contact_points, detect_contacts, point_paths
from marey.core.annotations import check_frames
from marey.core.arrays import Floats
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue, JointNotFound
from marey.maths import filters
from marey.plot import style
from marey.plot.body import floor_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMOOTHING = 0.012  # seconds, standard deviation of the Gaussian that smooths speeds
# Ball solid and dark, heel dashed and lighter, so that they differ in print too.
_LOOKS = {"ball": {"ls": "-", "lw": 1.5}, "heel": {"ls": (0, (3.2, 1.3)), "lw": 1.3}}


@style.plot_function
def feet(motion: Motion, path: style.StrPath | None = None, *, start: int = 0, stop: int | None = None) -> Figure:
    """Plot height above the floor, horizontal speed, and contacts of the heel and ball of each foot.

    The contacts are those of the motion; if it has none, they are detected. A frame is drawn from half a frame before
    its time to half a frame after it. Other contact points, such as hands, are drawn below the feet.

    Parameters
    ----------
    start, stop : frames, `stop` exclusive; default: the whole motion. Floor and contacts are detected in the whole
        motion.

    Examples
    --------
    >>> figure = marey.plot.draw_feet(walk, "feet.png")
    >>> len(figure.axes)
    6
    """
    first, last = check_frames(motion, start, stop)
    contacts, floor, source = _contacts(motion)
    paths = point_paths(motion, contacts.points)
    height = 100.0 * (paths[..., 1] - floor)
    speed = horizontal_speed(paths, motion.fps)
    times = np.arange(first, last) / motion.fps
    limits = (first / motion.fps, (last - 1) / motion.fps)

    shown = [side for side in ("left", "right") if any(_is_foot(name, side) for name in contacts.names)]
    others = [
        name
        for k, name in enumerate(contacts.names)
        if not any(_is_foot(name, side) for side in style.SIDES) and contacts.mask[first:last, k].any()
    ]
    ratios = [1.0, 1.0, 0.32] * len(shown) + ([0.16 * len(others)] if others else [])
    figure = style.new_figure(0.75 + 1.12 * sum(ratios) + 0.08 * len(ratios), layout="constrained")
    panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios, squeeze=False)[:, 0]
    for n, side in enumerate(shown):
        high, fast, lanes = panels[3 * n : 3 * n + 3]
        for k, name in enumerate(contacts.names):
            if not _is_foot(name, side):
                continue
            part = name.removeprefix(f"{side}_")
            look = {**_LOOKS.get(part, _LOOKS["ball"]), "color": _color(side, part)}
            high.plot(times, height[first:last, k], label=part, **look)
            fast.plot(times, speed[first:last, k], label=part, **look)
            for panel in (high, fast):
                _draw_bands(panel, contacts, name, side, motion.fps, first, last)
        high.set_ylabel("height, cm")
        fast.set_ylabel("speed, m/s")
        high.set_title(f"{side.capitalize()} foot", size=10, color=style.SIDES[side], weight="bold")
        high.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=4, borderaxespad=0.0)
        fast.set_ylim(bottom=0.0)
        _draw_lanes(lanes, contacts, [f"{side}_heel", f"{side}_ball"], motion.fps, first, last)
    _set_common_limits(list(panels[0 : 3 * len(shown) : 3]))
    _set_common_limits(list(panels[1 : 3 * len(shown) : 3]))
    if others:
        _draw_lanes(panels[-1], contacts, others, motion.fps, first, last)
    for panel in panels:
        panel.tick_params(axis="x", length=0)
    panels[-1].tick_params(axis="x", length=3.5)
    style.time_axes(figure, list(panels), *limits)
    figure.suptitle(
        f"Feet of {style.format_name(motion)}: {style.length_text(motion)}, {source}", x=0.01, ha="left", size=11
    )
    return figure


draw_feet = feet


def horizontal_speed(paths: Floats, fps: float) -> Floats:
    """Compute horizontal speeds (F, K) in m/s of paths (F, K, 3), smoothed by a 12 ms Gaussian; 0 for one frame."""
    if len(paths) < 2:
        return np.zeros(paths.shape[:2])
    smooth = filters.gaussian(paths[..., [0, 2]], SMOOTHING * fps)
    speed: Floats = np.linalg.norm(np.gradient(smooth, axis=0), axis=-1) * fps
    return speed


def _contacts(motion: Motion) -> tuple[Contacts, float, str]:
    """Return contacts with the points to draw, the floor's height, and a note on the origin of the contacts."""
    given = motion.contacts
    if given is not None and any(_is_foot(name, side) for name in given.names for side in ("left", "right")):
        return given, floor_height(motion, motion.world().positions), "contacts as noted"
    if not any(f"{side}_foot" in motion.skeleton.roles for side in ("left", "right")):
        raise JointNotFound(
            f"{motion.name!r} has no feet to draw: it has neither the role left_foot nor right_foot",
            parameter="roles",
            remedy='assign them under "roles" in the sidecar or with `roles=`',
        )
    try:
        found = detect_contacts(motion)
    except InvalidValue:
        points = _points(motion)
        none = Contacts(points, np.zeros((len(motion), len(points)), dtype=bool))
        return none, floor_height(motion, motion.world().positions), "no contacts found"
    assert found.contacts is not None
    return found.contacts, floor_height(found, found.world().positions), "contacts detected"


def _points(motion: Motion) -> tuple[ContactPoint, ...]:
    """Build heel and ball points for a motion in which contacts cannot be detected, because it is too short or never at
    rest."""
    try:
        return contact_points(motion.skeleton, standing=motion)
    except InvalidValue:
        roles = motion.skeleton.roles
        places = {f"{s}_{part}": roles.get(f"{s}_{part}") for s in ("left", "right") for part in ("foot", "ball")}
        return tuple(
            ContactPoint(name.replace("foot", "heel"), joint, np.zeros(3))
            for name, joint in places.items()
            if joint is not None
        )


def _is_foot(name: str, side: str) -> bool:
    return name in (f"{side}_heel", f"{side}_ball")


def _color(side: str, part: str) -> str:
    return style.SIDES[side] if part == "ball" else style.shade(style.SIDES[side], 0.62)


def _draw_bands(axes: Axes, contacts: Contacts, name: str, side: str, fps: float, first: int, last: int) -> None:
    """Tint the background while a point is in contact; the tints of heel and ball add up."""
    for a, b in contacts.crop(first, last).intervals(name):
        x0, x1 = style.band(a + first, b + first, fps)
        axes.axvspan(x0, x1, color=style.SIDES[side], alpha=0.13, lw=0, zorder=0, gid=f"contact {name}")


def _draw_lanes(axes: Axes, contacts: Contacts, names: list[str], fps: float, first: int, last: int) -> None:
    """Draw one lane per contact point, with a bar for each contact."""
    names = [name for name in names if name in contacts.names]
    for lane, name in enumerate(names):
        bars = [style.band(a + first, b + first, fps) for a, b in contacts.crop(first, last).intervals(name)]
        side = style.side_of(name)
        color = style.SIDES[side] if name.endswith("ball") else style.shade(style.SIDES[side], 0.62)
        spans = [(x0, x1 - x0) for x0, x1 in bars]
        axes.broken_barh(spans, (lane - 0.36, 0.72), color=color, lw=0, gid=f"lane {name}")
    axes.set_ylim(len(names) - 0.4, -0.6)
    short = [
        name.removeprefix(f"{style.side_of(name)}_") if name.endswith(("heel", "ball")) else name for name in names
    ]
    axes.set_yticks(range(len(names)), [label.replace("_", " ") for label in short])
    axes.tick_params(axis="y", length=0, labelsize=8.5, labelcolor=style.NOTE)
    axes.spines["left"].set_visible(False)


def _set_common_limits(panels: list[Axes]) -> None:
    """Set the same scale for both feet, so that they can be compared."""
    low = min(panel.get_ylim()[0] for panel in panels)
    high = max(panel.get_ylim()[1] for panel in panels)
    for panel in panels:
        panel.set_ylim(low, high)
