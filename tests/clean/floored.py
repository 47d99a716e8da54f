"""Bodies on the floor with ground truth: they kneel, crawl, lie down and roll; parts that touch it are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from marey.core.motion import Motion
from marey.core.source import Source
from marey.maths import ease_in, quat
from marey.samples import body_skeleton

FPS = 60.0
_X, _Y, _Z = np.eye(3)
_SIDES = (("left", 1.0), ("right", -1.0))
# Heights of the joints of parts that lie on the floor.
KNEE, ELBOW, WRIST, BACK, PELVIS = 0.05, 0.04, 0.04, 0.11, 0.1


@dataclass(frozen=True)
class Floored:
    """A motion and, for each part that touches the floor, (F,) when it does. Parts that are not listed never do.

    unknown : parts that may touch the floor or not.
    """

    motion: Motion
    truth: Mapping[str, np.ndarray]
    unknown: tuple[str, ...] = ()


def _pose(hips: np.ndarray, trunk: np.ndarray, aims: Mapping[str, np.ndarray]) -> Motion:
    """Pose rigid bones: the hips at (F, 3), the trunk rotated by (F, 4), and limbs along directions (F, 3) by role.

    The direction is that of the bone that ends at the joint with this role.
    """
    skeleton = body_skeleton()
    n, roles, parents = len(hips), skeleton.roles, skeleton.parents
    world = np.repeat(trunk[:, None], len(skeleton), axis=1)
    turned = {int(parents[roles[role]]): (roles[role], way) for role, way in aims.items()}
    for joint in range(1, len(skeleton)):
        if joint in turned:
            child, way = turned[joint]
            world[:, joint] = quat.between(np.tile(skeleton.offsets[child], (n, 1)), np.broadcast_to(way, (n, 3)))
        else:
            above = int(parents[joint])
            world[:, joint] = world[:, above]
    local = world.copy()
    for joint in range(1, len(skeleton)):
        local[:, joint] = quat.inv_mul(world[:, parents[joint]], world[:, joint])
    return Motion(skeleton, hips, quat.unroll(quat.normalize(local)), FPS, name="floored", source=Source(floor=0.0))


def _place(motion: Motion, joint: str, positions: np.ndarray) -> Motion:
    """Move the body so that a joint follows a path."""
    now = motion.world().positions[:, motion.skeleton.roles[joint]]
    return replace(motion, root_positions=motion.root_positions + positions - now)


def kneel(seconds: float = 2.0) -> Floored:
    """Kneel upright, sit back, and rise again; knees stay where they are, hands hang."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    back = 0.9 * (0.5 - 0.5 * np.cos(2.0 * np.pi * t / seconds))
    thigh = np.stack([0 * t, -np.cos(back), np.sin(back)], axis=1)  # from hip to knee
    aims = {f"{side}_{part}": way for side, _ in _SIDES for part, way in _kneeling(thigh).items()}
    motion = _pose(np.zeros((len(t), 3)), np.tile(quat.identity(), (len(t), 1)), aims)
    motion = _place(motion, "left_lower_leg", np.tile([0.09, KNEE, 0.0], (len(t), 1)))
    always = np.ones(len(t), dtype=bool)
    return Floored(motion, {"left_knee": always, "right_knee": always})


def _kneeling(thigh: np.ndarray) -> dict[str, np.ndarray]:
    """Return the directions of a leg that kneels, and of an arm that hangs."""
    hang = np.array([0.0, -1.0, 0.1])
    return {
        "lower_leg": thigh, "foot": -_Z, "ball": np.array([0.0, -0.3, -1.0]), "toe_tip": -_Z,
        "forearm": hang, "hand": hang, "fingertips": hang,
    }  # fmt: skip


