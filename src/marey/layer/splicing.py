"""Splicing: put the upper body of one locomotion clip on the lower body of another (Heck chapter 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Bools, Floats, Ints, check_type, find_runs, interpolate, set_readonly
from marey.core.contacts import Contacts
from marey.core.kinematics import forward_kinematics
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.naming import layer_name
from marey.core.settings import operation
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue
from marey.layer.gait import track_legs
from marey.layer.halves import SIDES, BodySplit, check_pair
from marey.layer.posture import find_posture_rotation, measure_shoulders, steady_hips
from marey.layer.settings import AlignSettings, NaiveSpliceSettings, SpliceSettings
from marey.layer.time_alignment import TimeMap, align_times
from marey.layer.timeline import Timeline, make_loop
from marey.layer.trunk_kernels import ClipArrays, TrunkArrays, align_trunks
from marey.maths import quat


@operation(SpliceSettings)
def splice(lower: Motion, upper: Motion, settings: SpliceSettings) -> Motion:
    """Put the upper body of `upper` on the lower body of `lower`, aligned in time and with its own posture.

    Legs, hips and path come from the lower clip. Everything above the first spine joint comes from the upper clip, at
    the matching phase of its gait (found from hips and knees). The first spine joint is rotated in each frame to fit
    the upper clip's spine and arms to those of the lower clip; the trunk then moves in time with the steps. Finally,
    one constant rotation restores the upper clip's average posture, such as leaning back behind a load.

    Parameters
    ----------
    lower, upper : motions with the same skeleton. Frame rates may differ; the result has that of the lower clip. If
        either lacks two consecutive steps, or the upper one steps more than 2.5 times as fast, they are aligned by hips
        and knees alone (Heck 4.2.2), with a `MareyWarning`.

    Provenance records the alignment (``distance`` in meters, ``start`` and ``stop`` in seconds of the upper clip, the
    part that loops and how often), the rotation of the posture in radians, and the changes due to averaging at the
    seams of the loop.

    Raises
    ------
    NotBlendable : if the upper motion is shorter than the lower one and has too few steps to loop.

    Examples
    --------
    >>> box = marey.samples.sample("carry_box", seconds=4.0).motion
    >>> carrying = marey.splice(run, box)
    >>> len(carrying) == len(run), carrying.source.provenance[-1]["op"]
    (True, 'splice')
    """
    if settings.retarget is not False:
        lower, upper = share_skeleton((lower, upper), lower if settings.retarget is True else settings.retarget)
    halves = check_pair(lower, upper, "a splice")
    transfer, found = settings.posture, settings.times
    if found is None:
        found = align_motions(lower, upper, **settings.select(AlignSettings))
    check_type(found, TimeMap, "times")
    lower = _crop_lower(lower, upper, found)
    taken = take_frames(upper, found)
    trunk = align_trunk_frames(halves, lower, taken)
    wanted = measure_shoulders(halves, taken.offsets, taken.rotations).mean(axis=0)
    turn = find_posture_rotation(trunk.shoulders.mean(axis=0), wanted, transfer)
    hips = steady_hips(trunk.hip, lower.fps) if transfer == "pitch" else trunk.hip
    local = replace(trunk, hip=hips).with_turn(turn)
    result = join_halves(halves, lower, upper, taken, local, found)
    seconds = found.frames()[0] / upper.fps
    return add_provenance(
        result,
        "splice",
        lower=lower.name,
        upper=upper.name,
        align=settings.align if settings.times is None else "given",
        distance=found.distance,
        start=float(seconds[0]),
        stop=float(seconds[-1]),
        slopes=_find_slopes(found, lower, upper),
        posture=transfer,
        posture_turn=quat.log(turn).tolist(),
        loop=_report_loop(found, upper),
        seams=_report_seams(halves, upper, found, taken.rotations),
        warning=found.warning,
        notes=[found.how],
    )


@operation(NaiveSpliceSettings)
def splice_naive(lower: Motion, upper: Motion, settings: NaiveSpliceSettings) -> Motion:
    """Copy the upper body's joint angles frame by frame, as games do; a baseline for `splice`.

    Parameters
    ----------
    lower, upper : motions with the same skeleton.

    Examples
    --------
    >>> copied = marey.layer.splice_naive(run, walk)
    >>> hand = run.skeleton.roles["left_hand"]
    >>> np.array_equal(copied.rotations[:, hand], walk.rotations[:, hand])
    True
    """
    halves = check_pair(lower, upper, "a splice")
    times = settings.times
    if times is None:
        times = align_motions(lower, upper) if settings.aligned else _start_at_zero(lower, upper, halves)
    check_type(times, TimeMap, "times")
    lower = _crop_lower(lower, upper, times)
    taken = take_frames(upper, times)
    result = join_halves(halves, lower, upper, taken, taken.rotations[:, halves.attachment], times)
    return add_provenance(result, "splice_naive", lower=lower.name, upper=upper.name, aligned=settings.aligned)


@operation(AlignSettings)
def align_motions(lower: Motion, upper: Motion, settings: AlignSettings) -> TimeMap:
    """Find the time in `upper` for each frame of `lower`.

    Examples
    --------
    >>> times = marey.layer.align_motions(run, walk)
    >>> times.times.shape
    (241,)
    """
    halves = check_pair(lower, upper, "a splice")
    return align_times(track_legs(lower), track_legs(upper), upper, halves, settings)


@dataclass(frozen=True, slots=True, eq=False)
class UpperFrames:
    """The upper clip, resampled to the F frames of the result.

    rotations : (F, J, 4) local rotations of all joints.
    offsets : (1 or F, J, 3) bone offsets in meters.
    """

    rotations: Floats
    offsets: Floats


@dataclass(frozen=True, slots=True, eq=False)
class AlignedTrunk:
    """A splice before the posture transfer, one row per frame; see `TrunkArrays`."""

    local: Floats
    carrier: Floats
    hip: Floats
    shoulders: Floats

    def with_turn(self, turn: Floats) -> Floats:
        """Return the attachment's local rotations (F, 4) after the rotation `turn` (4,), given in hip coordinates.

        In the world: pelvis' = H turn H^-1 pelvis, with the rotation H of the hip frame.
        """
        world = quat.mul(self.carrier, self.local)
        turned = quat.mul(self.hip, quat.mul(turn, quat.inv_mul(self.hip, world)))
        return quat.unroll(quat.normalize(quat.inv_mul(self.carrier, turned)))


def take_frames(upper: Motion, found: TimeMap) -> UpperFrames:
    """Sample the upper clip at the aligned times; in seams, blend from one pass of the loop to the next."""
    first, second, alpha = found.frames()
    rotations = _sample_rotations(upper, first)
    offsets = upper.shared_offsets
    if upper.bone_offsets is not None:
        offsets = interpolate(upper.bone_offsets, first)
    seam = alpha > 0.0
    if seam.any():
        rotations[seam] = quat.slerp(rotations[seam], _sample_rotations(upper, second[seam]), alpha[seam, None])
        if upper.bone_offsets is not None:
            later = interpolate(upper.bone_offsets, second[seam])
            offsets[seam] += alpha[seam, None, None] * (later - offsets[seam])
    return UpperFrames(set_readonly(rotations), offsets)


def align_trunk_frames(halves: BodySplit, lower: Motion, taken: UpperFrames) -> AlignedTrunk:
    """Align the upper clip's trunk with the lower clip's in every frame (Heck 4.2.3)."""
    n = len(lower)
    out = TrunkArrays(np.empty((n, 4)), np.empty((n, 4)), np.empty((n, 4)), np.empty((n, 2, 3)))
    align_trunks(
        halves.cut,
        ClipArrays(lower.shared_offsets, lower.rotations),
        ClipArrays(np.ascontiguousarray(taken.offsets), taken.rotations),
        out,
    )
    return AlignedTrunk(*out)


def join_halves(
    halves: BodySplit, lower: Motion, upper: Motion, taken: UpperFrames, local: Floats, found: TimeMap
) -> Motion:
    """Join the lower body, the attachment with local rotations `local` (F, 4), and the upper body into one motion."""
    rotations = lower.rotations.copy()
    rotations[:, halves.upper] = taken.rotations[:, halves.upper]
    rotations[:, halves.attachment] = local
    bones = None
    if lower.bone_offsets is not None or upper.bone_offsets is not None:
        bones = np.broadcast_to(lower.shared_offsets, (*rotations.shape[:2], 3)).copy()
        bones[:, halves.upper] = taken.offsets[:, halves.upper]
    return replace(
        lower,
        rotations=set_readonly(rotations),
        bone_offsets=None if bones is None else set_readonly(bones),
        contacts=_merge_contacts(lower, upper, halves, found),
        labels=_merge_labels(lower, upper, found),
        name=layer_name(lower.name, "upper body", upper.name),
        source=replace(lower.source, channel_values=None),
    )


def _crop_lower(lower: Motion, upper: Motion, found: TimeMap) -> Motion:
    """Crop the lower clip to the aligned frames."""
    n = len(found.times)
    if n > len(lower) or found.timeline.n_frames != len(upper):
        raise InvalidValue(
            f"times were computed for a lower clip of {n} frames and an upper clip of {found.timeline.n_frames} "
            f"frames, but the clips have {len(lower)} and {len(upper)}; align these two clips"
        )
    return lower[:n] if n < len(lower) else lower


def _sample_rotations(upper: Motion, frames: Floats) -> Floats:
    before = frames.astype(np.int64)
    after = np.minimum(before + 1, len(upper) - 1)
    return quat.slerp(upper.rotations[before], upper.rotations[after], (frames - before)[:, None])


def _start_at_zero(lower: Motion, upper: Motion, halves: BodySplit) -> TimeMap:
    """Return a time alignment that plays the upper clip from its first frame, at its original speed."""
    times = np.arange(len(lower)) * (upper.fps / lower.fps)
    timeline = Timeline(len(upper))
    if times[-1] > len(upper) - 1:
        timeline = make_loop(upper, halves, track_legs(upper)) or timeline
    return TimeMap(set_readonly(times), timeline, float("nan"), "from the first frame on")


def _find_slopes(found: TimeMap, lower: Motion, upper: Motion) -> list[float]:
    """Return the minimum and maximum playback speed of the upper clip, relative to its original speed."""
    if len(found.times) < 2:
        return [1.0, 1.0]
    speed = np.diff(found.times) * lower.fps / upper.fps
    return [float(speed.min()), float(speed.max())]


def _report_loop(found: TimeMap, upper: Motion) -> dict[str, Any] | None:
    """Return start and stop of the upper clip's loop, in seconds, and the number of passes; None if it has no loop."""
    line = found.timeline
    passes = line.n_passes(found.times)
    if passes == 0 and not found.in_seam.any():
        return None
    return {"start": line.start / upper.fps, "stop": line.stop / upper.fps, "passes": passes}


