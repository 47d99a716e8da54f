"""Crop a motion."""

from __future__ import annotations

from marey.core.annotations import add_provenance, check_frames
from marey.core.motion import Motion


def crop(motion: Motion, start: int | None = None, stop: int | None = None) -> Motion:
    """Return frames `start` to `stop`, half-open, with their contacts and labels; by default from first to last.

    Examples
    --------
    >>> marey.edit.crop(walk, 30, 90)
    <Motion 'walk': 60 frames at 60 Hz, 27 joints>
    """
    first, end = check_frames(motion, start, stop)
    return add_provenance(motion[first:end], "crop", start=first, stop=end, of=len(motion))
