"""Features for motion matching: the future path of a character, and positions and velocities of its feet and hips.

All features are in the character's own coordinates: the origin is on the floor below the hips, +Z is ahead. Each group
is divided by its standard deviation over all frames and by the square root of its size. This makes the group weights
comparable (Clavet 2016; Holden et al. 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from marey.control.inertia_reel import Reel
from marey.core.arrays import Floats, Ints, check_number, set_readonly
from marey.core.kinematics import forward_kinematics
from marey.errors import InvalidValue, NoResult, UnknownName, similar
from marey.maths import filters, rigid2d

__all__ = ["WEIGHTS", "FeatureTable", "make_features"]

WEIGHTS: Mapping[str, float] = {"path": 1.0, "facing": 1.0, "feet": 0.75, "feet_speed": 0.75, "hips_speed": 0.5}
"""Feature groups and their default weights."""

# Seconds: standard deviation of the Gaussian filter that removes the sway of each step from the speed.
_SWAY = 0.2
# Minimum standard deviation, in meters, m/s or unit-vector components: if all clips stand still, noise must not be
# scaled up to look like a difference in motion.
_MIN_SPREAD = 0.01
# Radians per second. No person moves a joint faster than the first, so a faster change is a glitch or the end of a
# calibration pose. The second is the minimum of the turn limits, for clips that hardly turn.
_WILD, _MIN_TURN = 40.0, 0.2
# Maximum time ahead, in seconds, at which paths are compared.
_MAX_AHEAD = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features of the frames that can be jumped to.

    A row is a frame of the reel, which has all clips one after the other.

    rows : (M,) increasing rows of the reel that have enough of their clip left, and no glitch right after them.
    values : (M, D) features of `rows`, scaled and weighted.
    all_values : (N, D) features of all rows of the reel. Near the end of a clip, the future path is cut off.
    path_times : (T,) times ahead, in seconds, at which the path is compared.
    scale : (D,) factors from meters, m/s or unit-vector components to features.
    paces, turn_rates : (N,) speeds in m/s and turn rates in rad/s, without step sway.
    turn_limits : (2,) rad/s, fastest turns of the clips to the right and left over the largest of `path_times`.
    """

    rows: Ints
    values: Floats
    all_values: Floats
    path_times: Floats
    scale: Floats
    paces: Floats
    turn_rates: Floats
    turn_limits: Floats

    @property
    def n_path(self) -> int:
        """Number of leading features that describe the future path; the others describe the pose."""
        return 4 * len(self.path_times)


def make_features(reel: Reel, *, path_times: Sequence[float], weights: Mapping[str, float] | None) -> FeatureTable:
    """Compute the features of all rows; see `FeatureTable`.

    Parameters
    ----------
    path_times : increasing times ahead, in seconds, at which the future path is compared.
    weights : weights of groups that differ from `WEIGHTS`.
    """
    times = _check_times(path_times, reel.fps)
    group_weights = _check_weights(weights)
    groups = {**_path_groups(reel, times), **_pose_groups(reel)}
    last = np.repeat(reel.borders[1:] - 1, np.diff(reel.borders))
    long_enough = np.arange(len(reel)) + int(np.ceil(times[-1] * reel.fps)) <= last
    rows = np.flatnonzero(long_enough & (np.linalg.norm(reel.turn_rate, axis=2).max(axis=1) < _WILD))
    if not len(rows):
        raise NoResult(
            f"no clip is longer than the lookahead of {times[-1]:g} s",
            parameter="path_times",
            remedy="use longer clips, or smaller `path_times=`",
        )
    scales = []
    for name, values in groups.items():
        spread = np.sqrt(values[rows].var(axis=0).mean())
        size = values.shape[1]
        scales.append(np.full(size, group_weights[name] / (max(float(spread), _MIN_SPREAD) * np.sqrt(size))))
    scale = np.concatenate(scales)
    everything = np.concatenate(list(groups.values()), axis=1) * scale
    paces, turn_rates = _measure_rates(reel)
    facing = groups["facing"][rows, -2:]
    far = np.arctan2(facing[:, 0], facing[:, 1]) / times[-1]
    limits = np.array([min(float(far.min()), -_MIN_TURN), max(float(far.max()), _MIN_TURN)])
    return FeatureTable(
        rows=set_readonly(rows),
        values=set_readonly(everything[rows]),
        all_values=set_readonly(everything),
        path_times=set_readonly(times),
        scale=set_readonly(scale),
        paces=set_readonly(paces),
        turn_rates=set_readonly(turn_rates),
        turn_limits=set_readonly(limits),
    )


def _path_groups(reel: Reel, times: Floats) -> dict[str, Floats]:
    last = np.repeat(reel.borders[1:] - 1, np.diff(reel.borders))
    places, facings = [], []
    back = rigid2d.invert(reel.ground)
    for seconds in times.tolist():
        later = np.minimum(np.arange(len(reel)) + round(seconds * reel.fps), last)
        there = rigid2d.compose(back, reel.ground[later])
        places.append(there[:, 1:])
        facings.append(np.stack([np.sin(there[:, 0]), np.cos(there[:, 0])], axis=1))
    return {"path": np.concatenate(places, axis=1), "facing": np.concatenate(facings, axis=1)}


def _pose_groups(reel: Reel) -> dict[str, Floats]:
    roles = reel.skeleton.roles
    joints = [roles["left_foot"], roles["right_foot"], roles["hips"]]
    world = forward_kinematics(reel.skeleton, reel.root, reel.rotations, reel.bones).positions[:, joints]
    rates = np.concatenate([_differentiate(part, reel.fps) for part in _split_clips(reel, world)])
    back = rigid2d.invert(reel.ground)[:, None]
    seen, moving = rigid2d.apply(back, world), rigid2d.apply_vector(back, rates)
    n = len(reel)
    return {
        "feet": seen[:, :2].reshape(n, 6),
        "feet_speed": moving[:, :2].reshape(n, 6),
        "hips_speed": moving[:, 2].reshape(n, 3),
    }


def _measure_rates(reel: Reel) -> tuple[Floats, Floats]:
    """Return speed (N,) in m/s and turn rate (N,) in rad/s, without step sway."""
    paces, rates = [], []
    for part in _split_clips(reel, reel.ground):
        rate = _differentiate(filters.gaussian(part, _SWAY * reel.fps), reel.fps)
        paces.append(np.linalg.norm(rate[:, 1:], axis=1))
        rates.append(rate[:, 0])
    return np.concatenate(paces), np.concatenate(rates)


def _split_clips(reel: Reel, values: Floats) -> list[Floats]:
    return np.split(values, reel.borders[1:-1])


def _differentiate(values: Floats, fps: float) -> Floats:
    return np.asarray(np.gradient(values, axis=0) * fps)


def _check_times(path_times: Sequence[float], fps: float) -> Floats:
    try:
        times = np.asarray([float(seconds) for seconds in path_times])
    except (TypeError, ValueError, OverflowError):
        times = np.zeros(0)
    if not len(times) or not (times[0] * fps >= 1.0 and times[-1] <= _MAX_AHEAD and (np.diff(times) > 0.0).all()):
        raise InvalidValue(
            f"path_times must be increasing times in seconds, at least one frame and at most {_MAX_AHEAD:g} s, such as "
            f"(0.2, 0.4, 0.6), not {path_times!r}"
        )
    return times


def _check_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    out = dict(WEIGHTS)
    for name, value in (weights or {}).items():
        if name not in out:
            raise UnknownName(f"no feature group {name!r}{similar(str(name), out)}; groups: {', '.join(out)}")
        out[name] = check_number(value, f"the weight of {name}")
    return out
