"""Prepare clips for comparison: one skeleton, one rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from marey.core.arrays import check_fps
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, check_same_skeleton
from marey.edit.replant import set_contacts
from marey.edit.resample import resample
from marey.errors import InvalidValue


def gather_clips(given: Sequence[Motion], fps: float | None, what: str) -> tuple[Motion, ...]:
    """Bring clips to one rate (the lowest of theirs by default), with travel on joint 0, contacts and unique names.

    what : the purpose, for messages, such as "a graph".
    """
    if not given:
        raise InvalidValue(f"{what} needs at least one clip, got none")
    body = given[0].skeleton
    for motion in given[1:]:
        check_same_skeleton(body, motion.skeleton, f"{what} ({given[0].name!r} and {motion.name!r})")
    rate = min(motion.fps for motion in given) if fps is None else check_fps(fps)
    out: list[Motion] = []
    seen: dict[str, int] = {}
    for motion in given:
        # Detect contacts at the clip's own, higher rate.
        at_rate = set_contacts(motion)
        at_rate = at_rate if motion.fps == rate else resample(at_rate, rate)
        number = seen[motion.name] = seen.get(motion.name, 0) + 1
        name = motion.name if number == 1 else f"{motion.name}#{number}"
        out.append(replace(bake_hips_into_root(at_rate, body), name=name))
    return tuple(out)