def _report_seams(halves: BodySplit, upper: Motion, found: TimeMap, taken: Floats) -> dict[str, Any] | None:
    """Measure the largest changes caused by averaging in the seams of a loop; None if the loop has no seam.

    Parameters
    ----------
    taken : (F, J, 4) rotations sampled from the upper clip.

    Returns
    -------
    ``frames``: start and stop of each seam in the result. ``angle``: largest rotation of an upper-body joint relative
    to the nearer pass, in radians. ``hands``: largest change of the distance between the hands relative to the nearer
    pass, in meters.
    """
    first, second, alpha = found.frames()
    seam = np.flatnonzero(alpha > 0.0)
    if not len(seam):
        return None
    nearer = np.rint(np.where(alpha[seam] < 0.5, first[seam], second[seam])).astype(np.int64)
    turned = quat.angle_between(taken[seam], upper.rotations[nearer])[:, halves.upper]
    cuts = np.flatnonzero(np.diff(seam) > 1) + 1
    frames = [[int(run[0]), int(run[-1]) + 1] for run in np.split(seam, cuts)]
    report: dict[str, Any] = {"frames": frames, "angle": float(turned.max())}
    roles = upper.skeleton.roles
    hands = [roles.get(f"{side}_hand") for side in SIDES]
    if None not in hands:
        apart = [_measure_hand_distance(upper, part, hands) for part in (taken[seam], upper.rotations[nearer])]
        report["hands"] = float(np.abs(apart[0] - apart[1]).max())
    return report


