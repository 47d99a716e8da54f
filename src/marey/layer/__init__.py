"""Layers: one motion's upper body, arm or gaze on another motion (Heck chapters 4 and 5).

Names are listed in __init__.pyi and imported on first use, so that a command loads only what it needs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
