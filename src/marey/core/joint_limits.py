"""Limits of joint rotations: how far each joint can bend and twist."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, check_list, check_names, set_readonly
from marey.core.motion import Motion, check_motion
from marey.core.settings import Settings, operation, option
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, format_list
from marey.maths import euler, quat

_TURN = 2.0 * np.pi
# Tolerance for |q| = 1: quaternions in files are rounded, but a larger deviation is an error.
_UNIT_SLACK = 1e-3
# Minimum number of frames from which to learn a range of movement.
_MIN_FRAMES = 10


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits(FrozenRecord):
    """Ranges of the rotations of N joints. Joints that are not listed are free.

    The rotation of a joint relative to its parent is ``center * axes * Rz(c) * Ry(b) * Rx(a) * inv(axes)``, with the
    angles (a, b, c) within `low` and `high`.

    Parameters
    ----------
    names : names of the joints.
    centers : (N, 4) unit quaternions, rotations at which all angles are 0.
    axes : (N, 4) unit quaternions, the frames whose x, y and z axes the angles are about.
    low, high : (N, 3) radians, the smallest and the largest a, b and c. A range of a full turn or more does not limit.

    Examples
    --------
    >>> limits = marey.core.learn_joint_limits([walk, run])
    >>> names, excess = limits.find_excess(kick)
    >>> excess.shape == (len(kick), len(names))
    True
    >>> limits.apply(kick)
    <Motion 'kick': 156 frames at 60 Hz, 27 joints>
    """

    names: tuple[str, ...]
    centers: Floats
    axes: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        names = check_names(self.names, "joint")
        self._put(names=names)
        self._freeze(centers=(len(names), 4), axes=(len(names), 4), low=(len(names), 3), high=(len(names), 3))
        for field in ("centers", "axes"):
            given = getattr(self, field)
            length = np.linalg.norm(given, axis=1, keepdims=True)
            if (np.abs(length - 1.0) > _UNIT_SLACK).any():
                worst = length.flat[np.abs(length - 1.0).argmax()]
                raise InvalidValue(f"{field} must be unit quaternions, got one of length {worst:.6g}")
            self._put(**{field: set_readonly(given / length)})
        wrong = np.argwhere(self.low > self.high)
        if len(wrong):
            n, k = wrong[0].tolist()
            raise InvalidValue(
                f"`low` must be at most `high`, but joint {names[n]!r} has {self.low[n, k]:g} and {self.high[n, k]:g}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def find_excess(self, motion: Motion) -> tuple[tuple[str, ...], Floats]:
        """Return the names of the n limited joints, and the radians (F, n) by which they exceed their limits."""
        joints, _ = self.find_joints(motion.skeleton)
        given, within = motion.rotations[:, joints], self._bring_within(motion)
        excess = np.where((given == within).all(axis=-1), 0.0, quat.angle_between(given, within))
        return tuple(motion.skeleton.names[j] for j in joints), excess

    def apply(self, motion: Motion) -> Motion:
        """Return the motion with every joint within its limits: angles that exceed them are clipped.

        Rotations within the limits do not change. Clipping moves all joints below, such as planted feet; use
        `marey.clean` with `joint_limits=` to also hold the feet in place.
        """
        joints, _ = self.find_joints(check_motion(motion).skeleton)
        rotations = motion.rotations.copy()
        rotations[:, joints] = self._bring_within(motion)
        return replace(motion, rotations=set_readonly(rotations))

    def find_joints(self, skeleton: Skeleton) -> tuple[list[int], list[int]]:
        """Return the indices of the skeleton's joints that have limits, and their indices in `names`."""
        rows = {name: row for row, name in enumerate(self.names)}
        joints = [j for j, name in enumerate(skeleton.names) if name in rows]
        if not joints:
            raise InvalidValue(
                f"the joint limits are for {format_list(self.names, 4)}, and the motion has none of these joints",
                parameter="joint_limits", remedy="learn limits from clips with the skeleton of the motion",
            )  # fmt: skip
        return joints, [rows[skeleton.names[j]] for j in joints]

    def _bring_within(self, motion: Motion) -> Floats:
        """Return the rotations (F, n, 4) of the limited joints, clipped to the limits."""
        joints, rows = self.find_joints(motion.skeleton)
        given = motion.rotations[:, joints]
        centers, axes, low, high = self.centers[rows], self.axes[rows], self.low[rows], self.high[rows]
        angles = _choose_angles(read_angles(given, centers, axes), low, high)
        clipped = np.clip(angles, low, high)
        inside = (clipped == angles).all(axis=-1)
        local = quat.mul_inv(quat.mul(axes, euler.from_euler(clipped[..., ::-1], "ZYX")), axes)
        found = quat.mul(centers, local)
        found = np.where(quat.dot(found, given)[..., None] < 0.0, -found, found)
        return np.where(inside[..., None], given, found)


