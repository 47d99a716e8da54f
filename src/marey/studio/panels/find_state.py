"""State of the Find panel: files, the match web, the last search, and the current parametric motion.

Match webs and parametric motions are read from and written to the open folder only.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.errors import FileError, InvalidValue
from marey.io.folder import copy_file
from marey.studio.panels.author_files import check_name, find_files, find_result, get_open_folder, kind_in_folder
from marey.studio.panels.find_messages import ClipStatus, SavedFile, SavedKind
from marey.studio.places import Places

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.core.skeleton import Skeleton
    from marey.studio.motion_history import Opened
    from marey.studio.panels.find_messages import SearchDone, SearchWeb, SpaceMade, WebBuilt
    from marey.studio.panels.find_sources import Source
    from marey.studio.recipes import CodeRecipe
    from marey.studio.session import Session

_KINDS: dict[str, SavedKind] = {"web": "web", "parametric": "space"}
_SUFFIX = ".npz"
# Maximum bytes of a file.
_MAX_BYTES = 2**30
# Maximum number of temporary files of each kind; the oldest are removed.
_MAX_FILES = 2

# For an open motion, its id and revision; for a file, its path in the folder.
Key = tuple[str, int] | str


@dataclass(slots=True, eq=False)
class Search:
    """A completed search.

    query, how : the query and the options for the worker.
    asked, reply : the message and its reply.
    matches : the fields of each `MatchTile`, except `number` and `points`.
    points : (N, K, 3) points of all tiles in millimeters, concatenated: N frames, K joints.
    """

    number: int
    query: dict[str, Any]
    how: dict[str, Any]
    asked: SearchWeb
    reply: SearchDone
    matches: list[dict[str, Any]]
    points: Any


@dataclass(slots=True, eq=False)
class Aim:
    """The current parametric motion.

    space : its file.
    stands : placement (theta, x, z) of its character.
    made_from : id of the motion with the example, or () for a space from a file.
    motion : id of its last motion.
    reply : its description, with the last motion.
    """

    space: str
    stands: list[float]
    made_from: tuple[str, ...]
    motion: str | None = None
    reply: SpaceMade | None = None


@dataclass(slots=True, eq=False)
class FindState:
    """State of the Find panel in one session.

    folder : for temporary files.
    web : path of the current match web, "" if there is none.
    reply : description of the web.
    clips : source of each clip of the web, and the clip's name in its file; None if unknown.
    skeleton : the skeleton of all clips of the web.
    search, aim : the last search, and the current parametric motion.
    """

    folder: Path
    web: str = ""
    reply: WebBuilt | None = None
    clips: list[tuple[Key, str] | None] = field(default_factory=list)
    skeleton: Skeleton | None = None
    search: Search | None = None
    aim: Aim | None = None
    _count: int = 0

    def next_number(self) -> int:
        """Return a number that is not in use yet."""
        self._count += 1
        return self._count

    def new_file(self, kind: str) -> str:
        """Return the path for a new file of a kind, "web" or "space". Remove the oldest files that are not in use."""
        used = {self.web, "" if self.aim is None else self.aim.space}
        for old in sorted(self.folder.glob(f"{kind}-*.npz"))[:-_MAX_FILES]:
            if str(old) not in used:
                old.unlink(missing_ok=True)
        return str(self.folder / f"{kind}-{self.next_number():06d}.npz")

    def set_web(self, file: str, clips: list[tuple[Key, str] | None], skeleton: Skeleton, reply: WebBuilt) -> WebBuilt:
        """Make a web the current one. Discard the last search, but not the parametric motion."""
        self.web, self.clips, self.skeleton, self.reply = file, clips, skeleton, reply
        self.search = None
        return reply

    def get_search(self, number: int) -> Search:
        """Return the last search. Raise an error if its number is not `number`."""
        if self.search is None or self.search.number != number:
            raise InvalidValue("these matches are out of date; search again")
        return self.search

    def get_aim(self) -> Aim:
        """Return the current parametric motion. Raise an error if there is none."""
        if self.aim is None:
            raise InvalidValue("no target control yet; press “Create target control” first")
        return self.aim

    def key(self, session: Session, motion: str) -> Key:
        """Return the key of an open motion."""
        opened = session.motions.opened(motion)
        return motion, opened.now.revision

    def files(self, session: Session, keys: list[Key]) -> tuple[list[tuple[str, Path]], list[tuple[str, FileError]]]:
        """List the folder's files as (name, path), except those open under `keys`, and the refused ones with errors."""
        opened = [session.motions.opened(key[0]) for key in keys if isinstance(key, tuple)]
        open_already = {each.file for each in opened if each.where == "folder"}
        listed = session.places.list_files().files
        found: list[tuple[str, Path]] = []
        refused: list[tuple[str, FileError]] = []
        for entry in listed:
            if entry.path in open_already:
                continue
            try:
                found.append((entry.path, session.places.find(entry.path, "folder")))
            except FileError as error:
                refused.append((entry.path, error))
        return found, refused

    def clip_of(self, session: Session, motion: str) -> int | None:
        """Return the index of an open motion among the web's clips; None if it is not in the web or has changed."""
        opened = session.motions.opened(motion)
        wanted: list[tuple[Key, str]] = [(self.key(session, motion), "")]
        if opened.where == "folder" and opened.is_as_loaded:
            wanted += self._of_file(opened)
        return next((self.clips.index(each) for each in wanted if each in self.clips), None)

    def sources(self, session: Session, names: Iterable[str]) -> dict[str, Source]:
        """Return the source of each named clip: an open motion if unchanged, or a file; None if it is gone."""
        assert self.reply is not None
        return {name: self._source(session, self.clips[self.reply.clips.index(name)]) for name in set(names)}

    def find_recipe(self, session: Session, clip: str | None, example: str) -> CodeRecipe | None:
        """Return the recipe of the source of a clip; None if it is unknown.

        clip : name of a clip of the web; None for the open motion `example`.
        """
        from marey.studio.panel_recipes import file_recipe

        if clip is None:
            return session.motions.recipe(example) if example in session.motions.ids() else None
        assert self.reply is not None
        found = self.clips[self.reply.clips.index(clip)]
        if found is None or found[1]:  # one of several clips of a file
            return None
        key = found[0]
        if isinstance(key, str):
            return file_recipe(key)
        return session.motions.recipe(key[0]) if key[0] in session.motions.ids() else None

    @staticmethod
    def _source(session: Session, clip: tuple[Key, str] | None) -> Source:
        if clip is None:
            return None
        key, part = clip
        if isinstance(key, str):
            with suppress(FileError):
                return [str(session.places.find(key, "folder")), part]
            return None
        motion, revision = key
        if motion not in session.motions.ids() or session.motions.opened(motion).now.revision != revision:
            return None
        return session.motions.motion(motion)

    def get_status(self, session: Session, motion: str) -> ClipStatus:
        """Return whether an open motion, in its current state, is in the web."""
        if self.clip_of(session, motion) is not None:
            return ClipStatus("inside")
        if not self._fits(session.motions.motion(motion)):
            return ClipStatus("other_skeleton")
        before = {each[0][0] for each in self.clips if each is not None and isinstance(each[0], tuple)}
        opened = session.motions.opened(motion)
        of_file = opened.where == "folder" and any(each in self.clips for each in self._of_file(opened))
        return ClipStatus("changed" if motion in before or of_file else "outside")

    def _fits(self, motion: Motion) -> bool:
        """Return whether a motion has the web's skeleton."""
        from marey.core.placement import check_same_skeleton

        if self.skeleton is None:
            return False
        try:
            check_same_skeleton(self.skeleton, motion.skeleton, "a web")
        except InvalidValue:
            return False
        return True

    @staticmethod
    def _of_file(opened: Opened) -> list[tuple[Key, str]]:
        """Return the keys under which a motion loaded from a file may be stored in `clips`."""
        return [(opened.file, opened.clip or ""), (opened.file, "")] if opened.file else []


