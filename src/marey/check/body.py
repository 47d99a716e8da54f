"""Findings on the body: bones that change their length, jitter, absurd speeds, and sides that are swapped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marey.check import body_kernels, feet_kernels
from marey.check.report import Finding
from marey.core.arrays import Bools, Floats, Ints
from marey.core.placement import pair_joints
from marey.edit.in_place import is_in_place
from marey.errors import InvalidValue, plural
from marey.measure.body import describe_plant, length_changes
from marey.measure.subject import Subject

# Change of a bone's length, as a fraction: mild in a recording, mild after a cleanup, and severe. Skin moves over bones
# by 2 %. Cleanup stretches limbs by a few percent, and other bones by up to a tenth.
_CHANGE, _CLEANED_CHANGE, _LARGE_CHANGE = 0.02, 0.1001, 0.25
# Meters of noise, one standard deviation along each axis.
_NOISE, _LARGE_NOISE = 0.003, 0.01
# Minimum ratio of fourth to third differences, relative to that of white noise; movement has a lower ratio.
_WHITE = 0.9
# Median length of a vector of three normally distributed numbers.
_MEDIAN_LENGTH = 1.538
# Maximum speed of the hips in m/s, and the fraction of frames that may exceed it. Sprinters reach 12.5 m/s, horses 20.
_FASTEST, _FAST_FRAMES = 25.0, 0.1
# Threshold for the mean cosine between the direction of the feet and the facing of the body: feet point forward.
_BACKWARD = -0.5
# Minimum cosine between the vertical and the direction from the feet to the hips of a body that stands.
_UPRIGHT = 0.7
# The hips stay in one place if they move by at most the first distance in meters while a foot moves, relative to them,
# by more than the second.
_STATIC, _STEPPING = 1e-4, 0.2
# Number of frames from which noise is measured, as several windows spread over the clip. The median of that many
# lengths is within 5 % of the median of all.
_N_WINDOWS, _WINDOW = 4, 100
# Number of frames, spread over the clip, from which the direction of the feet is measured.
_N_FRAMES = 200


def check_bones(subject: Subject) -> Iterator[Finding]:
    """Find bones that change their length; after a cleanup, which stretches limbs a little, only large changes."""
    steps = subject.motion.source.provenance
    scaled = [step.get("limb_scaling_max", 0.0) for step in steps if step.get("op") == "clean"]
    is_cleaned = bool(scaled) or any(step.get("feet") for step in steps)  # recordings of streams have `feet`
    limit = _CLEANED_CHANGE if is_cleaned else _CHANGE
    if scaled and max(scaled) <= limit:
        return
    if subject.motion.bone_offsets is None:
        return
    try:
        bones, change = length_changes(subject)
    except InvalidValue:
        return
    if change is None:
        return
    most = change.max(axis=0)
    columns = np.flatnonzero(most > limit)
    if not columns.size:
        return
    rows = np.flatnonzero((change[:, columns] > limit).any(axis=1))
    names = tuple(subject.motion.skeleton.names[int(j)] for j in bones[columns])
    frame, b = np.unravel_index(int(change.argmax()), change.shape)
    worst = float(change[frame, b])
    size = f"{plural(len(names), 'bone')} change their length by up to {100 * worst:.0f} %"
    if is_cleaned:
        where = describe_plant(subject, int(bones[b]), int(frame))
        message = f"cleanup stretched limbs: {size}, most in {where}"
        remedy = "if that shows, clean the recording without this plant, or with a lower `max_stretch=`"
    else:
        message = size
        remedy = "export the capture with a rigid skeleton, or keep bone lengths constant with `rigid=True`"
    yield Finding(
        "bone_lengths", "severe" if worst > _LARGE_CHANGE else "mild", int(rows[0]), int(rows[-1]) + 1, worst,
        "fraction", message, remedy, names, "" if is_cleaned else "convert", {} if is_cleaned else {"rigid": True},
    )  # fmt: skip


def check_speed(subject: Subject) -> Iterator[Finding]:
    """Find a body that travels impossibly fast, for longer than a jump between two frames."""
    motion = subject.motion
    if len(motion) < 3:
        return
    hips = subject.world.positions[:, subject.hips]
    speeds = np.linalg.norm(np.diff(hips, axis=0), axis=1) * motion.fps
    rows = np.flatnonzero(speeds > _FASTEST)
    if len(rows) > max(_FAST_FRAMES * len(speeds), 1):
        typical = float(np.median(speeds[rows]))
        yield Finding(
            "speed", "severe", int(rows[0]), int(rows[-1]) + 2, typical, "m/s",
            f"the body travels at {typical:,.0f} m/s, which is impossible",
            "check the unit and the frame rate: `unit=`, `file_fps=`",
        )  # fmt: skip


def check_sides(subject: Subject) -> Iterator[Finding]:
    """Find left and right joints with swapped names: the feet then point backward."""
    skeleton, n = subject.motion.skeleton, len(subject.motion)
    roles = skeleton.roles
    sides = ("left", "right")
    feet = [(roles.get(f"{s}_foot"), roles.get(f"{s}_ball", roles.get(f"{s}_toe_tip"))) for s in sides]
    if not all(f"{side}_upper_leg" in roles for side in sides):
        return
    if any(heel is None or toes is None or heel == toes for heel, toes in feet):
        return
    positions, step = subject.world.positions, max(n // _N_FRAMES, 1)
    cosines, pairs = np.empty((n // step + 1, 2)), pair_joints(skeleton)
    upright = feet_kernels.measure_directions(positions, step, subject.hips, np.array(feet), pairs, _UPRIGHT, cosines)
    if not upright:
        return
    worst = float(np.add.reduce(cosines[:upright]).max()) / upright
    if worst < _BACKWARD:
        yield Finding(
            "swapped_sides", "severe", 0, n, worst, "",
            "both feet point backward, so the names of left and right joints may be swapped",
            "rename the joints, or assign them with `roles=`",
        )  # fmt: skip


def check_travel(subject: Subject) -> Iterator[Finding]:
    """Find a body that walks on the spot because its file lacks the travel, unless that was removed on purpose."""
    if is_in_place(subject.motion):
        return
    skeleton, n = subject.motion.skeleton, len(subject.motion)
    feet = [j for side in ("left", "right") if (j := skeleton.roles.get(f"{side}_foot")) is not None]
    hips = subject.world.positions[:, subject.hips]
    if not feet or float(np.ptp(hips[:, [0, 2]], axis=0).max()) > _STATIC:
        return
    stepped = float(np.linalg.norm(np.ptp(subject.world.positions[:, feet] - hips[:, None], axis=0), axis=1).max())
    if stepped > _STEPPING:
        yield Finding(
            "in_place", "mild", 0, n, stepped, "m",
            f"the hips stay in one place while a foot moves by {stepped:.2f} m, as if the file lacked their travel",
            "export the capture with the positions of the hips",
        )  # fmt: skip


def check_jitter(subject: Subject) -> Iterator[Finding]:
    """Find joints that jitter: random noise from frame to frame that is larger than a body can produce."""
    n = len(subject.motion)
    if n < 12:
        return
    positions, joints = subject.world.positions, _find_shaky(subject.world.positions, subject.joints)
    if not joints.size:
        return
    noise, is_white = _measure_noise(positions, joints)
    columns = np.flatnonzero((noise > _NOISE) & is_white)
    if columns.size:
        worst = float(noise[columns].max())
        names = tuple(subject.motion.skeleton.names[int(j)] for j in joints[columns])
        yield Finding(
            "jitter", "severe" if worst > _LARGE_NOISE else "mild", 0, n, worst, "m",
            f"{plural(len(names), 'joint')} jitter by up to {1e3 * worst:.0f} mm", "smooth the clip", names,
            "edit smooth",
        )  # fmt: skip


def _choose_windows(n: int) -> tuple[Ints, int]:
    """Return the first frames, and the number of frames, of the windows in which the noise of n frames is measured."""
    if n <= _N_WINDOWS * _WINDOW:
        return np.zeros(1, dtype=np.int64), n
    return np.linspace(0, n - _WINDOW, _N_WINDOWS).astype(np.int64), _WINDOW


def _find_shaky(positions: Floats, joints: Ints) -> Ints:
    """Return those of the given joints whose noise may be above the limit, found without measuring it."""
    found = np.empty(len(joints), dtype=bool)
    limit = 70.0 * ((1.0 - 1e-6) * _MEDIAN_LENGTH * _NOISE) ** 2
    body_kernels.find_shaky_joints(positions, joints, *_choose_windows(len(positions)), limit, found)
    return joints[found]


def _measure_noise(positions: Floats, joints: Ints) -> tuple[Floats, Bools]:
    """Return the noise of n joints in meters, one standard deviation along each axis, and whether it is white.

    positions : (F, J, 3) of all joints, meters. joints : (n,) those to measure.
    """
    starts, length = _choose_windows(len(positions))
    windows = [np.take(positions[start : start + length], joints, axis=1) for start in starts]
    third = [np.diff(window, n=3, axis=0) for window in windows]
    noise3 = _median_length(np.concatenate(third)) / np.sqrt(20.0)
    noise4 = _median_length(np.concatenate([np.diff(one, axis=0) for one in third])) / np.sqrt(70.0)
    return noise4, np.asarray(noise4 > _WHITE * noise3)


def _median_length(vectors: Floats) -> Floats:
    """Return the median length (n,) of vectors (F, n, 3), as the noise along each axis."""
    lengths = np.einsum("fnk,fnk->fn", vectors, vectors)
    middle = len(lengths) // 2
    return np.asarray(np.sqrt(np.partition(lengths, middle, axis=0)[middle]) / _MEDIAN_LENGTH)
