"""Find glitches: frames with impossible jumps of joints, because markers were swapped, lost or zeroed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, Ints, find_runs
from marey.core.motion import Motion, check_motion
from marey.core.skeleton import Skeleton
from marey.io.unit_and_up_axis import STATURE, stature
from marey.maths import quat
from marey.measure import glitch_kernels

# A joint jumps between two frames if the acceleration before and after the step exceeds this (m/s^2). Hands and feet in
# throws, punches and kicks reach 600 m/s^2, and only in one direction for several frames.
_IMPOSSIBLE, _UNUSUAL = 1000.0, 200.0
# It must also exceed the usual accelerations of the joint in the same clip by these factors. The usual level is a high
# quantile, with up to 1 % of the frames, or this many frames, above it.
_ABOVE_USUAL, _FAR_ABOVE_USUAL = 3.0, 8.0
_N_ABOVE = 12
# Meters. Smaller jumps are noise.
_MIN_JUMP = 0.05
# Radians from frame to frame, and radians per second, beyond the fastest joint: the shoulder of a pitcher (Fleisig
# 1999: 7500 degrees per second).
_FLIP, _FASTEST = math.radians(60.0), 130.0
# Seconds: jumps this close together, or this close to an end of the clip, belong to one stretch of broken frames.
_NEAR = 0.2
# Seconds: a joint that flips and flips back within this time is unflipped.
_MAX_FLIP = 2.0
# A jump back is at least this fraction of the jump, and the cosine between their directions is at most this.
_BACK, _OPPOSITE = 0.3, -0.5
# Radians by which a thigh rotates about its own axis, and back, each within this many seconds, if it spins. Hips rotate
# by 45 degrees to either side (American Academy of Orthopaedic Surgeons), those of dancers by 120 degrees in all.
_SPIN, _SPIN_SECONDS = math.radians(150.0), 0.5
# Radians by which two ways to sum the same rotations may differ.
_ROUNDING = 1e-6
# A spin begins and ends where this fraction of it is left.
_SPIN_ENDS = 0.05


@dataclass(frozen=True, slots=True)
class Glitch:
    """Frames in which joints jump.

    Attributes
    ----------
    kind : "broken" for a few frames that do not fit their neighbors; "flip" for a longer stretch in which joints are
        rotated away and back; "spin" for one in which a leg rotates about its own axis farther than a hip can, and
        back; "jump" for a single jump without a jump back, as at a cut.
    start, stop : the wrong frames, half-open; for a jump, the frame before it and the one after it.
    joints : indices of the joints that jump.
    distance : largest jump of a joint in meters.
    speed : speed of that joint in m/s.
    angle : largest rotation of a joint from frame to frame in radians; of a spin, its whole angle.
    """

    kind: str
    start: int
    stop: int
    joints: tuple[int, ...]
    distance: float
    speed: float
    angle: float


@dataclass(frozen=True, slots=True)
class LooseJoints:
    """Fingers or toes that flip, as in captures without markers on them: joint indices, and frames of the flips."""

    joints: tuple[int, ...]
    frames: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Jumps:
    """Jumps of n joints, one row per pair of neighboring frames.

    joints : (n,) their indices.
    steps : (F - 1, n, 3) movement from frame to frame, meters.
    jump : (F - 1, n) deviation of the movement from a steady motion, meters.
    cosines : (F - 1, n) cosines of half the angles by which they rotate.
    is_jump, is_flip : (F - 1, n) whether position or rotation jump.
    fps : frames per second.
    """

    joints: Ints
    steps: Floats
    jump: Floats
    is_jump: Bools
    cosines: Floats
    is_flip: Bools
    fps: float


def find_glitches(motion: Motion, may_flip: Bools | None = None) -> tuple[Glitch, ...]:
    """Find the frames in which joints make impossible jumps, in order.

    A joint jumps between two frames if its velocity changes abruptly before and after: faster than any body can
    accelerate, and much faster than usual in this clip; an impact changes it only once. A joint flips if its rotation
    jumps in this way by more than 60 degrees. Fingers and toes do not count; see `find_loose_joints`.

    Jumps close together, or close to an end of the clip, enclose broken frames.

    may_flip : the result of `find_flipping_joints`, if it is known.

    Examples
    --------
    >>> from marey.measure import find_glitches
    >>> [(glitch.kind, glitch.start, glitch.stop) for glitch in find_glitches(broken)]
    [('broken', 90, 91)]
    """
    if len(check_motion(motion)) < 4:
        return ()
    joints, balls, nearest = _choose_joints(motion)
    may_flip = find_flipping_joints(motion) if may_flip is None else may_flip
    spins = _find_spins(motion)
    if not _any_jumps(motion, joints, nearest) and not may_flip[[j for j in joints.tolist() if j not in balls]].any():
        return tuple(spins)
    return _add_spins(_group_jumps(_find_jumps(motion), motion), spins, motion.skeleton)


def find_loose_joints(motion: Motion, may_flip: Bools | None = None) -> LooseJoints:
    """Find fingers and toes that flip by more than 60 degrees from one frame to the next.

    may_flip : the result of `find_flipping_joints`, if it is known.

    Examples
    --------
    >>> from marey.measure import find_loose_joints
    >>> find_loose_joints(walk)
    LooseJoints(joints=(), frames=())
    """
    joints = np.flatnonzero(_find_extremities(motion.skeleton) & ~motion.skeleton.is_end_site)
    if len(check_motion(motion)) < 4 or not joints.size:
        return LooseJoints((), ())
    joints = joints[(find_flipping_joints(motion) if may_flip is None else may_flip)[joints]]
    if not joints.size:
        return LooseJoints((), ())
    flips = _find_flips(motion, joints)[1]
    found = joints[flips.any(axis=0)]
    return LooseJoints(tuple(found.tolist()), tuple((np.flatnonzero(flips.any(axis=1)) + 1).tolist()))


def usual_level(values: Floats) -> Floats:
    """Return a level for each column of `values` (F, n), (n,), that is exceeded in at most 1 % of the rows, or 12
    rows."""
    n = len(values)
    at = max(n // 2, n - 1 - max(n // 100, _N_ABOVE))
    return np.asarray(np.partition(values, at, axis=0)[at])


def _find_extremities(skeleton: Skeleton) -> Bools:
    """Return (J,) whether each joint is a finger, or a toe joint, whose rotation is loose."""
    found = np.zeros(len(skeleton), dtype=bool)
    parents = skeleton.parents
    roles = skeleton.roles
    hands = {roles[f"{side}_hand"] for side in ("left", "right") if f"{side}_hand" in roles}
    for joint in range(1, len(skeleton)):
        found[joint] = parents[joint] in hands or found[parents[joint]]
    found[[roles[f"{side}_ball"] for side in ("left", "right") if f"{side}_ball" in roles]] = True
    return found


def _choose_joints(motion: Motion) -> tuple[Ints, Ints, float]:
    """Return the joints to test for jumps, the joints among them to test for position only, and the smallest distance
    in meters that counts as a jump.

    Fingers and toes are not tested: captures often lack them. The balls of the feet are tested for position only.
    """
    skeleton = motion.skeleton
    loose = _find_extremities(skeleton)
    balls = [skeleton.roles[role] for role in ("left_ball", "right_ball") if role in skeleton.roles]
    loose[balls] = False
    size = (stature(skeleton) or STATURE) / STATURE
    smallest = max(_UNUSUAL / motion.fps**2, _MIN_JUMP) * size
    return np.flatnonzero(~loose & ~skeleton.is_end_site), np.array(balls, dtype=np.int64), smallest


def _any_jumps(motion: Motion, joints: Ints, smallest: float) -> bool:
    found = np.zeros(len(joints), dtype=bool)
    glitch_kernels.find_moving_joints(motion.world().positions, joints, smallest, found)
    return bool(found.any())


def find_flipping_joints(motion: Motion) -> Bools:
    """Return (J,) whether each joint rotates far enough between two frames for a flip; False for end sites."""
    joints = np.flatnonzero(~motion.skeleton.is_end_site)
    found, flips = np.zeros(len(joints), dtype=bool), np.zeros(len(motion.skeleton), dtype=bool)
    rotations = np.ascontiguousarray(motion.rotations)
    glitch_kernels.find_flipping_joints(rotations, joints, math.cos(0.5 * _FLIP), found)
    flips[joints] = found
    return flips


def _find_jumps(motion: Motion) -> _Jumps:
    fps = motion.fps
    joints, balls, smallest = _choose_joints(motion)
    size = (stature(motion.skeleton) or STATURE) / STATURE
    steps = np.diff(motion.world().positions[:, joints], axis=0)
    bends = np.diff(steps, axis=0)
    change = np.sqrt(np.einsum("fjk,fjk->fj", bends, bends))
    jump = np.empty(steps.shape[:2])
    jump[0], jump[-1] = change[0], change[-1]
    np.minimum(change[:-1], change[1:], out=jump[1:-1])
    impossible = _IMPOSSIBLE * size / fps**2
    is_jump = jump > smallest
    if is_jump.any():
        usual = usual_level(jump)
        is_jump &= ((jump > impossible) & (jump > _ABOVE_USUAL * usual)) | (jump > _FAR_ABOVE_USUAL * usual)
    cosines, is_flip = _find_flips(motion, joints)
    is_flip[:, np.isin(joints, balls)] = False
    return _Jumps(joints, steps, jump, is_jump, cosines, is_flip, fps)


def _find_flips(motion: Motion, joints: Ints) -> tuple[Floats, Bools]:
    """Return the cosine of half the angle by which joints rotate between frames, (F - 1, n), and whether they flip."""
    rotations = motion.rotations[:, joints]
    cosines = np.abs(np.einsum("fjk,fjk->fj", rotations[1:], rotations[:-1]))
    is_flip = cosines < math.cos(0.5 * _FLIP)
    if not is_flip.any():
        return cosines, is_flip
    usual = np.full(len(joints), np.pi)
    for j in np.flatnonzero(is_flip.any(axis=0)).tolist():
        usual[j] = _to_angle(-usual_level(-cosines[:, [j]])[0])
    rows, columns = np.nonzero(is_flip)
    # How much the rotation from frame to frame changes, before or after, whichever is less.
    last = len(cosines) - 1
    before, here, after = (_rotation_steps(rotations, (rows + k).clip(0, last), columns) for k in (-1, 0, 1))
    changes = [np.linalg.norm(here - each, axis=1) for each in (before, after)]
    change = np.minimum(np.where(rows > 0, changes[0], np.inf), np.where(rows < last, changes[1], np.inf))
    is_fast = 2.0 * np.arccos(np.minimum(cosines[rows, columns], 1.0)) * motion.fps > _FASTEST
    is_flip[rows, columns] = (change > _FLIP) & (is_fast | (change > _FAR_ABOVE_USUAL * usual[columns]))
    return cosines, is_flip


def _to_angle(cosine: float) -> float:
    return 2.0 * math.acos(min(float(cosine), 1.0))


def _rotation_steps(rotations: Floats, frames: Ints, columns: Ints) -> Floats:
    """Return the rotation vectors (n, 3) of n joints, the `columns`, from each of n `frames` to the next frame."""
    return quat.log(quat.inv_mul(rotations[frames, columns], rotations[frames + 1, columns]))


def _find_spins(motion: Motion) -> list[Glitch]:
    """Find stretches in which a thigh rotates about its own axis farther than a hip can, and back."""
    skeleton, out = motion.skeleton, list[Glitch]()
    n = min(round(_SPIN_SECONDS * motion.fps), len(motion) - 1)
    for side in ("left", "right"):
        chain = [skeleton.roles.get(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot")]
        joints = tuple(joint for joint in chain if joint is not None)
        if n < 2 or len(joints) < 3:
            continue
        axis = skeleton.rest_positions[joints[1]] - skeleton.rest_positions[joints[0]]
        length, rotations = max(float(np.linalg.norm(axis)), 1e-9), np.ascontiguousarray(motion.rotations)
        if glitch_kernels.measure_twist(rotations, joints[0], axis / length) < _SPIN - _ROUNDING:
            continue
        steps = quat.log(quat.inv_mul(motion.rotations[:-1, joints[0]], motion.rotations[1:, joints[0]]))
        angles = np.cumsum(np.append(0.0, steps @ axis / length))
        if np.ptp(angles) < _SPIN:
            continue
        for angle in (angles, -angles):
            # The lowest angle in the time before, and after, each frame.
            lowest = np.lib.stride_tricks.sliding_window_view(np.pad(angle, n, mode="edge"), n + 1).min(axis=1)
            before, after = lowest[: len(angle)], lowest[n:]
            above = angle - np.maximum(before, after)
            for start, stop in find_runs(above > _SPIN):
                top = start + int(above[start:stop].argmax())
                low, near = max(top - n, 0), _SPIN_ENDS * above[top]
                first = low + int(np.flatnonzero(angle[low:top] <= before[top] + near)[-1]) + 1
                last = top + int(np.flatnonzero(angle[top : top + n + 1] <= after[top] + near)[0])
                if not any(one.start < last and first < one.stop and one.joints == joints for one in out):
                    out.append(_describe_spin(motion, joints, first, last, float(above[top])))
    return sorted(out, key=lambda one: one.start)


def _describe_spin(motion: Motion, joints: tuple[int, ...], start: int, stop: int, angle: float) -> Glitch:
    steps = np.diff(motion.world().positions[start - 1 : stop + 1][:, joints], axis=0)
    distance = float(np.linalg.norm(steps, axis=2).max())
    return Glitch("spin", start, stop, joints, distance, distance * motion.fps, angle)


def _add_spins(glitches: tuple[Glitch, ...], spins: list[Glitch], skeleton: Skeleton) -> tuple[Glitch, ...]:
    """Return glitches and spins in order, without the jumps of a leg while it spins."""
    left = list(glitches)
    for spin in spins:
        leg = skeleton.is_below(spin.joints[0])
        left = [
            glitch
            for glitch in left
            if not (spin.start - 1 <= glitch.start and glitch.stop <= spin.stop + 1 and leg[list(glitch.joints)].all())
        ]
    return tuple(sorted([*left, *spins], key=lambda one: one.start))


def _group_jumps(jumps: _Jumps, motion: Motion) -> tuple[Glitch, ...]:
    """Group jumps into glitches. The number of a jump is that of the frame before it."""
    found = np.flatnonzero((jumps.is_jump | jumps.is_flip).any(axis=1)).tolist()
    near, last = max(2, round(_NEAR * motion.fps)), len(motion) - 2
    groups: list[list[int]] = []
    for b in found:
        if groups and b - groups[-1][-1] <= near:
            groups[-1].append(b)
        else:
            groups.append([b])
    out: list[Glitch] = []
    for group in groups:
        if group[0] < near:
            out.append(_describe(jumps, group, "broken", 0, group[-1] + 1))
        elif group[-1] > last - near:
            out.append(_describe(jumps, group, "broken", group[0] + 1, len(motion)))
        else:
            if len(group) == 1:
                group = sorted({group[0], _find_jump_back(jumps, group[0], near)})
            if len(group) > 1:
                out.append(_describe(jumps, group, "broken", group[0] + 1, group[-1] + 1))
            else:
                out.append(_describe(jumps, group, "jump", group[0], group[0] + 2))
    return _join_flips(out, motion)


def _find_jump_back(jumps: _Jumps, b: int, near: int) -> int:
    """Return the number of the jump back that is nearest to jump b, or b if there is none.

    The joint that jumps most in jump b must move back then; the jump back may be weaker. `near` is the number of frames
    to search on either side.
    """
    j = int(np.argmax(jumps.jump[b] * jumps.is_jump[b]))
    there = jumps.steps[b, j]
    size = float(np.linalg.norm(there))
    first = max(b - near, 0)
    steps = jumps.steps[first : b + near + 1, j]
    lengths = np.linalg.norm(steps, axis=1)
    back = (steps @ there < _OPPOSITE * size * lengths) & (lengths > _BACK * size)
    back &= jumps.jump[first : b + near + 1, j] > _BACK * jumps.jump[b, j]
    at = np.flatnonzero(back) + first
    return int(at[np.argmin(np.abs(at - b))]) if at.size and size > 0 else b


def _join_flips(glitches: list[Glitch], motion: Motion) -> tuple[Glitch, ...]:
    """Replace two single jumps by a flip if the same joints flip and return to where they were."""
    out: list[Glitch] = []
    for glitch in glitches:
        before = out[-1] if out else None
        if (
            before is not None
            and before.kind == glitch.kind == "jump"
            and glitch.start - before.start <= _MAX_FLIP * motion.fps
        ):
            shared = [
                j for j in before.joints if j in glitch.joints and _flips_back(motion, j, before.start, glitch.start)
            ]
            if shared:
                out[-1] = Glitch(
                    "flip", before.start + 1, glitch.start + 1, tuple(shared), max(before.distance, glitch.distance),
                    max(before.speed, glitch.speed), max(before.angle, glitch.angle),
                )  # fmt: skip
                continue
        out.append(glitch)
    return tuple(out)


def _flips_back(motion: Motion, joint: int, first: int, second: int) -> bool:
    """Return whether a joint flips at jump `first` and is back at its earlier rotation after jump `second`."""
    q = motion.rotations[:, joint]
    there, back = (float(quat.angle_between(q[b], q[b + 1])) for b in (first, second))
    return min(there, back) > _FLIP and float(quat.angle_between(q[first], q[second + 1])) < 0.5 * min(there, back)


def _describe(jumps: _Jumps, group: Iterable[int], kind: str, start: int, stop: int) -> Glitch:
    rows = list(group)
    moved = np.linalg.norm(jumps.steps[rows], axis=2)
    wrong = jumps.is_jump[rows] | jumps.is_flip[rows]
    columns = wrong.any(axis=0)
    distance = float(np.where(wrong, moved, 0.0).max())
    return Glitch(
        kind, start, stop, tuple(jumps.joints[columns].tolist()), distance, distance * jumps.fps,
        _to_angle(jumps.cosines[rows][:, columns].min()),
    )  # fmt: skip
