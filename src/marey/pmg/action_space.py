"""A space of single actions, such as punches at points, that meets requested parameters exactly.

Synchronized examples are blended in the frame of their first pose, so feet that are planted in all of them are planted
in the blend. Weights fall off with the distance in parameters and are then tilted until the weighted mean of the
examples' parameters equals a given mean; this is possible for all means in the convex hull of the examples. However, a
blended arm does not end exactly at the mean of the positions. The parameters that blends reach are therefore measured
once, for many means, and a request is converted to the mean that reaches it. Close to an example's parameters, its own
weight grows to 1, so it is reached exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root
from marey.core.settings import operation
from marey.core.source import Source
from marey.deprecation import renamed_classmethod
from marey.errors import InvalidValue, NoResult
from marey.io.limits import check_blend_frames
from marey.io.stored import FileFormat, Part
from marey.maths import quat, rigid2d
from marey.parametric.region import Region
from marey.parametric.space import ParametricMotion
from marey.parametric.target_weights import neighbor_weights
from marey.pmg.blended import BlendedSpace, check_contact_columns, check_rotations, make_motion, strip_source
from marey.pmg.gait_cycles import stack_frames
from marey.pmg.gait_kernels import interpolate_rows, mix_values, place_frames, solve_weights
from marey.pmg.settings import ActionSettings
from marey.pmg.space import check_box
from marey.pmg.stance import make_soles
from marey.pmg.units import format_ranges, format_target

__all__ = ["ActionSpace"]

# Sample points per second of an example.
_PER_SECOND = 64.0
# The kernel width is the median distance from an example to its nearest neighbor, clamped to this range; in units of
# the average spacing of the examples along each parameter. Measured by leaving out one example at a time and predicting
# it from the others: for generated examples, whose parameters are on grids (punches, ducks, stops, starts, turns on the
# spot, steps, leaps), no width from 0.2 to 1.5 is better by more than 5 %. Recorded examples are closer together:
# compared with the maximum width, the median lowers the error by 10 and 7 % for two sets of punches, by 1 % for
# reaches, and by nothing for kicks.
_NARROWEST, _WIDEST = 0.2, 0.4
_SOLVED, _MAX_TILTS, _MIN_WEIGHT = 1e-9, 60, 1e-3
# Number of random means to measure, keyed by the number of parameters, and for more parameters.
_MEANS = {1: 16, 2: 80, 3: 200}
_MAX_MEANS = 250
# Distance from an example within which its own weight grows, in kernel widths; less if another example is closer.
_OWN = 0.3

_Measure = Callable[[Motion, Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ActionSpace(BlendedSpace):
    """A space of motions blended from n examples of one action; created by `build`.

    The examples are sampled at G synchronized points. J is the number of joints, K the number of contact points.

    base : a motion that provides skeleton, frame rate, contact points and floor.
    names, units : names and units of the d parameters.
    parameters : (n, d) parameters of the examples.
    turns : (n, G, J, 4) local rotation quaternions, joint 0 relative to the heading.
    heights : (n, G) height of joint 0, in meters.
    ways : (n, G, 3) floor placements (theta, x, z) of heading and joint 0, relative to the first pose.
    times : (n, G) seconds from the start of the example.
    contacts : (n, G, K) contact flags, 0 or 1.
    bandwidth : (d,) kernel width, in units of the parameters.
    low, high : (d,) range of valid requests; see `region` for what is reachable in this box.
    samples : (m, d) parameters of sampled blends; none if the parameters were given by hand.
    means : (m, d) weighted means of the examples' parameters in these blends.
    sources : names of the examples.

    Examples
    --------
    >>> actions = marey.pmg.ActionSpace.build(space)
    >>> actions.names, actions.weights([1.0]).shape
    (('right_ball y',), (5,))
    >>> actions([1.0]).rotations.shape[1:]
    (27, 4)
    """

    FILE = FileFormat(
        "marey.action_space", 2,
        {
            "turns": Part("float", ("examples", "points", "joints", 4), stored_as="f4"),
            "contacts": Part("float", ("examples", "points", "contact points"), stored_as="f4"),
            "names": Part("text", ("parameters",)),
            "units": Part("text", ("parameters",)),
            "sources": Part("text", ("sources",)),
            "parameters": Part("float", ("examples", "parameters")),
            "heights": Part("float", ("examples", "points")),
            "ways": Part("float", ("examples", "points", 3)),
            "times": Part("float", ("examples", "points")),
            "bandwidth": Part("float", ("parameters",)),
            "low": Part("float", ("parameters",)),
            "high": Part("float", ("parameters",)),
            "samples": Part("float", ("samples", "parameters")),
            "means": Part("float", ("samples", "parameters")),
        },
        has_clips=True,
    )  # fmt: skip

    base: Motion
    names: tuple[str, ...]
    units: tuple[str, ...]
    parameters: Floats
    turns: Floats
    heights: Floats
    ways: Floats
    times: Floats
    contacts: Floats
    bandwidth: Floats
    low: Floats
    high: Floats
    samples: Floats
    means: Floats
    sources: tuple[str, ...] = ()
    # (n, G, C) all blended values in one array: rotations, root height and contact flags; for the contact points, (2 K)
    # floor movement to the next sample and (K) heights, in meters; path and time.
    _values: Floats = field(init=False)
    # Convex hull of the examples' parameters, which holds all means; parameters that can be requested; see _find_radii.
    _hull: Region = field(init=False)
    _region: Region = field(init=False)
    _radii: Floats = field(init=False)
    _source: Source = field(init=False)

    def __post_init__(self) -> None:
        for name in ("names", "units", "sources"):
            self._put(**{name: tuple(str(each) for each in getattr(self, name))})
        d = len(self.names)
        if len(self.units) != d:
            raise InvalidValue(f"units must have one entry for each of {d} parameters, not {len(self.units)}")
        n, g = np.shape(self.heights)
        self._freeze(
            parameters=(n, d),
            turns=(n, g, len(self.base.skeleton), 4),
            heights=(n, g),
            ways=(n, g, 3),
            times=(n, g),
            contacts=(n, g, None),
            bandwidth=(d,),
        )
        self._freeze(samples=("m", d), means=("m", d))
        low, high = check_box(self.low, self.high, self.names, self.units)
        if not (self.bandwidth > 0.0).all():
            raise InvalidValue(f"bandwidth must be greater than 0, not {self.bandwidth.tolist()}")
        hull, reach = (
            Region.from_points(each) for each in (self.parameters, np.concatenate([self.parameters, self.samples]))
        )
        self._put(low=low, high=high, _hull=hull, _region=reach.cut(low, high), _radii=self._find_radii())
        check_contact_columns(self.base, self.contacts)
        if not n or g < 2 or not (np.diff(self.times, axis=1) > 0.0).all() or not (self.times[:, 0] >= 0.0).all():
            raise InvalidValue("an action space needs examples with at least two sample points at increasing times")
        check_blend_frames(float(self.times.max()), self.base.fps)
        bare_parts = (self.turns.reshape(n, g, -1), self.heights[..., None], self.contacts)
        paths = (self.ways, self.times[..., None])
        self._put(_values=np.concatenate([*bare_parts, *paths], axis=2))
        self._put(
            _values=set_readonly(np.concatenate([*bare_parts, *self._measure_feet(), *paths], axis=2)),
            _source=strip_source(self.base.source),
        )

    def __repr__(self) -> str:
        ranges = format_ranges(self.names, self.units, self.low, self.high)
        return f"<ActionSpace: {len(self.heights)} examples, {ranges}>"

    @classmethod
    @operation(ActionSettings)
    def build(cls, motion: ParametricMotion, settings: ActionSettings) -> ActionSpace:
        """Build a space from the examples of a `ParametricMotion`.

        Parameters
        ----------
        motion : synchronized examples with their d parameters.

        Examples
        --------
        >>> marey.pmg.ActionSpace.build(space).turns.shape[2:]
        (27, 4)
        """
        reg = motion.registration
        base = bake_hips_into_root(reg.motions[0])
        if base.skeleton.roles["hips"] != 0:
            raise InvalidValue(
                f"an action space needs skeletons whose root (joint 0) is the hips, but in {base.name!r} the hips are "
                f"joint {base.skeleton.roles['hips']}; call marey.core.placement.make_hips_root first"
            )
        d = motion.n_dims
        given = settings.names
        called = (given,) if isinstance(given, str) else tuple(given or motion.names)
        if len(called) != d:
            raise InvalidValue(
                f"names must have one entry for each of {d} parameters ({', '.join(motion.names)}), not {len(called)}"
            )
        count = max(8, round(float(reg.timewarp.durations.mean()) * _PER_SECOND)) + 1
        u = np.linspace(0.0, 1.0, count)
        seconds = reg.timewarp(u)
        rows = [_sample_motion(each, seconds[:, j]) for j, each in enumerate(reg.motions)]
        rotations, heights, paths, contacts = (set_readonly(np.stack([row[k] for row in rows])) for k in range(4))
        sides = np.where((rotations * rotations[:1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        spread = np.ptp(motion.parameters, axis=0)
        if not (spread > 0.0).all():
            raise NoResult(
                f"{called[int(np.argmin(spread))]!r} cannot be a parameter, because it is the same in all "
                "examples; add examples that differ in it"
            )
        usual = spread / max(1.0, len(rows) ** (1.0 / d) - 1.0)
        width = settings.bandwidth
        own = motion.parameters
        near = _find_width(own, usual) if width is None else freeze_array(np.atleast_1d(width), "bandwidth", (d,))
        space = cls(
            base, called, tuple(settings.units) or motion.units, own, set_readonly(rotations * sides), heights,
            paths, set_readonly(seconds.T - seconds[0][:, None]), contacts, near, own.min(axis=0), own.max(axis=0),
            own[:0], own[:0], tuple(each.name for each in reg.motions),
        )  # fmt: skip
        space = _measure_samples(space, _make_measure(motion, count))
        lowest, highest = (
            np.asarray(choose(np.concatenate([own, space.samples]), axis=0) if limit is None else limit)
            for choose, limit in ((np.min, settings.low), (np.max, settings.high))
        )
        return replace(space, low=lowest, high=highest)

    of = renamed_classmethod("of", "build")

    @property
    def is_measured(self) -> bool:
        """Whether the parameters were measured, not given by hand."""
        return len(self.samples) > 0

    def _find_radii(self) -> Floats:
        """Return the distance (n,) from each example within which its own weight grows, in kernel widths."""
        own = self.parameters / self.bandwidth
        apart = np.linalg.norm(own[:, None] - own, axis=2)
        np.fill_diagonal(apart, np.inf)
        return set_readonly(np.minimum(_OWN, 0.5 * apart.min(axis=1)) * float(self.is_measured))

    def weights(self, target: ArrayLike) -> Floats:
        """Return the nonnegative blend weights (n,) of the examples for a target (d,); their sum is 1."""
        wanted = freeze_array(np.atleast_1d(target), "target", (len(self.names),))
        mean, nearest, own = self._find_mean(wanted)
        weights = (1.0 - own) * self._tilt_weights(mean)
        weights[nearest] += own
        return weights

    def reached(self, target: ArrayLike) -> Floats:
        """Estimate from the samples which parameters (d,) the motion for a target (d,) has."""
        mean, nearest, own = self._find_mean(freeze_array(np.atleast_1d(target), "target", (len(self.names),)))
        found = mean + self._interpolate(self.samples - self.means, self.means, mean)
        return np.asarray((1.0 - own) * found + own * self.parameters[nearest])

    def _find_mean(self, wanted: Floats) -> tuple[Floats, int, float]:
        """Find the blend that reaches parameters (d,): a mean (d,), the nearest example, and this example's own weight.

        The rest of the weight goes to the blend whose weighted mean of the examples' parameters is the returned mean.
        """
        away = np.linalg.norm((self.parameters - wanted) / self.bandwidth, axis=1)
        nearest = int(np.argmin(away - self._radii))
        radius, own = float(self._radii[nearest]), 0.0
        if away[nearest] < radius:
            own = (1.0 - float(away[nearest]) / radius) ** 2
            # The weighted mean of the example's parameters and those of the rest must be the requested parameters.
            wanted = (wanted - own * self.parameters[nearest]) / max(1.0 - own, 1e-9)
        mean = wanted + self._interpolate(self.means - self.samples, self.samples, wanted)
        return self._hull.project(mean, self.bandwidth), nearest, own

    def _tilt_weights(self, wanted: Floats) -> Floats:
        off = (self.parameters - wanted) / self.bandwidth
        out, room = np.empty(len(off)), np.empty(len(off))
        solve_weights(off, -0.5 * (off**2).sum(axis=1), _MAX_TILTS, _SOLVED, _MIN_WEIGHT, room, out)
        return out

    def _interpolate(self, values: Floats, points: Floats, target: Floats) -> Floats:
        """Interpolate values (m, d), known at points (m, d), at a target (d,); 0 if there are none."""
        if not len(points):
            return np.zeros(len(target))
        near, weights = neighbor_weights(target / self.bandwidth, points / self.bandwidth, len(self.names) + 2)
        return np.asarray(weights @ values[near])

    def paths(self, targets: Floats, n: int) -> Floats:
        """Return floor placements (theta, x, z), (B, n, 3), at n evenly spaced times of each motion.

        targets : (B, d) parameters of the B motions.
        """
        out = np.empty((len(targets), n, 3))
        for b, target in enumerate(np.asarray(targets, dtype=np.float64)):
            mixed = np.tensordot(self.weights(target), self._values[..., -4:], axes=1)
            at = np.linspace(0.0, mixed[-1, 3], n)
            for c in range(3):
                out[b, :, c] = np.interp(at, mixed[:, 3], mixed[:, c])
        return out

    def __call__(self, target: ArrayLike) -> Motion:
        """Return the motion with parameters `target` (d,); it begins at the origin, facing +Z."""
        return self._blend(self.weights(target), format_target(self.names, np.atleast_1d(target)))[0]

    def _blend(self, weights: Floats, name: str) -> tuple[Motion, Floats]:
        """Return the blended motion, and the time of each sample point, (G,) seconds."""
        base = self.base
        mixed = np.empty((self._values.shape[1], self._values.shape[2]))
        mix_values(weights, self._values, mixed)
        self._correct_feet(mixed)
        seconds = mixed[:, -1]
        n_frames = int(np.floor(seconds[-1] * base.fps + 1e-6)) + 1
        rows = np.interp(np.arange(n_frames) / base.fps, seconds, np.arange(len(mixed)))
        frames = np.empty((n_frames, mixed.shape[1]))
        interpolate_rows(mixed, rows, frames)
        places = np.ascontiguousarray(frames[:, -4:-1])
        motion = make_motion(base, frames, places, self.contacts.shape[2], name, self._source)
        return motion, seconds

    def _measure_feet(self) -> list[Floats]:
        if self.base.contacts is None or not self.contacts.shape[2]:
            return []
        points = np.stack([self._contact_points(each) for each in self._values])
        strides = np.diff(points[..., [0, 2]], axis=1, append=points[:, -1:, :, [0, 2]])
        return [strides.reshape(*points.shape[:2], -1), points[..., 1]]

    def _contact_points(self, values: Floats) -> Floats:
        """Return contact point positions (G, K, 3), relative to the first pose, for one motion's values (G, C)."""
        assert self.base.contacts is not None
        roots, rotations = np.empty((len(values), 3)), np.empty((len(values), self.turns.shape[2], 4))
        place_frames(values, np.ascontiguousarray(values[:, -4:-1]), rotations.shape[1], roots, rotations)
        return make_soles(self.base.skeleton, self.base.contacts.points).points(rotations) + roots[:, None]

    def _correct_feet(self, mixed: Floats) -> None:
        """Correct path and height in a blend's values (G, C), in place: planted feet then move as in the examples."""
        k, at = self.contacts.shape[2], 4 * self.turns.shape[2]
        if self.base.contacts is None or not k:
            return
        soles = make_soles(self.base.skeleton, self.base.contacts.points)
        points = self._contact_points(mixed)
        first = at + 1 + k
        strides, heights = mixed[:-1, first : first + 2 * k], mixed[:, first + 2 * k : first + 3 * k]
        mixed[:, at] += soles.lifts(points, heights)
        levels = np.ascontiguousarray(mixed[:, at + 1 : first])
        moves = soles.carry(points, np.ascontiguousarray(strides).reshape(-1, k, 2), levels)
        heading = mixed[:, -4] + moves[:, 0]
        mixed[:, -4:-1] = rigid2d.compose(moves, mixed[:, -4:-1])
        mixed[:, -4] = heading

    def _to_parts(self) -> dict[str, Any]:
        return BlendedSpace._to_parts(self) | {"clips": [self.base[:1]]}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> ActionSpace:
        (base,) = parts.pop("clips")
        check_rotations(parts["turns"])
        return cls(base=base, **parts)


