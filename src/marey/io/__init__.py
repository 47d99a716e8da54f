"""Read and write files. `load` and `save` choose the format by suffix; only this package converts units and axes.

Names are listed in __init__.pyi and imported on first use: reading a file does not load the writers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
