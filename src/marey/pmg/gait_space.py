"""A space of locomotion that meets the requested turn and speed exactly.

Clips of one gait cycle are blended at equal gait phase. Root movement is averaged relative to the character's own
heading, so the turn and distance of a blend are the weighted means of those of the clips. So is its speed, if it is a
parameter, else its duration. Weights fall off with the distance in parameters, and are then tilted (each multiplied by
the exponential of a linear function of its clip's parameters) until the means of the parameters equal the request. This
is possible for all requests in the convex hull of the clips' parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.placement import RETARGET, bake_hips_into_root, check_same_skeleton, make_hips_root
from marey.core.settings import operation
from marey.core.source import Source
from marey.edit.common_skeleton import share_skeleton
from marey.errors import InvalidValue, NoResult, format_list, warn_user
from marey.io.limits import check_blend_frames
from marey.io.stored import FileFormat, Part
from marey.parametric.region import Region
from marey.pmg.blended import BlendedSpace, check_contact_columns, check_rotations, make_motion, strip_source
from marey.pmg.gait_cycles import PER_CYCLE, Cycle, CyclePart, cut_cycles, find_usual_events, grid_phases, has_gait
from marey.pmg.gait_kernels import interpolate_rows, mix_singles, solve_weights
from marey.pmg.settings import GaitSettings
from marey.pmg.stance import make_soles
from marey.pmg.units import format_ranges, format_target

__all__ = ["GaitSpace"]

_UNITS = {"turn": "rad", "speed": "m/s"}
# Kernel width for each parameter, for full cycles. A wider kernel smooths away individual features of clips; with a
# narrower one, motion changes less evenly with the parameters.
_BANDWIDTH = {"turn": np.radians(7.0), "speed": 0.1}
# Ratio and difference in m/s of the speeds of clips that turn alike, above which a warning names them: a stroll and a
# brisk walk differ by a factor of 2, a walk and a run by 3.
_FASTER, _FASTER_BY = 2.5, 0.5
_SOLVED = 1e-9
_MAX_TILTS = 60
_MAX_MARGIN = 100.0
# Phase at which each foot's step begins: the foot, which comes down next, passes the other.
_STEPS_BEGIN = {"left": 0.0, "right": 0.5}
# Weights below this fraction of the largest weight are set to 0.
_MIN_WEIGHT = 1e-4
# Number of speeds at which the range of turns is examined.
_SPEEDS = 21


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaitSpace(BlendedSpace):
    """A space of locomotion with the parameter turn, or turn and speed; created by `build`.

    It blends n clips of one gait cycle or one step. The space has d parameters.

    base : a motion that provides skeleton, frame rate, contact points, labels and floor.
    names : names of the parameters: ``turn``, change of heading from the beginning of a clip to that of the next, in
        radians, positive to the left; and ``speed``, forward speed in m/s.
    margin : cycles that a clip extends beyond its main part at both ends.
    turns : (n, G, J, 4) local rotations of the clips; see `Cycle.rotations` for G and J.
    heights : (n, G), steps : (n, G - 1, 4), contacts : (n, G, K) of the clips; see `Cycle`.
    bandwidth : (d,) kernel width, in units of the parameters.
    low, high : (d,) range of valid requests; see `region` for what is reachable in this box.
    sources : names of the motions that the clips were cut from.
    span : length of a clip in cycles, without its margins: 1, or 0.5 for steps.

    Examples
    --------
    >>> space = marey.pmg.GaitSpace.build([walk, turning, marey.edit.mirror(turning)])
    >>> space.names, space.units
    (('turn',), ('rad',))
    >>> space(space.high).rotations.shape[1:]
    (27, 4)
    """

    FILE = FileFormat(
        "marey.gait_space", 1,
        {
            "turns": Part("float", ("cycles", "points", "joints", 4), stored_as="f4"),
            "contacts": Part("float", ("cycles", "points", "contact points"), stored_as="f4"),
            "margin": Part("float"),
            "span": Part("float", optional=True),
            "parameters": Part("text", ("parameters",)),
            "sources": Part("text", ("sources",)),
            "heights": Part("float", ("cycles", "points")),
            "steps": Part("float", ("cycles", "steps", 4)),
            "bandwidth": Part("float", ("parameters",)),
            "low": Part("float", ("parameters",)),
            "high": Part("float", ("parameters",)),
        },
        has_clips=True,
    )  # fmt: skip

    base: Motion
    names: tuple[str, ...]
    margin: float
    turns: Floats
    heights: Floats
    steps: Floats
    contacts: Floats
    bandwidth: Floats
    low: Floats
    high: Floats
    sources: tuple[str, ...] = ()
    span: float = 1.0
    # (n, G, C) rotations, heights, contacts and foot data in one array; and (n,) turn, forward distance and duration of
    # each clip's main part.
    _values: NDArray[np.float32] = field(init=False)
    _sums: tuple[Floats, Floats, Floats] = field(init=False)
    _source: Source = field(init=False)
    _parameters: Floats = field(init=False)
    _region: Region = field(init=False)

    def __post_init__(self) -> None:
        self._put(names=_check_names(self.names))
        n, g = np.shape(self.heights)
        d = len(self.names)
        if self.span not in (0.5, 1.0):
            raise InvalidValue(f"span must be 1 or 0.5 cycles, not {self.span:g}")
        if not 0.0 <= self.margin <= _MAX_MARGIN:
            raise InvalidValue(f"margin must be from 0 to {_MAX_MARGIN:g} cycles, not {self.margin:g}")
        points = len(grid_phases(self.margin, self.span))
        if g != points:
            raise InvalidValue(
                f"a span of {self.span:g} cycles with margins of {self.margin:g} needs {points} points, not {g}"
            )
        self._freeze(
            turns=(n, g, len(self.base.skeleton), 4),
            heights=(n, g),
            steps=(n, g - 1, 4),
            contacts=(n, g, None),
            bandwidth=(d,),
            low=(d,),
            high=(d,),
        )
        if not (self.bandwidth > 0.0).all():
            raise InvalidValue(f"bandwidth must be greater than 0, not {self.bandwidth.tolist()}")
        check_contact_columns(self.base, self.contacts)
        seconds = self.steps[..., 3]
        if not n or not (seconds > 0.0).all():
            raise InvalidValue("every step in the clips of a gait space must last longer than 0 s")
        check_blend_frames(float(seconds.sum(axis=1).max()), self.base.fps)
        parts = (self.turns.reshape(n, g, -1), self.heights[..., None], self.contacts, *self._measure_feet())
        # Single precision, as in files: a blend reads about fifty clips and is mostly limited by memory bandwidth.
        self._put(_values=set_readonly(np.concatenate(parts, axis=2).astype(np.float32)))
        own = round(self.span * PER_CYCLE)
        extra = (g - 1 - own) // 2
        turn, _, distance, time = np.moveaxis(self.steps[:, extra : extra + own].sum(axis=1), 1, 0)
        self._put(_sums=(turn, distance, time), _source=strip_source(self.base.source))
        found = np.stack([turn, distance / time][:d], axis=1)
        self._put(_parameters=set_readonly(found), _region=Region.from_points(found).cut(self.low, self.high))

    def __repr__(self) -> str:
        ranges = format_ranges(self.names, self.units, self.low, self.high)
        return f"<GaitSpace: {len(self.heights)} {'cycles' if self.span == 1.0 else 'steps'}, {ranges}>"

    @classmethod
    @operation(GaitSettings)
    def build(cls, motions: Iterable[Motion], settings: GaitSettings) -> GaitSpace:
        """Build a space from all gait cycles in some motions of one character, or from all steps of one foot.

        Parameters
        ----------
        motions : walks or runs on various curves; with contacts if the result should have them. Those without a
            complete gait cycle, such as a jump, are not used, with a warning.

        Examples
        --------
        >>> space = marey.pmg.GaitSpace.build([walk, turning, marey.edit.mirror(turning)])
        >>> space.parameters.shape[1], bool(space.low[0] < 0.0 < space.high[0])  # radians
        (1, True)
        """
        names, margin = _check_names(settings.parameters), settings.margin
        part = CyclePart(_STEPS_BEGIN[settings.side], 0.5 * settings.steps)
        given = list(motions)
        if given:
            given = list(share_skeleton(given, settings.retarget))
        if settings.retarget is not False:
            given = [make_hips_root(motion) for motion in given]
        if not given:
            raise InvalidValue("a gait space needs motions, got none")
        base = bake_hips_into_root(given[0])
        found: list[Cycle] = []
        sources: list[str] = []
        counts: list[int] = []
        for motion in given:
            check_same_skeleton(base.skeleton, motion.skeleton, "a gait space", RETARGET)
            if motion.fps != base.fps:
                raise InvalidValue(
                    f"all motions of a gait space must have the same fps, not {base.fps:g} and {motion.fps:g}; "
                    "resample one of them"
                )
        walks = [motion for motion in given if has_gait(motion)]
        taken = list(_add_mirrored(walks, settings.mirror))
        usual = find_usual_events(taken)
        for motion in taken:
            cycles = cut_cycles(motion, margin, usual, part)
            found += cycles
            counts.append(len(cycles))
            sources += [motion.name] * len(cycles)
        what, remedy = "gait cycle" if part.span == 1.0 else "step", "use longer motions, or a smaller `margin=`"
        if len(found) < 2:
            contain = "the motion contains" if len(given) == 1 else f"{len(given)} motions contain"
            raise NoResult(
                f"a gait space needs at least 2 {what}s with margins of {margin:g} cycles, but {contain} {len(found)}; "
                f"{remedy}"
            )
        per_walk = np.reshape(counts, (len(walks), -1)).sum(axis=1)  # with those of the mirrored motion
        used = {id(motion) for motion, n in zip(walks, per_walk, strict=True) if n}
        unused = [f"{m.name!r} ({m.duration:.1f} s)" for m in given if id(m) not in used]
        if unused:
            warn_user(
                f"not used, because they contain no complete {what} with margins of {margin:g} cycles: "
                f"{format_list(unused, 8)}; {remedy}"
            )
        n_points = {cycle.contacts.shape[1] for cycle in found}
        if len(n_points) > 1:
            raise InvalidValue("the motions of a gait space must all have the same contact points, or no contacts")
        rotations = np.stack([cycle.rotations for cycle in found])
        sides = np.where((rotations * rotations[:1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        usually = {**_BANDWIDTH, "turn": part.span * _BANDWIDTH["turn"]}
        scale = [usually[name] for name in names] if settings.bandwidth is None else list(settings.bandwidth)
        space = cls(
            base, names, margin, set_readonly(rotations * sides),
            set_readonly(np.stack([cycle.heights for cycle in found])),
            set_readonly(np.stack([cycle.steps for cycle in found])),
            set_readonly(np.stack([cycle.contacts for cycle in found])),
            np.array(scale), np.zeros(len(names)), np.zeros(len(names)), tuple(sources), part.span,
        )  # fmt: skip
        own = space.parameters
        low, high = own.min(axis=0), own.max(axis=0)
        if not (high > low).all():
            raise NoResult(
                f"{names[int(np.argmin(high - low))]!r} cannot be a parameter, because it is the same in all clips; "
                "add clips that differ in it"
            )
        space = replace(space, low=low, high=high)
        coverage = space.describe_coverage()
        if coverage:
            warn_user(
                f"{coverage}; add clips that turn at other speeds, or remove speed from `parameters=`: "
                "turns then have the speed of their clips"
            )
        speeds = space.describe_speeds()
        if speeds:
            warn_user(f"{speeds}; add speed to `parameters=`, or make separate nodes")
        return space

    def turn_range(self, speed: float) -> tuple[float, float]:
        """Return the smallest and largest turn at a speed, in radians; the speed must be one of the parameters."""
        region = self.region.cut([-np.inf, speed], [np.inf, speed])
        across, left = region.normals[:, 0], region.offsets - region.normals[:, 1] * speed
        low, high = float(self.low[0]), float(self.high[0])
        for slope, limit in zip(across, left, strict=True):
            if slope > 1e-12:
                high = min(high, float(limit / slope))
            elif slope < -1e-12:
                low = max(low, float(limit / slope))
        return low, max(low, high)

    def describe_coverage(self) -> str:
        """Describe at which speeds the space turns little; "" if it turns far at most speeds, or has no speed."""
        if len(self.names) < 2:
            return ""
        speeds = np.linspace(self.low[1], self.high[1], _SPEEDS)
        ranges = [self.turn_range(float(speed)) for speed in speeds]
        widths = np.array([high - low for low, high in ranges])
        wide = np.flatnonzero(widths >= 0.5 * widths.max())
        if len(wide) >= 0.5 * len(widths):
            return ""
        narrow = int(np.argmin(np.where(np.isin(np.arange(_SPEEDS), [2, _SPEEDS - 3]), widths, np.inf)))
        (low, high), (least, most) = ranges[narrow], np.degrees([self.low[0], self.high[0]])
        return (
            f"the clips turn sharply only at {speeds[wide[0]]:.2g} to {speeds[wide[-1]]:.2g} m/s, by {least:.0f} to "
            f"{most:.0f} degrees; at {speeds[narrow]:.2g} m/s they turn only by {np.degrees(low):.0f} to "
            f"{np.degrees(high):.0f} degrees"
        )

    def describe_speeds(self) -> str:
        """Describe the speeds of the clips; "" if they are similar for similar turns, or if speed is a parameter."""
        turn, distance, seconds = self._sums
        speed = distance / seconds
        alike = np.abs(turn[:, None] - turn) <= self.bandwidth[0]
        fastest = np.where(alike, speed, -np.inf).max(axis=1)
        if "speed" in self.names or (fastest < np.maximum(_FASTER * speed, speed + _FASTER_BY)).all():
            return ""
        return f"the clips have speeds of {speed.min():.1f} to {speed.max():.1f} m/s, which are blended into one"

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d parameters."""
        return tuple(_UNITS[name] for name in self.names)

    @property
    def parameters(self) -> Floats:
        """(n, d) parameters of the clips."""
        return self._parameters

    def weights(self, target: ArrayLike) -> Floats:
        """Return the nonnegative blend weights (n,) of the clips for a target (d,); their sum is 1.

        They meet the target exactly if that is possible.
        """
        return np.asarray(self._weights(freeze_array(np.atleast_1d(target), "target", (len(self.names),))[None])[0])

    def _weights(self, targets: Floats) -> Floats:
        """Return weights (B, n) for targets (B, d): kernel weights, tilted by Newton's method on the convex dual."""
        own = self.parameters
        out, room = np.empty((len(targets), len(own))), np.empty(len(own))
        for wanted, weights in zip(targets, out, strict=True):
            off = (own - wanted) / self.bandwidth
            heat = -0.5 * (off**2).sum(axis=1)
            solve_weights(off, heat, _MAX_TILTS, _SOLVED, _MIN_WEIGHT, room, weights)
        return out

    def reached(self, target: ArrayLike) -> Floats:
        """Return the parameters (d,) that the motion for a target (d,) actually has."""
        return np.asarray(self.weights(target) @ self.parameters)

    def _mix_steps(self, weights: Floats) -> Floats:
        """Return the steps (B, G - 1, 4) of blends with weights (B, n): the means of the clips, at their mean speed."""
        used = np.flatnonzero(weights.any(axis=0))
        steps: Floats = np.einsum("bn,ngc->bgc", weights[:, used], self.steps[used])
        if len(self.names) > 1:
            _, distance, time = (weights @ each for each in self._sums)
            speed = weights @ self.parameters[:, 1]
            steps[..., 3] *= (distance / (speed * time))[:, None]
        return steps

    def paths(self, targets: Floats, n: int) -> Floats:
        """Return floor placements (theta, x, z), (B, n, 3), at n evenly spaced times of each motion.

        targets : (B, d) parameters of the B motions.
        """
        weights = self._weights(np.asarray(targets, dtype=np.float64))
        steps = self._mix_steps(weights)
        placed, seconds = _integrate_steps(steps, self.span)
        fractions = np.linspace(0.0, 1.0, n)
        out = np.empty((len(steps), n, 3))
        for b in range(len(steps)):
            at = seconds[b, 0] + fractions * (seconds[b, -1] - seconds[b, 0])
            for c in range(3):
                out[b, :, c] = np.interp(at, seconds[b], placed[b, :, c])
        return out

    def __call__(self, target: ArrayLike) -> Motion:
        """Return the motion with parameters `target` (d,); its main part begins at the origin, facing +Z."""
        weights = self.weights(target)
        base = self.base
        mixed = np.empty((self._values.shape[1], self._values.shape[2]))
        mix_singles(weights, self._values, mixed)
        placed, seconds = _integrate_steps(self._correct_steps(weights, mixed)[None], self.span)
        first, last = seconds[0, 0], seconds[0, -1]
        if not np.isfinite(last - first):
            raise InvalidValue(
                "a motion of this space has no finite duration: the stored steps are damaged; build the space again"
            )
        n_frames = int(np.floor((last - first) * base.fps + 1e-9)) + 1
        rows = np.interp(first + np.arange(n_frames) / base.fps, seconds[0], np.arange(len(mixed)))
        values, laid = np.empty((n_frames, self._n_motion_columns)), np.empty((n_frames, 3))
        interpolate_rows(np.ascontiguousarray(mixed[:, : self._n_motion_columns]), rows, values)
        interpolate_rows(placed[0], rows, laid)
        name = format_target(self.names, np.atleast_1d(target))
        return make_motion(base, values, laid, self.contacts.shape[2], name, self._source)

    @property
    def _n_motion_columns(self) -> int:
        """Number of leading columns of `_values` that become a motion; foot data comes after them."""
        return int(4 * self.turns.shape[2] + 1 + self.contacts.shape[2])

    def _measure_feet(self) -> tuple[Floats, ...]:
        """Return positions of the contact points relative to joint 0, (n, G, 3 K), and how far they move along the
        floor until the next sample, (n, G, 2 K), in meters.
        """
        if self.base.contacts is None or not self.contacts.shape[2]:
            return ()
        soles = make_soles(self.base.skeleton, self.base.contacts.points)
        points = [soles.points(rotations) for rotations in self.turns]
        strides = [soles.steps(each, moves) for each, moves in zip(points, self.steps, strict=True)]
        n, g = self.heights.shape
        onward = np.pad(np.stack(strides), ((0, 0), (0, 1), (0, 0), (0, 0)))
        return np.stack(points).reshape(n, g, -1), onward.reshape(n, g, -1)

    def _correct_steps(self, weights: Floats, mixed: Floats) -> Floats:
        """Return the steps (G - 1, 4) of a blend: the clips' mean, corrected to move planted feet as in the clips.

        The leg rotations and heights in `mixed` are changed accordingly, in place.
        """
        steps: Floats = self._mix_steps(weights[None])[0]
        shown, n_joints, g = self._n_motion_columns, self.turns.shape[2], len(mixed)
        if self.base.contacts is None or mixed.shape[1] == shown:
            return steps
        soles = make_soles(self.base.skeleton, self.base.contacts.points)
        n_points = self.contacts.shape[2]
        wanted = mixed[:, shown : shown + 3 * n_points].reshape(g, n_points, 3)
        strides = np.ascontiguousarray(mixed[:-1, shown + 3 * n_points :]).reshape(g - 1, n_points, 2)
        rotations = mixed[:, : 4 * n_joints].reshape(g, n_joints, 4)
        rotations = rotations / np.sqrt(np.einsum("gjc,gjc->gj", rotations, rotations))[..., None]
        soles.step_legs(rotations, soles.points(rotations), wanted)
        mixed[:, : 4 * n_joints] = rotations.reshape(g, -1)
        points = soles.points(rotations)
        levels = np.ascontiguousarray(mixed[:, 4 * n_joints + 1 : shown])
        steps[:, 1:3] += soles.corrections(soles.steps(points, steps), strides, levels)
        mixed[:, 4 * n_joints] += soles.lifts(points, wanted[..., 1])
        return steps

    def _to_parts(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in self.FILE.parts if name != "parameters"}
        return own | {"clips": [self.base[:1]], "parameters": self.names}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> GaitSpace:
        (base,), names, span = parts.pop("clips"), parts.pop("parameters"), parts.pop("span") or 1.0
        check_rotations(parts["turns"])
        return cls(base=base, names=names, span=span, **parts)


