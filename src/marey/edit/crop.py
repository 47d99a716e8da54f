"""A stretch of a motion."""

from __future__ import annotations

from marey.core.motion import Motion
from marey.edit._notes import checked_run, recorded


def crop(motion: Motion, start: int | None = None, stop: int | None = None) -> Motion:
    """Frames `start` to `stop`, half-open, with their contacts and labels; by default from first to last."""
    first, end = checked_run(motion, start, stop)
    return recorded(motion[first:end], "crop", start=first, stop=end, of=len(motion))
