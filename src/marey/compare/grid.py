"""Distance grids: the distances between all frames of two clips (Kovar 4.1.1, figure 4.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.compare.clouds import Clouds, Figure, check_pair, checked_frame_weights, frame_weights, point_clouds, told
from marey.compare.distance import frame_distances
from marey.compare.minima import local_minima
from marey.compare.pairing import Pairing
from marey.core.arrays import Floats, Ints, freeze_array, reduce_frozen, set_readonly
from marey.errors import InvalidValue

__all__ = ["LARGEST_GRID", "DistanceGrid", "distance_grid"]

LARGEST_GRID = 2 * 1024**3
"""Maximum size of a grid in bytes; process larger ones in blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class DistanceGrid:
    """D of each frame of a (rows) and each frame of b (columns).

    Parameters
    ----------
    a, b : markers of the clips; the same object if a clip is compared with itself.
    values : (Fa, Fb) m^2, non-negative; infinity where contacts differ and are refused. Distances are square roots.
    frame_weights : (2 L + 1,) weights of the window.
    align : whether each pair of frames was aligned first.
    """

    a: Clouds
    b: Clouds
    values: Floats = field(repr=False)
    frame_weights: Floats
    align: bool = True

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "values", freeze_array(self.values, "grid values", (len(self.a), len(self.b)), finite=False))
        put(self, "frame_weights", checked_frame_weights(self.frame_weights))

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    @property
    def is_own(self) -> bool:
        """Whether a clip is compared with itself."""
        return self.a is self.b

    def transform(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """The rigid2d (..., 3) that move b's frames j onto a's frames i; indices of any shape are broadcast."""
        rows, columns = np.broadcast_arrays(_indices(i, len(self.a), "row"), _indices(j, len(self.b), "column"))
        moves, _ = frame_distances(self.a, rows.ravel(), self.b, columns.ravel(), self.frame_weights, align=self.align)
        return set_readonly(moves.reshape(*rows.shape, 3))

    def minima(self, threshold: float | None = None, *, min_lag: int | None = None) -> Ints:
        """Cells (N, 2) that are smaller than their eight neighbors, in row-major order; see `local_minima`.

        Parameters
        ----------
        threshold : maximum distance in meters.
        min_lag : minimum distance from the diagonal in frames. By default 2 L + 1 if a clip is compared with itself,
            because overlapping windows are always similar; else 0.
        """
        if min_lag is None:
            min_lag = len(self.frame_weights) if self.is_own else 0
        return local_minima(self.values, threshold, min_lag=min_lag)


def distance_grid(
    a: Figure,
    b: Figure | None = None,
    *,
    markers: str | Sequence[str] = "body",
    per_joint: int = 1,
    weights: Mapping[str, float] | ArrayLike | None = None,
    window: float = 0.1,
    shape: str = "triangle",
    align: bool = True,
    contacts: str | float | None = None,
) -> DistanceGrid:
    """Compare all frames of a with all frames of b.

    Parameters
    ----------
    a, b : Motion, Markers or Clouds with one frame rate; by default b is a.
    markers, per_joint, weights : which markers; see `point_clouds`.
    window, shape : length in seconds, and ``"triangle"``, ``"box"`` or ``"gaussian"``; see `frame_weights`. At the ends
        of a clip the window is cut in both clips, and the remaining weights are scaled to sum 1.
    align : False compares clips at their positions in the world.
    contacts : ``"refuse"`` makes cells infinite if any contact point differs between the two frames; a number p in
        meters adds p^2 times the fraction of points that differ. Both motions need contacts.
    """
    pairing = paired(
        a, b, markers=markers, per_joint=per_joint, weights=weights, window=window, shape=shape, align=align,
        contacts=contacts,
    )  # fmt: skip
    n_a, n_b = len(pairing.a), len(pairing.b)
    if 8 * n_a * n_b > LARGEST_GRID:
        raise InvalidValue(
            f"a grid of {n_a} x {n_b} frames takes {8 * n_a * n_b / 1024**3:.1f} GB, more than "
            f"{LARGEST_GRID / 1024**3:g}; take it in blocks with marey.compare.grid_blocks, or resample the clips to a "
            "lower rate"
        )
    values = np.empty((n_a, n_b))
    pairing.fill(values, (0, n_a, 0, n_b))
    return DistanceGrid(pairing.a, pairing.b, set_readonly(values), pairing.frame_weights, pairing.align)


def paired(
    a: Figure,
    b: Figure | None,
    *,
    markers: str | Sequence[str],
    per_joint: int,
    weights: Mapping[str, float] | ArrayLike | None,
    window: float,
    shape: str,
    align: bool,
    contacts: str | float | None,
) -> Pairing:
    """Check the arguments of `distance_grid`."""
    first = point_clouds(a, markers, per_joint=per_joint, weights=weights)
    second = first if b is None or b is a else point_clouds(b, markers, per_joint=per_joint, weights=weights)
    check_pair(first, second)
    share = frame_weights(window, first.fps, shape)
    return Pairing(first, second, share, bool(align), _penalty(contacts, first, second))


def _penalty(contacts: str | float | None, a: Clouds, b: Clouds) -> float | None:
    """The contact penalty in m^2, infinity or None."""
    if contacts is None:
        return None
    for clouds, default in ((a, "a"), (b, "b")):
        if clouds.contacts is None:
            raise InvalidValue(
                f"{told(clouds, default)} has no contacts to compare; detect them first with marey.detect_contacts or "
                "`marey contacts`"
            )
    assert a.contacts is not None
    assert b.contacts is not None
    if not set(a.contacts.names) & set(b.contacts.names):
        raise InvalidValue(
            f"the clips have no contact point in common: {', '.join(a.contacts.names) or 'none'} and "
            f"{', '.join(b.contacts.names) or 'none'}"
        )
    if contacts == "refuse":
        return float(np.inf)
    if isinstance(contacts, str) or not (np.isfinite(contacts) and contacts >= 0):
        raise InvalidValue(f"contacts must be None, 'refuse', or a penalty of 0 m or more, got {contacts!r}")
    return float(contacts) ** 2


def _indices(values: ArrayLike, n: int, what: str) -> Ints:
    from marey.core.arrays import convert_array

    indices: Ints = convert_array(values, f"{what}s of the grid", np.int64)
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        worst = indices.min() if indices.min() < 0 else indices.max()
        raise InvalidValue(f"expected {what}s of the grid from 0 to {n - 1}, got {worst}")
    return indices
