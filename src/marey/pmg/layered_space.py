"""A space with a gaze layer: adds the gaze direction, two parameters, to any space (Heck chapter 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.errors import InvalidValue
from marey.parametric.region import Region
from marey.pmg.space import Space, as_space, check_box, find_region
from marey.pmg.units import format_target

if TYPE_CHECKING:
    from marey.layer.gaze_map import GazeMap

__all__ = ["GAZE_NAMES", "LayeredSpace"]

GAZE_NAMES = ("gaze_yaw", "gaze_pitch")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LayeredSpace:
    """A space combined with a gaze: the base space's parameters, then ``gaze_yaw`` and ``gaze_pitch``.

    The character looks in one direction throughout a clip; if it looks elsewhere in the next clip, the head rotates
    during the transition. Hips and legs come from the base space, so its paths, contacts and foot transitions stay
    valid.

    Parameters
    ----------
    space : the base space, or a `ParametricMotion`.
    gaze : model of how the person looks around; `GazeMap.default()` if None.
    yaw, pitch : minimum and maximum in radians, relative to the body's heading; yaw is positive to the left, pitch
        upward. Values beyond the map's limits raise an error.

    Examples
    --------
    >>> space = marey.pmg.LayeredSpace(character.nodes["walk"].space)
    >>> space.names, space.units
    (('turn', 'gaze_yaw', 'gaze_pitch'), ('rad', 'rad', 'rad'))
    """

    space: Space
    gaze: GazeMap | None = None
    yaw: tuple[float, float] = (-1.2, 1.2)
    pitch: tuple[float, float] = (-0.3, 0.3)

    def __post_init__(self) -> None:
        from marey.layer.gaze_map import GazeMap

        put = object.__setattr__
        put(self, "space", as_space(self.space))
        if any(name in self.space.names for name in GAZE_NAMES):
            raise InvalidValue(
                f"the space already has the parameters {' and '.join(GAZE_NAMES)}; use a space without a gaze layer"
            )
        put(self, "gaze", GazeMap.default() if self.gaze is None else self.gaze)
        low, high = check_box([self.yaw[0], self.pitch[0]], [self.yaw[1], self.pitch[1]], GAZE_NAMES, ("rad", "rad"))
        for corner in ((low[0], low[1]), (low[0], high[1]), (high[0], low[1]), (high[0], high[1])):
            if self._map.project(corner)[1]:
                raise InvalidValue(
                    f"the gaze map does not reach yaw {corner[0]:.3g} and pitch {corner[1]:.3g} rad; narrow the "
                    "range of yaw or pitch"
                )
        put(self, "yaw", (float(low[0]), float(high[0])))
        put(self, "pitch", (float(low[1]), float(high[1])))

    def __repr__(self) -> str:
        return f"<LayeredSpace: {self.space!r} with gaze>"

    @property
    def _map(self) -> Any:
        return self.gaze

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the d parameters."""
        return (*self.space.names, *GAZE_NAMES)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d parameters."""
        return (*self.space.units, "rad", "rad")

    @property
    def fps(self) -> float | None:
        """Frame rate of the generated motions, in frames per second; None if the base space has no ``fps``."""
        return getattr(self.space, "fps", None)

    @property
    def low(self) -> Floats:
        """(d,) smallest valid parameters."""
        return set_readonly(np.concatenate([self.space.low, [self.yaw[0], self.pitch[0]]]))

    @property
    def high(self) -> Floats:
        """(d,) largest valid parameters."""
        return set_readonly(np.concatenate([self.space.high, [self.yaw[1], self.pitch[1]]]))

    @property
    def region(self) -> Region:
        """The base space's region, with every gaze direction in range."""
        return find_region(self.space).extend([self.yaw[0], self.pitch[0]], [self.yaw[1], self.pitch[1]])

    @property
    def paths(self) -> Callable[[Floats, int], Floats]:
        """Function from targets (B, d) and a count n to floor placements (theta, x, z), (B, n, 3).

        It is the base space's function, because gaze does not change paths. If the base space has none, this attribute
        is missing too, and nodes sample the paths instead.
        """
        own = getattr(self.space, "paths", None)
        if own is None:
            raise AttributeError(
                "this layered space has no `paths`, because its base space has none; use the `paths` of its node"
            )
        return lambda targets, n: np.asarray(own(np.asarray(targets, dtype=np.float64)[:, :-2], n))

    def __call__(self, target: ArrayLike) -> Motion:
        """Return the motion with parameters `target` (d,): those of the base space, then gaze yaw and pitch."""
        from marey.layer.gaze_rotations import rotate_to_look
        from marey.maths import quat

        given = freeze_array(np.atleast_1d(target), "target", (len(self.names),))
        motion = self.space(given[:-2])
        pose = self._map.shift(given[-2:]).pose
        heading = find_facing(motion.skeleton, motion.world().positions)
        vectors = np.broadcast_to(quat.log(pose).ravel(), (len(motion), 15))
        rotations = rotate_to_look(motion.skeleton, motion.rotations, heading, vectors)
        name = f"{motion.name}, {format_target(GAZE_NAMES, given[-2:])}"
        return replace(motion, rotations=set_readonly(rotations), name=name)
