"""Bench of registration: as many motions, as long, as the source's largest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from marey.bench.figures import Figure, against_peer, at_most
from marey.bench.timing import best_of
from marey.core import Motion
from marey.register import register
from marey.samples import sample

N_MOTIONS, N_FRAMES = 18, 300
FPS = 30.0
# Seconds that Kovar 5.4 took for 18 motions of 300 frames each, on a 1.3 GHz Athlon, and how much faster to be.
_KOVAR, _GOAL = 3.3, 10.0


def gaits(n: int, n_frames: int = N_FRAMES) -> list[Motion]:
    """Walks of different speeds and turns, with contacts, that begin at different points of their stride."""
    out = []
    for k in range(n):
        seconds = n_frames / FPS + 2.0
        turn = 0.08 * (k % 7 - 3)
        walk = sample("walk", rng=k, fps=FPS, speed=1.0 + 0.04 * k, turn_rate=turn, seconds=seconds).motion
        start = (7 * k) % 30
        out.append(replace(walk[start : start + n_frames], name=f"walk_{k}"))
    return out


def bench_register(path: str) -> Iterator[Figure]:
    """Registration of 18 walks of 300 frames, whatever `path` holds, and how it grows with their number."""
    motions = gaits(N_MOTIONS)
    half = motions[: N_MOTIONS // 2]
    whole, all_given, half_given = best_of(
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
        "register", "the same, of twice as many: times as long, reference given", all_given / half_given, "x", 2.4
    )
