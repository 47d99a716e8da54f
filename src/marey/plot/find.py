"""Plots of a search: poses of the matches below the query, the match graph, and the number of matches by threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import Floats, check_index
from marey.errors import InvalidValue, MareyError
from marey.find.result import MatchResult
from marey.find.suggest import Suggestion
from marey.plot import style
from marey.plot.body import Body, extract_body, forward, mean_heading
from marey.plot.poses import PoseView, distinctive_frames, draw_pose, outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL = 2.05  # inches for the name of a row
_HEAD, _FOOT, _RIGHT = 0.52, 0.12, 0.12  # inches around the rows
_ROWS = (0.62, 1.5)  # minimum and maximum height of a row in inches
_TALLEST = 11.0
_LATER = style.SERIES[2]  # color of tiers from the second on


@style.plot_function
def matches(found: MatchResult, path: style.StrPath | None = None, *, most: int = 12, n_poses: int = 7) -> Figure:
    """Plot a row of poses for the query and one for each match; poses in the same column correspond in time.

    Parameters
    ----------
    most : maximum number of rows. If there are more matches, a selection over all distances is drawn, including the
        nearest and the farthest.
    n_poses : poses in a row, at least 2.
    """
    if check_index(most, "most") < 1 or check_index(n_poses, "n_poses") < 2:
        raise InvalidValue(f"a plot of matches needs at least 1 row and 2 poses, not {most} and {n_poses}")
    rows = list(range(len(found)))
    if len(rows) > most:
        rows = [0, *np.unique(np.linspace(1, len(found) - 1, most - 1).round().astype(int)).tolist()][:most]
    bodies = [extract_body(found.motions[k]) for k in rows]
    frames = distinctive_frames(bodies[0], 0, len(found.motions[0]), n_poses, ends=True)
    strips = [_Row(body, _frames_like(found, k, frames)) for body, k in zip(bodies, rows, strict=True)]
    wide = max(strip.wide for strip in strips)
    low = min(min(strip.low for strip in strips), 0.0)
    high = max(strip.high for strip in strips)
    room = style.WIDTH - _LABEL - _RIGHT
    scale = min(room / (wide * len(frames)), _ROWS[1] / (high - low), (_TALLEST - _HEAD) / len(rows) / (high - low))
    tall = max(scale * (high - low), _ROWS[0])
    total = _HEAD + tall * len(rows) + _FOOT
    figure = style.new_figure(total)
    for at, (k, strip) in enumerate(zip(rows, strips, strict=True)):
        bottom = (_FOOT + tall * (len(rows) - 1 - at)) / total
        axes = figure.add_axes((_LABEL / style.WIDTH, bottom, room / style.WIDTH, tall / total))
        axes.set(xlim=(0.0, room / scale), ylim=(low, low + tall / scale))
        axes.set_axis_off()
        axes.axhline(0.0, color=style.FLOOR, lw=0.8, zorder=0.5)
        strip.draw(axes, room / scale / len(frames), strength=1.0)
        if k == 0:
            figure.patches.append(_band(figure, bottom, tall / total))
        _label_row(figure, found, k, bottom + 0.5 * tall / total)
    _draw_head(figure, found, len(rows))
    return figure


draw_matches = matches


class _Row:
    """Poses of one match, seen perpendicular to the direction that it faces in the first frame."""

    def __init__(self, body: Body, frames: list[int]) -> None:
        self.body, self.frames = body, frames
        facing = mean_heading(body.heading[:1])
        facing = mean_heading(body.heading) if facing is None else facing
        self.view = PoseView.side(forward(0.0 if facing is None else facing))
        outlines = [outline(body, frame, self.view) for frame in frames]
        hips = [float(body.travel[frame] @ self.view.right) for frame in frames]
        self.middles = hips
        self.wide = 1.06 * max(
            2.0 * max(float((points[:, 0] - hip).max()), float((hip - points[:, 0]).max()))
            for points, hip in zip(outlines, hips, strict=True)
        )
        self.low = min(float(points[:, 1].min()) for points in outlines) - 0.06
        self.high = max(float(points[:, 1].max()) for points in outlines) + 0.06

    def draw(self, axes: Axes, cell: float, strength: float) -> None:
        """Draw each pose in the middle of a cell of the given width in meters."""
        for k, (frame, hip) in enumerate(zip(self.frames, self.middles, strict=True)):
            shift = (cell * (k + 0.5) - hip, 0.0)
            draw_pose(
                axes, self.body, frame, self.view, shift=shift, strength=strength, width=1.5, layer=2.0 + 0.01 * k
            )


def _frames_like(found: MatchResult, k: int, frames: list[int]) -> list[int]:
    """Find the frames of a match that correspond to `frames` of the query."""
    if k == 0:
        return frames
    try:
        cells = found.aligned(found.matches[0], found.matches[k]).cells
    except MareyError:  # too different in length for a timewarp: use evenly spaced frames
        last = len(found.motions[k]) - 1
        return [round(frame * last / max(len(found.motions[0]) - 1, 1)) for frame in frames]
    return [int(np.median(cells[cells[:, 0] == frame, 1])) for frame in frames]


def _band(figure: Figure, bottom: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(
        (0.0, bottom),
        1.0,
        height,
        fc=style.shade(style.RIGHT, 0.09),
        ec="none",
        zorder=-1,
        transform=figure.transFigure,
    )


def _label_row(figure: Figure, found: MatchResult, k: int, middle: float) -> None:
    """Write the label of a row to its left."""
    match, fps = found.matches[k], found.motions[k].fps
    name = match.clip if len(match.clip) <= 24 else f"{match.clip[:11]}…{match.clip[-12:]}"
    times = f"{match.start / fps:.2f} to {match.stop / fps:.2f} s"
    what = "query" if k == 0 else f"{k}   {100.0 * match.distance:.1f} cm, tier {match.tier}"
    color = style.RIGHT if k == 0 else style.MIDDLE
    left = 0.12 / style.WIDTH
    step = 0.155 / figure.get_figheight()
    figure.text(left, middle + step, what, size=9.5, weight="bold", color=color, va="center")
    figure.text(left, middle, name, size=style.NOTE_SIZE, color=style.NOTE, va="center")
    figure.text(left, middle - step, times, size=style.NOTE_SIZE, color=style.NOTE, va="center")


def _draw_head(figure: Figure, found: MatchResult, n_rows: int) -> None:
    height = figure.get_figheight()
    part = "" if n_rows == len(found) else f", {n_rows - 1} of them drawn"
    n = len(found) - 1
    title = f"{n} match{'' if n == 1 else 'es'} within {100.0 * found.threshold:.3g} cm{part}"
    figure.text(0.12 / style.WIDTH, 1.0 - 0.1 / height, title, size=11, va="top")
    note = "poses in the same column correspond in time"
    if max(match.tier for match in found) > 1:
        note += "; distances are sums along the path from match to match"
    figure.text(0.12 / style.WIDTH, 1.0 - 0.32 / height, note, size=style.NOTE_SIZE, color=style.NOTE, va="top")
    for k, (text, color) in enumerate((("right", style.RIGHT), ("left", style.LEFT))):
        figure.text(
            1.0 - (0.15 + 0.5 * k) / style.WIDTH,
            1.0 - 0.1 / height,
            text,
            color=color,
            size=9.5,
            weight="bold",
            ha="right",
            va="top",
        )


# The match graph ------------------------------------------------------------------------------------------------


@style.plot_function
def match_graph(found: MatchResult, path: style.StrPath | None = None) -> Figure:
    """Plot the match graph: the query in the center, each match at a radius of its path distance in centimeters.

    Dark lines are the shortest paths to the query, along which matches are registered; pale lines are all other edges.
    The darker a dot, the fewer steps from the query it was found in.
    """
    figure = style.new_figure(6.4)
    axes = figure.add_axes((0.02, 0.05, 0.66, 0.86))
    places = _around(found)
    _draw_rings(axes, found, places)
    tree = {(min(k, int(p)), max(k, int(p))) for k, p in enumerate(found.parents) if p >= 0}
    for edge in found.edges:
        if (edge.first, edge.second) not in tree:
            axes.plot(*places[[edge.first, edge.second]].T, color=style.shade(style.NOTE, 0.16), lw=0.5, zorder=1)
    for a, b in tree:
        axes.plot(*places[[a, b]].T, color=style.shade(style.MIDDLE, 0.75), lw=1.1, zorder=2)
    for k, match in enumerate(found.matches):
        size = 130.0 if k == 0 else 62.0
        x, y = places[k].tolist()
        axes.scatter(x, y, s=size, color=_tier_color(match.tier), edgecolors="white", linewidths=0.9, zorder=3)
        if 0 < k <= 99:
            axes.text(x, y, str(k), size=5.6, color="white", ha="center", va="center", zorder=4)
    reach = 1.12 * max(float(np.abs(places).max()), 1e-6)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_axis_off()
    n_edges = len(found.edges)
    n = len(found) - 1
    title = f"{n} match{'' if n == 1 else 'es'} of {_name_match(found, 0)}, {n_edges} edge{'' if n_edges == 1 else 's'}"
    figure.text(0.02, 0.965, title, size=11, va="top")
    _list(figure, found)
    return figure


draw_match_graph = match_graph


def _tier_color(tier: int) -> str:
    if tier == 0:
        return style.LEFT
    return style.RIGHT if tier == 1 else style.shade(_LATER, max(1.0 - 0.14 * (tier - 2), 0.55))


def _around(found: MatchResult) -> Floats:
    """Return the positions (n, 2) of the matches in the plot, in centimeters: the radius is the distance from the
    query, the angle separates branches."""
    children: list[list[int]] = [[] for _ in found.matches]
    for k, parent in enumerate(found.parents.tolist()):
        if parent >= 0:
            children[parent].append(k)
    order: list[int] = []
    leaves: dict[int, list[float]] = {}
    stack = [0]
    while stack:
        k = stack.pop()
        order.append(k)
        stack += children[k][::-1]
    ends = [k for k in order if not children[k]]
    for i, k in enumerate(ends):
        leaves[k] = [2.0 * np.pi * i / len(ends)]
    for k in reversed(order):
        if children[k]:
            leaves[k] = [angle for child in children[k] for angle in leaves[child]]
    angles = np.array([0.5 * (min(leaves[k]) + max(leaves[k])) for k in range(len(found))])
    out: Floats = 100.0 * found.distances[:, None] * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return out


def _draw_rings(axes: Axes, found: MatchResult, places: Floats) -> None:
    """Draw three or four circles of equal distance, labeled where the dots (n, 2) leave most room."""
    from matplotlib.patches import Circle

    far = 100.0 * max(float(found.distances.max()), 1e-6)
    step = _round_step(far / 3.5)
    radii = np.arange(step, 1.001 * far, step)
    directions = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    directions = np.stack([np.sin(directions), np.cos(directions)], axis=1)
    spots = radii[:, None] * directions[:, None]
    room = np.linalg.norm(spots[:, :, None] - places, axis=3).min(axis=(1, 2))
    direction = directions[int(np.argmax(room))]
    for radius in radii:
        axes.add_patch(
            Circle((0.0, 0.0), radius, fc="none", ec=style.shade(style.NOTE, 0.22), lw=0.7, ls=(0, (2, 2)), zorder=0.5)
        )
        x, y = radius * direction
        axes.text(
            x, y, f"{radius:g} cm", size=7.5, color=style.NOTE, ha="center", va="center",
            zorder=2.5, bbox={"fc": "white", "ec": "none", "pad": 1.0, "alpha": 0.85},
        )  # fmt: skip


def _round_step(wanted: float) -> float:
    """Round to the nearest of 1, 2, 5, 10, 20, 50 and so on, or to a tenth, hundredth ... of these."""
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - wanted)) * power)


def _list(figure: Figure, found: MatchResult, most: int = 30) -> None:
    """List the matches by number, on the right."""
    figure.text(0.70, 0.90, " dot  distance  where", size=style.NOTE_SIZE, weight="bold", va="top")
    for row, match in enumerate(found.matches[1 : most + 1]):
        y = 0.90 - 0.0275 * (row + 1)
        color = _tier_color(match.tier)
        figure.text(0.722, y, f"{row + 1}", size=style.NOTE_SIZE, color=color, weight="bold", ha="right", va="top")
        figure.text(0.782, y, f"{100.0 * match.distance:.1f} cm", size=style.NOTE_SIZE, ha="right", va="top")
        figure.text(0.797, y, _name_match(found, row + 1), size=style.NOTE_SIZE, color=style.NOTE, va="top")
    if len(found) - 1 > most:
        y = 0.90 - 0.0275 * (most + 1)
        figure.text(0.70, y, f"and {len(found) - 1 - most} more", size=style.NOTE_SIZE, color=style.NOTE, va="top")
    deepest = max(match.tier for match in found.matches)
    keys = [
        ("query", style.LEFT),
        ("like the query", style.RIGHT),
        *([("like one of these, and so on", _LATER)] if deepest > 1 else []),
    ]
    x = 0.03
    for text, color in keys:
        figure.text(x, 0.02, "●", size=11, color=color, va="bottom")
        figure.text(x + 0.022, 0.022, text, size=style.NOTE_SIZE, color=style.NOTE, va="bottom")
        x += 0.05 + 0.0095 * len(text)
    if deepest > 1:
        note = "distances are sums along the dark lines"
        figure.text(0.70, 0.957, note, size=style.NOTE_SIZE, color=style.NOTE, va="top")


def _name_match(found: MatchResult, k: int) -> str:
    match, fps = found.matches[k], found.motions[k].fps
    name = match.clip if len(match.clip) <= 18 else f"{match.clip[:8]}…{match.clip[-9:]}"
    return f"{name} {match.start / fps:.2f}-{match.stop / fps:.2f} s"


# Thresholds -------------------------------------------------------------------------------------------------------


@style.plot_function
def thresholds(suggestion: Suggestion, path: style.StrPath | None = None, *, chosen: float | None = None) -> Figure:
    """Plot the number of matches against the threshold; good thresholds lie on a long flat stretch.

    Parameters
    ----------
    chosen : threshold to mark, in meters.
    """
    from matplotlib.ticker import MaxNLocator

    table = sorted(
        {*zip(suggestion.thresholds.tolist(), suggestion.counts.tolist(), strict=True)}
        | {(suggestion.threshold, suggestion.n_matches)}
    )
    steps, counts = 100.0 * np.array([step for step, _ in table]), np.array([n for _, n in table])
    figure = style.new_figure(3.5)
    axes = figure.add_axes((0.075, 0.17, 0.90, 0.70))
    far = max(float(steps[-1]), 100.0 * (chosen or 0.0))
    # Counts between two tried thresholds are unknown, so the line interpolates.
    axes.plot(np.append(steps[0], steps), np.append(0, counts), color=style.RIGHT, lw=1.8, zorder=3)
    low, high = (100.0 * edge for edge in suggestion.plateau)
    if suggestion.has_plateau:
        axes.axvspan(low, high, color=style.shade(style.LEFT, 0.18), lw=0, zorder=1)
    marks = [(100.0 * suggestion.threshold, f"suggested: {100.0 * suggestion.threshold:.1f} cm", style.LEFT, 0.97)]
    if chosen is not None:
        marks.append((100.0 * chosen, f"chosen: {100.0 * chosen:.3g} cm", style.MIDDLE, 0.88))
    for place, text, color, height in marks:
        axes.axvline(place, color=color, lw=1.3, ls=(0, (3, 2)), zorder=2)
        # Place the label away from the other line, or else where there is room.
        others = [other for other, *_ in marks if other != place]
        right = place < others[0] if others and 0.15 * far < place < 0.85 * far else place > 0.7 * far
        axes.annotate(text, (place, height), (-6 if right else 6, 0), xycoords=("data", "axes fraction"),
                      textcoords="offset points", size=style.NOTE_SIZE, color=color, va="top", zorder=5,
                      ha="right" if right else "left",
                      bbox={"fc": "white", "ec": "none", "pad": 1.0, "alpha": 0.8})  # fmt: skip
    below = suggestion.n_matches
    axes.plot(100.0 * suggestion.threshold, below, "o", ms=6, mfc="white", mec=style.LEFT, mew=1.5, zorder=4)
    # Beyond the plateau, exact counts do not matter; cut off the steep rise.
    top = min(int(counts.max()), max(3 * below, 10))
    axes.set(xlim=(0.0, 1.08 * far), ylim=(0.0, 1.3 * top), xlabel="threshold (cm)", ylabel="matches")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True)
    last = int(counts[-1])
    more = f", {last}{'' if suggestion.is_complete else ' or more'} beyond" if last > below else ""
    where = f"from {low:.1f} to {high:.1f} cm" if suggestion.has_plateau else "suggested; no threshold stands out"
    axes.set_title(f"{below} match{'' if below == 1 else 'es'} {where}{more}")
    return figure


draw_thresholds = thresholds
