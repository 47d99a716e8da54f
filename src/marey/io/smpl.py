"""Motion of the SMPL family of body models: AMASS files, NPZ files of video capture programs, and Motion-X arrays.

The pose of a frame is one rotation vector per joint, in the order of the model. SMPL, SMPL-H and SMPL-X share their
first 22 joints; hands, jaw and eyes follow. These files have no bone lengths: they come from a body model file given by
the user, or from an average body scaled by the first shape parameter.

Only motions with these joints can be saved as AMASS files; retarget others to `smpl_skeleton` first. `save` writes an
AMASS file if the name ends in ``.amass.npz``, and marey's own arrays to any other NPZ file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue, ParseError, warn_user
from marey.io import axes, limits
from marey.io.archive import pack_other_arrays, read_other_arrays
from marey.io.files import read_bytes
from marey.io.raw import RawMotion
from marey.maths import quat

# Names of the arrays in files of different programs.
_POSES = ("poses", "smpl_poses", "pose_world")
_ROOT = ("root_orient", "global_orient")
_BODY = ("pose_body", "body_pose")
_HANDS = (("pose_hand",), ("left_hand_pose", "right_hand_pose"))
_FACE = ("pose_jaw", "pose_eye")
_TRANS = ("trans", "transl", "smpl_trans", "trans_world")
_RATES = ("mocap_framerate", "mocap_frame_rate", "fps")
_SHAPE = "betas"
# A nested dictionary that was stored under joined names, such as ``smpl_params_global.body_pose``; GVHMR's rate.
_NESTED = re.compile(r"smpl_params_global[^a-z]+")
_NESTED_FPS = 30.0
# A row of Motion-X: rotation vectors of root, body, hands and jaw; expression and face; position; shape.
MOTION_X_WIDTH = 322
_MOTION_X_FPS = 30.0
_MOTION_X = {"body": slice(0, 66), "hands": slice(66, 156), "jaw": slice(156, 159), "trans": slice(309, 312)}
_MOTION_X_SHAPE = slice(312, 322)
_MODEL = ("v_template", "shapedirs", "J_regressor")
# Stature in meters: that of the average body, its change with the first shape parameter, and that of the table below.
_MEAN_STATURE, _PER_SHAPE, _TABLE_STATURE = 1.66, 0.1, 1.7
_MAX_SHAPE = 10.0
# Parameters of an AMASS file besides the pose: of the shape, and of soft tissue in each frame.
_N_SHAPE, _N_DMPL = 16, 8
# Tolerance, as a fraction of a bone's length, within which a skeleton has the proportions of the average body.
_SAME_PROPORTIONS = 1e-6
# Maximum distance in meters that joints may move without a warning when bone lengths are made constant.
_UNSEEN = 1e-3


class _Joint(NamedTuple):
    """A joint, its parent, and its offset in meters for a body 1.7 m tall in a T-pose, facing +Z with Y up."""

    name: str
    parent: str
    offset: tuple[float, float, float]


def _mirror(joints: Sequence[_Joint]) -> list[_Joint]:
    """Return joints of both sides from those of the left side, alternating."""
    out = []
    for joint in joints:
        x, y, z = joint.offset
        out += [joint, _Joint(_to_right(joint.name), _to_right(joint.parent), (-x, y, z))]
    return out


def _to_right(name: str) -> str:
    return name.replace("left_", "right_")


def _list_fingers(side: str) -> list[_Joint]:
    sign = 1.0 if side == "left" else -1.0
    out = []
    for finger, (x, y, z), length in (
        ("index", (0.10, 0.0, 0.025), 0.028), ("middle", (0.105, 0.0, 0.0), 0.03), ("pinky", (0.085, 0.0, -0.04), 0.02),
        ("ring", (0.095, 0.0, -0.02), 0.028), ("thumb", (0.03, -0.015, 0.03), 0.03),
    ):  # fmt: skip
        for k in (1, 2, 3):
            parent = f"{side}_wrist" if k == 1 else f"{side}_{finger}{k - 1}"
            offset = (sign * x, y, z) if k == 1 else (sign * length, 0.0, 0.0)
            out.append(_Joint(f"{side}_{finger}{k}", parent, offset))
    return out


_BODY_JOINTS = [
    _Joint("pelvis", "", (0.0, 0.0, 0.0)),
    *_mirror([_Joint("left_hip", "pelvis", (0.08, -0.09, 0.0))]),
    _Joint("spine1", "pelvis", (0.0, 0.11, -0.02)),
    *_mirror([_Joint("left_knee", "left_hip", (0.0, -0.39, 0.0))]),
    _Joint("spine2", "spine1", (0.0, 0.13, 0.0)),
    *_mirror([_Joint("left_ankle", "left_knee", (0.0, -0.41, -0.02))]),
    _Joint("spine3", "spine2", (0.0, 0.06, 0.02)),
    *_mirror([_Joint("left_foot", "left_ankle", (0.02, -0.06, 0.12))]),
    _Joint("neck", "spine3", (0.0, 0.21, -0.03)),
    *_mirror([_Joint("left_collar", "spine3", (0.07, 0.12, -0.02))]),
    _Joint("head", "neck", (0.0, 0.09, 0.04)),
    *_mirror([_Joint("left_shoulder", "left_collar", (0.11, 0.04, -0.01))]),
    *_mirror([_Joint("left_elbow", "left_shoulder", (0.26, 0.0, -0.02))]),
    *_mirror([_Joint("left_wrist", "left_elbow", (0.25, 0.0, 0.0))]),
]
_SMPL_HANDS = _mirror([_Joint("left_hand", "left_wrist", (0.085, 0.0, 0.0))])
_FINGERS = [*_list_fingers("left"), *_list_fingers("right")]
_HEAD = [
    _Joint("jaw", "head", (0.0, 0.0, 0.02)),
    *_mirror([_Joint("left_eye", "head", (0.03, 0.07, 0.07))]),
]
# The joints of each model, by their number.
_MODELS = {
    22: ("SMPL body", _BODY_JOINTS),
    24: ("SMPL", [*_BODY_JOINTS, *_SMPL_HANDS]),
    52: ("SMPL-H", [*_BODY_JOINTS, *_FINGERS]),
    55: ("SMPL-X", [*_BODY_JOINTS, *_HEAD, *_FINGERS]),
}


def is_smpl(names: Sequence[str]) -> bool:
    """Return whether an NPZ file with arrays of these names holds a motion of a SMPL model."""
    names = [_NESTED.sub("", name) for name in names]
    has_pose = any(name in names for name in _POSES) or (
        any(name in names for name in _ROOT) and any(name in names for name in _BODY)
    )
    return has_pose and any(name in names for name in _TRANS)


def read_smpl(
    data: bytes, path: str, names: Sequence[str], *, fps: float | None = None, body_model: Any = None
) -> RawMotion:
    """Read a motion of a SMPL model from the bytes of an NPZ file.

    Parameters
    ----------
    path : the file name, for messages.
    names : the names of all arrays in the file.
    fps : frames per second, if the file states no rate or a wrong one.
    body_model : path of the model's NPZ file, with ``v_template``, ``shapedirs`` and ``J_regressor``.
    """
    hands = tuple(name for group in _HANDS for name in group)
    wanted = (*_POSES, *_ROOT, *_BODY, *hands, *_FACE, *_TRANS, *_RATES, _SHAPE)
    called = {name: _NESTED.sub("", name) for name in names if _NESTED.sub("", name) in wanted}
    is_nested = any(name != short for name, short in called.items())
    arrays = {called[name]: array for name, array in read_other_arrays(data, path, called).items()}
    vectors = _read_poses(arrays, path)
    positions = _numbers(arrays, _find_first(arrays, _TRANS), (len(vectors), 3), path)
    shape = np.zeros(0) if _SHAPE not in arrays else np.atleast_2d(_numbers(arrays, _SHAPE, None, path))[0]
    rate, found = _read_rate(arrays, fps, path)
    if rate is None and is_nested:
        rate, found = _NESTED_FPS, [f"rate {_NESTED_FPS:g} Hz, that of GVHMR's results"]
    return _assemble(vectors, positions, shape, rate, found, path, body_model)


def read_motion_x(array: Floats, path: str, *, fps: float | None = None, body_model: Any = None) -> RawMotion:
    """Read a Motion-X array (F, 322); the parameters are those of `read_smpl`."""
    parts = {name: array[:, columns] for name, columns in _MOTION_X.items()}
    eyes = np.zeros((len(array), 6))
    vectors = np.concatenate([parts["body"], parts["jaw"], eyes, parts["hands"]], axis=1).reshape(len(array), -1, 3)
    rate, found = (fps, "as given") if fps is not None else (_MOTION_X_FPS, "that of Motion-X")
    evidence = [f"rate {rate:g} Hz, {found}"]
    return _assemble(vectors, parts["trans"], array[0, _MOTION_X_SHAPE], rate, evidence, path, body_model)


def smpl_skeleton(*, n_joints: int = 52, body_model: Any = None) -> Skeleton:
    """Return the skeleton of a SMPL model, to retarget motions to before they are saved as ``*.amass.npz``.

    Parameters
    ----------
    n_joints : 22 (body), 24 (SMPL), 52 (SMPL-H) or 55 (SMPL-X).
    body_model : path of the model's NPZ file; without it, the skeleton is that of an average body 1.66 m tall.

    Examples
    --------
    >>> person = marey.edit.retarget(walk, marey.io.smpl_skeleton(n_joints=22))
    >>> person.rotations.shape
    (241, 22, 4)
    >>> marey.save(person, "walk.amass.npz")
    """
    if n_joints not in _MODELS:
        raise InvalidValue(
            f"n_joints must be one of {', '.join(map(str, _MODELS))}, not {n_joints}", parameter="n_joints"
        )
    names, parents, offsets, _ = _build_body(n_joints, np.zeros(0), body_model)
    return Skeleton(names, parents, offsets)


def fits_smpl(skeleton: Skeleton) -> bool:
    """Return whether a skeleton has the joints of a SMPL model, in the model's order."""
    model = _MODELS.get(len(skeleton))
    return model is not None and skeleton.names == tuple(joint.name for joint in model[1])


