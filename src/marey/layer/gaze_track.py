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

    time : seconds at which it begins; the eyes move first.
    goal : (2,) yaw and pitch, radians, or a point (3,) in the world, meters; None to return to the original motion.
    shift : the gaze shift; its goal is how far the gaze moves.
    outside : radians, maximum distance of the goal outside the map, where it is not met.
    settled : whether the clip and the next look leave enough time to finish it.
    """

    time: float
    goal: Floats | None
    shift: GazeShift
    outside: float
    settled: bool

    @property
    def end(self) -> float:
        """Seconds at which it is finished."""
        return self.time + self.shift.length


@dataclass(frozen=True, slots=True, eq=False)
class GazeTrack:
    """A motion with its eyes.

    motion : the motion that looks at the goals.
    eyes : (F, 4) rotation of the eyes in the head's local axes; the identity if they look straight ahead.
    gaze : (F, 2) radians, yaw and pitch of the eyes relative to the body's heading.
    model : (F, 2) the same from the map alone, before the eyes compensate for the body's other movements.
    goals : (F, 2) requested yaw and pitch, even if they lie outside the map; NaN if there is no goal.
    heading : (F,) radians, the body's smoothed heading in the world, to which these angles are relative.
    places : (F, 3) meters, positions of the eyes.
    looks : one for each goal.
    notes : sentences about goals that were not met.
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
        """(F, 3) unit, the direction of the gaze in the world."""
        turned = quat.from_axis_angle([0.0, 1.0, 0.0], self.heading)
        return np.asarray(quat.rotate(turned, angles_to_direction(self.gaze)))

    @property
    def eye_angles(self) -> Floats:
        """(F,) radians by which the eyes are rotated in the head."""
        return np.asarray(quat.angle(self.eyes))

    def misses(self, *, model: bool = False) -> Floats:
        """(F,) radians between gaze and goal, or between the model's gaze and the goal; NaN if there is no goal."""
        a, b = angles_to_direction(self.model if model else self.gaze), angles_to_direction(self.goals)
        return np.asarray(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1)))
