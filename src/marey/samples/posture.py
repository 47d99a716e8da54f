"""Motion in place: a script of key poses, hand targets and single steps.

Between keys, all parts of the body move smoothly without overshoot. The head leads, and trunk and arms follow by a few
hundredths of a second, as in people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from marey.core.arrays import Floats
from marey.samples.body import Controls, Plan, SampleTarget, Triple, Trunk, trunk_points
from marey.samples.curves import Curve, far, wobble
from marey.samples.feet import FootPlant, Swing
from marey.samples.skeleton import SIDES, sample_body

Arm = tuple[float, float, float, float]

# Seconds by which a part lags behind the pelvis; negative if it leads.
_LATE = {"gaze": -0.07, "spine": 0.03, "arms": 0.05}
_HANG = 0.85  # fraction of the trunk's forward lean that hanging arms compensate
_STAND = -0.012  # meters: people do not stand with locked knees


@dataclass(frozen=True, slots=True)
class Pose:
    """One key pose. Angles are in radians, lengths in meters.

    shift : offset of joint 0 (left, up, forward) in the world, from its position when standing over the origin.
    heading, pelvis, spine, gaze : as in `Controls`. left, right : arm angles as in `Controls`, with the forward angle
    measured from where the arms hang.
    """

    shift: Triple = (0.0, _STAND, 0.0)
    heading: float = 0.0
    pelvis: Triple = (0.0, 0.0, 0.06)
    spine: Triple = (0.0, 0.0, 0.0)
    gaze: tuple[float, float] = (0.0, -0.05)
    left: Arm = (0.02, 0.13, 0.30, 0.30)
    right: Arm = (0.02, 0.13, 0.30, 0.30)

    def row(self) -> list[float]:
        """Return all values as one row, in the column order of the curves."""
        return [*self.shift, self.heading, *self.pelvis, *self.gaze, *self.spine, *self.left, *self.right]


@dataclass(eq=False)
class Script:
    """A script of key poses, hand targets and steps, with a time cursor `now` (seconds); `plan` converts it to a plan.

    rng, variation : Generator and amount of random variation. pose : current pose. feet : position (meters) and yaw
    (radians) of each foot, by side. rests : pitch of each planted foot in radians, by side.
    """

    rng: np.random.Generator
    variation: float
    pose: Pose = field(default_factory=Pose)
    feet: dict[str, tuple[Triple, float]] = field(
        default_factory=lambda: {"left": ((0.10, 0.0, 0.0), 0.14), "right": ((-0.10, 0.0, 0.0), -0.14)}
    )
    rests: dict[str, float] = field(default_factory=lambda: {"left": 0.0, "right": 0.0})
    now: float = 0.0

    def __post_init__(self) -> None:
        self._keys: list[tuple[float, Pose, Triple | None]] = [(0.0, self.pose, (0.0, 0.0, 0.0))]
        self._plants: dict[str, list[FootPlant]] = {}
        self._aims: dict[str, list[tuple[float, Floats | None]]] = {}
        self.labels: list[tuple[str, float, float]] = []
        self.targets: list[SampleTarget] = []
        for side, (place, yaw) in self.feet.items():
            first = FootPlant(np.array(place), yaw, far(-2.0), far(-1.0), far(1.0), far(2.0), rest=self.rests[side])
            self._plants[side] = [first]

    def vary(self, seconds: float, spread: float = 0.06) -> float:
        """Return a random duration near `seconds`; `spread` is the standard deviation of its logarithm."""
        deviation = float(np.clip(self.rng.normal(), -2.0, 2.0))
        return seconds * float(np.exp(self.variation * spread * deviation))

    def key(self, after: float, pose: Pose | None = None, speed: Triple | None = None) -> Pose:
        """Add a key `after` seconds after the last one, with a new pose or the last one again. Return its pose.

        speed : (3,) velocity of joint 0 at the key, m/s. By default the movement is smooth and stops where it reverses.
        """
        self.now += after
        self.pose = self.pose if pose is None else pose
        self._keys.append((self.now, self.pose, speed))
        return self.pose

    def label(self, name: str, start: float) -> None:
        """Label what happened from the time `start` until now."""
        self.labels.append((name, start, self.now))

    def aim(self, side: str, target: Sequence[float] | None) -> None:
        """Move the wrist to a world position (3,) in meters by now; None releases the arm."""
        goal = None if target is None else np.asarray(target, dtype=float)
        self._aims.setdefault(side, []).append((self.now, goal))

    def record_target(self, name: str, role: str, position: Sequence[float]) -> None:
        """Record as ground truth that the joint with a role is at a world position now."""
        skeleton, _ = sample_body()
        x, y, z = (float(value) for value in position)
        self.targets.append(SampleTarget(name, skeleton.names[skeleton.roles[role]], self.now, (x, y, z)))

    def step(
        self,
        side: str,
        place: Triple,
        yaw: float,
        start: float,
        length: float,
        *,
        push: float = 0.16,
        land: float = 0.10,
        pitch_on: float = -0.08,
        pitch_off: float = 0.55,
        rest: float = 0.0,
        swing: Swing | None = None,
    ) -> None:
        """Add a step of one foot.

        place : (3,) position of the next plant, meters. yaw : direction of the toes there, radians. start : time of
        heel-off. push : seconds from heel-off to toe-off. length : seconds in the air. land : seconds from strike to
        flat. pitch_on, pitch_off, rest : radians, as in `FootPlant`. swing : a small lift by default.
        """
        last = self._plants[side][-1]
        leave = replace(
            last,
            heel_off=start,
            toe_off=start + push,
            pitch_off=max(pitch_off, last.rest + 0.1),
            swing=Swing(lift=0.03) if swing is None else swing,
        )
        strike = start + push + length
        self._plants[side][-1] = leave
        on = rest if rest > 0.0 else pitch_on
        self._plants[side].append(
            FootPlant(np.array(place), yaw, strike, strike + land, far(1.0), far(2.0), pitch_on=on, rest=rest)
        )
        self.feet[side] = (place, yaw)

    def plan(self, window: float = 0.3, *, sway: float = 1.0) -> Plan:
        """Return the plan of the script, from 0 to now.

        window : as in `Plan`. sway : factor for the random sway of joint 0.
        """
        curves = self._curves()
        noise = self._make_noise(sway)

        def controls(t: Floats) -> Controls:
            return _controls(curves(t) + noise(t))

        return Plan(
            plants=self._plants,
            controls=controls,
            seconds=self.now,
            window=window,
            labels=tuple(self.labels),
            targets=tuple(self.targets),
            aims=self._aims,
        )

    def _curves(self) -> Curve:
        from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

        times = np.array([time for time, _, _ in self._keys])
        rows = np.array([pose.row() for _, pose, _ in self._keys])
        flow = PchipInterpolator(times, rows)
        slopes = flow.derivative()(times)
        slopes[[0, -1]] = 0.0
        for i, (_, _, speed) in enumerate(self._keys):
            if speed is not None:
                slopes[i, :3] = speed
        spline = CubicHermiteSpline(times, rows, slopes)
        last = float(times[-1])

        def curves(t: Floats) -> Floats:
            out = np.empty((len(t), rows.shape[1]))
            for columns, late in _COLUMNS:
                out[:, columns] = spline(np.clip(t - late, 0.0, last))[:, columns]
            return out

        return curves

    def _make_noise(self, sway: float) -> Curve:
        sizes = np.array([5e-3, 1e-3, 4e-3, 0.0, *[6e-3] * 3, 0.03, 0.015, *[8e-3] * 3, *[0.012] * 8])
        sizes = sizes * self.variation
        sizes[:3] *= sway
        curves = [wobble(self.rng, 0.12, 0.7, size) for size in sizes]
        return lambda t: np.stack([curve(t) for curve in curves], axis=1)


_COLUMNS = (
    (slice(0, 7), 0.0),
    (slice(7, 9), _LATE["gaze"]),
    (slice(9, 12), _LATE["spine"]),
    (slice(12, 20), _LATE["arms"]),
)


def _controls(rows: Floats) -> Controls:
    bowed = rows[:, 6] + rows[:, 11] - Pose().pelvis[2]
    return Controls(
        place=rows[:, 0:3] + np.array([0.0, sample_body()[1].stand, 0.0]),
        heading=rows[:, 3],
        pelvis=rows[:, 4:7],
        gaze=rows[:, 7:9],
        spine=rows[:, 9:12],
        arms={"left": _hang_arms(rows[:, 12:16], bowed), "right": _hang_arms(rows[:, 16:20], bowed)},
    )


def _hang_arms(arm: Floats, bowed: Floats) -> Floats:
    """Keep arms hanging down when the trunk leans forward by `bowed` (F,), and keep elbows slightly bent."""
    forward = arm[:, 0] + _HANG * bowed
    elbow = 0.08 + np.logaddexp(0.0, 40.0 * (arm[:, 3] - 0.08)) / 40.0
    return np.stack([forward, arm[:, 1], arm[:, 2], elbow], axis=1)


def still_points(poses: Sequence[Pose]) -> Trunk:
    """Compute the upper body in each of `poses`, without noise."""
    controls = _controls(np.array([pose.row() for pose in poses]))
    return trunk_points(controls, controls.place)


def get_sign(side: str) -> float:
    """Return 1 for left, -1 for right."""
    return dict(SIDES)[side]


def with_arm(pose: Pose, side: str, arm: Arm) -> Pose:
    """Return the pose with other angles for one arm."""
    return replace(pose, left=arm) if side == "left" else replace(pose, right=arm)
