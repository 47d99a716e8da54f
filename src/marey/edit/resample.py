"""Another frame rate: slerp and linear positions (Kovar 1.1.1), band-limited on the way down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, retime_contacts, retime_labels
from marey.core.arrays import Floats, Ints, check_fps, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat

# Zero crossings of the low-pass kernel on each side.
_LOBES = 4
_MOST_FRAMES = 10_000_000


def resample(motion: Motion, fps: float, *, band_limited: bool = True) -> Motion:
    """The same motion at `fps` frames per second, from the same first moment.

    Between frames rotations are slerped and positions linear. On the way down, what the new rate cannot carry is first
    filtered out (a Lanczos kernel of 4 lobes, on rotation vectors about each pose), or it would return as slow
    wobbling. Contacts and labels keep their times, each at least one frame.

    Parameters
    ----------
    fps : the new rate, Hz.
    band_limited : False takes the poses at the new times as they are.
    """
    rate = check_fps(fps)
    step = motion.fps / rate  # old frames per new frame
    if motion.duration * rate > _MOST_FRAMES:
        raise InvalidValue(f"{rate:g} Hz would make {motion.duration * rate:.3g} frames of {motion.name!r}")
    n_frames = int(np.floor((len(motion) - 1) / step + 1e-9)) + 1
    if rate == motion.fps:
        return add_provenance(motion, "resample", fps=rate)
    at = np.minimum(np.arange(n_frames) * step, len(motion) - 1)
    taken = motion.at(at / motion.fps)
    if band_limited and step > 1.0 and len(motion) > 2:
        taken = _low_passed(motion, taken, at, step)

    def new_of_old(frames: Floats) -> Floats:
        return frames / step

    made = replace(
        taken,
        fps=rate,
        contacts=retime_contacts(motion.contacts, new_of_old, n_frames),
        labels=retime_labels(motion.labels, len(motion), new_of_old, n_frames),
        source=replace(taken.source, frame_time_text=None),
    )
    return add_provenance(made, "resample", fps=rate, from_fps=motion.fps, band_limited=bool(band_limited))


def _low_passed(motion: Motion, taken: Motion, at: Floats, step: float) -> Motion:
    """`taken`, the poses at old-frame times `at`, with each value replaced by its mean under the kernel."""
    reach = min(_LOBES * step, len(motion) - 1.0)
    nearest = np.rint(at).astype(np.int64)
    total = np.zeros(len(at))
    turn = np.zeros((*taken.rotations.shape[:2], 3))
    root = np.zeros_like(taken.root_positions)
    bones = None if taken.bone_offsets is None else np.zeros_like(taken.bone_offsets)
    for k in range(-int(reach) - 1, int(reach) + 2):
        index = nearest + k
        distance = index - at
        weight = np.where(np.abs(distance) < reach, np.sinc(distance / step) * np.sinc(distance / (_LOBES * step)), 0.0)
        if not weight.any():
            continue
        total += weight
        root += weight[:, None] * _odd(motion.root_positions, index)
        turn += weight[:, None, None] * quat.log(quat.inv_mul(taken.rotations, _odd_turns(motion.rotations, index)))
        if bones is not None and motion.bone_offsets is not None:
            bones += weight[:, None, None] * _odd(motion.bone_offsets, index)
    return replace(
        taken,
        root_positions=set_readonly(root / total[:, None]),
        rotations=set_readonly(quat.normalize(quat.mul(taken.rotations, quat.exp(turn / total[:, None, None])))),
        bone_offsets=None if bones is None else set_readonly(bones / total[:, None, None]),
    )


def _inside(index: Ints, n: int) -> tuple[Ints, Ints]:
    """Indices mirrored into 0 to n - 1, and the end they were mirrored at: -1 for none, else 0 or n - 1."""
    end = np.where(index < 0, 0, np.where(index >= n, n - 1, -1))
    mirrored = np.where(end < 0, index, 2 * np.maximum(end, 0) - index)
    return np.clip(mirrored, 0, n - 1), end


def _odd(values: Floats, index: Ints) -> Floats:
    """Values at `index`; beyond an end the mirrored ones turned about it, so that speed goes on and ends stay."""
    inside, end = _inside(index, len(values))
    at_end = values[np.maximum(end, 0)]
    beyond = (end >= 0).reshape(-1, *[1] * (values.ndim - 1))
    return np.where(beyond, 2.0 * at_end - values[inside], values[inside])


def _odd_turns(rotations: Floats, index: Ints) -> Floats:
    inside, end = _inside(index, len(rotations))
    out = rotations[inside].copy()
    beyond = end >= 0
    if beyond.any():
        at_end = rotations[end[beyond]]
        out[beyond] = quat.mul(quat.mul_inv(at_end, out[beyond]), at_end)
    return out
