"""Messages of the Characters panel: characters, their nodes and transitions, and examples of a gaze map."""

from __future__ import annotations

from typing import Literal

from marey.control.settings import SampleSettings
from marey.layer.settings import GazeExampleSettings
from marey.pmg.settings import CompareSettings, GaitSettings, SeamSettings, StreamSettings
from marey.studio.messages import Download, Message, MotionCommand, MotionInfo, Value

FileKind = Literal["character", "gaze"]


# --- Characters


class CharacterRange(Value):
    """The range of one parameter of a node, in `unit`."""

    name: str
    unit: str
    low: float
    high: float


class CharacterNode(Value):
    """A node. If it is a sub-range of another node, `of` is that node's name, otherwise "".

    `request` is the name of the function that converts requests to parameters. `seconds` is the duration of the motion
    in the middle of the range. `stuck`: the node is a dead end, so the character cannot play yet.
    """

    name: str
    of: str
    ranges: tuple[CharacterRange, ...]
    request: str
    seconds: float
    stuck: bool


class CharacterEdge(Value):
    """A transition between two nodes: its thresholds and costs, in meters.

    `median` is the median cost. `worst` is the highest cost that any source motion has for its best transition.
    `reachable` is the average fraction of the target's range, by volume, that can follow a source motion. `samples` is
    the number of source samples.
    """

    source: str
    target: str
    good: float
    bad: float
    median: float
    worst: float
    reachable: float
    samples: int


class Character(Value):
    """The character being edited. `version` is its number among the states that can be restored.

    `note` comments on the last change; "" for none.
    """

    name: str
    nodes: tuple[CharacterNode, ...]
    edges: tuple[CharacterEdge, ...]
    version: int
    note: str = ""


class ShowCharacter(Message, do="author_show"):
    """Get the character being edited, initially empty."""


class RestoreCharacter(Message, do="author_restore"):
    """Restore an earlier or later state of the character, to undo or redo a change."""

    version: int


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
    """The available recipes, characters and gaze maps.

    `spaces` are the paths of target controls that were saved in Find, `recipe_files` those of recipes in the folder.
    """

    recipes: tuple[RecipeInfo, ...]
    files: tuple[AuthoredFile, ...]
    spaces: tuple[str, ...]
    recipe_files: tuple[str, ...]


class ListSources(Message, do="author_sources"):
    """List the recipes, and the characters and gaze maps in the folder."""


class NewCharacter(Message, do="author_new"):
    """Start a new character. The settings are those of all its transitions."""

    name: str
    settings: SeamSettings = SeamSettings()


class UseRecipe(Message, do="author_recipe"):
    """Replace the character with a built-in recipe; if `nodes` are given, only add these nodes instead."""

    recipe: str
    nodes: tuple[str, ...] = ()


class AddGait(Message, do="author_add"):
    """Add a node built from the gait cycles in open motions. Its parameter is the turn rate.

    `speed` adds speed as a second parameter.
    """

    name: str
    motions: tuple[str, ...]
    speed: bool = False
    settings: GaitSettings = GaitSettings()


class AddAction(Message, do="author_action"):
    """Add a node of single actions, such as punches.

    The actions are open motions, each from its first frame to its last, with a `feature` as in `marey parametric
    build`; or a target control that was saved in Find, at `path` in the folder. With `at_point`, the three parameters
    are a position, and the action can be aimed at a point. Target controls of a joint can always be aimed at a point.
    """

    name: str
    motions: tuple[str, ...] = ()
    feature: str = ""
    path: str = ""
    at_point: bool = False


class OpenRecipe(Message, do="author_open_recipe"):
    """Build the character of a recipe in the folder."""

    path: str


class SaveRecipe(Message, do="author_save_recipe"):
    """Save the character's recipe as NAME.toml for editing. `replace` allows overwriting."""

    name: str
    replace: bool = False


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
    """Find the best transition for many pairs of sampled motions, as a basis for choosing thresholds."""

    settings: CompareSettings = CompareSettings()


class CostChart(Value):
    """Histogram of transition costs: `counts` in equal bins from 0 to `top` meters.

    `best` are the sorted costs (m) of the best transition from each source sample. If `good` is below the largest, some
    source motions cannot continue. `good` and `bad` are the default thresholds, in meters.
    """

    source: str
    target: str
    top: float
    counts: tuple[int, ...]
    best: tuple[float, ...]
    good: float
    bad: float


