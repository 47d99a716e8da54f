"""Report of the changes at the seams of a looped upper clip."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.core.kinematics import forward_kinematics
from marey.core.motion import Motion
from marey.layer.halves import SIDES, BodySplit
from marey.layer.phase import TimeMap
from marey.maths import quat


def report_seams(halves: BodySplit, upper: Motion, found: TimeMap, taken: Floats) -> dict[str, Any] | None:
    """The largest changes that averaging makes in the seams of a loop, or None where there are none.

    Parameters
    ----------
    taken : (F, J, 4) rotations of the upper clip as they were taken.

    Returns
    -------
    ``frames`` (start, stop) of each seam in the result, ``angle`` in radians by which a joint of the upper body is
    turned at most from the nearer pass, ``hands`` in meters by which the distance of the hands differs from it.
    """
    first, second, share = found.frames()
    seam = np.flatnonzero(share > 0.0)
    if not len(seam):
        return None
    nearer = np.rint(np.where(share[seam] < 0.5, first[seam], second[seam])).astype(np.int64)
    turned = quat.angle_between(taken[seam], upper.rotations[nearer])[:, halves.upper]
    cuts = np.flatnonzero(np.diff(seam) > 1) + 1
    frames = [[int(run[0]), int(run[-1]) + 1] for run in np.split(seam, cuts)]
    report: dict[str, Any] = {"frames": frames, "angle": float(turned.max())}
    roles = upper.skeleton.roles
    hands = [roles.get(f"{side}_hand") for side in SIDES]
    if None not in hands:
        apart = [_measure_hand_distance(upper, part, hands) for part in (taken[seam], upper.rotations[nearer])]
        report["hands"] = float(np.abs(apart[0] - apart[1]).max())
    return report


def _measure_hand_distance(upper: Motion, rotations: Floats, hands: list[Any]) -> Floats:
    root = np.zeros((len(rotations), 3))
    at = forward_kinematics(upper.skeleton, root, rotations).positions[:, hands]
    return np.asarray(np.linalg.norm(at[:, 0] - at[:, 1], axis=-1))
