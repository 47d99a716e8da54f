"""`convert_folder`: convert all motions of a folder, or edit all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from marey.core.motion import Motion
from marey.errors import FileError, InvalidValue, MareyError, UnreadableFile, UnwritableFile
from marey.io.files import GLTF_SUFFIXES, MARKER_SUFFIXES, SAVE_SUFFIXES, split_name
from marey.io.folder import CLIP_SUFFIXES, describe_other, free_name, plain_name, walk_files
from marey.io.loading import clip_names, load_motion
from marey.io.saving import save
from marey.io.settings import LoadSettings, SaveSettings

# The format to write for files that keep their format; BVH for all others.
_KEPT_SUFFIXES = {".vrm": ".glb", **{suffix: suffix for suffix in SAVE_SUFFIXES}}
_MARKERS = "markers, not motion; `marey.solve` fits a skeleton to them"


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """Result of converting a file, or one of its animations.

    file, output : names relative to the two folders; output is "" if nothing was written.
    status : "converted", "skipped" or "failed". reason : why it was not converted.
    frames, fps : length and frame rate of the motion.
    """

    file: str
    output: str
    status: str
    reason: str = ""
    frames: int = 0
    fps: float = 0.0


@dataclass(frozen=True, slots=True)
class ConvertReport:
    """Result of converting all files of a folder."""

    files: tuple[ConvertedFile, ...]

    def count(self, status: str) -> int:
        """Return the number of files with a status."""
        return sum(file.status == status for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return all files, ready for JSON."""
        return {"files": [asdict(file) for file in self.files]}


def _refuse_existing(path: Path) -> None:
    raise UnwritableFile("this file already exists; delete it or choose another folder", path=path)


def convert_folder(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    to: str | None = "bvh",
    *,
    reading: LoadSettings | None = None,
    saving: SaveSettings | None = None,
    edit: Callable[[Motion], Motion] | None = None,
    check_existing: Callable[[Path], None] = _refuse_existing,
    progress: Callable[[ConvertedFile], None] | None = None,
) -> ConvertReport:
    """Convert all motions in a folder and its subfolders, of any format, and return a report of all files.

    Parameters
    ----------
    folder, output : the folder to read, and the folder to write, which is created.
    to : the format to write: "bvh", "fbx", "glb", "npz" or "usda". None keeps the format of each file; VRM
        becomes GLB, and other formats that can only be read become BVH.
    reading, saving : options of `load` and `save` for all files. Options that do not apply to a file are left out.
    edit : function that is applied to each motion before it is saved, such as `marey.clean`.
    check_existing : called with each file that would be replaced, to raise an error if it must stay. By default no file
        is replaced.
    progress : called with the result of each file.

    Each animation of an FBX or GLB file becomes a file of its own, unless GLB is written. Built results and markers are
    skipped.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("clips").mkdir()
    >>> marey.save(walk, "clips/walk.bvh")
    >>> report = marey.io.convert_folder("clips", "converted", to="glb")
    >>> report.count("converted"), report.files[0].status
    (1, 'converted')
    """
    suffix = None if to is None else "." + to.lower().removeprefix(".")
    if suffix is not None and suffix not in SAVE_SUFFIXES:
        known = ", ".join(each[1:] for each in SAVE_SUFFIXES)
        raise InvalidValue(f"to must be one of {known}, not {to!r}", parameter="to")
    source, target = Path(folder), Path(output)
    if not source.is_dir():
        raise UnreadableFile("no such folder" if not source.exists() else "is a file, expected a folder", path=folder)
    if split_name(target)[1] in (*CLIP_SUFFIXES, *SAVE_SUFFIXES) and not target.is_dir():
        raise UnwritableFile(
            "has the suffix of a file, but the clips of a folder are written to a folder; choose a name without a "
            "suffix",
            path=output,
        )
    if target.exists() and (not target.is_dir() or target.samefile(source)):
        raise UnwritableFile(
            "is a file, or the folder that is read; choose another folder for the results", path=output
        )
    done: list[ConvertedFile] = []
    taken: set[str] = set()
    for here, names in walk_files(source, skip=target):
        for name in names:
            kind = split_name(name)[1]
            if kind not in (*CLIP_SUFFIXES, *MARKER_SUFFIXES):
                continue
            relative = (here / name).relative_to(source)
            written = suffix or _KEPT_SUFFIXES.get(kind, ".bvh")
            for one in _convert_file(source, target, relative, written, taken, reading, saving, edit, check_existing):
                done.append(one)
                if progress is not None:
                    progress(one)
    if not done:
        raise UnreadableFile(f"holds no motion files; expected files of {', '.join(CLIP_SUFFIXES)}", path=folder)
    return ConvertReport(tuple(done))


def _convert_file(
    source: Path,
    target: Path,
    relative: Path,
    suffix: str,
    taken: set[str],
    reading: LoadSettings | None,
    saving: SaveSettings | None,
    edit: Callable[[Motion], Motion] | None,
    check_existing: Callable[[Path], None],
) -> list[ConvertedFile]:
    path, kind = source / relative, split_name(relative)[1]
    if kind in MARKER_SUFFIXES:
        return [ConvertedFile(relative.as_posix(), "", "skipped", _MARKERS)]
    if (other := describe_other(path)) is not None:
        return [ConvertedFile(relative.as_posix(), "", "skipped", f"holds a {other}, not a motion")]
    how = _select(reading, kind)
    try:
        clips = clip_names(path) if how.clip is None else ()
        wanted: list[str | None] = list(clips) if len(clips) > 1 else [how.clip]  # type: ignore[list-item]
        motions = [_load(path, LoadSettings(settings=how, clip=clip)) for clip in wanted]
        if edit is not None:
            motions = [edit(motion) for motion in motions]
        groups = [motions] if suffix in GLTF_SUFFIXES else [[motion] for motion in motions]
        out = []
        for group, clip in zip(groups, wanted, strict=False):
            stem = relative.stem if len(groups) == 1 else f"{relative.stem}.{plain_name(str(clip), '-_ ')}"
            name = free_name(stem, lambda n: (relative.parent / f"{n}{suffix}").as_posix().lower() in taken, gap="_")
            written = relative.parent / f"{name}{suffix}"
            taken.add(written.as_posix().lower())
            _make_folder((target / written).parent)
            if (target / written).exists():
                check_existing(target / written)
            save(group, target / written, settings=saving)
            frames, fps = sum(len(motion) for motion in group), group[0].fps
            out.append(ConvertedFile(relative.as_posix(), written.as_posix(), "converted", "", frames, fps))
        return out
    except MareyError as error:
        reason = error.sentence if isinstance(error, FileError) else str(error)
        return [ConvertedFile(relative.as_posix(), "", "failed", reason)]


def _select(reading: LoadSettings | None, kind: str) -> LoadSettings:
    """Return the settings without options that do not apply to files of a kind."""
    from marey.io.loading import list_unsuitable

    how = LoadSettings() if reading is None else reading
    without: dict[str, Any] = dict.fromkeys(list_unsuitable(kind))
    return LoadSettings(settings=how, **without)


def _load(path: Path, how: LoadSettings) -> Motion:
    """Load a motion; options that do not apply to its kind of NPZ file are left out."""
    try:
        return load_motion(path, settings=how)
    except InvalidValue as error:
        if error.parameter not in ("file_fps", "body_model") or getattr(how, error.parameter) is None:
            raise
        without: dict[str, Any] = {error.parameter: None}
        return _load(path, LoadSettings(settings=how, **without))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"cannot create the folder ({reason})", path=folder) from None
