"""Messages of the Compare panel."""

from __future__ import annotations

from marey.studio.messages import MotionCommand, MotionInfo, Value


class CleanMotion(MotionCommand, do="clean"):
    """Lock feet and hands to their contacts, in place (undoable) or `as_new` motion."""

    as_new: bool = False
    hands: bool = False
    floor: float | None = None
    max_stretch: float = 0.2
    flat: bool = False
    smooth: bool = True


class Measure(Value):
    """One metric; `value` and `against` are null if they are undefined, and `note` says why."""

    name: str
    unit: str
    value: float | None
    against: float | None
    definition: str
    note: str


class CleanDone(Value):
    """The cleaned motion, metrics after (`value`) and before (`against`), and a summary: meters, fractions."""

    motion: MotionInfo
    measures: tuple[Measure, ...]
    plants: int
    residue_max: float
    limb_scaling_max: float
    shift_max: float


class MeasureMotion(MotionCommand, do="measure"):
    """Measure a motion, optionally next to another."""

    against: str | None = None


class Measured(Value):
    """Metrics in display order."""

    measures: tuple[Measure, ...]


class AlignMotions(MotionCommand, do="align"):
    """Align a frame of `motion` with a frame of `to` on the floor."""

    frame: int
    to: str
    to_frame: int


class Placed(Value):
    """A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters."""

    theta: float
    x: float
    z: float
    distance: float
