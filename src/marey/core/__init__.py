"""Motions, skeletons, contacts, labels and markers, and the kinematics that connects them.

Names are listed in __init__.pyi and imported on first use: reading a file loads only the modules it needs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
