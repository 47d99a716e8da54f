"""Figures of motion quality, each with its unit, its definition and where that was published.

``marey.measure(motion, against=source)`` is `measure`: this room can be called, as it and its main function share a
name.
"""

import sys
from types import ModuleType

from marey.core.motion import Motion
from marey.measure.figures import Figure, Measure
from marey.measure.gait import Stride, find_strides, rate_finding, stride_rate
from marey.measure.report import MEASURES, Report, measure

__all__ = [
    "MEASURES",
    "Figure",
    "Measure",
    "Report",
    "Stride",
    "find_strides",
    "measure",
    "rate_finding",
    "stride_rate",
]


class _Room(ModuleType):
    def __call__(self, motion: Motion, against: Motion | None = None) -> Report:
        return measure(motion, against)


sys.modules[__name__].__class__ = _Room
