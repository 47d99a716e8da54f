"""Change the frame rate: slerped rotations, linear positions (Kovar 1.1.1), low-pass filtered for lower rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, retime_contacts, retime_labels
from marey.core.arrays import Floats, Ints, check_fps, check_frame_count, set_readonly
from marey.core.motion import Motion
from marey.core.settings import Settings, operation, option
from marey.maths import quat

# Zero crossings of the low-pass kernel on each side.
_LOBES = 4


class ResampleSettings(Settings):
    """Settings of `resample`."""

    band_limited: bool = option(
        True,
        "For a lower rate, filter out frequencies that it cannot represent. Otherwise fast movement may alias.",
        label="Filter when lowering the rate",
    )


@operation(ResampleSettings)
def resample(motion: Motion, fps: float, settings: ResampleSettings) -> Motion:
    """Resample the motion to `fps` frames per second, starting at the same time.

    Between frames, rotations are slerped and positions interpolated linearly. For a lower rate, frequencies that it
    cannot represent are filtered out first (a Lanczos kernel of 4 lobes, on rotation vectors about each pose);
    otherwise they would alias. Contacts and labels keep their times and last at least one frame.

    Parameters
    ----------
    fps : the new rate, Hz.

    Examples
    --------
    >>> marey.edit.resample(walk, 30.0)
    <Motion 'walk': 121 frames at 30 Hz, 27 joints>
    """
    rate = check_fps(fps)
    step = motion.fps / rate  # old frames per new frame
    check_frame_count(
        motion.duration * rate, len(motion.skeleton), parameter="fps", remedy="lower `fps=`, or check the file's rate"
    )
    n_frames = int(np.floor((len(motion) - 1) / step + 1e-9)) + 1
    if rate == motion.fps:
        return add_provenance(motion, "resample", fps=rate)
    at = np.minimum(np.arange(n_frames) * step, len(motion) - 1)
    taken = motion.at(at / motion.fps)
    if settings.band_limited and step > 1.0 and len(motion) > 2:
        taken = _low_pass(motion, taken, at, step)

    def new_of_old(frames: Floats) -> Floats:
        return frames / step

    result = replace(
        taken,
        fps=rate,
        contacts=retime_contacts(motion.contacts, new_of_old, n_frames),
        labels=retime_labels(motion.labels, len(motion), new_of_old, n_frames),
        source=replace(taken.source, frame_time_text=None),
    )
    return add_provenance(result, "resample", fps=rate, from_fps=motion.fps, band_limited=settings.band_limited)


def _low_pass(motion: Motion, taken: Motion, times: Floats, step: float) -> Motion:
    """Return `taken` with each value replaced by the mean of the motion's values around it, weighted by a Lanczos
    kernel.

    taken : the poses of the motion at `times`, in frames.
    step : distance between these times, in frames.
    """
    reach = min(_LOBES * step, len(motion) - 1.0)
    nearest = np.rint(times).astype(np.int64)
    total = np.zeros(len(times))
    turn = np.zeros((*taken.rotations.shape[:2], 3))
    root = np.zeros_like(taken.root_positions)
    bones = None if taken.bone_offsets is None else np.zeros_like(taken.bone_offsets)
    for k in range(-int(reach) - 1, int(reach) + 2):
        index = nearest + k
        distance = index - times
        weight = np.where(np.abs(distance) < reach, np.sinc(distance / step) * np.sinc(distance / (_LOBES * step)), 0.0)
        if not weight.any():
            continue
        total += weight
        root += weight[:, None] * _extend_values(motion.root_positions, index)
        turn += weight[:, None, None] * quat.log(
            quat.inv_mul(taken.rotations, _extend_rotations(motion.rotations, index))
        )
        if bones is not None and motion.bone_offsets is not None:
            bones += weight[:, None, None] * _extend_values(motion.bone_offsets, index)
    return replace(
        taken,
        root_positions=set_readonly(root / total[:, None]),
        rotations=set_readonly(quat.normalize(quat.mul(taken.rotations, quat.exp(turn / total[:, None, None])))),
        bone_offsets=None if bones is None else set_readonly(bones / total[:, None, None]),
    )


def _mirror_indices(index: Ints, n: int) -> tuple[Ints, Ints]:
    """Mirror indices into 0 to n - 1; also return the end each was mirrored at: -1 for none, else 0 or n - 1."""
    end = np.where(index < 0, 0, np.where(index >= n, n - 1, -1))
    mirrored = np.where(end < 0, index, 2 * np.maximum(end, 0) - index)
    return np.clip(mirrored, 0, n - 1), end


def _extend_values(values: Floats, index: Ints) -> Floats:
    """Return values at `index`; past an end, extend by point reflection, which keeps the end value and the speed."""
    inside, end = _mirror_indices(index, len(values))
    at_end = values[np.maximum(end, 0)]
    beyond = (end >= 0).reshape(-1, *[1] * (values.ndim - 1))
    return np.where(beyond, 2.0 * at_end - values[inside], values[inside])


def _extend_rotations(rotations: Floats, index: Ints) -> Floats:
    inside, end = _mirror_indices(index, len(rotations))
    out = rotations[inside].copy()
    beyond = end >= 0
    if beyond.any():
        at_end = rotations[end[beyond]]
        out[beyond] = quat.mul(quat.mul_inv(at_end, out[beyond]), at_end)
    return out
