"""The distance of an interval from standing still, by the whole grid of the interval, cut out of its clip."""

from __future__ import annotations

import numpy as np

from marey.compare import frame_weights
from marey.compare.pairing import Pairing
from marey.find.build import web_clouds


def stillness(web, motion, start, stop):
    """Return the distance in meters between frames start .. stop and the first of them, or the last, whichever is
    smaller."""
    weights = frame_weights(web.options.window, web.fps, "triangle")
    half = len(weights) // 2
    begin, end = max(start - half, 0), min(stop + half, len(motion))
    clouds = web_clouds(motion[begin:end], web.options)
    first, last = start - begin, stop - begin
    values = np.empty((stop - start, stop - start))
    Pairing(clouds, clouds, weights).fill(values, (first, last, first, last), 1)
    return float(np.sqrt(np.maximum(values[:, [0, -1]], 0.0).mean(axis=0).min()))
