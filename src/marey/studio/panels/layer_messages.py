"""Messages of the Layers & gaze panel."""

from __future__ import annotations

from typing import Literal

from marey.layer.settings import GazeSettings, SpliceSettings, TransplantSettings
from marey.studio.messages import Message, MotionCommand, MotionInfo, MotionWithNotes, Value


class SpliceMotions(
    Message,
    do="layer_splice",
    remedies={"upper": "choose a longer clip", "NotBlendable": "choose “upper body, own timing”"},
):
    """Put the upper body of one motion on the lower body of another, synchronized by steps. Both must walk or run."""

    lower: str
    upper: str
    settings: SpliceSettings = SpliceSettings()


class SpliceDone(Value):
    """The spliced motion. `distance` measures how much the steps differ, in meters.

    `start` and `stop` are the range of the upper clip that was used, in seconds. `leaned` is the constant rotation
    applied to the upper body, in degrees; `looped` says whether the upper clip was looped.
    """

    motion: MotionInfo
    distance: float
    start: float
    stop: float
    leaned: float
    looped: bool
    notes: tuple[str, ...]


class TransplantLimb(Message, do="layer_transplant"):
    """Copy a body part of the motion `donor` to the motion `base`, without synchronizing them."""

    base: str
    donor: str
    part: Literal["left_arm", "right_arm", "arms", "head", "upper_body"]
    settings: TransplantSettings = TransplantSettings()


class TransplantDone(MotionWithNotes):
    """The combined motion, with notes."""


class LookGoal(Value):
    """A gaze target: look at a point in the world (m) starting at `time` seconds; null returns to the original gaze."""

    time: float
    point: tuple[float, float, float] | None


class LookAt(MotionCommand, do="layer_look"):
    """Make a motion look at points, one after another.

    `made` is the id of an earlier result to update, for example while a point is dragged. `eyes` adds a joint to the
    head that points along the gaze.
    """

    goals: tuple[LookGoal, ...]
    made: str | None = None
    eyes: bool = False
    settings: GazeSettings = GazeSettings()


class LookReport(Value):
    """The result for one gaze target. `settled` is the time in seconds at which the gaze reaches it.

    `settled` is null if there is not enough time. `missed` is the remaining error in degrees, null if not applicable.
    `outside` is the angle in degrees by which the target lies outside the range of the gaze map.
    """

    time: float
    settled: float | None
    outside: float
    missed: float | None


class LookDone(Value):
    """The motion, the result for each gaze target, and the gaze over time.

    `places` (eye positions in meters) and `directions` (unit vectors) are flat x y z lists, for every `step`-th frame.
    """

    motion: MotionInfo
    looks: tuple[LookReport, ...]
    step: int
    places: tuple[float, ...]
    directions: tuple[float, ...]
    notes: tuple[str, ...]
