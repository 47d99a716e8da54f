"""What the page and the server say to each other: one frozen dataclass for each command, reply and event.

The page sends ``{"id": 7, "do": "open", "path": "walk.bvh"}``, with ids that rise, and gets back one of::

    {"n": 3, "id": 7, "kind": "done", "result": {...}}           the reply's fields
    {"n": 3, "id": 7, "kind": "failed", "error": {"type": "UnreadableFile", "text": "one sentence"}}
    {"n": 3, "id": 7, "kind": "progress", "share": 0.4, "text": "cleaning"}
    {"n": 3, "kind": "event", "event": "live_ended", ...}        not asked for

`n` rises by one from message to message, so that a page that comes back can say which it has seen. Frames are binary:
see `marey.studio.frames`. `marey.studio.typescript` writes the page's types from these classes. Here is what the core
says and what several panels share; a panel's own messages stand beside it, as in `marey.studio.panels.look_messages`,
and are known by the functions that answer them.
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
    """Something that the server tells unasked: `event` names it on the wire."""

    __slots__ = ()
    event: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Nothing:
    """The reply where there is nothing to say but that it is done."""


@dataclass(frozen=True, slots=True)
class Binary:
    """The reply to `frames` comes as one binary message with the same id, not as JSON."""


# --- What is shown


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the folder: `path` from there with forward slashes, `modified` in seconds since 1970.

    `labels` are those of its sidecar, where that is small enough to be read for a list.
    """

    path: str
    size: int
    modified: float
    format: str
    sidecar: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FolderList:
    """The opened folder's name and files; `left_out` counts those beyond the most that are listed."""

    folder: str
    files: tuple[FileEntry, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ContactLane:
    """One contact point: its joint, its place in the joint's frame in metres, and half-open frame intervals."""

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
    """All of a motion but its frames.

    `revision` changes whenever frames do, so that those the page has kept are no longer valid. `kind` is "markers" for
    recordings without a skeleton: all `parents` are -1, and positions of unseen markers are NaN. `parents`,
    `bone_lengths` (metres to the parent) and `end_sites` go with `joints`. `roles` gives a joint's index. `contacts` is
    null where none are known. `file` is the path within `where`; "" for motions that are in no file. `clips` are those
    of the file. `skin` is where the original GLB can be fetched, else null. `undo` and `redo` count the steps.
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
    made_by: tuple[str, ...]
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
    """Curves that belong into one picture."""

    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Cloud:
    """What frames are compared by: points in the world, metres, x y z after each other, `names` of them per frame."""

    names: tuple[str, ...]
    points: tuple[float, ...]


# --- The core


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """The first message. `session` is that of an earlier welcome, to go on with it, and `seen` the last `n` seen.

    -1 is for a page that is itself new, as after a reload: replies to the one before are not for it.
    """

    do: ClassVar[str] = "hello"
    session: str = ""
    seen: int = -1


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Work that goes on: the id of the command that asked for it and its name, and how far it said that it is."""

    job: int
    command: str
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The session. Where it is `resumed`, replies not yet seen follow; `received` is the last id that had arrived.

    Commands with greater ids were lost and may be sent again, as may any `frames` without an answer; ids up to it are
    used up, so that a page that is itself new goes on above it. Where `lost`, some replies were dropped, and the page
    had better take `motions` for all there is. `folder` is "" where none is open. `work` was asked for before, by a
    page that may have been reloaded since: its progress and its replies follow, with the ids that it has there.
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
    work: tuple[UnderWay, ...]


@dataclass(frozen=True, slots=True)
class Cancel(Message):
    """End the work of the command with id `job`, which then fails with type "Cancelled"."""

    do: ClassVar[str] = "cancel"
    job: int


# --- Live


@dataclass(frozen=True, slots=True)
class StartLive(Message):
    """Play a motion live: one binary message per frame, `rate` times a second, from the start again at its end."""

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
    """End a live stream, if it still plays; null for any, those included that are only being made ready."""

    do: ClassVar[str] = "live_stop"
    stream: int | None = None


@dataclass(frozen=True, slots=True)
class EchoFrame(Message):
    """The page has shown a live frame, which it had been sent at `sent`; every tenth is enough."""

    do: ClassVar[str] = "live_echo"
    stream: int
    frame: int
    sent: float


@dataclass(frozen=True, slots=True)
class LiveFigures(Message):
    """How the live stream does."""

    do: ClassVar[str] = "live_figures"


@dataclass(frozen=True, slots=True)
class LiveReport:
    """Frames sent and dropped because the page was slow, and how long it took until echoes came back (ms)."""

    stream: int
    sent: int
    dropped: int
    late: int
    round_trip_ms: float | None


@dataclass(frozen=True, slots=True)
class LiveEnded(Event):
    """A live stream has ended by itself; `error` is "" where all was well."""

    event: ClassVar[str] = "live_ended"
    stream: int
    error: str


@dataclass(frozen=True, slots=True)
class MotionChanged(Event):
    """A motion is new, or no longer what it was, other than by a reply that says so."""

    event: ClassVar[str] = "motion_changed"
    motion: MotionInfo


# --- Other than by the socket


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The answer to ``POST /upload?session=...&name=walk.bvh``: what `open` takes, with `where` "uploads"."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer to an upload that cannot be taken: one sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class ViewMotion:
    """A motion in the page of `marey view`. `positions` and `rotations` are base64 of what `coding` says.

    "q16": little-endian int16. A position of joint j in frame f is ``low[k] + (q + 32767) * step[k]`` metres for each
    axis k, and a marker was not seen where q is -32768; rotations are x y z w times 32767.
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
    """All that the page of `marey view` shows: the text of its script element with id "marey-data", as JSON.

    `skins` are GLB files in base64, with a body and without animations; `skin` of a motion is the number of its own.
    """

    version: int
    title: str
    motions: tuple[ViewMotion, ...]
    skins: tuple[str, ...]


OTHERS: tuple[type, ...] = (Uploaded, Refused, ViewData)
EVENTS: tuple[type[Event], ...] = (LiveEnded, MotionChanged)
