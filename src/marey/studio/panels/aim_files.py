"""Write open motions to files for the worker. Repeated requests then send a path instead of the motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marey.studio.session import Session

# Maximum number of files; the oldest are removed.
_MAX_FILES = 12


class MotionFiles:
    """A session's folder of motion files, one per motion and revision."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._files: dict[tuple[str, int], Path] = {}
        self._count = 0

    def file_of(self, session: Session, motion: str) -> str:
        """Return the path of an open motion's file, writing the file if necessary."""
        from marey.io import save

        key = (motion, session.motions.opened(motion).now.revision)
        path = self._files.pop(key, None)
        if path is None:
            self._count += 1
            path = self._folder / f"{self._count}.npz"
            save(session.motions.motion(motion), path)
        self._files[key] = path
        while len(self._files) > _MAX_FILES:
            old = self._files.pop(next(iter(self._files)))
            for gone in (old, old.with_suffix(".marey.json")):
                gone.unlink(missing_ok=True)
        return str(path)


def motion_files(session: Session) -> MotionFiles:
    """Return the motion files of a session."""
    return session.state.get_or_create("motion_files", lambda: MotionFiles(session.places.own / "motions"))
