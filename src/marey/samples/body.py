"""Compute poses from controls: trunk and head from angles, arms from angles or hand targets, legs from the feet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.core.limb import LimbSettings, solve_limb
from marey.maths import filters, quat
from marey.samples.curves import Curve, ease_between, spline
from marey.samples.feet import FootPlant, FootTrack, track_foot
from marey.samples.skeleton import SIDES, BodyLengths, sample_body

Triple = tuple[float, float, float]
_X, _Y, _Z = np.eye(3)
# Maximum leg extension as a fraction of leg length; it leaves a knee bend of 11 degrees.
REACH = 0.9955
_ARM_REACH = 0.992
_GRID = 120.0  # Hz, grid on which the pelvis height is computed
_SPINE_FRACTIONS = (0.3, 0.35, 0.35)
_SOFT = 0.006  # meters over which the pelvis height blends into its limit


@dataclass(slots=True, eq=False)
class Controls:
    """Controls of the body, except its feet, at F times. Angles are in radians.

    place : (F, 3) position of joint 0, meters. The height is lowered if the legs are too short for it.
    heading : (F,) yaw of the entire body.
    pelvis, spine : (F, 3) yaw to the left, roll to the right (left side up), forward lean; the pelvis relative to
        the heading, the spine relative to the pelvis.
    gaze : (F, 2) yaw and pitch of the head relative to the heading, independent of the trunk.
    arms : by side, (F, 4) angles: forward, outward, inward rotation, elbow bend.
    """

    place: Floats
    heading: Floats
    pelvis: Floats
    spine: Floats
    gaze: Floats
    arms: dict[str, Floats]


class SampleTarget(NamedTuple):
    """A known target of a sample: `joint` is at world `position` (meters) at time `seconds`."""

    name: str
    joint: str
    seconds: float
    position: Triple


class SampleAction(NamedTuple):
    """One action of a longer sample, from `start` to `stop`; it reaches its target at `apex` (all in seconds).

    name : kind of action. side : left or right. joint : name of the joint that reaches the target.
    target, position : position of `joint` at the apex in meters: `target` (left, up, ahead) relative to where the body
        stands before the action, `position` (x, y, z) in the world.
    """

    name: str
    side: str
    joint: str
    start: float
    stop: float
    apex: float
    target: Triple
    position: Triple


@dataclass(slots=True, eq=False)
class Plan:
    """A planned motion that can be sampled at any time: plants of both feet, and controls.

    plants : plants of each foot, by side. controls : function from times (F,) to `Controls`. seconds : duration.
    bob : vertical movement in meters that is kept even if the legs are too short for the requested height.
    window : seconds for which the pelvis stays lower around a time at which the legs are too short.
    phase : function from times to gait phase, if there is a gait.
    labels : (name, start, stop) in seconds. targets, actions : ground truth.
    aims : by side, (seconds, (3,) world target of the wrist); a target of None releases the arm.
    holds : by side, (3,) position of the wrist relative to the neck, in axes that follow the heading and half of the
        chest's yaw.
    perform : function that samples the plan instead of the usual way, for bodies that are not above their feet; or
        None.
    """

    plants: Mapping[str, list[FootPlant]]
    controls: Callable[[Floats], Controls]
    seconds: float
    bob: Curve | None = None
    window: float = 0.35
    phase: Curve | None = None
    labels: tuple[tuple[str, float, float], ...] = ()
    targets: tuple[SampleTarget, ...] = ()
    aims: dict[str, list[tuple[float, Floats | None]]] = field(default_factory=dict)
    holds: dict[str, Floats] = field(default_factory=dict)
    actions: tuple[SampleAction, ...] = ()
    perform: Callable[[Floats], Performance] | None = None


@dataclass(slots=True, eq=False)
class Performance:
    """A sampled plan: root (F, 3), rotations (F, J, 4), feet by side, and the meters by which the legs were too short
    (`shortfall`).

    hands : by side, (F,) whether a hand is planted on the floor; None if no hand ever is.
    """

    root: Floats
    rotations: Floats
    feet: dict[str, FootTrack]
    shortfall: float
    hands: dict[str, Bools] | None = None


def perform(plan: Plan, t: Floats) -> Performance:
    """Sample a plan at times t (F,) in seconds."""
    if plan.perform is not None:
        return plan.perform(t)
    skeleton, build = sample_body()
    height = _pelvis_height(plan, build)
    controls, root = _place_controls(plan, height, t)
    rotations = quat.identity((len(t), len(skeleton)))
    pelvis = _pelvis_rotation(controls)
    rotations[:, skeleton.roles["hips"]] = pelvis
    trunk = pose_trunk(controls, pelvis, root, rotations)
    for side, sign in SIDES:
        if side in plan.aims:
            target = trunk.wrists[side] + _find_displacement(plan, side, height, t)
            bend_arm(side, sign, trunk, target, rotations)
        elif side in plan.holds:
            target = trunk.neck + quat.rotate(turn(_Y, controls.heading + 0.5 * trunk.yaw), plan.holds[side])
            bend_arm(side, sign, trunk, target, rotations)
    feet = {side: track_foot(plan.plants[side], t, build) for side, _ in SIDES}
    shortfall = max(float(pose_leg(side, feet[side], pelvis, root, rotations).max()) for side, _ in SIDES)
    return Performance(root, quat.unroll(rotations), feet, shortfall)


def _place_controls(plan: Plan, height: Curve, t: Floats) -> tuple[Controls, Floats]:
    controls = plan.controls(t)
    root = controls.place.copy()
    root[:, 1] = height(t)
    return controls, root


def _find_displacement(plan: Plan, side: str, height: Curve, t: Floats) -> Floats:
    """Return the offset (F, 3) of a wrist's target from the position that follows from the arm angles.

    The offset is exact at each aim, with easing in between.
    """
    times = np.array([time for time, _ in plan.aims[side]])
    controls, root = _place_controls(plan, height, times)
    wrists = trunk_points(controls, root).wrists[side]
    away = [np.zeros(3) if goal is None else goal - at for (_, goal), at in zip(plan.aims[side], wrists, strict=True)]
    return ease_between(t, times.tolist(), np.array(away))


def turn(axis: Floats, angle: Floats | float) -> Floats:
    """Return rotations (F, 4) about an axis by angles (F,)."""
    return quat.from_axis_angle(axis, angle)


def lean(angles: Floats, fraction: float = 1.0) -> Floats:
    """Convert yaw, roll and forward lean (F, 3), scaled by `fraction`, to rotations (F, 4)."""
    yaw, roll, pitch = (fraction * angles[..., i] for i in range(3))
    return quat.mul(turn(_Y, yaw), quat.mul(turn(_X, pitch), turn(_Z, roll)))


def _pelvis_rotation(controls: Controls) -> Floats:
    return quat.mul(turn(_Y, controls.heading), lean(controls.pelvis))


def _pelvis_height(plan: Plan, build: BodyLengths) -> Curve:
    """Return the requested height of joint 0, lowered smoothly when a leg cannot reach its foot.

    The height without the bob must never exceed the limit set by the legs. The running minimum of that limit over a
    window, smoothed with a kernel no wider than the window, satisfies this and is smooth.
    """
    edge = 2.0 * plan.window
    n = int(np.ceil((plan.seconds + 2 * edge) * _GRID)) + 1
    t = -edge + np.arange(n) / _GRID
    controls = plan.controls(t)
    pelvis = _pelvis_rotation(controls)
    allowed = np.full(n, np.inf)
    for side, sign in SIDES:
        ankle = track_foot(plan.plants[side], t, build).ankle
        hip = quat.rotate(pelvis, np.array([sign * build.hip_side, build.hip, 0.0]))
        flat = (controls.place + hip - ankle)[:, [0, 2]]
        rise = np.sqrt(np.maximum((REACH * build.leg) ** 2 - (flat**2).sum(axis=1), 0.01))
        allowed = np.minimum(allowed, ankle[:, 1] + rise - hip[:, 1])
    bob = plan.bob(t) if plan.bob is not None else np.zeros(n)
    reach = max(1, round(plan.window * _GRID))
    low = _running_min(allowed - bob, reach)
    low = filters.gaussian(low, reach / 4.0)
    requested = controls.place[:, 1] - bob
    over = np.minimum((requested - low) / _SOFT, 60.0)
    soft = requested - _SOFT * np.logaddexp(0.0, over)
    soft = np.where(over >= 60.0, low, soft)
    return spline(t, soft + bob)


def _running_min(x: Floats, reach: int) -> Floats:
    from scipy.ndimage import minimum_filter1d

    out: Floats = minimum_filter1d(x, 2 * reach + 1, mode="nearest")
    return out


@dataclass(slots=True, eq=False)
class Trunk:
    """The upper body in the world.

    neck, crown : (F, 3) positions of the neck and of the top of the head, meters.
    yaw : (F,) yaw of the chest relative to the heading, radians.
    collars : by side, (F, 4) rotations of the collar bones.
    shoulders, wrists : by side, (F, 3) positions, meters.
    """

    neck: Floats
    crown: Floats
    yaw: Floats
    collars: dict[str, Floats]
    shoulders: dict[str, Floats]
    wrists: dict[str, Floats]


def trunk_points(controls: Controls, root: Floats) -> Trunk:
    """Compute the upper body, with the arms at the angles of the controls and joint 0 at `root` (F, 3)."""
    skeleton, _ = sample_body()
    rotations = quat.identity((len(root), len(skeleton)))
    return pose_trunk(controls, _pelvis_rotation(controls), root, rotations)


def pose_trunk(controls: Controls, pelvis: Floats, root: Floats, rotations: Floats) -> Trunk:
    """Pose the spine, neck, head, collar bones and arms from their angles; `rotations` changes in place."""
    skeleton, _ = sample_body()
    roles, offsets = skeleton.roles, skeleton.offsets
    chest, position = pelvis, root
    middle = [j for j in skeleton.chain(roles["neck"]) if j not in (0, roles["neck"])]
    for joint, fraction in zip(middle, _SPINE_FRACTIONS, strict=True):
        position = position + quat.rotate(chest, offsets[joint])
        rotations[:, joint] = lean(controls.spine, fraction)
        chest = quat.mul(chest, rotations[:, joint])
    gaze = quat.mul(turn(_Y, controls.heading + controls.gaze[:, 0]), turn(_X, -controls.gaze[:, 1]))
    toward = quat.inv_mul(chest, gaze)
    neck = quat.slerp(quat.identity(), toward, np.full(len(toward), 0.45))
    rotations[:, roles["neck"]] = neck
    rotations[:, roles["head"]] = quat.inv_mul(neck, toward)
    yaw = controls.pelvis[:, 0] + controls.spine[:, 0]
    base = position + quat.rotate(chest, offsets[roles["neck"]])
    (top,) = skeleton.children[roles["head"]]
    crown = base + quat.rotate(quat.mul(chest, neck), offsets[roles["head"]]) + quat.rotate(gaze, offsets[top])
    trunk = Trunk(base, crown, yaw, {}, {}, {})
    for side, sign in SIDES:
        shoulder, arm, forearm, hand = (
            roles[f"{side}_{part}"] for part in ("shoulder", "upper_arm", "forearm", "hand")
        )
        forward, outward, inward, elbow = controls.arms[side].T
        # A collar bone follows its arm a little: up when the arm rises, forward when it comes forward.
        rise = 0.12 * outward**2 + 0.10 * np.maximum(forward - 0.6, 0.0) ** 2
        rotations[:, shoulder] = quat.mul(turn(_Y, -sign * 0.15 * np.sin(forward)), turn(_Z, sign * rise))
        hang = turn(_Z, -sign * (0.5 * np.pi - outward))
        rotations[:, arm] = quat.mul(turn(_X, -forward), quat.mul(hang, turn(_X, inward)))
        rotations[:, forearm] = turn(_Y, -sign * elbow)
        rotations[:, hand] = turn(_Y, np.full(len(root), -sign * 0.15))
        collar = quat.mul(chest, rotations[:, shoulder])
        upper = quat.mul(collar, rotations[:, arm])
        lower = quat.mul(upper, rotations[:, forearm])
        trunk.collars[side] = collar
        trunk.shoulders[side] = position + quat.rotate(chest, offsets[shoulder]) + quat.rotate(collar, offsets[arm])
        elbows = trunk.shoulders[side] + quat.rotate(upper, offsets[forearm])
        trunk.wrists[side] = elbows + quat.rotate(lower, offsets[hand])
    return trunk


def bend_arm(side: str, sign: float, trunk: Trunk, target: Floats, rotations: Floats) -> None:
    """Move one wrist to its target (F, 3) by inverse kinematics, from the current angles. Change `rotations`."""
    skeleton, _ = sample_body()
    arm, forearm, hand = (skeleton.roles[f"{side}_{part}"] for part in ("upper_arm", "forearm", "hand"))
    solved = solve_limb(
        base=trunk.shoulders[side],
        parent_rotation=trunk.collars[side],
        hip=rotations[:, arm],
        knee=rotations[:, forearm],
        ankle=rotations[:, hand],
        upper_offset=skeleton.offsets[forearm],
        lower_offset=skeleton.offsets[hand],
        hinge=sign * _Y,
        target=_limit_reach(trunk.shoulders[side], target),
    )
    rotations[:, arm], rotations[:, forearm] = solved.hip, solved.knee


def _limit_reach(base: Floats, target: Floats) -> Floats:
    """Move targets (F, 3) that the arm cannot reach smoothly toward `base` (F, 3)."""
    _, build = sample_body()
    most = _ARM_REACH * build.arm
    soft = 0.97 * most
    away = target - base
    distance = np.linalg.norm(away, axis=1)
    excess = np.maximum(distance - soft, 0.0) / (most - soft)
    near = np.where(excess > 0.0, soft + (most - soft) * np.tanh(excess), distance)
    out: Floats = base + away * (near / np.maximum(distance, 1e-9))[:, None]
    return out


def pose_leg(side: str, foot: FootTrack, pelvis: Floats, root: Floats, rotations: Floats) -> Floats:
    """Pose one leg to reach its foot; `rotations` changes in place. Return the shortfall (F,) in meters."""
    skeleton, _ = sample_body()
    hip, knee, ankle, ball = (skeleton.roles[f"{side}_{part}"] for part in ("upper_leg", "lower_leg", "foot", "ball"))
    bent = turn(_X, np.full(len(root), 0.3))
    solved = solve_limb(
        base=root + quat.rotate(pelvis, skeleton.offsets[hip]),
        parent_rotation=pelvis,
        hip=rotations[:, hip],
        knee=bent,
        ankle=rotations[:, ankle],
        upper_offset=skeleton.offsets[knee],
        lower_offset=skeleton.offsets[ankle],
        hinge=-_X,
        target=foot.ankle,
        target_rotation=foot.rotation,
        settings=LimbSettings(swivel=0.6),
    )
    rotations[:, hip], rotations[:, knee], rotations[:, ankle] = solved.hip, solved.knee, solved.ankle
    rotations[:, ball] = turn(_X, -foot.toe)
    return np.asarray(solved.residue)
