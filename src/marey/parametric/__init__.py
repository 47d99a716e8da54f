"""Parametric motion: a space built from examples of one action and controlled by measurable features of it.

Names are listed in __init__.pyi and imported on first use.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, {"Reached": "ReachResult", "travelled": "traveled"})
