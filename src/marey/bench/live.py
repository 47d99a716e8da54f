"""Benchmark of all live players, built from the same walks: time per frame, and how well each responds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.control.baselines import baseline_streams
from marey.control.evaluate import StreamMetrics, clip_metrics, evaluate_streams
from marey.control.inertia_reel import make_reel
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.edit import mirror
from marey.pmg.walker import sample_walks

_FRAMES = 600
_CURVES = 7
_TRIALS, _SECONDS = 6, 40.0
# Limit relative to forward kinematics of one pose, which takes 2 us.
_MAX_POSES = 120.0
# A tenth of a core at 60 frames per second.
_MAX_US = 1667.0
_NOTHING = 0.01
# T_GOOD and T_BAD in meters, as in the walker.
_SETTINGS = {"parametric motion graph": {"good": 0.10, "bad": 0.15}}
# Metrics of a stream alone, and of a stream compared with the clips: name, unit and scale.
_ALONE = (("response", "s", 1.0), ("path_error", "m", 1.0), ("memory", "MB", 1e-6))
_BESIDE = (
    ("skate", "cm/s", 100.0),
    ("jerk", "m/s³", 100.0),
    ("bob", "mm", 1000.0),
    ("lift", "mm", 1000.0),
    ("sway", "degrees", 180.0 / math.pi),
)
_LABELS = {
    "response": "response time to a 90 degree turn",
    "path_error": "off a figure-eight path",
    "memory": "memory",
    "skate": "feet slide",
    "jerk": "jerk",
    "bob": "hips bob",
    "lift": "feet lift",
    "sway": "trunk sways",
}


def bench_live(path: str) -> Iterator[BenchResult]:
    """Compare all live players on the same walks; `path` is ignored.

    First, time 10 s of each player, with a new direction every second, relative to forward kinematics of as many poses.
    Then measure the motion of each player with locked feet, relative to the clips where a metric applies to these too.
    """
    given = sample_walks(n_turns=_CURVES, speeds=(1.1,))
    walks = [*given, *(mirror(walk) for walk in given)]
    makers = baseline_streams(walks, settings=_SETTINGS)
    times = time_functions([*(_make_steering(make()) for make in makers.values()), _make_posing(walks)], rounds=3)
    floor = 1e6 * times[-1] / _FRAMES
    for name, spent in zip(makers, times, strict=False):
        mine = 1e6 * spent / _FRAMES
        yield against_floor("live", f"a frame of {name}", "us", "kinematics of one pose", (mine, floor), _MAX_POSES)
    slowest = max(range(len(makers)), key=lambda k: times[k])
    what = f"a frame of {list(makers)[slowest]}, the slowest"
    yield at_most("live", what, 1e6 * times[slowest] / _FRAMES, "us", _MAX_US)
    clips = clip_metrics(walks)
    for name, metrics in evaluate_streams(makers, n_turns=_TRIALS, seconds=_SECONDS).items():
        yield from _rows(name, metrics, clips)


def _rows(name: str, metrics: StreamMetrics, clips: StreamMetrics) -> Iterator[BenchResult]:
    own, reference = metrics.to_dict(), clips.to_dict()
    for key, unit, scale in _ALONE:
        yield BenchResult("live", f"{name}: {_LABELS[key]}", scale * own[key], unit, "", None, None, "", None)
    for key, unit, scale in _BESIDE:
        # If the value of the clips is almost zero, such as foot skate, a ratio is meaningless.
        ratio = own[key] / reference[key] if scale * reference[key] > _NOTHING else None
        what = f"{name}: {_LABELS[key]}"
        yield BenchResult("live", what, scale * own[key], unit, "the clips", scale * reference[key], ratio, "", None)


def _make_steering(stream: Stream) -> Callable[[], None]:
    def play() -> None:
        for i in range(_FRAMES):
            if i % 60 == 0:
                stream.request(direction=float(np.pi / 2) * (i // 60 % 3 - 1))
            stream.frame()

    return play


def _make_posing(walks: list[Motion]) -> Callable[[], None]:
    reel = make_reel(walks)

    def pose() -> None:
        for i in range(_FRAMES):
            pose_world(reel.skeleton, reel.root[i], reel.rotations[i])

    return pose
