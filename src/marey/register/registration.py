"""Registration curves: any number of motions brought in step (Kovar chapter 5)."""

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
from marey.register.staging import Options, Staged, stage_around, stage_clips, stage_loops
from marey.register.support import opposite_share

# Seconds from knot to knot, where that is more than so many frames: at high rates, knots that follow every few frames
# let the timing tremble.
_TIMEWARP_KNOT, _ALIGNMENT_KNOT = 0.13, 0.065


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegistrationCurve:
    """n motions in step: which frames belong together, how to lay them upon each other, which contacts are the same.

    Parameters
    ----------
    motions : n motions as registered: cropped, at one rate, with contacts where any could be found.
    timewarp : S(u), seconds in each motion for u from 0 to 1, from first frame to last. Of loops the reference begins
        at 0, the others within half a frame of that.
    alignment : A(u), rigid2d that carry each motion at S_j(u) onto the reference at its own.
    matches : contacts that mean the same, in the order in which they begin for each point.
    reference : index of the motion that the others were compared with.
    distance : metres, the root of the mean D along the path, of the motion furthest from the reference.
    distances : (n,) metres, each motion's own; 0 for the reference.
    cyclic : whether the motions are loops, so that u goes on from 1 at 0.
    loops : (n, 3) rigid2d that carry each loop's first frame to the frame after its last; None unless cyclic.
    notes : what was done to the motions, and what is wrong with them, in sentences.
    crops : (n, 2) frames that were taken of the inputs, half-open, at the rate registered. A loop that was turned to
        begin elsewhere has (first, first + its length).
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
        put(self, "reference", _checked_reference(self.reference, n))
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
        motions : those that were registered, either as they were given to `register` or as they are in `motions`.
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
    """Bring motions in step (Kovar 5.2): timewarp, alignment and constraint matches.

    Parameters
    ----------
    motions : two or more of one skeleton. They are brought to the highest of their rates, with a warning, and given
        contacts where they have none.
    crop : "auto" takes of each motion the stretch that all have in common: equally many half cycles of gait from the
        same foot on, as many as can be, else what the grid of distances shows. None takes them whole, from first frame
        to last; the slope limit then holds between their own times, while for "auto" and loops it holds after
        stretching to equal length.
    cyclic : the motions are loops, as from `marey.edit.cycle`; the curve goes on over u = 1. They are turned to begin
        at the same phase as the reference, and `crop` has nothing to do.
    reference : which motion the others are compared with; by default the one with the smallest mean distance to them.
    slope_limit : W, how many times faster one motion may run than another in any part.
    window : seconds that are compared around each pair of frames.
    markers : what is compared; see `marey.compare.point_clouds`.
    max_distance : metres. Motions whose root mean square distance along the path is larger are refused.
    max_opposite : share of the path. Motions that stand on opposite feet for longer are refused.
    force : take them all the same, with a note.
    start : frames of two motions that belong together, such as the middle of a transition. The path goes from there
        forwards and backwards to wherever either motion ends, and both are cropped to it.

    Raises
    ------
    InvalidValue : different skeletons, too short motions, no loops.
    NoTimewarp : where no path keeps to the slope limit.
    NotBlendable : where the motions are too far apart, or stand on opposite feet.
    """
    options = _checked_options(crop, slope_limit, window, max_distance, max_opposite, force)
    ready, notes = prepared(motions)
    ref = None if reference is None else _checked_reference(reference, len(ready))
    if start is not None and (cyclic or len(ready) != 2):
        raise InvalidValue(f"start needs two motions that are no loops, got {len(ready)}{' loops' if cyclic else ''}")
    clouds = [point_clouds(motion, markers) for motion in ready]
    if cyclic:
        staged = stage_loops(ready, clouds, ref, options)
    elif start is not None:
        staged = stage_around(ready, clouds, start, ref, options)
    else:
        staged = stage_clips(ready, clouds, ref, crop == "auto", options)
    return _built(staged, notes, options)


def _built(staged: Staged, notes: tuple[str, ...], options: Options) -> RegistrationCurve:
    """The curves along the paths, unless these are bad."""
    notes += staged.notes
    distances = np.array([0.0 if path is None else path.distance for path in staged.paths])
    worst = int(np.argmax(distances))
    names = told(staged.motions[worst], worst), told(staged.motions[staged.reference], staged.reference)
    if distances[worst] > options.max_distance:
        notes += _refused(
            f"{names[0]} and {names[1]} are {distances[worst]:.3f} m apart along the path (root mean square), more "
            f"than {options.max_distance:g} m",
            options.force,
        )
    timewarp = _timewarp(staged)
    shares = np.array([_opposite(staged, timewarp, j) for j in range(len(staged.motions))])
    worst = int(np.argmax(shares))
    if shares[worst] > options.max_opposite:
        names = told(staged.motions[worst], worst), names[1]
        notes += _refused(
            f"{names[0]} and {names[1]} stand on opposite feet for {100 * shares[worst]:.0f} % of the time, more than "
            f"{100 * options.max_opposite:g} %",
            options.force,
        )
    # Frames alone, without a window: it would hold different stretches of motions that run at different speeds.
    alignment = alignment_curve(
        staged.clouds, timewarp, staged.reference, [1.0], knot_every=_knots(staged, _ALIGNMENT_KNOT), loops=staged.loops
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


def _knots(staged: Staged, seconds: float) -> float:
    """Frames from knot to knot."""
    return max(KNOT_EVERY, seconds * staged.clouds[0].fps)


def _timewarp(staged: Staged) -> TimewarpCurve:
    cyclic, every = staged.loops is not None, _knots(staged, _TIMEWARP_KNOT)
    # The seam of a loop is a place like any other: nothing holds it to whole frames.
    pairs = [
        None
        if path is None
        else TimewarpCurve.fit(path.seconds, knot_every=every, exact_ends=not cyclic, cyclic=cyclic)
        for path in staged.paths
    ]
    if cyclic:
        return _merged_loops(staged, pairs, every)
    if len(pairs) > 2:
        return merged_timewarp(staged.reference, pairs, staged.clouds[0].fps, knot_every=every)
    only = next(pair for pair in pairs if pair is not None)
    return only if staged.reference == 0 else TimewarpCurve(only.points[:, ::-1])


def _merged_loops(staged: Staged, pairs: Sequence[TimewarpCurve | None], every: float) -> TimewarpCurve:
    """One round of all loops from the reference's first frame on, in step with the reference's time."""
    length = len(staged.motions[staged.reference])
    seconds = np.arange(length + 1) / staged.clouds[0].fps
    samples = [seconds if pair is None else pair(pair.inverse(0, seconds))[:, 1] for pair in pairs]
    return TimewarpCurve.fit(np.stack(samples, axis=1), knot_every=every, exact_ends=False, cyclic=True)


def _opposite(staged: Staged, timewarp: TimewarpCurve, j: int) -> float:
    """Share of the time for which motion j and the reference stand on opposite feet."""
    if j == staged.reference:
        return 0.0
    seconds = timewarp(np.linspace(0.0, 1.0, 2 * max(len(motion) for motion in staged.motions)))
    a, b = seconds[:, staged.reference], seconds[:, j]
    # Spread evenly over the time of both, each counting by its length.
    passed = (a - a[0]) / (a[-1] - a[0]) + (b - b[0]) / (b[-1] - b[0])
    even = (np.arange(len(passed)) + 0.5) * 2.0 / len(passed)
    return opposite_share(
        staged.motions[staged.reference], staged.motions[j], np.interp(even, passed, a), np.interp(even, passed, b)
    )


def _refused(reason: str, force: bool) -> tuple[str, ...]:
    """The reason as a note where that is overridden."""
    if not force:
        raise NotBlendable(
            f"{reason}; take other motions, crop them by hand, or use force=True or --force all the same"
        )
    return (f"taken by force, although {reason}",)


def _checked_options(
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


def _checked_reference(reference: Any, n: int) -> int:
    index = check_index(reference, "reference= or --reference")
    if not 0 <= index < n:
        raise InvalidValue(f"reference= or --reference must be one of {n} motions, 0 to {n - 1}, got {index}")
    return index
