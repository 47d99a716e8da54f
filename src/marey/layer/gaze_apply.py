"""Apply looks to a motion: check the goals, query the map frame by frame, and build the motion (Heck 5.2.3).

While the body moves, `gaze_kernels.apply_looks` aims the gaze at its goal in every frame: `gaze_aim_kernels.aim`
queries the map a second time to correct the shift, and the eyes cover the remaining angle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, check_number, set_readonly
from marey.core.kinematics import World
from marey.core.motion import Motion, check_motion
from marey.core.placement import find_facing
from marey.edit.replant import keep_contacts
from marey.errors import InvalidValue, warn_user
from marey.layer.gaze_aim_kernels import aim_row
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_eyes import add_eyes
from marey.layer.gaze_follow import follow_goals
from marey.layer.gaze_kernels import (
    ANGLES,
    BACK,
    POINT,
    GazeLooks,
    GazeMotion,
    GazeOutput,
    blend_looks,
)
from marey.layer.gaze_model import (
    EYE_LIMIT,
    EYE_MAX,
    LENGTH,
    N_NUMBERS,
    OVERSHOOT,
    GazeShift,
    angles_to_direction,
    check_goal,
    check_numbers,
    clamp_row,
    direction_to_angles,
)
from marey.layer.gaze_region import project_into_region
from marey.layer.gaze_track import GazeTrack, Look
from marey.layer.settings import GazeSettings
from marey.layer.smoothing import smooth_series
from marey.maths import quat

if TYPE_CHECKING:
    from marey.layer.gaze_map import GazeMap

__all__ = ["trace_gaze"]

# Number of recent looks that may still have an effect when a look interrupts them. Earlier ones have ended or are fully
# replaced.
_RECENT = 8
# Standard deviation in seconds of the Gaussian that rounds off corners.
_ROUND = 0.1
# Yaw in radians up to which the gaze follows a point that moves behind the body, before it switches to the other side.
_BEHIND = np.pi + np.radians(20.0)
_ON_EDGE = np.radians(0.1)
# A goal that the gaze misses by more than this angle, in radians, is reported.
_MISSED = np.radians(1.0)
# Angle in radians by which a trunk can hardly be twisted while hips and legs walk on, and the speed in m/s of a walk.
_TWISTED, _WALKING = np.radians(60.0), 0.25
# If the head rotates by more than this angle from its slow movement, in radians, it is looking somewhere, not bobbing.
_BOB = np.radians(4.0)
# Mean yaw of the head over a clip, relative to its rest pose, in radians. Above the first angle, the clip looks to the
# side; above the second, the rest pose is unusable.
_ASIDE, _NO_POSE = np.radians(25.0), np.radians(60.0)


def trace_gaze(gaze: GazeMap, motion: Motion, goals: Sequence[object], settings: GazeSettings) -> GazeTrack:
    """Return a motion in which the character looks at the goals, and its looks; see `GazeMap.trace`."""
    asked = _check_goals(goals, check_motion(motion))
    body = GazeBody.from_skeleton(motion.skeleton)
    sigma = settings.smoothing * motion.fps
    world = motion.world()
    heading = smooth_series(find_facing(motion.skeleton, world.positions), sigma)
    turned = quat.from_axis_angle([0.0, 1.0, 0.0], heading)
    ahead = _find_forward(body, world.rotations[:, body.head], turned, settings.forward)
    seen = quat.inv_rotate(turned, quat.rotate(world.rotations[:, body.head], ahead))
    base = _find_slow_part(seen, sigma, motion.fps)
    plans = _make_plans(gaze, asked, _Body(motion, world, body, turned, base))
    n = len(motion)
    out = GazeOutput(
        rotations=motion.rotations.copy(),
        eyes=np.empty((n, 4)),
        gaze=np.empty((n, 3)),
        model=np.empty((n, 3)),
        goals=np.empty((n, 2)),
        eye_positions=np.empty((n, 3)),
        wanted=np.empty((n, 3)),
        strain=np.empty(n),
    )
    poses = GazeMotion(
        world=world.rotations,
        positions=world.positions,
        offsets=motion.shared_offsets,
        parents=motion.skeleton.parents,
        chain=body.chain,
        weights=body.fractions,
        ahead=set_readonly(ahead),
        eye_offset=body.eyes,
        heading=heading,
        base=base,
        follow=np.zeros((n, 12)),
        fps=motion.fps,
    )
    limit = min(max(EYE_LIMIT, gaze.widest_eyes), EYE_MAX)
    follow_goals(poses, _pack_looks(plans, n), gaze.grid, settings.steady, limit, body.ahead, out)
    looks = tuple(_make_look(plan, k, plans, motion) for k, plan in enumerate(plans))
    track = GazeTrack(
        replace(motion, rotations=set_readonly(out.rotations)),
        set_readonly(out.eyes),
        set_readonly(direction_to_angles(out.gaze)),
        set_readonly(direction_to_angles(out.model)),
        set_readonly(out.goals),
        set_readonly(heading),
        set_readonly(out.eye_positions),
        looks,
        (),
    )
    notes = (*_make_notes(track), *_note_twist(motion, track, body))
    for note in notes:
        warn_user(note)
    result = _finish_motion(motion, track.motion, body, plans, settings.steady, notes)
    if settings.eyes is not None:
        result = add_eyes(result, body, out.eyes, set_readonly(ahead), settings.eyes)
    return replace(track, motion=result, notes=notes)


@dataclass(frozen=True, slots=True, eq=False)
class _Body:
    """The motion to which looks are applied.

    motion, world : the motion, and its world positions and rotations.
    body : joints that take part in a look.
    turned : (F, 4) smoothed heading of the body, as quaternions.
    base : (F, 2) yaw and pitch of the slow part of the head direction, relative to the heading, in radians.
    """

    motion: Motion
    world: World
    body: GazeBody
    turned: Floats
    base: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """One look, prepared for the kernel.

    time, kind, goal : start in seconds; `BACK`, `ANGLES` or `POINT`; and the goal as given. point, requests, times,
        anchor : the look's entries of `GazeLooks`.
    excess : (F, 2) angles by which the goal lies outside the map, in radians. shift : its gaze shift.
    """

    time: float
    kind: int
    goal: Floats | None
    point: Floats
    requests: Floats
    excess: Floats
    times: Floats
    shift: GazeShift
    anchor: Floats


def _check_goals(goals: Any, motion: Motion) -> list[tuple[float, int, Floats | None]]:
    """Check the goals; return the time in seconds, the kind (`BACK`, `ANGLES` or `POINT`) and the goal of each."""
    try:
        listed = [tuple(entry) for entry in goals]
    except TypeError:
        raise InvalidValue(f"goals must be a list of (time, yaw, pitch), not {goals!r}") from None
    if not listed:
        raise InvalidValue("goals must contain at least one gaze target, got none")
    out: list[tuple[float, int, Floats | None]] = []
    for entry in listed:
        if len(entry) not in (2, 3):
            raise InvalidValue(
                f"a gaze target must be (time, yaw, pitch), (time, (x, y, z)) or (time, None), not {entry!r}"
            )
        time = check_number(entry[0], "the time of a gaze target")
        if time > motion.duration + 1e-9:
            raise InvalidValue(
                f"the gaze target at {time:g} s is outside {motion.name or 'the motion'}, which ends at "
                f"{motion.duration:.2f} s"
            )
        if out and time <= out[-1][0]:
            raise InvalidValue(
                f"the times of gaze targets must be strictly increasing, not {out[-1][0]:g} s followed by {time:g} s"
            )
        if len(entry) == 3:
            out.append((time, ANGLES, check_goal(entry[1:], f"the gaze target at {time:g} s")))
        elif entry[1] is None:
            out.append((time, BACK, None))
        else:
            out.append(
                (
                    time,
                    POINT,
                    check_numbers(entry[1], 3, f"the point to look at from {time:g} s must be x, y and z in meters"),
                )
            )
    return out


def _find_forward(body: GazeBody, head: Floats, turned: Floats, forward: str | ArrayLike) -> Floats:
    """Return the direction in which the head looks, a unit vector (3,) in its local axes.

    head : (F, 4) world rotations of the head. turned : (F, 4) heading. forward : see `GazeSettings`.
    """
    if not isinstance(forward, str):
        given = check_numbers(forward, 3, "forward must be 'clip', 'rest' or a direction in the head's axes (3,)")
        size = float(np.linalg.norm(given))
        if size < 1e-9:
            raise InvalidValue(f"forward must be a nonzero direction in the head's axes, not {forward!r}")
        return given / size
    if forward == "rest":
        return body.ahead.copy()
    if forward != "clip":
        raise InvalidValue(f"forward must be 'clip', 'rest' or a direction (3,), not {forward!r}")
    yaw, pitch = direction_to_angles(quat.inv_rotate(turned, quat.rotate(head, body.ahead)).mean(axis=0))
    # Trust the clip if it keeps looking to one side, but ignore a rest pose that looks somewhere else entirely.
    level = np.array([yaw, 0.0]) if _ASIDE < abs(yaw) < _NO_POSE and abs(pitch) < _NO_POSE else np.zeros(2)
    found = quat.inv_rotate(head, quat.rotate(turned, angles_to_direction(level))).mean(axis=0)
    size = float(np.linalg.norm(found))
    return np.asarray(found / size) if size > 0.1 else body.ahead.copy()


def _find_slow_part(seen: Floats, sigma: float, fps: float) -> Floats:
    """Return yaw and pitch (F, 2) of the head direction `seen` (F, 3), without bobbing but with larger fast movements.

    sigma : standard deviation of the smoothing, in frames.
    """
    slow = direction_to_angles(smooth_series(seen, sigma))
    quick = direction_to_angles(seen) - slow
    quick[:, 0] -= 2.0 * np.pi * np.rint(quick[:, 0] / (2.0 * np.pi))
    size = np.linalg.norm(quick, axis=1, keepdims=True)
    if size.max() <= _BOB:
        return slow
    more = np.maximum(1.0 - _BOB / np.maximum(size, _BOB), 0.0) * quick
    return np.asarray(slow + smooth_series(more, _ROUND * fps))


def _make_plans(gaze: GazeMap, asked: list[tuple[float, int, Floats | None]], subject: _Body) -> list[_Plan]:
    """Plan each look: which angles to request from the map in every frame, and its timing.

    A point that passes behind the body adds another look, to the other side.

    asked : time, kind and goal of each look.
    """
    n, fps = len(subject.motion), subject.motion.fps
    plans: list[_Plan] = []
    longest = float(gaze.table[..., LENGTH].max())
    for k, (time, kind, goal) in enumerate(asked):
        stop = asked[k + 1][0] if k + 1 < len(asked) else np.inf
        wanted = np.zeros((n, 2)) if goal is None else _find_wanted_angles(subject, kind, goal)
        while True:
            frame = min(int(np.ceil(time * fps - 1e-9)), n - 1)
            if kind == POINT:  # turn to the side that is nearer when the look begins
                wanted[:, 0] -= 2.0 * np.pi * np.rint((wanted - subject.base)[frame, 0] / (2.0 * np.pi))
            if kind == BACK:
                requests, excess = wanted, wanted
            else:
                # A look has an effect until the next one has ended; its values after that are not needed.
                last = min(n, int((min(stop, n / fps) + longest) * fps) + 2)
                requests = wanted - subject.base
                requests = requests - _find_excess(gaze, requests, fps, frame, last)
                excess = _find_excess(gaze, wanted, fps, frame, last)
            anchor, here = _find_start(gaze, plans, subject, frame, time)
            shift, times = _time_shift(gaze, requests[frame] - here)
            point = np.zeros(3)
            if goal is not None:
                point[: len(goal)] = goal
            plans.append(_Plan(time, kind, goal, point, requests, excess, times, shift, anchor))
            if kind != POINT:
                break
            behind = np.flatnonzero(np.abs((wanted - subject.base)[frame:, 0]) > _BEHIND)
            if not len(behind) or (frame + behind[0]) / fps >= stop:
                break
            time, wanted = (frame + int(behind[0])) / fps, wanted.copy()
    return plans


def _find_wanted_angles(subject: _Body, kind: int, goal: Floats) -> Floats:
    """Return yaw and pitch (F, 2) of a goal relative to the body's heading, smoothed, with continuous yaw."""
    n = len(subject.motion)
    if kind == ANGLES:
        return np.broadcast_to(goal, (n, 2)).copy()
    head = subject.body.head
    eyes = subject.world.positions[:, head] + quat.rotate(subject.world.rotations[:, head], subject.body.eyes)
    angles = direction_to_angles(quat.inv_rotate(subject.turned, goal - eyes))
    angles[:, 0] = np.unwrap(angles[:, 0])
    return np.asarray(smooth_series(angles, _ROUND * subject.motion.fps))


