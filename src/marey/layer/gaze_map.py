"""Map gaze goals to gaze shifts, with examples, blends of them, and a grid for lookup (Heck 5.2.2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, Ints, set_readonly
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.deprecation import renamed_methods, warn_renamed
from marey.errors import InvalidValue
from marey.layer.gaze_aim_kernels import GazeTable, aim_row
from marey.layer.gaze_apply import trace_gaze
from marey.layer.gaze_capture import make_straight_ahead
from marey.layer.gaze_model import N_NUMBERS, POSE, GazeShift, angles_to_direction, check_goal, find_reached_angles
from marey.layer.gaze_region import convex_hull, project_into_region
from marey.layer.gaze_track import GazeTrack
from marey.layer.settings import GazeMapSettings, GazeSettings
from marey.maths import quat
from marey.parametric.sampling import measure_samples, sample_weights
from marey.parametric.target_weights import mix_weights, neighbor_weights

__all__ = ["GazeMap"]

# Number of blends to measure, and their minimum spacing as a fraction of the examples' median spacing.
_N_SAMPLES, _SPACING = 1000, 0.1
_DELTA, _EXPAND = 0.15, 0.1
# Number of corrections at the grid points, and finite-difference step of a pose in radians.
_CORRECTIONS, _NUDGE = 3, 1e-5
_CELL = np.radians(9.0)
_MAX_CELLS = 20_000
# Goals outside the map by less than this, in radians, count as inside.
_ON_EDGE = np.radians(0.1)
_SHIPPED = "gaze_default.json"


@renamed_methods(aim="project")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GazeMap(FrozenRecord):
    """A model of how a person shifts the gaze, for every goal between the examples; created by `build`.

    Parameters
    ----------
    examples : gaze shifts; the first one looks straight ahead.
    k : number of nearest blends that are averaged for a goal.
    samples : (m, 2) yaw and pitch of sampled blends, the examples first.
    sample_examples, sample_weights : (m, 3) examples that each sample is blended from, and their weights.
    scale : median distance between neighboring examples, in radians.
    region : (h, 2) corners, counterclockwise, of the convex region of goals inside the map, in radians.
    origin, cell : (2,) yaw and pitch of the first grid point, and the grid spacing, in radians.
    table : (ny, np, 22) shifts at the ny x np grid points; see `GazeShift.to_row`.
    seed : random seed of the sampled blends.
    widest_eyes : largest rotation of the eyes in the head in any example, with overshoot, in radians.

    Examples
    --------
    >>> gaze = marey.GazeMap.default()
    >>> looking = gaze.apply(walk, [(1.0, 0.8, 0.1)])  # at 1 s, yaw and pitch in radians
    >>> len(looking) == len(walk)
    True
    >>> gaze.look_at(walk, [(1.0, (2.0, 1.5, 3.0))]).name  # at 1 s, a point in meters
    'walk'
    """

    examples: tuple[GazeShift, ...]
    k: int
    samples: Floats
    sample_examples: Ints
    sample_weights: Floats
    scale: float
    region: Floats
    origin: Floats
    cell: Floats
    table: Floats
    seed: int = 0
    widest_eyes: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("samples", "sample_weights", "region", "origin", "cell", "table"):
            self._put(**{name: set_readonly(np.ascontiguousarray(getattr(self, name), dtype=np.float64))})
        self._put(sample_examples=set_readonly(np.ascontiguousarray(self.sample_examples, dtype=np.int64)))
        turned = np.asarray(quat.angle(np.array([example.pose[4] for example in self.examples])))
        self._put(widest_eyes=float((turned * [1.0 + example.overshoot for example in self.examples]).max()))

    def __repr__(self) -> str:
        low, high = np.degrees(self.region.min(axis=0)), np.degrees(self.region.max(axis=0))
        return (
            f"<GazeMap: {len(self.examples)} examples, yaw {low[0]:.0f} to {high[0]:.0f}, "
            f"pitch {low[1]:.0f} to {high[1]:.0f} degrees>"
        )

    @classmethod
    @operation(GazeMapSettings)
    def build(cls, examples: Iterable[GazeShift], settings: GazeMapSettings) -> GazeMap:
        """Build a map from examples, which `gaze_example` extracts from captured looks.

        Parameters
        ----------
        examples : at least two gaze shifts with different goals. The one straight ahead is always generated.

        Examples
        --------
        >>> from marey.samples.gaze import gaze_take
        >>> goals = [(0.0, 0.0), (0.6, 0.0), (-0.6, 0.0), (0.0, 0.3), (0.0, -0.3)]
        >>> takes = [gaze_take(*goal) for goal in goals]
        >>> gaze = marey.GazeMap.build([marey.gaze_example(take.motion, take.goal) for take in takes])
        >>> len(gaze.examples), gaze.region.shape[1]
        (5, 2)
        """
        given = _check_examples(examples)
        neighbors, rng = settings.k, settings.rng
        seed = int(rng.integers(2**32)) if isinstance(rng, np.random.Generator) else rng
        goals = np.array([example.goal for example in given])
        rows = np.array([example.to_row() for example in given])
        scale = _find_spacing(goals)
        which, weights = sample_weights(goals / scale, _N_SAMPLES, _DELTA, _EXPAND, np.random.default_rng(seed))
        blends = _Blends(goals, rows)
        own = find_reached_angles(rows, goals)
        both = np.full(2, scale)
        samples, members, mixtures = measure_samples(blends, own, both, which, weights, _SPACING)
        region = convex_hull(goals)
        query = _Query(rows, samples / scale, members, mixtures, scale, neighbors)
        origin, cell, table = _make_grid(query, region)
        return cls(given, neighbors, samples, members, mixtures, scale, region, origin, cell, table, seed)

    def with_examples(self, examples: Iterable[GazeShift]) -> GazeMap:
        """Build a map from other examples, with the number of neighbors and the seed of this one."""
        return GazeMap.build(examples, k=self.k, rng=self.seed)

    @classmethod
    def default(cls) -> GazeMap:
        """Return the built-in map: 33 synthetic looks, yaw up to 150 degrees to either side, pitch up to 36 degrees."""
        return _load_default()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GazeMap:
        """Read a map written by `save`; its blends are sampled again with the same seed."""
        from marey.layer.gaze_files import load_map

        return load_map(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the examples and the seed as JSON, a few kilobytes; `load` rebuilds the same map from them."""
        from marey.layer.gaze_files import save_map

        save_map(self, path)

    @property
    def grid(self) -> GazeTable:
        """The grid, as a record for the kernels."""
        return GazeTable(self.table, self.origin, self.cell)

    def project(self, goal: ArrayLike) -> tuple[Floats, bool]:
        """Project a goal (yaw and pitch in radians) into the map.

        Return the goal, or the nearest goal inside the map, (2,), and whether it was outside.

        Examples
        --------
        >>> gaze = marey.GazeMap.default()
        >>> gaze.project((0.5, 0.1))
        (array([0.5, 0.1]), False)
        >>> gaze.project((3.0, 0.1))[1]  # behind the back
        True
        """
        given = check_goal(goal)
        inside, apart = project_into_region(given[None], self.region)
        return (inside[0], True) if apart[0] > _ON_EDGE else (given, False)

    def shift(self, goal: ArrayLike, *, method: str = "grid") -> GazeShift:
        """Find the gaze shift for a goal.

        Parameters
        ----------
        goal : yaw and pitch in radians; a goal outside the map is projected, see `project`.
        method : "grid" interpolates between grid points and corrects the result once. "neighbors" averages the k
            nearest blends (Heck 5.2.2); the result misses the goal by a few degrees.

        Examples
        --------
        >>> marey.GazeMap.default().shift((0.5, 0.1)).goal.round(3)  # radians
        array([0.5, 0.1])
        """
        angles, _ = self.project(goal)
        if method == "neighbours":
            warn_renamed('GazeMap.shift(method="neighbours")', 'method="neighbors"')
            method = "neighbors"
        if method == "neighbors":
            rows = np.array([example.to_row() for example in self.examples])
            query = _Query(
                rows, self.samples / self.scale, self.sample_examples, self.sample_weights, self.scale, self.k
            )
            return GazeShift.from_row(query.weights(angles)[0] @ rows, name=method)
        if method != "grid":
            raise InvalidValue(f"method must be 'grid' or 'neighbors', not {method!r}")
        row = np.empty(N_NUMBERS)
        aim_row(self.grid, angles, angles_to_direction(angles), row)
        return GazeShift.from_row(row, name=method)

    @operation(GazeSettings)
    def trace(self, motion: Motion, goals: Sequence[object], settings: GazeSettings) -> GazeTrack:
        """Make the character of a motion look at goals; return the motion with its eye rotations.

        Parameters
        ----------
        motion : motion of the body; hips and legs do not change.
        goals : list of goals (gaze targets), sorted by time in seconds. ``(time, yaw, pitch)`` is a direction, in
            radians from the body's heading (yaw positive to the left, pitch upward). ``(time, (x, y, z))`` is a world
            point in meters, which the gaze follows while the body moves. ``(time, None)`` returns to the original
            motion.

        Returns
        -------
        GazeTrack. Where the map and the eyes do not reach a goal, neck and trunk follow up to their limits. Goals that
        are missed by more than a degree, or that twist the trunk of a walking body by more than 60 degrees, cause a
        `MareyWarning` and are listed in `notes`.

        Examples
        --------
        >>> track = marey.GazeMap.default().trace(walk, [(1.0, 0.8, 0.1)])
        >>> track.motion.rotations.shape, track.eyes.shape
        ((241, 27, 4), (241, 4))
        """
        return trace_gaze(self, motion, goals, settings)

    @operation(GazeSettings)
    def apply(self, motion: Motion, goals: Sequence[object], settings: GazeSettings) -> Motion:
        """Make the character of a motion look at goals given as angles; `trace` also returns the eye rotations.

        Parameters
        ----------
        motion : motion of the body; hips and legs do not change.
        goals : list of ``(time, yaw, pitch)`` in seconds and radians, relative to the body's heading, yaw positive to
            the left and pitch upward; ``(time, None)`` returns to the original motion. Points as in `look_at` are also
            allowed.

        Examples
        --------
        >>> marey.GazeMap.default().apply(walk, [(1.0, 0.8, 0.1), (2.5, -0.8, 0.0)])  # seconds, yaw, pitch
        <Motion 'walk': 241 frames at 60 Hz, 27 joints>
        """
        return trace_gaze(self, motion, goals, settings).motion

    @operation(GazeSettings)
    def look_at(self, motion: Motion, points: Sequence[Iterable[object]], settings: GazeSettings) -> Motion:
        """Make the character of a motion look at world points, and follow them while the body moves.

        Parameters
        ----------
        motion : motion of the body; hips and legs do not change.
        points : list of ``(time, (x, y, z))`` in seconds and meters.

        Examples
        --------
        >>> marey.GazeMap.default().look_at(walk, [(1.0, (2.0, 1.5, 3.0))])  # seconds, point in meters
        <Motion 'walk': 241 frames at 60 Hz, 27 joints>
        """
        for entry in points:
            if len(tuple(entry)) != 2:
                raise InvalidValue(f"each point must be (time, (x, y, z)) in seconds and meters, not {entry!r}")
        return trace_gaze(self, motion, points, settings).motion


