"""Functions of the Layers & gaze panel that run in the worker."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.motion import Motion
from marey.studio.work import Progress

if TYPE_CHECKING:
    from marey.layer.gaze_track import GazeTrack

# Maximum number of frames whose gaze is sent to the page.
_MAX_GAZES = 3_000


def look(
    progress: Progress, file: str, goals: list[tuple[Any, ...]], settings: dict[str, Any], gaze_map: str | None = None
) -> dict[str, Any]:
    """Make the motion in `file` look at its targets, and report on each.

    goals : see `GazeMap.trace`. gaze_map : file of the gaze map; None for the built-in one.
    The result always has the report on each look. If the setting `eyes` is on, the motion has an additional joint for
    the eyes and is returned as `motion`. If it is off, only some joints change, so the result has just these in place
    of the motion, which is fast for long motions: their indices `joints` (K,), their `rotations` (F, K, 4) for F
    frames, and the provenance step `record`.
    """
    from marey.layer.gaze_map import GazeMap

    motion = _motion(file)
    gaze = GazeMap.default() if gaze_map is None else GazeMap.load(gaze_map)
    track = gaze.trace(motion, goals, **settings)
    step = -(-len(motion) // _MAX_GAZES)
    info: dict[str, Any] = {
        "looks": _describe_looks(track),
        "step": step,
        "places": track.places[::step].round(4).ravel().tolist(),
        "directions": track.directions[::step].round(4).ravel().tolist(),
        "notes": list(track.notes),
    }
    if settings["eyes"]:
        return info | {"motion": track.motion}
    turned = np.flatnonzero((track.motion.rotations != motion.rotations).any(axis=(0, 2)))
    return info | {
        "joints": turned,
        "rotations": track.motion.rotations[:, turned],
        "record": dict(track.motion.source.provenance[-1]),
    }


@lru_cache(maxsize=4)
def _motion(path: str) -> Motion:
    from marey.io import load_motion

    return load_motion(path)


def _describe_looks(track: GazeTrack) -> list[dict[str, Any]]:
    misses = track.misses()
    out = []
    for each in track.looks:
        frame = min(math.ceil(each.end * track.motion.fps - 1e-6), len(track.motion) - 1)
        missed = float(misses[frame]) if each.settled and each.goal is not None else math.nan
        out.append(
            {
                "time": each.time,
                "settled": each.end if each.settled else None,
                "outside": math.degrees(each.outside),
                "missed": math.degrees(missed) if math.isfinite(missed) else None,
            }
        )
    return out
