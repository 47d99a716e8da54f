"""Figures, drawn with matplotlib and written as PNG or SVG by the suffix.

Each kind is a function that writes a file, and a `draw_` twin that returns the matplotlib figure instead:

- `filmstrip`: poses from the side and from above, what lies between as ghosts, and the path of the hips;
- `feet`: height and speed of heels and balls, with the contacts as bands;
- `joints`: joint angles over time;
- `path`: the paths of several motions from above;
- `parameters`: position, height, heading, speed and turn rate over time, of one motion or several;
- `cloud`: a window of frames as a point cloud.
"""

from marey.plot.cloud import cloud, draw_cloud
from marey.plot.feet import draw_feet, feet
from marey.plot.filmstrip import draw_filmstrip, filmstrip
from marey.plot.joints import draw_joints, joints
from marey.plot.parameters import draw_parameters, parameters
from marey.plot.path import draw_path, path

__all__ = [
    "cloud",
    "draw_cloud",
    "draw_feet",
    "draw_filmstrip",
    "draw_joints",
    "draw_parameters",
    "draw_path",
    "feet",
    "filmstrip",
    "joints",
    "parameters",
    "path",
]
