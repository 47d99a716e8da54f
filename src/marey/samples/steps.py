"""Samples of single steps: a boxer's footwork and turns, and stepping onto a box and down again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.samples.body import Plan
from marey.samples.feet import TREAD_AHEAD, TREAD_BEHIND, Swing
from marey.samples.posture import Arm, Pose, Script, get_sign
from marey.samples.strikes import guard_script

Values = dict[str, Any]


def box_dance(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a boxer's footwork: light steps in guard in all directions, with bobbing and feints of trunk and hands."""
    script = guard_script(rng, values["variation"])
    guard = script.pose
    end = values["seconds"]
    place = np.zeros(2)
    heading = 0.0
    script.key(0.3)
    while script.now < end - 1.2:
        direction = rng.uniform(-np.pi, np.pi)
        step = 0.07 + 0.09 * rng.random()
        aim = place + step * np.array([np.sin(direction), np.cos(direction)])
        aim *= min(1.0, 0.35 / max(float(np.hypot(*aim)), 1e-9))
        heading = float(np.clip(heading + rng.normal(0.0, 0.12), -0.5, 0.5))
        moved = aim - place
        place = aim
        # The foot on the side of the movement steps first, so the legs never cross.
        first = "left" if moved[1] + 0.5 * moved[0] > 0.0 else "right"
        beat = script.vary(0.21, 0.1)
        for side in (first, "right" if first == "left" else "left"):
            _box_step(script, side, place, heading)
            weight = 0.4 * get_sign(side)
            dip = replace(
                guard,
                shift=(place[0] - 0.04 * weight, guard.shift[1] - 0.022, place[1]),
                heading=heading,
                spine=(guard.spine[0] + 0.08 * rng.normal(), 0.05 * rng.normal(), 0.13 + 0.03 * rng.normal()),
                left=_loosen(guard.left, rng),
                right=_loosen(guard.right, rng),
            )
            script.key(beat, replace(dip, shift=(dip.shift[0], guard.shift[1] + 0.014, dip.shift[2])))
            script.key(beat, dip)
    script.labels.append(("box_dance", 0.0, np.inf))
    script.key(end - script.now, replace(guard, shift=(place[0], guard.shift[1], place[1]), heading=heading))
    return script.plan(window=0.2, sway=0.5)


