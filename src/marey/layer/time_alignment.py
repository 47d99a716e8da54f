"""Time alignment: find the time in the upper clip for each frame of the lower one (Heck 4.2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from marey.compare import distance_grid
from marey.core.arrays import Bools, Floats, FrozenRecord, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, NotBlendable, warn_user
from marey.layer.alignment_path import (
    CELL_RATE,
    STRAY,
    STRAY_WITHOUT_STEPS,
    WINDOW,
    GaitGrid,
    find_best_path,
    find_moves_across,
)
from marey.layer.gait import Gait
from marey.layer.halves import BodySplit
from marey.layer.settings import AlignSettings
from marey.layer.smoothing import smooth_series
from marey.layer.timeline import Timeline, add_seam, make_loop
from marey.register.dtw import dtw

# Standard deviation in seconds of the Gaussian that smooths the steps of the path.
_SMOOTH = 0.06
# Minimum slope of the smoothed time curve, relative to the normal playback speed.
_MIN_SLOPE = 0.02
# A path without looping is preferred if its cost is at most that of the looped path, times the second value, plus the
# first value in m^2.
_SEAMLESS = (1e-5, 1.15)
# If the steps of the upper clip are faster than those of the lower one by more than this factor, as in a boxer's dance
# on stairs, synchronized steps would show its action in slow motion.
_MAX_CYCLE_RATIO = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class TimeMap(FrozenRecord):
    """A time alignment: the time in the upper clip for each of the F frames of the lower clip.

    Parameters
    ----------
    times : (F,) times in frames of the upper clip, strictly increasing; they keep counting up when the clip loops.
    timeline : maps these times to frames of the upper clip.
    distance : square root of the mean distance D of hips and knees along the path, in meters.
    how : text that describes how the alignment was found.
    warning : why the steps could not be synchronized; empty if they are.

    Examples
    --------
    >>> times = marey.layer.align_motions(run, walk)
    >>> times.in_seam.shape, times.warning
    ((241,), '')
    """

    times: Floats
    timeline: Timeline
    distance: float
    how: str
    warning: str = ""

    def __post_init__(self) -> None:
        times = freeze_array(self.times, "times of an upper clip", (None,))
        if not len(times):
            raise InvalidValue("times must have at least one frame, got none")
        self._put(times=times)

    def frames(self) -> tuple[Floats, Floats, Floats]:
        """Return frames of the upper clip (F,), frames of the next pass (F,), and their weight (F,).

        See `Timeline.frames`.
        """
        return self.timeline.frames(self.times)

    @property
    def in_seam(self) -> Bools:
        """(F,) True where two passes of the loop are averaged."""
        return set_readonly(self.frames()[2] > 0.0)


def align_times(lower: Gait, upper: Gait, upper_motion: Motion, halves: BodySplit, settings: AlignSettings) -> TimeMap:
    """Align an upper clip with a lower clip in time.

    If steps cannot be synchronized, hips and knees alone are compared, and there is a `MareyWarning`.
    """
    reason = _find_unsynchronized(lower, upper)
    if reason is None:
        return _align(lower, upper, upper_motion, halves, settings)
    note = f"{reason}, so the clips are aligned by hips and knees only"
    warn_user(f"{note}; if the result looks wrong, transplant the upper body instead with `marey.transplant`")
    found = _align(lower, upper, upper_motion, halves, settings)
    return replace(found, warning=note)


def _find_unsynchronized(lower: Gait, upper: Gait) -> str | None:
    """Return why the steps of two clips cannot be synchronized, or None."""
    for gait, which in ((lower, "lower"), (upper, "upper")):
        if gait.run is None:
            return f"the {which} clip {gait.clouds.name!r} does not contain 2 consecutive steps"
    seconds = [gait.cycle / gait.clouds.fps for gait in (lower, upper)]
    if seconds[0] > _MAX_CYCLE_RATIO * seconds[1]:
        return f"two steps take {seconds[0]:.1f} s in the lower clip and only {seconds[1]:.1f} s in the upper one"
    return None


def _align(lower: Gait, upper: Gait, upper_motion: Motion, halves: BodySplit, settings: AlignSettings) -> TimeMap:
    if settings.align == "first_minimum":
        return _align_from_first_minimum(lower, upper, settings.slope_limit)
    return _align_looped(lower, upper, upper_motion, halves, settings.slope_limit)


def _align_looped(lower: Gait, upper: Gait, upper_motion: Motion, halves: BodySplit, limit: int) -> TimeMap:
    """Align the entire lower clip; the upper clip starts anywhere in its first cycle and loops as needed.

    Unless both clips have steps, there are no phases: only hips and knees are compared, and the upper clip plays at its
    own speed unless another speed fits clearly better. An upper clip without steps cannot loop; if it is shorter, the
    alignment ends with it.
    """
    fps = lower.clouds.fps
    every = max(1, round(fps / CELL_RATE))
    in_step = _find_unsynchronized(lower, upper) is None
    # Both cycles have the same number of cells, so the slope limit applies only to speed changes within a cycle.
    step = every * (upper.cycle / lower.cycle if in_step else upper.clouds.fps / fps)
    n_frames = len(upper.clouds)
    at: Floats = step * np.arange(int((n_frames - 1) / step + 1e-9) + 1.0)
    rows = np.arange(0.0, len(lower.clouds), every)
    held = lower.standing()[rows.astype(np.int64)]
    if upper.run is None:
        rows = rows[: len(at)]
        held = np.zeros(len(rows), dtype=bool)
    cells = GaitGrid(lower, upper, rows, at, fps / every, STRAY if in_step else STRAY_WITHOUT_STEPS)
    begin = 0.0 if upper.run is None else upper.run[0]
    n_starts = math.ceil((begin + upper.cycle) / step) + 1
    found = find_best_path(cells, lambda k: np.where(k < len(at), k, -1), n_starts, limit, held)
    timeline = Timeline(n_frames)
    loop = make_loop(upper_motion, halves, upper)
    if loop is not None:
        loop = _snap_to_cells(loop, step, upper.clouds.fps)
        start, stop = round(loop.start / step), round(loop.stop / step)
        around = find_best_path(
            cells, lambda k: np.where(k < stop, k, start + (k - start) % (stop - start)), n_starts, limit, held
        )
        if around is not None and (found is None or found.cost > _SEAMLESS[1] * around.cost + _SEAMLESS[0]):
            # Looping the clip gives a clearly better path than playing it once.
            found, timeline = around, loop
    if found is None:
        have, need = (gait.clouds.points.shape[0] / gait.clouds.fps for gait in (upper, lower))
        raise NotBlendable(
            f"the upper clip {upper.clouds.name!r} ({have:.2f} s) is too short for the lower one ({need:.2f} s) and "
            "has no full gait cycle to loop",
            parameter="upper",
            remedy="use a longer part of it, or loop it first with `marey.edit.cycle`",
        )
    n_aligned = min(len(lower.clouds), int(rows[-1]) + every)
    times = step * interpolate_path(found.columns, np.arange(n_aligned) / every)
    times = make_increasing(times, fps, step / every)
    how = f"{len(rows)} frames compared at {fps / every:g} Hz, a free start within the upper clip's first cycle"
    return TimeMap(set_readonly(times), timeline, found.distance, how)


def _snap_to_cells(loop: Timeline, step: float, fps: float) -> Timeline:
    """Move the seam of a loop to cells of the grid, so every pass uses the same cells."""
    start, stop = step * round(loop.start / step), step * round(loop.stop / step)
    if stop > loop.n_frames - 1:
        stop -= step
    return add_seam(replace(loop, start=start, stop=stop), fps)


def interpolate_path(path: Floats, cells: Floats) -> Floats:
    """Interpolate a path (R,) at row numbers `cells` (N,), which may be fractional.

    Row numbers past the last row extrapolate the path; negative ones give its first value.
    """
    rows = np.arange(len(path))
    beyond = np.maximum(cells - rows[-1], 0.0)
    slope = float(path[-1] - path[-2]) if len(path) > 1 else 1.0
    return np.asarray(np.interp(cells, rows, path) + beyond * max(slope, 0.0))


def make_increasing(times: Floats, fps: float, slope: float) -> Floats:
    """Smooth times (F,) and make them strictly increasing; `slope` is the normal increase per frame."""
    smooth = smooth_series(times, _SMOOTH * fps)
    steps, least = np.diff(smooth), _MIN_SLOPE * slope
    if (steps < least).any():
        smooth = smooth[0] + np.concatenate([[0.0], np.cumsum(np.maximum(steps, least))])
    return np.asarray(smooth - min(float(smooth[0]), 0.0))


def _align_from_first_minimum(lower: Gait, upper: Gait, limit: int) -> TimeMap:
    """Align as in Heck 4.2.2: crop the upper clip to the first minimum, then align until either clip ends.

    The first minimum is the first frame that is locally most similar to the lower clip's first frame.
    """
    fps = lower.clouds.fps
    step = upper.clouds.fps / fps
    n_frames = len(upper.clouds)
    at: Floats = step * np.arange(int((n_frames - 1) / step + 1e-9) + 1.0)
    clouds = lower.sample_clouds(np.arange(len(lower.clouds), dtype=np.float64), fps)
    grid = distance_grid(clouds, upper.sample_clouds(at, fps), window=WINDOW).values
    row = grid[0]
    falling = np.append(row[1:] < row[:-1], False)
    start = int(np.argmin(falling))  # frame 0 is a minimum if the row rises after it
    path = dtw(grid[:, start:], end="border", slope_limit=limit)
    cells = path.cells
    last = int(cells[-1, 0])
    sums = np.bincount(cells[:, 0], weights=cells[:, 1], minlength=last + 1)
    columns = start + sums / np.bincount(cells[:, 0], minlength=last + 1)
    times = step * (columns + (find_moves_across(grid[: last + 1], columns) if last > 1 else 0.0))
    times = np.clip(make_increasing(times, fps, step), 0.0, n_frames - 1.0)
    reached = f"the alignment covers {last + 1} of {len(lower.clouds)} frames of the lower clip"
    how = f"the upper clip cropped by {start / fps:.2f} s to its first minimum; {reached}"
    return TimeMap(set_readonly(times), Timeline(n_frames), path.distance, how)
