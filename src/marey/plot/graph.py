"""Motion graphs: the clips as lines with the transitions between them, what a threshold leaves, and paths walked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Floats
from marey.graph import Followed, MotionGraph, Walk, connectivity
from marey.plot.style import (
    LEFT,
    MIDDLE,
    NOTE,
    NOTE_SIZE,
    RIGHT,
    SERIES,
    StrPath,
    check_suffix,
    new_figure,
    styled,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PATH, _GONE = "#f2c14e", MIDDLE
# More arcs than this hide one another; some of every likeness are drawn.
_MOST_ARCS = 500


def graph(motion_graph: MotionGraph, path: StrPath) -> None:
    """Draw a graph, as PNG or SVG by the suffix; see `draw_graph`."""
    check_suffix(path)
    write_figure(draw_graph(motion_graph), path)


@styled
def draw_graph(motion_graph: MotionGraph) -> Figure:
    """Each clip as a line over time, dark where the graph plays it, and each transition as an arc from one to another.

    Arcs within a clip bow upwards. The darker an arc, the more alike the frames that it joins; of very many, some of
    every likeness are drawn.
    """
    clips, edges = motion_graph.clips, motion_graph.edges
    figure = new_figure(1.1 + 0.55 * len(clips))
    axes = figure.add_axes((0.16, 0.62 / figure.get_figheight(), 0.81, 1.0 - 1.1 / figure.get_figheight()))
    rows = np.arange(len(clips))[::-1].astype(float)
    for k, clip in enumerate(clips):
        axes.plot([0.0, clip.duration], [rows[k]] * 2, color="#d5d8dd", lw=3.0, solid_capstyle="butt", zorder=2)
    runs = np.flatnonzero(~edges.blends)
    for e in runs:
        start = edges.starts[e, 0] / motion_graph.fps
        stop = start + edges.n_frames[e] / motion_graph.fps
        row = rows[edges.clips[e, 0]]
        axes.plot([start, stop], [row] * 2, color=MIDDLE, lw=3.0, solid_capstyle="butt", zorder=3)
    shown = _draw_arcs(axes, motion_graph, rows)
    axes.set_yticks(rows, [clip.name for clip in clips])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(clips) - 0.25)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("time in the clip (s)")
    n = motion_graph.n_transitions
    part = "" if shown == n else f", {shown} of them drawn"
    axes.set_title(f"{len(clips)} clips, {n} transitions{part}")
    return figure


def _draw_arcs(axes: Axes, motion_graph: MotionGraph, rows: Floats) -> int:
    from matplotlib.collections import LineCollection

    edges = motion_graph.edges
    jumps = np.flatnonzero(edges.blends)
    jumps = jumps[np.argsort(edges.distances[jumps], kind="stable")]
    if len(jumps) > _MOST_ARCS:
        jumps = jumps[np.linspace(0, len(jumps) - 1, _MOST_ARCS).astype(int)]
    t = np.linspace(0.0, 1.0, 24)
    middle = motion_graph.half_width
    lines = []
    for e in jumps:
        (a, b), (i, j) = edges.clips[e], edges.starts[e]
        x = (i + middle) / motion_graph.fps, (j + middle) / motion_graph.fps
        if a == b:
            bow = 0.55 * min(1.0, 0.25 + abs(x[1] - x[0]) / 20.0)
            lines.append(np.stack([x[0] + t * (x[1] - x[0]), rows[a] + bow * np.sin(np.pi * t)], axis=1))
        else:
            ease = t * t * (3.0 - 2.0 * t)
            lines.append(np.stack([x[0] + t * (x[1] - x[0]), rows[a] + ease * (rows[b] - rows[a])], axis=1))
    worst = max(float(edges.distances[jumps].max(initial=0.0)), 1e-9)
    alpha = 0.55 - 0.45 * edges.distances[jumps] / worst
    from matplotlib.colors import to_rgba

    colours = [to_rgba(RIGHT, float(a)) for a in alpha]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.6, zorder=1))
    return len(jumps)


def threshold(motion_graph: MotionGraph, path: StrPath) -> None:
    """Draw what thresholds leave of a graph, as PNG or SVG by the suffix; see `draw_threshold`."""
    check_suffix(path)
    write_figure(draw_threshold(motion_graph), path)


@styled
def draw_threshold(motion_graph: MotionGraph) -> Figure:
    """Seconds of clips that can be played endlessly, and transitions, against the threshold, for a person to choose."""
    limits, seconds, counts = connectivity(motion_graph)
    figure = new_figure(3.4)
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.08, right=0.98, bottom=0.17, top=0.9, wspace=0.22)
    for k, name in enumerate(motion_graph.label_names):
        left.plot(100.0 * limits, seconds[:, k], color=SERIES[k % len(SERIES)], lw=1.8, label=name)
    left.set_ylabel("endless motion (s)")
    left.legend(loc="lower right")
    right.plot(100.0 * limits, counts, color=MIDDLE, lw=1.8)
    right.set_ylabel("transitions")
    for axes, title in ((left, "what can be played for ever"), (right, "where clips can be left")):
        axes.set_xlabel("threshold (cm)")
        axes.set_title(title)
        axes.grid(True)
        axes.set_xlim(left=0.0)
        axes.set_ylim(bottom=0.0)
    return figure


def followed(found: Followed, path: StrPath) -> None:
    """Draw a path and the walk along it, as PNG or SVG by the suffix; see `draw_followed`."""
    check_suffix(path)
    write_figure(draw_followed(found.walk, found.path), path)


@styled
def draw_followed(walk: Walk, wanted: ArrayLike) -> Figure:
    """A path from above, and the way of a walk along it; transitions are marked.

    +Z points up the page and +X to the left, or, for paths that are longer that way, +Z to the right and +X up: a turn
    to the left is one in both.
    """
    from marey.graph import described

    found = described(walk, wanted, 0.0)
    names, flip = ("x (m)", "z (m)"), True
    course, way = found.path, found.way
    if np.ptp(course[:, 1]) > np.ptp(course[:, 0]):
        course, way, names, flip = course[:, ::-1], way[:, ::-1], names[::-1], False
    low = np.minimum(course.min(axis=0), way.min(axis=0)) - 0.4
    high = np.maximum(course.max(axis=0), way.max(axis=0)) + 0.4
    width, height = high - low
    inches = float(np.clip(7.6 * height / width, 2.2, 6.5))
    figure = new_figure(inches + 1.1)
    axes = figure.add_axes((0.08, 0.6 / (inches + 1.1), 0.89, inches / (inches + 1.1)))
    axes.plot(course[:, 0], course[:, 1], color=_PATH, lw=7.0, solid_capstyle="round", label="wanted", zorder=1)
    axes.plot(way[:, 0], way[:, 1], color=_GONE, lw=1.4, label="gone", zorder=3)
    joins = [part.start for part in walk.parts if part.into is not None]
    axes.plot(*way[joins].T, "o", color=LEFT, ms=4.0, label="transitions", zorder=4)
    axes.plot(*way[0], "o", ms=8, mfc="white", mec=_GONE, mew=1.6, zorder=5)
    axes.plot(*way[-1], "s", ms=6, color=_GONE, zorder=5)
    axes.set_aspect("equal")
    axes.set_xlim(*((high[0], low[0]) if flip else (low[0], high[0])))
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.grid(True)
    axes.legend(loc="best", fontsize=NOTE_SIZE)
    seconds = len(walk) / walk.graph.fps
    axes.set_title(f"{seconds:.1f} s along the path, {100.0 * found.mean_distance:.1f} cm from it in the mean")
    axes.text(
        1.0, 1.01, f"end {100.0 * found.end_distance:.0f} cm off, at most {100.0 * found.largest_distance:.0f} cm",
        transform=axes.transAxes, ha="right", va="bottom", fontsize=NOTE_SIZE, color=NOTE,
    )  # fmt: skip
    return figure
