"""Registration curves: time and space alignment of any number of motions (Kovar chapter 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from marey.compare import point_clouds
from marey.core.arrays import Floats, Ints, check_index, check_number, freeze_array, reduce_frozen
from marey.core.motion import Motion
from marey.errors import InvalidValue, NotBlendable
from marey.register.curves import KNOT_EVERY, AlignmentCurve, TimewarpCurve, alignment_curve, merged_timewarp
from marey.register.matches import ConstraintMatch, match_contacts
from marey.register.prepare import prepared, told
from marey.register.staging import Options, StagedMotions, stage_around, stage_clips, stage_loops
from marey.register.support import measure_opposite_feet

# Seconds from knot to knot, where that is more than so many frames: at high rates, knots that follow every few frames
# let the timing tremble.
_TIMEWARP_KNOT, _ALIGNMENT_KNOT = 0.13, 0.065


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegistrationCurve:
    """n registered motions: corresponding frames, their alignment on the floor, and corresponding contacts.

    Parameters
    ----------
    motions : n motions as registered: cropped, at one rate, with contacts where any could be found.
    timewarp : S(u), seconds in each motion for u from 0 to 1, from first frame to last. For loops, the reference begins
        at 0 and the others within half a frame of that.
    alignment : A(u), rigid2d that move each motion at S_j(u) onto the reference at its time.
    matches : corresponding contacts, for each point in order of their start.
    reference : index of the motion that the others were aligned with.
    distance : meters, the root of the mean D along the path, of the motion furthest from the reference.
    distances : (n,) meters, each motion's own; 0 for the reference.
    cyclic : whether the motions are loops, so that u wraps from 1 to 0.
    loops : (n, 3) rigid2d that carry each loop's first frame to the frame after its last; None unless cyclic.
    notes : sentences on what was changed in the motions, and on problems.
    crops : (n, 2) frames used of the inputs, half-open, at the registered rate. A loop that was shifted to begin
        elsewhere has (first, first + its length).
    """

    motions: tuple[Motion, ...]
    timewarp: TimewarpCurve
    alignment: AlignmentCurve
    matches: tuple[ConstraintMatch, ...]
    reference: int
    distance: float
    distances: Floats
    cyclic: bool
    loops: Floats | None
    notes: tuple[str, ...]
    crops: Ints

    def __post_init__(self) -> None:
        motions = tuple(self.motions)
        n = len(motions)
        put = object.__setattr__
        put(self, "motions", motions)
        put(self, "matches", tuple(self.matches))
        put(self, "notes", tuple(self.notes))
        put(self, "cyclic", bool(self.cyclic))
        put(self, "distances", freeze_array(self.distances, "distances", (n,)))
        put(self, "crops", freeze_array(self.crops, "crops", (n, 2), np.int64))
        put(self, "reference", _check_reference(self.reference, n))
        if self.cyclic != (self.loops is not None):
            raise InvalidValue("a cyclic registration needs the loops' travel, and no other may have it")
        if self.loops is not None:
            put(self, "loops", freeze_array(self.loops, "loops", (n, 3)))
        if self.timewarp.n_motions != n:
            raise InvalidValue(f"the timewarp is of {self.timewarp.n_motions} motions, but there are {n}")
        for match in self.matches:
            if len(match) != n:
                raise InvalidValue(f"a match of {match.point!r} holds {len(match)} contacts for {n} motions")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __len__(self) -> int:
        return len(self.motions)

    def __repr__(self) -> str:
        kind = "loops" if self.cyclic else "motions"
        return f"<RegistrationCurve: {len(self)} {kind}, {self.distance:.3f} m apart, {len(self.matches)} matches>"

    @property
    def n_motions(self) -> int:
        """How many motions there are."""
        return len(self.motions)

    @property
    def fps(self) -> float:
        """Frames per second of all of them."""
        return self.motions[0].fps

    def save(self, path: str | PathLike[str]) -> None:
        """Write the curves, matches and the motions' content keys, not the motions, as `.npz`."""
        from marey.register.files import write_registration

        write_registration(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], motions: Sequence[Motion]) -> RegistrationCurve:
        """Read what `save` wrote.

        Parameters
        ----------
        motions : the registered motions, either as given to `register` or as in the attribute `motions`.
        """
        from marey.register.files import read_registration

        return read_registration(path, motions)


