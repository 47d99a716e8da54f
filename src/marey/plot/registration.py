"""Plots of registered motions: matched contacts, paths of blends, foot heights, and the timewarp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.clean import detect_contacts, point_paths
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.plot import style
from marey.plot.body import Body, extract_body, floor_height, forward
from marey.register.registration import RegistrationCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.72  # of a lane
_LANE = 0.17  # inches
_TIP, _WAIST = 0.22, 0.13  # meters: length of a facing triangle, and half of its base
_MARGIN = (0.65, 0.15, 0.36, 0.82, 0.3)  # inches around top views: left, right, top, bottom, and between them
_TALLEST = 4.6  # inches
BLEND_LOOK = {"color": style.MIDDLE, "lw": 2.2}


# Constraint matches -------------------------------------------------------------------------------------------------


@style.plot_function
def matches(registration: RegistrationCurve, path: style.StrPath | None = None) -> Figure:
    """Plot the contacts as bars over the common time u, one lane per motion (Kovar figure 5.11).

    On the left as they are in the motions, hollow if no match uses them; on the right as matched, each match as a band
    across the lanes, so that a split contact appears twice.
    """
    found = _contacts_in_u(registration)
    if not found:
        raise InvalidValue(
            "none of the registered motions has a contact, so there is nothing to match; detect contacts first"
        )
    n = len(registration.motions)
    names = style.format_names(registration.motions)
    figure = style.new_figure(0.95 + (_LANE * n + 0.32) * len(found), layout="constrained")
    panels = figure.subplots(len(found), 2, sharex=True, squeeze=False)
    for (before, after), (point, lanes) in zip(panels, found.items(), strict=True):
        used = [match for match in registration.matches if match.point == point]
        for j, spans in enumerate(lanes):
            for start, stop in spans:
                is_used = any(match.starts[j] < stop and match.stops[j] > start for match in used)
                _draw_bar(before, start, stop, j, is_used, f"contact {point}")
        for match in used:
            for j, (start, stop) in enumerate(zip(match.starts.tolist(), match.stops.tolist(), strict=True)):
                _draw_bar(after, start, stop, j, True, f"match {point}")
            _link(after, match.starts, match.stops)
        for panel in (before, after):
            panel.set_ylim(n - 0.4, -0.6)
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
            panel.grid(True, axis="x")
            panel.label_outer()
        before.set_ylabel(point.replace("_", "\n", 1), rotation=0, ha="right", va="center", size=9)
    low, high = _u_limits(registration, found)
    panels[0, 0].set_xlim(low, high)
    panels[0, 0].set_title("contacts of the motions", size=10)
    panels[0, 1].set_title("constraint matches", size=10)
    for panel in panels[-1]:
        panel.set_xlabel("u, common time")
    total = sum(len(spans) for lanes in found.values() for spans in lanes)
    figure.suptitle(
        f"{total} contacts of {n} motions in {len(registration.matches)} matches", x=0.01, ha="left", size=11
    )
    _motion_legend(figure, names)
    return figure


draw_matches = matches


def _contacts_in_u(registration: RegistrationCurve) -> dict[str, list[list[tuple[float, float]]]]:
    """Compute the contact intervals in u, for each contact point that is ever in contact and each motion."""
    found: dict[str, list[list[tuple[float, float]]]] = {}
    for motion in registration.motions:
        for name in () if motion.contacts is None else motion.contacts.names:
            found.setdefault(name, [[] for _ in registration.motions])
    for j, motion in enumerate(registration.motions):
        contacts = motion.contacts
        if contacts is None:
            continue
        for name in contacts.names:
            for start, stop in contacts.intervals(name):
                edges = registration.timewarp.inverse(j, np.array(style.band(start, stop, motion.fps)))
                found[name][j].append((float(edges[0]), float(edges[1])))
    return {name: lanes for name, lanes in found.items() if any(lanes)}


def _draw_bar(axes: Axes, start: float, stop: float, lane: int, filled: bool, gid: str) -> None:
    color = style.SERIES[lane % len(style.SERIES)]
    axes.broken_barh(
        [(start, stop - start)],
        (lane - 0.5 * _BAR, _BAR),
        facecolor=style.shade(color, 0.75) if filled else "white",
        edgecolor=color,
        lw=0.9,
        ls="-" if filled else (0, (2.0, 1.5)),
        zorder=3,
        gid=gid,
    )


def _link(axes: Axes, starts: Floats, stops: Floats) -> None:
    """Draw a band, behind the bars, that connects the bars of one match in neighboring lanes."""
    rows = np.repeat(np.arange(len(starts)), 2) + np.tile([-0.5 * _BAR, 0.5 * _BAR], len(starts))
    x = np.concatenate([np.repeat(starts, 2), np.repeat(stops, 2)[::-1]])
    axes.fill(x, np.concatenate([rows, rows[::-1]]), color=style.shade(style.NOTE, 0.18), lw=0, zorder=1, gid="link")


def _u_limits(
    registration: RegistrationCurve, found: Mapping[str, list[list[tuple[float, float]]]]
) -> tuple[float, float]:
    edges = [edge for lanes in found.values() for spans in lanes for span in spans for edge in span]
    edges += [float(edge) for match in registration.matches for edge in (*match.starts, *match.stops)]
    return min(0.0, *edges) - 0.01, max(1.0, *edges) + 0.01


# Paths of blends ----------------------------------------------------------------------------------------------------


@style.plot_function
def blend_paths(
    inputs: Sequence[Motion], blends: Mapping[str, Motion], path: style.StrPath | None = None, *, every: float = 0.5
) -> Figure:
    """Plot hip paths from above, one panel per blend, with triangles that point along the heading.

    All panels have the same scale and show the inputs in pale colors (Kovar figure 5.4). +Z points to the right, +X up.

    Parameters
    ----------
    inputs : motions that were blended, at the positions to be shown.
    blends : title and motion of each panel, at most four.
    every : seconds between triangles.
    """
    if not 1 <= len(blends) <= 4:
        raise InvalidValue(f"blends must contain one to four blends, not {len(blends)}")
    if not every > 0.0:
        raise InvalidValue(f"`every` must be a time greater than 0 s, not {every!r}")
    bodies = [extract_body(motion) for motion in inputs]
    results = [extract_body(motion) for motion in blends.values()]
    low, high = _floor_limits([*bodies, *results])
    left, right, head, foot, gap = _MARGIN
    wide = (style.WIDTH - left - right - gap * (len(blends) - 1)) / len(blends)
    tall = min(wide * (high[1] - low[1]) / (high[0] - low[0]), _TALLEST)
    wide = tall * (high[0] - low[0]) / (high[1] - low[1])
    total = head + tall + foot
    figure = style.new_figure(total)
    panels: list[Axes] = []
    for k in range(len(blends)):
        box = ((left + k * (wide + gap)) / style.WIDTH, foot / total, wide / style.WIDTH, tall / total)
        panels.append(figure.add_axes(box, sharex=panels[0] if k else None, sharey=panels[0] if k else None))
    names = style.format_names(inputs)
    for panel, (title, blend), result in zip(panels, blends.items(), results, strict=True):
        for k, (motion, body) in enumerate(zip(inputs, bodies, strict=True)):
            look = style.series_look(k)
            look["color"] = style.shade(look["color"], 0.6)
            _draw_path(panel, body, motion.fps, every, look | {"lw": 1.3}, f"input {k}", names[k])
        _draw_path(panel, result, blend.fps, every, BLEND_LOOK, "blend", "blend")
        length = float(np.linalg.norm(np.diff(result.travel[:, [2, 0]], axis=0), axis=1).sum())
        panel.set_title(
            f"{title}: {length:.2f} m in {blend.duration:.2f} s", size=10 if len(blends) < 3 else style.NOTE_SIZE
        )
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="z, m")
        panel.grid(True)
        panel.tick_params(labelleft=panel is panels[0])
    panels[0].set_ylabel("x, m")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(left / style.WIDTH, 0.0), ncols=4, borderaxespad=0.3
    )
    return figure


draw_blend_paths = blend_paths


def _draw_path(axes: Axes, body: Body, fps: float, every: float, look: dict[str, Any], gid: str, label: str) -> None:
    floor = body.travel[:, [2, 0]]
    axes.plot(floor[:, 0], floor[:, 1], gid=gid, label=label, **look)
    chosen = np.unique(np.append(np.arange(0, len(floor), every * fps).round().astype(int), len(floor) - 1))
    for f in chosen.tolist():
        if not np.isfinite(body.heading[f]):
            continue
        ahead = forward(float(body.heading[f]))[[2, 0]]
        across = np.array([-ahead[1], ahead[0]])
        back = floor[f] - 0.4 * _TIP * ahead
        corners = np.stack([floor[f] + 0.6 * _TIP * ahead, back + _WAIST * across, back - _WAIST * across])
        axes.fill(corners[:, 0], corners[:, 1], color=look["color"], lw=0, zorder=4, gid=f"facing {gid}")


def _floor_limits(bodies: Sequence[Body]) -> tuple[Floats, Floats]:
    floor = np.concatenate([body.travel[:, [2, 0]] for body in bodies])
    low, high = floor.min(axis=0) - 0.35, floor.max(axis=0) + 0.35
    # Give a straight walk some width.
    short = np.maximum(0.25 * (high - low).max() - (high - low), 0.0)
    return low - 0.5 * short, high + 0.5 * short


# Feet ---------------------------------------------------------------------------------------------------------------


@style.plot_function
def foot_heights(
    inputs: Sequence[Motion],
    blend: Motion | None = None,
    path: style.StrPath | None = None,
    *,
    side: str = "left",
    registration: RegistrationCurve | None = None,
) -> Figure:
    """Plot the height of the ball of one foot over time for inputs and blend; contacts below (Sako, figure 23).

    Parameters
    ----------
    inputs : motions that were blended; all start at 0 s.
    side : "left" or "right".
    registration : adds a panel with its motions over the common time u, in which the curves should coincide.
    """
    if side not in ("left", "right"):
        raise InvalidValue(f"side must be 'left' or 'right', not {side!r}")
    if not inputs and blend is None:
        raise InvalidValue("motions must contain at least one motion to draw")
    shown = [*inputs] if blend is None else [*inputs, blend]
    names = style.format_names(shown)
    in_step = [] if registration is None else list(registration.motions)
    ratios = [1.0, 0.11 * len(shown)] + ([1.0, 0.11 * len(in_step)] if in_step else [])
    figure = style.new_figure(0.95 + 1.7 * sum(ratios), layout="constrained")
    panels = figure.subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    longest = 0.0
    for k, motion in enumerate(shown):
        look = BLEND_LOOK if k == len(inputs) else style.series_look(k)
        times = np.arange(len(motion)) / motion.fps
        longest = max(longest, motion.duration)
        draw_foot(panels[0], panels[1], motion, side, times, look, k, names[k])
    style.time_axes(figure, list(panels[:2]), 0.0, longest)
    panels[1].tick_params(labelbottom=True)  # keep the time labels if more panels follow
    if registration is not None:
        for j, motion in enumerate(in_step):
            u = registration.timewarp.inverse(j, np.arange(len(motion)) / motion.fps)
            draw_foot(panels[2], panels[3], motion, side, u, style.series_look(j), j, style.format_name(motion, 30))
        for panel in panels[2:]:
            panel.grid(True, axis="x")
            panel.set_xlim(0.0, 1.0)
        panels[2].tick_params(labelbottom=False)
        panels[3].set_xlabel("u, common time")
        panels[2].set_title("in step", size=10)
    for panel in panels[1::2]:
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.invert_yaxis()
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(4, len(shown)), borderaxespad=0.2)
    panels[0].set_title(f"{side.capitalize()} foot, height of the ball", size=10)
    return figure


draw_foot_heights = foot_heights


def draw_foot(
    high: Axes, lanes: Axes, motion: Motion, side: str, x: Floats, look: Mapping[str, Any], lane: int, label: str
) -> None:
    """Draw a foot's height over `x` (F,), and its contacts as bars in a lane below."""
    height, touching = _foot_curve(motion, side)
    high.plot(x, 100.0 * height, label=label, gid=f"height {lane}", **look)
    high.set_ylabel("height, cm")
    edges = np.concatenate([[x[0]], 0.5 * (x[1:] + x[:-1]), [x[-1]]])
    bars = [(edges[a], edges[b] - edges[a]) for a, b in touching]
    lanes.broken_barh(bars, (lane - 0.5 * _BAR, _BAR), color=look["color"], lw=0, gid=f"contact {lane}")
    lanes.set_ylim(-0.6, lane + 0.6)


