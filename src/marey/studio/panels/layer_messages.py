"""What the panel Layer says and is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class SpliceMotions(Message):
    """The upper body of one motion on the lower body of another, in step; both have to walk or run.

    `align` and `posture` are as for `marey.splice`.
    """

    do: ClassVar[str] = "layer_splice"
    lower: str
    upper: str
    align: Literal["loop", "first_minimum"] = "loop"
    posture: Literal["pitch", "full", "none"] = "pitch"


@dataclass(frozen=True, slots=True)
class SpliceDone:
    """The motion, how alike the steps of both are in metres, from when to when the upper clip is taken, in seconds.

    `leaned` is by how many degrees the upper body was turned as a whole, `looped` whether its clip is played on and on.
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
    """A part of one motion on another, whatever both do, from `at` seconds of the base on."""

    do: ClassVar[str] = "layer_transplant"
    base: str
    donor: str
    part: Literal["left_arm", "right_arm", "arms", "head", "upper_body"]
    at: float = 0.0
    ease: float = 0.3


@dataclass(frozen=True, slots=True)
class TransplantDone:
    """The motion, and what is to be known of it."""

    motion: MotionInfo
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookGoal:
    """From `time` seconds on look at a point in the world; null goes back to what the motion does by itself."""

    time: float
    point: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class LookAt(Message):
    """Let a motion look at points, one after another.

    `made` is the motion that an earlier answer carried: it is made again, as while a point is dragged. `steady` lets
    the eyes take up how the body bobs; `eyes` hangs a joint from the head that points where they look.
    """

    do: ClassVar[str] = "layer_look"
    motion: str
    goals: tuple[LookGoal, ...]
    made: str | None = None
    steady: bool = True
    eyes: bool = False


@dataclass(frozen=True, slots=True)
class LookReport:
    """One look: when it settles, null where there is no time for it, and degrees by which it then misses the point.

    `outside` is how many degrees the point lies beyond where a person can look.
    """

    time: float
    settled: float | None
    outside: float
    missed: float | None


@dataclass(frozen=True, slots=True)
class LookDone:
    """The motion, its looks, and its gaze: where the eyes are, and the unit vector of where they look.

    `places` and `directions` are x y z after each other, for every `step`-th frame.
    """

    motion: MotionInfo
    looks: tuple[LookReport, ...]
    step: int
    places: tuple[float, ...]
    directions: tuple[float, ...]
    notes: tuple[str, ...]
