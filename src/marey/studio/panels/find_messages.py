"""Messages of the Find panel: match webs, searches, matches, and parametric motions ("spaces")."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import Message, MotionCommand, MotionInfo, SpanCommand, Value

Point = tuple[float, float, float]
SavedKind = Literal["web", "space"]


class BuildWeb(Message, do="find_build"):
    """Compare all frames of the open `motions`, and with `folder` of its files, that have the skeleton of `like`.

    `remove_height` makes a reach to the floor similar to one to a shelf. `rate` is the maximum of compared frames
    per second; null for all.
    """

    like: str
    motions: tuple[str, ...] = ()
    folder: bool = False
    markers: Literal["body", "upper", "lower"] = "body"
    remove_height: bool = False
    rate: float | None = None


class WebBuilt(Value):
    """The index; `skipped` lists the files that are not in it, with reasons.

    An example must last `least` seconds. For a web from a file, `notes` compare it with the motions
    that exist now.
    """

    clips: tuple[str, ...]
    frames: int
    fps: float
    seconds: float
    least: float
    skipped: tuple[str, ...]
    notes: tuple[str, ...] = ()


class GetClipStatus(MotionCommand, do="find_where"):
    """Ask whether a motion is in the index."""


class ClipStatus(Value):
    """Whether a motion is in the index, has changed since, is not in it, or has another skeleton."""

    where: Literal["inside", "changed", "outside", "figure"]


class SuggestThreshold(SpanCommand, do="find_suggest"):
    """Count the matches of frames `start` to `stop` of a motion for each threshold.

    `repeats` counts ranges that overlap by up to one half as separate, as for consecutive steps; `further`
    is as in `SearchWeb`.
    """

    further: bool = True
    repeats: bool = False


class ThresholdCurve(Value):
    """Number of matches by threshold (meters), and the suggested threshold.

    Between the two values of `level` the count does not change; `still` is the distance of a motionless character.
    """

    thresholds: tuple[float, ...]
    counts: tuple[int, ...]
    threshold: float
    n_matches: int
    level: tuple[float, float]
    stands_out: bool
    still: float
    text: str


class SearchWeb(SpanCommand, do="find_search"):
    """Find everything within `threshold` meters of frames `start` to `stop` of a motion.

    With `further`, search transitively from the matches; `repeats` is as in `SuggestThreshold`.
    """

    threshold: float
    further: bool = True
    repeats: bool = False


class TileBody(Value):
    """The skeleton of all tiles, without fingers; fields as in MotionInfo."""

    parents: tuple[int, ...]
    bone_lengths: tuple[float, ...]
    end_sites: tuple[bool, ...]
    roles: dict[str, int]
    stature: float


class SearchDone(Value):
    """`count` matches, the query first; `find_matches` returns them by the number of the `search`.

    `joint` is the hand, foot or head that moves most relative to the hips: the default for target control.
    """

    search: int
    count: int
    body: TileBody
    joint: str
    notes: tuple[str, ...]


class GetMatches(Message, do="find_matches"):
    """Get some matches of a search, sorted by distance from the query, which is number 0."""

    search: int
    first: int
    count: int


class MatchTile(Value):
    """A match thumbnail: seconds within its clip, distance (m) from the query along the chain of matches.

    `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames, integer millimeters: x left of
    the character's first placement, y up from the floor, z ahead, at `fps` frames per second.
    """

    number: int
    clip: str
    start: float
    stop: float
    distance: float
    tier: int
    fps: float
    n_frames: int
    points: tuple[int, ...]


class MatchTiles(Value):
    """Matches in order."""

    tiles: tuple[MatchTile, ...]


class OpenMatch(Message, do="find_open"):
    """Open a match as a motion, cut from its source at the source's rate."""

    search: int
    number: int


class OpenedMatch(Value):
    """The motion, and a `note` if it has the index's rate because its source is gone; else ""."""

    motion: MotionInfo
    note: str


class MakeSpace(Message, do="aim_make"):
    """Build a parametric motion from the matches of a search except those in `drop`, controlled by `feature`.

    A feature is text as for `marey parametric build`: "position:right_hand@farthest", or "turn,speed".
    """

    search: int
    feature: str
    drop: tuple[int, ...] = ()
    samples: int = 1000


class AimMotion(Message, do="aim"):
    """Make a motion for a `target` (one number per parameter) or for a `point` in the world.

    `refine` improves the accuracy, which takes longer.
    """

    target: tuple[float, ...] | None = None
    point: Point | None = None
    refine: bool = False


class Aimed(Value):
    """The resulting motion and what it reaches.

    `target` is the request, `reached` the result; `errors` is the norm of the difference by unit.
    If it is `projected`, the target is out of reach and `aimed` is used instead. For a position, `point`
    and `hit` are target and joint in the world, `moment` is the frame, and `path` has x y z of the joint in each frame.
    """

    motion: MotionInfo
    target: tuple[float, ...]
    aimed: tuple[float, ...]
    reached: tuple[float, ...]
    errors: dict[str, float]
    projected: bool
    point: Point | None
    hit: Point | None
    moment: int | None
    path: tuple[float, ...]


class SpaceMade(Value):
    """A parametric motion: its parameters, the bounding box of its reach, and a first motion.

    `points` are reachable world positions, flat x y z, if the parameter is a position. `used` counts
    the examples out of `given` that it uses.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    points: tuple[float, ...]
    used: int
    given: int
    notes: tuple[str, ...]
    first: Aimed


class KeepAimed(Message, do="aim_keep"):
    """Keep a copy of the current motion."""


class FindNow(Message, do="find_now"):
    """Get the current state, as after a reload of the page."""


class FindSnapshot(Value):
    """The last results, null if there are none; `sought` is the last search request."""

    web: WebBuilt | None
    sought: SearchWeb | None
    found: SearchDone | None
    space: SpaceMade | None


class ListSaved(Message, do="find_files"):
    """List the folder's webs and spaces."""


class SavedFile(Value):
    """A web or a space in the folder."""

    path: str
    kind: SavedKind


class SavedFiles(Value):
    """Files in order; `is_open` says whether a folder is open to save to."""

    files: tuple[SavedFile, ...]
    is_open: bool


class SaveFound(Message, do="find_save"):
    """Save the web or the space to the folder as ``NAME.npz``, which the command line can read."""

    kind: SavedKind
    name: str
    replace: bool = False


class SavedFound(Value):
    """The file; if the name `was_there` already and must not be overwritten, nothing was saved."""

    path: str
    was_there: bool


class LoadWeb(Message, do="find_load"):
    """Load a web from the folder and match its clips to the current motions."""

    path: str


class LoadSpace(Message, do="aim_load"):
    """Load a space from the folder; its character stands at the origin and faces ahead."""

    path: str