def _find_excess(gaze: GazeMap, wanted: Floats, fps: float, first: int, last: int) -> Floats:
    """Return the smoothed difference (F, 2) between the wanted angles (F, 2) and the nearest ones inside the map.

    It is computed for frames `first` to `last` (exclusive) and 0 elsewhere.
    """
    excess = np.zeros_like(wanted)
    nearest, apart = project_into_region(wanted[first:last], gaze.region)
    if apart.max(initial=0.0) > _ON_EDGE:
        cut = np.where(apart[:, None] > _ON_EDGE, wanted[first:last] - nearest, 0.0)
        excess[first:last] = smooth_series(cut, _ROUND * fps)
    return excess


def _pack_looks(plans: list[_Plan], n: int) -> GazeLooks:
    """Pack the plans into arrays, for a motion of `n` frames."""
    return GazeLooks(
        np.array([plan.time for plan in plans], dtype=np.float64),
        np.array([plan.kind for plan in plans], dtype=np.int64),
        np.array([plan.times for plan in plans]).reshape(-1, 7),
        np.array([plan.point for plan in plans]).reshape(-1, 3),
        np.array([plan.requests for plan in plans]).reshape(-1, n, 2),
        np.array([plan.anchor for plan in plans]).reshape(-1, 15),
    )


