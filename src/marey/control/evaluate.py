"""Evaluate live characters: take the same measurements of every stream that accepts directions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.control.evaluate_gait import gait_metrics
from marey.control.inertia_reel import rotate_root_with_hips
from marey.control.settings import EvaluationSettings
from marey.core.arrays import Bools, Floats, freeze_array
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.core.protocols import Stream
from marey.core.reports import ReportBase
from marey.core.settings import operation
from marey.deprecation import renamed_methods, renamed_parameters
from marey.errors import InvalidValue
from marey.maths import filters, rigid2d
from marey.measure import measure
from marey.play import join_frames

__all__ = [
    "StreamMetrics",
    "clip_metrics",
    "count_bytes",
    "evaluate_stream",
    "evaluate_streams",
    "figure_of_eight",
    "record",
]

# A character faces the target if it is within this many degrees for this many seconds. Swaying past does not count.
_WITHIN, _FOR = 15.0, 0.25
# Seconds: standard deviation of the Gaussian filter that removes the sway of each step from heading and path.
_SWAY = 0.12
# Seconds for which a character must face the direction to end a turn, and seconds of straight walking after that,
# before the next turn is requested.
_FACED, _BEFORE = 1.0, 2.0
# The character is steered toward the path point this many meters ahead; seconds between updates of the direction.
_LOOK, _STEER = 0.8, 0.1


@renamed_methods(as_dict="to_dict")
@dataclass(frozen=True, slots=True)
class StreamMetrics(ReportBase):
    """Metrics of a stream.

    response, response_p90 : response time in seconds, from the request of a direction until the character faces it
        within 15 degrees for at least 0.25 s; median and 90th percentile. An incomplete turn counts as the timeout.
    answered : fraction of the turns completed before the timeout.
    path_error, path_error_max : meters, root mean square and largest distance of the hips (without step sway) from a
        path along which the character is steered by directions.
    speed : mean speed on that path, m/s.
    skate : foot skate in m/s: ``slide_contact`` of `marey.measure`. It uses detected contacts, which makes streams with
        and without contacts comparable.
    skate_own : the same in m/s, with the contacts of the stream's own frames; NaN if they have none.
    skate_weighted : mm/s, ``slide_weighted_speed`` of `marey.measure`, which needs no contacts.
    jerk : 100 m/s^3, ``jitter`` of `marey.measure`.
    bob, lift, sway : meters, meters and radians: vertical range of the hips and of the ankles in a stride, and range of
        the trunk's lateral lean; see `GaitMetrics`. Compare them with those of the clips: blending reduces them,
        returning to a single pose increases them.
    memory : bytes of all arrays that the stream holds, including shared ones.
    frames_per_second : frames computed per second of CPU time, on one core of this machine.
    stall : CPU time per frame in ms, 99.9th percentile.
    """

    response: float
    response_p90: float
    answered: float
    path_error: float
    path_error_max: float
    speed: float
    skate: float
    skate_own: float
    skate_weighted: float
    jerk: float
    bob: float
    lift: float
    sway: float
    memory: int
    frames_per_second: float
    stall: float


@renamed_parameters(make="make_stream", trials="n_turns", longest="timeout")
@operation(EvaluationSettings)
def evaluate_stream(make_stream: Callable[[], Stream], settings: EvaluationSettings) -> StreamMetrics:
    """Measure a stream that accepts ``request(direction=...)``.

    Parameters
    ----------
    make_stream : function that returns a new stream; called once for the turns and once for the path.

    Examples
    --------
    >>> def make_stream():
    ...     return character.stream(marey.control.FollowDirection(0.0))
    >>> metrics = marey.control.evaluate_stream(make_stream, n_turns=1)
    >>> metrics.answered
    1.0
    """
    wait, speed = settings.timeout, settings.speed
    generator = np.random.default_rng(settings.rng)
    route = figure_of_eight() if settings.path is None else freeze_array(settings.path, "path", (None, 2))
    if len(route) < 2:
        raise InvalidValue("path must have at least two points")
    stream, timed = make_stream(), list[float]()
    _request_speed(stream, speed)
    turning, requests = _record_turns(stream, settings.turn, settings.n_turns, wait, generator, timed)
    answers = _response_times(turning, requests, wait)
    along = make_stream()
    _request_speed(along, speed)
    following = _follow_path(along, route, settings.seconds, timed)
    apart, pace = _path_metrics(following, route)
    report = measure(replace(turning, contacts=None))
    # The first frames fill the cleanup's window.
    spent = np.array(timed[round(stream.fps) :])
    return StreamMetrics(
        response=float(np.median(answers)),
        response_p90=float(np.quantile(answers, 0.9)),
        answered=float((answers < wait).mean()),
        path_error=float(np.sqrt((apart**2).mean())),
        path_error_max=float(apart.max()),
        speed=pace,
        skate=_metric_value(report, "slide_contact"),
        skate_own=float("nan") if turning.contacts is None else _metric_value(measure(turning), "slide_contact"),
        skate_weighted=_metric_value(report, "slide_weighted_speed"),
        jerk=_metric_value(report, "jitter"),
        **gait_metrics(turning).to_dict(),
        memory=count_bytes(stream),
        frames_per_second=float(1.0 / max(spent.mean(), 1e-9)),
        stall=float(1e3 * np.quantile(spent, 0.999)),
    )


@renamed_parameters(trials="n_turns", longest="timeout")
@operation(EvaluationSettings)
def evaluate_streams(
    makers: Mapping[str, Callable[[], Stream]], settings: EvaluationSettings
) -> dict[str, StreamMetrics]:
    """Run `evaluate_stream` with the same options on several streams. Return the metrics by stream name.

    Examples
    --------
    >>> clips = [walk, turning, marey.edit.mirror(turning)]
    >>> makers = {"matching": lambda: marey.control.MotionMatching(clips)}
    >>> metrics = marey.control.evaluate_streams(makers, n_turns=1, seconds=3.0)
    >>> metrics["matching"].speed > 0.5  # m/s
    True
    """
    return {name: evaluate_stream(make, settings=settings) for name, make in makers.items()}


def clip_metrics(clips: Sequence[Motion]) -> StreamMetrics:
    """Measure clips by the same metrics, as a reference for streams built from them.

    Foot skate, jerk and speed are means over all frames; gait metrics are medians over all strides. Metrics that apply
    only to streams are NaN.

    Examples
    --------
    >>> metrics = marey.control.clip_metrics([walk, turning])
    >>> round(float(metrics.speed), 1)  # m/s
    1.3
    """
    if not clips:
        raise InvalidValue("clips must contain at least one clip to measure")
    frames = np.array([len(clip) for clip in clips], dtype=np.float64)

    def mean(name: str, bare: bool = True) -> float:
        values = [_metric_value(measure(replace(clip, contacts=None) if bare else clip), name) for clip in clips]
        return float(np.average(values, weights=frames))

    nan = float("nan")
    owned = all(clip.contacts is not None for clip in clips)
    return StreamMetrics(
        response=nan,
        response_p90=nan,
        answered=nan,
        path_error=nan,
        path_error_max=nan,
        speed=mean("speed_mean"),
        skate=mean("slide_contact"),
        skate_own=mean("slide_contact", bare=False) if owned else nan,
        skate_weighted=mean("slide_weighted_speed"),
        jerk=mean("jitter"),
        **gait_metrics(clips).to_dict(),
        memory=count_bytes(list(clips)),
        frames_per_second=nan,
        stall=nan,
    )


def record(stream: Stream, n_frames: int, steer: Callable[[Stream, int, Motion | None], None] | None = None) -> Motion:
    """Record the next frames of a stream as one motion.

    Parameters
    ----------
    n_frames : number of frames, at least 1.
    steer : called before each frame with the stream, the index of the frame, and the previous frame (None at first).

    Examples
    --------
    >>> stream = character.stream(marey.control.FollowDirection(0.0))
    >>> len(marey.control.record(stream, 30))
    30
    """
    if n_frames < 1:
        raise InvalidValue(f"n_frames must be at least 1, not {n_frames}")
    frames: list[Motion] = []
    for i in range(n_frames):
        if steer is not None:
            steer(stream, i, frames[-1] if frames else None)
        frames.append(stream.frame())
    motion, player = _join_frames(frames), getattr(stream, "player", None)  # streams written by users may not have it
    return motion if player is None else replace(motion, source=player.recording_source)


def figure_of_eight(radius: float = 3.0, n: int = 400) -> Floats:
    """Return a figure eight, x, z in meters: from the origin along +Z, once around to the left, then to the right.

    radius : radius of both circles in meters. n : number of segments; for an even n, the shape is (n + 1, 2).
    """
    angle = np.linspace(0.0, 2.0 * np.pi, n // 2 + 1)
    left = radius * np.stack([1.0 - np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(np.concatenate([left, (left * [-1.0, 1.0])[1:]]))


def count_bytes(thing: Any) -> int:
    """Return the number of bytes in all arrays that can be reached from an object, each counted once."""
    seen: set[int] = set()
    total, todo = 0, [thing]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if one.base is None or not isinstance(one.base, np.ndarray):
                total += one.nbytes
            else:
                todo.append(one.base)
        elif isinstance(one, Mapping):
            todo += list(one.values())
        elif isinstance(one, list | tuple | set | frozenset) or type(one).__name__ == "deque":
            todo += list(one)
        elif type(one).__module__.startswith("marey"):
            names = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
            todo += [getattr(one, name) for name in names if hasattr(one, name)]
            todo += list(getattr(one, "__dict__", {}).values())
        elif type(one).__name__ == "cKDTree":
            # A k-d tree holds a copy of its points in node order, and an index of the same length.
            todo += [one.data, one.indices]
    return total


def _request_speed(stream: Stream, speed: float | None) -> None:
    if speed is not None:
        stream.request(speed=speed)


def _time_frame(stream: Stream, timed: list[float]) -> Motion:
    start = time.thread_time()
    frame = stream.frame()
    timed.append(time.thread_time() - start)
    return frame


def _record_turns(
    stream: Stream, turn: float, n_turns: int, timeout: float, generator: np.random.Generator, timed: list[float]
) -> tuple[Motion, list[tuple[int, float]]]:
    """Record all turns as one motion. Also return the frame and direction of each request."""
    frames: list[Motion] = []
    requests: list[tuple[int, float]] = []
    direction, side = 0.0, 1.0
    stream.request(direction=direction)
    for pause in (generator.permutation(n_turns) + generator.uniform()) / n_turns:
        frames += [_time_frame(stream, timed) for _ in range(round((_BEFORE + pause) * stream.fps))]
        direction = float(rigid2d.wrap_angle(direction + side * turn))
        # Left, right, right, left: otherwise each turn would undo the one before.
        side = -side if len(requests) % 2 == 0 else side
        stream.request(direction=direction)
        requests.append((len(frames), direction))
        faced = 0
        for _ in range(round(timeout * stream.fps)):
            frames.append(_time_frame(stream, timed))
            yaw = find_facing(frames[-1].skeleton, frames[-1].world().positions)
            faced = faced + 1 if _is_near(yaw, direction)[0] else 0
            if faced >= _FACED * stream.fps:
                break
    return _join_frames(frames), requests


def _is_near(yaw: Floats, direction: float) -> Bools:
    """Return whether each heading (n,) is within the tolerance of a direction."""
    return np.asarray(np.abs(rigid2d.wrap_angle(yaw - direction)) <= np.radians(_WITHIN))


def _response_times(motion: Motion, requests: list[tuple[int, float]], timeout: float) -> Floats:
    """Return the response time (n,) of each turn in seconds; `timeout` if it was not completed."""
    yaw = filters.gaussian(find_facing(motion.skeleton, motion.world().positions), _SWAY * motion.fps)
    hold = max(1, round(_FOR * motion.fps))
    out = []
    for first, direction in requests:
        stop = first + round(timeout * motion.fps)
        near = _is_near(yaw[first:stop], direction)
        held = np.convolve(near, np.ones(hold), mode="valid") >= hold - 0.5
        # If the character already faces the direction, it missed the previous turn; this does not count as a response.
        out.append(np.argmax(held) / motion.fps if held.any() and not near[0] else timeout)
    return np.asarray(out)


def _follow_path(stream: Stream, path: Floats, seconds: float, timed: list[float]) -> Motion:
    """Steer the stream along a path, moved to start at the character's first position, until the path or time ends."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    frames = [_time_frame(stream, timed)]
    shift = frames[0].travel[0, [0, 2]] - path[0]
    passed, every = 0.0, max(1, round(_STEER * stream.fps))
    for i in range(round(seconds * stream.fps)):
        if i % every == 0:
            here = frames[-1].travel[0, [0, 2]] - shift
            passed = _find_progress(path, length, here, passed)
            if passed >= length[-1] - 0.1:
                break
            goal = _point_at(path, length, passed + _LOOK)
            stream.request(direction=float(np.arctan2(goal[0] - here[0], goal[1] - here[1])))
        frames.append(_time_frame(stream, timed))
    motion = _join_frames(frames)
    return motion.moved([0.0, -shift[0], -shift[1]])


