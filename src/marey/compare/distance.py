"""Compute the distance between two frames, and the rigid2d transform that aligns them (Kovar 4.1.1.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marey.compare.align_kernels import ClipPair, align_windows
from marey.compare.clouds import Clouds, check_frame_weights, check_pair, describe_clip
from marey.core.arrays import Floats, check_index, convert_array, set_readonly
from marey.errors import InvalidValue, warn_user

__all__ = ["align_frames", "frame_distance", "frame_distances", "warn_of_centimeters"]

# The largest distance of poses, in meters, that makes sense as a threshold.
_FARTHEST = 1.0


def frame_distance(
    a: Clouds, i: int, b: Clouds, j: int, frame_weights: ArrayLike, *, align: bool = True
) -> tuple[float, Floats]:
    """Return the squared distance D of frame i of a and frame j of b, in m^2, and the rigid2d that aligns b with a.

    D is the weighted mean squared distance between corresponding markers of the two windows after the best alignment
    (Kovar 4.1). At the ends of a clip the window is cut in both clips, and the remaining weights are scaled up.

    Parameters
    ----------
    frame_weights : (2 L + 1,) weights of the frames of a window; see `marey.compare.frame_weights`.
    align : False compares the frames at their positions; the transform is then the identity.

    Examples
    --------
    >>> clouds = marey.compare.point_clouds(walk)
    >>> weights = marey.compare.frame_weights(0.3, fps=60.0)
    >>> distance, transform = marey.compare.frame_distance(clouds, 10, clouds, 10, weights)
    >>> round(distance, 6), transform.shape
    (0.0, (3,))
    """
    cells = np.array([[_frame(a, i, "a"), _frame(b, j, "b")]], dtype=np.float64)
    moves, left = frame_distances(a, cells[:, 0], b, cells[:, 1], frame_weights, align=align)
    return float(left[0]), moves[0]


def align_frames(a: Clouds, at_a: ArrayLike, b: Clouds, at_b: ArrayLike, frame_weights: ArrayLike) -> Floats:
    """Return the rigid2d transforms (N, 3) that move b at frames `at_b` (N,) onto a at frames `at_a` (N,).

    Frames may be fractional; markers are then interpolated linearly. Windows are cut at the ends of the clips as in
    `frame_distance`.

    Examples
    --------
    >>> a, b = marey.compare.point_clouds(walk), marey.compare.point_clouds(run)
    >>> weights = marey.compare.frame_weights(0.3, fps=60.0)
    >>> marey.compare.align_frames(a, [30, 31], b, [40, 41], weights).shape
    (2, 3)
    """
    return frame_distances(a, at_a, b, at_b, frame_weights)[0]


def frame_distances(
    a: Clouds, at_a: ArrayLike, b: Clouds, at_b: ArrayLike, frame_weights: ArrayLike, *, align: bool = True
) -> tuple[Floats, Floats]:
    """Compute `frame_distance` for N frame pairs, which may be fractional: rigid2d (N, 3) and D (N,) in m^2.

    Parameters
    ----------
    at_a, at_b : (N,) frames of a and of b.
    frame_weights, align : see `frame_distance`.

    Examples
    --------
    >>> a, b = marey.compare.point_clouds(walk), marey.compare.point_clouds(run)
    >>> weights = marey.compare.frame_weights(0.3, fps=60.0)
    >>> transforms, distances = marey.compare.frame_distances(a, [30.0, 30.5], b, [40.0, 40.5], weights)
    >>> transforms.shape, distances.shape
    ((2, 3), (2,))
    """
    check_pair(a, b)
    weights = check_frame_weights(frame_weights)
    first, second = _frames(a, at_a, "a"), _frames(b, at_b, "b")
    if first.shape != second.shape:
        raise InvalidValue(f"at_a and at_b must have equal lengths, not {len(first)} and {len(second)}")
    moves, left = np.empty((len(first), 3)), np.empty(len(first))
    align_windows(ClipPair(a.points, b.points, a.weights, weights), first, second, bool(align), moves, left)
    return set_readonly(moves), set_readonly(left)


def _frame(clouds: Clouds, frame: int, default: str) -> int:
    return check_index(frame, f"frame of {describe_clip(clouds, default)}", len(clouds))


def _frames(clouds: Clouds, given: ArrayLike, default: str) -> Floats:
    frames = convert_array(given, f"frames of {describe_clip(clouds, default)}")
    if frames.ndim != 1:
        raise InvalidValue(
            f"frames of {describe_clip(clouds, default)} must be one-dimensional, not shape {frames.shape}"
        )
    wrong = ~((frames >= 0) & (frames <= len(clouds) - 1))
    if wrong.any():
        raise InvalidValue(
            f"frames of {describe_clip(clouds, default)} must be from 0 to {len(clouds) - 1}, not {frames[wrong][0]:g}"
        )
    return np.ascontiguousarray(frames)


def warn_of_centimeters(parameter: str, *distances: float | None) -> None:
    """Warn if a distance of poses in meters, given as `parameter`, is so large that centimeters were probably meant.

    Examples
    --------
    >>> from marey.compare.distance import warn_of_centimeters
    >>> warn_of_centimeters("threshold", 0.06)  # 6 would cause a warning
    """
    for value in distances:
        if value is not None and _FARTHEST < value < float("inf"):
            unit, meters = ("cm", 0.01) if value <= 100.0 * _FARTHEST else ("mm", 0.001)
            warn_user(
                f"`{parameter}=` is in meters, and poses rarely differ by more than {_FARTHEST:g} m; "
                f"for {value:g} {unit} write {meters * value:g}"
            )
