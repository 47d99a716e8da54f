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
    side = max(int(math.sqrt(_PIECE / max(a.shape[1], 1))), 8)
    for i in range(0, len(a), side):
        for j in range(0, b.shape[1], side):
            np.matmul(a[i : i + side], b[:, j : j + side], out=out[i : i + side, j : j + side])
    return out
