"""Messages of the Characters panel: characters, their nodes and transitions, and examples of a gaze map."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import Message, MotionCommand, MotionInfo, Value

FileKind = Literal["character", "gaze"]


# --- Characters


class CharacterRange(Value):
    """One parameter of a node; `unit` says whether it is in radians."""

    name: str
    unit: str
    low: float
    high: float


class CharacterNode(Value):
    """A node; `of` is the node that it is a sub-range of, or "". `request` says how requests become parameters.

    `stuck`: a dead end, so the character cannot play yet.
    """

    name: str
    of: str
    ranges: tuple[CharacterRange, ...]
    request: str
    seconds: float
    stuck: bool


class CharacterEdge(Value):
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


class Character(Value):
    """The character being edited. `note` comments on the last change; "" for none."""

    name: str
    nodes: tuple[CharacterNode, ...]
    edges: tuple[CharacterEdge, ...]
    note: str = ""


class ShowCharacter(Message, do="author_show"):
    """Get the character being edited, initially empty."""


class RecipeInfo(Value):
    """A built-in recipe."""

    name: str
    about: str
    nodes: tuple[str, ...]


class AuthoredFile(Value):
    """A character or a gaze map in the folder."""

    path: str
    kind: FileKind


class Sources(Value):
    """Sources of characters and gaze maps."""

    recipes: tuple[RecipeInfo, ...]
    files: tuple[AuthoredFile, ...]


class ListSources(Message, do="author_sources"):
    """List the recipes, and the characters and gaze maps in the folder."""


class NewCharacter(Message, do="author_new"):
    """Start a new character. `length` is the transition length in seconds."""

    name: str
    length: float = 1.0 / 3.0


class UseRecipe(Message, do="author_recipe"):
    """Replace the character with a built-in recipe; or, if `nodes` are given, add only these."""

    recipe: str
    nodes: tuple[str, ...] = ()


class AddGait(Message, do="author_add"):
    """Add a node of the gait cycles in open motions; `speed` adds speed as a second parameter besides turn rate."""

    name: str
    motions: tuple[str, ...]
    speed: bool = False
    mirror: bool = True


class AddPart(Message, do="author_part"):
    """Add a sub-range of a node as a new node."""

    name: str
    of: str
    low: tuple[float, ...]
    high: tuple[float, ...]


class RemoveNode(Message, do="author_remove"):
    """Remove a node and its transitions."""

    name: str


class EdgeCommand(Message):
    """A command about the transition between two nodes."""

    source: str
    target: str


class ThresholdCommand(EdgeCommand):
    """A command with the thresholds of a transition, in meters."""

    good: float
    bad: float


class Disconnect(EdgeCommand, do="author_disconnect"):
    """Remove a transition."""


# --- Transitions and their costs


class CompareNodes(EdgeCommand, do="author_compare"):
    """Find the best transition for many pairs of motions, from which to choose thresholds."""

    n_source: int = 60
    n_target: int = 400


class CostChart(Value):
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


class TryEdge(ThresholdCommand, do="author_try"):
    """Preview thresholds, in meters, for compared nodes; `sample` selects the source motion whose box is shown."""

    sample: int = 0


class TriedEdge(Value):
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


class ConnectNodes(ThresholdCommand, do="author_connect"):
    """Connect compared nodes; `part` names the sub-range to connect if not all motions can continue."""

    part: str | None = None


# --- Motions


class MakeMotion(Message, do="author_motion"):
    """Make a motion of a node; it replaces `result` if that is open.

    `merge_undo`: undo it together with the previous change, as while a slider moves.
    """

    node: str
    parameters: tuple[float, ...]
    result: str | None = None
    merge_undo: bool = False


class WalkCharacter(Message, do="author_walk"):
    """Make a random walk of the character."""

    seconds: float = 20.0
    seed: int = 0


class SaveAuthored(Message, do="author_save"):
    """Save the character or the gaze map to the folder as NAME.json."""

    kind: FileKind
    name: str
    replace: bool = False


class SavedAuthored(Value):
    """The saved files."""

    files: tuple[str, ...]


class LoadCharacter(Message, do="author_load"):
    """Load a character from the folder."""

    path: str


# --- Gaze


class GazeExample(Value):
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


class GazeChart(Value):
    """A gaze map: its examples, and the corners of the region it can look at."""

    examples: tuple[GazeExample, ...]
    region: tuple[tuple[float, float], ...]
    note: str = ""


class ShowGaze(Message, do="author_gaze"):
    """Load a gaze map from the folder, or the built-in one; null shows the current one."""

    path: str | None = None
    shipped: bool = False


class AddLook(MotionCommand, do="author_gaze_add"):
    """Add an open motion as an example: at rest, a look at the goal (radians), at rest again."""

    yaw: float
    pitch: float
    start: int | None = None
    stop: int | None = None


class RemoveLook(Message, do="author_gaze_remove"):
    """Remove an example by its index."""

    example: int


class AimGaze(Message, do="author_gaze_aim"):
    """Make an open motion look somewhere (radians) from its middle on, using the current map."""

    yaw: float
    pitch: float
    motion: str
    result: str | None = None


class AimedGaze(Value):
    """The resulting motion; `note` is a comment, "" for none."""

    motion: MotionInfo
    note: str


class GazeCosts(Message, do="author_gaze_costs"):
    """Compute the leave-one-out error of each example."""
