"""Floor and contact detection: where the floor is, and which points of the body rest on what."""

from marey.clean.contacts import Found, Thresholds, detect_contacts, find_contacts
from marey.clean.floor import find_floor
from marey.clean.points import contact_points, point_paths

__all__ = [
    "Found",
    "Thresholds",
    "contact_points",
    "detect_contacts",
    "find_contacts",
    "find_floor",
    "point_paths",
]
