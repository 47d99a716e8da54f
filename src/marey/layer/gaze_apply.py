"""Looks on a motion: goals as they are given, what to ask the map for frame by frame, and the motion (Heck 5.2.3)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, check_number, set_readonly
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.edit.replant import keep_contacts
from marey.errors import InvalidValue, MareyWarning
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_eyes import add_eyes
from marey.layer.gaze_kernels import (
    ANGLES,
    BACK,
    POINT,
    GazeLooks,
    GazeMotion,
    GazeOutput,
    aim_row,
    apply_looks,
    blend_looks,
)
from marey.layer.gaze_model import (
    EYE_LIMIT,
    EYE_MOST,
    LENGTH,
    N_NUMBERS,
    OVERSHOOT,
    GazeShift,
    angles_of,
    angles_to_direction,
    checked_goal,
    clamp_row,
)
from marey.layer.gaze_region import project
from marey.layer.gaze_track import GazeTrack, Look
from marey.layer.halves import get_bone_offsets
from marey.layer.smoothing import smooth_series
from marey.maths import quat

if TYPE_CHECKING:
    from marey.layer.gaze_map import GazeMap

__all__ = ["trace_gaze"]

# Looks that may still count where one breaks off another; those before have settled, or are overlaid by so many.
_RECENT = 8
# Seconds of the Gaussian that parts what a body does slowly from its bobbing, and of one that rounds off corners.
_SLOW, _ROUND = 0.3, 0.1
# A point that goes behind the figure is followed this far beyond its back before the other side takes over.
_BEHIND = np.pi + np.radians(20.0)
_ON_EDGE = np.radians(0.1)
# A head that turns by more than this against its slow part does not bob but look; radians.
_BOB = np.radians(4.0)
# Where a head points over a clip, against its rest pose: by how much it looks aside, and by how much that is no pose.
_ASIDE, _NO_POSE = np.radians(25.0), np.radians(60.0)


def trace_gaze(
    gaze: GazeMap,
    motion: Motion,
    goals: Sequence[Any],
    *,
    steady: bool = True,
    forward: Any = "clip",
    eyes: str | Sequence[str] | None = None,
    smoothing: float = _SLOW,
) -> GazeTrack:
    """Make a motion look at goals; also return its eyes.

    Parameters
    ----------
    gaze : the map of the person's gaze shifts.
    motion : the body's motion; hips and legs do not change.
    goals : in the order of their times, seconds: ``(time, yaw, pitch)``, radians from the body's heading;
        ``(time, (x, y, z))``, a point in the world, meters, that is followed while the body moves; ``(time, None)``,
        back to the original motion.
    steady : let the eyes compensate for the body's bobbing while they look at something.
    forward : which way the head looks. "clip": on the whole, the clip looks straight ahead, as files hold heads up to
        20 degrees off; "rest": as in the rest pose; or (3,) in the head's own axes.
    eyes : None, where the motion is to show no eyes; "add" to hang a joint from the head that points where they look;
        or names of joints below the head that are turned with them.
    smoothing : seconds, the standard deviation of the Gaussian that leaves the slow part of how body and head turn.

    Returns
    -------
    GazeTrack. Goals outside the map, and eyes rotated beyond 35 degrees, raise a `MareyWarning` and appear in `notes`.
    """

    asked = _check_goals(goals, motion)
    body = GazeBody.of(motion.skeleton)
    sigma = check_number(smoothing, "smoothing") * motion.fps
    world = motion.world()
    heading = smooth_series(find_facing(motion.skeleton, world.positions), sigma)
    turned = quat.from_axis_angle([0.0, 1.0, 0.0], heading)
    ahead = _find_forward(body, world.rotations[:, body.head], turned, forward)
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
        strain=np.empty(n),
    )
    figure = GazeMotion(
        world=world.rotations,
        positions=world.positions,
        offsets=get_bone_offsets(motion),
        parents=motion.skeleton.parents,
        chain=body.chain,
        shares=body.shares,
        ahead=set_readonly(ahead),
        eye_offset=body.eyes,
        heading=heading,
        base=base,
        fps=motion.fps,
    )
    limit = min(max(EYE_LIMIT, gaze.widest_eyes), EYE_MOST)
    apply_looks(figure, _pack_looks(plans, n), gaze.grid, bool(steady), limit, out)
    looks = tuple(_make_look(plan, k, plans, motion) for k, plan in enumerate(plans))
    notes = _make_notes(looks, out.strain, quat.angle(out.eyes), motion)
    for note in notes:
        warnings.warn(note, MareyWarning, stacklevel=3)
    made = _make_motion(motion, body, set_readonly(out.rotations), plans, steady, notes)
    if eyes is not None:
        made = add_eyes(made, body, out.eyes, set_readonly(ahead), eyes)
    return GazeTrack(
        made,
        set_readonly(out.eyes),
        set_readonly(angles_of(out.gaze)),
        set_readonly(angles_of(out.model)),
        set_readonly(out.goals),
        set_readonly(heading),
        set_readonly(out.eye_positions),
        looks,
        notes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Body:
    """The motion that is to look, `turned` (F, 4) its heading, and `base` (F, 2) where its head slowly points."""

    motion: Motion
    world: World
    body: GazeBody
    turned: Floats
    base: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """One look as the kernel needs it; see `GazeLooks`."""

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
    """Time, kind and goal of each, refused where one is none."""
    try:
        listed = [tuple(entry) for entry in goals]
    except TypeError:
        raise InvalidValue(f"goals must be a list of (time, yaw, pitch), got {goals!r}") from None
    if not listed:
        raise InvalidValue("expected at least one goal to look at, got none")
    out: list[tuple[float, int, Floats | None]] = []
    for entry in listed:
        if len(entry) not in (2, 3):
            raise InvalidValue(f"a goal is (time, yaw, pitch), (time, (x, y, z)) or (time, None), got {entry!r}")
        time = check_number(entry[0], "the time of a goal")
        if time > motion.duration + 1e-9:
            raise InvalidValue(
                f"the goal at {time:g} s comes after the end of {motion.name or 'the motion'}, {motion.duration:.2f} s"
            )
        if out and time <= out[-1][0]:
            raise InvalidValue(f"goals must come one after another, got {out[-1][0]:g} s and then {time:g} s")
        if len(entry) == 3:
            out.append((time, ANGLES, checked_goal(entry[1:], f"the goal at {time:g} s")))
        elif entry[1] is None:
            out.append((time, BACK, None))
        else:
            out.append(
                (
                    time,
                    POINT,
                    _check_numbers(entry[1], f"the point to look at from {time:g} s must be x, y and z in meters"),
                )
            )
    return out


def _check_numbers(given: Any, must: str) -> Floats:
    """(3,) numbers, or the sentence on what they must be."""
    try:
        out = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        out = np.zeros(0)
    if out.shape != (3,) or not np.isfinite(out).all():
        raise InvalidValue(f"{must}, got {given!r}")
    return out


def _find_forward(body: GazeBody, head: Floats, turned: Floats, forward: Any) -> Floats:
    """(3,) unit: which way the head looks, in its own axes."""
    if not isinstance(forward, str):
        given = _check_numbers(forward, "forward must be 'clip', 'rest' or a direction in the head's axes (3,)")
        size = float(np.linalg.norm(given))
        if size < 1e-9:
            raise InvalidValue(f"forward must be a direction in the head's axes, got {forward!r}")
        return given / size
    if forward == "rest":
        return body.ahead.copy()
    if forward != "clip":
        raise InvalidValue(f"forward must be 'clip', 'rest' or a direction (3,), got {forward!r}")
    yaw, pitch = angles_of(quat.inv_rotate(turned, quat.rotate(head, body.ahead)).mean(axis=0))
    # A clip that keeps looking to one side is believed; a rest pose that looks elsewhere altogether is no pose.
    level = np.array([yaw, 0.0]) if _ASIDE < abs(yaw) < _NO_POSE and abs(pitch) < _NO_POSE else np.zeros(2)
    found = quat.inv_rotate(head, quat.rotate(turned, angles_to_direction(level))).mean(axis=0)
    size = float(np.linalg.norm(found))
    return np.asarray(found / size) if size > 0.1 else body.ahead.copy()


def _find_slow_part(seen: Floats, sigma: float, fps: float) -> Floats:
    """(F, 2) yaw and pitch of where the head points (F, 3), without bobbing, but with quick turns that are more."""
    slow = angles_of(smooth_series(seen, sigma))
    quick = angles_of(seen) - slow
    quick[:, 0] -= 2.0 * np.pi * np.rint(quick[:, 0] / (2.0 * np.pi))
    size = np.linalg.norm(quick, axis=1, keepdims=True)
    if size.max() <= _BOB:
        return slow
    more = np.maximum(1.0 - _BOB / np.maximum(size, _BOB), 0.0) * quick
    return np.asarray(slow + smooth_series(more, _ROUND * fps))


def _make_plans(gaze: GazeMap, asked: list[tuple[float, int, Floats | None]], figure: _Body) -> list[_Plan]:
    """What to ask the map for, frame by frame, for each look; points that pass behind make one more."""
    n, fps = len(figure.motion), figure.motion.fps
    plans: list[_Plan] = []
    longest = float(gaze.table[..., LENGTH].max())
    for k, (time, kind, goal) in enumerate(asked):
        stop = asked[k + 1][0] if k + 1 < len(asked) else np.inf
        wanted = np.zeros((n, 2)) if goal is None else _find_wanted_angles(figure, kind, goal)
        while True:
            frame = min(int(np.ceil(time * fps - 1e-9)), n - 1)
            if kind == POINT:  # from the side that is nearer when the look begins
                wanted[:, 0] -= 2.0 * np.pi * np.rint((wanted - figure.base)[frame, 0] / (2.0 * np.pi))
            if kind == BACK:
                requests, excess = wanted, wanted
            else:
                # A look counts until the next has settled; what it would be elsewhere need not be known.
                last = min(n, int((min(stop, n / fps) + longest) * fps) + 2)
                requests = wanted - figure.base
                requests = requests - _find_excess(gaze, requests, fps, frame, last)
                excess = _find_excess(gaze, wanted, fps, frame, last)
            anchor, here = _find_start(gaze, plans, figure, frame, time)
            shift, times = _time_shift(gaze, requests[frame] - here)
            point = np.zeros(3)
            if goal is not None:
                point[: len(goal)] = goal
            plans.append(_Plan(time, kind, goal, point, requests, excess, times, shift, anchor))
            if kind != POINT:
                break
            behind = np.flatnonzero(np.abs((wanted - figure.base)[frame:, 0]) > _BEHIND)
            if not len(behind) or (frame + behind[0]) / fps >= stop:
                break
            time, wanted = (frame + int(behind[0])) / fps, wanted.copy()
    return plans


def _find_wanted_angles(figure: _Body, kind: int, goal: Floats) -> Floats:
    """(F, 2) yaw and pitch of a goal from the body's heading, yaw continuous, without what bobs."""
    n = len(figure.motion)
    if kind == ANGLES:
        return np.broadcast_to(goal, (n, 2)).copy()
    head = figure.body.head
    eyes = figure.world.positions[:, head] + quat.rotate(figure.world.rotations[:, head], figure.body.eyes)
    angles = angles_of(quat.inv_rotate(figure.turned, goal - eyes))
    angles[:, 0] = np.unwrap(angles[:, 0])
    return np.asarray(smooth_series(angles, _ROUND * figure.motion.fps))