@dataclass(frozen=True, slots=True, eq=False)
class _Blends:
    """Measures the goals that blends of the examples reach; used for sampling.

    goals : (n, 2) goals of the examples. rows : (n, 22) numbers of the examples; see `GazeShift.to_row`.
    """

    goals: Floats
    rows: Floats

    def measure_weights(self, which: Ints, weights: Floats) -> Floats:
        """Return yaw and pitch (B, 2) that blends of examples `which` (B, q) with weights (B, q) reach."""
        near = np.einsum("bq,bqk->bk", weights, self.goals[which])
        return find_reached_angles(np.einsum("bq,bqk->bk", weights, self.rows[which]), near)


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """Finds the row of numbers for a goal from the nearest samples.

    rows : (n, 22) numbers of the examples.
    places : (m, 2) yaw and pitch of the samples, divided by `scale`.
    members, mixtures : (m, q) examples that each sample is blended from, and their weights.
    scale, k : as in `GazeMap`.
    """

    rows: Floats
    places: Floats
    members: Ints
    mixtures: Floats
    scale: float
    k: int

    def weights(self, goal: Floats) -> tuple[Floats, Floats]:
        """Return the weights (n,) of the examples for a goal (2,), and how far each may change (its leeway).

        The leeway of an example is its total absolute weight in the samples around the goal.
        """
        near, near_weights = neighbor_weights(goal / self.scale, self.places, self.k)
        which, mixed = mix_weights(near_weights, self.members[near], self.mixtures[near])
        weights, leeway = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        weights[which] = mixed
        np.add.at(leeway, self.members[near], near_weights[:, None] * np.abs(self.mixtures[near]))
        return weights, leeway

    def aim(self, goals: Floats) -> Floats:
        """Return blends (N, 22) that reach goals (N, 2): blends of the nearest samples, with corrected weights.

        Each correction is the smallest one, relative to the leeway of the examples, that removes the error and keeps
        the sum of the weights.
        """
        found = [self.weights(goal) for goal in goals]
        weights, leeway = (np.array([each[k] for each in found]).reshape(-1, len(self.rows)) for k in (0, 1))
        for _ in range(_CORRECTIONS):
            rows = weights @ self.rows
            miss = goals - find_reached_angles(rows, goals)
            slopes = _find_slopes(rows, goals) @ self.rows[:, POSE].T
            tied = np.concatenate([slopes, np.ones((len(goals), 1, len(self.rows)))], axis=1)
            wanted = np.concatenate([miss, np.zeros((len(goals), 1))], axis=1)
            scaled = tied * leeway[:, None]
            normal = scaled @ tied.transpose(0, 2, 1) + 1e-6 * np.eye(3)
            step = np.einsum("nce,nc->ne", scaled, np.linalg.solve(normal, wanted[..., None])[..., 0])
            weights = weights + step
        return np.asarray(weights @ self.rows)


