"""Matrix products whose bits do not depend on the number of threads.

A separate module because any package may need it; currently the comparison of parametric motions does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

# A matrix library uses one thread for products of up to about this many multiplications.
_PIECE = 250_000


def multiply(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Multiply a (M, K) by b (K, N), both of the same type, in pieces that the matrix library computes on one thread.

    The library may split a larger product among its threads, and the way it is split affects the last bits.
    """
    out = np.empty((len(a), b.shape[1]), dtype=a.dtype)
    depth = max(a.shape[1], 1)
    side = max(math.sqrt(_PIECE / depth), 8.0)
    # Equal numbers of rows: a narrow remainder takes as long as a whole piece.
    height = math.ceil(len(a) / max(round(len(a) / side), 1))
    width = max(_PIECE // (depth * max(height, 1)), 8)
    for i in range(0, len(a), max(height, 1)):
        for j in range(0, b.shape[1], width):
            np.matmul(a[i : i + height], b[:, j : j + width], out=out[i : i + height, j : j + width])
    return out
