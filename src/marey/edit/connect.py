"""Connect two clips with interpolated frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, join_contacts, shift_labels
from marey.core.arrays import Floats, set_readonly
from marey.core.feet import feet_from_flag
from marey.core.labels import Labels
from marey.core.motion import Motion, check_motion
from marey.core.placement import bake_hips_into_root, check_same_skeleton, find_placement, set_travel
from marey.core.settings import operation
from marey.deprecation import renamed_parameters
from marey.edit._rates import PoseOffset, RatedPose, offset_between, pose_at
from marey.edit._splines import fading_slope
from marey.edit.replant import bridge_contacts, replant_around, set_contacts
from marey.edit.settings import ConnectSettings
from marey.errors import InvalidValue
from marey.maths import ease_in, quat, rigid2d

# Velocities at the ends fade over this many seconds; over an entire long gap they would swing the limbs around.
_FADE = 0.3


@renamed_parameters(replant=("feet", feet_from_flag))
@operation(ConnectSettings)
def connect(first: Motion, second: Motion, settings: ConnectSettings) -> Motion:
    """Connect two clips: `first`, then `gap` seconds of interpolation, then `second`.

    The root's path in the gap is a Hermite curve that matches the velocities on both sides. Each joint follows a single
    eased rotation from pose to pose and matches the angular velocities at both ends.

    Feet that are planted before the gap, after it, or through it (planted on both sides at nearly the same position)
    are cleaned up. Frames farther away do not change.

    Both clips need the same skeleton and frame rate. The result has the contacts and labels of both; a point that is
    not planted through the gap has no contact in it.

    Examples
    --------
    >>> joined = marey.edit.connect(walk, run, gap=0.5)
    >>> len(joined) / joined.fps > walk.duration + run.duration
    True
    """
    check_motion(first, "first")
    check_motion(second, "second")
    if abs(first.fps - second.fps) > 1e-6 * first.fps:
        raise InvalidValue(
            f"connect needs clips with the same frame rate, got {first.fps:g} and {second.fps:g} Hz; resample one first"
        )
    check_same_skeleton(first.skeleton, second.skeleton, "connect")
    steps = max(1, round(settings.gap * first.fps))
    one, two = (set_contacts(first), set_contacts(second)) if settings.feet else (first, second)
    one, two = bake_hips_into_root(one), bake_hips_into_root(two, first.skeleton)
    seconds = steps / one.fps
    rigid = rigid2d.identity()
    if settings.align:
        rigid = _find_alignment(one, two, seconds)
        two = two.moved(rigid)
    start = _pose_at_end(one)
    end = pose_at(two, 0, 0, min(1, len(two) - 1))
    between = _fill_gap(start, end, offset_between(_drop_rates(start), end), np.arange(1, steps) / one.fps, seconds)
    stretched = one.bone_offsets is not None or two.bone_offsets is not None
    n_first, n_second = len(one), len(two)
    result = replace(
        one,
        root_positions=set_readonly(np.concatenate([one.root_positions, between[0], two.root_positions])),
        rotations=set_readonly(quat.unroll(np.concatenate([one.rotations, between[1], two.rotations]))),
        bone_offsets=set_readonly(np.concatenate([one.frame_offsets, between[2], two.frame_offsets]))
        if stretched
        else None,
        contacts=join_contacts([(one.contacts, n_first), (None, steps - 1), (two.contacts, n_second)]),
        labels=Labels((*one.labels, *shift_labels(two.labels, n_first + steps - 1))),
    )
    result = set_travel(result, np.concatenate([one.travel, between[0], two.travel]))
    done = False
    if settings.feet:
        result, done = replant_around(
            bridge_contacts(result, n_first, n_first + steps - 1), n_first, n_first + steps - 1
        )
    return add_provenance(
        result,
        "connect",
        other=second.name,
        other_provenance=[dict(step) for step in second.source.provenance],
        gap=seconds,
        start=n_first,
        stop=n_first + steps - 1,
        aligned=rigid.tolist() if settings.align else None,
        replanted=done,
    )


def _pose_at_end(motion: Motion) -> RatedPose:
    n = len(motion)
    return pose_at(motion, n - 1, max(n - 2, 0), n - 1)


def _drop_rates(pose: RatedPose) -> RatedPose:
    """Return the pose with zero rates: the interpolation starts at rest, and the velocity is added separately."""
    return replace(
        pose,
        root_rate=np.zeros(3),
        turn_rate=np.zeros_like(pose.turn_rate),
        offset_rate=np.zeros_like(pose.offset_rate),
    )


def _find_alignment(one: Motion, two: Motion, seconds: float) -> Floats:
    """Return the transform of the second clip that puts its first frame where the first clip is heading."""
    here = find_placement(one, len(one) - 1)
    there = find_placement(two, 0)
    turn = rigid2d.between(np.array([there[0], 0.0, 0.0]), np.array([here[0], 0.0, 0.0]))
    speeds = np.stack([_measure_floor_speed(one, -1), rigid2d.apply_vector(turn, _measure_floor_speed(two, 0))])
    goal = np.array([here[0], *(here[1:] + seconds * speeds.mean(axis=0))])
    return rigid2d.between(there, goal)


def _measure_floor_speed(motion: Motion, end: int) -> Floats:
    """Return the velocity (2,) of the hips in x and z, in m/s, over a tenth of a second at one end."""
    n = min(len(motion) - 1, max(1, round(0.1 * motion.fps)))
    if n < 1:
        return np.zeros(2)
    path = (motion[-n - 1 :] if end else motion[: n + 1]).travel[:, [0, 2]]
    return np.asarray((path[-1] - path[0]) * motion.fps / n)


def _fill_gap(
    start: RatedPose, end: RatedPose, change: PoseOffset, t: Floats, seconds: float
) -> tuple[Floats, Floats, Floats]:
    """Return hip positions, rotations and bone offsets at times t (n,), from 0 to `seconds`, between the poses `start`
    and `end`.

    change : the offset from `start` to `end`.
    """
    u = t / seconds
    fade = min(seconds, _FADE)
    out, into = fading_slope(t, fade), -fading_slope(seconds - t, fade)
    rise = ease_in(u)

    def ease(value: Floats, rate_out: Floats, rate_in: Floats) -> Floats:
        weight, leaving, arriving = (w.reshape(-1, *[1] * value.ndim) for w in (rise, out, into))
        return np.asarray(weight * value + leaving * rate_out + arriving * rate_in)

    root = start.root + ease(change.root, start.root_rate, end.root_rate)
    # On the floor, velocities fade over the entire gap; otherwise the body would slow down in it.
    wide_out, wide_in = fading_slope(t, seconds), -fading_slope(seconds - t, seconds)
    level = [0, 2]
    root[:, level] = (
        start.root[level]
        + rise[:, None] * change.root[level]
        + wide_out[:, None] * start.root_rate[level]
        + wide_in[:, None] * end.root_rate[level]
    )
    vectors = ease(change.rotations, start.turn_rate, change.rotations_rate)
    offsets = start.offsets + ease(change.offsets, start.offset_rate, end.offset_rate)
    return root, quat.mul(start.rotations, quat.exp(vectors)), offsets
