"""Compute contacts and labels of a blend from those of its motions (Kovar 5.14)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats, Ints, find_runs, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.register.matches import ConstraintMatch

__all__ = ["blend_contacts", "blend_labels"]

# A blend gets a label if the motions with that label have at least this fraction of the total weight. If two motions
# have half each, the labels of both count.
_MAJORITY = 0.5 - 1e-9
# Values of u that differ by less than this are equal, up to rounding.
_SAME = 1e-9


def blend_contacts(
    motions: Sequence[Motion],
    matches: Sequence[ConstraintMatch],
    u: Floats,
    seconds: Floats,
    weights: Floats,
    *,
    cyclic: bool = False,
) -> Contacts | None:
    """Compute the contacts of a blend at u (F,), from n motions at times (F, n) with weights (F, n).

    Each matched contact lasts from its mean start to its mean stop. While one motion has all the weight, its own
    contacts are used, including those without a match. The result has every contact point that any motion has, at the
    mean of its offsets. Return None if no motion has contacts.
    """
    points = _average_points(motions, np.abs(weights).mean(axis=0))
    if points is None:
        return None
    mask = np.zeros((len(u), len(points)), dtype=bool)
    column = {point.name: k for k, point in enumerate(points)}
    for match in matches:
        if match.point in column:
            start, stop = weights @ match.starts, weights @ match.stops
            # A contact that lasts until a motion's end has no known stop.
            rounds = np.ceil(start - _SAME - u) if cyclic else 0.0
            lasting = (u + rounds < stop) if cyclic else (u < stop) | (stop >= 1.0 - _SAME)
            mask[:, column[match.point]] |= (start - _SAME <= u + rounds) & lasting
    for j, motion in enumerate(motions):
        alone = weights[:, j] == 1.0
        if motion.contacts is not None and alone.any():
            frame = _find_nearest_frames(seconds[alone, j], motion, cyclic)
            for k, point in enumerate(motion.contacts.names):
                mask[alone, column[point]] = motion.contacts.mask[frame, k]
    return Contacts(points, set_readonly(mask))


def _find_nearest_frames(seconds: Floats, motion: Motion, cyclic: bool) -> Ints:
    frame = np.floor(seconds * motion.fps + 0.5).astype(np.int64)
    return frame % len(motion) if cyclic else np.clip(frame, 0, len(motion) - 1)


def _average_points(motions: Sequence[Motion], weights: Floats) -> tuple[ContactPoint, ...] | None:
    found: dict[str, list[tuple[ContactPoint, float]]] = {}
    having = [motion.contacts for motion in motions]
    if all(contacts is None for contacts in having):
        return None
    for contacts, weight in zip(having, weights.tolist(), strict=True):
        for point in () if contacts is None else contacts.points:
            found.setdefault(point.name, []).append((point, weight))
    return tuple(_average_point(each) for each in found.values())


def _average_point(each: list[tuple[ContactPoint, float]]) -> ContactPoint:
    heaviest = max(each, key=lambda pair: pair[1])[0]
    same = [(point, weight) for point, weight in each if point.joint == heaviest.joint]
    total = sum(weight for _, weight in same)
    if total <= 0.0:
        return heaviest
    offset = sum((weight / total) * point.offset for point, weight in same)
    return ContactPoint(heaviest.name, heaviest.joint, np.asarray(offset))


def blend_labels(motions: Sequence[Motion], seconds: Floats, weights: Floats, *, cyclic: bool = False) -> Labels:
    """Compute the labels of a blend: those carried by at least half of the weight, at times (F, n) in the motions."""
    names = sorted({name for motion in motions for name in motion.labels.names})
    weight = np.abs(weights) / np.abs(weights).sum(axis=1, keepdims=True)
    frames = [
        _find_nearest_frames(seconds[:, j], motion, cyclic) if names else None for j, motion in enumerate(motions)
    ]
    out = []
    for name in names:
        held = np.zeros(len(seconds))
        for j, motion in enumerate(motions):
            if name in motion.labels.names:
                held += weight[:, j] * motion.labels.mask(name, len(motion))[frames[j]]
        out += [Label(name, start, stop) for start, stop in find_runs(held >= _MAJORITY)]
    return Labels(tuple(out))
