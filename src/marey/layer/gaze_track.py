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

    time : time in seconds at which the look begins; the eyes move first.
    goal : (2,) yaw and pitch in radians, or (3,) a world point in meters; None to return to the original motion.
    shift : the gaze shift, a movement of eyes, head and trunk. `shift.goal`, unlike `goal`, is its yaw and pitch in
        radians.
    outside : largest distance of the goal from the map's region, in radians; 0 if the goal is always inside.
    settled : whether the look finishes before the next look and the end of the clip.
    """

    time: float
    goal: Floats | None
    shift: GazeShift
    outside: float
    settled: bool

    @property
    def end(self) -> float:
        """Time in seconds at which the look is finished."""
        return self.time + self.shift.length


@dataclass(frozen=True, slots=True, eq=False)
class GazeTrack:
    """A motion with its eye rotations and gaze.

    motion : the motion that looks at the goals.
    eyes : (F, 4) rotation of the eyes in the head's local axes; the identity if they look straight ahead.
    gaze : (F, 2) yaw and pitch of the gaze relative to the body's heading, in radians.
    model : (F, 2) the same from the gaze map alone, before the eyes compensate for the body's other movements.
    goals : (F, 2) requested yaw and pitch in radians, even outside the map; NaN without a goal.
    heading : (F,) smoothed heading of the body in the world, in radians; the other angles are relative to it.
    places : (F, 3) world positions of the eyes, in meters.
    looks : the looks, sorted by time; a point that passes behind the body causes an additional look.
    notes : sentences about goals that are missed, or that twist the trunk of a walking body.

    Examples
    --------
    >>> track = marey.GazeMap.default().trace(walk, [(1.0, 0.8, 0.1)])
    >>> track.eyes.shape, track.gaze.shape
    ((241, 4), (241, 2))
    >>> bool(np.nanmin(track.misses()) < 0.05)  # radians
    True
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
        """(F, 3) unit vectors of the gaze direction in the world."""
        turned = quat.from_axis_angle([0.0, 1.0, 0.0], self.heading)
        return np.asarray(quat.rotate(turned, angles_to_direction(self.gaze)))

    @property
    def eye_angles(self) -> Floats:
        """(F,) angle by which the eyes are rotated in the head, in radians."""
        return np.asarray(quat.angle(self.eyes))

    def misses(self, *, model: bool = False) -> Floats:
        """Return the angle (F,) between gaze and goal, in radians; NaN without a goal.

        model : use the gaze of the gaze map, before the eyes compensate for the body's other movements.
        """
        a, b = angles_to_direction(self.model if model else self.gaze), angles_to_direction(self.goals)
        return np.asarray(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1)))
