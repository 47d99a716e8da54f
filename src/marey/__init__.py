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
    "GazeMap": "marey.layer",
    "Label": "marey.core",
    "Labels": "marey.core",
    "Markers": "marey.core",
    "MatchWeb": "marey.find",
    "Motion": "marey.core",
    "MotionGraph": "marey.graph",
    "MotionSet": "marey.store",
    "ParametricMotion": "marey.parametric",
    "ParametricMotionGraph": "marey.pmg",
    "Roles": "marey.core",
    "Skeleton": "marey.core",
    "blend": "marey.blend",
    "clean": "marey.clean",
    "clean_stream": "marey.clean",
    "clip_names": "marey.io",
    "detect_contacts": "marey.clean",
    "distance_grid": "marey.compare",
    "find_floor": "marey.clean",
    "gaze_example": "marey.layer",
    "load": "marey.io",
    "load_markers": "marey.io",
    "load_motion": "marey.io",
    "measure": "marey.measure",
    "register": "marey.register",
    "save": "marey.io",
    "splice": "marey.layer",
    "transition": "marey.blend",
    "transplant": "marey.layer",
}

__all__ = ["__version__", *_WHERE]

# Rooms are likewise imported when they are first used: `marey.layer.SpliceSet` needs no import of its own. A star takes
# none of them, as it would load them all.
_ROOMS = (
    *("compare", "control", "core", "edit", "errors", "find", "graph", "io"),
    *("layer", "maths", "parametric", "plot", "pmg", "samples", "store"),
)

if TYPE_CHECKING:
    from marey import compare as compare
    from marey import control as control
    from marey import core as core
    from marey import edit as edit
    from marey import errors as errors
    from marey import find as find
    from marey import graph as graph
    from marey import io as io
    from marey import layer as layer
    from marey import maths as maths
    from marey import parametric as parametric
    from marey import plot as plot
    from marey import pmg as pmg
    from marey import samples as samples
    from marey import store as store
    from marey.blend import blend as blend
    from marey.blend import transition as transition
    from marey.clean import clean as clean
    from marey.clean import clean_stream as clean_stream
    from marey.clean import detect_contacts as detect_contacts
    from marey.clean import find_floor as find_floor
    from marey.compare import distance_grid as distance_grid
    from marey.core import ContactPoint as ContactPoint
    from marey.core import Contacts as Contacts
    from marey.core import Label as Label
    from marey.core import Labels as Labels
    from marey.core import Markers as Markers
    from marey.core import Motion as Motion
    from marey.core import Roles as Roles
    from marey.core import Skeleton as Skeleton
    from marey.find import MatchWeb as MatchWeb
    from marey.graph import MotionGraph as MotionGraph
    from marey.io import clip_names as clip_names
    from marey.io import load as load
    from marey.io import load_markers as load_markers
    from marey.io import load_motion as load_motion
    from marey.io import save as save
    from marey.layer import GazeMap as GazeMap
    from marey.layer import gaze_example as gaze_example
    from marey.layer import splice as splice
    from marey.layer import transplant as transplant
    from marey.measure import measure as measure
    from marey.parametric import ParametricMotion as ParametricMotion
    from marey.pmg import ParametricMotionGraph as ParametricMotionGraph
    from marey.register import register as register
    from marey.store import MotionSet as MotionSet


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        room = importlib.import_module(_WHERE[name])
        # A room that shares its name with its main function can be called.
        value = room if room.__name__ == f"marey.{name}" else getattr(room, name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return importlib.import_module(f"marey.{name}")
    raise AttributeError(f"module 'marey' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
