"""Compute distance grids: the distances between all frames of two clips (Kovar 4.1.1, figure 4.5)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from marey.compare.clouds import (
    Clouds,
    Recording,
    check_frame_weights,
    check_pair,
    describe_clip,
    frame_weights,
    point_clouds,
)
from marey.compare.distance import frame_distances, warn_of_centimeters
from marey.compare.minima import local_minima
from marey.compare.pairing import Pairing
from marey.compare.settings import GridSettings
from marey.core.arrays import Floats, FrozenRecord, Ints, freeze_array, set_readonly
from marey.core.settings import operation
from marey.errors import InvalidValue

__all__ = ["LARGEST_GRID", "DistanceGrid", "distance_grid"]

LARGEST_GRID = 2 * 1024**3
"""Maximum size of a grid in bytes; process larger ones in blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class DistanceGrid(FrozenRecord):
    """Squared distances D between all frames of a (rows) and all frames of b (columns).

    Parameters
    ----------
    a, b : markers of the clips; the same object if a clip is compared with itself.
    values : (Fa, Fb) D in m^2, non-negative; infinity where mismatched contacts are refused. Distances are its square
        roots.
    frame_weights : (2 L + 1,) weights of the window.
    align : whether each pair of frames was aligned first.

    Examples
    --------
    >>> grid = marey.distance_grid(walk)
    >>> grid.is_own, grid.values.shape
    (True, (241, 241))
    >>> grid.transform(10, 10).round(6) + 0.0
    array([0., 0., 0.])
    """

    a: Clouds
    b: Clouds
    values: Floats = field(repr=False)
    frame_weights: Floats
    align: bool = True

    def __post_init__(self) -> None:
        self._put(
            values=freeze_array(self.values, "grid values", (len(self.a), len(self.b)), finite=False),
            frame_weights=check_frame_weights(self.frame_weights),
        )

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_grid

        facts = f"distances of {len(self.a)} x {len(self.b)} frames, dark where they are alike"
        return show_grid("distance grid", facts, self.values)

    @property
    def is_own(self) -> bool:
        """Whether a clip is compared with itself."""
        return self.a is self.b

    def transform(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Return the rigid2d transforms (..., 3) that move b's frames j onto a's frames i; indices are broadcast."""
        rows, columns = np.broadcast_arrays(
            _check_indices(i, len(self.a), "row"), _check_indices(j, len(self.b), "column")
        )
        moves, _ = frame_distances(self.a, rows.ravel(), self.b, columns.ravel(), self.frame_weights, align=self.align)
        return set_readonly(moves.reshape(*rows.shape, 3))

    def minima(self, threshold: float | None = None, *, min_lag: int | None = None) -> Ints:
        """Return cells (N, 2) that are smaller than their eight neighbors, in row-major order; see `local_minima`.

        Parameters
        ----------
        threshold : maximum distance in meters; no limit by default.
        min_lag : minimum distance from the diagonal in frames. By default 2 L + 1 if a clip is compared with itself,
            because overlapping windows are always similar; else 0.
        """
        if min_lag is None:
            min_lag = len(self.frame_weights) if self.is_own else 0
        warn_of_centimeters("threshold", threshold)
        return local_minima(self.values, threshold, min_lag=min_lag)


@operation(GridSettings)
def distance_grid(a: Recording, b: Recording | None = None, *, settings: GridSettings) -> DistanceGrid:
    """Compare all frames of a with all frames of b. For clips that are too long for one grid, use `grid_blocks`.

    Parameters
    ----------
    a, b : Motion, Markers or Clouds with the same frame rate; by default b is a.

    Examples
    --------
    >>> grid = marey.distance_grid(walk, run)
    >>> grid.values.shape  # squared distances in square meters
    (241, 241)
    >>> grid.minima(threshold=0.3).shape[1]
    2
    """
    pairing = make_pairing(a, b, settings)
    n_a, n_b = len(pairing.a), len(pairing.b)
    if 8 * n_a * n_b > LARGEST_GRID:
        raise InvalidValue(
            f"a grid of {n_a} x {n_b} frames would take {8 * n_a * n_b / 1024**3:.1f} GB (maximum "
            f"{LARGEST_GRID / 1024**3:g}); resample the clips to a lower rate, or compare parts of them"
        )
    values = np.empty((n_a, n_b))
    pairing.fill(values, (0, n_a, 0, n_b))
    return DistanceGrid(pairing.a, pairing.b, set_readonly(values), pairing.frame_weights, pairing.align)


def make_pairing(a: Recording, b: Recording | None, settings: GridSettings) -> Pairing:
    """Check the arguments of `distance_grid` and prepare the two clips."""

    def read(recording: Recording) -> Clouds:
        return point_clouds(recording, settings.markers, per_joint=settings.per_joint, weights=settings.weights)

    first = read(a)
    second = first if b is None or b is a else read(b)
    check_pair(first, second)
    weights = frame_weights(settings.window, first.fps, settings.shape)
    return Pairing(first, second, weights, settings.align, _parse_penalty(settings.contacts, first, second))


def _parse_penalty(contacts: str | float | None, a: Clouds, b: Clouds) -> float | None:
    """Return the contact penalty in m^2, infinity, or None."""
    if contacts is None:
        return None
    for clouds, default in ((a, "a"), (b, "b")):
        if clouds.contacts is None:
            raise InvalidValue(
                f"{describe_clip(clouds, default)} has no contacts to compare; detect them first",
                parameter="contacts",
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
        raise InvalidValue(f"contacts must be 'refuse' or a finite penalty of at least 0 m, not {contacts!r}")
    return float(contacts) ** 2


def _check_indices(values: ArrayLike, n: int, what: str) -> Ints:
    from marey.core.arrays import convert_array

    indices: Ints = convert_array(values, f"{what}s of the grid", np.int64)
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        worst = indices.min() if indices.min() < 0 else indices.max()
        raise InvalidValue(f"{what}s of the grid must be from 0 to {n - 1}, not {worst}")
    return indices
