"""The values that everything else works on, and the kinematics between them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Names are imported when they are first used, so that reading a file does not wait for what it has no use for.
_WHERE = {
    "ROLE_NAMES": "roles",
    "Clips": "protocols",
    "ContactPoint": "contacts",
    "Contacts": "contacts",
    "Label": "labels",
    "Labels": "labels",
    "LimbPose": "limb",
    "Markers": "markers",
    "Motion": "motion",
    "Roles": "roles",
    "Skeleton": "skeleton",
    "Source": "source",
    "Stream": "protocols",
    "World": "kinematics",
    "find_hinge": "limb",
    "forward_kinematics": "kinematics",
    "hinge_angle": "limb",
    "pose_world": "kinematics",
    "solve_limb": "limb",
}

__all__ = [*_WHERE]

if TYPE_CHECKING:
    from marey.core.contacts import ContactPoint as ContactPoint
    from marey.core.contacts import Contacts as Contacts
    from marey.core.kinematics import World as World
    from marey.core.kinematics import forward_kinematics as forward_kinematics
    from marey.core.kinematics import pose_world as pose_world
    from marey.core.labels import Label as Label
    from marey.core.labels import Labels as Labels
    from marey.core.limb import LimbPose as LimbPose
    from marey.core.limb import find_hinge as find_hinge
    from marey.core.limb import hinge_angle as hinge_angle
    from marey.core.limb import solve_limb as solve_limb
    from marey.core.markers import Markers as Markers
    from marey.core.motion import Motion as Motion
    from marey.core.protocols import Clips as Clips
    from marey.core.protocols import Stream as Stream
    from marey.core.roles import ROLE_NAMES as ROLE_NAMES
    from marey.core.roles import Roles as Roles
    from marey.core.skeleton import Skeleton as Skeleton
    from marey.core.source import Source as Source


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"marey.core.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'marey.core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
