"""What the panel Find says and is told: webs, searches, matches; spaces of motions and aiming in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo

Point = tuple[float, float, float]
SavedKind = Literal["web", "space"]


@dataclass(frozen=True, slots=True)
class BuildWeb(Message):
    """Compare all frames of the open `motions`, and with `folder` of its files too, that have the figure of `like`.

    `remove_height` lets a reach to the floor be like one to a shelf. `rate` is how many frames per second are compared
    at the most; null for as many as all clips have.
    """

    do: ClassVar[str] = "find_build"
    like: str
    motions: tuple[str, ...] = ()
    folder: bool = False
    markers: Literal["body", "upper", "lower"] = "body"
    remove_height: bool = False
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class WebBuilt:
    """What can now be searched; `left_out` says of each file that is not in it why.

    A stretch must last `least` seconds to be sought. For a web from a file, `notes` say how far it is of the motions
    that are there now.
    """

    clips: tuple[str, ...]
    frames: int
    fps: float
    seconds: float
    least: float
    left_out: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WhereSought(Message):
    """Ask whether a motion is among those that were compared."""

    do: ClassVar[str] = "find_where"
    motion: str


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """A motion that is among them as it stands, has changed since, never was, or is of another figure."""

    where: Literal["inside", "changed", "outside", "figure"]


@dataclass(frozen=True, slots=True)
class SuggestThreshold(Message):
    """How many matches of frames `start` to `stop` of a motion each threshold would find.

    `repeats` counts stretches that overlap by up to a half as several, as for steps that follow each other; `further`
    is as of `SearchWeb`.
    """

    do: ClassVar[str] = "find_suggest"
    motion: str
    start: int
    stop: int
    further: bool = True
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Metres against matches found, and the threshold that stands out, for a person to judge.

    Between the two of `level` nothing more is found; `still` is how far a figure that stands still is from the query.
    """

    thresholds: tuple[float, ...]
    counts: tuple[int, ...]
    threshold: float
    n_matches: int
    level: tuple[float, float]
    stands_out: bool
    still: float
    told: str


@dataclass(frozen=True, slots=True)
class SearchWeb(Message):
    """Find all that is like frames `start` to `stop` of a motion, to within `threshold` metres.

    With `further` also what is like that, and so on; `repeats` is as of `SuggestThreshold`.
    """

    do: ClassVar[str] = "find_search"
    motion: str
    start: int
    stop: int
    threshold: float
    further: bool = True
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class TileBody:
    """The figure of all tiles, without its fingers; as the fields of MotionInfo with these names."""

    parents: tuple[int, ...]
    bone_lengths: tuple[float, ...]
    end_sites: tuple[bool, ...]
    roles: dict[str, int]
    stature: float


@dataclass(frozen=True, slots=True)
class SearchDone:
    """`count` matches, the query first; `find_matches` tells of them by the number of the `search`.

    `joint` is the hand, foot or head that the query moves most beside its hips: what it may be asked by.
    """

    search: int
    count: int
    body: TileBody
    joint: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GetMatches(Message):
    """Some matches of a search, in order of their distance from the query, which is number 0."""

    do: ClassVar[str] = "find_matches"
    search: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class MatchTile:
    """A match, to be drawn small: seconds within its clip, metres from the query along the way it was found.

    `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames, whole millimetres: x to the left of
    where the figure stands at first, y up from the floor, z ahead. There are `fps` of them per second.
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


@dataclass(frozen=True, slots=True)
class MatchTiles:
    """In order."""

    tiles: tuple[MatchTile, ...]


@dataclass(frozen=True, slots=True)
class OpenMatch(Message):
    """Put a match among the motions, cut out of the motion that was compared, at the rate of that."""

    do: ClassVar[str] = "find_open"
    search: int
    number: int


@dataclass(frozen=True, slots=True)
class OpenedMatch:
    """The motion, and a `note` where it is at the rate that was compared at, as its source is gone; else ""."""

    motion: MotionInfo
    note: str


@dataclass(frozen=True, slots=True)
class MakeSpace(Message):
    """Make a space of motions from the matches of a search but those in `drop`, asked by `feature`.

    A feature is text as for `marey parametric build`: "position:right_hand@farthest", or "turn,speed".
    """

    do: ClassVar[str] = "aim_make"
    search: int
    feature: str
    drop: tuple[int, ...] = ()
    samples: int = 1000


@dataclass(frozen=True, slots=True)
class AimMotion(Message):
    """Ask a space for a motion: by a `target`, one number per parameter, or by a `point` in the world.

    `refine` tries that the motion really gets there, which takes longer.
    """

    do: ClassVar[str] = "aim"
    target: tuple[float, ...] | None = None
    point: Point | None = None
    refine: bool = False


@dataclass(frozen=True, slots=True)
class Aimed:
    """The motion as it now is, and what it does.

    `target` is what was asked for, `reached` what the motion does; `errors` is the length of the difference by unit.
    Where it is `projected`, the target is out of reach, and `aimed` is what was aimed at instead. For a place, `point`
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


@dataclass(frozen=True, slots=True)
class SpaceMade:
    """What a space can be asked for: its parameters, with the box around all that it reaches, and a first motion.

    `points` are places in the world that it reaches, x y z after each other, where it is about a place. `used` counts
    the examples of `given` that it is made of.
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


@dataclass(frozen=True, slots=True)
class KeepAimed(Message):
    """Put the motion that is aimed among the others as it is; aiming goes on with another."""

    do: ClassVar[str] = "aim_keep"


@dataclass(frozen=True, slots=True)
class FindNow(Message):
    """Ask how things stand, as a page does that was loaded again."""

    do: ClassVar[str] = "find_now"


@dataclass(frozen=True, slots=True)
class FindStands:
    """What was made and found last, null where nothing was; `sought` is what was searched for."""

    web: WebBuilt | None
    sought: SearchWeb | None
    found: SearchDone | None
    space: SpaceMade | None


@dataclass(frozen=True, slots=True)
class ListSaved(Message):
    """List the folder's webs and spaces."""

    do: ClassVar[str] = "find_files"


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A web or a space in the folder."""

    path: str
    kind: SavedKind


@dataclass(frozen=True, slots=True)
class SavedFiles:
    """In order; whether a folder `is_open`, so that something can be saved."""

    files: tuple[SavedFile, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class SaveFound(Message):
    """Write the web, or the space that is aimed in, into the folder as ``NAME.npz``, as the command line has them."""

    do: ClassVar[str] = "find_save"
    kind: SavedKind
    name: str
    replace: bool = False


@dataclass(frozen=True, slots=True)
class SavedFound:
    """The file; where one of that name `was_there` and was not to be replaced, nothing was written."""

    path: str
    was_there: bool


@dataclass(frozen=True, slots=True)
class LoadWeb(Message):
    """Take a web from a file of the folder, and see which of the motions that are there now it is of."""

    do: ClassVar[str] = "find_load"
    path: str


@dataclass(frozen=True, slots=True)
class LoadSpace(Message):
    """Aim in a space from a file of the folder; its figure stands on the origin and faces ahead."""

    do: ClassVar[str] = "aim_load"
    path: str
