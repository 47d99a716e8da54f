"""Messages between page and server: one frozen dataclass for each command, reply and event.

The page sends ``{"id": 7, "do": "open", "path": "walk.bvh"}``, with increasing ids, and gets back one of::

    {"n": 3, "id": 7, "kind": "done", "result": {...}}           the reply's fields
    {"n": 3, "id": 7, "kind": "failed", "error": {"type": "UnreadableFile", "text": "one sentence"}}
    {"n": 3, "id": 7, "kind": "progress", "fraction": 0.4, "text": "cleaning"}
    {"n": 3, "kind": "event", "event": "live_ended", ...}        unsolicited

`n` increases by one per message, so that a reconnecting page can say which it has seen. Frames are binary:
see `marey.studio.frames`. `marey.studio.typescript` writes the page's types from these classes. This module has the
core messages and those shared by several panels; a panel's own messages are in its package, as in
`marey.studio.panels.look_messages`, and are registered by their handlers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Where = Literal["folder", "uploads"]


class Message:
    """A command: `do` names it on the wire."""

    __slots__ = ()
    do: ClassVar[str]


class Event:
    """An unsolicited message from the server: `event` names it on the wire."""

    __slots__ = ()
    event: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty reply: the command succeeded."""


@dataclass(frozen=True, slots=True)
class Binary:
    """The reply to `frames` comes as one binary message with the same id, not as JSON."""


# --- Content


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file in the folder: relative `path` with forward slashes, `modified` in seconds since 1970.

    `labels` are those of its sidecar, if it is small enough to read for a list.
    """

    path: str
    size: int
    modified: float
    format: str
    sidecar: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FolderList:
    """The open folder's name and files; `skipped` counts the files beyond the limit."""

    folder: str
    files: tuple[FileEntry, ...]
    skipped: int


@dataclass(frozen=True, slots=True)
class ContactLane:
    """One contact point: its joint, its offset in the joint's frame in meters, and half-open frame intervals."""

    name: str
    joint: int
    offset: tuple[float, float, float]
    intervals: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LabelSpan:
    """A label on frames `start` to `stop`, half-open."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class MotionInfo:
    """Everything about a motion except its frames.

    `revision` changes whenever frames do and invalidates the page's cached frames. `kind` is "markers" for
    recordings without a skeleton: all `parents` are -1, and positions of invisible markers are NaN. `parents`,
    `bone_lengths` (meters to the parent) and `end_sites` match `joints`. `roles` gives a joint's index. `contacts` is
    null if none are known. `file` is the path within `where`; "" for unsaved motions. `clips` are those
    of the file. `history` lists the processing steps. `skin` is the address of the original GLB, else null. `undo` and
    `redo` count the steps.
    """

    motion: str
    revision: int
    name: str
    kind: Literal["motion", "markers"]
    where: Where
    file: str
    clips: tuple[str, ...]
    n_frames: int
    fps: float
    seconds: float
    joints: tuple[str, ...]
    parents: tuple[int, ...]
    bone_lengths: tuple[float, ...]
    end_sites: tuple[bool, ...]
    roles: dict[str, int]
    stature: float
    floor: float | None
    contacts: tuple[ContactLane, ...] | None
    labels: tuple[LabelSpan, ...]
    evidence: tuple[str, ...]
    warnings: tuple[str, ...]
    history: tuple[str, ...]
    skin: str | None
    unsaved: bool
    undo: int
    redo: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One value per frame; `unit` is "m", "m/s" or "deg"."""

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CurveSet:
    """Curves of one plot."""

    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Cloud:
    """A point cloud by which frames are compared: flat x y z in world meters, one point per name and frame."""

    names: tuple[str, ...]
    points: tuple[float, ...]


