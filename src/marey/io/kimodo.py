"""Read motions of Kimodo (NVIDIA) as NPZ: rotation matrices and joint positions of its SOMA or SMPL-X skeleton.

The file has neither names nor offsets: the number of joints determines the skeleton, and offsets are computed from
positions and rotations. Y is up, lengths are in meters, the rate is 30 Hz.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath

import numpy as np

from marey.core.arrays import Floats
from marey.core.source import Source
from marey.errors import InvalidValue, ParseError
from marey.io import limits, smpl
from marey.io.archive import read_other_arrays
from marey.io.raw import RawMotion
from marey.maths import quat

_ROTATIONS, _POSITIONS, _ROOT = "local_rot_mats", "posed_joints", "root_positions"
_FPS = 30.0
# Maximum distance in meters between stored positions and those computed from rotations and constant bones.
_LOOSE = 0.01
_TRUNK = ("Hips", "Spine1 Hips", "Spine2 Spine1", "Chest Spine2", "Neck1 Chest", "Neck2 Neck1", "Head Neck2")
_FACE = ("Jaw Head", "LeftEye Head", "RightEye Head")
_ARM = ("*Shoulder Chest", "*Arm *Shoulder", "*ForeArm *Arm", "*Hand *ForeArm")
_LEG = ("*Leg Hips", "*Shin *Leg", "*Foot *Shin", "*ToeBase *Foot")
_TIPS = ("*HandThumbEnd *Hand", "*HandMiddleEnd *Hand")


def _name_finger(name: str, n_bones: int) -> list[str]:
    chain = ["*Hand", *(f"*Hand{name}{k}" for k in range(1, n_bones + 1)), f"*Hand{name}End"]
    return [f"{joint} {parent}" for parent, joint in pairwise(chain)]


def _name_both_sides(joints: Sequence[str]) -> list[str]:
    return [joint.replace("*", side) for side in ("Left", "Right") for joint in joints]


_HAND = [
    *_name_finger("Thumb", 3),
    *(joint for name in ("Index", "Middle", "Ring", "Pinky") for joint in _name_finger(name, 4)),
]
# Joints and their parents, by the number of joints.
_SKELETONS = {
    30: ("SOMA", [*_TRUNK, *_FACE, *_name_both_sides([*_ARM, *_TIPS]), *_name_both_sides(_LEG)]),
    77: (
        "SOMA",
        [
            *_TRUNK,
            "HeadEnd Head",
            *_FACE,
            *_name_both_sides([*_ARM, *_HAND]),
            *_name_both_sides([*_LEG, "*ToeEnd *ToeBase"]),
        ],
    ),
}


def is_kimodo(names: Sequence[str]) -> bool:
    """Return whether an NPZ file with arrays of these names holds a motion of Kimodo."""
    return _ROTATIONS in names and _POSITIONS in names


def read_kimodo(data: bytes, path: str, *, fps: float | None = None) -> RawMotion:
    """Read a motion from the bytes of an NPZ file; `path` is for messages, `fps` replaces the rate of 30 Hz."""
    arrays = read_other_arrays(data, path, (_ROTATIONS, _POSITIONS, _ROOT))
    matrices, positions = (_numbers(arrays[name], name, path) for name in (_ROTATIONS, _POSITIONS))
    if matrices.ndim == 5 and len(matrices) == 1 and len(positions) == 1:  # a batch of one
        matrices, positions = matrices[0], positions[0]
    n_frames, n_joints = matrices.shape[:2] if matrices.ndim == 4 else (0, 0)
    if matrices.shape != (n_frames, n_joints, 3, 3) or positions.shape != (n_frames, n_joints, 3) or not n_frames:
        raise ParseError(
            f"expected {_ROTATIONS!r} of shape (F, J, 3, 3) and {_POSITIONS!r} of shape (F, J, 3), got "
            f"{matrices.shape} and {positions.shape}",
            path=path,
        )
    limits.check_frames(n_frames, path)
    called, names, parents = _find_skeleton(n_joints, path)
    try:
        rotations = quat.normalize(quat.from_matrix(matrices))
    except InvalidValue:
        raise ParseError(f"array {_ROTATIONS!r} must hold rotation matrices", path=path) from None
    world, offsets = [rotations[:, 0]], np.zeros((n_joints, 3))
    for j in range(1, n_joints):
        parent = int(parents[j])
        world.append(quat.mul(world[parent], rotations[:, j]))
        local = quat.inv_rotate(world[parent], positions[:, j] - positions[:, parent])
        offsets[j] = local.mean(axis=0)
        if np.abs(local - offsets[j]).max() > _LOOSE:
            raise ParseError(
                f"the bone of joint {names[j]!r} changes its length or direction; {_POSITIONS!r} and {_ROTATIONS!r} "
                f"do not match the {called} skeleton",
                path=path,
            )
    rate = _FPS if fps is None else fps
    return RawMotion(
        names=names,
        parents=parents,
        offsets=offsets,
        root_positions=positions[:, 0].copy(),
        rotations=quat.unroll(rotations),
        fps=rate,
        name=PurePath(path.replace("\\", "/")).stem,
        source=Source(path=path, format="kimodo"),
        unit=1.0,
        up="y",
        evidence=[
            f"joints of the {called} skeleton, from {n_joints} joints; bone lengths from the joint positions",
            f"rate {rate:g} Hz as given" if fps is not None else f"rate {rate:g} Hz, that of Kimodo",
        ],
    )


def _find_skeleton(n_joints: int, path: str) -> tuple[str, tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the name of the skeleton with this many joints, its joints' names and their parents."""
    if n_joints == 22:
        body = smpl.smpl_skeleton(n_joints=22)
        return "SMPL-X", body.names, body.parents
    if n_joints not in _SKELETONS:
        known = " or ".join(map(str, (22, *_SKELETONS)))
        raise ParseError(
            f"expected a Kimodo motion with {known} joints, got {n_joints} (robots with 34 joints are not supported)",
            path=path,
        )
    called, joints = _SKELETONS[n_joints]
    pairs = [joint.split() for joint in joints]
    names = tuple(pair[0] for pair in pairs)
    return called, names, np.array([names.index(pair[1]) if len(pair) > 1 else -1 for pair in pairs])


def _numbers(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], name: str, path: str) -> Floats:
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ParseError(f"array {name!r} must hold finite numbers", path=path)
    return np.ascontiguousarray(array, dtype=np.float64)
