"""The floor, contacts, and end-effector cleanup: which points of the body rest on what, and making them hold.

``marey.clean(motion)`` is `clean`: this room can be called, as it and its main function share a name.
"""

import sys
from types import ModuleType
from typing import Any

from marey.clean.cleanup import Cleaned, PlantUsed, clean, cleaned
from marey.clean.contacts import Found, Thresholds, detect_contacts, find_contacts
from marey.clean.floor import find_floor
from marey.clean.points import contact_points, point_paths
from marey.clean.settings import CleanSettings, PlantAt, Target
from marey.clean.stream import CleanFrame, CleanStream, clean_stream
from marey.core.motion import Motion

__all__ = [
    "CleanFrame",
    "CleanSettings",
    "CleanStream",
    "Cleaned",
    "Found",
    "PlantAt",
    "PlantUsed",
    "Target",
    "Thresholds",
    "clean",
    "clean_stream",
    "cleaned",
    "contact_points",
    "detect_contacts",
    "find_contacts",
    "find_floor",
    "point_paths",
]


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Motion:
        return clean(*arguments, **options)


sys.modules[__name__].__class__ = _Room