def _find_start(gaze: GazeMap, plans: list[_Plan], subject: _Body, frame: int, time: float) -> tuple[Floats, Floats]:
    """Find the state at the start of a look, during or after earlier ones.

    Return the rotation vectors of the five parts, (15,), and the gaze relative to `base`, yaw and pitch (2,).
    """
    rotations = np.zeros(15)
    if not plans:
        return rotations, np.zeros(2)
    recent = plans[-_RECENT:]
    cut = [replace(plan, requests=plan.requests[frame, None]) for plan in recent]
    blend_looks(_pack_looks(cut, 1), gaze.grid, subject.base[frame], time, rotations)
    toward = angles_to_direction(subject.base[frame])
    for part in reversed(quat.exp(rotations.reshape(5, 3))):
        toward = quat.rotate(part, toward)
    here = direction_to_angles(toward) - subject.base[frame]
    # The total rotation may exceed 180 degrees; the sum of the parts' yaw shows to which side.
    here[0] -= 2.0 * np.pi * np.rint((here[0] - rotations[1::3].sum()) / (2.0 * np.pi))
    return rotations, here


def _time_shift(gaze: GazeMap, change: Floats) -> tuple[GazeShift, Floats]:
    """Return the shift that moves the gaze by `change` (2,), and its 7 timing values.

    A change beyond the map's limits is clamped to them.
    """
    nearest, _ = project_into_region(change[None], gaze.region)
    row = np.empty(N_NUMBERS)
    aim_row(gaze.grid, nearest[0], angles_to_direction(nearest[0]), row)
    row = clamp_row(row)
    return GazeShift.from_row(row, nearest[0]), row[LENGTH : OVERSHOOT + 1]


