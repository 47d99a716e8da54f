"""Feet over time: a planted foot rolls from heel to toe about fixed points; between plants it swings.

A planted foot rotates about its heel, lies flat, then rotates about its ball while the toes stay down. The ankle is
computed from the planted point, so that point stays fixed within rounding error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.maths import quat
from marey.samples.curves import bump, hermite, min_jerk, plateau, through
from marey.samples.skeleton import BodyLengths

_X, _Y, _ = np.eye(3)
# Rotation rates of a foot when it lands and when it leaves the ground, relative to the mean rate of its roll. They are
# low at landing and high at leaving, as in people; both make the time of contact clear.
_LANDING_RATE, _LEAVING_RATE = 0.6, 1.7
_CLEARANCE = 0.012
_RAISING = 0.4  # fraction of a swing over which the extra lift rises, and falls
_LEVEL = 0.03  # meters: with more rise or fall, a swing counts as a step up or down
_CLIMB = 0.85  # fraction of such a swing in which the foot moves up, or ahead
_EDGE = 0.012  # clearance from the edge of a tread, meters
# Accelerations at the start and end of a swing, in swing distances per squared swing time; 6 and 6 would be a cubic.
_LEAP, _BRAKE = 6.0, 3.0
# A tread extends this far in front of and behind the ankle of a foot that stands on it, meters.
TREAD_AHEAD, TREAD_BEHIND = 0.26, 0.08


@dataclass(frozen=True, slots=True)
class Swing:
    """How a foot swings to its next plant.

    lift : meters by which the ball of the foot is raised, at fraction `peak` of the swing.
    lag : exponent of the timing; above 1, the foot stays behind longer and comes forward later.
    dip : additional downward pitch of the foot early in the swing, radians, as in a run.
    aside : sideways offset at mid-swing in meters, positive to the left.
    between : height in meters of a tread between the two plants; None if there is none.
    via : points (fraction of the swing, ball position, pitch) to pass through, instead of lift and dip.
    """

    lift: float = 0.04
    peak: float = 0.4
    lag: float = 1.0
    dip: float = 0.0
    aside: float = 0.0
    between: float | None = None
    via: tuple[tuple[float, tuple[float, float, float], float], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FootPlant:
    """One plant (stance phase) of one foot.

    position : (3,) point on the ground below the ankle of the flat foot, meters.
    yaw : direction of the toes, radians.
    strike, flat, heel_off, toe_off : seconds, increasing.
    pitch_on, pitch_off : pitch at strike and toe-off in radians, positive with the toes down. A negative `pitch_on` is
        a heel strike, a positive one lands on the ball.
    rest : pitch between flat and heel-off, radians; greater than 0, the heel stays off the floor.
    swing : the swing that follows.
    """

    position: Floats
    yaw: float
    strike: float
    flat: float
    heel_off: float
    toe_off: float
    pitch_on: float = 0.0
    pitch_off: float = 0.9
    rest: float = 0.0
    swing: Swing = field(default_factory=Swing)


@dataclass(slots=True, eq=False)
class FootTrack:
    """One foot at F times.

    ankle : (F, 3) world position, meters. rotation : (F, 4) world rotation. toe : (F,) upward bend of the toes,
    radians. heel, ball : (F,) contact flags.
    """

    ankle: Floats
    rotation: Floats
    toe: Floats
    heel: Bools
    ball: Bools


def track_foot(plants: Sequence[FootPlant], t: Floats, build: BodyLengths) -> FootTrack:
    """Compute a foot at times t (F,) in seconds. It stands still before the first plant and after the last one."""
    n = len(t)
    pitch, yaw, toe = np.zeros(n), np.zeros(n), np.zeros(n)
    anchor, lever = np.zeros((n, 3)), np.zeros((n, 3))
    heel, ball = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    to_heel, to_ball = np.array([0.0, build.ankle, build.heel]), np.array([0.0, build.ankle, -build.ball])
    for i, plant in enumerate(plants):
        start = -np.inf if i == 0 else plant.strike
        stop = np.inf if i == len(plants) - 1 else plant.toe_off
        lo, hi = np.searchsorted(t, [start, stop])
        now = slice(int(lo), int(hi))
        pitch[now], toe[now] = _roll(plant, t[now])
        yaw[now] = plant.yaw
        heel[now], ball[now] = _heel_contact(plant, t[now]), _ball_contact(plant, t[now])
        on_heel = (~ball[now])[:, None]
        anchor[now] = np.where(on_heel, _find_sole(plant, -build.heel), _find_sole(plant, build.ball))
        lever[now] = np.where(on_heel, to_heel, to_ball)
        if i + 1 < len(plants):
            nxt = plants[i + 1]
            lo, hi = np.searchsorted(t, [stop, nxt.strike])
            now = slice(int(lo), int(hi))
            anchor[now], pitch[now], yaw[now], toe[now] = _swing_foot(plant, nxt, t[now], build)
            lever[now] = to_ball
    rotation = quat.mul(quat.from_axis_angle(_Y, yaw), quat.from_axis_angle(_X, pitch))
    return FootTrack(anchor + quat.rotate(rotation, lever), rotation, toe, heel, ball)


def _find_sole(plant: FootPlant, ahead: float) -> Floats:
    """Return the world position (3,) of the sole point `ahead` meters in front of the ankle, with the foot flat."""
    return plant.position + ahead * np.array([np.sin(plant.yaw), 0.0, np.cos(plant.yaw)])


def _roll(plant: FootPlant, t: Floats) -> tuple[Floats, Floats]:
    """Return the pitch of a planted foot and the upward bend of its toes, radians."""
    out = np.full_like(t, plant.rest)
    landing, leaving = t < plant.flat, t > plant.heel_off
    on, off = plant.pitch_on - plant.rest, plant.pitch_off - plant.rest
    s = (t[landing] - plant.strike) / max(plant.flat - plant.strike, 1e-9)
    out[landing] += hermite(s, on, 0.0, -_LANDING_RATE * on, 0.0)
    s = (t[leaving] - plant.heel_off) / max(plant.toe_off - plant.heel_off, 1e-9)
    out[leaving] += hermite(s, 0.0, off, 0.0, _LEAVING_RATE * off)
    return out, np.maximum(out, 0.0)


def _heel_contact(plant: FootPlant, t: Floats) -> Bools:
    start = plant.flat if plant.pitch_on > 0.0 else plant.strike
    inside: Bools = (t >= start) & (t <= plant.heel_off)
    return inside if plant.rest == 0.0 else np.zeros_like(inside)


def _ball_contact(plant: FootPlant, t: Floats) -> Bools:
    inside: Bools = t >= (plant.flat if plant.pitch_on < 0.0 else plant.strike)
    return inside


def _swing_foot(a: FootPlant, b: FootPlant, t: Floats, build: BodyLengths) -> tuple[Floats, Floats, Floats, Floats]:
    """Return ball position (F, 3), pitch, yaw and toe bend of a foot that swings from plant a to plant b."""
    length = b.strike - a.toe_off
    s = (t - a.toe_off) / length
    leave = _LEAVING_RATE * (a.pitch_off - a.rest) / (a.toe_off - a.heel_off)
    land = -_LANDING_RATE * (b.pitch_on - b.rest) / max(b.flat - b.strike, 1e-9) if b.pitch_on else 0.0
    ends = _Ends(a, b, length, leave, land, build)
    ball, pitch, tip = ends.path(s)
    if not a.swing.via:
        ball[:, 1] += a.swing.lift * bump(s, a.swing.peak) + ends.extra_lift() * plateau(s, _RAISING)
    turn = (b.yaw - a.yaw) * min_jerk(s)
    return ball, pitch, a.yaw + turn, pitch - tip


def _carry(s: Floats) -> Floats:
    """Return the progress of a swinging foot along its path: a sudden start and a soft landing."""
    rest = 1.0 - s
    out: Floats = min_jerk(s) + 0.5 * _LEAP * s**2 * rest**3 - 0.5 * _BRAKE * s**3 * rest**2
    return out


class _Ends:
    """A swing between two plants; `path` evaluates it at fractions s of its duration."""

    def __init__(
        self, a: FootPlant, b: FootPlant, length: float, leave: float, land: float, build: BodyLengths
    ) -> None:
        self.a, self.b, self.length, self.leave, self.land, self.build = a, b, length, leave, land, build
        self.start = _find_sole(a, build.ball)
        # If the foot lands on its heel, the ball is still in the air and comes down by rotating about the heel.
        forward = np.array([np.sin(b.yaw), 0.0, np.cos(b.yaw)])
        up = np.array([0.0, 1.0, 0.0])
        if b.pitch_on < 0.0:
            sole = build.heel + build.ball
            c, s = np.cos(b.pitch_on), np.sin(b.pitch_on)
            self.end = _find_sole(b, -build.heel) + sole * (c * forward - s * up)
            self.end_speed = land * sole * (-s * forward - c * up)
        else:
            self.end, self.end_speed = _find_sole(b, build.ball), np.zeros(3)

    def path(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the ball position without lift, the pitch of the foot, and the pitch of the toes."""
        a, b, swing = self.a, self.b, self.a.swing
        pitch_keys = (a.pitch_off, b.pitch_on, self.leave * self.length, self.land * self.length)
        column = s[:, None]
        if swing.via:
            fractions = [0.0, *(key[0] for key in swing.via), 1.0]
            ball = through(s, fractions, [self.start, *(key[1] for key in swing.via), self.end])
            ball += hermite(column, 0.0, 0.0, 0.0, 1.0) * self.end_speed * self.length
            free = hermite(np.array(fractions), *pitch_keys)
            aims = [0.0, *(key[2] - f for key, f in zip(swing.via, free[1:-1], strict=True)), 0.0]
            pitch = hermite(s, *pitch_keys) + through(s, fractions, aims)
        else:
            rise = b.position[1] - a.position[1]
            along = height = _carry(s**swing.lag)
            if abs(rise) > _LEVEL:  # first up, then ahead; or first ahead, then down
                up = rise > 0.0
                along = _carry(np.clip((s - 1.0) / _CLIMB + 1.0 if up else s / _CLIMB, 0.0, 1.0))
                height = min_jerk(s / _CLIMB if up else (s - 1.0) / _CLIMB + 1.0)
            ball = self.start + np.stack([along, height, along], axis=1) * (self.end - self.start)
            ball += hermite(column, 0.0, 0.0, 0.0, 1.0) * self.end_speed * self.length
            pitch = hermite(s, *pitch_keys) + swing.dip * bump(s, 0.3)
        left = np.array([np.cos(a.yaw), 0.0, -np.sin(a.yaw)])
        ball += swing.aside * bump(column, 0.5) * left
        # The toes lie flat when the ball leaves the floor and straighten soon after; landing is the reverse.
        toes = pitch - (a.pitch_off + self.leave * self.length * s) * (1.0 - min_jerk(s / 0.4))
        if b.pitch_on > 0.0:
            toes -= (b.pitch_on + self.land * self.length * (s - 1.0)) * min_jerk((s - 0.5) / 0.5)
        return ball, pitch, toes

    def extra_lift(self) -> float:
        """Return the extra foot clearance at mid-swing, in meters, that the toes and heel need to clear the ground."""
        build, swing = self.build, self.a.swing
        s = np.linspace(0.1, 0.9, 33)
        ball, pitch, toes = self.path(s)
        more = plateau(s, _RAISING)
        height = ball[:, 1] + swing.lift * bump(s, swing.peak)
        across = (self.end - self.start) * np.array([1.0, 0.0, 1.0])
        distance = float(np.linalg.norm(across))
        ahead = across / distance if distance > 1e-6 else np.zeros(3)
        sole = build.ball + build.heel
        at = ball @ ahead
        parts = (
            (at, height),
            (at + build.toe * np.cos(toes), height - build.toe * np.sin(toes)),
            (at - sole * np.cos(pitch), height + sole * np.sin(pitch)),
        )
        needed = 0.0
        for along, level in parts:
            floor = np.maximum(self._floor(along - _EDGE, ahead), self._floor(along + _EDGE, ahead))
            needed = max(needed, float(np.max((floor + _CLEARANCE * more - level) / more)))
        return min(needed, 0.4)

    def _floor(self, along: Floats, ahead: Floats) -> Floats:
        """Return the height of the ground, in meters, below points at distances `along` in the direction `ahead`."""
        start, end = float(self.a.position[1]), float(self.b.position[1])
        first, last = self.a.position @ ahead + TREAD_AHEAD, self.b.position @ ahead - TREAD_BEHIND
        between = self.a.swing.between
        if between is None:  # only one edge, that of the higher level
            between = end
            first = last = last if end > start else first
        out: Floats = np.where(along < first, start, np.where(along < last, between, end))
        return out
