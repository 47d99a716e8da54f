"""Transitions: find the best point (Heck 3.3) and blend from one motion into another (Kovar 5.4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from marey.blend.blend import enforce_contacts
from marey.blend.handover import Handover, NoRoom, TransitionPoint, make_handover
from marey.compare import distance_grid, local_minima
from marey.core.arrays import check_number, set_readonly
from marey.core.feet import Feet, check_feet, feet_from_flag
from marey.core.motion import Motion
from marey.deprecation import bundled_parameters, renamed_parameters
from marey.errors import InvalidValue, NoResult, NotBlendable, NoTimewarp
from marey.register.dtw import SLOPE_LIMIT
from marey.register.prepare import prepare_motions

__all__ = ["TransitionPoint", "TransitionSearch", "best_transition", "transition"]

Span = tuple[float, float]
Moments = tuple[float, float]

# How many points are tried, best first, where the first ones leave no room for the transition or are refused.
_MAX_TRIED = 50
# Seconds of the window around frames that are compared in the search for the best point, as for motion graphs.
_SEARCH_WINDOW = 0.5
# A frame this near to a boundary, as a fraction of a frame, is on it.
_ON_FRAME = 1e-6


@dataclass(frozen=True, slots=True)
class TransitionSearch:
    """Settings of the search of `transition` for the best point.

    Parameters
    ----------
    region_a, region_b : (start, end) in seconds, the parts of the motions to search; default: the whole motions.
    contacts : how contacts are used, see `marey.distance_grid`; with ``"refuse"`` only frames with the same feet in
        contact are considered.
    window : seconds that are compared around each pair of frames. It is longer than for the timewarp, so that the
        motions stay similar for a while. Provenance records the ``distance`` in the middle with this window.
    """

    region_a: Span | None = None
    region_b: Span | None = None
    contacts: str | float | None = None
    window: float = _SEARCH_WINDOW


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
    region_a, region_b : (start, end) in seconds, the parts of the motions to search; default: the whole motions.
    markers : markers to compare; see `marey.compare.point_clouds`.
    window : seconds that are compared around each pair of frames.
    contacts : how contacts are used, see `marey.distance_grid`; with ``"refuse"`` only frames with the same feet in
        contact are considered.

    `transition` uses the next best point if this one is rejected or leaves no room.
    """
    (first, second), _ = _prepare_pair(a, b)
    return _find_candidates(first, second, length, markers, TransitionSearch(region_a, region_b, contacts, window))[0]


@bundled_parameters(
    "search",
    TransitionSearch,
    region_a="region_a",
    region_b="region_b",
    contacts="contacts",
    search_window="window",
)
@renamed_parameters(enforce=("feet", feet_from_flag))
def transition(
    a: Motion,
    b: Motion,
    at: Moments | None = None,
    length: float = 1.0,
    *,
    boundaries: Literal["resample", "integer"] = "resample",
    feet: Feet = "clean",
    search: TransitionSearch | None = None,
    markers: str = "body",
    window: float = 0.1,
    slope_limit: int = SLOPE_LIMIT,
    force: bool = False,
    name: str | None = None,
) -> Motion:
    """Make a transition: play `a`, blend into `b`, then play `b`, placed where `a` ends up and on a's floor.

    The timewarp is computed forward and backward from the middle of the transition. Weights ease from one motion to the
    other (Kovar 3.5), so that the transition begins with a's own pose and speed and ends with b's.

    Parameters
    ----------
    at : (seconds in a, seconds in b) of the middle of the transition; None searches for the best point.
    length : duration of the transition in seconds.
    boundaries : how to handle ends of the transition that fall between frames. ``"resample"`` leaves a's frames as they
        are and resamples b; ``"integer"`` shifts time within the transition by less than a frame, so that it begins on
        a frame of a, ends on a frame of b, and lasts a whole number of frames.
    feet : "clean" removes footskate from the whole result, so that contacts stay in place; None leaves the feet as they
        are.
    search : settings of the search for the best point; see `TransitionSearch`. With `at`, only its window is used.
    markers : markers to compare; see `marey.compare.point_clouds`.
    window : seconds that are compared around each pair of frames to align the motions in time, and for the
        ``path_distance`` recorded in provenance.
    slope_limit : largest ratio of the playback speeds of the two motions.
    force : accept a point that is rejected for distance or feet, with a note in provenance.
    name : name of the result.

    Raises
    ------
    NoResult : if there is no room for the transition.
    NotBlendable : if the motions are too far apart, in the middle or over the transition, or stand on opposite feet; or
        if one would have to rotate faster than bodies do, which `force` does not override.
    """
    check_feet(feet)
    if boundaries not in ("resample", "integer"):
        raise InvalidValue(f"boundaries must be 'resample' or 'integer', not {boundaries!r}")
    where = TransitionSearch() if search is None else search
    if at is not None:
        _reject_search_options(where)
    seconds = check_number(length, "length in seconds", above=True)
    (first, second), notes = _prepare_pair(a, b)
    if seconds * first.fps < 2.0:
        raise InvalidValue(f"length must cover at least 2 frames, not {seconds:g} s at {first.fps:g} fps")
    around = check_number(where.window, "window of the search in seconds")
    settings = Handover(seconds, boundaries, markers, window, slope_limit, around, bool(force))
    if at is not None:
        point = TransitionPoint(*_check_moments(at, first, second), np.nan)
        result, record = make_handover(first, second, point, settings)
    else:
        result, record = _find_best_handover(first, second, settings, where)
    source = replace(
        first.source, path="", channel_values=None, evidence=(), floor=result.source.floor, provenance=()
    ).with_step(op="transition", **{**record, "notes": [*notes, *record["notes"]]})
    result = replace(result, name=f"{a.name} to {b.name}" if name is None else str(name), source=source)
    return enforce_contacts(result) if feet else result


