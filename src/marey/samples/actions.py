"""Samples in place, as scripts of key poses: standing, looking around, ducking, sitting, throwing and falling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.samples.body import Plan, SampleTarget, trunk_points
from marey.samples.posture import Arm, Script, get_sign, still_points, with_arm
from marey.samples.skeleton import sample_body
from marey.samples.strikes import guard_script

Values = dict[str, Any]


def stand(values: Values, rng: np.random.Generator) -> Plan:
    """Plan idle standing, with weight shifts from leg to leg."""
    script = Script(rng, values["variation"])
    relaxed = script.pose
    end = values["seconds"]
    side = float(rng.choice([-1.0, 1.0]))
    while script.now < end:
        amount = side * 0.045 * float(rng.uniform(0.6, 1.2))
        pose = replace(
            relaxed,
            shift=(amount, relaxed.shift[1] - 0.15 * abs(amount), 0.008 * float(rng.normal())),
            pelvis=(-0.5 * amount, 1.0 * amount, 0.06),
            spine=(0.3 * amount, -1.2 * amount, 0.0),
            gaze=(0.12 * float(rng.normal()), -0.05),
        )
        script.key(float(rng.uniform(0.9, 1.3)), pose)
        script.key(float(rng.uniform(0.8, 2.2)))
        side = -side
    script.now = end
    script.labels.append(("stand", 0.0, np.inf))
    return script.plan()


def look_around(values: Values, rng: np.random.Generator) -> Plan:
    """Plan looks to the left, to the right, up and down, in which the trunk follows the head."""
    script = Script(rng, values["variation"])
    yaw, pitch = values["yaw"], values["pitch"]
    base = script.pose
    script.key(0.5)
    for name, at in (
        ("look_left", (yaw, 0.0)),
        ("look_right", (-yaw, 0.0)),
        ("look_up", (0.0, pitch)),
        ("look_down", (0.25 * yaw, -pitch)),
    ):
        start = script.now
        pose = replace(
            base,
            gaze=at,
            pelvis=(0.08 * at[0], 0.0, 0.06),
            spine=(0.28 * at[0], 0.03 * at[0], -0.12 * at[1]),
            shift=(0.012 * at[0], base.shift[1], -0.01 * at[1]),
        )
        script.key(script.vary(0.75), pose)
        script.key(script.vary(0.7, 0.15))
        script.label(name, start)
    script.key(script.vary(0.7), base)
    script.key(0.4)
    return script.plan()


def duck(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a duck: lower the top of the head to a height, wait, and come up again."""
    seed = int(rng.integers(2**63))
    plan, moment = _plan_duck(values, seed, 0.0)
    # Subtract the noise at the lowest point, so the height is met exactly.
    at = np.array([moment])
    controls = plan.controls(at)
    crown = trunk_points(controls, controls.place).crown[0]
    plan, _ = _plan_duck(values, seed, values["height"] - float(crown[1]))
    controls = plan.controls(at)
    x, y, z = trunk_points(controls, controls.place).crown[0].tolist()
    skeleton, _ = sample_body()
    (top,) = skeleton.children[skeleton.roles["head"]]
    return replace(plan, targets=(SampleTarget("duck", skeleton.names[top], moment, (x, y, z)),))


def _plan_duck(values: Values, seed: int, more: float) -> tuple[Plan, float]:
    rng = np.random.default_rng(seed)
    upright = values["stance"] == "upright"
    script = Script(rng, values["variation"]) if upright else guard_script(rng, values["variation"])
    rest = script.pose
    depth = float(np.clip((1.70 - values["height"]) / 0.85, 0.0, 1.0))
    arm: Arm = (0.02 + 0.1 * depth, 0.16 + 0.1 * depth, 0.4, 0.3 + 1.0 * depth)
    low = replace(
        rest,
        pelvis=(rest.pelvis[0], 0.0, 0.06 + 0.45 * depth),
        spine=(rest.spine[0] + 0.05 * float(rng.normal()) * values["variation"], 0.0, 0.70 * depth),
        gaze=(0.0, -0.3 * depth),
    )
    if upright:  # in a guard the hands stay up
        low = replace(low, left=arm, right=arm)
    drop = values["height"] - float(still_points([low]).crown[0, 1])
    low = replace(low, shift=(0.0, low.shift[1] + drop + more, -0.14 * depth))
    script.key(script.vary(0.5))
    start = script.now
    script.key(script.vary(0.30 + 0.40 * depth), low)
    script.key(script.vary(0.35, 0.15))
    moment = script.now
    script.key(script.vary(0.25, 0.15))
    script.key(script.vary(0.40 + 0.40 * depth), rest)
    script.label("duck", start)
    script.key(0.5)
    return script.plan(), moment


