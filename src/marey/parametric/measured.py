"""The parameters of blends: f as a function of weights (Kovar 6.3).

Many blends are measured at once. Their frames are laid one after another into one track, as a feature is told from each
one's own start, so that it does not matter where a blend stands. For features of poses, only the first frame and those
around the moment are made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.blend.advance import knot_slopes
from marey.blend.blend import Track, compose
from marey.blend.weights import speed_shares
from marey.core._arrays import Floats, Ints, settle
from marey.core.kinematics import World, forward_kinematics
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat
from marey.parametric.features import Feature
from marey.register.along import chosen
from marey.register.registration import RegistrationCurve

__all__ = ["Measured", "frames_of"]

# What a blend ends short of a frame by, and still has it, as `marey.blend` counts.
_LATE = 1e-6
_NODES, _WEIGHTS = (
    0.5 * (part + shift) for part, shift in zip(np.polynomial.legendre.leggauss(12), (1.0, 0.0), strict=True)
)
# Frames laid into one track at most, to bound the memory that this takes.
_MOST_FRAMES = 20_000


def frames_of(reg: RegistrationCurve, weights: Floats) -> tuple[Floats, Ints]:
    """u of the frames of blends under constant weights (B, n), one after another, and (B + 1,) where each begins.

    They are those that `marey.blend` makes of each; one round of it if the registration is cyclic.
    """
    from marey.parametric import track_kernels

    slopes = knot_slopes(reg.timewarp.points)
    shares = speed_shares(weights, slopes)
    borders = np.empty((len(weights), len(slopes)))
    track_kernels.span_ends(slopes, shares, _NODES, _WEIGHTS, borders)
    frames = borders[:, -1] * reg.fps
    counts = np.ceil(frames - _LATE) if reg.cyclic else np.floor(frames + _LATE) + 1
    starts = np.concatenate([[0], np.cumsum(np.maximum(counts, 1).astype(np.int64))])
    u = np.empty(starts[-1])
    track_kernels.frame_places(slopes, shares, borders, starts, reg.fps, _NODES, _WEIGHTS, u)
    return u, starts


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Registered examples and what is measured of them.

    registration : of the n examples.
    features : what counts.
    moments : u of each feature's pose; NaN for those of whole motions.
    """

    registration: RegistrationCurve
    features: tuple[Feature, ...]
    moments: tuple[float, ...]

    @property
    def n_dims(self) -> int:
        return sum(feature.n_dims for feature in self.features)

    def of_weights(self, which: Ints, weights: Floats) -> Floats:
        """(B, d) of B blends that are not cleaned: of motions `which` (B, q) with weights (B, q)."""
        out = np.empty((len(which), self.n_dims))
        groups: dict[tuple[int, ...], list[int]] = {}
        for b, (row, share) in enumerate(zip(which.tolist(), weights, strict=True)):
            groups.setdefault(tuple(sorted({k for k, w in zip(row, share, strict=True) if w != 0.0})), []).append(b)
        most = max(1, _MOST_FRAMES // max(len(motion) for motion in self.registration.motions))
        for used, rows in groups.items():
            sub, kept = chosen(self.registration, used)
            place = {int(k): j for j, k in enumerate(kept)}
            for first in range(0, len(rows), most):
                part = rows[first : first + most]
                table = np.zeros((len(part), len(kept)))
                for i, b in enumerate(part):
                    for k, share in zip(which[b].tolist(), weights[b].tolist(), strict=True):
                        if share != 0.0:
                            table[i, place[k]] += share
                out[part] = self._of_tracks(sub, table)
        return out

    def of_motion(self, motion: Motion, u: Floats) -> Floats:
        """(d,) of a blend whose frames are at u (F,)."""
        parts = [
            feature.of_poses(motion, np.array([0.0, float(np.interp(moment, u, np.arange(len(u))))]))
            if feature.is_pose
            else feature.of_whole(motion, None)
            for feature, moment in zip(self.features, self.moments, strict=True)
        ]
        return np.concatenate(parts)

    def at_own_moments(self, motion: Motion) -> Floats:
        """(d,) of a motion by itself, with moments found in it where that can be done, NaN elsewhere."""
        return np.concatenate(
            [
                np.full(feature.n_dims, np.nan) if feature.is_pose and not isinstance(feature.at, str)
                else feature(motion)
                for feature in self.features
            ]
        )  # fmt: skip

    def _of_tracks(self, reg: RegistrationCurve, weights: Floats) -> Floats:
        """(B, d) of blends of all motions of `reg` under weights (B, n)."""
        u, starts = frames_of(reg, weights)
        tracks = [u[a:b] for a, b in itertools.pairwise(starts)]
        track = Track(u, u, np.repeat(weights, np.diff(starts), axis=0))
        poses = [k for k, feature in enumerate(self.features) if feature.is_pose]
        places = {
            k: np.array([np.interp(self.moments[k], each, np.arange(len(each))) for each in tracks]) for k in poses
        }
        if len(poses) == len(self.features):
            rows, where = _needed(starts[:-1], np.diff(starts), [places[k] for k in poses])
            made, _ = compose(reg, track, reg.fps, chosen=rows)
            begin = np.searchsorted(rows, starts[:-1])
        else:
            made, _ = compose(reg, track, reg.fps)
            where = [starts[:-1] + places[k] for k in poses]
            begin = starts[:-1]
        at = dict(zip(poses, where, strict=True))
        out = np.empty((len(weights), self.n_dims))
        columns = np.concatenate([[0], np.cumsum([feature.n_dims for feature in self.features])])
        for k, where_at in at.items():
            out[:, columns[k] : columns[k + 1]] = _of_poses(self.features[k], made, begin, where_at)
        wholes = {k: slice(columns[k], columns[k + 1]) for k in range(len(self.features)) if k not in at}
        if wholes:
            self._fill_wholes(made, starts, wholes, out)
        return out

    def _fill_wholes(self, made: Motion, starts: Ints, wholes: dict[int, slice], out: Floats) -> None:
        world = made.world()
        if all(self.features[k].call is None for k in wholes):
            made = replace(made, contacts=None, labels=Labels())  # which only functions may look at
        for row, (a, b) in enumerate(itertools.pairwise(starts.tolist())):
            motion, seen = made[a:b], World(world.positions[a:b], world.rotations[a:b])
            for k, columns in wholes.items():
                out[row, columns] = self.features[k].of_whole(motion, seen)


def _needed(starts: Ints, lengths: Ints, places: Sequence[Floats]) -> tuple[Ints, list[Floats]]:
    """Rows of a track for the first frames and those around places within each blend, and the places among these."""
    wanted = [starts]
    for place in places:
        before = np.minimum(place.astype(np.int64), lengths - 1)
        wanted += [starts + before, starts + np.minimum(before + 1, lengths - 1)]
    rows = np.unique(np.concatenate(wanted))
    among = []
    for place in places:
        before = np.minimum(place.astype(np.int64), lengths - 1)
        among.append(np.searchsorted(rows, starts + before) + (place - before))
    return rows, among


def _of_poses(feature: Feature, made: Motion, begin: Ints, at: Floats) -> Floats:
    """(B, d) with poses between rows of `made`, as `Motion.at` takes them."""
    before = at.astype(np.int64)
    after = np.minimum(before + 1, len(made) - 1)
    t = at - before
    rotations = quat.slerp(made.rotations[before], made.rotations[after], t[:, None])
    mix = t[:, None]
    roots = made.root_positions[before] * (1.0 - mix) + made.root_positions[after] * mix
    bones = made.bone_offsets
    both = np.concatenate([made.rotations[begin], rotations])
    offsets = None
    if bones is not None:
        offsets = np.concatenate([bones[begin], bones[before] * (1.0 - mix[..., None]) + bones[after] * mix[..., None]])
    world = forward_kinematics(
        made.skeleton, settle(np.concatenate([made.root_positions[begin], roots])), settle(both), offsets
    )
    n = len(begin)
    start, there = World(world.positions[:n], world.rotations[:n]), World(world.positions[n:], world.rotations[n:])
    return feature.between(made.skeleton, start, there, np.array([made.source.floor or 0.0]))


def check_finite(values: Floats, features: Sequence[Feature], name: str) -> None:
    """Refuse parameters (d,) of a motion that are no numbers."""
    if np.isfinite(values).all():
        return
    names = [label for feature in features for label in feature.names]
    wrong = names[int(np.flatnonzero(~np.isfinite(values))[0])]
    raise InvalidValue(f"{wrong} of {name} is {_first_bad(values)}, not a number; check the feature, or leave it out")


def _first_bad(values: Floats) -> Any:
    return values[~np.isfinite(values)][0]
