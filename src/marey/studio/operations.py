"""The operations that the page offers with a generated form: one table.

Each row names the function that runs, its settings, the data that it takes and what it gives. The page draws the form
(`web/src/widgets/operations.ts`), one command runs all of them (`marey.studio.panels.edit`), and the worker calls the
function (`marey.studio.operation_work`). To add an operation, add a row.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from marey.check.settings import CheckSettings
from marey.clean.settings import CleanSettings
from marey.compare.settings import GridSettings
from marey.control.settings import EvaluationSettings
from marey.core.joint_limits import JointLimitSettings
from marey.core.resample import ResampleSettings
from marey.core.settings import Settings, option, options_of
from marey.edit import settings as edits
from marey.graph.settings import (
    GraphCrowdSettings,
    GraphReachSettings,
    GraphSearchSettings,
    LandingSettings,
    ReductionSettings,
    RegisteredSettings,
    SimilaritySettings,
    VariationSettings,
)
from marey.io.settings import SaveSettings, SolveSettings
from marey.layer.settings import GazeMapSettings, SpliceSettings, TransplantSettings
from marey.pmg.settings import ActionSettings, NodeSettings
from marey.store.settings import OpenSettings
from marey.store.summary import ClipSearchSettings
from marey.studio.render_settings import RenderSettings

# What an operation takes. "motion": the selected motion; "recording": the same, or markers; "other": another open
# motion or a file; "motions": open motions; "frame": the playhead; "range": start and end of the marked frames, "span"
# the same if there are any; "points": a path drawn on the floor; "curve": points of a curve over time; "graph": a
# motion graph; "folder": the open folder; "file": a file of positions of joints or markers; "space": a saved target
# control; "against": another open motion, or none.
Take = Literal[
    "motion",
    "recording",
    "other",
    "motions",
    "frame",
    "range",
    "span",
    "points",
    "curve",
    "graph",
    "folder",
    "file",
    "space",
    "against",
]
# What it gives. "motion": a changed motion, which replaces the selected one or is a new one; "new": new motions, a file
# or a report.
Gives = Literal["motion", "new"]


class Inputs(Settings):
    """Base class of the values that a function takes besides data and settings, in the order of its parameters."""


class ResampleInputs(Inputs):
    """The rate of the result."""

    fps: float = option(30.0, "Frames per second of the result.", label="Frame rate", unit="1/s", above=0, max=1000)


class SpeedInputs(Inputs):
    """A constant speed."""

    speed: float = option(
        1.5, "Speed of the marked range, or of the entire clip: 2 is twice as fast.", label="Speed", min=0.1, max=5
    )


class TimewarpInputs(Inputs):
    """Keys of a timewarp."""

    keys: str = option(
        "", "Times in seconds, each with its new time, such as 1.0=1.4, 1.6=2.0. Between them, time runs smoothly.",
        label="Time keys",
    )  # fmt: skip


class MoveInputs(Inputs):
    """A displacement of a hand, a foot or the hips."""

    part: Literal["hips", "left_hand", "right_hand", "left_foot", "right_foot"] = option(
        "hips", "What is moved at the playhead.", label="Move"
    )
    left: float = option(0.0, "Meters to the left; negative is to the right.", unit="m", min=-1, max=1)
    up: float = option(0.0, "Meters upward; negative is downward.", unit="m", min=-1, max=1)
    forward: float = option(0.0, "Meters forward; negative is backward.", unit="m", min=-1, max=1)
    axes: Literal["body", "world"] = option(
        "body", "Axes of the offset: those of the body at the playhead, or the world's x, y and z.", advanced=True
    )
    hold: float = option(0.0, "How long the offset is held.", unit="s", min=0, max=60)


class RotateInputs(Inputs):
    """A rotation of a joint."""

    joint: str = option("spine", "The joint that is rotated at the playhead, or its role, such as head.")
    bend: float = option(
        0.0, "Rotation about the axis to the body's left: forward is positive.", unit="rad", min=-math.pi, max=math.pi
    )
    twist: float = option(
        0.0, "Rotation about the vertical axis: to the left is positive.", unit="rad", min=-math.pi, max=math.pi
    )
    lean: float = option(
        0.0, "Rotation about the axis that points forward: to the right is positive.", unit="rad", min=-math.pi,
        max=math.pi,
    )  # fmt: skip
    axes: Literal["body", "world", "joint"] = option(
        "body", "Axes of the rotation: the body's (left, up, forward), the world's, or the joint's own.", advanced=True
    )
    hold: float = option(0.0, "How long the rotation is held.", unit="s", min=0, max=60)


class SaveInputs(Inputs):
    """Where a motion is saved."""

    format: Literal["glb", "fbx", "bvh", "npz", "usda"] = option("glb", "Format of the file.")
    name: str = option("", "Name of the file without its suffix. Empty takes the name of the clip.")
    target: Literal["folder", "download"] = option(
        "folder", "Save to the open folder, with contacts and labels in a sidecar file, or download the motion alone. "
        "Existing files are never overwritten.", label="Save to",
    )  # fmt: skip


class RenderInputs(Inputs):
    """The format of a video or image."""

    format: Literal["gif", "mp4", "webp", "png"] = option(
        "gif", "An animation, or a still image (png) of the frame at the playhead."
    )


class GridInputs(Inputs):
    """Which pairs of frames are listed."""

    threshold: float | None = option(
        None, "List only pairs of frames up to this distance.", label="Max distance", unit="m", above=0
    )


class PlaceInputs(Inputs):
    """A position on the floor."""

    x: float = option(2.0, "Position on the floor.", unit="m")
    z: float = option(4.0, "Position on the floor.", unit="m")


class SearchInputs(PlaceInputs):
    """The objective of a search."""

    objective: Literal["point", "clip", "path", "speed", "style"] = option(
        "point", "What the walk should do: go to a point, enter a clip at a point, follow the drawn path, or keep a "
        "speed or a style (a label).", label="Objective",
    )  # fmt: skip
    style: str = option("", "Name of the clip or label, if the objective is a clip or a style.", label="Clip or style")
    angle: float = option(
        0.0,
        "Direction of the clip's first frame, to the left of +Z, if the objective is a clip.",
        unit="rad",
        label="Direction",
    )
    speed: float = option(1.2, "Speed to keep, if the objective is a speed.", unit="m/s", min=0)
    seconds: float = option(
        4.0,
        "Duration of the walk, if the objective is a speed or a style.",
        unit="s",
        above=0,
        max=600,
        label="Duration",
    )
    max_error: float | None = option(
        None, "Accepted distance from the position, if the objective is a point or a clip.", unit="m", min=0
    )
    min_step: float = option(
        0.01,
        "If the objective is a path: each frame counts as at least this much progress, so standing still does not pay.",
        unit="m",
        min=0,
        advanced=True,
    )


class PartInputs(Inputs):
    """Inputs of operations on a body part."""

    part: Literal["upper_body", "arms", "left_arm", "right_arm", "head"] = option(
        "arms", "The body part that is taken from the other clip.", label="Body part"
    )


class CrowdInputs(Inputs):
    """Paths of a crowd."""

    characters: int = option(6, "Number of characters, which cross a circle.", min=1, max=50)
    radius: float = option(5.0, "Radius of the circle.", unit="m", above=0, max=100)


class VariationInputs(Inputs):
    """How many variations are made."""

    n: int = option(2, "Number of blends of the clips, each with random weights.", label="Variations", min=1, max=50)


class NodeInputs(Inputs):
    """A new node of a character."""

    name: str = option("action", "Name of the new node.")
    request: Literal["by name", "at a point"] = option(
        "by name", "How the node is controlled: by the values of its parameters, or by a target point.",
        label="Control",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the page.

    Attributes
    ----------
    name, title, about : name on the wire, name on the page, and one sentence.
    panel, group : the panel that shows it, and its group there.
    call : ``module:function``, called as ``function(*data, *inputs, settings=...)``; functions with several classes of
        settings get a tuple. Functions of `marey.studio.panels.edit_server` run in the server, with the session first.
    settings : the classes of its options; `Inputs` first.
    takes, gives : see `Take` and `Gives`.
    done : name of the change in the motion's undo history.
    skip : options that the page sets itself. `start` and `stop` are the marked range.
    as_new : whether the result is a new motion unless the user chooses otherwise.
    remedies : what to do on the page about errors; see `marey.studio.messages.Message`.
    """

    name: str
    title: str
    about: str
    panel: str
    group: str
    call: str
    settings: tuple[type[Settings], ...] = ()
    takes: tuple[Take, ...] = ("motion",)
    gives: Gives = "motion"
    done: str = ""
    button: str = "Apply"
    skip: tuple[str, ...] = ()
    as_new: bool = False
    remedies: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_server(self) -> bool:
        """Whether the function runs in the server instead of the worker."""
        return self.call.startswith("marey.studio.panels.edit_server:")

    def find_function(self) -> Callable[..., Any]:
        """Return the function that `call` names as ``module:function``."""
        module, _, name = self.call.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function

    def call_function(
        self,
        data: list[Any],
        values: Mapping[str, Any],
        progress: Callable[[float, str], None] | None = None,
        first: tuple[Any, ...] = (),
    ) -> Any:
        """Call the function with `first`, then data in the order of `takes`, and with values of its options."""
        made = [self._make_settings(kind, values, progress) for kind in self.settings]
        inputs = [
            getattr(each, one.name) for each in made if isinstance(each, Inputs) for one in options_of(type(each))
        ]
        others = [each for each in made if not isinstance(each, Inputs)]
        given = {"settings": others[0] if len(others) == 1 else tuple(others)} if others else {}
        # A range is two parameters.
        parts = [
            part for take, each in zip(self.takes, data, strict=True) for part in (each if take == "range" else [each])
        ]
        return self.find_function()(*first, *parts, *inputs, **given)

    def _make_settings(
        self, kind: type[Settings], values: Mapping[str, Any], progress: Callable[[float, str], None] | None
    ) -> Settings:
        known = {each.name: each for each in options_of(kind)}
        own = {name: value for name, value in values.items() if name in known}
        if progress is not None and "progress" in known:
            own["progress"] = lambda fraction: progress(fraction, self.title)
        return kind(**own)


