"""Blending any number of registered motions (Kovar 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.advance import compute_span_times, find_u, integrate_u, knot_slopes
from marey.blend.contacts import blend_contacts, blend_labels
from marey.blend.pose import average_pose, make_strips, place_root
from marey.blend.root import accumulate_votes, mean_origin
from marey.blend.weights import WeightFunction, Weighting
from marey.core.arrays import Floats, Ints, check_fps, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.placement import check_same_skeleton, find_placement
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.register.registration import RegistrationCurve

__all__ = ["Track", "blend", "compose", "held", "inputs_record"]

# Frames whose weights are asked for at once, where the end of the blend is not known beforehand.
_CHUNK = 128
# A blend that ends less than this share of a frame before a frame still has it.
_LATE = 1e-6
_MAX_FRAMES = 10_000_000
# How many moments of changing weights provenance notes.
_MAX_NOTED = 11


def blend(
    motions: RegistrationCurve | Sequence[Motion],
    weights: ArrayLike | WeightFunction,
    *,
    fps: float | None = None,
    enforce: bool = True,
    start: ArrayLike | None = None,
    seconds: float | None = None,
    name: str | None = None,
) -> Motion:
    """Blend motions: average their timing, path, posture and contacts at corresponding times.

    Parameters
    ----------
    motions : a registration from `marey.register`, or motions, which are then registered with its defaults.
    weights : one number for each motion, or a function from the seconds since the blend's beginning to such numbers.
        Only their ratios count; their sum must be above 0. Negative weights exaggerate differences between the motions:
        poses without limit, timing only as far as time keeps moving forward.
    fps : frames per second of the blend; that of the registered motions by default. Poses are not filtered, so for a
        much lower rate blend first, then `resample`.
    enforce : clean up the blend, so that its contacts stay in place.
    start : rigid2d (theta, x, z) of the first frame: the body's heading and the position of its hips. By default the
        blend starts where the motion with the largest weight does.
    seconds : how long a blend of loops (``cyclic`` registration) lasts; one round by default. Other blends end where
        the motions do.
    name : of the result.

    Returns
    -------
    Motion, with contacts, labels where at least half of the weight carries them, and provenance that records the frames
    and weights of the inputs.

    Examples
    --------
    >>> jog = marey.blend([walk, run], [0.5, 0.5])                                     # doctest: +SKIP
    >>> faster = marey.blend(reg, lambda t: [1 - t / 3, t / 3] if t < 3 else [0, 1])   # doctest: +SKIP
    """
    reg = _ensure_registered(motions)
    weighting = Weighting.of(weights, len(reg.motions))
    rate = reg.motions[0].fps if fps is None else _check_rate(fps)
    track = _advance(reg, weighting, rate, _check_length(seconds, reg, rate))
    made, _ = compose(reg, track, rate)
    made = _place_at_start(made, start)
    made = replace(
        made,
        name=_make_name(reg, weighting) if name is None else str(name),
        source=made.source.with_step(**_make_record(reg, weighting, track)),
    )
    return held(made) if enforce else made


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The course along the timewarp: seconds of the blend, u (including rounds of a loop) and weights, for each
    frame."""

    seconds: Floats
    u: Floats
    weights: Floats


def compose(
    reg: RegistrationCurve,
    track: Track,
    fps: float,
    *,
    chosen: slice | Ints = slice(None),
) -> tuple[Motion, Floats]:
    """The frames of a track, which begins where the motion of largest weight is.

    Parameters
    ----------
    chosen : the frames to be made of the track, as a slice or by their numbers. The path is added up over all of them.

    Returns
    -------
    The motion, and (n, 3) rigid2d that would carry each motion on from the last frame of the track.
    """
    _check_bodies(reg)
    weights = track.weights
    turns = np.floor(track.u) if reg.cyclic else np.zeros(len(track.u))
    u = track.u - turns
    seconds = reg.timewarp(u)
    alignments = reg.alignment(u)
    read = make_strips(reg.motions, seconds, reg.loops)
    rows = [strip.frames(seconds[:, j]) for j, strip in enumerate(read)]
    hips = np.stack([strip.hips(row) for strip, row in zip(read, rows, strict=True)], axis=1)
    first = rigid2d.invert(alignments[0, int(np.argmax(weights[0]))])
    origins = mean_origin(alignments, hips, weights)
    placed = accumulate_votes(
        alignments, origins, weights, first, turns=turns, loops=reg.loops, reference=reg.reference
    )
    level, rise = _find_floors(reg, weights)
    onwards = rigid2d.compose(placed[-1], alignments[-1])
    placed, origins, hips, weights = placed[chosen], origins[chosen], hips[chosen], weights[chosen]
    alignments, seconds, u, rows = alignments[chosen], seconds[chosen], u[chosen], [row[chosen] for row in rows]
    usual = int(np.argmax(weights.mean(axis=0)))
    rotations, bones = average_pose(reg.motions[usual].skeleton, read, rows, alignments, weights, placed, usual)
    travel = np.empty((len(u), 3))
    travel[:, [0, 2]] = rigid2d.apply(placed, origins)
    travel[:, 1] = np.einsum("fn,fn->f", weights, hips[..., 1] + rise)
    base = reg.motions[usual]
    made = Motion(
        base.skeleton,
        set_readonly(travel),
        set_readonly(rotations),
        fps,
        bone_offsets=None if bones is None else set_readonly(bones),
        contacts=blend_contacts(reg.motions, reg.matches, u, seconds, weights, cyclic=reg.cyclic),
        labels=blend_labels(reg.motions, seconds, weights, cyclic=reg.cyclic),
        source=replace(
            base.source, path="", channel_values=None, frame_time_text=None, floor=level, evidence=(), provenance=()
        ),
    )
    return replace(made, root_positions=set_readonly(place_root(made, travel))), onwards


