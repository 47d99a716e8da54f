"""What the panel Drive says: which character is driven in which way, what is wished, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import LiveStarted, Message, MotionInfo
from marey.studio.panels.author_messages import CharacterRange

Way = Literal["character", "graph", "matching", "tree"]
Feet = Literal["lock", "clean", "free"]


@dataclass(frozen=True, slots=True)
class DriveRecipe:
    """A recipe that comes with marey."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class DriveChoices:
    """What can be driven: recipes, characters of the folder, and the one that Author has, "" where that is empty.

    `stuck` says why Author's cannot play yet; "" where it can.
    """

    recipes: tuple[DriveRecipe, ...]
    files: tuple[str, ...]
    draft: str
    stuck: str


@dataclass(frozen=True, slots=True)
class ListDrive(Message):
    """What can be driven."""

    do: ClassVar[str] = "drive_list"


@dataclass(frozen=True, slots=True)
class StartDrive(Message):
    """Begin to play, or go over to another way.

    `way`: a parametric motion graph ("character"), the direction table of a motion graph, motion matching, or a blend
    tree. A character is named by `source` and `name`. The others are made of `motions` that are open; of generated
    walks where none are named. `feet`: held at once, cleaned, which takes a look ahead, or left free. With `stay`, the
    figure begins where the one before stands.
    """

    do: ClassVar[str] = "drive_start"
    way: Way
    source: Literal["recipe", "file", "draft"] = "recipe"
    name: str = "walking"
    motions: tuple[str, ...] = ()
    feet: Feet = "lock"
    stay: bool = True


@dataclass(frozen=True, slots=True)
class DriveNode:
    """What a character can be told to do; `at_point`: it goes for a point in space, such as a punch."""

    name: str
    ranges: tuple[CharacterRange, ...]
    at_point: bool


@dataclass(frozen=True, slots=True)
class DriveStarted:
    """The stream; its floor is at 0. `roles` gives joints' indices. `speed` is the range of speeds in m/s that can be
    asked for, or null, and `usual` the one at which the figure goes while none is.

    `delay` is in seconds: how long frames wait to be shown, which counts in the response. Each live frame tells:
    `place` [yaw, x, z] of the figure; `doing`, the node or clip that plays; `answer`, seconds that the last change of
    direction took, and `waiting`, seconds since one that is not answered yet, or null; `reached`, seconds until the
    point was, or null; and, where it has changed, `reach`: lines [[x, z], ...] around where it could be next.
    """

    started: LiveStarted
    roles: dict[str, int]
    way: Way
    nodes: tuple[DriveNode, ...]
    speed: tuple[float, float] | None
    usual: float | None
    delay: float


@dataclass(frozen=True, slots=True)
class DriveWish(Message):
    """All that is wished from now on; what is null is not.

    `direction` is in radians from +Z in the world, positive to the left; `point` x and z of the floor, to go to;
    `target` x, y and z to be aimed at; `node` what to do, with `values` of its other parameters; `speed` in m/s.
    """

    do: ClassVar[str] = "drive_wish"
    direction: float | None = None
    point: tuple[float, float] | None = None
    target: tuple[float, float, float] | None = None
    node: str | None = None
    speed: float | None = None
    values: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class DriveFigures(Message):
    """How the ways have done so far."""

    do: ClassVar[str] = "drive_figures"


@dataclass(frozen=True, slots=True)
class WayFigures:
    """Of one way: seconds driven, changes of direction that were answered, and in how many seconds.

    Answered means that the figure faces the direction to within 15 degrees for 0.25 s; `unanswered` counts those that
    were given up for another, or not answered within 8 s. A wish that another follows within 0.5 s, as in a drag, is
    no turn of its own: the time of a turn counts from the last change of the wish that lasted.
    """

    way: Way
    seconds: float
    answered: int
    unanswered: int
    median: float | None
    slowest: float | None


@dataclass(frozen=True, slots=True)
class DriveTable:
    """All ways that were driven."""

    ways: tuple[WayFigures, ...]


@dataclass(frozen=True, slots=True)
class KeepDriven(Message):
    """The last seconds as a motion of their own."""

    do: ClassVar[str] = "drive_keep"
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Kept:
    """The motion."""

    motion: MotionInfo
