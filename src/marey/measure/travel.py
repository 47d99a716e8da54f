"""Metrics of travel: path, speed, stride rate, and how well the end of a clip matches its beginning."""

from __future__ import annotations

import math

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.measure.gait import describe_rate_finding, median_stride_rate
from marey.measure.metrics import BODY_JOINTS, Reading, measures
from marey.measure.subject import Subject

_PATH = "the path of the hips role on the floor (x, z), including sway"
_ALIGNED = (
    "the last frame aligned with the first by the rotation about the vertical and the translation on the floor that"
    " bring their joints closest"
)
_SEAM = (
    "Kovar, Gleicher, Pighin: Motion Graphs, SIGGRAPH 2002 (alignment and root of the distance, equal weights); a loop"
    " whose last frame repeats the first has 0"
)
_PLAIN = "kinematics"


@measures("path_length", "m", definition=f"sum over frames of the distance along {_PATH}", source=_PLAIN)
def path_length(subject: Subject) -> Reading:
    """Length of the path of the hips on the floor."""
    return float(_steps(subject).sum()), ""


@measures("path_net", "m", definition=f"distance on the floor between both ends of {_PATH}", source=_PLAIN)
def path_net(subject: Subject) -> Reading:
    """Distance between the start and the end of the path."""
    subject.need_frames(2)
    displacement = subject.travel[-1] - subject.travel[0]
    return math.hypot(float(displacement[0]), float(displacement[1])), ""


@measures("speed_mean", "m/s", definition="path_length divided by the clip's duration", source=_PLAIN)
def speed_mean(subject: Subject) -> Reading:
    """Mean speed along the path."""
    return float(_steps(subject).sum()) / subject.motion.duration, ""


@measures(
    "speed_max",
    "m/s",
    definition=f"largest distance from frame to frame along {_PATH}, times the frame rate",
    source=_PLAIN,
)
def speed_max(subject: Subject) -> Reading:
    """Highest speed along the path from one frame to the next."""
    steps = _steps(subject)
    fastest = int(np.argmax(steps))
    return float(steps[fastest]) * subject.motion.fps, f"frame {fastest} to {fastest + 1}"


@measures(
    "stride_rate",
    "1/s",
    definition=(
        "reciprocal of the median time from one zero crossing of the ankles' separation along the hips' facing to"
        " the second one after it (the same leg forward again); see marey.measure.stride_rate"
    ),
    source="Zeni, Richards, Higginson 2008 (gait events from the feet's positions alone)",
)
def strides(subject: Subject) -> Reading:
    """Strides (two steps) per second."""
    rate = median_stride_rate(subject.strides, subject.motion.fps)
    if rate is None:
        raise InvalidValue("no gait found; the motion needs at least one full stride, and its skeleton both legs")
    return rate, describe_rate_finding(subject.strides, subject.motion) or ""


@measures(
    "loop_position",
    "m",
    definition=f"root of the mean over {BODY_JOINTS} of |x0 - T x1|^2, with {_ALIGNED}",
    source=_SEAM,
)
def loop_position(subject: Subject) -> Reading:
    """Jump of joint positions where the loop restarts."""
    subject.need_frames(2)
    first, last = subject.positions[0], subject.positions[-1]
    apart = np.linalg.norm(first - rigid2d.apply(align(first, last), last), axis=1)
    return _summarize(subject, apart, "cm", 100.0)


@measures(
    "loop_rotation",
    "rad",
    definition=(
        f"root of the mean over {BODY_JOINTS} of the squared angle between their orientations in the"
        f" first and the last frame: the hips' in the world, with {_ALIGNED}, the others' in their parents"
    ),
    source=_SEAM,
)
def loop_rotation(subject: Subject) -> Reading:
    """Jump of joint rotations where the loop restarts."""
    subject.need_frames(2)
    turn = rigid2d.to_quat(align(subject.positions[0], subject.positions[-1]))
    first, last = subject.orientations[0], subject.orientations[-1].copy()
    hips = subject.joints == subject.hips
    last[hips] = quat.mul(turn, last[hips])
    apart = quat.angle_between(first, last)
    return _summarize(subject, apart, "deg", math.degrees(1.0))


@measures(
    "loop_velocity",
    "m/s",
    definition=(
        f"root of the mean over {BODY_JOINTS} of |v0 - R v1|^2, with v0 the velocity at the first frame and"
        f" v1 at the last, by three-point differences inside the clip, and R the rotation of {_ALIGNED}"
    ),
    source=_SEAM,
)
def loop_velocity(subject: Subject) -> Reading:
    """Jump of joint velocities where the loop restarts."""
    subject.need_frames(3)
    x, half = subject.positions, 0.5 * subject.motion.fps
    begins = (4.0 * x[1] - 3.0 * x[0] - x[2]) * half
    ends = (3.0 * x[-1] - 4.0 * x[-2] + x[-3]) * half
    apart = np.linalg.norm(begins - rigid2d.apply_vector(align(x[0], x[-1]), ends), axis=1)
    return _summarize(subject, apart, "m/s")


def align(points: Floats, targets: Floats) -> Floats:
    """Return the rigid2d (3,) that aligns `targets` (n, 3) with `points` (n, 3) in the least-squares sense.

    theta = atan2(B, A) with A = cov(x, x') + cov(z, z') and B = cov(x, z') - cov(z, x').
    """
    center, other_center = points.mean(axis=0), targets.mean(axis=0)
    (x, _, z), (u, _, w) = (points - center).T, (targets - other_center).T
    turn = rigid2d.identity()
    turn[0] = math.atan2(float(x @ w - z @ u), float(x @ u + z @ w))
    turn[1:] = (center - rigid2d.apply(turn, other_center))[[0, 2]]
    return turn


def _steps(subject: Subject) -> Floats:
    subject.need_frames(2)
    return np.asarray(np.linalg.norm(np.diff(subject.travel, axis=0), axis=1))


def _summarize(subject: Subject, deviations: Floats, unit: str, factor: float = 1.0) -> Reading:
    """Return the root mean square over the joints, and a note about the joint with the largest value.

    unit, factor : unit of the note, in which the metric is displayed, and the factor for its values.
    """
    worst = int(np.argmax(deviations))
    name = subject.motion.skeleton.names[int(subject.joints[worst])]
    return float(np.sqrt(np.mean(np.square(deviations)))), f"at most {factor * deviations[worst]:.3g} {unit}, {name}"
