"""The C1 ease for crossfades (Kovar, eq. 3.5)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from marey.maths._arrays import FloatArray, as_floats

__all__ = ["ease", "ease_in", "ease_slope"]


def ease(t: npt.ArrayLike) -> FloatArray:
    """Return 2 t^3 - 3 t^2 + 1: from 1 at t = 0 down to 0 at t = 1, flat at both ends and beyond them.

    Parameters
    ----------
    t : (...) of any shape; the result has the same.

    Examples
    --------
    >>> marey.maths.ease([0.0, 0.5, 1.0])
    array([1. , 0.5, 0. ])
    """
    return np.asarray(1.0 - ease_in(t))


def ease_in(t: npt.ArrayLike) -> FloatArray:
    """Return 1 - ease(t): from 0 at t = 0 up to 1 at t = 1, flat at both ends and beyond them.

    Parameters
    ----------
    t : (...) of any shape; the result has the same.

    Examples
    --------
    >>> marey.maths.ease_in([0.0, 0.5, 1.0])
    array([0. , 0.5, 1. ])
    """
    u = np.clip(as_floats(t, "ease", "t"), 0.0, 1.0)
    return np.asarray(u * u * (3.0 - 2.0 * u))


def ease_slope(t: npt.ArrayLike) -> FloatArray:
    """Return the derivative of `ease`, 6 t^2 - 6 t, and 0 outside [0, 1]; that of `ease_in` is its negative.

    Parameters
    ----------
    t : (...) of any shape; the result has the same.

    Examples
    --------
    >>> marey.maths.ease_slope([0.25, 0.5])
    array([-1.125, -1.5  ])
    """
    u = np.clip(as_floats(t, "ease", "t"), 0.0, 1.0)
    return np.asarray(6.0 * u * (u - 1.0))
