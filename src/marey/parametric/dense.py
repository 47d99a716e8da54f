"""Upsample examples along smooth curves through their frames.

A blend interpolates linearly between frames (rotations by slerp), which cuts off the peak of a fast motion: a kick at
30 Hz may fall short by centimeters, depending on where its frames lie around the apex. The parameters of a blend would
then be a jagged function of its weights. Smooth curves through the frames avoid this.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.register.registration import RegistrationCurve

__all__ = ["cubic_weights", "upsample"]

# Frames per second from which linear interpolation is good enough: an apex with an acceleration of 200 m/s^2 loses at
# most 0.4 mm.
_RATE = 240.0


def upsample(reg: RegistrationCurve) -> RegistrationCurve:
    """Upsample the motions of a registration by an integer factor, to at least 240 fps; loops stay unchanged."""
    times = math.ceil(_RATE / reg.fps - 1e-9)
    if times < 2 or reg.cyclic:
        return reg
    return replace(
        reg,
        motions=tuple(_upsample_motion(motion, times) for motion in reg.motions),
        crops=set_readonly(reg.crops * times),
    )


def _upsample_motion(motion: Motion, times: int) -> Motion:
    n = times * (len(motion) - 1) + 1
    nearest = (np.arange(n) + times // 2) // times
    rotations = _catmull_rom(_align_signs(motion.rotations), times)
    contacts, bones = motion.contacts, motion.bone_offsets
    labels = [
        Label(label.name, int(np.searchsorted(nearest, label.start)), int(np.searchsorted(nearest, label.stop)))
        for label in motion.labels
    ]
    return replace(
        motion,
        root_positions=set_readonly(_catmull_rom(motion.root_positions, times)),
        rotations=set_readonly(rotations / np.linalg.norm(rotations, axis=2, keepdims=True)),
        fps=motion.fps * times,
        bone_offsets=None if bones is None else set_readonly(_catmull_rom(bones, times)),
        contacts=None if contacts is None else Contacts(contacts.points, contacts.mask[nearest]),
        labels=Labels(tuple(labels)),
    )


def _align_signs(rotations: Floats) -> Floats:
    """Flip the signs of unit quaternions (F, J, 4) to make them continuous over time."""
    flips = np.einsum("fjk,fjk->fj", rotations[1:], rotations[:-1]) < 0.0
    signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    return np.concatenate([rotations[:1], rotations[1:] * signs[..., None]])


def _catmull_rom(values: Floats, times: int) -> Floats:
    """Sample a Catmull-Rom curve through values (F, ...) at `times` points per frame: (times (F - 1) + 1, ...)."""
    flat = values.reshape(len(values), -1)
    if len(flat) < 3:
        steps = np.arange(times * (len(flat) - 1) + 1) / times
        before = np.minimum(steps.astype(np.int64), max(len(flat) - 2, 0))
        alpha = (steps - before)[:, None]
        out = flat[before] + alpha * (flat[np.minimum(before + 1, len(flat) - 1)] - flat[before])
        return np.asarray(out.reshape(-1, *values.shape[1:]))
    first, last = 3.0 * (flat[0] - flat[1]) + flat[2], 3.0 * (flat[-1] - flat[-2]) + flat[-3]
    wide = np.concatenate([first[None], flat, last[None]])
    out = np.empty((times * (len(flat) - 1) + 1, flat.shape[1]))
    out[::times] = flat
    for k in range(1, times):
        t = k / times
        a, b = 0.5 * t * (t * (2.0 - t) - 1.0), 0.5 * (t * t * (3.0 * t - 5.0) + 2.0)
        c, d = 0.5 * t * (t * (4.0 - 3.0 * t) + 1.0), 0.5 * t * t * (t - 1.0)
        out[k::times] = a * wide[:-3] + b * wide[1:-2] + c * wide[2:-1] + d * wide[3:]
    return out.reshape(-1, *values.shape[1:])


def cubic_weights(positions: Floats, lengths: Ints) -> tuple[Ints, Floats]:
    """Return the four frames around each fractional position, and their weights for cubic interpolation.

    Parameters
    ----------
    positions : (B,) fractional frame number within each of B sequences.
    lengths : (B,) number of frames of each sequence.

    Returns
    -------
    (B, 4) frame numbers and (B, 4) weights with sum 1. The cubic passes through all four values. In sequences of fewer
    than four frames, interpolation is linear.
    """
    first = np.clip(positions.astype(np.int64) - 1, 0, np.maximum(lengths - 4, 0))
    places = first[:, None] + np.arange(4)
    x = positions - first
    weights = np.stack(
        [
            -(x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0,
            x * (x - 2.0) * (x - 3.0) / 2.0,
            -x * (x - 1.0) * (x - 3.0) / 2.0,
            x * (x - 1.0) * (x - 2.0) / 6.0,
        ],
        axis=1,
    )
    short = lengths < 4
    if short.any():
        straight = np.maximum(1.0 - np.abs(x[:, None] - np.arange(4)), 0.0)
        weights = np.where(short[:, None], straight, weights)
    return np.minimum(places, lengths[:, None] - 1), weights