# --- The core


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """The first message. `session` is the id of an earlier welcome to resume, and `seen` the last `n` seen.

    -1 means that the page itself is new, as after a reload: replies to the previous page are not sent.
    """

    do: ClassVar[str] = "hello"
    session: str = ""
    seen: int = -1


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A running job: the id and name of its command, and its progress."""

    job: int
    command: str
    fraction: float
    text: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The session. If it is `resumed`, unseen replies follow; `received` is the last id that arrived.

    Commands with greater ids were lost and may be sent again, as may any unanswered `frames`; ids up to it are
    used, so a new page continues above it. If `lost`, some replies were dropped, and the page
    should reset to `motions`. `folder` is "" if none is open. `work` are running jobs, started by a
    page that may have been reloaded since: their progress and replies follow, with these ids.
    """

    session: str
    resumed: bool
    received: int
    lost: bool
    version: str
    folder: str
    motions: tuple[MotionInfo, ...]
    panels: tuple[str, ...]
    upload_bytes: int
    block_frames: int
    work: tuple[RunningJob, ...]


@dataclass(frozen=True, slots=True)
class Cancel(Message):
    """Cancel the job of the command with id `job`, which then fails with type "Cancelled"."""

    do: ClassVar[str] = "cancel"
    job: int


# --- Live


@dataclass(frozen=True, slots=True)
class StartLive(Message):
    """Play a motion live: one binary message per frame, `rate` times per second, in a loop."""

    do: ClassVar[str] = "live_start"
    motion: str
    rate: float = 60.0


@dataclass(frozen=True, slots=True)
class LiveStarted:
    """The number of the stream, which its binary messages carry as their id, and its joints."""

    stream: int
    rate: float
    joints: tuple[str, ...]
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StopLive(Message):
    """Stop a live stream if it still plays; null for any, including those being prepared."""

    do: ClassVar[str] = "live_stop"
    stream: int | None = None


@dataclass(frozen=True, slots=True)
class EchoFrame(Message):
    """The page has shown a live frame that was sent at `sent`; every tenth is enough."""

    do: ClassVar[str] = "live_echo"
    stream: int
    frame: int
    sent: float


@dataclass(frozen=True, slots=True)
class LiveFigures(Message):
    """Get statistics of the live stream."""

    do: ClassVar[str] = "live_figures"


@dataclass(frozen=True, slots=True)
class LiveReport:
    """Frames sent, frames dropped because the page was slow, and the round-trip time (ms)."""

    stream: int
    sent: int
    dropped: int
    late: int
    round_trip_ms: float | None


@dataclass(frozen=True, slots=True)
class LiveEnded(Event):
    """A live stream has ended by itself; `error` is "" if there was none."""

    event: ClassVar[str] = "live_ended"
    stream: int
    error: str


@dataclass(frozen=True, slots=True)
class MotionChanged(Event):
    """A motion was added or changed without a reply that says so."""

    event: ClassVar[str] = "motion_changed"
    motion: MotionInfo


# --- Outside the socket


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The answer to ``POST /upload?session=...&name=walk.bvh``: what `open` takes, with `where` "uploads"."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer to a rejected upload: one sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class ViewMotion:
    """A motion in the page of `marey view`. `positions` and `rotations` are base64, encoded as `coding` says.

    "q16": little-endian int16. A position of joint j in frame f is ``low[k] + (q + 32767) * step[k]`` meters for each
    axis k; q = -32768 means that a marker is not visible; rotations are x y z w times 32767.
    """

    info: MotionInfo
    coding: Literal["q16"]
    low: tuple[float, float, float]
    step: tuple[float, float, float]
    positions: str
    rotations: str
    skin: int | None


@dataclass(frozen=True, slots=True)
class ViewData:
    """The content of a `marey view` page: JSON in its script element with id "marey-data".

    `skins` are GLB files in base64, without animations; `skin` of a motion is an index into it.
    """

    version: int
    title: str
    motions: tuple[ViewMotion, ...]
    skins: tuple[str, ...]


OTHERS: tuple[type, ...] = (Uploaded, Refused, ViewData)
EVENTS: tuple[type[Event], ...] = (LiveEnded, MotionChanged)
