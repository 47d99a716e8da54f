"""Motion graphs: clips joined by transitions, and walks through them (Kovar chapter 4)."""

from marey.deprecation import renamed_names
from marey.graph.approach import extend_into_clip, extend_to, reach, replan_end
from marey.graph.build import BuildInfo
from marey.graph.crowd import Crowd, crossing_paths, crowd
from marey.graph.direction_table import DirectionTable, direction_table
from marey.graph.follow import PathResult, follow, measure_path
from marey.graph.label_pairs import LabelPair
from marey.graph.landing import LandingResult, land_at
from marey.graph.motion_graph import MotionGraph
from marey.graph.network import Edges
from marey.graph.objectives import FollowPath, KeepOut, KeepSpeed, KeepStyle, ReachClip, ReachPoint
from marey.graph.paths import read_path, word_path
from marey.graph.prune import Component
from marey.graph.random_walk import random_walk
from marey.graph.reduction import ReductionResult, Usefulness, reduce_transitions
from marey.graph.registered import with_registered_transitions
from marey.graph.routes import shortest_walk
from marey.graph.search import FunctionObjective, Objective, PartialWalk, SearchResult, search
from marey.graph.settings import (
    ApproachSettings,
    ClipApproachSettings,
    DirectionSettings,
    GraphCrowdSettings,
    GraphPathSettings,
    GraphReachSettings,
    GraphSearchSettings,
    GraphSettings,
    GraphStreamSettings,
    GraphWalkSettings,
    LandingSettings,
    ReductionSettings,
    RegisteredSettings,
    SimilaritySettings,
)
from marey.graph.similar import build_by_similarity
from marey.graph.skate import FootSkate, foot_skate
from marey.graph.statistics import Connectivity, GraphStatistics, connectivity, graph_statistics
from marey.graph.stream import GraphStream, response_time
from marey.graph.transitions import Transitions
from marey.graph.variations import more_takes, variations
from marey.graph.walk import Walk, WalkPart

__all__ = [
    "ApproachSettings",
    "BuildInfo",
    "ClipApproachSettings",
    "Component",
    "Connectivity",
    "Crowd",
    "DirectionSettings",
    "DirectionTable",
    "Edges",
    "FollowPath",
    "FootSkate",
    "FunctionObjective",
    "GraphCrowdSettings",
    "GraphPathSettings",
    "GraphReachSettings",
    "GraphSearchSettings",
    "GraphSettings",
    "GraphStatistics",
    "GraphStream",
    "GraphStreamSettings",
    "GraphWalkSettings",
    "KeepOut",
    "KeepSpeed",
    "KeepStyle",
    "LabelPair",
    "LandingResult",
    "LandingSettings",
    "MotionGraph",
    "Objective",
    "PartialWalk",
    "PathResult",
    "ReachClip",
    "ReachPoint",
    "ReductionResult",
    "ReductionSettings",
    "RegisteredSettings",
    "SearchResult",
    "SimilaritySettings",
    "Transitions",
    "Usefulness",
    "Walk",
    "WalkPart",
    "build_by_similarity",
    "connectivity",
    "crossing_paths",
    "crowd",
    "direction_table",
    "extend_into_clip",
    "extend_to",
    "follow",
    "foot_skate",
    "graph_statistics",
    "land_at",
    "measure_path",
    "more_takes",
    "random_walk",
    "reach",
    "read_path",
    "reduce_transitions",
    "replan_end",
    "response_time",
    "search",
    "shortest_walk",
    "variations",
    "with_registered_transitions",
    "word_path",
]

__getattr__ = renamed_names(
    __name__,
    {
        "Followed": "PathResult",
        "Function": "FunctionObjective",
        "GraphFigures": "GraphStatistics",
        "GraphOptions": "GraphSettings",
        "How": "BuildInfo",
        "Landing": "LandingResult",
        "Part": "WalkPart",
        "Partial": "PartialWalk",
        "SearchLimits": "GraphSearchSettings",
        "Searched": "SearchResult",
        "SimilarityOptions": "SimilaritySettings",
        "Thinning": "ReductionResult",
        "described": "measure_path",
        "ended": "replan_end",
        "figures": "graph_statistics",
        "landed": "land_at",
        "led_into": "extend_into_clip",
        "led_to": "extend_to",
        "reached": "reach",
        "thinned": "reduce_transitions",
    },
)
