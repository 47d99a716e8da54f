"""View panel: open motion files, edit contacts and labels, and export motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from marey.core.contacts import Contacts
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.errors import FileError, InvalidValue, collect_warnings
from marey.io.files import MARKER_SUFFIXES
from marey.io.loading import clip_names, load
from marey.io.settings import LoadSettings
from marey.studio.forms import word_text
from marey.studio.messages import (
    Binary,
    Cloud,
    CurveSet,
    EchoFrame,
    FolderList,
    LiveReport,
    LiveStarted,
    LiveStatistics,
    MotionInfo,
    Nothing,
    StartLive,
    StopLive,
    Where,
)
from marey.studio.motion_history import Opened
from marey.studio.object_options import locate_files
from marey.studio.panel_recipes import contacts_recipe, detection_recipe, labels_recipe, load_recipe
from marey.studio.panels import look_messages as messages
from marey.studio.places import Places
from marey.studio.registry import command
from marey.studio.threads import to_thread

if TYPE_CHECKING:
    from marey.core.labels import Labels
    from marey.studio.motion_history import Recording
    from marey.studio.session import Session

# Limits: labels of one motion, and characters of a label's name.
MAX_LABELS = 5_000
MAX_LABEL_CHARS = 200


@command(messages.ListFolder, reads=True)
def list_folder(session: Session, message: messages.ListFolder) -> FolderList:
    """List the folder's motion files."""
    return session.places.list_files()


@command(messages.OpenFile)
def open_file(session: Session, message: messages.OpenFile) -> MotionInfo:
    """Load a file as an open motion. A leading rest pose is skipped; this can be undone."""
    opened = open_recording(session.places, message.path, message.where, message.settings)
    name = session.motions.add(opened)
    if message.settings.trim_rest and isinstance(opened.recording, Motion):
        settings = LoadSettings(settings=message.settings, fps=None)
        recipe = load_recipe(opened.recording.name, message.path, message.where, settings)
        session.motions.trim_rest(name, recipe)
    return session.info(name)


@command(messages.GetMotion, reads=True)
def get_motion(session: Session, message: messages.GetMotion) -> MotionInfo:
    """Describe a motion."""
    return session.info(message.motion)


@command(messages.GetFrames, reads=True)
def get_frames(session: Session, message: messages.GetFrames) -> Binary:
    """Return world positions and rotations of some frames, to draw."""
    return session.motions.frames(message.motion, message.start, message.stop, message.step)


@command(messages.GetCurves, reads=True)
def get_curves(session: Session, message: messages.GetCurves) -> CurveSet:
    """Return curves over time."""
    from marey.studio.curves import make_curves

    return make_curves(session.motions.motion(message.motion), message.curve, message.joint)


@command(messages.GetCloud, reads=True)
def get_cloud(session: Session, message: messages.GetCloud) -> Cloud:
    """Return the point cloud that is used to compare a frame with others."""
    from marey.studio.curves import make_cloud

    return make_cloud(session.motions.recording(message.motion), message.frame, message.window)


@command(messages.CloseMotion)
def close_motion(session: Session, message: messages.CloseMotion) -> Nothing:
    """Close a motion."""
    session.motions.close(message.motion)
    return Nothing()


@command(messages.Reopen)
def reopen_motion(session: Session, message: messages.Reopen) -> MotionInfo:
    """Open a motion again that was just closed."""
    session.motions.reopen(message.motion)
    return session.info(message.motion)


@command(messages.DetectContacts)
async def detect_contacts(session: Session, message: messages.DetectContacts) -> MotionInfo:
    """Detect contacts, in the worker."""
    before, source = session.motions.motion(message.motion), session.motions.recipe(message.motion)
    found = await session.jobs.run("marey.studio.work:detect", motion=before, settings=message.settings.to_dict())
    detected = found["motion"]
    after = replace(before, contacts=detected.contacts, source=replace(before.source, floor=detected.source.floor))
    recipe = detection_recipe(before.name, source, message.settings)
    session.motions.change(message.motion, before, after, "contacts detected", recipe=recipe)
    return session.info(message.motion)


@command(messages.SetContacts)
def set_contacts(session: Session, message: messages.SetContacts) -> MotionInfo:
    """Set the contacts that were edited on the timeline."""
    before = session.motions.motion(message.motion)
    after = _with_lanes(before, message.lanes)
    assert after.contacts is not None
    recipe = contacts_recipe(before, session.motions.recipe(message.motion), after.contacts)
    session.motions.change(
        message.motion, before, after, _name_contact_edit(before.contacts, after.contacts), recipe=recipe
    )
    return session.info(message.motion)


@command(messages.SetLabels)
def set_labels(session: Session, message: messages.SetLabels) -> MotionInfo:
    """Replace all labels of a motion, after an edit on the timeline."""
    from marey.core.labels import Label, Labels

    before = session.motions.motion(message.motion)
    if len(message.labels) > MAX_LABELS:
        raise InvalidValue(f"expected at most {MAX_LABELS} labels on a motion, got {len(message.labels)}")
    for one in message.labels:
        if len(one.name) > MAX_LABEL_CHARS:
            raise InvalidValue(f"expected a label name of at most {MAX_LABEL_CHARS} characters, got {len(one.name)}")
    labels = Labels(tuple(Label(one.name, one.start, one.stop) for one in message.labels))
    motions, merges = session.motions, message.merge_undo
    now = motions.opened(message.motion).now
    source = motions.find_merge_source(message.motion, now.what) if merges and now.what.startswith("label") else now
    what = _name_label_edit(source.recording, labels)
    after, recipe = replace(before, labels=labels), labels_recipe(before, source.recipe, labels)
    motions.change(message.motion, before, after, what, merge_undo=merges, recipe=recipe)
    return session.info(message.motion)


