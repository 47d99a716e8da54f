"""Cut matches out of the files of their clips, at the files' own frame rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.clean import ensure_contacts
from marey.core.annotations import retime_labels
from marey.core.motion import Motion
from marey.edit import mirror, retarget
from marey.errors import MareyError, format_list, warn_user
from marey.find.result import Match, MatchResult
from marey.io.loading import clip_names, load_motion
from marey.io.rest import REST_NOTE

# Maximum mean distance in meters between the hips of an unchanged file and those of the resampled clip.
_SAME = 0.02


def cut_originals(found: MatchResult) -> tuple[Motion, ...]:
    """Return the motions of a search result, cut out of the files that their clips were read from.

    A web resamples its clips; their files may have more frames. Mirroring and retargeting of a clip are repeated. If a
    clip has no file, or its file has changed, the match is cut from the web's clip, and a `MareyWarning` names the
    clip.

    Parameters
    ----------
    found : the result; the query is the first motion.

    Examples
    --------
    >>> marey.save(walk, "walk.bvh")
    >>> web = marey.MatchWeb.build([marey.load("walk.bvh")], fps=30.0)
    >>> found = web.search("walk", 10, 40, threshold=0.2)
    >>> marey.find.cut_originals(found)[0]
    <Motion 'walk 10-40': 60 frames at 60 Hz, 27 joints>
    """
    out: list[Motion] = []
    missing: dict[str, None] = {}
    files: dict[str, tuple[Motion, ...]] = {}
    for match, motion in zip(found.matches, found.motions, strict=True):
        if motion.source.fps in (None, motion.fps):
            out.append(motion)
            continue
        if match.clip not in files:
            files[match.clip] = _load_again(motion)
        whole = next((each for each in files[match.clip] if _agrees(each, match, motion)), None)
        if whole is None:
            missing[match.clip] = None
        out.append(motion if whole is None else _cut(whole, match, motion))
    if missing:
        warn_user(
            f"the files of {format_list(list(missing), 3)} are missing or have changed; these matches are cut at the "
            f"web's {found.motions[0].fps:g} Hz"
        )
    return tuple(out)


def _load_again(clip: Motion) -> tuple[Motion, ...]:
    """Load the file of a clip again, repeat the clip's edits, and return all motions of the file."""
    source = clip.source
    steps = [step.get("op") for step in source.provenance]
    try:
        how: dict[str, Any] = {"trim_rest": REST_NOTE in source.evidence}
        if source.format != "npz":  # the file states its own rate
            how |= {"unit": source.unit, "up": source.up, "file_fps": source.fps}
        several = len(clip_names(source.path))
        loaded = [load_motion(source.path, **how, clip=None if several == 1 else k) for k in range(several)]
        for op, change in (("retarget", lambda motion: retarget(motion, clip.skeleton)), ("mirror", mirror)):
            # Skip the provenance that the file itself has, from its sidecar.
            loaded = [
                change(motion)
                if steps.count(op) > [step.get("op") for step in motion.source.provenance].count(op)
                else motion
                for motion in loaded
            ]
        return tuple(ensure_contacts(motion, "they are written without contacts") for motion in loaded)
    except MareyError:
        return ()


def _agrees(whole: Motion, match: Match, motion: Motion) -> bool:
    """Return whether `motion` matches the interval of a match in the file's motion `whole`, which may have another
    frame rate."""
    times = (match.start + np.arange(len(motion))) / motion.fps
    if times[-1] > whole.duration + 1.0 / motion.fps:
        return False
    travel = whole.at(np.minimum(times, whole.duration)).travel
    return bool(np.linalg.norm(travel - motion.travel, axis=1).mean() < _SAME)


def _cut(whole: Motion, match: Match, motion: Motion) -> Motion:
    ratio = whole.fps / motion.fps
    start = round(match.start * ratio)
    part = whole[start : min(max(round(match.stop * ratio), start + 1), len(whole))]
    labels = retime_labels(motion.labels, len(motion), lambda frames: frames * ratio, len(part))
    return replace(part, name=motion.name, labels=labels)