def _prepare_pair(a: Motion, b: Motion) -> tuple[tuple[Motion, Motion], tuple[str, ...]]:
    """Bring both motions to one rate, with contacts, on the floor of the first; also return notes on the changes."""
    (first, second), notes = prepare_motions([a, b])
    floors = first.source.floor, second.source.floor
    if floors[0] is not None and floors[1] is not None and floors[0] != floors[1]:
        root = second.root_positions + [0.0, floors[0] - floors[1], 0.0]
        source = replace(second.source, floor=floors[0])
        second = replace(second, root_positions=set_readonly(root), source=source)
    return (first, second), notes


def _reject_search_options(search: TransitionSearch) -> None:
    named = [name for name in ("region_a", "region_b", "contacts") if getattr(search, name) is not None]
    if named:
        raise InvalidValue(
            f"{named[0]} restricts the search for the best point, but at= gives the point; omit one of them"
        )


def _check_moments(at: Any, a: Motion, b: Motion) -> Moments:
    try:
        moments = tuple(float(moment) for moment in at)
    except (TypeError, ValueError):
        moments = ()
    if len(moments) != 2:
        raise InvalidValue(f"at must be two times in seconds, one in each motion, not {at!r}")
    for moment, motion in zip(moments, (a, b), strict=True):
        if not 0.0 <= moment <= motion.duration:
            raise InvalidValue(
                f"at must be within both motions: {moment:g} s is outside {motion.name!r}, which lasts "
                f"{motion.duration:.2f} s"
            )
    return moments[0], moments[1]


def _find_candidates(
    a: Motion,
    b: Motion,
    length: float,
    markers: str,
    search: TransitionSearch,
) -> list[TransitionPoint]:
    """Find local minima of the distance grid in the allowed regions, best first; includes the global minimum."""
    regions = search.region_a, search.region_b
    runs = [_find_allowed_frames(motion, region, length) for motion, region in zip((a, b), regions, strict=True)]
    grid = distance_grid(a, b, markers=markers, window=search.window, contacts=search.contacts)
    (rows, columns) = runs
    values = np.ascontiguousarray(grid.values[rows[0] : rows[1], columns[0] : columns[1]])
    cells = np.concatenate([[np.unravel_index(int(np.argmin(values)), values.shape)], local_minima(values)])
    found = values[cells[:, 0], cells[:, 1]]
    order = np.argsort(found, kind="stable")
    if not np.isfinite(found[order[0]]):
        raise NoResult(
            f"no frames of {a.name!r} and {b.name!r} have the same contacts in the parts where a "
            "transition is allowed; allow larger regions, or search without contacts"
        )
    fps = a.fps
    return [
        TransitionPoint((i + rows[0]) / fps, (j + columns[0]) / fps, float(np.sqrt(values[i, j])))
        for i, j in cells[order].tolist()
        if np.isfinite(values[i, j])
    ]


def _find_allowed_frames(motion: Motion, region: Span | None, length: float) -> tuple[int, int]:
    """Find the frames, `stop` exclusive, that may be the middle of a transition."""
    room = 0.5 * length
    low, high = room, motion.duration - room
    if region is not None:
        try:
            begin, end = (float(edge) for edge in region)
        except (TypeError, ValueError):
            raise InvalidValue(f"region_a and region_b must be (start, end) in seconds, not {region!r}") from None
        if not 0.0 <= begin <= end <= motion.duration + 1e-9:
            raise InvalidValue(
                f"the region of {motion.name!r} must be within 0 to {motion.duration:.2f} s, not {begin:g} to {end:g}"
            )
        low, high = max(low, begin), min(high, end)
    start, stop = int(np.ceil(low * motion.fps - _ON_FRAME)), int(np.floor(high * motion.fps + _ON_FRAME)) + 1
    if stop <= start:
        where = "" if region is None else f" between {region[0]:g} and {region[1]:g} s"
        raise NoResult(
            f"{motion.name!r} lasts {motion.duration:.2f} s, which leaves no room{where} for a transition "
            f"of {length:g} s; use a shorter length"
        )
    return start, stop


def _find_best_handover(
    a: Motion,
    b: Motion,
    settings: Handover,
    search: TransitionSearch,
) -> tuple[Motion, dict[str, Any]]:
    """Make the transition at the best point that has room for it and is not rejected."""
    points = _find_candidates(a, b, settings.length, settings.markers, search)
    refused: list[NoResult] = []
    for point in points[:_MAX_TRIED]:
        try:
            return make_handover(a, b, point, settings)
        except (NoRoom, NoTimewarp, NotBlendable) as error:
            refused.append(error)
    # A missing room at some point says less than that the motions are unlike where there is room.
    why = next((error for error in refused if isinstance(error, NotBlendable)), refused[0])
    raise type(why)(f"none of the {len(refused)} best points can be used; at the best one, {why}") from None