def _find_excess(gaze: GazeMap, wanted: Floats, fps: float, first: int, last: int) -> Floats:
    """(F, 2) from the nearest that the map has room for to what is wanted; known from frame `first` to `last`."""
    excess = np.zeros_like(wanted)
    nearest, apart = project(wanted[first:last], gaze.region)
    if apart.max(initial=0.0) > _ON_EDGE:
        cut = np.where(apart[:, None] > _ON_EDGE, wanted[first:last] - nearest, 0.0)
        excess[first:last] = smooth_series(cut, _ROUND * fps)
    return excess


def _pack_looks(plans: list[_Plan], n: int) -> GazeLooks:
    """The plans as arrays, for a motion of `n` frames."""
    return GazeLooks(
        np.array([plan.time for plan in plans], dtype=np.float64),
        np.array([plan.kind for plan in plans], dtype=np.int64),
        np.array([plan.times for plan in plans]).reshape(-1, 7),
        np.array([plan.point for plan in plans]).reshape(-1, 3),
        np.array([plan.requests for plan in plans]).reshape(-1, n, 2),
        np.array([plan.excess for plan in plans]).reshape(-1, n, 2),
        np.array([plan.anchor for plan in plans]).reshape(-1, 15),
    )


def _find_start(gaze: GazeMap, plans: list[_Plan], figure: _Body, frame: int, time: float) -> tuple[Floats, Floats]:
    """(15,) the turns of the parts as a look begins, and (2,) the gaze then, less `base`: broken off, or settled."""
    turns = np.zeros(15)
    if not plans:
        return turns, np.zeros(2)
    recent = plans[-_RECENT:]
    cut = [replace(plan, requests=plan.requests[frame, None], excess=plan.excess[frame, None]) for plan in recent]
    blend_looks(_pack_looks(cut, 1), gaze.grid, figure.base[frame], time, turns)
    towards = angles_to_direction(figure.base[frame])
    for part in reversed(quat.exp(turns.reshape(5, 3))):
        towards = quat.rotate(part, towards)
    here = angles_of(towards) - figure.base[frame]
    # Turns add up to more than half a circle; which half is told by how far the parts have turned.
    here[0] -= 2.0 * np.pi * np.rint((here[0] - turns[1::3].sum()) / (2.0 * np.pi))
    return turns, here


