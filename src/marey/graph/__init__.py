"""Motion graphs: clips joined by transitions, and walks through them (Kovar chapter 4)."""

from marey.graph.approach import ended, led_into, led_to, reached
from marey.graph.crowd import Crowd, crossing_paths, crowd
from marey.graph.figures import Connectivity, GraphFigures, connectivity, figures
from marey.graph.follow import Followed, described, follow
from marey.graph.landing import Landing, landed
from marey.graph.motion_graph import How, MotionGraph
from marey.graph.network import Edges
from marey.graph.objectives import FollowPath, KeepOut, KeepSpeed, KeepStyle, ReachClip, ReachPoint
from marey.graph.paths import read_path, word_path
from marey.graph.prune import Component
from marey.graph.random_walk import random_walk
from marey.graph.registered import with_registered_transitions
from marey.graph.routes import shortest_walk
from marey.graph.search import Function, Objective, Partial, Searched, search
from marey.graph.similar import build_by_similarity
from marey.graph.skate import FootSkate, foot_skate
from marey.graph.stream import GraphStream, response_time
from marey.graph.table import DirectionTable, direction_table
from marey.graph.thin import Thinning, Usefulness, thinned
from marey.graph.transitions import Transitions
from marey.graph.variations import more_takes, variations
from marey.graph.walk import Part, Walk

__all__ = [
    "Component",
    "Connectivity",
    "Crowd",
    "DirectionTable",
    "Edges",
    "FollowPath",
    "Followed",
    "FootSkate",
    "Function",
    "GraphFigures",
    "GraphStream",
    "How",
    "KeepOut",
    "KeepSpeed",
    "KeepStyle",
    "Landing",
    "MotionGraph",
    "Objective",
    "Part",
    "Partial",
    "ReachClip",
    "ReachPoint",
    "Searched",
    "Thinning",
    "Transitions",
    "Usefulness",
    "Walk",
    "build_by_similarity",
    "connectivity",
    "crossing_paths",
    "crowd",
    "described",
    "direction_table",
    "ended",
    "figures",
    "follow",
    "foot_skate",
    "landed",
    "led_into",
    "led_to",
    "more_takes",
    "random_walk",
    "reached",
    "read_path",
    "response_time",
    "search",
    "shortest_walk",
    "thinned",
    "variations",
    "with_registered_transitions",
    "word_path",
]
