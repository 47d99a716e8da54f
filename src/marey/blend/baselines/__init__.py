"""Simpler blending methods, for comparison and teaching.

- `linear_blend`, `linear_transition`: frame by frame, without matching times (Kovar 5.1, Heck 3.3);
- `discrete_blend`, `cubic_blend`: timewarps along the cells of a path, and along a spline through them (Sako);
- `brute_force`, `threshold_search`, `greedy`, `dynamic`: methods to find that path;
- `timewarp_transition`: a transition along such a path;
- `compare`: all of them on one pair of motions, in tables.
"""

from marey.blend.baselines.compare import BlendRow, Comparison, PathRow, compare
from marey.blend.baselines.cubic import cubic_blend, cubic_warp
from marey.blend.baselines.discrete import Correspondence, discrete_blend, match_frames
from marey.blend.baselines.linear import linear_blend, linear_transition
from marey.blend.baselines.paths import GridPath, brute_force, dynamic, greedy, start_cell, threshold_search
from marey.blend.baselines.timewarp import blend_along_path, find_warp_path, timewarp_transition
from marey.blend.settings import ComparisonSettings
from marey.deprecation import renamed_names

__all__ = [
    "BlendRow",
    "Comparison",
    "ComparisonSettings",
    "Correspondence",
    "GridPath",
    "PathRow",
    "blend_along_path",
    "brute_force",
    "compare",
    "cubic_blend",
    "cubic_warp",
    "discrete_blend",
    "dynamic",
    "find_warp_path",
    "greedy",
    "linear_blend",
    "linear_transition",
    "match_frames",
    "start_cell",
    "threshold_search",
    "timewarp_transition",
]

__getattr__ = renamed_names(
    __name__,
    {
        "PathSearch": "ComparisonSettings",
        "correspondence": "match_frames",
        "thresholded": "threshold_search",
    },
)
