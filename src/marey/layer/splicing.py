"""Splicing: the upper body of one motion on the lower body of another, both moving on their feet (Heck chapter 4)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, NotBlendable
from marey.layer.gait import gait_of
from marey.layer.halves import Halves, check_pair, offsets_of
from marey.layer.marks import united_contacts, united_labels
from marey.layer.phase import Align, TimeMap, align_times
from marey.layer.posture import Transfer, checked_transfer, posture_turn, shoulders_of, steady_hips
from marey.layer.seams import seam_report
from marey.layer.timeline import Timeline, looped
from marey.layer.trunk_kernels import ClipArrays, TrunkArrays, align_trunks
from marey.maths import quat
from marey.register.dtw import SLOPE_LIMIT


def splice(
    lower: Motion,
    upper: Motion,
    *,
    align: Align = "loop",
    posture: Transfer = "pitch",
    slope_limit: int = SLOPE_LIMIT,
    times: TimeMap | None = None,
) -> Motion:
    """The upper body of `upper` on the lower body of `lower`, in step and with its own posture.

    Legs, hips and path are the lower clip's. Everything above the first spine joint is the upper clip's, at the moment
    of its gait that belongs to the lower clip's (hips and knees compared). The first spine joint itself is turned,
    frame by frame, such that spine and arms of the upper clip lie best on those of the lower one: so the trunk moves as
    the steps below it want. Then all of it is turned by one rotation, which gives back the posture that the upper clip
    has on the whole, such as leaning back behind a load.

    Parameters
    ----------
    lower, upper : motions of one skeleton, both with steps. Rates may differ; the result has the lower clip's.
    align : "loop", the upper clip may begin anywhere in its first cycle and is looped through its own gait where it is
        too short; or "first_minimum", the source's way: it is cropped to its first frame that is like the lower clip's
        first one, and the result ends where either clip does.
    posture : "pitch" gives back how far the upper clip leans forwards or backwards and leaves leaning into turns as the
        lower clip has it; "full" gives back all of its posture, as the source does; None leaves the lower clip's.
    slope_limit : how many times faster or slower than the lower clip's the upper clip's gait may pass by.
    times : moments of the upper clip to take, as found by `align_motions`, instead of aligning.

    Provenance notes the alignment (``distance`` in metres, ``start`` and ``stop`` in seconds of the upper clip, how
    often it is looped), the turn of the posture in radians, and what averaging in seams of the loop has changed.

    Raises
    ------
    NotBlendable : where either motion has no steps, or the upper one too few to be looped; `transplant` needs none.
    """
    halves = check_pair(lower, upper, "a splice")
    transfer = checked_transfer(posture)
    found = align_motions(lower, upper, align=align, slope_limit=slope_limit) if times is None else times
    lower = _reached(lower, upper, found)
    taken = taken_frames(upper, found)
    trunk = aligned_trunk(halves, lower, taken)
    wanted = shoulders_of(halves, taken.offsets, taken.rotations).mean(axis=0)
    turn = posture_turn(trunk.shoulders.mean(axis=0), wanted, transfer)
    hips = steady_hips(trunk.hip, lower.fps) if transfer == "pitch" else trunk.hip
    local = replace(trunk, hip=hips).with_turn(turn)
    made = joined(halves, lower, upper, taken, local, found)
    seconds = found.times / upper.fps
    return add_provenance(
        made,
        "splice",
        lower=lower.name,
        upper=upper.name,
        align=align if times is None else "given",
        distance=found.distance,
        start=float(seconds[0]),
        stop=float(seconds[-1]),
        slopes=_slopes(found, lower, upper),
        posture=transfer,
        posture_turn=quat.log(turn).tolist(),
        loop=_loop_report(found, upper),
        seams=seam_report(halves, upper, found, taken.rotations),
        notes=[found.how],
    )


def splice_naive(lower: Motion, upper: Motion, *, aligned: bool = False, times: TimeMap | None = None) -> Motion:
    """What games do: the angles of the upper body copied across, frame for frame, to be compared with `splice`.

    Parameters
    ----------
    aligned : True takes the upper clip at the moments that `splice` takes; False from its first frame on, looped as
        `splice` loops it, or holding its last frame where it has no cycle of gait.
    times : moments of the upper clip to take.
    """
    halves = check_pair(lower, upper, "a splice")
    if times is None:
        times = align_motions(lower, upper) if aligned else _from_the_start(lower, upper, halves)
    lower = _reached(lower, upper, times)
    taken = taken_frames(upper, times)
    made = joined(halves, lower, upper, taken, taken.rotations[:, halves.attachment], times)
    return add_provenance(made, "splice_naive", lower=lower.name, upper=upper.name, aligned=bool(aligned))


def align_motions(lower: Motion, upper: Motion, *, align: Align = "loop", slope_limit: int = SLOPE_LIMIT) -> TimeMap:
    """Which moment of `upper` belongs to each frame of `lower`; parameters as for `splice`."""
    halves = check_pair(lower, upper, "a splice")
    gaits = gait_of(lower, "the lower clip"), gait_of(upper, "the upper clip")
    return align_times(*gaits, upper, halves, align=align, slope_limit=slope_limit)


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """What is taken of an upper clip: rotations (F, J, 4), offsets (1 or F, J, 3) of all joints, frame for frame."""

    rotations: Floats
    offsets: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Trunk:
    """A splice before posture, for each frame, see `TrunkArrays`."""

    local: Floats
    carrier: Floats
    hip: Floats
    shoulders: Floats

    def with_turn(self, turn: Floats) -> Floats:
        """(F, 4) the attachment's rotations after `turn` (4,) in the hip frame: pelvis' = H turn H^-1 pelvis."""
        world = quat.mul(self.carrier, self.local)
        turned = quat.mul(self.hip, quat.mul(turn, quat.inv_mul(self.hip, world)))
        return quat.unroll(quat.normalize(quat.inv_mul(self.carrier, turned)))


def taken_frames(upper: Motion, found: TimeMap) -> Taken:
    """The upper clip at the moments found; in seams, turned from one pass of the loop towards the next."""
    first, second, share = found.frames()
    rotations = _rotations_at(upper, first)
    offsets = offsets_of(upper)
    if upper.bone_offsets is not None:
        offsets = _values_at(upper.bone_offsets, first)
    seam = share > 0.0
    if seam.any():
        rotations[seam] = quat.slerp(rotations[seam], _rotations_at(upper, second[seam]), share[seam, None])
        if upper.bone_offsets is not None:
            later = _values_at(upper.bone_offsets, second[seam])
            offsets[seam] += share[seam, None, None] * (later - offsets[seam])
    return Taken(set_readonly(rotations), offsets)


def aligned_trunk(halves: Halves, lower: Motion, taken: Taken) -> Trunk:
    """Spatial alignment of every frame."""
    n = len(lower)
    out = TrunkArrays(np.empty((n, 4)), np.empty((n, 4)), np.empty((n, 4)), np.empty((n, 2, 3)))
    align_trunks(
        halves.cut,
        ClipArrays(offsets_of(lower), lower.rotations),
        ClipArrays(np.ascontiguousarray(taken.offsets), taken.rotations),
        out,
    )
    return Trunk(*out)


def joined(halves: Halves, lower: Motion, upper: Motion, taken: Taken, local: Floats, found: TimeMap) -> Motion:
    """Lower body, attachment with its rotations `local` (F, 4), and upper body as one motion."""
    rotations = lower.rotations.copy()
    rotations[:, halves.upper] = taken.rotations[:, halves.upper]
    rotations[:, halves.attachment] = local
    bones = None
    if lower.bone_offsets is not None or upper.bone_offsets is not None:
        bones = np.broadcast_to(offsets_of(lower), (*rotations.shape[:2], 3)).copy()
        bones[:, halves.upper] = taken.offsets[:, halves.upper]
    return replace(
        lower,
        rotations=set_readonly(rotations),
        bone_offsets=None if bones is None else set_readonly(bones),
        contacts=united_contacts(lower, upper, halves, found),
        labels=united_labels(lower, upper, found),
        name=f"{lower.name}+{upper.name}" if lower.name != upper.name else lower.name,
        source=replace(lower.source, channel_values=None),
    )


def _reached(lower: Motion, upper: Motion, found: TimeMap) -> Motion:
    """The lower clip as far as moments of the upper one belong to it."""
    n = len(found.times)
    if n > len(lower) or found.timeline.n_frames != len(upper):
        raise InvalidValue(
            f"times are for {n} frames of a lower clip and an upper clip of {found.timeline.n_frames} frames, but the "
            f"clips have {len(lower)} and {len(upper)}; align these two"
        )
    return lower[:n] if n < len(lower) else lower


def _rotations_at(upper: Motion, frames: Floats) -> Floats:
    before = frames.astype(np.int64)
    after = np.minimum(before + 1, len(upper) - 1)
    return quat.slerp(upper.rotations[before], upper.rotations[after], (frames - before)[:, None])


def _values_at(values: Floats, frames: Floats) -> Floats:
    before = frames.astype(np.int64)
    after = np.minimum(before + 1, len(values) - 1)
    share = (frames - before)[:, None, None]
    return np.asarray(values[before] * (1.0 - share) + values[after] * share)


def _from_the_start(lower: Motion, upper: Motion, halves: Halves) -> TimeMap:
    """The upper clip from its first frame on, at its own speed."""
    times = np.arange(len(lower)) * (upper.fps / lower.fps)
    timeline = Timeline(len(upper))
    if times[-1] > len(upper) - 1:
        with contextlib.suppress(NotBlendable):
            timeline = looped(upper, halves, gait_of(upper, "the upper clip")) or timeline
    return TimeMap(set_readonly(times), timeline, float("nan"), "from the first frame on")


def _slopes(found: TimeMap, lower: Motion, upper: Motion) -> list[float]:
    """Least and largest speed of the upper clip against its own."""
    if len(found.times) < 2:
        return [1.0, 1.0]
    speed = np.diff(found.times) * lower.fps / upper.fps
    return [float(speed.min()), float(speed.max())]


def _loop_report(found: TimeMap, upper: Motion) -> dict[str, Any] | None:
    """Where the upper clip was looped, in seconds, and how often."""
    line = found.timeline
    passes = line.n_passes(found.times)
    if passes == 0 and not found.in_seam.any():
        return None
    return {"start": line.start / upper.fps, "stop": line.stop / upper.fps, "passes": passes}
