"""How alike frames of motion are: point clouds, the distances between them, whole grids and their minima.

- `point_clouds`, `frame_weights`: what is compared (Kovar 4.1.1.1);
- `frame_distance`, `frame_distances`, `align_frames`: single pairs of frames, with the move that aligns them;
- `distance_grid`, and for what is too large to hold `grid_blocks` and `grid_minima`; `local_minima` of any grid;
- `pose_cost`, `similarity`: the simpler cost by joint angles; `judge_blend`: whether a pair is worth blending.
"""

from marey.compare.blocks import GridBlock, grid_blocks, grid_minima
from marey.compare.clouds import MARKER_SETS, Clouds, frame_weights, point_clouds
from marey.compare.distance import align_frames, frame_distance, frame_distances
from marey.compare.grid import DistanceGrid, distance_grid
from marey.compare.minima import local_minima
from marey.compare.pose_cost import POSE_WEIGHTS, pose_cost, similarity
from marey.compare.verdict import Verdict, judge_blend

__all__ = [
    "MARKER_SETS",
    "POSE_WEIGHTS",
    "Clouds",
    "DistanceGrid",
    "GridBlock",
    "Verdict",
    "align_frames",
    "distance_grid",
    "frame_distance",
    "frame_distances",
    "frame_weights",
    "grid_blocks",
    "grid_minima",
    "judge_blend",
    "local_minima",
    "point_clouds",
    "pose_cost",
    "similarity",
]
