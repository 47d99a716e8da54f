"""Draw bodies in perspective, for animations on machines without a browser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection, LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.plot import style
from marey.plot.body import UP, Body
from marey.plot.camera import FIELD_OF_VIEW, view_axes
from marey.plot.poses import HEAD_RADIUS, head_center

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DPI = 100.0
# Thickness of limbs and trunk, and radius of contact marks, in statures.
_LIMB, _CONTACT = 0.052, 0.016
# Half the width of the drawn floor in meters, and its distance between lines.
_FLOOR, _STEP = 12.0, 1.0
# Points nearer to the eye than this, in meters, are not drawn.
_NEAR = 0.1


class Scene:
    """Draws frames of bodies as RGB images of a fixed size.

    Parameters
    ----------
    bodies : the bodies.
    size : width and height in pixels.
    background, lines : colors of the background and of the floor.
    contacts : for each body, its points in contact (F, K, 3), NaN while free; None for no marks.
    paths : for each body, whether its path on the floor is drawn.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        size: tuple[int, int],
        *,
        background: str = "#f3f4f6",
        lines: str = "#d3d7dd",
        contacts: Sequence[Floats | None] = (),
        paths: bool = False,
    ) -> None:
        self._bodies, self._size, self._lines, self._paths = bodies, size, lines, paths
        self._contacts = list(contacts) or [None] * len(bodies)
        self._figure = Figure(figsize=(size[0] / _DPI, size[1] / _DPI), dpi=_DPI, facecolor=background)
        self._canvas: Any = FigureCanvasAgg(self._figure)  # not typed
        with style.settings():  # the same axes for all pictures: to make them takes longer than to draw
            self._axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
            self._axes.set_axis_off()
            self._axes.set(xlim=(-size[0] / 2, size[0] / 2), ylim=(-size[1] / 2, size[1] / 2))
        self._floor = min(body.floor for body in bodies)

    def draw(self, frames: Sequence[int], eye: Floats, target: Floats) -> NDArray[np.uint8]:
        """Draw one frame of each body as seen from `eye`; return the image (height, width, 3)."""
        with style.settings():
            for drawn in list(self._axes.collections):
                drawn.remove()
            # One path for all lines, as each path takes time.
            ends = self._floor_lines(eye, target).reshape(-1, 2)
            floor = Path(ends, np.tile([Path.MOVETO, Path.LINETO], len(ends) // 2))
            lines = PathCollection([floor], facecolors="none", edgecolors=self._lines, linewidths=0.8)
            self._axes.add_collection(lines, autolim=False)
            for k in range(len(self._bodies)):
                self._draw_body(self._axes, k, frames[k], eye, target)
            self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    def _project(self, points: Floats, eye: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Return pixels from the middle (..., 2), NaN behind the eye, and pixels per meter (...)."""
        right, up, away = view_axes(eye, target)
        seen = points - eye
        depth = -(seen @ away)
        scale = self._size[1] / 2 / math.tan(FIELD_OF_VIEW / 2) / np.where(depth > _NEAR, depth, np.nan)
        return np.stack([seen @ right, seen @ up], axis=-1) * scale[..., None], scale

    def _floor_lines(self, eye: Floats, target: Floats) -> Floats:
        """Return the lines of the floor around the target, cut into pieces (N, 2, 2), without those behind the eye."""
        x, z = np.round(target[[0, 2]] / _STEP) * _STEP
        ticks = np.arange(-_FLOOR, _FLOOR + _STEP / 2, _STEP)
        pieces = []
        for tick in ticks:
            for across in (False, True):
                a, b = ticks[:-1], ticks[1:]
                still = np.full(len(a), tick)
                ends = [(still, a), (still, b)] if across else [(a, still), (b, still)]
                pieces.append(
                    np.stack([np.stack([x + u, np.full(len(u), self._floor), z + v], -1) for u, v in ends], 1)
                )
        flat, _ = self._project(np.concatenate(pieces), eye, target)
        return np.asarray(flat[np.isfinite(flat).all(axis=(1, 2))])

    def _draw_body(self, axes: Axes, k: int, frame: int, eye: Floats, target: Floats) -> None:
        body, lift = self._bodies[k], self._bodies[k].floor * UP
        pixel = 72.0 / _DPI  # points per pixel
        if self._paths:
            path = body.travel * np.array([1.0, 0.0, 1.0]) + lift
            flat, _ = self._project(path, eye, target)
            axes.add_collection(LineCollection([flat], colors=style.NOTE, linewidths=1.2), autolim=False)
        bones = np.flatnonzero(~body.in_head)
        ends = body.positions[frame][body.bones[bones]] + lift
        shadow, _ = self._project(ends * np.array([1.0, 0.0, 1.0]) + lift, eye, target)
        flat, scale = self._project(ends, eye, target)
        order = np.argsort(scale.mean(axis=1), kind="stable")
        thickness = pixel * _LIMB * body.size * scale.mean(axis=1)
        axes.add_collection(
            LineCollection(list(shadow), colors=self._lines, linewidths=thickness, capstyle="round"), autolim=False
        )
        color = [style.SIDES[body.sides[bone]] for bone in bones]
        axes.add_collection(
            LineCollection(
                list(flat[order]), colors=[color[b] for b in order], linewidths=thickness[order], capstyle="round"
            ),
            autolim=False,
        )
        balls = []
        if body.head is not None:
            balls.append((head_center(body, frame, body.head) + lift, HEAD_RADIUS * body.size * 1.15, style.MIDDLE))
        touching = self._contacts[k]
        if touching is not None:
            here = touching[frame]
            balls += [(point, _CONTACT * body.size, "#d62839") for point in here[np.isfinite(here[:, 0])]]
        for center, radius, fill in balls:
            at, scale = self._project(center, eye, target)
            size = 2.0 * radius * scale
            axes.add_collection(
                EllipseCollection(
                    [size], [size], [0.0], units="xy", offsets=[at], transOffset=axes.transData, facecolors=fill
                ),
                autolim=False,
            )
