"""Cut matches out of their source motions at the sources' frame rates. A match web stores clips at its own rate.

Runs in the worker.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import MareyError
from marey.studio.panels.find_origins import is_clip
from marey.studio.panels.find_work import open_web, read_clips, run_search
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.result import Match, MatchResult

# Source of a web's clip: an open motion, or path and clip name of a file; None if it no longer exists.
Source = Motion | list[str] | None


def match(
    progress: Progress, query: dict[str, Any], how: dict[str, Any], number: int, sources: dict[str, Source]
) -> dict[str, Any]:
    """Return one match as a motion, with a note if it could not be cut from its source."""
    progress(0.0, "reading")
    motions, notes = cut_matches(run_search(**how, **query), [number], query, sources)
    return {"motion": motions[0], "note": " ".join(notes)}


def cut_matches(
    found: MatchResult, which: list[int], query: dict[str, Any], sources: dict[str, Source]
) -> tuple[list[Motion], list[str]]:
    """Return the matches with numbers in `which`, at their sources' frame rates.

    Also returns notes on those whose source is missing, which have the web's frame rate.

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
            sought = _load_query(query)
            cut = None if sought is None else bake_hips_into_root(sought, web.skeleton)
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
    step = source.fps / fps
    return source[round(match.start * step) : min(len(source), round((match.stop - 1) * step) + 1)]
