"""How people walk, run and sneak, by speed: the numbers that turn a path into footsteps and body movement.

Cadence, duty factor and the sizes of movements follow what gait laboratories report for adults, as round figures.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from marey.core.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """Each field is an array over time. Angles in radians, lengths in meters, shares in [0, 1].

    rate : strides per second. duty : share of the stride for which a foot stands; the
    ball leaves a little before the tip of the toes, which is what laboratories count.
    passing : share of the stance at which the body passes over the ankle.
    width : from the path to a foot's middle. toe_out : how far the toes point outwards.
    pitch_on, pitch_off : toes down at strike and toe-off. flat, heel_off : shares of the stance.
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


def walking(speed: Floats) -> Style:
    """A walk at `speed` (F,) m/s; made for 0.6 to 2.0, and for the steps of a start or a stop below."""
    v = np.clip(speed, 0.0, 2.2)
    quick = np.maximum(v, 0.6)
    one = np.ones_like(v)
    return Style(
        rate=0.43 + 0.40 * quick - 0.025 * quick**2,
        duty=0.64 - 0.044 * quick,
        passing=0.37 * one,
        width=0.052 * one,
        toe_out=0.11 * one,
        pitch_on=-(0.10 + 0.16 * v),
        pitch_off=0.62 + 0.38 * v,
        flat=0.14 * one,
        heel_off=0.63 - 0.045 * v,
        lift=0.035 + 0.012 * v,
        peak=0.22 * one,
        lag=1.1 * one,
        dip=0.0 * one,
        bob=0.004 + 0.0105 * v,
        sway=0.036 - 0.010 * v,
        surge=0.004 + 0.004 * v,
        turn=0.03 + 0.055 * v,
        chest=0.03 + 0.025 * v,
        list=0.055 + 0.018 * v,
        tilt=0.04 + 0.01 * v,
        lean=-0.02 + 0.03 * v,
        crouch=0.006 * one,
        arm=0.05 + 0.145 * v,
        arm_rest=-0.06 - 0.02 * v,
        outward=0.13 * one,
        inward=0.25 * one,
        elbow=0.30 + 0.06 * v,
        elbow_swing=0.05 + 0.08 * v,
    )


def running(speed: Floats) -> Style:
    """A run at `speed` (F,) m/s, made for 2 to 5."""
    v = np.clip(speed, 1.6, 5.5)
    one = np.ones_like(v)
    return Style(
        rate=1.05 + 0.094 * v,
        duty=0.41 - 0.032 * v,
        passing=0.33 * one,
        width=0.022 * one,
        toe_out=0.07 * one,
        pitch_on=-(0.06 + 0.02 * v),
        pitch_off=0.95 + 0.07 * v,
        flat=0.16 * one,
        heel_off=0.56 * one,
        lift=0.10 + 0.07 * v,
        peak=0.30 * one,
        lag=1.45 - 0.06 * v,
        dip=0.04 * v,
        bob=-(0.046 - 0.002 * v),
        sway=0.008 * one,
        surge=0.004 * one,
        turn=0.10 + 0.02 * v,
        chest=0.10 + 0.025 * v,
        list=0.07 * one,
        tilt=0.10 + 0.012 * v,
        lean=0.03 + 0.016 * v,
        crouch=0.03 * one,
        arm=0.22 + 0.05 * v,
        arm_rest=-0.42 * one,
        outward=0.20 * one,
        inward=0.22 * one,
        elbow=1.65 * one,
        elbow_swing=0.08 + 0.03 * v,
    )


def sneaking(speed: Floats, crouch: float) -> Style:
    """Low, slow and careful: high steps that land softly, trunk bent, arms held ready."""
    one = np.ones_like(speed)
    return replace(
        walking(speed),
        rate=(0.36 + 0.42 * speed) * one,
        duty=0.76 * one,
        passing=0.44 * one,
        width=0.075 * one,
        pitch_on=-0.16 * one,
        pitch_off=0.62 * one,
        flat=0.12 * one,
        heel_off=0.90 * one,
        lift=0.13 * one,
        peak=0.42 * one,
        lag=1.0 * one,
        bob=-0.012 * one,
        sway=0.045 * one,
        surge=0.012 * one,
        turn=0.12 * one,
        chest=0.10 * one,
        tilt=(0.12 + 1.0 * crouch) * one,
        lean=(0.16 + 1.6 * crouch) * one,
        crouch=crouch * one,
        arm=0.22 * one,
        arm_rest=0.35 * one,
        outward=0.30 * one,
        inward=0.55 * one,
        elbow=1.35 * one,
        elbow_swing=0.15 * one,
    )


def mixed(a: Style, b: Style, share: Floats) -> Style:
    """a where share is 0, b where it is 1."""
    pairs = {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in fields(Style)}
    return Style(**{name: x + share * (y - x) for name, (x, y) in pairs.items()})


def varied(style: Style, rng: np.random.Generator, variation: float) -> Style:
    """The style of somebody else, or of another day."""
    drawn = {name: rng.normal() for name in TRAITS}
    changes = {
        name: getattr(style, name) * np.exp(variation * size * np.clip(drawn[name], -2.0, 2.0))
        for name, size in TRAITS.items()
    }
    return replace(style, **changes)
