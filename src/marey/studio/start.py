"""The start page: samples, folders, and what was opened last."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from marey.core.motion import Motion
from marey.errors import InvalidValue, UnreadableFile
from marey.io.files import split_name
from marey.studio.folder import SUFFIXES, Folder
from marey.studio.messages import FolderList, Message, MotionInfo, Value
from marey.studio.motion_history import Opened
from marey.studio.panel_recipes import sample_recipe
from marey.studio.recipes import CodeRecipe
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session

# Maximum number of folders that are listed, and of files that are counted.
_MAX_FOLDERS = 500
_MAX_COUNTED = 1000


class StartPage(Message, do="start_page"):
    """Get what the start page offers."""


class SampleEntry(Value):
    """A generated clip: its name, and what it shows."""

    name: str
    about: str


class RecentEntry(Value):
    """A recently opened folder or project."""

    kind: Literal["folder", "project"]
    name: str
    path: str


class StartInfo(Value):
    """What the start page offers. If other machines can connect, `can_browse` is false: the folder stays as it is."""

    samples: tuple[SampleEntry, ...]
    recent: tuple[RecentEntry, ...]
    can_browse: bool


class OpenSample(Message, do="open_sample"):
    """Open a generated clip. `slide` makes its feet slide, in m/s. Without a `name`, it has the name of the sample."""

    sample: str
    options: dict[str, float]
    slide: float = 0.0
    name: str = ""


class BrowseFolder(Message, do="folder_browse"):
    """List the folders in a folder; "" is the open one, or the user's home."""

    path: str = ""


class FolderView(Value):
    """A folder: its path, that of its parent ("" if there is none), its folders, and its number of motion files."""

    path: str
    parent: str
    folders: tuple[str, ...]
    motions: int


class OpenFolder(Message, do="folder_open"):
    """Open another folder. Open clips stay open."""

    path: str


@command(StartPage, reads=True)
def get_start_page(session: Session, message: StartPage) -> StartInfo:
    """List samples and recent folders."""
    from marey.samples.catalog import CATALOG

    samples = tuple(SampleEntry(name, each.what) for name, each in CATALOG.items())
    recent = session.recent.entries() if session.can_browse else []
    entries = tuple(
        RecentEntry(kind, path.name.removesuffix(".marey-project.json"), str(path)) for kind, path in recent
    )
    return StartInfo(samples, entries, session.can_browse)


@command(OpenSample)
def open_sample(session: Session, message: OpenSample) -> MotionInfo:
    """Open a generated clip."""
    from marey.samples import sample

    options: dict[str, Any] = dict(message.options)
    motion = sample(message.sample, **options).motion
    recipe = sample_recipe(motion.name, message.sample, options)
    if message.slide:
        motion, recipe = _slide(motion, message.slide, recipe)
    motion = replace(motion, name=message.name[:80] or motion.name)
    return session.info(session.motions.add(Opened(motion, recipe=recipe)))


def _slide(motion: Motion, speed: float, recipe: CodeRecipe) -> tuple[Motion, CodeRecipe]:
    """Return a motion whose body moves forward too fast by `speed` m/s, so that its feet slide."""
    drift = np.outer(np.arange(len(motion)) / motion.fps, (0.0, 0.0, speed))
    parts = (
        "replace(", recipe, ", root_positions=", recipe, ".root_positions + np.outer(np.arange(len(", recipe, ")) / ",
        recipe, f".fps, (0.0, 0.0, {speed!r})))",
    )  # fmt: skip
    imports = ("from dataclasses import replace", "import numpy as np")
    return replace(motion, root_positions=motion.root_positions + drift), CodeRecipe("sliding", parts, imports)


@command(BrowseFolder, reads=True)
def browse_folder(session: Session, message: BrowseFolder) -> FolderView:
    """List the subfolders of a folder."""
    path = _find_folder(session, message.path)
    try:
        entries = sorted(os.scandir(path), key=lambda each: each.name.lower())
        folders = [each.name for each in entries if not each.name.startswith(".") and each.is_dir()]
        names = [each.name for each in entries if not each.name.startswith(".") and not each.is_dir()]
    except OSError as error:
        raise UnreadableFile((error.strerror or str(error)).lower(), path=path) from None
    motions = sum(split_name(name)[1] in SUFFIXES for name in names[:_MAX_COUNTED])
    parent = "" if path.parent == path else str(path.parent)
    return FolderView(str(path), parent, tuple(folders[:_MAX_FOLDERS]), motions)


@command(OpenFolder)
def open_folder(session: Session, message: OpenFolder) -> FolderList:
    """Open another folder."""
    session.open_folder(Folder(_find_folder(session, message.path)))
    return session.places.list_files()


def _find_folder(session: Session, path: str) -> Path:
    if not session.can_browse:
        raise InvalidValue("other machines can connect, so the folder cannot be changed; start `marey studio FOLDER`")
    if "\0" in path or len(path) > 4000:
        raise InvalidValue("expected the path of a folder")
    folder = session.places.folder
    start = Path.home() if folder is None else folder.root
    found = Path(os.path.expanduser(path)) if path else start
    if not found.is_absolute():
        raise InvalidValue(f"expected an absolute path such as {start}, got {path[:80]!r}")
    if not found.is_dir():
        raise UnreadableFile("no such folder", path=path)
    return found.resolve()
