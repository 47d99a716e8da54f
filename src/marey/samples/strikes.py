"""Samples that hit a target: reaches, punches and kicks, as scripts of key poses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from marey.errors import InvalidValue
from marey.maths import quat
from marey.samples.body import Plan, Triple, lean
from marey.samples.feet import Swing
from marey.samples.posture import Arm, Pose, Script, get_sign, still_points, with_arm
from marey.samples.skeleton import sample_body

Values = dict[str, Any]
GUARD_LEFT: Arm = (0.75, 0.22, 0.55, 2.0)
GUARD_RIGHT: Arm = (0.55, 0.20, 0.60, 2.25)
GUARD = Pose(
    shift=(0.0, -0.055, 0.0),
    pelvis=(-0.35, 0.0, 0.08),
    spine=(-0.10, 0.0, 0.10),
    gaze=(0.0, -0.05),
    left=GUARD_LEFT,
    right=GUARD_RIGHT,
)
GUARD_FEET: dict[str, tuple[Triple, float]] = {
    "left": ((0.07, 0.0, 0.17), -0.15),
    "right": ((-0.15, 0.0, -0.17), -0.75),
}
REAR_HEEL = 0.16  # radians by which the rear foot's heel is raised in the guard
_ARM_USE = 0.93  # the body moves until the target is within this fraction of the arm's length
KICK_STRETCH = 0.95  # hip-ankle distance at the apex of a fully extended kick, as a fraction of the leg's length


def reach(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a reach: touch a target with one wrist and return."""
    script = Script(rng, values["variation"])
    script.key(0.4)
    reach_to(script, values["side"], (values["x"], values["y"], values["z"]), "reach")
    return script.plan()


def reach_grid(values: Values, rng: np.random.Generator) -> Plan:
    """Plan reaches to every target of a grid, row by row from the top."""
    script = Script(rng, values["variation"])
    script.key(0.4)
    side = values["side"]
    for y in _spread(1.55, 0.55, values["rows"]):
        for x in _spread(-0.1, 0.4, values["columns"]):
            reach_to(script, side, (get_sign(side) * x, y, 0.45), "reach")
    return script.plan()


def _spread(first: float, last: float, count: float) -> list[float]:
    n = int(count)
    return [0.5 * (first + last)] if n == 1 else [float(v) for v in np.linspace(first, last, n)]


def reach_to(script: Script, side: str, target: Triple, name: str) -> None:
    """Add a reach: move one wrist to a target (3,) in meters, stay for a moment, and return to the initial pose."""
    rest = script.pose
    sign = get_sign(side)
    x, y, z = target
    down = float(np.clip((1.05 - y) / 0.85, 0.0, 1.0))
    up = float(np.clip((y - 1.35) / 0.5, 0.0, 1.0))
    away = float(np.clip(sign * x, -0.6, 0.8))
    gaze = (0.8 * float(np.arctan2(x, z)), float(np.clip(0.7 * np.arctan2(y - 1.6, z), -0.8, 0.5)))
    arm: Arm = (float(np.clip(1.25 - 1.0 * down + 1.0 * up, 0.2, 2.3)), 0.15 + 0.3 * max(away, 0.0), 0.25, 0.5)

    def at(fraction: float) -> Pose:
        return with_arm(
            replace(
                rest,
                shift=(
                    0.08 * fraction * away * sign,
                    rest.shift[1] - 0.42 * fraction * down,
                    (0.05 - 0.16 * down) * fraction,
                ),
                pelvis=(
                    -0.12 * fraction * sign,
                    -0.05 * fraction * away * sign,
                    0.06 + fraction * (0.12 + 0.65 * down),
                ),
                spine=(
                    (-0.40 + 0.5 * away) * fraction * sign,
                    -0.30 * fraction * away * sign + 0.1 * up * fraction * sign,
                    fraction * (0.18 + 0.75 * down - 0.15 * up),
                ),
                gaze=gaze,
            ),
            side,
            arm,
        )

    pose = _find_nearest(at, side, target)
    distance = float(np.linalg.norm(np.subtract(pose.shift, rest.shift))) + float(np.hypot(x, z)) + abs(y - 0.9)
    start = script.now
    script.aim(side, None)
    script.key(script.vary(0.30 + 0.45 * distance), pose)
    script.aim(side, target)
    script.record_target(name, f"{side}_hand", target)
    script.key(script.vary(0.12, 0.2))
    script.aim(side, target)
    script.key(script.vary(0.35 + 0.45 * distance), rest)
    script.aim(side, None)
    script.label(name, start)
    script.key(script.vary(0.35, 0.2))


