"""Remove noise, but not fast actions: each joint is smoothed as much as its noise allows, frame by frame.

A local polynomial is fitted around every frame, in windows of growing length. The longest window whose result agrees
with those of all shorter ones, within the noise, is used (intersection of confidence intervals; Goldenshluger and
Nemirovski 1997, Katkovnik 1999). Where a joint rests, the window is long; where it hits something, short.

Captures are fitted to markers, so errors of a joint compensate those of its parent, and of the root. Smoothing each
joint in its parent by its own window would undo that, and make hands and feet shake. Joints are therefore smoothed in
world orientation; if their errors are independent, smoothing them in their parents is better. The smoother result is
used.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.edit.settings import SmoothSettings
from marey.maths import ease_in, filters, quat

# Half lengths of the windows in frames; the degree of the polynomials.
_HALVES = (2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
_DEGREE = 2
# Results agree if they differ by less than this many times the sum of their standard errors, over all axes.
_AGREE = 1.0
# The noise of a single frame may be this many times larger.
_OUTLIER = 2.7
# Standard deviation, in frames, of the Gaussian by which the choice of windows is smoothed.
_SPREAD = 2.0
# Median length of vectors with this many normally distributed numbers.
_MEDIAN_LENGTHS = {3: 1.538, 4: 1.832}
# Noise below this, in meters and half radians, is rounding.
_ROUNDING = 1e-7
_MIN_FRAMES = 12
# Ratio of sixth to fourth differences, relative to white noise: movement below, noise above.
_MOVEMENT, _NOISE = 0.6, 0.9


@operation(SmoothSettings)
def smooth(motion: Motion, settings: SmoothSettings) -> Motion:
    """Remove noise, without softening contacts and fast actions.

    Every joint and the root are smoothed as much as their noise allows, frame by frame. The noise is measured: a clip
    without noise does not change visibly. Contacts and labels stay as they are. Provenance records the noise: of the
    root in meters, and of the joint with most noise in radians.
    """
    check_motion(motion)
    if len(motion) < _MIN_FRAMES:
        return add_provenance(motion, "smooth", noise=0.0, noise_rotation=0.0)
    halves = [half for half in _HALVES if 2 * half + 1 <= min(len(motion), max(settings.max_window * motion.fps, 5.0))]
    given, offsets, noise = motion.root_positions, motion.bone_offsets, measure_noise(motion.root_positions[:, None])
    if offsets is not None:
        offsets = set_readonly(_smooth(offsets, halves, settings.strength)[0])
        # Joints that move independently each show where the body is: together they show it better than the root alone.
        given = given + (motion.world().positions - replace(motion, bone_offsets=offsets).world().positions).mean(
            axis=1
        )
    root = _smooth(given[:, None], halves, settings.strength)[0]
    local, half_noise = _smooth(quat.unroll(motion.rotations), halves, settings.strength)
    world, _ = _smooth(quat.unroll(motion.world().rotations), halves, settings.strength)
    chosen, least = motion, _measure_jerk(motion)
    for rotations in (quat.normalize(local), _to_local(quat.normalize(world), motion)):
        result = replace(
            motion, root_positions=set_readonly(root[:, 0]), rotations=set_readonly(rotations), bone_offsets=offsets
        )
        if (jerk := _measure_jerk(result)) < least:
            chosen, least = result, jerk
    return add_provenance(
        chosen, "smooth", noise=float(noise[0]), noise_rotation=2.0 * float(half_noise.max()), **settings.to_dict()
    )


def _to_local(world: Floats, motion: Motion) -> Floats:
    """Convert world rotations (F, J, 4) to local ones, with the signs of those of the motion."""
    parents = motion.skeleton.parents
    local = world.copy()
    local[:, 1:] = quat.inv_mul(world[:, parents[1:]], world[:, 1:])
    return np.where(quat.dot(local, motion.rotations)[..., None] < 0.0, -local, local)


def _measure_jerk(motion: Motion) -> float:
    """Return the mean third difference of all joints' positions in meters."""
    return float(np.linalg.norm(np.diff(motion.world().positions, n=3, axis=0), axis=2).mean())


def _smooth(values: Floats, halves: list[int], strength: float) -> tuple[Floats, Floats]:
    """Smooth values (F, n, d) along the frames; also return the noise (n,) along each axis."""
    from scipy.signal import savgol_coeffs, savgol_filter

    noise = measure_noise(values)
    level = strength * np.maximum(noise, _ROUNDING)
    fits, errors = [values], [1.0]
    for half in halves:
        width = 2 * half + 1
        fits.append(savgol_filter(values, width, _DEGREE, axis=0))
        errors.append(float(np.linalg.norm(savgol_coeffs(width, _DEGREE))))
    allowed = _AGREE * math.sqrt(values.shape[2]) * level
    chosen = np.zeros(values.shape[:2])
    alive = np.ones(values.shape[:2], dtype=bool)
    for k in range(1, len(fits)):
        for j in range(k):
            apart = np.linalg.norm(fits[k] - fits[j], axis=2)
            alive &= apart <= (allowed * (errors[k] + errors[j]) if j else _OUTLIER * allowed)
        chosen[alive] = k
    # Neighboring frames use similar windows; otherwise switching between windows would be a new noise.
    chosen = np.clip(filters.gaussian(chosen, _SPREAD), 0.0, chosen)
    out = np.zeros_like(values)
    for k, fit in enumerate(fits):
        out += np.maximum(1.0 - np.abs(chosen - k), 0.0)[:, :, None] * fit
    return out, noise


def measure_noise(values: Floats) -> Floats:
    """Return the white noise (n,) along each axis of values (F, n, d).

    Sixth differences of white noise are as large as fourth ones, relative to what each order passes. Those of movement
    are smaller, and do not count as noise.
    """
    fourth = np.diff(values, n=4, axis=0)
    noise = _median_length(fourth) / math.sqrt(70.0)
    check = _median_length(np.diff(fourth, n=2, axis=0)) / math.sqrt(924.0)
    return np.asarray(check * ease_in((check / np.maximum(noise, 1e-300) - _MOVEMENT) / (_NOISE - _MOVEMENT)))


def _median_length(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("fnk,fnk->fn", vectors, vectors))
    return np.asarray(np.median(lengths, axis=0) / _MEDIAN_LENGTHS[vectors.shape[2]])
