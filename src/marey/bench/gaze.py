"""Bench of gaze: a motion that looks at goals and follows a point, and reading the map for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from marey.bench.figures import Figure, against_floor, at_most
from marey.bench.timing import best_of
from marey.layer import gaze_map
from marey.layer.gaze_map import GazeMap
from marey.samples import sample

_FPS = 60.0
_SHORT, _LONG = 110, 1500
_MOST_US, _MOST_POSES, _MOST_LOAD_MS = 20.0, 40.0, 500.0


def bench_gaze(path: str) -> Iterator[Figure]:
    """Looks on walks of 110 and 1,500 frames, whatever `path` holds, against forward kinematics of the same poses."""
    gaze = GazeMap.default()
    short, long = (sample("walk", turn_rate=0.2, seconds=(n - 1) / _FPS, fps=_FPS).motion for n in (_SHORT, _LONG))
    looks = [(0.5 + 3.0 * k, (-1) ** k * 1.1, 0.2) for k in range(8)]
    points = [(0.5, (3.0, 1.5, 30.0)), (10.0, (-30.0, 1.0, 10.0))]
    once, many, followed, floor = best_of(
        [
            lambda: gaze.apply(short, [(0.3, 1.0, 0.1)]),
            lambda: gaze.apply(long, looks),
            lambda: gaze.look_at(long, points),
            long.world,
        ],
        rounds=25,
    )
    kept = Path(gaze_map.__file__).with_name("gaze_default.json")
    (load,) = best_of([lambda: GazeMap.load(kept)], rounds=5)
    yield at_most("gaze", f"a frame, one look in {_SHORT} frames", 1e6 * once / _SHORT, "us", _MOST_US)
    yield at_most("gaze", f"a frame, {len(looks)} looks in {_LONG} frames", 1e6 * many / _LONG, "us", _MOST_US)
    yield at_most("gaze", f"a frame, following points for {_LONG} frames", 1e6 * followed / _LONG, "us", _MOST_US)
    times = (1e6 * many / _LONG, 1e6 * floor / _LONG)
    yield against_floor("gaze", f"a frame of {len(looks)} looks", "us", "forward kinematics", times, _MOST_POSES)
    yield at_most("gaze", "reading a map of 33 examples", 1e3 * load, "ms", _MOST_LOAD_MS)
