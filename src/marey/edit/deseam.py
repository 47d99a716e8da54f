"""Remove a seam: convert the jump to an offset that fades out."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, check_index
from marey.core.motion import Motion, check_motion
from marey.core.placement import bake_hips_into_root
from marey.core.settings import operation
from marey.deprecation import renamed_parameters, warn_renamed
from marey.edit._rates import PoseOffset, add_offsets, offset_between, pose_at
from marey.edit.replant import keep_contacts
from marey.edit.settings import DeseamSettings
from marey.errors import InvalidValue
from marey.maths import ease, ease_in
from marey.measure.glitches import find_glitches

P = ParamSpec("P")

# Default half-life in seconds.
_HALF_LIFE = 0.1
# The spring's offset is cut off after this many half-lives, when less than 1e-13 of it is left.
_HALF_LIVES = 25.0
# Seconds around a seam from which the motion's usual changes are measured.
_AROUND = 1.0
# A change of up to _USUAL times the largest change around it is kept; beyond _CERTAIN times it is removed.
_USUAL, _CERTAIN = 1.5, 3.0
# Ancestors of a joint that makes an impossible jump are left unchanged if they rotate by less than the first fraction
# of the largest rotation among them, and are corrected fully beyond the second.
_SMALL_PART, _PART = 0.15, 0.3
# Meters, radians and their rates; smaller values are not jumps.
_ROUNDING = 1e-7


def _convert_frames(function: Callable[P, Motion]) -> Callable[P, Motion]:
    """Decorate `deseam` to accept the old parameter `frames` (a number of frames) in place of `seconds`."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Motion:
        if "frames" in kwargs:
            warn_renamed("deseam(frames=)", "seconds=")
            frames: Any = kwargs.pop("frames")
            motion: Any = kwargs["motion"] if "motion" in kwargs else args[0]
            kwargs["seconds"] = None if frames is None else frames / motion.fps
        return function(*args, **kwargs)

    return call


@_convert_frames
@renamed_parameters(at="frame")
@operation(DeseamSettings)
def deseam(motion: Motion, frame: int, settings: DeseamSettings) -> Motion:
    """Remove the jump between frame ``frame - 1`` and `frame`; earlier frames do not change.

    The expected pose at `frame` differs from the actual one by an offset. This offset is added to the following frames
    and fades out in one of two ways:

    - over `seconds`, by eased slerp (Kovar 3.5). This classic method matches the pose, not the velocity;
    - by inertialization with a `half_life` in seconds: a critically damped spring that also starts with the offset's
      velocity, which avoids a jerk (Bollo 2017, Holden 2018). It is cut off after 25 half-lives.

    A joint that changes no more across the seam than in the frames around it is left unchanged, unless `marey.check`
    finds that it, or a joint below it, jumps there. Contacts are kept where the offset does not move the point.
    Provenance records the jump: the distance of the hips from their expected position in meters, and the largest
    rotation of a joint in radians.

    Examples
    --------
    >>> from dataclasses import replace
    >>> jump = walk.root_positions.copy()
    >>> jump[90:] += [0.1, 0.0, 0.0]
    >>> smooth = marey.edit.deseam(replace(walk, root_positions=jump), 90, half_life=0.1)
    >>> bool(abs(smooth.root_positions[90, 0] - smooth.root_positions[89, 0]) < 0.01)  # meters
    True
    """
    check_motion(motion)
    seam = check_index(frame, "frame")
    if len(motion) < 2:
        raise InvalidValue(f"{motion.name!r} must have at least 2 frames to have a seam, not 1")
    if not 1 <= seam < len(motion):
        raise InvalidValue(f"frame must be from 1 to {len(motion) - 1}, not {seam}", parameter="frame")
    given = bake_hips_into_root(motion)
    record: dict[str, Any] = {"at": seam}
    dt = 1.0 / given.fps
    offset = _find_jump(given, seam)
    record |= {
        "jump": float(np.linalg.norm(offset.root)),
        "jump_turn": float(np.linalg.norm(offset.rotations, axis=1).max()),
    }
    if settings.seconds is not None:
        fade = settings.seconds * given.fps
        record |= {"method": "decay", "seconds": settings.seconds}
        n = min(int(np.ceil(fade - 1e-9)), len(given) - seam)
        weight = ease(np.arange(n) / fade)
        parts = [_scale(weight, value) for value in (offset.root, offset.rotations, offset.offsets)]
    else:
        life = _HALF_LIFE if settings.half_life is None else settings.half_life
        record |= {"method": "inertia", "half_life": life}
        n = min(int(np.ceil(_HALF_LIVES * life / dt)), len(given) - seam)
        t = np.arange(n, dtype=np.float64) * dt
        pairs = (
            (offset.root, offset.root_rate),
            (offset.rotations, offset.rotations_rate),
            (offset.offsets, offset.offsets_rate),
        )
        parts = [_decay_spring(t, life, value, rate) for value, rate in pairs]
    if not any(part.any() for part in parts):
        return add_provenance(motion, "deseam", **record)
    result = add_offsets(given, slice(seam, seam + n), *parts)
    result = replace(result, contacts=keep_contacts(given, result))
    return add_provenance(result, "deseam", **record)


