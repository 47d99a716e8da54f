"""Projects: files that reopen clips, panels, settings and camera."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError, UnwritableFile
from marey.io.archive import encode_json, read_json, validating
from marey.io.files import write_bytes
from marey.io.folder import free_name
from marey.io.settings import LoadSettings
from marey.studio.folder import Folder
from marey.studio.messages import Message, MotionInfo, Value
from marey.studio.places import fit_name
from marey.studio.registry import command
from marey.studio.wire import decode

if TYPE_CHECKING:
    from marey.studio.session import Session

SUFFIX = ".marey-project.json"
FORMAT, VERSION = "marey.project", 1
# Maximum number of clips, and of characters of the page's state.
MAX_CLIPS = 500
MAX_STATE_CHARS = 2_000_000


class ProjectClip(Value):
    """A clip of a project: its id in the page's state, its file in the folder, and which clip of the file it is."""

    id: str
    file: str
    clip: str | None = None
    trim_rest: bool = True


class ProjectContent(Value):
    """The content of a project file: clips, and the page's state, which only the page reads."""

    clips: tuple[ProjectClip, ...]
    state: dict[str, object]


class SaveProject(Message, do="project_save"):
    """Save the open clips and the page's state to a project file in the folder.

    Clips with changes are saved first, as by `SaveMotion`. Other files are never overwritten: `name` must be new, or
    that of the project that is open.
    """

    name: str
    state: dict[str, object]


class ProjectSaved(Value):
    """The name of the project file, the clips that were saved, and notes."""

    file: str
    motions: tuple[MotionInfo, ...]
    notes: tuple[str, ...]


class OpenProject(Message, do="project_open"):
    """Open a project in place of the open clips: a file in the open folder, or an absolute path."""

    path: str


class ProjectOpened(Value):
    """The clips, their ids in the saved state (in the same order), the state, and notes on what could not be opened."""

    folder: str
    motions: tuple[MotionInfo, ...]
    ids: tuple[str, ...]
    state: dict[str, object]
    notes: tuple[str, ...]


class ListProjects(Message, do="project_list"):
    """List the projects in the open folder."""


class ProjectList(Value):
    """Projects in the open folder, and the name of the open project; "" if there is none."""

    files: tuple[str, ...]
    open: str


def read_project(path: str | os.PathLike[str]) -> ProjectContent:
    """Read a project file. Damaged files raise typed errors."""
    content = read_json(path, FORMAT, VERSION)
    given = {key: value for key, value in content.items() if key not in ("format", "version")}
    with validating(path, FORMAT):
        project: ProjectContent = decode(ProjectContent, given)
        if len(project.clips) > MAX_CLIPS:
            raise InvalidValue(f"expected at most {MAX_CLIPS} clips, got {len(project.clips)}")
    return project


def write_project(path: str | os.PathLike[str], project: ProjectContent, *, replace: bool) -> None:
    """Write a project file. Raise `FileExistsError` if the name is taken, unless `replace`."""
    clips = [each.fields() for each in project.clips]
    write_bytes(path, [encode_json(FORMAT, VERSION, {"clips": clips, "state": project.state})], replace=replace)


@command(ListProjects, reads=True)
def list_projects(session: Session, message: ListProjects) -> ProjectList:
    """List the projects in the open folder."""
    folder = session.places.folder
    names = sorted(os.listdir(folder.root)) if folder is not None else []
    return ProjectList(tuple(name for name in names if name.endswith(SUFFIX)), session.state.get("project", ""))


@command(SaveProject)
def save_project(session: Session, message: SaveProject) -> ProjectSaved:
    """Save clips with changes, then the project."""
    folder = session.places.folder
    if folder is None:
        raise InvalidValue("no folder is open; open the folder in which the project should be")
    if len(json.dumps(message.state)) > MAX_STATE_CHARS:
        raise InvalidValue("the state of the page is too large to be saved")
    name = message.name.strip().removesuffix(SUFFIX)
    if not name or name != fit_name(name) or name.startswith("."):
        raise InvalidValue(f"expected a name such as 'walks', got {message.name[:80]!r}", parameter="name")
    path = folder.inside(f"{name}{SUFFIX}")
    is_own = session.state.get("project") == path.name
    if path.exists() and not is_own:
        free = free_name(name, lambda tried: (folder.root / f"{tried}{SUFFIX}").exists(), gap="_")
        raise InvalidValue(f"{path.name} already exists; choose another name, such as {free!r}", parameter="name")
    changed, notes, clips = [], list[str](), list[ProjectClip]()
    for motion in session.motions.ids():
        try:
            saved = _save_clip(session, motion)
        except MareyError as error:
            notes.append(f"{session.motions.recording(motion).name} is not in the project: {error}")
            continue
        if saved:
            changed.append(motion)
        opened = session.motions.opened(motion)
        clips.append(ProjectClip(motion, opened.file, opened.clip, opened.now.recording is not opened.recording))
    try:
        write_project(path, ProjectContent(tuple(clips), message.state), replace=is_own)
    except FileExistsError:
        raise UnwritableFile("another program has just taken this name; choose another", path=path.name) from None
    session.state["project"] = path.name
    session.recent.add("project", path)
    return ProjectSaved(path.name, tuple(session.info(each) for each in changed), tuple(notes))


def _save_clip(session: Session, motion: str) -> bool:
    """Save what has changed of a clip to the folder. Return whether anything was saved."""
    from marey.studio.exporting import save_edited, write_annotations

    opened = session.motions.opened(motion)
    if opened.is_edited or opened.where == "uploads":
        session.motions.mark_file(motion, save_edited(session.places, opened))
        return True
    if isinstance(opened.now.recording, Motion) and session.info(motion).unsaved:
        write_annotations(session.places, opened)
        session.motions.mark_saved(motion)
        return True
    return False


@command(OpenProject)
def open_project(session: Session, message: OpenProject) -> ProjectOpened:
    """Open a project in place of the open clips."""
    from marey.studio.panels.look import open_recording

    path = _find_project(session, message.path)
    project = read_project(path)
    if session.places.folder is None or path.parent != session.places.folder.root:
        session.open_folder(Folder(path.parent))
    for motion in session.motions.ids():
        session.motions.close(motion)
    names, ids, notes = [], [], []
    for each in project.clips:
        try:
            settings = LoadSettings(clip=each.clip, trim_rest=each.trim_rest)
            opened = open_recording(session.places, each.file, "folder", settings)
            name = session.motions.add(opened)
        except MareyError as error:
            notes.append(str(error))
            continue
        if each.trim_rest and isinstance(opened.recording, Motion):
            session.motions.trim_rest(name)
        names.append(name)
        ids.append(each.id)
    session.state["project"] = path.name
    session.recent.add("project", path)
    folder = session.places.folder
    infos: Any = tuple(session.info(name) for name in names)
    return ProjectOpened("" if folder is None else folder.name, infos, tuple(ids), project.state, tuple(notes))


def _find_project(session: Session, path: str) -> Path:
    if not path.endswith(SUFFIX):
        raise InvalidValue(f"expected a project file, whose name ends with {SUFFIX}")
    folder = session.places.folder
    is_recent = any(str(each) == path for _, each in session.recent.entries())
    if is_recent and session.can_browse:
        return Path(path).resolve()
    if folder is None:
        raise InvalidValue("no folder is open; open the folder of the project first")
    return folder.inside(path)
