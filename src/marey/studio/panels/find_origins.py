"""Match the clips of a saved search index (match web) to the current motions. Runs in the worker."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.errors import MareyError, format_list
from marey.studio.panels.find_work import describe_web, open_web, read_clips
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# Tolerance for equal frames: meters, and components of a unit quaternion.
_SAME = 1e-6
_MAX_NAMED = 3


def load(progress: Progress, web: str, files: list[tuple[str, str]], motions: list[Motion]) -> dict[str, Any]:
    """Load a match web from a file, find the current motion of each of its clips, and note what has changed.

    files : (name in the folder, path) pairs.
    motions : the open motions.

    In the result, `origins` has one entry per clip: (index into `files` followed by `motions`, clip name), or
    None if the clip is missing or has changed.
    """
    progress(0.0, "reading")
    match_web = open_web(web)
    origins: list[tuple[int, str] | None] = [None] * len(match_web)
    owners = _owners(match_web.names, [name for name, _ in files])
    changed: list[str] = []
    for k, (name, path) in enumerate(files):
        wanted = [c for c, owner in enumerate(owners) if owner == name]
        if not wanted:
            continue
        progress(k / len(files), f"checking {name}")
        for clip, motion in _clips(path, name):
            c = _find_clip(match_web, motion, wanted, origins)
            if c is not None:
                origins[c] = k, clip
        changed += [match_web.names[c] for c in wanted if origins[c] is None]
    for k, motion in enumerate(motions, len(files)):
        c = _find_clip(match_web, motion, range(len(match_web)), origins)
        if c is not None:
            origins[c] = k, ""
    changed = [name for name in changed if origins[match_web.names.index(name)] is None]
    absent = [
        name
        for name, owner, origin in zip(match_web.names, owners, origins, strict=True)
        if owner is None and origin is None
    ]
    fresh = [name for name, _ in files if name not in owners]
    notes = [
        text
        for text, names in (
            ("Changed since the index was built: {}. Index the clips again to search the current versions.", changed),
            ("Not in the open folder and not open: {}. The search uses the indexed version.", absent),
            ("Not in the index: {}. Index the clips again to include them.", fresh),
        )
        if names
        for text in [text.format(format_list(names, _MAX_NAMED))]
    ]
    return {**describe_web(match_web), "skipped": [], "notes": notes, "origins": origins}


def _clips(path: str, name: str) -> list[tuple[str, Motion]]:
    """Return the clips of a file; none if it is unreadable."""
    try:
        return read_clips(path, name)
    except MareyError:
        return []


def _owners(clips: Sequence[str], files: Iterable[str]) -> list[str | None]:
    """Return the file of each clip, found by the clip's name; None if there is none.

    A clip is named like its file, with or without the suffix, and possibly followed by ": CLIP".
    """
    by_name: dict[str, str] = {}
    for file in files:
        for called in (file, os.path.splitext(file)[0]):
            by_name.setdefault(called, file)
    return [by_name.get(clip) or by_name.get(clip.rsplit(": ", 1)[0]) for clip in clips]


def _find_clip(web: MatchWeb, motion: Motion, among: Iterable[int], taken: list[tuple[int, str] | None]) -> int | None:
    """Return the index of the first unassigned clip of the web whose frames equal the motion's; None if none does."""
    at_rate = _resample_for_web(web, motion)
    if at_rate is None:
        return None
    return next((c for c in among if taken[c] is None and _same(web.clips[c], at_rate)), None)


def is_clip(web: MatchWeb, clip: int, motion: Motion) -> bool:
    """Return whether a clip of the web equals this motion, frame by frame."""
    at_rate = _resample_for_web(web, motion)
    return at_rate is not None and _same(web.clips[clip], at_rate)


def _resample_for_web(web: MatchWeb, motion: Motion) -> Motion | None:
    """Resample a motion to the web's frame rate and express it with the web's root; None if the skeletons differ."""
    from marey.core.placement import bake_hips_into_root, check_same_skeleton
    from marey.core.resample import resample

    try:
        check_same_skeleton(web.skeleton, motion.skeleton, "a web")
    except MareyError:
        return None
    return bake_hips_into_root(motion if motion.fps == web.fps else resample(motion, web.fps), web.skeleton)


def _same(a: Motion, b: Motion) -> bool:
    if len(a) != len(b):
        return False
    pairs = ((a.root_positions, b.root_positions), (a.rotations, b.rotations))
    return all(bool(np.allclose(x, y, rtol=0.0, atol=_SAME)) for x, y in pairs)
