"""Edges of a fat graph: all clips from one hub to another, adjusted to begin and end in the hub poses, blended by turn.

Clips are synchronized and resampled at equal parts of their common timeline. Path steps are averaged in the character's
own coordinates, so the turn of a blend is the weighted mean of the turns. Weights decrease with the difference in turn
and are tilted until that mean equals the requested turn, as in `marey.pmg.GaitSpace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.control.baselines.fat_graph_hubs import Hub, LocalFrames, compute_local_steps
from marey.control.inertia_reel import Reel
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.errors import NotBlendable, NoTimewarp
from marey.pmg.gait_kernels import interpolate_rows, mix_values, place_frames, solve_weights
from marey.register import register

__all__ = ["FatEdge", "HubPath", "make_edge"]

# Clips whose duration differs from the median by more than this factor are left out: most of them missed a visit.
_LONGER = 1.5
# Meters: clips with a larger distance (root of the mean D) after synchronization are left out as other actions.
_MAX_DISTANCE = 0.22
_TILTS, _SOLVED, _MIN_WEIGHT = 60, 1e-9, 1e-4
# Fraction of the bandwidth by which a blend's turn may be off and still count as met.
_MET = 0.02


class HubPath(NamedTuple):
    """F frames from one hub to the next, in the coordinates of the first hub; the hub's own frame is not included.

    roots : (F, 3) positions of joint 0, meters. rotations : (F, J, 4) local rotations. flags : (F, K) contacts. bones :
    (F, J, 3) bone offsets in meters, or None. end : (3,) rigid2d of the second hub.
    """

    roots: Floats
    rotations: Floats
    flags: Bools
    bones: Floats | None
    end: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FatEdge:
    """n clips from one hub to another, sampled at G points of their common timeline.

    source, target : indices of the hubs.
    values : (n, G, C + K) poses as in `LocalFrames` (C columns) and K contacts from 0 to 1.
    steps : (n, G - 1, 4) from point to point: turn in radians, movement to the left and ahead in meters, and seconds.
    n_joints, n_flags : numbers of joints J and of contact points K.
    bandwidth : kernel width in radians for blending by turn.
    low, high : range of turns in radians. left_out : number of clips between these hubs that were too different.
    """

    source: int
    target: int
    values: Floats
    steps: Floats
    n_joints: int
    n_flags: int
    bandwidth: float
    low: float
    high: float
    left_out: int

    @property
    def turns(self) -> Floats:
        """(n,) turn of each clip in radians."""
        return np.asarray(self.steps[..., 0].sum(axis=1))

    @property
    def seconds(self) -> Floats:
        """(n,) duration of each clip in seconds."""
        return np.asarray(self.steps[..., 3].sum(axis=1))

    def weights(self, turn: float) -> Floats:
        """Return nonnegative weights (n,) of the clips with sum 1, whose mean turn is the requested one if possible."""
        return _compute_weights(self.turns, turn, self.bandwidth)

    def path(self, turn: float, fps: float) -> HubPath:
        """Blend the edge's clips into frames that turn by `turn` radians, clamped to the range of the edge."""
        weights = self.weights(float(np.clip(turn, self.low, self.high)))
        _, n_rows, n_columns = self.values.shape
        mixed = np.empty((n_rows, n_columns))
        mix_values(weights, self.values, mixed)
        steps = np.tensordot(weights, self.steps, axes=1)
        ground, seconds = _integrate_steps(steps)
        n = max(1, round(float(seconds[-1]) * fps))
        # Extend both ends by one point on a straight line, which makes the cubic straight there too.
        rows = np.interp(np.arange(1, n + 1) / n * seconds[-1], seconds, np.arange(len(seconds))) + 1.0
        frames, laid = np.empty((n, n_columns)), np.empty((n, 3))
        interpolate_rows(_extend_ends(mixed), rows, frames)
        interpolate_rows(_extend_ends(ground), rows, laid)
        j = self.n_joints
        roots, rotations = np.empty((n, 3)), np.empty((n, j, 4))
        place_frames(frames, laid, j, roots, rotations)
        stop = n_columns - self.n_flags
        bones = frames[:, 4 * j + 1 : stop].reshape(n, -1, 3)
        return HubPath(
            set_readonly(roots),
            set_readonly(rotations),
            set_readonly(frames[:, stop:] > 0.5),
            set_readonly(bones) if bones.shape[1] else None,
            set_readonly(ground[-1]),
        )


