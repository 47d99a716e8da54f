"""What the panel Look says and is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from marey.studio.messages import LabelSpan, Message, MotionInfo, Where

CurveKind = Literal["travel", "speed", "position", "rotation", "contact_heights", "contact_speeds"]
ExportFormat = Literal["bvh", "glb", "npz"]


@dataclass(frozen=True, slots=True)
class ListFolder(Message):
    """The motion files of the opened folder, none of which is loaded for it."""

    do: ClassVar[str] = "list"


@dataclass(frozen=True, slots=True)
class OpenFile(Message):
    """Load a file of the folder, or one that was uploaded; `clip` chooses one of a GLB's."""

    do: ClassVar[str] = "open"
    path: str
    where: Where = "folder"
    clip: str | None = None


@dataclass(frozen=True, slots=True)
class GetMotion(Message):
    """What there is to know of a motion besides its frames."""

    do: ClassVar[str] = "motion"
    motion: str


@dataclass(frozen=True, slots=True)
class GetFrames(Message):
    """Frames `start` to `stop`, half-open, as one binary message; at most `block_frames` of the welcome at once."""

    do: ClassVar[str] = "frames"
    motion: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class GetCurves(Message):
    """Values over time; `joint` matters for position and rotation."""

    do: ClassVar[str] = "curves"
    motion: str
    curve: CurveKind
    joint: int = 0


@dataclass(frozen=True, slots=True)
class GetCloud(Message):
    """The point cloud of the frames around one."""

    do: ClassVar[str] = "cloud"
    motion: str
    frame: int
    window: float = 0.5


@dataclass(frozen=True, slots=True)
class CloseMotion(Message):
    """Forget a motion."""

    do: ClassVar[str] = "close"
    motion: str


@dataclass(frozen=True, slots=True)
class DetectContacts(Message):
    """Find the floor and what touches it; `floor` in metres where it is known."""

    do: ClassVar[str] = "detect_contacts"
    motion: str
    hands: bool = False
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class LaneEdit:
    """The intervals of one contact point, all of them."""

    name: str
    intervals: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SetContacts(Message):
    """Contacts as edited; points that are not named keep theirs. A motion without contacts gets the usual points."""

    do: ClassVar[str] = "set_contacts"
    motion: str
    lanes: tuple[LaneEdit, ...]


@dataclass(frozen=True, slots=True)
class SetLabels(Message):
    """Labels as edited, all of them."""

    do: ClassVar[str] = "set_labels"
    motion: str
    labels: tuple[LabelSpan, ...]


@dataclass(frozen=True, slots=True)
class SaveSidecar(Message):
    """Write contacts and labels into the sidecar beside the motion's file."""

    do: ClassVar[str] = "save_sidecar"
    motion: str


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written, and the motion as it stands now; for a file that was uploaded, `url` is where to fetch it."""

    path: str
    url: str | None
    motion: MotionInfo


@dataclass(frozen=True, slots=True)
class Undo(Message):
    """Take back the last change of a motion."""

    do: ClassVar[str] = "undo"
    motion: str


@dataclass(frozen=True, slots=True)
class Redo(Message):
    """Make the change again that was last taken back."""

    do: ClassVar[str] = "redo"
    motion: str


@dataclass(frozen=True, slots=True)
class Export(Message):
    """Make a file for download; several motions go into one GLB. `name` is without suffix."""

    do: ClassVar[str] = "export"
    motions: tuple[str, ...]
    format: ExportFormat
    name: str


@dataclass(frozen=True, slots=True)
class Exported:
    """Where the file can be fetched, with the page's cookie.

    `sidecar` is where its contacts, labels and floor can be, which no format holds; null where it has none.
    """

    url: str
    name: str
    size: int
    sidecar: str | None
    sidecar_name: str


@dataclass(frozen=True, slots=True)
class SaveInFolder(Message):
    """Write a motion with its sidecar into the opened folder; `name` is without suffix. Nothing is ever replaced."""

    do: ClassVar[str] = "save_in_folder"
    motion: str
    format: ExportFormat
    name: str


@dataclass(frozen=True, slots=True)
class SavedInFolder:
    """The file's path in the folder, or null where the name is taken; `free` is one that is not."""

    path: str | None
    free: str


@dataclass(frozen=True, slots=True)
class FreeName(Message):
    """A name like this one that no motion of the opened folder has."""

    do: ClassVar[str] = "free_name"
    name: str


@dataclass(frozen=True, slots=True)
class NameFound:
    """The name, without suffix."""

    name: str
