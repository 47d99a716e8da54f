"""The clips of a match web and their sources: the current motion of each clip, and matches cut out of the sources.

A match web stores clips at its own frame rate, the sources have theirs. Runs in the worker.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.errors import MareyError, format_list
from marey.studio.panels.find_work import describe_web, open_web, read_clips, run_search
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb
    from marey.find.result import Match, MatchResult

# Source of a web's clip: an open motion, or path and clip name of a file; None if it no longer exists.
Source = Motion | list[str] | None
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
    owners = _find_owners(match_web.names, [name for name, _ in files])
    changed: list[str] = []
    for k, (name, path) in enumerate(files):
        wanted = [c for c, owner in enumerate(owners) if owner == name]
        if not wanted:
            continue
        progress(k / len(files), f"checking {name}")
        for clip, motion in _find_clips(path, name):
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


def _find_clips(path: str, name: str) -> list[tuple[str, Motion]]:
    """Return the clips of a file; none if it is unreadable."""
    try:
        return read_clips(path, name)
    except MareyError:
        return []


def _find_owners(clips: Sequence[str], files: Iterable[str]) -> list[str | None]:
    """Return the file of each clip, found by the clip's name; None if there is none.

    A clip is named like its file, with or without the suffix, and possibly followed by ": CLIP".
    """
    by_name: dict[str, str] = {}
    for file in files:
        for called in (file, os.path.splitext(file)[0]):
            by_name.setdefault(called, file)
    return [by_name.get(clip) or by_name.get(clip.rsplit(": ", 1)[0]) for clip in clips]


def _find_clip(
    web: MatchWeb, motion: Motion, candidates: Iterable[int], taken: list[tuple[int, str] | None]
) -> int | None:
    """Return the index of the first unassigned clip of the web whose frames equal the motion's; None if none does."""
    at_rate = _resample_for_web(web, motion)
    if at_rate is None:
        return None
    return next((c for c in candidates if taken[c] is None and _has_equal_frames(web.clips[c], at_rate)), None)


def is_clip(web: MatchWeb, clip: int, motion: Motion) -> bool:
    """Return whether a clip of the web equals a motion, frame by frame."""
    at_rate = _resample_for_web(web, motion)
    return at_rate is not None and _has_equal_frames(web.clips[clip], at_rate)


def _resample_for_web(web: MatchWeb, motion: Motion) -> Motion | None:
    """Resample a motion to the web's frame rate and express it with the web's root; None if the skeletons differ."""
    from marey.core.placement import bake_hips_into_root, check_same_skeleton
    from marey.core.resample import resample

    try:
        check_same_skeleton(web.skeleton, motion.skeleton, "a web")
    except MareyError:
        return None
    return bake_hips_into_root(motion if motion.fps == web.fps else resample(motion, web.fps), web.skeleton)


def _has_equal_frames(a: Motion, b: Motion) -> bool:
    if len(a) != len(b):
        return False
    pairs = ((a.root_positions, b.root_positions), (a.rotations, b.rotations))
    return all(bool(np.allclose(x, y, rtol=0.0, atol=_SAME)) for x, y in pairs)


def match(
    progress: Progress, query: dict[str, Any], how: dict[str, Any], number: int, sources: dict[str, Source]
) -> dict[str, Any]:
    """Return one match as a motion, with a note if it could not be cut from its source."""
    progress(0.0, "reading")
    found = run_search(**how, **query)
    motions, notes = cut_matches(found, [number], query, sources)
    return {
        "motion": motions[0], "note": " ".join(notes),
        "span": _find_span(found.matches[number], motions[0], query, sources),
    }  # fmt: skip


def _find_span(
    match: Match, motion: Motion, query: dict[str, Any], sources: dict[str, Source]
) -> tuple[int, int] | None:
    """Return start and stop, in frames, of a match in its source; None if the match is not simply a part of it."""
    if match.tier == 0:
        start, stop = query["start"], query["stop"]
        part = _load_query(query)
    else:
        source = _read(sources.get(match.clip))
        if source is None:
            return None
        start, stop = _frames(source, match, open_web(query["web"]).fps)
        part = source[start:stop]
    same = part is not None and all(
        np.array_equal(getattr(part, name), getattr(motion, name)) for name in ("root_positions", "rotations")
    )
    return (start, stop) if same else None


def cut_matches(
    found: MatchResult, which: list[int], query: dict[str, Any], sources: dict[str, Source]
) -> tuple[list[Motion], list[str]]:
    """Return the matches with numbers in `which`, at their sources' frame rates.

    Also return notes on those whose source is missing, which have the web's frame rate.

    query : the query of the search, as the worker gets it.
    sources : source of each clip, keyed by its name in the web.
    """
    from marey.core.placement import bake_hips_into_root

    web = open_web(query["web"])
    read: dict[str, Motion | None] = {}
    out, lost = [], []
    for k in which:
        clip, part = found.motions[k], found.matches[k]
        if part.tier == 0:
            example = _load_query(query)
            cut = None if example is None else bake_hips_into_root(example, web.skeleton)
        else:
            if part.clip not in read:
                read[part.clip] = _read(sources.get(part.clip))
                source = read[part.clip]
                if source is not None and not is_clip(web, web.names.index(part.clip), source):
                    read[part.clip] = None
            source = read[part.clip]
            cut = None if source is None else bake_hips_into_root(_part(source, part, web.fps), web.skeleton)
        if cut is None:
            lost.append(part.clip)
        name = f"{part.clip} {part.start / web.fps:.2f}-{part.stop / web.fps:.2f} s"
        out.append(replace(clip if cut is None else cut, name=name))
    notes = [
        f"{name} is missing or has changed since it was indexed; the indexed version at {web.fps:g} Hz is used."
        for name in dict.fromkeys(lost)
    ]
    return out, notes


def _load_query(query: dict[str, Any]) -> Motion | None:
    """Load the frames of the query; None if its file cannot be read."""
    from marey.io import load_motion

    try:
        return load_motion(query["file"])[query["start"] : query["stop"]]
    except MareyError:
        return None


def _read(source: Source) -> Motion | None:
    if source is None or isinstance(source, Motion):
        return source
    path, wanted = source
    try:
        return next((motion for clip, motion in read_clips(path, "") if clip == wanted), None)
    except MareyError:
        return None


def _part(source: Motion, match: Match, fps: float) -> Motion:
    """Return the part of the source that a match covers."""
    start, stop = _frames(source, match, fps)
    return source[start:stop]


def _frames(source: Motion, match: Match, fps: float) -> tuple[int, int]:
    """Return start and stop of a match in frames of its source."""
    step = source.fps / fps
    return round(match.start * step), min(len(source), round((match.stop - 1) * step) + 1)
