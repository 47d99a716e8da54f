"""Save and load match webs. A file holds the clips, options and cells, so nothing has to be rebuilt."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import freeze_array
from marey.find.cells import Cells
from marey.find.match_web import MatchWeb
from marey.find.settings import NUMBERS, WebSettings
from marey.io import archive, clip_arrays

FORMAT = "marey.web"
VERSION = 2

_CELLS = ("row_counts", "run_first", "run_lengths", "run_bases", "rises")
_OWN = (
    "markers", "is_marker_set", "remove_height", "numbers", "web_labels", "has_labels",
    *_CELLS,
)  # fmt: skip
# Arrays in older files that are ignored.
_RETIRED = ("coarse",)


def save_web(web: MatchWeb, path: str | os.PathLike[str]) -> None:
    """Write the web to an .npz file. Of the symmetric grid of a clip with itself, only one half is written."""
    options = web.options
    is_set = isinstance(options.markers, str)
    markers = [options.markers] if isinstance(options.markers, str) else list(options.markers)
    n = len(web.clips)
    halves = [web.cells(p, q).upper() if p == q else web.cells(p, q) for p in range(n) for q in range(p, n)]
    arrays = {
        "markers": archive.text_array(markers, "markers"),
        "is_marker_set": np.array(is_set),
        "remove_height": np.array(options.remove_height),
        "numbers": np.array(options.numbers),
        "web_labels": archive.text_array(list(options.labels or ()), "labels"),
        "has_labels": np.array(options.labels is not None),
        **{name: np.concatenate([cells.arrays[k] for cells in halves]) for k, name in enumerate(_CELLS)},
    }
    clip_arrays.write_clips(path, FORMAT, VERSION, web.clips, arrays)


def load_web(path: str | os.PathLike[str]) -> MatchWeb:
    """Load a web from a file that `save_web` wrote."""
    with clip_arrays.read_clips(path, FORMAT, VERSION, _OWN, _RETIRED) as (clips, arrays):
        return MatchWeb(clips, _read_options(arrays), _read_pairs(arrays, [len(clip) for clip in clips]))


def _read_options(arrays: dict[str, NDArray[Any]]) -> WebSettings:
    markers = arrays["markers"].tolist()
    numbers = dict(zip(NUMBERS, freeze_array(arrays["numbers"], "numbers", (len(NUMBERS),)).tolist(), strict=True))
    return WebSettings(
        markers=markers[0] if bool(arrays["is_marker_set"]) else tuple(markers),
        remove_height=bool(arrays["remove_height"]),
        **numbers,
        labels=tuple(arrays["web_labels"].tolist()) if bool(arrays["has_labels"]) else None,
    )


def _read_pairs(arrays: dict[str, NDArray[Any]], lengths: list[int]) -> tuple[Cells, ...]:
    """Split the arrays into the cells of each clip pair; `lengths` are the numbers of frames of the clips."""
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
            f"the arrays hold {len(counts)} rows, {len(first)} runs and {len(rises)} rises, but its clips "
            f"need {row}, {run} and {rise}"
        )
    return tuple(out)
