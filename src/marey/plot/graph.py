"""Plots of motion graphs: clips and transitions, the effect of a threshold, and walks along paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.deprecation import renamed_names
from marey.errors import InvalidValue
from marey.graph import Edges, MotionGraph, PathResult, connectivity
from marey.graph.statistics import own_threshold
from marey.measure.display import format_distance
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PATH, _GONE = "#f2c14e", style.MIDDLE
# Maximum number of arcs, because more would hide one another; if there are more, a selection over all distances is
# drawn.
_MAX_ARCS = 500


@style.plot_function
def graph(motion_graph: MotionGraph, path: style.StrPath | None = None) -> Figure:
    """Plot each clip as a line over time, dark where the graph plays it, and each transition as an arc.

    Clips that the graph does not play are omitted. Arcs within a clip curve upward. The darker an arc, the more similar
    the frames that it joins; if there are very many, a selection over all distances is drawn.
    """
    statistics = motion_graph.statistics()
    edges, fps = motion_graph.edges, motion_graph.fps
    played = np.unique(motion_graph.nodes[:, 0])
    clips = [motion_graph.clips[k] for k in played]
    figure = style.new_figure(1.1 + float(np.clip(14.0 / len(clips), 0.22, 0.55)) * len(clips))
    names = style.format_names(clips)
    # Reserve room for the names: about 0.075 inches per letter.
    left = min(0.3, 0.03 + 0.075 * max(map(len, names)) / style.WIDTH)
    axes = figure.add_axes((left, 0.62 / figure.get_figheight(), 0.97 - left, 1.0 - 1.1 / figure.get_figheight()))
    rows = np.full(len(motion_graph.clips), np.nan)
    rows[played] = np.arange(len(clips))[::-1]
    for row, clip in zip(rows[played], clips, strict=True):
        axes.plot([0.0, clip.duration], [row] * 2, color="#d5d8dd", lw=3.0, solid_capstyle="butt", zorder=2)
    runs = edges.select(~edges.blends)
    for row, number in zip(rows[played], played, strict=True):
        mask = np.zeros(len(motion_graph.clips[number]) + 2, dtype=bool)
        for start, n in zip(*_runs_in(runs, int(number)), strict=True):
            mask[start + 1 : start + 1 + n] = True
        for start, stop in np.flatnonzero(np.diff(mask)).reshape(-1, 2) / fps:
            axes.plot([start, stop], [row] * 2, color=style.MIDDLE, lw=3.0, solid_capstyle="butt", zorder=3)
    shown = _draw_arcs(axes, motion_graph, rows)
    axes.set_yticks(rows[played], names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(clips) - 0.25)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("time in the clip (s)")
    n = motion_graph.n_transitions
    part = "" if shown == n else f", {shown} of them drawn"
    without = f" ({len(statistics.left_out)} more lead nowhere)" if statistics.left_out else ""
    axes.set_title(f"{len(clips)} clips{without}, {n} transitions{part}")
    return figure


draw_graph = graph


def _runs_in(runs: Edges, clip: int) -> tuple[Ints, Ints]:
    """Find the first frame and the number of frames of each part of a clip that the graph plays."""
    here = runs.clips[:, 0] == clip
    return runs.starts[here, 0], runs.n_frames[here]


def _draw_arcs(axes: Axes, motion_graph: MotionGraph, rows: Floats) -> int:
    from matplotlib.collections import LineCollection

    edges = motion_graph.edges
    jumps = np.flatnonzero(edges.blends)
    jumps = jumps[np.argsort(edges.distances[jumps], kind="stable")]
    if len(jumps) > _MAX_ARCS:
        jumps = jumps[np.linspace(0, len(jumps) - 1, _MAX_ARCS).astype(int)]
    t = np.linspace(0.0, 1.0, 24)
    middle = motion_graph.half_width
    lines = []
    for e in jumps:
        # Draw from where one clip is left to where the other is entered, also for transitions with their own motion.
        (a, i), (b, j) = motion_graph.nodes[edges.tails[e]], motion_graph.nodes[edges.heads[e]]
        x = (i + middle) / motion_graph.fps, (j - middle - 1) / motion_graph.fps
        if a == b:
            bow = 0.55 * min(1.0, 0.25 + abs(x[1] - x[0]) / 20.0)
            lines.append(np.stack([x[0] + t * (x[1] - x[0]), rows[a] + bow * np.sin(np.pi * t)], axis=1))
        else:
            ease = t * t * (3.0 - 2.0 * t)
            lines.append(np.stack([x[0] + t * (x[1] - x[0]), rows[a] + ease * (rows[b] - rows[a])], axis=1))
    worst = max(float(edges.distances[jumps].max(initial=0.0)), 1e-9)
    alpha = 0.55 - 0.45 * edges.distances[jumps] / worst
    from matplotlib.colors import to_rgba

    colors = [to_rgba(style.RIGHT, float(a)) for a in alpha]
    axes.add_collection(LineCollection(lines, colors=colors, linewidths=0.6, zorder=1))
    return len(jumps)


@style.plot_function
def threshold(motion_graph: MotionGraph, path: style.StrPath | None = None) -> Figure:
    """Plot seconds of motion that can continue forever, transitions, and reachable labels against the threshold.

    Use it to choose a threshold; the graph's own is marked. The largest threshold shown is the largest for which
    `connectivity` has data.
    """
    if motion_graph.build_info.kind == "similarity":
        raise InvalidValue(
            f"this graph was built with a similarity of {motion_graph.build_info.threshold:g}, which is not a "
            "threshold in meters; build graphs with other similarities and compare them"
        )
    limits, seconds, counts, pairs = connectivity(motion_graph)
    several = len(motion_graph.label_names) > 1
    own = own_threshold(motion_graph)
    alive = np.flatnonzero(seconds.max(axis=0) > 0.0)
    beyond = limits[-1] > own * (1.0 + 1e-9)
    columns = 5
    legend_rows = -(-(len(alive) + 1) // columns)
    # Below the panels: the legend, and a note if needed.
    below = 0.2 * legend_rows + (0.0 if beyond else 0.22)
    height = 3.3 + below
    figure = style.new_figure(height)
    left, right, *more = panels = figure.subplots(1, 3 if several else 2)
    figure.subplots_adjust(
        left=0.08,
        right=0.98,
        bottom=(0.62 + below) / height,
        top=1.0 - 0.35 / height,
        wspace=0.36 if several else 0.22,
    )
    for k, label in enumerate(alive):
        left.plot(
            100.0 * limits, seconds[:, label], **style.series_look(k), lw=1.8, label=motion_graph.label_names[label]
        )
    left.set_ylabel("endless motion (s)")
    right.plot(100.0 * limits, counts, color=style.MIDDLE, lw=1.8)
    right.set_ylabel("transitions")
    for axes in more:
        axes.plot(100.0 * limits, pairs, color=style.MIDDLE, lw=1.8)
        axes.set_ylabel("pairs of labels")
    titles = ("endlessly playable", "branch points", "connected labels")
    for axes, title in zip(panels, titles, strict=False):
        mark = axes.axvline(100.0 * own, color=style.FLOOR, lw=1.0, ls=(0, (3, 2)), zorder=1)
        axes.set_xlabel("threshold (cm)")
        axes.set_title(title)
        axes.grid(True)
        axes.set_xlim(0.0, 100.0 * float(limits[-1]))
        axes.set_ylim(bottom=0.0)
    right.plot(
        100.0 * own, motion_graph.n_transitions, "o", ms=6, mfc="white", mec=style.MIDDLE, mew=1.4, clip_on=False
    )
    handles = [*left.get_lines()[: len(alive)], mark]
    names = [*(motion_graph.label_names[label] for label in alive), "this graph's threshold"]
    figure.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.07, 0.0 if beyond else 0.22 / height), ncols=columns
    )
    if not beyond:
        figure.text(
            0.08, 0.08 / height, "this graph's clips were not compared beyond its threshold", fontsize=style.NOTE_SIZE,
            color=style.NOTE,
        )  # fmt: skip
    return figure


draw_threshold = threshold


@style.plot_function
def route(found: PathResult, path: style.StrPath | None = None) -> Figure:
    """Plot a path from above, and the route of a walk along it with its transitions, styles and style changes.

    +Z points up and +X to the left. Paths that are longer along Z are drawn with +Z to the right and +X up. In both
    cases a left turn looks like a left turn.
    """
    walk = found.walk
    names, flip = ("x (m)", "z (m)"), True
    course, walked = found.path, found.walked_path
    if np.ptp(course[:, 1]) > np.ptp(course[:, 0]):
        course, walked, names, flip = course[:, ::-1], walked[:, ::-1], names[::-1], False
    low = np.minimum(course.min(axis=0), walked.min(axis=0)) - 0.4
    high = np.maximum(course.max(axis=0), walked.max(axis=0)) + 0.4
    width, height = high - low
    inches = float(np.clip(7.6 * height / width, 2.2, 6.5))
    figure = style.new_figure(inches + 1.25)
    axes = figure.add_axes((0.08, 0.6 / (inches + 1.25), 0.89, inches / (inches + 1.25)))
    axes.plot(course[:, 0], course[:, 1], color=_PATH, lw=7.0, solid_capstyle="round", label="requested", zorder=1)
    if not found.styles:
        axes.plot(walked[:, 0], walked[:, 1], color=_GONE, lw=1.4, label="walked", zorder=3)
    for k, each in enumerate(found.styles):
        part = walked[each.start : each.stop + 1]
        named = each.label not in [other.label for other in found.styles[:k]]
        look = style.series_look([other.label for other in found.styles].index(each.label))
        axes.plot(*part.T, **look, lw=2.2, label=each.label if named else None, zorder=3)
    changes = walked[[each.start for each in found.styles[1:]]]
    if len(changes):
        axes.plot(*changes.T, "D", ms=8, mfc="none", mec=_GONE, mew=1.6, label="style changes", zorder=5)
    joins = [part.start for part in walk.parts if part.into is not None]
    dots = style.NOTE if found.styles else style.LEFT  # a color that no style has
    axes.plot(*walked[joins].T, "o", color=dots, ms=4.0, label="transitions", zorder=4)
    axes.plot(*walked[0], "o", ms=8, mfc="white", mec=_GONE, mew=1.6, zorder=5)
    axes.plot(*walked[-1], "s", ms=6, color=_GONE, zorder=5)
    axes.set_aspect("equal")
    axes.set_xlim(*((high[0], low[0]) if flip else (low[0], high[0])))
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.grid(True)
    axes.legend(loc="best", fontsize=style.NOTE_SIZE)
    axes.set_title(
        f"{walk.duration:.1f} s, distance from the path {format_distance(found.mean_distance)} on average, "
        f"{format_distance(found.largest_distance)} at most,\n"
        f"{format_distance(found.end_distance)} between the ends"
    )
    return figure


draw_route = route

__getattr__ = renamed_names(__name__, {"draw_followed": "draw_route", "followed": "route"})
