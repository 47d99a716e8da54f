"""Infer unit and up axis of marker files, from what they state and from the posture of the markers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.errors import warn_user
from marey.io import axes, unit_and_up_axis

_UNIT_WORDS = {
    "m": 1.0, "meter": 1.0, "dm": 0.1, "cm": 0.01, "centimeter": 0.01, "mm": 0.001, "millimeter": 0.001,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "foot": 0.3048, "feet": 0.3048,
}  # fmt: skip
_N_LOOKS = 64
# How much worse the second-best up axis must fit for the best one to be certain, in body sizes.
_CLEAR = 0.2
_STATURE = 1.7


def look_at_markers(positions: Floats, valid: Bools, labels: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the lowest and the highest coordinates of the labeled markers in N frames, each (N, 3).

    At most 64 frames are used, each with at least three visible markers.
    """
    labeled = [i for i, label in enumerate(labels) if not label.startswith(("*", "unlabeled"))]
    columns = labeled or list(range(len(labels)))
    seen = np.flatnonzero(valid[:, columns].sum(axis=1) >= min(3, len(columns)))
    frames = seen[np.unique(np.linspace(0, len(seen) - 1, _N_LOOKS).astype(int))] if len(seen) else seen
    chosen = positions[frames][:, columns]
    there = valid[frames][:, columns, None]
    low = np.where(there, chosen, np.inf).min(axis=1, initial=np.inf)
    high = np.where(there, chosen, -np.inf).max(axis=1, initial=-np.inf)
    return low, high


class Clues(NamedTuple):
    """Data from which unit and up axis are inferred; `evidence` collects the explanations.

    unit, up : what the file states, or "". unit_field, up_field : where it states them.
    looks : lowest and highest coordinates of the markers in N frames, each (N, 3); see `look_at_markers`.
    """

    unit: str
    unit_field: str
    up: str
    up_field: str
    looks: tuple[Floats, Floats]
    evidence: list[str]
    path: str


def find_unit(clues: Clues, given: float | None) -> float:
    """Return meters per unit of the file: `given` by the user, or else inferred from the clues."""
    evidence = clues.evidence
    if given is not None:
        evidence.append(f"unit {unit_and_up_axis.unit_name(given)} as given")
        return given
    word = clues.unit.strip(" \0.").lower()
    meters = _UNIT_WORDS.get(re.sub("(met)(re|er)s?$", r"\1er", word))
    if meters is not None:
        evidence.append(f"unit {word} from {clues.unit_field}")
        return meters
    low, high = clues.looks
    size = float(np.median(high - low, axis=0).max()) if len(low) else 0.0
    reason = f"{clues.unit_field} {word[:20]!r} is not a unit of length" if word else f"no {clues.unit_field}"
    if size <= 0.0:
        evidence.append(f"unit mm assumed: {reason}, and there are no markers to measure")
        return 0.001
    units = {name: _UNIT_WORDS[name] for name in ("m", "cm", "mm", "in")}
    best = min(units, key=lambda name: abs(math.log(size * units[name] / _STATURE)))
    evidence.append(f"unit {best}: {reason}, and with it the markers are {size * units[best]:.2f} m across")
    warn_user(f"{clues.path}: {evidence[-1]}; pass `unit=` if this is wrong")
    return units[best]


def find_up(clues: Clues, given: str | None) -> str:
    """Return the up axis of the file: `given` by the user, or else inferred from the clues."""
    evidence, path = clues.evidence, clues.path
    if given is not None:
        evidence.append(f"{given.upper()} up as given")
        return given
    seen, is_sure, reason = _recognize_up(*clues.looks)
    word = clues.up.strip(" \0").lower().removeprefix("+")
    if word in axes.UPS:
        evidence.append(f"{word.upper()} up from {clues.up_field}")
        if is_sure and seen != word:
            warn_user(f"{path}: {clues.up_field} says {word.upper()} up, but the markers show {reason}; pass `up=`")
        return word
    evidence.append(reason)
    if not is_sure:
        message = f"{path}: {reason}, which is not certain; pass `up=` if it is wrong"
        warn_user(message)
    return seen


def _recognize_up(low: Floats, high: Floats) -> tuple[str, bool, str]:
    """Return the axis along which the markers stand, whether that is clear, and the reason.

    Along the up axis the lowest marker stays near 0, where labs put the floor; it varies little; and the body is
    longest. The misfit of an axis is the sum of its deviations from these three expectations, in body sizes.
    """
    extent = np.median(high - low, axis=0) if len(low) else np.zeros(3)
    size = float(extent.max())
    if size <= 0.0:
        return "z", False, "Z up assumed: no frame shows enough markers"
    misfits: dict[str, float] = {}
    floors: dict[str, float] = {}
    for k, letter in enumerate("xyz"):
        for sign, bottom in (("", low[:, k]), ("-", -high[:, k])):
            floor = float(np.median(bottom))
            wander = float(np.subtract(*np.percentile(bottom, [90, 10])))
            misfits[sign + letter] = (abs(floor) + wander + size - float(extent[k])) / size
            floors[sign + letter] = floor
    best, second = sorted(misfits, key=lambda axis: misfits[axis])[:2]
    reason = (
        f"{best.upper()} up: along this axis the lowest marker stays near the floor, at {floors[best] / size:.2f} "
        f"body sizes, and the markers span {float(extent['xyz'.index(best[-1])]) / size:.2f} body sizes"
    )
    return best, misfits[second] - misfits[best] > _CLEAR, reason
