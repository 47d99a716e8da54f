"""Passings: the times at which the feet pass each other, and the swinging foot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.compare import Clouds
from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.measure.gait import find_passings, mean_leg_length

_ROLES = ("hips", *(f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot")))


@dataclass(frozen=True, slots=True, eq=False)
class FootPassings:
    """P passings of the feet, with one half cycle of gait between neighbors.

    frames : (P,) fractional frames.
    feet : (P,) the swing foot: 0 left, 1 right; they alternate.
    """

    frames: Floats
    feet: Ints

    def __len__(self) -> int:
        return len(self.frames)


def find_steps(motion: Motion, clouds: Clouds | None = None) -> FootPassings:
    """Find the longest run of steps in a motion; empty if it has no gait.

    The feet pass each other where the separation of the ankles along the heading of the hips (or across it, in side
    steps) crosses 0; see `marey.measure.stride_rate`. In gait the feet alternate: a leg that swings out and back again,
    as in a kick, passes the other one twice and is not a step.

    clouds : the motion's point cloud, to save time; used if they include hips and legs.
    """
    roles = motion.skeleton.roles
    nothing = FootPassings(np.zeros(0), np.zeros(0, dtype=np.int64))
    if len(motion) < 3 or any(role not in roles for role in _ROLES):
        return nothing
    leg = mean_leg_length(motion.skeleton)
    if leg <= 0.0:
        return nothing
    if clouds is not None and set(_ROLES) <= set(clouds.names):
        at = {role: clouds.points[:, clouds.names.index(role)][:, [0, 2]] for role in _ROLES}
    else:
        floor = motion.world().positions[..., [0, 2]]
        at = {role: floor[:, roles[role]] for role in _ROLES}
    feet = np.stack([at["left_foot"], at["right_foot"]], axis=1)
    across = at["left_upper_leg"] - at["right_upper_leg"]
    passes, moving = find_passings(at["hips"], across, feet, leg, motion.fps)
    if not len(passes):
        return nothing
    start, stop = _longest_alternation(moving)
    return FootPassings(passes[start:stop], moving[start:stop])


def _longest_alternation(feet: Ints) -> tuple[int, int]:
    """Return (start, stop) of the longest run of `feet` in which neighbors differ; the first of several."""
    cuts = [0, *(np.flatnonzero(feet[1:] == feet[:-1]) + 1).tolist(), len(feet)]
    k = int(np.argmax(np.diff(cuts)))
    return cuts[k], cuts[k + 1]
