"""Messages of the Drive panel: characters, controllers, requests and response times."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from marey.control.settings import BlendTreeSettings, GoToSettings, MatchingSettings
from marey.graph.settings import GraphStreamSettings
from marey.studio.messages import LiveStarted, Message, MotionInfo, Value
from marey.studio.panels.author_messages import CharacterRange

ControllerKind = Literal["character", "graph", "matching", "tree"]
Feet = Literal["lock", "clean", "free"]


class DriveRecipe(Value):
    """A built-in recipe. `is_built`: its character is on disk, so it starts at once."""

    name: str
    about: str
    is_built: bool


class DriveChoices(Value):
    """Characters that can be driven: recipes, files in the folder, and the draft of the Characters panel.

    `draft` is its name, "" if it has no nodes. `stuck` says why the draft cannot play yet; "" if it can. `graph` says
    whether the Graph panel has a graph.
    """

    recipes: tuple[DriveRecipe, ...]
    files: tuple[str, ...]
    draft: str
    stuck: str
    graph: bool


class ListDrive(Message, do="drive_list"):
    """List the characters that can be driven."""


class StartDrive(Message, do="drive_start"):
    """Start a controller, or switch to another one.

    `way`: a parametric motion graph ("character"), a motion graph with direction tables, motion matching, or a blend
    tree. A character is given by `source` and `name`. The other controllers, and a character from "clips", are built
    from open `motions`, or from generated walks if there are none; with `built`, the motion graph is that of the Graph
    panel. `feet`: locked without delay ("lock"), cleaned with lookahead ("clean"), or unchanged ("free"). With `stay`,
    the character starts where the previous one stands. With `look`, the head turns toward a new direction before the
    body does. `carry` is an open motion whose arms and trunk the character takes over, or "sample" for a generated one
    that carries a box.

    The character replaces that of `stream`; null means the newest one. With `beside`, it starts next to that character,
    and both play.
    """

    way: ControllerKind
    source: Literal["recipe", "file", "draft", "clips"] = "recipe"
    name: str = "walking"
    motions: tuple[str, ...] = ()
    built: bool = False
    feet: Feet = "lock"
    stay: bool = True
    look: bool = False
    carry: str = ""
    stream: int | None = None
    beside: bool = False
    character: GoToSettings = GoToSettings()
    graph: GraphStreamSettings = GraphStreamSettings()
    matching: MatchingSettings = MatchingSettings()
    tree: BlendTreeSettings = BlendTreeSettings()


class DriveNode(Value):
    """An action of a character. `at_point`: it can be aimed at a point in space, like a punch."""

    name: str
    ranges: tuple[CharacterRange, ...]
    at_point: bool


class DriveStarted(Value):
    """The stream of a character has started. Its floor is at height 0.

    `roles` maps roles to joint indices. `speed` is the range of speeds that can be requested, null if the speed is
    fixed, and `usual` the default speed, both in m/s. `delay` is the display delay in seconds; response times include
    it. Each live frame reports: `place`, [yaw, x, z] of the character; `doing`, the current node or clip; `answer`,
    the response time (s) to the last change of direction, or null; `waiting`, seconds since a change of direction that
    is still pending, or null; `reached`, the seconds it took to reach the requested point, or null; `kept`, the
    seconds that can be saved; and, if it has changed, `reach`: outlines [[x, z], ...] of the area that the character
    can reach next. `limits` says what the character cannot do after some of its clips, and `can_stop` whether it can
    stand still.
    """

    started: LiveStarted
    roles: dict[str, int]
    way: ControllerKind
    nodes: tuple[DriveNode, ...]
    speed: tuple[float, float] | None
    usual: float | None
    delay: float
    limits: tuple[str, ...]
    can_stop: bool


class DriveRequest(Message, do="drive_request"):
    """Replace the request to the character; null fields are not requested.

    `direction` is in radians from +Z in the world, positive to the left. `point` is the floor point (x, z) to go to,
    and `target` the point (x, y, z) to aim at, in meters. `node` is the action, with `values` for its other parameters.
    `speed` is in m/s. With `stop`, the character stands still if it can. `stream` is that of the character; null is the
    last one that was started.
    """

    direction: float | None = None
    point: tuple[float, float] | None = None
    target: tuple[float, float, float] | None = None
    node: str | None = None
    speed: float | None = None
    values: dict[str, float] | None = None
    stop: bool = False
    stream: int | None = None


class DriveStatistics(Message, do="drive_statistics"):
    """Get the response times measured so far."""


class ControllerStatistics(Value):
    """Statistics of one controller with one character: seconds driven, completed turns, and response times.

    `character` is the name of the character or of its clips, and `rate` that of the stream in frames per second: only
    rows in which both are the same can be compared.

    A change is completed when the character has faced the direction within 15 degrees for 0.25 s. `unanswered` counts
    the changes that were replaced by another or took longer than 8 s. A request followed by another within 0.5 s, as
    during a drag, does not count: the response time starts when the final direction is requested. Times are in
    seconds.
    """

    way: ControllerKind
    character: str
    rate: float
    seconds: float
    answered: int
    unanswered: int
    median: float | None
    slowest: float | None


class DriveTable(Value):
    """Statistics of all controllers that the user drove, and of those in the last comparison.

    `failed` says why controllers could not be compared, by `way`.
    """

    ways: tuple[ControllerStatistics, ...]
    compared: tuple[ControllerStatistics, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)


class PrepareDrive(Message, do="drive_prepare"):
    """Load a built-in character in advance, if it is on disk."""

    name: str


class CompareDrive(Message, do="drive_compare"):
    """Build every controller from the same clips, let each make the same turns, and add their response times.

    The clips are open `motions`, or generated walks if there are none.
    """

    motions: tuple[str, ...] = ()
    feet: Feet = "lock"


class KeepDriven(Message, do="drive_keep"):
    """Save what a character has done since its start, up to 10 minutes. Null means the stream that was started last."""

    stream: int | None = None


class SavedDrive(Value):
    """The saved motion."""

    motion: MotionInfo
