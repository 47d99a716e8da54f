"""Build a space of parametric motion from examples (Kovar 6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, check_index, check_number, convert_array, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError, NotBlendable
from marey.parametric.dense import densified
from marey.parametric.features import Feature, features_of
from marey.parametric.measured import Measured, check_finite
from marey.parametric.notes import kept_notes, named_again, told_apart, warn_left_out
from marey.parametric.sampling import measured_samples, sample_weights
from marey.parametric.snap import snapped_apexes
from marey.parametric.space import ParametricMotion
from marey.parametric.thin import redundant_examples
from marey.register.along import checked_parents, chosen, register_along, rehung_tree
from marey.register.prepare import told
from marey.register.registration import RegistrationCurve

__all__ = ["build_space"]

STEPS = {"m": 0.03, "rad": math.radians(3.0), "m/s": 0.05, "rad/s": 0.15, "s": 0.03, "rad/m": 0.03}
"""By unit, the distance from a sample within which a target counts as reachable."""
# The same for other units, as a fraction of the range of the examples.
_STEP_OF_RANGE = 0.05
# Half an inch relative to 3 cm: samples closer than this, in units of the scale, are merged (Kovar 6.3.2).
_SPACING = 0.0127 / 0.03
# An apex this few frames from either end of a motion leaves nothing to register beyond it.
_FROM_END = 3
_MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Registered:
    """Registered examples: their indices among those given, their moments, and notes, also on those left out."""

    registration: RegistrationCurve
    kept: Ints
    moments: tuple[float, ...]
    notes: tuple[str, ...]


def build_space(
    examples: Any,
    feature: Any = None,
    *,
    values: ArrayLike | None = None,
    names: Iterable[str] = (),
    samples: int = 1000,
    delta: float = 0.1,
    k: int = 12,
    expand: float = 0.2,
    scale: ArrayLike | None = None,
    spacing: float = _SPACING,
    redundant: ArrayLike | None = None,
    apexes: ArrayLike | None = None,
    snap: str | None = None,
    landmarks: bool = True,
    rng: int | np.random.Generator | None = 0,
    window: float = 0.1,
    slope_limit: int = 2,
    markers: str | Sequence[str] = "body",
    max_distance: float = 0.30,
    force: bool = False,
    progress: Callable[[float], None] | None = None,
) -> ParametricMotion:
    """Build a space of motions between examples of one action.

    Parameters
    ----------
    examples : the result of `web.search` (its `motions` and `parents`), any motions of one action from its first frame
        to its last, or a `RegistrationCurve` of them.
    feature : the parameters of the space: a Feature such as `marey.parametric.position`, a text such as
        ``"position:right_foot@highest"`` or ``"turn,speed"``, a function of a Motion, or several of these.
    values : (n, d) or (n,) instead of `feature`: numbers given by hand, such as 0 for sad and 1 for happy. They cannot
        be measured, so there is no sampling (Kovar 6.4.2) and no error.
    names : of the numbers in `values`.
    samples : number of blends to sample; 0 for none.
    delta : how far weights may exceed [0, 1].
    k : number of nearest samples that determine the weights for a target.
    expand : extra size of the sampled box, relative to the box of the examples.
    scale : (d,) distances that count as equal in each dimension. By default 3 cm, 3 degrees, 0.05 m/s and so on, by
        unit. A target within this distance of a sample is reachable.
    spacing : samples closer to another than this, in units of `scale`, are dropped.
    redundant : a number, or one for each dimension: examples whose parameters can be blended from others to within this
        are left out. None keeps all.
    apexes : (n,) frames of the moment that the pose features refer to, instead of those found.
    snap : "farthest", "highest", "lowest", "fastest" or "slowest": if a feature's moment is given in seconds of the
        reference, use for each example its largest such extreme within 0.2 s of the position given by the timewarp.
        None uses the position given by the timewarp.
    landmarks : register the motions so that these moments coincide. False maps the reference's moment through the
        timewarp (Kovar 6.3.1).
    rng : seed or Generator of the sampling.
    window, slope_limit, markers, max_distance, force : as for `marey.register.along.register_along`.
    progress : called with the completed fraction.

    Raises
    ------
    InvalidValue : fewer than two examples, features that fail or return no numbers, shapes that do not match.
    NotBlendable : fewer than two examples that can be registered.

    Warns
    -----
    MareyWarning : on examples left out because they cannot be registered; `notes` also lists them.
    """
    given, parents, reg = _unpack_examples(examples)
    motions = given if reg is not None else told_apart(given)
    shown = progress or (lambda share: None)
    options: dict[str, Any] = {
        "window": window, "slope_limit": slope_limit, "markers": markers, "max_distance": max_distance, "force": force,
    }  # fmt: skip
    limits = check_number(delta, "delta= or --delta"), _check_count(k, "k=", 1)
    n_samples = _check_count(samples, "samples= or --samples", 0)
    if (values is None) == (feature is None):
        raise InvalidValue("expected either feature= to measure or values= given by hand, and not both")
    if values is not None:
        return _build_by_hand((given, motions), parents, reg, values, names, scale, limits, options)
    features = features_of(feature)
    if snap is not None:
        if apexes is not None or reg is not None:
            raise InvalidValue(
                "snap= is for motions and a moment given in seconds; leave out apexes= and registrations"
            )
        apexes = snapped_apexes(motions, parents, features, snap, options)
    staged = _register_examples(motions, parents, reg, features, apexes, landmarks, options)
    warn_left_out(staged.notes, len(motions), stacklevel=3)
    shown(0.2)
    aligned = staged.registration
    measured = Measured(densified(aligned), features, staged.moments, aligned.fps)
    own = _measure_examples(measured)
    steps = _choose_scale(scale, own, features)
    notes, kept = staged.notes, staged.kept
    if redundant is not None:
        keep = redundant_examples(measured, own, steps, _check_tolerance(redundant, own.shape[1]), limits[0])
        dropped = [told(aligned.motions[j], j) for j in range(len(own)) if j not in set(keep.tolist())]
        if dropped:
            notes += (f"{len(dropped)} examples are redundant and left out: {', '.join(dropped)}",)
            aligned, own, kept = chosen(aligned, keep.tolist())[0], own[keep], kept[keep]
            measured = Measured(densified(aligned), features, staged.moments, aligned.fps)
    shown(0.4)
    which, weights = sample_weights(own / steps, n_samples, limits[0], check_number(expand, "expand="), _make_rng(rng))
    try:
        reached, blended, shares = measured_samples(
            measured, own, steps, which, weights, check_number(spacing, "spacing=")
        )
    except MareyError as error:
        raise InvalidValue(f"the feature of a blend of examples cannot be computed: {error}") from error
    shown(1.0)
    return ParametricMotion(
        registration=named_again(aligned, given, kept),
        features=features,
        moments=staged.moments,
        parameters=set_readonly(own),
        samples=set_readonly(reached),
        sample_examples=set_readonly(blended),
        sample_weights=set_readonly(shares),
        scale=steps,
        delta=limits[0],
        k=limits[1],
        notes=notes,
        kept=kept,
    )


def _unpack_examples(given: Any) -> tuple[tuple[Motion, ...], Ints | None, RegistrationCurve | None]:
    if isinstance(given, RegistrationCurve):
        return given.motions, None, given
    if isinstance(given, Motion):
        raise InvalidValue("a space needs two examples or more, got one motion; add others of the same action")
    parents = getattr(given, "parents", None)
    motions = tuple(getattr(given, "motions", given))
    for motion in motions:
        if not isinstance(motion, Motion):
            raise InvalidValue(f"a space is built from motions, got {type(motion).__name__}; load files first")
    if len(motions) < 2:
        raise InvalidValue(
            f"a space needs two examples or more, got {len(motions)}; add others of the same action, or search with a "
            "larger threshold"
        )
    return motions, None if parents is None else np.asarray(parents), None


def _register_examples(
    motions: Sequence[Motion],
    parents: Ints | None,
    reg: RegistrationCurve | None,
    features: Sequence[Feature],
    apexes: ArrayLike | None,
    landmarks: bool,
    options: dict[str, Any],
) -> _Registered:
    """Register the examples through the moments found in them."""
    marks, columns = _find_marks(motions, features, apexes)
    seconds = marks / np.array([[motion.fps] for motion in motions])
    if reg is not None:
        return _Registered(reg, np.arange(len(motions)), _find_moments(reg, features, seconds, columns), reg.notes)
    inside = _find_at_ends(motions, marks) if landmarks else dict[int, str]()
    fit = [j for j in range(len(motions)) if j not in inside]
    if len(fit) < 2:
        raise NotBlendable(f"a space needs two examples or more, and {len(fit)} remain: {'; '.join(inside.values())}")
    notes = tuple(f"{told(motions[j], j)} is left out: {inside[j]}" for j in sorted(inside))
    forced = marks[fit] if landmarks and marks.shape[1] else None
    if forced is not None and (np.diff(forced, axis=1) < 0).any():
        notes += ("the moments come in a different order in some motions, so only the first feature's is aligned",)
        forced = forced[:, :1]
    timed = any(not isinstance(feature.at, str) for feature in features if feature.is_pose) and apexes is None
    along = register_along(
        [motions[j] for j in fit],
        _remaining_tree(parents, fit),
        landmarks=forced,
        reference=0 if timed and parents is None and fit[0] == 0 else None,
        **options,
    )
    kept = np.array(fit)[along.kept]
    moments = _find_moments(along.registration, features, seconds[kept], columns)
    notes += kept_notes(along.registration.notes, (motions[fit[k]] for k in along.left_out))
    return _Registered(replace(along.registration, notes=notes), kept, moments, notes)


def _find_marks(
    motions: Sequence[Motion], features: Sequence[Feature], apexes: ArrayLike | None
) -> tuple[Ints, dict[int, int]]:
    """(n, L) frames of the moments found in each motion, and the column of each pose feature."""
    columns: dict[int, int] = {}
    if apexes is not None:
        given = convert_array(apexes, "apexes", np.int64)
        if given.shape != (len(motions),):
            raise InvalidValue(f"apexes must be one frame for each of {len(motions)} motions, got shape {given.shape}")
        for j, (frame, motion) in enumerate(zip(given.tolist(), motions, strict=True)):
            if not 0 <= frame < len(motion):
                raise InvalidValue(f"the apex of {told(motion, j)} must be a frame from 0 to {len(motion) - 1}")
        return given[:, None], {k: 0 for k, feature in enumerate(features) if feature.is_pose}
    kinds: dict[tuple[Any, ...], int] = {}
    found: list[list[int]] = []
    for k, feature in enumerate(features):
        if not (feature.is_pose and feature.is_found):
            continue
        kind = (feature.at, feature.of or feature.joint)
        if kind not in kinds:
            kinds[kind] = len(found)
            found.append([_find_apex(feature, motion, j) for j, motion in enumerate(motions)])
        columns[k] = kinds[kind]
    marks = np.array(found, dtype=np.int64).reshape(len(found), len(motions)).T
    return marks, columns


def _find_apex(feature: Feature, motion: Motion, j: int) -> int:
    try:
        return feature.frame(motion)
    except MareyError as error:
        raise InvalidValue(f"no moment for {feature.told} in {told(motion, j)}: {error}") from None


def _find_at_ends(motions: Sequence[Motion], marks: Ints) -> dict[int, str]:
    """Motions whose moment lies at one of their ends, and a sentence on each."""
    out = {}
    for j, (row, motion) in enumerate(zip(marks.tolist(), motions, strict=True)):
        for frame in row:
            if not _FROM_END <= frame < len(motion) - _FROM_END:
                out[j] = f"its moment, frame {frame} of {len(motion)}, lies at its end; cut it with more frames there"
    return out


def _remaining_tree(parents: Ints | None, fit: Sequence[int]) -> Ints | None:
    """The tree of the remaining motions; None if its root is not among them."""
    if parents is None:
        return None
    tree = checked_parents(parents, len(parents))
    hung = rehung_tree(tree, fit)
    return hung if (hung < 0).sum() == 1 and tree[fit[int(np.argmin(hung))]] < 0 else None


def _find_moments(
    reg: RegistrationCurve, features: Sequence[Feature], seconds: Floats, columns: dict[int, int]
) -> tuple[float, ...]:
    """u of each feature's pose, from the reference's own moment (n, L) or from the given seconds."""
    out = []
    motion = reg.motions[reg.reference]
    for k, feature in enumerate(features):
        if not feature.is_pose:
            out.append(math.nan)
        elif k in columns:
            out.append(float(reg.timewarp.inverse(reg.reference, seconds[reg.reference, columns[k]])))
        elif isinstance(feature.at, str):
            out.append(0.0 if feature.at == "start" else 1.0)
        else:
            assert feature.at is not None
            if feature.at > motion.duration:
                raise InvalidValue(
                    f"{feature.told} refers to {feature.at:g} s, but {told(motion, reg.reference)} ends at "
                    f"{motion.duration:.2f} s"
                )
            out.append(float(reg.timewarp.inverse(reg.reference, feature.at)))
    return tuple(out)


def _measure_examples(measured: Measured) -> Floats:
    """(n, d) parameters of the examples, each as a blend with weight 1."""
    n = measured.registration.n_motions
    own = np.empty((n, measured.n_dims))
    for j, motion in enumerate(measured.registration.motions):
        try:
            own[j] = measured.of_weights(np.array([[j]]), np.ones((1, 1)))[0]
        except MareyError as error:
            raise InvalidValue(f"the feature of {told(motion, j)} cannot be computed: {error}") from error
        check_finite(own[j], measured.features, told(motion, j))
    return own


def _choose_scale(scale: ArrayLike | None, own: Floats, features: Sequence[Feature]) -> Floats:
    units = [unit for feature in features for unit in feature.units]
    if scale is not None:
        steps: Floats = freeze_array(np.atleast_1d(convert_array(scale, "scale")), "scale", (len(units),))
        if not (steps > 0.0).all():
            raise InvalidValue(f"scale must be above 0 in each dimension, got {steps.tolist()}")
        return steps
    size = np.ptp(own, axis=0)
    return set_readonly(
        np.array(
            [
                STEPS.get(unit) or (_STEP_OF_RANGE * width if width > 0.0 else 1.0)
                for unit, width in zip(units, size, strict=True)
            ]
        )
    )


def _check_tolerance(given: ArrayLike, d: int) -> Floats:
    numbers = np.atleast_1d(convert_array(given, "redundant"))
    if numbers.shape not in ((1,), (d,)) or not (np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise InvalidValue(f"redundant must be a number above 0, or {d} of them, got {given!r}")
    return np.broadcast_to(numbers, (d,))


def _build_by_hand(
    motions_of: tuple[Sequence[Motion], Sequence[Motion]],
    parents: Ints | None,
    reg: RegistrationCurve | None,
    values: ArrayLike,
    names: Iterable[str],
    scale: ArrayLike | None,
    limits: tuple[float, int],
    options: dict[str, Any],
) -> ParametricMotion:
    """A space of given, unmeasured numbers: neighbors among the examples alone (Kovar 6.4.2).

    motions_of : as given, and with unique names.
    """
    given, motions = motions_of
    table = convert_array(values, "values")
    table = table[:, None] if table.ndim == 1 else table
    table = freeze_array(table, "values", (len(motions), None))
    d = table.shape[1]
    named = tuple(names) or tuple(f"value {k}" for k in range(d))
    if len(named) != d:
        raise InvalidValue(f"expected a name for each of {d} values, got {len(named)}")
    kept = np.arange(len(motions))
    if reg is None:
        along = register_along(motions, parents, **options)
        notes = kept_notes(along.registration.notes, (motions[k] for k in along.left_out))
        warn_left_out(notes, len(motions), stacklevel=4)
        table, kept = table[along.kept], along.kept
        reg = named_again(replace(along.registration, notes=notes), given, kept)
    n = reg.n_motions
    features = (Feature("given", names=named, units=("",) * d),)
    alone, full = np.arange(n)[:, None], np.ones((n, 1))
    steps = _choose_scale(scale, table, features)
    return ParametricMotion(reg, features, (math.nan,), table, table, alone, full, steps, *limits, reg.notes, kept)


def _check_count(value: Any, what: str, least: int) -> int:
    count = check_index(value, what)
    if not least <= count <= _MAX_SAMPLES:
        raise InvalidValue(f"{what} must be from {least} to {_MAX_SAMPLES:,}, got {count}")
    return count


def _make_rng(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidValue(f"rng must be a whole number of at least 0, or a Generator, got {rng!r}") from None