def register(
    motions: Iterable[Motion],
    *,
    crop: Literal["auto"] | None = "auto",
    cyclic: bool = False,
    reference: int | None = None,
    slope_limit: int = 2,
    window: float = 0.1,
    markers: str | Sequence[str] = "body",
    max_distance: float = 0.22,
    max_opposite: float = 0.05,
    force: bool = False,
    start: tuple[int, int] | None = None,
) -> RegistrationCurve:
    """Register motions (Kovar 5.2): find their timewarp, alignment and constraint matches.

    Parameters
    ----------
    motions : two or more with the same skeleton. They are resampled to the highest of their rates, with a warning;
        missing contacts are detected.
    crop : "auto" crops the motions to what they have in common: the largest equal number of half cycles of gait,
        starting with the same foot, or else the range found in the distance grid. None uses whole motions; the slope
        limit then applies to their own times, while for "auto" and loops it applies after stretching to equal length.
    cyclic : the motions are loops, as from `marey.edit.cycle`; the curve continues past u = 1. They are shifted to
        begin at the same phase as the reference, and `crop` has no effect.
    reference : which motion the others are compared with; by default the one with the smallest mean distance to them.
    slope_limit : W, the largest ratio of playback speeds of two motions at any point.
    window : seconds that are compared around each pair of frames.
    markers : what is compared; see `marey.compare.point_clouds`.
    max_distance : meters. Motions with a larger root mean square distance along the path are rejected.
    max_opposite : fraction of the path. Motions that stand on opposite feet for longer are rejected.
    force : accept such motions anyway, with a note.
    start : corresponding frames of two motions, such as the middle of a transition. The path is extended forward and
        backward from there until either motion ends, and both are cropped to it.

    Raises
    ------
    InvalidValue : for different skeletons, motions that are too short, or motions that are not loops.
    NoTimewarp : if no path satisfies the slope limit.
    NotBlendable : if the motions are too far apart or stand on opposite feet.
    """
    options = _check_options(crop, slope_limit, window, max_distance, max_opposite, force)
    ready, notes = prepared(motions)
    ref = None if reference is None else _check_reference(reference, len(ready))
    if start is not None and (cyclic or len(ready) != 2):
        raise InvalidValue(f"start needs two motions that are not loops, got {len(ready)}{' loops' if cyclic else ''}")
    clouds = [point_clouds(motion, markers) for motion in ready]
    if cyclic:
        staged = stage_loops(ready, clouds, ref, options)
    elif start is not None:
        staged = stage_around(ready, clouds, start, ref, options)
    else:
        staged = stage_clips(ready, clouds, ref, crop == "auto", options)
    return _build(staged, notes, options)


def _build(staged: StagedMotions, notes: tuple[str, ...], options: Options) -> RegistrationCurve:
    """Build the curves along the paths, or raise if a path is bad."""
    notes += staged.notes
    distances = np.array([0.0 if path is None else path.distance for path in staged.paths])
    worst = int(np.argmax(distances))
    names = told(staged.motions[worst], worst), told(staged.motions[staged.reference], staged.reference)
    if distances[worst] > options.max_distance:
        notes += _refuse(
            f"{names[0]} and {names[1]} are {distances[worst]:.3f} m apart along the path (root mean square), more "
            f"than {options.max_distance:g} m",
            options.force,
        )
    timewarp = _fit_timewarp(staged)
    shares = np.array([_measure_opposite(staged, timewarp, j) for j in range(len(staged.motions))])
    worst = int(np.argmax(shares))
    if shares[worst] > options.max_opposite:
        names = told(staged.motions[worst], worst), names[1]
        notes += _refuse(
            f"{names[0]} and {names[1]} stand on opposite feet for {100 * shares[worst]:.0f} % of the time, more than "
            f"{100 * options.max_opposite:g} %",
            options.force,
        )
    # Frames alone, without a window: it would hold different stretches of motions that run at different speeds.
    alignment = alignment_curve(
        staged.clouds,
        timewarp,
        staged.reference,
        [1.0],
        knot_every=_space_knots(staged, _ALIGNMENT_KNOT),
        loops=staged.loops,
    )
    matches, more = match_contacts(staged.motions, timewarp)
    return RegistrationCurve(
        motions=staged.motions,
        timewarp=timewarp,
        alignment=alignment,
        matches=matches,
        reference=staged.reference,
        distance=float(distances.max()),
        distances=distances,
        cyclic=staged.loops is not None,
        loops=staged.loops,
        notes=notes + more,
        crops=staged.crops,
    )


