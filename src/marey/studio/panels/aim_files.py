"""Open motions as files for the worker, so that what is asked of one again and again is not sent every time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marey.studio.session import Session

# Files that are kept: the newest.
_MOST_FILES = 12


class MotionFiles:
    """A folder of one session's own with motions in it, each as it stood when it was first asked for."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._files: dict[tuple[str, int], Path] = {}
        self._count = 0

    def file_of(self, session: Session, motion: str) -> str:
        """The file of an open motion, written where it is not there yet."""
        from marey.io import save

        key = (motion, session.motions.opened(motion).now.revision)
        path = self._files.pop(key, None)
        if path is None:
            self._count += 1
            path = self._folder / f"{self._count}.npz"
            save(session.motions.motion(motion), path)
        self._files[key] = path
        while len(self._files) > _MOST_FILES:
            old = self._files.pop(next(iter(self._files)))
            for gone in (old, old.with_suffix(".marey.json")):
                gone.unlink(missing_ok=True)
        return str(path)


def motion_files(session: Session) -> MotionFiles:
    """Those of a session."""
    return session.kept.once("motion_files", lambda: MotionFiles(session.places.own / "motions"))
