"""Labels for the clips of a folder, from sidecars, CSV files or folder names.

A CSV file of labels has one label per line, after a header line::

    file,label,start,stop
    walk.bvh,walk,0,3.2
    walk.bvh,turn-left,3.2,
    fights/kick.bvh,kick,36f,90f

`file` is the path of the clip's file relative to the set's folder, with or without its suffix. `start` and `stop` are
seconds (``3.2``) or frames (``36f``), half-open; by default the beginning and end of the clip. Both count from the
first frame of the file, at the frame rate of the file, even if that frame is a rest pose that is skipped. Blank lines
and lines that begin with ``#`` are ignored.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from marey.core.arrays import check_index, check_type
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue, ParseError, UnreadableFile, UnwritableFile, similar
from marey.io.archive import write_json
from marey.io.files import file_digest, read_bytes, split_name
from marey.io.loading import clip_names, load_motion
from marey.io.sidecar import FORMAT, VERSION, find_entry, own_sidecar_path, read_sidecar, sidecar_path

__all__ = ["LabelRow", "add_label", "add_labels", "folder_labels", "label_rows", "read_label_csv", "strip_suffix"]

_HEADING = ("file", "label", "start", "stop")
Moment = int | float | None
StrPath = str | os.PathLike[str]


class LabelRow(NamedTuple):
    """One label for one file: `start` and `stop` as frames (int), seconds (float), or None for the clip's ends.

    `csv` and `line` are the file and line from which it was read, for error messages.
    """

    file: str
    label: str
    start: Moment
    stop: Moment
    csv: str = ""
    line: int | None = None


def add_label(path: StrPath, name: str, start: int | None = None, stop: int | None = None) -> Path:
    """Add a label to the sidecar of a motion file and keep its other entries. Return the path of the sidecar.

    Parameters
    ----------
    path : the motion file.
    name : name of the label.
    start, stop : half-open range in frames of the file, counting a leading rest pose; by default the entire file.

    An existing label is not added again.

    Examples
    --------
    >>> marey.save(walk, "walk.bvh")
    >>> marey.store.add_label("walk.bvh", "stroll", 0, 120).name
    'walk.marey.json'
    >>> marey.load("walk.bvh").labels.names
    ('stroll', 'walk')
    """
    if len(clip_names(path)) > 1:
        raise InvalidValue(
            f"{os.fspath(path)} holds several motions, but a sidecar can label only one; save each motion to its own "
            "file"
        )
    motion = load_motion(path, trim_rest=False)
    first = 0 if start is None else check_index(start, "start")
    end = len(motion) if stop is None else check_index(stop, "stop")
    (label,) = Labels((Label(name, first, end),))
    if label.stop > len(motion):
        raise InvalidValue(
            f"stop of label {name!r} must be at most {len(motion)}, the number of frames, not {label.stop}"
        )
    file, side = Path(path).name, sidecar_path(path)
    old = read_sidecar(path)
    new: dict[str, Any] = {"files": [file], "sha256": {file: file_digest(path)}, "frames": len(motion)}
    content: dict[str, Any] | None = new if old is None else find_entry(old, path)
    if content is None:  # it describes other content
        if old is not None and file in old.get("files", ()):
            raise UnwritableFile(f"describes an earlier version of {file}; delete it to label the new one", path=side)
        content, side = new, own_sidecar_path(path)
    entry, present = label._asdict(), content.get("labels", [])
    if entry in present:
        return side
    changed = {**content, "labels": sorted([*present, entry], key=lambda item: (item["start"], item["stop"]))}
    write_json(side, FORMAT, VERSION, changed)
    return side


def folder_labels(relative: str) -> tuple[LabelRow, ...]:
    """Return a label for each folder in a file's path: ``walk`` and ``happy`` for ``walk/happy/01.bvh``."""
    names = dict.fromkeys(relative.split("/")[:-1])
    return tuple(LabelRow(relative, name, None, None) for name in names)