def make_edge(
    reel: Reel,
    seen: LocalFrames,
    hubs: Sequence[Hub],
    ends: tuple[int, int],
    clips: Sequence[tuple[int, int]],
    ease: float,
    bandwidth: float,
) -> FatEdge | None:
    """Build an edge from clips of the reel, or return None if fewer than two are similar.

    seen : the frames of the reel in local coordinates. ends : indices of the source and target hub. clips : first and
        last row of each clip. ease : seconds in which a clip
    leaves the hub's pose for its own pose, and returns. bandwidth : kernel width in radians.
    """
    lengths = np.array([b - a for a, b in clips])
    usual = float(np.median(lengths))
    similar = [clip for clip, n in zip(clips, lengths, strict=True) if usual / _LONGER <= n <= usual * _LONGER]
    if len(similar) < 2:
        return None
    turns = np.array([seen.ground[b, 0] - seen.ground[a, 0] for a, b in similar])
    middle = int(np.argsort(turns)[len(turns) // 2])
    reference = _cut_clip(reel, *similar[middle])
    # Twice the frame count, so cubic interpolation loses no detail.
    times = np.linspace(0.0, reference.duration, 2 * len(reference) + 1)
    found = {k: _synchronize(reference, _cut_clip(reel, *clip), times) for k, clip in enumerate(similar) if k != middle}
    matching = [(similar[k], at) for k, at in sorted(({**found, middle: times}).items()) if at is not None]
    if len(matching) < 2:
        return None
    parts = [_sample_clip(reel, seen, clip, at) for clip, at in matching]
    values, steps = np.stack([part[0] for part in parts]), np.stack([part[1] for part in parts])
    n_poses = seen.poses.shape[1]
    values[..., :n_poses], steps = _snap_to_hub(values[..., :n_poses], steps, hubs[ends[0]], ease, reel)
    backward = _snap_to_hub(values[:, ::-1, :n_poses], -steps[:, ::-1], hubs[ends[1]], ease, reel)
    values[..., :n_poses], steps = backward[0][:, ::-1], -backward[1][:, ::-1]
    low, high = _find_turn_range(steps[..., 0].sum(axis=1), bandwidth)
    return FatEdge(
        *ends,
        values=set_readonly(np.ascontiguousarray(values)),
        steps=set_readonly(np.ascontiguousarray(steps)),
        n_joints=len(reel.skeleton),
        n_flags=len(reel.points),
        bandwidth=bandwidth,
        low=low,
        high=high,
        left_out=len(clips) - len(matching),
    )


def _cut_clip(reel: Reel, first: int, last: int) -> Motion:
    rows = slice(first, last + 1)
    return Motion(
        reel.skeleton,
        reel.root[rows],
        reel.rotations[rows],
        reel.fps,
        name=f"{reel.names[reel.find_clip(first)]} from {first}",
        contacts=Contacts(reel.points, reel.contacts[rows]) if reel.points else None,
        bone_offsets=None if reel.bones is None else reel.bones[rows],
    )


def _synchronize(reference: Motion, clip: Motion, times: Floats) -> Floats | None:
    """Return the seconds (G,) in a clip that match `times` (G,) of the reference; None if they differ too much."""
    try:
        course = register([reference, clip], crop=None, reference=0, max_distance=_MAX_DISTANCE)
    except (NotBlendable, NoTimewarp):
        return None
    along = course.timewarp(np.linspace(0.0, 1.0, 4 * len(times)))
    return np.asarray(np.interp(times, along[:, 0], along[:, 1]))


def _sample_clip(reel: Reel, seen: LocalFrames, clip: tuple[int, int], seconds: Floats) -> tuple[Floats, Floats]:
    """Sample values (G, C + K) and steps (G - 1, 4) of a clip at `seconds` (G,) from its first row."""
    from scipy.interpolate import CubicSpline

    rows = np.arange(clip[0] - 1, clip[1] + 2)
    at = clip[0] + np.clip(seconds, 0.0, (clip[1] - clip[0]) / reel.fps) * reel.fps
    flat = np.concatenate([seen.poses[rows], seen.ground[rows]], axis=1)
    found = CubicSpline(rows, flat, axis=0)(at)
    flags = reel.contacts[np.rint(at).astype(np.int64)].astype(np.float64)
    ground = found[:, -3:]
    steps = np.concatenate([compute_local_steps(ground), np.diff(seconds)[:, None]], axis=1)
    return np.concatenate([found[:, :-3], flags], axis=1), steps


def _snap_to_hub(values: Floats, steps: Floats, hub: Hub, ease: float, reel: Reel) -> tuple[Floats, Floats]:
    """Adjust poses (n, G, C) and steps (n, G - 1, 4) to leave the hub with its pose and velocity.

    Add the difference between the hub and the first pose and its velocity; a cubic fades it out over `ease` seconds.
    Negative time steps mean that the clip is played backward, for the arrival at the hub.
    """
    seconds = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps[..., 3], axis=1)], axis=1)
    sign = np.sign(seconds[:, -1:])
    span = np.minimum(ease, 0.5 * np.abs(seconds[:, -1:]))
    t = np.clip(np.abs(seconds) / span, 0.0, 1.0)
    off = hub.pose - values[:, 0]
    rate = (values[:, 1] - values[:, 0]) / (seconds[:, 1] - seconds[:, 0])[:, None]
    lag = (sign * span) * (hub.rate - rate)
    stays, slope = (1.0 + 2.0 * t) * (1.0 - t) ** 2, t * (1.0 - t) ** 2
    out = values + stays[..., None] * off[:, None] + slope[..., None] * lag[:, None]
    n = 4 * len(reel.skeleton)
    rotations = out[..., :n].reshape(*out.shape[:2], -1, 4)
    out[..., :n] = (rotations / np.linalg.norm(rotations, axis=-1, keepdims=True)).reshape(*out.shape[:2], n)
    moved = steps.copy()
    pace = hub.ground_rate - steps[:, 0, :3] / steps[:, 0, 3:]
    moved[..., :3] += (stays[:, :-1, None] * pace[:, None]) * steps[..., 3:]
    return out, moved


