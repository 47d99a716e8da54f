"""Bench of blending: as many motions, as long, as the source's largest."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from marey.bench.figures import Figure, against_peer, at_most
from marey.bench.registration import N_FRAMES, N_MOTIONS, gaits
from marey.bench.timing import best_of
from marey.blend.blend import blend
from marey.core.arrays import Floats
from marey.register import register
from marey.register.registration import RegistrationCurve

# Seconds that Kovar 5.4 took for a blend of 300 frames of 18 motions, on a 1.3 GHz Athlon; and what to stay below here.
_KOVAR, _MOST_MS = 0.3, 30.0
_FEWER = 6


def bench_blend(path: str) -> Iterator[Figure]:
    """A blend of 300 frames of 18 motions, and how it grows with their number, whatever `path` holds."""
    many, fewer = (register(gaits(n, N_FRAMES), reference=0) for n in (N_MOTIONS, _FEWER))
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.0, N_MOTIONS)

    def some(reg: RegistrationCurve) -> Floats:
        return np.asarray(weights[: len(reg.motions)])

    def changing(t: float) -> Floats:
        return np.asarray(weights * (1.0 + 0.5 * np.sin(t + np.arange(N_MOTIONS))))

    n_frames = len(blend(many, weights, enforce=False))
    held, raw, varying, small = best_of(
        [
            lambda: blend(many, weights),
            lambda: blend(many, weights, enforce=False),
            lambda: blend(many, changing, enforce=False),
            lambda: blend(fewer, some(fewer), enforce=False),
        ],
        rounds=15,
    )
    scale = 1e3 * N_FRAMES / n_frames  # as if it had just as many frames
    whole = f"blend of {N_MOTIONS} motions, {N_FRAMES} frames"
    yield at_most("blend", f"{whole}, contacts held", scale * held, "ms", _MOST_MS)
    yield at_most("blend", f"{whole}, as averaged", scale * raw, "ms", _MOST_MS)
    yield at_most("blend", f"{whole}, changing weights", scale * varying, "ms", 2 * _MOST_MS)
    yield against_peer("blend", whole, "ms", "Kovar 2004", (scale * held, 1e3 * _KOVAR), 10.0)
    growth = math.log(raw / small) / math.log(N_MOTIONS / _FEWER)
    yield at_most("blend", "blend: power of growth with the number of motions", growth, "", 1.15)