class TryEdge(ThresholdCommand, do="author_try"):
    """Preview thresholds for compared nodes. `sample` is the index of the source sample whose box is shown."""

    sample: int = 0


class TriedEdge(Value):
    """A preview of thresholds: fractions of accepted and rejected pairs of samples, and details of one source sample.

    `stuck` is the number of source samples without a transition, which `note` describes. `sample` is the number of the
    source sample in detail and `at` its parameters. `points` are the parameters of all target samples, and `costs` (m)
    the costs of transitions to them. `low` and `high` bound the target parameters that can follow; null if none can.
    Units are those of the nodes.
    """

    accepted: float
    rejected: float
    stuck: int
    note: str
    sample: int
    at: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    costs: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None


class ConnectNodes(ThresholdCommand, do="author_connect"):
    """Connect compared nodes. If some motions cannot continue, connect a sub-range as a new node named `part`."""

    part: str | None = None


# --- Motions


class MakeMotion(Message, do="author_motion"):
    """Generate a motion of a node. It replaces the motion with id `result` if that is open.

    `merge_undo`: undo it together with the previous change, for example while a slider is dragged.
    """

    node: str
    parameters: tuple[float, ...]
    result: str | None = None
    merge_undo: bool = False


class WalkCharacter(Message, do="author_walk"):
    """Generate a random walk of the character."""

    seconds: float = 20.0
    seed: int = 0
    settings: StreamSettings = StreamSettings()


class SaveAuthored(Message, do="author_save"):
    """Save the character or the gaze map to the folder as NAME.json. `replace` allows overwriting."""

    kind: FileKind
    name: str
    replace: bool = False


class SavedAuthored(Value):
    """The names of the saved files."""

    files: tuple[str, ...]


class ExportCharacter(Message, do="author_export"):
    """Export the character for use without marey: as a page to drive it, or as clips with a transition table."""

    format: Literal["html", "glb"] = "html"
    name: str = "character"
    settings: SampleSettings = SampleSettings()


class ExportedCharacter(Value):
    """The files to download, and the number of clips in them."""

    files: tuple[Download, ...]
    clips: int


class LoadCharacter(Message, do="author_load"):
    """Load a character from the folder."""

    path: str


# --- Gaze


class GazeExample(Value):
    """An example of a gaze map: gaze direction (radians), duration (s), rotation of the eyes in the head (radians).

    `cost` is the leave-one-out error in radians: the angle between the head in this example and the head that a map of
    all other examples gives for it. It is null if it was not computed, or if the others are too few for a map. An
    example with a high cost is either important or does not fit the others.
    """

    name: str
    yaw: float
    pitch: float
    seconds: float
    eyes: float
    cost: float | None


class GazeChart(Value):
    """A gaze map: its examples, and the corners (yaw, pitch) of the region it can look at, in radians."""

    examples: tuple[GazeExample, ...]
    region: tuple[tuple[float, float], ...]
    note: str = ""


class ShowGaze(Message, do="author_gaze"):
    """Show a gaze map: the file at `path`, the built-in map if `shipped`, otherwise the current one."""

    path: str | None = None
    shipped: bool = False


class AddLook(
    MotionCommand,
    do="author_gaze_add",
    remedies={"start": "mark the look on the timeline, or record a pause before and after it"},
):
    """Add an open motion as an example: it starts at rest, turns to look at the target (radians), and rests there."""

    yaw: float
    pitch: float
    settings: GazeExampleSettings = GazeExampleSettings()


class RemoveLook(Message, do="author_gaze_remove"):
    """Remove the example with the index `example`."""

    example: int


class AimGaze(Message, do="author_gaze_aim"):
    """Make an open motion look in a direction (radians), starting at the middle of the motion, with the current map."""

    yaw: float
    pitch: float
    motion: str
    result: str | None = None


class AimedGaze(Value):
    """The resulting motion. `note` has the warnings; "" if there are none."""

    motion: MotionInfo
    note: str


class GazeCosts(Message, do="author_gaze_costs"):
    """Compute the leave-one-out error of each example."""
