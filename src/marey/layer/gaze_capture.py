"""Extract a gaze displacement motion from a captured look (Heck 5.2.2.2).

The pose comes from the rests before and after the look, the timing from a model fit. A velocity threshold finds the
start of a movement several frames late, because body parts start slowly; it provides only the initial guess.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, check_index
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.errors import InvalidValue, MareyWarning, NoResult
from marey.layer.gaze_markers import (
    Landmarks,
    check_triads,
    find_marker_landmarks,
    find_motion_landmarks,
    find_still_runs,
    load_triads,
    set_upright,
)
from marey.layer.gaze_model import (
    AHEAD,
    EYE_LIMIT,
    EYE_MAX,
    GazeShift,
    angles_to_direction,
    check_goal,
    direction_to_angles,
    find_progress,
)
from marey.layer.settings import GazeExampleSettings
from marey.layer.smoothing import smooth_series
from marey.maths import quat

__all__ = ["gaze_example"]

# Minimum duration of the rest before and after a shift, in seconds.
_REST_BEFORE, _REST_AFTER = 0.1, 0.25
# Radians: a goal closer than this to straight ahead has no visible shift.
_NO_GOAL = np.radians(2.0)
# For a part that rotates by less than this, in radians, the initial guess for its start is a typical fraction of the
# look's duration instead.
_FAINT = np.radians(2.0)
_USUAL = (0.17, 0.12, 0.07, 0.0)
# Standard deviations of the guessed times, in frames at 60 Hz: of the starts, and of the end of a look.
_LIKELY = (2.5, 8.0)


@operation(GazeExampleSettings)
def gaze_example(source: Markers | Motion, goal: ArrayLike, settings: GazeExampleSettings) -> GazeShift:
    """Extract a gaze displacement motion from one captured look.

    Parameters
    ----------
    source : a recording of markers, or a skeletal clip, that contains a rest, a look at the goal, and a rest there.
    goal : yaw and pitch of the goal in radians, relative to straight ahead at rest (yaw positive to the left, pitch
        upward). The eyes, which are not recorded, cover the angle that the head does not.

    Raises
    ------
    NoResult : if no rest is found, or if the eyes would have to rotate by more than 55 degrees in the head, in which
        case the goal must be wrong. Above 35 degrees there is a `MareyWarning`.

    Examples
    --------
    >>> from marey.samples.gaze import gaze_take
    >>> look = gaze_take(yaw=0.8, pitch=0.1)  # radians
    >>> shift = marey.gaze_example(look.motion, look.goal)
    >>> shift.pose.shape, bool(abs(shift.length - look.length) < 0.2)  # seconds
    ((5, 4), True)
    """
    angles = check_goal(goal)
    facing = settings.facing
    marks = _find_landmarks(source, settings.triads, facing)
    if np.abs(angles).max() < _NO_GOAL:
        return make_straight_ahead(marks.name)
    before, after = _find_rests(marks, settings.start, settings.stop)
    heading = facing if facing is not None else marks.facing if marks.facing is not None else 0.0
    world = marks.find_rotations(slice(*before), float(heading))
    local = world.copy()
    local[:, 1:] = quat.inv_mul(world[:, :-1], world[:, 1:])
    vectors = quat.log(local)
    times = _fit_times(vectors, before, after, marks.fps)
    at_rest = slice(min(round(times[5]), after[1] - 3), after[1])
    pose = quat.exp(vectors[at_rest].mean(axis=0))
    head = pose[0]
    for part in pose[1:]:
        head = quat.mul(head, part)
    eyes = quat.between(AHEAD, quat.inv_rotate(head, angles_to_direction(angles)))
    _check_eyes(float(quat.angle(eyes)), head, angles, marks.name or "the recording")
    return _make_shift(angles, np.concatenate([pose, eyes[None]]), times, marks, settings.eye_lead)


def _check_eyes(turned: float, head: Floats, goal: Floats, name: str) -> None:
    """Warn or raise an error if the eyes would have to rotate too far; the goal is then probably wrong.

    turned : rotation of the eyes in radians. head : (4,) rotation of the head. goal : (2,) yaw and pitch.
    """
    if turned <= EYE_LIMIT:
        return
    yaw, pitch = np.degrees(direction_to_angles(quat.rotate(head, AHEAD)))
    said = (
        f"the head of {name} rotates to yaw {yaw:.0f} and pitch {pitch:.0f} degrees, so the eyes must rotate another "
        f"{np.degrees(turned):.0f} degrees to reach the gaze target (yaw {np.degrees(goal[0]):.0f}, "
        f"pitch {np.degrees(goal[1]):.0f})"
    )
    remedy = "check the target, the direction in which the body faces, and which axis is up"
    if turned > EYE_MAX:
        raise NoResult(f"{said}, but eyes rotate at most {np.degrees(EYE_MAX):.0f} degrees; {remedy}")
    limit = f"more than {np.degrees(EYE_LIMIT):.0f} degrees is uncomfortable"
    warnings.warn(f"{said}, but {limit}; {remedy}", MareyWarning, 3)


def make_straight_ahead(name: str = "", reference: GazeShift | None = None) -> GazeShift:
    """Return a shift without movement, for the center of a map; `reference` provides the timing."""
    times = (0.6, np.array([0.26, 0.2, 0.14, 0.07]), 0.6, 0.05)
    if reference is not None:
        times = (reference.length, reference.starts, reference.peak, reference.overshoot)
    return GazeShift(np.zeros(2), quat.identity(5), *times, name)


def _find_landmarks(source: Any, triads: Any, facing: float | None) -> Landmarks:
    if isinstance(source, Motion):
        if triads is not None:
            raise InvalidValue("triads must be None for a Motion, which has no markers")
        return find_motion_landmarks(source)
    if not isinstance(source, Markers):
        raise InvalidValue(f"source must be Markers or a Motion, not {type(source).__name__}")
    if triads is None:
        raise InvalidValue(
            "triads must be given for Markers: a mapping or JSON file that assigns marker names to body parts"
        )
    named = check_triads(load_triads(triads) if isinstance(triads, str | os.PathLike) else triads)
    return find_marker_landmarks(set_upright(source, named, facing), named)


def _find_rests(marks: Landmarks, start: Any, stop: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Find the half-open frame ranges of the rest before and after the look (Heck 5.2.2.1)."""
    n, edge = len(marks), max(2, round(0.2 * marks.fps))
    if start is not None or stop is not None:
        first = 0 if start is None else check_index(start, "start")
        last = n if stop is None else check_index(stop, "stop")
        if not (first >= 0 and last <= n and last - first > 2 * edge + 3):
            raise InvalidValue(
                f"start and stop must be frames from 0 to {n}, more than {2 * edge + 3} apart, not {start} and {stop}",
                parameter="start",
            )
        return (first, first + edge), (last - edge, last)
    found, most = find_still_runs(marks)
    before = [(a, b) for a, b in found if b <= most and b - a >= _REST_BEFORE * marks.fps]
    after = [(a, b) for a, b in found if a > most and b - a >= _REST_AFTER * marks.fps]
    if not before or not after:
        where = "before" if not before else "after"
        raise NoResult(
            f"{marks.name or 'the recording'} does not stand still {where} its gaze shift",
            parameter="start",
            remedy="record a pause before and after it, or pass the frames of the gaze shift as start and stop",
        )
    return before[-1], after[0]


