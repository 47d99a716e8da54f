"""Locomotion: convert a path, a speed and a style to footsteps and to the movement of the body above them.

The same code generates walks, runs, sneaking, turns, starts, stops and stairs; only the input curves differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from marey.core.arrays import Floats
from marey.maths import filters
from marey.samples.body import Controls, Plan
from marey.samples.curves import Curve, far, integral, min_jerk, spline, wobble
from marey.samples.feet import FootPlant, Swing
from marey.samples.skeleton import SIDES, sample_body
from marey.samples.styles import GaitStyle, vary_style

GRAVITY = 9.81
_GRID = 200.0  # Hz, time grid of the computation; independent of the frame rate
_MARGIN = 2.6  # seconds of gait planned before and after the clip, because the clip may begin and end in mid-stride
_MAX_LEAN = 0.4  # radians
_WAITING = 0.137  # phase after a strike of either foot at which both feet of a sneak are flat
_HALT = 0.13  # seconds of gait time over which a pause is spread
_LEAN_FRACTION = 0.85  # fraction of the lean that would balance a turn; people compensate the rest with their feet


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Input of the gait generator; curves are functions of seconds.

    seconds : duration of the clip. speed : curve in m/s. turn : curve in rad/s, positive to the left.
    style : function from times and speeds to a `GaitStyle`.
    pauses : (time, duration) in seconds of pauses in mid-gait, with both feet down. The time is approximate and does
        not count earlier pauses.
    starts, stops : seconds at which a standing body takes its first step and comes to rest; None if the gait continues
        beyond the clip.
    heights : function from step number n (from 0; negative before the clip) to ground height in meters; None for 0.
    first : phase at time 0 of a gait in progress, in strides.
    """

    seconds: float
    speed: Curve
    turn: Curve
    style: Callable[[Floats, Floats], GaitStyle]
    pauses: tuple[tuple[float, float], ...] = ()
    starts: float | None = None
    stops: float | None = None
    heights: Callable[[int], float] | None = None
    first: float = 0.0


