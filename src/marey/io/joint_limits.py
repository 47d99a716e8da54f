"""Files of joint limits: JSON, which people may edit, and the limits that ASF files state.

``{"format": "marey.joint_limits", "version": 1, "names": [...], "centers": [[w, x, y, z], ...], "axes": [...], "low":
[[a, b, c], ...], "high": [...]}``, in radians; see `JointLimits`.
"""

from __future__ import annotations

import math
import os

import numpy as np

from marey.core.arrays import Floats
from marey.core.joint_limits import JointLimits, check_joint_limits
from marey.errors import ParseError, warn_user
from marey.io.asf import AsfSkeleton, asf_motion, quote, read_asf
from marey.io.axes import rotation_between
from marey.io.canonical import to_motion
from marey.io.files import read_bytes
from marey.io.stored import FileFormat, Part
from marey.maths import quat

_FILE = FileFormat(
    "marey.joint_limits", 1,
    {
        "names": Part("text", ("joints",)),
        "centers": Part("float", ("joints", 4)),
        "axes": Part("float", ("joints", 4)),
        "low": Part("float", ("joints", 3)),
        "high": Part("float", ("joints", 3)),
    },
    is_json=True,
)  # fmt: skip
# Radians that replace infinite limits of an ASF file.
_NO_LIMIT = 2.0 * math.pi


def save_joint_limits(limits: JointLimits, path: str | os.PathLike[str]) -> None:
    """Write joint limits to a JSON file.

    Examples
    --------
    >>> limits = marey.core.learn_joint_limits([walk, run, kick])
    >>> marey.io.save_joint_limits(limits, "limits.json")
    >>> marey.io.load_joint_limits("limits.json").names == limits.names
    True
    """
    _FILE.write(path, {name: getattr(limits, name) for name in _FILE.parts})


def load_joint_limits(path: str | os.PathLike[str]) -> JointLimits:
    """Read joint limits from a JSON file, or those that an .asf file states for its bones.

    Examples
    --------
    >>> marey.io.save_joint_limits(marey.core.learn_joint_limits([walk, run]), "limits.json")
    >>> limits = marey.io.load_joint_limits("limits.json")
    >>> limits.low.shape == (len(limits.names), 3)  # radians
    True
    """
    name = os.fspath(path)
    if not name.lower().endswith(".asf"):
        with _FILE.open(path) as parts:
            return JointLimits(**parts)
    skeleton = read_asf(read_bytes(path), name)
    return _read_asf_limits(skeleton, to_motion(asf_motion(skeleton, name)).source.up or "y")


def read_joint_limits(limits: JointLimits | str | os.PathLike[str] | None) -> JointLimits | None:
    """Return joint limits, loaded from a file if given as a path; None stays None. Other values raise InvalidValue."""
    check_joint_limits(limits)
    return limits if limits is None or isinstance(limits, JointLimits) else load_joint_limits(limits)


def _read_asf_limits(skeleton: AsfSkeleton, up: str) -> JointLimits:
    """Return the rotation limits of the bones; `up` is the up axis of the file."""
    names, frames, lows, highs = [], [], [], []
    for i, words in enumerate(skeleton.limits):
        ranges = _read_ranges(words, i, skeleton)
        turning = [k for k, dof in enumerate(skeleton.dofs[i]) if dof[0] == "r"]
        if ranges is None or not turning:
            continue
        stated = ["xyz".index(skeleton.dofs[i][k][1]) for k in turning]
        order = [
            *stated,
            *(axis for axis in range(3) if axis not in stated),
        ]  # no rotation about the others
        limits = np.zeros((3, 2))
        limits[: len(turning)] = ranges[turning]
        axes = np.eye(3)[:, order]
        if np.linalg.det(axes) < 0.0:  # flip all axes and angles, which gives the same rotations
            axes, limits = -axes, -limits[:, ::-1]
        names.append(skeleton.names[i])
        frames.append(quat.mul(skeleton.axes[i], quat.from_matrix(axes)))
        lows.append(limits[:, 0])
        highs.append(limits[:, 1])
    if not names:
        raise ParseError("the file states no joint limits", path=skeleton.path)
    turned = quat.mul(rotation_between("y", up), np.array(frames))
    return JointLimits(tuple(names), quat.identity(len(names)), turned, np.array(lows), np.array(highs))


def _read_ranges(words: tuple[str, ...], bone: int, skeleton: AsfSkeleton) -> Floats | None:
    """Return the limits (n, 2) in radians of a bone's n degrees of freedom; None if it has none, or, with a warning, if
    they are malformed."""
    if not words:
        return None
    dofs = skeleton.dofs[bone]
    try:
        ranges = np.array(words, dtype=np.float64).reshape(len(dofs), 2)
    except ValueError:
        ranges = np.full((1, 2), np.nan)
    if (ranges[:, 0] <= ranges[:, 1]).all():
        return np.clip(ranges * (math.pi / 180.0 if skeleton.degrees else 1.0), -_NO_LIMIT, _NO_LIMIT)
    warn_user(
        f"{skeleton.path}: the limits of bone {quote(skeleton.names[bone])} are ignored; expected a pair of numbers, "
        f"low and high, for each of its degrees of freedom ({' '.join(dofs) or 'none'}), got {quote(' '.join(words))}"
    )
    return None
