"""Timewarp along the discrete path (thesis S 5.3): each frame of the first motion gets one of the second.

Where the path runs right, several frames of the second motion stand against one of the first: DELETION puts the middle
between the first and the last of them in their place. Where it runs down, one frame of the second stands against
several of the first: INSERTION spreads it and its two neighbors over them evenly. S gives both for runs of one and two
steps; the same rules serve for any number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.baselines.linear import WINDOW
from marey.blend.baselines.paths import GridPath, dynamic
from marey.blend.baselines.poses import Angles, Weights, align_at, blend_poses, evaluate_weights, finish_result
from marey.core.arrays import Floats, FrozenRecord, Ints, freeze_array, set_readonly
from marey.core.clips import prepare_clips
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue
from marey.maths import quat


@renamed_fields(share="fraction")
@dataclass(frozen=True, slots=True, eq=False)
class Correspondence(FrozenRecord):
    """For N consecutive frames of the first motion, what stands against them in the second.

    Parameters
    ----------
    frames : (N,) of the first motion.
    low, high : (N,) frames of the second, between which the pose is interpolated.
    fraction : (N,) of the frame `high`, in [0, 1].
    """

    frames: Ints
    low: Ints
    high: Ints
    fraction: Floats

    def __post_init__(self) -> None:
        self._freeze(frames=("n",), low=("n",), high=("n",), fraction=("n",))

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def at(self) -> Floats:
        """(N,) the time in the second motion, in frames."""
        return np.asarray(self.low + self.fraction * (self.high - self.low))


def match_frames(path: GridPath | ArrayLike) -> Correspondence:
    """S's DELETION and INSERTION rules (figures 18 and 19, of Table 1 case 3 as in figure 19)."""
    cells = check_cells(path)
    first, last = int(cells[0, 0]), int(cells[-1, 0])
    rows = np.arange(first, last + 1)
    # The first and the last frame of the second motion in each row.
    low = cells[np.searchsorted(cells[:, 0], rows, side="left"), 1]
    high = cells[np.searchsorted(cells[:, 0], rows, side="right") - 1, 1]
    low, high, weight = low.copy(), high.copy(), np.where(low < high, 0.5, 0.0)
    middle = low + weight * (high - low)
    for start, stop in _find_runs_down(cells):
        top, foot = int(cells[start, 0]), int(cells[stop, 0])
        before = _find_anchor(cells, start, -1, middle, first)
        after = _find_anchor(cells, stop, +1, middle, first)
        for row in range(top, foot + 1):
            if before[0] < row < after[0]:
                at = before[1] + (after[1] - before[1]) * (row - before[0]) / (after[0] - before[0])
                k = row - first
                low[k] = int(np.floor(at + 1e-9))
                weight[k] = at - low[k] if at - low[k] > 1e-9 else 0.0
                high[k] = low[k] + (weight[k] > 0.0)
    return Correspondence(rows, low, high, weight)


def discrete_blend(
    a: Motion,
    b: Motion,
    weights: Weights = (0.5, 0.5),
    *,
    path: GridPath | ArrayLike | None = None,
    angles: Angles = "quaternion",
    align: bool = True,
    name: str | None = None,
) -> Motion:
    """Blend of two motions in step by the discrete path, at the timing of the first motion (S 5.3).

    Parameters
    ----------
    weights : (2,), of which only the ratio counts, or a function of time in seconds.
    path : (N, 2) frames of a and of b, at the higher of their rates, as the functions in `paths` find them; by default
        the cheapest from the first frames to the last.
    angles : as in `linear_blend`; S averages Euler angles.
    align : lay b's first frame of the path on a's. What follows is averaged in the world.

    Returns
    -------
    Motion of as many frames as the path has frames of a, without contacts.
    """
    one, two, cells = align_along_path(a, b, path, "discrete_blend", align=align)
    pairs = match_frames(cells)
    poses = [_take_frames(one, pairs.frames), _interpolate_frames(two, pairs)]
    result = blend_poses(poses, evaluate_weights(weights, 2, np.arange(len(pairs)) / one.fps), angles=angles)
    return finish_result(
        result, name or "discrete timewarp", "discrete_blend", [a, b], weights,
        start=cells[0].tolist(), stop=cells[-1].tolist(), angles=angles, align=bool(align),
    )  # fmt: skip


def align_along_path(
    a: Motion, b: Motion, path: GridPath | ArrayLike | None, purpose: str, *, align: bool
) -> tuple[Motion, Motion, Ints]:
    """Bring two motions to one rate, and with `align` lay b on a at the path's start; return them and the cells."""
    one, two = prepare_clips([a, b], purpose, min_clips=2).motions
    cells = resolve_path_cells(one, two, path)
    if align:
        two = align_at(one, int(cells[0, 0]), two, int(cells[0, 1]), WINDOW)
    return one, two, cells


def check_cells(path: GridPath | ArrayLike) -> Ints:
    """(N, 2) the cells of a path, one step after another."""
    if isinstance(path, GridPath):
        return path.cells
    cells = freeze_array(path, "path", (None, 2), np.int64)
    return GridPath(cells, np.zeros(len(cells))).cells


def resolve_path_cells(a: Motion, b: Motion, path: GridPath | ArrayLike | None) -> Ints:
    """The cells of a path that lies within both motions; the cheapest one where none is given."""
    if path is None:
        from marey.compare.grid import distance_grid

        return dynamic(distance_grid(a, b).values).cells
    cells = check_cells(path)
    if cells.min() < 0 or (cells[-1] >= [len(a), len(b)]).any():
        raise InvalidValue(
            f"the path leads from {tuple(cells[0].tolist())} to {tuple(cells[-1].tolist())}, beyond motions of "
            f"{len(a)} and {len(b)} frames"
        )
    return cells


def _find_runs_down(cells: Ints) -> list[tuple[int, int]]:
    """Indices of the first and the last cell of each run of steps down."""
    down = np.concatenate([[False], np.diff(cells[:, 1]) == 0, [False]])
    starts, stops = np.flatnonzero(down[1:] & ~down[:-1]), np.flatnonzero(~down[1:] & down[:-1])
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def _find_anchor(cells: Ints, end: int, direction: int, middle: Floats, first: int) -> tuple[int, float]:
    """Where the spread over a run of steps down begins (direction -1) or ends (+1): a frame of each motion.

    It is the cell before or after the run; where the path goes on with a step right, the middle of that row; at the end
    of the path the run's own end.
    """
    row, column = (int(k) for k in cells[end])
    beyond = end + direction
    if not 0 <= beyond < len(cells):
        return row, float(column)
    if cells[beyond, 0] == row:
        return row, float(middle[row - first])
    return int(cells[beyond, 0]), float(cells[beyond, 1])


def _take_frames(motion: Motion, frames: Ints) -> Motion:
    return motion[int(frames[0]) : int(frames[-1]) + 1]


def _interpolate_frames(motion: Motion, pairs: Correspondence) -> Motion:
    """The second motion's poses, each interpolated between two of its frames."""
    fraction = pairs.fraction

    def mix(values: Floats) -> Floats:
        weight = fraction.reshape(-1, *[1] * (values.ndim - 1))
        return set_readonly(values[pairs.low] * (1.0 - weight) + values[pairs.high] * weight)

    rotated = quat.normalize(quat.slerp(motion.rotations[pairs.low], motion.rotations[pairs.high], fraction[:, None]))
    return replace(
        motion[0],
        root_positions=mix(motion.root_positions),
        rotations=set_readonly(rotated),
        bone_offsets=None if motion.bone_offsets is None else mix(motion.bone_offsets),
        contacts=None,
        labels=Labels(),
    )
