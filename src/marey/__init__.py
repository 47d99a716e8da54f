"""marey: motion capture in, new controllable human motion out.

>>> import marey
>>> walk = marey.load("walk.bvh")       # doctest: +SKIP
>>> marey.save(walk, "walk.glb")        # doctest: +SKIP

Distances are metres, angles radians, times seconds; Y is up. See the README for a tour.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public names are imported when they are first used, so that `import marey` and the command line start at once.
_WHERE = {
    "ContactPoint": "marey.core",
    "Contacts": "marey.core",
    "Label": "marey.core",
    "Labels": "marey.core",
    "Markers": "marey.core",
    "Motion": "marey.core",
    "Roles": "marey.core",
    "Skeleton": "marey.core",
    "clean": "marey.clean",
    "clean_stream": "marey.clean",
    "clip_names": "marey.io",
    "detect_contacts": "marey.clean",
    "find_floor": "marey.clean",
    "load": "marey.io",
    "load_markers": "marey.io",
    "load_motion": "marey.io",
    "measure": "marey.measure",
    "save": "marey.io",
}

__all__ = ["__version__", *_WHERE]

if TYPE_CHECKING:
    from marey.clean import clean as clean
    from marey.clean import clean_stream as clean_stream
    from marey.clean import detect_contacts as detect_contacts
    from marey.clean import find_floor as find_floor
    from marey.core import ContactPoint as ContactPoint
    from marey.core import Contacts as Contacts
    from marey.core import Label as Label
    from marey.core import Labels as Labels
    from marey.core import Markers as Markers
    from marey.core import Motion as Motion
    from marey.core import Roles as Roles
    from marey.core import Skeleton as Skeleton
    from marey.io import clip_names as clip_names
    from marey.io import load as load
    from marey.io import load_markers as load_markers
    from marey.io import load_motion as load_motion
    from marey.io import save as save
    from marey.measure import measure as measure


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        room = importlib.import_module(_WHERE[name])
        # A room that shares its name with its main function can be called.
        value = room if room.__name__ == f"marey.{name}" else getattr(room, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'marey' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
