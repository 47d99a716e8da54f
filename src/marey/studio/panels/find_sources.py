"""Matches as they are in the motions that were compared, at the rate of these; a web has them at its own.

Runs in the worker.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.core.motion import Motion
from marey.errors import MareyError
from marey.studio.panels.find_belongs import is_clip
from marey.studio.panels.find_work import found_by, read_clips, web_in
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.find.found import Found, Match

# Where a clip of a web is from: an open motion, or a file and which clip of it; None where it is not there any more.
Source = Motion | list[str] | None


def match(
    progress: Progress, query: dict[str, Any], how: dict[str, Any], number: int, sources: dict[str, Source]
) -> dict[str, Any]:
    """One match as a motion of its own, and a note where it is not as its source has it."""
    progress(0.0, "reading")
    motions, notes = cut(found_by(**how, **query), [number], query, sources)
    return {"motion": motions[0], "note": " ".join(notes)}


def cut(
    found: Found, which: list[int], query: dict[str, Any], sources: dict[str, Source]
) -> tuple[list[Motion], list[str]]:
    """Some of what was found, by number, at the rate of where it is from, and notes on what is at the web's.

    query : as the worker takes it.
    sources : by the names of the web's clips.
    """
    from marey.core.placement import bake_hips_into_root

    web = web_in(query["web"])
    read: dict[str, Motion | None] = {}
    out, lost = [], []
    for k in which:
        compared, part = found.motions[k], found.matches[k]
        if part.tier == 0:
            sought = _sought(query)
            made = None if sought is None else bake_hips_into_root(sought, web.skeleton)
        else:
            if part.clip not in read:
                read[part.clip] = _read(sources.get(part.clip))
                source = read[part.clip]
                if source is not None and not is_clip(web, web.names.index(part.clip), source):
                    read[part.clip] = None
            source = read[part.clip]
            made = None if source is None else bake_hips_into_root(_part(source, part, web.fps), web.skeleton)
        if made is None:
            lost.append(part.clip)
        name = f"{part.clip} {part.start / web.fps:.2f}-{part.stop / web.fps:.2f} s"
        out.append(replace(compared if made is None else made, name=name))
    notes = [
        f"{name} is gone or has changed since it was compared: this is as it was, at {web.fps:g} Hz."
        for name in dict.fromkeys(lost)
    ]
    return out, notes


def _sought(query: dict[str, Any]) -> Motion | None:
    """The stretch that was marked, frame by frame."""
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
    """A match in its source, from the moment of its first frame to that of its last."""
    step = source.fps / fps
    return source[round(match.start * step) : min(len(source), round((match.stop - 1) * step) + 1)]
