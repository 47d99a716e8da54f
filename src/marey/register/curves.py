"""Timewarp curves and alignment curves: quadratic B-splines over the motions' common time u (Kovar 5.1 and 5.2).

u runs from 0 to 1 over the registered part of the motions. The timewarp S(u) gives the time in each motion, in seconds.
The alignment A(u) gives the rotation and translation on the floor that move each motion onto the reference motion at
that point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from marey.compare import Clouds, DistanceGrid, align_frames
from marey.core.arrays import Bools, Floats, FrozenRecord, check_index, convert_array, freeze_array, set_readonly
from marey.errors import InvalidValue, NotBlendable
from marey.maths import bspline, filters
from marey.register.dtw import TimeAlignment
from marey.register.loops import carry_alignments, extend_loop

KNOT_EVERY = 4
MEDIAN = 5
SMOOTH = 0.3
"""Weight of the second differences of a timewarp's points relative to the residuals. With a knot every four cells it
removes half of the ripple that the cells of a path would otherwise cause in the speed, and costs no accuracy."""
# Minimum slope of a timewarp, as a fraction of its mean slope.
_MIN_SLOPE = 0.05
# Maximum distance, in cells, by which a cell is moved across the path. The path did not reach a minimum farther away
# because of the slope limit or the mask.
_MAX_MOVE = 0.5
# Number of cells from an exact end over which the moves grow to full size, so that the curve has no kink there.
_FULL_MOVE = 8.0
# Maximum change of an aligning angle, in radians per second. Synchronized recordings stay below 15; motions that are
# out of step exceed the limit at once. Between samples, at most a quarter turn is allowed, because the direction of
# larger changes is ambiguous.
_FASTEST_TURN, _LARGEST_TURN = 20.0, 0.5 * np.pi
# Largest gap between the ends of a cyclic curve that is due to rounding, as a fraction of its period.
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class TimewarpCurve(FrozenRecord):
    """Corresponding times of n motions in seconds, strictly increasing in each of them.

    Parameters
    ----------
    points : (K, n) seconds, control points of a uniform quadratic B-spline over u in [0, 1], strictly increasing in
        each column.
    cyclic : whether each motion is a loop. The curve then continues beyond u = 1 without a jump in value or slope:
        ``curve(u + 1) == curve(u) + curve.durations``, and the last two points are the first two plus the durations.

    Examples
    --------
    >>> from marey.register import TimewarpCurve
    >>> times = np.linspace(0.0, 1.0, 40)
    >>> timewarp = TimewarpCurve.fit(np.stack([times, 2.0 * times], axis=1))
    >>> timewarp(0.5).round(3), timewarp.durations.round(3)  # seconds
    (array([0.5, 1. ]), array([1., 2.]))
    """

    points: Floats
    cyclic: bool = False

    def __post_init__(self) -> None:
        points = freeze_array(self.points, "points of a timewarp curve", (None, None))
        if len(points) < 3 or not points.shape[1]:
            raise InvalidValue(
                "points of a timewarp curve must have shape (K, n) with K >= 3 points and n >= 1 motions, "
                f"not {points.shape}"
            )
        steps = np.diff(points, axis=0)
        if not (steps > 0.0).all():
            k, j = (int(i) for i in np.argwhere(steps <= 0.0)[0])
            raise InvalidValue(
                f"points of a timewarp curve must be strictly increasing, but point {k + 1} of motion {j} goes from "
                f"{points[k, j]:g} to {points[k + 1, j]:g} s"
            )
        cyclic = bool(self.cyclic)
        if cyclic:
            points = set_readonly(_close_points(points, "timewarp"))
        self._put(points=points, cyclic=cyclic)

    def __call__(self, u: npt.ArrayLike) -> Floats:
        """Evaluate the seconds (..., n) in each motion at u (...).

        Outside [0, 1] the curve is extrapolated linearly, or repeats if cyclic.
        """
        return bspline.evaluate(self.points, convert_array(u, "u"), cyclic=self.cyclic)

    def slope(self, u: npt.ArrayLike) -> Floats:
        """Evaluate dS/du, (..., n) seconds, at u (...); always greater than 0."""
        return bspline.derivative(self.points, convert_array(u, "u"), cyclic=self.cyclic)

    def inverse(self, motion: int, seconds: npt.ArrayLike) -> Floats:
        """Find u (...) at which `motion` is at times `seconds` (...)."""
        j = check_index(motion, "a motion's number")
        if not -self.n_motions <= j < self.n_motions:
            raise InvalidValue(f"motion must be from 0 to {self.n_motions - 1}, not {j}")
        return bspline.inverse(self.points[:, j], convert_array(seconds, "seconds"), cyclic=self.cyclic)

    @property
    def n_motions(self) -> int:
        """Number of motions n."""
        return int(self.points.shape[1])

    @property
    def durations(self) -> Floats:
        """Duration (n,) of each motion from u = 0 to u = 1, in seconds."""
        if self.cyclic:
            return set_readonly(self.points[-2] - self.points[0])
        return set_readonly(0.5 * (self.points[-2] + self.points[-1] - self.points[0] - self.points[1]))

    @property
    def knots(self) -> Floats:
        """Borders (K - 1,) between spans, including u = 0 and 1; the curve is quadratic in u within a span."""
        return set_readonly(np.linspace(0.0, 1.0, len(self.points) - 1))

    @classmethod
    def fit(
        cls,
        samples: npt.ArrayLike,
        *,
        knot_every: float = KNOT_EVERY,
        exact_ends: bool = True,
        cyclic: bool = False,
        smooth: float = 0.0,
    ) -> TimewarpCurve:
        """Fit an increasing curve to samples: least squares with a lower bound on the steps between control points.

        Parameters
        ----------
        samples : (N, n) seconds at u = 0, 1/(N-1), ..., 1; steps of 0 (as on a path of cells) are smoothed away.
        knot_every : number of samples between knots.
        exact_ends : whether u = 0 and 1 are exactly the first and last sample.
        cyclic : whether the last sample is the first one again, one cycle later in each motion.
        smooth : weight of the squared second differences of the control points, relative to a squared residual.
        """
        given = freeze_array(samples, "samples of a timewarp", (None, None))
        if len(given) < 2 or not (given[-1] > given[0]).all():
            raise InvalidValue(
                "samples must have at least two rows, and the last must be later than the first in every motion"
            )
        n_points = bspline.n_points_for(len(given), knot_every)
        at = period = None
        if cyclic:
            at, period = np.linspace(0.0, 1.0, len(given))[:-1], given[-1] - given[0]
            given = given[:-1]
        points = bspline.fit_increasing(
            given, n_points, at=at, period=period, smooth=smooth, exact_ends=exact_ends, least=_MIN_SLOPE
        )
        return cls(points, cyclic)


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentCurve(FrozenRecord):
    """Rotations and translations on the floor that align n motions with the reference motion at each u.

    Parameters
    ----------
    points : (K, n, 3) control points of (theta, x, z) over u in [0, 1]: angle in radians, and position in meters to
        which each motion's origin is moved; 0 for the reference.
    reference : the motion that does not move.
    loops : (n, 3) rigid2d that move each cycle of a cyclic motion to the next; then ``A_j(u + 1) = loops[reference] o
        A_j(u) o loops[j]^-1``, without a jump. The points are those of ``G_ref(u)^-1 o A_j(u) o G_j(u)``, which is
        periodic; ``G_j(u)`` is the fraction u of motion j's loop.
    origins : (n, 2) meters, x and z of the center of each motion's rotation, near the motion; 0 for the reference, and
        for all by default. If a distant motion rotated about the world's origin instead, a small error of the angle
        would move it far.

    Examples
    --------
    >>> from marey.register import AlignmentCurve
    >>> samples = np.zeros((40, 2, 3))  # (theta, x, z) of two motions
    >>> samples[:, 1] = [0.1, 1.0, 0.0]
    >>> AlignmentCurve.fit(samples)(0.5).round(3)
    array([[0. , 0. , 0. ],
           [0.1, 1. , 0. ]])
    """

    points: Floats
    reference: int = 0
    loops: Floats | None = None
    origins: Floats = None  # type: ignore[assignment]  # set in __post_init__

    def __post_init__(self) -> None:
        points = freeze_array(self.points, "points of an alignment curve", (None, None, 3))
        n_motions = points.shape[1]
        if len(points) < 3 or not n_motions:
            raise InvalidValue(
                "points of an alignment curve must have shape (K, n, 3) with K >= 3 points and n >= 1 "
                f"motions, not {points.shape}"
            )
        reference = check_index(self.reference, "reference, the index of a motion,", n_motions)
        if points[:, reference].any():
            raise InvalidValue(
                f"points must be all zeros for motion {reference}, the reference, because the other alignments are "
                "relative to it"
            )
        if self.loops is not None:
            loops = freeze_array(self.loops, "loops", (n_motions, 3))
            points = set_readonly(_close_points(points, "alignment"))
            self._put(loops=loops)
        near = np.zeros((n_motions, 2)) if self.origins is None else self.origins
        origins = freeze_array(near, "origins", (n_motions, 2))
        if origins[reference].any():
            raise InvalidValue(f"origins must be all zeros for motion {reference}, the reference")
        self._put(origins=origins, points=points, reference=reference)

    def __call__(self, u: npt.ArrayLike) -> Floats:
        """Evaluate the rigid2d (..., n, 3) at u (...), theta unwrapped.

        Outside [0, 1] the curve is extrapolated linearly, or repeats if cyclic.
        """
        at = convert_array(u, "u")
        local = _move_origins(bspline.evaluate(self.points, at, cyclic=self.cyclic), -self.origins)
        if self.loops is None:
            return local
        out = carry_alignments(local, self.loops, self.reference, at, out_of_loops=True)
        out[..., self.reference, :] = 0.0
        return out

    @property
    def n_motions(self) -> int:
        """Number of motions n."""
        return int(self.points.shape[1])

    @property
    def cyclic(self) -> bool:
        """Whether the motions are loops."""
        return self.loops is not None

    @classmethod
    def fit(
        cls,
        samples: npt.ArrayLike,
        *,
        knot_every: float = KNOT_EVERY,
        median: int = MEDIAN,
        reference: int = 0,
        loops: npt.ArrayLike | None = None,
        origins: npt.ArrayLike | None = None,
    ) -> AlignmentCurve:
        """Fit a curve to sampled alignments, after filtering out spikes.

        Parameters
        ----------
        samples : (N, n, 3) rigid2d at u = 0, 1/(N-1), ..., 1; the angles may jump by full turns. Those of the reference
            must be 0.
        knot_every : number of samples between knots.
        median : length of the median filter in samples, odd; 1 for none.
        loops : (n, 3) for cyclic motions; the last sample is then the first one again, one cycle later.
        origins : (n, 2) meters, a point near each motion, for loops near their first frame; that of the reference is
            ignored.
        """
        given = freeze_array(samples, "samples of an alignment", (None, None, 3))
        if len(given) < 2:
            raise InvalidValue(f"samples of an alignment must have at least two rows, not {len(given)}")
        n_points = bspline.n_points_for(len(given), knot_every)
        near = np.zeros((given.shape[1], 2)) if origins is None else np.array(origins, dtype=np.float64)
        near = freeze_array(near, "origins", (given.shape[1], 2)).copy()
        near[reference] = 0.0
        if loops is None:
            smooth = filters.median(_move_origins(_unwrap_angles(given), near), median)
            return cls(bspline.fit(smooth, n_points), reference, origins=near)
        at = np.linspace(0.0, 1.0, len(given))
        moves = freeze_array(loops, "loops", (given.shape[1], 3))
        local = _move_origins(_unwrap_angles(carry_alignments(given, moves, reference, at, out_of_loops=False)), near)
        period = np.zeros(local.shape[1:])
        period[:, 0] = 2.0 * np.pi * np.rint((local[-1, :, 0] - local[0, :, 0]) / (2.0 * np.pi))
        smooth = _filter_median_cyclic(local[:-1], period, median)
        points = bspline.fit(smooth, n_points, at=at[:-1], period=period)
        return cls(bspline.with_period(points, period), reference, moves, near)


def pair_timewarp(
    grid: DistanceGrid,
    alignment: TimeAlignment,
    *,
    knot_every: float = KNOT_EVERY,
    exact_ends: bool = True,
    cyclic: bool = False,
    refine: bool = True,
    smooth: float = SMOOTH,
) -> TimewarpCurve:
    """Fit the timewarp of a grid's two motions to a path through it.

    Parameters
    ----------
    knot_every : number of cells of the path between knots.
    exact_ends : whether the curve begins and ends exactly at the first and last cell.
    cyclic : whether the path goes once around two loops, of which the grid holds one cycle each; its last cell is the
        first one again (see `dtw_cyclic`).
    refine : whether each cell is first moved perpendicular to the path to the minimum of the distances around it, by
        less than a cell; without it, the stair steps of the path make the speed ripple.
    smooth : weight of the squared second differences of the control points; see `TimewarpCurve.fit`.

    Examples
    --------
    >>> from marey.register import dtw, pair_timewarp
    >>> grid = marey.distance_grid(walk, walk)
    >>> pair_timewarp(grid, dtw(grid.values)).durations.round(2)
    array([4., 4.])
    """
    if len(alignment) < 2:
        raise NotBlendable(
            "the motions share only one frame, so a time alignment would have zero length; use motions "
            "that overlap longer"
        )
    frames = alignment.cells.astype(np.float64)
    if refine:
        moves = _find_moves_across(grid.values, alignment, cyclic)
        if exact_ends:
            from_end = np.minimum(np.arange(len(moves)), np.arange(len(moves))[::-1])
            moves *= np.minimum(1.0, from_end / _FULL_MOVE)[:, None]
        frames += moves
    return TimewarpCurve.fit(
        frames / grid.a.fps, knot_every=knot_every, exact_ends=exact_ends, cyclic=cyclic, smooth=smooth
    )


def merge_timewarps(
    reference: int,
    pairs: Sequence[TimewarpCurve | None],
    fps: float,
    *,
    knot_every: float = KNOT_EVERY,
    exact_ends: bool = True,
) -> TimewarpCurve:
    """Merge the timewarps of a reference motion with each of the others into one timewarp of n motions (Kovar 5.2.1.2).

    Parameters
    ----------
    reference : index of the reference motion.
    pairs : n timewarps of two motions, the reference first; the entry of the reference itself is ignored. All must be
        cyclic, or none.
    fps : rate at which the reference is sampled; `knot_every` counts these samples.

    Returns
    -------
    The curve over the part of the reference that all pairs cover, or over one cycle if they are cyclic. u is
    proportional to the reference's time.

    Examples
    --------
    >>> from marey.register import merge_timewarps, TimewarpCurve
    >>> times = np.linspace(0.0, 1.0, 40)
    >>> pairs = [None, *(TimewarpCurve.fit(np.stack([times, k * times], axis=1)) for k in (2.0, 3.0))]
    >>> merge_timewarps(0, pairs, fps=60.0).durations.round(3)
    array([1., 2., 3.])
    """
    ref = check_index(reference, "reference, the index of a motion,", len(pairs))
    others = {j: pair for j, pair in enumerate(pairs) if j != ref and pair is not None}
    if len(others) != len(pairs) - 1 or not others or any(pair.n_motions != 2 for pair in others.values()):
        raise InvalidValue(
            f"pairs must contain one pairwise timewarp for each motion except the reference, motion {ref}"
        )
    cyclic = {pair.cyclic for pair in others.values()}
    if len(cyclic) > 1:
        raise InvalidValue("pairs must be all cyclic or all not cyclic, not a mixture")
    start = max(float(pair(0.0)[0]) for pair in others.values())
    stop = min(float(pair(1.0)[0]) for pair in others.values())
    if True in cyclic:
        stop = start + float(next(iter(others.values())).durations[0])
    if not stop > start:
        raise NotBlendable(
            "the timewarps have no part of the reference motion in common; remove a motion, or crop less"
        )
    n_samples = max(2, int(np.ceil((stop - start) * fps - 1e-9)) + 1)
    samples = np.empty((n_samples, len(pairs)))
    samples[:, ref] = np.linspace(start, stop, n_samples)
    for j, pair in others.items():
        samples[:, j] = pair(pair.inverse(0, samples[:, ref]))[:, 1]
    return TimewarpCurve.fit(samples, knot_every=knot_every, exact_ends=exact_ends, cyclic=True in cyclic)


def alignment_curve(
    clouds: Sequence[Clouds],
    timewarp: TimewarpCurve,
    reference: int,
    frame_weights: npt.ArrayLike,
    *,
    knot_every: float = KNOT_EVERY,
    median: int = MEDIAN,
    loops: npt.ArrayLike | None = None,
    used: tuple[float, float] = (0.0, 1.0),
) -> AlignmentCurve:
    """Align n motions with their reference along a timewarp (Kovar 5.2.2).

    The motions are aligned at S(u), between frames if necessary, not at the cells of a path: its stair steps would
    leave spikes.

    Parameters
    ----------
    clouds : point clouds of the n motions, at one rate.
    frame_weights : (2 L + 1,) weights of the aligned window, which reaches L frames to both sides.
    knot_every, median : see `AlignmentCurve.fit`; in samples, one for each frame of the longest motion.
    loops : (n, 3) rigid2d of cyclic motions, required if the timewarp is cyclic; the clouds then hold one cycle each.
    used : range of u in which the curve will be used; fast rotations outside it are accepted.

    Raises
    ------
    NotBlendable : if the angle between the motions changes faster than bodies rotate.

    Examples
    --------
    >>> from marey.compare import frame_weights, point_clouds
    >>> from marey.register import alignment_curve
    >>> curve = marey.register([walk, run])
    >>> clouds = [point_clouds(motion) for motion in curve.motions]
    >>> alignment_curve(clouds, curve.timewarp, reference=0, frame_weights=frame_weights(0.3, 60.0))(0.5).shape
    (2, 3)
    """
    if len(clouds) != timewarp.n_motions:
        raise InvalidValue(
            f"clouds must be one point cloud for each of the timewarp's {timewarp.n_motions} motions, not {len(clouds)}"
        )
    if timewarp.cyclic != (loops is not None):
        raise InvalidValue("loops must be given if the timewarp is cyclic, and omitted if it is not")
    ref = check_index(reference, "reference, the index of a motion,", len(clouds))
    moves = None if loops is None else freeze_array(loops, "loops", (len(clouds), 3))
    weights = convert_array(frame_weights, "frame weights")
    fps = clouds[ref].fps
    n_samples = max(2, int(np.ceil(float(timewarp.durations.max()) * fps - 1e-9)) + 1)
    u = np.linspace(0.0, 1.0, n_samples)
    frames = timewarp(u) * fps
    fields = [_extend_clouds(cloud, frames[:, j], j, moves, len(weights) // 2) for j, cloud in enumerate(clouds)]
    samples = np.zeros((n_samples, len(clouds), 3))
    for j, (field, at) in enumerate(fields):
        if j != ref:
            samples[:, j] = align_frames(*fields[ref], field, at, weights)
    # Samples outside the used part affect the curve inside it within the support of a knot.
    margin = 2.0 * knot_every / (n_samples - 1)
    within = (u >= used[0] - margin) & (u <= used[1] + margin)
    _check_jumps(samples, ref, median, frames / fps, fps, within)
    # Alignments of a loop are converted to the coordinates of its first cycle.
    near = np.array([each.points[: 1 if moves is not None else None, :, ::2].mean(axis=(0, 1)) for each in clouds])
    return AlignmentCurve.fit(samples, knot_every=knot_every, median=median, reference=ref, loops=moves, origins=near)


def _move_origins(moves: Floats, origins: Floats) -> Floats:
    """Convert rigid2d (..., n, 3) from (theta, translation) to (theta, position to which the origin is moved).

    origins : (n, 2) x and z. With negative origins, the function converts back.
    """
    cosine, sine = np.cos(moves[..., 0]), np.sin(moves[..., 0])
    x, z = origins[:, 0], origins[:, 1]
    out = moves.copy()
    out[..., 1] += x * cosine + z * sine
    out[..., 2] += z * cosine - x * sine
    return out


def _extend_clouds(
    clouds: Clouds, frames: Floats, motion: int, loops: Floats | None, half_window: int
) -> tuple[Clouds, Floats]:
    """Extend the clouds to contain all `frames`; also return the frames' new numbers."""
    last = len(clouds) - 1
    if loops is None:
        if frames[0] < -1e-6 or frames[-1] > last + 1e-6:
            raise InvalidValue(
                f"the timewarp covers frames {frames[0]:g} to {frames[-1]:g} of motion {motion}, but its "
                f"point cloud has only frames 0 to {last}"
            )
        return clouds, np.clip(frames, 0.0, last)
    before = max(0, int(np.ceil(-frames[0]))) + half_window
    after = max(0, int(np.ceil(frames[-1])) - last) + half_window
    return extend_loop(clouds, loops[motion], before, after), frames + before