class GaitPlanner:
    """A course evaluated on a fine time grid of N points; `plan` returns the planned motion."""

    def __init__(self, course: Course, rng: np.random.Generator, variation: float) -> None:
        self.course, self.variation = course, variation
        n = int(np.ceil((course.seconds + 2 * _MARGIN) * _GRID)) + 1
        self.t = t = -_MARGIN + np.arange(n) / _GRID
        drift = wobble(rng, 0.1, 0.5, 0.012 * variation)(t)
        weave = wobble(rng, 0.15, 0.5, 0.02 * variation)(t)
        wanted = course.speed(t)
        self.style = vary_style(course.style(t, wanted), rng, variation)
        rhythm = 1.0 + wobble(rng, 0.3, 1.0, 0.01 * variation)(t)
        phase = integral(t, self.style.rate * rhythm)
        pace, phase = self._add_pauses(phase - np.interp(0.0, t, phase))
        speed = wanted * (1.0 + drift)
        self.speed = speed * pace
        self.turn_rate = (course.turn(t) + weave * np.minimum(1.0, speed)) * pace
        start = 0.0 if course.starts is None else course.starts
        self.phase = phase - np.interp(start, t, phase) + course.first
        if course.starts is not None:
            # The right foot steps first: at this phase its heel comes off.
            self.phase += -0.5 + self._at(start, self.style.duty * self.style.heel_off) - course.first
        heading = integral(t, self.turn_rate)
        self.heading = heading - np.interp(start, t, heading)
        x, z = (integral(t, self.speed * wave(self.heading)) for wave in (np.sin, np.cos))
        self.x, self.z = x - np.interp(start, t, x), z - np.interp(start, t, z)
        self.last_phase = np.inf
        if course.stops is not None:
            # Scale the rhythm slightly, so one foot joins the other at the requested time.
            begun, ended = self._at(start, self.phase), self._at(course.stops, self.phase)
            self.last_phase = max(np.round(2.0 * ended) / 2.0, np.floor(2.0 * begun) / 2.0 + 1.0)
            self.phase = begun + (self.phase - begun) * (self.last_phase - begun) / (ended - begun)
        self.lean = np.clip(
            np.arctan(filters.gaussian(self.speed * self.turn_rate, 0.25 * _GRID) / GRAVITY), -_MAX_LEAN, _MAX_LEAN
        )
        self.places = rng.normal(size=(2, 4096, 4))
        self.upper = int(rng.integers(2**63))

    def _add_pauses(self, phase: Floats) -> tuple[Floats, Floats]:
        """Return the rate of gait time (N,) and the phase (N,) with pauses. Store the pauses in `self.pauses`."""
        own = self.t  # gait time, in which there are no pauses
        clock, slowness = own.copy(), np.ones_like(own)
        spans = []
        for moment, length in self.course.pauses:
            wished = np.round(2.0 * (np.interp(moment, own, phase) - _WAITING)) / 2.0 + _WAITING
            s = (own - np.interp(wished, phase, own)) / _HALT + 0.5
            clock += length * min_jerk(s)
            slowness += length / _HALT * 30.0 * np.clip(s * (1.0 - s), 0.0, None) ** 2
            spans.append(np.interp([0.25, 0.75], s, own))
        self.pauses = [tuple(np.interp(span, own, clock).tolist()) for span in spans]
        gait_time = np.interp(own, clock, own)
        return 1.0 / np.interp(gait_time, own, slowness), np.interp(gait_time, own, phase)

    def _at(self, seconds: float, values: Floats) -> float:
        return float(np.interp(seconds, self.t, values))

    def find_time(self, phase: float) -> float:
        """Return the time in seconds at which the gait reaches a phase."""
        return float(np.interp(phase, self.phase, self.t))

    def stop_time(self) -> float:
        """Return the time in seconds at which the last foot is flat on the ground."""
        return self.find_time(self.last_phase) + 0.12

    def plants(self, side: str) -> list[FootPlant]:
        """Return the plants of one foot, from before the clip to after it."""
        sign, offset = (1.0, 0.0) if side == "left" else (-1.0, 0.5)
        course = self.course
        first, last = np.ceil(self.phase[0] - offset), np.floor(self.phase[-1] - offset)
        numbers = [int(k) for k in np.arange(first, last + 1)]
        if course.starts is not None:
            begin = self._at(course.starts, self.phase)
            stance = self._at(course.starts, self.style.duty * self.style.heel_off)
            first_swing = int(np.ceil(begin - stance - offset - 1e-9))
            numbers = [k for k in numbers if k >= first_swing]
        numbers = [k for k in numbers if k + offset <= self.last_phase + 1e-9]
        plants = []
        for k in numbers:
            standing = course.starts is not None and k == numbers[0]
            closing = course.stops is not None and k == numbers[-1]
            plants.append(self._plant(k + offset, sign, standing, closing))
        return plants

    def _plant(self, phase: float, sign: float, standing: bool, closing: bool) -> FootPlant:
        course = self.course
        strike = self.find_time(phase)
        s = {f.name: self._at(strike, getattr(self.style, f.name)) for f in fields(GaitStyle)}
        flat, passing, heel_off, toe_off = (
            self.find_time(phase + s["duty"] * fraction) for fraction in (s["flat"], s["passing"], s["heel_off"], 1.0)
        )
        if standing and course.starts is not None:
            passing = course.starts - _MARGIN
        if closing:
            passing = self.t[-1]
        index = round(2.0 * phase)
        noise = self.variation * self.places[0 if sign > 0 else 1, index % 4096]
        yaw = self._at(passing, self.heading)
        forward, left = np.array([np.sin(yaw), 0.0, np.cos(yaw)]), np.array([np.cos(yaw), 0.0, -np.sin(yaw)])
        _, build = sample_body()
        # In a turn the body leans inward, so the feet come down outside its path.
        moving = 0.0 if standing or closing else 1.0
        outside = moving * build.stand * _LEAN_FRACTION * np.tan(self._at(passing, self.lean))
        width = s["width"] + (1.0 - moving) * 0.03
        position = np.array([self._at(passing, self.x), 0.0, self._at(passing, self.z)])
        position += (sign * width + 0.006 * noise[0] - outside) * left + 0.008 * moving * noise[1] * forward
        position[1] = 0.0 if course.heights is None else course.heights(index)
        between = None if course.heights is None else course.heights(index + 1)
        off = s["pitch_off"] * (1.0 + 0.03 * noise[3])
        on = s["pitch_on"] * (1.0 + 0.06 * noise[3])
        if course.heights is not None and course.heights(index - 2) != position[1]:
            on = 0.12 if course.heights(index - 2) > position[1] else -0.06
        if closing:
            on *= 0.4
        return FootPlant(
            position=position,
            yaw=yaw + sign * s["toe_out"] + 0.03 * noise[2],
            strike=far(-2.0) if standing else strike,
            flat=far(-1.0) if standing else flat,
            heel_off=far(1.0) if closing else heel_off,
            toe_off=far(2.0) if closing else toe_off,
            pitch_on=on,
            pitch_off=off,
            swing=Swing(s["lift"], s["peak"], s["lag"], s["dip"], sign * 0.012, between),
        )

    def activity(self) -> Floats:
        """Return the activity (N,): 1 during gait, 0 while the body stands, with smooth changes."""
        out = np.ones_like(self.t)
        if self.course.starts is not None:
            out *= min_jerk((self.t - self.course.starts + 0.35) / 0.9)
        if self.course.stops is not None:
            out *= 1.0 - min_jerk((self.t - self.stop_time() + 0.75) / 0.9)
        return out

    def plan(self) -> Plan:
        """Return the planned motion."""
        curves = self._body_curves()
        return Plan(
            plants={side: self.plants(side) for side, _ in SIDES},
            controls=lambda t: _controls(curves(t)),
            seconds=self.course.seconds,
            bob=lambda t: np.asarray(curves(t)[:, -1]),
            window=0.3,
            phase=self._true_phase,
        )

    def _true_phase(self, t: Floats) -> Floats:
        phase = np.interp(t, self.t, self.phase)
        if self.course.starts is not None:
            phase = np.where(t < self.course.starts, np.nan, phase)
        if self.course.stops is not None:
            phase = np.where(t > self.stop_time(), np.nan, phase)
        return phase

    def _body_curves(self) -> Curve:
        """Return the movement of the body as one spline with a column for each quantity."""
        s, t, p = self.style, self.t, self.phase
        going = self.activity()
        rng = np.random.default_rng(self.upper)
        mid = 0.5 * s.duty  # the middle of the left foot's single support
        # The body is highest as it passes over the foot.
        twice = np.cos(4 * np.pi * (p - s.duty * (s.passing + 0.07)))
        bob = going * s.bob * twice
        ground = np.zeros_like(t) if self.course.heights is None else self._ground(self.course.heights)
        lean = _LEAN_FRACTION * self.lean
        sway = going * s.sway * np.cos(2 * np.pi * (p - mid))
        surge = -going * s.surge * np.sin(4 * np.pi * (p - s.duty * (s.passing + 0.07)))
        loose = [wobble(rng, 0.2, 1.2, 0.012 * self.variation)(t) for _ in range(8)]
        _, build = sample_body()
        left_x, left_z = np.cos(self.heading), -np.sin(self.heading)
        ahead_x, ahead_z = np.sin(self.heading), np.cos(self.heading)
        height = build.stand - 0.004 - s.crouch * going + ground + bob
        yaw = -going * s.turn * np.cos(2 * np.pi * p)
        roll = going * s.list * np.cos(2 * np.pi * (p - 0.45 * s.duty)) - 0.5 * lean
        chest = going * s.chest * np.cos(2 * np.pi * (p - 0.03)) - yaw
        # The trunk stays upright when the pelvis drops to one side, and leans into a turn.
        bend = -0.9 * (roll + 0.5 * lean) - 0.5 * lean
        nod = 0.02 * going * np.cos(4 * np.pi * (p - 0.12))
        look = np.interp(t + 0.4, t, self.heading) - self.heading  # the head turns first
        columns = [
            self.x + sway * left_x + surge * ahead_x,
            height,
            self.z + sway * left_z + surge * ahead_z,
            self.heading,
            yaw + 0.15 * look,
            roll,
            s.tilt * (0.4 + 0.6 * going) + 0.3 * nod,
            chest + 0.25 * look + loose[0],
            bend + loose[1],
            s.lean * going + nod + loose[2],
            0.9 * np.tanh(look) + 1.5 * loose[3],
            -0.06 + 0.8 * loose[4],
        ]
        for (_, sign), wild in zip(SIDES, loose[5:7], strict=True):
            swing = -sign * np.cos(2 * np.pi * (p - 0.04)) * (1.0 + sign * 0.06 * self.variation * rng.normal())
            forward = s.arm_rest * going + going * s.arm * (swing - 0.12 * twice) + wild
            bent = s.elbow * (0.6 + 0.4 * going) + going * s.elbow_swing * (0.85 * swing + 0.3) + wild
            # An arm that swings forward also swings inward.
            outward = s.outward - 0.05 * going * swing + 0.3 * wild
            inward = s.inward + 0.10 * going * swing
            columns += [forward, outward, inward, 0.1 + np.logaddexp(0.0, 40.0 * (bent - 0.1)) / 40.0]
        return spline(t, np.stack([*columns, bob + ground], axis=1))

    def _ground(self, heights: Callable[[int], float]) -> Floats:
        """Return the smoothed height (N,) of the ground under the body, meters."""
        first, last = int(np.ceil(2 * self.phase[0])), int(np.floor(2 * self.phase[-1]))
        steps = np.arange(first, min(last, 2 * self.last_phase) + 1)
        # A leg lifts the body onto its step between the toe-off of the other foot and its own midstance.
        at = np.array([self.find_time(0.5 * n + 0.22) for n in steps])
        levels = np.array([heights(int(n)) for n in steps])
        return filters.gaussian(np.interp(self.t, at, levels), 0.10 * _GRID)


def _controls(rows: Floats) -> Controls:
    return Controls(
        place=rows[:, 0:3],
        heading=rows[:, 3],
        pelvis=rows[:, 4:7],
        spine=rows[:, 7:10],
        gaze=rows[:, 10:12],
        arms={"left": rows[:, 12:16], "right": rows[:, 16:20]},
    )
