"""What plays live: controllers that steer a parametric motion graph clip by clip, and other ways to be steered.

Names are imported when they are first used: whoever takes one way does not load the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_WHERE = {
    "Action": "sequence",
    "ActionSequence": "sequence",
    "BlendTree": "blend_tree",
    "BlendTreeStream": "blend_tree",
    "Clip": "blend_tree_nodes",
    "ClipLengths": "lengths",
    "FatGraph": "fat_graph",
    "FatGraphStream": "fat_graph",
    "FollowDirection": "direction",
    "FootLock": "inertia_lock",
    "GaitFigures": "trials_gait",
    "GazeLayer": "layered_gaze",
    "GoTo": "go_to",
    "Layer": "blend_tree_nodes",
    "LayeredStream": "layered",
    "LockedStream": "inertia_lock",
    "MatchingData": "motion_matching",
    "Mix": "blend_tree_nodes",
    "MotionMatching": "motion_matching",
    "MoveTree": "move_tree",
    "MoveTreeStream": "move_tree",
    "Press": "keys",
    "RandomWalk": "random_walk",
    "Reach": "reach",
    "SpliceLayer": "layered_splice",
    "StreamFigures": "trials",
    "Succession": "move_tree",
    "arc_and_straight": "turning",
    "clip_figures": "trials",
    "clip_lengths": "lengths",
    "dubins_way": "dubins",
    "gait_figures": "trials_gait",
    "parse_keys": "keys",
    "play_keys": "keys",
    "record": "trials",
    "try_stream": "trials",
    "try_streams": "trials",
}

__all__ = sorted(_WHERE)

if TYPE_CHECKING:
    from marey.control.blend_tree import BlendTree as BlendTree
    from marey.control.blend_tree import BlendTreeStream as BlendTreeStream
    from marey.control.blend_tree_nodes import Clip as Clip
    from marey.control.blend_tree_nodes import Layer as Layer
    from marey.control.blend_tree_nodes import Mix as Mix
    from marey.control.direction import FollowDirection as FollowDirection
    from marey.control.dubins import dubins_way as dubins_way
    from marey.control.fat_graph import FatGraph as FatGraph
    from marey.control.fat_graph import FatGraphStream as FatGraphStream
    from marey.control.go_to import GoTo as GoTo
    from marey.control.inertia_lock import FootLock as FootLock
    from marey.control.inertia_lock import LockedStream as LockedStream
    from marey.control.keys import Press as Press
    from marey.control.keys import parse_keys as parse_keys
    from marey.control.keys import play_keys as play_keys
    from marey.control.layered import LayeredStream as LayeredStream
    from marey.control.layered_gaze import GazeLayer as GazeLayer
    from marey.control.layered_splice import SpliceLayer as SpliceLayer
    from marey.control.lengths import ClipLengths as ClipLengths
    from marey.control.lengths import clip_lengths as clip_lengths
    from marey.control.motion_matching import MatchingData as MatchingData
    from marey.control.motion_matching import MotionMatching as MotionMatching
    from marey.control.move_tree import MoveTree as MoveTree
    from marey.control.move_tree import MoveTreeStream as MoveTreeStream
    from marey.control.move_tree import Succession as Succession
    from marey.control.random_walk import RandomWalk as RandomWalk
    from marey.control.reach import Reach as Reach
    from marey.control.sequence import Action as Action
    from marey.control.sequence import ActionSequence as ActionSequence
    from marey.control.trials import StreamFigures as StreamFigures
    from marey.control.trials import clip_figures as clip_figures
    from marey.control.trials import record as record
    from marey.control.trials import try_stream as try_stream
    from marey.control.trials import try_streams as try_streams
    from marey.control.trials_gait import GaitFigures as GaitFigures
    from marey.control.trials_gait import gait_figures as gait_figures
    from marey.control.turning import arc_and_straight as arc_and_straight


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