def _integrate_steps(steps: Floats, span: float) -> tuple[Floats, Floats]:
    """Integrate steps (B, G - 1, 4) to floor placements (theta, x, z), (B, G, 3), and times (B, G) in seconds.

    Both are 0 at the start of the main part, which is `span` cycles long.
    """
    extra = (steps.shape[1] - round(span * PER_CYCLE)) // 2
    heading = _sum_steps(steps[..., 0], extra)
    half = 0.5 * (heading[:, 1:] + heading[:, :-1])
    cosine, sine = np.cos(half), np.sin(half)
    x = _sum_steps(steps[..., 1] * cosine + steps[..., 2] * sine, extra)
    z = _sum_steps(steps[..., 2] * cosine - steps[..., 1] * sine, extra)
    return np.stack([heading, x, z], axis=-1), _sum_steps(steps[..., 3], extra)


def _sum_steps(steps: Floats, origin: int) -> Floats:
    total = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    return np.asarray(total - total[:, origin : origin + 1])


def _add_mirrored(motions: Sequence[Motion], mirror: bool) -> Iterable[Motion]:
    from marey.edit.mirror import mirror as mirrored

    for motion in motions:
        yield motion
        if mirror:
            yield mirrored(motion)


def _check_names(names: Sequence[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) else tuple(names)
    if given not in (("turn",), ("turn", "speed")):
        raise InvalidValue(
            f"parameters of a gait space must be turn, or turn and speed, not {', '.join(map(str, given))}"
        )
    return given
