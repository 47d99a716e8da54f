"""Read motions that are one NumPy array, recognized by its shape: Motion-X, HumanML3D and its joint positions.

A row of HumanML3D has the turning speed of the root about Y, its velocity on the floor and its height; positions of the
other joints relative to it, without its heading; rotations, velocities and contacts. The authors of the data set
computed the rotations from the positions, so only positions are read. They are in meters, Y up, at 20 Hz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue, ParseError
from marey.io import limits, smpl
from marey.io.archive import read_npy
from marey.io.files import split_name
from marey.io.raw import RawMotion
from marey.maths import quat

_HUMANML_WIDTH, _N_JOINTS, _HUMANML_FPS = 263, 22, 20.0


def is_motion(shape: Sequence[int]) -> bool:
    """Return whether an array of this shape is read as a motion."""
    return tuple(shape[1:]) in ((smpl.MOTION_X_WIDTH,), (_HUMANML_WIDTH,), (_N_JOINTS, 3))


def read_npy_motion(data: bytes, path: str, *, fps: float | None = None, body_model: Any = None) -> RawMotion:
    """Read a motion from the bytes of an NPY file.

    Parameters
    ----------
    path : the file name, for messages.
    fps : frames per second, if they are not those of the data set.
    body_model : path of a SMPL-X model's NPZ file, for Motion-X.
    """
    array = read_npy(data, path)
    if array.dtype.kind not in "fiu" or not array.ndim or not array.size or not np.isfinite(array).all():
        raise ParseError("expected an array of finite numbers with at least one frame", path=path)
    limits.check_frames(len(array), path)
    array = array.astype(np.float64)
    if array.ndim == 2 and array.shape[1] == smpl.MOTION_X_WIDTH:
        return smpl.read_motion_x(array, path, fps=fps, body_model=body_model)
    if body_model is not None:
        raise InvalidValue("body_model does not apply to an .npy file of joint positions", parameter="body_model")
    if array.ndim == 2 and array.shape[1] == _HUMANML_WIDTH:
        return _solve(_read_humanml(array), path, fps)
    if array.ndim == 3 and array.shape[1:] == (_N_JOINTS, 3):
        return _solve(array, path, fps)
    raise ParseError(
        f"an array of shape {array.shape}; expected (F, {smpl.MOTION_X_WIDTH}) of Motion-X, (F, {_HUMANML_WIDTH}) of "
        f"HumanML3D or (F, {_N_JOINTS}, 3) of its joints; `marey.solve` fits a skeleton to other joint positions",
        path=path,
    )


def _read_humanml(rows: Floats) -> Floats:
    """Return positions (F, 22, 3) of the joints from rows (F, 263)."""
    half = np.concatenate([[0.0], np.cumsum(rows[:-1, 0])])  # half of the angle, as in a quaternion
    heading = quat.from_axis_angle([0.0, 1.0, 0.0], -2.0 * half)
    steps = np.zeros((len(rows), 3))
    steps[1:, 0], steps[1:, 2] = rows[:-1, 1], rows[:-1, 2]
    root = np.cumsum(quat.rotate(heading, steps), axis=0)
    others = quat.rotate(heading[:, None], rows[:, 4 : 4 + 3 * (_N_JOINTS - 1)].reshape(len(rows), -1, 3))
    others += root[:, None]  # heights are above the floor, not above the root
    root[:, 1] = rows[:, 3]
    return np.concatenate([root[:, None], others], axis=1)


def _solve(places: Floats, path: str, fps: float | None) -> RawMotion:
    """Fit a skeleton to the positions, without smoothing them."""
    from marey.io.settings import SolveSettings
    from marey.io.solving import find_point_names, make_points, solve_points

    names, called = find_point_names("humanml3d", _N_JOINTS)
    try:
        points = make_points(places, names, called, _HUMANML_FPS if fps is None else fps, path)
        raw = solve_points(points, SolveSettings(strength=0.0)).raw
    except InvalidValue as error:
        raise ParseError(str(error), path=path) from None
    raw.name = split_name(path)[0]
    raw.evidence.append(f"rate {raw.fps:g} Hz, {'that of HumanML3D' if fps is None else 'as given'}")
    return raw
