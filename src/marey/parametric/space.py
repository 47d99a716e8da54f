"""Parametric motion: generate a motion with requested parameters (Kovar chapter 6, Heck 3.5)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.blend import BlendTrack, compose, enforce_contacts, make_inputs_record
from marey.core.arrays import Floats, FrozenRecord, Ints, check_index, convert_array, freeze_array, set_readonly
from marey.core.feet import Feet, feet_from_flag
from marey.core.motion import Motion
from marey.core.naming import target_name
from marey.core.placement import find_placement
from marey.core.settings import operation
from marey.deprecation import renamed_fields, renamed_method, renamed_methods, renamed_parameters
from marey.errors import InvalidValue, MareyWarning, plural
from marey.maths import rigid2d
from marey.parametric.build import build_space
from marey.parametric.dense import upsample
from marey.parametric.features import Feature, FeatureLike
from marey.parametric.measured import BlendMeasurer, find_blend_frames
from marey.parametric.reachable import Reachable
from marey.parametric.refine import refine_weights
from marey.parametric.settings import SynthesisSettings, WeightSettings
from marey.parametric.target_weights import mix_weights, neighbor_weights
from marey.register.registration import RegistrationCurve
from marey.register.tree import select_motions

__all__ = ["ParametricMotion", "ReachResult"]

# Default number of Gauss-Newton steps.
_STEPS = 4
_MAX_STEPS = 50
# In units of the scale: a target counts as projected if projection moves it by more than the first value, or if it
# moves less but the refined motion misses it by more than the second.
_MOVED, _MISSED = 0.1, 0.5
# Default start: at the origin, facing +Z. Requested positions are then world positions.
_START = (0.0, 0.0, 0.0)


@renamed_methods(moved="measure_projection")
@dataclass(frozen=True, slots=True, eq=False)
class ReachResult:
    """The result of a request: a motion, and the parameters it reaches.

    target : (d,) requested parameters.
    aimed : (d,) the target, or its projection if it is unreachable.
    reached : (d,) parameters of the resulting motion, measured at the blended moment of the examples; NaN if parameters
        were given by hand.
    own : (d,) parameters of the resulting motion, measured at the moment found in the motion itself; NaN if there is
        none.
    units : units of the d parameters.
    weights : (n,) blend weights of the examples.
    projected : whether the target was unreachable: the projection moved it by more than 0.1 units of `scale`, or it
        moved less but the refined motion misses it by more than 0.5 units.

    Examples
    --------
    >>> result = space.synthesize([1.0], refine=True)
    >>> result.distances()["m"] < 0.01, result.projected  # meters
    (True, False)
    >>> result.weights.shape
    (5,)
    """

    target: Floats
    aimed: Floats
    reached: Floats
    own: Floats
    units: tuple[str, ...]
    weights: Floats
    projected: bool
    _motion: Motion

    def motion(self) -> Motion:
        """Return the motion."""
        return self._motion

    @property
    def error(self) -> Floats:
        """(d,) reached minus requested parameters."""
        return np.asarray(self.reached - self.target)

    @property
    def own_error(self) -> Floats:
        """(d,) like `error`, but measured at the moment that the feature finds in the new motion itself."""
        return np.asarray(self.own - self.target)

    def distances(self, *, own: bool = False) -> dict[str, float]:
        """Return the norm of the error, keyed by unit: meters for positions, radians for angles.

        own : use `own_error` instead of `error`.
        """
        return _norm_by_unit(self.units, self.own_error if own else self.error)

    def measure_projection(self) -> dict[str, float]:
        """Return how far the projection moved the target, keyed by unit."""
        return _norm_by_unit(self.units, np.asarray(self.aimed - self.target))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON, without the motion; unknown numbers are None."""
        arrays = ("target", "aimed", "reached", "own", "weights", "error")
        out: dict[str, Any] = {
            name: [value if math.isfinite(value) else None for value in getattr(self, name).tolist()] for name in arrays
        }
        return out | {"units": list(self.units), "projected": self.projected, "moved": self.measure_projection()}


class _Blend(NamedTuple):
    """A blend for a target.

    target, aimed : (d,) requested parameters, and their projection.
    is_projected : whether the target was unreachable.
    weights : (n,) blend weights of the examples.
    motion : the blended motion.
    u : (F,) registration parameter of its frames.
    """

    target: Floats
    aimed: Floats
    is_projected: bool
    weights: Floats
    motion: Motion
    u: Floats