def _find_progress(path: Floats, length: Floats, here: Floats, passed: float) -> float:
    """Return the distance along the path of the path point nearest to `here` (2,), from just before `passed` onward.

    length : (n,) distances along the path of its points.
    """
    near = np.flatnonzero((length >= passed - 0.2) & (length <= passed + 1.5))
    if not len(near):
        return passed
    return float(length[near[int(np.argmin(np.linalg.norm(path[near] - here, axis=1)))]])


def _point_at(path: Floats, length: Floats, along: float) -> Floats:
    beyond = max(along - length[-1], 0.0)
    end = path[-1] - path[-2]
    point = np.array([np.interp(along, length, path[:, k]) for k in range(2)])
    return np.asarray(point + beyond * end / max(float(np.linalg.norm(end)), 1e-9))


def _path_metrics(motion: Motion, path: Floats) -> tuple[Floats, float]:
    """Return the distance (F,) of each frame from the path in meters, and the mean speed in m/s."""
    track = filters.gaussian(motion.travel[:, [0, 2]], 2.0 * _SWAY * motion.fps)
    a, b = path[:-1], path[1:]
    along = b - a
    size = np.maximum((along**2).sum(axis=1), 1e-18)
    fraction = np.clip(((track[:, None] - a) * along).sum(axis=2) / size, 0.0, 1.0)
    apart = np.linalg.norm(track[:, None] - (a + fraction[..., None] * along), axis=2).min(axis=1)
    gone = float(np.linalg.norm(np.diff(track, axis=0), axis=1).sum())
    return apart, gone / max(motion.duration, 1e-9)


def _join_frames(frames: list[Motion]) -> Motion:
    return rotate_root_with_hips(join_frames(frames))


def _metric_value(report: Any, name: str) -> float:
    value = report[name].value
    return float("nan") if value is None else float(value)
