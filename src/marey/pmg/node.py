"""Nodes: named spaces of motion, with the ranges in use and a function that converts commands to parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.naming import display_unit
from marey.core.placement import find_facing
from marey.deprecation import renamed_fields, renamed_methods
from marey.errors import InvalidValue, plural
from marey.maths import rigid2d
from marey.parametric.region import Region
from marey.parametric.target_weights import neighbor_weights
from marey.pmg.space import Space, check_box, find_region
from marey.pmg.units import format_ranges

__all__ = ["ExampleReach", "Node", "Request", "request_by_name"]

Request = Callable[["Node", Mapping[str, Any], Floats], ArrayLike]
"""Function from a node, a command and the character's floor placement (theta, x, z) to the node's parameters (d,)."""

# Error up to which an example counts as reached, keyed by unit, and as a fraction of the range for other units.
_REACHED = {"m": 0.02, "rad": np.radians(2.0), "m/s": 0.02}
_REACHED_FRACTION = 0.02
# Number of points on a clip's path, and number of sampled motions that paths are interpolated from.
PATH_POINTS = 33
_N_SAMPLES = 128
# Parameters that the command does not set may move this many times as far as those that it sets.
_FREE = 100.0


class ExampleReach(NamedTuple):
    """How many examples of a node are reached: requesting the parameters of an example gives a motion that has them.

    n_examples : number of examples with parameters in the node's ranges.
    n_reached : number of examples that are reached within the tolerance; None if parameters cannot be measured.
    tolerance : the tolerance in words: "2 cm".
    """

    n_examples: int
    n_reached: int | None
    tolerance: str

    def describe(self) -> str:
        """Describe the reach: "12 of 12 examples within 2 cm"."""
        if self.n_reached is None:
            return plural(self.n_examples, "example")
        return f"{self.n_reached} of {plural(self.n_examples, 'example')} within {self.tolerance}"


def request_by_name(node: Node, command: Mapping[str, Any], place: Floats) -> Floats:
    """Set parameters from a command by name. The others are as close to the middle as the node's region allows.

    A ``direction`` (radians from world +Z, positive to the left) sets the parameter ``turn``, if there is one, to the
    angle that remains from the character's heading.

    Parameters
    ----------
    place : (3,) floor placement (theta, x, z) of the character.

    Returns
    -------
    (d,) parameters.

    Examples
    --------
    >>> node = character.nodes["walk"]
    >>> marey.pmg.request_by_name(node, {"direction": 0.1}, place=np.zeros(3)).round(3)
    array([0.1])
    """
    out, scale = np.array(node.middle), np.array(node.scale)
    for k, name in enumerate(node.names):
        if name == "turn" and command.get("direction") is not None:
            out[k] = rigid2d.wrap_angle(float(command["direction"]) - place[0])
        elif command.get(name) is not None:
            out[k] = float(command[name])
        else:
            scale[k] *= _FREE
    # Parameters outside the ranges stay as they are, so that callers see what was requested.
    return out if (scale == node.scale).all() else np.where(scale == node.scale, out, node.region.project(out, scale))


@renamed_methods(checked="project", clip_parameters="project")
@renamed_fields(of="parent")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node(FrozenRecord):
    """A node of a graph: a named space of motion.

    name : name of the node.
    space : the space that generates its motions.
    low, high : (d,) ranges of the parameters in use, inside those of the space. Not all of this box need be reachable;
        see `region`.
    request : converts a command to parameters; see `Request`.
    parent : name of the node that this one is a part of, or None.

    Examples
    --------
    >>> node = character.nodes["walk"]
    >>> node.names, node.units, node.fps
    (('turn',), ('rad',), 30.0)
    >>> node.motion(node.middle).rotations.shape[1:]
    (27, 4)
    >>> node.contains(node.high + 1.0)
    False
    """

    name: str
    space: Space
    low: Floats
    high: Floats
    request: Request = request_by_name
    parent: str | None = None
    _cache: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        low, high = check_box(self.low, self.high, self.space.names, self.space.units)
        for k, name in enumerate(self.space.names):
            lowest, highest = self.space.low[k], self.space.high[k]
            slack = 1e-9 * max(1.0, abs(lowest), abs(highest))
            if low[k] < lowest - slack or high[k] > highest + slack:
                unit, factor = display_unit(self.space.units[k])
                allowed, given = (
                    f"{factor * a:.4g} to {factor * b:.4g}" for a, b in ((lowest, highest), (low[k], high[k]))
                )
                raise InvalidValue(
                    f"node {self.name!r}: {name} must be within {allowed} {unit}".rstrip() + f", not {given}"
                )
        self._put(low=low, high=high)
        self._cache["region"] = find_region(self.space).cut(low, high)
        if self.region.is_empty:
            ranges = format_ranges(self.names, self.units, low, high)
            raise InvalidValue(f"node {self.name!r}: no motion has {ranges}; use wider ranges")

    def __repr__(self) -> str:
        return f"<Node {self.name!r}: {format_ranges(self.names, self.units, self.low, self.high)}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the d parameters."""
        return tuple(self.space.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d parameters."""
        return tuple(self.space.units)

    @property
    def n_dims(self) -> int:
        """Number of parameters d."""
        return len(self.names)

    @property
    def fps(self) -> float:
        """Frame rate of the motions, in frames per second: the space's ``fps`` if it has one, else that of a motion."""
        own = getattr(self.space, "fps", None)
        if own is not None:
            return float(own)
        if "fps" not in self._cache:
            self._cache["fps"] = self.motion(self.middle).fps
        return float(self._cache["fps"])

    @property
    def region(self) -> Region:
        """The parameters that the node's motions can have: what the space's examples cover, between low and high."""
        found: Region = self._cache["region"]
        return found

    @property
    def middle(self) -> Floats:
        """(d,) the parameters of a motion that are nearest to the middle of the ranges."""
        if "middle" not in self._cache:
            self._cache["middle"] = set_readonly(self.region.middle)
        return np.asarray(self._cache["middle"])

    @property
    def scale(self) -> Floats:
        """(d,) widths of the ranges, 1 if a width is 0; parameters are divided by them before comparison."""
        width = self.high - self.low
        return np.asarray(np.where(width > 0.0, width, 1.0))

    def project(self, parameters: ArrayLike) -> Floats:
        """Return the nearest parameters that a motion of the node can have, for parameters (d,) or (B, d).

        Distances are measured in units of `scale`.
        """
        given = np.atleast_1d(parameters)
        shape = (None, self.n_dims) if given.ndim == 2 else (self.n_dims,)
        return self.region.project(freeze_array(given, f"parameters of {self.name!r}", shape), self.scale)

    def contains(self, parameters: ArrayLike) -> bool:
        """Return whether a motion of the node can have the parameters (d,)."""
        given = freeze_array(np.atleast_1d(parameters), f"parameters of {self.name!r}", (self.n_dims,))
        return bool(self.region.contains(given)[0])

    def reached(self, parameters: ArrayLike) -> Floats:
        """Return the parameters (d,) that the motion for requested parameters (d,) actually has, as far as the space
        knows."""
        given = self.project(np.atleast_1d(parameters))
        own = getattr(self.space, "reached", None)
        return given if own is None else np.asarray(own(given))

    def count_reached(self) -> ExampleReach | None:
        """Count the examples in the node's ranges that are reached, see `ExampleReach`; None if it has no examples.

        Positions count as reached within 2 cm, angles within 2 degrees, speeds within 0.02 m/s, and other parameters
        within 2 % of their range.
        """
        own = getattr(self.space, "parameters", None)
        if own is None:
            return None
        if not getattr(self.space, "is_measured", True):
            return ExampleReach(len(own), None, "")
        within = np.array(
            [_REACHED.get(unit, _REACHED_FRACTION * s) for unit, s in zip(self.units, self.scale, strict=True)]
        )
        own = own[((own >= self.low - within) & (own <= self.high + within)).all(axis=1)]
        if not len(own):
            return None
        off = np.stack([self.reached(each) - each for each in own])
        # Axes of one unit, such as those of a point, count together.
        kinds = [[k for k, each in enumerate(self.units) if each == unit] for unit in dict.fromkeys(self.units)]
        met = np.stack([np.linalg.norm(off[:, k] / within[k], axis=1) <= 1.0 for k in kinds]).all(axis=0)
        words = {"m": "2 cm", "rad": "2 degrees", "m/s": "0.02 m/s"}
        named = [words.get(unit, f"{100 * _REACHED_FRACTION:g} % of the range") for unit in dict.fromkeys(self.units)]
        return ExampleReach(len(own), int(met.sum()), " and ".join(dict.fromkeys(named)))

    def motion(self, parameters: ArrayLike) -> Motion:
        """Return the motion with the parameters (d,), or with the nearest parameters that the node's motions can
        have."""
        return self.space(self.project(np.atleast_1d(parameters)))

    def samples(self, n: int, rng: np.random.Generator, *, corners: bool = False) -> Floats:
        """Return random parameters (n, d), spread evenly over the node's region; see `Region.sample`.

        With `corners`, points at the ends of the region replace the first samples.
        """
        return self.region.sample(n, rng, corners=corners)

    def part(self, name: str, low: ArrayLike, high: ArrayLike) -> Node:
        """Return a new node with the same space and narrower ranges `low` to `high`, (d,) each (Heck 6.3)."""
        inner = np.maximum(np.atleast_1d(low), self.low), np.minimum(np.atleast_1d(high), self.high)
        return replace(self, name=name, low=inner[0], high=inner[1], parent=self.parent or self.name, _cache={})

    def paths(self, parameters: Floats) -> Floats:
        """Return floor placements (theta, x, z), (B, PATH_POINTS, 3), at evenly spaced times, for parameters (B, d).

        They come from the space if it provides paths. Otherwise they are interpolated from sampled motions, which are
        generated on first use.
        """
        own = getattr(self.space, "paths", None)
        if own is not None:
            return np.asarray(own(parameters, PATH_POINTS))
        if "paths" not in self._cache:
            chosen = self.samples(_N_SAMPLES, np.random.default_rng(0), corners=True)
            self._cache["paths"] = chosen, np.stack([_sample_path(self.motion(each)) for each in chosen])
        chosen, known = self._cache["paths"]
        out = np.empty((len(parameters), PATH_POINTS, 3))
        for k, each in enumerate(parameters):
            near, weights = neighbor_weights(each / self.scale, chosen / self.scale, self.n_dims + 2)
            out[k] = np.tensordot(weights, known[near], axes=1)
        return out


def _sample_path(motion: Motion) -> Floats:
    """Return heading, x and z of the hips, (PATH_POINTS, 3); the heading is unwrapped, so it can be averaged."""
    world = motion.world().positions
    hips = world[:, motion.skeleton.roles["hips"]]
    frames = np.linspace(0.0, len(motion) - 1.0, PATH_POINTS)
    columns = (find_facing(motion.skeleton, world), hips[:, 0], hips[:, 2])
    return set_readonly(np.stack([np.interp(frames, np.arange(len(motion)), column) for column in columns], axis=1))
