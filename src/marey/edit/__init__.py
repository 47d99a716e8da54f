"""Edit a single motion: frame rate, mirroring, length, timing, path, posture and skeleton; repair and smooth it.

Every function takes a motion and returns a new one. Contacts and labels are carried over, and the last step of
``source.provenance`` records the edit.
"""

from marey.core.resample import resample
from marey.deprecation import renamed_names
from marey.edit.common_skeleton import share_skeleton
from marey.edit.connect import connect
from marey.edit.crop import crop
from marey.edit.cycle import cycle
from marey.edit.deseam import deseam
from marey.edit.in_place import make_in_place
from marey.edit.level import level
from marey.edit.mirror import mirror
from marey.edit.path import edit_path, extract_path
from marey.edit.repair import repair
from marey.edit.retarget import retarget
from marey.edit.retarget_map import RetargetMap
from marey.edit.settings import (
    ConnectSettings,
    CycleSettings,
    DeseamSettings,
    EditPathSettings,
    InPlaceSettings,
    RepairSettings,
    RetargetSettings,
    SkeletonSettings,
    SmoothSettings,
    WarpSettings,
)
from marey.edit.smooth import smooth
from marey.edit.timewarp import timewarp
from marey.edit.warp import MoveKey, TurnKey, warp

__all__ = [
    "ConnectSettings",
    "CycleSettings",
    "DeseamSettings",
    "EditPathSettings",
    "InPlaceSettings",
    "MoveKey",
    "RepairSettings",
    "RetargetMap",
    "RetargetSettings",
    "SkeletonSettings",
    "SmoothSettings",
    "TurnKey",
    "WarpSettings",
    "connect",
    "crop",
    "cycle",
    "deseam",
    "edit_path",
    "extract_path",
    "level",
    "make_in_place",
    "mirror",
    "repair",
    "resample",
    "retarget",
    "share_skeleton",
    "smooth",
    "timewarp",
    "warp",
]

__getattr__ = renamed_names(__name__, {"traveled_path": "extract_path", "travelled_path": "extract_path"})
