"""Bring several clips to the same skeleton and frame rate, with contacts.

The same rule applies wherever clips are combined. Clips with different rates are resampled to the highest of their
rates, which loses nothing, with one warning; `fps=` chooses another rate without a warning. Missing contacts are
detected at a clip's own rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from marey.core.arrays import FrozenRecord, check_fps
from marey.core.motion import Motion
from marey.core.placement import RETARGET, RETARGET_FIRST, bake_hips_into_root, check_same_skeleton
from marey.core.protocols import Clips
from marey.core.resample import resample
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, format_list, warn_user

# Rates that differ by less than this fraction are treated as equal; the difference comes from rounding.
_SAME_RATE = 1e-6
_NUMBERS = {1: "one clip", 2: "two clips"}
_REMEDY = "open a folder with marey.MotionSet.open, read a file with marey.load"


class SharedClips(FrozenRecord):
    """Base class of records whose `clips` share a skeleton and a frame rate."""

    __slots__ = ()
    clips: tuple[Motion, ...]

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        return self.clips[0].fps


class PreparedClips(NamedTuple):
    """Clips that can be combined (`motions`), and notes on how they were changed."""

    motions: tuple[Motion, ...]
    notes: tuple[str, ...]


def prepare_clips(
    clips: Clips | Iterable[Motion],
    purpose: str,
    *,
    fps: float | None = None,
    min_clips: int = 1,
    detect: Callable[[Motion], Motion] | None = None,
    bake_hips: bool = True,
    can_retarget: bool = False,
) -> PreparedClips:
    """Bring clips to the first one's skeleton and to one rate, with contacts if possible.

    Parameters
    ----------
    purpose : what needs the clips, for messages, such as "a graph".
    fps : rate of the result, Hz; by default the highest rate of the clips, with a warning if they differ.
    min_clips : minimum number of clips.
    detect : adds contacts to a motion that has none, for example `marey.detect_contacts`. If it raises `InvalidValue`,
        the clip stays without contacts, and a note says why. None leaves contacts as they are.
    bake_hips : convert hip travel to root travel in all clips (see `bake_hips_into_root`). If False, only in clips
        whose skeleton offsets differ from the first clip's.
    can_retarget : whether the caller has the option `retarget`, which the error for different skeletons then names.
    """
    given = list_clips(clips, purpose, min_clips)
    body = given[0].skeleton
    for k, motion in enumerate(given[1:], 1):
        where = f"{purpose} ({name_clip(given[0], 0)} and {name_clip(motion, k)})"
        remedy = RETARGET if can_retarget else RETARGET_FIRST
        check_same_skeleton(body, motion.skeleton, where, remedy)
    ready, notes, detected = list(given), list[str](), list[str]()
    for k, motion in enumerate(given):
        if motion.contacts is not None or detect is None:
            continue
        try:
            ready[k] = detect(motion)
        except InvalidValue as error:
            notes.append(f"{name_clip(motion, k)} has no contacts, and none could be detected: {error}")
            continue
        if ready[k].contacts is not None:
            detected.append(name_clip(motion, k))
    if detected:
        notes.insert(0, f"contacts of {format_list(detected)} were detected")
    at_rate, resampled = match_rates(ready, fps)
    motions = (
        bake_hips_into_root(motion, body)
        if bake_hips or not np.array_equal(motion.skeleton.offsets, body.offsets)
        else motion
        for motion in at_rate
    )
    return PreparedClips(tuple(motions), (*resampled, *notes))


def list_clips(clips: Clips | Iterable[Motion], purpose: str, min_clips: int = 1) -> tuple[Motion, ...]:
    """Check that the clips are motions and that there are enough of them; load the clips of a set."""
    if isinstance(clips, str | PathLike):
        raise InvalidValue(f"{purpose} needs motions, got the name {str(clips)!r}; {_REMEDY}")
    if isinstance(clips, Motion) or not isinstance(clips, Clips | Iterable):
        raise InvalidValue(f"{purpose} needs a list of motions or a set of them, got {type(clips).__name__}; {_REMEDY}")
    listed: tuple[Any, ...] = (
        tuple(clips.motion(i) for i in range(len(clips.names))) if isinstance(clips, Clips) else tuple(clips)
    )
    for each in listed:
        if not isinstance(each, Motion):
            raise InvalidValue(f"{purpose} needs motions, got a list with {type(each).__name__}; {_REMEDY}")
    if len(listed) < min_clips:
        raise InvalidValue(f"{purpose} needs at least {_NUMBERS[min_clips]}, got {len(listed) or 'none'}")
    return listed


def match_rates(motions: Sequence[Motion], fps: float | None = None) -> PreparedClips:
    """Resample the motions to `fps`; without it, to the highest of their rates, with one warning and a note for each
    resampled clip."""
    rate = max(motion.fps for motion in motions) if fps is None else check_fps(fps)
    result, notes, names = [], [], []
    for k, motion in enumerate(motions):
        if abs(motion.fps - rate) <= _SAME_RATE * rate:
            result.append(motion if motion.fps == rate else replace(motion, fps=rate))
            continue
        result.append(resample(motion, rate))
        names.append(f"{name_clip(motion, k)} ({motion.fps:g} Hz)")
        notes.append(
            f"{name_clip(motion, k)} was resampled from {motion.fps:g} to {rate:g} Hz, the highest of all rates"
        )
    if fps is not None:
        return PreparedClips(tuple(result), ())
    if notes:
        several = f"{len(notes)} clips were resampled to {rate:g} Hz, the highest of all rates: {format_list(names, 4)}"
        warn_user(notes[0] if len(notes) == 1 else several)
    return PreparedClips(tuple(result), tuple(notes))


def name_clip(motion: Motion, k: int) -> str:
    """Return the quoted name of the k-th clip for messages; ``motion 3`` if the clip numbered 3 has no name."""
    return repr(motion.name) if motion.name else f"motion {k}"


def make_names_unique(motions: Iterable[Motion]) -> tuple[Motion, ...]:
    """Return the clips with a number added to repeated names: ``walk``, ``walk#2``, ``walk#3``."""
    out: list[Motion] = []
    seen: dict[str, int] = {}
    for motion in motions:
        number = seen[motion.name] = seen.get(motion.name, 0) + 1
        out.append(motion if number == 1 else replace(motion, name=f"{motion.name}#{number}"))
    return tuple(out)
