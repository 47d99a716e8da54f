"""Samples that travel: each is a course for the gait generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.samples.body import Controls, Plan
from marey.samples.curves import Curve, ease_between, min_jerk
from marey.samples.feet import TREAD_AHEAD, TREAD_BEHIND
from marey.samples.gait import Course, GaitPlanner
from marey.samples.styles import GaitStyle, make_style, mix_styles, running, sneaking, walking

Values = dict[str, Any]
_MAX_SIDEWAYS = 4.0  # m/s2: a lean of 22 degrees


def constant(value: float) -> Curve:
    """Return a constant curve."""
    return lambda t: np.full(np.shape(t), float(value))


def interpolate_keys(*keys: tuple[float, float]) -> Curve:
    """Return a curve that eases from key (seconds, value) to key."""
    times, values = zip(*keys, strict=True)
    return lambda t: ease_between(t, times, values)


def _make_walking(t: Floats, speed: Floats) -> GaitStyle:
    return walking(speed)


def _add_labels(plan: Plan, *names: str) -> Plan:
    """Return the plan with labels over its entire duration."""
    return replace(plan, labels=tuple((name, 0.0, np.inf) for name in names))


def walk(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a walk at a steady speed and turn rate."""
    course = _plan_steady(values, _make_walking, rng)
    return _add_labels(GaitPlanner(course, rng, values["variation"]).plan(), "walk", *_label_turn(values["turn_rate"]))


