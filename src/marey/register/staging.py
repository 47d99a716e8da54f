"""Prepare a registration: crop the motions, choose the reference, and find each motion's path relative to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.compare import Clouds, distance_grid
from marey.core.arrays import Floats, Ints, check_index, set_readonly
from marey.core.clips import name_clip
from marey.core.motion import Motion
from marey.errors import InvalidValue, NotBlendable
from marey.maths import rigid2d
from marey.register.crop import find_crops
from marey.register.dtw import dtw_around
from marey.register.loops import count_half_cycles, find_loop_travel, shift_loop
from marey.register.pairs import PairPath, find_full_path, find_loop_path, find_loop_shift, find_medoid
from marey.register.prepare import check_length
from marey.register.sampling import crop_clouds
from marey.register.settings import PathSettings


@dataclass(frozen=True, slots=True, eq=False)
class StagedMotions:
    """Motions that are ready to be registered: cropped, and aligned in time with a reference.

    motions, clouds : the n cropped motions and their point clouds.
    crops : (n, 2) start and stop of the frames of each input that are used.
    reference : index of the reference motion.
    paths : for each motion, the path that aligns it in time with the reference; None for the reference itself.
    loops : (n, 3) travel of each loop, rigid2d; None if the motions are not loops.
    notes : sentences on how the motions were cropped.
    """

    motions: tuple[Motion, ...]
    clouds: tuple[Clouds, ...]
    crops: Ints
    reference: int
    paths: tuple[PairPath | None, ...]
    loops: Floats | None
    notes: tuple[str, ...]


def stage_clips(
    motions: Sequence[Motion], clouds: Sequence[Clouds], reference: int | None, auto: bool, options: PathSettings
) -> StagedMotions:
    """Stage motions from first frame to last, or with `auto` cropped to their common part."""
    crops = np.array([(0, len(motion)) for motion in motions])
    notes: tuple[str, ...] = ()
    if auto:
        try:
            crops, note = find_crops(
                motions, clouds, slope_limit=options.slope_limit, max_distance=options.max_distance, pivot=reference
            )
        except NotBlendable as error:
            if not options.force:
                raise
            note = f"not cropped, by force, although {error}"
        notes = (note,)
    taken, points = _cut_motions(motions, clouds, crops)
    ref = reference
    if ref is None:
        ref = 0 if len(taken) == 2 else find_medoid(points, slope_limit=options.slope_limit)
    paths = [
        None
        if j == ref
        else find_full_path(points[ref], cloud, window=options.window, slope_limit=options.slope_limit, relative=auto)
        for j, cloud in enumerate(points)
    ]
    return StagedMotions(taken, points, crops, ref, tuple(paths), None, notes)


def stage_around(
    motions: Sequence[Motion],
    clouds: Sequence[Clouds],
    start: tuple[int, int],
    reference: int | None,
    options: PathSettings,
) -> StagedMotions:
    """Stage two motions, cropped to the path that extends forward and backward from a pair of corresponding frames."""
    center = _check_start(start, motions)
    values = distance_grid(clouds[0], clouds[1], window=options.window).values
    found = dtw_around(values, center, slope_limit=options.slope_limit)
    crops = np.stack([found.cells[0], found.cells[-1] + 1], axis=1)
    taken, points = _cut_motions(motions, clouds, crops)
    ref = 0 if reference is None else reference
    seconds = (found.cells - found.cells[0]) / motions[0].fps
    path = PairPath(set_readonly(seconds[:, [ref, 1 - ref]]), found.distance)
    note = f"cropped to the range of the path through frames {center[0]} and {center[1]}"
    return StagedMotions(taken, points, crops, ref, (None, path) if ref == 0 else (path, None), None, (note,))


def stage_loops(
    motions: Sequence[Motion], clouds: Sequence[Clouds], reference: int | None, options: PathSettings
) -> StagedMotions:
    """Stage loops, each shifted to begin where the reference does."""
    loops = np.stack(
        [find_loop_travel(motion, cloud, k) for k, (motion, cloud) in enumerate(zip(motions, clouds, strict=True))]
    )
    _check_half_cycles(motions, loops, options.force)
    ref = find_medoid(clouds, slope_limit=options.slope_limit, loops=loops) if reference is None else reference
    result, points, paths, crops, notes = [], [], [], [], []
    for j, (motion, cloud) in enumerate(zip(motions, clouds, strict=True)):
        path, shift = None, 0
        if j != ref:
            both = loops[[ref, j]]
            shift = find_loop_shift(clouds[ref], cloud, both, window=options.window, slope_limit=options.slope_limit)
            original = cloud
            cloud = _shift_clouds(original, shift, loops[j])
            path = find_loop_path(clouds[ref], cloud, both, window=options.window, slope_limit=options.slope_limit)
            # The remaining phase difference is less than half a frame; the timewarp accounts for it.
            further = round(float(path.seconds[0, 1]) * cloud.fps)
            if further:
                shift = (shift + further) % len(motion)
                cloud = _shift_clouds(original, shift, loops[j])
                path = replace(path, seconds=set_readonly(path.seconds - [0.0, further / cloud.fps]))
            motion = shift_loop(motion, shift, loops[j])
            if shift:
                where = f"where {name_clip(motions[ref], ref)} begins"
                notes.append(f"{name_clip(motion, j)} was shifted to begin at its frame {shift}, {where}")
        result.append(motion)
        points.append(cloud)
        paths.append(path)
        crops.append((shift, shift + len(motion)))
    return StagedMotions(tuple(result), tuple(points), np.array(crops), ref, tuple(paths), loops, tuple(notes))


def crop_to_registration(motions: Sequence[Motion], crops: Ints, loops: Floats | None) -> tuple[Motion, ...]:
    """Crop prepared motions to the frames that were registered."""
    if loops is None:
        return tuple(motion[int(a) : int(b)] for motion, (a, b) in zip(motions, crops, strict=True))
    return tuple(shift_loop(motion, int(a), loop) for motion, (a, _), loop in zip(motions, crops, loops, strict=True))


def _cut_motions(
    motions: Sequence[Motion], clouds: Sequence[Clouds], crops: Ints
) -> tuple[tuple[Motion, ...], tuple[Clouds, ...]]:
    result = crop_to_registration(motions, crops, None)
    for k, motion in enumerate(result):
        check_length(motion, k)
    return result, tuple(crop_clouds(cloud, int(a), int(b)) for cloud, (a, b) in zip(clouds, crops, strict=True))


def _shift_clouds(clouds: Clouds, first: int, travel: Floats) -> Clouds:
    points = np.concatenate([clouds.points[first:], rigid2d.apply(travel, clouds.points[:first])])
    return replace(clouds, points=set_readonly(points), contacts=None)


def _check_start(start: tuple[int, int], motions: Sequence[Motion]) -> tuple[int, int]:
    try:
        a, b = start
    except (TypeError, ValueError):
        raise InvalidValue(f"`start=` must be two frames, one in each motion, not {start!r}") from None
    names = (f"start, a frame of {name_clip(motion, k)}," for k, motion in enumerate(motions))
    first, second = (check_index(*each) for each in zip((a, b), names, map(len, motions), strict=True))
    return first, second


def _check_half_cycles(motions: Sequence[Motion], loops: Floats, force: bool) -> None:
    counts = [count_half_cycles(motion, loop) for motion, loop in zip(motions, loops, strict=True)]
    if len(set(counts)) > 1 and min(counts) > 0 and not force:
        listed = ", ".join(
            f"{name_clip(motion, k)} {n}" for k, (motion, n) in enumerate(zip(motions, counts, strict=True))
        )
        raise NotBlendable(
            f"the loops must have the same number of gait half cycles, not {listed}; make loops of one "
            "stride each with `marey.edit.cycle`"
        )
