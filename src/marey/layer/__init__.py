"""Layers: one motion's upper body, arm or gaze on another motion (Heck chapters 4 and 5).

Names are imported when they are first used, so that a command that needs one of them does not load all.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_WHERE = {
    "Correlations": "correlation",
    "GazeMap": "gaze_map",
    "GazeShift": "gaze_model",
    "GazeTrack": "gaze_track",
    "LIMBS": "transplanting",
    "SpliceSet": "runtime",
    "Splicer": "player",
    "TimeMap": "phase",
    "Timeline": "timeline",
    "Trend": "correlation",
    "align_motions": "splicing",
    "correlations": "correlation",
    "gaze_example": "gaze_capture",
    "neck_deviation": "steadiness",
    "neck_path": "steadiness",
    "phase_errors": "steadiness",
    "splice": "splicing",
    "splice_naive": "splicing",
    "transplant": "transplanting",
    "wobble": "steadiness",
}

__all__ = sorted(_WHERE)

if TYPE_CHECKING:
    from marey.layer.correlation import Correlations as Correlations
    from marey.layer.correlation import Trend as Trend
    from marey.layer.correlation import correlations as correlations
    from marey.layer.gaze_capture import gaze_example as gaze_example
    from marey.layer.gaze_map import GazeMap as GazeMap
    from marey.layer.gaze_model import GazeShift as GazeShift
    from marey.layer.gaze_track import GazeTrack as GazeTrack
    from marey.layer.phase import TimeMap as TimeMap
    from marey.layer.player import Splicer as Splicer
    from marey.layer.runtime import SpliceSet as SpliceSet
    from marey.layer.splicing import align_motions as align_motions
    from marey.layer.splicing import splice as splice
    from marey.layer.splicing import splice_naive as splice_naive
    from marey.layer.steadiness import neck_deviation as neck_deviation
    from marey.layer.steadiness import neck_path as neck_path
    from marey.layer.steadiness import phase_errors as phase_errors
    from marey.layer.steadiness import wobble as wobble
    from marey.layer.timeline import Timeline as Timeline
    from marey.layer.transplanting import LIMBS as LIMBS
    from marey.layer.transplanting import transplant as transplant


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
