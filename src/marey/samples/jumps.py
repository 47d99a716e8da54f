"""Samples that leave the floor: hops on one leg or both, and leaps, with ballistic flight phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.samples.body import Plan, Triple
from marey.samples.feet import Swing
from marey.samples.gait import GRAVITY
from marey.samples.posture import Arm, Script, get_sign
from marey.samples.skeleton import sample_body

Values = dict[str, Any]
# Key points of a foot in flight: fractions of the flight time, of its rise and of its travel, and its relative pitch.
# The foot follows the body up, then prepares to land.
_FLIGHT = ((0.12, 0.40, 0.08, 1.0), (0.28, 0.80, 0.28, 0.85), (0.55, 1.0, 0.64, 0.5), (0.82, 0.70, 0.93, 0.3))
_PUSH = 0.13  # seconds from heel-off to toe-off in a jump


@dataclass(frozen=True, slots=True)
class Jump:
    """Settings of a jump.

    low, leave, land, rest : heights of joint 0 relative to standing (as `shift` in `Pose`), in meters: in the crouch,
        at toe-off, at touchdown, and after landing.
    ahead : distance in meters of joint 0 in front of the feet at toe-off, and behind them at touchdown.
    lean : forward lean at touchdown, radians.
    push, give : seconds from the crouch to toe-off, and from touchdown to the landed crouch.
    tuck : extra rise of the feet in flight, meters. pitch_on : pitch of the feet at touchdown, radians.
    thrown, caught : arm angles at toe-off and at touchdown.
    """

    low: float
    leave: float
    land: float
    rest: float
    ahead: float
    lean: float
    push: float
    give: float
    tuck: float
    pitch_on: float
    thrown: Arm
    caught: Arm


def hop(values: Values, rng: np.random.Generator) -> Plan:
    """Plan several hops on the spot or forward, on both legs or on one."""
    script = Script(rng, values["variation"])
    both = values["leg"] == "both"
    sides = ("left", "right") if both else (values["leg"],)
    rest = script.pose
    arms: Arm = (0.25, 0.25, 0.4, 1.2)
    aside = 0.0 if both else 0.092 * get_sign(values["leg"])
    ready = replace(rest, shift=(aside, rest.shift[1] - 0.02, 0.0), left=arms, right=arms)
    script.key(0.4)
    script.key(script.vary(0.5), ready)
    marks = [(script.now - 0.1, script.pose.shift)]
    script.key(0.25)
    start = script.now
    for _ in range(int(values["count"])):
        height = values["height"] * float(np.exp(0.08 * values["variation"] * np.clip(rng.normal(), -2.0, 2.0)))
        low = -0.11 - 0.28 * height
        slack = 0.03 + 0.16 * height  # the legs are not fully extended, because the feet follow the body with a delay
        how = Jump(
            low,
            -slack,
            -1.5 * slack - 0.02,
            low - 0.03,
            0.25 * values["distance"],
            0.12,
            0.19,
            0.20,
            0.0,
            0.22,
            (0.5, 0.3, 0.4, 1.0),
            arms,
        )
        crouch = replace(script.pose, shift=(aside, low, script.pose.shift[2]), pelvis=(0, 0, 0.2), spine=(0, 0, 0.14))
        script.key(script.vary(0.30), crouch)
        marks += _jump(script, sides, height, values["distance"], how)
    script.label("hop", start)
    script.key(script.vary(0.4), replace(ready, shift=(aside, ready.shift[1], script.pose.shift[2])))
    if not both:
        _carry_other_foot(script, values["leg"], marks)
    script.key(script.vary(0.5), replace(rest, shift=(0.0, rest.shift[1], script.pose.shift[2])))
    script.key(0.4)
    return script.plan(window=0.08, sway=0.5)


def leap(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a leap from standing: swing the arms, jump forward, and land on both feet."""
    script = Script(rng, values["variation"])
    rest = script.pose
    distance = values["distance"]
    script.key(script.vary(0.4))
    start = script.now
    back: Arm = (-1.6, 0.2, 0.2, 0.25)
    script.key(
        script.vary(0.45),
        replace(rest, left=(0.7, 0.2, 0.3, 0.3), right=(0.7, 0.2, 0.3, 0.3), shift=(0, 0.0, 0)),
    )
    crouch = replace(
        rest, shift=(0.0, -0.24, -0.06), pelvis=(0.0, 0.0, 0.55), spine=(0.0, 0.0, 0.35), left=back, right=back
    )
    script.key(script.vary(0.45), crouch)
    how = Jump(
        -0.26,
        -0.06 - 0.20 * values["height"],
        -0.15 - 0.20 * values["height"],
        -0.34,
        min(0.2, 0.17 * distance),
        0.45,
        0.27,
        0.28,
        0.10 + 0.06 * distance,
        -0.15,
        (2.1, 0.25, 0.3, 0.35),
        (0.5, 0.3, 0.3, 0.5),
    )
    _jump(script, ("left", "right"), values["height"], distance, how)
    script.label("leap", start)
    script.key(script.vary(0.7), replace(rest, shift=(0.0, rest.shift[1], script.pose.shift[2])))
    script.key(0.5)
    return script.plan(window=0.08, sway=0.5)


