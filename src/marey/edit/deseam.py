"""Taking a seam out of a motion: the jump becomes an offset that fades away."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, check_index, check_number
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root
from marey.edit._rates import Offset, added, offset_between, pose_at
from marey.edit.replant import keep_contacts
from marey.errors import InvalidValue
from marey.maths import ease, ease_in

# The spring's offset is cut off where it is a millionth of what it was, about 25 half-lives on.
_HALF_LIVES = 25.0
# Seconds around a seam in which the motion shows how fast it changes by itself.
_AROUND = 1.0
# Up to so many times the largest change around it a change is none to take out, and from so many on it is one.
_USUAL, _CERTAIN = 1.5, 3.0
# Metres, radians and their rates: less is no jump.
_ROUNDING = 1e-7


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

    Give one of them; inertia with a half-life of 0.1 s by default. A joint that changes no more over the seam than it
    does around it does not jump, and stays as it is. Contacts are kept where the offset does not carry the point along.
    Provenance notes the jump: how far from where it was expected the hips are, in metres, and how far a joint is turned
    at the most, in radians.
    """
    seam = check_index(at, "at")
    if len(motion) < 2:
        raise InvalidValue(f"{motion.name!r} has one frame, and so no seam")
    if not 1 <= seam < len(motion):
        raise InvalidValue(f"a seam lies before a frame from 1 to {len(motion) - 1}, got {seam}")
    if frames is not None and half_life is not None:
        raise InvalidValue("a seam fades over frames or by a half-life, got both; give one")
    given = bake_hips_into_root(motion)
    record: dict[str, Any] = {"at": seam}
    dt = 1.0 / given.fps
    offset = _jump(given, seam)
    record |= {
        "jump": float(np.linalg.norm(offset.root)),
        "jump_turn": float(np.linalg.norm(offset.turns, axis=1).max()),
    }
    if frames is not None:
        n = check_index(frames, "frames")
        if n < 1:
            raise InvalidValue(f"a seam needs at least 1 frame to fade over, got {n}")
        record |= {"method": "decay", "frames": n}
        n = min(n, len(given) - seam)
        share = ease(np.arange(n) / record["frames"])
        parts = [_times(share, value) for value in (offset.root, offset.turns, offset.offsets)]
    else:
        life = check_number(0.1 if half_life is None else half_life, "half_life in seconds", above=True)
        record |= {"method": "inertia", "half_life": life}
        n = min(int(np.ceil(_HALF_LIVES * life / dt)), len(given) - seam)
        t = np.arange(n, dtype=np.float64) * dt
        pairs = (
            (offset.root, offset.root_rate),
            (offset.turns, offset.turns_rate),
            (offset.offsets, offset.offsets_rate),
        )
        parts = [_spring(t, life, value, rate) for value, rate in pairs]
    if not any(part.any() for part in parts):
        return add_provenance(motion, "deseam", **record)
    made = added(given, slice(seam, seam + n), *parts)
    made = replace(made, contacts=keep_contacts(given, made))
    return add_provenance(made, "deseam", **record)


def _expected(motion: Motion, frame: int) -> Offset:
    """What leads from the pose at a frame, and its rates, to what the two frames before it lead to.

    With one frame alone on a side nothing tells its rates; they are then those of the other side.
    """
    last = len(motion) - 1
    before = pose_at(motion, frame - 1, max(frame - 2, 0), frame - 1)
    going = pose_at(motion, frame, frame, min(frame + 1, last))
    if frame == 1:
        before = before.at_rates_of(going)
    if frame == last:
        going = going.at_rates_of(before)
    return offset_between(going, before.ahead(1.0 / motion.fps))


def _jump(motion: Motion, seam: int) -> Offset:
    """The offset over the seam, without what is no more than the motion's own changes of velocity around it."""
    reach = max(4, round(_AROUND * motion.fps))
    first = max(seam - reach, 0)
    around, at = motion[first : seam + reach], seam - first
    # Frames whose own differences do not span the seam, with two frames before them and one after.
    usual = [_expected(around, f) for f in range(2, len(around) - 1) if abs(f - at) >= 2]
    here = _expected(around, at)
    parts: dict[str, Floats] = {}
    for name in ("root", "turns", "offsets"):
        both = (name, f"{name}_rate")
        # Whoever jumps brings its own velocity along, unusual or not.
        share = np.maximum(*(_unusual(getattr(here, key), [getattr(one, key) for one in usual]) for key in both))
        parts |= {key: share * getattr(here, key) for key in both}
    return Offset(**parts)


def _unusual(value: Floats, usual: list[Floats]) -> Floats:
    """(..., 1) for value (..., 3): 1 where it is far longer than all usual ones, 0 where it is about as long as one."""
    size = np.linalg.norm(value, axis=-1, keepdims=True)
    most = np.full_like(size, _ROUNDING)
    for one in usual:
        np.maximum(most, np.linalg.norm(one, axis=-1, keepdims=True), out=most)
    return np.asarray(ease_in((size / most - _USUAL) / (_CERTAIN - _USUAL)))


def _times(share: Floats, value: Floats) -> Floats:
    return np.asarray(share.reshape(-1, *[1] * value.ndim) * value)


def _spring(t: Floats, half_life: float, value: Floats, rate: Floats) -> Floats:
    """A critically damped spring let go at `value` with velocity `rate`: (T, ...) at times t (T,)."""
    y = 2.0 * math.log(2.0) / half_life
    decay = np.exp(-y * t)
    return _times(decay, value) + _times(decay * t, rate + y * value)
