"""Convert a reader's result to a Motion in meters, Y up, and infer what the file does not state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from marey.core.arrays import set_readonly
from marey.core.kinematics import forward_kinematics
from marey.core.motion import Motion
from marey.core.roles import find_roles
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, JointNotFound, ParseError, warn_user
from marey.io import axes, limits, unit_and_up_axis
from marey.io.raw import RawMotion
from marey.maths import quat

# Rates outside this range come from frame times in milliseconds, or from rates written as frame times.
_SLOWEST, _FASTEST = 1.0, 1000.0  # Hz
# Roles that are needed to infer unit and axes from the body.
_BODY = ("hips", "head", "left_upper_leg", "left_foot", "right_upper_leg", "right_foot")


def to_motion(
    raw: RawMotion,
    unit: str | float | None = None,
    up: str | None = None,
    role_map: Mapping[str, str] | None = None,
) -> Motion:
    """Convert a reader's result to a Motion in meters, Y up; `unit`, `up` and `role_map` override what the file states
    or suggests."""
    if raw.fps is not None and not _SLOWEST <= raw.fps <= _FASTEST:
        raw.warnings.append(f"a frame rate of {raw.fps:.3g} Hz is implausible; pass `file_fps=` to set another")
    for text in raw.warnings:
        warn_user(f"{raw.source.path}: {text}")
    evidence = list(raw.evidence)
    # Errors in the caller's arguments are not errors of the file: raise them unchanged.
    given_up = None if up is None else axes.check_up(up)
    given_unit = None if unit is None else unit_and_up_axis.parse_unit(unit)
    try:
        skeleton = _with_roles(Skeleton(raw.names, raw.parents, raw.offsets, {**raw.roles, **(role_map or {})}), raw)
        up_axis = _find_up(raw, skeleton, given_up, evidence)
        meters = _unit(raw, skeleton, given_unit, evidence)
        rest_axis = up_axis if raw.rest_up is None else raw.rest_up
        offsets = axes.vectors_from_file(raw.offsets, rest_axis) * meters
        bones = raw.bone_offsets
        rotations = axes.rotations_from_file(raw.rotations, rest_axis)
        if rest_axis != up_axis:
            rotations = rotations.copy()
            rotations[:, 0] = quat.mul(axes.rotation_between(rest_axis, up_axis), rotations[:, 0])
        if raw.fps is None:
            raise ParseError(
                "the file does not state its frame rate",
                path=raw.source.path,
                parameter="file_fps",
                remedy="pass `file_fps=`",
            )
        motion = Motion(
            skeleton=Skeleton(raw.names, raw.parents, offsets, skeleton.role_map),
            root_positions=set_readonly(axes.vectors_from_file(raw.root_positions, up_axis) * meters),
            rotations=set_readonly(rotations),
            fps=raw.fps,
            name=raw.name,
            bone_offsets=None if bones is None else set_readonly(axes.vectors_from_file(bones, rest_axis) * meters),
            source=replace(raw.source, fps=raw.fps, unit=meters, up=up_axis, evidence=tuple(evidence)),
        )
        limits.check_motion(motion, raw.source.path)
        return motion
    except JointNotFound:  # in the caller's role map
        raise
    except InvalidValue as error:
        raise ParseError(f"the motion in this file is invalid: {error}", path=raw.source.path) from None


def _find_up(raw: RawMotion, skeleton: Skeleton, up: str | None, evidence: list[str]) -> str:
    if up is None and raw.up is not None:
        evidence.append(f"{raw.up.upper()} up {raw.up_reason}")
        return raw.up
    guess = unit_and_up_axis.recognize_up(
        skeleton, raw.root_positions, raw.rotations, raw.bone_offsets, by_rest=raw.rest_up is None
    )
    if up is not None:
        evidence.append(f"{up.upper()} up as given")
        if guess.is_sure and guess.value != up:
            evidence[-1] += f", though the body stands along {guess.value}"
            lies = (
                "is upside down" if up.removeprefix("-") == str(guess.value).removeprefix("-") else "lies on its side"
            )
            name = raw.source.path or raw.name or "positions"
            warn_user(f"{name}: with {up.upper()} up, the body {lies}: it stands along {guess.value}; check `up=`")
        return up
    evidence.append(guess.evidence)
    if guess.warning:
        warn_user(f"{raw.source.path or raw.name or 'positions'}: {guess.warning}")
    return str(guess.value)


def _unit(raw: RawMotion, skeleton: Skeleton, unit: float | None, evidence: list[str]) -> float:
    if unit is not None:
        given = unit_and_up_axis.check_given_unit(skeleton, unit)
        evidence.append(given.evidence)
        if given.warning:
            warn_user(f"{raw.source.path or raw.name or 'positions'}: {given.warning}")
        return unit
    if raw.unit is not None:
        height = unit_and_up_axis.stature(skeleton)
        size = "" if height is None else f", which makes a body {height * raw.unit:.2f} m tall"
        evidence.append(f"unit {unit_and_up_axis.unit_name(raw.unit)} {raw.unit_reason}{size}")
        return raw.unit
    guess = unit_and_up_axis.recognize_unit(skeleton, raw.stated_unit)
    evidence.append(guess.evidence)
    return float(guess.value)


def _with_roles(skeleton: Skeleton, raw: RawMotion) -> Skeleton:
    """Return the skeleton. If names and rest pose do not show its roles, add roles found in the pose of the middle
    frame."""
    if all(role in skeleton.roles for role in _BODY):
        return skeleton
    middle = slice(len(raw.rotations) // 2, len(raw.rotations) // 2 + 1)
    posed = forward_kinematics(
        skeleton,
        raw.root_positions[middle],
        raw.rotations[middle],
        None if raw.bone_offsets is None else raw.bone_offsets[middle],
    ).positions[0]
    if not np.isfinite(posed).all():
        return skeleton
    found = find_roles(skeleton.names, skeleton.parents, skeleton.offsets, positions=posed)
    if not all(role in found for role in _BODY):
        return skeleton
    by_pose = {role: skeleton.names[joint] for role, joint in found.items()}
    return skeleton.with_roles({**by_pose, **skeleton.role_map})