def _place_at_start(motion: Motion, start: ArrayLike | None) -> Motion:
    """The motion moved so that its first frame faces and stands as rigid2d `start` says."""
    if start is None:
        return motion
    goal = freeze_array(start, "start", (3,))
    return motion.moved(rigid2d.between(find_placement(motion.skeleton, motion[:1].world(), 0), goal))


def held(motion: Motion) -> Motion:
    """Clean up the motion's contacts."""
    from marey.clean import clean

    if motion.contacts is None or not motion.contacts.mask.any():
        return motion
    return clean(motion)


def _ensure_registered(motions: Any) -> RegistrationCurve:
    if isinstance(motions, RegistrationCurve):
        return motions
    from marey.register import register

    return register(motions)


def _check_bodies(reg: RegistrationCurve) -> None:
    for motion in reg.motions[1:]:
        check_same_skeleton(reg.motions[0].skeleton, motion.skeleton, "a blend")


def _check_rate(fps: float) -> float:
    try:
        return check_fps(fps)
    except InvalidValue:
        raise InvalidValue(f"fps= or --rate must be a positive number of frames per second, got {fps!r}") from None


def _check_length(seconds: float | None, reg: RegistrationCurve, fps: float) -> float | None:
    if seconds is None:
        return None
    if not reg.cyclic:
        raise InvalidValue(
            "seconds= or --seconds sets the length of a blend of loops, but these motions were not registered as "
            "loops; leave it out, or register with cyclic=True or --cyclic"
        )
    try:
        length = float(seconds)
    except (TypeError, ValueError):
        length = np.nan
    if not (length > 0.0 and length * fps <= _MAX_FRAMES):
        raise InvalidValue(
            f"seconds= or --seconds must be above 0 and make at most {_MAX_FRAMES:,} frames, got {seconds!r}"
        )
    return length


def _advance(reg: RegistrationCurve, weighting: Weighting, fps: float, length: float | None) -> Track:
    """From u = 0 to the end of the timewarp, or for `length` seconds of loops."""
    slopes = knot_slopes(reg.timewarp.points)
    if weighting.constant is not None:
        whole = float(compute_span_times(slopes, weighting.constant)[-1])
        if not reg.cyclic:
            times = np.arange(int(np.floor(whole * fps + _LATE)) + 1) / fps
            u = find_u(slopes, weighting.constant, times)
        else:
            # A round's last frame comes before the first one again.
            n_frames = np.ceil(whole * fps - _LATE) if length is None else np.floor(length * fps + _LATE) + 1
            times = np.arange(max(int(n_frames), 1)) / fps
            rounds = np.floor(times / whole + 1e-12)
            u = rounds + np.minimum(find_u(slopes, weighting.constant, times - rounds * whole), np.nextafter(1.0, 0.0))
        return Track(times, u, weighting.at(times))
    if length is not None:
        times = np.arange(int(np.floor(length * fps + _LATE)) + 1) / fps
        return Track(times, integrate_u(slopes, weighting.at, times, cyclic=True), weighting.at(times))
    parts, reached = [np.zeros(1)], 1
    while True:
        at = np.arange(reached - 1, reached + _CHUNK) / fps
        part = integrate_u(slopes, weighting.at, at, start=float(parts[-1][-1]))
        parts.append(part[1:])
        reached += len(part) - 1
        if len(part) < len(at) or part[-1] >= 1.0:
            break
        if reached > _MAX_FRAMES:
            raise InvalidValue(f"{fps:g} Hz would make more than {_MAX_FRAMES:,} frames")
    u = np.concatenate(parts)
    if reg.cyclic and u[-1] >= 1.0:
        u = u[:-1]
    times = np.arange(len(u)) / fps
    return Track(times, u, weighting.at(times))


def _find_floors(reg: RegistrationCurve, weights: Floats) -> tuple[float | None, Floats]:
    """The blend's floor, and by how much each motion (n,) is raised for its own to be there."""
    n = len(reg.motions)
    own = [motion.source.floor for motion in reg.motions]
    known = [level for level in own if level is not None]
    if len(known) < n:
        return (known[0] if known else None), np.zeros(n)
    levels = np.array(known)
    level = float(weights.mean(axis=0) @ levels)
    return level, level - levels


def _make_name(reg: RegistrationCurve, weighting: Weighting) -> str:
    if weighting.constant is None:
        return "+".join(dict.fromkeys(motion.name for motion in reg.motions))
    parts = zip(weighting.constant.tolist(), reg.motions, strict=True)
    return "+".join(f"{weight:.3g} {motion.name}" for weight, motion in parts if weight != 0.0)


def _make_record(reg: RegistrationCurve, weighting: Weighting, track: Track) -> dict[str, Any]:
    record: dict[str, Any] = {"op": "blend", "inputs": inputs_record(reg), "distance": float(reg.distance)}
    if weighting.constant is not None:
        record["weights"] = weighting.constant.tolist()
    else:
        noted = np.unique(np.linspace(0, len(track.u) - 1, _MAX_NOTED).astype(np.int64))
        record["weights_at"] = [[float(track.seconds[i]), *track.weights[i].tolist()] for i in noted]
    return record


def inputs_record(reg: RegistrationCurve) -> list[dict[str, Any]]:
    """For provenance: each motion with its file, the frames taken of it, and what had been done to it."""
    return [
        {
            "name": motion.name,
            "path": motion.source.path,
            "frames": crop.tolist(),
            "fps": motion.fps,
            "provenance": [dict(step) for step in motion.source.provenance],
        }
        for motion, crop in zip(reg.motions, reg.crops, strict=True)
    ]
