"""Blend any number of registered motions (Kovar 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.advance import compute_knot_slopes, compute_span_times, find_u, integrate_u
from marey.blend.contacts import blend_contacts, blend_labels
from marey.blend.pose import average_pose, make_strips, place_root
from marey.blend.root_path import accumulate_votes, mean_origin
from marey.blend.settings import BlendSettings
from marey.blend.weights import WeightFunction, Weighting
from marey.core.arrays import Floats, Ints, check_frame_count, freeze_array, set_readonly
from marey.core.feet import feet_from_flag
from marey.core.joint_limits import JointLimits
from marey.core.motion import Motion
from marey.core.naming import blend_name
from marey.core.placement import check_same_skeleton, find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue, NoResult, warn_user
from marey.io.joint_limits import read_joint_limits
from marey.maths import rigid2d
from marey.register.registration import RegistrationCurve

__all__ = ["BlendTrack", "blend", "blend_simply", "compose", "enforce_contacts", "make_inputs_record"]

# Number of frames whose weights are evaluated at once while the length of the blend is not known.
_CHUNK = 128
# A frame is included if the blend ends less than this fraction of a frame before it.
_LATE = 1e-6
# Number of times at which provenance records changing weights.
_MAX_NOTED = 11


@renamed_parameters(enforce=("feet", feet_from_flag))
@operation(BlendSettings)
def blend(
    motions: RegistrationCurve | Sequence[Motion], weights: ArrayLike | WeightFunction, settings: BlendSettings
) -> Motion:
    """Blend motions: average their timing, path, posture and contacts at corresponding times.

    Parameters
    ----------
    motions : a registration from `marey.register`, or a list of motions, which are registered (aligned in time and
        space) with default settings.
    weights : one blend weight per motion, or a function that takes the time in seconds from the start of the blend and
        returns such weights. Only their ratios matter; their sum must be greater than 0. Negative weights exaggerate
        the differences between the motions: poses are extrapolated without limit, timing only while time keeps moving
        forward.

    Returns
    -------
    The blended motion. It has contacts, the labels carried by at least half of the total weight, and provenance that
    records the frames and weights of the inputs.

    Examples
    --------
    >>> jog = marey.blend([walk, run], [0.5, 0.5])
    >>> jog.contacts.names
    ('left_heel', 'left_ball', 'right_heel', 'right_ball')
    >>> curve = marey.register([walk, run])
    >>> faster = marey.blend(curve, lambda t: [1.0 - t, t] if t < 1.0 else [0.0, 1.0])  # weights over seconds
    >>> faster.rotations.shape[1:]
    (27, 4)
    """
    if settings.method != "registered":
        simple = blend_simply(_take_clips(motions), weights, settings)
        return _limit_joints(simple, settings)
    reg = _ensure_registered(motions)
    weighting = Weighting.of(weights, len(reg.motions))
    rate = reg.motions[0].fps if settings.fps is None else settings.fps
    track = _advance(reg, weighting, rate, _check_length(settings.seconds, reg, rate))
    result, _ = compose(reg, track, rate)
    result = _place_at_start(result, settings.start)
    result = replace(
        result,
        name=settings.name or _make_name(reg.motions, weighting),
        source=result.source.with_step(**_make_record(reg, weighting, track)),
    )
    return _finish(result, settings)


def _finish(motion: Motion, settings: BlendSettings) -> Motion:
    """Apply joint limits and foot cleanup, if the settings request them."""
    if settings.feet:
        return enforce_contacts(motion, read_joint_limits(settings.joint_limits))
    return _limit_joints(motion, settings)


def _limit_joints(motion: Motion, settings: BlendSettings) -> Motion:
    limits = read_joint_limits(settings.joint_limits)
    return motion if limits is None else limits.apply(motion)


def _take_clips(motions: RegistrationCurve | Sequence[Motion]) -> Sequence[Motion]:
    """Return the clips for a simpler method: cropped by registration, or in full if they cannot be registered."""
    try:
        return _ensure_registered(motions).motions
    except NoResult as refusal:
        warn_user(f"full clips are used, because {refusal.message}")
        return list(motions)  # type: ignore[arg-type]  # a registration is never refused


def blend_simply(clips: Sequence[Motion], weights: Any, settings: BlendSettings) -> Motion:
    """Blend clips with one of the simpler methods."""
    from marey.blend import baselines

    name = settings.name or f"{_make_name(clips, Weighting.of(weights, len(clips)))} ({settings.method})"
    if settings.method == "linear":
        return _place_at_start(baselines.linear_blend(clips, weights, name=name), settings.start)
    made = baselines.blend_along_path(clips, weights, settings.method, settings, name)
    return _place_at_start(made, settings.start)


@dataclass(frozen=True, slots=True, eq=False)
class BlendTrack:
    """Progress of a blend in each of F frames.

    seconds : (F,) time in the blend. u : (F,) parameter of the timewarp, plus the number of completed cycles.
    weights : (F, n) blend weights.
    """

    seconds: Floats
    u: Floats
    weights: Floats


def compose(
    reg: RegistrationCurve,
    track: BlendTrack,
    fps: float,
    *,
    chosen: slice | Ints = slice(None),
) -> tuple[Motion, Floats]:
    """Generate the frames of a track, starting at the position of the motion with the largest weight.

    Parameters
    ----------
    chosen : frames of the track to generate, as a slice or as indices. The path is accumulated over all frames.

    Returns
    -------
    The motion, and (n, 3) rigid2d that would continue each of the n motions from the last frame of the track.
    """
    _check_bodies(reg)
    weights = track.weights
    rounds = np.floor(track.u) if reg.cyclic else np.zeros(len(track.u))
    u = track.u - rounds
    seconds = reg.timewarp(u)
    alignments = reg.alignment(u)
    read = make_strips(reg.motions, seconds, reg.loops)
    rows = [strip.frames(seconds[:, j]) for j, strip in enumerate(read)]
    hips = np.stack([strip.hips(row) for strip, row in zip(read, rows, strict=True)], axis=1)
    first = rigid2d.invert(alignments[0, int(np.argmax(weights[0]))])
    origins = mean_origin(alignments, hips, weights)
    placed = accumulate_votes(
        alignments, origins, weights, first, turns=rounds, loops=reg.loops, reference=reg.reference
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
    result = Motion(
        base.skeleton,
        set_readonly(travel),
        set_readonly(rotations),
        fps,
        bone_offsets=None if bones is None else set_readonly(bones),
        contacts=blend_contacts(reg.motions, reg.matches, u, seconds, weights, cyclic=reg.cyclic),
        labels=blend_labels(reg.motions, seconds, weights, cyclic=reg.cyclic),
        source=replace(
            base.source,
            path="",
            fps=None,
            channel_values=None,
            frame_time_text=None,
            floor=level,
            evidence=(),
            provenance=(),
        ),
    )
    return replace(result, root_positions=set_readonly(place_root(result, travel))), onwards


def _place_at_start(motion: Motion, start: ArrayLike | None) -> Motion:
    """Return the motion moved so that its first frame is at the placement `start`, unless that is None."""
    if start is None:
        return motion
    goal = freeze_array(start, "start", (3,))
    return motion.moved(rigid2d.between(find_placement(motion, 0), goal))


def enforce_contacts(motion: Motion, limits: JointLimits | None = None) -> Motion:
    """Hold the motion's contact points in place while they are in contact; joints stay within `limits`, if given."""
    from marey.clean import clean

    if motion.contacts is None or not motion.contacts.mask.any():
        return motion if limits is None else limits.apply(motion)
    return clean(motion, joint_limits=limits)


