"""Measure the parameters of blends: f as a function of weights (Kovar 6.3).

Many blends are measured together, with their frames concatenated into one track. Features are relative to the start of
each blend, so the placement of a blend does not matter. For pose features, only the first frame and the frames around
the moment are computed, with cubic interpolation between them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.blend.advance import compute_knot_slopes
from marey.blend.blend import BlendTrack, compose
from marey.blend.weights import limit_speed_weights
from marey.core.arrays import Floats, Ints
from marey.core.kinematics import World
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.parametric.dense import cubic_weights
from marey.parametric.features import Feature
from marey.parametric.track_kernels import Quadrature, find_frame_places, find_span_ends
from marey.register.registration import RegistrationCurve
from marey.register.tree import select_motions

__all__ = ["BlendMeasurer", "find_blend_frames"]

# Tolerance, in frames, when counting the frames of a blend; the same as in `marey.blend`.
_LATE = 1e-6
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_RULE = Quadrature(0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS)
# Maximum number of frames in one track, to limit memory use.
_MAX_FRAMES = 20_000


def find_blend_frames(reg: RegistrationCurve, weights: Floats, fps: float | None = None) -> tuple[Floats, Ints]:
    """Find the registration parameter u, from 0 to 1, of each frame of B blends with constant weights (B, n).

    These are the frames that `marey.blend` generates at `fps` (by default the frame rate of the motions); one cycle if
    the registration is cyclic.

    Returns
    ------- u of all frames of all blends, concatenated; and the index (B + 1,) at which each blend starts, then the
    total number of frames.
    """
    rate = reg.fps if fps is None else fps
    slopes = compute_knot_slopes(reg.timewarp.points)
    limited = limit_speed_weights(weights, slopes)
    borders = np.empty((len(weights), len(slopes)))
    find_span_ends(slopes, limited, _RULE, borders)
    frames = borders[:, -1] * rate
    counts = np.ceil(frames - _LATE) if reg.cyclic else np.floor(frames + _LATE) + 1
    starts = np.concatenate([[0], np.cumsum(np.maximum(counts, 1).astype(np.int64))])
    u = np.empty(starts[-1])
    find_frame_places(slopes, limited, borders, starts, rate, _RULE, u)
    return u, starts


@dataclass(frozen=True, slots=True, eq=False)
class BlendMeasurer:
    """Measures features on blends of registered examples.

    registration : registration of the n examples.
    features : features to measure, with d numbers in total.
    moments : registration parameter u, from 0 to 1, of each feature's pose; NaN for features of entire motions.
    fps : frame rate of the blends; that of the examples by default.
    """

    registration: RegistrationCurve
    features: tuple[Feature, ...]
    moments: tuple[float, ...]
    fps: float | None = None

    @property
    def n_dims(self) -> int:
        return sum(feature.n_dims for feature in self.features)

    def measure_weights(self, which: Ints, weights: Floats) -> Floats:
        """Measure the parameters (B, d) of B blends, without cleanup, of motions `which` (B, q) with weights (B, q)."""
        out = np.empty((len(which), self.n_dims))
        groups: dict[tuple[int, ...], list[int]] = {}
        for b, (row, own) in enumerate(zip(which.tolist(), weights, strict=True)):
            groups.setdefault(tuple(sorted({k for k, w in zip(row, own, strict=True) if w != 0.0})), []).append(b)
        n_at_once = max(1, _MAX_FRAMES // max(len(motion) for motion in self.registration.motions))
        for used, rows in groups.items():
            sub, indices = select_motions(self.registration, used)
            place = {int(k): j for j, k in enumerate(indices)}
            for first in range(0, len(rows), n_at_once):
                part = rows[first : first + n_at_once]
                table = np.zeros((len(part), len(indices)))
                for i, b in enumerate(part):
                    for k, weight in zip(which[b].tolist(), weights[b].tolist(), strict=True):
                        if weight != 0.0:
                            table[i, place[k]] += weight
                out[part] = self._measure_tracks(sub, table)
        return out

    def measure_motion(self, motion: Motion, u: Floats) -> Floats:
        """Measure the parameters (d,) of a blend whose frames have registration parameters u (F,)."""
        poses = any(feature.is_pose for feature in self.features)
        world = motion.world() if poses else None
        parts = []
        for feature, moment in zip(self.features, self.moments, strict=True):
            if world is None or not feature.is_pose:
                parts.append(feature.measure_whole(motion, world))
                continue
            at = np.interp([moment], u, np.arange(len(u)))
            parts.append(_measure_poses(feature, motion, world, np.zeros(1, dtype=np.int64), at, np.array([len(u)]))[0])
        return np.concatenate(parts)

    def measure_own_moments(self, motion: Motion) -> Floats:
        """Measure the parameters (d,) of a motion at moments found in the motion itself; NaN if that is impossible."""
        return np.concatenate(
            [
                np.full(feature.n_dims, np.nan) if feature.is_pose and not isinstance(feature.moment, str)
                else feature(motion)
                for feature in self.features
            ]
        )  # fmt: skip

    def _measure_tracks(self, reg: RegistrationCurve, weights: Floats) -> Floats:
        """Measure the parameters (B, d) of B blends of all motions of `reg` with weights (B, n)."""
        rate = reg.fps if self.fps is None else self.fps
        u, starts = find_blend_frames(reg, weights, rate)
        lengths = np.diff(starts)
        track = BlendTrack(u, u, np.repeat(weights, lengths, axis=0))
        poses = [k for k, feature in enumerate(self.features) if feature.is_pose]
        places = {
            k: np.array([np.interp(self.moments[k], u[a:b], np.arange(b - a)) for a, b in itertools.pairwise(starts)])
            for k in poses
        }
        rows = np.arange(len(u))
        if len(poses) == len(self.features):
            rows = _select_rows(starts[:-1], lengths, [places[k] for k in poses])
        motion, _ = compose(reg, track, rate, chosen=rows)
        world = motion.world()
        out = np.empty((len(weights), self.n_dims))
        columns = np.concatenate([[0], np.cumsum([feature.n_dims for feature in self.features])])
        for k in poses:
            found = _measure_poses(self.features[k], motion, world, starts[:-1], places[k], lengths, rows)
            out[:, columns[k] : columns[k + 1]] = found
        motion_columns = {k: slice(columns[k], columns[k + 1]) for k in range(len(self.features)) if k not in places}
        if motion_columns:
            self._fill_motion_features(motion, world, starts, motion_columns, out)
        return out

    def _fill_motion_features(
        self, track: Motion, world: World, starts: Ints, motion_columns: dict[int, slice], out: Floats
    ) -> None:
        if all(self.features[k].call is None for k in motion_columns):
            track = replace(track, contacts=None, labels=Labels())  # only user functions could read these
        for row, (a, b) in enumerate(itertools.pairwise(starts.tolist())):
            motion, seen = track[a:b], World(world.positions[a:b], world.rotations[a:b])
            for k, columns in motion_columns.items():
                out[row, columns] = self.features[k].measure_whole(motion, seen)


def _select_rows(starts: Ints, lengths: Ints, places: Sequence[Floats]) -> Ints:
    """Return the rows of a track that are needed: the first frame of each blend, and the frames around `places`."""
    around = [(starts[:, None] + cubic_weights(place, lengths)[0]).ravel() for place in places]
    return np.unique(np.concatenate([starts, *around]))


def _measure_poses(
    feature: Feature,
    motion: Motion,
    world: World,
    starts: Ints,
    positions: Floats,
    lengths: Ints,
    rows: Ints | None = None,
) -> Floats:
    """Measure a pose feature (B, d) at fractional frames of B blends, interpolated from the frames around them.

    motion, world : the track, and its world positions and rotations.
    starts, lengths : (B,) first row and number of frames of each blend.
    positions : (B,) fractional frame number within each blend.
    rows : track rows that `motion` contains; all by default.
    """
    places, cubic = cubic_weights(positions, lengths)
    begin, there = np.repeat(starts, 4), (starts[:, None] + places).ravel()
    if rows is not None:
        begin, there = np.searchsorted(rows, begin), np.searchsorted(rows, there)
    values = feature.measure_between(
        motion.skeleton,
        World(world.positions[begin], world.rotations[begin]),
        World(world.positions[there], world.rotations[there]),
        np.array([motion.source.floor or 0.0]),
    )
    if feature.kind == "orientation":
        values = _unwrap_rotations(values.reshape(-1, 4, 3)).reshape(-1, 3)
    return np.asarray(np.einsum("bf,bfd->bd", cubic, values.reshape(len(positions), 4, -1)))


def _unwrap_rotations(turned: Floats) -> Floats:
    """Unwrap rotation vectors (B, F, 3): near 180 degrees, use the equivalent vector that is closer to the first."""
    angle = np.linalg.norm(turned, axis=2, keepdims=True)
    other = turned * (1.0 - 2.0 * np.pi / np.maximum(angle, 1e-12))
    flip = np.linalg.norm(other - turned[:, :1], axis=2) < np.linalg.norm(turned - turned[:, :1], axis=2)
    return np.where(flip[..., None], other, turned)


def check_finite(values: Floats, features: Sequence[Feature], name: str) -> None:
    """Raise an error if any of the parameters (d,) of the motion `name` is not finite."""
    if np.isfinite(values).all():
        return
    names = [label for feature in features for label in feature.names]
    k = int(np.flatnonzero(~np.isfinite(values))[0])
    raise InvalidValue(
        f"{names[k]} of {name} is {values[k]}, not a finite number; check the feature, or omit this motion"
    )
