"""Points of the body that features refer to: joints by role or name, and the center of mass."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats
from marey.core.kinematics import World
from marey.core.skeleton import Skeleton

__all__ = ["CENTER_OF_MASS", "find_joint", "find_path"]

CENTER_OF_MASS = "center_of_mass"

_LIMBS = (
    ("upper_arm", "forearm", 0.028, 0.436),
    ("forearm", "hand", 0.016, 0.430),
    ("hand", "fingertips", 0.006, 0.506),
    ("upper_leg", "lower_leg", 0.100, 0.433),
    ("lower_leg", "foot", 0.0465, 0.433),
    ("foot", "toe_tip", 0.0145, 0.500),
)
_SEGMENTS: tuple[tuple[str, str, float, float], ...] = (
    ("hips", "neck", 0.497, 0.5),
    ("neck", "head", 0.081, 1.0),
    *((f"{side}_{a}", f"{side}_{b}", mass, at) for side in ("left", "right") for a, b, mass, at in _LIMBS),
)
"""Body segments: proximal role, distal role, fraction of the body's mass, and position of the segment's center of mass
as a fraction of its length from the proximal end (Winter, Biomechanics and Motor Control of Human Movement, table of
segments)."""


def find_joint(skeleton: Skeleton, name: str) -> int:
    """Return the index of the joint with this role or, if there is none, with this name."""
    found = skeleton.roles.get(name)
    return skeleton.index(name) if found is None else found


def find_path(skeleton: Skeleton, world: World, name: str) -> Floats:
    """Return the world positions (F, 3) of a joint or of the center of mass, in meters."""
    if name != CENTER_OF_MASS:
        return world.positions[:, find_joint(skeleton, name)]
    roles, total, mass = skeleton.roles, np.zeros((len(world.positions), 3)), 0.0
    for start, stop, fraction, at in _SEGMENTS:
        a, b = roles.get(start), roles.get(stop)
        if a is None:
            continue
        # If the skeleton has no joint at the distal end, use the proximal end.
        first, last = world.positions[:, a], world.positions[:, a if b is None else b]
        total += fraction * (first + at * (last - first))
        mass += fraction
    return np.asarray(total / mass) if mass > 0.0 else world.positions[:, roles["hips"]]