def _space_knots(staged: StagedMotions, seconds: float) -> float:
    """Frames from knot to knot."""
    return max(KNOT_EVERY, seconds * staged.clouds[0].fps)


def _fit_timewarp(staged: StagedMotions) -> TimewarpCurve:
    cyclic, every = staged.loops is not None, _space_knots(staged, _TIMEWARP_KNOT)
    # The seam of a loop is a place like any other: nothing holds it to whole frames.
    pairs = [
        None
        if path is None
        else TimewarpCurve.fit(path.seconds, knot_every=every, exact_ends=not cyclic, cyclic=cyclic)
        for path in staged.paths
    ]
    if cyclic:
        return _merge_loops(staged, pairs, every)
    if len(pairs) > 2:
        return merged_timewarp(staged.reference, pairs, staged.clouds[0].fps, knot_every=every)
    only = next(pair for pair in pairs if pair is not None)
    return only if staged.reference == 0 else TimewarpCurve(only.points[:, ::-1])


def _merge_loops(staged: StagedMotions, pairs: Sequence[TimewarpCurve | None], every: float) -> TimewarpCurve:
    """One round of all loops from the reference's first frame on, in step with the reference's time."""
    length = len(staged.motions[staged.reference])
    seconds = np.arange(length + 1) / staged.clouds[0].fps
    samples = [seconds if pair is None else pair(pair.inverse(0, seconds))[:, 1] for pair in pairs]
    return TimewarpCurve.fit(np.stack(samples, axis=1), knot_every=every, exact_ends=False, cyclic=True)


def _measure_opposite(staged: StagedMotions, timewarp: TimewarpCurve, j: int) -> float:
    """Share of the time for which motion j and the reference stand on opposite feet."""
    if j == staged.reference:
        return 0.0
    seconds = timewarp(np.linspace(0.0, 1.0, 2 * max(len(motion) for motion in staged.motions)))
    a, b = seconds[:, staged.reference], seconds[:, j]
    # Spread evenly over the time of both, each counting by its length.
    passed = (a - a[0]) / (a[-1] - a[0]) + (b - b[0]) / (b[-1] - b[0])
    even = (np.arange(len(passed)) + 0.5) * 2.0 / len(passed)
    return measure_opposite_feet(
        staged.motions[staged.reference], staged.motions[j], np.interp(even, passed, a), np.interp(even, passed, b)
    )


def _refuse(reason: str, force: bool) -> tuple[str, ...]:
    """Raise for the reason, or return it as a note if `force` overrides it."""
    if not force:
        raise NotBlendable(
            f"{reason}; take other motions, crop them by hand, or use force=True or --force all the same"
        )
    return (f"taken by force, although {reason}",)


def _check_options(
    crop: Any, slope_limit: Any, window: Any, max_distance: Any, max_opposite: Any, force: bool
) -> Options:
    if crop not in ("auto", None):
        raise InvalidValue(f"crop= or --crop must be 'auto' or None, got {crop!r}")
    limit = check_index(slope_limit, "slope_limit= or --slope-limit")
    if limit < 1:
        raise InvalidValue(f"slope_limit= or --slope-limit must be 1 or more, got {limit}")
    return Options(
        limit,
        check_number(window, "window= or --window"),
        check_number(max_distance, "max_distance= or --max-distance", above=True),
        check_number(max_opposite, "max_opposite="),
        bool(force),
    )


def _check_reference(reference: Any, n: int) -> int:
    index = check_index(reference, "reference= or --reference")
    if not 0 <= index < n:
        raise InvalidValue(f"reference= or --reference must be one of {n} motions, 0 to {n - 1}, got {index}")
    return index
