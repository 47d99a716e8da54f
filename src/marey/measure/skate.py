"""Foot skate: how much planted feet slide, by three published definitions.

They answer different questions. The weighted slide needs no contacts and no speed threshold, but also counts a foot
that swings low over the floor. The ratio measures how often a slide is visible, not how far it goes. The slide in
contact is what cleanup reduces, and is only as good as the contacts. Compare each with the value of the source clip:
recorded feet are not perfectly still either.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.errors import InvalidValue
from marey.measure.metrics import Reading, measures
from marey.measure.subject import Subject

# Meters: the height at which the weight of Zhang et al. reaches 0.
SLIDE_HEIGHT = 0.025
# Meters and meters per second: the thresholds of Karunratanakul et al.
SKATE_HEIGHT = 0.05
SKATE_SPEED = 0.5

_WEIGHTED = (
    "mean over pairs of neighboring frames of the sum over both feet of d (2 - 2^(h/H)), where d is the"
    " distance that the ball of the foot moves along the floor from frame to frame, h the height of its sole"
    " above the floor, mean of both frames and not under 0, H = 2.5 cm; nothing where h > H"
)
_ZHANG = (
    "Zhang, Starke, Komura, Saito: Mode-Adaptive Neural Networks for Quadruped Motion Control, SIGGRAPH 2018;"
    " here with the balls of two feet"
)


@measures("slide_weighted", "mm/frame", definition=_WEIGHTED, source=_ZHANG)
def slide_weighted(subject: Subject) -> Reading:
    """Foot slide per frame, weighted toward feet close to the floor. It depends on the frame rate, so the note of the
    metric states the frame rate."""
    subject.need_frames(2)
    return 1000.0 * measure_weighted_slide(subject.balls), f"at {subject.motion.fps:.6g} Hz"


@measures("slide_weighted_speed", "mm/s", definition=f"{_WEIGHTED}; times the frame rate", source=_ZHANG)
def slide_weighted_speed(subject: Subject) -> Reading:
    """Foot slide near the floor, per second: like `slide_weighted`, but comparable between frame rates."""
    subject.need_frames(2)
    return 1000.0 * measure_weighted_slide(subject.balls) * subject.motion.fps, ""


@measures(
    "skate_ratio",
    "fraction",
    definition=(
        "fraction of pairs of neighboring frames in which the ball of either foot has its sole under 5 cm above the"
        " floor in both frames and moves along the floor at more than 0.5 m/s"
    ),
    source=(
        "Karunratanakul, Preechakul, Suwajanakorn, Tang: Guided Motion Diffusion for Controllable Human Motion"
        " Synthesis, ICCV 2023 (2.5 cm per frame at 20 Hz); here at any rate, without a moving average of the speed"
    ),
)
def skate_ratio(subject: Subject) -> Reading:
    """Fraction of frames in which a foot slides. A foot that swings low above the floor counts too."""
    subject.need_frames(2)
    skating = skating_frames(subject.balls, subject.motion.fps)
    return float(skating.mean()), f"{int(skating.sum())} of {len(skating)} pairs of frames"


@measures(
    "slide_contact",
    "m/s",
    definition=(
        "mean over all points of the feet (heels and balls) and all pairs of neighboring frames in both of which"
        " the point is in contact, of the distance that it moves along the floor, times the frame rate"
    ),
    source=(
        "Yuan, Song, Iqbal, Vahdat, Kautz: PhysDiff, ICCV 2023 ('skate', there in mm per frame); here with the"
        " motion's own contacts, else those of marey.clean.detect_contacts"
    ),
)
def slide_contact(subject: Subject) -> Reading:
    """Mean speed of planted feet along the floor."""
    subject.need_frames(2)
    contacts, whose = subject.foot_contacts
    if not contacts.points:
        raise InvalidValue(f"needs contact points on the feet, but {whose} have none; detect contacts again")
    planted = contacts.mask[1:] & contacts.mask[:-1]
    if not planted.any():
        raise InvalidValue("needs a foot that is planted for two consecutive frames, but there is none")
    steps = floor_steps(subject.paths(contacts.points))
    return float(steps[planted].mean()) * subject.motion.fps, whose


def floor_steps(paths: Floats) -> Floats:
    """Return the distance (F - 1, K), in meters, that points (F, K, 3) move along the floor from frame to frame."""
    step = np.diff(paths, axis=0)
    return np.asarray(np.hypot(step[..., 0], step[..., 2]))


def measure_weighted_slide(paths: Floats, height: float = SLIDE_HEIGHT) -> float:
    """Return the weighted slide in meters per frame: the mean over frames of sum_k d_k (2 - 2^(h_k / height)).

    paths : (F, K, 3) positions of K points in meters, with y measured from the floor; d_k and h_k are the distance
    along the floor and the height of point k. height : height in meters at which the weight reaches 0.
    """
    h = np.clip(0.5 * (paths[1:, :, 1] + paths[:-1, :, 1]) / height, 0.0, 1.0)
    return float((floor_steps(paths) * (2.0 - np.exp2(h))).sum(axis=1).mean())


def skating_frames(paths: Floats, fps: float, height: float = SKATE_HEIGHT, speed: float = SKATE_SPEED) -> Bools:
    """Return (F - 1,) whether any of K points is low and moves fast from one frame to the next.

    paths : (F, K, 3) positions in meters, with y measured from the floor. height, speed : thresholds in m and m/s.
    """
    low = paths[..., 1] < height
    skates = low[1:] & low[:-1] & (floor_steps(paths) * fps > speed)
    return np.asarray(skates.any(axis=1))
