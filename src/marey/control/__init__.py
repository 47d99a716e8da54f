"""Live playback: controllers that steer a parametric motion graph clip by clip, and other kinds of steerable streams.

Names are listed in __init__.pyi and imported on first use, so that using one kind does not load the others.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
