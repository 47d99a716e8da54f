"""Load a file for the page and collect its warnings."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

from marey.core.motion import Motion
from marey.errors import FileError, MareyWarning
from marey.io.files import MARKER_SUFFIXES
from marey.studio.messages import Where
from marey.studio.motions import Figure, Opened
from marey.studio.places import Places

# Warnings are captured for the whole process, so files are loaded one at a time.
_LOADING = threading.Lock()


def open_recording(places: Places, path: str, where: Where, clip: str | None = None) -> Opened:
    """Load a file from the folder or the uploads."""
    found = places.find(path, where)
    try:
        with _LOADING, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MareyWarning)
            clips, figure = _load(found, clip)
    except FileError as error:
        raise type(error)(_reword_error(error.message, found), path=path, line=error.line) from None
    texts = tuple(_strip_folder(str(each.message), found) for each in caught if issubclass(each.category, MareyWarning))
    return Opened(figure, where, path, found, clips, clip, (*texts, *_rest_pose_warning(figure)))


def _rest_pose_warning(figure: Figure) -> tuple[str, ...]:
    """Warn about a leading rest pose, which would distort blends and metrics."""
    from marey.io.rest import starts_with_rest_pose

    if isinstance(figure, Motion) and starts_with_rest_pose(figure):
        return ("frame 0 is a rest pose (T-pose), not part of the motion; the Blend panel can skip it",)
    return ()


def _load(path: Path, clip: str | None) -> tuple[tuple[str, ...], Figure]:
    from marey.io.loading import clip_names, load_markers, load_motion

    if path.suffix.lower() in MARKER_SUFFIXES:
        return (), load_markers(path)
    clips = clip_names(path)
    return clips, load_motion(path, clip=clip)


def _reword_error(text: str, path: Path) -> str:
    """Reword a file error for the page: a remedy the page offers, and no folder path."""
    beside = _strip_folder(text, path).replace(f" in {str(path.parent)!r}", " next to it")
    before, found, _ = beside.partition("; name it with load(..., skeleton=")
    return f"{before}; drop the .asf file together with it, or put it in the folder" if found else beside


def _strip_folder(text: str, path: Path) -> str:
    """Remove the folder path from a message."""
    return text.replace(f"{path.parent}/", "")
