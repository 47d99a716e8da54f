"""Result of a gaze edit: eye rotations and gaze for each frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.layer.gaze_model import GazeShift, angles_to_direction
from marey.maths import quat

__all__ = ["GazeTrack", "Look"]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One look of a motion.

    time : seconds at which it begins, with the eyes.
    goal : (2,) yaw and pitch, radians, or a point (3,) in the world, meters; None where it goes back.
    shift : how it is done; its goal is how far the gaze moves.
    outside : radians by which the goal lies outside of the map, and is not met, at the most.
    settled : whether the clip and the next look leave it the time to settle.
    """

    time: float
    goal: Floats | None
    shift: GazeShift
    outside: float
    settled: bool

    @property
    def end(self) -> float:
        """Seconds at which it has settled."""
        return self.time + self.shift.length


@dataclass(frozen=True, slots=True, eq=False)
class GazeTrack:
    """A motion with its eyes.

    motion : the motion that looks at the goals.
    eyes : (F, 4) the eyes in the head's own axes: not turned where they look straight out of it.
    gaze : (F, 2) radians, yaw and pitch of the eyes from the body's heading.
    model : (F, 2) the same by the map alone, before the eyes take up what the body does besides.
    goals : (F, 2) what is to be looked at, yaw and pitch, as it was asked: also where it lies outside of the map; NaN
        where nothing is.
    heading : (F,) radians, the body's smoothed heading in the world, from which these angles count.
    places : (F, 3) meters, where the eyes are.
    looks : one for each goal.
    notes : sentences on goals that were not met.
    """

    motion: Motion
    eyes: Floats
    gaze: Floats
    model: Floats
    goals: Floats
    heading: Floats
    places: Floats
    looks: tuple[Look, ...]
    notes: tuple[str, ...]

    @property
    def directions(self) -> Floats:
        """(F, 3) unit, where the eyes look in the world."""
        turned = quat.from_axis_angle([0.0, 1.0, 0.0], self.heading)
        return np.asarray(quat.rotate(turned, angles_to_direction(self.gaze)))

    @property
    def eye_angles(self) -> Floats:
        """(F,) radians by which the eyes are turned in the head."""
        return np.asarray(quat.angle(self.eyes))

    def misses(self, *, model: bool = False) -> Floats:
        """(F,) radians between gaze and goal, or the model's gaze and the goal; NaN where nothing is looked at."""
        a, b = angles_to_direction(self.model if model else self.gaze), angles_to_direction(self.goals)
        return np.asarray(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1)))
