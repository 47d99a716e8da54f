"""Benchmarks of layers: a splice, frames of it in playback, gaze at angles and points, and loading a gaze map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.bench.clips import prepare_fk
from marey.bench.results import BenchResult, against_floor, against_peer, at_most
from marey.bench.timing import time_functions
from marey.core.kinematics import pose_world
from marey.layer import SpliceSet, align_motions, gaze_map, splice
from marey.layer.gaze_map import GazeMap
from marey.samples import sample

# Seconds that Heck 4.4.2 reports for a splice of 110 frames, and for each frame of a precomputed one, on a 2 GHz
# Pentium 4. Below: frames and rate used here, and the limits in ms and us.
_HECK, _HECK_FRAME = 0.67, 0.0008
_N_FRAMES, _FPS = 110, 60.0
_MAX_MS, _MAX_US = 20.0, 50.0
# Limit for a frame of a splice, relative to forward kinematics of one pose, the minimum work of any playback.
_MAX_POSES = 12.0


def bench_splice(path: str) -> Iterator[BenchResult]:
    """Time a splice of 110 frames, at once and frame by frame; `path` is ignored."""
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

    whole, given, played, floor = time_functions(
        [lambda: splice(lower, upper), lambda: splice(lower, upper, times=times), play, poses], rounds=25
    )
    what = f"splice of {_N_FRAMES} frames"
    yield at_most("splice", f"{what}, with alignment", 1e3 * whole, "ms", _MAX_MS)
    yield at_most("splice", f"{what}, alignment given", 1e3 * given, "ms", _MAX_MS)
    yield against_peer("splice", what, "ms", "Heck 2007", (1e3 * whole, 1e3 * _HECK), 10.0)
    frame = 1e6 * played / _N_FRAMES
    yield at_most("splice", "a frame while it plays", frame, "us", _MAX_US)
    yield at_most("splice", "a frame while it plays, in poses of forward kinematics", played / floor, "", _MAX_POSES)
    yield against_peer("splice", "a frame while it plays", "us", "Heck 2007", (frame, 1e6 * _HECK_FRAME), 10.0)


_SHORT, _LONG = 110, 1500
_GAZE_US, _GAZE_POSES, _LOAD_MS = 20.0, 50.0, 500.0


def bench_gaze(path: str) -> Iterator[BenchResult]:
    """Time gaze on walks of 110 and 1,500 frames, compared with forward kinematics; `path` is ignored."""
    gaze = GazeMap.default()
    short, long = (sample("walk", turn_rate=0.2, seconds=(n - 1) / _FPS, fps=_FPS).motion for n in (_SHORT, _LONG))
    looks = [(0.5 + 3.0 * k, (-1) ** k * 1.1, 0.2) for k in range(8)]
    points = [(0.5, (3.0, 1.5, 30.0)), (10.0, (-30.0, 1.0, 10.0))]
    once, many, followed, floor = time_functions(
        [
            lambda: gaze.apply(short, [(0.3, 1.0, 0.1)]),
            lambda: gaze.apply(long, looks),
            lambda: gaze.look_at(long, points),
            prepare_fk(long),
        ],
        rounds=25,
    )
    default = Path(gaze_map.__file__).with_name("gaze_default.json")
    (load,) = time_functions([lambda: GazeMap.load(default)], rounds=5)
    yield at_most("gaze", f"a frame, one look in {_SHORT} frames", 1e6 * once / _SHORT, "us", _GAZE_US)
    yield at_most("gaze", f"a frame, {len(looks)} looks in {_LONG} frames", 1e6 * many / _LONG, "us", _GAZE_US)
    yield at_most("gaze", f"a frame, following points for {_LONG} frames", 1e6 * followed / _LONG, "us", _GAZE_US)
    times = (1e6 * many / _LONG, 1e6 * floor / _LONG)
    yield against_floor("gaze", f"a frame of {len(looks)} looks", "us", "forward kinematics", times, _GAZE_POSES)
    yield at_most("gaze", "reading a map of 33 examples", 1e3 * load, "ms", _LOAD_MS)
