"""A long clip of many actions: kicks, punches and reaches to varying targets, with walks and standing in between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.samples import moves, strikes
from marey.samples.body import Plan, SampleAction, Triple
from marey.samples.feet import Swing
from marey.samples.join import Chain, SamplePart
from marey.samples.posture import Pose, Script, get_sign

Values = dict[str, Any]
_KINDS = {"kick": "kicks", "punch": "punches", "reach": "reaches"}
_ARENA = 1.2  # walks head for a point within this distance of the origin along x and z, meters
_STEPS = (0.10, 0.20, 0.07)  # seconds of push, swing and landing of a step into or out of the guard


def medley(values: Values, rng: np.random.Generator) -> Plan:
    """Plan all actions in random order, two to four at each place, with a walk to the next place."""
    chain = Chain()
    kinds = [kind for kind, many in _KINDS.items() for _ in range(int(values[many]))]
    order = [kinds[i] for i in rng.permutation(len(kinds))]
    labels: list[tuple[str, float, float]] = []
    actions: list[SampleAction] = []
    while order or not chain.parts:
        few = int(rng.integers(2, 5))
        now, order = order[:few], order[few:]
        _note(chain.add(_stand_and_act(now, values, rng, chain)), labels, actions)
        _note(chain.add(_walk_on(values, rng, chain)), labels, actions)
    _note(chain.add(_stand_and_act([], values, rng, chain)), labels, actions)
    plan = chain.plan()
    return replace(plan, labels=(*labels, *_label_standing(labels, plan.seconds)), actions=tuple(actions))


def _note(part: SamplePart, labels: list[tuple[str, float, float]], actions: list[SampleAction]) -> None:
    """Append the labels and actions of a part, converted to the time and world coordinates of the whole clip."""
    named = []
    for name, start, stop in part.plan.labels:
        if name == "stand":
            continue
        span = (name, start + part.start, min(stop, part.plan.seconds) + part.start)
        labels.append(span)
        named += [span] if name in _KINDS else []
    for (name, start, stop), goal in zip(named, part.plan.targets, strict=True):
        side = "left" if goal.joint.lower().startswith("left") else "right"
        where = part.spot.place(goal.position)
        actions.append(
            SampleAction(name, side, goal.joint, start, stop, goal.seconds + part.start, goal.position, where)
        )


def _label_standing(labels: list[tuple[str, float, float]], end: float) -> list[tuple[str, float, float]]:
    """Add the label ``stand`` where there is no other label."""
    out, free = [], 0.0
    for _, start, stop in sorted(labels, key=lambda one: one[1]):
        if start > free:
            out.append(("stand", free, start))
        free = max(free, stop)
    return [*out, ("stand", free, np.inf)] if free < end else out


def _stand_and_act(kinds: list[str], values: Values, rng: np.random.Generator, chain: Chain) -> Plan:
    """Plan the given actions one after the other, with pauses, and standing before and after."""
    feet = chain.feet()
    script = Script(rng, values["variation"], feet=feet) if feet else Script(rng, values["variation"])
    home = dict(script.feet)
    side, reach = values["side"], values["spread"]
    script.key(script.vary(0.5, 0.1))
    guarded: float | None = None
    for kind in kinds:
        if kind == "punch" and guarded is None:
            guarded = script.now
            _take_guard(script)
        elif kind != "punch" and guarded is not None:
            _leave_guard(script, home, guarded)
            guarded = None
        if kind == "kick":
            height, aside, stretch = _sample_numbers(rng, reach, (0.95, 0.32), (0.0, 0.18), (0.88, 0.07))
            strikes.kick_at(script, side, height, aside, stretch)
        elif kind == "punch":
            x, y, z = _sample_numbers(rng, reach, (0.0, 0.2), (1.38, 0.22), (0.66, 0.07))
            strikes.punch_at(script, side, (x, y, z))
        else:
            x, y, z = _sample_numbers(rng, reach, (0.17, 0.23), (1.18, 0.45), (0.43, 0.07))
            strikes.reach_to(script, side, (get_sign(side) * x, y, z), "reach")
        if guarded is None:
            _wait(script, rng)
        else:
            script.key(script.vary(0.3, 0.4))
    if guarded is not None:
        _leave_guard(script, home, guarded)
    script.key(script.vary(0.5, 0.1))
    return script.plan()


def _sample_numbers(rng: np.random.Generator, spread: float, *ranges: tuple[float, float]) -> list[float]:
    """Draw a uniform random number from each range (middle, half width); `spread` scales the half widths."""
    return [float(middle + spread * half * rng.uniform(-1.0, 1.0)) for middle, half in ranges]


def _wait(script: Script, rng: np.random.Generator) -> None:
    """Stand for a while; in half of the cases, shift the weight to one leg and back."""
    if rng.random() < 0.5:
        script.key(script.vary(0.5, 0.4))
        return
    rest = script.pose
    amount = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.02, 0.05))
    shifted = replace(
        rest,
        shift=(amount, rest.shift[1] - 0.15 * abs(amount), 0.0),
        pelvis=(-0.5 * amount, amount, 0.06),
        spine=(0.3 * amount, -1.2 * amount, 0.0),
        gaze=(0.25 * float(rng.normal()), -0.05),
    )
    script.key(script.vary(0.9, 0.2), shifted)
    script.key(script.vary(0.5, 0.4))
    script.key(script.vary(0.9, 0.2), rest)
    script.key(script.vary(0.3, 0.2))


def _take_guard(script: Script) -> None:
    """Step into a fighting stance: left foot forward, right foot back and on its ball."""
    for side, rest in (("left", 0.0), ("right", strikes.REAR_HEEL)):
        place, yaw = strikes.GUARD_FEET[side]
        _small_step(script, side, place, yaw, rest, strikes.GUARD if side == "right" else None)
    script.key(script.vary(0.35, 0.2))


def _leave_guard(script: Script, home: dict[str, tuple[Triple, float]], since: float) -> None:
    """Step back to the home positions of the feet, and lower the arms."""
    for side in ("right", "left"):
        place, yaw = home[side]
        _small_step(script, side, place, yaw, 0.0, Pose() if side == "left" else None)
    script.label("guard", since)
    script.key(script.vary(0.4, 0.2))


def _small_step(script: Script, side: str, place: Triple, yaw: float, rest: float, final_pose: Pose | None) -> None:
    """Shift the weight to the other leg, step to `place` with one foot, then take the pose `final_pose`, if given.

    rest : pitch of the planted foot in radians, as in `FootPlant`.
    """
    push, fly, land = _STEPS
    sign = get_sign(side)
    base = strikes.GUARD
    pose = script.pose
    over = tuple(0.5 * (a + b) for a, b in zip(pose.pelvis, base.pelvis, strict=True))
    on = replace(
        pose, shift=(-0.07 * sign, 0.5 * (pose.shift[1] + base.shift[1]) - 0.01, 0.0), pelvis=(over[0], 0.0, over[2])
    )
    script.key(script.vary(0.30), on)
    swing = Swing(lift=0.03, peak=0.45)
    script.step(
        side, place, yaw, script.now, fly, push=push, land=land, pitch_on=0.12, pitch_off=0.4, rest=rest, swing=swing
    )
    script.key(push + fly + land, replace(on, shift=(0.0, on.shift[1], 0.0)))
    if final_pose is not None:
        script.key(script.vary(0.35), final_pose)


def _walk_on(values: Values, rng: np.random.Generator, chain: Chain) -> Plan:
    """Plan a walk that turns toward a random point near the origin and stops."""
    v = values["variation"]
    speed = float(1.15 + 0.25 * rng.uniform(-1.0, 1.0))
    seconds = float(3.6 + 0.8 * rng.uniform(-1.0, 1.0))
    goal = _ARENA * rng.uniform(-1.0, 1.0, 2)
    spot = chain.spot
    wanted = np.arctan2(goal[0] - spot.x, goal[1] - spot.z) - spot.yaw
    wanted = float(np.arctan2(np.sin(wanted), np.cos(wanted)))
    # Most of the turn takes place between speeding up and slowing down.
    moving = seconds - 0.575 - 0.675 * speed
    rate = float(np.clip(wanted / moving, -1.0, 1.0))
    return moves.start_and_stop({"speed": speed, "seconds": seconds, "turn_rate": rate, "variation": v}, rng)