def write_amass(motion: Motion) -> bytes:
    """Return the bytes of an AMASS file: an NPZ file in meters, Z up, with the pose of a SMPL model.

    The shape parameters are zero. Only if the bones have the proportions of the average body, the first parameter
    encodes the stature; `read_smpl` restores it.
    """
    if not fits_smpl(motion.skeleton):
        raise InvalidValue(
            f"an AMASS file holds the joints of a SMPL model, but {motion.name!r} has other joints",
            remedy="`marey.edit.retarget` puts it on the skeleton that smpl_skeleton() returns",
        )
    if motion.bone_offsets is not None:
        rigid = replace(motion, bone_offsets=None)
        moved = float(np.linalg.norm(motion.world().positions - rigid.world().positions, axis=2).max())
        if moved > _UNSEEN:
            warn_user(
                f"AMASS files have bones of constant length; joints of {motion.name!r} are off by up to {moved:.3f} m"
            )
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.inv_mul(axes.rotation_between("y", "z"), rotations[:, 0])
    shape = np.zeros(_N_SHAPE)
    own = np.array([joint.offset for joint in _MODELS[len(motion.skeleton)][1]])
    scale = float((own * motion.skeleton.offsets).sum() / (own * own).sum())
    if np.abs(motion.skeleton.offsets[1:] - scale * own[1:]).max() <= _SAME_PROPORTIONS * abs(scale):
        shape[0] = (scale * _TABLE_STATURE - _MEAN_STATURE) / _PER_SHAPE
    if not abs(shape[0]) <= _MAX_SHAPE:
        shape[0] = 0.0
    arrays = {
        "poses": quat.log(quat.normalize(rotations)).reshape(len(motion), -1),
        "trans": axes.vectors_to_file(motion.root_positions, "z") - motion.skeleton.offsets[0],
        "betas": shape,
        "dmpls": np.zeros((len(motion), _N_DMPL)),
        "gender": np.array("neutral"),
        "mocap_framerate": np.array(motion.fps),
    }
    return pack_other_arrays(arrays)


