"""Metrics of smoothness: jitter, acceleration, and angular velocity of the joints."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats
from marey.measure.metrics import BODY_JOINTS, Reading, measures
from marey.measure.subject import Subject

_LOCAL = (
    "angle of the rotation from a joint's orientation in its parent (the hips' in the world) to that one frame later,"
    " times the frame rate"
)


@measures(
    "jitter",
    "10^2 m/s^3",
    definition=(
        f"mean over {BODY_JOINTS} and frames of |x(f+3) - 3 x(f+2) + 3 x(f+1) - x(f)| fps^3 / 100, with"
        " x a joint's position in the world in meters: the jerk, in units of 100 m/s^3"
    ),
    source=(
        "Flash and Hogan 1985 (jerk); Yi, Zhou, Xu: TransPose, SIGGRAPH 2021, and Physical Inertial Poser, CVPR"
        " 2022 (jitter at 60 Hz); white noise counts by the cube of the rate, so compare clips of one rate"
    ),
)
def jitter(subject: Subject) -> Reading:
    """Mean jerk of the joints."""
    subject.need_frames(4)
    third = np.diff(subject.bends, axis=0)
    scale = subject.motion.fps**3 / 100.0
    return float(np.linalg.norm(third, axis=-1).mean()) * scale, f"at {subject.motion.fps:.6g} Hz"


@measures(
    "acceleration_rms",
    "m/s^2",
    definition=(
        f"root of the mean over {BODY_JOINTS} and frames of |x(f+1) - 2 x(f) + x(f-1)|^2 fps^4, with x"
        " a joint's position in the world in meters"
    ),
    source="second difference, as in the acceleration error of Kanazawa et al. 2019, of one clip alone",
)
def acceleration_rms(subject: Subject) -> Reading:
    """Root-mean-square acceleration of the joints."""
    subject.need_frames(3)
    second = subject.bends
    mean = 3.0 * float(np.vdot(second, second)) / second.size
    return float(np.sqrt(mean)) * subject.motion.fps**2, f"at {subject.motion.fps:.6g} Hz"


@measures(
    "angular_velocity_max",
    "rad/s",
    definition=f"largest over joints and frames of the {_LOCAL}",
    source="kinematics: the rotation vector of finite rotations",
)
def angular_velocity_max(subject: Subject) -> Reading:
    """Largest angular velocity of any joint between two frames; the note gives the joint and the frames."""
    speeds = _get_angular_speeds(subject)
    f, j = np.unravel_index(int(np.argmax(speeds)), speeds.shape)
    name = subject.motion.skeleton.names[int(subject.joints[j])]
    return float(speeds[f, j]), f"{name}, frame {int(f)} to {int(f) + 1}"


@measures(
    "angular_velocity_p999",
    "rad/s",
    definition=f"99.9th percentile over all joints and frames of the {_LOCAL}",
    source="as angular_velocity_max, without the rarest glitches",
)
def angular_velocity_p999(subject: Subject) -> Reading:
    """99.9th percentile of the angular velocities of the joints, which ignores single jumps."""
    return float(np.quantile(_get_angular_speeds(subject), 0.999)), ""


def _get_angular_speeds(subject: Subject) -> Floats:
    """Return the angular speeds (F - 1, n) of the body's joints in rad/s."""
    subject.need_frames(2)
    return subject.turning
