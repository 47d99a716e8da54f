"""Helpers of the baselines: align motions, evaluate weights over time, and average poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.weights import WeightFunction, Weighting
from marey.core.arrays import Floats, set_readonly
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import euler, quat

Angles = Literal["quaternion", "euler"]
Root = Literal["positions", "velocities"]
Weights = ArrayLike | WeightFunction

_ANGLES, _ROOTS = ("quaternion", "euler"), ("positions", "velocities")
_ORDER = "ZYX"


def align_at(a: Motion, at_a: float, b: Motion, at_b: float, window: float) -> Motion:
    """Return `b`, moved across the floor so that its frame `at_b` matches frame `at_a` of `a`."""
    from marey.compare.clouds import frame_weights, point_clouds
    from marey.compare.distance import align_frames

    weights = frame_weights(window, a.fps)
    rigid = align_frames(point_clouds(a), np.array([at_a]), point_clouds(b), np.array([at_b]), weights)
    return b.moved(rigid[0])


def evaluate_weights(weights: Weights, n: int, times: Floats) -> Floats:
    """Return the weights (F, n) at times (F,) in seconds, divided by their sums."""
    return Weighting.of(weights, n).at(times)


def blend_poses(
    poses: Sequence[Motion], weights: Floats, *, angles: Angles = "quaternion", root: Root = "positions"
) -> Motion:
    """Average the poses of n motions of F frames with weights (F, n); the result has no contacts or labels.

    Rotations of two motions are slerped; those of more motions are averaged. Changing bone offsets are averaged
    linearly.
    """
    if angles not in _ANGLES:
        raise InvalidValue(f"angles must be one of {', '.join(_ANGLES)}, not {angles!r}")
    if root not in _ROOTS:
        raise InvalidValue(f"root must be one of {', '.join(_ROOTS)}, not {root!r}")
    first = poses[0]
    places = np.stack([pose.root_positions for pose in poses])
    rotations = np.stack([pose.rotations for pose in poses])
    rotated = (
        _average_euler(rotations, weights, find_euler_orders(first))
        if angles == "euler"
        else _average_rotations(rotations, weights)
    )
    bones = None
    if any(pose.bone_offsets is not None for pose in poses):
        bones = set_readonly(np.einsum("fn,nfjk->fjk", weights, np.stack([pose.frame_offsets for pose in poses])))
    return replace(
        first,
        root_positions=set_readonly(_average_positions(places, weights, root)),
        rotations=set_readonly(quat.unroll(rotated)),
        bone_offsets=bones,
        contacts=None,
        labels=Labels(),
        source=replace(first.source, channel_values=None),
    )


def finish_result(
    result: Motion, name: str, op: str, motions: Sequence[Motion], weights: Weights | None, **record: Any
) -> Motion:
    """Return the result with its name, and with the inputs recorded as provenance."""
    step: dict[str, Any] = {"op": op, "inputs": [clip.name for clip in motions], **record}
    if weights is not None:
        step["weights"] = "a function of time" if callable(weights) else np.asarray(weights, dtype=np.float64).tolist()
    step["inputs_provenance"] = [[dict(step) for step in clip.source.provenance] for clip in motions]
    return replace(result, name=name, source=replace(result.source, provenance=(step,)))


def find_euler_orders(motion: Motion) -> list[str]:
    """Return the Euler order of each joint: that of its three rotation channels in the file, else ZYX."""
    channels = motion.source.channels or ((),) * len(motion.skeleton)
    orders = []
    for joint in channels:
        letters = "".join(channel[0].upper() for channel in joint if channel.lower().endswith("rotation"))
        orders.append(letters if letters in euler.ORDERS else _ORDER)
    return orders


def _average_rotations(rotations: Floats, weights: Floats) -> Floats:
    """Average rotations (n, F, J, 4) over the n motions; return (F, J, 4)."""
    if len(rotations) == 2:
        return quat.normalize(quat.slerp(rotations[0], rotations[1], weights[:, 1:]))
    return quat.average(rotations, weights.T[:, :, None], axis=0)


def _average_euler(rotations: Floats, weights: Floats, orders: list[str]) -> Floats:
    out = np.empty(rotations.shape[1:])
    for order in dict.fromkeys(orders):
        joints = [j for j, other in enumerate(orders) if other == order]
        first = euler.to_euler(rotations[0][:1, joints], order)
        # All motions start from the angles nearest to the first motion's, because 179 and -179 degrees are neighbors.
        runs = [np.concatenate([first, euler.to_euler(each[:, joints], order)]) for each in rotations]
        angles = [euler.continuous(run, order)[1:] for run in runs]
        out[:, joints] = euler.from_euler(np.einsum("fn,nfjk->fjk", weights, np.stack(angles)), order)
    return out


def _average_positions(places: Floats, weights: Floats, root: Root) -> Floats:
    """Average root positions (n, F, 3) over the n motions; return (F, 3)."""
    mean: Floats = np.einsum("fn,nfk->fk", weights, places)
    if root == "velocities" and len(mean) > 1:
        steps = np.einsum("fn,nfk->fk", 0.5 * (weights[1:] + weights[:-1]), np.diff(places, axis=1))
        mean[1:, [0, 2]] = mean[0, [0, 2]] + np.cumsum(steps, axis=0)[:, [0, 2]]
    return mean
