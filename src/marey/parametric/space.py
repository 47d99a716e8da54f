"""Parameterised motion: say what a motion should do, and get one (Kovar chapter 6, Heck 3.5)."""

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

# Gauss-Newton steps where refinement is asked for without a number.
_STEPS = 4
_MOST_STEPS = 50
# In steps of the scale: what an aim may be moved by before it counts as another one, and what a refined motion may miss
# a target by that was moved at all.
_MOVED, _MISSED = 0.1, 0.5
# Where motions begin unless it is said: on the origin, facing +Z, so that a place asked for is that place in the world.
_START = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """What a space can be asked for.

    names, units : of the d parameters.
    examples : (n, d) parameters of the examples.
    samples : (m, d) parameters known to be reached, those of the examples among them.
    low, high : (d,) box around them.
    within : (d,) how far from a sample still counts as reachable, in each dimension.
    by_hand : whether the parameters were given, not measured: then all of the box can be asked for.
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
        """How far a target (d,) is from the nearest sample, in units of `within`."""
        given = freeze_array(target, "target", (len(self.names),))
        return float(np.linalg.norm((self.samples - given) / self.within, axis=1).min())

    def __contains__(self, target: ArrayLike) -> bool:
        if self.by_hand:
            given = freeze_array(target, "target", (len(self.names),))
            return bool(((self.low <= given) & (given <= self.high)).all())
        return self.distance(target) <= 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """What a space made of a request.

    target : (d,) as it was asked for.
    aimed : (d,) the same, or where it was moved to, if it cannot be reached.
    reached : (d,) of the motion made, at the moment that the examples' moments are blended to.
    own : (d,) of the motion made by itself, at the moment that is found in it; NaN where none can be.
    units : of the d parameters.
    weights : (n,) of the examples.
    projected : whether the target was out of reach: the aim was moved by more than a tenth of `scale`, or by less, but
        what refinement made of it is off by more than half of that.
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
        """(d,) what was reached less what was asked for."""
        return np.asarray(self.reached - self.target)

    @property
    def own_error(self) -> Floats:
        """(d,) the same at the motion's own moment."""
        return np.asarray(self.own - self.target)

    def distances(self, *, own: bool = False) -> dict[str, float]:
        """By unit, the length of the error in the parameters of that unit: metres for places, radians for angles."""
        return _by_unit(self.units, self.own_error if own else self.error)

    def moved(self) -> dict[str, float]:
        """By unit, how far the aim is from what was asked for."""
        return _by_unit(self.units, np.asarray(self.aimed - self.target))


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A target, what is aimed at for it, the weights (n,) that were found, the motion, and u of its frames."""

    target: Floats
    aimed: Floats
    is_projected: bool
    weights: Floats
    motion: Motion
    u: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParametricMotion:
    """A space of motions that is told by a few numbers, such as where a kick hits.

    Parameters
    ----------
    registration : of the n examples.
    features : what the numbers are, in order.
    moments : u of each feature's pose; NaN for those of whole motions.
    parameters : (n, d) of the examples.
    samples : (m, d) parameters of sampled blends; the first n are the examples.
    sample_examples, sample_weights : (m, q) which examples each sample is blended of, and how.
    scale : (d,) what counts as equally far in each dimension; a target within one of a sample is reachable.
    delta : how far a weight may leave [0, 1].
    k : nearest samples that a target's weights come from.
    notes : what was done, and what was left out, in sentences.
    kept : (n,) which of the motions given to `build` the examples are.
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
    kept: Ints = None  # type: ignore[assignment]  # always there once it is made
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
        """A space of the motions that a search has found, or of any that belong together; see `build_space`."""
        from marey.parametric.build import build_space

        return build_space(examples, feature, **options)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the d parameters."""
        return tuple(name for feature in self.features for name in feature.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Of the d parameters."""
        return tuple(unit for feature in self.features for unit in feature.units)

    @property
    def n_dims(self) -> int:
        return len(self.names)

    @property
    def _by_hand(self) -> bool:
        return self.features[0].kind == "given"

    def reachable(self) -> Reachable:
        """What can be asked for."""
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
        """(d,) the target, or where it is projected to if it cannot be reached, and whether it was.

        Beyond a step of `scale` from the nearest sample the aim goes over to the mean of the samples around, without a
        jump; two steps away it has arrived there. It counts as projected where it was moved by more than a tenth of a
        step. Values that were given by hand have no samples in between: all that lies in the box around them can be
        reached.
        """
        given = self._checked(target)
        if self._by_hand:
            inside = np.clip(given, self.samples.min(axis=0), self.samples.max(axis=0))
            return inside, self._is_moved(given, inside)
        near, shares = self._around(given)
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
        """(n,) weights of the examples: nearly all 0, within [-delta, 1 + delta], with a sum of 1."""
        which, share, _ = self._solved(self._checked(target), refine, clean)
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
        """A motion with these parameters.

        Parameters
        ----------
        target : (d,) one number for each of `names`. What cannot be reached is projected onto what can be, with a
            `MareyWarning`.
        clean : hold the contacts of the blend in place.
        refine : try that the motion really has these parameters, by 4 steps or by a number of them.
        start : rigid2d (theta, x, z) of the first frame: how far it faces from +Z to the left, and where the hips are.
            By default every motion begins on the origin and faces +Z, so that neighbouring targets give neighbouring
            motions, and a place that is asked for is that place in the world (for a floor at height 0).
        name : of the motion.
        """
        asked = self._asked(target, refine, clean, start)
        if asked.is_projected:
            warnings.warn(self._told_projected(asked.target, asked.aimed), MareyWarning, stacklevel=2)
        return self._told(asked, refine, name)

    def made(
        self,
        target: ArrayLike,
        *,
        clean: bool = True,
        refine: bool | int = False,
        start: ArrayLike | None = None,
        name: str | None = None,
    ) -> tuple[Motion, Reached]:
        """A motion as of a call, and what it really reaches as of `error`, which says too whether it is projected."""
        self._check_measurable("made()")
        asked = self._asked(target, refine, clean, start)
        return self._told(asked, refine, name), self._reached(asked)

    def error(self, target: ArrayLike, *, clean: bool = True, refine: bool | int = False) -> Reached:
        """What is really reached when a target is asked for, measured on the motion as it is made."""
        self._check_measurable("error()")
        return self._reached(self._asked(target, refine, clean, None))

    def _asked(self, target: ArrayLike, refine: bool | int, clean: bool, start: ArrayLike | None) -> _Asked:
        given = self._checked(target)
        which, share, (aimed, projected) = self._solved(given, refine, clean)
        made, u = self._made(which, share, clean, start)
        if not projected and _checked_steps(refine) and not np.array_equal(aimed, given):
            off = (self._measured().of_motion(made, u) - given) / self.scale
            projected = float(np.linalg.norm(off)) > _MISSED
        weights = np.zeros(self.registration.n_motions)
        weights[which] = share
        return _Asked(given, aimed, projected, weights, made, u)

    def _told(self, asked: _Asked, refine: bool | int, name: str | None) -> Motion:
        """The motion with a name, and with what it was asked for in its provenance."""
        step = {
            "op": "parametric",
            "parameters": list(self.names),
            "target": asked.target.tolist(),
            "aimed": asked.aimed.tolist(),
            "refine": int(_checked_steps(refine)),
        }
        called = name if name is not None else _name(self.features, asked.target)
        return replace(asked.motion, name=called, source=asked.motion.source.with_step(**step))

    def _reached(self, asked: _Asked) -> Reached:
        measured = self._measured()
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
        """Write the space with its examples as `.npz`; it plays without the files that they came from."""
        from marey.parametric.files import save_space

        save_space(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, feature: Any = None) -> ParametricMotion:
        """Read what `save` wrote.

        Parameters
        ----------
        feature : as given to `build`; needed only where it holds Python functions, which no file does.
        """
        from marey.parametric.files import load_space

        return load_space(path, feature)

    def _measured(self) -> Measured:
        return Measured(self._dense, self.features, self.moments, self.registration.fps)

    def _around(self, target: Floats) -> tuple[Ints, Floats]:
        """The samples around a target, and their shares."""
        return neighbour_shares(target / self.scale, self.samples / self.scale, self.k)

    def _solved(self, target: Floats, refine: bool | int, clean: bool) -> tuple[Ints, Floats, tuple[Floats, bool]]:
        """Examples and their weights for a target, and what is aimed at."""
        steps = _checked_steps(refine)
        near, shares = self._around(target)
        which, share = mixed_weights(shares, self.sample_examples[near], self.sample_weights[near])
        aimed = self.aim(target)
        if not steps:
            return which, share, aimed
        self._check_measurable("refine=")
        room_of, room = mixed_weights(shares, self.sample_examples[near], np.abs(self.sample_weights[near]))
        share = np.array([share[which == k].sum() for k in room_of])
        found = self._refined(room_of, share, room, aimed[0], steps)
        if clean:
            # What cleanup moves is aimed off for: it hardly depends on the last bit of the weights.
            moved = self._really(room_of, found) - self._measured().of_weights(room_of[None], found[None])[0]
            found = self._refined(room_of, found, room, aimed[0] - moved, (steps + 1) // 2)
        used = found != 0.0
        return room_of[used], found[used], aimed

    def _refined(self, which: Ints, weights: Floats, room: Floats, goal: Floats, steps: int) -> Floats:
        return refined(self._measured(), which, weights, room, goal, self.scale, self.delta, steps)

    def _really(self, which: Ints, weights: Floats) -> Floats:
        made, u = self._made(which, weights, True, None)
        return self._measured().of_motion(made, u)

    def _made(self, which: Ints, weights: Floats, clean: bool, start: ArrayLike | None) -> tuple[Motion, Floats]:
        """The blend, of the examples that have a weight alone, and u of its frames."""
        sub, kept = chosen(self._dense, which.tolist())
        table = np.zeros(len(kept))
        table[np.searchsorted(kept, which)] = weights
        table /= table.sum()
        rate = self.registration.fps
        u, _ = frames_of(sub, table[None], rate)
        made, _ = compose(sub, Track(np.arange(len(u)) / rate, u, np.broadcast_to(table, (len(u), len(table)))), rate)
        # The blend stands where one of its examples was recorded, and with other weights another one.
        there = freeze_array(_START if start is None else start, "start", (3,))
        made = made.moved(rigid2d.between(find_placement(made.skeleton, made[:1].world(), 0), there))
        given, _ = chosen(self.registration, which.tolist())
        step = {"inputs": inputs_record(given), "distance": float(given.distance), "weights": table.tolist()}
        made = replace(made, source=made.source.with_step(op="blend", **step))
        return held(made) if clean else made, u

    def _checked(self, target: Any) -> Floats:
        given = np.atleast_1d(convert_array(target, "target"))
        if given.shape != (self.n_dims,):
            got = f"{given.size} numbers" if given.ndim == 1 else f"shape {given.shape}"
            raise InvalidValue(f"a target needs {self.n_dims} numbers ({', '.join(self._told_names())}), got {got}")
        return freeze_array(given, "target", (self.n_dims,))

    def _told_names(self) -> list[str]:
        return [f"{name} in {unit}" if unit else name for name, unit in zip(self.names, self.units, strict=True)]

    def _told_projected(self, target: Floats, aimed: Floats) -> str:
        asked, got = (", ".join(f"{value:.3g}" for value in values) for values in (target, aimed))
        away = " and ".join(
            f"{size:.2g} {unit}".rstrip() for unit, size in _by_unit(self.units, aimed - target).items()
        )
        return (
            f"the target ({asked}) cannot be reached with these examples; the nearest that can be is about ({got}), "
            f"{away} away"
        )

    def _check_measurable(self, what: str) -> None:
        if any(feature.kind == "given" for feature in self.features):
            raise InvalidValue(f"{what} needs parameters that can be measured, and {self.names[0]!r} was given by hand")


def _by_unit(units: tuple[str, ...], off: Floats) -> dict[str, float]:
    """By unit, the length of what is off (d,) in the parameters of that unit."""
    return {
        unit: float(np.linalg.norm(off[[k for k, each in enumerate(units) if each == unit]]))
        for unit in dict.fromkeys(units)
    }


def _checked_steps(refine: bool | int) -> int:
    if isinstance(refine, bool | np.bool_):
        return _STEPS if refine else 0
    steps = check_index(refine, "refine= or --refine")
    if not 0 <= steps <= _MOST_STEPS:
        raise InvalidValue(f"refine= or --refine must be True, False or 0 to {_MOST_STEPS} steps, got {steps}")
    return steps


def _name(features: tuple[Feature, ...], target: Floats) -> str:
    parts, at = [], 0
    for feature in features:
        values = target[at : at + feature.n_dims].tolist()
        parts.append(" ".join([feature.told, *(f"{value:.3g}" for value in values)]))
        at += feature.n_dims
    return ", ".join(parts)
