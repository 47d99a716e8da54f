"""Infer the unit and up axis of a file that does not state them, from the body's size and posture."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.kinematics import forward_kinematics, joint_path
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, similar

# Meters per unit. CMU's unit is one inch divided by 0.45, the factor in its ASF files.
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "cmu": 0.0254 / 0.45}
_UNIT_WORDS = {
    "m": "meters",
    "cm": "centimeters",
    "mm": "millimeters",
    "in": "inches",
    "cmu": "CMU units (0.056444 m)",
}

# Thigh and shin together are this fraction of stature (Winter, Biomechanics and Motor Control of Human Movement).
LEG_SHARE = 0.491
STATURE = 1.7

# Minimum cosine between an axis and the mean feet-to-head direction: to choose the axis, and to be sure of it.
_LEANING, _UPRIGHT = 0.6, 0.9
_N_LOOKS = 32


class Guess(NamedTuple):
    """An inferred value, and a sentence on the evidence."""

    value: float | str
    evidence: str
    is_sure: bool = True


def parse_unit(unit: str | float) -> float:
    """Return meters per unit, from a name (m, cm, mm, in, cmu) or a number."""
    if isinstance(unit, str) and unit.strip().lower() in UNITS:
        return UNITS[unit.strip().lower()]
    try:
        meters = float(unit)
    except ValueError:
        meters = math.nan
    if not (math.isfinite(meters) and meters > 0):
        near = similar(unit, UNITS) if isinstance(unit, str) else ""
        raise InvalidValue(
            f"unit must be one of {', '.join(UNITS)}, or meters per unit as a positive number, not {unit!r}{near}",
            parameter="unit",
        )
    return meters


def unit_name(meters: float) -> str:
    """Return the name of a unit: ``cm`` for 0.01; the number followed by ``m`` for a unit without a name."""
    for name, value in UNITS.items():
        if math.isclose(meters, value, rel_tol=1e-4):
            return name
    return f"{meters:g} m"


def stature(skeleton: Skeleton) -> float | None:
    """Estimate body height, in the skeleton's unit, from thigh and shin lengths; None if it has no legs."""
    roles, lengths = skeleton.roles, []
    for side in ("left", "right"):
        hip, foot = roles.get(f"{side}_upper_leg"), roles.get(f"{side}_foot")
        if hip is None or foot is None:
            continue
        path = skeleton.chain(foot)
        if hip in path:
            lengths.append(sum(float(skeleton.bone_lengths[j]) for j in path[path.index(hip) + 1 :]))
    leg = max(lengths, default=0.0)
    return leg / LEG_SHARE if leg > 0 else None


def recognize_unit(skeleton: Skeleton) -> Guess:
    """Infer the unit in which the body's height is closest to a person's."""
    height = stature(skeleton)
    if height is None:
        extent = float(np.ptp(skeleton.rest_positions, axis=0).max())
        candidates = {name: UNITS[name] for name in ("m", "cm", "mm")}
        height, seen = extent, f"no legs recognized and a rest pose {extent:.4g} units across"
    else:
        candidates = UNITS
        seen = f"legs of a body {height:.4g} units tall"
    if height <= 0:
        return Guess(UNITS["cm"], "unit centimeters assumed: the skeleton has no size", is_sure=False)
    errors = {name: abs(math.log(height * meters / STATURE)) for name, meters in candidates.items()}
    best, second = sorted(errors, key=lambda name: errors[name])[:2]
    evidence = f"unit {_UNIT_WORDS[best]}, from {seen}: {height * candidates[best]:.2f} m"
    is_sure = candidates is UNITS and errors[second] > errors[best] + 0.3 and errors[best] < 0.5
    if not is_sure:
        evidence += f" (not certain; {_UNIT_WORDS[second]} would give {height * candidates[second]:.2f} m)"
    return Guess(candidates[best], evidence, is_sure)


def recognize_up(skeleton: Skeleton, root_positions: Floats, rotations: Floats, bone_offsets: Floats | None) -> Guess:
    """Infer the axis along which the body stands, from its frames and its rest pose.

    If the two disagree (a crawling clip, a rig whose rest pose lies down), the axis along which the body's lowest point
    varies least wins: the floor is level.
    """
    roles = skeleton.roles
    if "head" not in roles or not ({"left_foot", "right_foot"} & set(roles)):
        return Guess("y", "Y up assumed: no head and feet recognized", is_sure=False)
    last = len(rotations) - 1
    frames = sorted({round(last * k / (_N_LOOKS - 1)) for k in range(_N_LOOKS)})
    root, poses = root_positions[frames], rotations[frames]
    bones = None if bone_offsets is None else bone_offsets[frames]
    named = [roles[role] for role in ("head", "left_foot", "right_foot") if role in roles]
    moving = _stance(np.stack([joint_path(skeleton, root, poses, joint, bones) for joint in named]))
    resting = _stance(skeleton.rest_positions[named, None])
    axis, cosine = _nearest_axis(moving)
    rest_axis, rest_cosine = _nearest_axis(resting)
    seen = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
    evidence = f"{axis.upper()} up: over {seen} feet to head point along it with a mean cosine of {cosine:.2f}"
    rest_differs = rest_cosine >= _UPRIGHT and rest_axis != axis
    if cosine >= _LEANING and not rest_differs:
        return Guess(axis, evidence)
    if rest_differs and cosine >= _LEANING:
        posed = forward_kinematics(skeleton, root, poses, bones).positions
        rest_differs = _floor_spread(posed, rest_axis) <= _floor_spread(posed, axis)
    if rest_differs:
        return Guess(rest_axis, f"{rest_axis.upper()} up: the rest pose stands along it, though the frames do not")
    if cosine >= _LEANING:
        return Guess(axis, evidence + ", and its lowest points lie level")
    return Guess("y", "Y up assumed: the body does not stand along any axis", is_sure=False)


def _stance(paths: Floats) -> Floats:
    """Return the mean unit direction (3,) from the feet to the head; `paths` is (head and feet, F, 3)."""
    line = paths[0] - paths[1:].mean(axis=0)
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    mean: Floats = np.where(length > 0, line / np.maximum(length, 1e-300), 0.0).mean(axis=0)
    return mean


def _nearest_axis(direction: Floats) -> tuple[str, float]:
    k = int(np.argmax(np.abs(direction)))
    return ("-" if direction[k] < 0 else "") + "xyz"[k], float(abs(direction[k]))


def _floor_spread(positions: Floats, axis: str) -> float:
    """Return how much the body's lowest point varies along an up axis."""
    heights = positions[..., "xyz".index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)
    return float(np.ptp(heights.min(axis=1)))
