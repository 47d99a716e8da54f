"""Loading a file for a page, with what had to be warned of."""

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

# Warnings are caught for the whole process, so that files are loaded one at a time.
_LOADING = threading.Lock()


def open_figure(places: Places, path: str, where: Where, clip: str | None = None) -> Opened:
    """Load a file of the folder or of the uploads."""
    found = places.find(path, where)
    try:
        with _LOADING, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MareyWarning)
            clips, figure = _load(found, clip)
    except FileError as error:
        raise type(error)(_for_people(error.message, found), path=path, line=error.line) from None
    told = tuple(_without(str(each.message), found) for each in caught if issubclass(each.category, MareyWarning))
    return Opened(figure, where, path, found, clips, clip, (*told, *_rest(figure)))


def _rest(figure: Figure) -> tuple[str, ...]:
    """A pose that is no part of the motion would spoil blends and figures."""
    from marey.io.rest import starts_with_rest_pose

    if isinstance(figure, Motion) and starts_with_rest_pose(figure):
        return ("its first frame is a rest pose put before the motion; the panel Blend can leave it out",)
    return ()


def _load(path: Path, clip: str | None) -> tuple[tuple[str, ...], Figure]:
    from marey.io.loading import clip_names, load_markers, load_motion

    if path.suffix.lower() in MARKER_SUFFIXES:
        return (), load_markers(path)
    clips = clip_names(path)
    return clips, load_motion(path, clip=clip)


def _for_people(text: str, path: Path) -> str:
    """What is wrong with a file, with a remedy that a page has, and without the folder."""
    beside = _without(text, path).replace(f" in {str(path.parent)!r}", " beside it")
    before, found, _ = beside.partition("; name it with load(..., skeleton=")
    return f"{before}; drop the .asf along with it, or put it into the folder" if found else beside


def _without(text: str, path: Path) -> str:
    """A warning without the folder, which the page has no use for."""
    return text.replace(f"{path.parent}/", "")
