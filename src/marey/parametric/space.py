"""Parametric motion: say what a motion should do, and get one (Kovar chapter 6, Heck 3.5)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.blend import Track, compose, held, inputs_record
from marey.core.arrays import Floats, Ints, check_index, convert_array, freeze_array, reduce_frozen, set_readonly
from marey.core.motion import Motion
from marey.core.placement import find_placement
from marey.errors import InvalidValue, MareyWarning
from marey.maths import rigid2d
from marey.parametric.dense import densified
from marey.parametric.features import Feature
from marey.parametric.measured import Measured, frames_of
from marey.parametric.neighbours import mixed_weights, neighbour_shares
from marey.parametric.refine import refined
from marey.register.along import chosen
from marey.register.registration import RegistrationCurve

__all__ = ["ParametricMotion", "Reachable", "Reached"]

# Default number of Gauss-Newton steps.
_STEPS = 4
_MAX_STEPS = 50
# In units of the scale: how far a target may move before it counts as projected, and the maximum error of a refined
# motion whose target moved at all.
_MOVED, _MISSED = 0.1, 0.5
# Default start: at the origin, facing +Z, so that a requested position is that position in the world.
_START = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """What can be requested from a space.

    names, units : of the d parameters.
    examples : (n, d) parameters of the examples.
    samples : (m, d) parameters known to be reachable, including those of the examples.
    low, high : (d,) box around them.
    within : (d,) distance from a sample within which a target counts as reachable, in each dimension.
    by_hand : whether the parameters were given, not measured: then the whole box is reachable.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    examples: Floats
    samples: Floats
    low: Floats
    high: Floats
    within: Floats
    by_hand: bool = False

    def distance(self, target: ArrayLike) -> float:
        """Distance from a target (d,) to the nearest sample, in units of `within`."""
        given = freeze_array(target, "target", (len(self.names),))
        return float(np.linalg.norm((self.samples - given) / self.within, axis=1).min())

    def __contains__(self, target: ArrayLike) -> bool:
        if self.by_hand:
            given = freeze_array(target, "target", (len(self.names),))
            return bool(((self.low <= given) & (given <= self.high)).all())
        return self.distance(target) <= 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """The result of a request.

    target : (d,) as requested.
    aimed : (d,) the same, or its projection if it is unreachable.
    reached : (d,) of the resulting motion, at the blend of the examples' moments.
    own : (d,) of the resulting motion by itself, at the moment found in it; NaN if there is none.
    units : of the d parameters.
    weights : (n,) of the examples.
    projected : whether the target was unreachable: projection moved it by more than a tenth of `scale`, or by less, but
        the refined motion is off by more than half of that.
    """

    target: Floats
    aimed: Floats
    reached: Floats
    own: Floats
    units: tuple[str, ...]
    weights: Floats
    projected: bool

    @property
    def error(self) -> Floats:
        """(d,) reached minus requested parameters."""
        return np.asarray(self.reached - self.target)

    @property
    def own_error(self) -> Floats:
        """(d,) the same at the motion's own moment."""
        return np.asarray(self.own - self.target)

    def distances(self, *, own: bool = False) -> dict[str, float]:
        """By unit, the length of the error in the parameters of that unit: meters for positions, radians for angles."""
        return _norm_by_unit(self.units, self.own_error if own else self.error)

    def moved(self) -> dict[str, float]:
        """By unit, how far projection moved the target."""
        return _norm_by_unit(self.units, np.asarray(self.aimed - self.target))


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """A target, its projection, the weights (n,) found, the motion, and u of its frames."""

    target: Floats
    aimed: Floats
    is_projected: bool
    weights: Floats
    motion: Motion
    u: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParametricMotion:
    """A space of motions controlled by a few numbers, such as where a kick hits.

    Parameters
    ----------
    registration : of the n examples.
    features : the parameters, in order.
    moments : u of each feature's pose; NaN for those of whole motions.
    parameters : (n, d) of the examples.
    samples : (m, d) parameters of sampled blends; the first n are the examples.
    sample_examples, sample_weights : (m, q) the examples each sample is blended from, and their weights.
    scale : (d,) distances that count as equal in each dimension; a target within one of a sample is reachable.
    delta : how far a weight may exceed [0, 1].
    k : number of nearest samples that determine a target's weights.
    notes : what was done, and what was left out, in sentences.
    kept : (n,) indices of the examples among the motions given to `build`.
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
    kept: Ints = None  # type: ignore[assignment]  # set in __post_init__
    _dense: RegistrationCurve = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "features", tuple(self.features))
        put(self, "moments", tuple(float(moment) for moment in self.moments))
        put(self, "notes", tuple(self.notes))
        n, d = self.registration.n_motions, sum(feature.n_dims for feature in self.features)
        if len(self.features) != len(self.moments):
            raise InvalidValue(f"{len(self.features)} features need as many moments, got {len(self.moments)}")
        put(self, "parameters", freeze_array(self.parameters, "parameters", (n, d)))
        put(self, "samples", freeze_array(self.samples, "samples", (None, d)))
        m = len(self.samples)
        put(self, "sample_examples", freeze_array(self.sample_examples, "sample_examples", (m, None), np.int64))
        put(self, "sample_weights", freeze_array(self.sample_weights, "sample_weights", self.sample_examples.shape))
        put(self, "scale", freeze_array(self.scale, "scale", (d,)))
        put(self, "kept", freeze_array(np.arange(n) if self.kept is None else self.kept, "kept", (n,), np.int64))
        put(self, "_dense", densified(self.registration))
        if not m or self.sample_examples.min() < 0 or self.sample_examples.max() >= n:
            raise InvalidValue(f"samples must be blends of the examples 0 to {n - 1}")
        if not (self.scale > 0.0).all():
            raise InvalidValue(f"scale must be above 0 in each dimension, got {self.scale.tolist()}")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def __repr__(self) -> str:
        n = self.registration.n_motions
        return f"<ParametricMotion: {n} examples, {len(self.samples)} samples of {', '.join(self.names)}>"

    @classmethod
    def build(cls, examples: Any, feature: Any = None, **options: Any) -> ParametricMotion:
        """Build a space from the motions of a search result, or from any related motions; see `build_space`."""
        from marey.parametric.build import build_space

        return build_space(examples, feature, **options)

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
        return len(self.names)

    @property
    def _by_hand(self) -> bool:
        return self.features[0].kind == "given"

    def reachable(self) -> Reachable:
        """Describe what can be requested."""
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

    def aim(self, target: ArrayLike) -> tuple[Floats, bool]:
        """(d,) the target, or its projection if it is unreachable, and whether it was projected.

        More than one unit of `scale` from the nearest sample, the projection moves continuously toward the mean of the
        samples around; at two units it is that mean. A target counts as projected if it moved by more than a tenth of a
        unit. Values given by hand have no samples in between: the whole box around them is reachable.
        """
        given = self._check_target(target)
        if self._by_hand:
            inside = np.clip(given, self.samples.min(axis=0), self.samples.max(axis=0))
            return inside, self._is_moved(given, inside)
        near, shares = self._find_neighbors(given)
        apart = float(np.linalg.norm((self.samples[near] - given) / self.scale, axis=1).min())
        beyond = np.clip(apart - 1.0, 0.0, 1.0)
        if beyond == 0.0:
            return given, False
        share = beyond**2 * (3.0 - 2.0 * beyond)
        aimed = np.asarray((1.0 - share) * given + share * (shares @ self.samples[near]))
        return aimed, self._is_moved(given, aimed)

    def _is_moved(self, target: Floats, aimed: Floats) -> bool:
        return float(np.linalg.norm((aimed - target) / self.scale)) > _MOVED

    def weights(self, target: ArrayLike, *, refine: bool | int = False, clean: bool = True) -> Floats:
        """(n,) weights of the examples: nearly all 0, within [-delta, 1 + delta], with sum 1."""
        which, share, _ = self._solve_weights(self._check_target(target), refine, clean)
        out = np.zeros(self.registration.n_motions)
        out[which] = share
        return out

    def __call__(
        self,
        target: ArrayLike,
        *,
        clean: bool = True,
        refine: bool | int = False,
        start: ArrayLike | None = None,
        name: str | None = None,
    ) -> Motion:
        """Return a motion with these parameters.

        Parameters
        ----------
        target : (d,) one number for each of `names`. Unreachable targets are projected to the nearest reachable ones,
            with a `MareyWarning`.
        clean : enforce the contacts of the blend.
        refine : refine the weights so that the motion really has these parameters, by 4 steps or the given number.
        start : rigid2d (theta, x, z) of the first frame: its heading from +Z to the left, and the position of the hips.
            By default every motion begins at the origin and faces +Z, so that nearby targets give similar motions, and
            a requested position is that position in the world (for a floor at height 0).
        name : of the motion.
        """
        asked = self._solve_target(target, refine, clean, start)
        if asked.is_projected:
            warnings.warn(self._describe_projection(asked.target, asked.aimed), MareyWarning, stacklevel=2)
        return self._annotate(asked, refine, name)

    def made(
        self,
        target: ArrayLike,
        *,
        clean: bool = True,
        refine: bool | int = False,
        start: ArrayLike | None = None,
        name: str | None = None,
    ) -> tuple[Motion, Reached]:
        """Return a motion as from a call, and its actual parameters as from `error`, with whether it was projected."""
        self._check_measurable("made()")
        asked = self._solve_target(target, refine, clean, start)
        return self._annotate(asked, refine, name), self._measure_result(asked)

    def error(self, target: ArrayLike, *, clean: bool = True, refine: bool | int = False) -> Reached:
        """Return what is actually reached for a target, measured on the resulting motion."""
        self._check_measurable("error()")
        return self._measure_result(self._solve_target(target, refine, clean, None))

    def _solve_target(self, target: ArrayLike, refine: bool | int, clean: bool, start: ArrayLike | None) -> _Solution:
        given = self._check_target(target)
        which, share, (aimed, projected) = self._solve_weights(given, refine, clean)
        made, u = self._blend(which, share, clean, start)
        if not projected and _check_steps(refine) and not np.array_equal(aimed, given):
            off = (self._make_measured().of_motion(made, u) - given) / self.scale
            projected = float(np.linalg.norm(off)) > _MISSED
        weights = np.zeros(self.registration.n_motions)
        weights[which] = share
        return _Solution(given, aimed, projected, weights, made, u)

    def _annotate(self, asked: _Solution, refine: bool | int, name: str | None) -> Motion:
        """Name the motion, and record the request in its provenance."""
        step = {
            "op": "parametric",
            "parameters": list(self.names),
            "target": asked.target.tolist(),
            "aimed": asked.aimed.tolist(),
            "refine": int(_check_steps(refine)),
        }
        called = name if name is not None else _format_name(self.features, asked.target)
        return replace(asked.motion, name=called, source=asked.motion.source.with_step(**step))

    def _measure_result(self, asked: _Solution) -> Reached:
        measured = self._make_measured()
        return Reached(
            asked.target,
            set_readonly(asked.aimed),
            set_readonly(measured.of_motion(asked.motion, asked.u)),
            set_readonly(measured.at_own_moments(asked.motion)),
            self.units,
            set_readonly(asked.weights),
            asked.is_projected,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the space with its examples as `.npz`; it plays without their source files."""
        from marey.parametric.files import save_space

        save_space(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, feature: Any = None) -> ParametricMotion:
        """Read a file written by `save`.

        Parameters
        ----------
        feature : as given to `build`; needed only if it contains Python functions, which cannot be saved.
        """
        from marey.parametric.files import load_space

        return load_space(path, feature)

    def _make_measured(self) -> Measured:
        return Measured(self._dense, self.features, self.moments, self.registration.fps)

    def _find_neighbors(self, target: Floats) -> tuple[Ints, Floats]:
        """The samples around a target, and their weights."""
        return neighbour_shares(target / self.scale, self.samples / self.scale, self.k)

    def _solve_weights(
        self, target: Floats, refine: bool | int, clean: bool
    ) -> tuple[Ints, Floats, tuple[Floats, bool]]:
        """Examples and their weights for a target, and its projection."""
        steps = _check_steps(refine)
        near, shares = self._find_neighbors(target)
        which, share = mixed_weights(shares, self.sample_examples[near], self.sample_weights[near])
        aimed = self.aim(target)
        if not steps:
            return which, share, aimed
        self._check_measurable("refine=")
        room_of, room = mixed_weights(shares, self.sample_examples[near], np.abs(self.sample_weights[near]))
        share = np.array([share[which == k].sum() for k in room_of])
        found = self._refine(room_of, share, room, aimed[0], steps)
        if clean:
            # Compensate for what cleanup moves: it hardly depends on small changes of the weights.
            moved = (
                self._measure_blend(room_of, found) - self._make_measured().of_weights(room_of[None], found[None])[0]
            )
            found = self._refine(room_of, found, room, aimed[0] - moved, (steps + 1) // 2)
        used = found != 0.0
        return room_of[used], found[used], aimed

    def _refine(self, which: Ints, weights: Floats, room: Floats, goal: Floats, steps: int) -> Floats:
        return refined(self._make_measured(), which, weights, room, goal, self.scale, self.delta, steps)

    def _measure_blend(self, which: Ints, weights: Floats) -> Floats:
        made, u = self._blend(which, weights, True, None)
        return self._make_measured().of_motion(made, u)

    def _blend(self, which: Ints, weights: Floats, clean: bool, start: ArrayLike | None) -> tuple[Motion, Floats]:
        """The blend, of the examples with nonzero weight only, and u of its frames."""
        sub, kept = chosen(self._dense, which.tolist())
        table = np.zeros(len(kept))
        table[np.searchsorted(kept, which)] = weights
        table /= table.sum()
        rate = self.registration.fps
        u, _ = frames_of(sub, table[None], rate)
        made, _ = compose(sub, Track(np.arange(len(u)) / rate, u, np.broadcast_to(table, (len(u), len(table)))), rate)
        # A blend is located where one of its examples was recorded, and that example depends on the weights.
        there = freeze_array(_START if start is None else start, "start", (3,))
        made = made.moved(rigid2d.between(find_placement(made.skeleton, made[:1].world(), 0), there))
        given, _ = chosen(self.registration, which.tolist())
        step = {"inputs": inputs_record(given), "distance": float(given.distance), "weights": table.tolist()}
        made = replace(made, source=made.source.with_step(op="blend", **step))
        return held(made) if clean else made, u

    def _check_target(self, target: Any) -> Floats:
        given = np.atleast_1d(convert_array(target, "target"))
        if given.shape != (self.n_dims,):
            got = f"{given.size} numbers" if given.ndim == 1 else f"shape {given.shape}"
            raise InvalidValue(f"a target needs {self.n_dims} numbers ({', '.join(self._format_names())}), got {got}")
        return freeze_array(given, "target", (self.n_dims,))

    def _format_names(self) -> list[str]:
        return [f"{name} in {unit}" if unit else name for name, unit in zip(self.names, self.units, strict=True)]

    def _describe_projection(self, target: Floats, aimed: Floats) -> str:
        asked, got = (", ".join(f"{value:.3g}" for value in values) for values in (target, aimed))
        away = " and ".join(
            f"{size:.2g} {unit}".rstrip() for unit, size in _norm_by_unit(self.units, aimed - target).items()
        )
        return (
            f"the target ({asked}) cannot be reached with these examples; the nearest that can be is about ({got}), "
            f"{away} away"
        )

    def _check_measurable(self, what: str) -> None:
        if any(feature.kind == "given" for feature in self.features):
            raise InvalidValue(f"{what} needs parameters that can be measured, and {self.names[0]!r} was given by hand")


def _norm_by_unit(units: tuple[str, ...], off: Floats) -> dict[str, float]:
    """By unit, the length of a difference (d,) in the parameters of that unit."""
    return {
        unit: float(np.linalg.norm(off[[k for k, each in enumerate(units) if each == unit]]))
        for unit in dict.fromkeys(units)
    }


def _check_steps(refine: bool | int) -> int:
    if isinstance(refine, bool | np.bool_):
        return _STEPS if refine else 0
    steps = check_index(refine, "refine= or --refine")
    if not 0 <= steps <= _MAX_STEPS:
        raise InvalidValue(f"refine= or --refine must be True, False or 0 to {_MAX_STEPS} steps, got {steps}")
    return steps


def _format_name(features: tuple[Feature, ...], target: Floats) -> str:
    parts, at = [], 0
    for feature in features:
        values = target[at : at + feature.n_dims].tolist()
        parts.append(" ".join([feature.told, *(f"{value:.3g}" for value in values)]))
        at += feature.n_dims
    return ", ".join(parts)