def _assemble(
    vectors: Floats,
    positions: Floats,
    shape: Floats,
    rate: float | None,
    found: Sequence[str],
    path: str,
    body_model: Any,
) -> RawMotion:
    """Build the motion from rotation vectors (F, K, 3), positions (F, 3) of the model and its shape."""
    n_frames, n_joints = vectors.shape[:2]
    limits.check_frames(n_frames, path)
    names, parents, offsets, lengths = _build_body(n_joints, shape, body_model)
    return RawMotion(
        names=names,
        parents=parents,
        offsets=offsets,
        root_positions=positions + offsets[0],
        rotations=quat.unroll(quat.exp(vectors)),
        fps=rate,
        name=PurePath(path.replace("\\", "/")).stem.removesuffix(".amass"),
        source=Source(path=path, format="smpl"),
        unit=1.0,
        rest_up="y",
        evidence=[f"joints of the {_MODELS[n_joints][0]} model, from {3 * n_joints} pose parameters", lengths, *found],
    )


def _build_body(n_joints: int, shape: Floats, body_model: Any) -> tuple[tuple[str, ...], Ints, Floats, str]:
    """Return names, parents and rest offsets of a model's joints, and a sentence on the source of the bone lengths."""
    joints = _MODELS[n_joints][1]
    names = tuple(joint.name for joint in joints)
    parents = np.array([names.index(joint.parent) if joint.parent else -1 for joint in joints])
    if body_model is None:
        stature = _MEAN_STATURE + _PER_SHAPE * float(np.clip(shape[0], -_MAX_SHAPE, _MAX_SHAPE) if len(shape) else 0.0)
        offsets = np.array([joint.offset for joint in joints]) * (stature / _TABLE_STATURE)
        lengths = f"bone lengths of an average body {stature:.2f} m tall, since no body model was given (`body_model=`)"
        return names, parents, offsets, lengths
    places = _pose_model(body_model, shape, n_joints)
    offsets = np.concatenate([places[:1], places[1:] - places[parents[1:]]])
    return names, parents, offsets, f"bone lengths from {PurePath(str(body_model)).name}"


