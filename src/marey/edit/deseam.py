"""Taking a seam out of a motion: the jump becomes an offset that fades away."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core._arrays import Floats, checked_index
from marey.core.motion import Motion
from marey.edit._figure import rooted
from marey.edit._notes import checked_number, held_contacts, recorded
from marey.edit._rates import added, offset_between, pose_at
from marey.errors import InvalidValue
from marey.maths import ease

# The spring's offset is cut off where it is a millionth of what it was, about 25 half-lives on.
_HALF_LIVES = 25.0


def deseam(
    motion: Motion,
    at: int,
    *,
    frames: int | None = None,
    half_life: float | None = None,
) -> Motion:
    """The motion without the jump between frame ``at - 1`` and frame `at`; what comes before stays as it is.

    The pose that was to be expected at frame `at` differs from the pose there by an offset, which is added to the
    frames from there on and taken away bit by bit:

    - over `frames` frames, by slerp, eased (Kovar 3.5): the classic way. It meets the pose, not the velocity.
    - by inertia with a `half_life` in seconds: a critically damped spring that starts with the offset's velocity as
      well, so that nothing jerks (Bollo 2017, Holden 2018). After 25 half-lives it is cut off.

    Give one of them; inertia with a half-life of 0.1 s by default. Contacts are kept where the offset does not carry
    the point along.
    """
    seam = checked_index(at, "at")
    if not 1 <= seam < len(motion):
        raise InvalidValue(f"a seam lies before a frame from 1 to {len(motion) - 1}, got {seam}")
    if frames is not None and half_life is not None:
        raise InvalidValue("a seam fades over frames= or by half_life=, got both; give one")
    given = rooted(motion)
    record: dict[str, Any] = {"at": seam}
    dt = 1.0 / given.fps
    last = len(given) - 1
    coming = pose_at(given, seam - 1, max(seam - 2, 0), seam - 1).ahead(dt)
    going = pose_at(given, seam, seam, min(seam + 1, last))
    if frames is not None:
        n = checked_index(frames, "frames")
        if n < 1:
            raise InvalidValue(f"a seam needs at least 1 frame to fade over, got {n}")
        record |= {"method": "decay", "frames": n}
        offset = offset_between(going, coming)
        n = min(n, len(given) - seam)
        share = ease(np.arange(n) / record["frames"])
        parts = [_times(share, value) for value in (offset.root, offset.turns, offset.offsets)]
    else:
        life = checked_number(0.1 if half_life is None else half_life, "half_life in seconds", above=True)
        record |= {"method": "inertia", "half_life": life}
        offset = offset_between(going, coming)
        n = min(int(np.ceil(_HALF_LIVES * life / dt)), len(given) - seam)
        t = np.arange(n, dtype=np.float64) * dt
        pairs = (
            (offset.root, offset.root_rate),
            (offset.turns, offset.turns_rate),
            (offset.offsets, offset.offsets_rate),
        )
        parts = [_spring(t, life, value, rate) for value, rate in pairs]
    made = added(given, slice(seam, seam + n), *parts)
    made = replace(made, contacts=held_contacts(given, made))
    return recorded(made, "deseam", **record)


def _times(share: Floats, value: Floats) -> Floats:
    return np.asarray(share.reshape(-1, *[1] * value.ndim) * value)


def _spring(t: Floats, half_life: float, value: Floats, rate: Floats) -> Floats:
    """A critically damped spring let go at `value` with velocity `rate`: (T, ...) at times t (T,)."""
    y = 2.0 * math.log(2.0) / half_life
    decay = np.exp(-y * t)
    return _times(decay, value) + _times(decay * t, rate + y * value)
