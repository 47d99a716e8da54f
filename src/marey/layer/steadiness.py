"""Quality measures of a splice: steadiness of the trunk and phase errors."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.deprecation import renamed_parameters
from marey.errors import InvalidValue
from marey.layer.gait import track_legs
from marey.layer.time_alignment import TimeMap
from marey.maths import filters, quat, rigid2d
from marey.measure.gait import stride_rate

# Lower limit of wobble as a multiple of the stride frequency. Below it lie the stride and its second harmonic, which
# every trunk follows.
ABOVE = 2.5
# Standard deviation in seconds of the Gaussian that removes the twist of the pelvis from the heading.
_HEADING = 0.25


def neck_path(motion: Motion) -> Floats:
    """Return positions (F, 3) of the neck relative to the hips, in meters: x left, y up, z ahead (Heck figure 4.5).

    The axes follow the hips' heading, smoothed over half a second. They do not twist and tilt with the hips. Otherwise,
    a trunk that swings rigidly with the hips would appear to be still.

    Examples
    --------
    >>> marey.layer.neck_path(walk).shape
    (241, 3)
    """
    roles = motion.skeleton.roles
    at = motion.world().positions
    across = at[:, roles["left_upper_leg"]] - at[:, roles["right_upper_leg"]]
    heading = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    if len(motion) > 2:
        heading = filters.gaussian(heading, _HEADING * motion.fps)
    headings = np.stack([heading, np.zeros(len(motion)), np.zeros(len(motion))], axis=-1)
    relative = at[:, _find_neck(motion)] - at[:, roles["hips"]]
    return set_readonly(rigid2d.apply_vector(rigid2d.invert(headings), relative))


def wobble(motion: Motion, stride: float | None = None) -> float:
    """Return the mean square, in m^2, of the neck's movement at frequencies above 2.5 times the stride frequency.

    Parameters
    ----------
    stride : stride frequency in Hz; measured from the motion by default.

    Examples
    --------
    >>> marey.layer.wobble(walk) < 1e-3  # square meters
    True
    """
    rate = stride_rate(motion) if stride is None else stride
    if rate is None or not rate > 0.0:
        raise InvalidValue(
            f"{motion.name!r} has no strides to compare its wobble with; pass a stride frequency in Hz as `stride`"
        )
    path = neck_path(motion)
    n = len(path)
    t = np.linspace(-1.0, 1.0, n)
    # Remove a parabola and fade the ends; otherwise the jump between the ends would look like wobble.
    rest = path - np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyfit(t, path, 2)).T
    fade = np.hanning(n + 2)[1:-1]
    spectrum = np.fft.rfft(rest * fade[:, None], axis=0)
    high = np.fft.rfftfreq(n, 1.0 / motion.fps) >= ABOVE * rate
    power = np.abs(spectrum[high]) ** 2
    doubled = 2.0 * power.sum()
    return float(doubled / (n * np.sum(fade**2)))


def neck_deviation(motion: Motion, lower: Motion) -> float:
    """Return the RMS difference in meters between the neck paths of a splice and of its lower clip, without posture.

    Posture is one rotation and one offset per clip. It is removed by rotating the path about the hips until its mean
    points in the direction of the lower clip's mean, and then moving it onto that mean.

    Examples
    --------
    >>> marey.layer.neck_deviation(walk, walk)  # meters
    0.0
    """
    n = min(len(motion), len(lower))
    path, wanted = neck_path(motion)[:n], neck_path(lower)[:n]
    middle, aim = path.mean(axis=0), wanted.mean(axis=0)
    apart = quat.rotate(quat.between(middle, aim), path - middle) - (wanted - aim)
    return float(np.sqrt(np.mean(np.sum(apart**2, axis=1))))


@renamed_parameters(found="times")
def phase_errors(lower: Motion, upper: Motion, times: TimeMap) -> Floats:
    """Return by how many cycles, from -0.5 to 0.5, the upper clip's gait is ahead of the lower clip's, (N,).

    Phases are measured from the times at which the ankles pass each other. Only the N frames that have a phase in both
    clips, outside the seams of a loop, are measured; there are none if a clip lacks two consecutive steps.

    times : the time alignment.

    Examples
    --------
    >>> times = marey.layer.align_motions(run, walk)
    >>> errors = marey.layer.phase_errors(run, walk, times)
    >>> bool(np.abs(errors).max() < 0.1)  # cycles
    True
    """
    below, above = track_legs(lower), track_legs(upper)
    first, _, alpha = times.frames()
    ahead = above.phase_at(first) - below.phase[: len(first)]
    ahead -= np.rint(ahead)
    return set_readonly(ahead[np.isfinite(ahead) & (alpha == 0.0)])


def _find_neck(motion: Motion) -> int:
    roles = motion.skeleton.roles
    return int(roles["neck"] if "neck" in roles else roles["head"])
