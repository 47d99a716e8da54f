"""Similarity of frames: point clouds, distances between them, distance grids and their local minima.

- `point_clouds`, `frame_weights`: the markers to compare, and the weights of a window (Kovar 4.1.1.1);
- `frame_distance`, `frame_distances`, `align_frames`: distances of single frame pairs, with the aligning transform;
- `distance_grid` for all frame pairs, `grid_blocks` and `grid_minima` for large grids, `local_minima` of any grid;
- `pose_cost`, `similarity`: a simpler cost from joint angles.
"""

from marey.compare.blocks import GridBlock, grid_blocks, grid_minima
from marey.compare.clouds import MARKER_SETS, Clouds, frame_weights, point_clouds
from marey.compare.distance import align_frames, frame_distance, frame_distances
from marey.compare.grid import DistanceGrid, distance_grid
from marey.compare.minima import local_minima
from marey.compare.pose_cost import POSE_WEIGHTS, pose_cost, similarity
from marey.compare.settings import GridSettings

__all__ = [
    "MARKER_SETS",
    "POSE_WEIGHTS",
    "Clouds",
    "DistanceGrid",
    "GridBlock",
    "GridSettings",
    "align_frames",
    "distance_grid",
    "frame_distance",
    "frame_distances",
    "frame_weights",
    "grid_blocks",
    "grid_minima",
    "local_minima",
    "point_clouds",
    "pose_cost",
    "similarity",
]
