"""The tables of a cleanup and the frames that move through them, for batch and stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean import pipeline_kernels
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanOutput, CleanState, SourceFrames
from marey.clean.limbs import Limbs
from marey.clean.settings import CleanSettings, PlantAt, Target
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue

_KINDS = {False: layout.POSITION, True: layout.POSE}
# Minimum duration over which a slope fades, in seconds and in frames; with fewer frames it would not be smooth.
_SLOPE_SECONDS, _SLOPE_FEWEST = 0.1, 8
# Seconds at the end of a plant over which the slope is measured: a single frame would be noisy, and a longer time would
# include an outdated slope.
_SEEN_SECONDS = 0.008
# Half of the time over which a foot that would be under the floor is lifted.
_LIFT_SECONDS = 0.05
# Half of the time over which the rotation of a knee, its swivel and the bend of toes are smoothed.
_CALM_SECONDS = 0.05
# Meters per second, about the speed of a slow step: toes that swing to their other side may be faster than in the
# source by this much.
_SWING_SPEED = 1.0
# Time in which a foot that stood lower than in the source rises back to it: it must clear the floor.
_RISE_SECONDS = 0.08
# Maximum lift of a foot above the floor, relative to the maximum pull.
_HIGHEST = 1.45
# Maximum frame rate: the work grows with its square, and no motion capture is faster.
_MAX_FPS = 2000


def _make_bell(half: int) -> Floats:
    """Return weights (half + 1,) by distance in frames: a Gaussian with standard deviation half / 2, tapered smoothly
    to 0 to avoid steps."""
    u = np.arange(half + 1) / (half + 1)
    return np.asarray(np.exp(-2.0 * u**2) * (1.0 - u**2) ** 2)


@lru_cache(maxsize=16)
def _make_raised_cosines(longest: int) -> Floats:
    """Return `CleanOptions.raised` for up to `longest` frames on either side."""
    halves = range(longest + 1)
    rows = [[1.0 + math.cos(math.pi * n / (half + 1)) if n <= half else 0.0 for n in halves] for half in halves]
    return set_readonly(np.array(rows))


def make_options(
    settings: CleanSettings,
    fps: float,
    *,
    floor: float,
    near: float,
    hover: float,
    planes: Sequence[tuple[float, float, float]],
) -> CleanOptions:
    """Convert the settings to the form that the kernels take.

    floor : height of the floor in meters.
    near : a foot stands on the floor if it is at most this high above it, in meters.
    hover : a planted foot that is higher than this above its plant is hovering, in meters.
    planes : other supports, as (height, slope along x, slope along z).
    """
    if fps > _MAX_FPS:
        raise InvalidValue(
            f"cleanup takes motions of at most {_MAX_FPS:,} frames per second, not {fps:,.6g}",
            remedy="check the frame rate, or lower it with `marey.edit.resample`",
        )
    root = round(settings.body_window * fps)
    fade = max(round(settings.fade_window * fps), 1)
    can_stretch = settings.max_stretch > 0
    lift = round(_LIFT_SECONDS * fps) if settings.smooth else 0
    calm = round(_CALM_SECONDS * fps) if settings.smooth and can_stretch else 0
    return CleanOptions(
        gap=round(settings.gap * fps),
        average=max(round(settings.plant_window * fps), 1),
        blend=max(round(settings.orientation_window * fps), 1),
        root=root,
        fade=fade,
        lift=lift,
        slope=max(round(_SLOPE_SECONDS * fps), _SLOPE_FEWEST),
        seen=max(round(_SEEN_SECONDS * fps), 1),
        calm=calm,
        swing=_SWING_SPEED / fps,
        rise=min(max(round(_RISE_SECONDS * fps), 4), fade + 1),
        release=max(fade, round(settings.gap * fps) + 1),
        is_smooth=settings.smooth,
        is_flat=settings.roll == "flat",
        can_stretch=can_stretch,
        floor=floor,
        near=near,
        hover=hover,
        damping=settings.damping_from,
        swivel=settings.swivel,
        stretch=settings.max_stretch,
        pull=settings.max_pull,
        highest=_HIGHEST * settings.max_pull,
        planes=np.array([(floor, 0.0, 0.0), *planes], dtype=np.float64),
        taps=_make_bell(root),
        raised=_make_raised_cosines(max(lift, calm)),
    )


class Pipeline:
    """Tables for `capacity` frames; `n` frames are in them, of which `finished` are done."""

    def __init__(self, skeleton: Skeleton, limbs: Limbs, options: CleanOptions, capacity: int) -> None:
        n_joints, n_limbs = len(skeleton), len(limbs.names)
        self.limbs, self.options, self.capacity, self.n = limbs, options, capacity, 0
        columns = limbs.columns
        self._points = [(e, k, int(columns[e, k])) for e, k in np.argwhere(columns >= 0).tolist()]
        self.body = CleanBody(skeleton.parents, limbs.table, limbs.offsets, limbs.hinges)
        self.frames = SourceFrames(
            root_positions=np.zeros((capacity, 3)),
            rotations=np.zeros((capacity, n_joints, 4)),
            bone_offsets=np.zeros((capacity, n_joints, 3)),
            positions=np.zeros((capacity, n_joints, 3)),
            world=np.zeros((capacity, n_joints, 4)),
        )
        self.state = CleanState(
            values=np.zeros((capacity, n_limbs, layout.N_STATE)),
            flags=np.zeros((capacity, n_limbs, layout.N_FLAGS), dtype=np.int64),
            shifts=np.zeros((capacity, layout.N_SHIFTS)),
            done=np.zeros(layout.N_STEPS, dtype=np.int64),
        )
        self.output = CleanOutput(
            root_positions=np.zeros((capacity, 3)),
            rotations=np.zeros((capacity, n_joints, 4)),
            bone_offsets=np.zeros((capacity, n_joints, 3)),
            limb_fits=np.zeros((capacity, n_limbs, 2)),
        )

    @property
    def tables(self) -> tuple[Any, ...]:
        """All tables with one row per frame."""
        return (*self.frames, self.state.values, self.state.flags, self.state.shifts, *self.output)

    @property
    def finished(self) -> int:
        """Number of finished frames that are still in the tables."""
        return int(self.state.done[-1])

    @property
    def delay(self) -> int:
        """Number of frames between input and output."""
        return find_delay(self.options)

    def put(self, root: Floats, local: Floats, bone: Floats, mask: Bools) -> slice:
        """Add n frames with their contacts, and return the rows they occupy.

        root : (n, 3) root positions in meters.
        local : (n, J, 4) local rotations.
        bone : (n, J, 3) or (J, 3) bone offsets in meters.
        mask : (n, K) contacts.
        """
        rows = slice(self.n, self.n + len(root))
        for table in (self.frames, self.output):
            table.root_positions[rows], table.rotations[rows], table.bone_offsets[rows] = root, local, bone
        flags = self.state.flags[rows]
        flags.fill(0)
        self.state.values[rows] = 0.0
        for e, k, column in self._points:
            flags[:, e, layout.M1 + k] = mask[:, column]
        self.n = rows.stop
        return rows

    def set_targets(
        self, rows: slice, first: int, plants: Sequence[tuple[int, int, PlantAt]], targets: Sequence[Target]
    ) -> None:
        """Store the given plants and targets for the frames in `rows`; `first` is the number of the first of them."""
        values, flags = self.state.values, self.state.flags
        stop = first + rows.stop - rows.start
        for number, (e, k, plant) in enumerate(plants, start=1):
            a, b = max(plant.start, first), min(plant.stop, stop)
            if a < b:
                at = slice(rows.start + a - first, rows.start + b - first)
                flags[at, e, layout.M1 + k] = 1
                flags[at, e, layout.GIVEN1 + k] = number
                column = layout.G1 + 3 * k
                values[at, e, column : column + 3] = plant.position
        for target in targets:
            a, b = max(target.start, first), min(target.stop, stop)
            if a < b:
                e = self.limbs.names.index(target.effector)
                at, own = (
                    slice(rows.start + a - first, rows.start + b - first),
                    slice(a - target.start, b - target.start),
                )
                flags[at, e, layout.WANTED] = _KINDS[target.orientation is not None]
                values[at, e, layout.TP : layout.TP + 3] = target.position[own]
                if target.orientation is not None:
                    values[at, e, layout.TQ : layout.TQ + 4] = target.orientation[own]

    def run(self, ended: bool) -> None:
        """Run all steps as far as the frames allow, or to the end if no more frames will come."""
        pipeline_kernels.advance(self.body, self.options, self.frames, self.state, self.output, self.n, ended)

    def find_released(self, rows: slice, n_points: int) -> Bools:
        """Return where contact points (F, K) are free although they are in contact: too far from their plant, or
        flipped."""
        flags, released = self.state.flags[rows], np.zeros((rows.stop - rows.start, n_points), dtype=bool)
        far = self.state.values[rows, :, layout.RELEASED] > 0.0
        for e, k, column in self._points:
            flipped = (flags[:, e, layout.F1 + k] == 0) & (flags[:, e, layout.WANTED] == 0)
            released[:, column] = (flags[:, e, layout.M1 + k] != 0) & (far[:, e] | flipped)
        return released

    def forget(self) -> int:
        """Drop frames that are finished and no longer needed; return how many."""
        gone = max(self.finished - count_needed_frames(self.options), 0)
        if gone:
            for table in self.tables:
                table[: self.n - gone] = table[gone : self.n].copy()
            self.n -= gone
            self.state.done[:] -= gone
        return gone


def find_delay(options: CleanOptions) -> int:
    """Return the number of frames between input and output."""
    windows = options.average + options.blend + options.root + options.fade
    return 2 * (options.gap + 1) + windows + 4 * options.lift + 2 * options.seen + options.calm


def count_needed_frames(options: CleanOptions) -> int:
    """Return the number of frames before the first unfinished frame that are still needed."""
    widest = max(options.gap, options.average, options.blend, options.root, options.fade, 2 * options.lift)
    return widest + options.seen + 2