def _ensure_registered(motions: Any) -> RegistrationCurve:
    if isinstance(motions, RegistrationCurve):
        return motions
    from marey.register import register

    return register(motions)


def _check_bodies(reg: RegistrationCurve) -> None:
    for motion in reg.motions[1:]:
        check_same_skeleton(reg.motions[0].skeleton, motion.skeleton, "a blend")


def _check_length(seconds: float | None, reg: RegistrationCurve, fps: float) -> float | None:
    if seconds is None:
        return None
    if not reg.cyclic:
        raise InvalidValue(
            "`seconds=` sets the duration of a blend of loops, but these motions were not registered as loops",
            parameter="seconds",
            remedy="omit it, or register with `cyclic=True`",
        )
    check_frame_count(seconds * fps, len(reg.motions[0].skeleton), parameter="seconds", remedy="lower `seconds=`")
    return seconds


def _advance(reg: RegistrationCurve, weighting: Weighting, fps: float, length: float | None) -> BlendTrack:
    """Advance from u = 0 to the end of the timewarp, or for `length` seconds of loops."""
    slopes = compute_knot_slopes(reg.timewarp.points)
    if weighting.constant is not None:
        total = float(compute_span_times(slopes, weighting.constant)[-1])
        check_frame_count(total * fps, len(reg.motions[0].skeleton), parameter="fps", remedy="lower `fps=`")
        if not reg.cyclic:
            times = np.arange(int(np.floor(total * fps + _LATE)) + 1) / fps
            u = find_u(slopes, weighting.constant, times)
        else:
            # The last frame of a cycle is one frame before the first frame of the next.
            n_frames = np.ceil(total * fps - _LATE) if length is None else np.floor(length * fps + _LATE) + 1
            times = np.arange(max(int(n_frames), 1)) / fps
            rounds = np.floor(times / total + 1e-12)
            u = rounds + np.minimum(find_u(slopes, weighting.constant, times - rounds * total), np.nextafter(1.0, 0.0))
        return BlendTrack(times, u, weighting.at(times))
    if length is not None:
        times = np.arange(int(np.floor(length * fps + _LATE)) + 1) / fps
        return BlendTrack(times, integrate_u(slopes, weighting.at, times, cyclic=True), weighting.at(times))
    shortest = min(compute_span_times(slopes, weights)[-1] for weights in np.eye(len(reg.motions)))
    check_frame_count(shortest * fps, len(reg.motions[0].skeleton), parameter="fps", remedy="lower `fps=`")
    parts, reached = [np.zeros(1)], 1
    while True:
        at = np.arange(reached - 1, reached + _CHUNK) / fps
        part = integrate_u(slopes, weighting.at, at, start=float(parts[-1][-1]))
        parts.append(part[1:])
        reached += len(part) - 1
        if len(part) < len(at) or part[-1] >= 1.0:
            break
        check_frame_count(
            reached,
            len(reg.motions[0].skeleton),
            parameter="fps",
            remedy="lower `fps=`, or use weights nearer to the shorter motion",
        )
    u = np.concatenate(parts)
    if reg.cyclic and u[-1] >= 1.0:
        u = u[:-1]
    times = np.arange(len(u)) / fps
    return BlendTrack(times, u, weighting.at(times))


