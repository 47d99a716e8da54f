"""Benchmarks of timewarps, registration and blending, on data as large as the largest example in Kovar's thesis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from marey.bench.results import BenchResult, against_floor, against_peer, at_most
from marey.bench.timing import time_functions
from marey.blend.blend import blend
from marey.core import Motion
from marey.core.arrays import Floats
from marey.register import register
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.dtw import dtw, dtw_incremental
from marey.register.registration import RegistrationCurve
from marey.samples import sample

N_MOTIONS, N_FRAMES = 18, 300
FPS = 30.0
# Seconds that Kovar 5.4 reports for 18 motions of 300 frames each, on a 1.3 GHz Athlon, and the speedup to reach.
_KOVAR, _GOAL = 3.3, 10.0


def gaits(n: int, n_frames: int = N_FRAMES) -> list[Motion]:
    """Generate n walks with contacts, at different speeds and turn rates, that begin at different phases."""
    out = []
    for k in range(n):
        seconds = n_frames / FPS + 2.0
        turn = 0.08 * (k % 7 - 3)
        walk = sample("walk", rng=k, fps=FPS, speed=1.0 + 0.04 * k, turn_rate=turn, seconds=seconds).motion
        start = (7 * k) % 30
        out.append(replace(walk[start : start + n_frames], name=f"walk_{k}"))
    return out


def bench_register(path: str) -> Iterator[BenchResult]:
    """Time the registration of 18 walks of 300 frames, and its growth with their number; `path` is ignored."""
    motions = gaits(N_MOTIONS)
    half = motions[: N_MOTIONS // 2]
    whole, all_given, half_given = time_functions(
        [
            lambda: register(motions),
            lambda: register(motions, reference=0),
            lambda: register(half, reference=0),
        ],
        rounds=5,
    )
    what = f"registration, {N_MOTIONS} motions of {N_FRAMES} frames"
    yield against_peer("register", what, "s", "Kovar 5.4, in print", (whole, _KOVAR), _GOAL)
    yield at_most(
        "register",
        "twice as many motions, relative time, reference given",
        all_given / half_given,
        "x",
        2.4,
    )


# Seconds that Kovar 5.4 reports for a 300-frame blend of 18 motions, on a 1.3 GHz Athlon; and the limit here.
_KOVAR_BLEND, _MAX_MS = 0.3, 30.0
_FEWER = 6


def bench_blend(path: str) -> Iterator[BenchResult]:
    """Time a 300-frame blend of 18 motions, and its growth with their number; `path` is ignored."""
    many, fewer = (register(gaits(n, N_FRAMES), reference=0) for n in (N_MOTIONS, _FEWER))
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.0, N_MOTIONS)

    def some(reg: RegistrationCurve) -> Floats:
        return np.asarray(weights[: len(reg.motions)])

    def changing(t: float) -> Floats:
        return np.asarray(weights * (1.0 + 0.5 * np.sin(t + np.arange(N_MOTIONS))))

    n_frames = len(blend(many, weights, feet=None))
    held, raw, varying, small = time_functions(
        [
            lambda: blend(many, weights),
            lambda: blend(many, weights, feet=None),
            lambda: blend(many, changing, feet=None),
            lambda: blend(fewer, some(fewer), feet=None),
        ],
        rounds=15,
    )
    scale = 1e3 * N_FRAMES / n_frames  # for the same number of frames
    whole = f"blend of {N_MOTIONS} motions, {N_FRAMES} frames"
    yield at_most("blend", f"{whole}, with foot cleanup", scale * held, "ms", _MAX_MS)
    yield at_most("blend", f"{whole}, without foot cleanup", scale * raw, "ms", _MAX_MS)
    yield at_most("blend", f"{whole}, changing weights", scale * varying, "ms", 2 * _MAX_MS)
    yield against_peer("blend", whole, "ms", "Kovar 2004", (scale * held, 1e3 * _KOVAR_BLEND), 10.0)
    growth = math.log(raw / small) / math.log(N_MOTIONS / _FEWER)
    yield at_most("blend", "growth exponent of blending with the number of motions", growth, "", 1.15)


_CELLS = 1_000
_CURVES, _KNOTS = 18, 300


def gait_like_grid(n: int) -> Floats:
    """Generate a grid (n, n) of squared distances (m^2) with noise, ridges and valleys like those of two walks."""
    i, j = np.arange(n)[:, None], np.arange(n)
    noise = np.random.default_rng(0).uniform(0.0, 0.002, (n, n))
    return np.asarray(0.001 + 0.02 * np.sin(0.04 * (i - 1.03 * j)) ** 2 + noise)


def bench_timewarp(path: str) -> Iterator[BenchResult]:
    """Time finding the best path through a grid, compared with one pass over it, and fitting curves.

    `path` is ignored.
    """
    grid = gait_like_grid(_CELLS)
    mask = np.abs(np.subtract.outer(np.arange(_CELLS), np.arange(_CELLS))) < _CELLS // 3
    cases = {
        "corner to corner": lambda: dtw(grid),
        "free end": lambda: dtw(grid, end="border"),
        "slope limit 3": lambda: dtw(grid, slope_limit=3),
        "within a mask": lambda: dtw(grid, mask=mask),
        "k / k' windows": lambda: dtw_incremental(grid),
    }
    floor, *times = time_functions([lambda: np.cumsum(grid), *cases.values()])
    for what, seconds in zip(cases, times, strict=True):
        what_for = f"timewarp of {_CELLS:,} x {_CELLS:,} cells, {what}"
        yield against_floor("timewarp", what_for, "ms", "numpy.cumsum", (1e3 * seconds, 1e3 * floor), 5.0)
    rng = np.random.default_rng(1)
    seconds_of = np.cumsum(rng.choice([0.5, 1.0], (_KNOTS, _CURVES)), axis=0) / 30.0
    moves = 0.01 * np.cumsum(rng.normal(size=(_KNOTS, _CURVES, 3)), axis=0)
    moves[:, 0] = 0.0
    warp, align = time_functions([lambda: TimewarpCurve.fit(seconds_of), lambda: AlignmentCurve.fit(moves)])
    whole = f"{_CURVES} motions x {_KNOTS} frames"
    yield at_most("timewarp", f"timewarp curve of {whole}", 1e3 * warp, "ms", 5)
    yield at_most("timewarp", f"alignment curve of {whole}", 1e3 * align, "ms", 10)
