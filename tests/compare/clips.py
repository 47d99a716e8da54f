"""Clouds of all kinds for the tests of comparison."""

from __future__ import annotations

import numpy as np

from marey.compare import Clouds


def wandering(n_frames, n_markers=5, seed=0, far=(0.0, 0.0, 0.0), speed=1.4, fps=30.0, weights=None):
    """Make markers that sway around a center that moves away at `speed` m/s, `far` from the origin."""
    rng = np.random.default_rng(seed)
    time = np.arange(n_frames)[:, None] / fps
    heading = rng.uniform(-np.pi, np.pi) + 0.8 * np.sin(0.5 * time[:, 0] + rng.uniform(0, 6))
    steps = speed / fps * np.stack([np.sin(heading), np.zeros(n_frames), np.cos(heading)], axis=1)
    body = rng.normal(0, 0.35, (n_markers, 3)) + [0.0, 1.0, 0.0]
    sway = 0.2 * np.sin(time[:, :, None] * rng.uniform(2, 8, (n_markers, 3)) + rng.uniform(0, 6, (n_markers, 3)))
    points = np.cumsum(steps, axis=0)[:, None] + body + sway + np.asarray(far)
    normalized = np.full(n_markers, 1.0 / n_markers) if weights is None else np.asarray(weights) / np.sum(weights)
    return Clouds(points, normalized, fps, f"clip{seed}")
