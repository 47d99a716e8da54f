"""What the compiled loops of gaze take and write, in four bundles of arrays.

B: the body's axes, turned by its heading alone; v: rotation vectors of the five parts, one after another; f: where the
head points by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class Figure(NamedTuple):
    """A motion as it is.

    world (F, J, 4), places (F, J, 3) : of its joints. offsets (1 or F, J, 3). parents (J,).
    chain, shares, ahead, eye_offset : as in `GazeBody`; `ahead` calibrated.
    heading (F,), base (F, 2) : of B in the world, and yaw and pitch of the head's slow part of f in B.
    fps : of the motion.
    """

    world: Array
    places: Array
    offsets: Array
    parents: Array
    chain: Array
    shares: Array
    ahead: Array
    eye_offset: Array
    heading: Array
    base: Array
    fps: float


class Looks(NamedTuple):
    """S looks, one after another.

    begins (S,) seconds; kinds (S,) 0 back, 1 angles, 2 a point; times (S, 7) length, starts, peak and overshoot.
    points (S, 3) : the point, or yaw and pitch. requests (S, F, 2) : goals less `base`, inside the map.
    excess (S, F, 2) : by how much the goals themselves are outside.
    anchors (S, 15) : v in the moment in which a look begins, from which on it overshoots.
    """

    begins: Array
    kinds: Array
    times: Array
    points: Array
    requests: Array
    excess: Array
    anchors: Array


class Table(NamedTuple):
    """The grid of a map; see `GazeMap`."""

    rows: Array
    origin: Array
    cell: Array


class Track(NamedTuple):
    """What is written.

    rotations (F, J, 4) : local, changed in place. eyes (F, 4) : in the head's axes.
    gaze (F, 3), model (F, 3) : where the eyes point in B, and where they would by the model alone.
    goals (F, 2) : of the latest look, as asked; NaN where there is none. places (F, 3) metres, of the eyes.
    strain (F,) : radians, what the eyes would have to turn by without a limit.
    """

    rotations: Array
    eyes: Array
    gaze: Array
    model: Array
    goals: Array
    places: Array
    strain: Array
