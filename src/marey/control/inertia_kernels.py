"""Compiled kernels of inertialization.

Key: x, v = offset and its velocity: positions in world coordinates, rotations as rotation vectors in the joint's own
axes; y = decay rate of a critically damped spring, 1/s.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Out, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Vec


class MovingFrame(NamedTuple):
    """A frame of a clip with its velocities.

    root : (3,) position of joint 0, meters. root_rate : (3,) its velocity, m/s. rotations : (J, 4) local rotations of J
    joints. rotation_rate : (J, 3) angular velocities in the joints' own axes, rad/s.
    """

    root: Floats1D
    root_rate: Floats1D
    rotations: Floats2D
    rotation_rate: Floats2D


class PlacedPose(NamedTuple):
    """A pose in world coordinates: position of the root (joint 0), (3,) meters, and local rotations (J, 4)."""

    root: Floats1D
    rotations: Floats2D


@helper
def _rotation_vector_rate(x: Vec, rate: Vec) -> Vec:
    """Compute the time derivative of the rotation vector `x` from the angular velocity `rate` in the rotated axes."""
    angle = vec.norm(x)
    factor = 1.0 / 12.0
    if angle >= 1e-4:
        half = 0.5 * angle
        factor = (1.0 - half / math.tan(half)) / (angle * angle)
    across = vec.cross(x, rate)
    return vec.add(vec.add(rate, vec.scale(0.5, across)), vec.scale(factor, vec.cross(x, across)))


@kernel
def decay(x: Out[Floats2D], v: Out[Floats2D], y: float, seconds: float) -> None:
    """Advance critically damped springs (n, 3) by some seconds in closed form; `x` and `v` change in place.

    x, v : offsets, and their velocities per second.
    y : decay rate of the springs, 1/s.
    """
    left = math.exp(-y * seconds)
    for j in range(x.shape[0]):
        for k in range(3):
            pull = v[j, k] + y * x[j, k]
            x[j, k] = left * (x[j, k] + pull * seconds)
            v[j, k] = left * (v[j, k] - y * pull * seconds)


@kernel
def place_pose(
    root: Floats1D,
    rotations: Floats2D,
    place: Floats1D,
    x: Floats2D,
    out_root: Out[Floats1D],
    out: Out[Floats2D],
) -> None:
    """Move a frame to `place` and add offsets x (J + 1, 3): row 0 to the root position, the others to the joints.

    root, rotations : (3,) and (J, 4) of the frame. place : (3,) rigid2d. out_root, out : (3,) and (J, 4) results.
    """
    c, s = math.cos(place[0]), math.sin(place[0])
    out_root[0] = c * root[0] + s * root[2] + place[1] + x[0, 0]
    out_root[1] = root[1] + x[0, 1]
    out_root[2] = c * root[2] - s * root[0] + place[2] + x[0, 2]
    for j in range(rotations.shape[0]):
        q = vec.mul(vec.get_quat(rotations[j], 0), vec.exp(vec.get(x[j + 1], 0)))
        if j == 0:
            q = vec.mul(vec.from_yaw(place[0]), q)
        vec.put_quat(out[j], 0, vec.scale_quat(1.0 / math.sqrt(vec.dot_quat(q, q)), q))


@kernel
def extrapolate(frame: MovingFrame, seconds: float, out_root: Out[Floats1D], out: Out[Floats2D]) -> None:
    """Extrapolate a frame by its velocities: write root (3,) and rotations (J, 4) after some seconds."""
    for k in range(3):
        out_root[k] = frame.root[k] + seconds * frame.root_rate[k]
    for j in range(frame.rotations.shape[0]):
        vec.put_quat(
            out[j],
            0,
            vec.mul(
                vec.get_quat(frame.rotations[j], 0), vec.exp(vec.scale(seconds, vec.get(frame.rotation_rate[j], 0)))
            ),
        )


@kernel
def rebase(
    frame: MovingFrame,
    place: Floats1D,
    now: PlacedPose,
    following: PlacedPose,
    fps: float,
    x: Out[Floats2D],
    v: Out[Floats2D],
) -> None:
    """Compute the offset x and its velocity v, (J + 1, 3), from a frame moved to `place` to the pose on screen.

    frame : the frame to continue from. place : (3,) rigid2d. now : the pose on screen. following : the pose that would
    have come next; its difference from `now` gives the velocity on screen.
    """
    root, root_rate = frame.root, frame.root_rate
    c, s = math.cos(place[0]), math.sin(place[0])
    x[0, 0] = now.root[0] - (c * root[0] + s * root[2] + place[1])
    x[0, 1] = now.root[1] - root[1]
    x[0, 2] = now.root[2] - (c * root[2] - s * root[0] + place[2])
    v[0, 0] = (following.root[0] - now.root[0]) * fps - (c * root_rate[0] + s * root_rate[2])
    v[0, 1] = (following.root[1] - now.root[1]) * fps - root_rate[1]
    v[0, 2] = (following.root[2] - now.root[2]) * fps - (c * root_rate[2] - s * root_rate[0])
    for j in range(frame.rotations.shape[0]):
        base = vec.get_quat(frame.rotations[j], 0)
        if j == 0:
            base = vec.mul(vec.from_yaw(place[0]), base)
        shown = vec.get_quat(now.rotations[j], 0)
        offset = vec.log(vec.mul(vec.inv(base), shown))
        own_rate = vec.rotate(vec.inv(vec.exp(offset)), vec.get(frame.rotation_rate[j], 0))
        shown_rate = vec.scale(fps, vec.log(vec.mul(vec.inv(shown), vec.get_quat(following.rotations[j], 0))))
        vec.put(x[j + 1], 0, offset)
        vec.put(v[j + 1], 0, _rotation_vector_rate(offset, vec.sub(shown_rate, own_rate)))
