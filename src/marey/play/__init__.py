"""The live player: sign continuity, foot cleanup or foot lock, delay and recording, the same for every live source.

Names are listed in __init__.pyi and imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
