"""Find joints that move in time with the legs: an automatic version of the correlation study of Heck 4.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, set_readonly
from marey.core.motion import Motion
from marey.deprecation import renamed_methods
from marey.layer.gait import Gait, find_gait
from marey.layer.halves import SIDES, split_body
from marey.layer.smoothing import smooth_series
from marey.maths import filters, quat, rigid2d

AXES = ("pitch", "twist", "roll")
"""Rotation about the body's left axis, about the vertical, and about the forward axis."""

RELATIONS = ("in phase", "counter-phase", "with each step", "with each stride")
"""In phase or in counter-phase with the swing of the left hip; twice per cycle, such as the bobbing of the trunk; or
once per cycle at another phase, such as a body that sways from leg to leg."""

# Degree of the fitted polynomial per gait cycle: enough for two waves per cycle, as the trunk bobs with every step.
_DEGREE = 8
_MAX_DEGREE = 150
# Standard deviation, in gait cycles, of the Gaussian that extracts slow changes before curves are compared.
_DRIFT = 0.5
# Frames in which the change of heading per cycle differs from the usual by more than this, in radians, are part of a
# turn. There the trunk rotates ahead of the legs by more than it moves with the steps. These frames are not compared,
# if enough others remain.
_TURN = np.radians(30.0)
# Curves with a smaller amplitude (half of peak to peak) than this, in radians, are noise.
_MIN_SWING = np.radians(0.5)
# Minimum correlation of two trends that are in phase; below its negative they are in counter-phase.
_MIN_CORRELATION = 0.7
# Minimum of `Trend.repeats`; a movement that differs more from cycle to cycle is not part of the gait.
_MIN_REPEATS = 0.3
# Number of phases of a cycle at which movements are averaged over the cycles.
_N_PHASES = 24
_HEADING = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Trend(FrozenRecord):
    """The rotation of a joint about one axis over time.

    joint : name of the joint.
    axis : "pitch", "twist" or "roll".
    kind : "global", relative to the body's heading, or "local", relative to the joint's parent.
    values : (F,) deviation from the mean, in radians.
    curve : (F,) polynomial fitted to the values.
    hips : correlation, from -1 to 1, of the average cycle with the difference of the left and right hips' swing.
    steps : fraction of the average cycle, from 0 to 1, that is a wave with two periods per cycle.
    strides : fraction of the average cycle, from 0 to 1, that is a wave with one period per cycle, at any phase.
    repeats : how much of the movement is the same in every cycle, from 1 for all of it to 0 for none.
    swing : amplitude of the average cycle (half of peak to peak), in radians.

    The average cycle is the median over all cycles, without slow changes.
    """

    joint: str
    axis: str
    kind: str
    values: Floats
    curve: Floats
    hips: float
    steps: float
    strides: float
    repeats: float
    swing: float

    @property
    def relation(self) -> str:
        """Relation to the legs: one of `RELATIONS`, or "" for none."""
        if self.swing < _MIN_SWING or self.repeats < _MIN_REPEATS:
            return ""
        if abs(self.hips) >= _MIN_CORRELATION:
            return "in phase" if self.hips > 0.0 else "counter-phase"
        if max(self.steps, self.strides) < _MIN_CORRELATION:
            return ""
        return "with each step" if self.steps > self.strides else "with each stride"


@renamed_methods(named="select")
@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """The trends of a motion's hips and upper body.

    motion : the motion.
    hips : left and right swing of the upper legs, relative to the body's heading.
    trends : trend of every joint of the upper body about every axis; global trends first, then local ones.

    Examples
    --------
    >>> found = marey.layer.find_correlations(walk)
    >>> found.hips[0].values.shape, found.trends[0].kind
    ((241,), 'global')
    """

    motion: Motion
    hips: tuple[Trend, Trend]
    trends: tuple[Trend, ...]

    def select(self, relation: str, kind: str) -> list[Trend]:
        """Return the trends with this relation and kind, the largest swing first; see `Trend`."""
        found = [trend for trend in self.trends if trend.kind == kind and trend.relation == relation]
        return sorted(found, key=lambda trend: -trend.swing)


