"""Export motions as files: for download, or into the open folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnreadableFile, UnwritableFile
from marey.io.files import SIDECAR_SUFFIX
from marey.studio.folder import SUFFIXES, Folder
from marey.studio.places import Places, fit_name

_MAX_TRIED = 10_000


def export_motions(places: Places, motions: Sequence[Motion], suffix: str, name: str) -> tuple[Path, Path | None]:
    """Write the motions to one file for download. Returns its path, and the path of its sidecar if it has one."""
    from marey.io import save
    from marey.io.sidecar import sidecar_path

    if not motions:
        raise InvalidValue("no motion to export")
    if len(motions) > 1:  # a sidecar can describe only one
        motions = [replace(motion, contacts=None, labels=Labels()) for motion in motions]
    target = places.exports / f"{fit_name(name)}.{suffix}"
    beside = target.with_name(target.stem + SIDECAR_SUFFIX)
    # In a separate folder, so that the sidecar of an earlier export is not mistaken for this one's.
    with tempfile.TemporaryDirectory(dir=places.own) as folder:
        made = Path(folder) / target.name
        save(list(motions) if len(motions) > 1 else motions[0], made)
        side = sidecar_path(made)
        has_side = side.is_file()
        if has_side:
            shutil.move(side, beside)
        shutil.move(made, target)
    return target, beside if has_side else None


def save_in_folder(places: Places, motion: Motion, suffix: str, name: str) -> str | None:
    """Save a motion and its sidecar to the open folder. Returns its path there, or None if the name is taken.

    Both files appear atomically, the sidecar first. Existing files are never overwritten.
    """
    from marey.io import save
    from marey.io.sidecar import sidecar_path

    folder = _require_folder(places)
    if name != fit_name(name) or name.startswith("."):
        raise InvalidValue(
            f"expected a file name such as 'walk 2' without '/' and other special characters, got {name[:80]!r}"
        )
    if _is_taken(folder, name):
        return None
    target = folder.inside(f"{name}.{suffix}")
    placed: list[Path] = []
    try:
        with tempfile.TemporaryDirectory(prefix=".marey-", dir=folder.root) as hidden:
            made = Path(hidden) / target.name
            save(motion, made)
            for part in (sidecar_path(made), made):
                if part.is_file():
                    place_new(part, target.with_name(part.name))
                    placed.append(target.with_name(part.name))
    except FileExistsError:  # another file took the name in the meantime
        for part in placed:
            part.unlink(missing_ok=True)
        return None
    except OSError as error:
        for part in placed:
            part.unlink(missing_ok=True)
        why = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"cannot be written to the folder ({why})", path=target.name) from None
    return target.name


def free_name(places: Places, name: str) -> str:
    """Return a name similar to `name` that no motion or sidecar in the folder uses."""
    folder = _require_folder(places)
    base = fit_name(name).lstrip(".") or "motion"
    for k in range(1, _MAX_TRIED):
        tried = base if k == 1 else fit_name(f"{base[: 120 - 6]} {k}")
        if not _is_taken(folder, tried):
            return tried
    raise InvalidValue(f"the folder already has {_MAX_TRIED} files named {base!r}; choose another name")


def _require_folder(places: Places) -> Folder:
    if places.folder is None:
        raise InvalidValue("no folder is open; download the file instead, or start with `marey studio FOLDER`")
    return places.folder


def _is_taken(folder: Folder, name: str) -> bool:
    """Return whether a motion of that name exists in any format, because all of them share one sidecar."""
    names = {f"{name}{suffix}".lower() for suffix in (*SUFFIXES, ".asf", SIDECAR_SUFFIX)}
    try:
        there = os.listdir(folder.root)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnreadableFile(f"the folder can no longer be read ({why})", path=folder.name) from None
    # Ignore case, as some file systems do.
    return any(each.lower() in names for each in there)


def place_new(made: Path, target: Path) -> None:
    """Move a file to a new name; FileExistsError if it is taken. A hard link, unlike a rename, never overwrites."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: creating an empty file reserves the name
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        os.replace(made, target)
