"""Points of the body that features refer to: joints by role or name, and the center of mass."""

from __future__ import annotations

from marey.core.arrays import Floats
from marey.core.kinematics import World
from marey.core.skeleton import Skeleton
from marey.measure.balance import find_center_of_mass

__all__ = ["CENTER_OF_MASS", "find_joint", "find_path"]

CENTER_OF_MASS = "center_of_mass"


def find_joint(skeleton: Skeleton, name: str) -> int:
    """Return the index of the joint with the role `name` or, if there is none, of the joint named so."""
    found = skeleton.roles.get(name)
    return skeleton.index(name) if found is None else found


def find_path(skeleton: Skeleton, world: World, name: str) -> Floats:
    """Return the world positions (F, 3) of a joint or of the center of mass, in meters."""
    if name == CENTER_OF_MASS:
        return find_center_of_mass(skeleton, world)
    return world.positions[:, find_joint(skeleton, name)]