def _find_nearest(pose_at: Callable[[float], Pose], side: str, target: Triple) -> Pose:
    """Return the pose with the smallest body movement that puts a target within reach of one hand.

    pose_at : function that returns the pose at a fraction, from 0 for no movement to 1 for the largest one.
    """
    fractions = np.linspace(0.0, 1.0, 41)
    poses = [pose_at(float(fraction)) for fraction in fractions]
    distance = np.linalg.norm(np.array(target) - still_points(poses).shoulders[side], axis=1)
    _, build = sample_body()
    fits = np.flatnonzero((distance <= _ARM_USE * build.arm) & (distance > 0.3 * build.arm))
    if not fits.size:
        missing = float(distance.min()) - _ARM_USE * build.arm
        where = ", ".join(f"{v:g}" for v in target)
        if missing > 0.0:
            raise InvalidValue(
                f"the {side} hand cannot reach a target at ({where}) m, {missing:.2f} m too far away; "
                "move it toward the character, which stands at the origin and faces +Z"
            )
        raise InvalidValue(
            f"a target at ({where}) m is too close to the {side} shoulder; move it away from the character"
        )
    return poses[int(fits[0])]


def guard_script(rng: np.random.Generator, variation: float) -> Script:
    """Start a script in a fighting stance: left foot and hand in front, heel of the rear foot raised."""
    return Script(rng, variation, GUARD, dict(GUARD_FEET), {"left": 0.0, "right": REAR_HEEL})


def punch(values: Values, rng: np.random.Generator) -> Plan:
    """Plan one straight punch to a target, from a guard."""
    script = guard_script(rng, values["variation"])
    script.key(0.4)
    punch_at(script, values["side"], (values["x"], values["y"], values["z"]))
    return script.plan()


def punch_grid(values: Values, rng: np.random.Generator) -> Plan:
    """Plan punches to every target of a grid, with the left and right hand in turn."""
    script = guard_script(rng, values["variation"])
    script.key(0.4)
    number = 0
    for y in _spread(1.60, 1.15, values["rows"]):
        for x in _spread(0.2, -0.2, values["columns"]):
            punch_at(script, ("left", "right")[number % 2], (x, y, 0.68))
            number += 1
    return script.plan()


def punch_at(script: Script, side: str, target: Triple) -> None:
    """Add one straight punch to a target (3,) in meters, from the current guard and back to it."""
    guard = script.pose
    sign = get_sign(side)
    x, y, _ = target
    low = float(np.clip((1.40 - y) / 0.5, -0.4, 1.0))
    # The entire body drives a punch of the rear hand; mainly the shoulder drives one of the front hand.
    drive = 0.42 if side == "left" else 0.95
    arm: Arm = (1.5 - 0.25 * low, 0.25, 0.9, 0.25)

    def at(fraction: float) -> Pose:
        return with_arm(
            replace(
                guard,
                shift=(
                    0.02 * fraction * sign,
                    guard.shift[1] - 0.10 * fraction * max(low, 0.0),
                    0.02 + 0.14 * fraction,
                ),
                pelvis=(guard.pelvis[0] - 0.55 * sign * drive * fraction, 0.0, 0.10 + 0.10 * fraction),
                spine=(
                    guard.spine[0] - 0.62 * sign * drive * fraction + 0.3 * x,
                    0.0,
                    0.12 + 0.30 * fraction * max(low, 0.2),
                ),
            ),
            side,
            arm,
        )

    pose = _find_nearest(at, side, target)
    wind = replace(
        guard,
        pelvis=(guard.pelvis[0] + 0.10 * sign, 0.0, guard.pelvis[2]),
        spine=(guard.spine[0] + 0.14 * sign, 0.0, guard.spine[2]),
        shift=(0.0, guard.shift[1] - 0.012, -0.025),
    )
    start = script.now
    script.key(script.vary(0.16), wind)
    script.aim(side, None)
    script.key(script.vary(0.20), pose)
    script.aim(side, target)
    script.record_target("punch", f"{side}_hand", target)
    script.key(script.vary(0.30), guard)
    script.aim(side, None)
    script.label("punch", start)
    script.key(script.vary(0.45, 0.15))


