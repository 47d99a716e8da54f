"""Messages of the Compare panel."""

from __future__ import annotations

from marey.clean import CleanSettings
from marey.studio.messages import MotionCommand, MotionInfo, Value


class CleanMotion(MotionCommand, do="clean"):
    """Remove foot skate: lock feet to their contacts. Changes the motion, or adds one if `as_new`."""

    as_new: bool = False
    settings: CleanSettings = CleanSettings()


class Measure(Value):
    """One metric of a motion (`value`) and of the motion it is compared with (`against`).

    Undefined values are null; `note` says why.
    """

    name: str
    unit: str
    value: float | None
    against: float | None
    definition: str
    note: str


class CleanDone(Value):
    """The cleaned motion, its metrics after (`value`) and before (`against`) the cleanup, and a summary.

    `plants` is the number of plants. Largest values over all frames: `residue_max` (m), the remaining distance between
    a planted point and its position; `limb_scaling_max`, the change of limb length as a fraction; `shift_max` (m), the
    displacement of the entire body.
    """

    motion: MotionInfo
    measures: tuple[Measure, ...]
    plants: int
    residue_max: float
    limb_scaling_max: float
    shift_max: float


class MeasureMotion(MotionCommand, do="measure"):
    """Measure a motion, and optionally the motion `against` for comparison."""

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
    """A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters.

    `distance` is the distance of the aligned frames, in meters.
    """

    theta: float
    x: float
    z: float
    distance: float
