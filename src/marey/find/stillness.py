"""How far a stretch of motion is from doing nothing: what tells an action from the standing around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey.compare import frame_weights
from marey.find.stillness_kernels import measure_stillness
from marey.find.tiers import NOWHERE, Still

if TYPE_CHECKING:
    from marey.find.match_web import MatchWeb


def stillness_of(web: MatchWeb, outside: Any = None) -> Still:
    """Measures stretches of a web's clips, and of a query from outside, each once.

    Of the figures that stay as they are at the stretch's start and at its end, the nearer one counts.
    """
    weights = frame_weights(web.options.window, web.fps, "triangle")
    known: dict[tuple[int, int, int], float] = {}

    def still(clip: int, start: int, stop: int) -> float:
        place = (clip, start, stop)
        if place not in known:
            clouds = outside.clouds if clip == NOWHERE else web.clouds(clip)
            known[place] = measure_stillness(clouds.points, clouds.weights, weights, start, stop)
        return known[place]

    return still
