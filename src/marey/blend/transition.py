"""Transitions: find the best point (Heck 3.3) and blend from one motion into another (Kovar 5.4.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from marey.blend.blend import enforce_contacts
from marey.blend.settings import Span, TransitionPointSettings, TransitionSettings
from marey.blend.transition_build import NoRoom, TransitionPoint, build_transition
from marey.compare import distance_grid, local_minima
from marey.core.arrays import set_readonly
from marey.core.feet import feet_from_flag
from marey.core.motion import Motion
from marey.core.naming import transition_name
from marey.core.settings import operation
from marey.deprecation import renamed_parameters, warn_renamed
from marey.edit.settings import OneSkeleton
from marey.errors import InvalidValue, NoResult, NotBlendable, NoTimewarp
from marey.register.prepare import prepare_motions

__all__ = ["TransitionPoint", "TransitionSearch", "best_transition", "transition"]

# Maximum number of points to try, best first, if earlier ones leave no room for the transition or are rejected.
_MAX_TRIED = 50
# Boundaries within this fraction of a frame from a frame are snapped to it.
_ON_FRAME = 1e-6


def TransitionSearch(
    region_a: Span | None = None, region_b: Span | None = None, contacts: Any = None, window: float = 0.5
) -> TransitionSettings:
    """Make settings of the search. Deprecated: pass its options to `transition`."""
    warn_renamed("TransitionSearch", "TransitionSettings")
    return TransitionSettings(region_a=region_a, region_b=region_b, contacts=contacts, search_window=window)


@renamed_parameters(window="search_window")
@operation(TransitionPointSettings)
def best_transition(a: Motion, b: Motion, settings: TransitionPointSettings) -> TransitionPoint:
    """Find the most similar pair of times in two motions: the smallest value of their distance grid (Heck 3.3).

    `transition` uses the next best point if this one is rejected or leaves no room.

    Examples
    --------
    >>> from marey.blend import best_transition
    >>> point = best_transition(walk, run)
    >>> 0.0 < point.at_a < walk.duration, point.distance < 0.3  # seconds, meters
    (True, True)
    """
    (first, second), _ = _prepare_pair(a, b)
    return _find_candidates(first, second, settings)[0]


@renamed_parameters(enforce=("feet", feet_from_flag), search="settings")
@operation(TransitionSettings, positional=("at", "length"))
def transition(a: Motion, b: Motion, settings: TransitionSettings) -> Motion:
    """Make a transition: play `a`, blend into `b`, then play `b`, placed where `a` ends up and on a's floor.

    The timewarp is computed forward and backward from the middle of the transition. Weights ease from one motion to the
    other (Kovar 3.5), so that the transition begins with a's own pose and speed and ends with b's.

    Raises
    ------
    NoResult : if the transition does not fit.
    NotBlendable : if the motions are too far apart, in the middle or over the transition, or stand on opposite feet; or
        if one would have to rotate faster than bodies do, which `force` does not override.

    Examples
    --------
    >>> longer = marey.transition(walk, run)
    >>> longer.labels.names
    ('run', 'walk')
    """
    (first, second), notes = _prepare_pair(a, b, settings.retarget)
    left = None if settings.at is None else _check_moments(settings.at, first, second)[0] / max(first.duration, 1e-9)
    name = settings.name or transition_name(a.name, b.name, left)
    if settings.method != "registered":
        from marey.blend.baselines import linear_transition, timewarp_transition

        at = settings.at or _find_candidates(first, second, settings)[0][:2]
        name = settings.name or f"{name} ({settings.method})"
        if settings.method == "linear":
            return linear_transition(first, second, at, settings.length, window=settings.search_window, name=name)
        return timewarp_transition(first, second, at, settings, name)
    if settings.length * first.fps < 2.0:
        raise InvalidValue(
            f"length must cover at least 2 frames, not {settings.length:g} s at {first.fps:g} fps", parameter="length"
        )
    if settings.at is not None:
        point = TransitionPoint(*settings.at, np.nan)
        result, record = build_transition(first, second, point, settings)
    else:
        result, record = _build_best_transition(first, second, settings)
    source = replace(
        first.source, path="", fps=None, channel_values=None, evidence=(), floor=result.source.floor, provenance=()
    ).with_step(op="transition", **{**record, "notes": [*notes, *record["notes"]]})
    result = replace(result, name=name, source=source)
    return enforce_contacts(result) if settings.feet else result


def _prepare_pair(a: Motion, b: Motion, retarget: OneSkeleton = False) -> tuple[tuple[Motion, Motion], tuple[str, ...]]:
    """Return both motions at one rate, with contacts and with their floors at the height of the first, and notes on the
    changes."""
    (first, second), notes = prepare_motions([a, b], retarget)
    floors = first.source.floor, second.source.floor
    if floors[0] is not None and floors[1] is not None and floors[0] != floors[1]:
        root = second.root_positions + [0.0, floors[0] - floors[1], 0.0]
        source = replace(second.source, floor=floors[0])
        second = replace(second, root_positions=set_readonly(root), source=source)
    return (first, second), notes


def _check_moments(at: Any, a: Motion, b: Motion) -> Span:
    try:
        moments = tuple(float(moment) for moment in at)
    except (TypeError, ValueError):
        moments = ()
    if len(moments) != 2:
        raise InvalidValue(f"at must be two times in seconds, one in each motion, not {at!r}", parameter="at")
    for moment, motion in zip(moments, (a, b), strict=True):
        if not 0.0 <= moment <= motion.duration:
            raise InvalidValue(
                f"`at=` must be a time within both motions: {moment:g} s is outside {motion.name!r}, which lasts "
                f"{motion.duration:.2f} s",
                parameter="at",
            )
    return moments[0], moments[1]


def _find_candidates(a: Motion, b: Motion, settings: TransitionPointSettings) -> list[TransitionPoint]:
    """Find local minima of the distance grid in the allowed regions, best first. The global minimum is included."""
    regions = ((a, settings.region_a), (b, settings.region_b))
    runs = [_find_allowed_frames(motion, region, settings.length) for motion, region in regions]
    grid = distance_grid(a, b, markers=settings.markers, window=settings.search_window, contacts=settings.contacts)
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
    """Return the range of frames, `stop` exclusive, that may be the middle of a transition of `length` seconds.

    region : start and end in seconds of the part that may hold the middle; None for the entire motion.
    """
    room = 0.5 * length
    low, high = room, motion.duration - room
    if region is not None:
        try:
            begin, end = (float(edge) for edge in region)
        except (TypeError, ValueError):
            raise InvalidValue(f"region_a and region_b must be (start, end) in seconds, not {region!r}") from None
        if not 0.0 <= begin <= end <= motion.duration + 1e-9:
            raise InvalidValue(
                f"the region of {motion.name!r} must have 0 <= start <= end <= {motion.duration:.2f} s, not "
                f"{begin:g} to {end:g}"
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


def _build_best_transition(a: Motion, b: Motion, settings: TransitionSettings) -> tuple[Motion, dict[str, Any]]:
    """Make the transition at the best point that has room for it and is not rejected."""
    points = _find_candidates(a, b, settings)
    refused: list[NoResult] = []
    for point in points[:_MAX_TRIED]:
        try:
            return build_transition(a, b, point, settings)
        except (NoRoom, NoTimewarp, NotBlendable) as error:
            refused.append(error)
    # Report why the motions were rejected where there was room, rather than that there was no room elsewhere.
    why = next((error for error in refused if isinstance(error, NotBlendable)), refused[0])
    message = f"none of the {len(refused)} best points can be used; at the best one, {why.message}"
    raise type(why)(message, parameter=why.parameter, remedy=why.remedy) from None
