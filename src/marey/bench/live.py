"""Bench of what plays live without a parametric motion graph: motion matching, a blend tree and a move tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from marey.bench.figures import Figure, against_floor, at_most
from marey.bench.timing import best_of
from marey.control.blend_tree import BlendTree, BlendTreeStream
from marey.control.inertia_reel import make_reel
from marey.control.motion_matching import MatchingData, MotionMatching
from marey.control.move_tree import MoveTree, MoveTreeStream
from marey.core.kinematics import pose_world
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.edit import cycle
from marey.samples import sample

_FRAMES = 600
_TURNS = (-1.0, 0.0, 1.0)
_MOST_POSES = 60.0
# A tenth of a core at 60 frames per second.
_MOST_US = 1667.0


def bench_live(path: str) -> Iterator[Figure]:
    """10 s of each, steered to another side every second, whatever `path` holds, against kinematics of the poses."""
    walks = [sample("walk", turn_rate=turn, seconds=8.0, variation=0.0).motion for turn in _TURNS]
    clips = {f"{turn:g}": walk for turn, walk in zip(_TURNS, walks, strict=True)}
    data = MatchingData.build(walks)
    loops = {name: cycle(walk, replant=False) for name, walk in clips.items()}
    moves = MoveTree.build(clips, {name: list(clips) for name in clips}, at="best")
    streams: dict[str, Stream] = {
        "motion matching": MotionMatching(data),
        "motion matching, feet free": MotionMatching(data, lock=False),
        "blend tree": BlendTreeStream(BlendTree.build(loops, [list(loops)])),
        "move tree": MoveTreeStream(moves),
    }
    times = best_of([*(_steered(stream) for stream in streams.values()), _poses(walks)], rounds=5)
    floor = 1e6 * times[-1] / _FRAMES
    for name, spent in zip(streams, times, strict=False):
        mine = 1e6 * spent / _FRAMES
        yield against_floor("live", f"a frame of {name}", "us", "kinematics of one pose", (mine, floor), _MOST_POSES)
    yield at_most("live", "a frame of motion matching", 1e6 * times[0] / _FRAMES, "us", _MOST_US)


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
