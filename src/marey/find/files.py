"""Save and load match webs. A file holds the clips, options and cells, so nothing has to be rebuilt."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from marey.core.motion import Motion
from marey.find.cells import PACKED_TYPES, Cells, compress_cells, restore_cells
from marey.find.match_web import MatchWeb
from marey.find.settings import NUMBERS, WebSettings
from marey.io.file_kinds import read_version
from marey.io.stored import FileFormat, Part

# Cells as version 3 packs them, see `marey.find.packing_kernels`: the intervals of each row, the differences of their
# edges and of the cells' values from what is predicted, and values whose differences are large.
_PACKED = {
    "row_intervals": Part("integer", ("rows",), is_raw=True),
    "edges": Part("integer", ("edges",), is_raw=True),
    "far_edges": Part("integer", ("far edges",), is_raw=True),
    "planes": Part("integer", ("planes",), is_raw=True),
    "lines": Part("integer", ("lines",), is_raw=True),
    "far_values": Part("integer", ("far values",), is_raw=True),
}
# Cells as they are in memory; version 2 stored them like this.
_CELLS = {
    "row_counts": Part("integer", ("rows",), is_raw=True),
    "run_first": Part("integer", ("runs",), is_raw=True),
    "run_lengths": Part("integer", ("runs",), is_raw=True),
    "run_bases": Part("integer", ("runs",), is_raw=True),
    "rises": Part("integer", ("rises",), is_raw=True),
}
# The file of each clip and how it was read, for `cut_originals`; paths are relative to the folder of the web.
_SOURCE = ("path", "format", "fps", "unit", "up", "evidence", "provenance")
_OTHERS = {
    "markers": Part("text", ("markers",)),
    "is_marker_set": Part("flag"),
    "remove_height": Part("flag"),
    "numbers": Part("float", (len(NUMBERS),)),
    "web_labels": Part("text", ("web labels",)),
    "has_labels": Part("flag"),
    "sources": Part("json", optional=True),
}
_FILE = FileFormat("marey.web", 3, {**_OTHERS, **_PACKED}, has_clips=True)
_OLD_FILE = FileFormat("marey.web", 2, {**_OTHERS, **_CELLS}, has_clips=True)


def save_web(web: MatchWeb, path: str | os.PathLike[str]) -> None:
    """Write the web to an .npz file. Of the symmetric grid of a clip with itself, only one half is written."""
    options = web.options
    n = len(web.clips)
    halves = (web.cells(p, q).upper() if p == q else web.cells(p, q) for p in range(n) for q in range(p, n))
    packed = zip(*(compress_cells(cells) for cells in halves), strict=True)
    parts = {
        "clips": web.clips,
        "markers": [options.markers] if isinstance(options.markers, str) else options.markers,
        "is_marker_set": isinstance(options.markers, str),
        "remove_height": options.remove_height,
        "numbers": options.numbers,
        "web_labels": options.labels or (),
        "has_labels": options.labels is not None,
        "sources": _describe_sources(web.clips, path),
        **{name: np.concatenate(each) for name, each in zip(_PACKED, packed, strict=True)},
    }
    _FILE.write(path, parts)


def load_web(path: str | os.PathLike[str]) -> MatchWeb:
    """Load a web from a file that `save_web` wrote."""
    form = _OLD_FILE if read_version(path) == _OLD_FILE.version else _FILE
    with form.open(path) as parts:
        clips = parts["clips"]
        if parts["sources"] is not None:
            clips = tuple(_add_source(*pair, path) for pair in zip(clips, parts["sources"], strict=True))
        read = _read_old_pairs if form is _OLD_FILE else _read_pairs
        return MatchWeb(clips, _read_options(parts), read(parts, [len(clip) for clip in clips]))


def _describe_sources(clips: Sequence[Motion], web: str | os.PathLike[str]) -> list[dict[str, Any]] | None:
    """Return where the clips came from; None if no clip came from a file."""
    if not any(clip.source.path for clip in clips):
        return None
    out = []
    for clip in clips:
        source = {name: getattr(clip.source, name) for name in _SOURCE} if clip.source.path else {}
        if source:
            source["path"] = _relative_path(source["path"], os.path.dirname(os.path.abspath(web)))
            source["provenance"] = [dict(step) for step in source["provenance"]]
        out.append(source)
    return out


def _relative_path(path: str, folder: str) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return os.path.abspath(path)


def _add_source(clip: Motion, source: dict[str, Any], web: str | os.PathLike[str]) -> Motion:
    if not source:
        return clip
    path = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(web)), source["path"]))
    return replace(clip, source=replace(clip.source, **{**source, "path": path}))


def _read_options(parts: dict[str, Any]) -> WebSettings:
    numbers = dict(zip(NUMBERS, parts["numbers"].tolist(), strict=True))
    return WebSettings(
        markers=parts["markers"][0] if parts["is_marker_set"] else parts["markers"],
        remove_height=parts["remove_height"],
        **numbers,
        labels=parts["web_labels"] if parts["has_labels"] else None,
    )


def _read_pairs(arrays: dict[str, Any], lengths: list[int]) -> tuple[Cells, ...]:
    """Unpack the cells of each clip pair; `lengths` are the numbers of frames of the clips."""
    packed = tuple(np.ascontiguousarray(arrays[name], dtype) for name, dtype in zip(_PACKED, PACKED_TYPES, strict=True))
    out = []
    for p, n_rows in enumerate(lengths):
        for q in range(p, len(lengths)):
            cells, packed = restore_cells((n_rows, lengths[q]), packed)
            out.append(cells.mirror() if p == q else cells)
    if any(len(each) for each in packed):
        raise ValueError("the arrays hold more cells than the clips have")
    return tuple(out)


def _read_old_pairs(arrays: dict[str, Any], lengths: list[int]) -> tuple[Cells, ...]:
    """Do the same as `_read_pairs` for files of earlier releases, whose cells are not packed."""
    counts, first, run_lengths, bases, rises = (arrays[name] for name in _CELLS)
    row = run = rise = 0
    out = []
    for p, n_rows in enumerate(lengths):
        for q in range(p, len(lengths)):
            pair_counts = counts[row : row + n_rows]
            n_runs = int(pair_counts.sum(dtype=np.int64))
            runs = slice(run, run + n_runs)
            n_rises = int(run_lengths[runs].sum(dtype=np.int64)) - n_runs
            cells = Cells(
                (n_rows, lengths[q]),
                pair_counts,
                first[runs],
                run_lengths[runs],
                bases[runs],
                rises[rise : rise + n_rises],
            )
            out.append(cells.mirror() if p == q else cells)
            row, run, rise = row + n_rows, run + n_runs, rise + n_rises
    if (row, run, rise) != (len(counts), len(first), len(rises)):
        raise ValueError(
            f"the arrays hold {len(counts)} rows, {len(first)} runs and {len(rises)} rises, but the clips "
            f"need {row}, {run} and {rise}"
        )
    return tuple(out)
