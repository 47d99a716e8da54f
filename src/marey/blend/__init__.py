"""Blends and transitions between registered motions, and simpler methods for comparison (`baselines`).

`marey.blend` is the function `blend` of this package. Names are listed in __init__.pyi and imported on first use.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, {"keyed_weights": "interpolate_weights"})
