"""A space with a gaze layer: the gaze direction adds two parameters to any space (Heck chapter 7)."""

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
from marey.pmg.space import Space, as_space, check_box
from marey.pmg.units import format_target

if TYPE_CHECKING:
    from marey.layer.gaze_map import GazeMap

__all__ = ["GAZE_NAMES", "LayeredSpace"]

GAZE_NAMES = ("gaze_yaw", "gaze_pitch")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LayeredSpace:
    """The motions of a space with any gaze: the space's parameters, then ``gaze_yaw`` and ``gaze_pitch``.

    A clip looks in one direction throughout; if the next looks elsewhere, the transition turns the head. Hips and legs
    come from the space, so its paths, contacts and foot transitions stay valid.

    Parameters
    ----------
    space : a space, or a `ParametricMotion`.
    gaze : model of how the person looks around; `GazeMap.default()` if None.
    yaw, pitch : radians, minimum and maximum, yaw to the left and pitch upward, from the body's heading. Values beyond
        the map's limits raise an error.
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
        return (*self.space.names, *GAZE_NAMES)

    @property
    def units(self) -> tuple[str, ...]:
        return (*self.space.units, "rad", "rad")

    @property
    def fps(self) -> float | None:
        """Frames per second of its motions; None if the space does not have it."""
        return getattr(self.space, "fps", None)

    @property
    def low(self) -> Floats:
        return set_readonly(np.concatenate([self.space.low, [self.yaw[0], self.pitch[0]]]))

    @property
    def high(self) -> Floats:
        return set_readonly(np.concatenate([self.space.high, [self.yaw[1], self.pitch[1]]]))

    @property
    def paths(self) -> Callable[[Floats, int], Floats]:
        """From targets (B, d) and a number n to rigid2d (B, n, 3): the space's own, as gaze does not change them.

        Missing if the space does not provide paths; they are then sampled.
        """
        own = getattr(self.space, "paths", None)
        if own is None:
            raise AttributeError("the layered space has no paths")
        return lambda targets, n: np.asarray(own(np.asarray(targets, dtype=np.float64)[:, :-2], n))

    def __call__(self, target: ArrayLike) -> Motion:
        """Return the motion with these parameters."""
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
