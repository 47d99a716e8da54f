"""Prepare motions for registration: one skeleton, one rate, with contacts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root
from marey.core.skeleton import Skeleton
from marey.edit.resample import resample
from marey.errors import InvalidValue, MareyWarning

# A timewarp needs at least this many frames.
FEWEST_FRAMES = 8
# Meters by which bones of the same body may differ, because files round.
_SAME_BONE = 1e-3
_RETARGET = "bring one to the other's skeleton with marey.edit.retarget or `marey edit retarget`"


def prepared(motions: Iterable[Motion]) -> tuple[tuple[Motion, ...], tuple[str, ...]]:
    """The motions on the first one's skeleton, at the highest of their rates and with contacts, and notes on that."""
    given = tuple(motions)
    if len(given) < 2:
        raise InvalidValue(f"registration needs two motions or more, got {len(given)}")
    for motion in given:
        if not isinstance(motion, Motion):
            raise InvalidValue(f"registration needs Motions, got {type(motion).__name__}")
    for k, motion in enumerate(given[1:], 1):
        _check_same_skeleton(given[0], motion, k)
        if not np.array_equal(given[0].skeleton.offsets, motion.skeleton.offsets):
            given = (*given[:k], bake_hips_into_root(motion, given[0].skeleton), *given[k + 1 :])
    for k, motion in enumerate(given):
        check_length(motion, k)
    made, notes = at_one_rate(given)
    out = []
    for k, motion in enumerate(made):
        ready, note = _add_contacts(motion, k)
        out.append(ready)
        notes += note
    return tuple(out), notes


def check_length(motion: Motion, k: int) -> None:
    """Raise if a motion, or its cropped part, is too short for a timewarp."""
    if len(motion) < FEWEST_FRAMES:
        raise InvalidValue(
            f"{told(motion, k)} is too short to be registered: expected at least {FEWEST_FRAMES} frames, got "
            f"{len(motion)} ({motion.duration:.2f} s at {motion.fps:g} Hz)"
        )


def told(motion: Motion, k: int) -> str:
    """Name a motion in a message."""
    return repr(motion.name) if motion.name else f"motion {k}"


def at_one_rate(motions: Sequence[Motion]) -> tuple[tuple[Motion, ...], tuple[str, ...]]:
    """The motions at the highest of their rates, and a note for each that had another."""
    fps = max(motion.fps for motion in motions)
    made, notes = [], []
    for k, motion in enumerate(motions):
        if motion.fps == fps:
            made.append(motion)
            continue
        note = f"{told(motion, k)} was resampled from {motion.fps:g} to {fps:g} Hz, the highest of all rates"
        warnings.warn(note, MareyWarning, stacklevel=4)
        made.append(resample(motion, fps))
        notes.append(note)
    return tuple(made), tuple(notes)


def _add_contacts(motion: Motion, k: int) -> tuple[Motion, tuple[str, ...]]:
    if motion.contacts is not None:
        return motion, ()
    from marey.clean import detect_contacts

    try:
        return detect_contacts(motion), (f"contacts of {told(motion, k)} were detected",)
    except InvalidValue as error:
        return motion, (f"{told(motion, k)} has no contacts, and none could be detected: {error}",)


def _check_same_skeleton(first: Motion, other: Motion, k: int) -> None:
    a, b = first.skeleton, other.skeleton
    names = told(first, 0), told(other, k)
    if not a.fits(b):
        raise InvalidValue(
            f"{names[0]} and {names[1]} have different skeletons: {_describe_difference(a, b)}; {_RETARGET}"
        )
    # What lies above the hips only says where they start.
    above = set(a.chain(a.roles.get("hips", 0)))
    apart = np.linalg.norm(a.offsets - b.offsets, axis=1)
    apart[list(above)] = 0.0
    if apart.max() > _SAME_BONE:
        worst = np.argsort(-apart)[: int(min((apart > _SAME_BONE).sum(), 4))]
        bones = ", ".join(f"{a.names[j]!r} by {100 * apart[j]:.1f} cm" for j in worst)
        more = int((apart > _SAME_BONE).sum()) - len(worst)
        raise InvalidValue(
            f"{names[0]} and {names[1]} have skeletons of different proportions: {bones}"
            f"{f' and {more} more joints' if more else ''} are set apart; {_RETARGET}"
        )


def _describe_difference(a: Skeleton, b: Skeleton, most: int = 6) -> str:
    """Describe how the joints of two skeletons differ."""
    parts = []
    for mine, other, which in ((a, b, "first"), (b, a, "second")):
        only = [name for name in mine.names if name not in other.names]
        if only:
            more = f" and {len(only) - most} more" if len(only) > most else ""
            parts.append(f"only the {which} has {', '.join(map(repr, only[:most]))}{more}")
    if parts:
        return ", ".join(parts)
    moved = [name for name in a.names if _get_parent_name(a, name) != _get_parent_name(b, name)]
    if moved:
        return f"{', '.join(map(repr, moved[:most]))} have different parents"
    return "their joints come in different order"


def _get_parent_name(skeleton: Skeleton, name: str) -> str | None:
    parent = int(skeleton.parents[skeleton.index(name)])
    return None if parent < 0 else skeleton.names[parent]