def _find_slopes(rows: Floats, near: Floats) -> Floats:
    """Return the derivatives (N, 2, 15) of yaw and pitch with respect to the 15 pose numbers of rows (N, 22)."""
    shifted = np.repeat(rows[:, None], 15, axis=1)
    shifted[:, np.arange(15), np.arange(15)] += _NUDGE
    found = find_reached_angles(shifted.reshape(-1, N_NUMBERS), np.repeat(near, 15, axis=0)).reshape(-1, 15, 2)
    return np.asarray((found - find_reached_angles(rows, near)[:, None]).transpose(0, 2, 1) / _NUDGE)


def _check_examples(examples: Iterable[GazeShift]) -> tuple[GazeShift, ...]:
    given = list(examples)
    for example in given:
        if not isinstance(example, GazeShift):
            raise InvalidValue(
                f"examples must be GazeShift objects, as gaze_example returns them, not {type(example).__name__}"
            )
    away = [np.abs(example.goal).max() for example in given]
    if sum(angle > np.radians(2.0) for angle in away) < 2:
        raise InvalidValue(
            f"examples must have at least two different gaze targets, not {sum(a > np.radians(2.0) for a in away)}"
        )
    goals = np.array([example.goal for example in given])
    apart = np.linalg.norm(goals[:, None] - goals, axis=2) + 10.0 * np.eye(len(goals))
    if apart.min() < np.radians(0.5):
        i, j = np.argwhere(apart < np.radians(0.5))[0]
        yaw, pitch = np.degrees(goals[i])
        raise InvalidValue(
            f"examples {i} and {j} have the same gaze target, yaw {yaw:.1f} and pitch {pitch:.1f} degrees; remove one"
        )
    # The look straight ahead has no movement, so it gets the timing of the smallest look.
    middle = min(given, key=lambda example: float(np.linalg.norm(example.goal)) or np.inf)
    return (
        make_straight_ahead("straight ahead", middle),
        *(e for e, angle in zip(given, away, strict=True) if angle > np.radians(2.0)),
    )