def box_turn(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a boxer's turn: from guard, two light steps into guard at a new position and heading."""
    script = guard_script(rng, values["variation"])
    guard = script.pose
    angle, ahead = values["angle"], values["ahead"]
    place = (float(ahead * np.sin(angle)), float(ahead * np.cos(angle)))
    start = 0.3
    script.key(start)
    # The front foot steps first for turns to either side, so all turns can be blended.
    for side, fraction in (("left", 0.55), ("right", 1.0)):
        _box_step(script, side, place, angle)
        beat = script.vary(0.2, 0.1)
        x, z = fraction * place[0], fraction * place[1]
        dip = replace(guard, shift=(x - 0.012 * get_sign(side), guard.shift[1] - 0.02, z), heading=fraction * angle)
        x, z = (fraction - 0.25) * place[0], (fraction - 0.25) * place[1]
        script.key(beat, replace(dip, shift=(x, guard.shift[1] + 0.012, z), heading=(fraction - 0.25) * angle))
        script.key(beat, dip)
    script.key(script.vary(0.15), replace(guard, shift=(place[0], guard.shift[1], place[1]), heading=angle))
    script.label("box_turn", start)
    script.key(script.vary(0.3, 0.1))
    return script.plan(window=0.2, sway=0.5)


def _loosen(arm: Arm, rng: np.random.Generator) -> Arm:
    forward, outward, inward, elbow = arm
    a, b, c, d = rng.normal(0.0, 1.0, 4)
    return (forward + 0.08 * a, outward + 0.04 * b, inward + 0.05 * c, elbow + 0.08 * d)


def _box_step(script: Script, side: str, place: Any, heading: float) -> None:
    """Step with one foot to its position in a guard at `place` (2,), x and z in meters."""
    (x, z), yaw, rest = ((0.07, 0.17), -0.15, 0.0) if side == "left" else ((-0.15, -0.17), -0.75, 0.16)
    c, s = np.cos(heading), np.sin(heading)
    spot = (float(place[0] + c * x + s * z), 0.0, float(place[1] - s * x + c * z))
    script.step(
        side,
        spot,
        yaw + heading,
        script.now,
        0.17,
        push=0.09,
        land=0.07,
        pitch_on=0.14,
        pitch_off=0.36,
        rest=rest,
        swing=Swing(lift=0.022, peak=0.45),
    )


def step_up_and_down(values: Values, rng: np.random.Generator) -> Plan:
    """Plan stepping onto a box, one foot after the other, standing there, and stepping down on its far side."""
    script = Script(rng, values["variation"])
    rest = script.pose
    rise, lead = values["height"], values["lead"]
    other = "right" if lead == "left" else "left"
    reach = TREAD_AHEAD + TREAD_BEHIND + 0.12
    script.key(0.5)
    start = script.now
    _climb(script, rest, (lead, other), 0.0, rise, reach)
    script.label("step_up", start)
    script.key(script.vary(0.5))
    start = script.now
    _climb(script, rest, (lead, other), rise, 0.0, reach)
    script.label("step_down", start)
    script.key(0.5)
    return script.plan(window=0.12)


def _climb(script: Script, rest: Pose, order: tuple[str, str], low: float, high: float, reach: float) -> None:
    """Step with both feet, in the order given, from height `low` to `high`, `reach` meters ahead; between the steps,
    stand in the pose `rest`."""
    rise = high - low
    up = rise > 0.0
    z = script.pose.shift[2]
    lead, other = order
    sign = get_sign(lead)
    first, second = script.vary(0.62), script.vary(0.62)
    level = rest.shift[1] + low
    # Shift the weight to the supporting leg, then over the leading foot, then bring both feet together.
    script.key(script.vary(0.4), replace(rest, shift=(-0.085 * sign, level - 0.02, z)))
    (x, _, foot), yaw = script.feet[lead]
    swing = Swing(lift=0.05, peak=0.36)
    script.step(
        lead, (x, high, foot + reach), yaw, script.now - 0.12, first, pitch_on=-0.05 if up else 0.25, swing=swing
    )
    bend = 0.25 if up else 0.08
    sink = -0.03 if up else rise * 0.80 - 0.03
    script.key(
        first,
        replace(
            rest,
            shift=(-0.05 * sign if up else -0.04 * sign, level + sink, z + (0.42 if up else 0.34) * reach),
            pelvis=(-0.06 * sign, -0.04 * sign, 0.06 + 0.6 * bend),
            spine=(0.0, 0.0, bend),
            gaze=(0.0, -0.4),
        ),
    )
    script.key(
        script.vary(0.40),
        replace(
            rest,
            shift=(0.075 * sign, level + (0.30 * rise if up else rise - 0.03), z + (0.86 if up else 0.9) * reach),
            pelvis=(0.0, 0.03 * sign, 0.06 + (0.7 * bend if up else 0.0)),
            spine=(0.0, 0.0, bend if up else 0.04),
            gaze=(0.0, -0.3),
        ),
    )
    (x, _, foot), yaw = script.feet[other]
    script.step(
        other, (x, high, foot + reach), yaw, script.now - 0.14, second, pitch_on=-0.04 if up else 0.2, swing=swing
    )
    script.key(
        0.75 * second,
        replace(rest, shift=(0.085 * sign, rest.shift[1] + high - 0.02, z + reach), spine=(0.0, 0.0, 0.03)),
    )
    script.key(0.25 * second + 0.12)
    script.key(script.vary(0.35), replace(rest, shift=(0.0, rest.shift[1] + high, z + reach)))
