"""A map from gaze goals to gaze shifts: examples, blends of them, and a grid for lookup (Heck 5.2.2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, check_index, reduce_frozen, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.layer.gaze_capture import make_straight_ahead
from marey.layer.gaze_kernels import GazeTable, aim_row
from marey.layer.gaze_model import N_NUMBERS, POSE, GazeShift, angles_to_direction, checked_goal, reached
from marey.layer.gaze_region import convex_hull, project
from marey.maths import quat
from marey.parametric.neighbours import mixed_weights, neighbour_shares
from marey.parametric.sampling import measured_samples, sample_weights

if TYPE_CHECKING:
    from marey.layer.gaze_track import GazeTrack

__all__ = ["GazeMap"]

# Blends that are measured, and how near two may be, as a share of the goals' usual distance.
_N_SAMPLES, _SPACING = 1000, 0.1
_DELTA, _EXPAND = 0.15, 0.1
# Corners of a grid are corrected so often; radians by which a pose is changed to see what that does.
_CORRECTIONS, _NUDGE = 3, 1e-5
_CELL = np.radians(9.0)
_MAX_CELLS = 20_000
# What lies outside by less than this counts as inside, radians.
_ON_EDGE = np.radians(0.1)
_SHIPPED = "gaze_default.json"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GazeMap:
    """How a person shifts the gaze, for every goal between the examples.

    Parameters
    ----------
    examples : gaze shifts; the first looks straight ahead and is added if none does.
    k : nearest blends that a goal's come from.
    samples : (m, 2) yaw and pitch of sampled blends, the examples' own first.
    sample_examples, sample_weights : (m, 3) which examples each is blended of, and how.
    scale : radians that count as one step between neighboring examples.
    region : (h, 2) corners, counter-clockwise, of the goals inside the map.
    origin, cell : (2,) radians, yaw and pitch of the grid's first corner, and how far the next ones are.
    table : (ny, np, 22) numbers of the shifts at the grid's corners; see `GazeShift.row`.
    widest_eyes : radians by which the eyes turn in the head in the widest example, overshoot included.
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
    widest_eyes: float = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("samples", "sample_weights", "region", "origin", "cell", "table"):
            put(self, name, set_readonly(np.ascontiguousarray(getattr(self, name), dtype=np.float64)))
        put(self, "sample_examples", set_readonly(np.ascontiguousarray(self.sample_examples, dtype=np.int64)))
        turned = np.asarray(quat.angle(np.array([example.pose[4] for example in self.examples])))
        put(self, "widest_eyes", float((turned * [1.0 + example.overshoot for example in self.examples]).max()))

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __repr__(self) -> str:
        low, high = np.degrees(self.region.min(axis=0)), np.degrees(self.region.max(axis=0))
        return (
            f"<GazeMap: {len(self.examples)} examples, yaw {low[0]:.0f} to {high[0]:.0f}, "
            f"pitch {low[1]:.0f} to {high[1]:.0f} degrees>"
        )

    @classmethod
    def build(cls, examples: Iterable[GazeShift], *, k: int = 6, rng: int = 0) -> GazeMap:
        """Build a map from examples, as `gaze_example` extracts them from captured looks.

        Parameters
        ----------
        examples : two or more, with different goals. One that looks straight ahead is added if none does.
        k : nearest blends that a goal's come from, 4 or more.
        rng : seed of the blends that are sampled.
        """
        given = _check_examples(examples)
        neighbours = check_index(k, "k")
        if neighbours < 4:
            raise InvalidValue(f"k must be 4 or more, as one of two angles' neighbors has no share, got {k}")
        goals = np.array([example.goal for example in given])
        rows = np.array([example.row() for example in given])
        scale = _find_spacing(goals)
        which, weights = sample_weights(goals / scale, _N_SAMPLES, _DELTA, _EXPAND, np.random.default_rng(rng))
        blends = _Blends(goals, rows)
        own = reached(rows, goals)
        both = np.full(2, scale)
        samples, members, shares = measured_samples(blends, own, both, which, weights, _SPACING)
        region = convex_hull(goals)
        made = _Query(rows, samples / scale, members, shares, scale, neighbours)
        origin, cell, table = _make_grid(made, region)
        return cls(given, neighbours, samples, members, shares, scale, region, origin, cell, table)

    @classmethod
    def default(cls) -> GazeMap:
        """The built-in map: 33 synthetic looks, yaw to 150 degrees, pitch to 36."""
        return _load_default()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GazeMap:
        """Read a map; the blends are sampled again."""
        from marey.layer.gaze_files import load_map

        return load_map(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the examples, a few kilobytes of JSON, which is all that a map is made of."""
        from marey.layer.gaze_files import save_map

        save_map(self, path)

    @property
    def grid(self) -> GazeTable:
        """The grid, as kernels take it."""
        return GazeTable(self.table, self.origin, self.cell)

    def aim(self, goal: ArrayLike) -> tuple[Floats, bool]:
        """(2,) the goal, or the nearest inside the map, and whether it was outside."""
        given = checked_goal(goal)
        inside, apart = project(given[None], self.region)
        return (inside[0], True) if apart[0] > _ON_EDGE else (given, False)

    def shift(self, goal: ArrayLike, *, method: str = "grid") -> GazeShift:
        """Find the gaze shift for a goal, yaw and pitch in radians; a goal outside the map is projected, see `aim`.

        Parameters
        ----------
        method : "grid" between the corners of the grid, aimed again once; or "neighbours" by the k nearest blends alone
            (Heck 5.2.2), which miss by some degrees.
        """
        aimed, _ = self.aim(goal)
        if method == "neighbours":
            rows = np.array([example.row() for example in self.examples])
            query = _Query(
                rows, self.samples / self.scale, self.sample_examples, self.sample_weights, self.scale, self.k
            )
            return GazeShift.of_row(query.weights(aimed)[0] @ rows, name=method)
        if method != "grid":
            raise InvalidValue(f"a shift is taken from the 'grid' or by 'neighbours', got {method!r}")
        row = np.empty(N_NUMBERS)
        aim_row(self.grid, aimed, angles_to_direction(aimed), row)
        return GazeShift.of_row(row, name=method)

    def trace(self, motion: Motion, goals: Sequence[Any], **options: Any) -> GazeTrack:
        """Make a motion look at goals; return it with eye rotations and gaze for each frame. See `trace_gaze`."""
        from marey.layer.gaze_apply import trace_gaze

        return trace_gaze(self, motion, goals, **options)

    def apply(self, motion: Motion, goals: Sequence[Any], **options: Any) -> Motion:
        """Make a motion look at goals given as angles.

        Parameters
        ----------
        motion : whatever the body does; hips and legs stay as they are.
        goals : ``(time, yaw, pitch)``, seconds and radians, yaw to the left and pitch upward from the body's heading;
            ``(time, None)`` goes back to the original motion. Points as in `look_at` are allowed, too.
        options : as in `trace_gaze`, which also returns the eyes.
        """
        return self.trace(motion, goals, **options).motion

    def look_at(self, motion: Motion, points: Sequence[Any], **options: Any) -> Motion:
        """Make a motion look at points in the world, ``(time, (x, y, z))``, and follow them while the body moves."""
        for entry in points:
            if len(tuple(entry)) != 2:
                raise InvalidValue(f"expected (time, (x, y, z)) in seconds and meters, got {entry!r}")
        return self.trace(motion, points, **options).motion


@dataclass(frozen=True, slots=True, eq=False)
class _Blends:
    """What blends of the examples reach, as sampling asks it."""

    goals: Floats
    rows: Floats

    def of_weights(self, which: Ints, weights: Floats) -> Floats:
        """(B, 2) of blends of examples `which` (B, q) with weights (B, q)."""
        near = np.einsum("bq,bqk->bk", weights, self.goals[which])
        return reached(np.einsum("bq,bqk->bk", weights, self.rows[which]), near)


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """Rows by the nearest samples."""

    rows: Floats
    places: Floats
    members: Ints
    shares: Floats
    scale: float
    k: int

    def weights(self, goal: Floats) -> tuple[Floats, Floats]:
        """(n,) weights of the examples for a goal (2,), and the room of each: its part in the samples around."""
        near, share = neighbour_shares(goal / self.scale, self.places, self.k)
        which, mixed = mixed_weights(share, self.members[near], self.shares[near])
        weights, room = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        weights[which] = mixed
        np.add.at(room, self.members[near], share[:, None] * np.abs(self.shares[near]))
        return weights, room

    def aimed(self, goals: Floats) -> Floats:
        """(N, 22) blends that come to goals (N, 2): those of the nearest samples, their weights corrected.

        Each correction is the smallest, with regard to the examples' room, that takes off the miss and keeps the sum.
        """
        found = [self.weights(goal) for goal in goals]
        weights, room = (np.array([each[k] for each in found]).reshape(-1, len(self.rows)) for k in (0, 1))
        for _ in range(_CORRECTIONS):
            rows = weights @ self.rows
            miss = goals - reached(rows, goals)
            slopes = _find_slopes(rows, goals) @ self.rows[:, POSE].T
            tied = np.concatenate([slopes, np.ones((len(goals), 1, len(self.rows)))], axis=1)
            wanted = np.concatenate([miss, np.zeros((len(goals), 1))], axis=1)
            roomy = tied * room[:, None]
            normal = roomy @ tied.transpose(0, 2, 1) + 1e-6 * np.eye(3)
            step = np.einsum("nce,nc->ne", roomy, np.linalg.solve(normal, wanted[..., None])[..., 0])
            weights = weights + step
        return np.asarray(weights @ self.rows)


def _find_slopes(rows: Floats, near: Floats) -> Floats:
    """(N, 2, 15) how yaw and pitch of rows (N, 22) change with the pose's numbers."""
    shifted = np.repeat(rows[:, None], 15, axis=1)
    shifted[:, np.arange(15), np.arange(15)] += _NUDGE
    found = reached(shifted.reshape(-1, N_NUMBERS), np.repeat(near, 15, axis=0)).reshape(-1, 15, 2)
    return np.asarray((found - reached(rows, near)[:, None]).transpose(0, 2, 1) / _NUDGE)


def _check_examples(examples: Iterable[GazeShift]) -> tuple[GazeShift, ...]:
    given = list(examples)
    for example in given:
        if not isinstance(example, GazeShift):
            raise InvalidValue(
                f"a gaze map is built from gaze shifts, as gaze_example returns them, got {type(example).__name__}"
            )
    away = [np.abs(example.goal).max() for example in given]
    if sum(angle > np.radians(2.0) for angle in away) < 2:
        raise InvalidValue(
            f"a gaze map needs examples of two goals or more, got {sum(a > np.radians(2.0) for a in away)}"
        )
    goals = np.array([example.goal for example in given])
    apart = np.linalg.norm(goals[:, None] - goals, axis=2) + 10.0 * np.eye(len(goals))
    if apart.min() < np.radians(0.5):
        i, j = np.argwhere(apart < np.radians(0.5))[0]
        yaw, pitch = np.degrees(goals[i])
        raise InvalidValue(
            f"examples {i} and {j} have the same goal, yaw {yaw:.1f} and pitch {pitch:.1f} degrees; keep one"
        )
    # The middle does not turn anything, so that its times are those of the smallest look.
    middle = min(given, key=lambda example: float(np.linalg.norm(example.goal)) or np.inf)
    return (
        make_straight_ahead("straight ahead", middle),
        *(e for e, angle in zip(given, away, strict=True) if angle > np.radians(2.0)),
    )


def _find_spacing(goals: Floats) -> float:
    """Radians from an example to its nearest, as most have it."""
    apart = np.linalg.norm(goals[:, None] - goals, axis=2) + 10.0 * np.eye(len(goals))
    return float(np.median(apart.min(axis=1)))


def _make_grid(query: _Query, region: Floats) -> tuple[Floats, Floats, Floats]:
    """First corner, cell size and rows (ny, np, 22) of a grid over the region, with a ring of corners around it."""
    low, high = region.min(axis=0), region.max(axis=0)
    cell = max(_CELL, float(np.sqrt(np.prod(np.maximum(high - low, _CELL)) / _MAX_CELLS)))
    counts = np.maximum(np.ceil((high - low) / cell), 1).astype(np.int64)
    step = np.where(high - low > 1e-9, (high - low) / counts, cell)
    origin = low - 2.0 * step
    corners = origin + step * np.stack(np.meshgrid(*(np.arange(n + 5) for n in counts), indexing="ij"), axis=-1)
    flat = corners.reshape(-1, 2)
    inside, apart = project(flat, region)
    table = query.aimed(inside)
    # Beyond the region it goes on as it comes out of it, so that aiming again has room at the edge.
    out = np.flatnonzero(apart > 1e-9)
    mirrored, _ = project(2.0 * inside[out] - flat[out], region)
    table[out] = 2.0 * table[out] - query.aimed(mirrored)
    return origin, step, table.reshape(*corners.shape[:2], N_NUMBERS)


@cache
def _load_default() -> GazeMap:
    return GazeMap.load(Path(__file__).with_name(_SHIPPED))
