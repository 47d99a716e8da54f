"""Bench of all that plays live, made of the same walks: what a frame takes, and how well each answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from marey.bench.figures import Figure, against_floor, at_most
from marey.bench.timing import best_of
from marey.control.inertia_reel import make_reel
from marey.control.siblings import siblings
from marey.control.trials import StreamFigures, clip_figures, try_streams
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.edit import mirror
from marey.pmg.walker import sample_walks

_FRAMES = 600
_CURVES = 7
_TRIALS, _SECONDS = 6, 40.0
_MOST_POSES = 60.0
# A tenth of a core at 60 frames per second.
_MOST_US = 1667.0
_NOTHING = 0.01
# T_GOOD and T_BAD in meters, as the walker has them.
_SETTINGS = {"parametric motion graph": {"good": 0.10, "bad": 0.15}}
# What is told of a stream alone, and of a stream beside the clips: name, unit and scale.
_ALONE = (("response", "s", 1.0), ("path_error", "m", 1.0), ("memory", "MB", 1e-6))
_BESIDE = (
    ("skate", "cm/s", 100.0),
    ("jerk", "100 m/s^3", 1.0),
    ("bob", "mm", 1000.0),
    ("lift", "mm", 1000.0),
    ("sway", "degrees", 180.0 / math.pi),
)
_TOLD = {
    "response": "90 degrees answered",
    "path_error": "off a figure of eight",
    "memory": "memory",
    "skate": "feet slide",
    "jerk": "jerk",
    "bob": "hips bob",
    "lift": "feet lift",
    "sway": "trunk sways",
}


def bench_live(path: str) -> Iterator[Figure]:
    """All siblings on the same walks, whatever `path` holds.

    First 10 s of each, steered to another side every second, against kinematics of the poses; then how well each does,
    with its feet held at once, beside the clips where these have such a figure.
    """
    given = sample_walks(n_turns=_CURVES, speeds=(1.1,))
    walks = [*given, *(mirror(walk) for walk in given)]
    makers = siblings(walks, settings=_SETTINGS)
    times = best_of([*(_steered(make()) for make in makers.values()), _poses(walks)], rounds=3)
    floor = 1e6 * times[-1] / _FRAMES
    for name, spent in zip(makers, times, strict=False):
        mine = 1e6 * spent / _FRAMES
        yield against_floor("live", f"a frame of {name}", "us", "kinematics of one pose", (mine, floor), _MOST_POSES)
    slowest = max(range(len(makers)), key=lambda k: times[k])
    told = f"a frame of {list(makers)[slowest]}, the slowest"
    yield at_most("live", told, 1e6 * times[slowest] / _FRAMES, "us", _MOST_US)
    clips = clip_figures(walks)
    for name, figures in try_streams(makers, trials=_TRIALS, seconds=_SECONDS).items():
        yield from _rows(name, figures, clips)


def _rows(name: str, figures: StreamFigures, clips: StreamFigures) -> Iterator[Figure]:
    own, theirs = figures.as_dict(), clips.as_dict()
    for key, unit, scale in _ALONE:
        yield Figure("live", f"{name}: {_TOLD[key]}", scale * own[key], unit, "", None, None, "", None)
    for key, unit, scale in _BESIDE:
        # Beside clips whose feet do not slide at all, no multiple of that means anything.
        ratio = own[key] / theirs[key] if scale * theirs[key] > _NOTHING else None
        told = f"{name}: {_TOLD[key]}"
        yield Figure("live", told, scale * own[key], unit, "the clips", scale * theirs[key], ratio, "", None)


def _steered(stream: Stream) -> Callable[[], None]:
    def play() -> None:
        for i in range(_FRAMES):
            if i % 60 == 0:
                stream.request(direction=float(np.pi / 2) * (i // 60 % 3 - 1))
            stream.frame()

    return play


def _poses(walks: list[Motion]) -> Callable[[], None]:
    reel = make_reel(walks)

    def pose() -> None:
        for i in range(_FRAMES):
            pose_world(reel.skeleton, reel.root[i], reel.rotations[i])

    return pose
