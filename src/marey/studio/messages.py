"""Messages between page and server: one class for each command (`Message`), reply (`Value`) and event (`Event`).

The page sends ``{"id": 7, "do": "open", "path": "walk.bvh"}``, with increasing ids, and gets back one of::

    {"n": 3, "id": 7, "kind": "done", "result": {...}}           the reply's fields
    {"n": 3, "id": 7, "kind": "failed", "error": {"type": ..., "text": "one sentence", "parameter": ""}}
    {"n": 3, "id": 7, "kind": "progress", "fraction": 0.4, "text": "cleaning"}
    {"n": 3, "kind": "event", "event": "live_ended", ...}        unsolicited

`n` increases by one per message. A reconnecting page sends the last `n` it has seen. Frames are binary: see
`marey.studio.frames`. `marey.studio.typescript` writes the page's types from these classes. This module has the core
messages and those shared by several panels. Each panel has its own module of messages, such as
`marey.studio.panels.look_messages`; the panel's handlers register them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, dataclass_transform

Where = Literal["folder", "uploads"]


@dataclass_transform(frozen_default=True)
class Value:
    """Base class of all data sent or received: every subclass becomes a frozen dataclass of its annotated fields."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    def fields(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return dict(vars(self))


class Message(Value):
    """A command from the page: `do` is its name on the wire. Base classes of several commands have none.

    Errors of a command are worded for the page by `marey.studio.forms.word_error`. `control_labels` has the labels of
    controls, keyed by the library's parameter, if they are not those of `Settings`. `remedies` has the remedies that
    apply to the page, keyed by the parameter or the type of an error.
    """

    do: ClassVar[str]
    control_labels: ClassVar[Mapping[str, str]] = {}
    remedies: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(
        cls,
        do: str | None = None,
        control_labels: Mapping[str, str] | None = None,
        remedies: Mapping[str, str] | None = None,
    ) -> None:
        super().__init_subclass__()
        if do is not None:
            cls.do = do
        cls.control_labels = {**cls.control_labels, **(control_labels or {})}
        cls.remedies = {**cls.remedies, **(remedies or {})}


class MotionCommand(Message):
    """A command about an open motion."""

    motion: str


class SpanCommand(MotionCommand):
    """A command about frames `start` to `stop` of a motion, half-open."""

    start: int
    stop: int


class Event(Value):
    """An unsolicited message from the server: `event` is its name on the wire."""

    event: ClassVar[str]

    def __init_subclass__(cls, event: str) -> None:
        super().__init_subclass__()
        cls.event = event


class Nothing(Value):
    """An empty reply: the command succeeded."""


class Binary(Value):
    """Marks a reply that is sent as one binary message with the command's id instead of JSON."""


# --- Content


class FileEntry(Value):
    """A file in the folder: relative `path` with forward slashes, `modified` in seconds since 1970.

    `labels` are the label names in its sidecar; empty if the sidecar is too large to be read
    while files are listed.
    """

    path: str
    size: int
    modified: float
    format: str
    sidecar: bool
    labels: tuple[str, ...]


class FolderList(Value):
    """The open folder's name and files; `skipped` counts the files beyond the limit."""

    folder: str
    files: tuple[FileEntry, ...]
    skipped: int


class SkippedClips(Value):
    """Names of clips that an operation did not use, all for the same reason."""

    reason: str
    names: tuple[str, ...]
    has_other_skeleton: bool = False


class Plant(Value):
    """One interval in which a contact point is planted: its mean position, and the distance (m) that it slides.

    `slide_before` is the distance in the motion before the last edit, or in the motion it was made from; null if
    there is none with the same skeleton and frames.
    """

    at: tuple[float, float, float]
    slide: float
    slide_before: float | None = None


class ContactLane(Value):
    """One contact point and the half-open frame intervals in which it is planted.

    `joint` is an index; `offset` is in the joint's local coordinates, in meters. `plants` has one entry for each
    interval.
    """

    name: str
    joint: int
    offset: tuple[float, float, float]
    intervals: tuple[tuple[int, int], ...]
    plants: tuple[Plant, ...]


class LabelSpan(Value):
    """A label on frames `start` to `stop`, half-open."""

    name: str
    start: int
    stop: int


class EditStep(Value):
    """A step of a motion's undo history: its name and number. Steps are numbered across all motions of the session."""

    number: int
    name: str