def _compute_weights(turns: Floats, turn: float, bandwidth: float) -> Floats:
    off = ((turns - turn) / bandwidth)[:, None]
    weights, room = np.empty(len(turns)), np.empty(len(turns))
    solve_weights(off, -0.5 * off[:, 0] ** 2, _TILTS, _SOLVED, _MIN_WEIGHT, room, weights)
    return weights


def _find_turn_range(turns: Floats, bandwidth: float) -> tuple[float, float]:
    """Find the largest turns to both sides that blends can meet, searching inward from the clips that turn most."""
    ends = []
    for far in (float(turns.min()), float(turns.max())):
        fractions = np.linspace(0.0, 1.0, 101)
        tried = far + fractions * (float(np.median(turns)) - far)
        off = [abs(float(_compute_weights(turns, turn, bandwidth) @ turns) - turn) for turn in tried]
        met = np.flatnonzero(np.array(off) <= _MET * bandwidth)
        ends.append(float(tried[met[0]]) if len(met) else float(np.median(turns)))
    return ends[0], ends[1]


def _integrate_steps(steps: Floats) -> tuple[Floats, Floats]:
    """Integrate steps (G - 1, 4) into points (G, 3) rigid2d and seconds (G,), from the origin, facing +Z."""
    total = np.concatenate([np.zeros((1, 2)), np.cumsum(steps[:, [0, 3]], axis=0)])
    half = 0.5 * (total[1:, 0] + total[:-1, 0])
    cosine, sine = np.cos(half), np.sin(half)
    x = np.cumsum(steps[:, 1] * cosine + steps[:, 2] * sine)
    z = np.cumsum(steps[:, 2] * cosine - steps[:, 1] * sine)
    ground = np.stack([total[:, 0], np.concatenate([[0.0], x]), np.concatenate([[0.0], z])], axis=1)
    return ground, total[:, 1]


def _extend_ends(values: Floats) -> Floats:
    return np.concatenate([2.0 * values[:1] - values[1:2], values, 2.0 * values[-1:] - values[-2:-1]])
