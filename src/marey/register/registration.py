"""Registration curves: time and space alignment of any number of motions (Kovar chapter 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from marey.compare import point_clouds
from marey.core.arrays import Floats, FrozenRecord, Ints, check_index
from marey.core.clips import list_clips, name_clip
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.edit.cycle import cycle
from marey.errors import InvalidValue, NotBlendable
from marey.register.curves import KNOT_EVERY, AlignmentCurve, TimewarpCurve, alignment_curve, merge_timewarps
from marey.register.matches import ConstraintMatch, match_contacts
from marey.register.prepare import prepare_motions
from marey.register.settings import PathSettings, RegisterSettings
from marey.register.staging import StagedMotions, stage_around, stage_clips, stage_loops
from marey.register.support import measure_opposite_feet

# Seconds between knots, and minimum number of frames between them: at high rates, knots every few frames would make the
# timing jitter.
_TIMEWARP_KNOT, _ALIGNMENT_KNOT = 0.13, 0.065


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegistrationCurve(FrozenRecord):
    """n registered motions: corresponding frames, their alignment on the floor, and corresponding contacts.

    Parameters
    ----------
    motions : n motions as registered: cropped, at one rate, with contacts if any could be found.
    timewarp : S(u), seconds in each motion for u from 0 to 1, from first frame to last. For loops, the reference begins
        at 0 and the others within half a frame of that.
    alignment : A(u), rigid2d (theta, x, z) that move each motion at S_j(u) onto the reference at its time.
    matches : corresponding contacts, for each contact point sorted by start.
    reference : index of the motion that the others were aligned with.
    distance : largest of `distances`, in meters.
    distances : (n,) meters, root of the mean D of each motion along its path to the reference; 0 for the reference.
    cyclic : whether the motions are loops, so that u wraps from 1 to 0.
    loops : (n, 3) rigid2d that move each loop's first frame to the frame after its last; None unless cyclic.
    notes : sentences on changes to the motions, and on problems.
    crops : (n, 2) frames used of the inputs, stops exclusive, at the registered rate. A loop that was shifted to begin
        elsewhere has (first, first + its length).

    Examples
    --------
    >>> curve = marey.register([walk, run])
    >>> curve.save("gaits.npz")
    >>> again = type(curve).load("gaits.npz", [walk, run])
    >>> again.n_motions, again.distance == curve.distance
    (2, True)
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
        self._put(motions=motions, matches=tuple(self.matches), notes=tuple(self.notes), cyclic=bool(self.cyclic))
        self._freeze(distances=(n,), crops=(n, 2))
        self._put(reference=check_index(self.reference, "reference, the index of a motion,", n))
        if self.cyclic != (self.loops is not None):
            raise InvalidValue("loops must be given if cyclic is True, and None if it is False")
        self._freeze(loops=(n, 3))
        if self.timewarp.n_motions != n:
            raise InvalidValue(
                f"timewarp must have one column for each of the {n} motions, not {self.timewarp.n_motions} columns"
            )
        for match in self.matches:
            if len(match) != n:
                raise InvalidValue(
                    f"the match of {match.point!r} must have one contact for each of {n} motions, not {len(match)}"
                )

    def __len__(self) -> int:
        return len(self.motions)

    def __repr__(self) -> str:
        kind = "loops" if self.cyclic else "motions"
        return f"<RegistrationCurve: {len(self)} {kind}, {self.distance:.3f} m apart, {len(self.matches)} matches>"

    @property
    def n_motions(self) -> int:
        """Number of motions."""
        return len(self.motions)

    @property
    def fps(self) -> float:
        """Frames per second of the motions."""
        return self.motions[0].fps

    def save(self, path: str | PathLike[str]) -> None:
        """Write the curves, matches and content keys of the motions, but not the motions, to an `.npz` file."""
        from marey.register.files import write_registration

        write_registration(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], motions: Sequence[Motion]) -> RegistrationCurve:
        """Read a file written by `save`.

        Parameters
        ----------
        motions : the registered motions, either as given to `register` or as in the attribute `motions`.

        Examples
        --------
        >>> from marey.register import RegistrationCurve
        >>> marey.register([walk, run]).save("gaits.npz")
        >>> RegistrationCurve.load("gaits.npz", [walk, run]).n_motions
        2
        """
        from marey.register.files import read_registration

        return read_registration(path, motions)


