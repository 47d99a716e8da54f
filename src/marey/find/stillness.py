"""How far a stretch of motion is from doing nothing: what tells an action from the standing around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marey.compare import frame_weights
from marey.compare.pairing import Pairing
from marey.find.build import web_clouds
from marey.find.tiers import NOWHERE, Still

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb


def stillness_of(web: MatchWeb, outside: Any = None) -> Still:
    """Measures stretches of a web's clips, and of a query from outside, each once.

    Of the figures that stay as they are at the stretch's start and at its end, the nearer one counts.
    """
    weights = frame_weights(web.options.window, web.fps, "triangle")
    half = len(weights) // 2
    known: dict[tuple[int, int, int], float] = {}

    def measured(clip: int, start: int, stop: int) -> float:
        motion = outside.motion if clip == NOWHERE else web.clips[clip]
        begin, end = max(start - half, 0), min(stop + half, len(motion))
        clouds = web_clouds(motion[begin:end], web.options)
        first, last = start - begin, stop - begin
        values = np.empty((stop - start, stop - start))
        Pairing(clouds, clouds, weights).fill(values, (first, last, first, last), 1)
        return float(np.sqrt(np.maximum(values[:, [0, -1]], 0.0).mean(axis=0).min()))

    def still(clip: int, start: int, stop: int) -> float:
        place = (clip, start, stop)
        if place not in known:
            known[place] = measured(*place)
        return known[place]

    return still
