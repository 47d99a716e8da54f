"""Build a space of parametric motion from examples (Kovar 6.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, convert_array, freeze_array, set_readonly
from marey.core.clips import list_clips, name_clip
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue, MareyError, NotBlendable
from marey.parametric.dense import upsample
from marey.parametric.features import Feature, as_features
from marey.parametric.measured import BlendMeasurer, check_finite
from marey.parametric.moments import find_at_ends, find_marks, find_moments, snap_apexes
from marey.parametric.notes import filter_notes, make_names_unique, restore_names, warn_left_out
from marey.parametric.refine import choose_examples
from marey.parametric.sampling import measure_samples, sample_weights
from marey.parametric.settings import SpaceSettings
from marey.register.crop import crop_gaits
from marey.register.registration import RegistrationCurve
from marey.register.settings import PairSettings
from marey.register.tree import check_parents, prune_tree, register_tree, select_motions

if TYPE_CHECKING:
    from marey.parametric.space import ParametricMotion

__all__ = ["build_space"]

STEPS = {"m": 0.03, "rad": math.radians(3.0), "m/s": 0.05, "rad/s": 0.15, "s": 0.03, "rad/m": 0.03}
"""Distance from a sample within which a target counts as reachable, keyed by unit."""
# As `STEPS`, for other units: a fraction of the examples' range.
_STEP_OF_RANGE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class _RegisteredExamples:
    """Registered examples.

    registration : registration of the examples that could be used.
    indices : (n,) their indices among the given motions.
    moments : u of each feature's pose; see `find_moments`.
    notes : sentences about the examples, also about those left out.
    """

    registration: RegistrationCurve
    indices: Ints
    moments: tuple[float, ...]
    notes: tuple[str, ...]


@operation(SpaceSettings)
def build_space(cls: type[ParametricMotion], examples: object, settings: SpaceSettings) -> ParametricMotion:
    """Build a space of motions from n examples of one action.

    Parameters
    ----------
    examples : the result of `web.search` (its `motions` and `parents` are used), a list of motions that each contain
        the action from their first frame to their last, or a `RegistrationCurve` of such motions. Walks may be longer:
        see `crop`.

    Raises
    ------
    InvalidValue : if there are fewer than two examples, a feature fails or returns no finite numbers, or shapes do not
        match.
    NotBlendable : if fewer than two examples can be registered.

    Warns
    -----
    MareyWarning : if examples are left out because they cannot be registered; `notes` lists them too.

    Examples
    --------
    >>> space = marey.ParametricMotion.build(kicks, "position:right_ball@highest")
    >>> space.names, space.parameters.shape
    (('right_ball x', 'right_ball y', 'right_ball z'), (5, 3))
    """
    given, parents, reg = _unpack_examples(examples)
    if reg is None:
        given = share_skeleton(given, settings.retarget)
    motions = given if reg is not None else make_names_unique(given)
    crop_notes: tuple[str, ...] = ()
    if settings.crop == "auto" and reg is None and parents is None and settings.apexes is None:
        cropped = crop_gaits(motions)
        if cropped is not None:
            motions, crop_notes = cropped[0], (cropped[1],)
    report = settings.progress or (lambda fraction: None)
    if (settings.values is None) == (settings.feature is None):
        count = "neither" if settings.values is None else "both"
        raise InvalidValue(f"pass either `feature=` to measure or `values=`, not {count}")
    if settings.values is not None:
        return _build_by_hand(cls, (given, motions), parents, reg, settings)
    features, apexes = as_features(settings.feature), settings.apexes
    if settings.snap is not None:
        if apexes is not None or reg is not None:
            raise InvalidValue(
                "`snap=` cannot be combined with `apexes=` or with a registration; omit `apexes=`, and pass the "
                "motions themselves"
            )
        apexes = snap_apexes(motions, parents, features, settings)
    staged = _register_examples(motions, parents, reg, features, apexes, settings)
    warn_left_out(staged.notes, len(motions), stacklevel=3)
    report(0.2)
    aligned = staged.registration
    measurer = BlendMeasurer(upsample(aligned), features, staged.moments, aligned.fps)
    own = _measure_examples(measurer)
    scale = _choose_scale(settings.scale, own, features)
    notes, indices = (*crop_notes, *staged.notes), staged.indices
    if settings.redundant is not None:
        tolerance = _check_tolerance(settings.redundant, own.shape[1])
        keep = choose_examples(measurer, own, scale, tolerance, settings.delta)
        dropped = [name_clip(aligned.motions[j], j) for j in range(len(own)) if j not in set(keep.tolist())]
        if dropped:
            notes += (f"{len(dropped)} examples are redundant and left out: {', '.join(dropped)}",)
            aligned, own, indices = select_motions(aligned, keep.tolist())[0], own[keep], indices[keep]
            measurer = BlendMeasurer(upsample(aligned), features, staged.moments, aligned.fps)
    report(0.4)
    rng = np.random.default_rng(settings.rng)
    which, weights = sample_weights(own / scale, settings.samples, settings.delta, settings.expand, rng)
    try:
        reached, blended, blend_weights = measure_samples(measurer, own, scale, which, weights, settings.spacing)
    except MareyError as error:
        raise InvalidValue(f"the feature cannot be measured on a blend of examples: {error}") from error
    report(1.0)
    return cls(
        registration=restore_names(aligned, given, indices),
        features=features,
        moments=staged.moments,
        parameters=set_readonly(own),
        samples=set_readonly(reached),
        sample_examples=set_readonly(blended),
        sample_weights=set_readonly(blend_weights),
        scale=scale,
        delta=settings.delta,
        k=settings.k,
        notes=notes,
        example_indices=indices,
    )


def _unpack_examples(given: Any) -> tuple[tuple[Motion, ...], Ints | None, RegistrationCurve | None]:
    if isinstance(given, RegistrationCurve):
        return given.motions, None, given
    if isinstance(given, Motion):
        raise InvalidValue(
            "a parametric space needs at least two examples, not one; add other motions of the same action"
        )
    parents = getattr(given, "parents", None)
    motions = list_clips(getattr(given, "motions", given), "a parametric space", 0)
    if len(motions) < 2:
        raise InvalidValue(
            f"a parametric space needs at least two examples, not {len(motions)}; add other motions of "
            "the same action, or search with a larger threshold"
        )
    return motions, None if parents is None else np.asarray(parents), None


def _register_examples(
    motions: Sequence[Motion],
    parents: Ints | None,
    reg: RegistrationCurve | None,
    features: Sequence[Feature],
    apexes: ArrayLike | None,
    settings: SpaceSettings,
) -> _RegisteredExamples:
    """Register the examples and find the times at which features are measured.

    Examples that cannot be registered are left out. apexes : (n,) frames at which pose features are measured, or None.
    """
    marks, columns = find_marks(motions, features, apexes)
    seconds = marks / np.array([[motion.fps] for motion in motions])
    if reg is not None:
        return _RegisteredExamples(
            reg, np.arange(len(motions)), find_moments(reg, features, seconds, columns), reg.notes
        )
    inside = find_at_ends(motions, marks) if settings.landmarks else dict[int, str]()
    fit = [j for j in range(len(motions)) if j not in inside]
    if len(fit) < 2:
        raise NotBlendable(
            f"a parametric space needs at least two examples, but only {len(fit)} can be used. Rejected: "
            f"{'; '.join(inside.values())}"
        )
    notes = tuple(f"{name_clip(motions[j], j)} is left out: {inside[j]}" for j in sorted(inside))
    forced = marks[fit] if settings.landmarks and marks.shape[1] else None
    if forced is not None and (np.diff(forced, axis=1) < 0).any():
        notes += (
            "the times of the features come in a different order in some motions, so only the time of the first "
            "feature is aligned",
        )
        forced = forced[:, :1]
    timed = any(not isinstance(feature.moment, str) for feature in features if feature.is_pose) and apexes is None
    along = register_tree(
        [motions[j] for j in fit],
        parents=_restrict_tree(parents, fit),
        landmarks=forced,
        reference=0 if timed and parents is None and fit[0] == 0 else None,
        **settings.select(PairSettings),
    )
    indices = np.array(fit)[along.kept]
    moments = find_moments(along.registration, features, seconds[indices], columns)
    notes += filter_notes(along.registration.notes, (motions[fit[k]] for k in along.left_out))
    return _RegisteredExamples(replace(along.registration, notes=notes), indices, moments, notes)


def _restrict_tree(parents: Ints | None, fit: Sequence[int]) -> Ints | None:
    """Restrict the tree of motions `parents` to the indices `fit`.

    A motion whose parent is dropped gets its nearest remaining ancestor as parent. Return None without a tree, or if
    its root is dropped.
    """
    if parents is None:
        return None
    tree = check_parents(parents, len(parents))
    hung = prune_tree(tree, fit)
    return hung if (hung < 0).sum() == 1 and tree[fit[int(np.argmin(hung))]] < 0 else None


def _measure_examples(measurer: BlendMeasurer) -> Floats:
    """Measure the parameters (n, d) of the examples, each as a blend with weight 1."""
    n = measurer.registration.n_motions
    own = np.empty((n, measurer.n_dims))
    for j, motion in enumerate(measurer.registration.motions):
        try:
            own[j] = measurer.measure_weights(np.array([[j]]), np.ones((1, 1)))[0]
        except MareyError as error:
            raise InvalidValue(f"the feature cannot be measured on {name_clip(motion, j)}: {error}") from error
        check_finite(own[j], measurer.features, name_clip(motion, j))
    return own


def _choose_scale(scale: ArrayLike | None, own: Floats, features: Sequence[Feature]) -> Floats:
    units = [unit for feature in features for unit in feature.units]
    if scale is not None:
        steps: Floats = freeze_array(np.atleast_1d(convert_array(scale, "scale")), "scale", (len(units),))
        if not (steps > 0.0).all():
            raise InvalidValue(f"scale must be greater than 0 in each dimension, not {steps.tolist()}")
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
        raise InvalidValue(f"redundant must be one number greater than 0, or {d} of them, not {given!r}")
    return np.broadcast_to(numbers, (d,))


def _build_by_hand(
    cls: type[ParametricMotion],
    motions_of: tuple[Sequence[Motion], Sequence[Motion]],
    parents: Ints | None,
    reg: RegistrationCurve | None,
    settings: SpaceSettings,
) -> ParametricMotion:
    """Build a space whose parameters are given by hand; its only samples are the examples (Kovar 6.4.2).

    motions_of : the motions as given, and with unique names.
    """
    given, motions = motions_of
    table = convert_array(settings.values, "values")
    table = table[:, None] if table.ndim == 1 else table
    table = freeze_array(table, "values", (len(motions), None))
    d = table.shape[1]
    named = tuple(settings.names) or tuple(f"value {k}" for k in range(d))
    if len(named) != d:
        raise InvalidValue(f"names must have one entry for each of {d} values, not {len(named)}")
    indices = np.arange(len(motions))
    if reg is None:
        along = register_tree(motions, parents=parents, **settings.select(PairSettings))
        notes = filter_notes(along.registration.notes, (motions[k] for k in along.left_out))
        warn_left_out(notes, len(motions), stacklevel=4)
        table, indices = table[along.kept], along.kept
        reg = restore_names(replace(along.registration, notes=notes), given, indices)
    n = reg.n_motions
    features = (Feature("given", names=named, units=("",) * d),)
    alone, full = np.arange(n)[:, None], np.ones((n, 1))
    scale = _choose_scale(settings.scale, table, features)
    limits = settings.delta, settings.k
    return cls(reg, features, (math.nan,), table, table, alone, full, scale, *limits, reg.notes, indices)
