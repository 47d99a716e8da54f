"""Messages of the View panel."""

from __future__ import annotations

from typing import Literal

from marey.clean.settings import ContactSettings
from marey.io.settings import LoadSettings
from marey.studio.messages import LabelSpan, Message, MotionCommand, MotionInfo, SpanCommand, Value, Where

CurveKind = Literal["travel", "speed", "position", "rotation", "contact_heights", "contact_speeds"]


class ListFolder(Message, do="list"):
    """List the motion files in the open folder, without loading them."""


class OpenFile(
    Message,
    do="open",
    remedies={"skeleton": "drop the .asf file together with the .amc file, or put it into the same folder"},
):
    """Load a file from the folder or the uploads, at its own rate."""

    path: str
    where: Where = "folder"
    settings: LoadSettings = LoadSettings()


class GetMotion(MotionCommand, do="motion"):
    """Describe a motion, without its frames."""


class GetFrames(SpanCommand, do="frames"):
    """Get frames `start` to `stop`, half-open, as one binary message; at most `Welcome.block_frames` frames.

    `step` is the number of a step of the motion's history; null is the current one.
    """

    step: int | None = None


class GetCurves(MotionCommand, do="curves"):
    """Get curves over time. `joint` is a joint index, used only for position and rotation."""

    curve: CurveKind
    joint: int = 0


class GetCloud(MotionCommand, do="cloud"):
    """Get the point cloud of `window` seconds centered on a frame."""

    frame: int
    window: float = 0.5


class CloseMotion(MotionCommand, do="close"):
    """Close a motion."""


class DetectContacts(MotionCommand, do="detect_contacts"):
    """Detect the floor and the contacts of the feet and, if set, of the hands."""

    settings: ContactSettings = ContactSettings()


class LaneEdit(Value):
    """All contact intervals of one contact point, as half-open frame ranges."""

    name: str
    intervals: tuple[tuple[int, int], ...]


class SetContacts(MotionCommand, do="set_contacts"):
    """Set the contacts of some points; other points stay unchanged. A motion without contacts gets default points."""

    lanes: tuple[LaneEdit, ...]


class SetLabels(MotionCommand, do="set_labels"):
    """Replace all labels of a motion. `merge_undo` merges with an edit of labels before: both are undone together."""

    labels: tuple[LabelSpan, ...]
    merge_undo: bool = False


class Reopen(MotionCommand, do="reopen"):
    """Open a motion again that was just closed."""


class SaveMotion(MotionCommand, do="save"):
    """Save a motion. If only contacts and labels have changed, they go to the sidecar of its file.

    Otherwise the motion is saved to the open folder, with a sidecar: to a new file, or to the one to which it was saved
    before. Other files are never overwritten.
    """


class Saved(Value):
    """The name of the saved file or sidecar, and the motion. For an uploaded file, `url` is the sidecar's address."""

    path: str
    url: str | None
    motion: MotionInfo


class Undo(MotionCommand, do="undo"):
    """Undo the last change to a motion."""


class Redo(MotionCommand, do="redo"):
    """Redo the last undone change."""