@renamed_methods(aim="project", error="synthesize")
@renamed_fields(kept="example_indices")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParametricMotion(FrozenRecord):
    """A space of motions controlled by a few numbers, such as the position that a kick hits.

    Parameters
    ----------
    registration : registration of the n examples.
    features : features that define the d parameters, in order.
    moments : registration parameter u, from 0 to 1, of each feature's pose; NaN for features of entire motions.
    parameters : (n, d) parameters of the examples.
    samples : (m, d) parameters of sampled blends; the first n are the examples.
    sample_examples, sample_weights : (m, q) examples that each sample is blended from, and their weights.
    scale : (d,) distance in each dimension that counts as one unit; a target within one unit of a sample is reachable.
    delta : blend weights may lie in [-delta, 1 + delta].
    k : number of nearest samples that determine the weights for a target.
    notes : sentences on what was done and what was left out.
    example_indices : (n,) indices of the examples among the motions given to `build`.

    Examples
    --------
    >>> space = marey.ParametricMotion.build(kicks, marey.parametric.position("right_ball", axes="y"))
    >>> space.names, space.units
    (('right_ball y',), ('m',))
    >>> result = space.synthesize([1.0])
    >>> result.motion().rotations.shape[1:], round(float(result.reached[0]), 1)  # meters
    ((27, 4), 1.0)
    >>> space.save("kicks.npz")
    """

    registration: RegistrationCurve
    features: tuple[Feature, ...]
    moments: tuple[float, ...]
    parameters: Floats
    samples: Floats
    sample_examples: Ints
    sample_weights: Floats
    scale: Floats
    delta: float
    k: int
    notes: tuple[str, ...] = ()
    example_indices: Ints = None  # type: ignore[assignment]  # set in __post_init__
    _dense: RegistrationCurve = field(init=False)

    def __post_init__(self) -> None:
        self._put(
            features=tuple(self.features),
            moments=tuple(float(moment) for moment in self.moments),
            notes=tuple(self.notes),
        )
        n, d = self.registration.n_motions, sum(feature.n_dims for feature in self.features)
        if len(self.features) != len(self.moments):
            raise InvalidValue(
                f"moments must have one entry for each of {len(self.features)} features, not {len(self.moments)}"
            )
        self._freeze(
            parameters=(n, d),
            samples=("m", d),
            sample_examples=("m", "k"),
            sample_weights=("m", "k"),
            scale=(d,),
        )
        given = np.arange(n) if self.example_indices is None else self.example_indices
        self._put(
            example_indices=freeze_array(given, "example_indices", (n,), np.int64), _dense=upsample(self.registration)
        )
        if not len(self.samples) or self.sample_examples.min() < 0 or self.sample_examples.max() >= n:
            raise InvalidValue(f"sample_examples must be examples from 0 to {n - 1}, for at least one sample")
        if not (self.scale > 0.0).all():
            raise InvalidValue(f"scale must be greater than 0 in each dimension, not {self.scale.tolist()}")

    def __repr__(self) -> str:
        examples = plural(self.registration.n_motions, "example")
        return f"<ParametricMotion: {examples}, {plural(len(self.samples), 'sample')} of {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_table

        region = self.reachable()
        rows = zip(
            self.names, self.units, *(values.round(3).tolist() for values in (region.low, region.high)), strict=True
        )
        facts = (
            f"{plural(self.registration.n_motions, 'example')}, {plural(len(self.samples), 'sample')}; "
            f"{100.0 * region.fraction:.0f} % of all combinations are reachable"
        )
        return show_table("parametric motion", facts, ("parameter", "unit", "from", "to"), rows)

    build = classmethod(build_space)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the d parameters."""
        return tuple(name for feature in self.features for name in feature.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d parameters."""
        return tuple(unit for feature in self.features for unit in feature.units)

    @property
    def n_dims(self) -> int:
        """Number of parameters d."""
        return len(self.names)

    @property
    def _by_hand(self) -> bool:
        return self.features[0].kind == "given"

    def reachable(self) -> Reachable:
        """Return the parameters that can be requested.

        Examples
        --------
        >>> reachable = space.reachable()
        >>> bool(reachable.low[0] < 1.0 < reachable.high[0]), reachable.units
        (True, ('m',))
        """
        return Reachable(
            self.names,
            self.units,
            self.parameters,
            self.samples,
            set_readonly(self.samples.min(axis=0)),
            set_readonly(self.samples.max(axis=0)),
            self.scale,
            self._by_hand,
        )

    def project(self, target: ArrayLike) -> tuple[Floats, bool]:
        """Move a target (d,) to the reachable parameters; return the result (d,) and whether the target moved.

        Targets within one unit of `scale` from the nearest sample do not change. Beyond that, the target moves
        continuously toward the weighted mean of the nearest samples, and equals it from two units on. Moves of
        up to 0.1 units do not count. Parameters given by hand are clamped to their bounding box
        instead.

        Examples
        --------
        >>> nearest, is_projected = space.project([3.0])
        >>> nearest.shape, is_projected
        ((1,), True)
        """
        given = self._check_target(target)
        if self._by_hand:
            inside = np.clip(given, self.samples.min(axis=0), self.samples.max(axis=0))
            return inside, self._is_moved(given, inside)
        near, weights = self._find_neighbors(given)
        distance = float(np.linalg.norm((self.samples[near] - given) / self.scale, axis=1).min())
        beyond = np.clip(distance - 1.0, 0.0, 1.0)
        if beyond == 0.0:
            return given, False
        alpha = beyond**2 * (3.0 - 2.0 * beyond)
        aimed = np.asarray((1.0 - alpha) * given + alpha * (weights @ self.samples[near]))
        return aimed, self._is_moved(given, aimed)

    def _is_moved(self, target: Floats, aimed: Floats) -> bool:
        return float(np.linalg.norm((aimed - target) / self.scale)) > _MOVED

    @renamed_parameters(clean=("feet", feet_from_flag))
    @operation(WeightSettings)
    def weights(self, target: ArrayLike, settings: WeightSettings) -> Floats:
        """Return the blend weights (n,) of the examples for a target (d,), most of them 0; their sum is 1.

        They lie within [-delta, 1 + delta].

        Examples
        --------
        >>> weights = space.weights([1.0])
        >>> weights.shape, round(float(weights.sum()), 6)
        ((5,), 1.0)
        """
        which, weights, _ = self._solve_weights(self._check_target(target), settings)
        out = np.zeros(self.registration.n_motions)
        out[which] = weights
        return out

    @renamed_parameters(clean=("feet", feet_from_flag))
    @operation(SynthesisSettings)
    def __call__(self, target: ArrayLike, settings: SynthesisSettings) -> Motion:
        """Return a motion with parameters `target` (d,).

        An unreachable target is projected, with a `MareyWarning`.
        """
        blend = self._blend_target(target, settings)
        if blend.is_projected:
            # stacklevel=4: each decorator adds a stack frame between this one and the caller's.
            warnings.warn(self._describe_projection(blend.target, blend.aimed), MareyWarning, stacklevel=4)
        return blend.motion

    @renamed_parameters(clean=("feet", feet_from_flag))
    @operation(SynthesisSettings)
    def synthesize(self, target: ArrayLike, settings: SynthesisSettings) -> ReachResult:
        """Generate a motion with requested parameters, and measure the parameters that it reaches.

        Parameters
        ----------
        target : (d,) one number for each of `names`. An unreachable target is projected; see `project`.

        Examples
        --------
        >>> result = space.synthesize([1.0], refine=True)
        >>> result.reached.round(2), result.units
        (array([1.]), ('m',))
        """
        blend = self._blend_target(target, settings)
        reached = own = np.full(self.n_dims, np.nan)
        if not self._by_hand:
            measurer = self._make_measurer()
            reached, own = measurer.measure_motion(blend.motion, blend.u), measurer.measure_own_moments(blend.motion)
        return ReachResult(
            blend.target,
            set_readonly(blend.aimed),
            set_readonly(reached),
            set_readonly(own),
            self.units,
            set_readonly(blend.weights),
            blend.is_projected,
            blend.motion,
        )

    made = renamed_method("made", "synthesize", lambda result: (result.motion(), result))

    def _blend_target(self, target: ArrayLike, settings: SynthesisSettings) -> _Blend:
        """Generate the motion for a target, with name and provenance."""
        given = self._check_target(target)
        which, found, (aimed, projected) = self._solve_weights(given, settings)
        motion, u = self._blend(which, found, settings.feet, settings.start)
        steps = _check_steps(settings.refine)
        if not projected and steps and not np.array_equal(aimed, given):
            off = (self._make_measurer().measure_motion(motion, u) - given) / self.scale
            projected = float(np.linalg.norm(off)) > _MISSED
        weights = np.zeros(self.registration.n_motions)
        weights[which] = found
        source = motion.source.with_step(
            op="parametric", parameters=list(self.names), target=given.tolist(), aimed=aimed.tolist(), refine=steps
        )
        named = self._make_name(given) if settings.name is None else settings.name
        return _Blend(given, aimed, projected, weights, replace(motion, name=named, source=source), u)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the space and its examples as `.npz`; the source files of the examples are then no longer needed."""
        from marey.parametric.files import save_space

        save_space(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, feature: FeatureLike | None = None) -> ParametricMotion:
        """Read a file written by `save`.

        Parameters
        ----------
        feature : as given to `build`; needed only if it contains Python functions, which cannot be saved.

        Examples
        --------
        >>> space.save("kicks.npz")
        >>> marey.ParametricMotion.load("kicks.npz").names
        ('right_ball y',)
        """
        from marey.parametric.files import load_space

        return load_space(path, feature)

    def _make_measurer(self) -> BlendMeasurer:
        return BlendMeasurer(self._dense, self.features, self.moments, self.registration.fps)

    def _find_neighbors(self, target: Floats) -> tuple[Ints, Floats]:
        """Return the samples around a target, and their weights."""
        return neighbor_weights(target / self.scale, self.samples / self.scale, self.k)

    def _solve_weights(self, target: Floats, settings: WeightSettings) -> tuple[Ints, Floats, tuple[Floats, bool]]:
        """Return the examples for a target, their weights, and the result of `project`."""
        steps, feet = _check_steps(settings.refine), settings.feet
        near, weights = self._find_neighbors(target)
        which, found = mix_weights(weights, self.sample_examples[near], self.sample_weights[near])
        aimed = self.project(target)
        if not steps:
            return which, found, aimed
        if self._by_hand:
            raise InvalidValue(
                f"refine needs parameters that can be measured, but {self.names[0]!r} was given by hand",
                parameter="refine",
                remedy="omit `refine=`",
            )
        measurer = self._make_measurer()
        used, room = mix_weights(weights, self.sample_examples[near], np.abs(self.sample_weights[near]))

        def refine_toward(goal: Floats, first: Floats, n_steps: int) -> Floats:
            return refine_weights(measurer, used, first, room, goal, self.scale, self.delta, n_steps)

        found = refine_toward(aimed[0], np.array([found[which == k].sum() for k in used]), steps)
        if feet is not None:
            # Compensate for the change that cleanup makes; it hardly depends on small changes of the weights.
            cleaned = measurer.measure_motion(*self._blend(used, found, feet, None))
            moved = cleaned - measurer.measure_weights(used[None], found[None])[0]
            found = refine_toward(aimed[0] - moved, found, (steps + 1) // 2)
        some = found != 0.0
        return used[some], found[some], aimed

    def _blend(self, which: Ints, weights: Floats, feet: Feet, start: ArrayLike | None) -> tuple[Motion, Floats]:
        """Blend examples `which` with `weights`; return the motion and the registration parameter u of its frames."""
        sub, used = select_motions(self._dense, which.tolist())
        table = np.zeros(len(used))
        table[np.searchsorted(used, which)] = weights
        table /= table.sum()
        rate = self.registration.fps
        u, _ = find_blend_frames(sub, table[None], rate)
        track = BlendTrack(np.arange(len(u)) / rate, u, np.broadcast_to(table, (len(u), len(table))))
        motion, _ = compose(sub, track, rate)
        # Without this, a blend would be located where one of its examples was recorded, depending on the weights.
        there = freeze_array(_START if start is None else start, "start", (3,))
        motion = motion.moved(rigid2d.between(find_placement(motion, 0), there))
        given, _ = select_motions(self.registration, which.tolist())
        step = {"inputs": make_inputs_record(given), "distance": float(given.distance), "weights": table.tolist()}
        motion = replace(motion, source=motion.source.with_step(op="blend", **step))
        return motion if feet is None else enforce_contacts(motion), u

    def _check_target(self, target: Any) -> Floats:
        given = np.atleast_1d(convert_array(target, "target"))
        if given.shape != (self.n_dims,):
            got = str(given.size) if given.ndim == 1 else f"shape {given.shape}"
            raise InvalidValue(
                f"target must have {plural(self.n_dims, 'number')} ({', '.join(self._format_names())}), not {got}"
            )
        return freeze_array(given, "target", (self.n_dims,))

    def _format_names(self) -> list[str]:
        return [f"{name} in {unit}" if unit else name for name, unit in zip(self.names, self.units, strict=True)]

    def _make_name(self, target: Floats) -> str:
        example = self.registration.motions[0]
        action = next((label.name for label in example.labels), example.name)
        return target_name(action, self.names, self.units, target.tolist())

    def _describe_projection(self, target: Floats, aimed: Floats) -> str:
        requested, got = (", ".join(f"{value:.3g}" for value in values) for values in (target, aimed))
        away = " and ".join(
            f"{size:.2g} {unit}".rstrip() for unit, size in _norm_by_unit(self.units, aimed - target).items()
        )
        return (
            f"the target ({requested}) cannot be reached with these examples; the nearest that can be is about "
            f"({got}), {away} away"
        )


def _norm_by_unit(units: tuple[str, ...], off: Floats) -> dict[str, float]:
    """Return the norm of a parameter difference (d,), keyed by unit."""
    return {
        unit: float(np.linalg.norm(off[[k for k, each in enumerate(units) if each == unit]]))
        for unit in dict.fromkeys(units)
    }


def _check_steps(refine: bool | int) -> int:
    if isinstance(refine, bool | np.bool_):
        return _STEPS if refine else 0
    steps = check_index(refine, "refine")
    if not 0 <= steps <= _MAX_STEPS:
        raise InvalidValue(
            f"refine must be True, False, or a number of steps from 0 to {_MAX_STEPS}, not {steps}", parameter="refine"
        )
    return steps
