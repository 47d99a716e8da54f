"""Splice at run time: with precomputed alignments and postures, splice any pair of a set frame by frame (Heck 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from marey.core.annotations import add_provenance
from marey.core.arrays import Floats, FrozenRecord, check_index, set_readonly
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, check_same_skeleton
from marey.core.protocols import Clips
from marey.core.settings import operation
from marey.errors import InvalidValue, NotBlendable, UnknownName, similar
from marey.io.stored import FileFormat, Part, Stored
from marey.layer.alignment_path import CELL_RATE, GaitGrid, find_best_path
from marey.layer.gait import Gait, find_gait
from marey.layer.halves import BodySplit, split_body
from marey.layer.player import Splicer
from marey.layer.posture import measure_posture, steady_hips
from marey.layer.settings import SlopeSettings, SplicerSettings
from marey.layer.splicing import UpperFrames, join_halves, splice
from marey.layer.time_alignment import TimeMap, interpolate_path, make_increasing
from marey.layer.timeline import Timeline, make_loop
from marey.maths import quat

Average = Literal["running", "stored"]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedClip:
    """Precomputed data of one clip.

    cycles : (F,) matching phase of the base clip for each frame, in cycles, strictly increasing.
    hips : (F, 4) smoothed rotations of the hip frame.
    posture : (2, 3) mean positions of the shoulders in hip coordinates, in meters.
    loop : (4,) start, stop, before and after of its `Timeline`, in frames; zeros if it cannot be looped.
    begin : first frame of its longest run of steps, fractional.
    """

    cycles: Floats
    hips: Floats
    posture: Floats
    loop: Floats
    begin: float

    @property
    def timeline(self) -> Timeline:
        start, stop, before, after = self.loop.tolist()
        return Timeline(len(self.cycles), start, stop, before, after)


@dataclass(frozen=True, slots=True, eq=False)
class SpliceSet(FrozenRecord, Stored):
    """A set of clips that can be spliced with each other at run time; created by `build`.

    For n lower and m upper clips, it stores n + m alignments, one of each clip with a base clip, instead of n m. The
    frame of the upper clip for a frame of the lower clip is looked up through the base clip, in constant time.

    Parameters
    ----------
    clips : motions with the same skeleton and frame rate. Stretched legs stay stretched; bones of the upper body have
        their rest length.
    base : index of the clip that all clips are aligned to.
    prepared : precomputed data of each clip.

    Examples
    --------
    >>> clips = marey.layer.SpliceSet.build([walk, marey.samples.sample("carry_box", seconds=4.0).motion])
    >>> clips.names
    ('walk', 'carry_box')
    >>> clips.splice("walk", "carry_box").rotations.shape
    (241, 27, 4)
    """

    FILE = FileFormat(
        "marey.splices", 1,
        {
            "base": Part("integer"),
            "cycles": Part("float", ("frames",)),
            "hips": Part("float", ("frames", 4)),
            "postures": Part("float", ("clips", 2, 3)),
            "loops": Part("float", ("clips", 4)),
            "begins": Part("float", ("clips",)),
        },
        has_clips=True,
    )  # fmt: skip

    clips: tuple[Motion, ...]
    base: int
    prepared: tuple[PreparedClip, ...]

    def __post_init__(self) -> None:
        if len(self.clips) != len(self.prepared) or not 0 <= self.base < len(self.clips):
            raise InvalidValue(
                "prepared must have one entry for each clip, and base must be the index of a clip, but there are "
                f"{len(self.clips)} clips and {len(self.prepared)} entries, and base is {self.base}"
            )
        for clip, data in zip(self.clips, self.prepared, strict=True):
            n = len(clip)
            if data.cycles.shape != (n,) or data.hips.shape != (n, 4) or not (np.diff(data.cycles) > 0.0).all():
                raise InvalidValue(
                    f"prepared data of {clip.name!r} must have {n} rows, one per frame, with strictly increasing cycles"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clips."""
        return tuple(clip.name for clip in self.clips)

    @classmethod
    @operation(SlopeSettings)
    def build(cls, clips: Sequence[Motion] | Clips, *, base: int | str = 0, settings: SlopeSettings) -> SpliceSet:
        """Build a set: align every clip with a base clip and measure its posture.

        Parameters
        ----------
        clips : motions with steps, with the same skeleton and frame rate.
        base : index or name of the clip that all are aligned to; it should be a plain walk with at least one full gait
            cycle.

        Examples
        --------
        >>> clips = marey.layer.SpliceSet.build([walk, run], base="walk")
        >>> clips.names, clips.base
        (('walk', 'run'), 0)
        """
        taken = tuple(bake_hips_into_root(clip) for clip in _list_clips(clips))
        _check_set(taken)
        number = _find_index([clip.name for clip in taken], base, "base")
        halves = split_body(taken[0].skeleton)
        gaits = [find_gait(clip, "the clip") for clip in taken]
        cycle = _find_base_cycle(taken[number], gaits[number], halves)
        prepared = []
        for clip, gait in zip(taken, gaits, strict=True):
            line = make_loop(clip, halves, gait)
            loop = np.zeros(4) if line is None else np.array([line.start, line.stop, line.before, line.after])
            prepared.append(
                PreparedClip(
                    _count_cycles(gait, gaits[number], cycle, settings.slope_limit),
                    set_readonly(steady_hips(find_hip_frames(halves, clip), clip.fps)),
                    measure_posture(clip, halves),
                    set_readonly(loop),
                    0.0 if gait.run is None else gait.run[0],
                )
            )
        return cls(taken, number, tuple(prepared))

    @operation(SplicerSettings)
    def splicer(self, lower: int | str, upper: int | str, settings: SplicerSettings) -> Splicer:
        """Create a player that returns the frames of a splice one at a time.

        Parameters
        ----------
        lower, upper : indices or names of the clips.
        """
        first, second = (_find_index(self.names, clip, what) for clip, what in ((lower, "lower"), (upper, "upper")))
        below, above = self.prepared[first], self.prepared[second]
        times, postures = settings.times, settings.postures
        moments = _plan_by_base(below, above) if times is None else _plan_by_times(times)
        given = (below.posture, above.posture) if postures is None else postures
        return Splicer(
            self.clips[first],
            self.clips[second],
            below.hips,
            moments,
            given,
            posture=settings.posture,
            running=settings.average == "running" and postures is None,
        )

    @operation(SplicerSettings)
    def splice(self, lower: int | str, upper: int | str, settings: SplicerSettings) -> Motion:
        """Splice two entire clips frame by frame."""
        player = self.splicer(lower, upper, settings=settings)
        spliced = np.empty(player.lower.rotations.shape)
        for f in range(len(player.lower)):
            spliced[f] = player.frame(f)[1]
        halves = split_body(player.lower.skeleton)
        rotations = set_readonly(quat.unroll(spliced))
        taken = UpperFrames(rotations, player.lower.skeleton.offsets[None])
        result = join_halves(
            halves, player.lower, player.upper, taken, rotations[:, halves.attachment], player.time_map()
        )
        return add_provenance(result, "splice", lower=player.lower.name, upper=player.upper.name, align="base")

    def difference(self, lower: int | str, upper: int | str) -> dict[str, float]:
        """Measure how far the run-time splice differs from `marey.layer.splice` of the same clips.

        Return the median and 95th percentile over all frames: ``position_median`` and ``position_p95`` in meters, of
        the joints of the upper body; ``angle_median`` and ``angle_p95`` in radians, of the first spine joint.
        """
        first, second = (self.clips[_find_index(self.names, clip, "clip")] for clip in (lower, upper))
        result, reference = self.splice(lower, upper), splice(first, second)
        halves = split_body(first.skeleton)
        apart = np.linalg.norm((result.world().positions - reference.world().positions)[:, halves.upper], axis=-1)
        turned = quat.angle_between(result.rotations[:, halves.attachment], reference.rotations[:, halves.attachment])
        return {
            "position_median": float(np.median(apart)),
            "position_p95": float(np.quantile(apart, 0.95)),
            "angle_median": float(np.median(turned)),
            "angle_p95": float(np.quantile(turned, 0.95)),
        }

    def _to_parts(self) -> dict[str, Any]:
        prepared = self.prepared
        return {
            "clips": self.clips,
            "base": self.base,
            "cycles": np.concatenate([each.cycles for each in prepared]),
            "hips": np.concatenate([each.hips for each in prepared]),
            "postures": np.stack([each.posture for each in prepared]),
            "loops": np.stack([each.loop for each in prepared]),
            "begins": np.array([each.begin for each in prepared]),
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> SpliceSet:
        cuts = np.cumsum([len(clip) for clip in parts["clips"]])[:-1]
        cycles, hips = (np.split(parts[name], cuts) for name in ("cycles", "hips"))
        each = zip(cycles, hips, parts["postures"], parts["loops"], parts["begins"].tolist(), strict=True)
        prepared = tuple(
            PreparedClip(set_readonly(cycle), set_readonly(hip), set_readonly(posture), set_readonly(loop), begin)
            for cycle, hip, posture, loop, begin in each
        )
        return cls(parts["clips"], parts["base"], prepared)


def _find_base_cycle(motion: Motion, gait: Gait, halves: BodySplit) -> Timeline:
    """Find the gait cycle of the base clip that loops best."""
    found = make_loop(motion, halves, gait, max_cycles=1)
    if found is None:
        raise NotBlendable(
            f"the base clip {motion.name!r} has no full gait cycle to align the other clips to; choose one with at "
            "least 3 consecutive steps"
        )
    return found


def _count_cycles(clip: Gait, base: Gait, cycle: Timeline, slope_limit: int) -> Floats:
    """Align a clip with the base clip's cycle; return the matching phase (F,) in cycles, strictly increasing.

    The first value lies between 0 and 1.
    """
    fps = clip.clouds.fps
    every = max(1, round(fps / CELL_RATE))
    rows = np.arange(0, len(clip.clouds), every, dtype=np.float64)
    # The base clip's cycle gets as many cells as this clip's.
    n_cells = max(4, round(clip.cycle / every))
    at = cycle.start + (cycle.stop - cycle.start) * np.arange(n_cells) / n_cells
    cells = GaitGrid(clip, base, rows, at, fps / every)
    held = clip.standing()[rows.astype(np.int64)]
    found = find_best_path(cells, lambda k: k % n_cells, n_cells, slope_limit, held)
    if found is None:
        raise NotBlendable(f"{clip.clouds.name!r} cannot be aligned to the gait cycle of the base clip; leave it out")
    passed = interpolate_path(found.columns, np.arange(len(clip.clouds)) / every)
    return set_readonly(make_increasing(passed, fps, 1.0 / every) / n_cells)


def find_hip_frames(halves: BodySplit, motion: Motion) -> Floats:
    """Return the rotations (F, 4) of a clip's hip frame."""
    from marey.layer.splicing import align_trunk_frames

    return align_trunk_frames(halves, motion, UpperFrames(motion.rotations, motion.shared_offsets)).hip


def _plan_by_base(below: PreparedClip, above: PreparedClip) -> tuple[Floats, Timeline, Floats, Floats]:
    """Plan a splice through the base clip, with times in cycles of the base clip.

    Return the time for each frame of the lower clip (F,), the upper clip's timeline, a table of the upper clip's
    frames at evenly spaced times, and (2,) the first time and the number of entries per cycle of this table.
    """
    cycles = above.cycles
    n_steps = max(2, 2 * len(cycles))
    even = np.linspace(float(cycles[0]), float(cycles[-1]), n_steps)
    table = np.interp(even, cycles, np.arange(len(cycles)))
    # Shift by full cycles, to make the upper clip begin within its first gait cycle.
    begin = float(np.interp(min(above.begin, len(cycles) - 1), np.arange(len(cycles)), cycles))
    first = float(cycles[0]) if begin - cycles[0] < 1.0 else begin
    moments = below.cycles + np.ceil(first - float(below.cycles[0]))
    line = above.timeline
    if line.loops:
        start, stop, before, after = (
            float(np.interp(frame, np.arange(len(cycles)), cycles))
            for frame in (line.start, line.stop, line.start - line.before, line.stop + line.after)
        )
        n_cycles = max(1.0, np.rint(stop - start))
        before, after = max(0.0, start - before), max(0.0, after - stop)
        line = Timeline(len(cycles), stop - n_cycles, stop, min(before, 0.49 * n_cycles), min(after, 0.49 * n_cycles))
    return moments, line, table, np.array([even[0], (n_steps - 1) / (even[-1] - even[0])])


def _plan_by_times(times: TimeMap) -> tuple[Floats, Timeline, Floats, Floats]:
    last = times.timeline.n_frames - 1.0
    return times.times, times.timeline, np.array([0.0, last]), np.array([0.0, 1.0 / max(last, 1.0)])


def _list_clips(clips: Sequence[Motion] | Clips) -> list[Motion]:
    if isinstance(clips, Clips):
        return [clips.motion(i) for i in range(len(clips.names))]
    return list(clips)


def _check_set(clips: Sequence[Motion]) -> None:
    if not clips or not all(isinstance(clip, Motion) for clip in clips):
        raise InvalidValue("clips must be a list of at least one Motion")
    for clip in clips:
        check_same_skeleton(clips[0].skeleton, clip.skeleton, "a splice set")
        if clip.fps != clips[0].fps:
            raise InvalidValue(
                f"clips must have the same frame rate, but {clip.name!r} is at {clip.fps:g} Hz and {clips[0].name!r} "
                f"at {clips[0].fps:g} Hz; resample one of them with `marey.edit.resample`"
            )
    names = [clip.name for clip in clips]
    if len(set(names)) != len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InvalidValue(f"clips must have different names, but {twice!r} occurs twice")


def _find_index(names: Sequence[str], clip: int | str, what: str) -> int:
    if isinstance(clip, str):
        if clip not in names:
            raise UnknownName(f"{what}: no clip {clip!r} in the splice set{similar(clip, names)}")
        return list(names).index(clip)
    number = check_index(clip, what)
    if not -len(names) <= number < len(names):
        raise InvalidValue(f"{what} must be a clip index from 0 to {len(names) - 1}, not {number}")
    return number % len(names)
