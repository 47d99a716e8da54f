"""Messages of the Blend panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo

BlendMethod = Literal["ours", "linear", "discrete", "cubic"]


@dataclass(frozen=True, slots=True)
class StudyBlend(Message):
    """Register motions, and compare all frames of the first with all of `other`, an index into `motions`.

    `window` is in seconds. `whole` uses full clips instead of the part they have in common; `force` accepts motions
    that are too different.
    """

    do: ClassVar[str] = "blend_study"
    motions: tuple[str, ...]
    other: int = 1
    window: float = 0.1
    whole: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class GridImage:
    """The distances between frames of A (rows) and B (columns).

    `pixels` is base64 of `rows` x `columns` bytes: the distance, from 0 to `largest` meters, averaged over the
    frames of a pixel. `frames` are counted at `rate`, to which both motions were resampled. `minima` are
    (frame of A, frame of B, meters), the smallest first, limited in number.
    """

    rows: int
    columns: int
    pixels: str
    largest: float
    rate: float
    frames: tuple[int, int]
    minima: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class WarpPath:
    """The alignment found by one method: frame of A, frame of B, in grid frames."""

    method: BlendMethod
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class BlendStudy:
    """The registration of motions. `refused` says why they cannot be synchronized; "" if they can.

    `distance` is in meters, root mean square along the path. `crops` are the frames used of each motion, half-open.
    `misfits` are the indices of motions with another skeleton than the first; if there are any, there is no
    grid. `rests` are the indices of motions whose first frame is a rest pose.
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


@dataclass(frozen=True, slots=True)
class FitMotion(Message):
    """Retarget a motion to another's skeleton, as a new motion.

    `frame` and `to_frame` are standing poses of both, used if a rest pose does not stand.
    """

    do: ClassVar[str] = "blend_fit"
    motion: str
    to: str
    frame: int = 0
    to_frame: int = 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """The motion, with notes."""

    motion: MotionInfo
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrimRestPose(Message):
    """Remove the first frame of a motion if it is a rest pose; can be undone."""

    do: ClassVar[str] = "blend_trim_rest"
    motion: str


@dataclass(frozen=True, slots=True)
class PlaceFrames(Message):
    """Align `motion` at `seconds` with `to` at `to_seconds` on the floor; their rates may differ."""

    do: ClassVar[str] = "blend_place"
    motion: str
    seconds: float
    to: str
    to_seconds: float
    window: float = 0.5


@dataclass(frozen=True, slots=True)
class FramesPlaced:
    """A floor-plane transform, theta in radians, x and z in meters; `distance` is the residual in meters."""

    theta: float
    x: float
    z: float
    distance: float


@dataclass(frozen=True, slots=True)
class BlendMotions(Message):
    """Blend motions. `result` is the result of an earlier blend, which is replaced.

    `weights` has one number per motion; or `curves` has, for each motion, points (time, weight), both from 0 to
    1, where time is the elapsed fraction of the blend. `merge_undo`: undo it with the previous blend, as while a
    slider moves.
    """

    do: ClassVar[str] = "blend"
    motions: tuple[str, ...]
    method: BlendMethod = "ours"
    weights: tuple[float, ...] = ()
    curves: tuple[tuple[tuple[float, float], ...], ...] = ()
    clean: bool = True
    whole: bool = False
    force: bool = False
    result: str | None = None
    merge_undo: bool = False


@dataclass(frozen=True, slots=True)
class JoinMotions(Message):
    """Make a transition from the first to the second motion; `at` are the times in both that coincide, in seconds.

    Without `at`, use the best match. `length` is in seconds; `merge_undo` as for blends.
    """

    do: ClassVar[str] = "blend_transition"
    motions: tuple[str, ...]
    method: BlendMethod = "ours"
    at: tuple[float, float] | None = None
    length: float = 1.0
    clean: bool = True
    force: bool = False
    result: str | None = None
    merge_undo: bool = False


@dataclass(frozen=True, slots=True)
class Blended:
    """The result. `at` are the times (s) in both motions at the middle of a transition; null for blends."""

    motion: MotionInfo
    at: tuple[float, float] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompareBlends(Message):
    """Align and blend two motions with every method, and measure the results; `limit` is in seconds per search."""

    do: ClassVar[str] = "blend_statistics"
    motions: tuple[str, ...]
    weights: tuple[float, ...] = (0.5, 0.5)
    limit: float = 1.0


@dataclass(frozen=True, slots=True)
class PathFigures:
    """One alignment method. `distance` in meters, `accuracy` in percent of the best; null if it failed."""

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    milliseconds: float
    note: str


@dataclass(frozen=True, slots=True)
class BlendFigures:
    """Metrics of one blend method, or of an input motion; `figures` are in the order of the table's names."""

    method: str
    milliseconds: float | None
    figures: tuple[float | None, ...]
    note: str


@dataclass(frozen=True, slots=True)
class BlendTable:
    """Comparison of all methods."""

    paths: tuple[PathFigures, ...]
    proven: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    blends: tuple[BlendFigures, ...]
    notes: tuple[str, ...]
