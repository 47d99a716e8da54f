"""Build a transition at a known point: the blend and the frames before and after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from marey.blend.advance import integrate_u, knot_slopes
from marey.blend.blend import Track, compose, inputs_record
from marey.blend.join import join_motions
from marey.compare import DistanceGrid, distance_grid, frame_distances, frame_weights, point_clouds
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import NoResult, NotBlendable
from marey.maths.ease import ease, ease_in
from marey.register.curves import TimewarpCurve, alignment_curve, pair_timewarp
from marey.register.dtw import TimeAlignment, dtw_around
from marey.register.matches import match_contacts
from marey.register.registration import RegistrationCurve
from marey.register.support import measure_opposite_feet

__all__ = ["Handover", "NoRoom", "TransitionPoint", "handed_over"]

# A frame this near to a boundary, as a share of a frame, is on it.
_ON_FRAME = 1e-6
# Meters, root mean square over the transition, from which on motions are too far apart; as for `marey.register`.
_MAX_DISTANCE = 0.22
# Meters in the middle, a single pair of frames, where both motions count alike.
_MAX_MIDDLE_DISTANCE = 0.3
# Share of the transition for which the motions may stand on opposite feet.
_MAX_OPPOSITE = 0.1


class TransitionPoint(NamedTuple):
    """Similar moments of two motions: seconds into the first and into the second, and their distance in meters."""

    at_a: float
    at_b: float
    distance: float


@dataclass(frozen=True, slots=True)
class Handover:
    """Settings of a transition; see `marey.transition`."""

    length: float
    boundaries: str
    markers: str
    window: float
    slope_limit: int
    search_window: float = 0.5
    force: bool = False


class NoRoom(NoResult):
    """The registered motions end before the transition does."""


@dataclass(frozen=True, slots=True, eq=False)
class _AlignedPair:
    """The parts of both motions about a point, from frames `firsts` on, and the way through them."""

    motions: tuple[Motion, Motion]
    firsts: tuple[int, int]
    centre: tuple[int, int]
    grid: DistanceGrid
    path: TimeAlignment
    timewarp: TimewarpCurve


def handed_over(a: Motion, b: Motion, point: TransitionPoint, settings: Handover) -> tuple[Motion, dict[str, Any]]:
    """a, the transition and b as one motion, and a record of it.

    Raises
    ------
    NoRoom : where the transition does not fit.
    NotBlendable : where the motions are too far apart, stand on opposite feet, or turn on each other too fast.
    """
    both = _align_pair(a, b, point, settings)
    middle = [moment - first / a.fps for moment, first in zip(point[:2], both.firsts, strict=True)]
    u_middle = float(np.mean([float(both.timewarp.inverse(j, t)) for j, t in enumerate(middle)]))
    track, chosen = _make_track(both, u_middle, settings)
    path_distance, notes = _check_distance(both, track, settings)
    reg = _make_registration(both, track, path_distance)
    made, onwards = compose(reg, track, a.fps, chosen=chosen)
    ends = reg.timewarp(track.u[[0, -1]])
    start, stop = (float(ends[k, k]) + both.firsts[k] / a.fps for k in range(2))
    before, after = _take_rest(a, b, start, stop, track, chosen)
    if after is not None:
        after = after.moved(onwards[1])
    distance = point.distance if np.isfinite(point.distance) else _measure_distance(a, b, point, settings)
    n_before = len(before) if before is not None else 0
    record: dict[str, Any] = {
        "at": [point.at_a, point.at_b],
        "length": settings.length,
        "boundaries": settings.boundaries,
        "distance": distance,
        "search_window": settings.search_window,
        "path_distance": path_distance,
        "window": settings.window,
        "from": start,
        "to": stop,
        "cells": _pair_frames(reg, track),
        "frames": [n_before, n_before + len(made)],
        "inputs": inputs_record(replace(reg, crops=np.array([[0, len(a)], [0, len(b)]]))),
        "notes": list(notes),
    }
    return join_motions([part for part in (before, made, after) if part is not None]), record


def _pair_frames(reg: RegistrationCurve, track: Track) -> list[list[int]]:
    """The frames of both motions that the transition pairs, one after another, each pair once."""
    frames = np.rint(reg.timewarp(track.u) * reg.fps).astype(np.int64) + reg.crops[:, 0]
    listed: list[list[int]] = np.unique(frames, axis=0).tolist()
    return listed


def _align_pair(a: Motion, b: Motion, point: TransitionPoint, settings: Handover) -> _AlignedPair:
    # At the slope limit one motion covers so much more than the half that the other covers.
    reach = int(np.ceil((0.5 * settings.length * settings.slope_limit + settings.window) * a.fps)) + 2
    parts, firsts, centre = [], [], []
    for motion, moment in zip((a, b), point[:2], strict=True):
        frame = min(round(moment * motion.fps), len(motion) - 1)
        first = max(frame - reach, 0)
        parts.append(motion[first : frame + reach + 1])
        firsts.append(first)
        centre.append(frame - first)
    grid = distance_grid(parts[0], parts[1], markers=settings.markers, window=settings.window)
    path = dtw_around(grid.values, (centre[0], centre[1]), slope_limit=settings.slope_limit)
    return _AlignedPair(
        (parts[0], parts[1]), (firsts[0], firsts[1]), (centre[0], centre[1]), grid, path, pair_timewarp(grid, path)
    )


def _check_distance(both: _AlignedPair, track: Track, settings: Handover) -> tuple[float, tuple[str, ...]]:
    """Meters between the motions over the transition, and what is wrong with it but was taken by force."""
    fps = both.grid.a.fps
    # Rows and columns together, as a path may go on in one of them alone.
    ends = (both.timewarp(track.u[[0, -1]]) * fps).sum(axis=1)
    passed = both.path.cells.sum(axis=1)
    taken = (passed >= ends[0] - 1.0) & (passed <= ends[1] + 1.0)
    distance = float(np.sqrt(both.path.distances[taken].mean()))
    middle = float(np.sqrt(both.grid.values[both.centre]))
    seconds = both.timewarp(track.u)
    share = measure_opposite_feet(both.motions[0], both.motions[1], seconds[:, 0], seconds[:, 1])
    reasons = []
    if middle > _MAX_MIDDLE_DISTANCE:
        reasons.append(
            f"are {middle:.3f} m apart in the middle of the transition, more than {_MAX_MIDDLE_DISTANCE:g} m"
        )
    if distance > _MAX_DISTANCE:
        reasons.append(
            f"are {distance:.3f} m apart over the transition (root mean square), more than {_MAX_DISTANCE:g} m"
        )
    if share > _MAX_OPPOSITE:
        reasons.append(
            f"stand on opposite feet for {100 * share:.0f} % of the transition, more than {100 * _MAX_OPPOSITE:g} %"
        )
    if reasons and not settings.force:
        raise NotBlendable(
            f"{_describe_place(both)} {reasons[0]}; "
            "take another point or length, or use force=True or --force all the same"
        )
    return distance, tuple(f"taken by force, although {_describe_place(both)} {reason}" for reason in reasons)


def _describe_place(both: _AlignedPair) -> str:
    """Names of the motions and the moments of each, for messages."""
    names = " and ".join(repr(motion.name) for motion in both.motions)
    fps = both.grid.a.fps
    return f"{names} at " + " and ".join(
        f"{(k + f) / fps:.2f} s" for k, f in zip(both.centre, both.firsts, strict=True)
    )


def _make_registration(both: _AlignedPair, track: Track, distance: float) -> RegistrationCurve:
    """What `compose` reads, as good as it need be where the track leads."""
    used = float(track.u[0]), float(track.u[-1])
    try:
        alignment = alignment_curve([both.grid.a, both.grid.b], both.timewarp, 0, both.grid.frame_weights, used=used)
    except NotBlendable as error:
        cut = " and ".join(f"{first / both.grid.a.fps:.2f} s" for first in both.firsts)
        raise NotBlendable(f"{_describe_place(both)} cannot be joined: in their parts from {cut} on, {error}") from None
    matches, notes = match_contacts(both.motions, both.timewarp)
    return RegistrationCurve(
        motions=both.motions,
        timewarp=both.timewarp,
        alignment=alignment,
        matches=matches,
        reference=0,
        distance=distance,
        distances=np.array([0.0, distance]),
        cyclic=False,
        loops=None,
        notes=notes,
        crops=np.array([[f, f + len(part)] for f, part in zip(both.firsts, both.motions, strict=True)]),
    )


def _make_track(both: _AlignedPair, u_middle: float, settings: Handover) -> tuple[Track, slice]:
    """The way through the transition, both boundaries included, and which of its frames are to be made."""
    fps = both.motions[0].fps
    if settings.boundaries == "integer":
        n_steps = max(2, round(settings.length * fps))
        length = n_steps / fps
        times: Floats = np.asarray((np.arange(n_steps + 1) - 0.5 * n_steps) / fps)
        u = _snap_to_frames(both, _find_positions(both, u_middle, times, length))
        return Track(times, u, _ease_weights(times, length)), slice(None)
    half = 0.5 * settings.length
    about: Floats = np.asarray(np.linspace(-half, half, 2 * max(4, round(half * fps)) + 1), dtype=np.float64)
    ends = _find_positions(both, u_middle, about, settings.length)
    # On a's clock the transition begins here, and frames come where a's would have come.
    start = float(both.timewarp(ends[0])[0]) * fps
    first = int(np.floor(start + _ON_FRAME)) + 1
    inner = (np.arange(first, np.ceil(start + settings.length * fps - _ON_FRAME)) - start) / fps - half
    times = np.concatenate([[-half], inner, [half]])
    u = _find_positions(both, u_middle, times, settings.length)
    return Track(times, u, _ease_weights(times, settings.length)), slice(1, -1)


def _ease_weights(times: Floats, length: float) -> Floats:
    share = ease_in(times / length + 0.5)
    return np.stack([1.0 - share, share], axis=1)


def _find_positions(both: _AlignedPair, u_middle: float, times: Floats, length: float) -> Floats:
    """u at increasing times about the middle, time 0, which is followed forward and backward."""
    slopes = knot_slopes(both.timewarp.points)

    def weights_at(at: Floats) -> Floats:
        return _ease_weights(at, length)

    earlier, later = times[times < 0.0][::-1], times[times >= 0.0]
    back = integrate_u(slopes, weights_at, np.concatenate([[0.0], earlier]), start=u_middle, backward=True)[1:]
    ahead = integrate_u(slopes, weights_at, np.concatenate([[0.0], later]), start=u_middle)[1:]
    for got, wanted, where in ((back, earlier, "begins"), (ahead, later, "ends")):
        if len(got) < len(wanted):
            names = " and ".join(repr(motion.name) for motion in both.motions)
            raise NoRoom(
                f"a transition of {length:g} s does not fit here: {names} in step do not reach to where it {where}, "
                f"{abs(wanted[len(got)]):.2f} s from its middle; take a shorter one or another point"
            )
    return np.concatenate([back[::-1], ahead])


def _snap_to_frames(both: _AlignedPair, u: Floats) -> Floats:
    """u shifted smoothly, so that it begins on a frame of the first motion and ends on one of the second."""
    shifts = []
    for j, at in enumerate((u[0], u[-1])):
        motion = both.motions[j]
        frame = np.clip(np.rint(float(both.timewarp(at)[j]) * motion.fps), 0, len(motion) - 1)
        shifts.append(float(both.timewarp.inverse(j, frame / motion.fps)) - float(at))
    share = np.linspace(0.0, 1.0, len(u))
    # Level at both ends, so that the speeds there stay those of the motions themselves.
    moved = u + shifts[0] * ease(share) + shifts[1] * ease_in(share)
    if not (np.diff(moved) > 0.0).all():
        raise NoRoom("the transition is too short to begin and end on whole frames; take a longer one")
    return np.asarray(np.clip(moved, 0.0, 1.0))


def _take_rest(
    a: Motion, b: Motion, start: float, stop: float, track: Track, chosen: slice
) -> tuple[Motion | None, Motion | None]:
    """What is left of both motions: a until `start` and b from `stop` on, seconds of theirs."""
    fps = a.fps
    if chosen == slice(None):  # on whole frames
        n_before, next_b = round(start * fps), round(stop * fps) + 1
        return (a[:n_before] if n_before else None), (b[next_b:] if next_b < len(b) else None)
    n_before = int(np.floor(start * fps + _ON_FRAME)) + 1
    # The first frame after the transition, on a's clock, comes this much after its end.
    late = 1.0 - (track.seconds[-1] - track.seconds[-2]) * fps
    return a[:n_before], _resume(b, stop * fps + max(late, 0.0))


def _resume(b: Motion, first: float) -> Motion | None:
    """b from frame `first` on, which may lie between two."""
    if abs(first - round(first)) < _ON_FRAME:
        return b[round(first) :] if round(first) < len(b) else None
    n_frames = int(np.floor(len(b) - 1 - first)) + 1
    if n_frames < 1:
        return None
    nearest = int(np.floor(first + 0.5))
    return replace(
        b.at((first + np.arange(n_frames)) / b.fps),
        contacts=None if b.contacts is None else b.contacts.sliced(nearest, nearest + n_frames),
        labels=b.labels.sliced(nearest, nearest + n_frames),
    )


def _measure_distance(a: Motion, b: Motion, point: TransitionPoint, settings: Handover) -> float:
    """Meters between the motions in the middle of the transition, as the search for the best point would have them."""
    clouds = [point_clouds(motion, settings.markers) for motion in (a, b)]
    at = [np.array([round(moment * a.fps)]) for moment in point[:2]]
    weights = frame_weights(settings.search_window, a.fps)
    return float(np.sqrt(frame_distances(clouds[0], at[0], clouds[1], at[1], weights)[1][0]))
