"""The sample of a cartwheel: a step into it, hands and feet in turn, and a turn on one foot to the next direction.

The body is a wheel that rolls to its left: it turns its left side to the front, and its pelvis rolls once around.
Hands and feet that are planted stay where they are; the others follow the body, spread out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.maths import quat
from marey.samples.body import Controls, Performance, Plan, SampleTarget, bend_arm, pose_leg, pose_trunk, turn
from marey.samples.curves import ease_between, min_jerk, plateau, through
from marey.samples.feet import FootPlant, FootTrack, Swing, track_foot
from marey.samples.skeleton import SIDES, sample_body

Values = dict[str, Any]
_X, _Y, _Z = np.eye(3)

# Key poses of the body: seconds, degrees rolled, and distance and height of joint 0 in meters. The path is symmetric
# about the handstand in its middle.
_MIDDLE, _FAR, _END = 1.46, 2.75, 3.1
_KEYS = (
    (0.0, 0.0, 0.0, 0.955), (0.3, 0.0, 0.02, 0.95), (0.58, 12.0, 0.22, 0.90), (0.80, 40.0, 0.50, 0.82),
    (1.05, 86.0, 0.89, 0.72), (1.22, 133.0, 1.20, 0.85), (1.38, 180.0, _MIDDLE, 1.0), (1.54, 227.0, 1.72, 0.85),
    (1.71, 274.0, 2.03, 0.72), (1.96, 325.0, 2.36, 0.83), (2.25, 356.0, 2.60, 0.90), (2.7, 360.0, _FAR, 0.95),
    (_END, 360.0, _FAR, 0.955),
)  # fmt: skip
# Seconds during which each hand is planted, and each foot is in the air; distance along the path, in meters, of the
# hands, of the left foot before and of the right foot after the handstand.
_HANDS = {"left": (1.09, 1.54), "right": (1.22, 1.67)}
_AIR = {"left": (1.10, 2.06), "right": (0.84, 1.70)}
_HAND_PLACES = {"left": _MIDDLE - 0.17, "right": _MIDDLE + 0.17}
_STEP, _LANDING = _MIDDLE - 0.92, _MIDDLE + 0.92
_WRIST = 0.075  # height of the wrist of a planted hand
_FINGERS = 0.33  # pitch of a planted hand, radians
_SPREAD = 0.62  # radians between each leg and the body's axis in the air
# Seconds over which feet, hands, and the orientation of hands blend out of their plant or into it. The last time is
# short, because later the arm has rotated so far that the shortest rotation between the two orientations changes
# direction.
_FADE, _REACH_TIME, _HAND_TIME = 0.33, 0.5, 0.28
_STANCE = 0.11  # meters from the middle to each foot


@dataclass(frozen=True, slots=True)
class _Wheel:
    """A cartwheel: the change of direction `angle` in radians, positive to the left, and small random variations
    (`noise`)."""

    angle: float
    noise: Floats

    def heading(self, t: Floats) -> Floats:
        """Return the yaw (F,) of the body: to the side for the wheel, then to the new direction."""
        quarter = -0.5 * np.pi
        return ease_between(t, (0.3, 0.95, 1.85, 2.7), (0.0, quarter, quarter, self.angle))

    def root(self, t: Floats) -> Floats:
        times, _, along, height = np.array(_KEYS).T
        place = through(t, times.tolist(), np.stack([0.0 * along, height, along], axis=1))
        place[:, 1] += 0.01 * self.noise[0] * np.sin(np.pi * np.clip(t / _END, 0.0, 1.0)) ** 2
        return place

    def roll(self, t: Floats) -> Floats:
        """Return the angle (F,) by which the body has rolled to its left."""
        times, degrees, _, _ = np.array(_KEYS).T
        return np.radians(through(t, times.tolist(), degrees))

    def plants(self, side: str, sign: float) -> list[FootPlant]:
        """Return the plants of a foot. In the air, the spread leg carries the foot instead of a swing."""

        def beside(center: float, yaw: float) -> Floats:
            return np.array([sign * _STANCE * np.cos(yaw), 0.0, center - sign * _STANCE * np.sin(yaw)])

        first, last = beside(0.0, 0.0), beside(_FAR, self.angle)
        leave, land = _AIR[side]
        if side == "left":
            ahead = np.array([0.03, 0.0, _STEP])
            return [
                FootPlant(first, 0.0, -1.0, -0.9, 0.28, 0.4, pitch_off=0.5, swing=Swing(lift=0.05)),
                FootPlant(ahead, -0.5, 0.64, 0.70, leave - 0.12, leave, pitch_on=-0.1, pitch_off=0.6),
                FootPlant(last, self.angle, land, land + 0.12, 9.0, 9.1, pitch_on=0.35),
            ]
        landing = np.array([-0.02, 0.0, _LANDING])
        return [
            FootPlant(first, 0.0, -1.0, -0.9, leave - 0.16, leave, pitch_off=0.9),
            FootPlant(
                landing,
                -0.5 * np.pi,
                land,
                land + 0.12,
                2.16,
                2.30,
                pitch_on=0.5,
                pitch_off=0.4,
                swing=Swing(lift=0.06),
            ),
            FootPlant(last, self.angle, 2.60, 2.68, 9.0, 9.1, pitch_on=-0.05),
        ]

    def perform(self, t: Floats) -> Performance:
        """Sample the motion at times t (F,)."""
        skeleton, _ = sample_body()
        roles, n = skeleton.roles, len(t)
        rotations = quat.identity((n, len(skeleton)))
        root, heading, roll = self.root(t), self.heading(t), self.roll(t)
        pelvis = quat.mul(turn(_Y, heading), turn(_Z, -roll))
        rotations[:, roles["hips"]] = pelvis
        trunk = pose_trunk(self._controls(t, root, heading), pelvis, root, rotations)
        # The head follows the body and looks between the hands.
        look = plateau((t - 0.45) / 1.8, 0.35)
        rotations[:, roles["neck"]] = turn(_X, -0.12 * look)
        rotations[:, roles["head"]] = turn(_X, -0.16 * look)
        hands = {}
        for side, sign in SIDES:
            hands[side] = self._pose_hand(side, sign, t, trunk, rotations)
        feet = {side: self._track_foot(side, sign, t, pelvis, root) for side, sign in SIDES}
        planted = []
        for side, _ in SIDES:
            down = feet[side].heel | feet[side].ball
            residue = pose_leg(side, feet[side], pelvis, root, rotations)
            planted.append(float(np.max(residue[down], initial=0.0)))
        return Performance(root, quat.unroll(rotations), feet, max(planted), hands)

    def _controls(self, t: Floats, root: Floats, heading: Floats) -> Controls:
        """Return controls of the upper body: arms up, the trunk bent a little to the side of the wheel."""
        zero = np.zeros((len(t), 3))
        side = plateau((t - 0.3) / 2.1, 0.4)
        spine = zero.copy()
        spine[:, 1] = -0.12 * np.sin(self.roll(t)) * side
        spine[:, 2] = 0.06 * (1.0 - side)
        arms = {name: np.tile([0.1, 2.75, 0.0, 0.12], (len(t), 1)) for name, _ in SIDES}
        for k, (name, _) in enumerate(SIDES):
            arms[name][:, 1] += 0.03 * self.noise[1 + k] * (1.0 - side) - 0.15 * side
        return Controls(root, heading, zero, spine, np.zeros((len(t), 2)), arms)

    def _pose_hand(self, side: str, sign: float, t: Floats, trunk: Any, rotations: Floats) -> Bools:
        """Pose one arm; return whether the hand is planted (F,)."""
        start, stop = _HANDS[side]
        skeleton, _ = sample_body()
        arm, forearm, hand = (skeleton.roles[f"{side}_{part}"] for part in ("upper_arm", "forearm", "hand"))
        free = _plant_weight(t, start, stop, _REACH_TIME)
        place = np.array([0.0, _WRIST, _HAND_PLACES[side]])
        target = place + free[:, None] * (trunk.wrists[side] - place)
        bend_arm(side, sign, trunk, target, rotations)
        lower = quat.mul(quat.mul(trunk.collars[side], rotations[:, arm]), rotations[:, forearm])
        # A planted hand points to the front of the body, fingers down.
        point = quat.mul(turn(_Y, -0.5 * np.pi), quat.mul(turn(_X, _FINGERS), turn(_Y, -sign * 0.5 * np.pi)))
        flat = quat.inv_mul(lower, np.broadcast_to(point, lower.shape))
        rotations[:, hand] = quat.slerp(flat, rotations[:, hand], _plant_weight(t, start, stop, _HAND_TIME))
        return np.asarray((t >= start) & (t <= stop))

    def _track_foot(self, side: str, sign: float, t: Floats, pelvis: Floats, root: Floats) -> FootTrack:
        """Return the foot: planted, swinging along the floor, or in the air with the leg spread out."""
        skeleton, build = sample_body()
        leave, land = _AIR[side]
        track = track_foot(self.plants(side, sign), t, build)
        loose = np.where((t > leave) & (t < land), _air_weight(t, leave, land), 0.0)
        out = turn(_Z, sign * _SPREAD)
        leg = quat.mul(pelvis, out)
        hip = root + quat.rotate(pelvis, skeleton.offsets[skeleton.roles[f"{side}_upper_leg"]])
        ankle = hip + quat.rotate(leg, np.array([0.0, -0.985 * build.leg, 0.0]))
        pointed = quat.mul(leg, turn(_X, np.full(len(t), 0.7)))
        return FootTrack(
            track.ankle + loose[:, None] * (ankle - track.ankle),
            quat.slerp(track.rotation, pointed, loose),
            track.toe * (1.0 - loose),
            track.heel,
            track.ball,
        )


def _plant_weight(t: Floats, start: float, stop: float, fade: float) -> Floats:
    """Return a weight (F,): 0 while a hand is planted, from `start` to `stop`, rising to 1 within `fade` seconds before
    and after."""
    return np.asarray(np.maximum(min_jerk((start - t) / fade), min_jerk((t - stop) / fade)))


def _air_weight(t: Floats, leave: float, land: float) -> Floats:
    """Return a weight (F,): 0 when a foot leaves the floor and when it lands, rising to 1 in between."""
    return min_jerk((t - leave) / _FADE) * min_jerk((land - t) / _FADE)


def cartwheel(values: Values, rng: np.random.Generator) -> Plan:
    """Plan a cartwheel and a turn on one foot. The arms are raised at the start and at the end."""
    skeleton, _ = sample_body()
    wheel = _Wheel(float(values["angle"]), values["variation"] * np.clip(rng.normal(size=4), -2.0, 2.0))

    def controls(t: Floats) -> Controls:
        return wheel._controls(t, wheel.root(t), wheel.heading(t))

    targets = tuple(
        SampleTarget(f"{side}_hand", skeleton.names[skeleton.roles[f"{side}_hand"]], _HANDS[side][0],
               (0.0, _WRIST, _HAND_PLACES[side]))
        for side, _ in SIDES
    )  # fmt: skip
    return Plan(
        plants={side: wheel.plants(side, sign) for side, sign in SIDES},
        controls=controls,
        seconds=_END,
        labels=(("stand", 0.0, 0.3), ("cartwheel", 0.3, 2.1), ("pivot", 2.1, 2.7), ("stand", 2.7, np.inf)),
        targets=targets,
        perform=wheel.perform,
    )