def run(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a run, with flight phases, at a steady speed and turn rate."""
    _check_turn(values["speed"], values["turn_rate"])
    course = _plan_steady(values, lambda t, speed: running(speed), rng)
    return _add_labels(GaitPlanner(course, rng, values["variation"]).plan(), "run", *_label_turn(values["turn_rate"]))


def _plan_steady(values: Values, style: Callable[[Floats, Floats], GaitStyle], rng: np.random.Generator) -> Course:
    first = rng.random() * min(1.0, values["variation"])
    return Course(values["seconds"], constant(values["speed"]), constant(values["turn_rate"]), style, first=first)


def _check_turn(speed: float, rate: float) -> None:
    """Raise an error for a curve that people cannot run without falling."""
    if speed * abs(rate) > _MAX_SIDEWAYS:
        raise InvalidValue(
            f"speed {speed:g} m/s with turn_rate {np.degrees(rate):.3g} degrees/s needs a sideways acceleration of "
            f"{speed * abs(rate):.2g} m/s2 (maximum {_MAX_SIDEWAYS:g}); reduce speed or turn_rate"
        )


def _label_turn(rate: float) -> tuple[str, ...]:
    return () if rate == 0.0 else ("turn_left",) if rate > 0.0 else ("turn_right",)


def start_and_stop(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a walk that starts from standing and stops again."""
    v, length = values["speed"], values["seconds"]
    starts, stops = 0.8, 0.8 + length
    quicken, slacken = 0.45 + 0.65 * v, 0.7 + 0.7 * v
    speed = interpolate_keys((starts - 0.1, 0.0), (starts + quicken, v), (stops - slacken, v), (stops, 0.0))
    rate = values["turn_rate"]
    turn = interpolate_keys((starts, 0.0), (starts + quicken, rate), (stops - slacken, rate), (stops, 0.0))

    def style(t: Floats, speed: Floats) -> GaitStyle:
        # The cadence is nearly full from the first step, long before the speed is.
        return replace(walking(speed), rate=walking(np.maximum(speed, 0.9 * v)).rate)

    course = Course(stops + 1.1, speed, turn, style, starts=starts, stops=stops)
    gait = GaitPlanner(course, rng, values["variation"])
    return replace(gait.plan(), labels=_label_between("walk", starts, gait.stop_time()))


def _label_between(name: str, start: float, stop: float) -> tuple[tuple[str, float, float], ...]:
    """Return labels for an action with standing before and after."""
    return (("stand", 0.0, start), (name, start, stop), ("stand", stop, np.inf))


def turn_in_place(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a turn on the spot in small steps, with standing before and after."""
    angle = values["angle"]
    length = max(1.1, 0.55 + abs(angle) / 1.5)
    starts, stops = 0.7, 0.7 + length
    rate = _bump_rate(starts - 0.05, stops - 0.05, angle)

    def style(t: Floats, speed: Floats) -> GaitStyle:
        base = walking(np.full_like(speed, 0.5))
        small = 0.35 * np.ones_like(speed)
        return replace(
            base,
            rate=base.rate * 1.35,
            passing=0.5 * np.ones_like(speed),
            width=0.09 * np.ones_like(speed),
            pitch_on=0.5 * base.pitch_on,
            pitch_off=0.75 * base.pitch_off,
            turn=small * base.turn,
            arm=0.6 * base.arm,
            bob=0.5 * base.bob,
        )

    course = Course(stops + 0.9, constant(0.0), rate, style, starts=starts, stops=stops)
    gait = GaitPlanner(course, rng, values["variation"])
    return replace(gait.plan(), labels=_label_between("turn_in_place", starts, gait.stop_time()))


def _bump_rate(start: float, stop: float, total: float) -> Curve:
    """Return a rate curve that is 0 outside (start, stop) and integrates to `total`: the derivative of a minimum-jerk
    curve.
    """

    def rate(t: Floats) -> Floats:
        s = np.clip((t - start) / (stop - start), 0.0, 1.0)
        out: Floats = total / (stop - start) * 30.0 * s**2 * (1.0 - s) ** 2
        return out

    return rate


def turn_around(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a walk with a turn of 180 degrees (or another angle) in a few steps."""
    v, angle = values["speed"], values["angle"]
    middle = 2.2
    half = max(0.75, 0.28 * abs(angle))
    slow = v * (1.0 - 0.85 * min(1.0, abs(angle) / np.pi))
    speed = interpolate_keys(
        (middle - half - 0.5, v), (middle - 0.1, slow), (middle + 0.1, slow), (middle + half + 0.5, v)
    )
    rate = _bump_rate(middle - half, middle + half, angle)
    course = Course(2 * middle + 0.4, speed, rate, _make_walking)
    plan = _add_labels(GaitPlanner(course, rng, values["variation"]).plan(), "walk")
    return replace(plan, labels=(*plan.labels, ("turn_around", middle - half, middle + half)))


def walk_to_run(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a walk that speeds up and becomes a run."""
    slow, fast, length = values["speed"], values["run_speed"], values["seconds"]
    _check_turn(fast, values["turn_rate"])
    span = min(max((fast - slow) / 1.1, 0.36 * length), 0.6 * length)
    begin = 0.5 * (length - span)
    speed = interpolate_keys((begin, slow), (begin + span, fast))
    # People change from walking to running near 2.2 m/s, regardless of the final speed.
    fine = np.linspace(begin, begin + span, 200)
    middle = float(np.interp(min(max(2.2, slow + 0.2), fast - 0.1), speed(fine), fine))

    def style(t: Floats, speed: Floats) -> GaitStyle:
        return mix_styles(walking(speed), running(speed), min_jerk((t - middle + 0.45) / 0.9))

    course = Course(length, speed, constant(values["turn_rate"]), style)
    plan = GaitPlanner(course, rng, values["variation"]).plan()
    return replace(plan, labels=(("walk", 0.0, middle), ("run", middle, np.inf)))


def sneak(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a crouched gait, with pauses in which the body stands still and looks to one side."""
    length, count = values["seconds"], int(values["pauses"])
    waits = 0.9 * np.exp(0.3 * values["variation"] * rng.uniform(-1.0, 1.0, count))
    waits *= min(1.0, 0.6 * length / max(float(waits.sum()), 1e-9))
    moving = length - float(waits.sum())
    spread = values["variation"] * rng.uniform(-0.25, 0.25, count)
    moments = (np.arange(count) + 0.5 + spread) * moving / max(count, 1)
    looks = rng.choice([-1.0, 1.0], count) * rng.uniform(0.35, 0.8, count)
    course = Course(
        length,
        constant(values["speed"]),
        constant(values["turn_rate"]),
        lambda t, speed: sneaking(speed, values["crouch"]),
        pauses=tuple(zip(moments.tolist(), waits.tolist(), strict=True)),
    )
    gait = GaitPlanner(course, rng, values["variation"])
    plan = _add_labels(gait.plan(), "sneak")
    base = plan.controls

    def controls(t: Floats) -> Controls:
        pose = base(t)
        gaze = pose.gaze.copy()
        for (start, stop), yaw in zip(gait.pauses, looks, strict=True):
            gaze[:, 0] += yaw * min_jerk((t - start) / 0.4) * (1.0 - min_jerk((t - stop + 0.15) / 0.4))
        return replace(pose, gaze=gaze)

    pausing = tuple(("pause", start, stop) for start, stop in gait.pauses)
    return replace(plan, controls=controls, labels=(*plan.labels, *pausing))


def carry(load: str) -> Callable[[Values, np.random.Generator], Plan]:
    """Return a generator of walks with a ``"box"`` in both hands, or a ``"cup"`` in the right hand.

    With the same seed, the gait is that of `walk`.
    """

    def make(values: Values, rng: np.random.Generator) -> Plan:
        plan = walk(values, rng)
        if load == "box":
            half = 0.5 * values["width"]
            holds = {"left": np.array([half, -0.42, 0.27]), "right": np.array([-half, -0.42, 0.27])}
        else:
            holds = {"right": np.array([-0.15, -0.36, 0.28])}
        base = plan.controls

        def controls(t: Floats) -> Controls:
            pose = base(t)
            arms = dict(pose.arms)
            for side in holds:
                # Start angles for inverse kinematics: elbow low and near the body.
                arms[side] = np.tile([0.25, 0.16, 0.25, 1.45], (len(t), 1))
            spine = pose.spine.copy()
            if load == "box":
                spine[:, 0] *= 0.6
                spine[:, 2] -= 0.05  # lean back to balance the weight in front
            else:
                gaze = pose.gaze.copy()
                gaze[:, 1] -= 0.12
                pose = replace(pose, gaze=gaze)
            return replace(pose, arms=arms, spine=spine)

        labels = (*plan.labels, (f"carry_{load}", 0.0, np.inf))
        return replace(plan, controls=controls, holds=holds, labels=labels)

    return make


def stairs(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a walk up or down a flight of stairs, one foot on each tread, with level ground before and after."""
    up, rise, n = values["way"] == "up", values["rise"], int(values["steps"])
    before = 3
    tread = TREAD_AHEAD + TREAD_BEHIND

    def heights(step: int) -> float:
        done = min(max(step - before, 0), n)
        return float(rise * (done if up else n - done))

    def style(t: Floats, speed: Floats) -> GaitStyle:
        base = walking(speed)
        return make_style(
            speed,
            base,
            rate=0.5 * speed / tread,
            duty=0.62,
            passing=0.42 if up else 0.34,
            width=0.06,
            toe_out=0.05,
            pitch_on=-0.14,
            pitch_off=0.55,
            heel_off=0.72,
            lift=0.05,
            peak=0.36,
            bob=0.006,
            lean=0.14 if up else 0.04,
            arm=0.6 * base.arm,
        )

    speed = values["speed"]
    seconds = (before + n + 3.5) * tread / speed
    course = Course(seconds, constant(speed), constant(0.0), style, heights=heights)
    gait = GaitPlanner(course, rng, 0.4 * values["variation"])
    start, stop = gait.find_time(0.5 * before), gait.find_time(0.5 * (before + n))
    plan = gait.plan()
    return replace(
        plan, labels=(("walk", 0.0, start), (f"stairs_{values['way']}", start, stop), ("walk", stop, np.inf))
    )
