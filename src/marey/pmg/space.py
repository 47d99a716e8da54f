"""Spaces, the content of a node of a parametric motion graph: anything that maps a few numbers to smooth motion."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.naming import display_unit
from marey.errors import InvalidValue, MareyWarning
from marey.parametric.region import Region
from marey.parametric.space import ParametricMotion

__all__ = ["FunctionSpace", "Space", "as_space"]


@runtime_checkable
class Space(Protocol):
    """Protocol of a space: a motion for every parameter vector (d,) from `low` to `high`.

    Similar parameter vectors must give similar motions. A space may also have ``region``, the part of the box from
    `low` to `high` that its motions reach (by default all of it); ``parameters``, those of its examples (n, d);
    ``reached(target)``, the parameters (d,) that the motion for a target (d,) has; ``fps``, the frame rate of its
    motions; and ``paths(targets, n)``, which returns floor placements (theta, x, z), (B, n, 3), at n evenly spaced
    times of the motions for targets (B, d). If ``fps`` or ``paths`` are missing, a graph generates motions to find out.

    Examples
    --------
    >>> space = character.nodes["walk"].space
    >>> space.names, space.units
    (('turn',), ('rad',))
    >>> space.low.shape, len(space(space.low)) > 0
    ((1,), True)
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the d parameters."""
        ...

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d parameters."""
        ...

    @property
    def low(self) -> Floats:
        """(d,) smallest valid parameters."""
        ...

    @property
    def high(self) -> Floats:
        """(d,) largest valid parameters."""
        ...

    def __call__(self, target: Floats) -> Motion:
        """Return the motion with parameters (d,)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSpace:
    """A space that calls a function.

    function : takes parameters (d,) and returns a Motion.
    names : names of the d parameters.
    low, high : (d,) ranges of the parameters.
    units : units of the parameters; none by default.

    Examples
    --------
    >>> def make(parameters):
    ...     return marey.samples.straight_walk(speed=float(parameters[0]), seconds=2.0)
    >>> space = marey.pmg.FunctionSpace(make, ("speed",), np.array([0.8]), np.array([1.6]), units=("m/s",))
    >>> space(np.array([1.2]))
    <Motion 'straight_walk': 121 frames at 60 Hz, 27 joints>
    """

    function: Callable[[Floats], Motion]
    names: tuple[str, ...]
    low: Floats
    high: Floats
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not callable(self.function):
            raise InvalidValue(
                "`function` must be a function that takes parameter values and returns a Motion, not "
                f"{type(self.function).__name__}"
            )
        names, units = tuple(self.names), tuple(self.units)
        put(self, "names", names)
        put(self, "units", units or ("",) * len(names))
        if len(self.units) != len(names):
            raise InvalidValue(
                f"units must have one entry for each of {len(names)} parameters, or none, not {len(self.units)}"
            )
        low, high = check_box(self.low, self.high, names, self.units)
        put(self, "low", low)
        put(self, "high", high)

    def __call__(self, target: Floats) -> Motion:
        motion = self.function(target)
        if not isinstance(motion, Motion):
            raise InvalidValue(f"`function` must return a Motion, not {type(motion).__name__}")
        return motion


@dataclass(frozen=True, slots=True, eq=False)
class _ParametricSpace:
    """Wrapper that makes a `ParametricMotion` a space.

    An unreachable target gives the nearest reachable motion, without a warning. Contacts are not enforced here, because
    a stream enforces them after joining its clips.
    """

    motion: ParametricMotion
    low: Floats
    high: Floats

    @property
    def names(self) -> tuple[str, ...]:
        return self.motion.names

    @property
    def units(self) -> tuple[str, ...]:
        return self.motion.units

    @property
    def fps(self) -> float:
        return self.motion.registration.fps

    @property
    def region(self) -> Region:
        return self.motion.reachable().region

    @property
    def parameters(self) -> Floats:
        return self.motion.parameters

    @property
    def is_measured(self) -> bool:
        return not self.motion.reachable().by_hand

    def reached(self, target: Floats) -> Floats:
        """Return the parameters of the motion for a target."""
        return self.motion.synthesize(target, feet=None).reached

    def __call__(self, target: Floats) -> Motion:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MareyWarning)
            return self.motion(target, feet=None, start=np.zeros(3))


def as_space(
    given: Any,
    names: Sequence[str] | str | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    units: Sequence[str] = (),
) -> Space:
    """Convert a `ParametricMotion`, or a function with its names and ranges, to a space; return a space unchanged."""
    if isinstance(given, ParametricMotion):
        reach = given.reachable()
        return _ParametricSpace(given, reach.low, reach.high)
    if isinstance(given, Space):
        return given
    if names is None or low is None or high is None:
        raise InvalidValue(
            "a space must be a ParametricMotion, a space, or a function with `names=`, `low=` and `high=`, not "
            f"{type(given).__name__} without its ranges"
        )
    return FunctionSpace(
        given, (names,) if isinstance(names, str) else tuple(names), np.atleast_1d(low), np.atleast_1d(high),
        tuple(units),
    )  # fmt: skip


def find_region(space: Space) -> Region:
    """Return the parameters that the motions of a space can have: its ``region``, or else all between low and high."""
    own = getattr(space, "region", None)
    return Region.from_box(space.low, space.high) if own is None else own


def check_box(
    low: ArrayLike, high: ArrayLike, names: Sequence[str], units: Sequence[str]
) -> tuple[Floats, Floats]:  # fmt: skip
    """Check the ranges (d,) of named parameters and return them read-only; raise an error if low is above high."""
    d = len(names)
    if not d:
        raise InvalidValue("names must contain at least one parameter")
    lowest, highest = freeze_array(np.atleast_1d(low), "low", (d,)), freeze_array(np.atleast_1d(high), "high", (d,))
    for name, unit, a, b in zip(names, units, lowest, highest, strict=True):
        if a > b:
            shown, factor = display_unit(unit)
            got = f"{factor * a:.6g} to {factor * b:.6g} {shown}".rstrip()
            raise InvalidValue(f"`low` must be at most `high` for parameter {name!r}, not {got}")
    return set_readonly(lowest), set_readonly(highest)
