"""What the panel Blend says and is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo

BlendMethod = Literal["ours", "linear", "discrete", "cubic"]


@dataclass(frozen=True, slots=True)
class StudyBlend(Message):
    """Bring motions in step, and compare all frames of the first with all of `other`, the place of one in `motions`.

    `window` is in seconds. `whole` takes the motions whole instead of what they have in common; `force` takes motions
    that are too far apart all the same.
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

    `pixels` is base64 of `rows` x `columns` bytes: the distance, from 0 to `largest` metres, in the mean over the
    frames that a pixel stands for. `frames` are counted at `rate`, to which both motions were brought. `minima` are
    frame of A, frame of B, metres; the nearest first, and not all where there are very many.
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
    """Which frames belong together by one method: frame of A, frame of B, as the grid counts them."""

    method: BlendMethod
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class BlendStudy:
    """How motions go together. `refused` says why they cannot be brought in step, "" where they can.

    `distance` is in metres, root mean square along the path. `crops` are the frames taken of each motion, half-open.
    `misfits` are the places of motions that have another skeleton than the first: where there are any, there is no
    grid. `rests` are the places of those whose first frame is a rest pose that was put before the motion.
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
    """A motion on the skeleton of another one, as a new motion.

    `frame` and `to_frame` are frames of both in which the figures stand; they count where a rest pose does not.
    """

    do: ClassVar[str] = "blend_fit"
    motion: str
    to: str
    frame: int = 0
    to_frame: int = 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """The motion, and what is to be known of it."""

    motion: MotionInfo
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaveOutRest(Message):
    """Leave out the first frame of a motion, where that is a rest pose put before it; it can be undone."""

    do: ClassVar[str] = "blend_leave_rest"
    motion: str


@dataclass(frozen=True, slots=True)
class PlaceFrames(Message):
    """Where on the floor `motion` at `seconds` lies best over `to` at `to_seconds`; their rates may differ."""

    do: ClassVar[str] = "blend_place"
    motion: str
    seconds: float
    to: str
    to_seconds: float
    window: float = 0.5


@dataclass(frozen=True, slots=True)
class FramesPlaced:
    """A floor-plane transform, theta in radians, x and z in metres; `distance` in metres is what is left."""

    theta: float
    x: float
    z: float
    distance: float


@dataclass(frozen=True, slots=True)
class BlendMotions(Message):
    """Blend motions. `result` is the motion that an earlier blend made, which then becomes this one.

    `weights` has one number for each motion; or `curves` has for each motion points of time and weight, both from 0 to
    1, time being the share of the blend that has passed. `go_on`: it is one change with the blend before, as while a
    slider moves, and is undone with it.
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
    go_on: bool = False


@dataclass(frozen=True, slots=True)
class JoinMotions(Message):
    """Go over from the first of two motions into the second: `at` are the seconds in both that coincide.

    Without `at` it is done where they are most alike. `length` is in seconds; `go_on` as for blends.
    """

    do: ClassVar[str] = "blend_transition"
    motions: tuple[str, ...]
    method: BlendMethod = "ours"
    at: tuple[float, float] | None = None
    length: float = 1.0
    clean: bool = True
    force: bool = False
    result: str | None = None
    go_on: bool = False


@dataclass(frozen=True, slots=True)
class Blended:
    """What was made. `at` are the seconds in both motions where a transition is half over; null for blends."""

    motion: MotionInfo
    at: tuple[float, float] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompareBlends(Message):
    """Find the path and blend two motions by every method there is, and measure all; `limit` in seconds per search."""

    do: ClassVar[str] = "blend_statistics"
    motions: tuple[str, ...]
    weights: tuple[float, ...] = (0.5, 0.5)
    limit: float = 1.0


@dataclass(frozen=True, slots=True)
class PathFigures:
    """One way to find the path. `distance` in metres, `accuracy` in percent of the best; null where there is none."""

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    milliseconds: float
    note: str


@dataclass(frozen=True, slots=True)
class BlendFigures:
    """One way to blend, or a motion that is blended; `figures` go with the names of the table."""

    method: str
    milliseconds: float | None
    figures: tuple[float | None, ...]
    note: str


@dataclass(frozen=True, slots=True)
class BlendTable:
    """All methods beside each other."""

    paths: tuple[PathFigures, ...]
    proven: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    blends: tuple[BlendFigures, ...]
    notes: tuple[str, ...]
