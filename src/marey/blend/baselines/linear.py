"""Linear blending (Kovar 5.1, Sako 6.2.2) and the linear-blend transition (Heck 3.3).

The simplest blending method: the i-th frame of the result averages the i-th frames of the inputs. Timing is not
matched, paths are averaged in world coordinates, and contacts are ignored. It serves for comparison and teaching.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marey.blend.baselines.poses import (
    Angles,
    Root,
    Weights,
    align_at,
    blend_poses,
    evaluate_weights,
    finish_result,
)
from marey.core.arrays import check_number
from marey.core.clips import prepare_clips
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import ease_in

WINDOW = 0.1  # seconds that are compared to align one motion with another


def linear_blend(
    motions: Sequence[Motion],
    weights: Weights,
    *,
    angles: Angles = "quaternion",
    root: Root = "positions",
    align: bool = True,
    name: str | None = None,
) -> Motion:
    """Average motions frame by frame, without matching their timing; the result is as long as the shortest motion.

    Parameters
    ----------
    motions : two or more motions with the same skeleton and frame rate.
    weights : n weights, of which only the ratios matter, or a function of time in seconds that returns them.
    angles : "quaternion" averages rotations; "euler" averages the angles of each joint (Kovar 5.1, Sako 6.2.2), in the
        channel order of the first motion's file, or ZYX if it has none. Angles are unwrapped over time, starting from
        the first motion's first frame.
    root : "positions" averages root positions; "velocities" averages and accumulates their steps across the floor,
        which differs if weights change over time (Kovar 5.1). Heights are averaged in both cases.
    align : whether all motions are moved on the floor so that their first frames match that of the first motion.

    Returns
    -------
    Motion without contacts.
    """
    clips = list(prepare_clips(motions, "linear_blend", min_clips=2).motions)
    n_frames = min(map(len, clips))
    if align:
        clips = [clips[0], *(align_at(clips[0], 0, clip, 0, WINDOW) for clip in clips[1:])]
    clips = [clip[:n_frames] for clip in clips]
    weight = evaluate_weights(weights, len(clips), np.arange(n_frames) / clips[0].fps)
    result = blend_poses(clips, weight, angles=angles, root=root)
    return finish_result(
        result, name or "linear blend", "linear_blend", motions, weights, angles=angles, root=root, align=align
    )


def linear_transition(
    a: Motion,
    b: Motion,
    at: tuple[float, float] | None = None,
    length: float = 1.0,
    *,
    eased: bool = True,
    angles: Angles = "quaternion",
    align: bool = True,
    window: float = 0.5,
    name: str | None = None,
) -> Motion:
    """Play `a` and crossfade into `b` over `length` seconds around a pair of corresponding times (Heck 3.3).

    At time t of `a` the weight of `b` is alpha = (t - at[0]) / length + 1/2, from 0 to 1 over the length.

    Parameters
    ----------
    at : seconds in a and in b that coincide in the middle; by default the pair of most similar frames that leaves room
        for half of the length on both sides.
    eased : whether alpha is eased, C1 (Kovar 3.5). Linear alpha has kinks at both ends.
    angles : as in `linear_blend`.
    align : whether b is moved on the floor so that both match in the middle.
    window : seconds of motion to compare, for `at` and for `align`.
    """
    one, two = prepare_clips([a, b], "linear_transition", min_clips=2).motions
    long = check_number(length, "length in seconds", above=True)
    half = 0.5 * long
    for clip in (one, two):
        if clip.duration < long - 1e-9:
            raise InvalidValue(
                f"a transition of {long:g} s needs motions at least as long, but {clip.name!r} lasts "
                f"{clip.duration:.3g} s"
            )
    middle = _find_closest_pair(one, two, half, window) if at is None else check_moments(at, one, two, half)
    fps = one.fps
    if align:
        two = align_at(one, middle[0] * fps, two, middle[1] * fps, window)
    # The result has the frame times of a; b is interpolated between its frames if needed.
    n_frames = int(np.floor((middle[0] + two.duration - middle[1]) * fps + 1e-6)) + 1
    times = np.arange(n_frames) / fps
    alpha = np.clip((times - middle[0]) / long + 0.5, 0.0, 1.0)
    if eased:
        alpha = ease_in(alpha)
    poses = [
        one.at(np.clip(times, 0.0, one.duration)),
        two.at(np.clip(times - middle[0] + middle[1], 0.0, two.duration)),
    ]
    result = blend_poses(poses, np.stack([1.0 - alpha, alpha], axis=1), angles=angles)
    return finish_result(
        result, name or "linear transition", "linear_transition", [a, b], None,
        at=[float(t) for t in middle], length=long, eased=bool(eased), angles=angles, align=bool(align),
        **{"from": float(middle[0]) - half, "to": float(middle[1]) + half},
        frames=[int(np.searchsorted(alpha, 0.0, side="right")), int(np.searchsorted(alpha, 1.0))],
    )  # fmt: skip


def check_moments(at: Any, one: Motion, two: Motion, half: float) -> tuple[float, float]:
    try:
        first, second = (float(t) for t in at)
    except (TypeError, ValueError):
        raise InvalidValue(f"`at` must be two times in seconds, one in each motion, not {at!r}") from None
    for seconds, clip in ((first, one), (second, two)):
        if not half - 1e-9 <= seconds <= clip.duration - half + 1e-9:
            raise InvalidValue(
                f"the middle of the transition must be from {half:g} to {clip.duration - half:.4g} s in {clip.name!r}, "
                f"not {seconds:g} s, so that half of its length fits on both sides"
            )
    return first, second


def _find_closest_pair(one: Motion, two: Motion, half: float, window: float) -> tuple[float, float]:
    """Return the times in seconds of the most similar frames with room for half of the transition on each side."""
    from marey.compare.grid import distance_grid

    grid = distance_grid(one, two, window=window).values
    rows, columns = (_find_inner_frames(clip, half) for clip in (one, two))
    part = grid[rows, columns]
    i, j = np.unravel_index(int(np.argmin(part)), part.shape)
    return (rows.start + int(i)) / one.fps, (columns.start + int(j)) / two.fps


def _find_inner_frames(clip: Motion, half: float) -> slice:
    first = int(np.ceil(half * clip.fps - 1e-6))
    last = int(np.floor((clip.duration - half) * clip.fps + 1e-6))
    if last < first:  # the middle falls between two frames
        first = last = round(0.5 * clip.duration * clip.fps)
    return slice(first, last + 1)