def _find_floors(reg: RegistrationCurve, weights: Floats) -> tuple[float | None, Floats]:
    """Return the blend's floor height, and the offsets (n,) that raise each motion's floor to it."""
    n = len(reg.motions)
    own = [motion.source.floor for motion in reg.motions]
    known = [level for level in own if level is not None]
    if len(known) < n:
        return (known[0] if known else None), np.zeros(n)
    levels = np.array(known)
    level = float(weights.mean(axis=0) @ levels)
    return level, level - levels


def _make_name(motions: Sequence[Motion], weighting: Weighting) -> str:
    constant = None if weighting.constant is None else weighting.constant.tolist()
    return blend_name([motion.name for motion in motions], constant)


def _make_record(reg: RegistrationCurve, weighting: Weighting, track: BlendTrack) -> dict[str, Any]:
    record: dict[str, Any] = {"op": "blend", "inputs": make_inputs_record(reg), "distance": float(reg.distance)}
    if weighting.constant is not None:
        record["weights"] = weighting.constant.tolist()
    else:
        noted = np.unique(np.linspace(0, len(track.u) - 1, _MAX_NOTED).astype(np.int64))
        record["weights_at"] = [[float(track.seconds[i]), *track.weights[i].tolist()] for i in noted]
    return record


def make_inputs_record(reg: RegistrationCurve) -> list[dict[str, Any]]:
    """Record each motion for provenance: its file, the frames used, and its own history."""
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
