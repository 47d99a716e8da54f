"""Transitions: find the best point (Heck 3.3) and blend from one motion into another (Kovar 5.4.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from marey.blend.blend import held
from marey.blend.handover import Handover, NoRoom, TransitionPoint, handed_over
from marey.compare import distance_grid, local_minima
from marey.core.arrays import check_number, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, NoResult, NotBlendable, NoTimewarp
from marey.register.prepare import prepared

__all__ = ["TransitionPoint", "best_transition", "transition"]

Span = tuple[float, float]
Moments = tuple[float, float]

# How many points are tried, best first, where the first ones leave no room for the transition or are refused.
_MAX_TRIED = 50
# Seconds of the window in which frames are compared when looking for the best point, as for motion graphs.
_SEARCH_WINDOW = 0.5
# A frame this near to a boundary, as a share of a frame, is on it.
_ON_FRAME = 1e-6


def best_transition(
    a: Motion,
    b: Motion,
    *,
    length: float = 1.0,
    region_a: Span | None = None,
    region_b: Span | None = None,
    markers: str = "body",
    window: float = _SEARCH_WINDOW,
    contacts: str | float | None = None,
) -> TransitionPoint:
    """Find the most similar moments of two motions: the smallest value of their distance grid (Heck 3.3).

    Parameters
    ----------
    length : duration of the transition in seconds; half of it is kept free at both ends of both motions.
    region_a, region_b : (from, to) in seconds, the parts of the motions to search.
    markers, window, contacts : as for `marey.distance_grid`; with ``contacts="refuse"`` only frames whose feet stand
        alike count.

    `transition` uses the next best point if this one is rejected or leaves no room.
    """
    (first, second), _ = _prepare_pair(a, b)
    return _find_candidates(first, second, length, (region_a, region_b), markers, window, contacts)[0]


def transition(
    a: Motion,
    b: Motion,
    at: Moments | None = None,
    length: float = 1.0,
    *,
    boundaries: Literal["resample", "integer"] = "resample",
    enforce: bool = True,
    region_a: Span | None = None,
    region_b: Span | None = None,
    markers: str = "body",
    window: float = 0.1,
    search_window: float = _SEARCH_WINDOW,
    slope_limit: int = 2,
    contacts: str | float | None = None,
    force: bool = False,
    name: str | None = None,
) -> Motion:
    """Make a transition: `a`, a blend from `a` into `b`, then `b`, placed where `a` leads and on a's floor.

    The timewarp is found forward and backward from the transition's middle. Weights ease from one motion to the other
    (Kovar 3.5), so that the transition begins with a's own pose and speed and ends with b's.

    Parameters
    ----------
    at : seconds in a and in b of the middle of the transition; None for the best point that is not rejected.
    length : duration of the transition in seconds.
    boundaries : the transition's ends fall between frames. ``"resample"`` leaves a's frames as they are and takes those
        of b between its own; ``"integer"`` shifts time within the transition by less than a frame, so that it begins on
        a frame of a and ends on one of b, and lasts for a whole number of frames.
    enforce : clean up the whole result, so that contacts stay in place.
    region_a, region_b, contacts : where to look for the best point; see `best_transition`. Not with `at`.
    markers : which markers are compared.
    window : seconds that are compared around each pair of frames to bring the motions in step, and for the
        ``path_distance`` that provenance notes.
    search_window : likewise to choose the point, and for the ``distance`` in the middle that provenance notes. Longer,
        so that the motions go on alike for a while.
    slope_limit : the largest ratio of playback speeds of the two motions.
    force : accept a point that is rejected for distance or feet, with a note in provenance.
    name : of the result.

    Raises
    ------
    NoResult : if there is no room for the transition.
    NotBlendable : if the motions are too far apart, in the middle or over the transition, or stand on opposite feet; or
        if one would have to turn faster than bodies do, which `force` does not override.
    """
    if boundaries not in ("resample", "integer"):
        raise InvalidValue(f'boundaries must be "resample" or "integer", got {boundaries!r}')
    if at is not None:
        _reject_search_options({"region_a": region_a, "region_b": region_b, "contacts": contacts})
    seconds = check_number(length, "length in seconds", above=True)
    (first, second), notes = _prepare_pair(a, b)
    if seconds * first.fps < 2.0:
        raise InvalidValue(f"a transition needs at least 2 frames, got {seconds:g} s at {first.fps:g} Hz")
    around = check_number(search_window, "search_window in seconds")
    settings = Handover(seconds, boundaries, markers, window, slope_limit, around, bool(force))
    if at is not None:
        point = TransitionPoint(*_check_moments(at, first, second), np.nan)
        made, record = handed_over(first, second, point, settings)
    else:
        made, record = _find_best_handover(first, second, settings, (region_a, region_b), contacts)
    source = replace(
        first.source, path="", channel_values=None, evidence=(), floor=made.source.floor, provenance=()
    ).with_step(op="transition", **{**record, "notes": [*notes, *record["notes"]]})
    made = replace(made, name=f"{a.name} to {b.name}" if name is None else str(name), source=source)
    return held(made) if enforce else made


def _prepare_pair(a: Motion, b: Motion) -> tuple[tuple[Motion, Motion], tuple[str, ...]]:
    """Both at one rate, with contacts, on the floor of the first; and notes on that."""
    (first, second), notes = prepared([a, b])
    floors = first.source.floor, second.source.floor
    if floors[0] is not None and floors[1] is not None and floors[0] != floors[1]:
        root = second.root_positions + [0.0, floors[0] - floors[1], 0.0]
        source = replace(second.source, floor=floors[0])
        second = replace(second, root_positions=set_readonly(root), source=source)
    return (first, second), notes


def _reject_search_options(given: dict[str, Any]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise InvalidValue(f"{named[0]} says where to look for the best point, but at= gives the point; leave one out")


def _check_moments(at: Any, a: Motion, b: Motion) -> Moments:
    try:
        moments = tuple(float(moment) for moment in at)
    except (TypeError, ValueError):
        moments = ()
    if len(moments) != 2:
        raise InvalidValue(f"at must be two times, seconds in the first motion and in the second, got {at!r}")
    for moment, motion in zip(moments, (a, b), strict=True):
        if not 0.0 <= moment <= motion.duration:
            raise InvalidValue(f"{moment:g} s is not within {motion.name!r}, which lasts {motion.duration:.2f} s")
    return moments[0], moments[1]


def _find_candidates(
    a: Motion,
    b: Motion,
    length: float,
    regions: tuple[Span | None, Span | None],
    markers: str,
    window: float,
    contacts: str | float | None,
) -> list[TransitionPoint]:
    """Local minima of the distance grid in the allowed regions, best first; the smallest value of all leads."""
    runs = [_find_allowed_frames(motion, region, length) for motion, region in zip((a, b), regions, strict=True)]
    grid = distance_grid(a, b, markers=markers, window=window, contacts=contacts)
    (rows, columns) = runs
    values = np.ascontiguousarray(grid.values[rows[0] : rows[1], columns[0] : columns[1]])
    cells = np.concatenate([[np.unravel_index(int(np.argmin(values)), values.shape)], local_minima(values)])
    found = values[cells[:, 0], cells[:, 1]]
    order = np.argsort(found, kind="stable")
    if not np.isfinite(found[order[0]]):
        raise NoResult(f"no frames of {a.name!r} and {b.name!r} have the same contacts where a transition may be")
    fps = a.fps
    return [
        TransitionPoint((i + rows[0]) / fps, (j + columns[0]) / fps, float(np.sqrt(values[i, j])))
        for i, j in cells[order].tolist()
        if np.isfinite(values[i, j])
    ]


def _find_allowed_frames(motion: Motion, region: Span | None, length: float) -> tuple[int, int]:
    """Frames, half-open, that may be the middle of a transition."""
    room = 0.5 * length
    low, high = room, motion.duration - room
    if region is not None:
        try:
            begin, end = (float(edge) for edge in region)
        except (TypeError, ValueError):
            raise InvalidValue(f"a region must be (from, to) in seconds, got {region!r}") from None
        if not 0.0 <= begin <= end <= motion.duration + 1e-9:
            raise InvalidValue(
                f"a region of {motion.name!r} must lie within 0 to {motion.duration:.2f} s, got {begin:g} to {end:g}"
            )
        low, high = max(low, begin), min(high, end)
    start, stop = int(np.ceil(low * motion.fps - _ON_FRAME)), int(np.floor(high * motion.fps + _ON_FRAME)) + 1
    if stop <= start:
        where = "" if region is None else f" between {region[0]:g} and {region[1]:g} s"
        raise NoResult(
            f"{motion.name!r}, which lasts {motion.duration:.2f} s, has no room{where} for a transition of {length:g} s"
            "; take a shorter one"
        )
    return start, stop


def _find_best_handover(
    a: Motion,
    b: Motion,
    settings: Handover,
    regions: tuple[Span | None, Span | None],
    contacts: str | float | None,
) -> tuple[Motion, dict[str, Any]]:
    """The transition at the best point that has room for it and is not refused."""
    points = _find_candidates(a, b, settings.length, regions, settings.markers, settings.search_window, contacts)
    refused: list[NoResult] = []
    for point in points[:_MAX_TRIED]:
        try:
            return handed_over(a, b, point, settings)
        except (NoRoom, NoTimewarp, NotBlendable) as error:
            refused.append(error)
    # That there is no room here or there says less than that the motions are unlike where there is.
    why = next((error for error in refused if isinstance(error, NotBlendable)), refused[0])
    raise type(why)(f"none of the {len(refused)} best points will do; at the best, {why}") from None
