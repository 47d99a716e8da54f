"""The floor, contacts, and end-effector cleanup: which points of the body touch what, and how to hold them in place.

`marey.clean` is the function `clean` of this package.
"""

from marey.clean.cleanup import Cleaned, PlantUsed, clean, cleaned
from marey.clean.contacts import Found, Thresholds, detect_contacts, find_contacts
from marey.clean.floor import find_floor
from marey.clean.points import contact_points, point_paths
from marey.clean.settings import CleanSettings, PlantAt, Target
from marey.clean.stream import CleanFrame, CleanStream, clean_stream

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
