"""View panel: open files, edit their contacts and labels, and export them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from marey.errors import InvalidValue
from marey.studio.messages import (
    Binary,
    Cloud,
    CurveSet,
    EchoFrame,
    FolderList,
    LiveFigures,
    LiveReport,
    LiveStarted,
    MotionInfo,
    Nothing,
    StartLive,
    StopLive,
)
from marey.studio.panels.look_messages import (
    CloseMotion,
    DetectContacts,
    Export,
    Exported,
    FreeName,
    GetCloud,
    GetCurves,
    GetFrames,
    GetMotion,
    ListFolder,
    NameFound,
    OpenFile,
    Redo,
    Saved,
    SavedInFolder,
    SaveInFolder,
    SaveSidecar,
    SetContacts,
    SetLabels,
    Undo,
)
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session

# Limits: labels of one motion, and characters of a label's name.
MAX_LABELS = 5_000
MAX_LABEL_CHARS = 200


@command(ListFolder, reads=True)
def list_folder(session: Session, message: ListFolder) -> FolderList:
    """List the folder's motion files."""
    return session.places.list_files()


@command(OpenFile)
def open_file(session: Session, message: OpenFile) -> MotionInfo:
    """Load a file."""
    from marey.studio.opening import open_recording

    opened = open_recording(session.places, message.path, message.where, message.clip)
    return session.info(session.motions.add(opened))


@command(GetMotion, reads=True)
def get_motion(session: Session, message: GetMotion) -> MotionInfo:
    """Describe a motion."""
    return session.info(message.motion)


@command(GetFrames, reads=True)
def get_frames(session: Session, message: GetFrames) -> Binary:
    """Return frames to draw."""
    return session.motions.frames(message.motion, message.start, message.stop)


@command(GetCurves, reads=True)
def get_curves(session: Session, message: GetCurves) -> CurveSet:
    """Return curves over time."""
    from marey.studio.curves import curves_of

    return curves_of(session.motions.motion(message.motion), message.curve, message.joint)


@command(GetCloud, reads=True)
def get_cloud(session: Session, message: GetCloud) -> Cloud:
    """Return the point cloud by which a frame is compared with others."""
    from marey.studio.curves import cloud_of

    return cloud_of(session.motions.figure(message.motion), message.frame, message.window)


@command(CloseMotion)
def close_motion(session: Session, message: CloseMotion) -> Nothing:
    """Close a motion."""
    session.motions.close(message.motion)
    return Nothing()


@command(DetectContacts)
async def detect_contacts(session: Session, message: DetectContacts) -> MotionInfo:
    """Detect contacts, in the worker."""
    before = session.motions.motion(message.motion)
    found = await session.jobs.run("marey.studio.work:detect", motion=before, hands=message.hands, floor=message.floor)
    made = found["motion"]
    after = replace(before, contacts=made.contacts, source=replace(before.source, floor=made.source.floor))
    session.motions.change(message.motion, before, after, "contacts detected")
    return session.info(message.motion)


@command(SetContacts)
def set_contacts(session: Session, message: SetContacts) -> MotionInfo:
    """Set contacts edited on the timeline."""
    from marey.studio.annotate import with_lanes

    before = session.motions.motion(message.motion)
    session.motions.change(message.motion, before, with_lanes(before, message.lanes), "contacts edited")
    return session.info(message.motion)


@command(SetLabels)
def set_labels(session: Session, message: SetLabels) -> MotionInfo:
    """Set labels edited on the timeline."""
    from marey.core.labels import Label, Labels

    before = session.motions.motion(message.motion)
    if len(message.labels) > MAX_LABELS:
        raise InvalidValue(f"expected at most {MAX_LABELS} labels on a motion, got {len(message.labels)}")
    for one in message.labels:
        if len(one.name) > MAX_LABEL_CHARS:
            raise InvalidValue(f"expected a label name of at most {MAX_LABEL_CHARS} characters, got {len(one.name)}")
    labels = Labels(tuple(Label(one.name, one.start, one.stop) for one in message.labels))
    session.motions.change(message.motion, before, replace(before, labels=labels), "labels edited")
    return session.info(message.motion)


@command(SaveSidecar)
def save_sidecar(session: Session, message: SaveSidecar) -> Saved:
    """Save contacts and labels to the sidecar."""
    from marey.studio.annotate import write_annotations

    path = write_annotations(session.places, session.motions.opened(message.motion))
    session.motions.mark_saved(message.motion)
    url = session.places.offer(path) if session.motions.opened(message.motion).where == "uploads" else None
    return Saved(path.name, url, session.info(message.motion))


@command(Undo)
def undo(session: Session, message: Undo) -> MotionInfo:
    """Undo one step."""
    session.motions.step(message.motion, back=True)
    return session.info(message.motion)


@command(Redo)
def redo(session: Session, message: Redo) -> MotionInfo:
    """Redo one step."""
    session.motions.step(message.motion, back=False)
    return session.info(message.motion)


@command(Export)
def export(session: Session, message: Export) -> Exported:
    """Prepare a file for download."""
    from marey.studio.exporting import export_motions

    motions = [session.motions.motion(each) for each in message.motions]
    path, beside = export_motions(session.places, motions, message.format, message.name)
    side = None if beside is None else session.places.offer(beside)
    return Exported(
        session.places.offer(path), path.name, path.stat().st_size, side, "" if beside is None else beside.name
    )


@command(SaveInFolder)
def save_in_folder(session: Session, message: SaveInFolder) -> SavedInFolder:
    """Save a motion to the open folder."""
    from marey.studio.exporting import free_name
    from marey.studio.exporting import save_in_folder as save

    path = save(session.places, session.motions.motion(message.motion), message.format, message.name)
    return SavedInFolder(path, free_name(session.places, message.name))


@command(FreeName, reads=True)
def offer_name(session: Session, message: FreeName) -> NameFound:
    """Suggest a free file name."""
    from marey.studio.exporting import free_name

    return NameFound(free_name(session.places, message.name))


@command(StartLive)
async def start_live(session: Session, message: StartLive) -> LiveStarted:
    """Play a motion as a live stream."""
    from marey.studio.live import MotionPlayer

    figure = session.motions.figure(message.motion)
    ticket = session.live.take_ticket()
    player = await asyncio.to_thread(MotionPlayer, figure, message.rate)
    return session.live.start(player, message.rate, ticket)


@command(StopLive)
async def stop_live(session: Session, message: StopLive) -> Nothing:
    """Stop the stream."""
    session.live.stop(message.stream)
    return Nothing()


@command(EchoFrame, reads=True)
async def echo_frame(session: Session, message: EchoFrame) -> Nothing:
    """Record that the page has shown a frame."""
    session.live.record_echo(message.stream, message.frame, message.sent)
    return Nothing()


@command(LiveFigures, reads=True)
async def live_figures(session: Session, message: LiveFigures) -> LiveReport:
    """Return statistics of the stream."""
    return session.live.report()
