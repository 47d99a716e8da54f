"""Messages of the Layers & gaze panel."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import Message, MotionCommand, MotionInfo, MotionWithNotes, Value


class SpliceMotions(Message, do="layer_splice"):
    """Put the upper body of one motion on the lower body of another, synchronized; both must walk or run.

    `align` and `posture` are as for `marey.splice`.
    """

    lower: str
    upper: str
    align: Literal["loop", "first_minimum"] = "loop"
    posture: Literal["pitch", "full", "none"] = "pitch"


class SpliceDone(Value):
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


class TransplantLimb(Message, do="layer_transplant"):
    """Put a body part of one motion on another, unsynchronized, from `at` seconds of the base on."""

    base: str
    donor: str
    part: Literal["left_arm", "right_arm", "arms", "head", "upper_body"]
    at: float = 0.0
    ease: float = 0.3


class TransplantDone(MotionWithNotes):
    """The motion, with notes."""


class LookGoal(Value):
    """From `time` seconds on, look at a point in the world; null returns to the original motion."""

    time: float
    point: tuple[float, float, float] | None


class LookAt(MotionCommand, do="layer_look"):
    """Make a motion look at points, one after another.

    `made` is an earlier result, which is updated, as while a point is dragged. With `steady`, the eyes compensate
    for the body's bobbing; `eyes` adds a joint to the head that points along the gaze.
    """

    goals: tuple[LookGoal, ...]
    made: str | None = None
    steady: bool = True
    eyes: bool = False


class LookReport(Value):
    """One gaze target: when it is reached (null if there is not enough time), and the remaining error in degrees.

    `outside` is how many degrees the point lies beyond the range of the gaze map.
    """

    time: float
    settled: float | None
    outside: float
    missed: float | None


class LookDone(Value):
    """The motion, its gaze targets, and its gaze: eye positions and unit gaze directions.

    `places` and `directions` are flat x y z lists, for every `step`-th frame.
    """

    motion: MotionInfo
    looks: tuple[LookReport, ...]
    step: int
    places: tuple[float, ...]
    directions: tuple[float, ...]
    notes: tuple[str, ...]
