"""What the panel Author says: characters, their nodes and edges, and the examples of a gaze map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import Message, MotionInfo

FileKind = Literal["character", "gaze"]


# --- Characters


@dataclass(frozen=True, slots=True)
class CharacterRange:
    """One parameter of a node; angles are in radians, of which `unit` tells."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CharacterNode:
    """A node; `of` is the node that it is a part of, or "". `request` says how wishes become parameters.

    `stuck`: from here no way goes on for ever, so that the character cannot play yet.
    """

    name: str
    of: str
    ranges: tuple[CharacterRange, ...]
    request: str
    seconds: float
    stuck: bool


@dataclass(frozen=True, slots=True)
class CharacterEdge:
    """An edge, in metres: its thresholds, the median and greatest cost, and the worst source's best transition.

    `share` is how much of the target's ranges, by volume, can follow a motion of the source, on average.
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
    """The character that is being made. `note` says what is to be known of the last change, "" for nothing."""

    name: str
    nodes: tuple[CharacterNode, ...]
    edges: tuple[CharacterEdge, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShowCharacter(Message):
    """The character that is being made, empty at first."""

    do: ClassVar[str] = "author_show"


@dataclass(frozen=True, slots=True)
class RecipeInfo:
    """A recipe that comes with marey."""

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
    """What characters and gaze maps can be taken from."""

    recipes: tuple[RecipeInfo, ...]
    files: tuple[AuthoredFile, ...]


@dataclass(frozen=True, slots=True)
class ListSources(Message):
    """The recipes, and the characters and gaze maps of the folder."""

    do: ClassVar[str] = "author_sources"


@dataclass(frozen=True, slots=True)
class NewCharacter(Message):
    """Begin anew. `length` is that of transitions in seconds."""

    do: ClassVar[str] = "author_new"
    name: str
    length: float = 1.0 / 3.0


@dataclass(frozen=True, slots=True)
class UseRecipe(Message):
    """Build a shipped recipe in place of what is there; or, where nodes are named, add these alone."""

    do: ClassVar[str] = "author_recipe"
    recipe: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddGait(Message):
    """Add a node of the gait cycles in open motions; `speed` makes that a second parameter beside the turn."""

    do: ClassVar[str] = "author_add"
    name: str
    motions: tuple[str, ...]
    speed: bool = False
    mirror: bool = True


@dataclass(frozen=True, slots=True)
class AddPart(Message):
    """Add a part of a node as one of its own."""

    do: ClassVar[str] = "author_part"
    name: str
    of: str
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RemoveNode(Message):
    """Take a node away, with its edges."""

    do: ClassVar[str] = "author_remove"
    name: str


@dataclass(frozen=True, slots=True)
class Disconnect(Message):
    """Take an edge away."""

    do: ClassVar[str] = "author_disconnect"
    source: str
    target: str


# --- Edges and what they cost


@dataclass(frozen=True, slots=True)
class CompareNodes(Message):
    """Find the best transition of many pairs of motions, from which thresholds are chosen."""

    do: ClassVar[str] = "author_compare"
    source: str
    target: str
    n_source: int = 60
    n_target: int = 400


@dataclass(frozen=True, slots=True)
class CostChart:
    """How many pairs cost how much: `counts` between 0 and `top` metres, in equal steps.

    `best` are the costs of each source sample's best transition, in order: an edge needs a `good` above them all.
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
    """What thresholds, in metres, would make of nodes that were compared; `sample` is whose box is shown."""

    do: ClassVar[str] = "author_try"
    source: str
    target: str
    good: float
    bad: float
    sample: int = 0


@dataclass(frozen=True, slots=True)
class TriedEdge:
    """Shares of all pairs that are good, and bad; how many source samples have no way on, which `note` tells more of.

    `points` are all target samples with their costs from source sample `sample`, and `low`, `high` its box, null where
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
    """Make an edge of nodes that were compared; `part` is the name of the part to connect where not all of it can."""

    do: ClassVar[str] = "author_connect"
    source: str
    target: str
    good: float
    bad: float
    part: str | None = None


# --- What it does


@dataclass(frozen=True, slots=True)
class MakeMotion(Message):
    """A motion of a node; in place of `result` where that is open.

    `go_on`: it is one change with the motion before, as while a slider moves, and is undone with it.
    """

    do: ClassVar[str] = "author_motion"
    node: str
    parameters: tuple[float, ...]
    result: str | None = None
    go_on: bool = False


@dataclass(frozen=True, slots=True)
class WalkCharacter(Message):
    """Some seconds of the character going about by chance."""

    do: ClassVar[str] = "author_walk"
    seconds: float = 20.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SaveAuthored(Message):
    """Write the character, or the gaze map, into the folder as NAME.json."""

    do: ClassVar[str] = "author_save"
    kind: FileKind
    name: str
    replace: bool = False


@dataclass(frozen=True, slots=True)
class SavedAuthored:
    """The files that were written."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadCharacter(Message):
    """Take a character from the folder."""

    do: ClassVar[str] = "author_load"
    path: str


# --- Gaze


@dataclass(frozen=True, slots=True)
class GazeExample:
    """A look: where to (radians), how long it took (s), how far the eyes turn in the head (radians).

    `cost` is in radians: how far the head of a map of all other examples is from this one's when it looks there; null
    where the others make no map. What costs much holds the map up where it is, or does not fit the others.
    """

    name: str
    yaw: float
    pitch: float
    seconds: float
    eyes: float
    cost: float | None


@dataclass(frozen=True, slots=True)
class GazeChart:
    """A gaze map: its examples, and the corners of the region that it can look at."""

    examples: tuple[GazeExample, ...]
    region: tuple[tuple[float, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShowGaze(Message):
    """Take a gaze map from the folder, or the one that comes with marey; null shows what is there."""

    do: ClassVar[str] = "author_gaze"
    path: str | None = None
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class AddLook(Message):
    """Add a look that an open motion has: rest, a look at the goal (radians), and rest there."""

    do: ClassVar[str] = "author_gaze_add"
    motion: str
    yaw: float
    pitch: float
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveLook(Message):
    """Take an example away, by its place in the list."""

    do: ClassVar[str] = "author_gaze_remove"
    example: int


@dataclass(frozen=True, slots=True)
class AimGaze(Message):
    """An open motion that looks somewhere (radians) from its middle on, by the map as it is."""

    do: ClassVar[str] = "author_gaze_aim"
    yaw: float
    pitch: float
    motion: str
    result: str | None = None


@dataclass(frozen=True, slots=True)
class AimedGaze:
    """The motion that looks there; `note` says what is to be known of it, "" for nothing."""

    motion: MotionInfo
    note: str


@dataclass(frozen=True, slots=True)
class GazeCosts(Message):
    """Work out what each example costs."""

    do: ClassVar[str] = "author_gaze_costs"
