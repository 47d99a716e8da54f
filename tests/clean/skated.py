"""Motion with the faults that cleanup removes, added on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.samples import sample


def skated(motion: Motion, drift: tuple[float, float, float] = (0.08, 0.0, 0.1), legs: float = 1.05) -> Motion:
    """Make the character slide by `drift` m/s and sway, with legs of another length."""
    t = np.arange(len(motion)) / motion.fps
    root = motion.root_positions + np.outer(t, drift)
    root[:, 0] += 0.02 * np.sin(2.0 * np.pi * 0.7 * t)
    offsets = motion.skeleton.offsets.copy()
    for side in ("left", "right"):
        for part in ("lower_leg", "foot"):
            offsets[motion.skeleton.roles[f"{side}_{part}"]] *= legs
    return replace(motion, root_positions=root, skeleton=replace(motion.skeleton, offsets=offsets))


def with_hands(motion: Motion, mask: np.ndarray) -> Motion:
    """Return the motion with contacts (F, 8) of feet and hands."""
    roles, carried = motion.skeleton.roles, motion.contacts
    assert carried is not None
    hands = [
        ContactPoint(f"{side}_{name}", roles[f"{side}_{role}"], np.zeros(3))
        for side in ("left", "right")
        for name, role in (("wrist", "hand"), ("fingertips", "fingertips"))
    ]
    return replace(motion, contacts=Contacts((*carried.points, *hands), mask))


def walk(seconds: float = 4.0, fps: float = 60.0) -> Motion:
    return sample("walk", seconds=seconds, fps=fps).motion
