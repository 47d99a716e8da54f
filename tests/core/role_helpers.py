"""Helpers that the tests of roles share."""

from __future__ import annotations

import numpy as np

from marey.core.roles import find_roles
from tests.core.skeletons import Rig

MAIN = ("hips", "head") + tuple(
    f"{side}_{part}"
    for side in ("left", "right")
    for part in ("upper_leg", "lower_leg", "foot", "upper_arm", "forearm", "hand")
)


def label(value):
    return value.label if isinstance(value, Rig) else None


def named(roles):
    return {role: roles.names[joint] for role, joint in roles.items()}


def nameless(n):
    return tuple(f"joint_{joint}" for joint in range(n))


def shape_roles(rig, points=None):
    """Return the roles of a rig with its names removed, by its original names."""
    found = find_roles(nameless(len(rig.names)), rig.parents, rig.offsets, positions=points)
    return found, {role: rig.names[joint] for role, joint in found.items()}


def main(roles):
    return {role: roles.get(role) for role in MAIN}


def world(parents, offsets):
    points = np.array(offsets, dtype=float)
    for joint in range(1, len(points)):
        points[joint] += points[parents[joint]]
    return points


def turn(axis, angle):
    """Rotation matrix about `axis` by the formula of Rodrigues."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


TWO_BRANCHES = """
Body 0 0.95 0
  Hips 0 0 0
    *Thigh 0.1 -0.05 0
      *Shin 0 -0.42 0
        *Foot 0 -0.41 0
          *Toe 0 -0.06 0.13
  Waist 0 0.1 0
    Chest 0 0.3 0
      Neck 0 0.2 0
        Head 0 0.1 0
      *Collar 0.04 0.15 0
        *UpperArm 0.13 0 0
          *LowerArm 0.28 0 0
            *Hand 0.25 0 0
"""
