"""Repair broken frames: trim them at the ends, interpolate them inside, and rotate flipped joints back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.clean import estimate_floor_plane
from marey.core.annotations import add_provenance
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.edit.level import describe_leveling, level_to
from marey.edit.replant import keep_contacts
from marey.edit.settings import RepairSettings
from marey.io.rest import starts_with_rest_pose
from marey.maths import quat
from marey.measure.glitches import Glitch, find_glitches, usual_level

# A joint is repaired if its rotation per frame exceeds this multiple of its usual maximum, and this angle in radians;
# the root if its step exceeds this multiple, and this distance in meters.
_UNUSUAL, _MIN_ANGLE, _MIN_DISTANCE = 3.0, 0.05, 0.02
# Number of passes: repairs may uncover smaller glitches that larger ones hid.
_N_ROUNDS = 8
# If joints still jump after a repair, the repaired range is widened by a few frames, then by twice as many, up to this
# many seconds at both ends.
_FEW, _WIDEST = 2, 0.2


@operation(RepairSettings)
def repair(motion: Motion, settings: RepairSettings) -> Motion:
    """Repair the broken frames that `marey.check` finds. All other frames and joints stay bit-identical.

    Repairing a repaired motion changes nothing.

    Broken frames and a rest pose at the ends are trimmed. In between, joints that jump are interpolated smoothly from
    the surrounding frames, or from frames farther away if they would still jump; joints that are flipped for longer are
    rotated back. A leg that spins about its own axis is rotated back, or interpolated if its foot would spin or jump
    then. Single jumps, as at cuts, are not repaired; use `deseam`.

    Provenance records what was done: ``trimmed`` (frames at the start and at the end), ``interpolated`` and
    ``unflipped`` (start, stop and joints of each stretch, in frames of the given motion), ``left`` (frames after jumps
    that were not repaired), ``tilt`` (radians) and ``drift`` (meters).

    Examples
    --------
    >>> repaired = marey.edit.repair(broken)
    >>> marey.check(repaired).findings
    ()
    """
    given = check_motion(motion)
    record: dict[str, Any] = {"trimmed": [0, 0], "interpolated": [], "unflipped": []}
    result, start = given, 0
    for _ in range(_N_ROUNDS):  # repairs near an end may show that it is broken, too
        first, last, glitches = _find_ends(result)
        trimmed = result[first:last] if (first, last) != (0, len(result)) else result
        start += first
        repaired, left = _repair_inside(trimmed, glitches, start, record)
        is_done, result = repaired is result, repaired
        if is_done:
            break
    record["trimmed"] = [start, len(given) - start - len(result)]
    record["left"] = [each.start + int(each.kind == "jump") + start for each in left]
    if result is not given:
        result = replace(result, contacts=keep_contacts(given[start : start + len(result)], result))
    if settings.level:
        plane = estimate_floor_plane(result)
        result = level_to(result, plane)
        record |= describe_leveling(plane)
    return add_provenance(result, "repair", **record)


def _repair_inside(
    motion: Motion, glitches: list[Glitch], first: int, record: dict[str, Any]
) -> tuple[Motion, list[Glitch]]:
    """Repair the glitches between the ends of a motion; return the motion and the remaining glitches.

    first : number of its first frame in the given motion, for the record.
    """
    result, done = motion, list[Glitch]()
    for _ in range(_N_ROUNDS):
        tried = {(one.start, one.stop, one.joints) for one in done}
        inside = [_widen(each, done, result) for each in glitches]
        inside = [each for each in inside if each.kind != "jump" and (each.start, each.stop, each.joints) not in tried]
        for glitch in inside:
            again = any(one.start == glitch.start and one.stop == glitch.stop for one in done)
            done.append(glitch)
            result, joints = _repair_glitch(result, glitch, again)
            span = [glitch.start + first, glitch.stop + first, joints]
            is_rotated_back = glitch.kind == "flip" or (glitch.kind == "spin" and len(joints) == 1)
            spans = record["unflipped" if is_rotated_back else "interpolated"]
            spans[:] = [one for one in spans if not (span[0] <= one[0] and one[1] <= span[1])] + [span]
        if not inside:
            break
        glitches = [each for each in find_glitches(result) if each.start > 0 and each.stop < len(result)]
    return result, glitches


def _widen(glitch: Glitch, done: list[Glitch], motion: Motion) -> Glitch:
    """Return the glitch extended over more frames, if it was repaired before and its joints still jump."""
    before = [one for one in done if one.kind == "broken" and one.start <= glitch.start and glitch.stop <= one.stop]
    if glitch.kind == "flip" or not before:
        return glitch
    last = before[-1]
    if len(before) == 1:
        return replace(last, joints=glitch.joints)
    more = min(_FEW * 2 ** (len(before) - 2), round(_WIDEST * motion.fps), last.start - 1, len(motion) - 1 - last.stop)
    return replace(last, start=last.start - max(more, 0), stop=last.stop + max(more, 0))


def _find_ends(motion: Motion) -> tuple[int, int, list[Glitch]]:
    """Return the range of frames to keep (start, stop), and the glitches within it, in frames counted from `start`."""
    n_rest, last = int(starts_with_rest_pose(motion)), len(motion)
    first, inside = n_rest, []
    for glitch in find_glitches(motion[n_rest:] if n_rest else motion):
        start, stop = glitch.start + n_rest, glitch.stop + n_rest
        if glitch.kind == "broken" and start == first and stop < last:
            first = stop
        elif glitch.kind == "broken" and stop == len(motion) and start > first:
            last = start
        else:
            inside.append((glitch, start, stop))
    kept = [
        replace(glitch, start=start - first, stop=stop - first)
        for glitch, start, stop in inside
        if first < start and stop < last
    ]
    return first, last, kept


def _repair_glitch(motion: Motion, glitch: Glitch, again: bool) -> tuple[Motion, list[str]]:
    """Return the motion without the glitch, and the names of the joints that were changed.

    again : whether it was repaired before; then the ancestors of joints that still jump are changed, too.
    """
    if glitch.kind == "spin":
        untwisted = _untwist(motion, glitch)
        after = [each for each in find_glitches(untwisted) if each.start <= glitch.stop and glitch.start <= each.stop]
        foot = motion.rotations[glitch.start - 1 : glitch.stop, glitch.joints[2]]
        is_still = float(quat.angle_between(foot[0], foot[1:]).max()) < 0.5 * glitch.angle
        if is_still and not any({*each.joints} & {*glitch.joints} for each in after):
            return untwisted, [motion.skeleton.names[glitch.joints[0]]]
    joints = glitch.joints if glitch.kind in ("flip", "spin") else _find_wrong_joints(motion, glitch)
    if again and glitch.kind != "flip":
        joints = tuple(sorted({*joints, *(j for joint in glitch.joints for j in motion.skeleton.chain(joint))}))
    rotations, root = motion.rotations.copy(), motion.root_positions.copy()
    span = slice(glitch.start, glitch.stop)
    for joint in joints:
        if glitch.kind == "flip":
            rotations[span, joint] = _rotate_back(rotations[:, joint], glitch.start, glitch.stop)
        else:
            rotations[span, joint] = _interpolate_rotations(rotations[:, joint], glitch.start, glitch.stop)
    names = [motion.skeleton.names[joint] for joint in joints]
    if glitch.kind != "flip" and _is_root_wrong(motion, glitch):
        root[span] = _interpolate(root, glitch.start, glitch.stop)
        names = [f"{motion.skeleton.names[0]} (position)", *names]
    offsets = motion.bone_offsets
    if offsets is not None and glitch.kind != "flip":
        changed = offsets.copy()
        for joint in joints:
            changed[span, joint] = _interpolate(changed[:, joint], glitch.start, glitch.stop)
        offsets = set_readonly(changed)
    fixed = replace(motion, root_positions=set_readonly(root), rotations=set_readonly(rotations), bone_offsets=offsets)
    return fixed, names


def _untwist(motion: Motion, glitch: Glitch) -> Motion:
    """Return the motion without the rotation of a thigh about its own axis: the knee stays where it is."""
    thigh, knee = glitch.joints[:2]
    axis = motion.skeleton.rest_positions[knee] - motion.skeleton.rest_positions[thigh]
    axis /= np.linalg.norm(axis)
    span = slice(glitch.start - 1, glitch.stop + 1)
    rotations = motion.rotations.copy()
    here = rotations[span, thigh]
    angles = np.cumsum(np.append(0.0, quat.log(quat.inv_mul(here[:-1], here[1:])) @ axis))
    excess = angles - np.linspace(0.0, angles[-1], len(angles))
    rotations[span, thigh] = quat.mul(here, quat.exp(-excess[:, None] * axis))
    return replace(motion, rotations=set_readonly(rotations))


def _find_wrong_joints(motion: Motion, glitch: Glitch) -> tuple[int, ...]:
    """Return the joints whose own rotations are unusual around the glitch.

    If at least half of the joints are unusual, as in a zeroed pose, return all joints. If none are, return the joints
    of the glitch, or no joints if the position of the root is unusual.
    """
    steps = quat.angle_between(motion.rotations[:-1], motion.rotations[1:])
    most = steps[glitch.start - 1 : glitch.stop].max(axis=0)
    wrong: Bools = (most > _MIN_ANGLE) & (most > _UNUSUAL * usual_level(steps))
    moves = ~motion.skeleton.is_end_site
    if wrong.sum() >= 0.5 * moves.sum():
        wrong = moves
    found = tuple(np.flatnonzero(wrong).tolist())
    return found if found or _is_root_wrong(motion, glitch) else glitch.joints


def _is_root_wrong(motion: Motion, glitch: Glitch) -> bool:
    steps = np.linalg.norm(np.diff(motion.root_positions, axis=0), axis=1)[:, None]
    most = float(steps[glitch.start - 1 : glitch.stop].max())
    return most > _MIN_DISTANCE and most > _UNUSUAL * float(usual_level(steps)[0])


def _interpolate(values: Floats, start: int, stop: int) -> Floats:
    """Return values for frames `start` to `stop`: a cubic that continues the values (F, 3) on both sides."""
    length = stop - start + 1
    a, b = values[start - 1], values[stop]
    before = (a - values[start - 2]) * length if start >= 2 else b - a
    after = (values[stop + 1] - b) * length if stop + 1 < len(values) else b - a
    t = np.arange(1, stop - start + 1)[:, None] / (stop - start + 1.0)
    return np.asarray(
        (1 + 2 * t) * (1 - t) ** 2 * a + t * (1 - t) ** 2 * before + t**2 * (3 - 2 * t) * b + t**2 * (t - 1) * after
    )


def _interpolate_rotations(rotations: Floats, start: int, stop: int) -> Floats:
    """Return rotations for frames `start` to `stop` that continue the rotations (F, 4) on both sides."""
    low, high = max(start - 2, 0), min(stop + 2, len(rotations))
    reference = rotations[start - 1]
    vectors = quat.log(quat.inv_mul(reference, rotations[low:high]))
    return quat.mul(reference, quat.exp(_interpolate(vectors, start - low, stop - low)))


def _rotate_back(rotations: Floats, start: int, stop: int) -> Floats:
    """Return the rotations of a joint without its flip, by undoing the rotations at both ends of the flipped range."""
    here = rotations[start:stop]
    at_start = quat.inv_mul(here[0], rotations[start - 1])
    at_end = quat.inv_mul(here[-1], rotations[stop])
    return quat.mul(here, quat.slerp(at_start, at_end, np.linspace(0.0, 1.0, len(here))))