class MotionInfo(Value):
    """Everything about a motion except its frames.

    `motion` is its id. `revision` changes whenever the frames change, and invalidates the page's cached frames. `kind`
    is "markers" for recordings without a skeleton: all `parents` are -1, and positions of occluded markers are NaN.
    `parents`, `bone_lengths` (meters to the parent) and `end_sites` have one entry per joint. `roles` maps each role to
    a joint index. `stature` and `floor` (its height) are in meters. `contacts` is null if the contacts are unknown.
    `file` is the path within `where`; "" for motions without a file. `clips` are the names of all clips in the file.
    `history` lists the processing steps. `skin` is the address of the GLB file with the skin, or null. `unsaved` says
    that the sidecar lacks the current annotations, `edited` that the frames are in no file. `undo` and
    `redo` are the numbers of steps that can be undone or redone; `steps` are all of them, the first is the motion as it
    was opened. `before` is the number of the last step with other frames, if the motion is edited and both can be
    compared frame by frame; otherwise null.
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
    edited: bool
    undo: int
    redo: int
    steps: tuple[EditStep, ...]
    before: int | None


class MotionWithNotes(Value):
    """A new motion, with notes for the user."""

    motion: MotionInfo
    notes: tuple[str, ...]


class Download(Value):
    """The download address of a file, its name, and its size in bytes."""

    url: str
    name: str
    size: int


class Curve(Value):
    """One value per frame; `unit` is "m", "m/s" or "deg"."""

    name: str
    unit: str
    values: tuple[float, ...]


class CurveSet(Value):
    """The curves of one plot."""

    curves: tuple[Curve, ...]


class Cloud(Value):
    """A point cloud, as used to compare frames: x y z in world coordinates, meters, one point per name and frame."""

    names: tuple[str, ...]
    points: tuple[float, ...]


# --- The core


class Hello(Message, do="hello"):
    """The first message of a page. `session` is the session id from an earlier `Welcome`, to resume that session.

    `seen` is the message number `n` of the last message received. -1 means that the page is new, for example after a
    reload: replies to the previous page are not sent again.
    """

    session: str = ""
    seen: int = -1


class RunningJob(Value):
    """A running job: the id and name of its command, and its progress (0 to 1)."""

    job: int
    command: str
    fraction: float
    text: str


class Welcome(Value):
    """The reply to `Hello`: the session. If it is `resumed`, the replies that the page has not seen follow.

    `received` is the last command id that arrived. Commands with greater ids were lost and may be sent again, as may
    any unanswered `frames`. A new page numbers its commands from `received` + 1. If `lost`, some replies were dropped,
    and the page should reset to `motions`. `folder` is "" if none is open. `work` lists the running jobs, some of which
    may have been started before a reload; their progress and replies follow, with these ids.
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


class Cancel(Message, do="cancel"):
    """Cancel the job of the command with id `job`, which then fails with type "Cancelled"."""

    job: int


# --- Live


class StartLive(MotionCommand, do="live_start"):
    """Stream a motion in a loop: one binary message per frame, `rate` times per second."""

    rate: float = 60.0


class LiveStarted(Value):
    """A live stream has started. Its binary messages carry `stream` as their id; `parents` are joint indices."""

    stream: int
    rate: float
    joints: tuple[str, ...]
    parents: tuple[int, ...]


class StopLive(Message, do="live_stop"):
    """Stop a live stream if it is still playing; null for any, including those being prepared."""

    stream: int | None = None


class EchoFrame(Message, do="live_echo"):
    """Report that the page has shown a live frame, sent at `sent` (seconds since 1970); every tenth is enough."""

    stream: int
    frame: int
    sent: float


class LiveStatistics(Message, do="live_statistics"):
    """Get statistics of the live stream."""


class LiveReport(Value):
    """Statistics of the live stream: frames sent, and frames dropped because the page was slow.

    `late` is the number of frames by which the server fell behind schedule. `round_trip_ms` is the median, or null
    before the first echo.
    """

    stream: int
    sent: int
    dropped: int
    late: int
    round_trip_ms: float | None


class LiveEnded(Event, event="live_ended"):
    """A live stream has ended by itself; `error` is "" if there was none."""

    stream: int
    error: str


class MotionChanged(Event, event="motion_changed"):
    """A motion was added or changed, and no reply reports it."""

    motion: MotionInfo


# --- Outside the socket


class Uploaded(Value):
    """The answer to ``POST /upload?session=...&name=walk.bvh``: the `path` to open, with `where` "uploads"."""

    path: str
    size: int


class Refused(Value):
    """The answer to a rejected upload: one sentence."""

    text: str


class ViewMotion(Value):
    """A motion in the page of `marey view`. `positions` and `rotations` are base64, encoded as `coding` says.

    "q16": little-endian int16. A position of joint j in frame f is ``low[k] + (q + 32767) * step[k]`` meters for each
    axis k; q = -32768 marks an occluded marker; rotations are x y z w times 32767.
    """

    info: MotionInfo
    coding: Literal["q16"]
    low: tuple[float, float, float]
    step: tuple[float, float, float]
    positions: str
    rotations: str
    skin: int | None


class ViewData(Value):
    """The content of a `marey view` page: JSON in its script element with id "marey-data".

    `skins` are GLB files in base64, without animations; a motion's `skin` is an index into `skins`.
    """

    version: int
    title: str
    motions: tuple[ViewMotion, ...]
    skins: tuple[str, ...]


OTHERS: tuple[type, ...] = (Uploaded, Refused, ViewData)
EVENTS: tuple[type[Event], ...] = (LiveEnded, MotionChanged)
