"""Function of the library view that runs in its own worker process, so that no other job waits for it."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.errors import MareyError
from marey.maths import rigid2d
from marey.store import ClipSummary
from marey.studio.work import Progress

# Findings of one file that are listed.
MAX_FINDINGS = 8


def summarize(progress: Progress, folder: str, paths: list[str], cache: str) -> dict[str, Any]:
    """Summarize some files of a folder; return their rows and thumbnails as plain data.

    Summaries are stored in `cache` after each file, so files that were read before take no time.
    """
    from marey.store import MotionSet

    root = Path(folder)
    clips = MotionSet.open([root / path for path in paths], cache=cache)
    found: dict[str, list[ClipSummary]] = {}
    for clip in clips.summarize(progress=lambda done: progress(done, "")):
        found.setdefault(_make_relative(clips.folder / clip.file, root), []).append(clip)
    return {"rows": [_describe(root, path, found.get(path, [])) for path in paths]}


def _make_relative(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _describe(root: Path, path: str, clips: list[ClipSummary]) -> dict[str, Any]:
    if not clips:
        return {"path": path, "reason": _explain(root / path)}
    first = clips[0]
    findings = [finding for clip in clips for finding in clip.report][:MAX_FINDINGS]
    return {
        "path": path,
        "clips": len(clips),
        "seconds": sum(clip.duration for clip in clips),
        "fps": first.fps,
        "speed": first.speed,
        "distance": first.distance,
        "turn": math.degrees(first.turn),
        "labels": sorted({label for clip in clips for label in clip.labels}),
        "findings": [{name: getattr(each, name) for name in ("kind", "severity", "message")} for each in findings],
        "reason": "",
        "thumbnail": _draw(first),
    }


def _explain(path: Path) -> str:
    """Return why a file cannot be read."""
    from marey.io import load

    try:
        load(path)
    except MareyError as error:
        return error.message
    return "cannot be indexed; open it to see why"


def _draw(clip: ClipSummary) -> dict[str, Any]:
    """Return the poses of a clip as the page draws them."""
    parents = np.array(clip.parents)
    poses = _face_forward(clip).copy()
    # The root joint of some rigs stays at the origin while the hips move.
    hips = clip.roles.get("hips", 0)
    above = clip.parents[hips]
    while above >= 0:
        poses[:, above] = poses[:, hips]
        above = clip.parents[above]
    middle = poses[len(poses) // 2]
    lengths = np.where(parents < 0, 0.0, np.linalg.norm(middle - middle[parents], axis=1))
    return {
        "parents": list(clip.parents),
        "bone_lengths": lengths.round(4).tolist(),
        "roles": dict(clip.roles),
        "stature": clip.stature,
        "points": (1000.0 * poses).round().astype(np.int32),
    }


def _face_forward(clip: ClipSummary) -> Floats:
    """Rotate all poses by the angle that makes the second one face +Z; the first is often a rest pose."""
    legs = [clip.roles.get(f"{side}_upper_leg") for side in ("left", "right")]
    if None in legs:
        return clip.poses
    left, right = (clip.poses[1, leg] for leg in legs)
    x, _, z = left - right
    return np.asarray(rigid2d.apply((-math.atan2(-z, x), 0.0, 0.0), clip.poses))
