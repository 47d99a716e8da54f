"""Write motions to files, for download or into the open folder, and their annotations to sidecars."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from marey.core.labels import Labels
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnreadableFile, UnwritableFile
from marey.io.files import SAVE_SUFFIXES, SIDECAR_SUFFIX, place_new
from marey.io.folder import create_hidden_folder
from marey.io.folder import free_name as find_free_name
from marey.io.rest import annotations_in_file
from marey.io.settings import SaveSettings
from marey.studio.folder import SUFFIXES, Folder
from marey.studio.motion_history import Opened
from marey.studio.places import Places, fit_name, suggest_file_name

_MAX_TRIES = 5


def export_motions(
    places: Places, motions: Sequence[Motion], suffix: str, name: str, settings: SaveSettings | None = None
) -> tuple[Path, Path | None]:
    """Write the motions to one file for download. Return its path, and the path of its sidecar if it has one."""
    from marey.io import save
    from marey.io.sidecar import sidecar_path

    if not motions:
        raise InvalidValue("no motion to export")
    if len(motions) > 1:  # a sidecar can describe only one
        motions = [replace(motion, contacts=None, labels=Labels()) for motion in motions]
    target = places.exports / f"{fit_name(name)}.{suffix}"
    target_side = target.with_name(target.stem + SIDECAR_SUFFIX)
    # A separate folder, because the sidecar of an earlier export could be mistaken for this one's.
    with tempfile.TemporaryDirectory(dir=places.own) as folder:
        temporary = Path(folder) / target.name
        save(list(motions) if len(motions) > 1 else motions[0], temporary, settings=settings)
        side = sidecar_path(temporary)
        has_side = side.is_file()
        if has_side:
            shutil.move(side, target_side)
        shutil.move(temporary, target)
    return target, target_side if has_side else None


def save_in_folder(
    places: Places,
    motion: Motion,
    suffix: str,
    name: str,
    settings: SaveSettings | None = None,
    *,
    overwrite: bool = False,
) -> str | None:
    """Save a motion and its sidecar to the open folder. Return the file's name, or None if the name is taken.

    Both files appear atomically, the sidecar first. Existing files are only overwritten with `overwrite`.
    """
    from marey.io import save
    from marey.io.sidecar import sidecar_path

    folder = _require_folder(places)
    if name != fit_name(name) or name.startswith("."):
        raise InvalidValue(
            f"expected a file name such as 'walk_2' without '/' and other special characters, got {name[:80]!r}"
        )
    if not overwrite and _is_taken(folder, name):
        return None
    target = folder.inside(f"{name}.{suffix}")
    placed: list[Path] = []
    try:
        with create_hidden_folder(folder.root) as hidden:
            temporary = hidden / target.name
            save(motion, temporary, settings=settings)
            for part in (sidecar_path(temporary), temporary):
                to = target.with_name(part.name)
                if not part.is_file():
                    to.unlink(missing_ok=True)  # the sidecar of what is replaced
                elif overwrite:
                    os.replace(part, to)
                else:
                    place_new(part, to)
                    placed.append(to)
    except FileExistsError:  # another file took the name in the meantime
        for part in placed:
            part.unlink(missing_ok=True)
        return None
    except OSError as error:
        for part in placed:
            part.unlink(missing_ok=True)
        why = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"cannot be written to the open folder ({why})", path=target.name) from None
    return target.name


def save_edited(places: Places, opened: Opened) -> Path:
    """Save an open motion to the folder, in the format of its file if that can be written. Return the file.

    The file is new, or the one to which the same motion was saved before, if that has not changed since. Other files,
    such as recordings, are never overwritten.
    """
    motion = opened.now.recording
    if isinstance(motion, Markers):
        raise InvalidValue("markers cannot be saved; use the file that they came from")
    suffix = Path(opened.file).suffix.lower()
    suffix = suffix if suffix in SAVE_SUFFIXES else ".glb"
    folder, path = _require_folder(places), opened.path
    if path is not None and path.parent == folder.root and opened.is_own_file:
        save_in_folder(places, motion, path.suffix[1:], path.stem, overwrite=True)
        return path
    for _ in range(_MAX_TRIES):  # another file may take the name in the meantime
        saved = save_in_folder(places, motion, suffix[1:], free_name(places, motion.name))
        if saved is not None:
            return folder.inside(saved)
    raise UnwritableFile(
        "cannot be written to the open folder, because other programs keep creating files with the same names"
    )


def free_name(places: Places, name: str) -> str:
    """Return a name similar to `name` that no motion or sidecar in the folder uses."""
    folder = _require_folder(places)
    return find_free_name(suggest_file_name(name), lambda tried: _is_taken(folder, tried), fit_name, gap="_")


def _require_folder(places: Places) -> Folder:
    if places.folder is None:
        raise InvalidValue("no folder is open; download the file instead, or start with `marey studio FOLDER`")
    return places.folder


def _is_taken(folder: Folder, name: str) -> bool:
    """Return whether a motion of that name exists in any format. All formats of a name share one sidecar."""
    names = {f"{name}{suffix}".lower() for suffix in (*SUFFIXES, ".asf", SIDECAR_SUFFIX)}
    try:
        there = os.listdir(folder.root)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnreadableFile(f"the open folder can no longer be read ({why})", path=folder.name) from None
    # Ignore case, as some file systems do.
    return any(each.lower() in names for each in there)


def write_annotations(places: Places, opened: Opened) -> Path:
    """Write contacts, labels and floor to the sidecar of the motion's file. Return the sidecar's path.

    Other entries of the sidecar stay, because they describe the file, not the edited motion.
    """
    from marey.io.sidecar import sidecar_path, write_sidecar

    now, first = opened.now.recording, opened.recording
    if not opened.file or isinstance(now, Markers) or isinstance(first, Markers):
        raise InvalidValue("this clip was not opened from a file, so it has no sidecar; export it first")
    if len(opened.clips) > 1:
        raise InvalidValue(
            f"{opened.file} contains {len(opened.clips)} clips, but a sidecar describes only one; export this one first"
        )
    path = places.find(opened.file, opened.where)
    contacts, labels = annotations_in_file(now, first)
    annotated = replace(first, contacts=contacts, labels=labels, source=replace(first.source, floor=now.source.floor))
    write_sidecar(annotated, path)
    return sidecar_path(path)