def _make_look(plan: _Plan, k: int, plans: list[_Plan], motion: Motion) -> Look:
    stop = plans[k + 1].time if k + 1 < len(plans) else motion.duration
    first, last = (min(round(t * motion.fps), len(motion) - 1) for t in (plan.time, stop))
    outside = float(np.linalg.norm(plan.excess[first : last + 1], axis=1).max(initial=0.0))
    settled = plan.time + plan.shift.length <= stop + 0.5 / motion.fps
    return Look(plan.time, plan.goal, plan.shift, outside, settled)


def _make_notes(track: GazeTrack) -> tuple[str, ...]:
    """Return sentences about the goals that a settled look misses."""
    notes = []
    misses, fps = track.misses(), track.motion.fps
    begins = [look.time for look in track.looks[1:]] + [math.inf]
    for look, stop in zip(track.looks, begins, strict=True):
        first, last = math.ceil(look.end * fps - 1e-6), min(stop * fps, float(len(misses)))
        missed = float(np.nanmax(misses[first : math.ceil(last)], initial=0.0)) if look.goal is not None else 0.0
        if not look.settled or look.goal is None or missed <= _MISSED:
            continue
        what = (
            f"yaw {np.degrees(look.goal[0]):.0f} and pitch {np.degrees(look.goal[1]):.0f} degrees"
            if len(look.goal) == 2
            else f"the point {', '.join(f'{x:g}' for x in look.goal)}"
        )
        at = (first + int(np.nanargmax(misses[first : math.ceil(last)]))) / fps
        notes.append(
            f"the gaze target at {look.time:.2f} s, {what}, is out of reach: at {at:.2f} s, eyes, neck and trunk "
            f"cannot "
            f"follow any further, and the gaze misses it by {np.degrees(missed):.1f} degrees"
        )
    return tuple(notes)


