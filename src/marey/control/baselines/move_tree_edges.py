"""Passages of a move tree: precomputed blends from one clip into the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from marey.blend.transition import best_transition
from marey.control.inertia_reel import Reel
from marey.core.arrays import Bools, Floats, check_number, set_readonly
from marey.core.contacts import Contacts
from marey.core.kinematics import rotate_root
from marey.core.motion import Motion
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in

__all__ = ["Passage", "Succession", "make_passage"]

# The best transition is searched from this fraction of the first clip onward, and up to this fraction of the second.
_LATE, _EARLY = 0.55, 0.45


@renamed_fields(to="target", at="position")
@dataclass(frozen=True, slots=True)
class Succession:
    """A rule: which clip may follow another, and with what transition.

    target : name of the next clip. length : duration of the transition in seconds.
    position : middle of the transition: a pair of seconds, in this clip and in the next; ``"ends"`` to overlap the end
        of this clip with the beginning of the next; ``"best"`` for where the later part of this clip and the earlier
        part of the next are most similar.
    """

    target: str
    length: float = 0.3
    position: tuple[float, float] | Literal["ends", "best"] = "ends"


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A precomputed transition from one clip to another: a blend with frames of its own.

    clip, target : indices of the two clips. leave : last row played of the first clip. enter : first row played of the
        second.
    root (n, 3), rotations (n, J, 4), contacts (n, K), bones (n, J, 3) or None : the n frames in between, in the
        coordinates of the first clip.
    move : (3,) rigid2d that places the second clip relative to the first.
    faces : heading in radians at the end of the second clip, before it is placed.
    """

    clip: int
    target: int
    leave: int
    enter: int
    root: Floats
    rotations: Floats
    contacts: Bools
    bones: Floats | None
    move: Floats
    faces: float


def make_passage(reel: Reel, clip: int, target: int, succession: Succession) -> Passage:
    """Return the passage from one clip to another: a blend with ease-in and ease-out around the middle of their
    transition (Kovar 3.5)."""
    seconds = check_number(succession.length, "the length of a transition in seconds", above=True)
    n = max(2, round(seconds * reel.fps))
    a, b = _find_starts(reel, clip, target, succession, n)
    leave, enter = int(reel.borders[clip]) + a, int(reel.borders[target]) + b + n
    inner = np.arange(1, n)
    rows, others = leave + inner, enter - n + inner
    middle = n // 2
    move = rigid2d.compose(reel.ground[leave + middle], rigid2d.invert(reel.ground[enter - n + middle]))
    alpha = ease_in(inner / n)
    turned = rotate_root(reel.rotations[others], move)
    return Passage(
        clip=clip,
        target=target,
        leave=leave,
        enter=enter,
        root=set_readonly(_blend(reel.root[rows], rigid2d.apply(move, reel.root[others]), alpha)),
        rotations=set_readonly(quat.slerp(reel.rotations[rows], turned, alpha[:, None])),
        contacts=set_readonly(np.where(alpha[:, None] < 0.5, reel.contacts[rows], reel.contacts[others])),
        bones=None if reel.bones is None else set_readonly(_blend(reel.bones[rows], reel.bones[others], alpha)),
        move=set_readonly(move),
        faces=float(reel.ground[int(reel.borders[target + 1]) - 1, 0]),
    )


def _blend(a: Floats, b: Floats, alpha: Floats) -> Floats:
    weight = alpha.reshape(-1, *[1] * (a.ndim - 1))
    return np.asarray((1.0 - weight) * a + weight * b)


def _find_starts(reel: Reel, clip: int, target: int, succession: Succession, n: int) -> tuple[int, int]:
    """Return the frame of each clip at which the transition begins."""
    lengths = [int(reel.borders[k + 1] - reel.borders[k]) for k in (clip, target)]
    if succession.position == "ends":
        starts = lengths[0] - 1 - n, 0
    else:
        at = _find_best(reel, clip, target, n) if succession.position == "best" else succession.position
        try:
            starts = round(float(at[0]) * reel.fps - 0.5 * n), round(float(at[1]) * reel.fps - 0.5 * n)
        except (TypeError, ValueError, IndexError):
            raise InvalidValue(
                f'position must be "ends", "best" or seconds in both clips, not {succession.position!r}'
            ) from None
    for start, length, k in zip(starts, lengths, (clip, target), strict=True):
        if start < 0 or start + n > length - 1:
            raise InvalidValue(
                f"a transition of {n / reel.fps:.2f} s from {reel.names[clip]!r} to {reel.names[target]!r} does not "
                f"fit into {reel.names[k]!r}, which lasts {(length - 1) / reel.fps:.2f} s; make it shorter or move it"
            )
    return starts


def _find_best(reel: Reel, clip: int, target: int, n: int) -> tuple[float, float]:
    first, second = (_clip_motion(reel, k) for k in (clip, target))
    half = 0.5 * n / reel.fps
    point = best_transition(
        first,
        second,
        length=n / reel.fps,
        region_a=(min(_LATE * first.duration, first.duration - half), first.duration),
        region_b=(0.0, max(_EARLY * second.duration, half)),
    )
    return point.at_a, point.at_b


def _clip_motion(reel: Reel, k: int) -> Motion:
    rows = slice(int(reel.borders[k]), int(reel.borders[k + 1]))
    contacts = Contacts(reel.points, reel.contacts[rows])
    bones = None if reel.bones is None else reel.bones[rows]
    return Motion(
        reel.skeleton,
        reel.root[rows],
        reel.rotations[rows],
        reel.fps,
        name=reel.names[k],
        contacts=contacts,
        bone_offsets=bones,
    )
