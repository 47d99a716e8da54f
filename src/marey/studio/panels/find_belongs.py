"""Whether a web from a file is of the motions that are there now, as the worker finds out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.errors import MareyError
from marey.studio.panels.find_work import read_clips, told_of, web_in
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb

# Metres, and parts of a unit quaternion, within which frames are the same.
_SAME = 1e-6
_MOST_NAMED = 3


def load(progress: Progress, web: str, files: list[tuple[str, str]], motions: list[Motion]) -> dict[str, Any]:
    """The web in a file: what can be searched, where its clips are from, and notes on those that do not belong.

    files : names in the folder, and paths.
    motions : those that are open.

    `origins` of the result has for each clip one of `files`, then of `motions`, by number, and which clip of it that
    is; or None for one that is nowhere, or has changed.
    """
    progress(0.0, "reading")
    compared = web_in(web)
    origins: list[tuple[int, str] | None] = [None] * len(compared)
    owners = _owners(compared.names, [name for name, _ in files])
    changed: list[str] = []
    for k, (name, path) in enumerate(files):
        wanted = [c for c, owner in enumerate(owners) if owner == name]
        if not wanted:
            continue
        progress(k / len(files), f"checking {name}")
        for clip, motion in _clips(path, name):
            c = _place(compared, motion, wanted, origins)
            if c is not None:
                origins[c] = k, clip
        changed += [compared.names[c] for c in wanted if origins[c] is None]
    for k, motion in enumerate(motions, len(files)):
        c = _place(compared, motion, range(len(compared)), origins)
        if c is not None:
            origins[c] = k, ""
    changed = [name for name in changed if origins[compared.names.index(name)] is None]
    absent = [
        name
        for name, owner, origin in zip(compared.names, owners, origins, strict=True)
        if owner is None and origin is None
    ]
    fresh = [name for name, _ in files if name not in owners]
    notes = [
        told
        for told, names in (
            ("Changed since: {}. Compare all again to search them as they are.", changed),
            ("Neither in the folder nor open: {}. They are searched as they were.", absent),
            ("Not compared yet: {}. Compare all again to search them too.", fresh),
        )
        if names
        for told in [told.format(_listed(names))]
    ]
    return {**told_of(compared), "left_out": [], "notes": notes, "origins": origins}


def _clips(path: str, name: str) -> list[tuple[str, Motion]]:
    """The clips of a file; none of one that cannot be read, and so is not what was compared."""
    try:
        return read_clips(path, name)
    except MareyError:
        return []


def _owners(clips: Sequence[str], files: Iterable[str]) -> list[str | None]:
    """The file that each clip is of by its name: as files are listed, without suffix, or with a clip's name behind."""
    by_name: dict[str, str] = {}
    for file in files:
        for called in (file, os.path.splitext(file)[0]):
            by_name.setdefault(called, file)
    return [by_name.get(clip) or by_name.get(clip.rsplit(": ", 1)[0]) for clip in clips]


def _place(web: MatchWeb, motion: Motion, among: Iterable[int], taken: list[tuple[int, str] | None]) -> int | None:
    """Which clip of the web a motion is, frame by frame; of several that are the same the first that is free."""
    at_rate = _compared(web, motion)
    if at_rate is None:
        return None
    return next((c for c in among if taken[c] is None and _same(web.clips[c], at_rate)), None)


def is_clip(web: MatchWeb, clip: int, motion: Motion) -> bool:
    """Whether a clip of the web is this motion, frame by frame."""
    at_rate = _compared(web, motion)
    return at_rate is not None and _same(web.clips[clip], at_rate)


def _compared(web: MatchWeb, motion: Motion) -> Motion | None:
    """A motion as a web would have it; None for another figure."""
    from marey.core.placement import bake_hips_into_root, check_same_skeleton
    from marey.edit.resample import resample

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


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