def _fit_times(vectors: Floats, before: tuple[int, int], after: tuple[int, int], fps: float) -> Floats:
    """Fit the timing of a look.

    Return (7,): the frames at which pelvis, lower spine, upper spine and neck start, the frames of the peak and of the
    end, and the overshoot as a fraction.

    vectors : (F, 4, 3) rotation vectors of the four parts.
    before, after : frame ranges of rest.
    """
    from scipy.optimize import least_squares

    lead = min(before[1] - before[0], round(0.3 * fps))
    # Include part of the rest: the end of a look is so slow that it can be mistaken for rest.
    tail = min(after[1] - after[0], round(fps))
    first, last = before[1] - lead, after[0] + tail
    final = vectors[(after[0] + last) // 2 : last].mean(axis=0)
    size = np.linalg.norm(final, axis=1)
    axes = final / np.maximum(size, 1e-9)[:, None]
    seen = np.einsum("fpk,pk->fp", vectors[first:last], axes)
    frames = np.arange(first, last, dtype=np.float64)
    guess = _guess_times(seen, frames, size, before[1], after[0], fps)
    # Weight the guess relative to the noise at rest; clear signals are then hardly pulled toward it.
    noise = max(float(seen[: max(2, lead)].std(axis=0).mean()), 1e-6)
    ties = noise / (np.array(_LIKELY) * fps / 60.0)

    def misses(x: Floats) -> Floats:
        model = _evaluate_model(frames, x)
        # The amplitude of each part has a closed-form solution.
        amplitude = (model * seen).sum(axis=0) / np.maximum((model * model).sum(axis=0), 1e-9)
        off = x - guess
        return np.concatenate([(seen - amplitude * model).ravel(), ties[0] * off[:4], ties[1] * off[5:6]])

    low = np.array([first] * 4 + [before[1], before[1], 0.0], dtype=np.float64)
    high = np.array([after[0]] * 4 + [last - 1, last, 1.0], dtype=np.float64)
    best = None
    for shift in (0.0, -0.1, 0.1):
        begin = guess.copy()
        begin[4] += shift * (guess[5] - guess[:4].min())
        begin = np.clip(begin, low + 1e-3, high - 1e-3)
        found = least_squares(misses, begin, bounds=(low, high), x_scale=np.array([3.0] * 6 + [0.05]), max_nfev=60)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    return np.asarray(best.x)


def _evaluate_model(frames: Floats, x: Floats) -> Floats:
    """Return the progress (F, 4) of the parts' rotations, 1 at the goal; x as returned by `_fit_times`."""
    begin = x[:4].min()
    length = max(x[5] - begin, 2.0)
    peak = np.clip((x[4] - begin) / length, 0.02, 0.98)
    starts = np.minimum((x[:4] - begin) / length, peak - 0.01)
    return find_progress((frames - begin) / length, starts, float(peak), float(x[6]))[:, :4]


def _guess_times(seen: Floats, frames: Floats, size: Floats, moving: int, rest: int, fps: float) -> Floats:
    """Guess the timing for the fit: a part starts when it exceeds 5% of its rotation, the peak is the neck's maximum.

    seen : (F, 4) rotation of each part about its axis, in radians. size : (4,) final rotations.
    moving, rest : frames at which the movement begins and the final rest begins.
    """
    even = smooth_series(seen, 0.03 * fps)
    inside = (frames >= moving) & (frames <= rest)
    head = np.where(inside, even[:, 3], -np.inf)
    peak = frames[int(head.argmax())]
    if not moving + 2 < peak < rest - 2:
        peak = moving + 0.65 * (rest - moving)
    overshoot = float(np.clip(head.max() / max(size[3], 1e-6) - 1.0, 0.01, 0.5))
    starts = []
    for part in range(4):
        out = np.flatnonzero(even[:, part] > 0.05 * max(size[part], 1e-6))
        plain = len(out) and size[part] >= _FAINT
        begins = frames[out[0]] - 0.12 * (peak - moving) if plain else moving + _USUAL[part] * (rest - moving)
        starts.append(float(np.clip(begins, moving - 3.0, peak - 4.0)))
    return np.array([*starts, peak, float(rest), overshoot])


def _make_shift(goal: Floats, pose: Floats, times: Floats, marks: Landmarks, eye_lead: float) -> GazeShift:
    """Build the shift from times given in frames; see `_fit_times`."""
    begin = float(times[:4].min()) - eye_lead * marks.fps
    length = max(float(times[5]) - begin, 4.0)
    peak = float(np.clip((times[4] - begin) / length, 0.1, 0.98))
    starts = np.clip((times[:4] - begin) / length, 0.0, peak - 0.02)
    return GazeShift(goal, pose, length / marks.fps, starts, peak, float(np.clip(times[6], 0.0, 1.0)), marks.name)