def _time_shift(gaze: GazeMap, change: Floats) -> tuple[GazeShift, Floats]:
    """The shift by which gaze moves so far, and its 7 times; a look right across is timed as the widest there is."""
    nearest, _ = project(change[None], gaze.region)
    row = np.empty(N_NUMBERS)
    aim_row(gaze.grid, nearest[0], angles_to_direction(nearest[0]), row)
    row = clamp_row(row)
    return GazeShift.of_row(row, nearest[0]), row[LENGTH : OVERSHOOT + 1]


def _make_look(plan: _Plan, k: int, plans: list[_Plan], motion: Motion) -> Look:
    stop = plans[k + 1].time if k + 1 < len(plans) else motion.duration
    first, last = (min(round(t * motion.fps), len(motion) - 1) for t in (plan.time, stop))
    outside = float(np.linalg.norm(plan.excess[first : last + 1], axis=1).max(initial=0.0))
    settled = plan.time + plan.shift.length <= stop + 0.5 / motion.fps
    return Look(plan.time, plan.goal, plan.shift, outside, settled)


def _make_notes(looks: tuple[Look, ...], strain: Floats, turned: Floats, motion: Motion) -> tuple[str, ...]:
    notes = []
    for look in looks:
        if look.outside > _ON_EDGE and look.goal is not None:
            what = (
                f"yaw {np.degrees(look.goal[0]):.0f} and pitch {np.degrees(look.goal[1]):.0f} degrees"
                if len(look.goal) == 2
                else f"the point {', '.join(f'{x:g}' for x in look.goal)}"
            )
            notes.append(
                f"the goal at {look.time:.2f} s, {what}, lies up to {np.degrees(look.outside):.1f} degrees outside of "
                "the gaze map; the gaze goes only as far as the map does"
            )
    most = int(strain.argmax())
    if strain[most] > EYE_LIMIT:
        missed = float(np.degrees((strain - turned).max()))
        left = f"; there the gaze misses by up to {missed:.1f}" if missed > 0.1 else ""
        notes.append(
            f"the eyes would have to turn in the head by up to {np.degrees(strain[most]):.1f} degrees, at "
            f"{most / motion.fps:.2f} s, more than the {np.degrees(EYE_LIMIT):.0f} that eyes easily do{left}"
        )
    return tuple(notes)


def _make_motion(
    motion: Motion, body: GazeBody, rotations: Floats, plans: list[_Plan], steady: bool, notes: tuple[str, ...]
) -> Motion:
    """The motion with its new turns; of the contacts, those of the hands that still hold."""
    made = replace(motion, rotations=rotations)
    if motion.contacts is not None and any(
        int(body.chain[0]) in motion.skeleton.chain(point.joint) for point in motion.contacts.points
    ):
        made = replace(made, contacts=keep_contacts(motion, made))
    listed = [
        {"time": plan.time, "goal": None if plan.goal is None else plan.goal.tolist(), "length": plan.shift.length}
        for plan in plans
    ]
    return add_provenance(made, "gaze", goals=listed, steady=bool(steady), notes=list(notes))
