"""Messages of the Characters panel: characters, their nodes and transitions, and examples of a gaze map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo

FileKind = Literal["character", "gaze"]


# --- Characters


@dataclass(frozen=True, slots=True)
class CharacterRange:
    """One parameter of a node; `unit` says whether it is in radians."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CharacterNode:
    """A node; `of` is the node that it is a sub-range of, or "". `request` says how requests become parameters.

    `stuck`: a dead end, so the character cannot play yet.
    """

    name: str
    of: str
    ranges: tuple[CharacterRange, ...]
    request: str
    seconds: float
    stuck: bool


@dataclass(frozen=True, slots=True)
class CharacterEdge:
    """A transition, in meters: thresholds, median cost, and the largest best cost over all source motions.

    `share` is the fraction of the target's range, by volume, that can follow a source motion, on average.
    """

    source: str
    target: str
    good: float
    bad: float
    median: float
    worst: float
    share: float
    samples: int


@dataclass(frozen=True, slots=True)
class Character:
    """The character being edited. `note` comments on the last change; "" for none."""

    name: str
    nodes: tuple[CharacterNode, ...]
    edges: tuple[CharacterEdge, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShowCharacter(Message):
    """Get the character being edited, initially empty."""

    do: ClassVar[str] = "author_show"


@dataclass(frozen=True, slots=True)
class RecipeInfo:
    """A built-in recipe."""

    name: str
    about: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuthoredFile:
    """A character or a gaze map in the folder."""

    path: str
    kind: FileKind


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of characters and gaze maps."""

    recipes: tuple[RecipeInfo, ...]
    files: tuple[AuthoredFile, ...]


@dataclass(frozen=True, slots=True)
class ListSources(Message):
    """List the recipes, and the characters and gaze maps in the folder."""

    do: ClassVar[str] = "author_sources"


@dataclass(frozen=True, slots=True)
class NewCharacter(Message):
    """Start a new character. `length` is the transition length in seconds."""

    do: ClassVar[str] = "author_new"
    name: str
    length: float = 1.0 / 3.0


@dataclass(frozen=True, slots=True)
class UseRecipe(Message):
    """Replace the character with a built-in recipe; or, if `nodes` are given, add only these."""

    do: ClassVar[str] = "author_recipe"
    recipe: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddGait(Message):
    """Add a node of the gait cycles in open motions; `speed` adds speed as a second parameter besides turn rate."""

    do: ClassVar[str] = "author_add"
    name: str
    motions: tuple[str, ...]
    speed: bool = False
    mirror: bool = True


@dataclass(frozen=True, slots=True)
class AddPart(Message):
    """Add a sub-range of a node as a new node."""

    do: ClassVar[str] = "author_part"
    name: str
    of: str
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RemoveNode(Message):
    """Remove a node and its transitions."""

    do: ClassVar[str] = "author_remove"
    name: str


@dataclass(frozen=True, slots=True)
class Disconnect(Message):
    """Remove a transition."""

    do: ClassVar[str] = "author_disconnect"
    source: str
    target: str


# --- Transitions and their costs


@dataclass(frozen=True, slots=True)
class CompareNodes(Message):
    """Find the best transition for many pairs of motions, from which to choose thresholds."""

    do: ClassVar[str] = "author_compare"
    source: str
    target: str
    n_source: int = 60
    n_target: int = 400


@dataclass(frozen=True, slots=True)
class CostChart:
    """Histogram of transition costs: `counts` between 0 and `top` meters, in equal bins.

    `best` are the sorted costs of each source sample's best transition: a transition needs `good` above all of them.
    """

    source: str
    target: str
    top: float
    counts: tuple[int, ...]
    best: tuple[float, ...]
    good: float
    bad: float


@dataclass(frozen=True, slots=True)
class TryEdge(Message):
    """Preview thresholds, in meters, for compared nodes; `sample` selects the source motion whose box is shown."""

    do: ClassVar[str] = "author_try"
    source: str
    target: str
    good: float
    bad: float
    sample: int = 0


@dataclass(frozen=True, slots=True)
class TriedEdge:
    """Fractions of good and bad pairs, and the number of source samples that cannot continue (see `note`).

    `points` are all target samples with their costs from source sample `sample`; `low` and `high` are its box, null if
    there is none. Parameters are as in the node.
    """

    good_share: float
    bad_share: float
    stuck: int
    note: str
    sample: int
    at: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    costs: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class ConnectNodes(Message):
    """Connect compared nodes; `part` names the sub-range to connect if not all motions can continue."""

    do: ClassVar[str] = "author_connect"
    source: str
    target: str
    good: float
    bad: float
    part: str | None = None


# --- Motions


@dataclass(frozen=True, slots=True)
class MakeMotion(Message):
    """Make a motion of a node; it replaces `result` if that is open.

    `merge_undo`: undo it together with the previous change, as while a slider moves.
    """

    do: ClassVar[str] = "author_motion"
    node: str
    parameters: tuple[float, ...]
    result: str | None = None
    merge_undo: bool = False


@dataclass(frozen=True, slots=True)
class WalkCharacter(Message):
    """Make a random walk of the character."""

    do: ClassVar[str] = "author_walk"
    seconds: float = 20.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SaveAuthored(Message):
    """Save the character or the gaze map to the folder as NAME.json."""

    do: ClassVar[str] = "author_save"
    kind: FileKind
    name: str
    replace: bool = False


@dataclass(frozen=True, slots=True)
class SavedAuthored:
    """The saved files."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadCharacter(Message):
    """Load a character from the folder."""

    do: ClassVar[str] = "author_load"
    path: str


# --- Gaze


@dataclass(frozen=True, slots=True)
class GazeExample:
    """An example: gaze direction (radians), duration (s), rotation of the eyes in the head (radians).

    `cost` is the leave-one-out error in radians: how far the head of a map of all other examples is off; null if the
    others form no map. An example with a high cost is either important or does not fit the others.
    """

    name: str
    yaw: float
    pitch: float
    seconds: float
    eyes: float
    cost: float | None


@dataclass(frozen=True, slots=True)
class GazeChart:
    """A gaze map: its examples, and the corners of the region it can look at."""

    examples: tuple[GazeExample, ...]
    region: tuple[tuple[float, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShowGaze(Message):
    """Load a gaze map from the folder, or the built-in one; null shows the current one."""

    do: ClassVar[str] = "author_gaze"
    path: str | None = None
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class AddLook(Message):
    """Add an open motion as an example: at rest, a look at the goal (radians), at rest again."""

    do: ClassVar[str] = "author_gaze_add"
    motion: str
    yaw: float
    pitch: float
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveLook(Message):
    """Remove an example by its index."""

    do: ClassVar[str] = "author_gaze_remove"
    example: int


@dataclass(frozen=True, slots=True)
class AimGaze(Message):
    """Make an open motion look somewhere (radians) from its middle on, using the current map."""

    do: ClassVar[str] = "author_gaze_aim"
    yaw: float
    pitch: float
    motion: str
    result: str | None = None


@dataclass(frozen=True, slots=True)
class AimedGaze:
    """The resulting motion; `note` is a comment, "" for none."""

    motion: MotionInfo
    note: str


@dataclass(frozen=True, slots=True)
class GazeCosts(Message):
    """Compute the leave-one-out error of each example."""

    do: ClassVar[str] = "author_gaze_costs"
