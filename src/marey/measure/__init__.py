"""Metrics of motion quality, each with its unit, definition and source.

`marey.measure` is the function `measure` of this package. Names are listed in __init__.pyi and imported on first use.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, {"Figure": "Metric"})
