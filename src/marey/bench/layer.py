"""Bench of layers: a splice as long as the source's, and one frame of it while it plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from marey.bench.figures import Figure, against_peer, at_most
from marey.bench.timing import best_of
from marey.core.kinematics import pose_world
from marey.layer import SpliceSet, align_motions, splice
from marey.samples import sample

# Seconds that Heck 4.4.2 took for a splice of 110 frames, and for each frame of one worked out before, on a 2 GHz
# Pentium 4; and what to stay below here.
_HECK, _HECK_FRAME = 0.67, 0.0008
_N_FRAMES, _FPS = 110, 60.0
_MOST_MS, _MOST_US = 20.0, 50.0
# A frame of a splice against forward kinematics of one pose, the least that anything played has to do.
_MOST_POSES = 12.0


def bench_splice(path: str) -> Iterator[Figure]:
    """A splice of 110 frames, whole and frame by frame, whatever `path` holds."""
    lower = sample("walk", turn_rate=0.3, seconds=(_N_FRAMES - 1) / _FPS, fps=_FPS).motion
    upper = sample("carry_box", rng=3, fps=_FPS).motion
    times = align_motions(lower, upper)
    splices = SpliceSet.build([replace(lower, name="lower"), replace(upper, name="upper")], base="upper")
    player = splices.splicer("lower", "upper")

    def play() -> None:
        for f in range(_N_FRAMES):
            player.frame(f)

    def poses() -> list[np.ndarray]:
        return [pose_world(lower.skeleton, lower.root_positions[f], lower.rotations[f])[0] for f in range(_N_FRAMES)]

    whole, given, played, floor = best_of(
        [lambda: splice(lower, upper), lambda: splice(lower, upper, times=times), play, poses], rounds=25
    )
    what = f"splice of {_N_FRAMES} frames"
    yield at_most("splice", f"{what}, with alignment", 1e3 * whole, "ms", _MOST_MS)
    yield at_most("splice", f"{what}, alignment given", 1e3 * given, "ms", _MOST_MS)
    yield against_peer("splice", what, "ms", "Heck 2007", (1e3 * whole, 1e3 * _HECK), 10.0)
    frame = 1e6 * played / _N_FRAMES
    yield at_most("splice", "a frame while it plays", frame, "us", _MOST_US)
    yield at_most("splice", "a frame while it plays, in poses of forward kinematics", played / floor, "", _MOST_POSES)
    yield against_peer("splice", "a frame while it plays", "us", "Heck 2007", (frame, 1e6 * _HECK_FRAME), 10.0)