def get_find_state(session: Session) -> FindState:
    """Return the panel's state in a session."""

    def create() -> FindState:
        folder = session.places.own / "find"
        folder.mkdir(exist_ok=True)
        return FindState(folder)

    return session.state.get_or_create("find", create)


def list_saved(places: Places) -> tuple[SavedFile, ...]:
    """List the match webs and spaces in the folder and its subfolders. Read only the format tag of each file."""
    return tuple(SavedFile(path, kind) for path, kind in find_files(places, _SUFFIX, _KINDS))


def copy_saved(places: Places, path: str, kind: SavedKind, output: str) -> None:
    """Copy a file from the folder to `output`, a path of the session. Later changes do not affect the copy."""
    shutil.copyfile(find_result(places, path, kind, _KINDS, _MAX_BYTES), output)


def save_into(places: Places, file: str, name: str, kind: SavedKind, *, replace: bool) -> tuple[str, bool]:
    """Copy a file of the session to the folder. Return its name, and whether the name was taken and nothing was saved.

    Only files of the same kind are overwritten, and only with `replace`.
    """
    called = f"{check_name(name.removesuffix(_SUFFIX))}{_SUFFIX}"
    target = get_open_folder(places).inside(called)
    if target.exists() and kind_in_folder(target, _KINDS) != kind:
        raise InvalidValue(f"{called} already exists and is a different kind of file; choose another name")
    try:
        copy_file(file, target, replace=replace)
    except FileExistsError:
        return called, True
    return called, False
