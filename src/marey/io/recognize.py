"""Unit and upward axis of a file that does not state them, from the figure's own size and posture."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats
from marey.core.kinematics import forward_kinematics, joint_path
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

# Metres per unit. CMU's unit is an inch divided by the 0.45 that its ASF files state.
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "cmu": 0.0254 / 0.45}
_UNIT_WORDS = {
    "m": "metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "in": "inches",
    "cmu": "CMU units (0.056444 m)",
}

# Thigh and shin together are this share of stature (Winter, Biomechanics and Motor Control of Human Movement).
LEG_SHARE = 0.491
STATURE = 1.7

# A mean feet-to-head direction is taken for an axis from this cosine on, and believed without question from the second.
_LEANING, _UPRIGHT = 0.6, 0.9
_N_LOOKS = 32


class Guess(NamedTuple):
    """What was concluded, and the sentence that says from what."""

    value: float | str
    evidence: str
    is_sure: bool = True


def parse_unit(unit: str | float) -> float:
    """Metres per unit, from a name (m, cm, mm, in, cmu) or a number."""
    if isinstance(unit, str) and unit.strip().lower() in UNITS:
        return UNITS[unit.strip().lower()]
    try:
        metres = float(unit)
    except ValueError:
        metres = math.nan
    if not (math.isfinite(metres) and metres > 0):
        raise InvalidValue(
            f"unit must be one of {', '.join(UNITS)}, or metres per unit as a positive number; got {unit!r}"
        )
    return metres


def unit_name(metres: float) -> str:
    """``cm`` for 0.01; the number itself, with ``m``, for a unit without a name."""
    for name, value in UNITS.items():
        if math.isclose(metres, value, rel_tol=1e-4):
            return name
    return f"{metres:g} m"


def stature(skeleton: Skeleton) -> float | None:
    """Body height in the skeleton's unit from its thighs and shins; None without legs."""
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
    """The unit that makes the figure most nearly as tall as a person."""
    height = stature(skeleton)
    if height is None:
        extent = float(np.ptp(skeleton.rest_positions, axis=0).max())
        candidates = {name: UNITS[name] for name in ("m", "cm", "mm")}
        height, seen = extent, f"no legs recognised and a rest pose {extent:.4g} units across"
    else:
        candidates = UNITS
        seen = f"legs that make a figure {height:.4g} units tall"
    if height <= 0:
        return Guess(UNITS["cm"], "unit centimetres assumed: the skeleton has no size", is_sure=False)
    errors = {name: abs(math.log(height * metres / STATURE)) for name, metres in candidates.items()}
    best, second = sorted(errors, key=lambda name: errors[name])[:2]
    told = f"unit {_UNIT_WORDS[best]}, from {seen}: {height * candidates[best]:.2f} m"
    is_sure = candidates is UNITS and errors[second] > errors[best] + 0.3 and errors[best] < 0.5
    if not is_sure:
        told += f" (not certain; {_UNIT_WORDS[second]} would give {height * candidates[second]:.2f} m)"
    return Guess(candidates[best], told, is_sure)


def recognize_up(skeleton: Skeleton, root_positions: Floats, rotations: Floats, bone_offsets: Floats | None) -> Guess:
    """The axis along which the figure stands, in its frames and in its rest pose.

    Where the two disagree (a clip that crawls, a rig whose rest pose lies down), the axis wins along which the lowest
    point of the body stays most nearly level: that is the floor.
    """
    roles = skeleton.roles
    if "head" not in roles or not ({"left_foot", "right_foot"} & set(roles)):
        return Guess("y", "Y up assumed: no head and feet recognised", is_sure=False)
    last = len(rotations) - 1
    frames = sorted({round(last * k / (_N_LOOKS - 1)) for k in range(_N_LOOKS)})
    root, turns = root_positions[frames], rotations[frames]
    bones = None if bone_offsets is None else bone_offsets[frames]
    named = [roles[role] for role in ("head", "left_foot", "right_foot") if role in roles]
    moving = _stance(np.stack([joint_path(skeleton, root, turns, joint, bones) for joint in named]))
    resting = _stance(skeleton.rest_positions[named, None])
    axis, share = _nearest_axis(moving)
    rest_axis, rest_share = _nearest_axis(resting)
    seen = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
    told = f"{axis.upper()} up: over {seen} feet to head point along it with a mean cosine of {share:.2f}"
    rest_speaks = rest_share >= _UPRIGHT and rest_axis != axis
    if share >= _LEANING and not rest_speaks:
        return Guess(axis, told)
    if rest_speaks and share >= _LEANING:
        posed = forward_kinematics(skeleton, root, turns, bones).positions
        rest_speaks = _floor_spread(posed, rest_axis) <= _floor_spread(posed, axis)
    if rest_speaks:
        return Guess(rest_axis, f"{rest_axis.upper()} up: the rest pose stands along it, though the frames do not")
    if share >= _LEANING:
        return Guess(axis, told + ", and its lowest points lie level")
    return Guess("y", "Y up assumed: the figure stands along no axis", is_sure=False)


def _stance(paths: Floats) -> Floats:
    """(3,) mean direction from the feet to the head, of which these are the paths: (head and feet, F, 3)."""
    line = paths[0] - paths[1:].mean(axis=0)
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    mean: Floats = np.where(length > 0, line / np.maximum(length, 1e-300), 0.0).mean(axis=0)
    return mean


def _nearest_axis(direction: Floats) -> tuple[str, float]:
    k = int(np.argmax(np.abs(direction)))
    return ("-" if direction[k] < 0 else "") + "xyz"[k], float(abs(direction[k]))


def _floor_spread(positions: Floats, axis: str) -> float:
    """How much the lowest point of the body wanders along an upward axis."""
    heights = positions[..., "xyz".index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)
    return float(np.ptp(heights.min(axis=1)))
