"""Functions of the View and Compare panels that run in the worker process.

Each takes ``progress(fraction, text)`` and the panel's arguments, and returns a dict of plain data, motions and arrays.
Other panels have their own modules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from marey.core.motion import Motion

Progress = Callable[[float, str], None]


def detect(progress: Progress, motion: Motion, settings: dict[str, Any]) -> dict[str, Any]:
    """Detect contacts."""
    from marey.clean import detect_contacts

    progress(0.0, "detecting contacts")
    return {"motion": detect_contacts(motion, **settings)}


def clean(progress: Progress, motion: Motion, settings: dict[str, Any]) -> dict[str, Any]:
    """Clean a motion. Returns it with a summary and the metrics before and after."""
    from marey.clean import clean_with_report
    from marey.measure import measure

    progress(0.0, "cleaning")
    done = clean_with_report(motion, **settings)
    progress(0.5, "measuring")
    # Measure both with the same contacts and floor.
    source = replace(motion.source, floor=done.motion.source.floor)
    before = replace(motion, contacts=done.motion.contacts, source=source)
    rows = _rows(measure(done.motion, before)) if len(motion) > 1 else []
    own = done.metrics
    return {
        "motion": done.motion,
        "measures": rows,
        "plants": len(done.plants),
        **{name: own[name] for name in ("residue_max", "limb_scaling_max", "shift_max")},
    }


def measure_motion(progress: Progress, motion: Motion, against: Motion | None = None) -> dict[str, Any]:
    """Measure a motion, and optionally another one (`against`) for comparison."""
    from marey.measure import measure

    progress(0.0, "measuring")
    return {"measures": _rows(measure(motion, against))}


def _rows(report: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "unit": one.unit,
            "value": _finite(one.value),
            "against": _finite(one.against),
            "definition": one.definition,
            "note": one.note,
        }
        for one in report.metrics
    ]


def _finite(value: float | None) -> float | None:
    """Replace a non-finite value by None (shown as missing), because JSON has no infinities."""
    return value if value is not None and math.isfinite(value) else None
