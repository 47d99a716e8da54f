"""Layers: put the upper body, an arm or the gaze of one motion on another motion (Heck chapters 4 and 5).

Names are listed in __init__.pyi and imported on first use; a command loads only what it needs.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, {"correlations": "find_correlations"})
