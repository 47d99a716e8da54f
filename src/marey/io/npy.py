"""Read motions that are one NumPy array: Motion-X and HumanML3D, told by their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.errors import InvalidValue, ParseError
from marey.io import smpl
from marey.io.archive import read_npy
from marey.io.raw import RawMotion


def read_npy_motion(data: bytes, path: str, *, fps: float | None = None, body_model: Any = None) -> RawMotion:
    """Read a motion from the bytes of an NPY file.

    Parameters
    ----------
    path : the file name, for messages.
    fps : frames per second, if they are not those of the data set.
    body_model : path of a SMPL-X model's NPZ file, for Motion-X.
    """
    array = read_npy(data, path)
    if array.dtype.kind not in "fiu" or not array.size or not np.isfinite(array).all():
        raise ParseError("expected an array of finite numbers, at least one frame long", path=path)
    array = array.astype(np.float64)
    if array.ndim == 2 and array.shape[1] == smpl.MOTION_X_WIDTH:
        return smpl.read_motion_x(array, path, fps=fps, body_model=body_model)
    if body_model is not None:
        raise InvalidValue("body_model does not apply to an .npy file of joint positions", parameter="body_model")
    raise ParseError(
        f"an array of shape {array.shape}; expected (F, {smpl.MOTION_X_WIDTH}) of Motion-X",
        path=path,
    )