_EDIT, _WORK, _SERVER = "marey.edit:", "marey.studio.operation_work:", "marey.studio.panels.edit_server:"
_GRAPH: Any = {"panel": "graph", "group": "Graph", "takes": ("graph",), "gives": "new", "button": "Run"}
_NEW: Any = {"panel": "edit", "gives": "new", "button": "Run"}

_TABLE = (
    # Length and timing
    Operation("trim", "Trim", "Keep only the marked range (keys I and O).", "edit", "Time", f"{_EDIT}crop",
              takes=("motion", "range"), done="trimmed"),
    Operation("split", "Split", "Cut the clip in two at the playhead.", "edit", "Time", f"{_WORK}split",
              takes=("motion", "frame"), gives="new"),
    Operation("loop", "Loop", "Make the clip repeat without a jump: the marked range, or the part that loops best.",
              "edit", "Time", f"{_EDIT}cycle", (edits.CycleSettings,), done="looped", skip=("start", "stop")),
    Operation("speed", "Speed", "Play the marked range, or the entire clip, faster or slower.", "edit", "Time",
              f"{_WORK}change_speed", (SpeedInputs,), takes=("motion", "span"), done="speed changed"),
    Operation("speed_curve", "Speed curve", "Draw how fast the clip plays over time.", "edit", "Time",
              f"{_WORK}follow_speed_curve", takes=("motion", "curve"), done="speed curve applied"),
    Operation("timewarp", "Timewarp", "Move events to other times.", "edit", "Time", f"{_WORK}timewarp",
              (TimewarpInputs,), done="timing changed"),
    Operation("resample", "Resample", "Change the frame rate.", "edit", "Time", "marey.core.resample:resample",
              (ResampleInputs, ResampleSettings), done="resampled"),
    Operation("connect", "Append", "Append another clip and fill the gap.", "edit", "Time", f"{_EDIT}connect",
              (edits.ConnectSettings,), takes=("motion", "other"), done="clip appended"),
    # Path, pose and skeleton
    Operation("mirror", "Mirror", "Swap left and right.", "edit", "Pose", f"{_EDIT}mirror", done="mirrored"),
    Operation("move", "Move", "Move a hand, a foot or the hips at the playhead, with ease in and out.", "edit", "Pose",
              f"{_WORK}move_part", (MoveInputs, edits.WarpSettings), takes=("motion", "frame"), done="pose changed"),
    Operation("rotate", "Rotate", "Rotate a joint at the playhead, with ease in and out.", "edit", "Pose",
              f"{_WORK}rotate_joint", (RotateInputs, edits.WarpSettings), takes=("motion", "frame"),
              done="pose changed"),
    Operation("path", "Path", "Bend the path of the clip.", "edit", "Pose",
              f"{_EDIT}edit_path", (edits.EditPathSettings,), takes=("motion", "points"), done="path changed"),
    Operation("in_place", "In place", "Keep the hips over the origin, as games need it, or only start there.", "edit",
              "Pose", f"{_EDIT}make_in_place", (edits.InPlaceSettings,), done="in place"),
    Operation("retarget", "Retarget", "Transfer the motion to another body.", "edit", "Pose", f"{_EDIT}retarget",
              (edits.RetargetSettings,), takes=("motion", "other"), done="retargeted"),
    # Repair
    Operation("check", "Check", "Find errors and suspicious parts of the clip, and how to fix them.", "edit", "Repair",
              f"{_SERVER}check_recording", (CheckSettings,), takes=("recording",), gives="new", button="Check"),
    Operation("repair", "Repair", "Trim or interpolate broken frames, and rotate flipped joints back.", "edit",
              "Repair", f"{_EDIT}repair", (edits.RepairSettings,), done="repaired"),
    Operation("smooth", "Smooth", "Remove noise without softening contacts and fast actions.", "edit", "Repair",
              f"{_EDIT}smooth", (edits.SmoothSettings,), done="smoothed"),
    Operation("level", "Level", "Rotate a tilted capture upright, and remove a slow drift of the floor.", "edit",
              "Repair", f"{_EDIT}level", done="leveled"),
    Operation("deseam", "Remove jump", "Fade out a jump. Put the playhead on the first frame after it.", "edit",
              "Repair", f"{_EDIT}deseam", (edits.DeseamSettings,), takes=("motion", "frame"), done="jump removed"),
    Operation("limits", "Check joint limits", "Learn from clips how far each joint bends, and list where the selected "
              "clip exceeds this.", group="Repair", call=f"{_WORK}learn_limits", settings=(JointLimitSettings,),
              takes=("motion", "motions"), **_NEW),
    Operation("limit", "Apply joint limits", "Keep joints within the limits learned from other clips, with the feet at "
              "their contacts.", "edit", "Repair", f"{_WORK}limit_joints", (JointLimitSettings, CleanSettings),
              takes=("motion", "motions"), skip=("joint_limits",), done="joints limited"),
    # Files
    Operation("save", "Save as", "Save the selected clip to a new file, in any format.", "edit", "Files",
              f"{_SERVER}save_motion", (SaveInputs, SaveSettings), gives="new", button="Save"),
    Operation("render", "Video", "Draw the selected clip as a video, a GIF or an image.", "edit", "Files",
              f"{_WORK}render_motion", (RenderInputs, RenderSettings), takes=("motion", "frame", "span"),
              gives="new", button="Render"),
    Operation("library", "Search", "Search the open folder by words, duration, speed and findings.", "edit", "Files",
              f"{_WORK}search_library", (ClipSearchSettings,), takes=("folder",), gives="new", button="Search"),
    Operation("open_all", "Open all", "Open all clips of the folder at one frame rate.", "edit", "Files",
              f"{_WORK}open_folder", (OpenSettings,), takes=("folder",), gives="new", button="Open"),
    Operation("solve", "Solve", "Fit a skeleton to positions of joints or markers (NPY, TRC, C3D).", "edit", "Files",
              f"{_WORK}solve_positions", (SolveSettings,), takes=("file",), gives="new", button="Solve"),
    # Other panels
    Operation("clean", "Foot cleanup", "Remove foot sliding: lock the feet to their contacts.", "compare",
              "Clean up", f"{_WORK}clean_motion", (CleanSettings,), done="cleaned", button="Clean up", as_new=True),
    Operation("measure", "Measure quality", "Compare the quality metrics of two clips.", "", "",
              f"{_WORK}measure_motions", takes=("motion", "against"), gives="new"),
    Operation("splice", "Upper body, in sync", "Put the upper body of another clip on the selected one, aligned in "
              "time with its steps.", "layer", "Combine", f"{_WORK}splice_bodies", (SpliceSettings,),
              takes=("motion", "other"), gives="new", button="Combine",
              remedies={"upper": "choose a longer clip", "NotBlendable": "choose “Body part”"}),
    Operation("transplant", "Body part", "Put a body part of another clip on the selected one, with its own timing.",
              "layer", "Combine", f"{_WORK}transplant_part", (PartInputs, TransplantSettings),
              takes=("motion", "other"), gives="new", button="Combine"),
    Operation("grid", "Frame similarity", "Compare all frames of two clips, and list where they are most similar.",
              "compare", "Compare", f"{_WORK}compare_frames", (GridInputs, GridSettings), takes=("motion", "other"),
              gives="new", button="Compare frames"),
    Operation("graph_reach", "Go to a point", "Walk from the origin to a position, and end there exactly.",
              call=f"{_WORK}reach_point", settings=(PlaceInputs, GraphReachSettings, LandingSettings), **_GRAPH),
    Operation("graph_search", "Search", "Find the walk that meets an objective best, by branch and bound.",
              call=f"{_WORK}search_graph", settings=(SearchInputs, GraphSearchSettings),
              **{**_GRAPH, "takes": ("graph", "points")}),
    Operation("graph_crowd", "Crowd", "Many characters that avoid each other.",
              call=f"{_WORK}make_crowd", settings=(CrowdInputs, GraphCrowdSettings), **_GRAPH),
    Operation("graph_reduce", "Reduce", "Remove transitions that the graph does not need.",
              call=f"{_WORK}reduce_graph", settings=(ReductionSettings,), **_GRAPH),
    Operation("graph_register", "Add transitions", "Add longer transitions, aligned in time, where plain ones fail.",
              call=f"{_WORK}register_graph", settings=(RegisteredSettings,), **_GRAPH),
    Operation("graph_similarity", "Build by similarity", "Build a graph by the similarity of poses, velocities and "
              "accelerations instead of by distance.", call=f"{_WORK}build_by_similarity",
              settings=(SimilaritySettings,), **{**_GRAPH, "takes": ("motions",)}),
    Operation("graph_evaluate", "Measure response", "Measure how fast and how well a live character of the graph "
              "responds.", call=f"{_WORK}evaluate_graph", settings=(EvaluationSettings,), **_GRAPH),
    Operation("variations", "Variations", "Blend takes of one action with random weights.",
              call=f"{_WORK}make_variations", settings=(VariationInputs, VariationSettings),
              **{**_GRAPH, "takes": ("motions",)}),
    Operation("gaze_map", "Gaze map settings", "Build the gaze map again from its examples, with these settings.",
              "author", "Gaze map", f"{_SERVER}rebuild_gaze_map", (GazeMapSettings,), takes=(), gives="new",
              button="Rebuild"),
    Operation("add_node", "Add a node from a target control", "Add an action that was saved in the Find panel.",
              "author", "Node", f"{_SERVER}add_node", (NodeInputs, ActionSettings, NodeSettings), takes=("space",),
              gives="new", button="Add node"),
)  # fmt: skip

OPERATIONS: Mapping[str, Operation] = {each.name: each for each in _TABLE}
