"""What the panel Find keeps for a session: its files, the web, the last search, and the space that is aimed in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.errors import FileError, InvalidValue

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.core.skeleton import Skeleton
    from marey.studio.motions import Opened
    from marey.studio.panels.find_messages import SearchDone, SearchWeb, SpaceMade, WebBuilt, Whereabouts
    from marey.studio.panels.find_sources import Source
    from marey.studio.session import Session

# Files of a kind that are kept: the newest.
_MOST_FILES = 2

# A motion that was open: its id and the revision of its frames; a file: its path in the folder.
Key = tuple[str, int] | str


@dataclass(slots=True, eq=False)
class Search:
    """A search that was made.

    query, how : what was sought, and how, as the worker takes it.
    asked, told : the message, and its answer.
    matches, points : as `MatchTile` has them, and all points of their tiles.
    """

    number: int
    query: dict[str, Any]
    how: dict[str, Any]
    asked: SearchWeb
    told: SearchDone
    matches: list[dict[str, Any]]
    points: Any


@dataclass(slots=True, eq=False)
class Aim:
    """A space that is aimed in.

    space : its file.
    stands : rigid2d of where its figure stands.
    like : a motion of it, as a whole.
    made_from : the motion that was sought, or "" for a space from a file.
    motion : the motion that it has made last.
    told : what was said of it, with the last answer in place of the first.
    """

    space: str
    stands: list[float]
    like: Motion
    made_from: tuple[str, ...]
    motion: str | None = None
    told: SpaceMade | None = None


@dataclass(slots=True, eq=False)
class Finding:
    """One session's.

    folder : for files.
    web : the file of the web that is searched, "" while there is none.
    told : what was said of it.
    clips : for each clip of the web where it is from, and its name within its file; None for those from nowhere.
    figure : the skeleton of all of them.
    """

    folder: Path
    web: str = ""
    told: WebBuilt | None = None
    clips: list[tuple[Key, str] | None] = field(default_factory=list)
    figure: Skeleton | None = None
    search: Search | None = None
    aim: Aim | None = None
    _count: int = 0

    def next_number(self) -> int:
        """One that was not used before."""
        self._count += 1
        return self._count

    def new_file(self, kind: str) -> str:
        """The path of a new file of a kind; the oldest ones go, but for those in use."""
        used = {self.web, "" if self.aim is None else self.aim.space}
        for old in sorted(self.folder.glob(f"{kind}-*.npz"))[:-_MOST_FILES]:
            if str(old) not in used:
                old.unlink(missing_ok=True)
        return str(self.folder / f"{kind}-{self.next_number():06d}.npz")

    def take_web(self, file: str, clips: list[tuple[Key, str] | None], figure: Skeleton, told: WebBuilt) -> WebBuilt:
        """Search this web from now on; what was found in the one before is no more, what is aimed stays."""
        self.web, self.clips, self.figure, self.told = file, clips, figure, told
        self.search = None
        return told

    def searched(self, number: int) -> Search:
        """The last search, which has to be the one that is asked for."""
        if self.search is None or self.search.number != number:
            raise InvalidValue("these matches are no longer there; search again")
        return self.search

    def aiming(self) -> Aim:
        """The space that is aimed in."""
        if self.aim is None:
            raise InvalidValue("there is no space to aim in yet; make one of matches first")
        return self.aim

    def key(self, session: Session, motion: str) -> Key:
        """What a web knows an open motion by."""
        opened = session.motions.opened(motion)
        return motion, opened.now.revision

    def files(self, session: Session, keys: list[Key]) -> tuple[list[tuple[str, Path]], list[str]]:
        """The folder's files, but for those that are open and among `keys`; and why some may not be read."""
        opened = [session.motions.opened(key[0]) for key in keys if isinstance(key, tuple)]
        open_already = {each.file for each in opened if each.where == "folder"}
        listed = session.places.listed().files
        found: list[tuple[str, Path]] = []
        refused: list[str] = []
        for entry in listed:
            if entry.path in open_already:
                continue
            try:
                found.append((entry.path, session.places.find(entry.path, "folder")))
            except FileError as error:
                refused.append(str(error))
        return found, refused

    def clip_of(self, session: Session, motion: str) -> int | None:
        """Which clip of the web an open motion is; None for one from outside, or one that has changed since."""
        opened = session.motions.opened(motion)
        wanted: list[tuple[Key, str]] = [(self.key(session, motion), "")]
        if opened.where == "folder" and opened.now.revision == opened.steps[0].revision:
            wanted += self._of_file(opened)
        return next((self.clips.index(each) for each in wanted if each in self.clips), None)

    def sources(self, session: Session, names: Iterable[str]) -> dict[str, Source]:
        """Where clips of the web are from, by their names: motions that are open as they were, and files."""
        assert self.told is not None
        return {name: self._source(session, self.clips[self.told.clips.index(name)]) for name in set(names)}

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

    def where(self, session: Session, motion: str) -> Whereabouts:
        """Whether a motion is in the web as it stands."""
        from marey.studio.panels.find_messages import Whereabouts

        if self.clip_of(session, motion) is not None:
            return Whereabouts("inside")
        if not self._fits(session.motions.motion(motion)):
            return Whereabouts("figure")
        before = {each[0][0] for each in self.clips if each is not None and isinstance(each[0], tuple)}
        opened = session.motions.opened(motion)
        of_file = opened.where == "folder" and any(each in self.clips for each in self._of_file(opened))
        return Whereabouts("changed" if motion in before or of_file else "outside")

    def _fits(self, motion: Motion) -> bool:
        """Whether a motion is of the web's figure, as a search for it will ask."""
        from marey.core.placement import check_same_skeleton

        if self.figure is None:
            return False
        try:
            check_same_skeleton(self.figure, motion.skeleton, "a web")
        except InvalidValue:
            return False
        return True

    @staticmethod
    def _of_file(opened: Opened) -> list[tuple[Key, str]]:
        """What a web knows the motion of a file by."""
        return [(opened.file, opened.clip or ""), (opened.file, "")] if opened.file else []


def finding_of(session: Session) -> Finding:
    """What the panel has kept for a session."""

    def begin() -> Finding:
        folder = session.places.own / "find"
        folder.mkdir(exist_ok=True)
        return Finding(folder)

    return session.kept.once("find", begin)
