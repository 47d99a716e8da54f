"""Motions so simple that their metrics are known in closed form."""

from dataclasses import replace

import numpy as np

from marey.core import ContactPoint, Contacts, Motion, Source
from marey.maths import quat
from marey.samples import body_skeleton

SKELETON = body_skeleton()
ROLES = SKELETON.roles
BALL_DROP = -float(SKELETON.rest_positions[ROLES["left_ball"], 1])  # meters from the root down to the balls
BALLS = tuple(ContactPoint(f"{side}_ball", ROLES[f"{side}_ball"], np.zeros(3)) for side in ("left", "right"))
N_BODY = int((~SKELETON.is_end_site).sum())


def statue(path: np.ndarray, fps: float = 60.0, contact: np.ndarray | None = None, floor: float = 0.0) -> Motion:
    """Move the rest pose along `path` (F, 3), the path of the middle between the balls."""
    n = len(path)
    mask = np.ones((n, 2), dtype=bool) if contact is None else contact
    return Motion(
        skeleton=SKELETON,
        root_positions=path + np.array([0.0, BALL_DROP, 0.0]),
        rotations=quat.identity((n, len(SKELETON))),
        fps=fps,
        name="statue",
        contacts=Contacts(BALLS, mask),
        source=Source(floor=floor),
    )


def straight(speed: float, height: float, seconds: float = 2.0, fps: float = 60.0) -> Motion:
    """A statue that glides along +X, with its balls at `height` above the floor."""
    time = np.arange(round(seconds * fps) + 1) / fps
    return statue(np.stack([speed * time, np.full_like(time, height), np.zeros_like(time)], axis=1), fps)


def turned(motion: Motion, role: str, angles: np.ndarray, axis: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> Motion:
    """Return the motion with one joint rotated further by `angles` (F,) about `axis`."""
    rotations = motion.rotations.copy()
    joint = ROLES[role]
    rotations[:, joint] = quat.mul(rotations[:, joint], quat.from_axis_angle(np.array(axis), angles))
    return replace(motion, rotations=rotations)


def pendulum_walk(rate: float, speed: float, seconds: float = 4.0, fps: float = 60.0) -> Motion:
    """Stiff legs swing in opposition `rate` times a second, while the root moves along +Z at `speed`."""
    time = np.arange(round(seconds * fps) + 1) / fps
    motion = statue(np.stack([0 * time, 0 * time, speed * time], axis=1), fps)
    swing = 0.4 * np.sin(2 * np.pi * rate * time + 0.3)
    return turned(turned(motion, "left_upper_leg", swing), "right_upper_leg", -swing)
