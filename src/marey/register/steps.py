"""Steps: the times at which the feet pass each other, and the swinging foot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.compare import Clouds
from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.measure.gait import ankle_passes, leg_length

_ROLES = ("hips", *(f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot")))
# Seconds to either side of a passing over which the feet's speeds are compared.
_NEAR = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Passings of the feet, one half cycle of gait between neighbors.

    frames : (P,) between whole frames.
    feet : (P,) the swinging foot: 0 left, 1 right; they alternate.
    """

    frames: Floats
    feet: Ints

    def __len__(self) -> int:
        return len(self.frames)


def find_steps(motion: Motion, clouds: Clouds | None = None) -> Steps:
    """Find the longest run of steps in a motion; empty if it has no gait.

    The feet pass where the ankles' separation along the hips' facing (or across it, in side steps) goes through 0; see
    `marey.measure.stride_rate`. In gait the feet take turns: a leg that swings out and back again, as in a kick, passes
    the other one twice and is no step.

    clouds : markers of the motion, to save time; used if hips and legs are among them.
    """
    roles = motion.skeleton.roles
    nothing = Steps(np.zeros(0), np.zeros(0, dtype=np.int64))
    if len(motion) < 3 or any(role not in roles for role in _ROLES):
        return nothing
    leg = leg_length(motion.skeleton)
    if leg <= 0.0:
        return nothing
    if clouds is not None and set(_ROLES) <= set(clouds.names):
        at = {role: clouds.points[:, clouds.names.index(role)][:, [0, 2]] for role in _ROLES}
    else:
        floor = motion.world().positions[..., [0, 2]]
        at = {role: floor[:, roles[role]] for role in _ROLES}
    feet = np.stack([at["left_foot"], at["right_foot"]], axis=1)
    passes = np.array(ankle_passes(at["hips"], at["left_upper_leg"] - at["right_upper_leg"], feet, leg)[1])
    if not len(passes):
        return nothing
    reach = max(1, round(_NEAR * motion.fps))
    before, after = (np.clip(np.rint(passes + d).astype(np.int64), 0, len(motion) - 1) for d in (-reach, reach))
    moving = np.argmax(np.linalg.norm(feet[after] - feet[before], axis=-1), axis=1)
    start, stop = _longest_alternation(moving)
    return Steps(passes[start:stop], moving[start:stop])


def _longest_alternation(feet: Ints) -> tuple[int, int]:
    """(start, stop) of the longest stretch in which neighbors differ; the first of several."""
    cuts = [0, *(np.flatnonzero(feet[1:] == feet[:-1]) + 1).tolist(), len(feet)]
    k = int(np.argmax(np.diff(cuts)))
    return cuts[k], cuts[k + 1]
