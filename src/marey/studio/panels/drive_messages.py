"""Messages of the Drive panel: characters, controllers, requests and response times."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import LiveStarted, Message, MotionInfo, Value
from marey.studio.panels.author_messages import CharacterRange

Way = Literal["character", "graph", "matching", "tree"]
Feet = Literal["lock", "clean", "free"]


class DriveRecipe(Value):
    """A built-in recipe."""

    name: str
    about: str


class DriveChoices(Value):
    """Characters that can be driven: recipes, files in the folder, and the draft of the Characters panel ("" if empty).

    `stuck` says why the draft cannot play yet; "" if it can.
    """

    recipes: tuple[DriveRecipe, ...]
    files: tuple[str, ...]
    draft: str
    stuck: str


class ListDrive(Message, do="drive_list"):
    """List the characters that can be driven."""


class StartDrive(Message, do="drive_start"):
    """Start to play, or change the controller.

    `way`: a parametric motion graph ("character"), the direction table of a motion graph, motion matching, or a blend
    tree. A character is given by `source` and `name`. The others are built from open `motions`, or from generated
    walks if there are none. `feet`: locked instantly, cleaned (which needs look-ahead), or free. With `stay`, the
    character starts where the previous one stands.
    """

    way: Way
    source: Literal["recipe", "file", "draft"] = "recipe"
    name: str = "walking"
    motions: tuple[str, ...] = ()
    feet: Feet = "lock"
    stay: bool = True


class DriveNode(Value):
    """An action of a character; `at_point`: it aims at a point in space, such as a punch."""

    name: str
    ranges: tuple[CharacterRange, ...]
    at_point: bool


class DriveStarted(Value):
    """The stream; its floor is at 0. `roles` gives joint indices. `speed` is the range of speeds in m/s that can be
    requested, or null, and `usual` the default speed.

    `delay` is the display delay in seconds, which is included in the response time. Each live frame reports:
    `place` [yaw, x, z] of the character; `doing`, the current node or clip; `answer`, response time of the last change
    of direction, and `waiting`, seconds since one that is still pending, or null; `reached`, seconds until the
    point was reached, or null; and, if it has changed, `reach`: lines [[x, z], ...] around where it can be next.
    """

    started: LiveStarted
    roles: dict[str, int]
    way: Way
    nodes: tuple[DriveNode, ...]
    speed: tuple[float, float] | None
    usual: float | None
    delay: float


class DriveRequest(Message, do="drive_request"):
    """The complete request from now on; null fields are not requested.

    `direction` is in radians from +Z in the world, positive to the left; `point` x and z of the floor, to go to;
    `target` x, y and z to aim at; `node` the action, with `values` of its other parameters; `speed` in m/s.
    """

    direction: float | None = None
    point: tuple[float, float] | None = None
    target: tuple[float, float, float] | None = None
    node: str | None = None
    speed: float | None = None
    values: dict[str, float] | None = None


class DriveFigures(Message, do="drive_figures"):
    """Get the response times so far."""


class WayFigures(Value):
    """Statistics of one controller: seconds driven, completed changes of direction, and response times.

    A change is completed when the character faces the direction within 15 degrees for 0.25 s; `unanswered` counts those
    that were replaced by another or took longer than 8 s. A request followed by another within 0.5 s, as in drags, does
    not count: the time of a turn starts at the last change of the request that lasted.
    """

    way: Way
    seconds: float
    answered: int
    unanswered: int
    median: float | None
    slowest: float | None


class DriveTable(Value):
    """Statistics of all controllers used."""

    ways: tuple[WayFigures, ...]


class KeepDriven(Message, do="drive_keep"):
    """Save the last seconds as a motion."""

    seconds: float = 10.0


class SavedDrive(Value):
    """The motion."""

    motion: MotionInfo
