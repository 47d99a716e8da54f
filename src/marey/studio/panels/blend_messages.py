"""Messages of the Blend panel."""

from __future__ import annotations

from typing import Literal

from marey.blend.settings import BlendSettings, ComparisonSettings, TransitionSettings
from marey.register.settings import RegisterSettings
from marey.studio.messages import Message, MotionCommand, MotionInfo, MotionWithNotes, Value
from marey.studio.panels.compare_messages import Placed

BlendMethod = Literal["registered", "linear", "discrete", "cubic"]
_FIT = {"DifferentSkeletons": "press “Retarget to A's skeleton”"}
_STAND = "go to a frame where both feet are flat on the floor, then try again"


class StudyBlend(Message, do="blend_study", remedies=_FIT):
    """Register motions, and compare all frames of the first with all frames of another.

    `other` is the index of that motion in `motions`. `window` is the length, in seconds, over which two frames are
    compared.
    """

    motions: tuple[str, ...]
    other: int = 1
    window: float = 0.1
    registration: RegisterSettings = RegisterSettings()


class GridImage(Value):
    """The distances between the frames of motion A (rows) and motion B (columns).

    `pixels` is base64 of `rows` x `columns` bytes: the distance, scaled from 0 to `largest` meters and averaged over
    the frames of a pixel. `frames` are the numbers of frames of A and B at `rate`, to which both were resampled.
    `minima` are (frame of A, frame of B, meters), the 400 smallest, in ascending order.
    """

    rows: int
    columns: int
    pixels: str
    largest: float
    rate: float
    frames: tuple[int, int]
    minima: tuple[tuple[float, float, float], ...]


class WarpPath(Value):
    """The time alignment found by one method: pairs (frame of A, frame of B) at the grid's rate."""

    method: BlendMethod
    points: tuple[tuple[float, float], ...]


class BlendStudy(Value):
    """The registration of motions. `refused` says why they cannot be synchronized; "" if they can.

    `distance` is the root mean square distance along the alignment, in meters. `matches` is the number of contacts that
    were matched. `crops` are the frames used of each motion, half-open. `misfits` are the indices of motions whose
    skeleton differs from the first; the grid is missing then. `rests` are the indices of motions whose first
    frame is a rest pose.
    """

    grid: GridImage | None
    paths: tuple[WarpPath, ...]
    refused: str
    distance: float | None
    matches: int
    crops: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    misfits: tuple[int, ...]
    rests: tuple[int, ...]


class FitMotion(MotionCommand, do="blend_fit", remedies={"pose": _STAND, "target_pose": _STAND}):
    """Retarget a motion to the skeleton of the motion `to`, as a new motion.

    `frame` and `to_frame` are frames of `motion` and `to` in which the character stands. They are used if a rest pose
    is not a standing pose.
    """

    to: str
    frame: int = 0
    to_frame: int = 0


class Fitted(MotionWithNotes):
    """The retargeted motion, with notes."""


class TrimRestPose(MotionCommand, do="blend_trim_rest"):
    """Remove the first frame of a motion if it is a rest pose; can be undone."""


class PlaceFrames(MotionCommand, do="blend_place"):
    """Align `motion` at `seconds` with the motion `to` at `to_seconds` on the floor. Their frame rates may differ.

    `window` is the length, in seconds, over which the frames are compared.
    """

    seconds: float
    to: str
    to_seconds: float
    window: float = 0.5


class FramesPlaced(Placed):
    """A floor-plane transform: theta in radians, x and z in meters. `distance` is the residual in meters."""


class BlendMotions(Message, do="blend", remedies=_FIT):
    """Blend motions. The blend replaces the motion with id `result`, an earlier blend, if that is open.

    `weights` has one blend weight per motion. Alternatively, `curves` has for each motion its points (time, weight):
    time is the elapsed fraction of the blend, 0 to 1, and weights are at least 0. `merge_undo`: undo it together with
    the previous blend, for example while a slider is dragged.
    """

    motions: tuple[str, ...]
    weights: tuple[float, ...] = ()
    curves: tuple[tuple[tuple[float, float], ...], ...] = ()
    settings: BlendSettings = BlendSettings()
    registration: RegisterSettings = RegisterSettings()
    result: str | None = None
    merge_undo: bool = False


class JoinMotions(Message, do="blend_transition", remedies=_FIT):
    """Make a transition from the first to the second motion.

    `at` are the times in both motions, in seconds, that coincide at the middle of the transition; null for the best
    match. The other fields are as in `BlendMotions`.
    """

    motions: tuple[str, ...]
    at: tuple[float, float] | None = None
    settings: TransitionSettings = TransitionSettings()
    result: str | None = None
    merge_undo: bool = False


class Blended(Value):
    """The result. `at` are the times (s) in both motions at the middle of a transition; null for blends."""

    motion: MotionInfo
    at: tuple[float, float] | None
    notes: tuple[str, ...]


class CompareBlends(Message, do="blend_statistics", remedies=_FIT):
    """Align and blend two motions with every method, and measure the results."""

    motions: tuple[str, ...]
    weights: tuple[float, ...] = (0.5, 0.5)
    settings: ComparisonSettings = ComparisonSettings(time_limit=1.0)


class PathMetrics(Value):
    """The result of one alignment method; null fields if it failed.

    `cost` is the sum over the path (m^2), `distance` the root mean square (m), and `accuracy` 100 * lowest cost / cost.
    """

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    milliseconds: float
    note: str


class BlendMetrics(Value):
    """Metrics of one blend method, or of an input motion. `metrics` are in the order of `BlendTable.names`."""

    method: str
    milliseconds: float | None
    metrics: tuple[float | None, ...]
    note: str


class BlendTable(Value):
    """Comparison of all methods. `proven` says whether the lowest cost found is the true minimum."""

    paths: tuple[PathMetrics, ...]
    proven: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    blends: tuple[BlendMetrics, ...]
    notes: tuple[str, ...]