def _note_twist(motion: Motion, track: GazeTrack, body: GazeBody) -> tuple[str, ...]:
    """Return sentences about frames in which the trunk is twisted farther than in people who walk."""
    chest, before, after = body.landmarks[2], motion.world(), track.motion.world()
    twist = quat.angle_between(before.rotations[:, chest], after.rotations[:, chest])
    hips = before.positions[:, motion.skeleton.roles["hips"]][:, [0, 2]]
    speed = np.linalg.norm(np.gradient(smooth_series(hips, _ROUND * motion.fps), axis=0), axis=1) * motion.fps
    far = np.where(speed > _WALKING, twist, 0.0) if len(motion) > 1 else np.zeros(1)
    worst = int(np.argmax(far))
    if far[worst] <= _TWISTED:
        return ()
    return (
        f"the trunk is twisted by {np.degrees(far[worst]):.0f} degrees at {worst / motion.fps:.2f} s, to look that "
        "far back while the body walks on; people would turn around, or look less far",
    )


def _finish_motion(
    motion: Motion, result: Motion, body: GazeBody, plans: list[_Plan], steady: bool, notes: tuple[str, ...]
) -> Motion:
    """Return the result with its provenance, without hand contacts of `motion` that the new rotations break."""
    if motion.contacts is not None and any(
        int(body.chain[0]) in motion.skeleton.chain(point.joint) for point in motion.contacts.points
    ):
        result = replace(result, contacts=keep_contacts(motion, result))
    listed = [
        {"time": plan.time, "goal": None if plan.goal is None else plan.goal.tolist(), "length": plan.shift.length}
        for plan in plans
    ]
    return add_provenance(result, "gaze", goals=listed, steady=bool(steady), notes=list(notes))
