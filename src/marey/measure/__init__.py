"""Metrics of motion quality, each with its unit, definition and source.

`marey.measure` is the function `measure` of this package.
"""

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
