"""Messages of the Layers & gaze panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class SpliceMotions(Message):
    """Put the upper body of one motion on the lower body of another, synchronized; both must walk or run.

    `align` and `posture` are as for `marey.splice`.
    """

    do: ClassVar[str] = "layer_splice"
    lower: str
    upper: str
    align: Literal["loop", "first_minimum"] = "loop"
    posture: Literal["pitch", "full", "none"] = "pitch"


@dataclass(frozen=True, slots=True)
class SpliceDone:
    """The motion, the difference of the steps in meters, and the used range of the upper clip in seconds.

    `leaned` is the overall rotation of the upper body in degrees, `looped` whether its clip is looped.
    """

    motion: MotionInfo
    distance: float
    start: float
    stop: float
    leaned: float
    looped: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TransplantLimb(Message):
    """Put a body part of one motion on another, unsynchronized, from `at` seconds of the base on."""

    do: ClassVar[str] = "layer_transplant"
    base: str
    donor: str
    part: Literal["left_arm", "right_arm", "arms", "head", "upper_body"]
    at: float = 0.0
    ease: float = 0.3


@dataclass(frozen=True, slots=True)
class TransplantDone:
    """The motion, with notes."""

    motion: MotionInfo
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookGoal:
    """From `time` seconds on, look at a point in the world; null returns to the original motion."""

    time: float
    point: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class LookAt(Message):
    """Make a motion look at points, one after another.

    `made` is an earlier result, which is updated, as while a point is dragged. With `steady`, the eyes compensate
    for the body's bobbing; `eyes` adds a joint to the head that points along the gaze.
    """

    do: ClassVar[str] = "layer_look"
    motion: str
    goals: tuple[LookGoal, ...]
    made: str | None = None
    steady: bool = True
    eyes: bool = False


@dataclass(frozen=True, slots=True)
class LookReport:
    """One gaze target: when it is reached (null if there is not enough time), and the remaining error in degrees.

    `outside` is how many degrees the point lies beyond the range of the gaze map.
    """

    time: float
    settled: float | None
    outside: float
    missed: float | None


@dataclass(frozen=True, slots=True)
class LookDone:
    """The motion, its gaze targets, and its gaze: eye positions and unit gaze directions.

    `places` and `directions` are flat x y z lists, for every `step`-th frame.
    """

    motion: MotionInfo
    looks: tuple[LookReport, ...]
    step: int
    places: tuple[float, ...]
    directions: tuple[float, ...]
    notes: tuple[str, ...]
