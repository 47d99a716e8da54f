"""Find everything that is wrong or doubtful with a capture, and how to fix it.

`marey.check` is the function `check` of this package. Names are listed in __init__.pyi and imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
