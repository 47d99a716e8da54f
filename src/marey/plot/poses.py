"""Poses as line drawings: views, choice of frames, and ghosts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle

from marey.core.arrays import Floats
from marey.plot import style
from marey.plot.body import UP, Body

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAD_RADIUS = 0.055  # radius of the drawn head, in statures


@dataclass(frozen=True, slots=True, eq=False)
class PoseView:
    """An orthographic view: unit vectors that point to the right and up in the plot."""

    right: Floats
    up: Floats

    @classmethod
    def side(cls, direction: Floats) -> PoseView:
        """View perpendicular to a direction on the floor, which points to the right."""
        return cls(direction, UP)

    @classmethod
    def front(cls, direction: Floats) -> PoseView:
        """View from the front: a character that faces `direction` faces the reader."""
        return cls(np.cross(UP, direction), UP)

    @classmethod
    def top(cls, direction: Floats) -> PoseView:
        """View from above; the direction points to the right, its left side up."""
        return cls(direction, np.cross(UP, direction))

    def flat(self, points: Floats) -> Floats:
        """Project points (..., 3) to (..., 2) meters in the plot."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def nearness(self, points: Floats) -> Floats:
        """Compute how near points are to the viewer, shape (...)."""
        near: Floats = points @ np.cross(self.right, self.up)
        return near


def draw_pose(
    axes: Axes,
    body: Body,
    frame: int,
    view: PoseView,
    *,
    shift: tuple[float, float] = (0.0, 0.0),
    strength: float = 1.0,
    width: float = 1.8,
    layer: float = 2.0,
) -> None:
    """Draw one pose; `strength` 1 is full color, less is a ghost. Near bones are drawn over far ones."""
    bones = np.flatnonzero(~body.in_head)
    ends = body.positions[frame][body.bones[bones]]
    order = np.argsort(view.nearness(ends).mean(axis=1), kind="stable")
    lines = LineCollection(
        list(view.flat(ends[order]) + np.array(shift)),
        colors=[style.shade(style.SIDES[body.sides[bones[k]]], strength) for k in order],
        linewidths=width,
        capstyle="round",
        zorder=layer,
    )
    axes.add_collection(lines, autolim=False)
    if not len(body.bones):
        points = view.flat(body.positions[frame, 1:]) + np.array(shift)
        axes.plot(*points.T, "o", ms=1.2 * width, color=style.shade(style.MIDDLE, strength), mew=0, zorder=layer)
    if body.head is not None:
        color = style.shade(style.SIDES["middle"], strength)
        fill = style.shade(style.SIDES["middle"], 0.25) if strength == 1.0 else "none"
        center = view.flat(head_center(body, frame, body.head)) + np.array(shift)
        axes.add_patch(Circle(tuple(center), HEAD_RADIUS * body.size, fc=fill, ec=color, lw=0.75 * width, zorder=layer))


def outline(body: Body, frame: int, view: PoseView) -> Floats:
    """Compute points (N, 2) that bound a drawn pose in the plot, without the width of its lines."""
    points = view.flat(body.positions[frame, body.joints])
    if body.head is None:
        return points
    center = view.flat(head_center(body, frame, body.head))
    radius = HEAD_RADIUS * body.size
    return np.concatenate([points, [center - radius, center + radius]])


def head_center(body: Body, frame: int, head: tuple[int, int]) -> Floats:
    joint, top = head
    start: Floats
    start, end = body.positions[frame, joint], body.positions[frame, top]
    long = float(np.linalg.norm(end - start))
    if long > 0.3 * HEAD_RADIUS * body.size:
        return np.asarray(start + (end - start) * min(0.5, HEAD_RADIUS * body.size / long))
    # No joint at the top of the head: extend the head in the direction of the neck.
    neck = body.bones[body.bones[:, 1] == joint, 0]
    line = start - body.positions[frame, neck[0]] if len(neck) else UP
    return np.asarray(start + 0.8 * HEAD_RADIUS * body.size * line / max(float(np.linalg.norm(line)), 1e-9))


def even_frames(start: int, stop: int, n: int) -> list[int]:
    """Choose at most n different frames, evenly spaced from `start` to the last before `stop`."""
    return [int(f) for f in np.unique(np.linspace(start, stop - 1, n).round())]


def choose_frames(body: Body, start: int, stop: int, n: int) -> list[int]:
    """Choose at most n different frames, spaced half by time, half by distance, so that both leaps and pauses show."""
    steps = np.linalg.norm(np.diff(body.travel[start:stop], axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    pace = np.linspace(0.0, 1.0, len(lengths)) + lengths / (lengths[-1] or 1.0)
    frames = np.searchsorted(pace, np.linspace(0.0, pace[-1], n) - 1e-9)
    return [start + int(f) for f in np.unique(frames)]


def distinctive_frames(body: Body, start: int, stop: int, n: int, *, ends: bool = False) -> list[int]:
    """Choose from each of n equal intervals the frame whose pose is farthest from the mean pose.

    Evenly spaced times would show a kick before and after its apex. With `ends`, the first and the last frame are
    always included, and the intervals lie around the evenly spaced times between them.
    """
    poses = body.positions[start:stop][:, body.joints] - body.travel[start:stop, None] * np.array([1.0, 0.0, 1.0])
    unusual = np.square(poses - poses.mean(axis=0)).sum(axis=(1, 2))
    last = stop - start - 1
    if ends and n < 3:
        return even_frames(start, stop, n)
    half = 0.5 * last / (n - 1) if ends else 0.0
    edges = np.unique(np.linspace(half, last + 1 - half, n - 1 if ends else n + 1).round().astype(int))
    frames = [0] if ends else []
    for a, b in pairwise(edges.tolist()):
        # Skip the frame just across the border of the interval if the previous choice is at that border.
        a = max(a, frames[-1] + (b - a) // 2) if frames else a
        frames.append(int(a + np.argmax(unusual[a:b])))
    return [start + frame for frame in dict.fromkeys([*frames, *([last] if ends else [])])]
