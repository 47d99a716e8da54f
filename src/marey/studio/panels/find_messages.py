"""Messages of the Find panel: match webs, searches, matches, and parametric motions ("spaces")."""

from __future__ import annotations

from typing import Literal

from marey.find.settings import SearchSettings, SuggestSettings, WebSettings
from marey.parametric.settings import SpaceSettings, SynthesisSettings
from marey.studio.messages import Message, MotionCommand, MotionInfo, SkippedClips, SpanCommand, Value

Point = tuple[float, float, float]
SavedKind = Literal["web", "space"]


class BuildWeb(Message, do="find_build"):
    """Build a match web: compare all frames of the open `motions` and, with `folder`, of all files in the folder.

    Motions are skipped if their skeleton differs from that of the motion `like`. `rate` is the maximum rate of compared
    frames, in frames per second; null for all frames.
    """

    like: str
    motions: tuple[str, ...] = ()
    folder: bool = False
    markers: Literal["body", "upper", "lower"] = "body"
    rate: float | None = None
    settings: WebSettings = WebSettings()


class WebBuilt(Value):
    """The match web. `skipped` are the clips that are not in it, grouped by reason.

    `least` is the minimum length of an example in seconds. For a web loaded from a file, `notes` compare it with the
    current motions.
    """

    clips: tuple[str, ...]
    frames: int
    fps: float
    seconds: float
    least: float
    skipped: tuple[SkippedClips, ...]
    notes: tuple[str, ...] = ()


class GetClipStatus(MotionCommand, do="find_where"):
    """Ask whether a motion is in the match web."""


class ClipStatus(Value):
    """Whether a motion is in the match web ("inside"), has changed since, or is not in it.

    "other_skeleton" means that it cannot be in it because its skeleton differs.
    """

    where: Literal["inside", "changed", "outside", "other_skeleton"]


class SuggestThreshold(SpanCommand, do="find_suggest"):
    """Count the matches of frames `start` to `stop` of a motion for each threshold.

    `repeats` counts ranges that overlap by up to one half as separate matches, for cyclic actions such as steps.
    """

    repeats: bool = False
    settings: SuggestSettings = SuggestSettings()


class ThresholdCurve(Value):
    """The number of matches for each threshold (meters), and the suggested threshold.

    `level` is the range of thresholds around the suggestion in which the count does not change (a plateau);
    `stands_out` says whether there is one. `still` is the distance (m) between the query and a motionless character.
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
    """Find all matches within `threshold` meters of frames `start` to `stop` of a motion.

    `repeats` is as in `SuggestThreshold`.
    """

    threshold: float
    repeats: bool = False
    settings: SearchSettings = SearchSettings()


class TileBody(Value):
    """The skeleton of all tiles, without fingers. The fields are those of `MotionInfo`."""

    parents: tuple[int, ...]
    bone_lengths: tuple[float, ...]
    end_sites: tuple[bool, ...]
    roles: dict[str, int]
    stature: float


class SearchDone(Value):
    """A completed search with `count` matches, of which the first is the query itself.

    `search` is its number, with which `find_matches` gets the matches. `joint` is the hand, foot or head that moves
    fastest, and `moment` when it reaches a target: the defaults for target control.
    """

    search: int
    count: int
    body: TileBody
    joint: str
    moment: str
    notes: tuple[str, ...]


class GetMatches(Message, do="find_matches"):
    """Get `count` matches of a search, starting with number `first`, nearest first. Number 0 is the query itself."""

    search: int
    first: int
    count: int


class MatchTile(Value):
    """A match with its thumbnail. `start` and `stop` are seconds within its clip.

    `distance` (m) is the distance from the query along the chain of matches, and `tier` the length of that chain.
    `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames at `fps` frames per second, in
    integer millimeters: x to the left of the character's first placement, y up from the floor, z ahead.
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
    """Matches, in the order of their numbers."""

    tiles: tuple[MatchTile, ...]


class OpenMatch(Message, do="find_open"):
    """Open a match as a motion, cut from its source at the source's frame rate."""

    search: int
    number: int


class OpenedMatch(Value):
    """The motion of a match. If its source is gone, it has the match web's frame rate, and `note` says so; else ""."""

    motion: MotionInfo
    note: str


class MakeSpace(Message, do="aim_make"):
    """Build a parametric motion ("space") from the matches of a search, except those with numbers in `drop`.

    `feature` names its parameters, as in `marey parametric build`: for example "position:right_hand@farthest" or
    "turn,speed".
    """

    search: int
    feature: str
    drop: tuple[int, ...] = ()
    settings: SpaceSettings = SpaceSettings()


class AimMotion(Message, do="aim"):
    """Generate a motion for a `target` (one number per parameter) or for a `point` in the world (meters).

    `refine` improves the accuracy but takes longer.
    """

    target: tuple[float, ...] | None = None
    point: Point | None = None
    refine: bool = False
    settings: SynthesisSettings = SynthesisSettings()


class Aimed(Value):
    """The resulting motion and the parameters it reaches.

    `target` are the requested parameters, `reached` those of the motion; `errors` is the norm of the difference for
    each unit. If `projected`, the target is out of reach and `aimed` is used instead. If the parameter is a position,
    `point` and `hit` are the world positions of target and joint, `moment` is the frame of the hit, and `path` has
    x y z of the joint in each frame.
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
    """A parametric motion: its parameters, the bounding box of its reachable parameters, and a first motion.

    `points` are reachable world positions as a flat x y z list, if the parameter is a position. `used` is the number of
    examples that it uses, out of `given`.
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
    """Get the last results of the panel, for example after a page reload."""


class FindSnapshot(Value):
    """The last results of the panel, null if there are none. `search` is the last search request."""

    web: WebBuilt | None
    search: SearchWeb | None
    found: SearchDone | None
    space: SpaceMade | None


class ListSaved(Message, do="find_files"):
    """List the match webs and spaces in the folder."""


class SavedFile(Value):
    """A match web or parametric space that is saved in the open folder."""

    path: str
    kind: SavedKind


class SavedFiles(Value):
    """The saved files. `is_open` says whether a folder is open to save to; `clips` is its number of motion files."""

    files: tuple[SavedFile, ...]
    is_open: bool
    clips: int


class SaveFound(Message, do="find_save"):
    """Save the match web or parametric space to the open folder as ``NAME.npz``, which the command line can read."""

    kind: SavedKind
    name: str
    replace: bool = False


class SavedFound(Value):
    """The name of the file. If `was_there`, the name is taken and nothing was saved."""

    path: str
    was_there: bool


class LoadWeb(Message, do="find_load"):
    """Load a match web from the folder and match its clips to the current motions."""

    path: str


class LoadSpace(Message, do="aim_load"):
    """Load a space from the folder. Its character stands at the origin and faces +Z."""

    path: str
