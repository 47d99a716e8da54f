"""The gait of a clip: when the feet pass each other, and the phase of each frame."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from marey.compare import Clouds, point_clouds
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.errors import NotBlendable
from marey.layer.smoothing import smooth_series
from marey.measure.gait import find_passings, mean_leg_length

# Joints from which the gait is found, hips and knees first: time alignment compares these three (Heck 4.2.2).
_ROLES = (
    *("hips", "left_lower_leg", "right_lower_leg", "left_foot", "right_foot", "left_upper_leg", "right_upper_leg"),
)
N_COMPARED = 3
# Passings of the feet, one foot after the other, that make a gait.
_MIN_STEPS = 2
# Times the usual half cycle: feet that take longer from one passing to the next have paused.
_LONGEST = 1.8
# In cycles, standard deviation of the Gaussian that leaves the height level of the hips, on stairs or when stooping.
_LEVEL = 0.35
# A character stands still where hips and ankles move slower than this, m/s, for at least this many seconds.
_STILL, _PAUSE = 0.12, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Gait:
    """What time alignment needs to know about a clip.

    clouds : hips, knees, ankles and hip joints in the world, frame by frame.
    phase : (F,) in cycles: an integer where the left foot passes the right one, and a half where the right foot passes.
        It keeps increasing within a run of steps; NaN where the feet do not alternate.
    cycle : frames of a cycle, twice the median half cycle.
    run : first and last frame of the longest run of steps.
    level : (F,) meters, the height of the hips averaged over some cycles; climbing and stooping are not part of a step.
    """

    clouds: Clouds
    phase: Floats
    cycle: float
    run: tuple[float, float]
    level: Floats

    def run_phase(self) -> tuple[Floats, int, int]:
        """The longest run of steps as (F,) phase, NaN elsewhere, with its first and last frame.

        The run is extended by up to half a cycle at both ends, where the feet are approaching a passing that the clip
        does not contain.
        """
        first, last = math.ceil(self.run[0]), math.floor(self.run[1])
        start, stop = (max(0, math.ceil(first - 0.5 * self.cycle)), math.floor(last + 0.5 * self.cycle))
        stop = min(len(self.phase) - 1, stop)
        frames = np.arange(start, stop + 1)
        inside = np.clip(frames, first, last)
        phase = np.full(len(self.phase), np.nan)
        phase[frames] = self.phase[inside] + (frames - inside) / self.cycle
        return phase, start, stop

    def sample_clouds(self, frames: Floats, fps: float) -> Clouds:
        """Hips and knees at frames (N,), possibly fractional, as if recorded at `fps` and on level ground."""
        points = self.clouds.points[:, :N_COMPARED].copy()
        points[..., 1] -= self.level[:, None]
        before = np.clip(frames.astype(np.int64), 0, len(points) - 1)
        after = np.minimum(before + 1, len(points) - 1)
        alpha = (frames - before)[:, None, None]
        mixed = points[before] * (1.0 - alpha) + points[after] * alpha
        return Clouds(set_readonly(mixed), np.full(N_COMPARED, 1.0 / N_COMPARED), fps, self.clouds.name)

    def phase_at(self, frames: Floats) -> Floats:
        """(N,) phase at fractional frames; NaN where it is unknown."""
        return np.interp(frames, np.arange(len(self.phase)), self.phase)

    def standing(self) -> Bools:
        """(F,) True in pauses."""
        speed = np.linalg.norm(np.diff(self.clouds.points[:, [0, 3, 4]], axis=0), axis=-1).max(axis=1)
        still = np.append(speed, speed[-1:]) * self.clouds.fps < _STILL
        edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]])))
        for start, stop in edges.reshape(-1, 2).tolist():
            if stop - start < _PAUSE * self.clouds.fps:
                still[start:stop] = False
        return set_readonly(still)


# What to do with a clip that cannot be synchronized.
_INSTEAD = "transplant the joints instead (marey.transplant, or `marey transplant`)"


def find_gait(motion: Motion, what: str, instead: str = _INSTEAD) -> Gait:
    """Find the gait of a motion, called `what` in messages; raise if it has none, with `instead` as the remedy."""
    roles = motion.skeleton.roles
    for role in _ROLES:
        roles[role]  # raises where it is missing, and says how to map it
    clouds = point_clouds(motion, _ROLES)
    frames, feet = _find_passings(clouds, mean_leg_length(motion.skeleton))
    runs = _find_runs(frames, feet)
    longest = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    if longest[1] - longest[0] < _MIN_STEPS:
        found = "no steps were" if not len(frames) else "only single steps were"
        raise NotBlendable(
            f"{what} {motion.name!r} must have at least 2 consecutive steps to be aligned, but {found} found in its "
            f"{motion.duration:.1f} s; {instead}"
        )
    phase = np.full(len(motion), np.nan)
    for start, stop in runs:
        if stop - start < _MIN_STEPS:
            continue
        knots = 0.5 * (np.arange(stop - start) + float(feet[start]))
        inside = np.arange(math.ceil(frames[start]), math.floor(frames[stop - 1]) + 1)
        phase[inside] = np.interp(inside, frames[start:stop], knots)
    cycle = 2.0 * float(np.median(np.diff(frames[longest[0] : longest[1]])))
    ends = float(frames[longest[0]]), float(frames[longest[1] - 1])
    level = smooth_series(clouds.points[:, 0, 1], _LEVEL * cycle)
    return Gait(clouds, set_readonly(phase), cycle, ends, set_readonly(level))


def _find_passings(clouds: Clouds, leg: float) -> tuple[Floats, Ints]:
    """Frames at which the feet pass each other, and which foot is moving: 0 left, 1 right."""
    points = clouds.points
    if len(points) < 3 or leg <= 0.0:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    floor = points[..., [0, 2]]
    return find_passings(floor[:, 0], floor[:, 5] - floor[:, 6], floor[:, 3:5], leg, clouds.fps)


def _find_runs(frames: Floats, feet: Ints) -> list[tuple[int, int]]:
    """Ranges (start, stop) of passings in which the feet alternate without a pause."""
    if not len(frames):
        return []
    gaps = np.diff(frames)
    pause = gaps > _LONGEST * np.median(gaps) if len(gaps) else np.zeros(0, dtype=bool)
    cuts = [0, *(np.flatnonzero((feet[1:] == feet[:-1]) | pause) + 1).tolist(), len(frames)]
    return list(itertools.pairwise(cuts))
