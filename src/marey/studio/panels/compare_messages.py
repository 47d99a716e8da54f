"""Messages of the Compare panel."""

from __future__ import annotations

from marey.studio.messages import MotionCommand, Value


class AlignMotions(MotionCommand, do="align"):
    """Align a frame of `motion` with a frame of `to` on the floor."""

    frame: int
    to: str
    to_frame: int


class Placed(Value):
    """A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters.

    `distance` is the distance of the aligned frames, in meters.
    """

    theta: float
    x: float
    z: float
    distance: float
