"""What the panel Compare says and is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class CleanMotion(Message):
    """Hold hands and feet where they stand: in place, so that it can be undone, or `as_new` motion."""

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
    """One figure; `value` and `against` are null where `note` says why."""

    name: str
    unit: str
    value: float | None
    against: float | None
    definition: str
    note: str


@dataclass(frozen=True, slots=True)
class CleanDone:
    """The cleaned motion, its figures after (`value`) and before (`against`), and what it took: metres, shares of 1."""

    motion: MotionInfo
    measures: tuple[Measure, ...]
    plants: int
    residue_max: float
    limb_scaling_max: float
    shift_max: float


@dataclass(frozen=True, slots=True)
class MeasureMotion(Message):
    """All figures of a motion, beside those of another where one is given."""

    do: ClassVar[str] = "measure"
    motion: str
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures in the order in which they are shown."""

    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class AlignMotions(Message):
    """Where on the floor `motion` stands best over `to`, each at its frame."""

    do: ClassVar[str] = "align"
    motion: str
    frame: int
    to: str
    to_frame: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A floor-plane transform: turn by `theta` radians about Y, then move by `x` and `z` metres."""

    theta: float
    x: float
    z: float
    distance: float