@operation(RegisterSettings)
def register(motions: Iterable[Motion], settings: RegisterSettings) -> RegistrationCurve:
    """Register motions (Kovar 5.2): align them in time and on the floor, and match their contacts.

    Parameters
    ----------
    motions : two or more motions with the same skeleton. They are resampled to the highest of their rates, with a
        warning; missing contacts are detected.

    Raises
    ------
    InvalidValue : for different skeletons, motions that are too short, or motions that are not loops.
    NoTimewarp : if no path satisfies the slope limit.
    NotBlendable : if the motions are too far apart or stand on opposite feet.

    Examples
    --------
    >>> curve = marey.register([walk, run])
    >>> curve.timewarp(0.5).shape, curve.alignment(0.5).shape
    ((2,), (2, 3))
    >>> [match.point for match in curve.matches][:2]
    ['left_heel', 'left_heel']
    """
    cyclic, start = settings.cyclic or settings.cut_loops, settings.start
    given = list_clips(motions, "registration", min_clips=2)
    if settings.cut_loops:
        given = tuple(cycle(motion) for motion in given)
    ready, notes = prepare_motions(given, settings.retarget)
    ref = (
        None
        if settings.reference is None
        else check_index(settings.reference, "reference, the index of a motion,", len(ready))
    )
    if start is not None and (cyclic or len(ready) != 2):
        raise InvalidValue(
            "`start=` applies only to two motions that are not loops, not to "
            f"{len(ready)}{' loops' if cyclic else ' motions'}",
            parameter="start",
        )
    clouds = [point_clouds(motion, settings.markers) for motion in ready]
    if cyclic:
        staged = stage_loops(ready, clouds, ref, settings)
    elif start is not None:
        if given[0].fps != given[1].fps:  # frames are those of the given motions
            i, j = (round(frame * now.fps / own.fps) for frame, now, own in zip(start, ready, given, strict=True))
            start = i, j
        staged = stage_around(ready, clouds, start, ref, settings)
    else:
        staged = stage_clips(ready, clouds, ref, settings.crop == "auto", settings)
    return _build(staged, notes, settings)


def _build(staged: StagedMotions, notes: tuple[str, ...], options: PathSettings) -> RegistrationCurve:
    """Build the curves along the paths; raise an error if motions are too far apart or on opposite feet."""
    notes += staged.notes
    distances = np.array([0.0 if path is None else path.distance for path in staged.paths])
    worst = int(np.argmax(distances))
    names = name_clip(staged.motions[worst], worst), name_clip(staged.motions[staged.reference], staged.reference)
    if distances[worst] > options.max_distance:
        notes += _refuse(
            f"{names[0]} and {names[1]} are {distances[worst]:.3f} m apart along the path (root mean square), more "
            f"than {options.max_distance:g} m",
            options.force,
        )
    timewarp = _fit_timewarp(staged)
    fractions = np.array([_measure_opposite(staged, timewarp, j) for j in range(len(staged.motions))])
    worst = int(np.argmax(fractions))
    if fractions[worst] > options.max_opposite:
        names = name_clip(staged.motions[worst], worst), names[1]
        notes += _refuse(
            f"{names[0]} and {names[1]} stand on opposite feet for {100 * fractions[worst]:.0f} % of the time, more "
            f"than {100 * options.max_opposite:g} %",
            options.force,
        )
    # Compare single frames: windows of motions at different speeds would contain different parts of the action.
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
    """Return the number of frames between knots of the timewarp."""
    return max(KNOT_EVERY, seconds * staged.clouds[0].fps)


def _fit_timewarp(staged: StagedMotions) -> TimewarpCurve:
    cyclic, every = staged.loops is not None, _space_knots(staged, _TIMEWARP_KNOT)
    # A loop has no special first frame, so its ends need not be exact.
    pairs = [
        None
        if path is None
        else TimewarpCurve.fit(path.seconds, knot_every=every, exact_ends=not cyclic, cyclic=cyclic)
        for path in staged.paths
    ]
    if cyclic:
        return _merge_loops(staged, pairs, every)
    if len(pairs) > 2:
        return merge_timewarps(staged.reference, pairs, staged.clouds[0].fps, knot_every=every)
    only = next(pair for pair in pairs if pair is not None)
    return only if staged.reference == 0 else TimewarpCurve(only.points[:, ::-1])


def _merge_loops(staged: StagedMotions, pairs: Sequence[TimewarpCurve | None], every: float) -> TimewarpCurve:
    """Merge the timewarps of all loops over one cycle, starting at the reference's first frame."""
    length = len(staged.motions[staged.reference])
    seconds = np.arange(length + 1) / staged.clouds[0].fps
    samples = [seconds if pair is None else pair(pair.inverse(0, seconds))[:, 1] for pair in pairs]
    return TimewarpCurve.fit(np.stack(samples, axis=1), knot_every=every, exact_ends=False, cyclic=True)


def _measure_opposite(staged: StagedMotions, timewarp: TimewarpCurve, j: int) -> float:
    """Compute the fraction of the time for which motion j and the reference stand on opposite feet."""
    if j == staged.reference:
        return 0.0
    seconds = timewarp(np.linspace(0.0, 1.0, 2 * max(len(motion) for motion in staged.motions)))
    a, b = seconds[:, staged.reference], seconds[:, j]
    # Samples are evenly spaced in the mean of both motions' times.
    passed = (a - a[0]) / (a[-1] - a[0]) + (b - b[0]) / (b[-1] - b[0])
    even = (np.arange(len(passed)) + 0.5) * 2.0 / len(passed)
    return measure_opposite_feet(
        staged.motions[staged.reference], staged.motions[j], np.interp(even, passed, a), np.interp(even, passed, b)
    )


def _refuse(reason: str, force: bool) -> tuple[str, ...]:
    """Raise `NotBlendable` with the reason, or return it as a note if `force` is set."""
    if not force:
        raise NotBlendable(
            reason,
            parameter="force",
            remedy="use other motions, crop them by hand, or use `force=True` to accept this",
        )
    return (f"accepted by force, although {reason}",)