@command(messages.SaveMotion)
def save_motion(session: Session, message: messages.SaveMotion) -> messages.Saved:
    """Save what has changed: the motion to a file of its own, or only its annotations to the sidecar."""
    from marey.studio.exporting import save_edited, write_annotations

    opened = session.motions.opened(message.motion)
    if opened.is_edited:
        path = save_edited(session.places, opened)
        session.motions.mark_file(message.motion, path)
    else:
        path = write_annotations(session.places, opened)
        session.motions.mark_saved(message.motion)
    url = session.places.offer(path) if opened.where == "uploads" else None
    return messages.Saved(path.name, url, session.info(message.motion))


@command(messages.Undo)
def undo(session: Session, message: messages.Undo) -> MotionInfo:
    """Undo one step."""
    session.motions.step(message.motion, back=True)
    return session.info(message.motion)


@command(messages.Redo)
def redo(session: Session, message: messages.Redo) -> MotionInfo:
    """Redo one step."""
    session.motions.step(message.motion, back=False)
    return session.info(message.motion)


@command(StartLive)
async def start_live(session: Session, message: StartLive) -> LiveStarted:
    """Play a motion as a live stream."""
    from marey.studio.live import MotionPlayer

    recording = session.motions.recording(message.motion)
    ticket = session.live.take_ticket()
    player = await to_thread(MotionPlayer, recording, message.rate)
    return session.live.start(player, message.rate, ticket)


@command(StopLive)
async def stop_live(session: Session, message: StopLive) -> Nothing:
    """Stop a live stream."""
    session.live.stop(message.stream)
    return Nothing()


@command(EchoFrame, reads=True)
async def echo_frame(session: Session, message: EchoFrame) -> Nothing:
    """Record that the page has shown a live frame."""
    session.live.record_echo(message.stream, message.frame, message.sent)
    return Nothing()


@command(LiveStatistics, reads=True)
async def live_statistics(session: Session, message: LiveStatistics) -> LiveReport:
    """Return the statistics of the live stream."""
    return session.live.report()


def open_recording(places: Places, path: str, where: Where, settings: LoadSettings) -> Opened:
    """Load a file from the folder or the uploads, with all frames at its own rate, and collect its warnings."""
    from marey.io.rest import starts_with_rest_pose

    # The sidecar of an open clip counts the frames of its file.
    whole = LoadSettings(settings=settings, fps=None, trim_rest=False)
    found = places.find(path, where)
    try:
        with collect_warnings() as said:
            files = locate_files([LoadSettings], whole.to_dict(), places.find_file)
            recording = load(found, settings=LoadSettings(settings=whole, **files))
            clips = () if found.suffix.lower() in MARKER_SUFFIXES else clip_names(found)
    except FileError as error:
        if error.path is not None and Path(error.path).parent == found.parent:  # name it as the page does
            error.path = (PurePosixPath(path).parent / Path(error.path).name).as_posix()
        raise
    # Warnings are plain text, so the folder is cut from the file name with which they start.
    texts = tuple(word_text(text.replace(f"{found.parent}/", ""), messages.OpenFile) for text in said)
    clip = None if settings.clip is None else str(settings.clip)
    # Files without a rest pose load the same with the default of `trim_rest`, which the recipe then leaves out.
    rest = isinstance(recording, Motion) and starts_with_rest_pose(recording)
    recipe = load_recipe(recording.name, path, where, LoadSettings(settings=whole, trim_rest=not rest))
    return Opened(recording, where, path, found, clips, clip, texts, recipe=recipe)


def _name_label_edit(before: Recording, labels: Labels) -> str:
    """Return the name of a change of labels: the label that was added, removed, renamed or moved."""
    old = () if isinstance(before, Markers) else before.labels
    gone, new = ([each for each in these if each not in others] for these, others in ((old, labels), (labels, old)))
    if len(new) == 1 and not gone:
        return f"label “{new[0].name}” added"
    if len(gone) == 1 and not new:
        return f"label “{gone[0].name}” removed"
    if len(gone) == len(new) == 1:
        verb = "moved" if gone[0].name == new[0].name else "renamed"
        return f"label “{new[0].name}” {verb}"
    return "labels edited"


def _name_contact_edit(before: Contacts | None, after: Contacts) -> str:
    """Return the name of a change of contacts, with the point if it is one."""
    old = {} if before is None else {name: before.intervals(name) for name in before.names}
    names = [name for name in after.names if after.intervals(name) != old.get(name, ())]
    return f"contacts of {names[0].replace('_', ' ')} edited" if len(names) == 1 else "contacts edited"


def _with_lanes(motion: Motion, lanes: Sequence[messages.LaneEdit]) -> Motion:
    """Replace the contact intervals of the named points. A motion without contacts first gets the default points."""
    contacts = motion.contacts
    if contacts is None:
        from marey.clean.points import contact_points

        points = contact_points(motion.skeleton, standing=motion)
        contacts = Contacts(points, np.zeros((len(motion), len(points)), dtype=bool))
    spans = {name: contacts.intervals(name) for name in contacts.names}
    for lane in lanes:
        contacts.index(lane.name)
        spans[lane.name] = lane.intervals
    return replace(motion, contacts=Contacts.from_intervals(contacts.points, spans, len(motion)))