def _predict_offset(motion: Motion, frame: int) -> PoseOffset:
    """Return the offset from the actual pose and rates at a frame to the pose and rates extrapolated from the frames
    before it.

    A side with only one frame has no rates; it uses those of the other side.
    """
    last = len(motion) - 1
    before = pose_at(motion, frame - 1, max(frame - 2, 0), frame - 1)
    going = pose_at(motion, frame, frame, min(frame + 1, last))
    if frame == 1:
        before = before.with_rates_from(going)
    if frame == last:
        going = going.with_rates_from(before)
    return offset_between(going, before.ahead(1.0 / motion.fps))


def _find_jump(motion: Motion, seam: int) -> PoseOffset:
    """Return the offset across the seam, minus the part explained by the usual changes of velocity around it.

    Noise or another jump nearby may be as large as the offset. Joints that make an impossible jump are always
    corrected.
    """
    jumps = _find_carriers(motion, seam)
    reach = max(4, round(_AROUND * motion.fps))
    first = max(seam - reach, 0)
    around, at = motion[first : seam + reach], seam - first
    # Frames whose own differences do not span the seam, with two frames before them and one after.
    usual = [_predict_offset(around, f) for f in range(2, len(around) - 1) if abs(f - at) >= 2]
    here = _predict_offset(around, at)
    parts: dict[str, Floats] = {}
    for name in ("root", "rotations", "offsets"):
        both = (name, f"{name}_rate")
        # If a joint's value jumps, also take its velocity offset.
        weight = np.maximum(*(_weigh_unusual(getattr(here, key), [getattr(one, key) for one in usual]) for key in both))
        if name == "rotations" and jumps:
            angles = np.linalg.norm(here.rotations[jumps], axis=1, keepdims=True)
            part = angles / max(float(angles.max()), _ROUNDING)
            weight[jumps] = np.maximum(weight[jumps], ease_in((part - _SMALL_PART) / (_PART - _SMALL_PART)))
        parts |= {key: weight * getattr(here, key) for key in both}
    return PoseOffset(**parts)


def _find_carriers(motion: Motion, seam: int) -> list[int]:
    """Return the joints that make an impossible jump at the seam, and their ancestors."""
    found: set[int] = set()
    for glitch in find_glitches(motion):
        if glitch.kind == "jump" and glitch.start + 1 == seam:
            found.update(*(motion.skeleton.chain(joint) for joint in glitch.joints))
    return sorted(found)


def _weigh_unusual(value: Floats, usual: list[Floats]) -> Floats:
    """Return weights (..., 1) for values (..., 3): 1 if a value is much longer than all usual values, 0 if it is not
    longer."""
    size = np.linalg.norm(value, axis=-1, keepdims=True)
    most = np.full_like(size, _ROUNDING)
    for one in usual:
        np.maximum(most, np.linalg.norm(one, axis=-1, keepdims=True), out=most)
    return np.asarray(ease_in((size / most - _USUAL) / (_CERTAIN - _USUAL)))


def _scale(weight: Floats, value: Floats) -> Floats:
    return np.asarray(weight.reshape(-1, *[1] * value.ndim) * value)


def _decay_spring(t: Floats, half_life: float, value: Floats, rate: Floats) -> Floats:
    """Return the values (T, ...) at times t (T,) of a critically damped spring with initial `value` and `rate`."""
    y = 2.0 * math.log(2.0) / half_life
    decay = np.exp(-y * t)
    return _scale(decay, value) + _scale(decay * t, rate + y * value)
