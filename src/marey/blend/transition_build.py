"""Build a transition at a known point: the blend and the frames before and after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from marey.blend.advance import compute_knot_slopes, integrate_u
from marey.blend.blend import BlendTrack, compose, make_inputs_record
from marey.blend.settings import TransitionSettings
from marey.compare import DistanceGrid, distance_grid, frame_distances, frame_weights, point_clouds
from marey.core.annotations import join_contacts, shift_labels
from marey.core.arrays import Floats, set_readonly
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.errors import NoResult, NotBlendable
from marey.maths import quat
from marey.maths.ease import ease, ease_in
from marey.register.curves import TimewarpCurve, alignment_curve, pair_timewarp
from marey.register.dtw import TimeAlignment, dtw_around
from marey.register.matches import match_contacts
from marey.register.registration import RegistrationCurve
from marey.register.support import measure_opposite_feet

__all__ = ["NoRoom", "TransitionPoint", "build_transition", "join_motions"]

# Boundaries within this fraction of a frame from a frame are snapped to it.
_ON_FRAME = 1e-6


class TransitionPoint(NamedTuple):
    """A pair of similar times in two motions, in seconds, and the distance of the motions there in meters."""

    at_a: float
    at_b: float
    distance: float


class NoRoom(NoResult):
    """Raised if the registered motions end before the transition does."""


@dataclass(frozen=True, slots=True, eq=False)
class _AlignedPair:
    """Parts of both motions around the point of a transition, and their alignment in time.

    motions : the parts. firsts : the frame of each motion at which its part starts. center : the point, in frames of
        the parts.
    grid, path, timewarp : distance grid of the parts, the path through it, and the timewarp fitted to the path.
    """

    motions: tuple[Motion, Motion]
    firsts: tuple[int, int]
    center: tuple[int, int]
    grid: DistanceGrid
    path: TimeAlignment
    timewarp: TimewarpCurve


def build_transition(
    a: Motion, b: Motion, point: TransitionPoint, settings: TransitionSettings
) -> tuple[Motion, dict[str, Any]]:
    """Join a, the transition and b into one motion; also return a record for provenance.

    Raises
    ------
    NoRoom : if the transition does not fit.
    NotBlendable : if the motions are too far apart, stand on opposite feet, or rotate too fast relative to each other.
    """
    both = _align_pair(a, b, point, settings)
    middle = [moment - first / a.fps for moment, first in zip(point[:2], both.firsts, strict=True)]
    u_middle = float(np.mean([float(both.timewarp.inverse(j, t)) for j, t in enumerate(middle)]))
    track, chosen = _make_track(both, u_middle, settings)
    path_distance, notes = _check_distance(both, track, settings)
    reg = _make_registration(both, track, path_distance)
    result, onwards = compose(reg, track, a.fps, chosen=chosen)
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
        "frames": [n_before, n_before + len(result)],
        "inputs": make_inputs_record(replace(reg, crops=np.array([[0, len(a)], [0, len(b)]]))),
        "notes": list(notes),
    }
    return join_motions([part for part in (before, result, after) if part is not None]), record


def _pair_frames(reg: RegistrationCurve, track: BlendTrack) -> list[list[int]]:
    """List the pairs of frames that the transition aligns, in order, each pair once."""
    frames = np.rint(reg.timewarp(track.u) * reg.fps).astype(np.int64) + reg.crops[:, 0]
    listed: list[list[int]] = np.unique(frames, axis=0).tolist()
    return listed


def _align_pair(a: Motion, b: Motion, point: TransitionPoint, settings: TransitionSettings) -> _AlignedPair:
    # Frames needed on each side of the middle: at the slope limit, one motion advances this far during half of the
    # transition.
    reach = int(np.ceil((0.5 * settings.length * settings.slope_limit + settings.window) * a.fps)) + 2
    parts, firsts, center = [], [], []
    for motion, moment in zip((a, b), point[:2], strict=True):
        frame = min(round(moment * motion.fps), len(motion) - 1)
        first = max(frame - reach, 0)
        parts.append(motion[first : frame + reach + 1])
        firsts.append(first)
        center.append(frame - first)
    grid = distance_grid(parts[0], parts[1], markers=settings.markers, window=settings.window)
    path = dtw_around(grid.values, (center[0], center[1]), slope_limit=settings.slope_limit)
    return _AlignedPair(
        (parts[0], parts[1]), (firsts[0], firsts[1]), (center[0], center[1]), grid, path, pair_timewarp(grid, path)
    )


def _check_distance(
    both: _AlignedPair, track: BlendTrack, settings: TransitionSettings
) -> tuple[float, tuple[str, ...]]:
    """Return the distance of the motions over the transition in meters, and the problems that `force` overrides."""
    fps = both.grid.a.fps
    # Use rows and columns together, because a path may advance in only one of them.
    ends = (both.timewarp(track.u[[0, -1]]) * fps).sum(axis=1)
    passed = both.path.cells.sum(axis=1)
    taken = (passed >= ends[0] - 1.0) & (passed <= ends[1] + 1.0)
    distance = float(np.sqrt(both.path.distances[taken].mean()))
    middle = float(np.sqrt(both.grid.values[both.center]))
    seconds = both.timewarp(track.u)
    opposite = measure_opposite_feet(both.motions[0], both.motions[1], seconds[:, 0], seconds[:, 1])
    reasons = []
    if middle > settings.max_middle_distance:
        reasons.append(
            f"are {middle:.3f} m apart in the middle of the transition, more than {settings.max_middle_distance:g} m"
        )
    if distance > settings.max_distance:
        reasons.append(
            f"are {distance:.3f} m apart over the transition (root mean square), more than {settings.max_distance:g} m"
        )
    if opposite > settings.max_opposite:
        reasons.append(
            f"stand on opposite feet for {100 * opposite:.0f} % of the transition, more than "
            f"{100 * settings.max_opposite:g} %"
        )
    if reasons and not settings.force:
        raise NotBlendable(
            f"{_describe_place(both)} {reasons[0]}",
            parameter="force",
            remedy="choose another point or length, or use `force=True` to accept it",
        )
    return distance, tuple(f"accepted by force, although {_describe_place(both)} {reason}" for reason in reasons)


def _describe_place(both: _AlignedPair) -> str:
    """Return the names of both motions and the time in each, for messages."""
    names = " and ".join(repr(motion.name) for motion in both.motions)
    fps = both.grid.a.fps
    return f"{names} at " + " and ".join(
        f"{(k + f) / fps:.2f} s" for k, f in zip(both.center, both.firsts, strict=True)
    )


def _make_registration(both: _AlignedPair, track: BlendTrack, distance: float) -> RegistrationCurve:
    """Build the registration that `compose` needs, accurate only along the track."""
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


def _make_track(both: _AlignedPair, u_middle: float, settings: TransitionSettings) -> tuple[BlendTrack, slice]:
    """Build the track through the transition, including both boundaries, and the slice of frames to generate."""
    fps = both.motions[0].fps
    if settings.boundaries == "integer":
        n_steps = max(2, round(settings.length * fps))
        length = n_steps / fps
        times: Floats = np.asarray((np.arange(n_steps + 1) - 0.5 * n_steps) / fps)
        u = _snap_to_frames(both, _find_positions(both, u_middle, times, length))
        return BlendTrack(times, u, _ease_weights(times, length)), slice(None)
    half = 0.5 * settings.length
    about: Floats = np.asarray(np.linspace(-half, half, 2 * max(4, round(half * fps)) + 1), dtype=np.float64)
    ends = _find_positions(both, u_middle, about, settings.length)
    # The transition starts here in a's time, and its frames continue a's frame times.
    start = float(both.timewarp(ends[0])[0]) * fps
    first = int(np.floor(start + _ON_FRAME)) + 1
    inner = (np.arange(first, np.ceil(start + settings.length * fps - _ON_FRAME)) - start) / fps - half
    times = np.concatenate([[-half], inner, [half]])
    u = _find_positions(both, u_middle, times, settings.length)
    return BlendTrack(times, u, _ease_weights(times, settings.length)), slice(1, -1)


def _ease_weights(times: Floats, length: float) -> Floats:
    weight = ease_in(times / length + 0.5)
    return np.stack([1.0 - weight, weight], axis=1)


def _find_positions(both: _AlignedPair, u_middle: float, times: Floats, length: float) -> Floats:
    """Compute u at increasing `times` (F,) in seconds, where 0 is the middle of the transition; `length` is its
    duration."""
    slopes = compute_knot_slopes(both.timewarp.points)

    def weights_at(at: Floats) -> Floats:
        return _ease_weights(at, length)

    earlier, later = times[times < 0.0][::-1], times[times >= 0.0]
    back = integrate_u(slopes, weights_at, np.concatenate([[0.0], earlier]), start=u_middle, backward=True)[1:]
    ahead = integrate_u(slopes, weights_at, np.concatenate([[0.0], later]), start=u_middle)[1:]
    rooms = [float(abs(wanted[len(got) - 1])) if len(got) else 0.0 for got, wanted in ((back, earlier), (ahead, later))]
    for got, wanted, where, room in zip((back, ahead), (earlier, later), ("before", "after"), rooms, strict=True):
        if len(got) < len(wanted):
            longest = math.floor(20.0 * min(rooms)) / 10.0
            raise NoRoom(
                f"a transition of {length:g} s does not fit here: {' and '.join(repr(m.name) for m in both.motions)} "
                f"have only {room:.2f} s in common {where} its middle, not {0.5 * length:g} s",
                parameter="length",
                remedy=(f"use `length={longest:g}` or less, or" if longest > 0.0 else "use") + " another point",
            )
    return np.concatenate([back[::-1], ahead])


def _snap_to_frames(both: _AlignedPair, u: Floats) -> Floats:
    """Shift u smoothly, so that it begins on a frame of the first motion and ends on a frame of the second."""
    shifts = []
    for j, at in enumerate((u[0], u[-1])):
        motion = both.motions[j]
        frame = np.clip(np.rint(float(both.timewarp(at)[j]) * motion.fps), 0, len(motion) - 1)
        shifts.append(float(both.timewarp.inverse(j, frame / motion.fps)) - float(at))
    progress = np.linspace(0.0, 1.0, len(u))
    # The shift is constant at both ends, so that the motions keep their own speeds there.
    moved = u + shifts[0] * ease(progress) + shifts[1] * ease_in(progress)
    if not (np.diff(moved) > 0.0).all():
        raise NoRoom(
            "length is too short for a transition that begins and ends on whole frames; use a longer one, or "
            "`boundaries=resample`"
        )
    return np.asarray(np.clip(moved, 0.0, 1.0))


def _take_rest(
    a: Motion, b: Motion, start: float, stop: float, track: BlendTrack, chosen: slice
) -> tuple[Motion | None, Motion | None]:
    """Take the remaining parts of both motions: a until `start` and b from `stop`, in seconds of each."""
    fps = a.fps
    if chosen == slice(None):  # on exact frames
        n_before, next_b = round(start * fps), round(stop * fps) + 1
        return (a[:n_before] if n_before else None), (b[next_b:] if next_b < len(b) else None)
    n_before = int(np.floor(start * fps + _ON_FRAME)) + 1
    # Time from the end of the transition to the next frame, in a's frame times.
    late = 1.0 - (track.seconds[-1] - track.seconds[-2]) * fps
    return a[:n_before], _resume(b, stop * fps + max(late, 0.0))


def _resume(b: Motion, first: float) -> Motion | None:
    """Continue b from frame `first`, which may be fractional."""
    if abs(first - round(first)) < _ON_FRAME:
        return b[round(first) :] if round(first) < len(b) else None
    n_frames = int(np.floor(len(b) - 1 - first)) + 1
    if n_frames < 1:
        return None
    nearest = int(np.floor(first + 0.5))
    return replace(
        b.at((first + np.arange(n_frames)) / b.fps),
        contacts=None if b.contacts is None else b.contacts.crop(nearest, nearest + n_frames),
        labels=b.labels.crop(nearest, nearest + n_frames),
    )


def _measure_distance(a: Motion, b: Motion, point: TransitionPoint, settings: TransitionSettings) -> float:
    """Compute the distance of the motions in the middle of the transition, in meters, as the search does."""
    clouds = [point_clouds(motion, settings.markers) for motion in (a, b)]
    at = [np.array([round(moment * a.fps)]) for moment in point[:2]]
    weights = frame_weights(settings.search_window, a.fps)
    return float(np.sqrt(frame_distances(clouds[0], at[0], clouds[1], at[1], weights)[1][0]))


def join_motions(parts: Sequence[Motion]) -> Motion:
    """Join parts into one motion with the first part's skeleton and frame rate.

    A label that ends with one part and begins with the next becomes one label.
    """
    first = parts[0]
    skeleton = first.skeleton
    moving = any(
        part.bone_offsets is not None or not np.array_equal(part.skeleton.offsets, skeleton.offsets) for part in parts
    )
    return replace(
        first,
        root_positions=set_readonly(np.concatenate([part.root_positions for part in parts])),
        rotations=set_readonly(quat.unroll(np.concatenate([part.rotations for part in parts]))),
        bone_offsets=set_readonly(np.concatenate([part.frame_offsets for part in parts])) if moving else None,
        contacts=join_contacts([(part.contacts, len(part)) for part in parts]),
        labels=_join_labels(parts),
        source=replace(first.source, channel_values=None),
    )


def _join_labels(parts: Sequence[Motion]) -> Labels:
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).tolist()
    listed = [list(shift_labels(part.labels, start)) for part, start in zip(parts, starts, strict=False)]
    for (here, there), seam in zip(pairwise(listed), starts[1:], strict=False):
        for label in list(here):
            after = next((other for other in there if other.name == label.name and other.start == seam), None)
            if label.stop == seam and after is not None:
                here.remove(label)
                there.remove(after)
                there.append(Label(label.name, label.start, after.stop))
    return Labels(tuple(label for part in listed for label in part))
