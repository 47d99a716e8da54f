"""Messages of the View panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import LabelSpan, Message, MotionInfo, Where

CurveKind = Literal["travel", "speed", "position", "rotation", "contact_heights", "contact_speeds"]
ExportFormat = Literal["bvh", "glb", "npz"]


@dataclass(frozen=True, slots=True)
class ListFolder(Message):
    """List the motion files of the open folder without loading them."""

    do: ClassVar[str] = "list"


@dataclass(frozen=True, slots=True)
class OpenFile(Message):
    """Load a file from the folder or the uploads; `clip` selects a clip of a GLB file."""

    do: ClassVar[str] = "open"
    path: str
    where: Where = "folder"
    clip: str | None = None


@dataclass(frozen=True, slots=True)
class GetMotion(Message):
    """Describe a motion, without its frames."""

    do: ClassVar[str] = "motion"
    motion: str


@dataclass(frozen=True, slots=True)
class GetFrames(Message):
    """Get frames `start` to `stop`, half-open, as one binary message; at most `block_frames` of the welcome."""

    do: ClassVar[str] = "frames"
    motion: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class GetCurves(Message):
    """Get curves over time; `joint` is used for position and rotation."""

    do: ClassVar[str] = "curves"
    motion: str
    curve: CurveKind
    joint: int = 0


@dataclass(frozen=True, slots=True)
class GetCloud(Message):
    """Get the point cloud around a frame."""

    do: ClassVar[str] = "cloud"
    motion: str
    frame: int
    window: float = 0.5


@dataclass(frozen=True, slots=True)
class CloseMotion(Message):
    """Close a motion."""

    do: ClassVar[str] = "close"
    motion: str


@dataclass(frozen=True, slots=True)
class DetectContacts(Message):
    """Detect the floor and contacts; `floor` is its height in meters if known."""

    do: ClassVar[str] = "detect_contacts"
    motion: str
    hands: bool = False
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class LaneEdit:
    """All intervals of one contact point."""

    name: str
    intervals: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SetContacts(Message):
    """Set edited contacts; other points keep theirs. A motion without contacts gets the default points."""

    do: ClassVar[str] = "set_contacts"
    motion: str
    lanes: tuple[LaneEdit, ...]


@dataclass(frozen=True, slots=True)
class SetLabels(Message):
    """Set all labels."""

    do: ClassVar[str] = "set_labels"
    motion: str
    labels: tuple[LabelSpan, ...]


@dataclass(frozen=True, slots=True)
class SaveSidecar(Message):
    """Save contacts and labels to the sidecar of the motion's file."""

    do: ClassVar[str] = "save_sidecar"
    motion: str


@dataclass(frozen=True, slots=True)
class Saved:
    """The saved file and the current motion; for an uploaded file, `url` is the download address."""

    path: str
    url: str | None
    motion: MotionInfo


@dataclass(frozen=True, slots=True)
class Undo(Message):
    """Undo the last change to a motion."""

    do: ClassVar[str] = "undo"
    motion: str


@dataclass(frozen=True, slots=True)
class Redo(Message):
    """Redo the last undone change."""

    do: ClassVar[str] = "redo"
    motion: str


@dataclass(frozen=True, slots=True)
class Export(Message):
    """Prepare a file for download; several motions go into one GLB. `name` has no suffix."""

    do: ClassVar[str] = "export"
    motions: tuple[str, ...]
    format: ExportFormat
    name: str


@dataclass(frozen=True, slots=True)
class Exported:
    """The download address, which needs the page's cookie.

    `sidecar` is the address of its contacts, labels and floor, which no format stores; null if it has none.
    """

    url: str
    name: str
    size: int
    sidecar: str | None
    sidecar_name: str


@dataclass(frozen=True, slots=True)
class SaveInFolder(Message):
    """Save a motion and its sidecar to the open folder; `name` has no suffix. Never overwrites files."""

    do: ClassVar[str] = "save_in_folder"
    motion: str
    format: ExportFormat
    name: str


@dataclass(frozen=True, slots=True)
class SavedInFolder:
    """The file's path in the folder, or null if the name is taken; `free` is a free name."""

    path: str | None
    free: str


@dataclass(frozen=True, slots=True)
class FreeName(Message):
    """Get a similar name that no motion in the open folder has."""

    do: ClassVar[str] = "free_name"
    name: str


@dataclass(frozen=True, slots=True)
class NameFound:
    """The name without suffix."""

    name: str
