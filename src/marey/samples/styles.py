"""Gait styles of walking, running and sneaking, by speed: the numbers that turn a path into footsteps and body motion.

Cadence, duty factor and amplitudes are round numbers based on what gait laboratories report for adults.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from marey.core.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class GaitStyle:
    """Gait style. Each field is an array over time. Angles are in radians, lengths in meters, fractions in [0, 1].

    rate : strides per second. duty : duty factor, the fraction of the stride in which a foot is in stance. It ends when
    the ball leaves the ground, slightly before the tip of the toes, which laboratories measure.
    passing : fraction of the stance at which the body passes over the ankle.
    width : distance from the path to the middle of a foot. toe_out : outward angle of the toes.
    pitch_on, pitch_off : pitch of the foot at strike and toe-off, positive with the toes down.
    flat, heel_off : fractions of the stance. lift, peak, lag, dip : of the swing, see `Swing`.
    bob, sway, surge : vertical, lateral and forward amplitude of the pelvis; a positive bob is highest at midstance.
    turn, chest : yaw amplitude of the pelvis with the legs, and of the chest against them.
    list : drop of the pelvis on the swing side. tilt, lean : forward lean of pelvis and spine.
    crouch : how much lower the pelvis is than in standing.
    arm, arm_rest : amplitude and mean of the arms' forward angle. outward, inward : outward angle and inward rotation
    of the arms. elbow, elbow_swing : mean and amplitude of the elbow bend.
    """

    rate: Floats
    duty: Floats
    passing: Floats
    width: Floats
    toe_out: Floats
    pitch_on: Floats
    pitch_off: Floats
    flat: Floats
    heel_off: Floats
    lift: Floats
    peak: Floats
    lag: Floats
    dip: Floats
    bob: Floats
    sway: Floats
    surge: Floats
    turn: Floats
    chest: Floats
    list: Floats
    tilt: Floats
    lean: Floats
    crouch: Floats
    arm: Floats
    arm_rest: Floats
    outward: Floats
    inward: Floats
    elbow: Floats
    elbow_swing: Floats


# Fields that vary between people and between takes, with the standard deviation of their logarithm.
TRAITS = {
    "rate": 0.025,
    "width": 0.12,
    "toe_out": 0.2,
    "pitch_on": 0.08,
    "pitch_off": 0.04,
    "lift": 0.12,
    "bob": 0.08,
    "sway": 0.15,
    "turn": 0.15,
    "chest": 0.2,
    "list": 0.15,
    "lean": 0.15,
    "arm": 0.18,
    "outward": 0.12,
    "elbow": 0.12,
    "elbow_swing": 0.2,
}


def make_style(speed: Floats, base: GaitStyle | None = None, /, **values: float | Floats) -> GaitStyle:
    """Return `base` with values replaced, or a new style. Scalars are broadcast to the shape (F,) of `speed`."""
    full = {name: value * np.ones_like(speed) for name, value in values.items()}
    return GaitStyle(**full) if base is None else replace(base, **full)


def walking(speed: Floats) -> GaitStyle:
    """Return the style of a walk at `speed` (F,) in m/s, valid from 0.6 to 2.0, and below for starts and stops."""
    v = np.clip(speed, 0.0, 2.2)
    quick = np.maximum(v, 0.6)
    return make_style(
        speed,
        rate=0.43 + 0.40 * quick - 0.025 * quick**2,
        duty=0.64 - 0.044 * quick,
        passing=0.37,
        width=0.052,
        toe_out=0.11,
        pitch_on=-(0.10 + 0.16 * v),
        pitch_off=0.62 + 0.38 * v,
        flat=0.14,
        heel_off=0.63 - 0.045 * v,
        lift=0.035 + 0.012 * v,
        peak=0.22,
        lag=1.1,
        dip=0.0,
        bob=0.004 + 0.0105 * v,
        sway=0.036 - 0.010 * v,
        surge=0.004 + 0.004 * v,
        turn=0.03 + 0.055 * v,
        chest=0.03 + 0.025 * v,
        list=0.055 + 0.018 * v,
        tilt=0.04 + 0.01 * v,
        lean=-0.02 + 0.03 * v,
        crouch=0.006,
        arm=0.05 + 0.145 * v,
        arm_rest=-0.06 - 0.02 * v,
        outward=0.13,
        inward=0.25,
        elbow=0.30 + 0.06 * v,
        elbow_swing=0.05 + 0.08 * v,
    )


def running(speed: Floats) -> GaitStyle:
    """Return the style of a run at `speed` (F,) in m/s, valid from 2 to 5."""
    v = np.clip(speed, 1.6, 5.5)
    return make_style(
        speed,
        rate=1.05 + 0.094 * v,
        duty=0.41 - 0.032 * v,
        passing=0.33,
        width=0.022,
        toe_out=0.07,
        pitch_on=-(0.06 + 0.02 * v),
        pitch_off=0.95 + 0.07 * v,
        flat=0.16,
        heel_off=0.56,
        lift=0.10 + 0.07 * v,
        peak=0.30,
        lag=1.45 - 0.06 * v,
        dip=0.04 * v,
        bob=-(0.046 - 0.002 * v),
        sway=0.008,
        surge=0.004,
        turn=0.10 + 0.02 * v,
        chest=0.10 + 0.025 * v,
        list=0.07,
        tilt=0.10 + 0.012 * v,
        lean=0.03 + 0.016 * v,
        crouch=0.03,
        arm=0.22 + 0.05 * v,
        arm_rest=-0.42,
        outward=0.20,
        inward=0.22,
        elbow=1.65,
        elbow_swing=0.08 + 0.03 * v,
    )


def sneaking(speed: Floats, crouch: float) -> GaitStyle:
    """Return the style of sneaking at `speed` (F,) in m/s: high steps, soft landings, trunk bent, arms ready.

    crouch : how much lower the pelvis is than in standing, meters.
    """
    return make_style(
        speed,
        walking(speed),
        rate=0.36 + 0.42 * speed,
        duty=0.76,
        passing=0.44,
        width=0.075,
        pitch_on=-0.16,
        pitch_off=0.62,
        flat=0.12,
        heel_off=0.90,
        lift=0.13,
        peak=0.42,
        lag=1.0,
        bob=-0.012,
        sway=0.045,
        surge=0.012,
        turn=0.12,
        chest=0.10,
        tilt=0.12 + 1.0 * crouch,
        lean=0.16 + 1.6 * crouch,
        crouch=crouch,
        arm=0.22,
        arm_rest=0.35,
        outward=0.30,
        inward=0.55,
        elbow=1.35,
        elbow_swing=0.15,
    )


def mix_styles(a: GaitStyle, b: GaitStyle, alpha: Floats) -> GaitStyle:
    """Interpolate two styles with weights `alpha` (F,): 0 gives `a`, 1 gives `b`."""
    pairs = {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in fields(GaitStyle)}
    return GaitStyle(**{name: x + alpha * (y - x) for name, (x, y) in pairs.items()})


def vary_style(style: GaitStyle, rng: np.random.Generator, variation: float) -> GaitStyle:
    """Return a random variation of a style, like those between people or takes. `variation` scales its size."""
    deviations = {name: rng.normal() for name in TRAITS}
    changes = {
        name: getattr(style, name) * np.exp(variation * size * np.clip(deviations[name], -2.0, 2.0))
        for name, size in TRAITS.items()
    }
    return replace(style, **changes)