def _find_first(arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> str:
    return next((name for name in names if name in arrays), "")


def _read_poses(arrays: Mapping[str, NDArray[Any]], path: str) -> Floats:
    """Return the rotation vectors (F, K, 3) of all joints."""
    whole = _find_first(arrays, _POSES)
    if whole:
        parts = [_numbers(arrays, whole, None, path)]
    else:
        listed = [_find_first(arrays, _ROOT), _find_first(arrays, _BODY), *(name for name in _FACE if name in arrays)]
        listed += next((list(names) for names in _HANDS if all(name in arrays for name in names)), [])
        parts = [_numbers(arrays, name, None, path) for name in listed]
    n_frames = len(parts[0]) if parts[0].ndim else 0
    if any(part.ndim < 2 or len(part) != n_frames for part in parts) or not n_frames:
        raise ParseError("the arrays of the pose must have one row per frame", path=path)
    parts = [_from_matrices(part) if part.ndim > 3 and part.shape[-2:] == (3, 3) else part for part in parts]
    flat = np.concatenate([part.reshape(n_frames, -1) for part in parts], axis=1)
    n_joints, rest = divmod(flat.shape[1], 3)
    if whole == "" and n_joints not in _MODELS:  # hands as principal components, or a face without hands
        n_joints, rest, flat = 22, 0, flat[:, :66]
    if rest or n_joints not in _MODELS or flat.shape[1] < 3 * n_joints:
        known = ", ".join(f"{3 * n} ({called})" for n, (called, _) in _MODELS.items())
        raise ParseError(f"expected {known} pose parameters per frame, got {flat.shape[1]}", path=path)
    return np.ascontiguousarray(flat).reshape(n_frames, n_joints, 3)


def _from_matrices(matrices: Floats) -> Floats:
    """Convert rotation matrices (F, K, 3, 3), as some programs store them, to rotation vectors."""
    return np.asarray(quat.log(quat.normalize(quat.from_matrix(matrices))))


def _numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...] | None, path: str
) -> Floats:  # fmt: skip
    array = arrays[name]
    if array.dtype.kind not in "fiu" or (shape is not None and array.shape != shape):
        expected = "numbers" if shape is None else f"numbers of shape {shape}"
        raise ParseError(f"array {name!r} must be {expected}, got {array.dtype} of shape {array.shape}", path=path)
    out = array.astype(np.float64)
    if not np.isfinite(out).all():
        raise ParseError(f"array {name!r} has numbers that are not finite", path=path)
    return out


def _read_rate(arrays: Mapping[str, NDArray[Any]], fps: float | None, path: str) -> tuple[float | None, list[str]]:
    if fps is not None:
        return fps, [f"rate {fps:g} Hz as given"]
    name = _find_first(arrays, _RATES)
    if not name:
        return None, []
    value = _numbers(arrays, name, None, path)
    if value.size != 1 or not value.item() > 0.0:
        raise ParseError(f"array {name!r} must be a positive number of frames per second", path=path)
    return value.item(), [f"rate {value.item():g} Hz from {name!r}"]


def _pose_model(body_model: Any, shape: Floats, n_joints: int) -> Floats:
    """Return the joint positions (K, 3) of a body model in its rest pose, for the shape parameters `shape`."""
    path = str(body_model)
    arrays = read_other_arrays(read_bytes(body_model), path, _MODEL)
    missing = [name for name in _MODEL if name not in arrays]
    if missing:
        raise ParseError(
            f"array {missing[0]!r} is missing; expected a body model of the SMPL family as NPZ, such as "
            "SMPLH_NEUTRAL.npz",
            path=path,
        )
    template, directions, regressor = (_numbers(arrays, name, None, path) for name in _MODEL)
    n_vertices = len(template) if template.ndim == 2 else -1
    fits = template.shape == (n_vertices, 3) and directions.shape[:2] == (n_vertices, 3) and directions.ndim == 3
    if not fits or regressor.ndim != 2 or regressor.shape[1] != n_vertices or len(regressor) < n_joints:
        raise ParseError(f"the arrays of the body model do not match each other or {n_joints} joints", path=path)
    n = min(len(shape), directions.shape[2])
    return np.asarray(regressor[:n_joints] @ (template + directions[..., :n] @ shape[:n]))
