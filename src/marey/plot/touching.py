"""Which foot a contact point is part of, and when it touches."""

from __future__ import annotations


def side_of(name: str) -> str:
    """ "left", "right" or "middle", from a contact point's name."""
    return next((side for side in ("left", "right") if name.startswith(f"{side}_")), "middle")


def band(start: int, stop: int, fps: float) -> tuple[float, float]:
    """Seconds from and to which frames start to stop are shown: half a frame to either side of their times."""
    return (start - 0.5) / fps, (stop - 0.5) / fps