def kick(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a front kick in which the ball of the foot reaches the height in `values`."""
    script = Script(rng, values["variation"])
    script.key(0.35)
    kick_at(script, values["side"], values["height"], values["sideways"], values["stretch"])
    return script.plan()


def kick_grid(values: Values, rng: np.random.Generator) -> Plan:
    """Plan front kicks with the right foot to a range of heights and directions."""
    script = Script(rng, values["variation"])
    script.key(0.35)
    for height in _spread(1.25, 0.45, values["rows"]):
        for aside in _spread(0.15, -0.15, values["columns"]):
            kick_at(script, "right", height, aside)
    return script.plan()


def kick_at(script: Script, side: str, height: float, aside: float, stretch: float = KICK_STRETCH) -> None:
    """Add a front kick: shift the weight to the other leg, kick, and return to the initial pose.

    height, aside : position of the ball of the foot at the apex in meters: height, and offset to the left.
    stretch : hip-ankle distance at the apex as a fraction of the leg's length; less for a near target, with the knee
        bent.
    """
    _, build = sample_body()
    rest = script.pose
    sign, other = get_sign(side), "right" if side == "left" else "left"
    high = float(np.clip((height - 0.4) / 0.9, 0.0, 1.1))
    arms: Arm = (0.55, 0.35, 0.5, 1.3)
    ready = replace(rest, shift=(-0.088 * sign, rest.shift[1] - 0.015, 0.0), left=arms, right=arms)
    folded = replace(
        ready,
        shift=(-0.095 * sign, rest.shift[1] - 0.02, 0.02),
        pelvis=(0.05 * sign, 0.03 * sign, -0.02),
        spine=(-0.08 * sign, 0.0, 0.05),
    )
    kicked = replace(
        folded,
        shift=(-0.095 * sign, rest.shift[1] - 0.02, 0.08),
        pelvis=(0.32 * sign, 0.06 * sign, -0.12 - 0.28 * high),
        spine=(-0.45 * sign, 0.0, 0.06 - 0.05 * high),
        gaze=(0.0, -0.1),
    )
    kicked = with_arm(kicked, side, (-0.45, 0.35, 0.3, 0.8))
    kicked = with_arm(kicked, other, (0.9, 0.3, 0.6, 1.5))
    apex, pitch = _kick_apex(kicked, side, (height, aside, stretch), high)
    chamber = (0.6 * sign * build.hip_side + 0.4 * aside, 0.28 + 0.26 * height, 0.24 + 0.12 * high)
    place, yaw = script.feet[side]
    start = script.now
    script.key(script.vary(0.45), ready)
    lift_off = script.now - 0.14
    fly = script.vary(0.95)
    # The shin swings out from under the knee and returns the same way.
    middle = (
        0.5 * (chamber[0] + apex[0]),
        chamber[1] + 0.30 * (height - chamber[1]),
        chamber[2] + 0.68 * (apex[2] - chamber[2]),
    )
    via = ((0.30, chamber, 0.85), (0.42, middle, 0.5 * (pitch + 0.8)), (0.50, apex, pitch))
    back = ((0.59, middle, 0.5 * (pitch + 0.8)), (0.72, chamber, 0.75))
    swing = Swing(via=(*via, *back))
    script.step(side, place, yaw, lift_off, fly, push=0.14, pitch_on=0.12, pitch_off=0.5, swing=swing)
    left_at = lift_off + 0.14
    script.key(left_at + 0.30 * fly - script.now, folded)
    script.key(left_at + 0.50 * fly - script.now, kicked)
    script.record_target("kick", f"{side}_ball", apex)
    script.key(0.22 * fly, folded)
    script.key(left_at + fly + 0.02 - script.now, ready)
    script.key(script.vary(0.45), rest)
    script.label("kick", start)
    script.key(script.vary(0.35, 0.2))


def _kick_apex(pose: Pose, side: str, goal: Triple, high: float) -> tuple[Triple, float]:
    """Return the position of the ball of the foot at the apex of a kick, and the pitch of the foot there.

    goal : height, offset to the left, and stretch, as in `kick_at`. high : relative height of the kick, about 0 to 1.
    """
    height, aside, stretch = goal
    _, build = sample_body()
    sign = get_sign(side)
    socket = lean(np.array(pose.pelvis))
    hip = np.array(pose.shift) + [0.0, build.stand, 0.0]
    hip = hip + quat.rotate(socket, np.array([sign * build.hip_side, build.hip, 0.0]))
    pitch = float(np.clip(0.65 - 1.0 * high, -0.45, 0.65))
    up = build.ankle * np.cos(pitch) + build.ball * np.sin(pitch)
    back = build.ball * np.cos(pitch) - build.ankle * np.sin(pitch)
    x = 0.4 * sign * build.hip_side + aside
    across = (height + up - hip[1]) ** 2 + (x - hip[0]) ** 2
    ahead = np.sqrt((stretch * build.leg) ** 2 - across)
    return (x, height, float(hip[2] + ahead + back)), pitch
