"""Cameras of rendered animations: position and target in each frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marey.core.arrays import Floats
from marey.maths import filters
from marey.plot.body import UP, Body, forward, mean_heading

CameraKind = Literal["follow", "side", "front", "top", "turntable"]

# Vertical field of view in radians, as in the studio.
FIELD_OF_VIEW = math.radians(40.0)
# Angle around the character from its front, and above the horizon, in radians.
_ANGLES: dict[CameraKind, tuple[float, float]] = {
    "follow": (math.radians(40.0), math.radians(11.0)),
    "turntable": (0.0, math.radians(11.0)),
    "side": (-math.pi / 2, math.radians(4.0)),
    "front": (0.0, math.radians(4.0)),
    "top": (math.pi, math.radians(89.9)),
}
# Seconds over which the path of a moving camera is smoothed, so that it does not shake with every step.
_SMOOTHING = 0.35
# Fraction of the picture that stays free around the bodies.
_MARGIN = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class CameraPath:
    """The camera in each of N frames: eyes (N, 3) and targets (N, 3), meters, in the world."""

    eyes: Floats
    targets: Floats

    def __len__(self) -> int:
        return len(self.eyes)


def plan_camera(
    bodies: Sequence[Body],
    frames: Sequence[Sequence[int]],
    kind: CameraKind,
    aspect: float,
    fps: float,
    paths: Sequence[Floats] = (),
) -> CameraPath:
    """Place a camera so that all bodies are in the picture, as large as possible, in every frame.

    Side, front and top views stand still; their directions are relative to the mean heading of the first body. The
    others move with the bodies at a constant distance; a turntable also goes around them once.

    Parameters
    ----------
    frames : for each body, its frame in each of the N pictures.
    kind : how the camera moves.
    aspect : width of the picture divided by its height.
    fps : pictures per second.
    paths : arrays of points (n, 3) that a stationary camera must show as well.
    """
    points = np.concatenate(
        [
            body.positions[np.asarray(shown)][:, body.joints] + body.floor * UP
            for body, shown in zip(bodies, frames, strict=True)
        ],
        axis=1,
    )
    n = len(points)
    facing = mean_heading(bodies[0].heading[np.asarray(frames[0])]) or 0.0
    around, above = _ANGLES[kind]
    if kind not in ("follow", "turntable"):
        flat = np.concatenate([points.reshape(-1, 3), *paths])
        target = (flat.min(axis=0) + flat.max(axis=0)) / 2
        direction = _point_away(facing + around, above)
        eye = target + _fit_distance(flat - target, direction, aspect) * direction
        return CameraPath(np.tile(eye, (n, 1)), np.tile(target, (n, 1)))
    center = (points.min(axis=1) + points.max(axis=1)) / 2
    hips = np.mean([body.travel[np.asarray(shown)] for body, shown in zip(bodies, frames, strict=True)], axis=0)
    center[:, [0, 2]] = hips[:, [0, 2]]
    center[:, 1] = np.median(center[:, 1])
    targets = filters.gaussian(center, _SMOOTHING * fps) if n > 1 else center
    turns = np.linspace(0.0, 2.0 * math.pi, n, endpoint=False) if kind == "turntable" else np.zeros(n)
    directions = np.array([_point_away(facing + around + turn, above) for turn in turns])
    far = max(_fit_distance(points[k] - targets[k], directions[k], aspect) for k in range(n))
    return CameraPath(targets + far * directions, targets)


def view_axes(eye: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the unit vectors to the right, up, and from the target to the eye."""
    away = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross(UP, away)
    right /= np.linalg.norm(right)
    return right, np.cross(away, right), away


def _point_away(azimuth: float, elevation: float) -> Floats:
    return math.cos(elevation) * forward(azimuth) + math.sin(elevation) * UP


def _fit_distance(points: Floats, direction: Floats, aspect: float) -> float:
    """Return the distance from which points (P, 3), relative to the target, fill the picture up to its margin."""
    right, up, away = view_axes(direction, np.zeros(3))
    slope = math.tan(FIELD_OF_VIEW / 2) * (1.0 - _MARGIN)
    depth = points @ away
    across = np.abs(points @ right) / (slope * aspect)
    along = np.abs(points @ up) / slope
    return float(max((depth + across).max(), (depth + along).max(), 0.5))
