"""Regions of parameters that the examples of a space cover, and projection of other parameters into them.

A region is the convex hull of the examples' parameters, cut by a box. Nonnegative weights with sum 1 reach every point
of the hull and no other. Because a region is convex, every weighted mean of its points belongs to it. The nearest point
to a target is unique and moves continuously with the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Bools, Floats, FrozenRecord, freeze_array, set_readonly

__all__ = ["Region"]

# Points outside by at most this distance, relative to the size of the region, count as inside, because of rounding.
_SLACK = 1e-9
# Singular values below this fraction of the largest are 0: the examples do not differ in that direction.
_FLAT = 1e-9
# Maximum number of random points to draw for each one that is returned.
_MAX_DRAWN = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Region(FrozenRecord):
    """A convex set of parameters (d,): all points x with ``low <= x <= high`` and ``normals @ x <= offsets``.

    low, high : (d,) bounding box, which may be larger than the region.
    normals, offsets : (m, d) and (m,) half-spaces; none for a box.
    vertices : (v, d) vertices of the hull before it was cut; none for a box.
    """

    low: Floats
    high: Floats
    normals: Floats
    offsets: Floats
    vertices: Floats

    def __post_init__(self) -> None:
        self._freeze(low=("d",), high=("d",), normals=("m", "d"), offsets=("m",), vertices=(None, "d"))

    @classmethod
    def from_box(cls, low: ArrayLike, high: ArrayLike) -> Region:
        """Return the region of all points between `low` (d,) and `high` (d,)."""
        d = len(np.atleast_1d(low))
        return cls(np.atleast_1d(low), np.atleast_1d(high), np.zeros((0, d)), np.zeros(0), np.zeros((0, d)))

    @classmethod
    def from_points(cls, points: Floats) -> Region:
        """Return the convex hull of points (n, d). Points on a line or plane give a region without volume."""
        low, high = points.min(axis=0), points.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        middle = points.mean(axis=0)
        scaled = (points - middle) / width
        # Axes of the subspace that the points span; the others have no extent.
        _, sizes, axes = np.linalg.svd(scaled, full_matrices=True)
        rank = int((sizes > _FLAT * max(float(sizes[0]), 1e-300)).sum()) if len(sizes) else 0
        flat = axes[rank:]
        rows = [flat, -flat]
        limits = [np.zeros(2 * len(flat))]
        along = scaled @ axes[:rank].T
        if rank == 1:
            corners = np.array([np.argmin(along[:, 0]), np.argmax(along[:, 0])])
            rows += [-axes[:1], axes[:1]]
            limits.append(np.array([-along.min(), along.max()]))
        elif rank:
            from scipy.spatial import ConvexHull  # the import takes half a second

            hull = ConvexHull(along)
            corners = np.sort(hull.vertices)
            planes = np.unique(np.round(hull.equations, 12), axis=0)  # a flat facet of many points has many triangles
            rows.append(planes[:, :-1] @ axes[:rank])
            limits.append(-planes[:, -1])
        else:
            corners = np.array([0])
        normals, offsets = np.concatenate(rows) / width, np.concatenate(limits)
        return cls(low, high, normals, offsets + normals @ middle, points[corners])

    @property
    def n_dims(self) -> int:
        return len(self.low)

    @property
    def scale(self) -> Floats:
        """(d,) widths of the bounding box, 1 if a width is 0."""
        width = self.high - self.low
        return np.asarray(np.where(width > 0.0, width, 1.0))

    @property
    def is_box(self) -> bool:
        return not len(self.normals)

    @property
    def middle(self) -> Floats:
        """(d,) the point of the region that is nearest to the middle of its bounding box."""
        return self.project(0.5 * (self.low + self.high))

    @property
    def is_empty(self) -> bool:
        return not bool(self.contains(self.middle, 1e-6)[0])

    def cut(self, low: ArrayLike, high: ArrayLike) -> Region:
        """Return the part of the region between `low` (d,) and `high` (d,)."""
        lowest, highest = np.maximum(self.low, low), np.minimum(self.high, high)
        return replace(self, low=np.minimum(lowest, self.high), high=np.maximum(np.minimum(lowest, self.high), highest))

    def extend(self, low: ArrayLike, high: ArrayLike) -> Region:
        """Return the region with further parameters, which may be anything between `low` (e,) and `high` (e,)."""
        more = Region.from_box(low, high)
        corners = list_corners(more.low, more.high)
        return Region(
            np.concatenate([self.low, more.low]),
            np.concatenate([self.high, more.high]),
            np.pad(self.normals, ((0, 0), (0, more.n_dims))),
            self.offsets,
            np.concatenate([np.repeat(self.vertices, len(corners), axis=0), np.tile(corners, (len(self.vertices), 1))],
                           axis=1),
        )  # fmt: skip

    def contains(self, points: ArrayLike, slack: float = _SLACK) -> Bools:
        """Return for each of the points (B, d) whether it is in the region; a single point (d,) counts as B = 1.

        slack : distance outside that still counts as inside, relative to `scale`.
        """
        given = np.atleast_2d(np.asarray(points, dtype=np.float64))
        near = slack * self.scale
        inside = ((given >= self.low - near) & (given <= self.high + near)).all(axis=1)
        if not self.is_box:
            inside &= (given @ self.normals.T <= self.offsets + np.abs(self.normals) @ near).all(axis=1)
        return np.asarray(inside)

    def project(self, points: ArrayLike, scale: ArrayLike | None = None) -> Floats:
        """Return the nearest points of the region, in the shape of `points`: (d,) or (B, d).

        Parameters
        ----------
        scale : (d,) distance in each dimension that counts as one unit, by default the widths of the bounding box. A
            small value keeps a parameter near its request, at the expense of the others.
        """
        given = np.asarray(points, dtype=np.float64)
        if self.is_box:
            return np.asarray(np.clip(given, self.low, self.high))
        out = np.array(np.atleast_2d(given))
        inside = self.contains(out)
        unit = self.scale if scale is None else freeze_array(scale, "scale", (self.n_dims,))
        for k in np.flatnonzero(~inside):
            out[k] = self._project_point(out[k], unit)
        return np.asarray(np.clip(out, self.low, self.high).reshape(given.shape))

    def _project_point(self, point: Floats, unit: Floats) -> Floats:
        """Solve the least-distance problem by nonnegative least squares (Lawson and Hanson 1974, chapter 23)."""
        from scipy.optimize import nnls

        axes = np.eye(self.n_dims)
        for rows, limits in (
            (np.concatenate([self.normals, axes, -axes]), np.concatenate([self.offsets, self.high, -self.low])),
            (self.normals, self.offsets),  # no point of the hull is in the box
        ):
            scaled = -rows * unit
            size = np.linalg.norm(scaled, axis=1)
            beyond = (rows @ point - limits) / size
            dual = np.concatenate([scaled.T / size, beyond[None]])
            goal = np.zeros(len(dual))
            goal[-1] = 1.0
            weights, left = nnls(dual, goal)
            if left > 1e-7:
                residual = dual @ weights - goal
                return np.asarray(point - unit * residual[:-1] / residual[-1])
        return point

    def sample(self, n: int, rng: np.random.Generator, *, corners: bool = False) -> Floats:
        """Return random points (n, d), spread evenly over the region.

        Sampling is stratified (Latin hypercube): in a box, each parameter has one value in each of n equal parts of its
        range. In other regions, points outside are dropped.

        Parameters
        ----------
        corners : replace the first points by the ends of the region: at most 2^d or a third of the points.
        """
        out = np.empty((0, self.n_dims))
        n_drawn = n
        while True:
            points = self.low + _stratify(n_drawn, self.n_dims, rng) * (self.high - self.low)
            inside = self.contains(points)
            if inside.sum() >= n or n_drawn >= _MAX_DRAWN * n:
                break
            n_drawn = min(_MAX_DRAWN * n, int(np.ceil(1.5 * n * n_drawn / max(1, int(inside.sum())))))
        out = points[inside][:n]
        if len(out) < n:  # the region has no volume, or almost none
            out = np.concatenate([out, self.project(points[~inside][: n - len(out)])])
        if corners:
            ends = self.list_ends(min(n, max(2**self.n_dims, n // 3)))
            out = np.array(out)
            out[: len(ends)] = ends
        return np.asarray(out)

    def list_ends(self, n: int) -> Floats:
        """Return at most n points at the ends of the region: first those nearest to the corners of its box, then
        vertices.

        Each next vertex is the one farthest from all points chosen before.
        """
        ends = np.unique(self.project(list_corners(self.low, self.high)), axis=0)[:n]
        left = self.vertices[self.contains(self.vertices)] if len(self.vertices) else self.vertices
        while len(left) and len(ends) < n:
            apart = np.linalg.norm((left[:, None] - ends) / self.scale, axis=2).min(axis=1)
            farthest = int(np.argmax(apart))
            if apart[farthest] <= 1e-6:
                break
            ends = np.concatenate([ends, left[farthest : farthest + 1]])
        return set_readonly(ends)


def list_corners(low: Floats, high: Floats) -> Floats:
    """Return the corners (2^d, d) of a box."""
    return np.stack(np.meshgrid(*np.stack([low, high], axis=1), indexing="ij"), axis=-1).reshape(-1, len(low))


def _stratify(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Return n random points (n, d) from 0 to 1, one in each of n equal parts of each dimension."""
    ranks = np.stack([rng.permutation(n) for _ in range(d)], axis=1)
    return np.asarray((ranks + rng.random((n, d))) / n)