def _find_width(parameters: Floats, usual: Floats) -> Floats:
    """Return the kernel width (d,) for examples (n, d) with an average spacing `usual` (d,); see `_WIDEST`."""
    scaled = parameters / usual
    apart = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    apart[apart == 0.0] = np.inf  # each example itself, and copies of it
    return np.asarray(np.clip(np.median(apart.min(axis=1)), _NARROWEST, _WIDEST) * usual)


def _sample_motion(motion: Motion, seconds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Sample rotations, heights, paths and contacts at `seconds` (G,); paths are relative to the first sample."""
    from scipy.interpolate import CubicSpline

    carried = bake_hips_into_root(motion)
    rows = CubicSpline(np.arange(len(carried)), stack_frames(carried), axis=0)(seconds * carried.fps)
    local = quat.normalize(rows[:, :-4].reshape(len(rows), -1, 4))
    places = np.stack([rows[:, -1], rows[:, -4], rows[:, -2]], axis=1)
    paths = rigid2d.compose(rigid2d.invert(places[0]), places)
    paths[:, 0] = places[:, 0] - places[0, 0]
    nearest = np.clip(np.rint(seconds * carried.fps).astype(np.int64), 0, len(carried) - 1)
    mask = np.zeros((len(rows), 0)) if motion.contacts is None else motion.contacts.mask[nearest].astype(np.float64)
    return local, rows[:, -3], paths, mask


def _make_measure(motion: ParametricMotion, n_points: int) -> _Measure | None:
    """Return a function that measures a blend's parameters, given the times of its sample points.

    Return None if any parameter was given by hand, because such a parameter cannot be measured.
    """
    if any(feature.kind == "given" for feature in motion.features):
        return None

    def measured(blend: Motion, seconds: Floats) -> Floats:
        out = []
        for feature, moment in zip(motion.features, motion.moments, strict=True):
            if feature.is_pose:
                at = float(np.interp(moment * (n_points - 1), np.arange(n_points), seconds))
                out.append(feature.measure_poses(blend, np.array([0.0, min(at * blend.fps, len(blend) - 1.0)])))
            else:
                out.append(feature.measure_whole(blend, None))
        return np.concatenate(out)

    return measured


def _measure_samples(space: ActionSpace, measure: _Measure | None) -> ActionSpace:
    """Measure the parameters that blends reach, and return the space with them; unchanged if `measure` is None."""
    if measure is None:
        return space
    count = _MEANS.get(len(space.names), _MAX_MEANS)
    means = space._hull.sample(count, np.random.default_rng(0), corners=True)
    samples = np.stack([measure(*space._blend(space._tilt_weights(mean), "")) for mean in means])
    return replace(space, samples=set_readonly(samples), means=set_readonly(means))