def _find_spacing(goals: Floats) -> float:
    """Return the median distance from an example to its nearest neighbor, in radians, for goals (n, 2)."""
    apart = np.linalg.norm(goals[:, None] - goals, axis=2) + 10.0 * np.eye(len(goals))
    return float(np.median(apart.min(axis=1)))


def _make_grid(query: _Query, region: Floats) -> tuple[Floats, Floats, Floats]:
    """Build a grid over the region, with two more rows of grid points on each side.

    Return the first grid point (2,), the spacing (2,), and the rows of numbers (ny, np, 22) at the grid points.
    """
    low, high = region.min(axis=0), region.max(axis=0)
    cell = max(_CELL, float(np.sqrt(np.prod(np.maximum(high - low, _CELL)) / _MAX_CELLS)))
    counts = np.maximum(np.ceil((high - low) / cell), 1).astype(np.int64)
    step = np.where(high - low > 1e-9, (high - low) / counts, cell)
    origin = low - 2.0 * step
    corners = origin + step * np.stack(np.meshgrid(*(np.arange(n + 5) for n in counts), indexing="ij"), axis=-1)
    flat = corners.reshape(-1, 2)
    inside, apart = project_into_region(flat, region)
    table = query.aim(inside)
    # Extrapolate beyond the region: corrections near its edge need values outside.
    out = np.flatnonzero(apart > 1e-9)
    mirrored, _ = project_into_region(2.0 * inside[out] - flat[out], region)
    table[out] = 2.0 * table[out] - query.aim(mirrored)
    return origin, step, table.reshape(*corners.shape[:2], N_NUMBERS)


@cache
def _load_default() -> GazeMap:
    return GazeMap.load(Path(__file__).with_name(_SHIPPED))
