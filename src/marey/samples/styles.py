"""How people walk, run and sneak, by speed: the numbers that turn a path into footsteps and body movement.

Cadence, duty factor and the sizes of movements follow what gait laboratories report for adults, as round numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from marey.core.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """Each field is an array over time. Angles in radians, lengths in meters, fractions in [0, 1].

    rate : strides per second. duty : fraction of the stride for which a foot stands; the
    ball leaves a little before the tip of the toes, which is what laboratories count.
    passing : fraction of the stance at which the body passes over the ankle.
    width : from the path to a foot's middle. toe_out : how far the toes point outwards.
    pitch_on, pitch_off : toes down at strike and toe-off. flat, heel_off : fractions of the stance.
    lift, peak, lag, dip : of the swing, see `Swing`.
    bob : rise and fall of the pelvis, positive where it is highest at midstance. sway : sideways. surge : along.
    turn, chest : yaw of the pelvis with the legs, and of the chest against them. list : fall of the pelvis on the
    swing side. tilt, lean : of pelvis and spine, forward. crouch : how much lower than standing.
    arm, arm_rest, outward, inward, elbow, elbow_swing : of the arms' swing.
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


# What differs from person to person and from take to take, and by how much (standard deviation of the logarithm).
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


def make_style(speed: Floats, base: Style | None = None, /, **values: float | Floats) -> Style:
    """`base` with other values, or a new style; numbers hold at all speeds (F,)."""
    full = {name: value * np.ones_like(speed) for name, value in values.items()}
    return Style(**full) if base is None else replace(base, **full)


def walking(speed: Floats) -> Style:
    """A walk at `speed` (F,) m/s; valid for 0.6 to 2.0, and for the steps of a start or a stop below."""
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


def running(speed: Floats) -> Style:
    """A run at `speed` (F,) m/s, valid for 2 to 5."""
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


def sneaking(speed: Floats, crouch: float) -> Style:
    """Low, slow and careful: high steps that land softly, trunk bent, arms held ready."""
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


def mix_styles(a: Style, b: Style, alpha: Floats) -> Style:
    """a where alpha is 0, b where it is 1."""
    pairs = {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in fields(Style)}
    return Style(**{name: x + alpha * (y - x) for name, (x, y) in pairs.items()})


def vary_style(style: Style, rng: np.random.Generator, variation: float) -> Style:
    """The style of somebody else, or of another day."""
    deviations = {name: rng.normal() for name in TRAITS}
    changes = {
        name: getattr(style, name) * np.exp(variation * size * np.clip(deviations[name], -2.0, 2.0))
        for name, size in TRAITS.items()
    }
    return replace(style, **changes)