def lie_down(seconds: float = 2.5) -> Floored:
    """Sit on the floor, roll back on the pelvis, and lie."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    tilt = 0.5 * np.pi * ease_in((t - 0.4) / 1.0)
    trunk = quat.from_axis_angle(np.tile(-_X, (len(t), 1)), tilt)
    arm = quat.rotate(trunk, np.array([0.0, -0.4, 0.9]))
    aims = {}
    for side, _ in _SIDES:
        aims |= {f"{side}_lower_leg": np.array([0.0, 0.75, 0.66]), f"{side}_foot": np.array([0.0, -0.75, 0.66])}
        aims |= {f"{side}_ball": np.array([0.0, -0.5, 0.86]), f"{side}_toe_tip": _Z}
        aims |= {f"{side}_{part}": arm for part in ("forearm", "hand", "fingertips")}
    path = np.stack([0 * t, np.full(len(t), PELVIS), -PELVIS * tilt], axis=1)
    motion = _place(_pose(np.zeros((len(t), 3)), trunk, aims), "hips", path)
    lies = tilt > 0.5 * np.pi - 0.1
    return Floored(motion, {"pelvis": np.ones(len(t), dtype=bool), "back": lies, "head": lies})


def roll(turns: float = 1.0, seconds: float = 3.0) -> Floored:
    """Lie, and roll sideways over the floor like a log, without sliding."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    angle = 2.0 * np.pi * turns * ease_in((t - 0.3) / (seconds - 0.6))
    lying = quat.from_axis_angle(_X, -0.5 * np.pi)
    trunk = quat.mul(quat.from_axis_angle(np.tile(_Z, (len(t), 1)), angle), lying)
    along = quat.rotate(trunk, _Y)
    aims = {}
    for side, _ in _SIDES:
        aims |= {f"{side}_{part}": -along for part in ("lower_leg", "foot", "ball", "toe_tip")}
        aims |= {f"{side}_{part}": along for part in ("upper_arm", "forearm", "hand", "fingertips")}
    path = np.stack([-PELVIS * angle, np.full(len(t), PELVIS), 0 * t], axis=1)
    motion = _place(_pose(np.zeros((len(t), 3)), trunk, aims), "hips", path)
    always = np.ones(len(t), dtype=bool)
    limbs = ("left_knee", "right_knee", "left_elbow", "right_elbow")
    return Floored(motion, {"pelvis": always, "back": always, "head": always}, limbs)


def crawl(seconds: float = 4.0, speed: float = 0.35) -> Floored:
    """Crawl on hands and knees: left knee with right hand, then the other two. Thighs and arms stretch as they must."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    n, stride = len(t), 1.0
    skeleton, paths, truth = body_skeleton(), {}, {}
    for side, sign in _SIDES:
        for part, late, place in (("knee", 0.0, (0.1, KNEE, -0.1)), ("wrist", 0.5, (0.18, WRIST, 0.45))):
            phase = t / stride + (late if side == "left" else late + 0.5)
            step, within = np.floor(phase), np.mod(phase, 1.0)
            swing = np.clip((within - 0.55) / 0.45, 0.0, 1.0)
            ahead = speed * stride * (step + ease_in(swing) - (phase - t / stride))
            lift = 0.12 * np.sin(np.pi * swing) ** 2
            paths[f"{side}_{part}"] = np.stack([np.full(n, sign * place[0]), place[1] + lift, place[2] + ahead], axis=1)
            truth[f"{side}_{part}"] = within <= 0.55
    hips = np.stack([0.01 * np.sin(2 * np.pi * t / stride), np.full(n, 0.48), speed * t], axis=1)
    trunk = np.tile(quat.from_axis_angle(_X, 0.5 * np.pi), (n, 1))
    aims = {}
    for side, _ in _SIDES:
        aims |= {f"{side}_lower_leg": -_Y, f"{side}_foot": -_Z, f"{side}_ball": np.array([0.0, -0.3, -1.0])}
        aims |= {f"{side}_toe_tip": -_Z, f"{side}_forearm": -_Y, f"{side}_hand": -_Y, f"{side}_fingertips": _Z}
    motion = _pose(hips, trunk, aims)
    world, offsets = motion.world(), np.tile(skeleton.offsets, (n, 1, 1))
    for side, _ in _SIDES:
        for part, role in (("knee", "lower_leg"), ("wrist", "hand")):
            joint = skeleton.roles[f"{side}_{role}"]
            above = int(skeleton.parents[joint])
            away = paths[f"{side}_{part}"] - world.positions[:, above]
            offsets[:, joint] = quat.inv_rotate(world.rotations[:, above], away)
    return Floored(replace(motion, bone_offsets=offsets), truth)


MADE = {"kneel": kneel, "lie_down": lie_down, "roll": roll, "crawl": crawl}


def displaced(motion: Motion, drift: tuple[float, float, float] = (0.03, -0.02, 0.02), sink: float = 0.04) -> Motion:
    """The motion with the faults of a capture: it drifts, by m/s, sways, and is too low."""
    t = np.arange(len(motion)) / motion.fps
    root = motion.root_positions + np.outer(t, drift) - [0.0, sink, 0.0]
    root[:, 0] += 0.01 * np.sin(2.0 * np.pi * 0.7 * t)
    return replace(motion, root_positions=root)
