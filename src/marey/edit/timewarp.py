"""Change the timing of a motion with keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from marey.core.annotations import add_provenance, retime_contacts, retime_labels
from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion, check_motion
from marey.edit._splines import hermite, monotone_slopes
from marey.errors import InvalidValue

_MAX_SECONDS = 24 * 3600.0


def timewarp(motion: Motion, keys: Iterable[tuple[float, float]]) -> Motion:
    """Retime the motion: each key moves an event from its old time to its new time, in seconds.

    Times between keys follow a monotone cubic, so time never stops or runs backward. After the last key, the rest of
    the motion keeps its duration. The motion always starts at frame 0 of the result, so a first key (0.5, 0.2) cuts
    nothing off: the first 0.5 s take 0.2 s. Contacts and labels move with the time.

    Parameters
    ----------
    keys : at least one pair (old seconds, new seconds); both columns must increase. (0, 0) is added unless a key is at
        old time 0.

    Examples
    --------
    >>> slow = marey.edit.timewarp(kick, [(1.0, 1.5)])  # what happened at 1 s happens at 1.5 s
    >>> round(slow.duration - kick.duration, 1)
    0.5
    """
    check_motion(motion)
    try:
        rows = np.array(sorted(map(tuple, keys)), dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise InvalidValue(f"keys must be pairs (old seconds, new seconds), not {keys!r}", parameter="keys") from None
    pairs = freeze_array(rows, "keys", (None, 2))
    if not len(pairs):
        raise InvalidValue("keys must have at least one (old seconds, new seconds) pair, got none")
    outside = pairs[(pairs[:, 0] < 0.0) | (pairs[:, 0] > motion.duration + 1e-9), 0]
    if len(outside):
        raise InvalidValue(
            f"old times of keys must be from 0 to {motion.duration:g} s (the motion's duration), not {outside[0]:g} s"
        )
    if pairs[0, 0] > 0.0:
        pairs = np.concatenate([np.zeros((1, 2)), pairs])
    steps = np.diff(pairs, axis=0)
    if (steps <= 0.0).any():
        k = int(np.argmax((steps <= 0.0).any(axis=1)))
        raise InvalidValue(
            f"both times of each key must be later than those of the key before, not ({pairs[k, 0]:g}, "
            f"{pairs[k, 1]:g}) and "
            f"({pairs[k + 1, 0]:g}, {pairs[k + 1, 1]:g}) s"
        )
    if pairs[0, 0] == 0.0 and pairs[0, 1] != 0.0:
        raise InvalidValue(
            f"a key at old time 0 must have new time 0, not {pairs[0, 1]:g} s; the motion always begins at 0 s"
        )
    if pairs[-1, 0] < motion.duration - 1e-9:  # the rest after the last key keeps its duration
        rest = motion.duration - pairs[-1, 0]
        pairs = np.concatenate([pairs, pairs[-1:] + rest])
    old, new = pairs.T
    if new[-1] > _MAX_SECONDS:
        raise InvalidValue(
            f"the result must last at most {_MAX_SECONDS:g} s, not {new[-1]:g} s; check the new times of the keys"
        )
    fps = motion.fps
    n_frames = int(np.floor(new[-1] * fps + 1e-6)) + 1
    slopes = monotone_slopes(new, old)
    at = np.clip(hermite(new, old, slopes, np.arange(n_frames) / fps), 0.0, motion.duration)

    def new_of_old(frames: Floats) -> Floats:
        return fps * _invert(new, old, slopes, frames / fps)

    taken = motion.at(at)
    result = replace(
        taken,
        contacts=retime_contacts(motion.contacts, new_of_old, n_frames),
        labels=retime_labels(motion.labels, len(motion), new_of_old, n_frames),
    )
    return add_provenance(result, "timewarp", keys=pairs.tolist())


def _invert(x: Floats, y: Floats, slopes: Floats, values: Floats) -> Floats:
    """Return the positions (N,) at which the increasing curve has `values`, by bisection."""
    span = float(x[-1] - x[0]) + 1.0
    low, high = np.full(len(values), x[0] - span), np.full(len(values), x[-1] + span)
    for _ in range(80):
        middle = 0.5 * (low + high)
        under = hermite(x, y, slopes, middle) < values
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return set_readonly(0.5 * (low + high))
