"""Gaussian smoothing that is fast on short series and preserves straight lines."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats


def smooth_series(values: Floats, sigma: float) -> Floats:
    """Smooth values (F, ...) with a Gaussian of standard deviation `sigma`, in frames.

    Beyond its ends, the series is extended by point reflection about the end value.
    """
    n = len(values)
    reach = min(int(np.ceil(3.5 * sigma)), n - 1)
    if reach < 1:
        return values
    columns = values.reshape(n, -1)
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    taps /= taps.sum()
    ahead, behind = columns[reach:0:-1], columns[-2 : -reach - 2 : -1]
    padded = np.concatenate([2.0 * columns[0] - ahead, columns, 2.0 * columns[-1] - behind])
    out = np.stack([np.convolve(column, taps, mode="valid") for column in padded.T], axis=1)
    return out.reshape(values.shape)
