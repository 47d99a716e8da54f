"""Infer the unit and up axis of a file that does not state them, from the body's size and posture."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Floats, parse_number
from marey.core.kinematics import joint_path
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, plural, similar

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
# A stated unit is believed if it makes the body this tall, in meters: from a child to a tall or stylized character.
_SMALLEST, _TALLEST = 0.6, 3.0

# Minimum cosine between an axis and the mean feet-to-head direction: to choose the axis, and to be sure of it.
_LEANING, _UPRIGHT = 0.6, 0.9
_N_LOOKS = 32
# Usual up axes of files with a rest pose, and of joint positions: in image coordinates Y points down.
_USUAL_UPS, _USUAL_POSITION_UPS = ("y", "z"), ("y", "z", "-y")
# A body walks if it is upright in at least the fraction _MOSTLY of all frames, travels farther than _FAR times its leg
# length, and a foot moves slower than _STILL times the hips in most frames in which these move.
_MOSTLY, _FAR, _STILL = 0.9, 1.0, 0.4
# Maximum height of ankles above 0 of a standing body, as a fraction of the distance from feet to head. Ankles are at
# 4 % of stature (Winter), and floors of recordings are rarely more than a hand's width off.
_NEAR_FLOOR = 0.12


# Parts of sentences in `Source.evidence` that say that a guess may be wrong.
_DOUBTS = ("not certain", "up assumed", "centimeters assumed", "though the frames do not", "though the body stands")


class Guess(NamedTuple):
    """An inferred unit or axis.

    value : meters per unit, or the up axis.
    evidence : a sentence that explains it.
    is_sure : whether the evidence is clear.
    warning : a warning if the evidence contradicts itself; else "".
    """

    value: float | str
    evidence: str
    is_sure: bool = True
    warning: str = ""


def is_doubtful(evidence: str) -> bool:
    """Return whether a sentence of `Source.evidence` says that the unit or the axis may be wrong."""
    return any(words in evidence for words in _DOUBTS)


def parse_unit(unit: str | float) -> float:
    """Return meters per unit, from a name (m, cm, mm, in, cmu) or a number."""
    if isinstance(unit, str) and unit.strip().lower() in UNITS:
        return UNITS[unit.strip().lower()]
    meters = parse_number(unit)
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


@lru_cache(32)
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


def recognize_unit(skeleton: Skeleton, stated: float | None = None) -> Guess:
    """Infer the unit in which the body's height is closest to a person's.

    stated : meters per unit according to the file; used if it gives the body a plausible height, or if the height is
        unknown.
    """
    height = stature(skeleton)
    if stated is not None:
        return _check_stated_unit(height, stated)
    if height is None:
        extent = float(np.ptp(skeleton.rest_positions, axis=0).max())
        candidates = {name: UNITS[name] for name in ("m", "cm", "mm")}
        height, seen = extent, f"a rest pose {extent:.4g} units across (no legs recognized)"
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


def is_giant(skeleton: Skeleton) -> bool:
    """Return whether the body, in meters, is too tall for any character, so that its unit is wrong."""
    height = stature(skeleton)
    return height is not None and height > _TALLEST


def check_given_unit(skeleton: Skeleton, unit: float) -> Guess:
    """Return the unit that the caller gave, with a warning if it makes the body far too small or large."""
    named, height = unit_name(unit), stature(skeleton)
    if height is None:
        return Guess(unit, f"unit {named} as given")
    size, fitting = height * unit, recognize_unit(skeleton)
    evidence = f"unit {named} as given, which makes a body {size:.3g} m tall"
    if _SMALLEST <= size <= _TALLEST:
        return Guess(unit, evidence)
    better = f"; {unit_name(float(fitting.value))} would make it {height * float(fitting.value):.2f} m tall"
    return Guess(unit, evidence, False, f"the unit {named} makes the body {size:.3g} m tall{better}; check `unit=`")


def _check_stated_unit(height: float | None, stated: float) -> Guess:
    """Return the stated unit, or one that fits a body of this height (in units of the file) better.

    Some programs mistake a file's unit for meters: they multiply CMU units by 100 and state centimeters.
    """
    named = unit_name(stated)
    if height is None or height <= 0:
        return Guess(stated, f"unit {named} from the file")
    if _SMALLEST <= height * stated <= _TALLEST:
        return Guess(stated, f"unit {named} from the file, which makes a body {height * stated:.2f} m tall")
    candidates = {meters: _UNIT_WORDS[name] for name, meters in UNITS.items()}
    candidates |= {
        meters * stated: f"{_UNIT_WORDS[name]} written as meters" for name, meters in UNITS.items() if name != "m"
    }
    best = min(candidates, key=lambda meters: abs(math.log(height * meters / STATURE)))
    if not _SMALLEST <= height * best <= _TALLEST:
        return Guess(stated, f"unit {named} from the file, though it makes a body {height * stated:.3g} m tall", False)
    return Guess(
        best,
        f"unit: {candidates[best]}. The file states {named}, but then the body would be {height * stated:.3g} m tall "
        f"instead of {height * best:.2f} m",
    )


def recognize_up(
    skeleton: Skeleton,
    root_positions: Floats,
    rotations: Floats,
    bone_offsets: Floats | None,
    *,
    by_rest: bool = True,
) -> Guess:
    """Infer the axis along which the body stands, from its rest pose and its frames.

    The rest pose decides if it shows a standing body, unless the frames show the body walking upright along another
    axis. Frames in which the person lies, crawls or does a handstand do not count.

    by_rest : whether the rest pose may be used; False if its axes differ from those of the frames.
    """
    roles = skeleton.roles
    if "hips" not in roles or "head" not in roles or not ({"left_foot", "right_foot"} & set(roles)):
        return Guess("y", "Y up assumed: no head and feet recognized", is_sure=False)
    last = len(rotations) - 1
    frames = sorted({round(last * k / (_N_LOOKS - 1)) for k in range(_N_LOOKS)})
    named = [roles[role] for role in ("hips", "head", "left_foot", "right_foot") if role in roles]

    def paths(taken: list[int] | slice) -> Floats:
        bones = None if bone_offsets is None else bone_offsets[taken]
        parts = [joint_path(skeleton, root_positions[taken], rotations[taken], joint, bones) for joint in named]
        return np.stack(parts)

    axis, cosine = _find_nearest_axis(_find_stance(paths(frames)).mean(axis=0))
    rest = skeleton.rest_positions[named, None]
    rest_axis, rest_cosine = _find_nearest_axis(_find_stance(rest)[0])
    seen = plural(len(frames), "frame")
    evidence = f"{axis.upper()} up: the direction from feet to head, with a mean cosine of {cosine:.2f} over {seen}"
    usual = _USUAL_UPS if by_rest else _USUAL_POSITION_UPS
    if not by_rest or rest_cosine < _UPRIGHT or not _is_standing(rest):
        if axis == "y" and cosine >= _LEANING:
            return Guess(axis, evidence)
        if cosine >= _UPRIGHT and _walks(paths(slice(None)), axis):
            return Guess(axis, f"{evidence}, and it walks")
        if axis in usual and cosine >= _UPRIGHT:
            if axis != "z" or _is_on_floor(paths(frames), axis):
                return Guess(axis, evidence)
            evidence = f"{evidence} (not certain; Y would be up if the person lies)"
            warning = f"{evidence}; neither a standing rest pose nor a walk nor feet at height 0 confirm it: pass `up=`"
            return Guess(axis, evidence, is_sure=False, warning=warning)
        if cosine >= _LEANING:
            evidence = f"Y up assumed, although the direction from feet to head is along {axis.upper()}, with a mean "
            f"cosine of {cosine:.2f}"
            warning = f"{evidence}; if the person does not lie, crawl or stand upside down, pass `up=`"
            return Guess("y", evidence, is_sure=False, warning=warning)
        return Guess("y", "Y up assumed: the body does not stand along any axis", is_sure=False)
    if axis == rest_axis and cosine >= _LEANING:
        return Guess(axis, evidence)
    if cosine >= _UPRIGHT and _walks(paths(slice(None)), axis):
        return Guess(axis, f"{evidence}, and it walks")
    evidence = f"{rest_axis.upper()} up: the rest pose stands along it, though the frames do not"
    warning = f"{evidence}; if the person does not lie, crawl or stand upside down, pass `up=`"
    return Guess(rest_axis, evidence, is_sure=False, warning=warning)


def _find_stance(paths: Floats) -> Floats:
    """Return the unit directions (F, 3) from the feet to the head; `paths` (4, F, 3) has hips, head and both feet."""
    line = paths[1] - paths[2:].mean(axis=0)
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    return np.where(length > 0, line / np.maximum(length, 1e-300), 0.0)


def _is_standing(rest: Floats) -> bool:
    """Return whether the hips are between the head and each foot; `rest` (4, 1, 3) has hips, head and both feet.

    In rigs whose bones all point along one axis, the rest pose does not show a standing body.
    """
    head, *feet = (rest[1:, 0] - rest[0, 0]) / np.maximum(np.linalg.norm(rest[1:, 0] - rest[0, 0], axis=-1), 1e-300)[
        :, None
    ]
    return all(float(head @ foot) < -_LEANING for foot in feet)


def _is_on_floor(paths: Floats, axis: str) -> bool:
    """Return whether the feet are mostly near height 0 along an axis; `paths` (4, F, 3) has hips, head and both
    feet."""
    k, sign = "xyz".index(axis[-1]), -1.0 if axis.startswith("-") else 1.0
    heights, tall = sign * paths[2:, :, k].min(axis=0), np.linalg.norm(paths[1] - paths[2:].mean(axis=0), axis=-1)
    middle = len(heights) // 2
    return bool(abs(np.sort(heights)[middle]) < _NEAR_FLOOR * np.sort(tall)[middle])


def _walks(paths: Floats, axis: str) -> bool:
    """Return whether the body walks with `axis` as its up axis: it travels perpendicular to the axis, and one foot at a
    time stands still.

    `paths` (4, F, 3) has hips, head and both feet.
    """
    k, sign = "xyz".index(axis[-1]), -1.0 if axis.startswith("-") else 1.0
    upright = sign * _find_stance(paths)[:, k] >= _LEANING
    hips = np.delete(paths[0], k, axis=1)
    leg = float(np.sort(np.linalg.norm(paths[2:].mean(axis=0) - paths[0], axis=-1))[len(hips) // 2])
    if upright.mean() < _MOSTLY or not np.linalg.norm(np.ptp(hips, axis=0)) > _FAR * leg:
        return False
    speeds = np.linalg.norm(np.diff(paths, axis=1), axis=-1)
    moving = speeds[0] > 0.5 * speeds[0].mean()
    standing = speeds[2:].min(axis=0) < _STILL * speeds[0]
    return bool(standing[moving].mean() >= 0.5)


def _find_nearest_axis(direction: Floats) -> tuple[str, float]:
    k = int(np.argmax(np.abs(direction)))
    return ("-" if direction[k] < 0 else "") + "xyz"[k], float(abs(direction[k]))
