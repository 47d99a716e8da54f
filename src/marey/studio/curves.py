"""Compute what the page draws in addition to characters: curves over time, point clouds, alignments of two motions."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, check_index
from marey.core.kinematics import joint_path
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat
from marey.studio.messages import Cloud, Curve, CurveSet
from marey.studio.motion_history import Recording
from marey.studio.panels.compare_messages import Placed
from marey.studio.panels.look_messages import CurveKind

# Decimals of the values sent to the page; for meters, a tenth of a millimeter.
_DECIMALS = 4
# Maximum number of points in a cloud; long windows are subsampled.
_MAX_POINTS = 20_000
_WINDOW = 0.5  # seconds, as in motion graphs
_MIN_ANGLE = 1e-6  # radians


def make_curves(motion: Motion, kind: CurveKind, joint: int) -> CurveSet:
    """Return the curves of one kind. `joint` is a joint index, used only for position and rotation."""
    if kind == "travel":
        return _set("xyz", "m", motion.travel)
    if kind == "speed":
        return _set(("speed",), "m/s", _compute_speed(motion.travel, motion.fps)[:, None])
    if kind in ("position", "rotation"):
        check_index(joint, "joint", len(motion.skeleton))
        if kind == "position":
            path = joint_path(motion.skeleton, motion.root_positions, motion.rotations, joint, motion.bone_offsets)
            return _set("xyz", "m", path)
        return _set("xyz", "deg", np.degrees(_rotation_vectors(motion.rotations[:, joint])))
    if motion.contacts is None:
        raise InvalidValue("the clip has no contacts; press “Detect contacts” in the View panel first")
    from marey.clean.points import point_paths

    paths = point_paths(motion, motion.contacts.points)
    if kind == "contact_heights":
        return _set(motion.contacts.names, "m", paths[:, :, 1] - (motion.source.floor or 0.0))
    speeds = [_compute_speed(paths[:, k], motion.fps) for k in range(paths.shape[1])]
    return _set(motion.contacts.names, "m/s", np.stack(speeds, axis=1))


def make_cloud(recording: Recording, frame: int, window: float) -> Cloud:
    """Return the point cloud of `window` seconds centered on a frame, as used to compare frames."""
    from marey.compare.clouds import point_clouds

    check_index(frame, "frame", len(recording))
    if not 0.0 <= window <= 10.0:
        raise InvalidValue(f"expected a window of 0 to 10 s, got {window:g} s")
    half = round(0.5 * window * recording.fps)
    around = recording[max(0, frame - half) : min(len(recording), frame + half + 1)]
    clouds = point_clouds(around)
    thinned = clouds.points[:: -(-clouds.points.shape[0] * clouds.n_markers // _MAX_POINTS) or 1]
    return Cloud(clouds.names, _plain(thinned.reshape(-1)))


def align_frames(motion: Motion, frame: int, other: Motion, other_frame: int) -> Placed:
    """Find the floor-plane transform that aligns a frame of `motion` with one of `other`, and the residual (m)."""
    from marey.compare.clouds import frame_weights, point_clouds
    from marey.compare.distance import frame_distance

    if abs(motion.fps - other.fps) > 1e-6 * other.fps:
        raise InvalidValue(
            f"{motion.name!r} has {motion.fps:g} frames per second, {other.name!r} has {other.fps:g}; resample one"
        )
    weights = frame_weights(_WINDOW, other.fps)
    other_window, other_center = _select_frames(other, other_frame, len(weights) // 2)
    window, center = _select_frames(motion, frame, len(weights) // 2)
    left, move = frame_distance(point_clouds(other_window), other_center, point_clouds(window), center, weights)
    return Placed(float(move[0]), float(move[1]), float(move[2]), float(np.sqrt(left)))


def _select_frames(motion: Motion, frame: int, half: int) -> tuple[Motion, int]:
    """Return the frames within `half` frames of `frame`, and the index of `frame` among them."""
    check_index(frame, f"frame of {motion.name!r}", len(motion))
    start = max(0, frame - half)
    return motion[start : min(len(motion), frame + half + 1)], frame - start


def _rotation_vectors(rotations: Floats) -> Floats:
    """Convert quaternions (F, 4) to rotation vectors (F, 3) (axis times angle), unwrapped: no jumps by 360 degrees."""
    vectors = quat.log(rotations)
    lengths = np.linalg.norm(vectors, axis=1)
    for i in range(1, len(vectors)):
        before = vectors[i - 1]
        # A rotation near zero has no axis; keep the previous axis.
        along = (
            vectors[i] / lengths[i] if lengths[i] > _MIN_ANGLE else before / max(float(np.linalg.norm(before)), 1e-300)
        )
        n_turns = round(float(before @ along - lengths[i]) / (2.0 * np.pi))
        if n_turns:
            vectors[i] = along * (lengths[i] + n_turns * 2.0 * np.pi)
    return vectors


def _compute_speed(path: Floats, fps: float) -> Floats:
    """Return the speed (F,), in m/s, along a path (F, 3)."""
    if len(path) < 2:
        return np.zeros(len(path))
    speed: Floats = np.linalg.norm(np.gradient(path, axis=0), axis=1) * fps
    return speed


def _set(names: str | tuple[str, ...], unit: str, values: Floats) -> CurveSet:
    """Make one curve from each column of `values`: (F, K) for F frames and K names."""
    return CurveSet(tuple(Curve(name, unit, _plain(values[:, k])) for k, name in enumerate(names)))


def _plain(values: Floats) -> tuple[float, ...]:
    return tuple(np.round(values, _DECIMALS).tolist())