def check_joint_limits(value: Any) -> None:
    """Raise InvalidValue unless `value` is JointLimits, the name of a file, or None."""
    if not isinstance(value, JointLimits | str | os.PathLike | None):
        raise InvalidValue(
            f"joint_limits must be JointLimits or the name of a file, not {type(value).__name__}",
            parameter="joint_limits",
        )


class JointLimitSettings(Settings):
    """Settings of `learn_joint_limits`."""

    margin: float = option(
        math.radians(5.0), "Margin added to each limit beyond the observed movement.",
        unit="rad", min=0, max=math.pi,
    )  # fmt: skip
    outliers: float = option(
        0.001, "Fraction of the frames that may lie beyond each limit, so that broken frames do not widen it.",
        unit="fraction", min=0, below=0.5,
    )  # fmt: skip


@operation(JointLimitSettings)
def learn_joint_limits(clips: Iterable[Motion], settings: JointLimitSettings) -> JointLimits:
    """Learn joint limits from clips of one skeleton: the ranges in which their joints move.

    Each joint's angles are about the principal axes of its own movement, so a knee gets one wide range and two narrow
    ones. The hips, joints above them and end sites have no limits. Use clips that show the body's full range of
    movement: limits learned from walks alone would reject every kick.

    Parameters
    ----------
    clips : the motions.

    Examples
    --------
    >>> limits = marey.core.learn_joint_limits([walk, run, kick])
    >>> knee = limits.names.index("LeftLeg")
    >>> np.degrees(limits.high - limits.low)[knee].shape
    (3,)
    """
    motions = check_list(clips, Motion, "clips")
    n_frames = sum(map(len, motions))
    if n_frames < _MIN_FRAMES:
        raise InvalidValue(f"joint limits need at least {_MIN_FRAMES} frames to learn from, not {n_frames}")
    skeleton = motions[0].skeleton
    for motion in motions[1:]:
        if not motion.skeleton.fits(skeleton):
            raise InvalidValue(
                f"joint limits need clips with the same joints, but those of {motion.name!r} differ from "
                f"{motions[0].name!r}", remedy="retarget one of them",
            )  # fmt: skip
    hips = skeleton.roles.get("hips", 0)
    free = set(skeleton.chain(hips)) | set(np.flatnonzero(skeleton.is_end_site).tolist())
    joints = [j for j in range(len(skeleton)) if j not in free]
    if not joints:
        raise InvalidValue("joint limits need joints below the hips, and the skeleton has none")
    seen = np.concatenate([motion.rotations[:, joints] for motion in motions])
    centers = quat.average(seen, axis=0)
    axes = _find_axes(quat.log(quat.inv_mul(centers, seen)))
    # All ranges are centered near 0, so compare the equivalent angles nearest to 0.
    zero = np.zeros((len(joints), 3))
    angles = _choose_angles(read_angles(seen, centers, axes), zero, zero)
    low, high = np.quantile(angles, [settings.outliers, 1.0 - settings.outliers], axis=0)
    names = tuple(skeleton.names[j] for j in joints)
    return JointLimits(names, centers, axes, low - settings.margin, high + settings.margin)


def read_angles(rotations: Floats, centers: Floats, axes: Floats) -> Floats:
    """Return the angles (F, n, 3) of rotations (F, n, 4), relative to `centers` (n, 4), about the x, y and z axes of
    the frames `axes` (n, 4)."""
    local = quat.inv_mul(axes, quat.mul(quat.inv_mul(centers, rotations), axes))
    return euler.to_euler(local, "ZYX")[..., ::-1]


def _choose_angles(angles: Floats, low: Floats, high: Floats) -> Floats:
    """Return the equivalent Euler angles that exceed the limits least.

    Every rotation has two triples of angles, and full turns may be added to each angle.
    """
    middle = 0.5 * (low + high)
    twin = angles + np.pi
    twin[..., 1] = np.pi - angles[..., 1]
    both = np.stack([angles, twin])
    both = both - _TURN * np.round((both - middle) / _TURN)
    excess = np.square(both - np.clip(both, low, high)).sum(axis=-1)
    return np.asarray(np.where((excess[1] < excess[0])[..., None], both[1], both[0]))


def _find_axes(vectors: Floats) -> Floats:
    """Return the principal axes of rotation vectors (F, n, 3), as n frames (n, 4).

    The x axis has the largest range and the y axis the smallest, because angles about y must stay within a quarter turn
    to be unambiguous.
    """
    _, principal = np.linalg.eigh(np.einsum("fni,fnj->nij", vectors, vectors))
    x, y = principal[..., 2], principal[..., 0]
    # Flip each axis so that its largest component is positive, because the signs of eigenvectors are arbitrary.
    x, y = (axis * np.sign(np.take_along_axis(axis, np.abs(axis).argmax(axis=1)[:, None], axis=1)) for axis in (x, y))
    return quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