def _measure_hand_distance(upper: Motion, rotations: Floats, hands: list[Any]) -> Floats:
    root = np.zeros((len(rotations), 3))
    at = forward_kinematics(upper.skeleton, root, rotations).positions[:, hands]
    return np.asarray(np.linalg.norm(at[:, 0] - at[:, 1], axis=-1))


def _find_nearest_frames(found: TimeMap) -> Ints:
    """Return the frame (F,) of the upper clip that is nearest to each frame of the splice."""
    first, second, alpha = found.frames()
    shown: Ints = np.rint(np.where(alpha < 0.5, first, second)).astype(np.int64)
    return shown


def _merge_contacts(lower: Motion, upper: Motion, halves: BodySplit, found: TimeMap) -> Contacts | None:
    """Merge contacts: those of the upper clip for points on the upper body, those of the lower clip for all others."""
    points, columns = [], []
    if lower.contacts is not None:
        for k, point in enumerate(lower.contacts.points):
            if not halves.upper[point.joint]:
                points.append(point)
                columns.append(lower.contacts.mask[:, k])
    if upper.contacts is not None:
        at = _find_nearest_frames(found)
        for k, point in enumerate(upper.contacts.points):
            if halves.upper[point.joint]:
                points.append(point)
                columns.append(upper.contacts.mask[at, k])
    if not points:
        return None if lower.contacts is None else Contacts((), np.zeros((len(lower), 0), dtype=bool))
    return Contacts(tuple(points), set_readonly(np.stack(columns, axis=1)))


def _merge_labels(lower: Motion, upper: Motion, found: TimeMap) -> Labels:
    """Merge labels: all of the lower clip's, and those of the upper clip that the lower clip lacks in some frame."""
    at = _find_nearest_frames(found)
    items = list(lower.labels)
    for name in upper.labels.names:
        held: Bools = upper.labels.mask(name, len(upper))[at]
        known = lower.labels.mask(name, len(lower))
        if (held & ~known).any():
            items += [Label(name, start, stop) for start, stop in find_runs(held)]
    return Labels(tuple(items))