def read_label_csv(path: StrPath) -> tuple[LabelRow, ...]:
    """Read the rows of a CSV file of labels, and check them as far as possible without the clips.

    Examples
    --------
    >>> import csv
    >>> with open("labels.csv", "w", newline="") as file:
    ...     csv.writer(file).writerows([("file", "label", "start", "stop"), ("walk.bvh", "stroll", 0.5, 2.0)])
    >>> row = marey.store.read_label_csv("labels.csv")[0]
    >>> row.label, row.start, row.stop  # seconds
    ('stroll', 0.5, 2.0)
    """
    shown = os.fspath(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ParseError("the text is not valid UTF-8; save the file as UTF-8", path=shown, line=line) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[LabelRow] = []
    columns: dict[str, int] | None = None
    try:
        for cells in reader:
            values = [cell.strip() for cell in cells]
            if not any(values) or values[0].startswith("#"):
                continue
            if columns is None:
                columns = _find_columns(values, shown, reader.line_num)
            else:
                rows.append(_parse_row(values, columns, shown, reader.line_num))
    except csv.Error as error:
        raise ParseError(f"not valid CSV: {error}", path=shown, line=reader.line_num) from None
    if columns is None:
        raise ParseError(f"expected the header line {','.join(_HEADING)}, got an empty file", path=shown)
    return tuple(rows)


def label_rows(folder: Path, given: Sequence[StrPath], files: tuple[str, ...]) -> dict[str, tuple[LabelRow, ...]]:
    """Collect the labels that `given` adds to each file, or to each clip of a file with several.

    Labels from sidecars are not included: they are read with the file.

    given : sources of labels, as in `MotionSet.open`. files : motion files relative to `folder`.
    """
    out: dict[str, tuple[LabelRow, ...]] = {}
    for source in given:
        check_type(source, (str, os.PathLike), "each of labels")
        if source == "sidecar":
            continue
        if source == "folders":
            rows = tuple(row for file in files for row in folder_labels(file))
        elif not os.path.exists(source):
            raise UnreadableFile("no such file; labels must be 'sidecar', 'folders' or a CSV file", path=source)
        else:
            rows = _match_files(read_label_csv(source), folder, files)
        for row in rows:
            out[row.file] = (*out.get(row.file, ()), row)
    return out


def add_labels(motion: Motion, rows: Iterable[LabelRow]) -> Motion:
    """Return the motion with labels added. It must have all frames of its file, at the file's rate."""
    new = [_label(motion, row) for row in rows]
    return replace(motion, labels=Labels(tuple(dict.fromkeys((*motion.labels, *new))))) if new else motion


def _find_columns(values: list[str], path: str, line: int) -> dict[str, int]:
    heading = [value.lower() for value in values]
    for name in _HEADING[:2]:
        if name not in heading:
            raise ParseError(
                f"expected the header line {','.join(_HEADING)}, got {','.join(values)[:60]!r}", path=path, line=line
            )
    return {name: heading.index(name) for name in _HEADING if name in heading}


def _parse_row(values: list[str], columns: dict[str, int], path: str, line: int) -> LabelRow:
    if len(values) <= max(columns["file"], columns["label"]):
        raise ParseError(
            f"expected a row with the columns {','.join(columns)}, got {','.join(values)[:60]!r}", path=path, line=line
        )
    cell = {name: values[k] if k < len(values) else "" for name, k in columns.items()}
    for name in ("file", "label"):
        if not cell[name]:
            raise ParseError(f"expected a {name} in this line, got none", path=path, line=line)
    start, stop = (_parse_moment(cell.get(name, ""), name, path, line) for name in ("start", "stop"))
    if start is not None and stop is not None and type(start) is type(stop) and start >= stop:
        raise ParseError(f"expected start before stop, got {cell['start']} and {cell['stop']}", path=path, line=line)
    return LabelRow(_plain(cell["file"]), cell["label"], start, stop, path, line)


def _plain(file: str) -> str:
    """Normalize a relative path: forward slashes, without empty or ``.`` components."""
    return "/".join(part for part in file.replace("\\", "/").split("/") if part not in ("", "."))


def _parse_moment(text: str, name: str, path: str, line: int) -> Moment:
    if not text:
        return None
    try:
        value: int | float = int(text[:-1]) if text.endswith("f") else float(text)
    except ValueError:
        value = -1
    if not 0 <= value < math.inf:
        raise ParseError(
            f"{name} must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not {text!r}",
            path=path,
            line=line,
        )
    return value


def _label(motion: Motion, row: LabelRow) -> Label:
    n_frames = len(motion)
    start = 0 if row.start is None else row.start if isinstance(row.start, int) else round(row.start * motion.fps)
    stop = n_frames if row.stop is None else row.stop if isinstance(row.stop, int) else round(row.stop * motion.fps)
    if isinstance(row.stop, float) and stop == n_frames - 1:
        stop = n_frames  # a stop at the clip's duration means the entire clip, including its last frame
    if not start < stop <= n_frames:
        raise ParseError(
            f"label {row.label!r} must be within {row.file!r}, which has {n_frames} frames ({motion.duration:.2f} s), "
            f"not frames {start} to {stop}",
            path=row.csv or None,
            line=row.line,
        )
    return Label(row.label, start, stop)


def _match_files(rows: tuple[LabelRow, ...], folder: Path, files: tuple[str, ...]) -> tuple[LabelRow, ...]:
    """Return the rows with complete file names. Raise an error for a name that is not in the folder."""
    by_name: dict[str, list[str]] = {}
    for file in files:
        by_name.setdefault(file, []).append(file)
        by_name.setdefault(strip_suffix(file), []).append(file)
    out = []
    for row in rows:
        # Clips of a file are named FILE:CLIP; only reading the file shows which exist.
        base, colon, _ = row.file.partition(":")
        found = by_name.get(row.file) or (by_name.get(base) if colon else None)
        if not found:
            raise ParseError(
                f"no motion file {row.file!r} in {str(folder)!r}{similar(row.file, by_name)}",
                path=row.csv,
                line=row.line,
            )
        if len(found) > 1:
            raise ParseError(f"{row.file!r} could be {' or '.join(found)}; add the suffix", path=row.csv, line=row.line)
        out.append(row if colon and row.file not in by_name else row._replace(file=found[0]))
    return tuple(out)


def strip_suffix(file: str) -> str:
    """Return a file name without its suffix."""
    return file[: len(file) - len(split_name(file)[1])]
