"""Update contacts, labels and provenance when a motion is edited."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats, check_index, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue

# Maps times in old frames to times in new frames; must be increasing.
Retiming = Callable[[Floats], Floats]

_SIDES = {"left": "right", "right": "left"}
_SIDE = re.compile(r"(?<![A-Za-z])(left|right)(?![A-Za-z])", re.IGNORECASE)


def add_provenance(motion: Motion, op: str, **values: Any) -> Motion:
    """Return `motion` with one more step of provenance: the operation `op` with its parameters `values`."""
    return replace(motion, source=motion.source.with_step(op=op, **values))


def check_frames(motion: Motion, start: Any, stop: Any, least: int = 1) -> tuple[int, int]:
    """Check the half-open frame range from `start` to `stop` against the motion, and return both as integers.

    The range must lie within the motion and have at least `least` frames. None means the start or the end of the
    motion.
    """
    first = 0 if start is None else check_index(start, "start")
    end = len(motion) if stop is None else check_index(stop, "stop")
    if not 0 <= first < end <= len(motion):
        raise InvalidValue(
            f"start and stop must be frames with 0 <= start < stop <= {len(motion)} of {motion.name!r}, "
            f"not {first} and {end}"
        )
    if end - first < least:
        raise InvalidValue(f"start and stop must be at least {least} frames apart, not {end - first}")
    return first, end


def retime_contacts(contacts: Contacts | None, new_of_old: Retiming, n_frames: int) -> Contacts | None:
    """Map contacts to a new timing of `n_frames` frames.

    `new_of_old` maps old frame numbers to new ones. A contact begins half a frame before its first frame and ends half
    a frame after its last one; each keeps at least one frame.
    """
    if contacts is None:
        return None
    mask = np.zeros((n_frames, len(contacts.points)), dtype=bool)
    for k, name in enumerate(contacts.names):
        for start, stop in _retime_spans(contacts.intervals(name), len(contacts), new_of_old, n_frames):
            mask[start:stop, k] = True
    return replace(contacts, mask=set_readonly(mask))


def retime_labels(labels: Labels, n_old: int, new_of_old: Retiming, n_frames: int) -> Labels:
    """Map labels to a new timing, by the rules of `retime_contacts`; `n_old` is the old number of frames."""
    spans = [(label.start, label.stop) for label in labels]
    moved = _retime_spans(spans, n_old, new_of_old, n_frames)
    return Labels(tuple(Label(label.name, *span) for label, span in zip(labels, moved, strict=True)))


def _retime_spans(
    spans: Iterable[tuple[int, int]], n_old: int, new_of_old: Retiming, n_frames: int
) -> list[tuple[int, int]]:
    out = []
    for start, stop in spans:
        # A frame covers the time halfway to its neighbors. The 1e-9 keeps floating-point noise from moving an edge.
        edges = new_of_old(np.array([start - 0.5, stop - 0.5, 0.5 * (start + stop - 1)]))
        first, end = (int(np.ceil(edge - 1e-9)) for edge in edges[:2])
        first = 0 if start == 0 else min(max(first, 0), n_frames - 1)
        end = n_frames if stop == n_old else min(max(end, 0), n_frames)
        if end <= first:
            first = min(max(int(np.rint(edges[2])), 0), n_frames - 1)
            end = first + 1
        out.append((first, end))
    return out


def shift_labels(labels: Labels, n_frames: int) -> Iterable[Label]:
    """Return the labels, shifted `n_frames` frames later."""
    return (Label(label.name, label.start + n_frames, label.stop + n_frames) for label in labels)


def join_contacts(parts: Iterable[tuple[Contacts | None, int]]) -> Contacts | None:
    """Concatenate contacts, given for each part as (contacts, number of frames); contacts of None mean no contact in
    these frames.

    If several parts define a point, the first definition is used.
    """
    listed = list(parts)
    points: dict[str, ContactPoint] = {}
    for contacts, _ in listed:
        for point in () if contacts is None else contacts.points:
            points.setdefault(point.name, point)
    if not points and all(contacts is None for contacts, _ in listed):
        return None
    n_all = sum(n for _, n in listed)
    mask = np.zeros((n_all, len(points)), dtype=np.bool_)
    row = 0
    for contacts, n_frames in listed:
        for column, name in enumerate(points):
            if contacts is not None and name in contacts.names:
                mask[row : row + n_frames, column] = contacts.mask[:, contacts.index(name)]
        row += n_frames
    return Contacts(tuple(points.values()), set_readonly(mask))


def swap_sides(name: str) -> str:
    """Swap left and right in a name: ``right_heel`` for ``left_heel``, ``turn-left`` for ``turn-right``."""

    def swap(found: re.Match[str]) -> str:
        word = found[0]
        other = _SIDES[word.lower()]
        return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other

    return _SIDE.sub(swap, name)
