"""Plots, drawn with matplotlib (extra `plot`).

Each function returns the matplotlib figure, and writes it as PNG or SVG if it is given a `path`. Each also has an alias
that begins with `draw_`, such as `draw_feet`.

- `filmstrip`: poses from the side and from above, with in-between poses in light colors, and the path of the hips;
- `feet`: height and speed of heels and balls of the feet, with the contacts as bands;
- `joints`: joint angles over time;
- `path`: the paths of several motions from above;
- `parameters`: position, height, heading, speed and turn rate over time, of one or more motions;
- `cloud`: a window of frames as a point cloud.
"""

import lazy_loader

from marey.errors import require

require("plots need", "matplotlib", "plot")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
