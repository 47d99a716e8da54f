"""Messages of the Blend panel."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import Message, MotionCommand, MotionInfo, MotionWithNotes, Value
from marey.studio.panels.compare_messages import Placed

BlendMethod = Literal["ours", "linear", "discrete", "cubic"]


class StudyBlend(Message, do="blend_study"):
    """Register motions, and compare all frames of the first with all of `other`, an index into `motions`.

    `window` is in seconds. `whole` uses full clips instead of the part they have in common; `force` accepts motions
    that are too different.
    """

    motions: tuple[str, ...]
    other: int = 1
    window: float = 0.1
    whole: bool = False
    force: bool = False


class GridImage(Value):
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


class WarpPath(Value):
    """The alignment found by one method: frame of A, frame of B, in grid frames."""

    method: BlendMethod
    points: tuple[tuple[float, float], ...]


class BlendStudy(Value):
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


class FitMotion(MotionCommand, do="blend_fit"):
    """Retarget a motion to another's skeleton, as a new motion.

    `frame` and `to_frame` are standing poses of both, used if a rest pose does not stand.
    """

    to: str
    frame: int = 0
    to_frame: int = 0


class Fitted(MotionWithNotes):
    """The motion, with notes."""


class TrimRestPose(MotionCommand, do="blend_trim_rest"):
    """Remove the first frame of a motion if it is a rest pose; can be undone."""


class PlaceFrames(MotionCommand, do="blend_place"):
    """Align `motion` at `seconds` with `to` at `to_seconds` on the floor; their rates may differ."""

    seconds: float
    to: str
    to_seconds: float
    window: float = 0.5


class FramesPlaced(Placed):
    """A floor-plane transform, theta in radians, x and z in meters; `distance` is the residual in meters."""


class BlendMotions(Message, do="blend"):
    """Blend motions. `result` is the result of an earlier blend, which is replaced.

    `weights` has one number per motion; or `curves` has, for each motion, points (time, weight), both from 0 to
    1, where time is the elapsed fraction of the blend. `merge_undo`: undo it with the previous blend, as while a
    slider moves.
    """

    motions: tuple[str, ...]
    method: BlendMethod = "ours"
    weights: tuple[float, ...] = ()
    curves: tuple[tuple[tuple[float, float], ...], ...] = ()
    clean: bool = True
    whole: bool = False
    force: bool = False
    result: str | None = None
    merge_undo: bool = False


class JoinMotions(Message, do="blend_transition"):
    """Make a transition from the first to the second motion; `at` are the times in both that coincide, in seconds.

    Without `at`, use the best match. `length` is in seconds; `merge_undo` as for blends.
    """

    motions: tuple[str, ...]
    method: BlendMethod = "ours"
    at: tuple[float, float] | None = None
    length: float = 1.0
    clean: bool = True
    force: bool = False
    result: str | None = None
    merge_undo: bool = False


class Blended(Value):
    """The result. `at` are the times (s) in both motions at the middle of a transition; null for blends."""

    motion: MotionInfo
    at: tuple[float, float] | None
    notes: tuple[str, ...]


class CompareBlends(Message, do="blend_statistics"):
    """Align and blend two motions with every method, and measure the results; `limit` is in seconds per search."""

    motions: tuple[str, ...]
    weights: tuple[float, ...] = (0.5, 0.5)
    limit: float = 1.0


class PathFigures(Value):
    """One alignment method. `distance` in meters, `accuracy` in percent of the best; null if it failed."""

    method: str
    cost: float | None
    distance: float | None
    accuracy: float | None
    milliseconds: float
    note: str


class BlendFigures(Value):
    """Metrics of one blend method, or of an input motion; `figures` are in the order of the table's names."""

    method: str
    milliseconds: float | None
    figures: tuple[float | None, ...]
    note: str


class BlendTable(Value):
    """Comparison of all methods."""

    paths: tuple[PathFigures, ...]
    proven: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    blends: tuple[BlendFigures, ...]
    notes: tuple[str, ...]