def _foot_curve(motion: Motion, side: str) -> tuple[Floats, tuple[tuple[int, int], ...]]:
    """Compute the height (F,) in meters of the sole at the ball of the foot, and the frames in contact."""
    ball = f"{side}_ball"
    known = motion
    if motion.contacts is None or ball not in motion.contacts.names:
        known = detect_contacts(motion)
    contacts = known.contacts
    assert contacts is not None
    column = contacts.index(ball)
    height = point_paths(known, contacts.points[column : column + 1])[:, 0, 1]
    return height - floor_height(known, known.world().positions), contacts.intervals(ball)


# Time ---------------------------------------------------------------------------------------------------------------


@style.plot_function
def timewarp(registration: RegistrationCurve, path: style.StrPath | None = None) -> Figure:
    """Plot over the common time u: seconds into each motion, its relative speed, and its rotation to the reference.

    The speed is relative to the mean speed of the motion. If it is 1 throughout, the motions differ only in duration.
    """
    u = np.linspace(0.0, 1.0, 401)
    seconds, slope = registration.timewarp(u), registration.timewarp.slope(u)
    pace = slope / registration.timewarp.durations
    turn = np.degrees(registration.alignment(u)[..., 0])
    figure = style.new_figure(5.4, layout="constrained")
    panels = figure.subplots(3, 1, sharex=True, height_ratios=[1.6, 1.0, 1.0])
    names = style.format_names(registration.motions)
    for j, name in enumerate(names):
        look = style.series_look(j)
        label = f"{name} (reference)" if j == registration.reference else name
        panels[0].plot(u, seconds[:, j], label=label, gid=f"timewarp {j}", **look)
        panels[1].plot(u, pace[:, j], gid=f"pace {j}", **look)
        panels[2].plot(u, turn[:, j], gid=f"turn {j}", **look)
    panels[1].axhline(1.0, color=style.NOTE, lw=0.6, zorder=0)
    for panel, label in zip(panels, ("time, s", "pace", "turn, °"), strict=True):
        panel.set_ylabel(label)
        panel.grid(True)
        panel.label_outer()
    low, high = panels[2].get_ylim()
    if high - low < 4.0:  # noise about a constant should not fill a panel
        panels[2].set_ylim(0.5 * (low + high) - 2.0, 0.5 * (low + high) + 2.0)
    panels[0].legend(loc="upper left")
    panels[0].set_xlim(0.0, 1.0)
    panels[2].set_xlabel("u, common time")
    figure.align_ylabels(list(panels))
    kind = "loops" if registration.cyclic else "motions"
    figure.suptitle(
        f"{len(names)} registered {kind}, {100 * registration.distance:.1f} cm apart", x=0.01, ha="left", size=11
    )
    return figure


draw_timewarp = timewarp


def _motion_legend(figure: Figure, names: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    patches = [
        Patch(fc=style.shade(style.SERIES[j % len(style.SERIES)], 0.75), ec=style.SERIES[j % len(style.SERIES)])
        for j in range(len(names))
    ]
    patches.append(Patch(fc="white", ec=style.NOTE, ls=(0, (2.0, 1.5))))
    figure.legend(
        patches, [*names, "in no match"], loc="outside lower left", ncols=min(5, len(patches)), fontsize=style.NOTE_SIZE
    )
