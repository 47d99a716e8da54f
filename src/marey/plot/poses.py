"""Poses as line drawings: where they are seen from, which frames to show, and how strongly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle

from marey.core.arrays import Floats
from marey.plot.body import UP, Body
from marey.plot.style import SIDES, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEAD = 0.055  # radius of the drawn head, in statures


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A way to look at the world without perspective: unit vectors to the right and upwards on paper."""

    right: Floats
    up: Floats

    @classmethod
    def side(cls, direction: Floats) -> View:
        """Across a direction on the floor, which points to the right."""
        return cls(direction, UP)

    @classmethod
    def front(cls, direction: Floats) -> View:
        """Against a direction: somebody who faces it looks at the reader."""
        return cls(np.cross(UP, direction), UP)

    @classmethod
    def top(cls, direction: Floats) -> View:
        """From above, with the direction to the right and its left upwards."""
        return cls(direction, np.cross(UP, direction))

    def flat(self, points: Floats) -> Floats:
        """(..., 2) meters on paper of points (..., 3)."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def nearness(self, points: Floats) -> Floats:
        """(...) how far points are towards the reader."""
        near: Floats = points @ np.cross(self.right, self.up)
        return near


def draw_pose(
    axes: Axes,
    body: Body,
    frame: int,
    view: View,
    *,
    shift: tuple[float, float] = (0.0, 0.0),
    strength: float = 1.0,
    width: float = 1.8,
    layer: float = 2.0,
) -> None:
    """Add one pose; `strength` 1 is full color, less is a ghost. What is nearer is drawn over what is behind."""
    bones = np.flatnonzero(~body.in_head)
    ends = body.positions[frame][body.bones[bones]]
    order = np.argsort(view.nearness(ends).mean(axis=1), kind="stable")
    lines = LineCollection(
        list(view.flat(ends[order]) + np.array(shift)),
        colors=[shade(SIDES[body.sides[bones[k]]], strength) for k in order],
        linewidths=width,
        capstyle="round",
        zorder=layer,
    )
    axes.add_collection(lines, autolim=False)
    if body.head is not None:
        colour = shade(SIDES["middle"], strength)
        fill = shade(SIDES["middle"], 0.25) if strength == 1.0 else "none"
        centre = view.flat(_head_centre(body, frame, body.head)) + np.array(shift)
        axes.add_patch(Circle(tuple(centre), _HEAD * body.size, fc=fill, ec=colour, lw=0.75 * width, zorder=layer))


def outline(body: Body, frame: int, view: View) -> Floats:
    """(N, 2) points on paper that a drawn pose stays within, up to the thickness of lines."""
    points = view.flat(body.positions[frame, body.joints])
    if body.head is None:
        return points
    centre = view.flat(_head_centre(body, frame, body.head))
    radius = _HEAD * body.size
    return np.concatenate([points, [centre - radius, centre + radius]])


def _head_centre(body: Body, frame: int, head: tuple[int, int]) -> Floats:
    joint, top = head
    start: Floats
    start, end = body.positions[frame, joint], body.positions[frame, top]
    long = float(np.linalg.norm(end - start))
    if long > 0.3 * _HEAD * body.size:
        return np.asarray(start + (end - start) * min(0.5, _HEAD * body.size / long))
    # No joint at the top: the head goes on where the neck points to.
    neck = body.bones[body.bones[:, 1] == joint, 0]
    line = start - body.positions[frame, neck[0]] if len(neck) else UP
    return np.asarray(start + 0.8 * _HEAD * body.size * line / max(float(np.linalg.norm(line)), 1e-9))


def even_frames(start: int, stop: int, n: int) -> list[int]:
    """At most n different frames, evenly spread from `start` to the last before `stop`."""
    return [int(f) for f in np.unique(np.linspace(start, stop - 1, n).round())]


def paced_frames(body: Body, start: int, stop: int, n: int) -> list[int]:
    """At most n different frames, spread half by time and half by distance: a leap shows, and so does a wait."""
    steps = np.linalg.norm(np.diff(body.travel[start:stop], axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    pace = np.linspace(0.0, 1.0, len(way)) + way / (way[-1] or 1.0)
    frames = np.searchsorted(pace, np.linspace(0.0, pace[-1], n) - 1e-9)
    return [start + int(f) for f in np.unique(frames)]


def telling_frames(body: Body, start: int, stop: int, n: int, *, ends: bool = False) -> list[int]:
    """From each of n equal stretches the frame whose pose is farthest from the mean pose.

    Even times would show a kick before and after, and mostly somebody who stands between two of them. With `ends` the
    first and the last frame are shown in any case, and the stretches lie around the even times between.
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
        # Not the other side of an edge that the last one lies at.
        a = max(a, frames[-1] + (b - a) // 2) if frames else a
        frames.append(int(a + np.argmax(unusual[a:b])))
    return [start + frame for frame in dict.fromkeys([*frames, *([last] if ends else [])])]
