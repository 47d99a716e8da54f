"""Join several plans into one.

Each plan begins and ends with the body standing. Its feet start where the previous plan left them, and the body blends
from one plan to the next while it stands. Nothing is cut, and planted feet stay planted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from marey.core.arrays import Floats
from marey.samples.body import Controls, Plan, SampleTarget, Triple
from marey.samples.curves import min_jerk
from marey.samples.feet import FootPlant
from marey.samples.skeleton import SIDES

OVERLAP = 0.45  # seconds by which two plans overlap


@dataclass(frozen=True, slots=True)
class Spot:
    """Position (meters) and yaw (radians) of the body on the floor; also a coordinate frame."""

    x: float = 0.0
    z: float = 0.0
    yaw: float = 0.0

    def place(self, point: Triple) -> Triple:
        """Convert a point from the spot's frame (left, up, ahead) to world coordinates."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        left, up, ahead = point
        return float(self.x + c * left + s * ahead), float(up), float(self.z - s * left + c * ahead)

    def to_local(self, point: Triple) -> Triple:
        """Convert a point from world coordinates to the spot's frame (left, up, ahead)."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        x, z = point[0] - self.x, point[2] - self.z
        return float(c * x - s * z), float(point[1]), float(s * x + c * z)


@dataclass(frozen=True, slots=True, eq=False)
class SamplePart:
    """A plan, the spot where it is performed, and its start time in seconds."""

    plan: Plan
    spot: Spot
    start: float

    @property
    def stop(self) -> float:
        """Time in seconds at which the part ends."""
        return self.start + self.plan.seconds

    def controls(self, t: Floats) -> Controls:
        """Return the controls, in world coordinates, at times t (F,) of the joined plan."""
        own = self.plan.controls(t - self.start)
        x, y, z = own.place.T
        c, s = np.cos(self.spot.yaw), np.sin(self.spot.yaw)
        place = np.stack([self.spot.x + c * x + s * z, y, self.spot.z - s * x + c * z], axis=1)
        return replace(own, place=place, heading=own.heading + self.spot.yaw)

    def plants(self, side: str) -> list[FootPlant]:
        """Return the plants of one foot, in world coordinates and in the time of the joined plan."""
        return [self._move_plant(plant) for plant in self.plan.plants[side]]

    def _move_plant(self, plant: FootPlant) -> FootPlant:
        x, y, z = plant.position
        via = tuple((fraction, self.spot.place(ball), pitch) for fraction, ball, pitch in plant.swing.via)
        return replace(
            plant,
            position=np.array(self.spot.place((x, y, z))),
            yaw=plant.yaw + self.spot.yaw,
            strike=plant.strike + self.start,
            flat=plant.flat + self.start,
            heel_off=plant.heel_off + self.start,
            toe_off=plant.toe_off + self.start,
            swing=replace(plant.swing, via=via),
        )


class Chain:
    """A growing sequence of parts. `spot`, `feet` and `now` are the position, feet and time for the next part."""

    def __init__(self) -> None:
        self.parts: list[SamplePart] = []
        self.spot = Spot()
        self._plants: dict[str, list[FootPlant]] = {side: [] for side, _ in SIDES}

    @property
    def now(self) -> float:
        """Start time of the next part in seconds, slightly before the last part ends."""
        return self.parts[-1].stop - OVERLAP if self.parts else 0.0

    def feet(self) -> dict[str, tuple[Triple, float]]:
        """Return position and yaw of both feet in the frame of the spot; empty before the first part."""
        out: dict[str, tuple[Triple, float]] = {}
        for side, plants in self._plants.items():
            if plants:
                x, y, z = plants[-1].position
                out[side] = (self.spot.to_local((x, y, z)), plants[-1].yaw - self.spot.yaw)
        return out

    def add(self, plan: Plan) -> SamplePart:
        """Append a plan, starting from the current plants of the feet; then move the spot between the feet."""
        part = SamplePart(plan, self.spot, self.now)
        self.parts.append(part)
        for side, plants in self._plants.items():
            first, *rest = part.plants(side)
            if plants:
                first = replace(
                    plants[-1],
                    heel_off=first.heel_off,
                    toe_off=first.toe_off,
                    pitch_off=first.pitch_off,
                    swing=first.swing,
                )
                plants.pop()
            plants += [first, *rest]
        x, _, z = np.mean([plants[-1].position for plants in self._plants.values()], axis=0)
        heading = float(part.controls(np.array([part.stop])).heading[0])
        self.spot = Spot(float(x), float(z), heading)
        return part

    def plan(self) -> Plan:
        """Join all parts into one plan."""
        parts = self.parts
        return Plan(
            plants=self._plants,
            controls=lambda t: _fade_parts(parts, t),
            seconds=parts[-1].stop,
            bob=lambda t: _join_bob(parts, t),
            window=max(part.plan.window for part in parts),
            phase=lambda t: _join_phase(parts, t),
            targets=tuple(
                SampleTarget(one.name, one.joint, one.seconds + part.start, part.spot.place(one.position))
                for part in parts
                for one in part.plan.targets
            ),
            aims=_collect_aims(parts),
        )


def _compute_weights(parts: Sequence[SamplePart], t: Floats) -> list[tuple[slice, Floats]]:
    """Return, for each part, the slice of the sorted times `t` in which it is active, and its weights there.

    The weights of all parts sum to 1 at every time.
    """
    out = []
    for i, part in enumerate(parts):
        first = -np.inf if i == 0 else part.start
        last = np.inf if i == len(parts) - 1 else part.stop
        lo, hi = np.searchsorted(t, [first, last])
        now = slice(int(lo), int(hi))
        weight = np.ones(now.stop - now.start)
        if i > 0:
            weight *= min_jerk((t[now] - part.start) / OVERLAP)
        if i < len(parts) - 1:
            weight *= 1.0 - min_jerk((t[now] - part.stop + OVERLAP) / OVERLAP)
        out.append((now, weight))
    return out


def _fade_parts(parts: Sequence[SamplePart], t: Floats) -> Controls:
    n = len(t)
    sizes = {"place": (n, 3), "heading": (n,), "pelvis": (n, 3), "spine": (n, 3), "gaze": (n, 2)}
    total = {name: np.zeros(shape) for name, shape in sizes.items()}
    arms = {side: np.zeros((n, 4)) for side, _ in SIDES}
    for part, (now, weight) in zip(parts, _compute_weights(parts, t), strict=True):
        if not weight.size:
            continue
        own = part.controls(t[now])
        for one in fields(Controls):
            if one.name == "arms":
                for side, arm in arms.items():
                    arm[now] += weight[:, None] * own.arms[side]
            else:
                values = getattr(own, one.name)
                total[one.name][now] += weight.reshape(-1, *[1] * (values.ndim - 1)) * values
    return Controls(**total, arms=arms)


def _join_bob(parts: Sequence[SamplePart], t: Floats) -> Floats:
    out = np.zeros(len(t))
    for part, (now, weight) in zip(parts, _compute_weights(parts, t), strict=True):
        if part.plan.bob is not None and weight.size:
            out[now] += weight * part.plan.bob(t[now] - part.start)
    return out


def _join_phase(parts: Sequence[SamplePart], t: Floats) -> Floats:
    out = np.full(len(t), np.nan)
    for part in parts:
        if part.plan.phase is not None:
            now = (t >= part.start) & (t <= part.stop)
            out[now] = part.plan.phase(t[now] - part.start)
    return out


def _collect_aims(parts: Sequence[SamplePart]) -> dict[str, list[tuple[float, Floats | None]]]:
    """Return the hand targets of all parts by side, sorted by time."""
    out: dict[str, list[tuple[float, Floats | None]]] = {}
    for part in parts:
        for side, aims in part.plan.aims.items():
            for time, goal in aims:
                where = None
                if goal is not None:
                    x, y, z = goal
                    where = np.array(part.spot.place((x, y, z)))
                out.setdefault(side, []).append((time + part.start, where))
    return out
