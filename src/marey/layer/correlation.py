"""Find joints that move in time with the legs: an automatic version of the correlation study of Heck 4.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, set_readonly
from marey.core.motion import Motion
from marey.deprecation import renamed_method
from marey.layer.gait import find_gait
from marey.layer.halves import SIDES, split_body
from marey.maths import filters, quat, rigid2d

AXES = ("pitch", "twist", "roll")
"""Rotation about the body's left axis, about the vertical, and about the forward axis."""

# Degree of the fitted polynomial per gait cycle: enough for two waves per cycle, as the trunk bobs with every step.
_DEGREE = 8
_MAX_DEGREE = 150
# Degree per gait cycle of the polynomial that removes turns and other slow changes before curves are compared.
_DRIFT = 0.8
# Curves with a smaller amplitude (half of peak to peak) than this, in radians, are noise.
_MIN_SWING = np.radians(0.5)
# Minimum correlation of two trends that are in phase; below its negative they are in counter-phase.
_MIN_CORRELATION = 0.7
_HEADING = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Trend(FrozenRecord):
    """The rotation of a joint about one axis over time.

    joint : name of the joint.
    axis : "pitch", "twist" or "roll".
    kind : "global", relative to the body's heading, or "local", relative to the joint's parent.
    values : (F,) deviation from the mean, in radians.
    curve : (F,) polynomial fitted to the values.
    hips : correlation, from -1 to 1, of the curve with the difference of the left and right hips' swing.
    steps : fraction of the curve, from 0 to 1, that is explained by a wave with two periods per cycle.
    swing : amplitude of the curve during gait (half of peak to peak), in radians.
    """

    joint: str
    axis: str
    kind: str
    values: Floats
    curve: Floats
    hips: float
    steps: float
    swing: float

    @property
    def relation(self) -> str:
        """Relation to the legs: "in phase" or "counter-phase" with the left hip, "with each step", or "" for none."""
        if self.swing < _MIN_SWING:
            return ""
        if abs(self.hips) >= _MIN_CORRELATION:
            return "in phase" if self.hips > 0.0 else "counter-phase"
        return "with each step" if self.steps >= _MIN_CORRELATION else ""


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """The trends of a motion's hips and upper body.

    motion : the motion.
    hips : left and right swing of the upper legs, relative to the body's heading.
    trends : trend of every joint of the upper body about every axis; global trends first, then local ones.
    """

    motion: Motion
    hips: tuple[Trend, Trend]
    trends: tuple[Trend, ...]

    def select(self, relation: str, kind: str) -> list[Trend]:
        """Return the trends with this relation and kind, the largest swing first; see `Trend`."""
        found = [trend for trend in self.trends if trend.kind == kind and trend.relation == relation]
        return sorted(found, key=lambda trend: -trend.swing)

    named = renamed_method("named", "select")


def find_correlations(motion: Motion) -> Correlations:
    """Find the joints of the upper body that move in time with the legs.

    The deviation of each joint from its mean orientation is a rotation vector with components along the body's left,
    up and forward axes. A polynomial is fitted to each component and compared with the one fitted to the swing of the
    hips. The left and right hip are in counter-phase with each other, so a joint is in phase with only one of them.
    """
    gait = find_gait(motion, "the clip", "correlations are with the legs of a clip that walks, runs or climbs")
    halves = split_body(motion.skeleton)
    world = motion.world()
    roles = motion.skeleton.roles
    across = world.positions[:, roles["left_upper_leg"]] - world.positions[:, roles["right_upper_leg"]]
    heading = filters.gaussian(np.unwrap(np.arctan2(-across[:, 2], across[:, 0])), _HEADING * motion.fps)
    facing = rigid2d.to_quat(np.stack([heading, np.zeros_like(heading), np.zeros_like(heading)], axis=-1))
    seen = quat.inv_mul(facing[:, None], world.rotations)
    study = _Study(gait.phase, len(motion) / gait.cycle)
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

    phase : (F,) gait phase in cycles, NaN outside the gait.
    cycles : number of cycles in the clip.
    """

    def __init__(self, phase: Floats, cycles: float) -> None:
        self._curve, self._slow = (_make_basis(len(phase), degree * cycles) for degree in (_DEGREE, _DRIFT))
        known = np.isfinite(phase)
        self._known = known
        waves = np.stack([np.cos(4.0 * np.pi * phase[known]), np.sin(4.0 * np.pi * phase[known])], axis=1)
        self._waves = np.linalg.qr(waves - waves.mean(axis=0))[0]
        self._hips = np.zeros(int(known.sum()))

    def compare_with(self, hips: Floats) -> None:
        """Set the swing of the hips (F,), in radians, that curves are compared with."""
        self._hips = self._remove_drift(self._fit(hips))

    def trend(self, joint: str, axis: int, kind: str, values: Floats) -> Trend:
        """Return the trend of a joint's rotation `values` (F,), in radians, about an axis (index in `AXES`)."""
        curve = self._fit(values)
        lively = self._remove_drift(curve)
        size = float(np.linalg.norm(lively))
        hips = steps = 0.0
        if size > 0.0:
            hips = float(lively @ self._hips) / (size * float(np.linalg.norm(self._hips)))
            steps = float(np.linalg.norm(self._waves.T @ lively)) / size
        low, high = np.quantile(lively, [0.02, 0.98])  # the first frames of a capture are often off
        swing = 0.5 * float(high - low)
        return Trend(joint, AXES[axis], kind, set_readonly(values.copy()), curve, hips, steps, swing)

    def _fit(self, values: Floats) -> Floats:
        return set_readonly(_project(self._curve, values))

    def _remove_drift(self, curve: Floats) -> Floats:
        """Return the curve on the frames of the gait, without slow changes and with mean 0."""
        rest = (curve - _project(self._slow, curve))[self._known]
        return np.asarray(rest - rest.mean())


def _make_basis(n_frames: int, degree: float) -> Floats:
    """Return an orthonormal basis (F, d + 1) of the polynomials up to degree d, about `degree`."""
    n = int(min(max(1.0, np.ceil(degree)), _MAX_DEGREE, n_frames // 3))
    t = np.linspace(-1.0, 1.0, n_frames)
    return np.asarray(np.linalg.qr(np.polynomial.chebyshev.chebvander(t, n))[0])


def _project(basis: Floats, values: Floats) -> Floats:
    return np.asarray(basis @ (basis.T @ values))
