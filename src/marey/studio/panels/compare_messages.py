"""Messages of the Compare panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class CleanMotion(Message):
    """Lock feet and hands to their contacts, in place (undoable) or `as_new` motion."""

    do: ClassVar[str] = "clean"
    motion: str
    as_new: bool = False
    hands: bool = False
    floor: float | None = None
    max_stretch: float = 0.2
    flat: bool = False
    smooth: bool = True


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric; `value` and `against` are null if they are undefined, and `note` says why."""

    name: str
    unit: str
    value: float | None
    against: float | None
    definition: str
    note: str


@dataclass(frozen=True, slots=True)
class CleanDone:
    """The cleaned motion, metrics after (`value`) and before (`against`), and a summary: meters, fractions."""

    motion: MotionInfo
    measures: tuple[Measure, ...]
    plants: int
    residue_max: float
    limb_scaling_max: float
    shift_max: float


@dataclass(frozen=True, slots=True)
class MeasureMotion(Message):
    """Measure a motion, optionally next to another."""

    do: ClassVar[str] = "measure"
    motion: str
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Metrics in display order."""

    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class AlignMotions(Message):
    """Align a frame of `motion` with a frame of `to` on the floor."""

    do: ClassVar[str] = "align"
    motion: str
    frame: int
    to: str
    to_frame: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters."""

    theta: float
    x: float
    z: float
    distance: float