def find_correlations(motion: Motion) -> Correlations:
    """Find the joints of the upper body that move in time with the legs.

    The deviation of each joint from its mean orientation is a rotation vector with components along the body's left,
    up and forward axes. A polynomial is fitted to each component and compared with the one fitted to the swing of the
    hips. The left and right hip are in counter-phase with each other, so a joint is in phase with only one of them.

    Slow changes, which are the mean over a gait cycle around each frame, do not count. Neither do frames in which the
    body turns far more than in most of the clip, such as a turn at the end of the room.

    Examples
    --------
    >>> found = marey.layer.find_correlations(walk)
    >>> len(found.hips), found.trends[0].values.shape  # radians
    (2, (241,))
    """
    gait = find_gait(motion, "the clip", "correlations are with the legs of a clip that walks, runs or climbs")
    halves = split_body(motion.skeleton)
    world = motion.world()
    roles = motion.skeleton.roles
    across = world.positions[:, roles["left_upper_leg"]] - world.positions[:, roles["right_upper_leg"]]
    heading = filters.gaussian(np.unwrap(np.arctan2(-across[:, 2], across[:, 0])), _HEADING * motion.fps)
    facing = rigid2d.to_quat(np.stack([heading, np.zeros_like(heading), np.zeros_like(heading)], axis=-1))
    seen = quat.inv_mul(facing[:, None], world.rotations)
    study = _Study(gait, heading)
    swings = [_find_rotation_vectors(seen[:, roles[f"{side}_upper_leg"]])[:, 0] for side in SIDES]
    study.compare_with(swings[0] - swings[1])
    hips = [study.trend(f"{side} hip", 0, "global", swing) for side, swing in zip(SIDES, swings, strict=True)]
    trends = []
    for kind in ("global", "local"):
        for joint in (halves.attachment, *np.flatnonzero(halves.upper)):
            if motion.skeleton.is_end_site[joint]:
                continue
            parent = int(motion.skeleton.parents[joint])
            if kind == "global":
                turning = _find_rotation_vectors(seen[:, joint])
            else:
                # Rotation relative to the parent, expressed in the axes of the heading.
                standing = quat.average(seen[:, parent], axis=0)
                turning = quat.rotate(standing, _find_rotation_vectors(motion.rotations[:, joint]))
            for axis in range(3):
                trends.append(study.trend(motion.skeleton.names[joint], axis, kind, turning[:, axis]))
    return Correlations(motion, (hips[0], hips[1]), tuple(trends))


def _find_rotation_vectors(orientations: Floats) -> Floats:
    """Return rotation vectors (F, 3) from the mean orientation, in the coordinates of `orientations` (F, 4)."""
    mean = quat.average(orientations, axis=0)
    return quat.log(quat.mul_inv(orientations, mean))


class _Study:
    """Fits polynomials to the curves of a gait and compares them with the swing of the hips.

    heading : (F,) heading of the hips in radians, continuous.
    """

    def __init__(self, gait: Gait, heading: Floats) -> None:
        phase = gait.phase
        self._basis = _make_basis(len(phase), _DEGREE * len(phase) / gait.cycle)
        self._cycle = gait.cycle
        known = np.isfinite(phase)
        turned = _measure_turns(heading, gait.cycle)
        steady = known & (np.abs(turned - np.median(turned[known])) < _TURN)
        self._known = steady if 2 * steady.sum() > known.sum() else known
        self._phases = np.floor(_N_PHASES * (phase[self._known] % 1.0)).astype(np.int64) % _N_PHASES
        self._hips = np.zeros(_N_PHASES)

    def compare_with(self, hips: Floats) -> None:
        """Set the swing of the hips (F,), in radians, that curves are compared with."""
        self._hips = self._average(self._remove_drift(_project(self._basis, hips)))

    def trend(self, joint: str, axis: int, kind: str, values: Floats) -> Trend:
        """Return the trend of a joint's rotation `values` (F,), in radians, about an axis (index in `AXES`)."""
        curve = set_readonly(_project(self._basis, values))
        lively = self._remove_drift(curve)
        cycle = self._average(lively)
        size = float(np.linalg.norm(cycle))
        hips = steps = strides = repeats = 0.0
        if size > 0.0:
            hips = float(cycle @ self._hips) / (size * float(np.linalg.norm(self._hips)))
            waves = np.abs(np.fft.rfft(cycle)[1:3]) * np.sqrt(2.0 / _N_PHASES) / size
            strides, steps = (float(wave) for wave in waves)
            rest, moved = (float(np.median(np.abs(each))) for each in (lively - cycle[self._phases], lively))
            repeats = max(0.0, 1.0 - rest / moved) if moved > 0.0 else 0.0
        swing = 0.5 * float(np.ptp(cycle))
        return Trend(joint, AXES[axis], kind, set_readonly(values.copy()), curve, hips, steps, strides, repeats, swing)

    def _remove_drift(self, curve: Floats) -> Floats:
        """Return the curve on the compared frames, minus its mean over about a gait cycle around each frame."""
        return np.asarray((curve - smooth_series(curve, _DRIFT * self._cycle))[self._known])

    def _average(self, lively: Floats) -> Floats:
        """Return the average cycle (_N_PHASES,): the median, at each phase, of values (N,) on the compared frames,
        minus its mean."""
        present = np.unique(self._phases)
        medians = np.array([np.median(lively[self._phases == each]) for each in present])
        cycle = np.interp(np.arange(_N_PHASES), present, medians, period=_N_PHASES)
        return np.asarray(cycle - cycle.mean())


def _measure_turns(heading: Floats, cycle: float) -> Floats:
    """Return how far the heading (F,) changes over a cycle around each frame, in radians, (F,)."""
    frames, half = np.arange(len(heading)), 0.5 * cycle
    ends = [np.interp(frames + side * half, frames, heading) for side in (-1.0, 1.0)]
    return np.asarray(ends[1] - ends[0])


def _make_basis(n_frames: int, degree: float) -> Floats:
    """Return an orthonormal basis (F, d + 1) of the polynomials up to degree d, about `degree`."""
    n = int(min(max(1.0, np.ceil(degree)), _MAX_DEGREE, n_frames // 3))
    t = np.linspace(-1.0, 1.0, n_frames)
    return np.asarray(np.linalg.qr(np.polynomial.chebyshev.chebvander(t, n))[0])


def _project(basis: Floats, values: Floats) -> Floats:
    return np.asarray(basis @ (basis.T @ values))
