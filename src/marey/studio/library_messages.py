"""Messages of the library view: what the files of the folder contain.

A separate module, as for the messages of every panel.
"""

from __future__ import annotations

from marey.studio.messages import Event, Message, Value


class IndexLibrary(Message, do="library_index"):
    """Read the files of the folder in the background; `library_rows` events describe them as they are read."""


class LibraryDone(Value):
    """All files of the folder have been read: their number, and the number of those that cannot be indexed."""

    files: int
    skipped: int


class LibraryFinding(Value):
    """What `marey check` finds in a clip; see `marey.check.report.Finding`."""

    kind: str
    severity: str
    message: str


class LibraryRow(Value):
    """What a file contains: number of clips, total duration, and the values of its first clip.

    `speed` is in m/s, `distance` in meters, `turn` in degrees to the left. `reason` says why the file cannot be
    indexed; the other fields are then empty.
    """

    path: str
    clips: int = 0
    seconds: float = 0.0
    fps: float = 0.0
    speed: float = 0.0
    distance: float = 0.0
    turn: float = 0.0
    labels: tuple[str, ...] = ()
    findings: tuple[LibraryFinding, ...] = ()
    reason: str = ""


class GetThumbnails(Message, do="library_thumbnails"):
    """Get the poses of some indexed files, at most 100."""

    paths: tuple[str, ...]


class Thumbnail(Value):
    """Poses of a clip at equal times: x y z of each joint in millimeters, relative to the hips.

    The second pose faces +Z. The other fields are those of `MotionInfo`.
    """

    path: str
    parents: tuple[int, ...]
    bone_lengths: tuple[float, ...]
    roles: dict[str, int]
    stature: float
    points: tuple[int, ...]


class Thumbnails(Value):
    """The thumbnails of those files that are indexed."""

    thumbnails: tuple[Thumbnail, ...]


class LibraryRows(Event, event="library_rows"):
    """Files were read: their rows, and how many of all files have been read."""

    rows: tuple[LibraryRow, ...]
    done: int
    total: int


EVENTS: tuple[type[Event], ...] = (LibraryRows,)