def _check_jumps(samples: Floats, reference: int, median: int, seconds: Floats, fps: float, within: Bools) -> None:
    jumps = np.abs(np.diff(filters.median(np.unwrap(samples[..., 0], axis=0), median), axis=0))
    jumps[~(within[1:] & within[:-1])] = 0.0
    if not (jumps > min(_FASTEST_TURN / fps, _LARGEST_TURN)).any():
        return
    at, j = (int(k) for k in np.unravel_index(int(np.argmax(jumps)), jumps.shape))
    raise NotBlendable(
        f"motions {j} and {reference} cannot be aligned: at {seconds[at, j]:.2f} s and "
        f"{seconds[at, reference]:.2f} s their relative heading changes by "
        f"{np.degrees(jumps[at, j]):.0f} degrees in one frame (limit "
        f"{np.degrees(min(_FASTEST_TURN / fps, _LARGEST_TURN)):.0f} degrees); crop the motions to "
        "similar parts, or remove one of them"
    )


def _find_moves_across(values: Floats, alignment: TimeAlignment, cyclic: bool) -> Floats:
    """Fit a parabola across the path at each cell; return the offsets (N, 2), in frames, to its minimum."""
    i, j = alignment.cells.T
    rows, columns = values.shape
    here = values[i % rows, j % columns]
    # A positive move goes to an earlier row and a later column.
    ahead, behind = values[(i - 1) % rows, (j + 1) % columns], values[(i + 1) % rows, (j - 1) % columns]
    usable = np.isfinite(ahead) & np.isfinite(behind)
    if not cyclic:
        usable &= (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
    ahead, behind = np.where(usable, ahead, here), np.where(usable, behind, here)
    bend = (ahead - here) + (behind - here)
    usable &= bend > 0.0
    move = np.divide(0.5 * (behind - ahead), bend, where=usable, out=np.zeros(len(i)))
    move = np.clip(move, -_MAX_MOVE, _MAX_MOVE)
    return np.stack([-move, move], axis=-1)


def _close_points(points: Floats, what: str) -> Floats:
    """Make the last two points exactly one period after the first two; raise an error unless they are close to it.

    what : kind of curve, for the message.
    """
    period = points[-2] - points[0]
    miss = np.abs(points[-1] - points[1] - period)
    if (miss > _SAME * (1.0 + np.abs(period))).any():
        raise InvalidValue(
            f"points of a cyclic {what} curve must end with the first two points repeated one period "
            f"later, but they differ by {miss.max():g}"
        )
    return bspline.with_period(points, period)


def _unwrap_angles(samples: Floats) -> Floats:
    """Unwrap the angles of `samples` (N, ..., 3), so that they change by at most half a turn between samples."""
    out = samples.copy()
    out[..., 0] = np.unwrap(samples[..., 0], axis=0)
    return out


def _filter_median_cyclic(samples: Floats, period: Floats, size: int) -> Floats:
    """Apply a median filter to the samples (N, n, 3) of one cycle; the window continues across the seam."""
    half = min(size // 2, len(samples))
    if half == 0:
        return filters.median(samples, size)
    longer = np.concatenate([samples[-half:] - period, samples, samples[:half] + period])
    return filters.median(longer, size)[half : half + len(samples)]
