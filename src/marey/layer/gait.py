"""Find the gait of a clip: when the feet pass each other, and the gait phase of each frame."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from marey.compare import Clouds, point_clouds
from marey.core.arrays import Bools, Floats, Ints, find_runs, set_readonly
from marey.core.motion import Motion
from marey.errors import NotBlendable
from marey.layer.smoothing import smooth_series
from marey.measure.gait import find_passings, mean_leg_length

# Roles of the joints that define the gait. The first three, hips and knees, are compared for time alignment (Heck
# 4.2.2).
_ROLES = (
    *("hips", "left_lower_leg", "right_lower_leg", "left_foot", "right_foot", "left_upper_leg", "right_upper_leg"),
)
N_COMPARED = 3
# Minimum number of consecutive, alternating passings of the feet in a gait.
_MIN_STEPS = 2
# The gait has paused if the time between two passings exceeds the median by this factor.
_LONGEST = 1.8
# Cycle length in seconds that a clip without steps is given: that of an easy walk.
_CYCLE = 1.1
# Standard deviation, in cycles, of the Gaussian that extracts the slow changes of hip height, as on stairs or when
# stooping.
_LEVEL = 0.35
# The character stands still if hips and ankles move slower than this, in m/s, for at least this many seconds.
_STILL, _PAUSE = 0.12, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Gait:
    """The gait of a clip, as needed for time alignment.

    clouds : world positions of hips, knees, ankles and hip joints in each frame.
    phase : (F,) gait phase in cycles: an integer when the left foot passes the right one, an integer plus 0.5 when the
        right foot passes the left. It keeps increasing within a run of steps; NaN where the feet do not alternate.
    cycle : median length of a cycle, in frames; that of an easy walk if the clip has no steps.
    run : first and last frame of the longest run of steps, fractional; None if the clip has no steps.
    level : (F,) smoothed height of the hips, in meters; it contains climbing and stooping, but not the steps.
    """

    clouds: Clouds
    phase: Floats
    cycle: float
    run: tuple[float, float] | None
    level: Floats

    def run_phase(self) -> tuple[Floats, int, int]:
        """Return the phase (F,) of the longest run of steps, NaN elsewhere, and the first and last frame of the run.

        The run is extended by up to half a cycle at both ends, where the clip contains only part of a step.
        """
        if self.run is None:
            raise NotBlendable(f"{self.clouds.name!r} must have at least 2 consecutive steps, but none were found")
        first, last = math.ceil(self.run[0]), math.floor(self.run[1])
        start, stop = (max(0, math.ceil(first - 0.5 * self.cycle)), math.floor(last + 0.5 * self.cycle))
        stop = min(len(self.phase) - 1, stop)
        frames = np.arange(start, stop + 1)
        inside = np.clip(frames, first, last)
        phase = np.full(len(self.phase), np.nan)
        phase[frames] = self.phase[inside] + (frames - inside) / self.cycle
        return phase, start, stop

    def sample_clouds(self, frames: Floats, fps: float) -> Clouds:
        """Return hips and knees at frames (N,), possibly fractional, as if recorded at `fps` and on level ground."""
        points = self.clouds.points[:, :N_COMPARED].copy()
        points[..., 1] -= self.level[:, None]
        before = np.clip(frames.astype(np.int64), 0, len(points) - 1)
        after = np.minimum(before + 1, len(points) - 1)
        alpha = (frames - before)[:, None, None]
        mixed = points[before] * (1.0 - alpha) + points[after] * alpha
        return Clouds(set_readonly(mixed), np.full(N_COMPARED, 1.0 / N_COMPARED), fps, self.clouds.name)

    def phase_at(self, frames: Floats) -> Floats:
        """Return the phase (N,) at fractional frames (N,); NaN where it is unknown."""
        return np.interp(frames, np.arange(len(self.phase)), self.phase)

    def standing(self) -> Bools:
        """Return a mask (F,) that is True in frames where the character stands still."""
        speed = np.linalg.norm(np.diff(self.clouds.points[:, [0, 3, 4]], axis=0), axis=-1).max(axis=1)
        still = np.append(speed, speed[-1:]) * self.clouds.fps < _STILL
        for start, stop in find_runs(still):
            if stop - start < _PAUSE * self.clouds.fps:
                still[start:stop] = False
        return set_readonly(still)


def find_gait(motion: Motion, what: str, instead: str = "transplant the joints with `marey.transplant`") -> Gait:
    """Find the gait of a motion; raise an error if it has none.

    what : description of the motion for the error message. instead : remedy for the error message.
    """
    gait = track_legs(motion)
    if gait.run is None:
        raise NotBlendable(
            f"{what} {motion.name!r} must have at least 2 consecutive steps, but none were found in its "
            f"{motion.duration:.1f} s",
            remedy=instead,
        )
    return gait


def track_legs(motion: Motion) -> Gait:
    """Find the gait of a motion; without two consecutive steps, it has no phase, and `run` is None."""
    roles = motion.skeleton.roles
    for role in _ROLES:
        roles[role]  # raises an error with a remedy if the role is missing
    clouds = point_clouds(motion, _ROLES)
    frames, feet = _find_passings(clouds, mean_leg_length(motion.skeleton))
    runs = _find_runs(frames, feet)
    longest = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    has_steps = longest[1] - longest[0] >= _MIN_STEPS
    phase = np.full(len(motion), np.nan)
    for start, stop in runs:
        if stop - start < _MIN_STEPS:
            continue
        knots = 0.5 * (np.arange(stop - start) + float(feet[start]))
        inside = np.arange(math.ceil(frames[start]), math.floor(frames[stop - 1]) + 1)
        phase[inside] = np.interp(inside, frames[start:stop], knots)
    cycle = 2.0 * float(np.median(np.diff(frames[longest[0] : longest[1]]))) if has_steps else _CYCLE * motion.fps
    ends = (float(frames[longest[0]]), float(frames[longest[1] - 1])) if has_steps else None
    level = smooth_series(clouds.points[:, 0, 1], _LEVEL * cycle)
    return Gait(clouds, set_readonly(phase), cycle, ends, set_readonly(level))


def _find_passings(clouds: Clouds, leg: float) -> tuple[Floats, Ints]:
    """Find the fractional frames at which the feet pass each other, and the foot in swing: 0 left, 1 right.

    leg : leg length in meters.
    """
    points = clouds.points
    if len(points) < 3 or leg <= 0.0:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    floor = points[..., [0, 2]]
    return find_passings(floor[:, 0], floor[:, 5] - floor[:, 6], floor[:, 3:5], leg, clouds.fps)


def _find_runs(frames: Floats, feet: Ints) -> list[tuple[int, int]]:
    """Return index ranges (start, stop) of consecutive passings in which the feet alternate without a pause."""
    if not len(frames):
        return []
    gaps = np.diff(frames)
    pause = gaps > _LONGEST * np.median(gaps) if len(gaps) else np.zeros(0, dtype=bool)
    cuts = [0, *(np.flatnonzero((feet[1:] == feet[:-1]) | pause) + 1).tolist(), len(frames)]
    return list(itertools.pairwise(cuts))
