"""Functions of the View panel that run in the worker process.

Each takes ``progress(fraction, text)`` and the panel's arguments, and returns a dict of plain data, motions and arrays.
Other panels have their own modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marey.core.motion import Motion

Progress = Callable[[float, str], None]


def detect(progress: Progress, motion: Motion, settings: dict[str, Any]) -> dict[str, Any]:
    """Detect contacts."""
    from marey.clean import detect_contacts

    progress(0.0, "detecting contacts")
    return {"motion": detect_contacts(motion, **settings)}
