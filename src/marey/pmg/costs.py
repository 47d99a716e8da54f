"""Find the best transition for every pair of motions, one from each of two sets (Heck 3.3 and 6.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.compare.clouds import Clouds, choose_joints, frame_weights
from marey.core.arrays import Floats
from marey.core.contacts import Contacts
from marey.core.kinematics import World, forward_kinematics
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat
from marey.maths.products import multiply
from marey.pmg.settings import SeamSettings

__all__ = ["REACH", "Windows", "find_best_pairs", "half_window", "make_windows", "seam_range"]

# Seconds between windows. Finer spacing adds nothing here, because a stream later searches more finely.
_FINEST = 1.0 / 30.0
# Search range around a given position of a transition, in frames to either side, in both clips.
REACH = 2
# Maximum number of windows at one end of a motion; in long motions their spacing grows.
_MAX_WINDOWS = 12
# Number of motions per batch of forward kinematics.
_AT_ONCE = 256


class Windows(NamedTuple):
    """Point-cloud windows of many motions, ready to be compared.

    There are m windows of W frames from n motions; N is W times the number of markers, K the number of contact points.

    flat : (m, 2 N) float32, x and z of all markers, centered and multiplied by the square root of their weights.
    heights : (m, N) float32, heights of all markers, multiplied by the same factors.
    size : (m,) float32, sum of the squares of `flat` and `heights`.
    at : (m,) position of each window's middle frame in its motion, from 0 to 1.
    first : (n + 1,) index of each motion's first window, then m.
    soles : (m, W K, 2) float32, x and z of the contact points relative to the window's center; None if there are none.
    stands : (m, W K) float32, the frame's weight if the point is in contact, else 0; None if there are none.
    """

    flat: NDArray[np.float32]
    heights: NDArray[np.float32]
    size: NDArray[np.float32]
    at: Floats
    first: NDArray[np.int64]
    soles: NDArray[np.float32] | None
    stands: NDArray[np.float32] | None


def half_window(seams: SeamSettings, fps: float) -> int:
    """Return the number of frames of a transition on each side of its middle frame."""
    return max(1, round(0.5 * seams.length * fps))


def seam_range(
    n_frames: int, seams: SeamSettings, fps: float, end: bool, moment: float | None = None
) -> tuple[int, int]:
    """Return the first and last frame that can be the middle of a transition, at a motion's end or beginning.

    moment : moment from 0 to 1, for the frames around it instead.
    """
    half = half_window(seams, fps)
    last = max(half, round(seams.region * (n_frames - 1)) - half)
    if n_frames < 2 * half + 2 or half + last > n_frames - 1:
        raise InvalidValue(
            f"a transition of {seams.length:.3g} s does not fit at the ends of a motion of "
            f"{n_frames / fps:.3g} s; use a shorter transition, or longer motions"
        )
    if moment is not None:
        middle = round(moment * (n_frames - 1))
        return max(half, middle - REACH), min(n_frames - 1 - half, middle + REACH)
    return (n_frames - 1 - last, n_frames - 1 - half) if end else (half, last)


def make_windows(
    motions: Sequence[Motion], seams: SeamSettings, *, end: bool, height: float, moment: float | None = None
) -> Windows:
    """Collect all windows in which a transition may lie.

    Parameters
    ----------
    end : True for the end of the motions, False for their beginning.
    moment : moment of the motions from 0 to 1, for changes within them instead.
    height : meters to subtract from all heights; with values near 0, single precision is enough.
    """
    fps = motions[0].fps
    half, stride = half_window(seams, fps), max(1, round(_FINEST * fps))
    inner = stride * np.arange(-(half // stride), half // stride + 1)
    weights = frame_weights(2.0 * half / fps, fps)[half + inner]
    weights = weights / weights.sum()
    rows, heights, at, first = [], [], [], [0]
    soles, stands = [], []
    standing = all(motion.contacts is not None and motion.contacts.points for motion in motions)
    for start in range(0, len(motions), _AT_ONCE):
        part = motions[start : start + _AT_ONCE]
        ranges = [seam_range(len(motion), seams, fps, end, moment) for motion in part]
        cut = [motion[low - half : high + half + 1] for motion, (low, high) in zip(part, ranges, strict=True)]
        points, feet = _marker_points(cut, seams.markers, standing)
        root = np.sqrt(weights[:, None] / points.shape[1])
        weight = root**2
        begin = 0
        for motion, piece, (low, high) in zip(part, cut, ranges, strict=True):
            # At a motion's end, align windows with the last possible frame; at its beginning, with the first.
            step = stride * int(np.ceil((high - low + 1) / (stride * _MAX_WINDOWS)))
            centers = np.arange(half, half + high - low + 1, step) + (high - low) % step * int(end)
            frames = centers[:, None] + inner
            x, y, z = np.moveaxis(points[begin + frames], -1, 0)
            middle = [(each * weight).sum(axis=(1, 2), keepdims=True) for each in (x, z)]
            level = [(each - center) * root for each, center in zip((x, z), middle, strict=True)]
            rows.append(np.stack(level, axis=1).reshape(len(centers), -1).astype(np.float32))
            heights.append(((y - height) * root).reshape(len(centers), -1).astype(np.float32))
            at.append((centers + low - half) / (len(motion) - 1.0))
            first.append(first[-1] + len(centers))
            if feet is not None and piece.contacts is not None:
                around = feet[begin + frames][..., [0, 2]] - np.stack(middle, axis=-1)
                soles.append(around.reshape(len(centers), -1, 2).astype(np.float32))
                flags = piece.contacts.mask[frames] * weights[:, None]
                stands.append(flags.reshape(len(centers), -1).astype(np.float32))
            begin += len(piece)
    flat, high_up = np.concatenate(rows), np.concatenate(heights)
    size = (flat.astype(np.float64) ** 2).sum(axis=1) + (high_up.astype(np.float64) ** 2).sum(axis=1)
    return Windows(
        flat, high_up, size.astype(np.float32), np.concatenate(at), np.array(first, dtype=np.int64),
        np.concatenate(soles) if soles else None, np.concatenate(stands) if stands else None,
    )  # fmt: skip


def _marker_points(motions: Sequence[Motion], markers: str, standing: bool) -> tuple[Floats, Floats | None]:
    """Return positions of M markers (F, M, 3) and, if requested, of K contact points (F, K, 3).

    F is the total number of frames: the motions are concatenated.
    """
    skeleton = motions[0].skeleton
    _, joints = choose_joints(skeleton, markers)
    offsets = None
    if any(motion.bone_offsets is not None for motion in motions):
        offsets = np.concatenate([motion.frame_offsets for motion in motions])
    roots = np.concatenate([motion.root_positions for motion in motions])
    rotations = np.concatenate([motion.rotations for motion in motions])
    world = forward_kinematics(skeleton, roots, rotations, offsets)
    return np.asarray(world.positions[:, joints]), sole_points(world, motions[0].contacts) if standing else None


def sole_points(world: World, contacts: Contacts | None) -> Floats:
    """Return the world positions (F, K, 3) of the contact points."""
    points = () if contacts is None else contacts.points
    joints = [point.joint for point in points]
    turned = quat.rotate(world.rotations[:, joints], np.array([point.offset for point in points]).reshape(-1, 3))
    return np.asarray(world.positions[:, joints] + turned)


def find_best_pairs(source: Windows, target: Windows, clips: Sequence[int]) -> list[tuple[Floats, Floats]]:
    """Find the best transition from each of some consecutive source motions to each of the n target motions.

    For centered windows a and b, the cost D = |a|^2 + |b|^2 - 2 a_y . b_y - 2 |A + i B| takes three matrix products and
    no loop over pairs of frames. If feet are planted in both windows, the squared distance between them is added to D,
    because a stream shifts the second motion by that distance.

    Parameters
    ----------
    clips : consecutive indices of source motions.

    Returns
    -------
    For each of `clips`: the square root of D in meters, (n,), and the positions of the transition in the source and
    target motions, from 0 to 1, (n, 2).
    """
    first = source.first[clips[0]]
    rows = slice(first, source.first[clips[-1] + 1])
    a, b = source.flat[rows], target.flat
    half = a.shape[1] // 2
    along = multiply(a, b.T)
    across = multiply(np.concatenate([-a[:, half:], a[:, :half]], axis=1), b.T)
    left = multiply(source.heights[rows], target.heights.T)
    left *= -2.0
    left += source.size[rows, None]
    left += target.size
    left -= 2.0 * np.sqrt(along**2 + across**2)
    lengths = np.diff(target.first)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    out = []
    for clip in clips:
        begin, end = source.first[clip] - first, source.first[clip + 1] - first
        # Best source window for each target window, then best target window for each target motion.
        row = begin + np.argmin(left[begin:end], axis=0)
        best = left[row, np.arange(left.shape[1])]
        lowest = np.minimum.reduceat(best, target.first[:-1])
        where = np.flatnonzero(best == np.repeat(lowest, lengths))
        column = where[np.unique(owners[where], return_index=True)[1]]
        chosen = row[column]
        cost = np.maximum(lowest.astype(np.float64), 0.0)
        cost += _foot_shifts(source, target, first + chosen, column, along[chosen, column], across[chosen, column])
        out.append((np.sqrt(cost), np.stack([source.at[rows][chosen], target.at[column]], axis=1)))
    return out


def _foot_shifts(
    source: Windows, target: Windows, i: NDArray[np.int64], j: NDArray[np.int64], along: Any, across: Any
) -> Floats:
    """Return the squared shifts (n,), in m^2, that move the planted feet of target windows j onto those of windows i.

    along, across : (n,) the aligning rotation: unnormalized cosine and sine.
    """
    if source.soles is None or source.stands is None or target.soles is None or target.stands is None:
        return np.zeros(len(j))
    if source.soles.shape[1] != target.soles.shape[1]:
        return np.zeros(len(j))
    size = np.maximum(np.hypot(along, across), 1e-12)
    cosine, sine = (along / size)[:, None], (across / size)[:, None]
    x, z = target.soles[j, :, 0], target.soles[j, :, 1]
    weights = source.stands[i] * (target.stands[j] > 0.0)
    total = np.maximum(weights.sum(axis=1), 1e-12)
    dx = (weights * (source.soles[i, :, 0] - x * cosine - z * sine)).sum(axis=1) / total
    dz = (weights * (source.soles[i, :, 1] + x * sine - z * cosine)).sum(axis=1) / total
    return np.asarray(dx.astype(np.float64) ** 2 + dz.astype(np.float64) ** 2)


def mean_height(clouds: Clouds) -> float:
    """Return the mean height of the clouds' weighted centers, in meters."""
    return float((clouds.points[..., 1] @ clouds.weights).mean())