def _jump(
    script: Script, sides: tuple[str, ...], height: float, distance: float, how: Jump
) -> list[tuple[float, Triple]]:
    """Add a jump: push off from a crouch, fly on a ballistic path, land and absorb.

    Return (seconds, shift of joint 0) at the start, at toe-off, at the highest point and at touchdown.
    """
    before = script.pose
    x, _, z = before.shift
    up = float(np.sqrt(2.0 * GRAVITY * height))
    down = float(np.sqrt(up**2 + 2.0 * GRAVITY * (how.leave - how.land)))
    air = (up + down) / GRAVITY
    along = (distance - 2.0 * how.ahead) / air
    leave = replace(
        before,
        shift=(x, how.leave, z + how.ahead),
        pelvis=(0.0, 0.0, 0.08 + 0.3 * how.lean),
        spine=(0.0, 0.0, 0.05),
        left=how.thrown,
        right=how.thrown,
    )
    marks = [(script.now, before.shift)]
    script.key(how.push, leave, speed=(0.0, up, along))
    toe_off = script.now
    marks.append((toe_off, leave.shift))
    marks.append((toe_off + up / GRAVITY, (x, how.leave + height, leave.shift[2] + along * up / GRAVITY)))
    touch = replace(
        leave,
        shift=(x, how.land, z + distance - how.ahead),
        pelvis=(0.0, 0.0, how.lean),
        spine=(0.0, 0.0, 0.6 * how.lean),
        left=how.caught,
        right=how.caught,
    )
    script.key(air, touch, speed=(0.0, -down, along))
    marks.append((script.now, touch.shift))
    for side in sides:
        _throw_foot(script, side, distance, toe_off, air, height, how)
    landed = replace(
        touch,
        shift=(x, how.rest, z + distance),
        pelvis=(0.0, 0.0, how.lean + 0.08),
        spine=(0.0, 0.0, 0.6 * how.lean + 0.04),
    )
    script.key(how.give, landed)
    return marks


def _throw_foot(
    script: Script, side: str, distance: float, toe_off: float, air: float, height: float, how: Jump
) -> None:
    """Add the flight of one foot: it rises nearly as much as the body, plus the tuck."""
    _, build = sample_body()
    (x, ground, z), yaw = script.feet[side]
    ball = (x + build.ball * np.sin(yaw), z + build.ball * np.cos(yaw))
    most = max(0.92 * height + how.tuck, 0.06)
    down = min(1.0, most / 0.09)  # toes that point down need room below them
    via = tuple(
        (fraction, (ball[0], ground + rise * most, ball[1] + along * distance), down * pitch)
        for fraction, rise, along, pitch in _FLIGHT
    )
    script.step(
        side,
        (x, ground, z + distance),
        yaw,
        toe_off - _PUSH,
        air,
        push=_PUSH,
        land=0.07,
        pitch_on=how.pitch_on,
        pitch_off=0.78,
        swing=Swing(via=via),
    )


def _carry_other_foot(script: Script, standing: str, marks: list[tuple[float, Triple]]) -> None:
    """Keep the foot that does not hop raised behind the body, from the first mark until now."""
    other = "left" if standing == "right" else "right"
    (x, ground, z), yaw = script.feet[other]
    start = marks[0][0]
    length = script.now - start
    traveled = script.pose.shift[2]
    via = []
    for time, (_, up, along) in marks[1:]:
        fraction = (time - start) / (length + 0.16)
        via.append((fraction, (0.95 * x, ground + 0.31 + 0.9 * up, z + along - 0.12), 1.0))
    last = via[-1]
    via.append((0.5 * (last[0] + 1.0), (last[1][0], ground + 0.2, z + traveled), 0.7))
    script.step(
        other,
        (x, ground, z + traveled),
        yaw,
        start - 0.16,
        length + 0.16,
        pitch_on=0.15,
        swing=Swing(via=tuple(via)),
    )
