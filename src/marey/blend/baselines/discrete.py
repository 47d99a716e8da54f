"""Timewarp along a path of cells (Sako 5.3): each frame of the first motion gets a time in the second.

Where the path runs right, one frame of the first motion corresponds to several of the second: DELETION replaces these
by the middle between the first and the last of them. Where the path runs down, several frames of the first motion
correspond to one of the second: INSERTION spreads this frame and its two neighbors evenly over them. Sako defines both
rules for runs of one and two steps; here they apply to runs of any length.
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
    """Times in the second motion that correspond to N consecutive frames of the first.

    Parameters
    ----------
    frames : (N,) frames of the first motion.
    low, high : (N,) frames of the second motion between which the pose is interpolated.
    fraction : (N,) weight of frame `high`, from 0 to 1.
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
        """Times (N,) in the second motion, in frames."""
        return np.asarray(self.low + self.fraction * (self.high - self.low))


def match_frames(path: GridPath | ArrayLike) -> Correspondence:
    """Apply the rules DELETION and INSERTION to a path (Sako, figures 18 and 19; case 3 of table 1 as in figure 19)."""
    cells = check_cells(path)
    first, last = int(cells[0, 0]), int(cells[-1, 0])
    rows = np.arange(first, last + 1)
    # First and last frame of the second motion in each row.
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
    """Blend two motions whose frames correspond along a path of cells, with the timing of the first motion (Sako 5.3).

    Parameters
    ----------
    weights : two weights, of which only the ratio matters, or a function of time in seconds that returns them.
    path : (N, 2) corresponding frames of a and b at the higher of their rates, or a result of the functions in `paths`;
        by default the cheapest path from the first frames of both to the last.
    angles : as in `linear_blend`; S averages Euler angles.
    align : whether b is moved on the floor so that it matches a at the start of the path. Paths are averaged in the
        world.

    Returns
    -------
    Motion with one frame for each frame of `a` on the path, without contacts.
    """
    one, two, cells = align_along_path(a, b, path, "discrete_blend", align=align)
    pairs = match_frames(cells)
    poses = [one[int(pairs.frames[0]) : int(pairs.frames[-1]) + 1], _interpolate_frames(two, pairs)]
    result = blend_poses(poses, evaluate_weights(weights, 2, np.arange(len(pairs)) / one.fps), angles=angles)
    return finish_result(
        result, name or "discrete timewarp", "discrete_blend", [a, b], weights,
        start=cells[0].tolist(), stop=cells[-1].tolist(), angles=angles, align=bool(align),
    )  # fmt: skip


def align_along_path(
    a: Motion, b: Motion, path: GridPath | ArrayLike | None, purpose: str, *, align: bool
) -> tuple[Motion, Motion, Ints]:
    """Return two motions at one rate and the cells of their path; with `align`, b is moved onto a at the path's
    start."""
    one, two = prepare_clips([a, b], purpose, min_clips=2).motions
    cells = resolve_path_cells(one, two, path)
    if align:
        two = align_at(one, int(cells[0, 0]), two, int(cells[0, 1]), WINDOW)
    return one, two, cells


def check_cells(path: GridPath | ArrayLike) -> Ints:
    """Return the cells (N, 2) of a path; raise an error unless each cell is one step after the previous one."""
    if isinstance(path, GridPath):
        return path.cells
    cells = freeze_array(path, "path", (None, 2), np.int64)
    return GridPath(cells, np.zeros(len(cells))).cells


def resolve_path_cells(a: Motion, b: Motion, path: GridPath | ArrayLike | None) -> Ints:
    """Return the cells (N, 2) of the given path, which must lie within both motions, or of the cheapest one by
    default."""
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
    """Return the indices of the first and the last cell of each run of steps down."""
    down = np.concatenate([[False], np.diff(cells[:, 1]) == 0, [False]])
    starts, stops = np.flatnonzero(down[1:] & ~down[:-1]), np.flatnonzero(~down[1:] & down[:-1])
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def _find_anchor(cells: Ints, end: int, direction: int, middle: Floats, first: int) -> tuple[int, float]:
    """Return the pair of frames at which the interpolation over a run of steps down begins (direction -1) or ends (+1).

    This is the cell beyond the run's own first or last cell, which has the index `end`. If a step right follows there,
    it is the middle of that row (`middle`, for the rows from `first` on). At an end of the path, it is the cell `end`
    itself.
    """
    row, column = (int(k) for k in cells[end])
    beyond = end + direction
    if not 0 <= beyond < len(cells):
        return row, float(column)
    if cells[beyond, 0] == row:
        return row, float(middle[row - first])
    return int(cells[beyond, 0]), float(cells[beyond, 1])


def _interpolate_frames(motion: Motion, pairs: Correspondence) -> Motion:
    """Return the poses of the second motion, each interpolated between two of its frames."""
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
