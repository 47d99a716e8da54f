"""Make a motion play in place, as game engines need it, or start at the origin."""

from __future__ import annotations

import numpy as np

from marey.clean import move_to_floor
from marey.core.annotations import add_provenance
from marey.core.motion import Motion, check_motion, move_frames
from marey.core.placement import bake_hips_into_root, find_facing
from marey.core.settings import operation
from marey.edit.settings import InPlaceSettings
from marey.maths import filters, rigid2d

# Minimum smoothing of the facing direction in seconds: hips and shoulders swing in every step, which is not a turn.
_SWING = 0.3


@operation(InPlaceSettings)
def make_in_place(motion: Motion, settings: InPlaceSettings) -> Motion:
    """Remove the travel of a motion, so that it plays in place, or only move its start to the origin.

    The hips are then over the origin and the body faces +Z: in every frame, or only in the first; see `remove`. The
    floor is at height 0, unless it is unknown because no foot comes to rest. Poses stay the same. Contacts and labels
    are carried over, although planted feet of a motion in place slide, as on a treadmill. Provenance records the
    ``distance`` traveled in meters and the ``turn`` in radians, to the left.

    Examples
    --------
    >>> placed = marey.edit.make_in_place(walk)
    >>> bool(np.abs(placed.travel[:, [0, 2]]).max() < 1e-9)  # meters
    True
    >>> round(placed.source.provenance[-1]["distance"], 1)
    5.2
    """
    moved = move_to_floor(bake_hips_into_root(check_motion(motion)), 0.0)
    facing = find_facing(moved.skeleton, moved.world().positions)
    travel = moved.travel[:, [0, 2]]
    heading = filters.gaussian(facing, max(settings.smooth, _SWING) * motion.fps)
    here = np.column_stack([np.full(len(facing), facing[0]), np.broadcast_to(travel[0], travel.shape)])
    if settings.remove != "start":
        here[:, 1:] = filters.gaussian(travel, settings.smooth * motion.fps)
    if settings.remove == "turns":
        here[:, 0] = heading
    return add_provenance(
        move_frames(moved, rigid2d.invert(here)),
        "in_place",
        remove=settings.remove,
        smooth=settings.smooth,
        distance=float(np.linalg.norm(np.diff(travel, axis=0), axis=1).sum()),
        turn=float(heading[-1] - heading[0]),
    )


def is_in_place(motion: Motion) -> bool:
    """Return whether the travel of a motion was removed on purpose, so that its planted feet slide."""
    steps = motion.source.provenance
    return any(step.get("op") == "in_place" and step.get("remove") != "start" for step in steps)
