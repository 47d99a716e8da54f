"""Blends and transitions between registered motions, and simpler methods for comparison (`baselines`).

`marey.blend` is the function `blend` of this package. Names are listed in __init__.pyi and imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
