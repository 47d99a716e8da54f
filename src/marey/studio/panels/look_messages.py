"""Messages of the View panel."""

from __future__ import annotations

from typing import Literal

from marey.studio.messages import Download, LabelSpan, Message, MotionCommand, MotionInfo, SpanCommand, Value, Where

CurveKind = Literal["travel", "speed", "position", "rotation", "contact_heights", "contact_speeds"]
ExportFormat = Literal["bvh", "glb", "npz"]


class ListFolder(Message, do="list"):
    """List the motion files of the open folder without loading them."""


class OpenFile(Message, do="open"):
    """Load a file from the folder or the uploads; `clip` selects a clip of a GLB file."""

    path: str
    where: Where = "folder"
    clip: str | None = None


class GetMotion(MotionCommand, do="motion"):
    """Describe a motion, without its frames."""


class GetFrames(SpanCommand, do="frames"):
    """Get frames `start` to `stop`, half-open, as one binary message; at most `block_frames` of the welcome."""


class GetCurves(MotionCommand, do="curves"):
    """Get curves over time; `joint` is used for position and rotation."""

    curve: CurveKind
    joint: int = 0


class GetCloud(MotionCommand, do="cloud"):
    """Get the point cloud around a frame."""

    frame: int
    window: float = 0.5


class CloseMotion(MotionCommand, do="close"):
    """Close a motion."""


class DetectContacts(MotionCommand, do="detect_contacts"):
    """Detect the floor and contacts; `floor` is its height in meters if known."""

    hands: bool = False
    floor: float | None = None


class LaneEdit(Value):
    """All intervals of one contact point."""

    name: str
    intervals: tuple[tuple[int, int], ...]


class SetContacts(MotionCommand, do="set_contacts"):
    """Set edited contacts; other points keep theirs. A motion without contacts gets the default points."""

    lanes: tuple[LaneEdit, ...]


class SetLabels(MotionCommand, do="set_labels"):
    """Set all labels."""

    labels: tuple[LabelSpan, ...]


class SaveSidecar(MotionCommand, do="save_sidecar"):
    """Save contacts and labels to the sidecar of the motion's file."""


class Saved(Value):
    """The saved file and the current motion; for an uploaded file, `url` is the download address."""

    path: str
    url: str | None
    motion: MotionInfo


class Undo(MotionCommand, do="undo"):
    """Undo the last change to a motion."""


class Redo(MotionCommand, do="redo"):
    """Redo the last undone change."""


class Export(Message, do="export"):
    """Prepare a file for download; several motions go into one GLB. `name` has no suffix."""

    motions: tuple[str, ...]
    format: ExportFormat
    name: str


class Exported(Download):
    """The download address, which needs the page's cookie.

    `sidecar` is the address of its contacts, labels and floor, which no format stores; null if it has none.
    """

    sidecar: str | None
    sidecar_name: str


class SaveInFolder(MotionCommand, do="save_in_folder"):
    """Save a motion and its sidecar to the open folder; `name` has no suffix. Never overwrites files."""

    format: ExportFormat
    name: str


class SavedInFolder(Value):
    """The file's path in the folder, or null if the name is taken; `free` is a free name."""

    path: str | None
    free: str


class FreeName(Message, do="free_name"):
    """Get a similar name that no motion in the open folder has."""

    name: str


class NameFound(Value):
    """The name without suffix."""

    name: str