def sit(values: Values, rng: np.random.Generator) -> Plan:
    """Plan sitting down on a seat, staying for a while, and standing up."""
    _, build = sample_body()
    script = Script(rng, values["variation"])
    rest = script.pose
    seat = values["seat"] + 0.09 - build.hip - build.stand  # height of joint 0 when seated, relative to standing
    back = -0.40
    lap: Arm = (0.35, 0.14, 0.40, 0.45)
    aside = replace(rest, left=(0.25, 0.16, 0.3, 0.6), right=(0.25, 0.16, 0.3, 0.6))
    bow = replace(
        aside,
        shift=(0.0, 0.42 * seat, 0.62 * back),
        pelvis=(0.0, 0.0, 0.58),
        spine=(0.0, 0.0, 0.42),
        gaze=(0.0, -0.45),
        left=(0.1, 0.16, 0.35, 0.6),
        right=(0.1, 0.16, 0.35, 0.6),
    )
    touch = replace(bow, shift=(0.0, seat + 0.01, back), pelvis=(0.0, 0.0, 0.45), spine=(0.0, 0.0, 0.38))
    seated = replace(
        rest,
        shift=(0.0, seat, back),
        pelvis=(0.0, 0.0, -0.08),
        spine=(0.0, 0.0, 0.14),
        gaze=(0.0, -0.05),
        left=lap,
        right=lap,
    )
    script.key(script.vary(0.6))
    start = script.now
    script.key(script.vary(0.75), bow)
    script.key(script.vary(0.45), touch)
    script.key(script.vary(0.55), seated)
    script.label("sit_down", start)
    start = script.now
    script.key(values["seconds"])
    script.label("sit", start)
    start = script.now
    script.key(script.vary(0.5), replace(touch, pelvis=(0.0, 0.0, 0.55)))
    script.key(script.vary(0.45), replace(bow, shift=(0.0, 0.55 * seat, 0.55 * back)))
    script.key(script.vary(0.75), rest)
    script.label("stand_up", start)
    script.key(0.6)
    return script.plan(sway=0.3)


def throw(values: Values, rng: np.random.Generator) -> Plan:
    """Plan an overarm throw from standing: wind up, throw, follow through, and return."""
    script = Script(rng, values["variation"])
    rest, side, hard = script.pose, values["side"], values["effort"]
    sign, other = get_sign(side), "right" if side == "left" else "left"
    wind = replace(
        rest,
        shift=(0.03 * sign, rest.shift[1] - 0.02, -0.05 * hard),
        pelvis=(0.35 * sign * hard, 0.0, 0.0),
        spine=(0.55 * sign * hard, 0.06 * sign, -0.10 * hard),
        gaze=(0.0, 0.05),
    )
    wind = with_arm(with_arm(wind, side, (0.3, 1.45, -1.2, 1.5)), other, (1.1, 0.25, 0.3, 0.5))
    release = replace(
        rest,
        shift=(-0.02 * sign, rest.shift[1] - 0.03, 0.06 * hard),
        pelvis=(-0.25 * sign * hard, 0.0, 0.12),
        spine=(-0.40 * sign * hard, 0.0, 0.20 * hard),
        gaze=(0.0, 0.0),
    )
    release = with_arm(with_arm(release, side, (1.9, 0.75, 0.3, 0.35)), other, (-0.2, 0.3, 0.3, 1.0))
    follow = replace(release, pelvis=(-0.40 * sign * hard, 0.0, 0.20), spine=(-0.60 * sign * hard, 0.0, 0.40 * hard))
    follow = with_arm(follow, side, (0.55, 0.15, 1.0, 0.45))
    script.key(0.35)
    start = script.now
    script.key(script.vary(0.50), wind)
    script.key(script.vary(0.10, 0.2))
    script.key(script.vary(0.20 / (0.5 + 0.5 * hard)), release)
    script.key(script.vary(0.20), follow)
    script.key(script.vary(0.65), rest)
    script.label("throw", start)
    script.key(script.vary(0.3, 0.2))
    return script.plan()


def fall(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a fall: the knees give way, the body sits down hard, rolls onto its back and lies there."""
    _, build = sample_body()
    script = Script(rng, values["variation"])
    rest = script.pose
    floor = 0.11 - build.stand  # height of joint 0 on the floor, relative to standing
    out: Arm = (0.1, 0.7, 0.2, 0.5)
    buckle = replace(
        rest,
        shift=(0.0, 0.38 * floor, -0.16),
        pelvis=(0.0, 0.0, 0.15),
        spine=(0.0, 0.0, 0.45),
        gaze=(0.0, -0.2),
        left=(0.5, 0.6, 0.3, 0.8),
        right=(0.5, 0.6, 0.3, 0.8),
    )
    seated = replace(
        buckle, shift=(0.0, floor, -0.50), pelvis=(0.0, 0.0, -0.45), spine=(0.0, 0.0, 0.70), left=out, right=out
    )
    beside: Arm = (1.36, 0.6, 0.2, 0.2)  # relative to hanging arms, which would pass through the floor
    lying = replace(
        seated,
        shift=(0.0, floor, -0.56),
        pelvis=(0.0, 0.0, -1.45),
        spine=(0.0, 0.0, -0.06),
        gaze=(0.0, 1.35),
        left=beside,
        right=beside,
    )
    script.key(script.vary(0.3))
    start = script.now
    script.key(script.vary(0.32), buckle)
    script.key(script.vary(0.34), seated)
    script.key(script.vary(0.50), lying)
    script.label("fall", start)
    script.labels.append(("lie", script.now, np.inf))
    script.key(values["seconds"])
    return script.plan(sway=0.1)
