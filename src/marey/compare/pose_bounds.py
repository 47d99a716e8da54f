"""Features of poses whose distances are lower bounds of the aligned distance.

The markers of a frame, with weights w of sum 1, are heights h = sqrt(w) y and complex numbers z = sqrt(w) (x + i z) in
the floor plane, relative to their weighted mean. A move on the floor plane multiplies z by a number of absolute value
1. With the best move, two frames have the squared distance

    D = |h - h'|^2 + |z|^2 + |z'|^2 - 2 |<z, z'>|

(Kovar 4.1). Its square root is the distance of h and h' combined with the distance of two orbits of a group of
isometries, so it is a metric on poses up to floor-plane moves: the triangle inequality holds. For each pose let

    f = (h, z z* / (sqrt(2) |z|)),

where z z* is the matrix of all products of two markers, as a vector of real numbers. It does not change with the move.
With c = |<z, z'>| / (|z| |z'|), which is at most 1,

    2 D - |z z* / |z| - z' z'* / |z'||^2 = (|z| - |z'|)^2 + 2 |z| |z'| (1 - c)^2 >= 0     (without the heights)
    |z z* / |z| - z' z'* / |z'||^2 - D = 2 |z| |z'| c (1 - c) >= 0

so |f - f'| <= sqrt(D) <= sqrt(2) |f - f'|. In captures, |f - f'| is 0.94 of the distance on average. Distances between
orthogonal projections of f to a few axes are lower bounds too, and so are differences between the lengths of the
residuals. The first 15 principal axes have 93 % of the variance of captured poses.

For windows of several frames, which share one move, D is at least the weighted mean of the D of their frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marey.compare.clouds import Clouds
from marey.compare.pairing import PIECE
from marey.core.arrays import Floats, set_readonly

N_AXES = 15
"""Number of principal axes; with the length of the rest, the number of features is a multiple of 4."""
# Maximum number of frames that the axes are computed from.
_SAMPLED = 4_000
# Iterations for the axes, and number of axes to iterate in addition to those wanted, which makes them converge sooner.
_ITERATIONS, _MORE_AXES = 6, 9


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """A projection of pose features.

    mean : (P,) mean of the features. axes : (K, P) orthonormal axes.
    """

    mean: Floats
    axes: Floats

    @property
    def n_features(self) -> int:
        """Number of features of a pose: one for each axis, and the length of the residual."""
        return len(self.axes) + 1

    @classmethod
    def fit(cls, clouds: Sequence[Clouds], n_axes: int = N_AXES) -> Embedding:
        """Return an embedding on the principal axes of the poses in clips; of long clips, only some frames are used."""
        step = max(sum(map(len, clouds)) // _SAMPLED, 1)
        features = np.concatenate([embed_poses(each.points[::step], each.weights) for each in clouds])
        mean = features.mean(axis=0)
        features -= mean
        return cls(set_readonly(mean), set_readonly(_find_axes(features, n_axes)))

    @classmethod
    def from_array(cls, array: Floats) -> Embedding:
        """Restore an embedding from the result (K + 1, P) of `to_array`."""
        return cls(array[0], array[1:])

    def to_array(self) -> Floats:
        """Return the embedding as one array (K + 1, P)."""
        return set_readonly(np.concatenate([self.mean[None], self.axes]))

    def apply(self, clouds: Clouds) -> NDArray[np.float32]:
        """Compute the features (F, K + 1) of each frame. Their distance never exceeds the aligned distance."""
        out = np.empty((len(clouds), self.n_features), dtype=np.float32)
        # In small parts, which stay in the cache and are multiplied on one thread.
        n = max(PIECE // self.axes.size, 8)
        for start in range(0, len(clouds), n):
            part = slice(start, start + n)
            away = embed_poses(clouds.points[part], clouds.weights) - self.mean
            inside = away @ self.axes.T
            rest = np.einsum("fp,fp->f", away, away) - np.einsum("fk,fk->f", inside, inside)
            out[part, :-1], out[part, -1] = inside, np.sqrt(np.maximum(rest, 0.0))
        return out


def _find_axes(rows: Floats, n_axes: int) -> Floats:
    """Return the first principal axes (K, P) of rows (N, P) with mean 0, by orthogonal iteration.

    It multiplies small matrices on one thread. An eigenvalue decomposition uses all threads of the matrix library and
    takes seconds of processor time on a busy machine.
    """
    n_columns = min(n_axes + _MORE_AXES, rows.shape[1])
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(rows.shape[1], n_columns)))[0]
    n = max(PIECE // basis.size, 8)
    for _ in range(_ITERATIONS):
        total = np.zeros_like(basis)
        for start in range(0, len(rows), n):
            part = rows[start : start + n]
            total += ((part @ basis).T @ part).T
        basis = np.linalg.qr(total)[0]
    # The axes in the basis.
    inside = np.concatenate([rows[start : start + n] @ basis for start in range(0, len(rows), n)])
    _, axes = np.linalg.eigh(inside.T @ inside)
    return np.ascontiguousarray((basis @ axes[:, ::-1][:, :n_axes]).T)


def embed_poses(points: Floats, weights: Floats) -> Floats:
    """Return the features f (F, M + M^2) of markers (F, M, 3) with weights (M,)."""
    roots = np.sqrt(weights)
    flat = points[..., 0] + 1j * points[..., 2]
    flat = (flat - (flat @ weights)[:, None]) * roots
    lengths = np.linalg.norm(flat, axis=1)
    flat /= np.sqrt(np.maximum(lengths, 1e-12))[:, None]
    first, second = np.triu_indices(len(weights), 1)
    products = flat[:, first] * flat[:, second].conj()
    diagonal = np.square(np.abs(flat)) / np.sqrt(2.0)
    return np.concatenate([points[..., 1] * roots, diagonal, products.real, products.imag], axis=1)
