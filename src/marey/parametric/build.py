"""Build a space of parametric motion from examples (Kovar 6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, check_index, check_number, convert_array, freeze_array, set_readonly
from marey.core.clips import list_clips, name_clip
from marey.core.motion import Motion
from marey.deprecation import bundled_parameters
from marey.errors import InvalidValue, MareyError, NotBlendable
from marey.parametric.dense import upsample
from marey.parametric.features import Feature, as_features
from marey.parametric.measured import BlendMeasurer, check_finite
from marey.parametric.moments import find_at_ends, find_marks, find_moments, snap_apexes
from marey.parametric.notes import filter_notes, make_names_unique, restore_names, warn_left_out
from marey.parametric.refine import choose_examples
from marey.parametric.sampling import measure_samples, sample_weights
from marey.register.dtw import SLOPE_LIMIT
from marey.register.registration import RegistrationCurve
from marey.register.tree import check_parents, prune_tree, register_tree, select_motions

if TYPE_CHECKING:
    from marey.parametric.space import ParametricMotion

__all__ = ["SpaceSettings", "build_space"]

STEPS = {"m": 0.03, "rad": math.radians(3.0), "m/s": 0.05, "rad/s": 0.15, "s": 0.03, "rad/m": 0.03}
"""Distance from a sample within which a target counts as reachable, keyed by unit."""
# The same distance for other units, as a fraction of the examples' range.
_STEP_OF_RANGE = 0.05
# Samples closer than this to another are dropped, in units of the scale: half an inch for a scale of 3 cm (Kovar
# 6.3.2).
_SPACING = 0.0127 / 0.03
_MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Registered:
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


@dataclass(frozen=True, slots=True)
class SpaceSettings:
    """Settings of a space that rarely need to change.

    delta : blend weights may lie in [-delta, 1 + delta].
    k : number of nearest samples that determine the weights for a target.
    expand : how much larger the sampled box is than the bounding box of the examples, as a fraction of its size.
    scale : (d,) distance in each dimension that counts as one unit. A target within one unit of a sample is reachable.
        The default depends on the dimension's unit: 3 cm, 3 degrees, 0.05 m/s and so on (see `STEPS`).
    spacing : samples closer than this to another, in units of `scale`, are dropped.
    apexes : (n,) frame in each motion that the pose features are measured at; by default, the frames are found.
    snap : "farthest", "highest", "lowest", "fastest" or "slowest". If a feature's moment is given in seconds of the
        reference motion, the timewarp maps it to the other motions, and `snap` moves it to the largest such extreme
        within 0.2 s. None uses the result of the timewarp.
    landmarks : register the motions in such a way that these moments coincide. If False, the timewarp maps the
        reference's moment to the other motions (Kovar 6.3.1).
    window, slope_limit, markers : options of the registration; see `marey.register.register_tree`.
    """

    delta: float = 0.1
    k: int = 12
    expand: float = 0.2
    scale: ArrayLike | None = None
    spacing: float = _SPACING
    apexes: ArrayLike | None = None
    snap: str | None = None
    landmarks: bool = True
    window: float = 0.1
    slope_limit: int = SLOPE_LIMIT
    markers: str | Sequence[str] = "body"

    def __post_init__(self) -> None:
        check_number(self.delta, "delta")
        check_number(self.expand, "expand")
        check_number(self.spacing, "spacing")
        _check_count(self.k, "k", 1)


@bundled_parameters("settings", SpaceSettings, **{field.name: field.name for field in fields(SpaceSettings)})
def build_space(
    cls: type[ParametricMotion],
    examples: Any,
    feature: Any = None,
    *,
    values: ArrayLike | None = None,
    names: Iterable[str] = (),
    samples: int = 1000,
    redundant: ArrayLike | None = None,
    max_distance: float = 0.30,
    force: bool = False,
    rng: int | np.random.Generator = 0,
    settings: SpaceSettings | None = None,
    progress: Callable[[float], None] | None = None,
) -> ParametricMotion:
    """Build a space of motions from n examples of one action.

    Parameters
    ----------
    examples : the result of `web.search` (its `motions` and `parents` are used), a list of motions that each contain
        the action from their first frame to their last, or a `RegistrationCurve` of such motions.
    feature : the d parameters of the space: a Feature such as `marey.parametric.position`, a text such as
        ``"position:right_foot@highest"`` or ``"turn,speed"``, a function of a Motion, or several of these.
    values : (n, d) or (n,) numbers given by hand instead of `feature`, such as 0 for sad and 1 for happy. They cannot
        be measured, so there is no sampling (Kovar 6.4.2), and errors are unknown.
    names : names of the d numbers in `values`.
    samples : number of blends to sample; 0 for none.
    redundant : tolerance, one number or one for each dimension, in units of the parameters. Examples whose parameters
        can be blended from other examples within this tolerance are left out. None keeps all.
    max_distance, force : options of the registration; see `marey.register.register_tree`.
    rng : random seed or generator for the sampling.
    settings : all other settings; see `SpaceSettings`.
    progress : called with the completed fraction, from 0 to 1.

    Raises
    ------
    InvalidValue : if there are fewer than two examples, a feature fails or returns no finite numbers, or shapes do not
        match.
    NotBlendable : if fewer than two examples can be registered.

    Warns
    -----
    MareyWarning : if examples are left out because they cannot be registered; `notes` lists them too.
    """
    given, parents, reg = _unpack_examples(examples)
    motions = given if reg is not None else make_names_unique(given)
    report = progress or (lambda fraction: None)
    how = SpaceSettings() if settings is None else settings
    options: dict[str, Any] = {
        "window": how.window, "slope_limit": how.slope_limit, "markers": how.markers, "max_distance": max_distance,
        "force": force,
    }  # fmt: skip
    n_samples = _check_count(samples, "samples", 0)
    if (values is None) == (feature is None):
        raise InvalidValue("pass either feature= to measure or values=, not both")
    if values is not None:
        return _build_by_hand(cls, (given, motions), parents, reg, (values, names), how, options)
    features, apexes = as_features(feature), how.apexes
    if how.snap is not None:
        if apexes is not None or reg is not None:
            raise InvalidValue(
                "snap= applies only to motions and a moment in seconds; omit apexes=, and pass motions "
                "instead of a registration"
            )
        apexes = snap_apexes(motions, parents, features, how.snap, options)
    staged = _register_examples(motions, parents, reg, features, apexes, how.landmarks, options)
    warn_left_out(staged.notes, len(motions), stacklevel=3)
    report(0.2)
    aligned = staged.registration
    measurer = BlendMeasurer(upsample(aligned), features, staged.moments, aligned.fps)
    own = _measure_examples(measurer)
    scale = _choose_scale(how.scale, own, features)
    notes, indices = staged.notes, staged.indices
    if redundant is not None:
        keep = choose_examples(measurer, own, scale, _check_tolerance(redundant, own.shape[1]), how.delta)
        dropped = [name_clip(aligned.motions[j], j) for j in range(len(own)) if j not in set(keep.tolist())]
        if dropped:
            notes += (f"{len(dropped)} examples are redundant and left out: {', '.join(dropped)}",)
            aligned, own, indices = select_motions(aligned, keep.tolist())[0], own[keep], indices[keep]
            measurer = BlendMeasurer(upsample(aligned), features, staged.moments, aligned.fps)
    report(0.4)
    which, weights = sample_weights(own / scale, n_samples, how.delta, how.expand, _make_rng(rng))
    try:
        reached, blended, blend_weights = measure_samples(measurer, own, scale, which, weights, how.spacing)
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
        delta=float(how.delta),
        k=int(how.k),
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
    landmarks: bool,
    options: dict[str, Any],
) -> _Registered:
    """Register the examples and find their moments; leave out examples that cannot be registered.

    apexes, landmarks : see `SpaceSettings`. options : further options of `register_tree`.
    """
    marks, columns = find_marks(motions, features, apexes)
    seconds = marks / np.array([[motion.fps] for motion in motions])
    if reg is not None:
        return _Registered(reg, np.arange(len(motions)), find_moments(reg, features, seconds, columns), reg.notes)
    inside = find_at_ends(motions, marks) if landmarks else dict[int, str]()
    fit = [j for j in range(len(motions)) if j not in inside]
    if len(fit) < 2:
        raise NotBlendable(
            f"a parametric space needs at least two examples, but only {len(fit)} can be used. Rejected: "
            f"{'; '.join(inside.values())}"
        )
    notes = tuple(f"{name_clip(motions[j], j)} is left out: {inside[j]}" for j in sorted(inside))
    forced = marks[fit] if landmarks and marks.shape[1] else None
    if forced is not None and (np.diff(forced, axis=1) < 0).any():
        notes += ("the moments come in a different order in some motions, so only the first feature's is aligned",)
        forced = forced[:, :1]
    timed = any(not isinstance(feature.moment, str) for feature in features if feature.is_pose) and apexes is None
    along = register_tree(
        [motions[j] for j in fit],
        parents=_remaining_tree(parents, fit),
        landmarks=forced,
        reference=0 if timed and parents is None and fit[0] == 0 else None,
        **options,
    )
    indices = np.array(fit)[along.kept]
    moments = find_moments(along.registration, features, seconds[indices], columns)
    notes += filter_notes(along.registration.notes, (motions[fit[k]] for k in along.left_out))
    return _Registered(replace(along.registration, notes=notes), indices, moments, notes)


def _remaining_tree(parents: Ints | None, fit: Sequence[int]) -> Ints | None:
    """Restrict the tree of motions `parents` to the indices `fit`.

    A motion whose parent is dropped gets its nearest remaining ancestor as parent. Returns None if there is no tree or
    if its root is dropped.
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
    labeled: tuple[ArrayLike, Iterable[str]],
    settings: SpaceSettings,
    options: dict[str, Any],
) -> ParametricMotion:
    """Build a space whose parameters are given by hand; its only samples are the examples (Kovar 6.4.2).

    motions_of : the motions as given, and with unique names. labeled : the values and their names.
    """
    (given, motions), (values, names) = motions_of, labeled
    table = convert_array(values, "values")
    table = table[:, None] if table.ndim == 1 else table
    table = freeze_array(table, "values", (len(motions), None))
    d = table.shape[1]
    named = tuple(names) or tuple(f"value {k}" for k in range(d))
    if len(named) != d:
        raise InvalidValue(f"names must have one entry for each of {d} values, not {len(named)}")
    indices = np.arange(len(motions))
    if reg is None:
        along = register_tree(motions, parents=parents, **options)
        notes = filter_notes(along.registration.notes, (motions[k] for k in along.left_out))
        warn_left_out(notes, len(motions), stacklevel=4)
        table, indices = table[along.kept], along.kept
        reg = restore_names(replace(along.registration, notes=notes), given, indices)
    n = reg.n_motions
    features = (Feature("given", names=named, units=("",) * d),)
    alone, full = np.arange(n)[:, None], np.ones((n, 1))
    scale = _choose_scale(settings.scale, table, features)
    limits = float(settings.delta), int(settings.k)
    return cls(reg, features, (math.nan,), table, table, alone, full, scale, *limits, reg.notes, indices)


def _check_count(value: Any, what: str, minimum: int) -> int:
    count = check_index(value, what)
    if not minimum <= count <= _MAX_SAMPLES:
        raise InvalidValue(f"{what} must be from {minimum} to {_MAX_SAMPLES:,}, not {count}", parameter=what)
    return count


def _make_rng(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidValue(f"rng must be a whole number of at least 0 or a Generator, not {rng!r}") from None
