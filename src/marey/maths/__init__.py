"""Math on NumPy arrays with any leading axes.

- `quat`: unit quaternions (..., 4), wxyz;
- `euler`: Euler angles in all orders, to and from quaternions, and continuous over time;
- `rigid2d`: floor-plane transforms (theta, x, z);
- `bspline`: uniform quadratic B-splines: evaluate, fit, fit increasing, invert;
- `filters`: Gaussian and median smoothing;
- `ease`, `ease_in`, `ease_slope`: the C1 ease (these names are the functions).
"""

from __future__ import annotations

from marey.maths import bspline, euler, filters, quat, rigid2d
from marey.maths.ease import ease, ease_in, ease_slope

__all__ = ["bspline", "ease", "ease_in", "ease_slope", "euler", "filters", "quat", "rigid2d"]
